"""Charts with regions: the active states are a set of bits, and what is left and entered is worked out in C.

The functions are those of the W3C's SCXML, Appendix D, over sets of at most as many bits as there are states;
none calls itself. A set is an array of bytes; tables stand in flash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from posewright.charts.machine.node import CompoundTransition, ResolvedTarget, StateNode
from posewright.charts.model import DONE, Memory
from posewright.codegen.c.code import ChartCode
from posewright.codegen.c.writer import comment


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
        self.way_type = "uint8_t" if len(self.machine.ways) < 255 else "uint16_t"
        self.ways = {id(way): number for number, way in enumerate(self.machine.ways)}
        self.most = max(1, sum(1 for node in self.nodes if node.is_leaf and node.index))
        self.code.inside = self.inside
        self.prefix = self.code.names.prefix
        self.both = f"{self.prefix}_t *chart, const {self.prefix}_inputs_t *in"

    # What is kept

    def fields(self) -> list[str]:
        """Return the declarations of what is kept besides registers."""
        fields = [f"uint8_t active[{self.bytes}]; {comment('bit 0: the chart was entered')}"]
        if self.machine.history:
            fields.append(f"uint8_t history[{len(self.machine.history)}][{self.bytes}];")
        if self.machine.lasting:
            fields.append(f"uint8_t stayed[{self.bytes}];")
        return fields

    def init(self) -> None:
        """Write what puts the chart before its first tick."""
        write = self.code.writer
        write.line("(void)memset(chart->active, 0, sizeof(chart->active));")
        if self.machine.history:
            write.line("(void)memset(chart->history, 0, sizeof(chart->history));")
        if self.machine.lasting:
            write.line("(void)memset(chart->stayed, 0, sizeof(chart->stayed));")

    def constants(self) -> list[str]:
        """Return the constants of the states, which other files see."""
        return [f"#define {self.code.names.states[node.index]} {node.index}U" for node in self.nodes[1:]]

    def inside(self, number: int) -> str:
        """Return the condition under which a node is active."""
        return f"has(chart->active, {self.code.names.states[number]})"

    def asks(self, event: str | None) -> bool:
        """Return whether any way is asked on an event."""
        return event in self.machine.ways_asked

    def last(self, node: StateNode) -> int:
        """Return the number of the last node inside a node: they are numbered in document order."""
        return max(node.within, default=node.index)

    # Functions

    def functions(self) -> None:
        """Write what all microsteps need."""
        self._tables()
        if self.machine.ways:
            self._leave_one()
            self._do()
        self._enter_one()
        if self._defaults():
            self._expand()
        if self._moves():
            self._resolve()
            self._remember()
        if self.machine.ways:
            self._take()

    def _moves(self) -> bool:
        return any(way.domain is not None for way in self.machine.ways)

    def _defaults(self) -> bool:
        return self._moves()

    def sets(self) -> None:
        """Write what asks and changes sets of nodes."""
        write = self.code.writer
        with write.function(f"static bool has(const uint8_t *set, {self.number} node)"):
            write.line("return ((unsigned)set[node / 8U] & (1U << (node % 8U))) != 0U;")
        with write.function(f"static void add(uint8_t *set, {self.number} node)"):
            write.line("set[node / 8U] = (uint8_t)((unsigned)set[node / 8U] | (1U << (node % 8U)));")
        if self._moves() or self.machine.lasting:
            with write.function(f"static void drop(uint8_t *set, {self.number} node)"):
                write.line("set[node / 8U] = (uint8_t)((unsigned)set[node / 8U] & ~(1U << (node % 8U)));")
        if self._moves() or self.machine.history:
            with write.function(
                f"static bool has_within(const uint8_t *set, {self.number} first, {self.number} last)"
            ):
                write.line(f"{self.number} node;")
                with write.block("for (node = first; node <= last; node++)"):
                    with write.block("if (has(set, node))"):
                        write.line("return true;")
                write.line("return false;")

    def _tables(self) -> None:
        """Write the tree of the states and where the ways lead, as tables."""
        if not self.machine.ways:
            return
        self._table(
            "LAST", self.number, [self.last(node) for node in self.nodes], "the last node inside each node"
        )
        if self._moves():
            parents = [max(node.parent, 0) for node in self.nodes]
            self._table("PARENT", self.number, parents, "the node around each node")
        none = 255 if self.number == "uint8_t" else 65535
        domains = [none if way.domain is None else way.domain for way in self.machine.ways]
        self._table("SOURCE", self.number, [way.source for way in self.machine.ways], "where each way begins")
        self._table("DOMAIN", self.number, domains, "in which node each way leaves everything")
        self.code.writer.write([f"#define NO_DOMAIN {none}U", ""])

    def _table(self, name: str, kind: str, numbers: Sequence[int], said: str) -> None:
        write = self.code.writer
        write.line(comment(said[0].upper() + said[1:] + "."))
        with write.block(f"static const {kind} {name}[{len(numbers)}] PW_ROM =", "};"):
            for k in range(0, len(numbers), 16):
                write.line(", ".join(f"{number}U" for number in numbers[k : k + 16]) + ",")
        write.line()

    def _of(self, table: str, index: str) -> str:
        return f"PW_READ_{8 if self.number == 'uint8_t' else 16}({table}, {index})"

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
        code, lasting = self.code, self.machine.lasting

        def told(node: StateNode) -> None:
            code.act(node.exit)
            if node.index in lasting:
                code.writer.line(f"drop(chart->stayed, {code.names.states[node.index]});")
            code.clear_counters(node)

        leaving = [node for node in self.nodes[1:] if node.exit or node.counters or node.index in lasting]
        if self._moves():
            self._per_node(f"static void leave({self.both}, {self.number} node)", told, leaving)

    def _enter_one(self) -> None:
        code = self.code

        def told(node: StateNode) -> None:
            code.act(node.entry)
            self._done(node)

        entering = [node for node in self.nodes[1:] if node.entry or (node.final and self._done_events(node))]
        self._per_node(
            f"static void enter({self.both}, const uint8_t *after, {self.number} node)", told, entering
        )

    def _done_events(self, final: StateNode) -> list[tuple[str, str]]:
        """Return the events that may tell that states are done, each with what else must hold."""
        found: list[tuple[str, str]] = []
        condition, number = "", final.parent
        while number:
            node = self.nodes[number]
            if node.parallel:
                condition = self._is_done(number)
            found.append((DONE + node.name, condition))
            number = node.parent
            if not self.nodes[number].parallel:
                break
        return found if any(event in self.machine.heard for event, _ in found) else []

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
        with code.function(f"static void act_on_way({self.both}, {self.way_type} way)"):
            acting = [way for way in self.machine.ways if way.do]
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
        if goal.memory is None:
            writer.line(f"add(want, {self.code.names.states[goal.node]});")
            return
        row = self.machine.history.index((goal.node, goal.memory))
        node = self.nodes[goal.node]
        span = f"{node.index + 1}U, {self.last(node)}U"
        with writer.block(f"if (has_within(chart->history[{row}], {span}))", "} else {"):
            with writer.block(f"for (k = 0U; k < {self.bytes}U; k++)"):
                writer.line(f"want[k] = (uint8_t)(want[k] | chart->history[{row}][k]);")
        with writer.indented_block():
            for number in goal.default:
                writer.line(f"add(want, {self.code.names.states[number]});")
            if not goal.default:
                self._initial(node)

    def _initial(self, node: StateNode) -> None:
        """Write what is first active inside a node, the nodes between among it."""
        writer = self.code.writer
        if node.parallel:
            writer.write(f"add(want, {self.code.names.states[child]});" for child in node.children)
            return
        for goal in node.initial:
            between = [number for number in self.nodes[goal.node].around if number in node.within]
            writer.write(f"add(want, {self.code.names.states[number]});" for number in reversed(between))
            if goal.memory is not None and goal.node != node.index:
                writer.line(f"add(want, {self.code.names.states[goal.node]});")
            self._want(goal)

    def _expand(self) -> None:
        """Write the function that adds what entering a node brings along."""
        code = self.code
        with code.function(
            f"static void add_initial({self.prefix}_t *chart, uint8_t *want, {self.number} node)"
        ):
            inner = [node for node in self.nodes[1:] if node.children]
            if any(self._asks_memory(node) for node in inner):
                code.writer.line("uint8_t k;")
            if not inner:
                return
            with code.writer.block("switch (node)"):
                for node in inner:
                    with code.writer.about(code.state_element(node)):
                        code.writer.line(f"case {code.names.states[node.index]}:")
                        code.writer.depth += 1
                        self._bring(node)
                        code.writer.line("break;")
                        code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])

    def _asks_memory(self, node: StateNode) -> bool:
        return not node.parallel and any(goal.memory is not None for goal in node.initial)

    def _bring(self, node: StateNode) -> None:
        writer = self.code.writer
        if node.parallel:
            writer.write(f"add(want, {self.code.names.states[child]});" for child in node.children)
            return
        with writer.block(f"if (!has_within(want, {node.index + 1}U, {self.last(node)}U))"):
            self._initial(node)

    def _resolve(self) -> None:
        """Write the function that works out what is to be entered."""
        code = self.code
        with code.function(
            f"static void add_goals({self.prefix}_t *chart, uint8_t *want, {self.way_type} way)"
        ):
            moving = [way for way in self.machine.ways if way.goals]
            if any(goal.memory is not None for way in moving for goal in way.goals):
                code.writer.line("uint8_t k;")
            with code.writer.block("switch (way)"):
                for way in moving:
                    with code.writer.about(code.way_element(way)):
                        code.writer.line(f"case {self.ways[id(way)]}U: {comment(code.way_name(way))}")
                        code.writer.depth += 1
                        for goal in way.goals:
                            self._want(goal)
                        code.writer.line("break;")
                        code.writer.depth -= 1
                code.writer.write(["default:", "    break;"])
        with code.function(
            f"static void complete({self.prefix}_t *chart, const uint8_t *stays, uint8_t *want)"
        ):
            write = code.writer
            write.line(f"{self.number} node;")
            write.line(f"{self.number} around;")
            write.line(
                comment("What is around the goals, inner states first, then what all these bring along.")
            )
            with write.block(f"for (node = {self.size - 1}U; node > 0U; node--)"):
                write.line(f"around = {self._of('PARENT', 'node')};")
                with write.block("if (has(want, node) && (around != 0U) && !has(stays, around))"):
                    write.line("add(want, around);")
            with write.block(f"for (node = 1U; node < {self.size}U; node++)"):
                with write.block("if (has(want, node))"):
                    write.line("add_initial(chart, want, node);")

    def _remember(self) -> None:
        """Write the function that notes what is remembered of states that are left."""
        if not self.machine.history:
            return
        code = self.code
        with code.function(f"static void note_history({self.prefix}_t *chart, const uint8_t *left)"):
            for row, (number, memory) in enumerate(self.machine.history):
                node = self.nodes[number]
                kept = (
                    node.children
                    if memory is Memory.SHALLOW
                    else sorted(inner for inner in node.within if self.nodes[inner].is_leaf)
                )
                with (
                    code.writer.about(code.state_element(node)),
                    code.writer.block(f"if (has(left, {code.names.states[number]}))"),
                ):
                    code.writer.line(
                        f"(void)memset(chart->history[{row}], 0, sizeof(chart->history[{row}]));"
                    )
                    for inner in kept:
                        constant = code.names.states[inner]
                        with code.writer.block(f"if (has(chart->active, {constant}))"):
                            code.writer.line(f"add(chart->history[{row}], {constant});")

    # A microstep

    def _take(self) -> None:
        """Write the functions that choose among ways which conflict, and take those that are left."""
        code, moves = self.code, self._moves()
        write = code.writer
        if moves:
            self._conflict()
        with code.function(f"static void take({self.both}, const {self.way_type} *chosen, uint8_t count)"):
            write = code.writer
            if not moves:
                write.line("uint8_t k;")
                with write.block("for (k = 0U; k < count; k++)"):
                    write.line("act_on_way(chart, in, chosen[k]);")
                return
            write.write([f"uint8_t left[{self.bytes}] = {{0U}};", f"uint8_t want[{self.bytes}] = {{0U}};"])
            write.write([f"uint8_t after[{self.bytes}];", f"{self.number} node;", f"{self.number} domain;"])
            write.write(["uint8_t k;", "bool moves = false;"])
            with write.block("for (k = 0U; k < count; k++)"):
                write.line(f"domain = {self._of('DOMAIN', 'chosen[k]')};")
                with write.block("if (domain != NO_DOMAIN)"):
                    write.line("moves = true;")
                    with (
                        write.block(
                            f"for (node = ({self.number})(domain + 1U); "
                            f"node <= {self._of('LAST', 'domain')}; node++)"
                        ),
                        write.block("if (has(chart->active, node))"),
                    ):
                        write.line("add(left, node);")
            if self.machine.history:
                write.line("note_history(chart, left);")
            with write.block(f"for (node = {self.size - 1}U; node > 0U; node--)"):
                with write.block("if (has(left, node))"):
                    write.line("leave(chart, in, node);")
            with write.block("for (k = 0U; k < count; k++)"):
                write.line("act_on_way(chart, in, chosen[k]);")
            with write.block("if (!moves)"):
                write.line("return;")
            with write.block("for (k = 0U; k < count; k++)"):
                write.line("add_goals(chart, want, chosen[k]);")
            with write.block(f"for (k = 0U; k < {self.bytes}U; k++)"):
                write.line("after[k] = (uint8_t)(chart->active[k] & (uint8_t)~left[k]);")
            write.line("complete(chart, after, want);")
            self._enter_wanted()

    def _enter_wanted(self) -> None:
        write = self.code.writer
        with write.block(f"for (node = 1U; node < {self.size}U; node++)"):
            with write.block("if (has(want, node))"):
                write.line("add(after, node);")
                write.line("enter(chart, in, after, node);")
        self._forget()
        write.line("(void)memcpy(chart->active, after, sizeof(chart->active));")

    def _forget(self) -> None:
        """Write what is forgotten on entering a state that only others go back to."""
        write = self.code.writer
        for row, (number, _) in enumerate(self.machine.history):
            if number in self.machine.moves.forgotten:
                with write.block(f"if (has(after, {self.code.names.states[number]}))"):
                    write.line(f"(void)memset(chart->history[{row}], 0, sizeof(chart->history[{row}]));")

    def _conflict(self) -> None:
        """Write the function that leaves out ways which cannot be taken together with better ones."""
        write, way, number = self.code.writer, self.way_type, self.number
        with write.function(f"static bool lies_in({number} inner, {number} outer)"):
            write.line(f"return (inner > outer) && (inner <= {self._of('LAST', 'outer')});")
        with write.function(f"static bool conflict({way} one, {way} other)"):
            write.line(f"const {number} a = {self._of('DOMAIN', 'one')};")
            write.line(f"const {number} b = {self._of('DOMAIN', 'other')};")
            with write.block("if ((a == NO_DOMAIN) || (b == NO_DOMAIN))"):
                write.line("return false;")
            write.line("return (a == b) || lies_in(b, a) || lies_in(a, b);")
        with write.function(f"static uint8_t without_conflicts({way} *chosen, uint8_t count)"):
            write.write(["uint8_t kept = 0U;", "uint8_t k;", "uint8_t j;", "uint8_t rest;", "bool wins;"])
            with write.block("for (k = 0U; k < count; k++)"):
                write.line(f"const {way} way = chosen[k];")
                write.line("wins = true;")
                with write.block("for (j = 0U; j < kept; j++)"):
                    source, other = self._of("SOURCE", "way"), self._of("SOURCE", "chosen[j]")
                    with write.block(f"if (conflict(way, chosen[j]) && !lies_in({source}, {other}))"):
                        write.line("wins = false;")
                with write.block("if (wins)"):
                    write.line("rest = 0U;")
                    with write.block("for (j = 0U; j < kept; j++)"):
                        with write.block("if (!conflict(way, chosen[j]))"):
                            write.line("chosen[rest] = chosen[j];")
                            write.line("rest++;")
                    write.line("chosen[rest] = way;")
                    write.line("kept = (uint8_t)(rest + 1U);")
            write.line("return kept;")

    def microstep(self, name: str, event: str | None) -> None:
        """Write the function that takes the ways an event enables; it returns whether there was one."""
        code = self.code
        none = 255 if self.way_type == "uint8_t" else 65535
        with code.function(f"static {self.way_type} first_{name}({self.both}, {self.number} leaf)"):
            self._ask(event)
            code.writer.line(f"return {none}U;")
        with code.function(f"static bool {name}({self.both})"):
            write = code.writer
            write.line(f"{self.way_type} chosen[{self.most}];")
            write.line(f"{self.way_type} way;")
            write.write([f"{self.number} node;", "uint8_t count = 0U;", "uint8_t k;"])
            with write.block(f"for (node = 1U; node < {self.size}U; node++)"):
                leaf = f"has(chart->active, node) && ({self._of('LAST', 'node')} == node)"
                with write.block(f"if ({leaf})"):
                    write.line(f"way = first_{name}(chart, in, node);")
                    with write.block("for (k = 0U; (k < count) && (chosen[k] != way); k++)"):
                        write.line(comment("chosen already?"))
                    with write.block(f"if ((way != {none}U) && (k == count))"):
                        write.write(["chosen[count] = way;", "count++;"])
            with write.block("if (count == 0U)"):
                write.line("return false;")
            kept = "without_conflicts(chosen, count)" if self._moves() else "count"
            write.line(f"take(chart, in, chosen, {kept});")
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
        return [way for way in node.ways if (event in way.events if way.events else event is None)]

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
        with code.writer.block("if (!has(chart->active, 0U))", "} else {" if machine.counting else "}"):
            code.writer.line(f"uint8_t after[{self.bytes}] = {{0U}};")
            code.writer.line("add(after, 0U);")
            for node, _ in machine.moves.first().entering:
                constant = code.names.states[node.index]
                code.writer.line(f"add(after, {constant});")
                if node.entry or node.final:
                    code.writer.line(f"enter(chart, in, after, {constant});")
            code.writer.line("(void)memcpy(chart->active, after, sizeof(chart->active));")
        if not machine.counting:
            return
        with code.writer.indented_block():
            for node in machine.counting:
                with (
                    code.writer.about(code.state_element(node)),
                    code.writer.block(f"if ({self.inside(node.index)})"),
                ):
                    for counter in node.counters:
                        code.count(counter)

    def note_stayed(self) -> None:
        """Write what notes who may act during the tick."""
        write = self.code.writer
        if not self.machine.lasting:
            return
        write.line("(void)memcpy(chart->stayed, chart->active, sizeof(chart->stayed));")

    def during(self) -> None:
        """Write what is done during the tick in the states that were not left."""
        code = self.code
        for number in sorted(self.machine.lasting):
            node = self.machine.nodes[number]
            with (
                code.writer.about(code.state_element(node)),
                code.writer.block(f"if (has(chart->stayed, {code.names.states[number]}))"),
            ):
                code.act(node.during)

    # Records of the unit

    def write_active(self) -> list[str]:
        """Return what writes the bits of the active nodes into a state record at `active`."""
        return [f"(void)memcpy(active, chart.active, {self.bytes}U);"]

    def read_active(self) -> list[str]:
        """Return what takes the active nodes from a state record."""
        return [f"(void)memcpy(chart.active, active, {self.bytes}U);"]

    def write_history(self, row: int, place: str) -> list[str]:
        """Return what writes what is remembered into a state record."""
        return [f"(void)memcpy({place}, chart.history[{row}], {self.bytes}U);"]

    def read_history(self, row: int, place: str) -> list[str]:
        """Return what takes what is remembered from a state record."""
        return [f"(void)memcpy(chart.history[{row}], {place}, {self.bytes}U);"]
