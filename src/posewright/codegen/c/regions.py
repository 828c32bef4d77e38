"""C of charts with regions: a state number for each region, and what each transition leaves and enters.

The number of a state is that of its node, so 0, that of the chart itself, says that a region is not active.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from posewright.charts.machine.node import ROOT, StateNode
from posewright.charts.model import HistoryKind
from posewright.codegen.c.code import ChartCode
from posewright.codegen.c.region_effects import ExitFunctions
from posewright.codegen.c.region_microstep import RegionMicrostep
from posewright.codegen.c.region_tree import Region, RegionTree
from posewright.codegen.c.writer import comment


class _HistoryPart(NamedTuple):
    """A state that a history can store in one of its fields.

    Attributes:
        field: the field of C, one for each region that the history covers.
        state: the state, one of those of the field's region.
        nodes_to_reenter: the nodes that the interpreter stores instead: active children in a shallow history,
            and active leaves in a deep one.
        is_deep: whether the history is a deep one.
    """

    field: str
    state: StateNode
    nodes_to_reenter: list[int]
    is_deep: bool


@dataclass
class RegionsCode:
    """Writes the functions of a chart with regions.

    Attributes:
        code: writes names, actions and counters.
        machine: the chart's machine.
        nodes: its nodes, in document order.
        tree: its regions.
        node_type: type in C of a state's number.
        enters_at_first_tick: whether the first tick enters the chart, rather than `init`.
        exit_functions: the functions for exits that several transitions have in common.
        function_names: the names of the functions that choose transitions, so that they differ.
    """

    code: ChartCode

    def __post_init__(self) -> None:
        """Find the regions, and give `code` its condition for `in(S)`."""
        self.machine = self.code.machine
        self.nodes = self.machine.nodes
        self.tree = RegionTree(self.machine)
        self.node_type = "uint8_t" if len(self.nodes) < 256 else "uint16_t"
        self.enters_at_first_tick = self.code.enters_at_first_tick
        self.exit_functions = ExitFunctions(self.code, self.tree)
        self.function_names: set[str] = set()
        self.code.active_condition = lambda node_number: f"({self.active_condition(node_number)})"

    # The fields

    def field(self, region: Region) -> str:
        """Return the field with the number of the active state of a region."""
        return self.code.names.region_fields[region.root.index]

    def fields(self) -> list[str]:
        """Return the declarations of the fields that hold states: active, histories, `stayed` flags."""
        fields = []
        for region in self.tree.regions:
            is_chart = region.root.index == ROOT
            owner = "the chart" if is_chart else region.root.name
            meaning = comment(f"that is active in {owner}; 0 for none")
            fields.append(f"{self.node_type} {self.field(region)}; {meaning}")
        fields += [f"{self.node_type} {field};" for field in self.code.names.history_fields.values()]
        if self.machine.during_nodes:
            fields.append(f"bool stayed[{len(self.machine.during_nodes)}];")
        return fields

    def write_init(self) -> None:
        """Write lines of C that initialise the fields of active states, histories and `stayed` flags.

        A chart that is entered at its first tick has no active state before it.
        """
        writer = self.code.writer
        initial_nodes: set[int] = set()
        if not self.enters_at_first_tick:
            planner = self.machine.planner
            initial_nodes |= planner.active_nodes(planner.enter_chart().configuration)
        for region in self.tree.regions:
            initial_state = next((state for state in region.states if state.index in initial_nodes), None)
            constant = "0U" if initial_state is None else self.constant_of_state(initial_state)
            writer.line(f"chart->{self.field(region)} = {constant};")
        writer.write(f"chart->{field} = 0U;" for field in self.code.names.history_fields.values())
        writer.write(f"{self.code.stayed_flag(node)} = false;" for node in sorted(self.machine.during_nodes))

    @property
    def named_nodes(self) -> Sequence[StateNode]:
        """The nodes that have a constant, in document order."""
        return self.nodes[1:]

    def constants(self) -> list[str]:
        """Return the constants of the states, which other files see."""
        lines = [f"enum {self.code.names.prefix}_state {{"]
        lines += [f"    {self.constant_of_state(node)} = {node.index}," for node in self.named_nodes]
        lines[-1] = lines[-1].removesuffix(",")
        return [*lines, "};"]

    def constant_of_state(self, node: StateNode) -> str:
        """Return the constant of a state."""
        return self.code.names.states[node.index]

    def active_condition(self, node_number: int) -> str:
        """Return the condition of C, without brackets, that a state is active."""
        field = f"chart->{self.field(self.tree.region_of(node_number))}"
        return self.tree.active_condition(node_number, field, self.code.names.states, active_node=None)

    # Functions

    def has_transitions(self, event: str | None) -> bool:
        """Return whether a transition has an event as its trigger; with None, no event at all."""
        return event in self.machine.transitions_by_event

    def write_microstep(self, name: str, event: str | None) -> None:
        """Write a C function that takes the enabled transitions of all regions on one event.

        The C function returns whether it took a transition.

        Args:
            name: the name of the C function.
            event: the event that triggers the transitions; None for transitions without a trigger.
        """
        RegionMicrostep(self.code, self.tree, self.exit_functions, self.function_names, name, event).write()

    def write_begin(self) -> None:
        """Write lines that enter the chart at the first tick, and count time at later ones."""
        code = self.code
        counting_nodes = self.machine.counting_nodes
        if not self.enters_at_first_tick:
            return
        first_field = self.field(self.tree.regions[0])
        with code.writer.block(f"if (chart->{first_field} == 0U)", "} else {" if counting_nodes else "}"):
            self._write_first_entry()
        if not counting_nodes:
            return
        with code.writer.indented_block():
            for node in counting_nodes:
                with (
                    code.writer.traced_to(code.state_element(node)),
                    code.writer.block(f"if ({self.active_condition(node.index)})"),
                ):
                    for counter in node.counters:
                        code.write_counting(counter)

    def _write_first_entry(self) -> None:
        """Write lines that enter the initial states.

        They become active last, since the actions of their entry see none of them active.
        """
        code = self.code
        entering = self.machine.planner.enter_chart().entering
        for node, done_events in entering:
            with code.writer.traced_to(code.state_element(node)):
                code.write_actions(node.entry)
                for event in done_events:
                    code.write_raise(event)
        for node, _ in entering:
            if node.is_leaf or node.parallel:
                field = self.field(self.tree.region_of(node.index))
                code.writer.line(f"chart->{field} = {self.constant_of_state(node)};")

    def write_stayed_flags(self) -> None:
        """Write lines that set the `stayed` flags at the start of a tick.

        The flag of a state with `during` actions says that it has been active since then; leaving the state
        resets it.
        """
        for node_number in sorted(self.machine.during_nodes):
            condition = self.active_condition(node_number)
            self.code.writer.line(f"{self.code.stayed_flag(node_number)} = {condition};")

    # Records of the unit

    def lines_storing_active(self) -> list[str]:
        """Return lines that set the bits of the active nodes in the bitmap `active` of a state record."""
        lines: list[str] = []
        for region in self.tree.regions:
            lines.append(f"switch (chart.{self.field(region)}) {{")
            for state in region.states:
                active_nodes = {state.index, *state.ancestors, ROOT}
                nodes_of_region = {node.index for node in region.nodes} | {ROOT}
                lines.append(f"case {self.constant_of_state(state)}:")
                lines += [
                    f"    set_bit(active, {number}U);" for number in sorted(active_nodes & nodes_of_region)
                ]
                lines.append("    break;")
            lines += ["default:", "    break;", "}"]
        return lines

    def lines_loading_active(self) -> list[str]:
        """Return lines of C that set the active state of every region from the bitmap of a state record.

        The bitmap, `active` in C, has a bit for each node; bit 0 is that of the chart itself. It is 0 in a
        chart that was not entered yet, whose fields are left as they are.
        """
        lines = ["if (has_bit(active, 0U)) {"]
        for region in self.tree.regions:
            lines.append(f"    chart.{self.field(region)} = 0U;")
            for state in region.states:
                lines += [f"    if (has_bit(active, {state.index}U)) {{"]
                lines += [f"        chart.{self.field(region)} = {self.constant_of_state(state)};", "    }"]
        return [*lines, "}"]

    def lines_storing_history(self, history_index: int, pointer: str) -> list[str]:
        """Return lines that store a history as a bitmap in a state record.

        Args:
            history_index: the index of the history in `Machine.histories`.
            pointer: the expression of C for the address of the bitmap.
        """
        lines: list[str] = []
        for part in self._history_parts(history_index):
            if part.state.parallel and part.is_deep:
                continue  # the leaves that it stands for are stored in the fields of its regions
            lines.append(f"if (chart.{part.field} == {self.constant_of_state(part.state)}) {{")
            lines += [f"    set_bit({pointer}, {number}U);" for number in part.nodes_to_reenter]
            lines.append("}")
        return lines

    def lines_loading_history(self, history_index: int, pointer: str) -> list[str]:
        """Return lines of C that set the fields of a history from its bitmap in a state record.

        Args:
            history_index: index of the history in the machine.
            pointer: the expression of C for the address of the bitmap.
        """
        lines: list[str] = []
        for part in self._history_parts(history_index):
            is_stored = " || ".join(
                f"(has_bit({pointer}, {number}U) != 0U)" for number in part.nodes_to_reenter
            )
            lines += [
                f"if ({is_stored}) {{",
                f"    chart.{part.field} = {self.constant_of_state(part.state)};",
                "}",
            ]
        return lines

    def _history_parts(self, history_index: int) -> Iterator[_HistoryPart]:
        """Yield every state that a history can store, with its field and the nodes that it stands for.

        A history has a field for each region below its node, which stores the active state of the region.
        """
        node_number, history_kind = self.machine.histories[history_index]
        node = self.nodes[node_number]
        is_deep = history_kind is HistoryKind.DEEP
        for region in self.tree.regions_of_history(node_number, history_kind):
            field = self.code.names.history_fields[history_index, region.root.index]
            for state in region.states:
                if state.index not in node.descendants:
                    continue
                if is_deep:
                    nodes_to_reenter = self.tree.leaves_inside(state)
                elif node.parallel:  # all children are active at once
                    nodes_to_reenter = list(node.children)
                else:  # the child that is the state or contains it
                    states_around = (state.index, *state.ancestors)
                    nodes_to_reenter = [child for child in node.children if child in states_around]
                yield _HistoryPart(field, state, nodes_to_reenter, is_deep)
