"""What both ways of writing a chart share: how names are read, actions done, time counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from posewright.charts.expression import Binary, Literal, Name, Operator, Tree
from posewright.charts.machine import Counter, Machine, all_actions
from posewright.charts.machine.machine import IN_STATE_PREFIX
from posewright.charts.machine.monitor import RAISED_PREFIX
from posewright.charts.machine.node import CompoundTransition, StateNode
from posewright.charts.model import ALWAYS, DONE_PREFIX, Actions, Assign, Branch, Raise, events_raised
from posewright.charts.types import EnumType, FloatType, Type, Value
from posewright.codegen.c.chains import ChainFunctions
from posewright.codegen.c.expressions import CExpressions
from posewright.codegen.c.names import ChartNames
from posewright.codegen.c.settled import terms_of, unsettled
from posewright.codegen.c.values import whole
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element

MAX_QUEUE = 1000
"""Events that may wait at once in the interpreter (`MAX_MICROSTEPS`)."""


class ChartCode:
    """Writes what a chart does as C.

    Args:
        machine: of the chart.
        soft: fractions of 64 bits are computed by calls.
        queue: events that may wait at once.

    Attributes:
        writer: where lines go.
        inside: how `in(S)` is asked, by node number.
        chains: the functions that truth tables have become.
        came: fields that note, for promises, that an event was raised in the tick.
    """

    def __init__(self, machine: Machine, *, soft: bool = False, queue: int | None = None) -> None:
        self.machine = machine
        self.names = ChartNames(machine)
        self.soft = soft
        self.writer = CWriter()
        self.inside: Callable[[int], str] = lambda _number: "false"
        self.came: dict[str, str] = {}
        self.chains = ChainFunctions(machine.chart, self.names)
        self.expressions = CExpressions(self.read, self.value_name, soft=soft, chained=self.chains.call)
        bound = queue_bound(machine)
        self.queue = bound if queue is None else min(queue, bound)

    # Names and types

    def read(self, name: Name) -> str:
        """Return how a name that may change is read."""
        if name.name.startswith(IN_STATE_PREFIX):
            return self.inside(self.machine.number_of[name.name.removeprefix(IN_STATE_PREFIX)])
        if name.name.startswith(RAISED_PREFIX):
            return f"chart->{self.came[name.name.removeprefix(RAISED_PREFIX)]}"
        sampled = {**self.names.inputs, **self.names.event_inputs}
        if name.name in sampled:
            return f"in->{sampled[name.name]}"
        return f"chart->{self.names.registers[name.name]}"

    def value_name(self, kind: EnumType, value: str) -> str:
        """Return the constant of an enumeration's value."""
        return self.names.values[kind][value]

    def c_type(self, kind: Type) -> str:
        """Return the type in which values are stored."""
        if isinstance(kind, FloatType):
            return "float" if kind.single else "pw_f64" if self.soft else "double"
        return "bool" if kind.storage == "bool" else f"{kind.storage}_t"

    # Elements

    def state_element(self, node: StateNode) -> Element:
        """Return the element of a state."""
        return Element("state", node.name, node.line)

    def way_element(self, way: CompoundTransition) -> Element:
        """Return the element of a way."""
        return Element("transition", self.way_name(way), way.line)

    def way_name(self, way: CompoundTransition) -> str:
        """Return a way as a person would say it."""
        source = self.machine.nodes[way.source].name
        goals = " + ".join(
            f"{goal.history.value} history of {self.machine.nodes[goal.node].name}"
            if goal.history
            else self.machine.nodes[goal.node].name
            for goal in way.targets
        )
        return f"{source} -> {goals}" if goals else f"{source}: internal"

    def way_comment(self, way: CompoundTransition) -> str:
        """Return what stands above a way: where it leads, on what, where it stands in the chart."""
        asked = [str(guard) for guard in way.guards if guard != ALWAYS]
        words = [self.way_name(way)]
        words += [f"on {' or '.join(way.events)}"] if way.events else []
        words += [f"after {way.wait} ticks"] if way.wait else []
        words += [f"when {' and '.join(asked)}"] if asked else []
        place = f" (line {way.line})" if way.line else ""
        return comment(", ".join(words) + place)

    # Actions

    def asked(self, ways: Iterable[CompoundTransition]) -> Iterator[tuple[CompoundTransition, str | None]]:
        """Yield ways that are asked in order, each with what is still to be asked; the last may have None.

        What the ways before have settled is not asked again; a way that can then never be taken is left out.
        """
        ways = tuple(ways)
        terms = [[*self._terms(way)] for way in ways]
        open_terms = unsettled([[tree for tree, _ in one] for one in terms])
        for way, parts, places in zip(ways, terms, open_terms, strict=True):
            if places is None:
                continue
            yield way, self.expressions.all_of([parts[place] for place in places]) or None
            if not places:
                return

    def _terms(self, way: CompoundTransition) -> Iterator[tuple[Tree, Mapping[str, Value]]]:
        """Yield what must hold for a way."""
        if way.wait:
            counted = Name(way.since_register, declared_type=self.machine.types[way.since_register])
            yield Binary(Operator.GREATER_EQUAL, counted, Literal(way.wait)), {}
        for guard in way.guards:
            if guard != ALWAYS:
                yield from ((tree, guard.fixed) for tree in terms_of(guard.tree))

    def act(self, actions: Actions) -> None:
        """Write actions, one after the other."""
        for action in actions:
            if isinstance(action, Assign):
                self.assign(action)
            elif isinstance(action, Raise):
                self.put(action.event)
            elif isinstance(action, Branch):
                with self.writer.block(f"if ({self.expressions.condition(action.when)})", self._tail(action)):
                    self.act(action.then)
                if action.otherwise:
                    with self.writer.indented_block():
                        self.act(action.otherwise)

    def _tail(self, action: Branch) -> str:
        return "} else {" if action.otherwise else "}"

    def assign(self, action: Assign) -> None:
        """Write what sets variables, all at once."""
        kinds = self.machine.chart.variables
        set_before: set[str] = set()
        at_once = True
        for name, value in action.values.items():
            at_once = at_once and not (value.names & set_before)
            set_before.add(name)
        texts = {name: self.expressions.fitted(value, kinds[name]) for name, value in action.values.items()}
        if at_once:
            self.writer.write(
                f"chart->{self.names.registers[name]} = {text};" for name, text in texts.items()
            )
            return
        with self.writer.block(""):
            for number, (name, text) in enumerate(texts.items()):
                self.writer.line(f"const {self.c_type(kinds[name])} new_{number} = {text};")
            for number, name in enumerate(texts):
                self.writer.line(f"chart->{self.names.registers[name]} = new_{number};")

    def put(self, event: str) -> None:
        """Write what raises an event: promises note it, and it waits in the queue if anything listens."""
        if event in self.came:
            self.writer.line(f"chart->{self.came[event]} = true;")
        if event in self.machine.handled_events:
            self.writer.line(f"put(chart, {self.names.events[event]});")

    def is_told(self, event: str) -> bool:
        """Return whether it makes a difference that an event is raised."""
        return event in self.machine.handled_events or event in self.came

    def during(self, stayed: Callable[[int], str]) -> None:
        """Write what is done during the tick in the states of which `stayed` says that they were not left."""
        for number in sorted(self.machine.during_nodes):
            node = self.machine.nodes[number]
            with self.writer.about(self.state_element(node)), self.writer.block(f"if ({stayed(number)})"):
                self.act(node.during)

    # Time

    def count(self, counter: Counter) -> None:
        """Write what counts one tick."""
        field = f"chart->{self.names.registers[counter.name]}"
        head = f"if ({field} < {whole(counter.limit)})"
        if counter.condition is not None:
            condition = self.expressions.of(counter.condition)
            with self.writer.block(f"if (!{condition.operand})", f"}} else {head} {{"):
                self.writer.line(f"{field} = 0;")
            with self.writer.indented_block():
                self.writer.line(f"{field}++;")
            return
        with self.writer.block(head, "} else {" if counter.again else "}"):
            self.writer.line(f"{field}++;")
        if counter.again:
            with self.writer.indented_block():
                self.writer.line(f"{field} = 1;")

    def clear_counters(self, node: StateNode) -> None:
        """Write what lets a state's time begin anew."""
        self.writer.write(f"chart->{self.names.registers[counter.name]} = 0;" for counter in node.counters)

    @contextmanager
    def function(self, head: str) -> Iterator[CWriter]:
        """Write a function; a parameter that it does not need is said to be so."""
        outer, self.writer = self.writer, CWriter()
        self.writer.element = outer.element
        yield self.writer
        inner, self.writer = self.writer, outer
        text = re.sub(r"/\*.*?\*/", "", "\n".join(inner.lines))
        with outer.function(head):
            for name in re.findall(r"(\w+)[,)]", head[head.index("(") :]):
                if name != "void" and not re.search(rf"\b{name}\b", text):
                    outer.line(f"(void){name};")
            outer.include(inner)


