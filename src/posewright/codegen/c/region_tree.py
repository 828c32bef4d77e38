"""Regions of a chart: the parts of which each has one active state at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.machine import Machine
from posewright.charts.machine.node import ROOT, StateNode
from posewright.charts.model import HistoryKind
from posewright.codegen.c.values import number_condition


def has_single_state(machine: Machine) -> bool:
    """Return whether a chart can be written by `SingleStateCode`.

    It has no regions, so that one innermost state is active at a time, and no history is the initial state of
    another state.
    """
    has_regions = any(node.parallel for node in machine.nodes)
    has_initial_history = any(target.history is not None for node in machine.nodes for target in node.initial)
    return not has_regions and not has_initial_history


@dataclass(frozen=True, eq=False)
class Region:
    """A part of a chart in which one state at a time is active: a region, or the chart around all regions.

    Attributes:
        root: the node of the region, or of the chart.
        nodes: the nodes of the region in document order, without those of regions inside.
    """

    root: StateNode
    nodes: tuple[StateNode, ...]

    @cached_property
    def states(self) -> tuple[StateNode, ...]:
        """The nodes of which one is active: those with no states inside, and those with regions."""
        return tuple(node for node in self.nodes if node.is_leaf or node.parallel)


class RegionTree:
    """The regions of a chart, and which of its nodes can be active together.

    Attributes:
        nodes: the nodes of the machine.
        regions: the regions in document order, outer ones before inner ones.
    """

    def __init__(self, machine: Machine) -> None:
        """Find the regions of a machine."""
        self.nodes = machine.nodes
        roots = [node for node in self.nodes if self._begins_region(node)]
        self.regions = tuple(Region(root, self._nodes_of_region(root)) for root in roots)
        self._region_of = {node.index: region for region in self.regions for node in region.nodes}
        self._can_be_active: dict[tuple[int, int], bool] = {}

    def _begins_region(self, node: StateNode) -> bool:
        """Return whether a node is the root of a region."""
        if node.index == ROOT:
            return not node.parallel
        return self.nodes[node.parent].parallel

    def _nodes_of_region(self, root: StateNode) -> tuple[StateNode, ...]:
        """Return the nodes of the region with a root, in document order."""
        nodes = [root]
        if not root.parallel:
            for child in root.children:
                nodes += self._nodes_of_region(self.nodes[child])
        return tuple(nodes)

    def region_of(self, node_number: int) -> Region:
        """Return the region of a node; that of the chart itself is the part outside of its regions."""
        return self._region_of[node_number]

    def regions_inside(self, node: StateNode) -> list[Region]:
        """Return the regions, in document order, that have states inside a node."""
        return [
            region
            for region in self.regions
            if any(state.index in node.descendants for state in region.states)
        ]

    def regions_of_history(self, node_number: int, history_kind: HistoryKind) -> list[Region]:
        """Return the regions of which a history of a node stores the active state.

        A deep history stores those of all regions with states inside the node. A shallow one of a state with
        regions stores one of them, which says that it was active; each region is then entered anew.
        """
        regions = self.regions_inside(self.nodes[node_number])
        return regions if history_kind is HistoryKind.DEEP else regions[:1]

    def leaves_inside(self, node: StateNode) -> list[int]:
        """Return the leaves at or inside a node, in document order."""
        return [number for number in sorted({node.index, *node.descendants}) if self.nodes[number].is_leaf]

    def outermost_parallel(self, node_number: int, domain: int) -> StateNode | None:
        """Return the outermost state with regions at or around a node, as far out as `domain`, if any."""
        outermost = None
        for number in (node_number, *self.nodes[node_number].ancestors):
            if self.nodes[number].parallel:
                outermost = self.nodes[number]
            if number == domain:
                break
        return outermost

    def inner_regions(self, region: Region) -> list[Region]:
        """Return the regions directly inside the states of a region, in document order."""
        return [
            self.region_of(child) for state in region.states if state.parallel for child in state.children
        ]

    def is_inside(self, inner: Region, outer: Region) -> bool:
        """Return whether a region is inside another one."""
        return inner.root.index in outer.root.descendants

    def inner_first(self, regions: Iterable[Region]) -> list[Region]:
        """Return regions in document order, but each after those inside it."""

        def last_node_then_inner(region: Region) -> tuple[int, int]:
            last_node = max(region.root.descendants, default=region.root.index)
            return last_node, -region.root.index  # of two with the same last node, the inner one is first

        return sorted(regions, key=last_node_then_inner)

    def are_nested(self, node_number: int, other_number: int) -> bool:
        """Return whether two nodes are the same, or one is inside the other."""
        path = (node_number, *self.nodes[node_number].ancestors)
        other_path = (other_number, *self.nodes[other_number].ancestors)
        return node_number in other_path or other_number in path

    # Which nodes can be active together

    def can_be_active(self, node_number: int, source: int) -> bool:
        """Return whether a node can be active while another one, `source`, is."""
        pair = (node_number, source)
        if pair not in self._can_be_active:
            self._can_be_active[pair] = self._find_can_be_active(node_number, source)
        return self._can_be_active[pair]

    def _find_can_be_active(self, node_number: int, source: int) -> bool:
        """Return what `can_be_active` does, which keeps it."""
        path = {node_number, *self.nodes[node_number].ancestors}
        source_path = (source, *self.nodes[source].ancestors)
        innermost_common = next(ancestor for ancestor in source_path if ancestor in path)
        return innermost_common in (node_number, source) or self.nodes[innermost_common].parallel

    def is_certainly_active(self, node_number: int, source: int) -> bool:
        """Return whether a node is always active while another one, `source`, is."""
        if node_number in (source, *self.nodes[source].ancestors):
            return True
        parent = self.nodes[node_number].parent
        return self.nodes[parent].parallel and self.is_certainly_active(parent, source)

    def active_condition(
        self, node_number: int, field: str, constants: Mapping[int, str], active_node: int | None
    ) -> str:
        """Return the condition in C, without brackets, that a node is active; empty if it always is.

        Args:
            node_number: the node.
            field: the expression of C for the number of the active state of its region; 0 for none.
            constants: the constant of each state, by its number.
            active_node: another node that is active; None where the chart may not have been entered.
        """
        region = self.region_of(node_number)
        candidates = [state.index for state in region.states]  # those that may be active
        lowest = 0  # the least value that the field may have
        if active_node is not None:
            if self.is_certainly_active(node_number, active_node):
                return ""
            candidates = [state for state in candidates if self.can_be_active(state, active_node)]
            if self.is_certainly_active(region.root.index, active_node):
                lowest = min(candidates)
        states_inside = {
            state: constants[state]
            for state in candidates
            if state == node_number or node_number in self.nodes[state].ancestors
        }
        if len(states_inside) == len(candidates):
            return "" if lowest else f"{field} != 0U"
        return number_condition(field, states_inside, lowest=lowest, highest=max(candidates))
