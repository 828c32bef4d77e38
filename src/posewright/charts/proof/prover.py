"""The prover: decides whether claims can all be true, over all values of names of known types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from posewright.charts.expression import Expression
from posewright.charts.proof.budget import IMPOSSIBLE, Effort, ProverAnswer, SolverBudget
from posewright.charts.proof.cases import CaseTrial, list_cases
from posewright.charts.proof.claims import Fails, Holds, ProofClaim
from posewright.charts.proof.terms import SmtOp, SmtTerm, collect_terms
from posewright.charts.proof.translation import Translator
from posewright.charts.types import Type
from posewright.errors import MissingExtraError

if TYPE_CHECKING:
    from posewright.charts.proof.search import SmtSearch


def require_solver(feature: str) -> None:
    """Raise an error unless the SMT solver is installed.

    Args:
        feature: what needs it, for the message.

    Raises:
        MissingExtraError: it is not installed.
    """
    if find_spec("bitwuzla") is None:
        raise MissingExtraError.for_extra(feature, "charts")


class Prover:
    """Decides claims about expressions.

    Expressions have the semantics of a running chart: integers saturate at 32 bits, fractions round at every
    step, `and`, `or` and `if` stop as soon as they are decided. The same questions in the same order get the
    same answers on every machine.

    Args:
        types: the types of every name that the expressions read, except
            those in `Expression.constant_values`.
        effort: how hard it tries.
        budget: shared with other provers; None for a budget of its own.
    """

    def __init__(
        self, types: Mapping[str, Type], effort: Effort | None = None, budget: SolverBudget | None = None
    ) -> None:
        """Prepare to answer questions about expressions over names of these types."""
        self.types = types
        self.budget = budget or SolverBudget(effort)
        self.translator = Translator(types)
        # by the index of the term that is to be true, and the names that the claims read
        self._answers: dict[tuple[object, ...], ProverAnswer] = {}

    @cached_property
    def _search(self) -> SmtSearch:
        """The search with the SMT solver; raises MissingExtraError if that is not installed."""
        require_solver("proof")
        from posewright.charts.proof.search import SmtSearch

        return SmtSearch(self.budget)

    def satisfiable(
        self,
        *,
        true: Sequence[Expression] = (),
        false: Sequence[Expression] = (),
        failing: Sequence[Expression] = (),
    ) -> ProverAnswer:
        """Return whether some conditions can hold and others not hold at the same time, with a case.

        Args:
            true: conditions that are to be true.
            false: conditions that are to be false; like those in `true`, they must not divide by zero.
            failing: conditions that are to divide by zero.
        """
        claims: list[ProofClaim] = [
            *(Holds(condition) for condition in true),
            *(Holds(condition, expected=False) for condition in false),
            *(Fails(condition) for condition in failing),
        ]
        return self.solve(claims)

    def solve(self, claims: Sequence[ProofClaim]) -> ProverAnswer:
        """Return whether all claims can be true together, with a case in which they are.

        Raises:
            MissingExtraError: the solver is needed, and not installed.
        """
        factory = self.translator.term_factory
        root = factory.conjunction(claim.build_term(self.translator) for claim in claims)
        if root.is_false:
            return IMPOSSIBLE
        trial = CaseTrial(claims, self.types)
        question_key = (root.index, *trial.types)  # an answer has a value for every name of the claims
        if question_key not in self._answers:
            self._answers[question_key] = self._decide(root, trial)
        return self._answers[question_key]

    def _decide(self, root: SmtTerm, trial: CaseTrial) -> ProverAnswer:
        """Return the answer by trying all cases where they are few, else by the solver.

        Args:
            root: the term that is true where all claims are.
            trial: evaluates the claims in a case.
        """
        variables = [term for term in collect_terms([root]) if term.op is SmtOp.VARIABLE]
        names_in_term = {term.variable_name for term in variables}
        types = {name: value_type for name, value_type in trial.types.items() if name in names_in_term}
        cases = list_cases(types, max_cases=self.budget.effort.max_combinations)
        if cases is None:
            return self._search.decide(root, trial)
        for case in cases:
            complete_case = trial.complete(case)
            if trial.holds(complete_case):
                return ProverAnswer(possible=True, case=complete_case)
        return IMPOSSIBLE