def queue_bound(machine: Machine) -> int:
    """Return how many events can surely wait at once at most; `MAX_QUEUE` where they may go round.

    Counted generously: as if every action that raises an event were done in every microstep.
    """
    if not machine.queue_limit:
        return 0
    raised: dict[str, set[str]] = {event: set() for event in machine.handled_events}
    always = _raised_by_states(machine)
    for way in machine.transitions:
        for event in way.events:
            raised[event] |= (set(events_raised(way.do)) | always) & machine.handled_events
    total: int = sum(_raises(actions, machine.handled_events) for actions in all_actions(machine))
    total += sum(len(node.ancestors) for node in machine.nodes if node.final)
    if machine.runs_to_completion:
        return MAX_QUEUE
    longest = _longest_chain(raised)
    outside = 1 + len(machine.events) + 1
    if longest is None or total ** max(longest, 1) * outside >= MAX_QUEUE:
        return MAX_QUEUE
    most: int = total ** max(longest, 1)
    return max(1, 2 * most)


def _raised_by_states(machine: Machine) -> set[str]:
    found = {
        DONE_PREFIX + machine.nodes[k].name
        for node in machine.nodes
        if node.final
        for k in node.ancestors[:-1]
    }
    for node in machine.nodes:
        found |= events_raised(node.entry) | events_raised(node.exit)
    return found


def _raises(actions: Actions, heard: frozenset[str]) -> int:
    """Return how many events actions put into the queue at most."""
    count = 0
    for action in actions:
        if isinstance(action, Raise):
            count += action.event in heard
        elif isinstance(action, Branch):
            count += _raises(action.then, heard) + _raises(action.otherwise, heard)
    return count


def _longest_chain(raised: dict[str, set[str]]) -> int | None:
    """Return how many events follow from one another at most; None where they go round."""
    length: dict[str, int] = {}
    for _ in range(len(raised) + 1):
        before = dict(length)
        for event, others in raised.items():
            if all(other in before for other in others):
                length[event] = 1 + max((before[other] for other in others), default=0)
        if len(length) == len(raised):
            return max(length.values(), default=1)
    return None
