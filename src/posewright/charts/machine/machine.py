"""A chart made ready, and where one stands between two ticks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from posewright.charts.expression import Expression
from posewright.charts.machine.microsteps import MicrostepPlanner
from posewright.charts.machine.node import CompoundTransition, Counter, StateNode
from posewright.charts.model import DONE, Actions, Chart, Kind, Memory, Steps, events_raised, expressions_in
from posewright.charts.types import BoolType, Type, Value

MAX_MICROSTEPS = 1000
"""Microsteps in one tick, or events in its queue, after which it is taken for granted that it has no end."""

INSIDE = "in."
"""What precedes a state's name in the name that says whether it is active."""


@dataclass(frozen=True, eq=False)
class Machine:
    """A chart made ready: states by number, ways by junctions laid out, time turned into counters.

    Whatever runs, proves, draws coverage of, or generates code from a chart works on this one value, so that
    all of them mean the same by it. `lower` makes it; nothing in it changes afterwards. For a generator:

    | what | where |
    |---|---|
    | states, what is around and inside them, `entry`, `during`, `exit` | `nodes` |
    | transitions, in the order in which they are asked | `ways_asked`: by event (None: every tick) and leaf |
    | exit set, entry set and configuration after a microstep | `moves.first()`, `moves.of(...)` |
    | what is kept from tick to tick | `registers`, `types` (each with its `storage`), `history` |
    | what registers hold before the first tick | `start` |
    | inputs, each clamped to its declared range when it is sampled | `inputs` |
    | events from outside, in the order in which they are dealt with | `events` |
    | outputs of a Moore chart in each state: its `entry` sets them | `moore_outputs` |
    | time | `counters`, counted in the nodes of `counting`; no clock, one tick is `chart.period_s` |
    | guards and values, typed in every node, each with its number | `expressions`, `expression_number` |
    | truth tables, as tables; in the expressions each call is a chain of conditions | `chart.functions` |
    | how many events can wait at once | `queue_limit` |

    Whole numbers are computed with 32 bits and saturate; `%` has the sign of its right side; division by zero
    stops a run (a sound chart never does it); a result that is not a number is stored as the type's `zero`.

    Names that expressions may read besides the chart's own, none of which can clash with them:

    | name | type | what it is |
    |---|---|---|
    | `in.S` | bool | whether S is active |
    | `since.S` | int | ticks since S was entered, counted as far as anything in S asks |
    | `held.S.k` | int | ticks in a row at which the condition of S's k-th `held` was true, counted as far |
    | `every.S.k` | int | ticks since S's k-th `every` was true last, or since S was entered |

    Attributes:
        nodes: the chart itself first, then its states in the order in which they are written.
        events: that may come from outside, in the order in which they are dealt with.
        heard: every event that some way listens to; others that are raised vanish.
        cycles: junctions that lead back to themselves: what a way through them would do is not said.
        number_of: the number of each state by its name.
    """

    chart: Chart
    nodes: tuple[StateNode, ...]
    events: tuple[str, ...]
    heard: frozenset[str]
    cycles: tuple[tuple[str, ...], ...] = ()
    number_of: Mapping[str, int] = field(default_factory=dict)

    @property
    def inputs(self) -> Mapping[str, Type]:
        """The inputs; a number outside its declared range counts as the nearest in it, when it is sampled."""
        return self.chart.inputs

    @cached_property
    def moore_outputs(self) -> Mapping[int, Mapping[str, Value]]:
        """All outputs of a Moore chart by state: those it does not name go back to what they start with."""
        if self.chart.kind is not Kind.MOORE:
            return {}
        start, kinds = self.chart.start_outputs(), self.chart.outputs
        own = ((node.index, node.state.do) for node in self.nodes if node.state is not None)
        return {
            index: start | {name: kinds[name].fit(value.constant) for name, value in do.items()}
            for index, do in own
        }

    def start(self, configuration: tuple[int, ...]) -> dict[str, Value]:
        """Return what the registers hold before the first tick, where these leaves are to be active first."""
        zeros: dict[str, Value] = dict.fromkeys(self.registers, 0)
        return {**zeros, **self.chart.start_values(), **self.moore_outputs.get(configuration[0], {})}

    @cached_property
    def queue_limit(self) -> int:
        """Events that may wait at once: 0 where no raised event is heard, else where a run stops."""
        raised = frozenset[str]().union(*map(events_raised, every_actions(self)))
        ends = {DONE + self.nodes[k].name for node in self.nodes if node.final for k in node.around[:-1]}
        return MAX_MICROSTEPS if (raised | ends) & self.heard else 0

    @cached_property
    def ways(self) -> tuple[CompoundTransition, ...]:
        """All ways, state by state."""
        return tuple(way for node in self.nodes for way in node.ways)

    @cached_property
    def ways_asked(self) -> Mapping[str | None, Mapping[int, tuple[CompoundTransition, ...]]]:
        """The ways asked on an event, or (None) at every tick, while a leaf is active, in order."""
        found: dict[str | None, dict[int, tuple[CompoundTransition, ...]]] = {}
        for leaf in (node for node in self.nodes if node.is_leaf):
            for way in (way for number in (leaf.index, *leaf.around) for way in self.nodes[number].ways):
                for event in way.events or (None,):
                    by_leaf = found.setdefault(event, {})
                    by_leaf[leaf.index] = (*by_leaf.get(leaf.index, ()), way)
        return found

    @cached_property
    def completes(self) -> bool:
        """Whether transitions without an event are asked again until none can be taken."""
        return self.chart.steps is Steps.COMPLETION

    @cached_property
    def rests(self) -> bool:
        """Whether a tick in which no way is taken changes nothing: no time counts, no `during` acts."""
        return not (self.counting or self.lasting)

    @cached_property
    def counters(self) -> tuple[Counter, ...]:
        """All counters, state by state."""
        return tuple(counter for node in self.nodes for counter in node.counters)

    @cached_property
    def counting(self) -> tuple[StateNode, ...]:
        """The nodes in which time is counted."""
        return tuple(node for node in self.nodes if node.counters)

    @cached_property
    def lasting(self) -> frozenset[int]:
        """The numbers of the nodes that act during every tick."""
        return frozenset(node.index for node in self.nodes if node.during)

    @cached_property
    def registers(self) -> tuple[str, ...]:
        """The names of what a ChartState keeps: outputs, locals, counters."""
        return (*self.chart.variables, *(counter.name for counter in self.counters))

    @cached_property
    def values_in(self) -> Callable[[Mapping[str, Any]], tuple[Value, ...]]:
        """What takes the registers' values out of an environment."""
        return values_of(self.registers)

    @cached_property
    def history(self) -> tuple[tuple[int, Memory], ...]:
        """What is remembered of states that were left, node by node."""
        return tuple((node.index, memory) for node in self.nodes for memory in node.remembers)

    @cached_property
    def asked_inside(self) -> Mapping[str, int]:
        """The names `in.S` that some expression reads, and the node of each."""
        read = frozenset[str]().union(*(one.names for one in self.expressions))
        return {
            name: self.number_of[name.removeprefix(INSIDE)]
            for name in sorted(read)
            if name.startswith(INSIDE)
        }

    @cached_property
    def expressions(self) -> tuple[Expression, ...]:
        """Every guard, condition and value that a step may compute, each once; its place is its number."""
        counted = (c.condition for c in self.counters if c.condition is not None)
        guards = chain.from_iterable(way.guards for way in self.ways)
        acts = chain.from_iterable(expressions_in(actions) for actions in every_actions(self))
        return tuple({id(one): one for one in chain(counted, guards, acts)}.values())

    @cached_property
    def _numbers(self) -> Mapping[int, int]:
        return {id(one): number for number, one in enumerate(self.expressions)}

    def expression_number(self, expression: Expression) -> int:
        """Return the place of one of the `expressions`: an expression that ways share has one number."""
        return self._numbers[id(expression)]

    @cached_property
    def types(self) -> Mapping[str, Type]:
        """The type of every name that an expression of the machine may read, constants aside."""
        found: dict[str, Type] = {**self.chart.inputs, **self.chart.variables}
        found |= {counter.name: counter.type for counter in self.counters}
        return found | {INSIDE + node.name: BoolType() for node in self.nodes[1:]}

    @cached_property
    def moves(self) -> MicrostepPlanner:
        """What is left and entered when ways are taken; it keeps what it has worked out."""
        return MicrostepPlanner(self.nodes, self.history)

    def node(self, name: str) -> StateNode:
        """Return the node of the state of that name.

        Raises:
            UnknownNameError: there is none.
        """
        return self.nodes[self.number_of[self.chart.state(name).name]]


def every_actions(machine: Machine) -> Iterator[Actions]:
    """Yield all that a machine may do, on ways and in states."""
    yield from (way.do for way in machine.ways)
    for node in machine.nodes:
        yield from node.actions


def values_of(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return what takes the values of these names out of a mapping; it raises KeyError if one is missing."""
    if len(names) > 1:
        return itemgetter(*names)
    return (lambda given: (given[names[0]],)) if names else lambda _given: ()


JOINT = "+"
"""What joins the names of states that are active side by side."""

Key = tuple[bool, tuple[int, ...], tuple[Value, ...], tuple[tuple[int, ...], ...]]


@dataclass(eq=False, repr=False)
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
        following: what an interpreter found to follow, by inputs.
    """

    machine: Machine
    started: bool
    configuration: tuple[int, ...]
    values: tuple[Value, ...]
    history: tuple[tuple[int, ...], ...]
    following: dict[Any, Snapshot] | None = field(default=None, init=False)

    @cached_property
    def key(self) -> Key:
        """What tells it from other states of the same machine."""
        return self.started, self.configuration, self.values, self.history

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
