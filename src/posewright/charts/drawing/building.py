"""From a chart to the nodes and links of its picture, every transition with a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase

from posewright.charts.drawing.diagram import Diagram, DiagramNode, Hook, Link, Shape, TextLine, TransitionKey
from posewright.charts.drawing.words import reactions, wrapped
from posewright.charts.model import Chart, ChartKind, HistoryKind, Priority, State, StateTarget, Transition


@dataclass(frozen=True)
class NumberedTransition:
    """A transition, or a segment of one.

    Attributes:
        start: the state or the named junction that it leaves.
        key: the transition that it belongs to.
        number: how the key of a picture calls it.
        ordered: whether of several whose guards hold the first one wins by design.
        rank: its place among those, from 1; 0 where it has no rivals.
        depth: unnamed junctions on the way to it.
    """

    start: str
    transition: Transition
    key: TransitionKey
    number: str
    ordered: bool = False
    rank: int = 0
    depth: int = 0


def numbered(chart: Chart) -> list[NumberedTransition]:
    """Return all transitions of states and of named junctions, each before its segments."""
    starts = [(state.name, state.transitions, chart.priority_in(state)) for state in chart.every_state]
    starts += [(name, ways, chart.priority) for name, ways in chart.junctions.items()]
    found: list[NumberedTransition] = []
    count = 0
    for start, transitions, priority in starts:
        ordered = priority is Priority.ORDERED
        for i, transition in enumerate(transitions):
            count += 1
            rank = _rank(ordered, i, transitions)
            one = NumberedTransition(start, transition, (start, i), str(count), ordered, rank)
            found += _with_segments(one)
    return found


def segments(whole: NumberedTransition) -> list[NumberedTransition]:
    """Return the ways on from the unnamed junction at which a transition ends."""
    ways = whole.transition.then
    return [
        replace(
            whole,
            transition=segment,
            number=whole.number + (ascii_lowercase[i] if i < len(ascii_lowercase) else f"({i + 1})"),
            rank=_rank(whole.ordered, i, ways),
            depth=whole.depth + 1,
        )
        for i, segment in enumerate(ways)
    ]


def _rank(ordered: bool, i: int, rivals: Sequence[Transition]) -> int:
    return i + 1 if ordered and len(rivals) > 1 else 0


def _with_segments(whole: NumberedTransition) -> Iterator[NumberedTransition]:
    yield whole
    for segment in segments(whole):
        yield from _with_segments(segment)


ROOT = "the chart"
"""Key of the node that everything is inside of; no state has a name with a space."""

TEXT_WIDTH = 40
"""Letters in a line inside a state."""

Labeller = Callable[[NumberedTransition], Sequence[str]]
"""What is written on an arrow for a transition."""


def build(chart: Chart, say: Labeller, per_line: int = 1) -> Diagram:
    """Return the nodes and links of a chart's picture.

    Args:
        chart: what is drawn.
        say: what is written on arrows.
        per_line: how many transitions share a line where each takes but one.
    """
    return _Building(chart, say, per_line).build()


class _Building:
    def __init__(self, chart: Chart, say: Labeller, per_line: int) -> None:
        self.chart = chart
        self.say = say
        self.per_line = per_line
        self.states = {state.name: state for state in chart.every_state}
        self.signs: dict[str, tuple[str, DiagramNode]] = {}
        self.joints: dict[str, DiagramNode] = {}
        self.links: dict[tuple[str, str, bool], list[TextLine]] = {}
        self.internal: dict[str, list[TextLine]] = {}

    def build(self) -> Diagram:
        self._initial(ROOT, self.chart.initial, self.chart.parallel)
        for state in self.states.values():
            if state.states:
                self._initial(state.name, state.initial, state.parallel)
        for one in numbered(self.chart):
            if one.depth == 0:
                start = one.start if one.start in self.states else self._joint(one.start)
                self._transition(start, one, local=one.transition.local)
        self._house_joints()
        title = self.chart.name
        states = self.chart.states
        root = DiagramNode(ROOT, Shape.STATE, title, (), self._inside(ROOT, states), self.chart.parallel)
        links = [
            Link(start, end, self._packed(lines), self._hook(start, end, local))
            for (start, end, local), lines in self.links.items()
        ]
        return Diagram(root, tuple(links))

    def _packed(self, lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
        """Return lines with several transitions on each."""
        if self.per_line == 1:
            return tuple(lines)
        groups = [lines[i : i + self.per_line] for i in range(0, len(lines), self.per_line)]
        return tuple(
            TextLine(
                "  ".join(line.text for line in group),
                tuple(key for line in group for key in line.transitions),
            )
            for group in groups
        )

    def _initial(self, key: str, targets: tuple[StateTarget, ...], parallel: bool) -> None:
        if parallel:
            return
        dot = f"initial of {key}"
        self.signs[dot] = key, DiagramNode(dot, Shape.INITIAL)
        for target in targets:
            self._link(dot, self._target(target), ())

    def _link(self, start: str, end: str, lines: Iterable[TextLine], *, local: bool = False) -> None:
        self.links.setdefault((start, end, local), []).extend(lines)

    def _hook(self, start: str, end: str, local: bool) -> Hook | None:
        if local:
            return None
        if self._within(end, start):
            return Hook.START
        return Hook.END if self._within(start, end) else None

    def _transition(self, start: str, one: NumberedTransition, *, local: bool) -> None:
        transition = one.transition
        lines = [TextLine(text, (one.key,)) for text in self.say(one)]
        if one.rank and self.per_line == 1:
            lines[0] = replace(lines[0], rank=one.rank)
        if start in self.states and not transition.go and not transition.leads_to_junction:
            self._inside_it(start, lines)
            return
        end = self._end(start, one)
        if self._has_no_way(start, end):
            lines[-1] = replace(lines[-1], text=f"{lines[-1].text} -> {end}")
            self._inside_it(start, lines)
            return
        local = local and end != start
        self._link(start, end, lines, local=local)
        for segment in segments(one):
            self._transition(end, segment, local=local)

    def _inside_it(self, start: str, lines: Iterable[TextLine]) -> None:
        """Note a transition that is written in its state's box."""
        self.internal.setdefault(start, []).extend(replace(line, text=line.ranked) for line in lines)

    def _has_no_way(self, start: str, end: str) -> bool:
        """Return whether there is no room for an arrow: from a region to itself, or to or from its state."""
        if start == end:
            return self._is_region(start)
        inner, outer = (start, end) if self._is_region(start) else (end, start)
        return self._is_region(inner) and self._parent(inner) == outer

    def _is_region(self, key: str) -> bool:
        return key in self.states and self._is_parallel(self._parent(key))

    def _end(self, start: str, one: NumberedTransition) -> str:
        """Return the node at which a transition's arrow ends."""
        transition = one.transition
        if transition.junction is not None:
            return self._joint(transition.junction)
        if transition.then:
            return self._sign(DiagramNode(f"junction of {one.number}", Shape.JUNCTION))
        if len(transition.go) == 1:
            return self._target(transition.go[0])
        if not transition.go:
            return self._sign(DiagramNode(f"stay of {start}", Shape.STAY, "stays"))
        fork = self._sign(DiagramNode(f"fork of {one.number}", Shape.FORK))
        for target in transition.go:
            self._link(fork, self._target(target), ())
        return fork

    def _joint(self, name: str) -> str:
        return self._sign(DiagramNode(f"junction {name}", Shape.JUNCTION, name))

    def _sign(self, node: DiagramNode) -> str:
        """Note a sign that is housed where its neighbours are."""
        self.joints.setdefault(node.key, node)
        return node.key

    def _target(self, target: StateTarget) -> str:
        if target.history is None:
            return target.state
        shape = Shape.HISTORY if target.history is HistoryKind.SHALLOW else Shape.DEEP_HISTORY
        key = f"{shape.value} of {target.state}"
        if key not in self.signs:
            parallel = self.states[target.state].parallel
            home = self._parent(target.state) if parallel else target.state
            self.signs[key] = home, DiagramNode(key, shape, f"of {target.state}" if parallel else "")
            for end in target.default or ((target.state,) if parallel else ()):
                self._link(key, end, ())
        return key

    def _parent(self, key: str) -> str:
        """Return the node that a state or a housed sign is inside of."""
        if key in self.signs:
            return self.signs[key][0]
        return self.chart.parents[key] or ROOT

    def _around(self, key: str) -> list[str]:
        """Return everything that a node is inside of, the root first."""
        found: list[str] = []
        while key != ROOT:
            key = self._parent(key)
            found.append(key)
        return found[::-1]

    def _within(self, inner: str, outer: str) -> bool:
        housed = inner in self.states or inner in self.signs
        return housed and outer in self.states and outer in self._around(inner)

    def _house_joints(self) -> None:
        """Put junctions and forks inside the innermost state that holds all that they join."""
        for group in self._groups():
            ends = [link[:2] for link in self.links if set(link[:2]) & group]
            starts = dict.fromkeys(start for start, _ in ends if start not in group)
            goals = dict.fromkeys(end for _, end in ends if end not in group)
            home = self._home(list(starts), list(goals))
            for key in self.joints:  # in its order, for a set has none
                if key in group:
                    self.signs[key] = home, self.joints[key]

    def _groups(self) -> list[set[str]]:
        """Return junctions that lead to one another, together."""
        groups: list[set[str]] = [{key} for key in self.joints]
        for start, end, _ in self.links:
            if start in self.joints and end in self.joints:
                one = next(group for group in groups if start in group)
                other = next(group for group in groups if end in group)
                if one is not other:
                    one |= other
                    groups.remove(other)
        return groups

    def _home(self, starts: list[str], goals: list[str]) -> str:
        if len(starts) == 1 and goals and all(self._within(goal, starts[0]) for goal in goals):
            home = starts[0]
        else:
            home = self._shared([*starts, *goals])
        if not self._is_parallel(home):
            return home
        inside = [
            key for start in starts for key in (*self._around(start)[1:], start) if self._parent(key) == home
        ]
        if inside:
            return inside[0]
        return self._parent(home) if home != ROOT else self.chart.states[0].name

    def _is_parallel(self, key: str) -> bool:
        return self.chart.parallel if key == ROOT else self.states[key].parallel

    def _shared(self, keys: list[str]) -> str:
        shared = ROOT
        for level in zip(*(self._around(key) for key in keys), strict=False):
            if len(set(level)) == 1:
                shared = level[0]
        return shared

    def _inside(self, key: str, states: Sequence[State]) -> tuple[DiagramNode, ...]:
        signs = [node for home, node in self.signs.values() if home == key]
        dots = [node for node in signs if node.shape is Shape.INITIAL]
        others = [node for node in signs if node.shape is not Shape.INITIAL]
        region = self._is_parallel(key)
        return (*dots, *(self._node(state, region) for state in states), *others)

    def _node(self, state: State, region: bool) -> DiagramNode:
        shape = Shape.REGION if region else Shape.FINAL if state.final else Shape.STATE
        lines = [TextLine(text) for text in self._texts(state)]
        lines += self._packed(self.internal.get(state.name, []))
        inside = self._inside(state.name, state.states)
        return DiagramNode(state.name, shape, state.name, tuple(lines), inside, state.parallel)

    def _texts(self, state: State) -> list[str]:
        texts = [f"at least {state.min_s:g} s"] if state.min_s else []
        if self.chart.kind is ChartKind.MOORE and state.do:
            texts.append(", ".join(f"{name} = {value}" for name, value in state.do.items()))
        if state.parallel and state.initial:
            texts.append(f"begins in {', '.join(target.state for target in state.initial)}")
        return [line for text in (*texts, *reactions(state)) for line in wrapped(text, TEXT_WIDTH)]
