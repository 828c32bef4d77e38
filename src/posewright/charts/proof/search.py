"""Questions put to the SMT solver: whether a term can be true, and in which case."""

from __future__ import annotations

from itertools import chain, repeat
from operator import length_hint

from bitwuzla import Bitwuzla, Option, Options, Result

from posewright.charts.proof.budget import IMPOSSIBLE, UNKNOWN, ProverAnswer, SolverBudget
from posewright.charts.proof.cases import CaseTrial
from posewright.charts.proof.encoder import BitEncoder
from posewright.charts.proof.terms import SmtOp, SmtSort, SmtTerm, reachable
from posewright.charts.types import Value


class SmtSearch:
    """Puts questions to the solver.

    Args:
        budget: the effort that is left, and the cases that were found.
    """

    def __init__(self, budget: SolverBudget) -> None:
        self.budget = budget
        self.encoder = BitEncoder()

    def decide(self, root: SmtTerm, trial: CaseTrial) -> ProverAnswer:
        """Return whether a term can be true; a case is one of the trial, which claims the same.

        A case of the solver that does not stand the trial proves nothing. Then cases are tried that were
        found for something else before, and likely ones of the numbers in the question.
        """
        question = _SmtQuestion(self.encoder, self.budget, root)
        possible = question.check()
        if possible is False:
            return IMPOSSIBLE
        found = question.case(trial) if possible else None
        if found is None and possible and question.check(exact=True):
            found = question.case(trial)
        if found is None:
            others = map(trial.filled, self.budget.cases)
            found = next(filter(trial.holds, others), None) or trial.guessed(question.numbers())
        if found is None:
            return UNKNOWN
        plain = trial.plain(found)
        self.budget.keep(plain)
        return ProverAnswer(True, plain)


class _SmtQuestion:
    """A term that shall be true."""

    def __init__(self, encoder: BitEncoder, budget: SolverBudget, root: SmtTerm) -> None:
        options = Options()
        options.set(Option.PRODUCE_MODELS, True)
        self.encoder = encoder
        self.budget = budget
        self.solver = Bitwuzla(encoder.manager, options)
        self.terms = reachable([root])
        for term in self.terms:
            encoder.write(term)
            for rule in encoder.rules.get(term.index, ()):
                self.solver.assert_formula(rule)
        self.solver.assert_formula(encoder.written[root.index])

    def check(self, *, exact: bool = False) -> bool | None:
        """Return whether it is possible, None if that was not decided within the steps allowed.

        The solver asks ever so often whether to give up; that is a step. What it asks is no Python function,
        for an interrupt that is raised inside of one would be lost.

        Args:
            exact: only where every remainder is written out.
        """
        allowed = self.budget.steps_allowed
        steps = repeat(False, allowed)
        self.solver.configure_terminator(chain(steps, repeat(True)).__next__)
        given = [self.encoder.exact[one.index] for one in self.terms if one.index in self.encoder.exact]
        found = self.solver.check_sat(*(given if exact else ()))
        self.budget.steps += allowed - length_hint(steps)
        return None if found == Result.UNKNOWN else bool(found == Result.SAT)

    def case(self, trial: CaseTrial) -> dict[str, Value] | None:
        """Return the case that the solver found, None where it does not stand the trial."""
        found = {
            term.value: self.encoder.value_found(self.solver, term, trial.types[term.value])
            for term in self.terms
            if term.op is SmtOp.VARIABLE
        }
        case = trial.filled(found)
        return case if trial.holds(case) else None

    def numbers(self) -> list[float]:
        """Return the numbers that stand in it."""
        known = (term for term in self.terms if term.is_constant and term.sort is not SmtSort.TRUTH)
        return list(dict.fromkeys(term.value for term in known))
