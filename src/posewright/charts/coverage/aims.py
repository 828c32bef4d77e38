"""Aims: what is still to be seen of a chart, and in which situations it can be."""

from __future__ import annotations

from posewright.charts.coverage.draft import Draft, Inputs
from posewright.charts.coverage.feasible import Feasible
from posewright.charts.coverage.goal import Fact
from posewright.charts.coverage.recording import CoverageRecorder
from posewright.charts.coverage.routes import Routes
from posewright.charts.machine import Snapshot
from posewright.charts.reachability import AbstractState

LONGEST = 600
"""Ticks of a scenario: a minute, at ten a second."""


class Aims:
    """Runs a chart to everything that can be seen of it, the nearest first.

    Attributes:
        left: facts not seen yet.
        drafts: the runs.
    """

    def __init__(self, possible: Feasible) -> None:
        self.exploration = possible.exploration
        self.routes = Routes(possible.exploration)
        self.recorder = CoverageRecorder(possible.exploration.interpreter, possible.coverage.goals)
        self.offers = {
            state: [(one.inputs, one.facts) for one in shown if one.ends]
            for state, shown in possible.shown.items()
        }
        self.left: set[Fact] = {
            fact for offer in self.offers.values() for _, facts in offer for fact in facts
        }
        self.drafts: list[Draft] = []

    def run(self) -> None:
        """Run until nothing is left."""
        draft = Draft(self.exploration.interpreter)
        while self.left:
            rows = self.onward(draft.end) if len(draft.rows) < LONGEST else None
            if rows is None:
                self.drafts += [draft] if draft.rows else []
                draft, rows = Draft(self.exploration.interpreter), self.farthest()
            draft = self.extended(draft, rows)
        self.drafts += [draft] if draft.rows else []

    def onward(self, state: Snapshot) -> tuple[Inputs, ...] | None:
        """Return the inputs that lead to the nearest place with something new, and show it."""
        found = self.routes.nearest(state, self.is_new)
        if found is None:
            return None
        number, rows = found
        return (*rows, self.best(self.routes.walk.situations[number].state))

    def is_new(self, number: int) -> bool:
        """Return whether a place has something new to be seen."""
        situations = self.routes.walk.situations
        return number < len(situations) and self.offers_new(situations[number])

    def offers_new(self, situation: AbstractState) -> bool:
        """Return whether some case of a situation shows something new; forget it where none does."""
        offer = self.offers.get(situation.state)
        if offer is None:
            return False
        if any(not facts.isdisjoint(self.left) for _, facts in offer):
            return True
        del self.offers[situation.state]
        return False

    def best(self, state: Snapshot) -> Inputs:
        """Return the inputs that show most that is new; what they promise is not asked for again."""
        inputs, facts = max(self.offers[state], key=lambda one: len(one[1] & self.left))
        self.left -= facts
        return inputs

    def farthest(self) -> tuple[Inputs, ...]:
        """Return inputs that lead from the start to the farthest place with something new, and show it."""
        new = [s for s in self.exploration.situations if s in self.offers and self.has_new(s)]
        state = max(new, key=lambda one: self.routes.walk.depth(self.routes.number(one) or 0))
        return (*self.exploration.trace_to(state), self.best(state))

    def has_new(self, state: Snapshot) -> bool:
        """Return whether some case of a situation shows something new."""
        return any(not facts.isdisjoint(self.left) for _, facts in self.offers[state])

    def extended(self, draft: Draft, rows: tuple[Inputs, ...]) -> Draft:
        """Return a run with further ticks, having noted what they show."""
        state = draft.end
        for row in rows:
            outcome = self.recorder.outcome(state, row)
            self.left -= self.recorder.shown(outcome)
            state = outcome.after
        return draft.extended(rows)
