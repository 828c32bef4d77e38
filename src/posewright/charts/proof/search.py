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
        """Return whether a term can be true, with a case (values of all names) in which it is.

        The solver's model is a case only if the claims are true in it, since a remainder is encoded exactly
        only within limits. Else cases of earlier questions and likely values are tried.

        Args:
            root: the term.
            trial: evaluates the claims that the term represents in a case.
        """
        question = _SmtQuestion(self.encoder, self.budget, root)
        can_be_true = question.ask_solver()
        if can_be_true is False:
            return IMPOSSIBLE
        case = question.read_case(trial) if can_be_true else None
        if case is None and can_be_true and question.ask_solver(allows_inexact=False):
            case = question.read_case(trial)
        if case is None:
            case = self._try_remembered_cases(trial) or trial.guess(question.list_constants())
        if case is None:
            return UNKNOWN
        simplified_case = trial.simplify(case)
        self.budget.remember(simplified_case)
        return ProverAnswer(possible=True, case=simplified_case)

    def _try_remembered_cases(self, trial: CaseTrial) -> dict[str, Value] | None:
        """Return a case of an earlier question in which the claims are true, None if there is none."""
        for remembered_case in self.budget.remembered_cases:
            case = trial.complete(remembered_case)
            if trial.holds(case):
                return case
        return None


class _SmtQuestion:
    """Decides with the solver whether one term can be true."""

    def __init__(self, encoder: BitEncoder, budget: SolverBudget, root: SmtTerm) -> None:
        """Encode a term with all its parts, and assert it and what is known of its variables.

        Args:
            encoder: encodes the term.
            budget: limits the steps of the solver.
            root: the term that is to be true.
        """
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
        self.solver.assert_formula(encoder.encoded_form(root))

    def ask_solver(self, *, allows_inexact: bool = True) -> bool | None:
        """Return whether the term can be true, None if that was not decided within the steps allowed.

        The steps taken are added to those of the budget.

        Args:
            allows_inexact: whether to allow models in which a remainder is not encoded exactly.
        """
        # the solver calls the terminator at every step, and stops when that returns True; the terminator is
        # an iterator's method, as an interrupt raised in a Python function would be lost
        steps_allowed = self.budget.steps_allowed
        remaining_steps = repeat(False, steps_allowed)
        self.solver.configure_terminator(chain(remaining_steps, repeat(True)).__next__)
        assumptions = []
        if not allows_inexact:
            exact_conditions = self.encoder.exact_conditions
            assumptions = [
                exact_conditions[term.index] for term in self.terms if term.index in exact_conditions
            ]
        result = self.solver.check_sat(*assumptions)
        self.budget.steps_taken += steps_allowed - length_hint(remaining_steps)
        return None if result == Result.UNKNOWN else bool(result == Result.SAT)

    def read_case(self, trial: CaseTrial) -> dict[str, Value] | None:
        """Return the case of the solver's model, None if the claims are not true in it."""
        variables = [term for term in self.terms if term.op is SmtOp.VARIABLE]
        model = {
            term.variable_name: self.encoder.read_value(
                self.solver, term, value_type=trial.types[term.variable_name]
            )
            for term in variables
        }
        case = trial.complete(model)
        return case if trial.holds(case) else None

    def list_constants(self) -> list[float]:
        """Return the constant numbers in the term, each once."""
        constants = (term for term in self.terms if term.is_constant and term.sort is not SmtSort.BOOLEAN)
        return list(dict.fromkeys(constant.value for constant in constants))
