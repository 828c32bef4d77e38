"""Builds the diagram of a chart: its nodes and links, with numbered transitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase

from posewright.charts.drawing.diagram import (
    Diagram,
    DiagramLink,
    DiagramNode,
    Hook,
    NodeShape,
    TextLine,
    TransitionKey,
)
from posewright.charts.drawing.words import reaction_texts, wrap_text
from posewright.charts.model import Chart, ChartKind, HistoryKind, Priority, State, StateTarget, Transition


@dataclass(frozen=True)
class NumberedTransition:
    """A transition, or a segment of one.

    Attributes:
        start: the state or the named junction that it leaves.
        key: the transition that it belongs to.
        number: its number in the key of a picture.
        ordered: transitions of its state are tested in order, the first whose guard holds wins.
        rank: its index in that order, from 1; 0 if it has no rivals.
        depth: number of unnamed junctions before it.
    """

    start: str
    transition: Transition
    key: TransitionKey
    number: str
    ordered: bool = False
    rank: int = 0
    depth: int = 0


def number_transitions(chart: Chart) -> list[NumberedTransition]:
    """Return all transitions of states and of named junctions, each followed by its segments."""
    starts = [(state.name, state.transitions, chart.priority_in(state)) for state in chart.every_state]
    starts += [(name, transitions, chart.priority) for name, transitions in chart.junctions.items()]
    all_numbered: list[NumberedTransition] = []
    count = 0
    for start, transitions, priority in starts:
        ordered = priority is Priority.ORDERED
        for i, transition in enumerate(transitions):
            count += 1
            rank = _rank(ordered, i, transitions)
            numbered = NumberedTransition(
                start, transition, key=(start, i), number=str(count), ordered=ordered, rank=rank
            )
            all_numbered += _iterate_segments(numbered)
    return all_numbered


def transition_segments(numbered: NumberedTransition) -> list[NumberedTransition]:
    """Return the segments that leave the unnamed junction at which a transition ends."""
    followers = numbered.transition.then
    return [
        replace(
            numbered,
            transition=segment,
            number=numbered.number + (ascii_lowercase[i] if i < len(ascii_lowercase) else f"({i + 1})"),
            rank=_rank(numbered.ordered, i, followers),
            depth=numbered.depth + 1,
        )
        for i, segment in enumerate(followers)
    ]


def _rank(ordered: bool, i: int, rivals: Sequence[Transition]) -> int:
    return i + 1 if ordered and len(rivals) > 1 else 0


def _iterate_segments(numbered: NumberedTransition) -> Iterator[NumberedTransition]:
    yield numbered
    for segment in transition_segments(numbered):
        yield from _iterate_segments(segment)


ROOT = "the chart"
"""Key of the root node; no state has a name with a space."""

TEXT_WIDTH = 40
"""Letters in a line inside a state."""

TransitionLabeller = Callable[[NumberedTransition], Sequence[str]]
"""Returns the lines of a transition's label."""


def build_diagram(chart: Chart, label_transition: TransitionLabeller, per_line: int = 1) -> Diagram:
    """Return the nodes and links of a chart's picture.

    Args:
        chart: the chart to be drawn.
        label_transition: returns the label of a transition.
        per_line: transitions that share a line, if each takes only one.
    """
    return _DiagramBuilder(chart, label_transition, per_line).build_diagram()


