"""C of what a transition of a chart with regions does: leave states, and enter others.

What is left and entered is found at generation; only what a history restores, and which states are active in
the regions that are left, is asked at run time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from posewright.charts.expression import Binary, Expression, Operator
from posewright.charts.expression.tree import nodes_of
from posewright.charts.machine.machine import IN_STATE_PREFIX
from posewright.charts.machine.microsteps import EntrySet
from posewright.charts.machine.node import ROOT, CompoundTransition, ResolvedTarget, StateNode
from posewright.charts.model import DONE_PREFIX, Actions, Assign, Branch, HistoryKind, Raise, expressions_in
from posewright.codegen.c.code import ChartCode
from posewright.codegen.c.names import identifier, take_unused
from posewright.codegen.c.region_tree import Region, RegionTree
from posewright.codegen.c.values import join_conditions
from posewright.codegen.c.writer import comment

_QUEUE = "the queue"
_STATUS = "the status"
_STATES = "the active states"
"""Names in a footprint for what is no register; registers have no blanks in their names."""


@dataclass(frozen=True)
class Footprint:
    """The names that lines of C read and write."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def __or__(self, other: Footprint) -> Footprint:
        return Footprint(self.reads | other.reads, self.writes | other.writes)

    def commutes_with(self, other: Footprint) -> bool:
        """Return whether these lines and others have the same result in either order."""
        if self.writes & (other.reads | other.writes):
            return False
        return not other.writes & self.reads


def _footprint_of_actions(actions: Actions) -> Footprint:
    """Return what actions read and write."""
    reads: set[str] = set()
    writes: set[str] = set()
    for expression in expressions_in(actions):
        reads |= expression.names
        if _has_division(expression):
            writes.add(_STATUS)
    for action in _all_actions(actions):
        if isinstance(action, Assign):
            writes |= action.values.keys()
        elif isinstance(action, Raise):
            writes |= {_QUEUE, _STATUS}
    return Footprint(frozenset(reads), frozenset(writes))


def _all_actions(actions: Actions) -> Iterator[Assign | Raise]:
    """Yield actions, and those inside branches."""
    for action in actions:
        if isinstance(action, Branch):
            yield from _all_actions(action.then)
            yield from _all_actions(action.otherwise)
        elif isinstance(action, Assign | Raise):
            yield action


def _has_division(expression: Expression) -> bool:
    """Return whether an expression has a division or a remainder."""
    divisions = (Operator.OVER, Operator.MODULO)
    return any(isinstance(node, Binary) and node.operator in divisions for node in nodes_of(expression.tree))


@dataclass(frozen=True)
class _DoneEvent:
    """An event that a final state raises, and the condition in C for this; empty for always."""

    name: str
    condition: str


class _ExitKey(NamedTuple):
    """The exits of transitions, which are the same for the same two nodes.

    Attributes:
        domain: number of the node inside which all states are left.
        active_node: number of a node that is active before.
    """

    domain: int
    active_node: int


class ExitFunctions:
    """The functions that leave a state with regions, for the exits that several transitions have in common.

    Without them, each of these transitions would have the exits of all states inside.

    Attributes:
        code: writes names, actions and counters.
        tree: the regions of the chart.
        name_endings: the end of the names of the functions for the exits that are common; the active node of
            a key is the state with regions.
        written_keys: those of the keys whose functions are written.
        footprints: what leaving states reads and writes, for any exits.
    """

    def __init__(self, code: ChartCode, tree: RegionTree) -> None:
        """Find the exits that several transitions have in common."""
        self.code = code
        self.tree = tree
        self.written_keys: set[_ExitKey] = set()
        self.footprints: dict[_ExitKey, Footprint] = {}
        keys = [self.key_of(transition) for transition in code.machine.transitions]
        used_endings: set[str] = set()
        self.name_endings: dict[_ExitKey, str] = {}
        for key, n_transitions in Counter(keys).items():
            if key is not None and n_transitions > 1:
                state_name = identifier(code.machine.nodes[key.active_node].name)
                self.name_endings[key] = take_unused(state_name, used_endings)

    def key_of(self, transition: CompoundTransition) -> _ExitKey | None:
        """Return the exits of a transition that leaves a state with regions; None if it leaves none."""
        if transition.domain is None:
            return None
        parallel = self.tree.outermost_parallel(transition.source, transition.domain)
        return None if parallel is None else _ExitKey(transition.domain, parallel.index)

    def name_ending_of(self, transition: CompoundTransition) -> str | None:
        """Return the end of the names of the functions for a transition; None if its exits are not common."""
        key = self.key_of(transition)
        return None if key is None else self.name_endings.get(key)


