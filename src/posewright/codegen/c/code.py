"""C of names, actions and counters, shared by charts with one active state and charts with regions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from posewright.charts.expression import Binary, Literal, Name, Operator
from posewright.charts.machine import Counter, Machine, all_actions
from posewright.charts.machine.machine import IN_STATE_PREFIX
from posewright.charts.machine.monitor import RAISED_PREFIX
from posewright.charts.machine.node import CompoundTransition, StateNode
from posewright.charts.model import ALWAYS, DONE_PREFIX, Actions, Assign, Branch, Raise, events_raised
from posewright.charts.types import EnumType, FloatType, Type
from posewright.codegen.c.expressions import CExpressions, ConditionTerm
from posewright.codegen.c.guard_pruning import find_terms, prune_guards
from posewright.codegen.c.if_chains import ChainFunctions
from posewright.codegen.c.names import ChartNames
from posewright.codegen.c.values import integer_literal
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element

MAX_QUEUE = 1000
"""Events that may wait at once in the interpreter (`MAX_MICROSTEPS`)."""


class GuardedTransition(NamedTuple):
    """A transition with its condition in C; None for a transition that is always taken."""

    transition: CompoundTransition
    condition: str | None


class ChartCode:
    """Writes expressions, actions and counters of a chart as C.

    Args:
        machine: the machine of the chart.
        soft_doubles: whether floats of 64 bits are computed by support functions.
        max_queued_events: greatest number of waiting events; None for what the chart needs.

    Attributes:
        machine: the machine of the chart.
        names: the chart's names in C.
        soft_doubles: whether floats of 64 bits are computed by support functions.
        writer: receives the lines.
        active_condition: returns the expression of C for `in(S)`, the condition that a state is active, by
            the number of its node; set by the writer of the states.
        chains: writes long `a if c else b` chains, such as truth tables, as functions.
        expressions: translates expressions, and collects the support functions that they call.
        queue_size: number of events that can wait; 0 for a chart without a queue.
        raised_fields: by event, the field that records, for monitors, that it was raised in the tick.
    """

    def __init__(
        self, machine: Machine, *, soft_doubles: bool = False, max_queued_events: int | None = None
    ) -> None:
        """Choose the chart's names in C and the size of its queue; nothing is written yet."""
        self.machine = machine
        self.names = ChartNames(machine)
        self.soft_doubles = soft_doubles
        self.writer = CWriter()
        self.active_condition: Callable[[int], str] = lambda _node_number: "false"
        self.raised_fields: dict[str, str] = {}
        self.chains = ChainFunctions(machine.chart, self.names)
        self.expressions = CExpressions(
            self.format_name,
            self.enum_constant,
            soft_doubles=soft_doubles,
            write_chain_function=self.chains.call,
        )
        bound = queue_bound(machine)
        self.queue_size = bound if max_queued_events is None else min(max_queued_events, bound)

    # Names and types

    def format_name(self, name: Name) -> str:
        """Return the expression of C for a name in an expression of the chart.

        It is a variable, input or event, or a name that the machine has put in: for `in(S)`, and for the
        question of a monitor whether an event was raised.
        """
        if name.name.startswith(IN_STATE_PREFIX):
            state = name.name.removeprefix(IN_STATE_PREFIX)
            return self.active_condition(self.machine.node_index_by_name[state])
        if name.name.startswith(RAISED_PREFIX):
            event = name.name.removeprefix(RAISED_PREFIX)
            return f"chart->{self.raised_fields[event]}"
        input_fields = {**self.names.inputs, **self.names.event_inputs}
        if name.name in input_fields:
            return f"in->{input_fields[name.name]}"
        return f"chart->{self.names.registers[name.name]}"

    def enum_constant(self, enum_type: EnumType, value: str) -> str:
        """Return the constant of C for an enumeration's value."""
        return self.names.values[enum_type][value]

    def c_type(self, value_type: Type) -> str:
        """Return the type of C in which values of a type are stored."""
        if isinstance(value_type, FloatType):
            return "float" if value_type.single else "pw_f64" if self.soft_doubles else "double"
        return "bool" if value_type.storage == "bool" else f"{value_type.storage}_t"

    # Elements

    def state_element(self, node: StateNode) -> Element:
        """Return the element of a state."""
        return Element("state", node.name, node.line)

    def transition_element(self, transition: CompoundTransition) -> Element:
        """Return the element of a transition."""
        return Element("transition", self.transition_name(transition), transition.line)

    def transition_name(self, transition: CompoundTransition) -> str:
        """Return the name of a transition, such as `walking -> turning`."""
        source_name = self.machine.nodes[transition.source].name
        target_names: list[str] = []
        for target in transition.targets:
            name = self.machine.nodes[target.node].name
            target_names.append(f"{target.history.value} history of {name}" if target.history else name)
        if not target_names:
            return f"{source_name}: internal"
        return f"{source_name} -> {' + '.join(target_names)}"

    def transition_comment(self, transition: CompoundTransition) -> str:
        """Return the comment above a transition: its name, event, delay, guards and line."""
        guards = [str(guard) for guard in transition.guards if guard != ALWAYS]
        parts = [self.transition_name(transition)]
        parts += [f"on {' or '.join(transition.events)}"] if transition.events else []
        parts += [f"after {transition.wait_ticks} ticks"] if transition.wait_ticks else []
        parts += [f"when {' and '.join(guards)}"] if guards else []
        place = f" (line {transition.line})" if transition.line else ""
        return comment(", ".join(parts) + place)

    def transition_name_comment(self, transition: CompoundTransition) -> str:
        """Return a comment with the name of a transition and its line."""
        place = f" (line {transition.line})" if transition.line else ""
        return comment(self.transition_name(transition) + place)

    # Actions

    def guard_transitions(self, transitions: Iterable[CompoundTransition]) -> Iterator[GuardedTransition]:
        """Yield transitions in order of priority, each with its condition in C.

        A condition is an `and` of terms. Terms that follow from the fact that no earlier transition was taken
        are left out, as are transitions that can never be taken after the earlier ones.
        """
        transitions = tuple(transitions)
        terms_of_transitions = [[*self._terms(transition)] for transition in transitions]
        needed_indices = prune_guards([[term.tree for term in terms] for terms in terms_of_transitions])
        for transition, terms, indices in zip(transitions, terms_of_transitions, needed_indices, strict=True):
            if indices is None:  # it can never be taken
                continue
            condition = self.expressions.translate_all([terms[index] for index in indices])
            yield GuardedTransition(transition, condition or None)
            if not indices:  # without a condition it is always taken, so later ones never are
                return

    def _terms(self, transition: CompoundTransition) -> Iterator[ConditionTerm]:
        """Yield the terms that must all hold for a transition: the waiting time, then those of its guards."""
        if transition.wait_ticks:
            ticks_in_state = Name(
                transition.since_register, declared_type=self.machine.types[transition.since_register]
            )
            has_waited = Binary(Operator.GREATER_EQUAL, ticks_in_state, Literal(transition.wait_ticks))
            yield ConditionTerm(has_waited, constant_values={})
        for guard in transition.guards:
            if guard == ALWAYS:
                continue
            for tree in find_terms(guard.tree):
                yield ConditionTerm(tree, guard.constant_values)

    def write_actions(self, actions: Actions) -> None:
        """Write actions, one after the other."""
        for action in actions:
            if isinstance(action, Assign):
                self.write_assignment(action)
            elif isinstance(action, Raise):
                self.write_raise(action.event)
            elif isinstance(action, Branch):
                self.write_branch(action)

    def write_branch(self, action: Branch) -> None:
        """Write an `if` with its actions, and those of its `else` if it has one."""
        condition = self.expressions.translate_condition(action.when)
        with self.writer.block(f"if ({condition})", "} else {" if action.otherwise else "}"):
            self.write_actions(action.then)
        if action.otherwise:
            with self.writer.indented_block():
                self.write_actions(action.otherwise)

    def write_assignment(self, action: Assign) -> None:
        """Write the assignments of an action, which all happen at once.

        Where a value reads a variable that is set before it, all values are computed into local constants
        first.
        """
        types = self.machine.chart.variables
        assigned_names: set[str] = set()
        can_assign_directly = True
        for name, value in action.values.items():
            reads_assigned_variable = bool(value.names & assigned_names)
            can_assign_directly = can_assign_directly and not reads_assigned_variable
            assigned_names.add(name)
        c_values = {
            name: self.expressions.translate_assigned(value, types[name])
            for name, value in action.values.items()
        }
        if can_assign_directly:
            self.writer.write(
                f"chart->{self.names.registers[name]} = {c_value};" for name, c_value in c_values.items()
            )
            return
        with self.writer.block(""):
            for number, (name, c_value) in enumerate(c_values.items()):
                self.writer.line(f"const {self.c_type(types[name])} new_{number} = {c_value};")
            for number, name in enumerate(c_values):
                self.writer.line(f"chart->{self.names.registers[name]} = new_{number};")

    def write_raise(self, event: str) -> None:
        """Write lines that raise an event: record it for monitors, and put it into the queue.

        Nothing is written for an event that no monitor reads and no transition handles.
        """
        if event in self.raised_fields:
            self.writer.line(f"chart->{self.raised_fields[event]} = true;")
        if event in self.machine.handled_events:
            self.writer.line(f"put(chart, {self.names.events[event]});")

    def has_effect(self, event: str) -> bool:
        """Return whether raising an event has an effect."""
        return event in self.machine.handled_events or event in self.raised_fields

    def write_during_actions(self) -> None:
        """Write the `during` actions of the states that were not left in this tick."""
        for number in sorted(self.machine.during_nodes):
            node = self.machine.nodes[number]
            with (
                self.writer.traced_to(self.state_element(node)),
                self.writer.block(f"if ({self.stayed_flag(number)})"),
            ):
                self.write_actions(node.during)

    # Time

    def write_counting(self, counter: Counter) -> None:
        """Write lines by which a counter counts one tick.

        A counter stays at its limit; one that restarts continues with 1. A counter with a condition counts
        the ticks for which that has held, so it is 0 while the condition does not hold.
        """
        field = f"chart->{self.names.registers[counter.name]}"
        if_below_limit = f"if ({field} < {integer_literal(counter.limit)})"
        if counter.condition is not None:
            condition = self.expressions.translate(counter.condition)
            with self.writer.block(f"if (!{condition.as_operand})", f"}} else {if_below_limit} {{"):
                self.writer.line(f"{field} = 0;")
            with self.writer.indented_block():
                self.writer.line(f"{field}++;")
            return
        with self.writer.block(if_below_limit, "} else {" if counter.restarts else "}"):
            self.writer.line(f"{field}++;")
        if counter.restarts:
            with self.writer.indented_block():
                self.writer.line(f"{field} = 1;")

    def write_counter_resets(self, node: StateNode) -> None:
        """Write the reset of a state's counters."""
        self.writer.write(f"chart->{self.names.registers[counter.name]} = 0;" for counter in node.counters)

    def stayed_flag(self, node_number: int) -> str:
        """Return the field in C that says that a state with `during` actions was not left in this tick."""
        return f"chart->stayed[{sorted(self.machine.during_nodes).index(node_number)}]"

    # States

    def write_exit(self, node: StateNode) -> None:
        """Write the exit actions of a state."""
        with self.writer.traced_to(self.state_element(node)):
            self.write_actions(node.exit)

    def write_state_reset(self, node: StateNode) -> None:
        """Write lines that reset a state's counters and its `stayed` flag."""
        with self.writer.traced_to(self.state_element(node)):
            if node.index in self.machine.during_nodes:
                self.writer.line(f"{self.stayed_flag(node.index)} = false;")
            self.write_counter_resets(node)

    @property
    def enters_at_first_tick(self) -> bool:
        """Whether the first tick enters the chart, rather than `init`, because that has effects."""
        machine = self.machine
        entering = machine.planner.enter_chart().entering
        has_entry_actions = any(node.entry or done_events for node, done_events in entering)
        return bool(has_entry_actions or machine.counters or machine.during_nodes)

    @contextmanager
    def function(self, head: str) -> Iterator[CWriter]:
        """Write a function, whose body is what the context writes.

        In the context, `writer` is a new one, which is also returned: only the complete body shows which
        parameters are not used, for which a line `(void)parameter;` is written before it.

        Args:
            head: the head of the function, with the types and names of its parameters.
        """
        file_writer = self.writer
        body = CWriter()
        body.element = file_writer.element
        self.writer = body
        yield body
        self.writer = file_writer
        body_text = re.sub(r"/\*.*?\*/", "", "\n".join(body.lines))  # without comments
        parameters = re.findall(r"(\w+)[,)]", head[head.index("(") :])  # the last word of each, its name
        with file_writer.function(head):
            for parameter in parameters:
                if parameter != "void" and not re.search(rf"\b{parameter}\b", body_text):
                    file_writer.line(f"(void){parameter};")
            file_writer.include(body)


