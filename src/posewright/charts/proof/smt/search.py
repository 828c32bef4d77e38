"""The search for a case: in real numbers, among likely values, on a raster, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from posewright.charts.proof.answer import IMPOSSIBLE, UNKNOWN, Answer
from posewright.charts.proof.case import Trial
from posewright.charts.proof.pool import SolverBudget
from posewright.charts.proof.smt.bits import BitEncoder, NotInBitsError
from posewright.charts.proof.smt.meter import Meter
from posewright.charts.proof.smt.nearby import narrowed, pinned, tried
from posewright.charts.proof.smt.question import BitQuestion, RealQuestion
from posewright.charts.proof.smt.reals import RealEncoder
from posewright.charts.proof.term import Sort, Term, reachable
from posewright.charts.types import FloatType


class Search:
    """Puts questions to the solver.

    Attributes:
        pool: the effort that is left, and the cases that were found.
    """

    def __init__(self, pool: SolverBudget) -> None:
        self.pool = pool
        self.real_meter = Meter(pool, by_bits=False)
        self.bit_meter = Meter(pool, by_bits=True)

    @cached_property
    def reals(self) -> RealEncoder:
        """Writes terms in real numbers."""
        return RealEncoder()

    @cached_property
    def bits(self) -> BitEncoder:
        """Writes terms bit by bit."""
        return BitEncoder()

    def real_question(self, roots: Sequence[Term], *, coarse: bool = False) -> RealQuestion:
        """Return the question whether some terms can all be true, in real numbers."""
        question = RealQuestion(self.reals, self.real_meter, coarse=coarse)
        question.add(roots)
        return question

    def decide(self, root: Term, trial: Trial) -> Answer:
        """Return whether a term can be true; a case is one of the trial, which claims the same."""
        known = self.known(trial) if self.pool.is_strained else None
        answer = known or self.decided(root, trial)
        if answer.case is not None:
            self.pool.keep(answer.case)
        return answer

    def known(self, trial: Trial) -> Answer | None:
        """Return a case that was found for something else before, None where there is none."""
        for case in self.pool.cases:
            found = trial.filled(case)
            if trial.holds(found):
                return Answer(True, trial.plain(found))
        return None

    def decided(self, root: Term, trial: Trial) -> Answer:
        """Return what trying and the solver come to."""
        question = self.real_question([root])
        possible = question.check()
        if possible is False:
            return IMPOSSIBLE
        found = tried(question, trial) if possible else None
        found = found or self.known(trial) or self.guessed(root, trial) or self.on_raster(root, trial)
        if found is None and possible and not self.pool.is_strained:
            found = narrowed(question, trial) or pinned(question, trial)
        return found or self.bit_by_bit(root, trial)

    def guessed(self, root: Term, trial: Trial) -> Answer | None:
        """Return a case made of plain numbers and of those in the question, None where none was found."""
        numbers = {
            term.value: None for term in reachable([root]) if term.is_constant and term.sort is not Sort.TRUTH
        }
        case = trial.guessed(list(numbers))
        return None if case is None else Answer(True, trial.plain(case))

    def on_raster(self, root: Term, trial: Trial) -> Answer | None:
        """Return a case whose fractions are on a raster, None where none was found."""
        if not any(isinstance(kind, FloatType) for kind in trial.types.values()):
            return None  # it would be the same question once more
        question = self.real_question([root], coarse=True)
        return tried(question, trial) if question.check() else None

    def bit_by_bit(self, root: Term, trial: Trial) -> Answer:
        """Return whether a term can be true, decided bit by bit as far as the effort allows."""
        if not self.pool.bit_steps_allowed():
            return UNKNOWN
        question = BitQuestion(self.bits, self.bit_meter)
        try:
            question.add([root])
        except NotInBitsError:
            return UNKNOWN
        possible = question.check()
        if possible is False:
            return IMPOSSIBLE
        return (tried(question, trial) if possible else None) or UNKNOWN
