"""Checks for dead logic: states never entered, transitions never taken, guards that always hold."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.checks.analysis import Check, compute_entered_states
from posewright.charts.checks.conditions import divides, trigger_events, wait_conditions
from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule, not_proved
from posewright.charts.checks.question import CheckQuestion, MicrostepFilter, TransitionChoice
from posewright.charts.checks.solver import build_claims
from posewright.charts.checks.transition_text import format_guards, format_lines, format_trigger
from posewright.charts.checks.witness_search import Witness, WitnessSearch
from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, StateNode, all_actions
from posewright.charts.model import DONE_PREFIX, events_raised

MAX_TRANSITIONS_QUOTED = 3
"""Transitions to an unreachable state that a message quotes."""

MAX_LINES_LISTED = 8
"""Lines that a message lists."""


class UnreachableStates(Check):
    """Finds states that no run enters; of those inside one another, only the outermost."""

    def findings(self) -> Iterator[Finding]:
        """Yield an error for each unreachable state, a note where that is not proved."""
        entered_states = self.analysis.entered_states
        states = self.machine.nodes[1:]  # without the chart itself
        missing_nodes = [node for node in states if node.index not in entered_states]
        missing_indices = {node.index for node in missing_nodes}
        outermost_nodes = [node for node in missing_nodes if node.parent not in missing_indices]
        possibly_entered = (
            frozenset[int]() if self.analysis.has_scanned_all_ticks else self._compute_possibly_entered()
        )
        for node in outermost_nodes:
            if node.index in possibly_entered:
                reason = self.analysis.incomplete_reason
                message = f"it is not known whether {node.name} is ever entered: {reason}"
                yield not_proved(message, node.name, node.line)
            else:
                yield self._build_finding(node)

    def _build_finding(self, node: StateNode) -> Finding:
        """Return the error that a state is never entered, with the transitions that lead to it."""
        reason = "no transition leads there"
        transitions = [
            transition for transition in self.machine.transitions if self._leads_to(transition, node)
        ]
        if transitions:
            quotes = []
            for transition in transitions[:MAX_TRANSITIONS_QUOTED]:
                when_text = "" if transition.events else "when "
                source_name = self.analysis.source_of(transition).name
                quotes.append(f"from {source_name} {when_text}{format_trigger(transition)}")
            reason = f"it is never entered ({'; '.join(quotes)})"
        start_name = self.analysis.interpreter.initial().state
        message = f"{node.name} cannot be reached from {start_name}: {reason}"
        case = Counterexample(node.name, {})
        return Finding(
            Level.ERROR, Rule.UNREACHABLE, message, state=node.name, counterexample=case, line=node.line
        )

    def _leads_to(self, transition: CompoundTransition, node: StateNode) -> bool:
        """Return whether a transition leads into a state from outside it."""
        inside = node.descendants | {node.index}
        if transition.source in inside:
            return False
        return any(target.node in inside for target in transition.targets)

    def _compute_possibly_entered(self) -> frozenset[int]:
        """Return the states reachable over transitions whose guards are not proved to be always false."""
        possibly_entered = set(self.analysis.entered_states)
        transitions = [
            transition
            for transition in self.machine.transitions
            if not self.analysis.solver.excludes(build_claims([transition.guard]))
        ]
        previous_size = 0
        while len(possibly_entered) > previous_size:
            previous_size = len(possibly_entered)
            for transition in transitions:
                if transition.source in possibly_entered:
                    possibly_entered |= compute_entered_states(self.machine, transition, include_history=True)
        return frozenset(possibly_entered)


class DeadTransitions(Check):
    """Finds transitions of entered states that no explored tick takes, and guards that always hold."""

    def plan_scan(self) -> None:
        """Decide by proof why transitions of entered states are never taken; add searches for the others.

        If all ticks were scanned, a transition that was not taken is dead, and a search only explains why:
        whether it is ever enabled. Else it is reported only if a proof shows that it cannot be taken.
        """
        self.taken_ids = set(map(id, self.analysis.exploration.taken_transitions))
        self.searches: list[tuple[CompoundTransition, WitnessSearch]] = []
        self.proved_findings: list[Finding] = []
        self.undecided_transitions: list[CompoundTransition] = []
        for transition in self.machine.transitions:
            if id(transition) in self.taken_ids or transition.source not in self.analysis.entered_states:
                continue
            finding = self._find_never_enabled(transition)
            if finding is None and not self.analysis.has_scanned_all_ticks:
                finding = self._find_shadowed(transition)
            if finding is not None:
                self.proved_findings.append(finding)
            elif self.analysis.has_scanned_all_ticks:
                # where in a tick the state chooses a transition on one of these events
                location = TransitionChoice(
                    transition.source, trigger_events(transition), MicrostepFilter.ACTIVE
                )
                claims = build_claims([transition.guard, *wait_conditions(transition)])
                search = self.analysis.add_search(CheckQuestion(location, claims))
                self.searches.append((transition, search))
            else:
                self.undecided_transitions.append(transition)

    def _find_never_enabled(self, transition: CompoundTransition) -> Finding | None:
        """Return a finding if no event of a transition can occur, or its guard is proved always false."""
        impossible_events = [event for event in transition.events if not self._can_occur(event)]
        if transition.events and len(impossible_events) == len(transition.events):
            return self._build_never_enabled_finding(
                transition, f"nothing raises {' or '.join(impossible_events)}"
            )
        if self.analysis.solver.excludes(build_claims([transition.guard])):
            return self._build_never_enabled_finding(transition)
        return None

    def _can_occur(self, event: str) -> bool:
        """Return whether an event can occur: an input event, a raised one, or the completion of a state."""
        if event in self.machine.events:
            return True
        if event.startswith(DONE_PREFIX):
            return self.machine.node(event.removeprefix(DONE_PREFIX)).index in self.analysis.entered_states
        return any(event in events_raised(actions) for actions in all_actions(self.machine))

    def _find_shadowed(self, transition: CompoundTransition) -> Finding | None:
        """Return a finding if it is proved that earlier transitions of the state always go first.

        That is so if the guard of one of them, or at least one of their guards, holds wherever the guard of
        this transition does. Returns None where neither is proved.
        """
        solver = self.analysis.solver
        earlier_transitions = self._earlier_transitions(transition)
        for earlier in earlier_transitions:
            if solver.excludes(build_claims(true=[transition.guard], false=[earlier.guard])):
                return self._build_shadowed_finding(transition, earlier)
        earlier_guards = [earlier.guard for earlier in earlier_transitions]
        if len(earlier_guards) <= 1:
            return None
        if solver.excludes(build_claims(true=[transition.guard], false=earlier_guards)):
            return self._build_shadowed_finding(transition, winner=None)
        return None

    def _earlier_transitions(self, transition: CompoundTransition) -> list[CompoundTransition]:
        """Return the earlier transitions of the state that are evaluated whenever this one is.

        Such a transition waits no longer, and has all the events of this one.
        """
        events = trigger_events(transition)
        earlier_in_state = self.analysis.source_of(transition).transitions[: transition.index]
        return [
            earlier
            for earlier in earlier_in_state
            if earlier.wait_ticks <= transition.wait_ticks and trigger_events(earlier) >= events
        ]

    def findings(self) -> Iterator[Finding]:
        """Yield guards that always hold, then transitions that are never taken."""
        yield from self._find_always_true()
        yield from self.proved_findings
        for transition, search in self.searches:
            yield self._build_finding(transition, search)
        if self.undecided_transitions:
            yield self._build_undecided_finding()

    def _build_finding(self, transition: CompoundTransition, search: WitnessSearch) -> Finding:
        """Return the finding about a transition that was never taken.

        Args:
            transition: the transition.
            search: the search for a tick in which it is enabled. A witness shows that another transition
                went first.
        """
        if search.witness is not None:
            winner = self._find_winner(transition, search.witness)
            return self._build_shadowed_finding(transition, winner, search.witness)
        if search.undecided_reason:
            name = self.analysis.source_of(transition).name
            question = f"whether `{format_trigger(transition)}` of {name} is ever taken"
            message = f"it is not known {question}: {search.undecided_reason}"
            return not_proved(message, name, transition.line)
        if search.n_points_reached:
            return self._build_never_enabled_finding(transition)
        if transition.events:
            events = " or ".join(transition.events)
            reason = f"{events} never comes while the state is active"
            return self._build_never_enabled_finding(transition, reason)
        return self._build_never_enabled_finding(transition, "the state is left before")

    def _build_undecided_finding(self) -> Finding:
        """Return one note for all transitions that are not known to be taken."""
        lines = ", ".join(
            str(transition.line) for transition in self.undecided_transitions[:MAX_LINES_LISTED]
        )
        if len(self.undecided_transitions) > MAX_LINES_LISTED:
            lines += ", ..."
        count = len(self.undecided_transitions)
        subject = f"transition (line {lines}) is" if count == 1 else f"transitions (lines {lines}) are"
        message = f"it is not known whether {count} {subject} ever taken: {self.analysis.incomplete_reason}"
        return not_proved(message, line=self.undecided_transitions[0].line)

    def _find_always_true(self) -> Iterator[Finding]:
        """Yield a warning for each guard that holds for all values, unless it is written as `true`.

        Transitions may share segments, which are the parts between junctions; each is reported once.
        """
        checked_segment_ids = set[int]()
        for transition in self.machine.transitions:
            for guard, segment in zip(transition.guards, transition.segments, strict=True):
                if id(segment) in checked_segment_ids:
                    continue
                checked_segment_ids.add(id(segment))
                if not segment.is_else and self._is_always_true(guard):
                    name = self.analysis.source_of(transition).name
                    message = (
                        f"`{format_guards([segment])}` always holds in {name}, whatever the values are: "
                        "change it, or write `when: true`"
                    )
                    yield Finding(Level.WARNING, Rule.ALWAYS, message, state=name, line=segment.line)

    def _is_always_true(self, guard: Expression) -> bool:
        """Return whether a guard that reads names is proved to hold for all their values."""
        if not guard.names or divides(guard):
            return False
        return self.analysis.solver.excludes(build_claims(false=[guard]))

    def _find_winner(self, transition: CompoundTransition, witness: Witness) -> CompoundTransition | None:
        """Return the transition that was taken instead of another, None if none was.

        Of several, it is the first of the same state or of one inside it, if there is one.

        Args:
            transition: the transition that was not taken.
            witness: a tick in which it was enabled.
        """
        microstep = witness.point.microstep
        taken = microstep.transitions if microstep is not None else ()
        state_and_descendants = {transition.source, *self.machine.nodes[transition.source].descendants}
        for winner in taken:
            if winner.source in state_and_descendants:
                return winner
        return taken[0] if taken else None

    def _build_never_enabled_finding(self, transition: CompoundTransition, reason: str = "") -> Finding:
        """Return the warning that a transition's guard never holds, with the reason if one is known."""
        name = self.analysis.source_of(transition).name
        message = f"the guard `{format_trigger(transition)}` never holds in {name}"
        if reason:
            message += f": {reason}"
        return Finding(Level.WARNING, Rule.NEVER, message, state=name, line=self._line_of(transition))

    def _build_shadowed_finding(
        self,
        transition: CompoundTransition,
        winner: CompoundTransition | None,
        witness: Witness | None = None,
    ) -> Finding:
        """Return the warning that another transition always goes first.

        Args:
            transition: the transition that is never taken.
            winner: the transition that goes first; None if it is not always the same one.
            witness: a tick in which that happens; None if it is proved without one.
        """
        name = self.analysis.source_of(transition).name
        line = self._line_of(transition)
        winner_text = f"`{format_trigger(winner)}` ({format_lines(winner)})" if winner else "an earlier one"
        message = f"`{format_trigger(transition)}` is never taken: {winner_text} always wins"
        if witness is None:
            return Finding(Level.WARNING, Rule.SHADOWED, message, state=name, line=line)
        case, relevant_case = self.analysis.describe_witness(name, witness, transition.guard.names)
        message += f", as {relevant_case}"
        return Finding(
            Level.WARNING,
            Rule.SHADOWED,
            message,
            state=name,
            counterexample=case,
            line=line,
            trace=witness.trace,
        )

    def _line_of(self, transition: CompoundTransition) -> int | None:
        """Return the line of the first segment that a dead transition shares with no taken transition.

        A transition through junctions is a chain of segments. Those that it shares with a transition which
        is taken are not to blame. If it shares all, the line is that of the last.
        """
        max_shared_segments = 0
        for sibling in self.analysis.source_of(transition).transitions:
            is_taken = id(sibling) in self.taken_ids
            if is_taken:
                n_shared = _count_shared_segments(sibling, transition)
                max_shared_segments = max(max_shared_segments, n_shared)
        last_index = len(transition.segments) - 1
        return transition.segments[min(max_shared_segments, last_index)].line


def _count_shared_segments(first: CompoundTransition, second: CompoundTransition) -> int:
    """Return how many segments two transitions have in common, up to where they part."""
    n_shared = 0
    for first_segment, second_segment in zip(first.segments, second.segments, strict=False):
        if first_segment is not second_segment:
            break
        n_shared += 1
    return n_shared
