"""States that are never entered, transitions that are never taken, guards that always hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from posewright.charts.checks.conditions import divides, events_of, wait_conditions
from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule, not_proved
from posewright.charts.checks.inspection import Check, entered_by
from posewright.charts.checks.question import AtChoice, CheckQuestion, When
from posewright.charts.checks.search import Witness, WitnessSearch
from posewright.charts.checks.solver import claims
from posewright.charts.checks.wording import guard_text, lines_text, quoted
from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, StateNode, all_actions
from posewright.charts.model import DONE_PREFIX, events_raised

WAYS_SHOWN = 3
"""Ways towards a state that a message tells of."""

LINES_SHOWN = 8
"""Lines that a message lists."""


class Unreachable(Check):
    """Looks for states that no run enters; of those inside one another, the outermost is named."""

    def findings(self) -> Iterator[Finding]:
        """Yield the states that are never entered."""
        explored = self.inspection.entered
        missed = [node for node in self.machine.nodes[1:] if node.index not in explored]
        missed = [node for node in missed if node.parent not in {one.index for one in missed}]
        possible = frozenset[int]() if self.inspection.complete else self.by_types()
        for node in missed:
            if node.index in possible:
                text = f"whether {node.name} is ever entered is not known: {self.inspection.why}"
                yield not_proved(text, node.name, node.line)
            else:
                yield self._found(node)

    def _found(self, node: StateNode) -> Finding:
        towards = [way for way in self.machine.transitions if self._leads_to(way, node)]
        reason = "no transition leads there"
        if towards:
            ways = (
                f"from {self.inspection.node_of(way).name} {'' if way.events else 'when '}{guard_text(way)}"
                for way in towards[:WAYS_SHOWN]
            )
            reason = f"it is never entered ({'; '.join(ways)})"
        start = self.inspection.interpreter.initial().state
        message = f"{node.name} cannot be reached from {start}: {reason}"
        return Finding(
            Level.ERROR, Rule.UNREACHABLE, message, node.name, Counterexample(node.name, {}), node.line
        )

    def _leads_to(self, way: CompoundTransition, node: StateNode) -> bool:
        inside = node.descendants | {node.index}
        return way.source not in inside and any(goal.node in inside for goal in way.targets)

    def by_types(self) -> frozenset[int]:
        """Return the states to which a chain of ways leads of which no guard is known never to hold."""
        found = set(self.inspection.entered)
        passable = [
            w for w in self.machine.transitions if not self.inspection.solver.excludes(claims([w.guard]))
        ]
        known = 0
        while len(found) > known:
            known = len(found)
            for way in passable:
                if way.source in found:
                    found |= entered_by(self.machine, way, remembered=True)
        return frozenset(found)


class DeadTransitions(Check):
    """Looks for ways that no explored tick took, in states that were active."""

    def watch(self) -> None:
        """Settle by proof what the ways are that no explored tick took, or have ticks looked at that tell."""
        self.taken = set(map(id, self.inspection.exploration.taken))
        self.searches: list[tuple[CompoundTransition, WitnessSearch]] = []
        self.certain: list[Finding] = []
        self.unknown: list[CompoundTransition] = []
        for way in self.machine.transitions:
            if id(way) not in self.taken and way.source in self.inspection.entered:
                self._look_at(way)

    def _line_of(self, way: CompoundTransition) -> int | None:
        """Return the line of the first segment that the way has in common with none that is taken."""
        ways = [one for one in self.inspection.node_of(way).transitions if id(one) in self.taken]
        shared = (
            takewhile(lambda pair: pair[0] is pair[1], zip(one.segments, way.segments, strict=False))
            for one in ways
        )
        first = max((len(list(pairs)) for pairs in shared), default=0)
        return way.segments[min(first, len(way.segments) - 1)].line

    def _look_at(self, way: CompoundTransition) -> None:
        """Settle by proof what a way that was not taken is, or look for a tick that tells."""
        known = self._of_types(way) or (None if self.inspection.complete else self.behind(way))
        if known is not None:
            self.certain.append(known)
        elif self.inspection.complete:
            question = CheckQuestion(
                AtChoice(way.source, events_of(way), When.ACTIVE), claims([way.guard, *wait_conditions(way)])
            )
            self.searches.append((way, self.inspection.search(question)))
        else:
            self.unknown.append(way)

    def _always(self) -> Iterator[Finding]:
        """Yield the guards that hold whatever the values are, where `true` is not what is written."""
        told = set[int]()
        for way in self.machine.transitions:
            for guard, segment in zip(way.guards, way.segments, strict=True):
                if id(segment) not in told and not segment.is_else and self._is_sure(guard):
                    name = self.inspection.node_of(way).name
                    text = f"`{quoted([segment])}` always holds in {name}, whatever the values are"
                    message = f"{text}: ask for something else, or write `when: true`"
                    yield Finding(Level.WARNING, Rule.ALWAYS, message, name, None, segment.line)
                told.add(id(segment))

    def _is_sure(self, guard: Expression) -> bool:
        return (
            bool(guard.names)
            and not divides(guard)
            and self.inspection.solver.excludes(claims(false=[guard]))
        )

    def _of_types(self, way: CompoundTransition) -> Finding | None:
        silent = [event for event in way.events if not self._comes(event)]
        if way.events and len(silent) == len(way.events):
            return self._never(way, f"nothing raises {' or '.join(silent)}")
        return self._never(way) if self.inspection.solver.excludes(claims([way.guard])) else None

    def behind(self, way: CompoundTransition) -> Finding | None:
        """Return that an earlier way of the same state always goes first, where types tell that."""
        solver, elders = self.inspection.solver, self.elders(way)
        for elder in elders:
            if solver.excludes(claims([way.guard], [elder.guard])):
                return self._shadowed(way, elder)
        guards = [elder.guard for elder in elders]
        if len(guards) > 1 and solver.excludes(claims([way.guard], guards)):
            return self._shadowed(way, None)
        return None

    def elders(self, way: CompoundTransition) -> list[CompoundTransition]:
        """Return the earlier ways of the state that are asked whenever this one is."""
        node = self.inspection.node_of(way)
        return [
            elder
            for elder in node.transitions[: way.index]
            if elder.wait <= way.wait and events_of(elder) >= events_of(way)
        ]

    def _comes(self, event: str) -> bool:
        machine = self.machine
        if event in machine.events:
            return True
        if event.startswith(DONE_PREFIX):
            return machine.node(event.removeprefix(DONE_PREFIX)).index in self.inspection.entered
        return any(event in events_raised(block) for block in all_actions(machine))

    def findings(self) -> Iterator[Finding]:
        """Yield guards that always hold, and transitions that are never taken."""
        yield from self._always()
        yield from self.certain
        for way, search in self.searches:
            if search.witness is not None:
                yield self._shadowed(way, self._winner(way, search.witness), search.witness)
            elif search.undecided:
                name = self.inspection.node_of(way).name
                text = f"whether `{guard_text(way)}` of {name} is ever taken is not known: {search.undecided}"
                yield not_proved(text, name, way.line)
            else:
                yield self._never(way, "" if search.met else self._unasked(way))
        if self.unknown:
            lines = ", ".join(str(way.line) for way in self.unknown[:LINES_SHOWN])
            lines += ", ..." if self.unknown[LINES_SHOWN:] else ""
            which = (
                f"transitions (lines {lines}) are" if self.unknown[1:] else f"transition (line {lines}) is"
            )
            text = f"whether {len(self.unknown)} {which} ever taken is not known"
            yield not_proved(f"{text}: {self.inspection.why}", None, self.unknown[0].line)

    def _unasked(self, way: CompoundTransition) -> str:
        events = " or ".join(way.events)
        return f"{events} never comes while the state is active" if events else "the state is left before"

    def _winner(self, way: CompoundTransition, witness: Witness) -> CompoundTransition | None:
        """Return which way was taken where the guard of one held, one of its own state if there is any."""
        moment = witness.standing.moment
        chosen = moment.chosen if moment is not None else ()
        family = {way.source, *self.machine.nodes[way.source].descendants}
        return next((one for one in chosen if one.source in family), chosen[0] if chosen else None)

    def _never(self, way: CompoundTransition, reason: str = "") -> Finding:
        name = self.inspection.node_of(way).name
        message = f"the guard `{guard_text(way)}` never holds in {name}" + (f": {reason}" if reason else "")
        return Finding(Level.WARNING, Rule.NEVER, message, name, None, self._line_of(way))

    def _shadowed(
        self, way: CompoundTransition, winner: CompoundTransition | None, witness: Witness | None = None
    ) -> Finding:
        """Return that a way is never taken because another one goes first, with a tick in which it does."""
        name = self.inspection.node_of(way).name
        by = f"`{guard_text(winner)}` ({lines_text(winner)})" if winner else "an earlier one"
        message, line = f"`{guard_text(way)}` is never taken: {by} always wins", self._line_of(way)
        if witness is None:
            return Finding(Level.WARNING, Rule.SHADOWED, message, name, None, line)
        case, told = self.inspection.case(name, witness, way.guard.names)
        return Finding(Level.WARNING, Rule.SHADOWED, f"{message}, as {told}", name, case, line, witness.trace)
