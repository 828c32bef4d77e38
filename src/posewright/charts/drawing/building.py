"""Builds the diagram of a chart: its nodes and links, with numbered transitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import NamedTuple

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
    """A transition, or a segment of one: the part behind an unnamed junction.

    Attributes:
        start: the state or the named junction that the transition leaves.
        transition: the transition itself, or the segment.
        transition_key: the state or junction, and the index, of the transition that it belongs to.
        number: its number in the list below a picture: "7", and "7a", "7b" for segments of transition 7.
        ordered: transitions of its state are tested in order, the first whose guard holds wins.
        priority_number: its index in that order, from 1; 0 if it is the only one, or there is no order.
        depth: number of unnamed junctions before it; 0 for the transition itself.
    """

    start: str
    transition: Transition
    transition_key: TransitionKey
    number: str
    ordered: bool = False
    priority_number: int = 0
    depth: int = 0


def number_transitions(chart: Chart) -> list[NumberedTransition]:
    """Return all transitions of states and of named junctions, numbered from 1, each before its segments."""
    starts = [(state.name, state.transitions, chart.priority_in(state)) for state in chart.every_state]
    starts += [(name, transitions, chart.priority) for name, transitions in chart.junctions.items()]
    all_numbered: list[NumberedTransition] = []
    n_transitions = 0
    for start, transitions, priority in starts:
        ordered = priority is Priority.ORDERED
        for i, transition in enumerate(transitions):
            n_transitions += 1
            numbered = NumberedTransition(
                start,
                transition,
                transition_key=(start, i),
                number=str(n_transitions),
                ordered=ordered,
                priority_number=_priority_number(i, ordered=ordered, n_alternatives=len(transitions)),
            )
            all_numbered += _with_segments(numbered)
    return all_numbered


def transition_segments(numbered: NumberedTransition) -> list[NumberedTransition]:
    """Return the segments behind the unnamed junction at which a transition ends; none if it ends elsewhere.

    Their numbers have letters: "7a" and "7b" behind transition 7, and "(27)" after "z".
    """
    segments = numbered.transition.then
    numbered_segments = []
    for i, segment in enumerate(segments):
        suffix = ascii_lowercase[i] if i < len(ascii_lowercase) else f"({i + 1})"
        numbered_segments.append(
            replace(
                numbered,
                transition=segment,
                number=numbered.number + suffix,
                priority_number=_priority_number(i, ordered=numbered.ordered, n_alternatives=len(segments)),
                depth=numbered.depth + 1,
            )
        )
    return numbered_segments


def _priority_number(index: int, *, ordered: bool, n_alternatives: int) -> int:
    """Return the place of a transition in the order of its alternatives, from 1; 0 if no order matters."""
    return index + 1 if ordered and n_alternatives > 1 else 0


def _with_segments(numbered: NumberedTransition) -> Iterator[NumberedTransition]:
    """Yield a transition, then its segments, each followed by its own."""
    yield numbered
    for segment in transition_segments(numbered):
        yield from _with_segments(segment)


ROOT = "the chart"
"""Key of the root node; no state has a name with a space."""

TEXT_WIDTH = 40
"""Letters in a line inside a state."""

TransitionLabeller = Callable[[NumberedTransition], Sequence[str]]
"""Returns the lines of a transition's label."""


def build_diagram(chart: Chart, label_transition: TransitionLabeller, labels_per_line: int = 1) -> Diagram:
    """Return the nodes and links of a chart's picture.

    Args:
        chart: the chart to be drawn.
        label_transition: returns the label of a transition.
        labels_per_line: number of labels that are joined into one line, if each has only one line.
    """
    return _DiagramBuilder(chart, label_transition, labels_per_line).build_diagram()


class _PlacedPseudostate(NamedTuple):
    """A pseudostate, such as an initial dot or a junction, and the key of the node that contains it."""

    container: str
    node: DiagramNode


class _LinkKey(NamedTuple):
    """The nodes that a link connects, and whether it is local: it does not leave the state at its start."""

    start: str
    end: str
    local: bool


