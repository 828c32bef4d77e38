"""Cases near one that the solver found in real numbers: fractions have gaps, and round."""

from __future__ import annotations

from posewright.charts.proof.answer import IMPOSSIBLE, Answer
from posewright.charts.proof.case import Trial
from posewright.charts.proof.smt.question import Question, RealQuestion
from posewright.charts.proof.values import every_case, fitted, scattered_value, values_around
from posewright.charts.types import FloatType

WINDOW = 100
"""Fractions on either side of one that are tried, where there is just one fraction to choose."""

BESIDE = 32
"""Combinations of other values that are tried with each of them."""

WINDOWS = 20
PINS = 24
"""Windows that are tried; choices of all fractions but one that are tried."""


def tried(question: Question, trial: Trial) -> Answer | None:
    """Return the answer that a question's case gives, None where no case near it stands the trial."""
    case = trial.near(question.case(trial.types))
    return None if case is None else Answer(True, trial.plain(case))


def narrowed(question: RealQuestion, trial: Trial) -> Answer | None:
    """Return the answer to a question about a single fraction; None where that is not what it is.

    Every number around the one that the solver found is tried, then the solver has to look elsewhere. Where
    it finds nothing more, there is nothing.
    """
    kinds = {name: trial.types[name] for name in question.variables}
    fractions = [(name, kind) for name, kind in kinds.items() if isinstance(kind, FloatType)]
    beside = every_case(
        {name: kind for name, kind in kinds.items() if not isinstance(kind, FloatType)}, BESIDE
    )
    if len(fractions) != 1 or beside is None:
        return None
    name, kind = fractions[0]
    for _ in range(WINDOWS):
        middle = fitted(kind, question.case(trial.types)[name])
        window = [float(value) for value in values_around(kind, middle, WINDOW)]
        cases = ({**trial.zero, **others, name: value} for value in window for others in beside)
        found = next((case for case in cases if trial.holds(case)), None)
        if found is not None:
            return Answer(True, trial.plain(found))
        question.leave_out(name, min(window), max(window))
        possible = question.check()
        if not possible:
            return IMPOSSIBLE if possible is False else None
    return None


def pinned(question: RealQuestion, trial: Trial) -> Answer | None:
    """Return a case in which all fractions but one were chosen, None where none was found.

    Where two ways of writing one thing differ by a rounding only, many of the choices show it.
    """
    kinds = {name: kind for name, kind in trial.types.items() if isinstance(kind, FloatType)}
    names = [name for name in kinds if name in question.variables]
    if len(names) < 2:
        return None
    first = question.case(trial.types)
    for turn in range(1, PINS + 1):
        free = names[turn % len(names)]
        chosen = {
            name: scattered_value(kinds[name], float(first[name]), turn * place)
            for place, name in enumerate(names, 1)
            if name != free
        }
        with question.pinned(chosen, PINS):
            found = tried(question, trial) if question.check() else None
        if found is not None:
            return found
    return None
