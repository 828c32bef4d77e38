"""Check for transitions of one state that are enabled together although they should exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from posewright.charts.checks.analysis import Check, build_unproved_finding
from posewright.charts.checks.conditions import (
    any_of,
    at_least_two_of,
    branch_key,
    compare_outcomes,
    divides,
    group_by_event,
    split_in_half,
    trigger_events,
    wait_conditions,
)
from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.question import CheckQuestion, MicrostepFilter, TransitionChoice
from posewright.charts.checks.solver import CheckClaim, build_claims
from posewright.charts.checks.transition_text import format_transition
from posewright.charts.checks.witness_search import Witness, WitnessSearch
from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Machine, Snapshot, StateNode, TickExecution
from posewright.charts.model import Priority
from posewright.errors import PosewrightError

TransitionPair = tuple[CompoundTransition, CompoundTransition]


@dataclass(frozen=True)
class OverlapSuspect:
    """Two transitions of a state that types do not exclude from being enabled together.

    Attributes:
        conflict_search: for a tick in which both are enabled and do different things; None if they never do.
        overlap_search: for a tick in which both are enabled; the same search where they always differ.
    """

    node: StateNode
    first: CompoundTransition
    second: CompoundTransition
    conflict_search: WitnessSearch | None
    overlap_search: WitnessSearch


class GuardOverlaps(Check):
    """Finds pairs of transitions that are enabled together; a note suffices if both have the same effect."""

    def prepare(self) -> None:
        """Collect the pairs that the solver does not exclude, and add searches for them."""
        self.suspects: list[OverlapSuspect] = []
        states = self.machine.nodes[1:]  # without the chart itself
        for node in states:
            # in an ordered state, the first enabled transition is meant to win
            if node.state is None or self.chart.priority_in(node.state) is Priority.ORDERED:
                continue
            for first, second in self._find_possible_pairs(node):
                self.suspects.append(self._build_suspect(node, first, second))

    def _find_possible_pairs(self, node: StateNode) -> Iterator[TransitionPair]:
        """Yield the pairs of a state that may be enabled together for some values of the names they read."""
        for transitions in group_by_event(node.transitions).values():
            if any(divides(transition.guard) for transition in transitions):
                yield from (pair for pair in combinations(transitions, 2) if self._may_overlap(*pair))
            else:
                yield from self._find_pairs_within(transitions)

    def _find_pairs_within(self, transitions: Sequence[CompoundTransition]) -> Iterator[TransitionPair]:
        """Yield the possible pairs among some transitions, by bisection.

        If no two can hold together, one question to the solver decides all of them. Else the two halves are
        searched, and the pairs with one transition in each.
        """
        if len(transitions) < 2:
            return
        if self._excludes([at_least_two_of([transition.guard for transition in transitions])]):
            return
        left, right = split_in_half(transitions)
        yield from self._find_pairs_within(left)
        yield from self._find_pairs_across(left, right)
        yield from self._find_pairs_within(right)

    def _find_pairs_across(
        self, left: Sequence[CompoundTransition], right: Sequence[CompoundTransition]
    ) -> Iterator[TransitionPair]:
        """Yield the possible pairs of a transition in `left` and one in `right`, by bisection."""
        if len(left) == 1 and len(right) == 1:
            if self._may_overlap(left[0], right[0]):
                yield left[0], right[0]
            return
        left_condition = any_of([transition.guard for transition in left])
        right_condition = any_of([transition.guard for transition in right])
        if self._excludes([left_condition, right_condition]):
            return
        if len(left) >= len(right):
            for half in split_in_half(left):
                yield from self._find_pairs_across(half, right)
        else:
            for half in split_in_half(right):
                yield from self._find_pairs_across(left, half)

    def _excludes(self, conditions: Sequence[Expression]) -> bool:
        """Return whether it is proved that the conditions are never all true."""
        return self.analysis.solver.excludes(build_claims(conditions))

    def _may_overlap(self, first: CompoundTransition, second: CompoundTransition) -> bool:
        """Return whether it is not proved that two transitions are never enabled together."""
        return not self.analysis.solver.excludes(_build_overlap_claims(first, second))

    def _build_suspect(
        self, node: StateNode, first: CompoundTransition, second: CompoundTransition
    ) -> OverlapSuspect:
        """Return the suspect for a pair of transitions, and add the searches that decide about it.

        Args:
            node: the state.
            first: a transition of the state.
            second: a later one, which may be enabled together with the first.
        """
        events = trigger_events(first) & trigger_events(second)
        # only where the guards of the state are evaluated, which those of inner states may prevent
        location = TransitionChoice(node.index, events, MicrostepFilter.EVALUATED)
        overlap_claims = _build_overlap_claims(first, second)
        overlap_search = self.analysis.add_search(CheckQuestion(location, overlap_claims))
        outcomes_differ = compare_outcomes(first, second, self.chart.variables)
        conflict_search: WitnessSearch | None
        if outcomes_differ is False:
            conflict_search = None
        elif outcomes_differ is True:
            conflict_search = overlap_search
        else:  # the condition under which they differ
            conflict_claims = (*overlap_claims, *build_claims([outcomes_differ]))
            conflict_search = self.analysis.add_search(
                CheckQuestion(location, conflict_claims), exact_variables=outcomes_differ.names
            )
        return OverlapSuspect(node, first, second, conflict_search, overlap_search)

    def findings(self) -> Iterator[Finding]:
        """Yield the overlaps; of all pairs that part at the same two segments, only the most severe.

        A transition through junctions is a chain of segments, which two transitions may share at first.
        """
        finding_by_branch: dict[object, Finding] = {}
        for suspect in self.suspects:
            finding = self._build_finding(suspect)
            if finding is None:
                continue
            branch = branch_key(suspect.first, suspect.second)
            previous = finding_by_branch.get(branch)
            if previous is None or _severity_rank(finding) < _severity_rank(previous):
                finding_by_branch[branch] = finding
        yield from finding_by_branch.values()

    def _build_finding(self, suspect: OverlapSuspect) -> Finding | None:
        """Return the finding about a pair: an error for a conflict, a note for an overlap without one.

        Returns None if the two are never enabled together.
        """
        conflict_search = suspect.conflict_search
        if conflict_search is not None and conflict_search.witness is not None:
            finding = self._build_witness_finding(suspect, conflict_search.witness, Level.ERROR)
            if self._has_same_outcome(suspect, conflict_search.witness):
                message = f"{finding.message}; here both have the same result, elsewhere they may not"
                return replace(finding, message=message, proved=False)
            return finding
        if conflict_search is not None and self.analysis.is_undecided(conflict_search, suspect.node):
            pair = f"{format_transition(suspect.first)} and {format_transition(suspect.second)}"
            claim = f"{pair} both hold in {suspect.node.name}"
            finding = build_unproved_finding(
                self.analysis, conflict_search, rule=Rule.OVERLAP, claim=claim, node=suspect.node
            )
            return replace(finding, line=suspect.second.line)
        if suspect.overlap_search.witness is not None:
            return self._build_witness_finding(suspect, suspect.overlap_search.witness, Level.NOTE)
        return None

    def _has_same_outcome(self, suspect: OverlapSuspect, witness: Witness) -> bool:
        """Return whether the tick of a witness ends the same whichever of the two transitions is taken.

        The tick is run twice, each time as if one of them did not exist; False if one of the runs fails.
        """
        if suspect.first.targets != suspect.second.targets:
            return False
        inputs = {name: witness.inputs[name] for name in self.chart.inputs}
        events = [event for event in self.chart.events if witness.inputs[event]]
        next_states = []
        for excluded in (suspect.first, suspect.second):
            tick = _TickWithoutTransition(self.analysis.machine, witness.start_state, excluded)
            try:
                next_states.append(tick.run(inputs, events))
            except PosewrightError:
                return False
        state_without_first, state_without_second = next_states
        return state_without_first == state_without_second

    def _build_witness_finding(self, suspect: OverlapSuspect, witness: Witness, level: Level) -> Finding:
        """Return the finding that both transitions of a pair are enabled, with the case of a witness.

        Args:
            suspect: the pair.
            witness: a tick in which both are enabled.
            level: an error if they do different things there, else a note.
        """
        state_name = suspect.node.name
        # both name the variables that the guards read; the second leaves out inputs that these do not read
        full_case, case_of_guards = self.analysis.describe_witness(
            state_name, witness, suspect.overlap_search.claim_names
        )
        pair = f"{format_transition(suspect.first)} and {format_transition(suspect.second)}"
        message = f"two guards hold {case_of_guards}: {pair}"
        if level is Level.ERROR:
            message += "; make them exclude each other, or set `priority: ordered`"
        else:
            message += "; both have the same effect"
        return Finding(
            level,
            Rule.OVERLAP,
            message,
            state=state_name,
            counterexample=full_case,
            line=suspect.second.line,
            trace=witness.trace,
        )


class _TickWithoutTransition(TickExecution):
    """A tick in which one transition is never enabled."""

    def __init__(self, machine: Machine, state: Snapshot, excluded: CompoundTransition) -> None:
        super().__init__(machine, state)
        self.excluded = excluded

    def is_enabled(self, transition: CompoundTransition) -> bool:
        """Return whether a transition is enabled and is not the excluded one."""
        return transition is not self.excluded and super().is_enabled(transition)


def _build_overlap_claims(first: CompoundTransition, second: CompoundTransition) -> tuple[CheckClaim, ...]:
    """Return the claims that hold where two transitions are both enabled."""
    return build_claims([first.guard, second.guard, *wait_conditions(first), *wait_conditions(second)])


def _severity_rank(finding: Finding) -> int:
    """Return the rank of a finding by severity, 0 for the most severe.

    A proved error comes before an unproved one, and a question that is not decided before a harmless overlap.
    """
    if finding.level is Level.ERROR:
        return 0 if finding.proved else 1
    return 2 if finding.rule is Rule.NOT_PROVED else 3
