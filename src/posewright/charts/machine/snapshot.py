"""Where a chart stands between two ticks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from posewright.charts.machine.machine import Machine
from posewright.charts.types import Value

JOINT = "+"
"""What joins the names of states that are active side by side."""

Key = tuple[bool, tuple[int, ...], tuple[Value, ...], tuple[tuple[int, ...], ...]]


class Snapshot:
    """The states a chart is in, what its outputs and locals hold, and what it remembers.

    A value: two of one chart are equal where nothing that the chart can ever do tells them apart. Time
    is counted only as far as the chart asks for it, so that a chart of small types has finitely many.

    Attributes:
        machine: whose state it is.
        started: whether there was a tick yet.
        configuration: numbers of the innermost active states, in document order.
        values: of `machine.registers`.
        history: of `machine.history`: numbers of the states that were active, none before the first time.
    """

    def __init__(
        self,
        machine: Machine,
        started: bool,
        configuration: tuple[int, ...],
        values: tuple[Value, ...],
        history: tuple[tuple[int, ...], ...],
    ) -> None:
        self.machine = machine
        self.started = started
        self.configuration = configuration
        self.values = values
        self.history = history
        self.following: dict[Any, Snapshot] = {}  # what an interpreter found to follow, by inputs

    @cached_property
    def key(self) -> Key:
        """What tells it from other states of the same machine."""
        return self.started, self.configuration, self.values, self.history

    @property
    def key_typed(self) -> tuple[Key, tuple[type, ...]]:
        """The key with the types of the values, for which 1, 1.0 and true are not the same."""
        return self.key, tuple(map(type, self.values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.key == other.key and self.is_of(other.machine)

    def is_of(self, machine: Machine) -> bool:
        """Return whether it is a state of that machine, or of another one of the same chart."""
        return self.machine is machine or self.machine.chart == machine.chart

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        held = ", ".join(f"{name}={value}" for name, value in self.registers.items())
        return f"Snapshot({self.state}{', ' + held if held else ''})"

    @cached_property
    def state(self) -> str:
        """The innermost active states; several stand side by side in regions: `left_up+right_down`."""
        return JOINT.join(self.machine.nodes[leaf].name for leaf in self.configuration)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all active nodes, the chart itself left out, in document order."""
        return tuple(sorted(self.machine.moves.active(self.configuration)))

    @cached_property
    def active(self) -> tuple[str, ...]:
        """The names of all active states, outer ones before inner ones."""
        return tuple(self.machine.nodes[number].name for number in self.numbers)

    @cached_property
    def registers(self) -> Mapping[str, Value]:
        """Everything that is kept, by name: outputs, locals, counters of time."""
        return MappingProxyType(dict(zip(self.machine.registers, self.values, strict=True)))

    @cached_property
    def outputs(self) -> Mapping[str, Value]:
        """What the outputs hold."""
        outputs = self.machine.chart.outputs  # the registers begin with them
        return MappingProxyType(dict(zip(outputs, self.values, strict=False)))

    @cached_property
    def locals(self) -> Mapping[str, Value]:
        """What the locals hold."""
        return MappingProxyType({name: self.registers[name] for name in self.machine.chart.locals})

    @property
    def since(self) -> int:
        """Ticks for which the (first) innermost state has been active, the one of its entry included.

        It is counted no further than the chart asks for, and is 0 before the first tick.
        """
        counted = self.registers.get(f"since.{self.machine.nodes[self.configuration[0]].name}", 0)
        return int(counted) + 1 if self.started else 0
