"""What trying does not find, the prover decides: whether several inputs can be related as asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec

from posewright.charts.expression import Binary, Expression, Literal, Name, Operator, Tree
from posewright.charts.proof import Prover, SolverBudget
from posewright.charts.reachability.axis import Domain, Spans
from posewright.charts.reachability.relation import Decider, Found, Relation
from posewright.charts.types import BoolType, Value


def decider_for(axes: Mapping[str, Domain], pool: SolverBudget | None = None) -> Decider | None:
    """Return who decides, None where no solver is installed."""
    return ByProof(axes, pool) if find_spec("bitwuzla") is not None else None


class ByProof:
    """Asks the prover.

    Args:
        axes: the values of every input.
        pool: what the prover shares with others that work on the chart.
    """

    def __init__(self, axes: Mapping[str, Domain], pool: SolverBudget | None = None) -> None:
        self.prover = Prover({name: axis.kind for name, axis in axes.items()}, pool=pool)

    def decide(
        self, axes: Mapping[str, Domain], sets: Mapping[str, Spans], relations: Sequence[Relation]
    ) -> Found:
        """Return values of the inputs within the sets for which all relations hold."""
        bounds = [one for name, axis in axes.items() for one in _bounds(name, axis, sets[name])]
        answer = self.prover.satisfiable(
            true=[*bounds, *(one.condition for one in relations if one.holds)],
            false=[one.condition for one in relations if not one.holds],
        )
        if answer.possible is None:
            texts = ", ".join(dict.fromkeys(f"`{one.condition}`" for one in relations))
            return Found(None, f"{texts}: not decided")
        if answer.case is None:
            return Found(None)
        given: dict[str, Value] = {name: answer.case[name] for name in axes if name in answer.case}
        return Found(given)


def _bounds(name: str, axis: Domain, spans: Spans) -> Iterator[Expression]:
    """Yield conditions for an input to be in a set, none where that is every value."""
    if spans == axis.whole:
        return
    tree = _between(name, axis, *spans[0])
    for span in spans[1:]:
        tree = Binary(Operator.OR, tree, _between(name, axis, *span))
    yield Expression(tree, BoolType())


def _between(name: str, axis: Domain, low: int, high: int) -> Tree:
    if not axis.is_number:
        values = [Binary(Operator.EQUAL, Name(name), Literal(axis.value(i))) for i in range(low, high + 1)]
        tree: Tree = values[0]
        for value in values[1:]:
            tree = Binary(Operator.OR, tree, value)
        return tree
    above = Binary(Operator.GREATER_EQUAL, Name(name), Literal(axis.value(low)))
    below = Binary(Operator.LESS_EQUAL, Name(name), Literal(axis.value(high)))
    return Binary(Operator.AND, above, below)
