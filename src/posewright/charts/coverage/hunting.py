"""Hunting: runs that tell a chart from its mutants, where those that cover it do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from posewright.charts.coverage.aims import LONGEST
from posewright.charts.coverage.draft import Draft, Inputs
from posewright.charts.coverage.routes import Routes
from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.mutation import Mutant, MutantStatus, Teller, Told, mutants
from posewright.charts.reachability import Exploration
from posewright.errors import InputError

EXTENDED = 4
"""Runs, the last ones, that are tried to be extended before another is begun."""

Prey = tuple[Mutant, Interpreter]


class Hunt:
    """Extends runs until they tell a chart from all its mutants that can be told from it.

    Attributes:
        drafts: the runs.
        left: mutants that none of them tells.
    """

    def __init__(self, drafts: Iterable[Draft], interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.drafts = list(drafts)
        self.left = [one for one in _prepared(interpreter) if not self.is_told(one[1])]

    def is_told(self, other: Interpreter) -> bool:
        """Return whether some run tells a mutant."""
        return any(draft.tells(other) for draft in self.drafts)

    def go(self, exploration: Exploration) -> None:
        """Extend the runs by what an exploration says of the mutants that are left."""
        teller, routes = Teller(exploration), Routes(exploration)
        left: list[Prey] = []
        for mutant, other in self.left:
            if self.is_told(other):
                continue
            told = teller.tell(mutant, prove=False)
            if told.verdict is MutantStatus.APART:
                self.extend(told, other, routes)
            elif told.verdict is MutantStatus.UNKNOWN:
                left.append((mutant, other))
        self.left = left

    def extend(self, told: Told, other: Interpreter, routes: Routes) -> None:
        """Extend one of the last runs so that it tells a mutant, or begin another one."""
        if told.before is None:
            return
        for number, draft in reversed([*enumerate(self.drafts)][-EXTENDED:]):
            for longer in self.longer(draft, told.before, told.inputs, routes):
                if longer.tells(other):
                    self.drafts[number] = longer
                    return
        rows = (*routes.exploration.trace_to(told.before), *told.inputs)
        self.drafts.append(Draft(self.interpreter).extended(rows))

    def longer(
        self, draft: Draft, goal: Snapshot, inputs: tuple[Inputs, ...], routes: Routes
    ) -> Iterator[Draft]:
        """Yield a run that goes on to a state, or to one like it, and from there with some inputs."""
        if len(draft.rows) >= LONGEST:
            return
        for way in (routes.alike, routes.exactly):
            onward = way(draft.end, goal)
            if onward is not None:
                yield draft.extended((*onward, *inputs))


def _prepared(interpreter: Interpreter) -> Iterable[Prey]:
    """Yield the mutants of a chart with their interpreters; those that cannot be run are told anyway."""
    for mutant in mutants(interpreter.chart):
        try:
            yield mutant, Interpreter(mutant.chart)
        except InputError:
            continue
