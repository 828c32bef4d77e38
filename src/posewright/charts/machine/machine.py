"""Machines, which are charts lowered for execution, and snapshots of them between two ticks."""

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
from posewright.charts.machine.node import CompoundTransition, Counter, HistoryKey, StateNode
from posewright.charts.model import (
    DONE_PREFIX,
    Actions,
    Chart,
    ChartKind,
    StepMode,
    events_raised,
    expressions_in,
)
from posewright.charts.types import BoolType, Type, Value

MAX_MICROSTEPS = 1000
"""Microsteps in one tick, or events in its queue, after which the tick is taken to be endless."""

IN_STATE_PREFIX = "in."
"""Prefix of the name `in.S`, which is true while the state S is active."""


@dataclass(frozen=True, eq=False)
class Machine:
    """A lowered chart: numbered states, compound transitions instead of junctions, counters instead of times.

    The interpreter, the proofs, the coverage and the code generator all work on this value, so that a chart
    means the same to all of them. `lower` creates it, and it does not change afterwards. For a generator:

    | what | where |
    |---|---|
    | states, their ancestors and descendants, `entry`, `during`, `exit` | `nodes` |
    | transitions, in the order of trial | `transitions_by_event`: by event (None: every tick) and leaf |
    | exit set, entry set, next configuration | `planner.enter_chart()`, `planner.plan_microstep(...)` |
    | what is stored from tick to tick | `registers`, `types` (each with its `storage`), `histories` |
    | values of the registers before the first tick | `start_values(configuration)` |
    | inputs, each clamped to its declared range when it is sampled | `inputs` |
    | events from outside, in the order in which they are processed | `events` |
    | outputs of a Moore chart in each state: its `entry` sets them | `moore_outputs` |
    | time | `counters`, counted in the nodes of `counting_nodes`; no clock, one tick is `chart.period_s` |
    | guards and values, typed in every node, each with its number | `expressions`, `expression_number` |
    | truth tables, as tables; in the expressions each call is a chain of conditionals | `chart.functions` |
    | how many events can wait together | `queue_limit` |

    Integers are computed with 32 bits and saturate; `%` has the sign of its right operand; division by zero
    stops a run (a sound chart never divides by zero); NaN is stored as the type's default.

    Expressions may read these names besides the chart's own; none can clash with a declared name:

    | name | type | meaning |
    |---|---|---|
    | `in.S` | bool | whether S is active |
    | `since.S` | int | ticks since S was entered, counted as far as any condition in S needs |
    | `held.S.k` | int | ticks in a row at which the condition of S's k-th `held` was true, counted as far |
    | `every.S.k` | int | ticks since S's k-th `every` was true last, or since S was entered |

    Attributes:
        nodes: the chart itself first, then its states in the order in which they are written.
        events: events from outside, in the order in which they are processed.
        handled_events: events that trigger some transition; other raised events have no effect.
        junction_cycles: junctions that lead back to themselves, whose transitions have no defined meaning.
        node_index_by_name: the number of each state by its name.
    """

    chart: Chart
    nodes: tuple[StateNode, ...]
    events: tuple[str, ...]
    handled_events: frozenset[str]
    junction_cycles: tuple[tuple[str, ...], ...] = ()
    node_index_by_name: Mapping[str, int] = field(default_factory=dict)

    @property
    def inputs(self) -> Mapping[str, Type]:
        """The types of the inputs; a number is clamped to its declared range when it is sampled."""
        return self.chart.inputs

    @cached_property
    def moore_outputs(self) -> Mapping[int, Mapping[str, Value]]:
        """The values of all outputs of a Moore chart, by the number of the state and the name of the output.

        An output that a state does not set has its start value. Empty for charts of other kinds.
        """
        if self.chart.kind is not ChartKind.MOORE:
            return {}
        start_outputs = self.chart.start_outputs()
        types = self.chart.outputs
        outputs_by_node: dict[int, Mapping[str, Value]] = {}
        for node in self.nodes:
            if node.state is not None:  # the chart itself sets no outputs
                state_outputs = {
                    name: types[name].clamp(value.constant) for name, value in node.state.do.items()
                }
                outputs_by_node[node.index] = start_outputs | state_outputs
        return outputs_by_node

    def start_values(self, configuration: tuple[int, ...]) -> dict[str, Value]:
        """Return the values of the registers before the first tick.

        Args:
            configuration: the numbers of the leaves that are active first; only one in a Moore chart.
        """
        zero_counts: dict[str, Value] = dict.fromkeys(self.registers, 0)
        first_leaf = configuration[0]
        moore_outputs = self.moore_outputs.get(first_leaf, {})
        return {**zero_counts, **self.chart.start_values(), **moore_outputs}

    @cached_property
    def queue_limit(self) -> int:
        """Greatest number of waiting events: 0 if no raised event is handled, else a fixed limit."""
        raised_events = frozenset[str]().union(*map(events_raised, all_actions(self)))
        is_any_handled = bool((raised_events | self._possible_done_events()) & self.handled_events)
        return MAX_MICROSTEPS if is_any_handled else 0

    def _possible_done_events(self) -> set[str]:
        """Return the events `done.S` that entering a final state may raise: S is any state around it."""
        done_events = set[str]()
        for node in self.nodes:
            if node.final:
                # the last ancestor is the chart itself, which has no such event
                ancestors_in_chart = node.ancestors[:-1]
                done_events |= {DONE_PREFIX + self.nodes[ancestor].name for ancestor in ancestors_in_chart}
        return done_events

    @cached_property
    def transitions(self) -> tuple[CompoundTransition, ...]:
        """All compound transitions, state by state."""
        return tuple(transition for node in self.nodes for transition in node.transitions)

    @cached_property
    def transitions_by_event(self) -> Mapping[str | None, Mapping[int, tuple[CompoundTransition, ...]]]:
        """The transitions to try on an event while a leaf is active, by event and number of the leaf.

        They are in the order of trial: those of a leaf come before those of its ancestors. The event is None
        for transitions without a trigger, which are tried at every tick.
        """
        by_event: dict[str | None, dict[int, tuple[CompoundTransition, ...]]] = {}
        leaves = [node for node in self.nodes if node.is_leaf]
        for leaf in leaves:
            leaf_and_ancestors = [leaf, *(self.nodes[ancestor] for ancestor in leaf.ancestors)]
            for transition in chain.from_iterable(node.transitions for node in leaf_and_ancestors):
                for event in transition.events or (None,):
                    by_leaf = by_event.setdefault(event, {})
                    by_leaf[leaf.index] = (*by_leaf.get(leaf.index, ()), transition)
        return by_event

    @cached_property
    def runs_to_completion(self) -> bool:
        """Whether transitions without a trigger are tried again until none is enabled."""
        return self.chart.steps is StepMode.COMPLETION

    @cached_property
    def is_constant_when_idle(self) -> bool:
        """Whether a tick without a transition changes nothing: no counters and no `during` actions."""
        return not (self.counting_nodes or self.during_nodes)

    @cached_property
    def counters(self) -> tuple[Counter, ...]:
        """All counters, state by state."""
        return tuple(counter for node in self.nodes for counter in node.counters)

    @cached_property
    def counting_nodes(self) -> tuple[StateNode, ...]:
        """The nodes with counters."""
        return tuple(node for node in self.nodes if node.counters)

    @cached_property
    def during_nodes(self) -> frozenset[int]:
        """The numbers of the nodes with `during` actions."""
        return frozenset(node.index for node in self.nodes if node.during)

    @cached_property
    def registers(self) -> tuple[str, ...]:
        """The names of the values in a Snapshot: outputs, locals, counters."""
        return (*self.chart.variables, *(counter.name for counter in self.counters))

    @cached_property
    def read_registers(self) -> Callable[[Mapping[str, Any]], tuple[Value, ...]]:
        """A function from an environment to the values of the registers."""
        return make_getter(self.registers)

    @cached_property
    def histories(self) -> tuple[HistoryKey, ...]:
        """The histories that transitions enter."""
        return tuple(HistoryKey(node.index, kind) for node in self.nodes for kind in node.history_kinds)

    @cached_property
    def nodes_tested_by_in(self) -> Mapping[str, int]:
        """The number of each state S whose name `in.S` some expression reads, by that name `in.S`."""
        read_names = frozenset[str]().union(*(expression.names for expression in self.expressions))
        return {
            name: self.node_index_by_name[name.removeprefix(IN_STATE_PREFIX)]
            for name in sorted(read_names)
            if name.startswith(IN_STATE_PREFIX)
        }

    @cached_property
    def expressions(self) -> tuple[Expression, ...]:
        """Every guard, condition and value that a tick may compute, each once; its place is its number."""
        conditions = (counter.condition for counter in self.counters if counter.condition is not None)
        guards = chain.from_iterable(transition.guards for transition in self.transitions)
        values = chain.from_iterable(expressions_in(actions) for actions in all_actions(self))
        by_identity = {id(expression): expression for expression in chain(conditions, guards, values)}
        return tuple(by_identity.values())

    @cached_property
    def _expression_numbers(self) -> Mapping[int, int]:
        """The number of each expression, by its identity (`id()`)."""
        return {id(expression): number for number, expression in enumerate(self.expressions)}

    def expression_number(self, expression: Expression) -> int:
        """Return the place of one of the `expressions`; transitions may share an expression."""
        return self._expression_numbers[id(expression)]

    @cached_property
    def types(self) -> Mapping[str, Type]:
        """The type of every name that an expression may read, except constants."""
        types: dict[str, Type] = {**self.chart.inputs, **self.chart.variables}
        types |= {counter.name: counter.type for counter in self.counters}
        return types | {IN_STATE_PREFIX + node.name: BoolType() for node in self.nodes[1:]}

    @cached_property
    def planner(self) -> MicrostepPlanner:
        """Computes which states are left and entered when transitions are taken."""
        return MicrostepPlanner(self.nodes, self.histories)

    def node(self, name: str) -> StateNode:
        """Return the node of the state of that name.

        Raises:
            UnknownNameError: there is no such state.
        """
        return self.nodes[self.node_index_by_name[self.chart.state(name).name]]


