"""The prover: asks whether something can happen, over all values that names of given types may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from posewright.charts.expression import Expression
from posewright.charts.proof.budget import IMPOSSIBLE, Effort, ProverAnswer, SolverBudget
from posewright.charts.proof.cases import CaseTrial, every_case
from posewright.charts.proof.claims import Fails, Holds, ProofClaim
from posewright.charts.proof.terms import SmtOp, SmtTerm, reachable
from posewright.charts.proof.translation import Translator
from posewright.charts.types import Type
from posewright.errors import MissingExtraError

if TYPE_CHECKING:
    from posewright.charts.proof.search import SmtSearch


def require_solver(feature: str) -> None:
    """Raise an error unless the SMT solver that proofs need is installed.

    Raises:
        MissingExtraError: it is not.
    """
    if find_spec("bitwuzla") is None:
        raise MissingExtraError.for_extra(feature, "charts")


class Prover:
    """Answers questions about expressions over names of known types.

    An expression is computed as everywhere: whole numbers saturate at 32 bits, fractions round at every
    step, `and`, `or` and choices stop as soon as they are decided. The same questions in the same order get
    the same answers on every machine.

    Args:
        types: of every name that the expressions read and do not know already (`Expression.fixed`).
        effort: how hard it tries.
        budget: what it shares with other provers, the effort among it; None: nothing.
    """

    def __init__(
        self, types: Mapping[str, Type], effort: Effort | None = None, budget: SolverBudget | None = None
    ) -> None:
        self.types = types
        self.budget = budget or SolverBudget(effort)
        self.translator = Translator(types)
        self._answers: dict[tuple[object, ...], ProverAnswer] = {}

    @cached_property
    def _search(self) -> SmtSearch:
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
        """Return whether there is a case in which some conditions hold, others do not, others divide by zero.

        All in `true` and `false` are computed in it without a division by zero.
        """
        given = [*(Holds(one) for one in true), *(Holds(one, expected=False) for one in false)]
        return self.solve([*given, *map(Fails, failing)])

    def solve(self, claims: Sequence[ProofClaim]) -> ProverAnswer:
        """Return whether all that is claimed can be so at once.

        Raises:
            MissingExtraError: the solver is needed, and not installed.
        """
        terms = self.translator.terms
        root = terms.every(claim.term(self.translator) for claim in claims)
        if root.is_false:
            return IMPOSSIBLE
        trial = CaseTrial(claims, self.types)
        key = (root.index, *trial.types)
        if key not in self._answers:
            self._answers[key] = self._decide(root, trial)
        return self._answers[key]

    def _decide(self, root: SmtTerm, trial: CaseTrial) -> ProverAnswer:
        read = {term.value for term in reachable([root]) if term.op is SmtOp.VARIABLE}
        types = {name: kind for name, kind in trial.types.items() if name in read}
        few = every_case(types, self.budget.effort.combinations)  # that can make a difference to the term
        if few is None:
            return self._search.decide(root, trial)
        found = next(filter(trial.holds, map(trial.filled, few)), None)
        return IMPOSSIBLE if found is None else ProverAnswer(True, found)
