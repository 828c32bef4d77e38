"""Questions put to the SMT solver: whether a term can be true, and in which case."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, repeat
from operator import length_hint

from bitwuzla import Bitwuzla, Option, Options, Result

from posewright.charts.proof.budget import IMPOSSIBLE, UNKNOWN, ProverAnswer, SolverBudget
from posewright.charts.proof.cases import CaseTrial
from posewright.charts.proof.encoder import BitEncoder
from posewright.charts.proof.terms import SmtOp, SmtSort, SmtTerm, reachable
from posewright.charts.types import Type, Value


class SmtSearch:
    """Puts questions to the solver.

    Args:
        budget: the effort that is left, and the cases that were found.
    """

    def __init__(self, budget: SolverBudget) -> None:
        self.budget = budget
        self.encoder = BitEncoder()

    def decide(self, root: SmtTerm, trial: CaseTrial) -> ProverAnswer:
        """Return whether a term can be true; a case is one of the trial, which claims the same."""
        answer = self.decided(root, trial)
        if answer.case is not None:
            self.budget.keep(answer.case)
        return answer

    def known(self, trial: CaseTrial) -> ProverAnswer | None:
        """Return a case that was found for something else before, None where there is none."""
        for case in self.budget.cases:
            found = trial.filled(case)
            if trial.holds(found):
                return ProverAnswer(True, trial.plain(found))
        return None

    def decided(self, root: SmtTerm, trial: CaseTrial) -> ProverAnswer:
        """Return what the solver comes to; a case of its that does not stand the trial proves nothing."""
        question = SmtQuestion(self.encoder, self.budget, root)
        possible = question.check()
        if possible is False:
            return IMPOSSIBLE
        found = tried(question, trial) if possible else None
        if found is None and possible:
            found = tried(question, trial) if question.check(exact=True) else None
        return found or self.known(trial) or self.guessed(root, trial) or UNKNOWN

    def guessed(self, root: SmtTerm, trial: CaseTrial) -> ProverAnswer | None:
        """Return a case made of plain numbers and of those in the question, None where none was found."""
        numbers = {
            term.value: None
            for term in reachable([root])
            if term.is_constant and term.sort is not SmtSort.TRUTH
        }
        case = trial.guessed(list(numbers))
        return None if case is None else ProverAnswer(True, trial.plain(case))


def tried(question: SmtQuestion, trial: CaseTrial) -> ProverAnswer | None:
    """Return the answer that the case of a question gives, None where it does not stand the trial."""
    case = trial.filled(question.case(trial.types))
    return ProverAnswer(True, trial.plain(case)) if trial.holds(case) else None


class SmtQuestion:
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

    def case(self, types: Mapping[str, Type]) -> dict[str, Value]:
        """Return the values with which it is, of the names that matter."""
        return {
            term.value: self.encoder.value_found(self.solver, term, types[term.value])
            for term in self.terms
            if term.op is SmtOp.VARIABLE
        }
