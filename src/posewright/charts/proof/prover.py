"""The prover: asks whether something can happen, over all values that names of given types may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from posewright.charts.datatypes import Type
from posewright.charts.expression import Expression
from posewright.charts.proof.answer import IMPOSSIBLE, Answer, Cells, Effort, Spot
from posewright.charts.proof.case import Case, Trial
from posewright.charts.proof.cells import cells_of
from posewright.charts.proof.claim import Claim, Differ, Fails, Holds, Outside
from posewright.charts.proof.place import places_in
from posewright.charts.proof.place_claim import DividesByZero, Saturates
from posewright.charts.proof.pool import Pool
from posewright.charts.proof.term import Op, Term, reachable
from posewright.charts.proof.translation import Translator
from posewright.charts.proof.values import every_case
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
        self, types: Mapping[str, Type], effort: Effort | None = None, pool: Pool | None = None
    ) -> None:
        self.types = types
        self.pool = pool or Pool(effort)
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
        return self.ask([*_given(true, false), *map(Fails, failing)])

    def outside(
        self,
        expression: Expression,
        low: float,
        high: float,
        *,
        true: Sequence[Expression] = (),
        false: Sequence[Expression] = (),
    ) -> Answer:
        """Return whether a number can be below `low` or above `high` while the conditions are as given."""
        return self.ask([*_given(true, false), Outside(expression, low, high)])

    def differ(
        self,
        one: Expression,
        other: Expression,
        *,
        true: Sequence[Expression] = (),
        false: Sequence[Expression] = (),
    ) -> Answer:
        """Return whether two expressions can have different values while the conditions are as given."""
        return self.ask([*_given(true, false), Differ(one, other)])

    def divisions(
        self, expression: Expression, *, true: Sequence[Expression] = (), false: Sequence[Expression] = ()
    ) -> Iterator[Spot]:
        """Yield the divisions that can be reached with a divisor of zero, and those not decided."""
        for place in places_in(expression.tree):
            if place.divides:
                answer = self.ask([*_given(true, false), DividesByZero(expression, place)])
                if answer.possible is not False:
                    yield Spot(place.node, answer)

    def saturations(
        self, expression: Expression, *, true: Sequence[Expression] = (), false: Sequence[Expression] = ()
    ) -> Iterator[Spot]:
        """Yield the nodes whose exact value can need more than 32 bits, and those not decided."""
        for place in places_in(expression.tree):
            answer = self.ask([*_given(true, false), Saturates(expression, place)])
            if answer.possible is not False:
                yield Spot(place.node, answer)

    def cells(
        self,
        atoms: Sequence[Expression],
        *,
        true: Sequence[Expression] = (),
        false: Sequence[Expression] = (),
        limit: int = 1000,
    ) -> Cells:
        """Return which combinations of the atoms' truth can be met, each with a case.

        Args:
            atoms: truth values, each computed by itself.
            true: conditions that hold in every case.
            false: conditions that do not.
            limit: so many combinations are looked for at most.
        """
        return cells_of(self, atoms, _given(true, false), limit)

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
        few = self.few_cases([root], trial)
        if few is None:
            return self.search.decide(root, trial)
        found = next((case for case in few if trial.holds(case)), None)
        return IMPOSSIBLE if found is None else Answer(True, found)

    def few_cases(self, roots: Sequence[Term], trial: Trial) -> list[Case] | None:
        """Return every case that can make a difference to some terms; None where they are many."""
        read = {term.value for term in reachable(roots) if term.op is Op.VARIABLE}
        types = {name: kind for name, kind in trial.types.items() if name in read}
        cases = every_case(types, self.effort.combinations)
        return None if cases is None else [{**trial.zero, **case} for case in cases]


def _given(true: Sequence[Expression], false: Sequence[Expression]) -> list[Claim]:
    return [*(Holds(one) for one in true), *(Holds(one, wanted=False) for one in false)]