@dataclass
class RegionEffects:
    """Writes what the transitions of one microstep do.

    The states of regions change at once, unless an action or a `done` event of the microstep reads them.
    Actions read the states before it, and `done` events those entered so far, so these are written to local
    copies then, and stored at the end.

    Attributes:
        code: writes names, actions and counters.
        tree: the regions of the chart.
        exit_functions: the functions for exits that several transitions have in common.
        transitions: the transitions that the microstep may take.
        done_events_need_entered_states: whether it depends on the states entered so far in the microstep if a
            `done` event is raised, which says that all regions of a state have reached a final state.
        copied_regions: the regions whose states have local copies.
    """

    code: ChartCode
    tree: RegionTree
    exit_functions: ExitFunctions
    transitions: Sequence[CompoundTransition]
    done_events_need_entered_states: bool = field(init=False)
    copied_regions: list[Region] = field(init=False)

    def __post_init__(self) -> None:
        """Find out whether local copies are needed."""
        self.machine = self.code.machine
        self.nodes = self.machine.nodes
        self.constants = self.code.names.states
        self.copied_regions = []
        self.done_events_need_entered_states = any(map(self._may_complete_regions, self.transitions))
        if self.done_events_need_entered_states or any(map(self._reads_states, self.transitions)):
            changed = {
                region for transition in self.transitions for region in self._regions_in_domain(transition)
            }
            self.copied_regions = [region for region in self.tree.regions if region in changed]

    def _regions_in_domain(self, transition: CompoundTransition) -> list[Region]:
        """Return the regions in which a transition may leave or enter states, the outermost first."""
        if transition.domain is None:
            return []
        return self.tree.regions_inside(self.nodes[transition.domain])

    def _reads_states(self, transition: CompoundTransition) -> bool:
        """Return whether actions that a transition may cause read which states are active: `in(S)`."""
        footprint = (
            self.exit_footprint(transition)
            | self.action_footprint(transition)
            | self.entry_footprint(transition)
        )
        return any(name.startswith(IN_STATE_PREFIX) for name in footprint.reads)

    def _may_complete_regions(self, transition: CompoundTransition) -> bool:
        """Return whether a transition may enter a final state that completes a state with regions."""
        return any(
            event.condition
            for node in self._nodes_entered(transition)
            if node.final
            for event in self._done_events(node)
        )

    def _nodes_in_domain(self, transition: CompoundTransition) -> list[StateNode]:
        """Return the nodes that a transition may leave or enter, in document order."""
        if transition.domain is None:
            return []
        return [self.nodes[number] for number in sorted(self.nodes[transition.domain].descendants)]

    def _nodes_left(self, domain: int, source: int) -> list[StateNode]:
        """Return the nodes inside a domain that can be active while another one is, in document order."""
        return [
            self.nodes[number]
            for number in sorted(self.nodes[domain].descendants)
            if self.tree.can_be_active(number, source)
        ]

    def _nodes_entered(self, transition: CompoundTransition) -> list[StateNode]:
        """Return the nodes that a transition may enter, in document order."""
        if transition.domain is None or self._restores_history(transition):
            return self._nodes_in_domain(transition)
        entry_set = EntrySet(self.nodes, {})
        entry_set.add_targets(transition.targets, domain=transition.domain)
        return [self.nodes[number] for number in sorted(entry_set.entered)]

    def _restores_history(self, transition: CompoundTransition) -> bool:
        """Return whether what a transition enters may depend on a history."""
        initial_targets = (target for node in self._nodes_in_domain(transition) for target in node.initial)
        return any(target.history is not None for target in (*transition.targets, *initial_targets))

    def are_in_conflict(self, transition: CompoundTransition, other: CompoundTransition) -> bool:
        """Return whether two transitions may leave common states: one domain is the other, or inside it."""
        if transition.domain is None or other.domain is None:
            return False
        may_be_enabled_together = self.tree.can_be_active(transition.source, other.source)
        return may_be_enabled_together and self.tree.are_nested(transition.domain, other.domain)

    # What they read and write

    def exit_footprint(self, transition: CompoundTransition) -> Footprint:
        """Return what leaving states by a transition reads and writes."""
        if transition.domain is None:
            return Footprint()
        # for a transition from inside a state with regions, all that leaving that state may do
        key = self.exit_functions.key_of(transition)
        if key is None:
            key = _ExitKey(transition.domain, active_node=transition.source)
        footprints = self.exit_functions.footprints
        if key not in footprints:
            footprint = Footprint(reads=frozenset({_STATES}))
            for node in self._nodes_left(key.domain, key.active_node):
                counters = frozenset(counter.name for counter in node.counters)
                footprint |= _footprint_of_actions(node.exit) | Footprint(writes=counters)
            footprints[key] = footprint
        return footprints[key]

    def action_footprint(self, transition: CompoundTransition) -> Footprint:
        """Return what the actions of a transition read and write."""
        return _footprint_of_actions(transition.do)

    def entry_footprint(self, transition: CompoundTransition) -> Footprint:
        """Return what entering states by a transition reads and writes."""
        footprint = self._footprint_of_states(transition)
        for node in self._nodes_entered(transition):
            footprint |= _footprint_of_actions(node.entry)
            done_events = self._done_events(node) if node.final else []
            if done_events:
                footprint |= Footprint(writes=frozenset({_QUEUE, _STATUS}))
            if any(event.condition for event in done_events):
                footprint |= Footprint(writes=frozenset({_STATES}))
        return footprint

    def _footprint_of_states(self, transition: CompoundTransition) -> Footprint:
        """Return that a transition changes states, which only a `done` event of another one can notice."""
        return Footprint() if transition.domain is None else Footprint(reads=frozenset({_STATES}))

    # Active states

    def _state(self, region: Region) -> str:
        """Return the expression of C for the state of a region while the microstep goes on."""
        if region in self.copied_regions:
            return f"next{self.code.names.region_suffixes[region.root.index]}"
        return self._field(region)

    def _field(self, region: Region) -> str:
        """Return the expression of C for the state of a region before the microstep."""
        return f"chart->{self.code.names.region_fields[region.root.index]}"

    def write_copies(self) -> None:
        """Write the declarations of the local copies."""
        node_type = "uint8_t" if len(self.nodes) < 256 else "uint16_t"
        for region in self.copied_regions:
            self.code.writer.line(f"{node_type} {self._state(region)} = {self._field(region)};")

    def write_commit(self, transitions: Iterable[CompoundTransition]) -> None:
        """Write lines that store the local copies of the regions that transitions change."""
        changed = {region for transition in transitions for region in self._regions_in_domain(transition)}
        for region in self.copied_regions:
            if region in changed:
                self.code.writer.line(f"{self._field(region)} = {self._state(region)};")

    # Exits

    def write_exit_functions(self) -> None:
        """Write the functions for common exits of the transitions that are not written yet."""
        exit_functions = self.exit_functions
        for transition in self.transitions:
            name_ending = exit_functions.name_ending_of(transition)
            key = exit_functions.key_of(transition)
            if name_ending is None or key is None or key in exit_functions.written_keys:
                continue
            exit_functions.written_keys.add(key)
            prefix = self.code.names.prefix
            state_with_regions = self.nodes[key.active_node]
            name = state_with_regions.name
            self.code.writer.line(
                comment(f"Leaves {name} with all that is active in it, inner states first.")
            )
            with self.code.function(
                f"static void leave_{name_ending}({prefix}_t *chart, const {prefix}_inputs_t *in)"
            ):
                self._write_exits_inside(key.domain, key.active_node)
            self.code.writer.line(comment(f"Stores that no state is active in the regions of {name}."))
            with self.code.function(f"static void clear_{name_ending}({prefix}_t *chart)") as writer:
                for region in self.tree.regions_inside(state_with_regions):
                    writer.line(f"{self._field(region)} = 0U;")

    def write_exits(self, transition: CompoundTransition) -> None:
        """Write lines that store histories and leave all active states in a transition's domain."""
        if transition.domain is None:
            return
        name_ending = self.exit_functions.name_ending_of(transition)
        if name_ending is None:
            self._write_exits_inside(transition.domain, transition.source)
        else:
            self.code.writer.line(f"leave_{name_ending}(chart, in);")
        if name_ending is not None and not self.copied_regions:
            self.code.writer.line(f"clear_{name_ending}(chart);")
            return
        for region in self._regions_to_clear(transition):
            self.code.writer.line(f"{self._state(region)} = 0U;")

    def _write_exits_inside(self, domain: int, source: int) -> None:
        """Write lines that store histories and leave all active states inside a domain.

        Args:
            domain: the number of the node inside which states are left.
            source: the number of a node that is active before.
        """
        nodes_left = self._nodes_left(domain, source)
        for node in nodes_left:
            if node.history_kinds:
                with self.code.writer.traced_to(self.code.state_element(node)):
                    self._write_history_update(node, source)
        for node in reversed(nodes_left):
            if node.exit:
                field_of_state = self._field(self.tree.region_of(node.index))
                condition = self.tree.active_condition(node.index, field_of_state, self.constants, source)
                self._write_if(condition, partial(self.code.write_exit, node))
            self.code.write_state_reset(node)

    def _write_if(self, condition: str, write: Callable[[], None]) -> None:
        """Write lines in an `if` with a condition; without one if it is empty."""
        if not condition:
            write()
            return
        with self.code.writer.block(f"if ({condition})"):
            write()

    def _regions_to_clear(self, transition: CompoundTransition) -> list[Region]:
        """Return the regions that a transition may leave and not enter again, whose fields it sets to 0."""
        regions = [
            region
            for region in self._regions_in_domain(transition)
            if any(self.tree.can_be_active(state.index, transition.source) for state in region.states)
        ]
        if self.done_events_need_entered_states:  # `done` events must not see states that are left
            return regions
        if self._restores_history(transition):
            surely_entered = set(regions[:1])  # the outermost one, which has the transition's domain
        else:
            surely_entered = {self.tree.region_of(node.index) for node in self._nodes_entered(transition)}
        return [region for region in regions if region not in surely_entered]

    def _write_history_update(self, node: StateNode, source: int) -> None:
        """Write lines that store the histories of a state when it is left; `source` is an active node."""
        condition = self.tree.active_condition(
            node.index, self._field(self.tree.region_of(node.index)), self.constants, source
        )

        def write_assignments() -> None:
            for history_kind in node.history_kinds:
                history_index = self.machine.histories.index((node.index, history_kind))
                for region in self.tree.regions_of_history(node.index, history_kind):
                    history_field = self._history_field(history_index, region)
                    self.code.writer.line(f"{history_field} = {self._field(region)};")

        self._write_if(condition, write_assignments)

    def _history_field(self, history_index: int, region: Region) -> str:
        """Return the expression of C for the state of a region that a history stores; 0 for none."""
        return f"chart->{self.code.names.history_fields[history_index, region.root.index]}"

    # Actions

    def write_transition_actions(self, transition: CompoundTransition) -> None:
        """Write the actions of a transition."""
        with self.code.writer.traced_to(self.code.transition_element(transition)):
            self.code.write_actions(transition.do)

    # Entries

    def write_entries(self, transition: CompoundTransition) -> None:
        """Write lines that enter the targets of a transition, outer states first."""
        if transition.domain is None:
            return
        self._write_entry_inside(self.nodes[transition.domain], transition.targets)
        self._write_history_clears(transition)

    def _write_entry(self, node: StateNode, targets: Sequence[ResolvedTarget]) -> None:
        """Write lines that enter a node and what becomes active inside it.

        Args:
            node: the node.
            targets: the targets at or inside the node; without any, its initial states are entered.
        """
        region = self.tree.region_of(node.index)
        with self.code.writer.traced_to(self.code.state_element(node)):
            self.code.write_actions(node.entry)
            if node in region.states:
                self.code.writer.line(f"{self._state(region)} = {self.constants[node.index]};")
            self._write_done_events(node)
        self._write_entry_inside(node, targets)

    def _write_entry_inside(self, node: StateNode, targets: Sequence[ResolvedTarget]) -> None:
        """Write lines that enter what becomes active inside a node, which itself is entered already.

        * A target that is a history of the node re-enters the states that were last active inside it.
        * Without a target inside the node, its initial states become the targets.
        * Then each child that has a target at or inside it is entered; of a parallel node, every child is.

        A target refers to its state by the state's number in the machine.

        Args:
            node: the node.
            targets: the targets at or inside the node.
        """
        for target in targets:
            if target.node == node.index and target.history is not None:
                self._write_history_entry(node, target, target.history)
                return
        inner_targets = [target for target in targets if target.node in node.descendants]
        if not inner_targets and node.initial:
            self._write_entry_inside(node, node.initial)
            return
        for child_number in node.children:
            child = self.nodes[child_number]
            numbers_in_child = {child_number, *child.descendants}
            child_targets = [target for target in inner_targets if target.node in numbers_in_child]
            if child_targets or node.parallel:
                self._write_entry(child, child_targets)

    def _write_history_entry(
        self, node: StateNode, target: ResolvedTarget, history_kind: HistoryKind
    ) -> None:
        """Write lines that enter what a history of a node stores, or its default while it is empty.

        The field of the first of its regions is 0 while it is empty.
        """
        history_index = self.machine.histories.index((node.index, history_kind))
        region = self.tree.regions_of_history(node.index, history_kind)[0]
        stored = self._history_field(history_index, region)
        defaults = [ResolvedTarget(number) for number in target.default]
        writer = self.code.writer
        if history_kind is HistoryKind.SHALLOW and not node.parallel:
            self._write_shallow_entry(node, stored, defaults)
            return
        with writer.block(f"if ({stored} != 0U)", "} else {"):
            if history_kind is HistoryKind.DEEP:
                self._write_restored_entry(node, history_index)
            else:
                for child in node.children:
                    self._write_entry(self.nodes[child], [])
        with writer.indented_block():
            self._write_entry_inside(node, defaults)

    def _write_shallow_entry(self, node: StateNode, stored: str, defaults: Sequence[ResolvedTarget]) -> None:
        """Write lines that enter the child in which the stored state is, or the default.

        Args:
            node: the node that has the history; it has no regions.
            stored: the expression of C for the stored state.
            defaults: the targets while the history is empty; without any, the initial states.
        """
        writer = self.code.writer
        states = self.tree.region_of(node.index).states
        with writer.block(f"switch ({stored})"):
            for child_number in node.children:
                child = self.nodes[child_number]
                for state in states:
                    if state.index in {child_number, *child.descendants}:
                        writer.line(f"case {self.constants[state.index]}:")
                writer.depth += 1
                self._write_entry(child, [])
                writer.line("break;")
                writer.depth -= 1
            writer.line("default:")
            writer.depth += 1
            self._write_entry_inside(node, defaults)
            writer.line("break;")
            writer.depth -= 1

    def _write_restored_entry(self, node: StateNode, history_index: int) -> None:
        """Write lines that enter the states inside a node that a deep history stores."""
        entered_regions: set[Region] = set()
        for number in sorted(node.descendants):
            inner_node = self.nodes[number]
            region = self.tree.region_of(number)
            stored = self._history_field(history_index, region)
            if region not in entered_regions:
                entered_regions.add(region)
                self.code.writer.line(f"{self._state(region)} = {stored};")
            if inner_node.entry or (inner_node.final and self._done_events(inner_node)):
                condition = self.tree.active_condition(number, stored, self.constants, active_node=node.index)
                self._write_if(condition, partial(self._write_entry_effects, inner_node))

    def _write_entry_effects(self, node: StateNode) -> None:
        """Write the entry actions and `done` events of a state whose region has its state already."""
        with self.code.writer.traced_to(self.code.state_element(node)):
            self.code.write_actions(node.entry)
            self._write_done_events(node)

    def _write_history_clears(self, transition: CompoundTransition) -> None:
        """Write lines that clear the histories of entered states, which leaving these stores again.

        Those that a transition from inside the state enters are kept.
        """
        cleared_nodes = self.machine.planner.nodes_with_cleared_history
        targets = [target.node for target in transition.targets]
        for node in self._nodes_in_domain(transition):
            if node.index not in cleared_nodes:
                continue
            if not all(self.tree.can_be_active(node.index, target) for target in targets):
                continue
            region = self.tree.region_of(node.index)
            condition = self.tree.active_condition(
                node.index, self._state(region), self.constants, active_node=targets[0]
            )
            self._write_if(condition, partial(self._clear_histories, node))

    def _clear_histories(self, node: StateNode) -> None:
        """Write lines that clear the histories of a state."""
        for history_kind in node.history_kinds:
            history_index = self.machine.histories.index((node.index, history_kind))
            for region in self.tree.regions_of_history(node.index, history_kind):
                self.code.writer.line(f"{self._history_field(history_index, region)} = 0U;")

    # Done events

    def _done_events(self, final: StateNode) -> list[_DoneEvent]:
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
                condition = self._done_condition(node)
            events.append(_DoneEvent(DONE_PREFIX + node.name, condition))
            is_region = self.nodes[node.parent].parallel
            if not is_region:
                break
            node_number = node.parent
        return events if any(self.code.has_effect(event.name) for event in events) else []

    def _done_condition(self, node: StateNode) -> str:
        """Return the condition of C, without brackets, that a node is done, by the states entered so far.

        A state with regions is done if all of them are; a region or another state, if a final state in it is
        active.
        """
        if node.parallel:
            region_conditions = [f"({self._done_condition(self.nodes[child])})" for child in node.children]
            return " && ".join(region_conditions)
        final_conditions = [
            f"{self._state(self.tree.region_of(child))} == {self.constants[child]}"
            for child in node.children
            if self.nodes[child].final
        ]
        return join_conditions(final_conditions) or "false"

    def _write_done_events(self, node: StateNode) -> None:
        """Write lines that raise the done events of a final state; nothing for other states."""
        if not node.final:
            return
        writer = self.code.writer
        n_open_blocks = 0
        for event in self._done_events(node):
            if event.condition:
                # the block is nested in that of the inner state, without which the outer one is not done
                writer.line(f"if ({event.condition}) {{")
                writer.depth += 1
                n_open_blocks += 1
            self.code.write_raise(event.name)
        for _ in range(n_open_blocks):
            writer.depth -= 1
            writer.line("}")
