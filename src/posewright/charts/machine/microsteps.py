"""Microsteps: the states left and entered when transitions are taken, computed once for each situation.

The order in which states are left and entered, and the states that a history restores, follow the W3C's SCXML
(Appendix D).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from posewright.charts.machine.node import ROOT, CompoundTransition, HistoryKey, ResolvedTarget, StateNode
from posewright.charts.model import DONE_PREFIX, HistoryKind


class EntrySet:
    """Collects the nodes entered in one microstep; computeEntrySet of the W3C's algorithm.

    A node is given by its number, which is its index in `nodes`.

    Attributes:
        nodes: the nodes of the machine.
        history: the numbers of the states that each history restores; empty before it stored any.
        entered: the indices of the nodes that are entered, without the chart itself.
    """

    def __init__(self, nodes: Sequence[StateNode], history: Mapping[HistoryKey, tuple[int, ...]]) -> None:
        """Start with an empty entry set."""
        self.nodes = nodes
        self.history = history
        self.entered: set[int] = set()

    def add_targets(self, targets: Iterable[ResolvedTarget], domain: int) -> None:
        """Add targets with the states inside them, and their ancestors up to the node `domain`.

        Args:
            targets: the targets of one transition, or of an initial state.
            domain: index of the node inside which states are entered; it is not entered itself.
        """
        targets = tuple(targets)
        for target in targets:
            node = self.nodes[target.node]
            if target.node != domain:
                self._add(target.node)
            if target.history is None:
                self.add_initial(node)
            else:
                self._add_history(target, node)
        # last, because an ancestor of a target adds its other regions unless another target is inside them
        for target in targets:
            if target.node != domain:
                self._add_ancestors(self.nodes[target.node], domain)
        if targets and self.nodes[domain].parallel:  # a chart of regions that was left as a whole
            self.add_regions(self.nodes[domain])

    def add_initial(self, node: StateNode) -> None:
        """Add what is first active inside a node: its initial states, or all its regions."""
        self.add_targets(node.initial, node.index)
        if node.parallel:
            self.add_regions(node)

    def add_regions(self, node: StateNode) -> None:
        """Add the regions of a parallel node of which nothing has been added."""
        for node_index in node.children:
            child = self.nodes[node_index]
            if node_index not in self.entered and not (child.descendants & self.entered):
                self._add_with_initial(child)

    def _add_history(self, target: ResolvedTarget, node: StateNode) -> None:
        """Add the states that a history restores, or its default while it is empty.

        Args:
            target: the history as the target of a transition.
            node: the node that has the history.
        """
        restored_indices: tuple[int, ...] = ()
        if target.history is not None:
            restored_indices = self.history[HistoryKey(target.node, target.history)]
        entered_indices = restored_indices or target.default
        if not entered_indices:  # a history without a default enters the node's initial states
            self.add_initial(node)
            return
        for node_index in entered_indices:
            self._add_with_initial(self.nodes[node_index])
        for node_index in entered_indices:
            self._add_ancestors(self.nodes[node_index], node.index)
        if node.parallel:  # a default may name states of some regions only
            self.add_regions(node)

    def _add_with_initial(self, node: StateNode) -> None:
        """Add a node, and what is first active inside it."""
        self._add(node.index)
        self.add_initial(node)

    def _add_ancestors(self, node: StateNode, domain: int) -> None:
        """Add the ancestors of a node that are inside the node `domain`, with their other regions.

        Args:
            node: the node.
            domain: index of the node inside which states are entered; it is not entered itself.
        """
        for node_index in node.ancestors:
            if node_index == domain:
                return
            self._add(node_index)
            if self.nodes[node_index].parallel:
                self.add_regions(self.nodes[node_index])

    def _add(self, node_index: int) -> None:
        """Add one node, unless it is the chart itself."""
        if node_index != ROOT:
            self.entered.add(node_index)


MAX_CACHED = 20_000
"""Microsteps in the cache; a chart with many regions has more situations than ever recur."""

Configuration = tuple[int, ...]
"""The numbers of the active leaves, in document order."""

History = tuple[Configuration, ...]
"""The configurations remembered, one for each history of the machine."""


@dataclass(frozen=True, slots=True, eq=False)
class Microstep:
    """The result of taking transitions in a configuration.

    Attributes:
        transitions: those that are taken, in order.
        leaving: the nodes that are left, in order (the exit set).
        entering: the nodes that are entered, in order (the entry set), each with the events `done.S` that
            entering it raises.
        configuration: the configuration afterwards.
        history: the histories afterwards.
        has_effects: whether leaving or entering runs an action, raises an event or resets a counter.
    """

    transitions: tuple[CompoundTransition, ...]
    leaving: tuple[StateNode, ...]
    entering: tuple[tuple[StateNode, tuple[str, ...]], ...]
    configuration: Configuration
    history: History
    has_effects: bool


class MicrostepPlanner:
    """Computes and caches the microsteps of one machine.

    Attributes:
        nodes: the nodes of the machine, each at the index that is its number.
        histories: the histories of the machine; a `History` has what each of them stores, in this order.
        nodes_with_cleared_history: nodes whose history is cleared on entry: it is entered only from
            outside, and written again when they are left.
    """

    def __init__(self, nodes: Sequence[StateNode], histories: Sequence[HistoryKey]) -> None:
        """Find the histories that may be cleared on entry; results are cached from their first use on."""
        self.nodes = nodes
        self.histories = histories
        self.nodes_with_cleared_history = frozenset(
            history.node for history in histories if not self._is_history_entered_from_inside(history.node)
        )
        self._cached_active_nodes: dict[Configuration, frozenset[int]] = {}
        self._cached_microsteps: dict[
            tuple[Configuration, History, tuple[CompoundTransition, ...]], Microstep
        ] = {}

    def active_nodes(self, configuration: Configuration) -> frozenset[int]:
        """Return the numbers of all active nodes, without the chart itself."""
        try:
            return self._cached_active_nodes[configuration]
        except KeyError:
            active = {
                node_index for leaf in configuration for node_index in (leaf, *self.nodes[leaf].ancestors)
            }
            return self._cached_active_nodes.setdefault(configuration, frozenset(active - {ROOT}))

    def enter_chart(self) -> Microstep:
        """Return the microstep that enters the chart."""
        history = tuple(() for _ in self.histories)
        entry_set = EntrySet(self.nodes, dict.fromkeys(self.histories, ()))
        entry_set.add_initial(self.nodes[ROOT])
        return self._build_microstep(
            (), active=frozenset(), exit_set=frozenset(), entry_set=entry_set.entered, history=history
        )

    def plan_microstep(
        self, configuration: Configuration, history: History, enabled: tuple[CompoundTransition, ...]
    ) -> Microstep:
        """Return the microstep that takes the enabled transitions, without those that are preempted.

        Of two transitions that leave common states, only one can be taken: see `_remove_conflicts`. The
        result is cached.
        """
        cache_key = (configuration, history, enabled)
        try:
            return self._cached_microsteps[cache_key]
        except KeyError:
            if len(self._cached_microsteps) >= MAX_CACHED:
                self._cached_microsteps.clear()
            microstep = self._compute_microstep(configuration, history, enabled)
            return self._cached_microsteps.setdefault(cache_key, microstep)

    def _compute_microstep(
        self, configuration: Configuration, history: History, enabled: tuple[CompoundTransition, ...]
    ) -> Microstep:
        """Return the microstep of enabled transitions, after the removal of those in conflict.

        Each history of a node that is left stores what was active in it, before the targets are entered.

        Args:
            configuration: the active leaves before it.
            history: what the histories store before it, in the order of `histories`.
            enabled: the enabled transitions, in the order of the leaves.
        """
        transitions = self._remove_conflicts(enabled)
        active = self.active_nodes(configuration)
        exit_set = frozenset[int]().union(
            *(self._compute_exit_set(transition, active) for transition in transitions)
        )
        new_history = dict(zip(self.histories, history, strict=True))
        for history_key in self.histories:
            if history_key.node in exit_set:
                new_history[history_key] = self._list_remembered(history_key, configuration, active)
        entry_set = EntrySet(self.nodes, new_history)
        for transition in transitions:
            # a transition without targets has no domain, and enters nothing
            entry_set.add_targets(transition.targets, domain=transition.domain or ROOT)
        return self._build_microstep(
            transitions, active, exit_set, entry_set=entry_set.entered, history=tuple(new_history.values())
        )

    def _build_microstep(
        self,
        transitions: tuple[CompoundTransition, ...],
        active: frozenset[int],
        exit_set: frozenset[int],
        entry_set: set[int],
        history: History,
    ) -> Microstep:
        """Return the microstep with its exit and entry order and the configuration after it.

        Nodes are left from the inside out and entered from the outside in. Entering a final state raises the
        `done` events of the states that are then complete.

        Args:
            transitions: the transitions that are taken.
            active: the active nodes before it.
            exit_set: the nodes that are left.
            entry_set: the nodes that are entered.
            history: the histories after the nodes were left.
        """
        active_after = set(active - exit_set)
        entering = []
        for node_index in sorted(entry_set):  # outer nodes first, as they have lower numbers
            active_after.add(node_index)
            node = self.nodes[node_index]
            done_events = self._list_done_events(node, active_after) if node.final else ()
            entering.append((node, done_events))
        configuration = tuple(
            sorted(node_index for node_index in active_after if self.nodes[node_index].is_leaf)
        )
        cleared_nodes = active_after & self.nodes_with_cleared_history
        history_after = tuple(
            () if history_key.node in cleared_nodes else stored_configuration
            for history_key, stored_configuration in zip(self.histories, history, strict=True)
        )
        leaving = tuple(self.nodes[node_index] for node_index in sorted(exit_set, reverse=True))
        exit_has_effects = any(node.exit or node.counters for node in leaving)
        entry_has_effects = any(node.entry or done_events for node, done_events in entering)
        has_effects = exit_has_effects or entry_has_effects
        return Microstep(
            transitions,
            leaving,
            entering=tuple(entering),
            configuration=configuration,
            history=history_after,
            has_effects=has_effects,
        )

    def _is_history_entered_from_inside(self, node_index: int) -> bool:
        """Return whether a transition whose source is a node or inside it has the node's history as target.

        If none does, the history has no effect while the node is active, and situations that differ in it
        alone are equal.
        """
        sources = self.nodes[node_index].descendants | {node_index}
        return any(
            target.node == node_index and target.history is not None
            for node in self.nodes
            for transition in node.transitions
            if transition.source in sources
            for target in transition.targets
        )

    def _compute_exit_set(self, transition: CompoundTransition, active: frozenset[int]) -> frozenset[int]:
        """Return the active nodes that a transition leaves."""
        if transition.domain is None:
            return frozenset()
        return active & self.nodes[transition.domain].descendants

    def _list_remembered(
        self, history_key: HistoryKey, configuration: Configuration, active: frozenset[int]
    ) -> Configuration:
        """Return what a history stores when its node is left, by number.

        A shallow history stores the active children of the node, a deep one the active leaves inside it.

        Args:
            history_key: the history.
            configuration: the active leaves before the node is left.
            active: all nodes that are active then.
        """
        node = self.nodes[history_key.node]
        if history_key.kind is HistoryKind.SHALLOW:
            return tuple(child for child in node.children if child in active)
        return tuple(leaf for leaf in configuration if leaf in node.descendants)

    def _remove_conflicts(self, enabled: Iterable[CompoundTransition]) -> tuple[CompoundTransition, ...]:
        """Return the enabled transitions without those that are preempted.

        Two transitions are in conflict if they leave common states. Of these, the one whose source is inside
        the source of the other is taken; if neither is, the earlier one.
        """
        selected: list[CompoundTransition] = []
        for transition in enabled:
            conflicting = [earlier for earlier in selected if self._are_in_conflict(transition, earlier)]
            if all(transition.source in self.nodes[earlier.source].descendants for earlier in conflicting):
                selected = [earlier for earlier in selected if earlier not in conflicting]
                selected.append(transition)
        return tuple(selected)

    def _are_in_conflict(self, transition: CompoundTransition, earlier: CompoundTransition) -> bool:
        """Return whether two transitions leave common states: one's domain is the other's, or inside it.

        A domain is the node that stays active while everything inside it is left; None if nothing is left.
        """
        domain = transition.domain
        earlier_domain = earlier.domain
        if domain is None or earlier_domain is None:
            return False
        if domain == earlier_domain:
            return True
        is_outside = domain in self.nodes[earlier_domain].ancestors
        is_inside = earlier_domain in self.nodes[domain].ancestors
        return is_outside or is_inside

    def _list_done_events(self, final: StateNode, active: set[int]) -> tuple[str, ...]:
        """Return the events `done.S` of the states that entering a final state completes, inner ones first.

        These are its parent and, if that is a region, the parallel state once all its regions are done.
        """
        ancestor = final.parent
        events = []
        while ancestor != ROOT and self._is_done(ancestor, active):
            events.append(DONE_PREFIX + self.nodes[ancestor].name)
            ancestor = self.nodes[ancestor].parent
            if not self.nodes[ancestor].parallel:
                break  # only a parallel state is done by its regions; others need a final child
        return tuple(events)

    def _is_done(self, node_index: int, active: set[int]) -> bool:
        """Return whether a final state is active in a node, or in all its regions."""
        node = self.nodes[node_index]
        if node.parallel:
            return all(self._is_done(child, active) for child in node.children)
        return any(self.nodes[child].final and child in active for child in node.children)
