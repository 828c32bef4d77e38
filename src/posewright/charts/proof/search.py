"""Questions to the SMT solver: whether a term can be true, and in which case."""

from __future__ import annotations

from itertools import chain, repeat
from operator import length_hint

from bitwuzla import Bitwuzla, Option, Options, Result

from posewright.charts.proof.budget import IMPOSSIBLE, UNKNOWN, ProverAnswer, SolverBudget
from posewright.charts.proof.cases import CaseTrial
from posewright.charts.proof.encoder import BitEncoder
from posewright.charts.proof.terms import SmtOp, SmtSort, SmtTerm, collect_terms
from posewright.charts.types import Value


class SmtSearch:
    """Decides terms with the SMT solver.

    Args:
        budget: the remaining effort, and the cases found so far.
    """

    def __init__(self, budget: SolverBudget) -> None:
        self.budget = budget
        self.encoder = BitEncoder()

    def decide(self, root: SmtTerm, trial: CaseTrial) -> ProverAnswer:
        """Return whether a term can be true.

        A model of the solver counts only if the trial confirms it, since a remainder is encoded exactly only
        within limits. Otherwise cases of earlier questions and likely values are tried.

        Args:
            root: the term.
            trial: the trial of the claims that the term represents.
        """
        question = _SmtQuestion(self.encoder, self.budget, root)
        possible = question.check()
        if possible is False:
            return IMPOSSIBLE
        case = question.read_case(trial) if possible else None
        if case is None and possible and question.check(exact=True):
            case = question.read_case(trial)
        if case is None:
            case = self._try_known_cases(trial) or trial.guess(question.numbers())
        if case is None:
            return UNKNOWN
        simplified_case = trial.simplify(case)
        self.budget.remember(simplified_case)
        return ProverAnswer(possible=True, case=simplified_case)

    def _try_known_cases(self, trial: CaseTrial) -> dict[str, Value] | None:
        """Return a case of an earlier question that the trial confirms, None if there is none."""
        for known_case in self.budget.cases:
            case = trial.complete(known_case)
            if trial.holds(case):
                return case
        return None


class _SmtQuestion:
    """Decides with the solver whether one term can be true."""

    def __init__(self, encoder: BitEncoder, budget: SolverBudget, root: SmtTerm) -> None:
        """Encode a term with all its parts, and assert it and what is known of its variables."""
        options = Options()
        options.set(Option.PRODUCE_MODELS, True)
        self.encoder = encoder
        self.budget = budget
        self.solver = Bitwuzla(encoder.manager, options)
        self.terms = collect_terms([root])
        for term in self.terms:
            encoder.encode(term)
            for constraint in encoder.constraints.get(term.index, ()):
                self.solver.assert_formula(constraint)
        self.solver.assert_formula(encoder.encoded[root.index])

    def check(self, *, exact: bool = False) -> bool | None:
        """Return whether the term can be true, None if that was not decided within the steps allowed.

        The solver calls a terminator at every step. It is not a Python function, because an interrupt raised
        in one would be lost.

        Args:
            exact: whether to allow only models in which every remainder is encoded exactly.
        """
        steps_allowed = self.budget.steps_allowed
        steps = repeat(False, steps_allowed)
        self.solver.configure_terminator(chain(steps, repeat(True)).__next__)
        assumptions = []
        if exact:
            conditions = self.encoder.exact_conditions
            assumptions = [conditions[term.index] for term in self.terms if term.index in conditions]
        result = self.solver.check_sat(*assumptions)
        self.budget.steps_taken += steps_allowed - length_hint(steps)
        return None if result == Result.UNKNOWN else bool(result == Result.SAT)

    def read_case(self, trial: CaseTrial) -> dict[str, Value] | None:
        """Return the case of the solver's model, None if the trial does not confirm it."""
        model = {
            term.value: self.encoder.read_value(self.solver, term, trial.types[term.value])
            for term in self.terms
            if term.op is SmtOp.VARIABLE
        }
        case = trial.complete(model)
        return case if trial.holds(case) else None

    def numbers(self) -> list[float]:
        """Return the constants in the term."""
        constants = (term for term in self.terms if term.is_constant and term.sort is not SmtSort.BOOLEAN)
        return list(dict.fromkeys(constant.value for constant in constants))