def queue_bound(machine: Machine) -> int:
    """Return an upper bound of the number of waiting events, at most `MAX_QUEUE`; 0 where none can wait.

    The bound assumes that every action that raises an event is done in every microstep: then each event
    raises as many events as there are such actions, and each of these does so again, up to the length of the
    longest chain of events of which each may raise the next. A chain that never ends has no bound, so the
    result is `MAX_QUEUE`.
    """
    if not machine.queue_limit:
        return 0
    if machine.runs_to_completion:
        return MAX_QUEUE
    raised_events_of: dict[str, set[str]] = {event: set() for event in machine.handled_events}
    raised_by_states = _events_raised_by_states(machine)
    for transition in machine.transitions:
        raised_events = set(events_raised(transition.do)) | raised_by_states
        for event in transition.events:
            raised_events_of[event] |= raised_events & machine.handled_events
    n_raises: int = sum(_count_raises(actions, machine.handled_events) for actions in all_actions(machine))
    n_raises += sum(len(node.ancestors) for node in machine.nodes if node.final)  # done events
    chain_length = _longest_chain(raised_events_of)
    if chain_length is None:
        return MAX_QUEUE
    n_first_microsteps = 1 + len(machine.events) + 1  # without an event, one for each event, `during` actions
    n_waiting: int = n_raises ** max(chain_length, 1)  # after one of these microsteps
    if n_waiting * n_first_microsteps >= MAX_QUEUE:
        return MAX_QUEUE
    return max(1, 2 * n_waiting)


def _events_raised_by_states(machine: Machine) -> set[str]:
    """Return the events that entering or leaving states may raise.

    Entering a final state may complete each of its ancestors but the last one, which is the chart itself.
    """
    events: set[str] = set()
    for node in machine.nodes:
        if node.final:
            events |= {DONE_PREFIX + machine.nodes[ancestor].name for ancestor in node.ancestors[:-1]}
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


def _longest_chain(raised_events_of: dict[str, set[str]]) -> int | None:
    """Return the length of the longest chain of events of which each may raise the next; None for a cycle.

    In each pass, the lengths become known of chains that begin with an event which raises only events of
    known lengths. After a pass for each event, the length of one in or before a cycle is still not known.

    Args:
        raised_events_of: by event, the events that its transitions may raise.
    """
    lengths: dict[str, int] = {}  # of the longest chain that begins with each event
    for _ in range(len(raised_events_of) + 1):
        known_lengths = dict(lengths)
        for event, raised_events in raised_events_of.items():
            if all(raised in known_lengths for raised in raised_events):
                lengths[event] = 1 + max((known_lengths[raised] for raised in raised_events), default=0)
        if len(lengths) == len(raised_events_of):
            return max(lengths.values(), default=1)
    return None
