"""C of charts with one active innermost state at a time: the state is a number, a tick is a `switch`.

Exit and entry sets are computed at generation, by the machine's own planner, and written state by state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from posewright.charts.machine.node import ROOT, CompoundTransition, StateNode
from posewright.charts.model import HistoryKind
from posewright.codegen.c.code import ChartCode, GuardedTransition
from posewright.codegen.c.values import number_condition
from posewright.codegen.c.writer import comment

GuardedTransitions = list[GuardedTransition]
"""Transitions in order of priority."""


@dataclass
class SingleStateCode:
    """Writes the functions of a chart with one active innermost state.

    A node is a state of any level, or the chart itself, and is numbered in document order. A leaf is an
    innermost state. Parameters named `leaf` and `leaves` are node numbers of leaves.

    Attributes:
        code: writes names, actions and counters.
        leaves: the nodes of the innermost states, in document order.
        leaf_number: the index of each leaf in `leaves`, by its node number; the C stores the state as this.
        initial_move: the move that enters the chart.
        enters_at_first_tick: whether the first tick enters the chart, rather than `init`, because entering
            it has effects.
        history_fields: the name in C of the field of each history, by the number of its node and its kind.
    """

    code: ChartCode

    def __post_init__(self) -> None:
        """Number the leaves, plan the entry of the chart, and give `code` its condition for `in(S)`."""
        machine = self.code.machine
        self.leaves = [node for node in machine.nodes if node.is_leaf and node.index != ROOT]
        self.leaf_number = {leaf.index: number for number, leaf in enumerate(self.leaves)}
        self.initial_move = machine.planner.enter_chart()
        self.enters_at_first_tick = self.code.enters_at_first_tick
        self.code.active_condition = lambda node_number: f"({self.active_condition(node_number)})"
        self.history_fields = {
            (node_number, history_kind): f"history_{history_index}"
            for history_index, (node_number, history_kind) in enumerate(machine.histories)
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
        """Return the declarations of the fields that hold states: active, histories, `stayed` flags."""
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

    @property
    def named_nodes(self) -> Sequence[StateNode]:
        """The nodes that have a constant, in document order."""
        return self.leaves

    def constants(self) -> list[str]:
        """Return the constants of the states, which other files see."""
        return [
            f"#define {self.constant_of_state(leaf.index)} {leaf_number}U"
            for leaf_number, leaf in enumerate(self.leaves)
        ]

    @property
    def initial_state_constant(self) -> str:
        """The constant of the state before the first tick."""
        return (
            "NOT_STARTED"
            if self.enters_at_first_tick
            else self.constant_of_state(self.initial_move.configuration[0])
        )

    def constant_of_state(self, leaf: int) -> str:
        """Return the constant of an innermost state."""
        return self.code.names.states[leaf]

    # Active states

    def leaves_inside(self, node_number: int) -> list[int]:
        """Return the node numbers of the leaves at or inside a node, in document order."""
        node = self.code.machine.nodes[node_number]
        return [
            leaf.index for leaf in self.leaves if leaf.index == node_number or leaf.index in node.descendants
        ]

    def active_condition(self, node_number: int, candidates: Sequence[int] | None = None) -> str:
        """Return the condition in C, without brackets, that a node is active; empty if it always is.

        Leaves are numbered in document order, so those inside a node are a range of numbers.

        Args:
            node_number: the node.
            candidates: the leaves of which one is active; None where it may be any, or none before the first
                tick.
        """
        leaves = self.leaves_inside(node_number)
        if candidates is not None and set(candidates) <= set(leaves):
            return ""
        if candidates is None:
            not_started = len(self.leaves)  # the number of the state before the first tick
            candidate_numbers = [0, not_started]
        else:
            candidate_numbers = [self.leaf_number[leaf] for leaf in candidates]
        inside = {self.leaf_number[leaf]: self.constant_of_state(leaf) for leaf in leaves}
        return number_condition(
            "chart->state", inside, lowest=min(candidate_numbers), highest=max(candidate_numbers)
        )

    # Functions

    def has_transitions(self, event: str | None) -> bool:
        """Return whether a transition has an event as its trigger; with None, no event at all."""
        return event in self.code.machine.transitions_by_event

    def write_microstep(self, name: str, event: str | None) -> None:
        """Write a C function that tests the transitions on one event and takes the first enabled one.

        The C function returns whether it took a transition. A transition of an inner state has priority over
        those of the states around it.

        Args:
            name: the name of the C function.
            event: the event that triggers the transitions; None for transitions without a trigger.
        """
        code = self.code
        chart_type = f"{code.names.prefix}_t"
        inputs_type = f"{code.names.prefix}_inputs_t"
        with code.function(f"static bool {name}({chart_type} *chart, const {inputs_type} *in)"):
            self.write_leaf_transitions(event)
            # nodes are in document order, so that in reverse every state follows the states inside it
            states = code.machine.nodes[ROOT + 1 :]
            for state in reversed(states):
                transitions = self.triggered_transitions(state, event)
                has_inner_states = bool(state.children)
                if has_inner_states and transitions:
                    self.write_compound_state_transitions(state, transitions)
            code.writer.line("return false;")

    def triggered_transitions(self, node: StateNode, event: str | None) -> GuardedTransitions:
        """Return the transitions of a state that an event triggers, each with its condition in C.

        Args:
            node: the node of the state.
            event: the event; None for transitions without a trigger.
        """
        triggered: list[CompoundTransition] = []
        for transition in node.transitions:
            is_triggered = event in transition.events if transition.events else event is None
            if is_triggered:
                triggered.append(transition)
        return [*self.code.guard_transitions(triggered)]

    def write_leaf_transitions(self, event: str | None) -> None:
        """Write a `switch` with the transitions of the innermost states that an event triggers.

        Args:
            event: the event; None for transitions without a trigger.
        """
        code = self.code
        leaves_with_transitions: list[tuple[StateNode, GuardedTransitions]] = []
        for leaf in self.leaves:
            transitions = self.triggered_transitions(leaf, event)
            if transitions:
                leaves_with_transitions.append((leaf, transitions))
        if not leaves_with_transitions:
            return
        with code.writer.block("switch (chart->state)"):
            for leaf, transitions in leaves_with_transitions:
                with code.writer.traced_to(code.state_element(leaf)):
                    code.writer.line(f"case {self.constant_of_state(leaf.index)}:")
                    code.writer.depth += 1
                    self.write_transitions(transitions, [leaf.index])
                    # a transition without a condition ends with `return`: no code after it can be reached
                    always_returns = transitions[-1].condition is None
                    if not always_returns:
                        code.writer.line("break;")
                    code.writer.depth -= 1
            code.writer.line("default:")
            code.writer.line("    break;")

    def write_compound_state_transitions(self, node: StateNode, transitions: GuardedTransitions) -> None:
        """Write the transitions of a state with inner states, in an `if` that this state is active."""
        code = self.code
        leaves_inside = self.leaves_inside(node.index)
        all_leaves = [leaf.index for leaf in self.leaves]
        with code.writer.traced_to(code.state_element(node)):
            write_body = partial(self.write_transitions, transitions, leaves_inside)
            self.write_if_active(node.index, all_leaves, write_body)

    def write_transitions(self, transitions: GuardedTransitions, leaves: Sequence[int]) -> None:
        """Write transitions in order, each with its effects, where one of `leaves` is active."""
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

        Args:
            transition: the transition.
            leaves: the leaves of which one is active before it.
        """
        if transition.domain is None:  # an internal transition leaves no state
            self.code.write_actions(transition.do)
            return
        self.write_exits(transition.domain, leaves)
        self.code.write_actions(transition.do)
        target = transition.targets[0]
        # any leaf will do, since the states to enter are the same for all of them
        if target.history is None:
            self.write_target_entry(transition, leaves[0], ())
        else:
            self.write_history_entry(transition, leaves[0], target.node, history_kind=target.history)

    def write_exits(self, domain: int, leaves: Sequence[int]) -> None:
        """Write lines that store histories and leave all active states inside a domain, inner states first.

        Args:
            domain: number of the node in which the transition leaves everything.
            leaves: the leaves of which one is active before it.
        """
        machine = self.code.machine
        possibly_active: set[int] = set()
        for leaf in leaves:
            possibly_active |= {leaf, *machine.nodes[leaf].ancestors}
        possibly_left = possibly_active & machine.nodes[domain].descendants
        for node_number in sorted(possibly_left):
            self.write_history_update(machine.nodes[node_number], leaves)
        for node_number in sorted(possibly_left, reverse=True):
            node = machine.nodes[node_number]
            if node.exit:
                self.write_if_active(node_number, leaves, partial(self.code.write_exit, node))
            self.code.write_state_reset(node)

    def write_if_active(self, node_number: int, leaves: Sequence[int], write: Callable[[], object]) -> None:
        """Write lines of C that are executed if a node is active, where one of `leaves` is.

        Args:
            node_number: the node.
            leaves: the leaves of which one is active.
            write: writes the lines, which stand in an `if` unless the node is always active.
        """
        condition = self.active_condition(node_number, leaves)
        if not condition:
            write()
            return
        with self.code.writer.block(f"if ({condition})"):
            write()

    def write_history_update(self, node: StateNode, leaves: Sequence[int]) -> None:
        """Write lines that store the histories of a state when it is left.

        A shallow history stores which child is active, a deep one which leaf, by its node number.

        Args:
            node: the node of the state.
            leaves: the leaves of which one is active before it is left.
        """
        code = self.code
        machine = code.machine
        for history_kind in node.history_kinds:
            field = f"chart->{self.history_fields[node.index, history_kind]}"
            if history_kind is HistoryKind.SHALLOW:
                candidates = node.children
            else:
                candidates = tuple(leaf for leaf in leaves if leaf in node.descendants)
            for node_number in candidates:
                can_be_active = any(leaf in leaves for leaf in self.leaves_inside(node_number))
                if not can_be_active:
                    continue
                assignment = f"{field} = {node_number}U; {comment(machine.nodes[node_number].name)}"
                self.write_if_active(node_number, leaves, partial(code.writer.line, assignment))

    def write_history_entry(
        self, transition: CompoundTransition, leaf: int, node_number: int, history_kind: HistoryKind
    ) -> None:
        """Write lines that enter a history: the states that were active last, or its default.

        Args:
            transition: the transition with the history as its target.
            leaf: a leaf that may be active before it.
            node_number: the node that has the history.
            history_kind: the kind of history.
        """
        code = self.code
        machine = code.machine
        field = self.history_fields[node_number, history_kind]
        with code.writer.block(f"switch (chart->{field})"):
            for stored_node in self.storable_nodes(node_number, history_kind):
                code.writer.line(f"case {stored_node}U: {comment(machine.nodes[stored_node].name)}")
                code.writer.depth += 1
                self.write_target_entry(transition, leaf, (stored_node,))
                code.writer.line("break;")
                code.writer.depth -= 1
            code.writer.line("default:")
            code.writer.depth += 1
            self.write_target_entry(transition, leaf, ())
            code.writer.line("break;")
            code.writer.depth -= 1

    def storable_nodes(self, node_number: int, history_kind: HistoryKind) -> Sequence[int]:
        """Return the node numbers that the history of a node can store: its children, or its leaves."""
        if history_kind is HistoryKind.SHALLOW:
            return self.code.machine.nodes[node_number].children
        return self.leaves_inside(node_number)

    def write_target_entry(
        self, transition: CompoundTransition, leaf: int, stored_nodes: tuple[int, ...]
    ) -> None:
        """Write lines that enter the target of a transition.

        The machine's planner finds the states to enter, from an active leaf and the contents of all
        histories, of which only that of the target matters.

        Args:
            transition: the transition.
            leaf: a leaf that may be active before it.
            stored_nodes: the node stored by the history that is the target; empty for its default, or where
                the target is no history.
        """
        machine = self.code.machine
        target = transition.targets[0]
        target_history = (target.node, target.history)
        histories = tuple(stored_nodes if history == target_history else () for history in machine.histories)
        active_leaf = leaf
        if stored_nodes and self._leaves_history_and_returns(transition, leaf):
            # leaving has just stored what was active, so that a leaf in the stored node was, and not `leaf`
            active_leaf = self.leaves_inside(stored_nodes[0])[0]
        move = machine.planner.plan_microstep((active_leaf,), histories, (transition,))
        (next_leaf,) = move.configuration  # a chart without regions has one active leaf
        self.write_entries(move.entering, next_leaf)

    def _leaves_history_and_returns(self, transition: CompoundTransition, leaf: int) -> bool:
        """Return whether a transition leaves a state and enters its history.

        Args:
            transition: the transition.
            leaf: a leaf that is active before it.
        """
        machine = self.code.machine
        target = transition.targets[0]
        is_active_before = target.node in {leaf, *machine.nodes[leaf].ancestors}
        is_left = target.node in machine.nodes[transition.domain or ROOT].descendants
        return target.history is not None and is_active_before and is_left

    def write_entries(self, entering: Iterable[tuple[StateNode, tuple[str, ...]]], leaf: int) -> None:
        """Write lines that enter states, outer ones first, and store the innermost one.

        The state is also stored if it stays the same, so that the compiler can share the ends of
        transitions: 136 instead of 204 bytes for the machine of the UC3M document (`avr-gcc -Os`).

        Args:
            entering: the states to enter, each with the done events that this raises.
            leaf: the node number of the innermost state after it.
        """
        code = self.code
        nodes_with_cleared_history = code.machine.planner.nodes_with_cleared_history
        for node, done_events in entering:
            with code.writer.traced_to(code.state_element(node)):
                code.write_actions(node.entry)
                for event in done_events:
                    code.write_raise(event)
                if node.index in nodes_with_cleared_history:
                    for history_kind in node.history_kinds:
                        code.writer.line(f"chart->{self.history_fields[node.index, history_kind]} = 0U;")
        code.writer.line(f"chart->state = {self.constant_of_state(leaf)};")

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
        """Write lines that set the `stayed` flags at the start of a tick.

        The flag of a state with `during` actions says that it has been active since then; leaving the state
        resets it.
        """
        all_leaves = [leaf.index for leaf in self.leaves]
        for node_number in sorted(self.code.machine.during_nodes):
            condition = self.active_condition(node_number, all_leaves) or "true"
            self.code.writer.line(f"{self.code.stayed_flag(node_number)} = {condition};")

    # Records of the unit

    def lines_storing_active(self) -> list[str]:
        """Return lines that set the bits of the active nodes in the bitmap `active` of a state record."""
        lines = ["switch (chart.state) {"]
        for leaf in self.leaves:
            active_nodes = sorted({leaf.index, *leaf.ancestors, ROOT})
            lines.append(f"case {self.constant_of_state(leaf.index)}:")
            lines += [f"    set_bit(active, {node_number}U);" for node_number in active_nodes]
            lines.append("    break;")
        return [*lines, "default:", "    break;", "}"]

    def lines_loading_active(self) -> list[str]:
        """Return lines that set the state from the bitmap `active` of a state record.

        A bitmap of zeros is that of a chart that was not entered yet; the bit of the chart itself is 0.
        """
        lines = [f"chart.state = {self.initial_state_constant};"]
        for leaf in self.leaves:
            lines += [f"if (has_bit(active, {leaf.index}U) && has_bit(active, 0U)) {{"]
            lines += [f"    chart.state = {self.constant_of_state(leaf.index)};", "}"]
        return lines

    def lines_storing_history(self, history_index: int, pointer: str) -> list[str]:
        """Return lines that store a history as a bitmap in a state record.

        Args:
            history_index: the index of the history in `Machine.histories`.
            pointer: the expression of C for the address of the bitmap.
        """
        field = f"chart.history_{history_index}"
        return [f"if ({field} != 0U) {{", f"    set_bit({pointer}, {field});", "}"]

    def lines_loading_history(self, history_index: int, pointer: str) -> list[str]:
        """Return lines of C that set the field of a history from its bitmap in a state record.

        Args:
            history_index: index of the history in the machine.
            pointer: the expression of C for the address of the bitmap.
        """
        node_number, history_kind = self.code.machine.histories[history_index]
        lines = []
        for stored_node in self.storable_nodes(node_number, history_kind):
            lines += [f"if (has_bit({pointer}, {stored_node}U)) {{"]
            lines += [f"    chart.history_{history_index} = {stored_node}U;", "}"]
        return lines