class _DiagramBuilder:
    """Collects the pseudostates and links of a chart, then builds the tree of nodes.

    A pseudostate is a node that is no state: an initial dot, history, junction, fork, or the word "stays".
    A node is named by its key: a state's name, or for a pseudostate a text with a space.

    Attributes:
        chart: the chart to be drawn.
        label_transition: returns the lines of a transition's label.
        labels_per_line: number of labels that are joined into one line.
        states: all states by name.
        placed_pseudostates: the pseudostates whose container is known, by key.
        unplaced_pseudostates: junctions and forks, whose container depends on what they connect.
        lines_by_link: the lines of every link's label.
        internal_lines_by_state: the lines of transitions that are written in a state's box, by state.
    """

    def __init__(self, chart: Chart, label_transition: TransitionLabeller, labels_per_line: int) -> None:
        """Start without pseudostates and links; `build_diagram` adds them."""
        self.chart = chart
        self.label_transition = label_transition
        self.labels_per_line = labels_per_line
        self.states = {state.name: state for state in chart.every_state}
        self.placed_pseudostates: dict[str, _PlacedPseudostate] = {}
        self.unplaced_pseudostates: dict[str, DiagramNode] = {}
        self.lines_by_link: dict[_LinkKey, list[TextLine]] = {}
        self.internal_lines_by_state: dict[str, list[TextLine]] = {}

    def build_diagram(self) -> Diagram:
        """Return the diagram: the tree of nodes and the links between them."""
        self._add_initial_dot(ROOT, self.chart.initial, self.chart.parallel)
        for state in self.states.values():
            if state.states:
                self._add_initial_dot(state.name, state.initial, state.parallel)
        for numbered in number_transitions(self.chart):
            is_segment = numbered.depth > 0
            if not is_segment:  # segments are added with their transition
                is_state = numbered.start in self.states
                start = numbered.start if is_state else self._add_junction(numbered.start)
                self._add_transition(start, numbered, is_local=numbered.transition.local)
        self._place_unplaced_pseudostates()
        root = DiagramNode(
            ROOT,
            NodeShape.STATE,
            title=self.chart.name,
            lines=(),
            children=self._child_nodes(ROOT, self.chart.states),
            parallel=self.chart.parallel,
        )
        links = [
            DiagramLink(key.start, key.end, label_lines=self._join_lines(lines), hook=self._hook_of(key))
            for key, lines in self.lines_by_link.items()
        ]
        return Diagram(root, tuple(links))

    def _join_lines(self, lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
        """Return lines that each hold `labels_per_line` of the given ones, with their transitions."""
        if self.labels_per_line == 1:
            return tuple(lines)
        joined_lines = []
        for first_index in range(0, len(lines), self.labels_per_line):
            group = lines[first_index : first_index + self.labels_per_line]
            text = "  ".join(line.text for line in group)
            transition_keys = tuple(key for line in group for key in line.transition_keys)
            joined_lines.append(TextLine(text, transition_keys))
        return tuple(joined_lines)

    def _add_initial_dot(self, node_key: str, targets: tuple[StateTarget, ...], parallel: bool) -> None:
        """Add an initial dot to a node, and links from it to the initial states.

        A parallel node has none, as all its regions are entered.

        Args:
            node_key: the key of the node.
            targets: its initial states.
            parallel: whether it is parallel.
        """
        if parallel:
            return
        dot_key = f"initial of {node_key}"
        self.placed_pseudostates[dot_key] = _PlacedPseudostate(
            node_key, DiagramNode(dot_key, NodeShape.INITIAL)
        )
        for target in targets:
            self._add_link(dot_key, self._target_node(target))

    def _add_link(self, start: str, end: str, lines: Iterable[TextLine] = (), *, local: bool = False) -> None:
        """Add lines to the label of the link between two nodes, and the link itself if there is none."""
        self.lines_by_link.setdefault(_LinkKey(start, end, local), []).extend(lines)

    def _hook_of(self, link: _LinkKey) -> Hook | None:
        """Return the end of a link that leaves its state's border although the other end is in the state."""
        if link.local:
            return None
        if self._is_within(link.end, link.start):
            return Hook.START
        return Hook.END if self._is_within(link.start, link.end) else None

    def _add_transition(self, start: str, numbered: NumberedTransition, *, is_local: bool) -> None:
        """Add a transition as a link, and then its segments: the parts behind an unnamed junction.

        A transition without a target, or whose arrow has no room, is written in the box of its state instead.

        Args:
            start: the key of the node that its arrow starts at.
            numbered: the transition, or a segment.
            is_local: whether the transition does not leave its state.
        """
        transition = numbered.transition
        lines = [TextLine(text, (numbered.transition_key,)) for text in self.label_transition(numbered)]
        # joined labels are numbers of transitions, which show the order themselves
        if numbered.priority_number and self.labels_per_line == 1:
            lines[0] = replace(lines[0], priority_number=numbered.priority_number)
        has_target = bool(transition.go) or transition.leads_to_junction
        if start in self.states and not has_target:
            self._add_internal_lines(start, lines)
            return
        end = self._add_end_node(start, numbered)
        if self._lacks_room(start, end):
            lines[-1] = replace(lines[-1], text=f"{lines[-1].text} -> {end}")
            self._add_internal_lines(start, lines)
            return
        stays_local = is_local and end != start  # a transition from a state to itself leaves it
        self._add_link(start, end, lines, local=stays_local)
        for segment in transition_segments(numbered):
            self._add_transition(end, segment, is_local=stays_local)

    def _add_internal_lines(self, state: str, lines: Iterable[TextLine]) -> None:
        """Add the lines of a transition that is written in its state's box, with its priority number."""
        lines_with_priority = [replace(line, text=line.text_with_priority) for line in lines]
        self.internal_lines_by_state.setdefault(state, []).extend(lines_with_priority)

    def _lacks_room(self, start: str, end: str) -> bool:
        """Return whether an arrow has no room: from a region to itself, or between a region and its state."""
        if start == end:
            return self._is_region(start)
        inner, outer = (start, end) if self._is_region(start) else (end, start)
        return self._is_region(inner) and self._parent(inner) == outer

    def _is_region(self, node_key: str) -> bool:
        """Return whether a node is a region: a state directly inside a parallel one."""
        return node_key in self.states and self._is_parallel(self._parent(node_key))

    def _add_end_node(self, start: str, numbered: NumberedTransition) -> str:
        """Return the key of the node at which a transition's arrow ends; add the node if it is no state.

        There are five cases: a named junction; an unnamed junction, which its segments leave; one target; no
        target ("stays", for a segment that ends where it is); or several targets in different regions,
        reached through a fork.
        """
        transition = numbered.transition
        segments = transition.then
        targets = transition.go
        if transition.junction is not None:
            return self._add_junction(transition.junction)
        if segments:
            return self._add_pseudostate(DiagramNode(f"junction of {numbered.number}", NodeShape.JUNCTION))
        if not targets:
            return self._add_pseudostate(DiagramNode(f"stay of {start}", NodeShape.STAY, title="stays"))
        if len(targets) == 1:
            return self._target_node(targets[0])
        fork = self._add_pseudostate(DiagramNode(f"fork of {numbered.number}", NodeShape.FORK))
        for target in targets:
            self._add_link(fork, self._target_node(target))
        return fork

    def _add_junction(self, name: str) -> str:
        """Add the pseudostate of a named junction if there is none, and return its key."""
        return self._add_pseudostate(DiagramNode(f"junction {name}", NodeShape.JUNCTION, title=name))

    def _add_pseudostate(self, node: DiagramNode) -> str:
        """Add a pseudostate unless its key exists, and return the key; its container is found later."""
        self.unplaced_pseudostates.setdefault(node.key, node)
        return node.key

    def _target_node(self, target: StateTarget) -> str:
        """Return the key of the node for a target of a transition; add the node if it is a history.

        The history of a state is drawn inside the state, that of a parallel state beside it. It is linked to
        its default states; without any, that of a parallel state is linked to the state.
        """
        if target.history is None:
            return target.state
        shape = NodeShape.HISTORY if target.history is HistoryKind.SHALLOW else NodeShape.DEEP_HISTORY
        node_key = f"{shape.value} of {target.state}"
        if node_key in self.placed_pseudostates:
            return node_key
        if self.states[target.state].parallel:
            container = self._parent(target.state)
            history_node = DiagramNode(node_key, shape, title=f"of {target.state}")
            default_states = target.default or (target.state,)
        else:
            container = target.state
            history_node = DiagramNode(node_key, shape)
            default_states = target.default
        self.placed_pseudostates[node_key] = _PlacedPseudostate(container, history_node)
        for state in default_states:
            self._add_link(node_key, state)
        return node_key

    def _parent(self, node_key: str) -> str:
        """Return the node that contains a state or a placed pseudostate."""
        if node_key in self.placed_pseudostates:
            return self.placed_pseudostates[node_key].container
        return self.chart.parents[node_key] or ROOT

    def _ancestors(self, node_key: str) -> list[str]:
        """Return the ancestors of a node, the root first."""
        ancestors: list[str] = []
        while node_key != ROOT:
            node_key = self._parent(node_key)
            ancestors.append(node_key)
        return ancestors[::-1]

    def _is_within(self, inner: str, outer: str) -> bool:
        """Return whether a node is inside a state, at any depth; False for pseudostates not placed yet."""
        is_placed = inner in self.states or inner in self.placed_pseudostates
        return is_placed and outer in self.states and outer in self._ancestors(inner)

    def _place_unplaced_pseudostates(self) -> None:
        """Decide in which node each junction and fork is drawn, and move them to `placed_pseudostates`.

        Those that links connect are drawn in the same node.
        """
        for group in self._group_connected_pseudostates():
            links = [link for link in self.lines_by_link if link.start in group or link.end in group]
            starts = dict.fromkeys(link.start for link in links if link.start not in group)
            targets = dict.fromkeys(link.end for link in links if link.end not in group)
            container = self._container_of_junction(list(starts), list(targets))
            for node_key, node in self.unplaced_pseudostates.items():  # in this order, as a set has none
                if node_key in group:
                    self.placed_pseudostates[node_key] = _PlacedPseudostate(container, node)

    def _group_connected_pseudostates(self) -> list[set[str]]:
        """Return the junctions and forks in groups that are connected by links."""
        groups: list[set[str]] = [{node_key} for node_key in self.unplaced_pseudostates]
        for link in self.lines_by_link:
            if link.start in self.unplaced_pseudostates and link.end in self.unplaced_pseudostates:
                start_group = next(group for group in groups if link.start in group)
                end_group = next(group for group in groups if link.end in group)
                if start_group is not end_group:
                    start_group |= end_group
                    groups.remove(end_group)
        return groups

    def _container_of_junction(self, starts: list[str], targets: list[str]) -> str:
        """Return the key of the node that a junction or fork is drawn in.

        It is the innermost state that contains all nodes which the junction connects: the only start itself,
        if it contains all targets. In a parallel state, whose regions fill it, it is instead the region of
        the first start that is in one, else the node around the parallel state.

        Args:
            starts: the nodes with links to the junction.
            targets: the nodes that links from the junction lead to.
        """
        if len(starts) == 1 and targets and all(self._is_within(target, starts[0]) for target in targets):
            container = starts[0]
        else:
            container = self._innermost_common_ancestor([*starts, *targets])
        if not self._is_parallel(container):
            return container
        for start in starts:
            ancestors_below_root = self._ancestors(start)[1:]
            for node_key in (*ancestors_below_root, start):
                is_region_of_container = self._parent(node_key) == container
                if is_region_of_container:
                    return node_key
        first_region = self.chart.states[0].name  # nothing is around a parallel chart itself
        return first_region if container == ROOT else self._parent(container)

    def _is_parallel(self, node_key: str) -> bool:
        """Return whether a state or the chart is parallel: all its children are active together."""
        return self.chart.parallel if node_key == ROOT else self.states[node_key].parallel

    def _innermost_common_ancestor(self, keys: list[str]) -> str:
        """Return the innermost node that contains all of some nodes."""
        common_ancestor = ROOT
        for ancestors_at_depth in zip(*(self._ancestors(node_key) for node_key in keys), strict=False):
            if len(set(ancestors_at_depth)) == 1:
                common_ancestor = ancestors_at_depth[0]
        return common_ancestor

    def _child_nodes(self, node_key: str, states: Sequence[State]) -> tuple[DiagramNode, ...]:
        """Return the nodes directly inside a node: initial dot, states, other pseudostates."""
        pseudostates = [
            placed.node for placed in self.placed_pseudostates.values() if placed.container == node_key
        ]
        initial_dots = [node for node in pseudostates if node.shape is NodeShape.INITIAL]
        other_pseudostates = [node for node in pseudostates if node.shape is not NodeShape.INITIAL]
        are_regions = self._is_parallel(node_key)
        state_nodes = [self._state_node(state, are_regions) for state in states]
        return (*initial_dots, *state_nodes, *other_pseudostates)

    def _state_node(self, state: State, is_region: bool) -> DiagramNode:
        """Return the node of a state, with the nodes of the states inside it."""
        shape = NodeShape.FINAL if state.final else NodeShape.STATE
        if is_region:
            shape = NodeShape.REGION
        lines = [TextLine(text) for text in self._state_texts(state)]
        lines += self._join_lines(self.internal_lines_by_state.get(state.name, []))
        children = self._child_nodes(state.name, state.states)
        return DiagramNode(
            state.name,
            shape,
            title=state.name,
            lines=tuple(lines),
            children=children,
            parallel=state.parallel,
        )

    def _state_texts(self, state: State) -> list[str]:
        """Return the wrapped lines of text in a state: times, outputs, initial states and reactions."""
        texts = [f"at least {state.min_s:g} s"] if state.min_s else []
        if self.chart.kind is ChartKind.MOORE and state.do:
            texts.append(", ".join(f"{name} = {value}" for name, value in state.do.items()))
        if state.parallel and state.initial:
            texts.append(f"begins in {', '.join(target.state for target in state.initial)}")
        return [line for text in (*texts, *reaction_texts(state)) for line in wrap_text(text, TEXT_WIDTH)]
