"""Answers without a prover: condition by condition, over the sets of values that a comparison tells apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from posewright.charts.expression import Expression
from posewright.charts.reachability import Domain, InputSpace, PathCondition, Questions, Solver, paths
from posewright.charts.types import Type, Value
from posewright.errors import ExpressionError

MAX_PATHS = 500
"""Combinations of answers after which it is given up."""


class Undecided(Exception):  # noqa: N818 -- it is no error
    """Raised inside this room: not every value could be looked at."""


def case_of(
    wanted: Sequence[tuple[Expression, bool]], types: Mapping[str, Type]
) -> Mapping[str, Value] | None:
    """Return values with which conditions are as wanted; None where there are none.

    Comparisons of one name with what is known split its values exactly; of several names at once only a few
    values are tried.

    Args:
        wanted: conditions, and whether each is to hold.
        types: of all names that they read.

    Raises:
        Undecided: none were found, and not all were looked at.
    """
    names = frozenset[str]().union(*(one.names for one, _ in wanted))
    axes = {name: Domain(kind) for name, kind in types.items() if name in names}
    questions = Questions(axes, types)
    answers = [(questions.condition(one), holds) for one, holds in wanted]

    def take(path: PathCondition) -> bool:
        try:
            return all(bool(answer({}, path)) is holds for answer, holds in answers)
        except ExpressionError:
            return False

    doubtful = False
    for path, found in paths(InputSpace(axes, Solver()), take, MAX_PATHS):
        case = path.inputs()
        if found and all(_is(one, holds, case) for one, holds in wanted):
            return case
        doubtful = doubtful or found or bool(path.doubts)
    if doubtful:
        raise Undecided
    return None


def _is(one: Expression, holds: bool, case: Mapping[str, Value]) -> bool:
    try:
        return one.evaluate(case) is holds
    except ExpressionError:
        return False
