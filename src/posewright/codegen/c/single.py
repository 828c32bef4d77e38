"""C of charts with one active innermost state at a time: the state is a number, a tick is a `switch`.

Exit and entry sets are computed at generation, by the machine's own planner, and written state by state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from posewright.charts.machine import Machine
from posewright.charts.machine.node import ROOT, CompoundTransition, StateNode
from posewright.charts.model import HistoryKind
from posewright.codegen.c.code import ChartCode, GuardedTransition
from posewright.codegen.c.writer import comment

GuardedTransitions = list[GuardedTransition]
"""Transitions in order of priority."""


def is_single(machine: Machine) -> bool:
    """Return whether there are no regions, and no history is the initial state of another state."""
    parallel = any(node.parallel for node in machine.nodes)
    nested = any(goal.history is not None for node in machine.nodes for goal in node.initial)
    return not parallel and not nested


@dataclass
class SingleStateCode:
    """Writes the functions of a chart with one active innermost state.

    Attributes:
        code: the code of names, actions and counters.
        leaves: the innermost states, in document order.
        leaf_number: the index of each leaf in `leaves`, by its node's number; the state is stored as this.
        initial_move: the move that enters the chart.
        enters_at_first_tick: whether the first tick enters the chart, rather than `init`.
        history_fields: the name of the field of each history.
    """

    code: ChartCode

    def __post_init__(self) -> None:
        machine = self.code.machine
        self.leaves = [node for node in machine.nodes if node.is_leaf and node.index]
        self.leaf_number = {leaf.index: number for number, leaf in enumerate(self.leaves)}
        self.initial_move = machine.planner.enter_chart()
        has_entry_actions = any(node.entry or done_events for node, done_events in self.initial_move.entering)
        self.enters_at_first_tick = bool(has_entry_actions or machine.counters or machine.during_nodes)
        self.code.active_condition = lambda number: f"({self.active_condition(number)})"
        self.history_fields = {
            (number, history_kind): f"history_{k}" for k, (number, history_kind) in enumerate(machine.history)
        }

    # The fields

    @property
    def state_type(self) -> str:
        """The type of the state's number."""
        return "uint8_t" if len(self.leaves) < 255 else "uint16_t"

    @property
    def node_type(self) -> str:
        """The type of a node's number."""
        return "uint8_t" if len(self.code.machine.nodes) < 256 else "uint16_t"

    def fields(self) -> list[str]:
        """Return the declarations of fields besides registers."""
        fields = [f"{self.state_type} state;"]
        fields += [f"{self.node_type} {name};" for name in self.history_fields.values()]
        if self.code.machine.during_nodes:
            fields.append(f"bool stayed[{len(self.code.machine.during_nodes)}];")
        return fields

    def write_init(self) -> None:
        """Write the initialisation of these fields."""
        writer = self.code.writer
        writer.line(f"chart->state = {self.initial_state_constant};")
        writer.write(f"chart->{name} = 0U;" for name in self.history_fields.values())
        n_during = len(self.code.machine.during_nodes)
        writer.write(f"chart->stayed[{number}] = false;" for number in range(n_during))

    def constants(self) -> list[str]:
        """Return the constants of the states, which other files see."""
        return [f"#define {self.constant(leaf.index)} {k}U" for k, leaf in enumerate(self.leaves)]

    @property
    def initial_state_constant(self) -> str:
        """The constant of the state before the first tick."""
        return (
            "NOT_STARTED" if self.enters_at_first_tick else self.constant(self.initial_move.configuration[0])
        )

    def constant(self, leaf: int) -> str:
        """Return the constant of an innermost state."""
        return self.code.names.states[leaf]

    # Active states

    def leaves_inside(self, number: int) -> list[int]:
        """Return the innermost states at or inside a node."""
        node = self.code.machine.nodes[number]
        return [leaf.index for leaf in self.leaves if leaf.index == number or leaf.index in node.descendants]

    def active_condition(self, number: int, candidates: Sequence[int] | None = None) -> str:
        """Return the condition in C, without brackets, that a node is active; empty if it always is.

        Leaves are numbered in document order, so those inside a node are a range of numbers.


        Args:
            number: the node.
            candidates: the leaves of which one is active; None for all.
        """
        leaves = self.leaves_inside(number)
        if candidates is not None and set(candidates) <= set(leaves):
            return ""
        leaf_numbers = [self.leaf_number[leaf] for leaf in leaves]
        first = min(leaf_numbers)
        last = max(leaf_numbers)
        if first == last:
            return f"chart->state == {self.constant(leaves[0])}"
        candidate_numbers = [0, len(self.leaves)]  # the last one is the state before the first tick
        if candidates is not None:
            candidate_numbers = [self.leaf_number[leaf] for leaf in candidates]
        bounds = []
        if min(candidate_numbers) < first:
            bounds.append(f"chart->state >= {self.constant(leaves[0])}")
        if max(candidate_numbers) > last:
            bounds.append(f"chart->state <= {self.constant(leaves[-1])}")
        return " && ".join(bounds)

    # Functions

    def has_transitions(self, event: str | None) -> bool:
        """Return whether a transition has an event as its trigger; with None, no event at all."""
        return event in self.code.machine.transitions_by_event

    def write_microstep(self, name: str, event: str | None) -> None:
        """Write the function that takes the first enabled transition and returns whether there is one."""
        code = self.code
        machine = code.machine
        prefix = code.names.prefix
        with code.function(f"static bool {name}({prefix}_t *chart, const {prefix}_inputs_t *in)"):
            self.write_leaves(event)
            for node in reversed(machine.nodes[1:]):
                transitions = self.transitions_of(node, event)
                if node.children and transitions:
                    self.write_compound_state(node, transitions)
            code.writer.line("return false;")

    def transitions_of(self, node: StateNode, event: str | None) -> GuardedTransitions:
        """Return a state's transitions on an event, with their conditions."""
        candidates = (
            transition for transition in node.transitions if event in (transition.events or (None,))
        )
        return [*self.code.guard_transitions(candidates)]

    def write_leaves(self, event: str | None) -> None:
        """Write the transitions of the innermost states."""
        code = self.code
        leaves_with_transitions: list[tuple[StateNode, GuardedTransitions]] = []
        for leaf in self.leaves:
            transitions = self.transitions_of(leaf, event)
            if transitions:
                leaves_with_transitions.append((leaf, transitions))
        if not leaves_with_transitions:
            return
        with code.writer.block("switch (chart->state)"):
            for leaf, transitions in leaves_with_transitions:
                with code.writer.traced_to(code.state_element(leaf)):
                    code.writer.line(f"case {self.constant(leaf.index)}:")
                    code.writer.depth += 1
                    self.write_transitions(transitions, [leaf.index])
                    always_returns = transitions[-1].condition is None
                    if not always_returns:
                        code.writer.line("break;")
                    code.writer.depth -= 1
            code.writer.line("default:")
            code.writer.line("    break;")

    def write_compound_state(self, node: StateNode, transitions: GuardedTransitions) -> None:
        """Write the transitions of a state with inner states."""
        code = self.code
        leaves = self.leaves_inside(node.index)
        inside = self.active_condition(node.index, [leaf.index for leaf in self.leaves])
        with code.writer.traced_to(code.state_element(node)):
            if not inside:
                self.write_transitions(transitions, leaves)
                return
            with code.writer.block(f"if ({inside})"):
                self.write_transitions(transitions, leaves)

    def write_transitions(self, transitions: GuardedTransitions, leaves: Sequence[int]) -> None:
        """Write transitions in order, each with its effects, given that one of the leaves is active."""
        code = self.code
        for transition, condition in transitions:
            with code.writer.traced_to(code.transition_element(transition)):
                code.writer.line(code.transition_comment(transition))
                if condition is None:
                    self.write_effects(transition, leaves)
                    code.writer.line("return true;")
                    continue
                with code.writer.block(f"if ({condition})"):
                    self.write_effects(transition, leaves)
                    code.writer.line("return true;")

    # Taking a transition

    def write_effects(self, transition: CompoundTransition, leaves: Sequence[int]) -> None:
        """Write lines that leave states, do the actions of a transition, and enter its target.

        An internal transition, which has no domain, only does its actions. `leaves` are the innermost states
        of which one is active before it.
        """
        if transition.domain is None:
            self.code.write_actions(transition.do)
            return
        self.write_exits(transition.domain, leaves)
        self.code.write_actions(transition.do)
        target = transition.targets[0]
        if target.history is None:
            self.write_target_entry(transition, leaves[0], ())
        else:
            self.write_history_entry(transition, leaves[0], target.node, history_kind=target.history)

    def write_exits(self, domain: int, leaves: Sequence[int]) -> None:
        """Write lines that leave all states inside a domain, inner states first."""
        machine = self.code.machine
        inside_domain = machine.nodes[domain].descendants
        possibly_active = {number for leaf in leaves for number in (leaf, *machine.nodes[leaf].ancestors)}
        active = possibly_active & inside_domain
        for number in sorted(active):
            self.write_history_update(machine.nodes[number], leaves)
        for number in sorted(active, reverse=True):
            node = machine.nodes[number]
            if node.exit:
                self.write_if_active(number, leaves, partial(self.write_exit, node))
            self.write_state_reset(node)

    def write_if_active(self, number: int, leaves: Sequence[int], write: Callable[[], object]) -> None:
        """Write lines inside the condition that a node is active, given that one of the leaves is."""
        inside = self.active_condition(number, leaves)
        if not inside:
            write()
            return
        with self.code.writer.block(f"if ({inside})"):
            write()

    def write_exit(self, node: StateNode) -> None:
        """Write the exit actions of a state."""
        with self.code.writer.traced_to(self.code.state_element(node)):
            self.code.write_actions(node.exit)

    def write_state_reset(self, node: StateNode) -> None:
        """Write lines that reset a state's counters and its `stayed` flag."""
        code = self.code
        with code.writer.traced_to(code.state_element(node)):
            if node.index in code.machine.during_nodes:
                code.writer.line(f"chart->stayed[{self.during_index(node.index)}] = false;")
            code.write_counter_resets(node)

    def during_index(self, number: int) -> int:
        """Return the index of a node among those with `during` actions."""
        return sorted(self.code.machine.during_nodes).index(number)

    def write_history_update(self, node: StateNode, leaves: Sequence[int]) -> None:
        """Write lines that store the history of a state when it is left."""
        code = self.code
        machine = code.machine
        for history_kind in node.history_kinds:
            field = f"chart->{self.history_fields[node.index, history_kind]}"
            deep_candidates = [leaf for leaf in leaves if leaf in node.descendants]
            candidates = node.children if history_kind is HistoryKind.SHALLOW else deep_candidates
            for number in candidates:
                inner_leaves = [leaf for leaf in self.leaves_inside(number) if leaf in leaves]
                if not inner_leaves:
                    continue
                text = f"{field} = {number}U; {comment(machine.nodes[number].name)}"
                self.write_if_active(number, leaves, partial(code.writer.line, text))

    def write_history_entry(
        self, transition: CompoundTransition, leaf: int, node: int, history_kind: HistoryKind
    ) -> None:
        """Write lines that enter a history: the states that were active last, or its default.

        Args:
            transition: the transition with the history as its target.
            leaf: an innermost state that may be active before it.
            node: the node that has the history.
            history_kind: the kind of history.
        """
        code = self.code
        machine = code.machine
        is_shallow = history_kind is HistoryKind.SHALLOW
        storable_nodes = machine.nodes[node].children if is_shallow else self.leaves_inside(node)
        with code.writer.block(f"switch (chart->{self.history_fields[node, history_kind]})"):
            for number in storable_nodes:
                code.writer.line(f"case {number}U: {comment(machine.nodes[number].name)}")
                code.writer.depth += 1
                self.write_target_entry(transition, leaf, (number,))
                code.writer.line("break;")
                code.writer.depth -= 1
            code.writer.line("default:")
            code.writer.depth += 1
            self.write_target_entry(transition, leaf, ())
            code.writer.line("break;")
            code.writer.depth -= 1

    def write_target_entry(
        self, transition: CompoundTransition, leaf: int, stored_history: tuple[int, ...]
    ) -> None:
        """Write lines that enter the target of a transition.

        Args:
            transition: the transition.
            leaf: an innermost state that may be active before it.
            stored_history: the stored history of the target; empty for its default or none.
        """
        machine = self.code.machine
        target = transition.targets[0]
        target_history = (target.node, target.history)
        history = tuple(stored_history if key == target_history else () for key in machine.history)
        leaf_and_ancestors = set(machine.nodes[leaf].ancestors) | {leaf}
        reenters_target = (
            target.history is not None
            and target.node in leaf_and_ancestors
            and target.node in machine.nodes[transition.domain or 0].descendants
        )
        if reenters_target and stored_history:  # the state has just been left, and has stored this history
            leaf = self.leaves_inside(stored_history[0])[0]
        move = machine.planner.plan((leaf,), history, (transition,))
        self.write_entries(move.entering, move.configuration[0])

    def write_entries(self, entering: Iterable[tuple[StateNode, tuple[str, ...]]], leaf: int) -> None:
        """Write lines that enter states, outer ones first, and store the innermost one.

        The state is also stored if it stays the same, so that the compiler can share the ends of
        transitions: 136 instead of 204 bytes for the machine of the UC3M document (`avr-gcc -Os`).

        Args:
            entering: the states to enter, each with the done events that this raises.
            leaf: the innermost of them.
        """
        code = self.code
        machine = code.machine
        nodes_with_cleared_history = machine.planner.nodes_with_cleared_history
        for node, done_events in entering:
            with code.writer.traced_to(code.state_element(node)):
                code.write_actions(node.entry)
                for event in done_events:
                    code.write_raise(event)
                if node.index in nodes_with_cleared_history:
                    for history_kind in node.history_kinds:
                        code.writer.line(f"chart->{self.history_fields[node.index, history_kind]} = 0U;")
        code.writer.line(f"chart->state = {self.constant(leaf)};")

    # The other parts of a tick

    def write_begin(self) -> None:
        """Write lines that enter the chart at the first tick, and count time at later ones."""
        code = self.code
        machine = code.machine
        if not self.enters_at_first_tick:
            return
        with code.writer.block(
            "if (chart->state == NOT_STARTED)", "} else {" if machine.counting_nodes else "}"
        ):
            self.write_entries(self.initial_move.entering, self.initial_move.configuration[0])
        if not machine.counting_nodes:
            return
        all_leaves = [leaf.index for leaf in self.leaves]
        with code.writer.indented_block():
            for node in machine.counting_nodes:
                with code.writer.traced_to(code.state_element(node)):
                    self.write_if_active(node.index, all_leaves, partial(self.write_counters, node))

    def write_counters(self, node: StateNode) -> None:
        """Write lines that count a state's time."""
        for counter in node.counters:
            self.code.write_counting(counter)

    def write_stayed_flags(self) -> None:
        """Write lines that set the `stayed` flags at the start of a tick."""
        for number in sorted(self.code.machine.during_nodes):
            inside = self.active_condition(number, [leaf.index for leaf in self.leaves]) or "true"
            self.code.writer.line(f"chart->stayed[{self.during_index(number)}] = {inside};")

    def write_during_actions(self) -> None:
        """Write the `during` actions of the states that were not left."""
        self.code.write_during_actions(lambda number: f"chart->stayed[{self.during_index(number)}]")

    # Records of the unit

    def lines_storing_active(self) -> list[str]:
        """Return lines that set the bits of the active nodes in a state record at `active`."""
        lines = ["switch (chart.state) {"]
        for leaf in self.leaves:
            lines += [f"case {self.constant(leaf.index)}:"]
            lines += [
                f"    set_bit(active, {number}U);"
                for number in sorted({leaf.index, *leaf.ancestors} | {ROOT})
            ]
            lines += ["    break;"]
        return [*lines, "default:", "    break;", "}"]

    def lines_loading_active(self) -> list[str]:
        """Return lines that read the active nodes from a state record."""
        lines = [f"chart.state = {self.initial_state_constant};"]
        for leaf in self.leaves:
            lines += [f"if (has_bit(active, {leaf.index}U) && has_bit(active, 0U)) {{"]
            lines += [f"    chart.state = {self.constant(leaf.index)};", "}"]
        return lines

    def lines_storing_history(self, history_index: int, pointer: str) -> list[str]:
        """Return lines that write a history into a state record, at a pointer."""
        field = f"chart.history_{history_index}"
        return [f"if ({field} != 0U) {{", f"    set_bit({pointer}, {field});", "}"]

    def lines_loading_history(self, history_index: int, pointer: str) -> list[str]:
        """Return lines that read a history from a state record, at a pointer."""
        number, history_kind = self.code.machine.history[history_index]
        node = self.code.machine.nodes[number]
        is_shallow = history_kind is HistoryKind.SHALLOW
        storable_nodes = node.children if is_shallow else self.leaves_inside(number)
        lines = []
        for stored_node in storable_nodes:
            lines += [f"if (has_bit({pointer}, {stored_node}U)) {{"]
            lines += [f"    chart.history_{history_index} = {stored_node}U;", "}"]
        return lines

    def write_set_functions(self) -> None:
        """Write functions for sets of nodes: none."""

    def write_functions(self) -> None:
        """Write functions that microsteps call: none."""
