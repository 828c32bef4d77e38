"""C of names, actions and counters, shared by charts with one active state and charts with regions."""

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
from posewright.codegen.c.expressions import CExpressions
from posewright.codegen.c.guard_pruning import prune_guards, terms_of
from posewright.codegen.c.if_chains import ChainFunctions
from posewright.codegen.c.names import ChartNames
from posewright.codegen.c.values import whole
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element

MAX_QUEUE = 1000
"""Events that may wait at once in the interpreter (`MAX_MICROSTEPS`)."""


class ChartCode:
    """Writes expressions, actions and counters of a chart as C.

    Args:
        machine: the machine of the chart.
        soft: whether fractions of 64 bits are computed by calls.
        queue: greatest number of waiting events.

    Attributes:
        writer: receives the lines.
        inside: returns the expression of C for `in(S)`, by node number.
        chains: the functions of truth tables.
        raised_fields: fields that record, for monitors, that an event was raised in the tick.
    """

    def __init__(self, machine: Machine, *, soft: bool = False, queue: int | None = None) -> None:
        self.machine = machine
        self.names = ChartNames(machine)
        self.soft = soft
        self.writer = CWriter()
        self.inside: Callable[[int], str] = lambda _number: "false"
        self.raised_fields: dict[str, str] = {}
        self.chains = ChainFunctions(machine.chart, self.names)
        self.expressions = CExpressions(self.read, self.value_name, soft=soft, write_chain=self.chains.call)
        bound = queue_bound(machine)
        self.queue = bound if queue is None else min(queue, bound)

    # Names and types

    def read(self, name: Name) -> str:
        """Return the expression of C for a variable, input or event."""
        if name.name.startswith(IN_STATE_PREFIX):
            return self.inside(self.machine.number_of[name.name.removeprefix(IN_STATE_PREFIX)])
        if name.name.startswith(RAISED_PREFIX):
            return f"chart->{self.raised_fields[name.name.removeprefix(RAISED_PREFIX)]}"
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

    def transition_element(self, transition: CompoundTransition) -> Element:
        """Return the element of a transition."""
        return Element("transition", self.transition_name(transition), transition.line)

    def transition_name(self, transition: CompoundTransition) -> str:
        """Return the name of a transition, such as `walking -> turning`."""
        source = self.machine.nodes[transition.source].name
        goals = " + ".join(
            f"{goal.history.value} history of {self.machine.nodes[goal.node].name}"
            if goal.history
            else self.machine.nodes[goal.node].name
            for goal in transition.targets
        )
        return f"{source} -> {goals}" if goals else f"{source}: internal"

    def transition_comment(self, transition: CompoundTransition) -> str:
        """Return the comment above a transition: its name, event, delay, guards and line."""
        guards = [str(guard) for guard in transition.guards if guard != ALWAYS]
        parts = [self.transition_name(transition)]
        parts += [f"on {' or '.join(transition.events)}"] if transition.events else []
        parts += [f"after {transition.wait} ticks"] if transition.wait else []
        parts += [f"when {' and '.join(guards)}"] if guards else []
        place = f" (line {transition.line})" if transition.line else ""
        return comment(", ".join(parts) + place)

    # Actions

    def with_conditions(
        self, transitions: Iterable[CompoundTransition]
    ) -> Iterator[tuple[CompoundTransition, str | None]]:
        """Yield transitions in order of priority, each with its condition in C; None for always.

        Terms that follow from the conditions of earlier transitions are left out, as are transitions that can
        never be taken after them.
        """
        transitions = tuple(transitions)
        all_terms = [[*self._terms(transition)] for transition in transitions]
        pruned = prune_guards([[tree for tree, _ in terms] for terms in all_terms])
        for transition, terms, indices in zip(transitions, all_terms, pruned, strict=True):
            if indices is None:
                continue
            yield transition, self.expressions.all_of([terms[index] for index in indices]) or None
            if not indices:
                return

    def _terms(self, transition: CompoundTransition) -> Iterator[tuple[Tree, Mapping[str, Value]]]:
        """Yield the terms that must all hold for a transition, with the values of fixed names."""
        if transition.wait:
            counter = Name(
                transition.since_register, declared_type=self.machine.types[transition.since_register]
            )
            yield Binary(Operator.GREATER_EQUAL, counter, Literal(transition.wait)), {}
        for guard in transition.guards:
            if guard != ALWAYS:
                yield from ((tree, guard.constant_values) for tree in terms_of(guard.tree))

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
        """Write assignments, by temporaries where a value reads a variable that is set before it."""
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
        """Write the raising of an event: it is recorded for monitors, and queued for transitions."""
        if event in self.raised_fields:
            self.writer.line(f"chart->{self.raised_fields[event]} = true;")
        if event in self.machine.handled_events:
            self.writer.line(f"put(chart, {self.names.events[event]});")

    def has_effect(self, event: str) -> bool:
        """Return whether raising an event has an effect."""
        return event in self.machine.handled_events or event in self.raised_fields

    def during(self, stayed: Callable[[int], str]) -> None:
        """Write the `during` actions of states; `stayed` returns the condition that a state was not left."""
        for number in sorted(self.machine.during_nodes):
            node = self.machine.nodes[number]
            with self.writer.about(self.state_element(node)), self.writer.block(f"if ({stayed(number)})"):
                self.act(node.during)

    # Time

    def count(self, counter: Counter) -> None:
        """Write the counting of one tick."""
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
        """Write the reset of a state's counters."""
        self.writer.write(f"chart->{self.names.registers[counter.name]} = 0;" for counter in node.counters)

    @contextmanager
    def function(self, head: str) -> Iterator[CWriter]:
        """Write a function, with `(void)parameter;` for parameters that it does not use."""
        outer = self.writer
        inner = CWriter()
        inner.element = outer.element
        self.writer = inner
        yield inner
        self.writer = outer
        text = re.sub(r"/\*.*?\*/", "", "\n".join(inner.lines))
        with outer.function(head):
            for name in re.findall(r"(\w+)[,)]", head[head.index("(") :]):
                if name != "void" and not re.search(rf"\b{name}\b", text):
                    outer.line(f"(void){name};")
            outer.include(inner)