def all_actions(machine: Machine) -> Iterator[Actions]:
    """Yield the actions of all transitions, then those of all states."""
    yield from (transition.do for transition in machine.transitions)
    for node in machine.nodes:
        yield from node.actions


def make_getter(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return a function from a mapping to the values of these names; it raises KeyError if one is missing."""
    if len(names) > 1:
        return itemgetter(*names)
    if names:
        return lambda values: (values[names[0]],)
    return lambda _values: ()


STATE_SEPARATOR = "+"
"""Separates the names of states that are active in different regions."""

Key = tuple[bool, tuple[int, ...], tuple[Value, ...], tuple[tuple[int, ...], ...]]


@dataclass(eq=False, repr=False)
class Snapshot:
    """The configuration of a machine, the values of its registers, and its histories, between two ticks.

    Two snapshots of one chart are equal if nothing that the chart does can tell them apart. Time is counted
    only as far as the chart needs it, so a chart whose types are small has finitely many snapshots.

    Attributes:
        machine: the machine.
        started: whether there was a tick yet.
        configuration: numbers of the active leaves, in document order.
        values: the values of `machine.registers`.
        history: for each of `machine.histories`, the numbers of the remembered states; empty before the first
            time.
        cached_successors: a cache of the interpreter: the next snapshot by inputs.
    """

    machine: Machine
    started: bool
    configuration: tuple[int, ...]
    values: tuple[Value, ...]
    history: tuple[tuple[int, ...], ...]
    cached_successors: dict[Any, Snapshot] | None = field(default=None, init=False)

    @cached_property
    def key(self) -> Key:
        """What distinguishes it from other snapshots of the same machine."""
        return self.started, self.configuration, self.values, self.history

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.key == other.key and self.is_of(other.machine)

    def is_of(self, machine: Machine) -> bool:
        """Return whether it is a snapshot of that machine, or of another machine of the same chart."""
        return self.machine is machine or self.machine.chart == machine.chart

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        values = "".join(f", {name}={value}" for name, value in self.registers.items())
        return f"Snapshot({self.state}{values})"

    @cached_property
    def state(self) -> str:
        """The active leaves; those of different regions are joined by `+`: `left_up+right_down`."""
        return STATE_SEPARATOR.join(self.machine.nodes[leaf].name for leaf in self.configuration)

    @cached_property
    def active_nodes(self) -> tuple[int, ...]:
        """The numbers of all active nodes, without the chart itself, in document order."""
        return tuple(sorted(self.machine.planner.active_nodes(self.configuration)))

    @cached_property
    def active(self) -> tuple[str, ...]:
        """The names of all active states, outer ones before inner ones."""
        return tuple(self.machine.nodes[node_index].name for node_index in self.active_nodes)

    @cached_property
    def registers(self) -> Mapping[str, Value]:
        """The values of outputs, locals and counters by name."""
        return MappingProxyType(dict(zip(self.machine.registers, self.values, strict=True)))

    @cached_property
    def outputs(self) -> Mapping[str, Value]:
        """The values of the outputs by name."""
        outputs = self.machine.chart.outputs  # the registers begin with these
        return MappingProxyType(dict(zip(outputs, self.values, strict=False)))

    @cached_property
    def locals(self) -> Mapping[str, Value]:
        """The values of the locals by name."""
        return MappingProxyType({name: self.registers[name] for name in self.machine.chart.locals})

    @property
    def ticks_in_state(self) -> int:
        """Ticks for which the (first) active leaf has been active, the tick of its entry included.

        It is counted no further than the chart needs, and is 0 before the first tick.
        """
        leaf = self.machine.nodes[self.configuration[0]]
        count = self.registers.get(f"since.{leaf.name}", 0)
        return int(count) + 1 if self.started else 0
