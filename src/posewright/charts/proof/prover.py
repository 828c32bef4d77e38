"""The prover: asks whether something can happen, over all values that names of given types may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from posewright.charts.expression import Expression
from posewright.charts.proof.answer import IMPOSSIBLE, Answer, Effort
from posewright.charts.proof.case import Case, Trial
from posewright.charts.proof.claim import Claim, Fails, Holds
from posewright.charts.proof.pool import SolverBudget
from posewright.charts.proof.term import Op, Term, reachable
from posewright.charts.proof.translation import Translator
from posewright.charts.proof.values import every_case
from posewright.charts.types import Type
from posewright.errors import MissingExtraError

if TYPE_CHECKING:
    from posewright.charts.proof.smt.search import Search


class Prover:
    """Answers questions about expressions over names of known types.

    An expression is computed as everywhere: whole numbers saturate at 32 bits, fractions round at every
    step, `and`, `or` and choices stop as soon as they are decided. The same questions in the same order get
    the same answers on every machine.

    Args:
        types: of every name that the expressions read and do not know already (`Expression.fixed`).
        effort: how hard it tries.
        pool: what it shares with other provers, the effort among it; None: nothing.
    """

    def __init__(
        self, types: Mapping[str, Type], effort: Effort | None = None, pool: SolverBudget | None = None
    ) -> None:
        self.types = types
        self.pool = pool or SolverBudget(effort)
        self.effort = self.pool.effort
        self.translator = Translator(types)
        self._answers: dict[tuple[object, ...], Answer] = {}
        self._search: Search | None = None

    @property
    def search(self) -> Search:
        """The part that works with the solver, made when it is first needed.

        Raises:
            MissingExtraError: the solver is not installed.
        """
        if self._search is None:
            try:
                from posewright.charts.proof.smt.search import Search
            except ImportError:
                raise MissingExtraError.for_extra("proof", "charts") from None
            self._search = Search(self.pool)
        return self._search

    def satisfiable(
        self,
        *,
        true: Sequence[Expression] = (),
        false: Sequence[Expression] = (),
        failing: Sequence[Expression] = (),
    ) -> Answer:
        """Return whether there is a case in which some conditions hold, others do not, others divide by zero.

        All in `true` and `false` are computed in it without a division by zero.
        """
        given = [*(Holds(one) for one in true), *(Holds(one, wanted=False) for one in false)]
        return self.ask([*given, *map(Fails, failing)])

    def ask(self, claims: Sequence[Claim]) -> Answer:
        """Return whether all that is claimed can be so at once."""
        terms = self.translator.terms
        root = terms.every(claim.term(self.translator) for claim in claims)
        if root.is_false:
            return IMPOSSIBLE
        trial = Trial(claims, self.types)
        key = (root.index, *trial.types)
        if key not in self._answers:
            self._answers[key] = self._decide(root, trial)
        return self._answers[key]

    def _decide(self, root: Term, trial: Trial) -> Answer:
        few = self.few_cases(root, trial)
        if few is None:
            return self.search.decide(root, trial)
        found = next((case for case in few if trial.holds(case)), None)
        return IMPOSSIBLE if found is None else Answer(True, found)

    def few_cases(self, root: Term, trial: Trial) -> list[Case] | None:
        """Return every case that can make a difference to a term; None where they are many."""
        read = {term.value for term in reachable([root]) if term.op is Op.VARIABLE}
        types = {name: kind for name, kind in trial.types.items() if name in read}
        cases = every_case(types, self.effort.combinations)
        return None if cases is None else [{**trial.zero, **case} for case in cases]