def queue_bound(machine: Machine) -> int:
    """Return an upper bound of the number of waiting events; `MAX_QUEUE` where events may raise each other.

    The bound assumes that every action that raises an event is done in every microstep.
    """
    if not machine.queue_limit:
        return 0
    raised: dict[str, set[str]] = {event: set() for event in machine.handled_events}
    always = _raised_by_states(machine)
    for transition in machine.transitions:
        for event in transition.events:
            raised[event] |= (set(events_raised(transition.do)) | always) & machine.handled_events
    total: int = sum(_count_raises(actions, machine.handled_events) for actions in all_actions(machine))
    total += sum(len(node.ancestors) for node in machine.nodes if node.final)
    if machine.runs_to_completion:
        return MAX_QUEUE
    longest = _longest_chain(raised)
    outside = 1 + len(machine.events) + 1
    if longest is None or total ** max(longest, 1) * outside >= MAX_QUEUE:
        return MAX_QUEUE
    bound: int = total ** max(longest, 1)
    return max(1, 2 * bound)


def _raised_by_states(machine: Machine) -> set[str]:
    """Return the events that entering or leaving states may raise."""
    events = {
        DONE_PREFIX + machine.nodes[k].name
        for node in machine.nodes
        if node.final
        for k in node.ancestors[:-1]
    }
    for node in machine.nodes:
        events |= events_raised(node.entry) | events_raised(node.exit)
    return events


def _count_raises(actions: Actions, queued_events: frozenset[str]) -> int:
    """Return the greatest number of events that actions put into the queue."""
    count = 0
    for action in actions:
        if isinstance(action, Raise):
            count += action.event in queued_events
        elif isinstance(action, Branch):
            count += _count_raises(action.then, queued_events)
            count += _count_raises(action.otherwise, queued_events)
    return count


def _longest_chain(raised: dict[str, set[str]]) -> int | None:
    """Return the length of the longest chain of events that raise each other; None for a cycle."""
    length: dict[str, int] = {}
    for _ in range(len(raised) + 1):
        before = dict(length)
        for event, successors in raised.items():
            if all(successor in before for successor in successors):
                length[event] = 1 + max((before[successor] for successor in successors), default=0)
        if len(length) == len(raised):
            return max(length.values(), default=1)
    return None
