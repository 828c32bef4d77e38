"""Charts with regions: the active states are a set of bits, and what is left and entered is worked out in C.

The functions are those of the W3C's SCXML, Appendix D, over sets of at most as many bits as there are states;
none calls itself. A set is an array of bytes; tables stand in flash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.charts.machine.node import CompoundTransition, ResolvedTarget, StateNode
from posewright.charts.model import DONE_PREFIX, HistoryKind
from posewright.codegen.c.code import ChartCode
from posewright.codegen.c.writer import comment
from posewright.documents import read_text


def shared(part: str) -> list[str]:
    """Return the lines of a part of `regions.c`, which all such charts share."""
    text = read_text(Path(__file__).with_name("regions.c"))
    begin = text.index(f"/* {part}: ")
    ends = [text.find(f"/* {other}: ", begin + 1) for other in ("microsteps", "choice")]
    end = min((end for end in ends if end > 0), default=len(text))
    lines = text[begin:end].rstrip().splitlines()
    return [lines[0].replace(f"{part}: ", "", 1), *lines[1:], ""]


def _none(kind: str) -> int:
    """Return the number that stands for none, the last one of its type."""
    return 255 if kind == "uint8_t" else 65535


@dataclass
class RegionsCode:
    """Writes the functions of such a chart.

    Attributes:
        code: what is shared with charts of one state at a time.
    """

    code: ChartCode

    def __post_init__(self) -> None:
        self.machine = self.code.machine
        self.nodes = self.machine.nodes
        self.size = len(self.nodes)
        self.bytes = (self.size + 7) // 8
        self.number = "uint8_t" if self.size < 256 else "uint16_t"
        self.way_type = "uint8_t" if len(self.machine.transitions) < 255 else "uint16_t"
        self.ways = {id(way): number for number, way in enumerate(self.machine.transitions)}
        self.most = max(1, sum(1 for node in self.nodes if node.is_leaf and node.index))
        self.count_type = "uint8_t" if max(self.most, self.bytes) < 256 else "uint16_t"
        self.code.inside = self.inside
        self.prefix = self.code.names.prefix
        self.both = "chart_t *chart, const inputs_t *in"

    # What is kept

    def fields(self) -> list[str]:
        """Return the declarations of what is kept besides registers."""
        fields = [f"uint8_t active[{self.bytes}]; {comment('bit 0: the chart was entered')}"]
        if self.machine.history:
            fields.append(f"uint8_t history[{len(self.machine.history)}][{self.bytes}];")
        if self.machine.during_nodes:
            fields.append(f"uint8_t stayed[{self.bytes}];")
        return fields

    def init(self) -> None:
        """Write what puts the chart before its first tick."""
        write = self.code.writer
        write.line("(void)memset(chart->active, 0, sizeof(chart->active));")
        if self.machine.history:
            write.line("(void)memset(chart->history, 0, sizeof(chart->history));")
        if self.machine.during_nodes:
            write.line("(void)memset(chart->stayed, 0, sizeof(chart->stayed));")

    def constants(self) -> list[str]:
        """Return the constants of the states, which other files see."""
        return [f"#define {self.code.names.states[node.index]} {node.index}U" for node in self.nodes[1:]]

    def inside(self, number: int) -> str:
        """Return the condition under which a node is active."""
        return f"has(chart->active, {self.code.names.states[number]})"

    def asks(self, event: str | None) -> bool:
        """Return whether any way is asked on an event."""
        return event in self.machine.transitions_by_event

    def last(self, node: StateNode) -> int:
        """Return the number of the last node inside a node: they are numbered in document order."""
        return max(node.descendants, default=node.index)

    # Functions

    def sets(self) -> None:
        """Write what asks and changes sets of nodes."""
        write = self.code.writer
        write.write([f"#define NODES {self.size}U", f"#define SET_BYTES {self.bytes}U"])
        write.write([f"#define NO_NODE {_none(self.number)}U", f"#define NO_WAY {_none(self.way_type)}U"])
        bits = 8 if self.number == "uint8_t" else 16
        write.write([f"#define READ_NODE(table, index) PW_READ_{bits}(table, index)", ""])
        write.write([f"typedef {self.number} node_t;", f"typedef {self.way_type} way_t;"])
        write.line(f"typedef {self.count_type} count_t;")
        write.write([f"typedef {self.prefix}_t chart_t;", f"typedef {self.prefix}_inputs_t inputs_t;", ""])
        write.write(shared("sets"))

    def functions(self) -> None:
        """Write what all microsteps need."""
        write = self.code.writer
        self._enter_one()
        if not self.machine.transitions:
            return
        self._leave_one()
        self._do()
        self._tables()
        self._expand()
        self._resolve()
        self._remember()
        self._forget()
        write.write(shared("microsteps"))
        write.write(shared("choice"))

    def _tables(self) -> None:
        """Write the tree of the states and where the transitions lead, as tables."""
        ways = self.machine.transitions
        self._table("LAST", [self.last(node) for node in self.nodes], "The last node inside each node.")
        self._table("PARENT", [max(node.parent, 0) for node in self.nodes], "The node around each node.")
        self._table("SOURCE", [way.source for way in ways], "Where each transition begins.")
        domains = [_none(self.number) if way.domain is None else way.domain for way in ways]
        self._table("DOMAIN", domains, "The node in which each transition leaves everything.")

    def _table(self, name: str, numbers: Sequence[int], said: str) -> None:
        write = self.code.writer
        write.line(comment(said))
        with write.block(f"static const node_t {name}[{len(numbers)}] PW_ROM =", "};"):
            for k in range(0, len(numbers), 16):
                write.line(", ".join(f"{number}U" for number in numbers[k : k + 16]) + ",")
        write.line()

    def _per_node(self, head: str, told: Callable[[StateNode], None], nodes: Iterable[StateNode]) -> None:
        """Write a function that does something for one node."""
        code = self.code
        nodes = list(nodes)
        with code.function(head):
            if not nodes:
                return
            with code.writer.block("switch (node)"):
                for node in nodes:
                    with code.writer.about(code.state_element(node)):
                        code.writer.line(f"case {code.names.states[node.index]}:")
                        code.writer.depth += 1
                        told(node)
                        code.writer.line("break;")
                        code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])

    def _leave_one(self) -> None:
        code, lasting = self.code, self.machine.during_nodes

        def told(node: StateNode) -> None:
            code.act(node.exit)
            if node.index in lasting:
                code.writer.line(f"drop(chart->stayed, {code.names.states[node.index]});")
            code.clear_counters(node)

        leaving = [node for node in self.nodes[1:] if node.exit or node.counters or node.index in lasting]
        self._per_node(f"static void leave({self.both}, node_t node)", told, leaving)

    def _enter_one(self) -> None:
        code = self.code

        def told(node: StateNode) -> None:
            code.act(node.entry)
            self._done(node)

        entering = [node for node in self.nodes[1:] if node.entry or (node.final and self._done_events(node))]
        self._per_node(f"static void enter({self.both}, const uint8_t *after, node_t node)", told, entering)

    def _done_events(self, final: StateNode) -> list[tuple[str, str]]:
        """Return the events that may tell that states are done, each with what else must hold."""
        found: list[tuple[str, str]] = []
        condition, number = "", final.parent
        while number:
            node = self.nodes[number]
            if node.parallel:
                condition = self._is_done(number)
            found.append((DONE_PREFIX + node.name, condition))
            number = node.parent
            if not self.nodes[number].parallel:
                break
        return found if any(self.code.is_told(event) for event, _ in found) else []

    def _is_done(self, number: int) -> str:
        """Return the condition under which a node is done."""
        node = self.nodes[number]
        if node.parallel:
            parts = [self._is_done(child) for child in node.children]
            return f"({' && '.join(parts)})"
        finals = [child for child in node.children if self.nodes[child].final]
        parts = [f"has(after, {self.code.names.states[child]})" for child in finals]
        return f"({' || '.join(parts)})" if parts else "false"

    def _done(self, final: StateNode) -> None:
        if not final.final:
            return
        writer, open_blocks = self.code.writer, 0
        for event, condition in self._done_events(final):
            if condition:
                writer.line(f"if ({condition}) {{")
                writer.depth += 1
                open_blocks += 1
            self.code.put(event)
        for _ in range(open_blocks):
            writer.depth -= 1
            writer.line("}")

    def _do(self) -> None:
        """Write the function that does what stands on a way."""
        code = self.code
        with code.function(f"static void act_on_way({self.both}, way_t way)"):
            acting = [way for way in self.machine.transitions if way.do]
            if not acting:
                return
            with code.writer.block("switch (way)"):
                for way in acting:
                    with code.writer.about(code.way_element(way)):
                        code.writer.line(f"case {self.ways[id(way)]}U: {code.way_comment(way)}")
                        code.writer.depth += 1
                        code.act(way.do)
                        code.writer.line("break;")
                        code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])

    # Goals

    def _want(self, goal: ResolvedTarget) -> None:
        """Write what adds a goal to the set of what is to be entered."""
        writer = self.code.writer
        if goal.history is None:
            writer.line(f"add(want, {self.code.names.states[goal.node]});")
            return
        row = self.machine.history.index((goal.node, goal.history))
        node = self.nodes[goal.node]
        span = f"{node.index + 1}U, {self.last(node)}U"
        with writer.block(f"if (has_within(chart->history[{row}], {span}))", "} else {"):
            writer.line(f"add_all(want, chart->history[{row}]);")
        with writer.indented_block():
            for number in goal.default:
                writer.line(f"add(want, {self.code.names.states[number]});")
            if not goal.default:
                self._initial(node)

    def _initial(self, node: StateNode) -> None:
        """Write what is first active inside a node that is entered as a whole."""
        writer = self.code.writer
        for goal in node.initial:
            between = [number for number in self.nodes[goal.node].ancestors if number in node.descendants]
            writer.write(f"add(want, {self.code.names.states[number]});" for number in reversed(between))
            if goal.history is not None and goal.node != node.index:
                writer.line(f"add(want, {self.code.names.states[goal.node]});")
            self._want(goal)
        if node.parallel:
            writer.write(f"add(want, {self.code.names.states[child]});" for child in node.children)

    def _expand(self) -> None:
        """Write the function that adds what entering a node brings along."""
        head = "static void add_initial(const chart_t *chart, uint8_t *want, node_t node)"
        self._per_node(head, self._bring, [node for node in self.nodes[1:] if node.children])

    def _bring(self, node: StateNode) -> None:
        """Write what entering a node brings along: its regions, and what is first active in it."""
        writer = self.code.writer
        if node.parallel and not node.initial:
            writer.write(f"add(want, {self.code.names.states[child]});" for child in node.children)
            return
        with writer.block(f"if (!has_within(want, {node.index + 1}U, {self.last(node)}U))"):
            self._initial(node)
        if node.parallel:
            writer.write(f"add(want, {self.code.names.states[child]});" for child in node.children)

    def _resolve(self) -> None:
        """Write the function that works out what is to be entered."""
        code = self.code
        with code.function("static void add_goals(const chart_t *chart, uint8_t *want, way_t way)"):
            moving = [way for way in self.machine.transitions if way.targets]
            with code.writer.block("switch (way)"):
                for way in moving:
                    with code.writer.about(code.way_element(way)):
                        code.writer.line(f"case {self.ways[id(way)]}U: {comment(code.way_name(way))}")
                        code.writer.depth += 1
                        for goal in way.targets:
                            self._want(goal)
                        code.writer.line("break;")
                        code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])

    def _remember(self) -> None:
        """Write the function that notes what is remembered of states that are left."""
        code = self.code
        with code.function("static void note_history(chart_t *chart, const uint8_t *left)"):
            for row, (number, memory) in enumerate(self.machine.history):
                node = self.nodes[number]
                kept = (
                    node.children
                    if memory is HistoryKind.SHALLOW
                    else sorted(inner for inner in node.descendants if self.nodes[inner].is_leaf)
                )
                with (
                    code.writer.about(code.state_element(node)),
                    code.writer.block(f"if (has(left, {code.names.states[number]}))"),
                ):
                    code.writer.line(f"(void)memset(chart->history[{row}], 0, SET_BYTES);")
                    for inner in kept:
                        constant = code.names.states[inner]
                        with code.writer.block(f"if (has(chart->active, {constant}))"):
                            code.writer.line(f"add(chart->history[{row}], {constant});")

    def _forget(self) -> None:
        """Write the function that forgets, on entering a state, what only others go back to."""
        with self.code.function("static void forget_history(chart_t *chart, const uint8_t *after)") as write:
            for row, (number, _) in enumerate(self.machine.history):
                if number in self.machine.planner.forgotten:
                    with write.block(f"if (has(after, {self.code.names.states[number]}))"):
                        write.line(f"(void)memset(chart->history[{row}], 0, SET_BYTES);")

    # A microstep

    def microstep(self, name: str, event: str | None) -> None:
        """Write the function that takes the ways an event enables; it returns whether there was one."""
        with self.code.function(f"static way_t first_{name}({self.both}, node_t leaf)") as write:
            self._ask(event)
            write.line("return NO_WAY;")
        with self.code.function(f"static bool {name}({self.both})") as write:
            write.write([f"way_t chosen[{self.most}];", "count_t count = 0U;", "node_t node;"])
            with write.block("for (node = 1U; node < NODES; node++)"):
                with write.block("if (has(chart->active, node) && (READ_NODE(LAST, node) == node))"):
                    write.line(f"count = choose(chosen, count, first_{name}(chart, in, node));")
            with write.block("if (count == 0U)"):
                write.line("return false;")
            write.line("take(chart, in, chosen, without_conflicts(chosen, count));")
            write.line("return true;")

    def _ask(self, event: str | None) -> None:
        """Write what an innermost state and those around it ask."""
        code = self.code
        asked = [node for node in self.nodes[1:] if self._ways_of(node, event)]
        leaves = [node for node in asked if node.is_leaf]
        around = [node for node in reversed(asked) if node.children]
        if leaves:
            with code.writer.block("switch (leaf)"):
                for node in leaves:
                    code.writer.line(f"case {code.names.states[node.index]}:")
                    code.writer.depth += 1
                    if not self._ask_ways(node, event):
                        code.writer.line("break;")
                    code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])
        for node in around:
            span = f"(leaf > {code.names.states[node.index]}) && (leaf <= {self.last(node)}U)"
            with code.writer.block(f"if ({span})"):
                self._ask_ways(node, event)

    def _ways_of(self, node: StateNode, event: str | None) -> list[CompoundTransition]:
        return [way for way in node.transitions if (event in way.events if way.events else event is None)]

    def _ask_ways(self, node: StateNode, event: str | None) -> bool:
        """Write the ways of one node; return whether one of them is always taken."""
        code = self.code
        for way, condition in code.asked(self._ways_of(node, event)):
            with code.writer.about(code.way_element(way)):
                code.writer.line(code.way_comment(way))
                text = f"return {self.ways[id(way)]}U;"
                if condition is None:
                    code.writer.line(text)
                    return True
                with code.writer.block(f"if ({condition})"):
                    code.writer.line(text)
        return False

    # The tick's other parts

    def begin(self) -> None:
        """Write what the first tick does, and how time passes at later ones."""
        code, machine = self.code, self.machine
        with code.writer.block("if (!has(chart->active, 0U))", "} else {" if machine.counting_nodes else "}"):
            code.writer.line(f"uint8_t after[{self.bytes}] = {{0U}};")
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
                    code.writer.about(code.state_element(node)),
                    code.writer.block(f"if ({self.inside(node.index)})"),
                ):
                    for counter in node.counters:
                        code.count(counter)

    def note_stayed(self) -> None:
        """Write what notes who may act during the tick."""
        write = self.code.writer
        if not self.machine.during_nodes:
            return
        write.line("(void)memcpy(chart->stayed, chart->active, sizeof(chart->stayed));")

    def during(self) -> None:
        """Write what is done during the tick in the states that were not left."""
        self.code.during(lambda number: f"has(chart->stayed, {self.code.names.states[number]})")

    # Records of the unit

    def write_active(self) -> list[str]:
        """Return what writes the bits of the active nodes into a state record at `active`."""
        first = {0, *self.machine.planner.active_nodes(self.machine.planner.enter_chart().configuration)}
        bits = sum(1 << number for number in first).to_bytes(self.bytes, "little")
        lines = [f"(void)memcpy(active, chart.active, {self.bytes}U);"]
        lines += ["if ((active[0] & 1U) == 0U) { /* the first tick failed */"]
        lines += [f"    active[{place}] = {byte}U;" for place, byte in enumerate(bits) if byte]
        return [*lines, "}"]

    def read_active(self) -> list[str]:
        """Return what takes the active nodes from a state record."""
        return [f"(void)memcpy(chart.active, active, {self.bytes}U);"]

    def write_history(self, row: int, place: str) -> list[str]:
        """Return what writes what is remembered into a state record."""
        return [f"(void)memcpy({place}, chart.history[{row}], {self.bytes}U);"]

    def read_history(self, row: int, place: str) -> list[str]:
        """Return what takes what is remembered from a state record."""
        return [f"(void)memcpy(chart.history[{row}], {place}, {self.bytes}U);"]
