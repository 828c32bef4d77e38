"""Charts of which one innermost state is active at a time: the state is a number, a tick is a `switch`.

What is left and entered is worked out now, by the machine's own planner, and written out state by state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from posewright.charts.machine import Machine
from posewright.charts.machine.node import ROOT, CompoundTransition, StateNode
from posewright.charts.model import HistoryKind
from posewright.codegen.c.code import ChartCode
from posewright.codegen.c.writer import comment

AskedWays = list[tuple[CompoundTransition, str | None]]


def is_single(machine: Machine) -> bool:
    """Return whether one innermost state is active at a time, and what a history leads to is easily told."""
    parallel = any(node.parallel for node in machine.nodes)
    nested = any(goal.history is not None for node in machine.nodes for goal in node.initial)
    return not parallel and not nested


@dataclass
class SingleStateCode:
    """Writes the functions of such a chart.

    Attributes:
        code: what is shared with charts that have regions.
        starts: whether the first tick enters the chart, rather than `init`.
    """

    code: ChartCode

    def __post_init__(self) -> None:
        machine = self.code.machine
        self.leaves = [node for node in machine.nodes if node.is_leaf and node.index]
        self.rank = {leaf.index: number for number, leaf in enumerate(self.leaves)}
        self.first = machine.planner.enter_chart()
        acts = any(node.entry or done for node, done in self.first.entering)
        self.starts = bool(acts or machine.counters or machine.during_nodes)
        self.code.inside = lambda number: f"({self.inside(number)})"
        self.memories = {
            (number, memory): f"history_{k}" for k, (number, memory) in enumerate(machine.history)
        }

    # What is kept

    @property
    def state_type(self) -> str:
        """The type of the state's number."""
        return "uint8_t" if len(self.leaves) < 255 else "uint16_t"

    @property
    def node_type(self) -> str:
        """The type of a node's number."""
        return "uint8_t" if len(self.code.machine.nodes) < 256 else "uint16_t"

    def fields(self) -> list[str]:
        """Return the declarations of what is kept besides registers."""
        fields = [f"{self.state_type} state;"]
        fields += [f"{self.node_type} {name};" for name in self.memories.values()]
        if self.code.machine.during_nodes:
            fields.append(f"bool stayed[{len(self.code.machine.during_nodes)}];")
        return fields

    def init(self) -> None:
        """Write what puts the chart before its first tick."""
        writer = self.code.writer
        first = "NOT_STARTED" if self.starts else self.constant(self.first.configuration[0])
        writer.line(f"chart->state = {first};")
        writer.write(f"chart->{name} = 0U;" for name in self.memories.values())
        lasting = len(self.code.machine.during_nodes)
        writer.write(f"chart->stayed[{number}] = false;" for number in range(lasting))

    def constants(self) -> list[str]:
        """Return the constants of the states, which other files see."""
        return [f"#define {self.constant(leaf.index)} {k}U" for k, leaf in enumerate(self.leaves)]

    def constant(self, leaf: int) -> str:
        """Return the constant of an innermost state."""
        return self.code.names.states[leaf]

    # Who is active

    def below(self, number: int) -> list[int]:
        """Return the innermost states at or inside a node."""
        node = self.code.machine.nodes[number]
        return [leaf.index for leaf in self.leaves if leaf.index == number or leaf.index in node.descendants]

    def inside(self, number: int, among: Sequence[int] | None = None) -> str:
        """Return when a node is active, without brackets, given that one of some leaves is."""
        leaves = self.below(number)
        ranks = [self.rank[leaf] for leaf in leaves]
        first, last = min(ranks), max(ranks)
        if among is not None and set(among) <= set(leaves):
            return ""
        if first == last:
            return f"chart->state == {self.constant(leaves[0])}"
        every = [self.rank[leaf] for leaf in among] if among is not None else [0, len(self.leaves)]
        parts = []
        if min(every) < first:
            parts.append(f"chart->state >= {self.constant(leaves[0])}")
        if max(every) > last:
            parts.append(f"chart->state <= {self.constant(leaves[-1])}")
        return " && ".join(parts)

    # Functions

    def asks(self, event: str | None) -> bool:
        """Return whether any way is asked on an event."""
        return event in self.code.machine.transitions_by_event

    def microstep(self, name: str, event: str | None) -> None:
        """Write the function that takes the first way an event enables; it returns whether there was one."""
        code, machine = self.code, self.code.machine
        prefix = code.names.prefix
        with code.function(f"static bool {name}({prefix}_t *chart, const {prefix}_inputs_t *in)"):
            self.ask_leaves(event)
            for node in reversed(machine.nodes[1:]):
                ways = self.ways_of(node, event)
                if node.children and ways:
                    self.ask_around(node, ways)
            code.writer.line("return false;")

    def ways_of(self, node: StateNode, event: str | None) -> AskedWays:
        """Return a state's ways on an event, each with what is still to be asked when its turn comes."""
        return [*self.code.asked(way for way in node.transitions if event in (way.events or (None,)))]

    def ask_leaves(self, event: str | None) -> None:
        """Write what the innermost states ask."""
        code = self.code
        asked = [(leaf, ways) for leaf in self.leaves if (ways := self.ways_of(leaf, event))]
        if not asked:
            return
        with code.writer.block("switch (chart->state)"):
            for leaf, ways in asked:
                with code.writer.about(code.state_element(leaf)):
                    code.writer.line(f"case {self.constant(leaf.index)}:")
                    code.writer.depth += 1
                    self.ask(ways, [leaf.index])
                    if ways[-1][1] is not None:
                        code.writer.line("break;")
                    code.writer.depth -= 1
            code.writer.line("default:")
            code.writer.line("    break;")

    def ask_around(self, node: StateNode, ways: AskedWays) -> None:
        """Write what a state asks that has states inside."""
        code, leaves = self.code, self.below(node.index)
        inside = self.inside(node.index, [leaf.index for leaf in self.leaves])
        with code.writer.about(code.state_element(node)):
            if not inside:
                self.ask(ways, leaves)
                return
            with code.writer.block(f"if ({inside})"):
                self.ask(ways, leaves)

    def ask(self, ways: AskedWays, leaves: Sequence[int]) -> None:
        """Write ways in order, each with what it does and a `return true`."""
        code = self.code
        for way, condition in ways:
            with code.writer.about(code.way_element(way)):
                code.writer.line(code.way_comment(way))
                if condition is None:
                    self.take(way, leaves)
                    code.writer.line("return true;")
                    continue
                with code.writer.block(f"if ({condition})"):
                    self.take(way, leaves)
                    code.writer.line("return true;")

    # Taking a way

    def take(self, way: CompoundTransition, leaves: Sequence[int]) -> None:
        """Write what taking a way does."""
        if way.domain is None:
            self.code.act(way.do)
            return
        self.leave(way.domain, leaves)
        self.code.act(way.do)
        goal = way.targets[0]
        if goal.history is None:
            self.enter_by(way, leaves[0], ())
        else:
            self.back_in(way, leaves[0], goal.node, goal.history)

    def leave(self, domain: int, leaves: Sequence[int]) -> None:
        """Write what leaving everything inside a domain does; inner states first."""
        machine = self.code.machine
        within = machine.nodes[domain].descendants
        active = {number for leaf in leaves for number in (leaf, *machine.nodes[leaf].ancestors)} & within
        for number in sorted(active):
            self.remember(machine.nodes[number], leaves)
        for number in sorted(active, reverse=True):
            node = machine.nodes[number]
            if node.exit:
                self.where(number, leaves, partial(self.leave_one, node))
            self.forget_time(node)

    def where(self, number: int, leaves: Sequence[int], write: Callable[[], object]) -> None:
        """Write what is done where a node is active."""
        inside = self.inside(number, leaves)
        if not inside:
            write()
            return
        with self.code.writer.block(f"if ({inside})"):
            write()

    def leave_one(self, node: StateNode) -> None:
        """Write what leaving a state does."""
        with self.code.writer.about(self.code.state_element(node)):
            self.code.act(node.exit)

    def forget_time(self, node: StateNode) -> None:
        """Write what ends a state's time and its part in the tick; nothing, where it was not active."""
        code = self.code
        with code.writer.about(code.state_element(node)):
            if node.index in code.machine.during_nodes:
                code.writer.line(f"chart->stayed[{self.lasting_rank(node.index)}] = false;")
            code.clear_counters(node)

    def lasting_rank(self, number: int) -> int:
        """Return the place of a node among those that act during a tick."""
        return sorted(self.code.machine.during_nodes).index(number)

    def remember(self, node: StateNode, leaves: Sequence[int]) -> None:
        """Write what is noted of a state that is left."""
        code, machine = self.code, self.code.machine
        for memory in node.remembers:
            field = f"chart->{self.memories[node.index, memory]}"
            inner = [leaf for leaf in leaves if leaf in node.descendants]
            kept = node.children if memory is HistoryKind.SHALLOW else inner
            for number in kept:
                below = [leaf for leaf in self.below(number) if leaf in leaves]
                if not below:
                    continue
                text = f"{field} = {number}U; {comment(machine.nodes[number].name)}"
                self.where(number, leaves, partial(code.writer.line, text))

    def back_in(self, way: CompoundTransition, leaf: int, node: int, memory: HistoryKind) -> None:
        """Write what is entered through a history: what was active last, or what stands for it at first."""
        code, machine = self.code, self.code.machine
        inner = machine.nodes[node]
        numbers = inner.children if memory is HistoryKind.SHALLOW else self.below(node)
        with code.writer.block(f"switch (chart->{self.memories[node, memory]})"):
            for number in numbers:
                code.writer.line(f"case {number}U: {comment(machine.nodes[number].name)}")
                code.writer.depth += 1
                self.enter_by(way, leaf, (number,))
                code.writer.line("break;")
                code.writer.depth -= 1
            code.writer.line("default:")
            code.writer.depth += 1
            self.enter_by(way, leaf, ())
            code.writer.line("break;")
            code.writer.depth -= 1

    def enter_by(self, way: CompoundTransition, leaf: int, remembered: tuple[int, ...]) -> None:
        """Write the entering of what a way leads to."""
        machine = self.code.machine
        goal = way.targets[0]
        history = tuple(remembered if key == (goal.node, goal.history) else () for key in machine.history)
        around = set(machine.nodes[leaf].ancestors) | {leaf}
        # What is left is noted anew before it is gone back to: then the memory is what was active just now.
        inside_out = (
            goal.history is not None
            and goal.node in around
            and goal.node in machine.nodes[way.domain or 0].descendants
        )
        if inside_out and remembered:
            leaf = self.below(remembered[0])[0]
        move = machine.planner.plan((leaf,), history, (way,))
        self.enter(move.entering, move.configuration[0])

    def enter(self, entering: Iterable[tuple[StateNode, tuple[str, ...]]], leaf: int) -> None:
        """Write the entering of states, outer ones first.

        The state is stored where it stays the same, too: ways that end alike are shared by the compiler, and
        left out it made the document's machine 204 bytes instead of 136 (`avr-gcc -Os`).
        """
        code, machine = self.code, self.code.machine
        forgotten = machine.planner.forgotten
        for node, done in entering:
            with code.writer.about(code.state_element(node)):
                code.act(node.entry)
                for event in done:
                    code.put(event)
                for memory in node.remembers if node.index in forgotten else ():
                    code.writer.line(f"chart->{self.memories[node.index, memory]} = 0U;")
        code.writer.line(f"chart->state = {self.constant(leaf)};")

    # The tick's other parts

    def begin(self) -> None:
        """Write what the first tick does, and how time passes at later ones."""
        code, machine = self.code, self.code.machine
        if not self.starts:
            return
        with code.writer.block(
            "if (chart->state == NOT_STARTED)", "} else {" if machine.counting_nodes else "}"
        ):
            self.enter(self.first.entering, self.first.configuration[0])
        if not machine.counting_nodes:
            return
        every = [leaf.index for leaf in self.leaves]
        with code.writer.indented_block():
            for node in machine.counting_nodes:
                with code.writer.about(code.state_element(node)):
                    self.where(node.index, every, partial(self.count, node))

    def count(self, node: StateNode) -> None:
        """Write what counts a state's time."""
        for counter in node.counters:
            self.code.count(counter)

    def note_stayed(self) -> None:
        """Write what notes who may act during the tick."""
        for number in sorted(self.code.machine.during_nodes):
            inside = self.inside(number, [leaf.index for leaf in self.leaves]) or "true"
            self.code.writer.line(f"chart->stayed[{self.lasting_rank(number)}] = {inside};")

    def during(self) -> None:
        """Write what is done during the tick in the states that were not left."""
        self.code.during(lambda number: f"chart->stayed[{self.lasting_rank(number)}]")

    # Records of the unit

    def write_active(self) -> list[str]:
        """Return what sets the bits of the active nodes in a state record at `active`."""
        lines = ["switch (chart.state) {"]
        for leaf in self.leaves:
            lines += [f"case {self.constant(leaf.index)}:"]
            lines += [
                f"    set_bit(active, {number}U);"
                for number in sorted({leaf.index, *leaf.ancestors} | {ROOT})
            ]
            lines += ["    break;"]
        return [*lines, "default:", "    break;", "}"]

    def read_active(self) -> list[str]:
        """Return what takes the active nodes from a state record."""
        first = "NOT_STARTED" if self.starts else self.constant(self.first.configuration[0])
        lines = [f"chart.state = {first};"]
        for leaf in self.leaves:
            lines += [f"if (has_bit(active, {leaf.index}U) && has_bit(active, 0U)) {{"]
            lines += [f"    chart.state = {self.constant(leaf.index)};", "}"]
        return lines

    def write_history(self, row: int, place: str) -> list[str]:
        """Return what writes what is remembered into a state record."""
        field = f"chart.history_{row}"
        return [f"if ({field} != 0U) {{", f"    set_bit({place}, {field});", "}"]

    def read_history(self, row: int, place: str) -> list[str]:
        """Return what takes what is remembered from a state record."""
        number, memory = self.code.machine.history[row]
        node = self.code.machine.nodes[number]
        kept = node.children if memory is HistoryKind.SHALLOW else self.below(number)
        lines = []
        for inner in kept:
            lines += [f"if (has_bit({place}, {inner}U)) {{", f"    chart.history_{row} = {inner}U;", "}"]
        return lines

    def sets(self) -> None:
        """Write what asks sets of nodes: there are none."""

    def functions(self) -> None:
        """Write what all microsteps need: nothing."""
