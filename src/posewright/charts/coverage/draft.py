"""Drafts: runs of a chart that are to become scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from posewright.charts.machine import Interpreter, Machine, Snapshot, Tick
from posewright.charts.scenarios import Expectation, Given, Scenario, ScenarioStep, given
from posewright.charts.types import Value
from posewright.errors import PosewrightError

Inputs = Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Draft:
    """A run from the very start.

    Attributes:
        rows: inputs and events, tick by tick.
        states: where the chart stood after each.
    """

    interpreter: Interpreter
    rows: tuple[Inputs, ...] = ()
    states: tuple[Snapshot, ...] = field(default=(), repr=False)

    @property
    def end(self) -> Snapshot:
        """Where the chart stands at the end."""
        return self.states[-1] if self.states else self.interpreter.initial()

    @cached_property
    def given(self) -> tuple[Given, ...]:
        """The rows as ticks take them."""
        return tuple(given(self.interpreter.chart, row) for row in self.rows)

    def extended(self, rows: Sequence[Inputs]) -> Draft:
        """Return the run with further ticks; a tick that fails, and what follows it, is left out."""
        state, states = self.end, list(self.states)
        for row in rows:
            try:
                state = self.interpreter.step(state, row)
            except PosewrightError:
                break
            states.append(state)
        return Draft(self.interpreter, (*self.rows, *rows)[: len(states)], tuple(states))

    def tells(self, other: Interpreter) -> bool:
        """Return whether another chart with the same states is seen to do something else."""
        outputs = len(self.interpreter.chart.outputs)
        state = other.initial()
        for row, wanted in zip(self.given, self.states, strict=True):
            try:
                state = Tick(other.machine, state).run(*row)
            except PosewrightError:
                return True
            if (
                state.configuration != wanted.configuration
                or state.values[:outputs] != wanted.values[:outputs]
            ):
                return True
        return False

    def scenario(self, name: str, chart: str, description: str) -> Scenario:
        """Return the scenario that expects what the chart did."""
        return Scenario(name, tuple(_steps(self)), chart, description=description)


def _steps(draft: Draft) -> Iterator[ScenarioStep]:
    """Yield a step for every tick at which something changes, and one for the ticks between two of them."""
    machine = draft.interpreter.machine
    held: Inputs = {name: kind.zero for name, kind in machine.chart.inputs.items()}
    count, quiet = 0, NOTHING_YET
    for row, state in zip(draft.rows, draft.states, strict=True):
        inputs = {name: row[name] for name in machine.chart.inputs}
        events = tuple(name for name in machine.chart.events if row.get(name))
        expected = _expected(machine, state)
        changed = {name: value for name, value in inputs.items() if held[name] != value}
        if not changed and not events and expected == quiet:
            count += 1
            continue
        yield from _quiet(count, quiet)
        yield ScenarioStep(set=changed, send=events, expect=expected)
        held, count, quiet = inputs, 0, expected
    yield from _quiet(count, quiet)


NOTHING_YET = Expectation()


def _quiet(count: int, expected: Expectation) -> Iterator[ScenarioStep]:
    if count:
        yield ScenarioStep(ticks=count, throughout=expected)


def _expected(machine: Machine, state: Snapshot) -> Expectation:
    return Expectation(
        inside=tuple(machine.nodes[leaf].name for leaf in state.configuration), values=dict(state.outputs)
    )
