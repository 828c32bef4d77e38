"""States that are never entered, transitions that are never taken, guards that always hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule, not_proved
from posewright.charts.checks.inspection import Check, entered_by
from posewright.charts.checks.question import AtChoice, CheckQuestion, Rows, When, record
from posewright.charts.checks.search import Witness, WitnessSearch
from posewright.charts.checks.solver import claims, divides, events_of, guard_text, lines_text, quoted, waited
from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, StateNode
from posewright.charts.model import DONE, events_raised

SHOWN = 3
"""Ways towards a state that a message tells of."""


class Unreachable(Check):
    """Looks for states that no run enters; of those inside one another, the outermost is named."""

    def findings(self) -> Iterator[Finding]:
        """Yield the states that are never entered."""
        explored = self.inspection.entered
        missed = [node for node in self.machine.nodes[1:] if node.index not in explored]
        missed = [node for node in missed if node.parent not in {one.index for one in missed}]
        possible = frozenset[int]() if self.inspection.complete else self.by_types()
        for node in missed:
            line = node.state.line if node.state is not None else None
            if node.index in possible:
                text = f"whether {node.name} is ever entered is not known: {self.inspection.why}"
                yield not_proved(text, node.name, line)
            else:
                yield self.found(node, line)

    def found(self, node: StateNode, line: int | None) -> Finding:
        """Return what to say of a state that is never entered."""
        towards = [way for way in self.machine.ways if self.leads_to(way, node)]
        reason = "no transition leads there"
        if towards:
            names = [(self.machine.nodes[way.source].name, way) for way in towards[:SHOWN]]
            ways = "; ".join(
                f"from {name} {'' if way.events else 'when '}{guard_text(way)}" for name, way in names
            )
            reason = f"it is never entered ({ways})"
        start = self.inspection.interpreter.initial().state
        message = f"{node.name} cannot be reached from {start}: {reason}"
        return Finding(Level.ERROR, Rule.UNREACHABLE, message, node.name, Counterexample(node.name, {}), line)

    def leads_to(self, way: CompoundTransition, node: StateNode) -> bool:
        """Return whether a way goes to a state, or into it, from outside."""
        inside = node.within | {node.index}
        return way.source not in inside and any(goal.node in inside for goal in way.goals)

    def by_types(self) -> frozenset[int]:
        """Return the states to which a chain of ways leads of which no guard is known never to hold."""
        found = set(self.inspection.entered)
        passable = [w for w in self.machine.ways if not self.inspection.solver.excludes(claims([w.guard]))]
        while True:
            more = {
                n
                for way in passable
                if way.source in found
                for n in entered_by(self.machine, way, remembered=True)
            } - found
            if not more:
                return frozenset(found)
            found |= more


SHOWN = 8
"""Lines that a message lists."""


class DeadTransitions(Check):
    """Looks for ways that no explored tick took, in states that were active."""

    def watch(self) -> None:
        """Settle by proof what the ways are that no explored tick took, or have ticks looked at that tell."""
        self.taken = set(map(id, self.inspection.exploration.taken))
        self.searches: list[tuple[CompoundTransition, WitnessSearch]] = []
        self.certain: list[Finding] = []
        self.unknown: list[CompoundTransition] = []
        for way in self.machine.ways:
            if id(way) not in self.taken and way.source in self.inspection.entered:
                self.look_at(way)

    def line_of(self, way: CompoundTransition) -> int | None:
        """Return the line of the first segment that the way has in common with none that is taken."""
        ways = [one for one in self.inspection.node_of(way).ways if id(one) in self.taken]
        shared = (
            takewhile(lambda pair: pair[0] is pair[1], zip(one.segments, way.segments, strict=False))
            for one in ways
        )
        first = max((len(list(pairs)) for pairs in shared), default=0)
        return way.segments[min(first, len(way.segments) - 1)].line

    def look_at(self, way: CompoundTransition) -> None:
        """Settle by proof what a way that was not taken is, or look for a tick that tells."""
        known = self.of_types(way) or (None if self.inspection.complete else self.behind(way))
        if known is not None:
            self.certain.append(known)
        elif self.inspection.complete:
            question = CheckQuestion(
                AtChoice(way.source, events_of(way), When.ACTIVE), claims([way.guard, *waited(way)])
            )
            self.searches.append((way, self.inspection.search(question)))
        else:
            self.unknown.append(way)

    def always(self) -> Iterator[Finding]:
        """Yield the guards that hold whatever the values are, where `true` is not what is written."""
        told = set[int]()
        for way in self.machine.ways:
            for guard, segment in zip(way.guards, way.segments, strict=True):
                if id(segment) not in told and not segment.is_else and self.is_sure(guard):
                    name = self.inspection.node_of(way).name
                    text = f"`{quoted([segment])}` always holds in {name}, whatever the values are"
                    message = f"{text}: ask for something else, or write `when: true`"
                    yield Finding(Level.WARNING, Rule.ALWAYS, message, name, None, segment.line)
                told.add(id(segment))

    def is_sure(self, guard: Expression) -> bool:
        """Return whether a guard asks for something, and types tell that it holds."""
        asks = bool(guard.names) and not divides(guard)
        return asks and self.inspection.solver.excludes(claims(false=[guard]))

    def of_types(self, way: CompoundTransition) -> Finding | None:
        """Return what is so whatever the values are, as far as types tell."""
        solver, name = self.inspection.solver, self.inspection.node_of(way).name
        silent = [event for event in way.events if not self.comes(event)]
        if way.events and len(silent) == len(way.events):
            return self.never(way, name, f"nothing raises {' or '.join(silent)}")
        return self.never(way, name) if solver.excludes(claims([way.guard])) else None

    def behind(self, way: CompoundTransition) -> Finding | None:
        """Return that an earlier way of the same state always goes first, where types tell that."""
        solver, name = self.inspection.solver, self.inspection.node_of(way).name
        for elder in self.elders(way):
            if solver.excludes(claims([way.guard], [elder.guard])):
                return self.shadowed(way, name, elder)
        elders = [elder.guard for elder in self.elders(way)]
        if len(elders) > 1 and solver.excludes(claims([way.guard], elders)):
            return self.shadowed(way, name, None)
        return None

    def elders(self, way: CompoundTransition) -> list[CompoundTransition]:
        """Return the earlier ways of the state that are asked whenever this one is."""
        node = self.inspection.node_of(way)
        return [
            elder
            for elder in node.ways[: way.index]
            if elder.wait <= way.wait and events_of(elder) >= events_of(way)
        ]

    def comes(self, event: str) -> bool:
        """Return whether an event can come from anywhere."""
        machine = self.inspection.machine
        if event in machine.events:
            return True
        if event.startswith(DONE):
            return machine.node(event.removeprefix(DONE)).index in self.inspection.entered
        blocks = [way.do for way in machine.ways] + [one for node in machine.nodes for one in node.actions]
        return any(event in events_raised(block) for block in blocks)

    def findings(self) -> Iterator[Finding]:
        """Yield guards that always hold, and transitions that are never taken."""
        yield from self.always()
        yield from self.certain
        for way, search in self.searches:
            name = self.inspection.node_of(way).name
            if search.witness is not None:
                yield self.lost(way, search.witness)
            elif search.undecided:
                text = f"whether `{guard_text(way)}` of {name} is ever taken is not known: {search.undecided}"
                yield not_proved(text, name, way.line)
            else:
                yield self.never(way, name, "" if search.met else self.unasked(way))
        if self.unknown:
            lines = ", ".join(str(way.line) for way in self.unknown[:SHOWN])
            lines += ", ..." if self.unknown[SHOWN:] else ""
            text = f"whether {len(self.unknown)} transitions (line {lines}) are ever taken is not known"
            yield not_proved(f"{text}: {self.inspection.why}", None, self.unknown[0].line)

    def unasked(self, way: CompoundTransition) -> str:
        """Return why a way is not even asked."""
        events = " or ".join(way.events)
        return f"{events} never comes while the state is active" if events else "the state is left before"

    def lost(self, way: CompoundTransition, witness: Witness) -> Finding:
        """Return that a way is shadowed, with the tick in which its guard held and another was taken."""
        name = self.inspection.node_of(way).name
        case, told = self.inspection.case(name, witness, way.guard.names)
        winner = self.winner(way, witness)
        return self.shadowed(way, name, winner, f", as {told}", (case, witness.trace))

    def winner(self, way: CompoundTransition, witness: Witness) -> CompoundTransition | None:
        """Return which way was taken in its place."""
        tick = record(self.inspection.interpreter, witness.state, witness.inputs)
        moment = witness.standing.moment
        again = next((one for one in tick.moments if moment and one.passed == moment.passed), None)
        chosen = again.chosen if again is not None else ()
        nodes = self.machine.nodes
        family = {way.source, *nodes[way.source].within}
        return next((one for one in chosen if one.source in family), chosen[0] if chosen else None)

    def never(self, way: CompoundTransition, name: str, reason: str = "") -> Finding:
        """Return that the guard of a way never holds."""
        message = f"the guard `{guard_text(way)}` never holds in {name}" + (f": {reason}" if reason else "")
        return Finding(Level.WARNING, Rule.NEVER, message, name, None, self.line_of(way))

    def shadowed(
        self,
        way: CompoundTransition,
        name: str,
        winner: CompoundTransition | None,
        told: str = "",
        shown: tuple[Counterexample, Rows] | None = None,
    ) -> Finding:
        """Return that a way is never taken because another one goes first."""
        by = f"`{guard_text(winner)}` ({lines_text(winner)})" if winner else "an earlier one"
        message = f"`{guard_text(way)}` is never taken: {by} always wins{told}"
        case, trace = shown or (None, ())
        return Finding(Level.WARNING, Rule.SHADOWED, message, name, case, self.line_of(way), trace)