class _DiagramBuilder:
    def __init__(self, chart: Chart, label_transition: TransitionLabeller, per_line: int) -> None:
        self.chart = chart
        self.label_transition = label_transition
        self.per_line = per_line
        self.states = {state.name: state for state in chart.every_state}
        self.placed_signs: dict[str, tuple[str, DiagramNode]] = {}
        self.unplaced_signs: dict[str, DiagramNode] = {}
        self.links: dict[tuple[str, str, bool], list[TextLine]] = {}
        self.internal: dict[str, list[TextLine]] = {}

    def build_diagram(self) -> Diagram:
        """Return the diagram: the tree of nodes and the links between them."""
        self._add_initial(ROOT, self.chart.initial, self.chart.parallel)
        for state in self.states.values():
            if state.states:
                self._add_initial(state.name, state.initial, state.parallel)
        for numbered in number_transitions(self.chart):
            if numbered.depth == 0:
                start = (
                    numbered.start if numbered.start in self.states else self._junction_sign(numbered.start)
                )
                self._add_transition(start, numbered, local=numbered.transition.local)
        self._place_unplaced_signs()
        title = self.chart.name
        states = self.chart.states
        root = DiagramNode(
            ROOT,
            NodeShape.STATE,
            title,
            lines=(),
            inside=self._child_nodes(ROOT, states),
            parallel=self.chart.parallel,
        )
        links = [
            DiagramLink(start, end, lines=self._join_lines(lines), hook=self._hook_of(start, end, local))
            for (start, end, local), lines in self.links.items()
        ]
        return Diagram(root, tuple(links))

    def _join_lines(self, lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
        """Join lines so that each has `per_line` transitions."""
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

    def _add_initial(self, key: str, targets: tuple[StateTarget, ...], parallel: bool) -> None:
        """Add an initial dot, and links from it to the initial states; none if all regions are entered."""
        if parallel:
            return
        dot = f"initial of {key}"
        self.placed_signs[dot] = key, DiagramNode(dot, NodeShape.INITIAL)
        for target in targets:
            self._add_link(dot, self._target_node(target), ())

    def _add_link(self, start: str, end: str, lines: Iterable[TextLine], *, local: bool = False) -> None:
        self.links.setdefault((start, end, local), []).extend(lines)

    def _hook_of(self, start: str, end: str, local: bool) -> Hook | None:
        if local:
            return None
        if self._is_within(end, start):
            return Hook.START
        return Hook.END if self._is_within(start, end) else None

    def _add_transition(self, start: str, numbered: NumberedTransition, *, local: bool) -> None:
        """Add a transition as a link, or as a text inside its state, and then its further segments."""
        transition = numbered.transition
        lines = [TextLine(text, (numbered.key,)) for text in self.label_transition(numbered)]
        if numbered.rank and self.per_line == 1:
            lines[0] = replace(lines[0], rank=numbered.rank)
        if start in self.states and not transition.go and not transition.leads_to_junction:
            self._add_internal(start, lines)
            return
        end = self._end_node(start, numbered)
        if self._lacks_room(start, end):
            lines[-1] = replace(lines[-1], text=f"{lines[-1].text} -> {end}")
            self._add_internal(start, lines)
            return
        local = local and end != start
        self._add_link(start, end, lines, local=local)
        for segment in transition_segments(numbered):
            self._add_transition(end, segment, local=local)

    def _add_internal(self, start: str, lines: Iterable[TextLine]) -> None:
        """Add a transition that is written in its state's box."""
        self.internal.setdefault(start, []).extend(replace(line, text=line.ranked) for line in lines)

    def _lacks_room(self, start: str, end: str) -> bool:
        """Return whether an arrow has no room: from a region to itself, or between a region and its state."""
        if start == end:
            return self._is_region(start)
        inner, outer = (start, end) if self._is_region(start) else (end, start)
        return self._is_region(inner) and self._parent(inner) == outer

    def _is_region(self, key: str) -> bool:
        return key in self.states and self._is_parallel(self._parent(key))

    def _end_node(self, start: str, numbered: NumberedTransition) -> str:
        """Return the node at which a transition's arrow ends."""
        transition = numbered.transition
        if transition.junction is not None:
            return self._junction_sign(transition.junction)
        if transition.then:
            return self._add_unplaced_sign(DiagramNode(f"junction of {numbered.number}", NodeShape.JUNCTION))
        if len(transition.go) == 1:
            return self._target_node(transition.go[0])
        if not transition.go:
            return self._add_unplaced_sign(DiagramNode(f"stay of {start}", NodeShape.STAY, "stays"))
        fork = self._add_unplaced_sign(DiagramNode(f"fork of {numbered.number}", NodeShape.FORK))
        for target in transition.go:
            self._add_link(fork, self._target_node(target), ())
        return fork

    def _junction_sign(self, name: str) -> str:
        return self._add_unplaced_sign(DiagramNode(f"junction {name}", NodeShape.JUNCTION, name))

    def _add_unplaced_sign(self, node: DiagramNode) -> str:
        """Add a sign that is placed later, near its neighbours."""
        self.unplaced_signs.setdefault(node.key, node)
        return node.key

    def _target_node(self, target: StateTarget) -> str:
        """Return the key of the node for a target; a history gets a sign, linked to its default."""
        if target.history is None:
            return target.state
        shape = NodeShape.HISTORY if target.history is HistoryKind.SHALLOW else NodeShape.DEEP_HISTORY
        key = f"{shape.value} of {target.state}"
        if key not in self.placed_signs:
            parallel = self.states[target.state].parallel
            container = self._parent(target.state) if parallel else target.state
            self.placed_signs[key] = (
                container,
                DiagramNode(key, shape, f"of {target.state}" if parallel else ""),
            )
            for end in target.default or ((target.state,) if parallel else ()):
                self._add_link(key, end, ())
        return key

    def _parent(self, key: str) -> str:
        """Return the node that contains a state or a placed sign."""
        if key in self.placed_signs:
            return self.placed_signs[key][0]
        return self.chart.parents[key] or ROOT

    def _ancestors(self, key: str) -> list[str]:
        """Return the ancestors of a node, the root first."""
        ancestors: list[str] = []
        while key != ROOT:
            key = self._parent(key)
            ancestors.append(key)
        return ancestors[::-1]

    def _is_within(self, inner: str, outer: str) -> bool:
        housed = inner in self.states or inner in self.placed_signs
        return housed and outer in self.states and outer in self._ancestors(inner)

    def _place_unplaced_signs(self) -> None:
        """Place junctions and forks inside the innermost state that contains all they connect."""
        for group in self._junction_groups():
            ends = [link[:2] for link in self.links if set(link[:2]) & group]
            starts = dict.fromkeys(start for start, _ in ends if start not in group)
            targets = dict.fromkeys(end for _, end in ends if end not in group)
            container = self._container_of_junction(list(starts), list(targets))
            for key in self.unplaced_signs:  # in its order, for a set has none
                if key in group:
                    self.placed_signs[key] = container, self.unplaced_signs[key]

    def _junction_groups(self) -> list[set[str]]:
        """Return groups of connected junctions and forks."""
        groups: list[set[str]] = [{key} for key in self.unplaced_signs]
        for start, end, _ in self.links:
            if start in self.unplaced_signs and end in self.unplaced_signs:
                start_group = next(group for group in groups if start in group)
                end_group = next(group for group in groups if end in group)
                if start_group is not end_group:
                    start_group |= end_group
                    groups.remove(end_group)
        return groups

    def _container_of_junction(self, starts: list[str], targets: list[str]) -> str:
        """Return the key of the node that a junction's sign is drawn in, which is never a parallel state."""
        if len(starts) == 1 and targets and all(self._is_within(target, starts[0]) for target in targets):
            container = starts[0]
        else:
            container = self._innermost_common([*starts, *targets])
        if not self._is_parallel(container):
            return container
        inside = [
            key
            for start in starts
            for key in (*self._ancestors(start)[1:], start)
            if self._parent(key) == container
        ]
        if inside:
            return inside[0]
        return self._parent(container) if container != ROOT else self.chart.states[0].name

    def _is_parallel(self, key: str) -> bool:
        return self.chart.parallel if key == ROOT else self.states[key].parallel

    def _innermost_common(self, keys: list[str]) -> str:
        shared = ROOT
        for level in zip(*(self._ancestors(key) for key in keys), strict=False):
            if len(set(level)) == 1:
                shared = level[0]
        return shared

    def _child_nodes(self, key: str, states: Sequence[State]) -> tuple[DiagramNode, ...]:
        placed_signs = [node for container, node in self.placed_signs.values() if container == key]
        initial_dots = [node for node in placed_signs if node.shape is NodeShape.INITIAL]
        other_signs = [node for node in placed_signs if node.shape is not NodeShape.INITIAL]
        region = self._is_parallel(key)
        return (*initial_dots, *(self._state_node(state, region) for state in states), *other_signs)

    def _state_node(self, state: State, region: bool) -> DiagramNode:
        """Return the node of a state and of the states inside it."""
        shape = NodeShape.REGION if region else NodeShape.FINAL if state.final else NodeShape.STATE
        lines = [TextLine(text) for text in self._state_texts(state)]
        lines += self._join_lines(self.internal.get(state.name, []))
        inside = self._child_nodes(state.name, state.states)
        return DiagramNode(
            state.name, shape, title=state.name, lines=tuple(lines), inside=inside, parallel=state.parallel
        )

    def _state_texts(self, state: State) -> list[str]:
        """Return the wrapped lines of text in a state: times, outputs, initial states and reactions."""
        texts = [f"at least {state.min_s:g} s"] if state.min_s else []
        if self.chart.kind is ChartKind.MOORE and state.do:
            texts.append(", ".join(f"{name} = {value}" for name, value in state.do.items()))
        if state.parallel and state.initial:
            texts.append(f"begins in {', '.join(target.state for target in state.initial)}")
        return [line for text in (*texts, *reaction_texts(state)) for line in wrap_text(text, TEXT_WIDTH)]
