"""C of charts with regions: active states are a bit set, and exit and entry sets are computed at run time.

The functions are those of Appendix D of the W3C's SCXML, without recursion. A set of states is an array of
bytes with a bit for each state; tables are in flash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from posewright.charts.machine.node import ROOT, CompoundTransition, ResolvedTarget, StateNode
from posewright.charts.model import DONE_PREFIX, HistoryKind
from posewright.codegen.c.code import ChartCode
from posewright.codegen.c.writer import comment
from posewright.documents import read_text

_NUMBERS_PER_LINE = 16  # of a constant table


def read_shared_part(part: str) -> list[str]:
    """Return the lines of a part of `regions.c`, which is the same for all charts.

    Args:
        part: `sets`, `microsteps` or `choice`, which are in this order in the file.
    """
    text = read_text(Path(__file__).with_name("regions.c"))
    start = text.index(f"/* {part}: ")
    end = len(text)
    for other_part in ("microsteps", "choice"):
        other_start = text.find(f"/* {other_part}: ", start + 1)
        if other_start >= 0:  # the part follows this one
            end = min(end, other_start)
    first_line, *further_lines = text[start:end].rstrip().splitlines()
    return [first_line.replace(f"{part}: ", "", 1), *further_lines, ""]


def _none_number(c_type: str) -> int:
    """Return the number that stands for no node or no transition: the largest of `uint8_t` or `uint16_t`."""
    return 255 if c_type == "uint8_t" else 65535


class _DoneEvent(NamedTuple):
    """An event that a final state raises, and the condition in C for this; empty for always."""

    name: str
    condition: str


@dataclass
class RegionsCode:
    """Writes the functions of a chart with regions.

    A node is a state of any level, or the chart itself, and is numbered in document order. A set of nodes is
    a bitmap: bit k % 8 of byte k // 8 is 1 for node k.

    Attributes:
        code: the code of names, actions and counters.
        machine: the chart's machine.
        nodes: its nodes, in document order.
        n_nodes: number of nodes.
        set_bytes: size of a set of nodes [bytes].
        node_type: type of C of a node's number.
        transition_type: type of C of a transition's number.
        transition_numbers: the number of each transition, by its `id()`.
        max_active: largest number of active leaves.
        count_type: type of C of a number of active leaves or bytes.
        prefix: prefix of the chart's names in C.
        parameters: the parameters of most functions.
    """

    code: ChartCode

    def __post_init__(self) -> None:
        """Compute the numbers and C types of nodes and transitions, and give `code` its condition `in(S)`."""
        self.machine = self.code.machine
        self.nodes = self.machine.nodes
        self.n_nodes = len(self.nodes)
        self.set_bytes = (self.n_nodes + 7) // 8
        self.node_type = "uint8_t" if self.n_nodes < 256 else "uint16_t"
        self.transition_type = "uint8_t" if len(self.machine.transitions) < 255 else "uint16_t"
        self.transition_numbers = {
            id(transition): number for number, transition in enumerate(self.machine.transitions)
        }
        n_leaves = sum(1 for node in self.nodes if node.is_leaf and node.index != ROOT)
        self.max_active = max(1, n_leaves)
        self.count_type = "uint8_t" if max(self.max_active, self.set_bytes) < 256 else "uint16_t"
        self.code.active_condition = self.active_condition
        self.prefix = self.code.names.prefix
        self.parameters = "chart_t *chart, const inputs_t *in"

    # The fields

    def fields(self) -> list[str]:
        """Return the declarations of the fields that hold sets of states: active, histories, `stayed`."""
        fields = [f"uint8_t active[{self.set_bytes}]; {comment('bit 0: the chart was entered')}"]
        if self.machine.histories:
            fields.append(f"uint8_t history[{len(self.machine.histories)}][{self.set_bytes}];")
        if self.machine.during_nodes:
            fields.append(f"uint8_t stayed[{self.set_bytes}];")
        return fields

    def write_init(self) -> None:
        """Write the initialisation of these fields."""
        writer = self.code.writer
        writer.line("(void)memset(chart->active, 0, sizeof(chart->active));")
        if self.machine.histories:
            writer.line("(void)memset(chart->history, 0, sizeof(chart->history));")
        if self.machine.during_nodes:
            writer.line("(void)memset(chart->stayed, 0, sizeof(chart->stayed));")

    def constants(self) -> list[str]:
        """Return the constants of the states, which other files see."""
        return [f"#define {self.code.names.states[node.index]} {node.index}U" for node in self.nodes[1:]]

    def active_condition(self, node_number: int) -> str:
        """Return the condition of C that a node is active."""
        return f"has(chart->active, {self.code.names.states[node_number]})"

    def has_transitions(self, event: str | None) -> bool:
        """Return whether a transition has an event as its trigger; with None, no event at all."""
        return event in self.machine.transitions_by_event

    def last_descendant(self, node: StateNode) -> int:
        """Return the number of the last node inside a node, that of the node itself if none is inside.

        Nodes are numbered in document order, so the nodes inside one have the numbers after it up to this.
        """
        return max(node.descendants, default=node.index)

    # Functions

    def write_set_functions(self) -> None:
        """Write the types and functions of sets of nodes."""
        writer = self.code.writer
        writer.write([f"#define NODES {self.n_nodes}U", f"#define SET_BYTES {self.set_bytes}U"])
        writer.write(
            [
                f"#define NO_NODE {_none_number(self.node_type)}U",
                f"#define NO_WAY {_none_number(self.transition_type)}U",
            ]
        )
        bits = 8 if self.node_type == "uint8_t" else 16
        writer.write([f"#define READ_NODE(table, index) PW_READ_{bits}(table, index)", ""])
        writer.write([f"typedef {self.node_type} node_t;", f"typedef {self.transition_type} way_t;"])
        writer.line(f"typedef {self.count_type} count_t;")
        writer.write([f"typedef {self.prefix}_t chart_t;", f"typedef {self.prefix}_inputs_t inputs_t;", ""])
        writer.write(read_shared_part("sets"))

    def write_functions(self) -> None:
        """Write the functions that microsteps call."""
        writer = self.code.writer
        self._write_entry_function()
        if not self.machine.transitions:
            return
        self._write_exit_function()
        self._write_transition_actions()
        self._write_tables()
        self._write_initial_states_function()
        self._write_targets_function()
        self._write_note_history()
        self._write_forget_history()
        writer.write(read_shared_part("microsteps"))
        writer.write(read_shared_part("choice"))

    def _write_tables(self) -> None:
        """Write tables with the tree of the states, and with the source and domain of each transition."""
        transitions = self.machine.transitions
        self._write_table(
            "LAST", [self.last_descendant(node) for node in self.nodes], "The last node inside each node."
        )
        self._write_table(
            "PARENT",
            [max(node.parent, ROOT) for node in self.nodes],  # the chart has no parent, and is its own
            "The node around each node.",
        )
        self._write_table(
            "SOURCE", [transition.source for transition in transitions], "Where each transition begins."
        )
        domains = [
            _none_number(self.node_type) if transition.domain is None else transition.domain
            for transition in transitions
        ]
        self._write_table("DOMAIN", domains, "The node in which each transition leaves everything.")

    def _write_table(self, name: str, numbers: Sequence[int], meaning: str) -> None:
        """Write a constant table in flash, with a comment that explains it."""
        writer = self.code.writer
        writer.line(comment(meaning))
        with writer.block(f"static const node_t {name}[{len(numbers)}] PW_ROM =", "};"):
            for start in range(0, len(numbers), _NUMBERS_PER_LINE):
                line_numbers = numbers[start : start + _NUMBERS_PER_LINE]
                writer.line(", ".join(f"{number}U" for number in line_numbers) + ",")
        writer.line()

    def _write_function_of_node(
        self, head: str, write_case: Callable[[StateNode], None], nodes: Iterable[StateNode]
    ) -> None:
        """Write a function with a `switch` over its parameter `node`; without nodes, an empty one.

        Args:
            head: the head of the function.
            write_case: writes the lines for a node.
            nodes: the nodes with lines of their own; the function does nothing for others.
        """
        code = self.code
        nodes = list(nodes)
        with code.function(head):
            if not nodes:
                return
            with code.writer.block("switch (node)"):
                for node in nodes:
                    with code.writer.traced_to(code.state_element(node)):
                        code.writer.line(f"case {code.names.states[node.index]}:")
                        code.writer.depth += 1
                        write_case(node)
                        code.writer.line("break;")
                        code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])

    def _write_exit_function(self) -> None:
        """Write the function that executes the exit actions of a state."""
        code = self.code
        during_nodes = self.machine.during_nodes

        def write_exit(node: StateNode) -> None:
            code.write_actions(node.exit)
            if node.index in during_nodes:
                code.writer.line(f"drop(chart->stayed, {code.names.states[node.index]});")
            code.write_counter_resets(node)

        nodes_with_exit = [
            node for node in self.nodes[1:] if node.exit or node.counters or node.index in during_nodes
        ]
        head = f"static void leave({self.parameters}, node_t node)"
        self._write_function_of_node(head, write_exit, nodes_with_exit)

    def _write_entry_function(self) -> None:
        """Write the function that executes the entry actions of a state and raises done events."""

        def write_entry(node: StateNode) -> None:
            self.code.write_actions(node.entry)
            self._write_done_events(node)

        nodes_with_entry = [
            node for node in self.nodes[1:] if node.entry or (node.final and self._find_done_events(node))
        ]
        head = f"static void enter({self.parameters}, const uint8_t *after, node_t node)"
        self._write_function_of_node(head, write_entry, nodes_with_entry)

    def _find_done_events(self, final: StateNode) -> list[_DoneEvent]:
        """Return the done events that entering a final state may raise, inner ones first.

        They are the event of the parent of the final state and, if the parent is a region, that of the state
        with the regions, which is done once all of its regions are; if that state is in a region itself, so
        on outwards. The list is empty if none of the events has an effect.
        """
        events: list[_DoneEvent] = []
        condition = ""
        node_number = final.parent
        while node_number != ROOT:
            node = self.nodes[node_number]
            if node.parallel:
                condition = self._done_condition(node_number)
            events.append(_DoneEvent(DONE_PREFIX + node.name, condition))
            is_region = self.nodes[node.parent].parallel
            if not is_region:
                break
            node_number = node.parent
        return events if any(self.code.has_effect(event.name) for event in events) else []

    def _done_condition(self, node_number: int) -> str:
        """Return the condition of C that a node is done, where `after` has the states active after the step.

        A state with regions is done if all of them are; a region or another state, if a final state in it is
        active.
        """
        node = self.nodes[node_number]
        if node.parallel:
            region_conditions = [self._done_condition(child) for child in node.children]
            return f"({' && '.join(region_conditions)})"
        final_conditions = [
            f"has(after, {self.code.names.states[child]})"
            for child in node.children
            if self.nodes[child].final
        ]
        return f"({' || '.join(final_conditions)})" if final_conditions else "false"

    def _write_done_events(self, final: StateNode) -> None:
        """Write lines that raise the done events of a final state; nothing for other states."""
        if not final.final:
            return
        writer = self.code.writer
        n_open_blocks = 0
        for event in self._find_done_events(final):
            if event.condition:
                # the block is nested in that of the inner state, without which the outer one is not done
                writer.line(f"if ({event.condition}) {{")
                writer.depth += 1
                n_open_blocks += 1
            self.code.write_raise(event.name)
        for _ in range(n_open_blocks):
            writer.depth -= 1
            writer.line("}")

    def _write_transition_actions(self) -> None:
        """Write the function that executes the actions of a transition."""
        code = self.code
        with code.function(f"static void act_on_way({self.parameters}, way_t way)"):
            transitions = [transition for transition in self.machine.transitions if transition.do]
            if not transitions:
                return
            with code.writer.block("switch (way)"):
                for transition in transitions:
                    with code.writer.traced_to(code.transition_element(transition)):
                        number = self.transition_numbers[id(transition)]
                        code.writer.line(f"case {number}U: {code.transition_comment(transition)}")
                        code.writer.depth += 1
                        code.write_actions(transition.do)
                        code.writer.line("break;")
                        code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])

    # The entry set

    def _write_add_target(self, target: ResolvedTarget) -> None:
        """Write lines that add a target of a transition to the entry set, which is `want` in C.

        For a history these are the states that it has stored; if it is empty, its default, or else the
        initial states of its node.
        """
        writer = self.code.writer
        if target.history is None:
            writer.line(f"add(want, {self.code.names.states[target.node]});")
            return
        history_index = self.machine.histories.index((target.node, target.history))
        node = self.nodes[target.node]
        inner_nodes = f"{node.index + 1}U, {self.last_descendant(node)}U"
        with writer.block(f"if (has_within(chart->history[{history_index}], {inner_nodes}))", "} else {"):
            writer.line(f"add_all(want, chart->history[{history_index}]);")
        with writer.indented_block():
            for number in target.default:
                writer.line(f"add(want, {self.code.names.states[number]});")
            if not target.default:
                self._write_add_initial_states(node)

    def _write_add_initial_states(self, node: StateNode) -> None:
        """Write lines that add a node's initial states to the entry set, and the states between.

        All regions of a node with regions are added.
        """
        writer = self.code.writer
        for target in node.initial:
            between = [number for number in self.nodes[target.node].ancestors if number in node.descendants]
            outermost_first = reversed(between)
            writer.write(f"add(want, {self.code.names.states[number]});" for number in outermost_first)
            if target.history is not None and target.node != node.index:
                # the node of the history is entered, too; a state that is a target adds itself
                writer.line(f"add(want, {self.code.names.states[target.node]});")
            self._write_add_target(target)
        if node.parallel:
            writer.write(f"add(want, {self.code.names.states[child]});" for child in node.children)

    def _write_initial_states_function(self) -> None:
        """Write the function that adds a node's regions and initial states to the entry set."""
        head = "static void add_initial(const chart_t *chart, uint8_t *want, node_t node)"
        compound_nodes = [node for node in self.nodes[1:] if node.children]
        self._write_function_of_node(head, self._write_add_regions_and_initial, compound_nodes)

    def _write_add_regions_and_initial(self, node: StateNode) -> None:
        """Write lines that add a node's regions, and its initial states if none inside it is in the set."""
        writer = self.code.writer
        if node.parallel and not node.initial:
            writer.write(f"add(want, {self.code.names.states[child]});" for child in node.children)
            return
        with writer.block(f"if (!has_within(want, {node.index + 1}U, {self.last_descendant(node)}U))"):
            self._write_add_initial_states(node)
        if node.parallel:
            writer.write(f"add(want, {self.code.names.states[child]});" for child in node.children)

    def _write_targets_function(self) -> None:
        """Write the function that adds the targets of a transition to the entry set."""
        code = self.code
        with code.function("static void add_goals(const chart_t *chart, uint8_t *want, way_t way)"):
            transitions = [transition for transition in self.machine.transitions if transition.targets]
            with code.writer.block("switch (way)"):
                for transition in transitions:
                    with code.writer.traced_to(code.transition_element(transition)):
                        name = comment(code.transition_name(transition))
                        code.writer.line(f"case {self.transition_numbers[id(transition)]}U: {name}")
                        code.writer.depth += 1
                        for target in transition.targets:
                            self._write_add_target(target)
                        code.writer.line("break;")
                        code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])

    def _write_note_history(self) -> None:
        """Write the function that stores the histories of states that are left."""
        code = self.code
        with code.function("static void note_history(chart_t *chart, const uint8_t *left)"):
            for history_index, (node_number, history_kind) in enumerate(self.machine.histories):
                node = self.nodes[node_number]
                if history_kind is HistoryKind.DEEP:
                    storable_nodes = sorted(k for k in node.descendants if self.nodes[k].is_leaf)
                else:
                    storable_nodes = list(node.children)
                with (
                    code.writer.traced_to(code.state_element(node)),
                    code.writer.block(f"if (has(left, {code.names.states[node_number]}))"),
                ):
                    code.writer.line(f"(void)memset(chart->history[{history_index}], 0, SET_BYTES);")
                    for stored_node in storable_nodes:
                        constant = code.names.states[stored_node]
                        with code.writer.block(f"if (has(chart->active, {constant}))"):
                            code.writer.line(f"add(chart->history[{history_index}], {constant});")

    def _write_forget_history(self) -> None:
        """Write the function that clears the histories of states that are entered.

        It clears those that no transition from inside the state enters, since leaving the state stores them
        again.
        """
        with self.code.function("static void forget_history(chart_t *chart, const uint8_t *after)") as writer:
            for history_index, (node_number, _) in enumerate(self.machine.histories):
                if node_number not in self.machine.planner.nodes_with_cleared_history:
                    continue
                with writer.block(f"if (has(after, {self.code.names.states[node_number]}))"):
                    writer.line(f"(void)memset(chart->history[{history_index}], 0, SET_BYTES);")

    # A microstep

    def write_microstep(self, name: str, event: str | None) -> None:
        """Write the function that takes the enabled transitions and returns whether there are any.

        It calls a second function, which returns the first enabled transition of a leaf.

        Args:
            name: the name of the function.
            event: the event of the transitions; None for those without one.
        """
        with self.code.function(f"static way_t first_{name}({self.parameters}, node_t leaf)") as writer:
            self._write_selection(event)
            writer.line("return NO_WAY;")
        with self.code.function(f"static bool {name}({self.parameters})") as writer:
            writer.write([f"way_t chosen[{self.max_active}];", "count_t count = 0U;", "node_t node;"])
            with writer.block("for (node = 1U; node < NODES; node++)"):
                with writer.block("if (has(chart->active, node) && (READ_NODE(LAST, node) == node))"):
                    writer.line(f"count = choose(chosen, count, first_{name}(chart, in, node));")
            with writer.block("if (count == 0U)"):
                writer.line("return false;")
            writer.line("take(chart, in, chosen, without_conflicts(chosen, count));")
            writer.line("return true;")

    def _write_selection(self, event: str | None) -> None:
        """Write lines that return the first enabled transition of the leaf `leaf` and of its ancestors.

        Transitions of inner states go first. `event` is that of the transitions; None for those without one.
        """
        code = self.code
        nodes = [node for node in self.nodes[1:] if self._transitions_of(node, event)]
        leaves = [node for node in nodes if node.is_leaf]
        compound_nodes = [node for node in reversed(nodes) if node.children]  # inner ones first
        if leaves:
            with code.writer.block("switch (leaf)"):
                for node in leaves:
                    code.writer.line(f"case {code.names.states[node.index]}:")
                    code.writer.depth += 1
                    if not self._write_transitions(node, event):
                        code.writer.line("break;")
                    code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])
        for node in compound_nodes:
            is_inside = f"(leaf > {code.names.states[node.index]}) && (leaf <= {self.last_descendant(node)}U)"
            with code.writer.block(f"if ({is_inside})"):
                self._write_transitions(node, event)

    def _transitions_of(self, node: StateNode, event: str | None) -> list[CompoundTransition]:
        """Return a node's transitions on an event; with None, those without one."""
        return [transition for transition in node.transitions if event in (transition.events or (None,))]

    def _write_transitions(self, node: StateNode, event: str | None) -> bool:
        """Write lines that return the first enabled transition of a node on an event, by its number.

        Returns:
            Whether one of the transitions is always enabled, so that no line after these is reached.
        """
        code = self.code
        for transition, condition in code.guard_transitions(self._transitions_of(node, event)):
            with code.writer.traced_to(code.transition_element(transition)):
                code.writer.line(code.transition_comment(transition))
                return_line = f"return {self.transition_numbers[id(transition)]}U;"
                if condition is None:
                    code.writer.line(return_line)
                    return True
                with code.writer.block(f"if ({condition})"):
                    code.writer.line(return_line)
        return False

    # The other parts of a tick

    def write_begin(self) -> None:
        """Write lines that enter the chart at the first tick, and count time at later ones.

        In C, `after` is the set of the nodes that are active afterwards; bit 0 is the chart itself.
        """
        code = self.code
        machine = self.machine
        with code.writer.block("if (!has(chart->active, 0U))", "} else {" if machine.counting_nodes else "}"):
            code.writer.line(f"uint8_t after[{self.set_bytes}] = {{0U}};")
            code.writer.line("add(after, 0U);")
            for node, _ in machine.planner.enter_chart().entering:
                constant = code.names.states[node.index]
                code.writer.line(f"add(after, {constant});")
                if node.entry or node.final:
                    code.writer.line(f"enter(chart, in, after, {constant});")
            code.writer.line("(void)memcpy(chart->active, after, sizeof(chart->active));")
        if not machine.counting_nodes:
            return
        with code.writer.indented_block():
            for node in machine.counting_nodes:
                with (
                    code.writer.traced_to(code.state_element(node)),
                    code.writer.block(f"if ({self.active_condition(node.index)})"),
                ):
                    for counter in node.counters:
                        code.write_counting(counter)

    def write_stayed_flags(self) -> None:
        """Write the line that fills the set `stayed` at the start of a tick."""
        writer = self.code.writer
        if not self.machine.during_nodes:
            return
        writer.line("(void)memcpy(chart->stayed, chart->active, sizeof(chart->stayed));")

    def write_during_actions(self) -> None:
        """Write the `during` actions of the states that were not left."""
        self.code.write_during_actions(lambda node: f"has(chart->stayed, {self.code.names.states[node]})")

    # Records of the unit

    def lines_storing_active(self) -> list[str]:
        """Return lines that store the active nodes in the bitmap `active` of a state record.

        If the first tick has failed, the chart was not entered, and the initial states count as active.
        """
        planner = self.machine.planner
        initial_nodes = {ROOT, *planner.active_nodes(planner.enter_chart().configuration)}
        initial_set = sum(1 << number for number in initial_nodes).to_bytes(self.set_bytes, "little")
        lines = [f"(void)memcpy(active, chart.active, {self.set_bytes}U);"]
        lines += ["if ((active[0] & 1U) == 0U) { /* the first tick failed */"]
        lines += [f"    active[{index}] = {byte}U;" for index, byte in enumerate(initial_set) if byte]
        return [*lines, "}"]

    def lines_loading_active(self) -> list[str]:
        """Return lines that load the active nodes from the bitmap `active` of a state record."""
        return [f"(void)memcpy(chart.active, active, {self.set_bytes}U);"]

    def lines_storing_history(self, history_index: int, pointer: str) -> list[str]:
        """Return lines that store a history as a bitmap in a state record.

        Args:
            history_index: the index of the history in `Machine.histories`.
            pointer: the expression of C for the address of the bitmap.
        """
        return [f"(void)memcpy({pointer}, chart.history[{history_index}], {self.set_bytes}U);"]

    def lines_loading_history(self, history_index: int, pointer: str) -> list[str]:
        """Return lines that load a history from its bitmap in a state record; see `lines_storing_history`."""
        return [f"(void)memcpy(chart.history[{history_index}], {pointer}, {self.set_bytes}U);"]
