"""What is asked of a solver: conditions made of guards, and transitions as messages speak of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

from posewright.charts.expression import (
    Binary,
    Call,
    Expression,
    Literal,
    Name,
    Operator,
    Source,
    Tree,
    Unary,
)
from posewright.charts.machine import CompoundTransition, StateNode
from posewright.charts.model import ALWAYS, Assign, Transition
from posewright.charts.proof import DividesByZero, Holds, Outside, Prover, Saturates, SolverBudget, places_in
from posewright.charts.reachability import Domain, InputSpace, PathCondition, Questions, paths
from posewright.charts.types import BoolType, IntType, Type, Value
from posewright.errors import ExpressionError, MissingExtraError

T = TypeVar("T")

NEVER = Expression(Literal(False), BoolType(), Source("false"))
"""The condition that never holds."""


def condition(
    tree: Tree, like: Iterable[Expression] = (), fixed: Mapping[str, Value] | None = None
) -> Expression:
    """Return a condition that reads what the expressions `like` read, and besides the names `fixed`."""
    known: dict[str, Value] = {}
    source = Source("")
    for one in like:
        known.update(one.fixed)
        source = one.source
    return Expression(tree, BoolType(), source, {**known, **(fixed or {})})


def negated(one: Expression) -> Expression:
    """Return the condition that holds where another does not."""
    return condition(Unary(Operator.NOT, one.tree), [one])


def joined(operator: Operator, parts: Sequence[Expression]) -> Expression:
    """Return conditions joined by `and` or `or`, as flat as it goes."""
    level = [one.tree for one in parts]
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [reduce(lambda a, b: Binary(operator, a, b), pair) for pair in pairs]
    return condition(level[0], parts) if level else condition(Literal(operator is Operator.AND))


def all_of(parts: Sequence[Expression]) -> Expression:
    """Return the condition that all of these hold."""
    return joined(Operator.AND, parts)


def any_of(parts: Sequence[Expression]) -> Expression:
    """Return the condition that one of these holds."""
    return joined(Operator.OR, parts)


def two_of(parts: Sequence[Expression]) -> Expression:
    """Return the condition that two of these hold at least."""
    if len(parts) < 2:
        return NEVER
    left, right = halves(parts)
    return any_of([two_of(left), two_of(right), all_of([any_of(left), any_of(right)])])


def halves(parts: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Return the first half of some things and the second."""
    middle = len(parts) // 2
    return parts[:middle], parts[middle:]


def holding(one: Expression, held: Mapping[str, Value]) -> Expression:
    """Return an expression for which some names have a value that is known."""
    mine = {name: held[name] for name in one.names if name in held}
    return Expression(one.tree, one.type, one.source, {**mine, **one.fixed}) if mine else one


def stands_at(name: str, value: Value) -> Expression:
    """Return the condition that a name has a value."""
    return is_value(condition(Name(name)), value)


def stand_at(values: Mapping[str, Value]) -> Expression:
    """Return the condition that names have these values."""
    return all_of([stands_at(name, value) for name, value in values.items()])


def is_value(one: Expression, value: Value) -> Expression:
    """Return the condition that an expression comes to a value."""
    if isinstance(value, bool):
        return one if value else negated(one)
    side: Tree = Name(value) if isinstance(value, str) else Literal(value)
    fixed = {value: value} if isinstance(value, str) else None
    return condition(Binary(Operator.EQUAL, one.tree, side), [one], fixed)


def differ(one: Expression, other: Expression) -> Expression:
    """Return the condition that two expressions of one sort come to different values."""
    if isinstance(one.type, BoolType):
        return any_of([all_of([one, negated(other)]), all_of([negated(one), other])])
    return condition(Binary(Operator.UNEQUAL, one.tree, other.tree), [one, other])


MAX_QUOTED = 100
"""Characters of a guard that a message quotes."""


def guard_text(way: CompoundTransition) -> str:
    """Return when a way is taken, as it is written: its events, its guards."""
    guard = quoted([segment for segment in way.segments if segment.when != ALWAYS])
    if not way.events:
        return guard
    on = f"on {' or '.join(way.events)}"
    return on if guard == "true" else f"{on} when {guard}"


def quoted(segments: Sequence[Transition]) -> str:
    """Return the guards of segments as a message quotes them."""
    texts = [str(segment.when) for segment in segments]
    if len(texts) > 1:
        texts = [f"({text})" if " or " in text or " if " in text else text for text in texts]
    text = " and ".join(texts) or "true"
    return text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 3] + "..."


def lines_text(way: CompoundTransition) -> str:
    """Return the lines of a way's segments."""
    lines = list(dict.fromkeys(str(one.line) for one in way.segments if one.line is not None))
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}" if lines else "no line"


def shown(way: CompoundTransition) -> str:
    """Return a way as messages show it."""
    return f"`{guard_text(way)}` ({lines_text(way)})"


def waited(way: CompoundTransition) -> tuple[Expression, ...]:
    """Return the condition that a way has waited long enough; none where it need not wait."""
    if not way.wait:
        return ()
    return (condition(Binary(Operator.GREATER_EQUAL, Name(way.since), Literal(way.wait))),)


def divides(guard: Expression) -> bool:
    """Return whether a guard divides; then it may fail where others hold."""
    return any(place.divides for place in places_in(guard.tree))


def groups(ways: Sequence[CompoundTransition]) -> Mapping[str | None, list[CompoundTransition]]:
    """Return the ways that are asked together: by event, and those that are asked at every tick."""
    found: dict[str | None, list[CompoundTransition]] = {}
    for way in ways:
        for event in way.events or (None,):
            found.setdefault(event, []).append(way)
    return found


def events_of(way: CompoundTransition) -> frozenset[str | None]:
    """Return the events at which a way is asked; None stands for every tick."""
    return frozenset(way.events) or frozenset({None})


def outcome_differs(
    one: CompoundTransition, other: CompoundTransition, types: Mapping[str, Type] | None = None
) -> Expression | bool:
    """Return where two ways do different things: never (False), always (True), or where a condition holds.

    Args:
        one: a way.
        other: another one of the same state.
        types: of the variables that they set.
    """
    if one.goals != other.goals or one.domain != other.domain:
        return True
    if one.do == other.do:
        return False
    sets = [way.do[0] for way in (one, other) if len(way.do) == 1]
    if len(sets) < 2 or not all(isinstance(action, Assign) for action in sets):
        return True
    values = [action.values for action in sets if isinstance(action, Assign)]
    if values[0].keys() != values[1].keys():
        return True
    kinds = types or {}
    return any_of(
        [
            differ(fitted(value, kinds.get(name)), fitted(values[1][name], kinds.get(name)))
            for name, value in values[0].items()
        ]
    )


def fitted(value: Expression, kind: Type | None) -> Expression:
    """Return a whole number as a variable keeps it: the nearest in its range."""
    if not (isinstance(kind, IntType) and isinstance(value.type, IntType)):
        return value
    high = Call("min", (value.tree, Literal(kind.high)))
    return value.with_tree(Call("max", (high, Literal(kind.low))))


def parting(one: CompoundTransition, other: CompoundTransition) -> tuple[object, ...]:
    """Return the two segments at which two ways of one state part; the same for all that share them."""
    for a, b in zip(one.segments, other.segments, strict=False):
        if a is not b:
            return id(a), id(b)
    return id(one), id(other)


def asked_for(node: StateNode, machine_nodes: Sequence[StateNode]) -> list[CompoundTransition]:
    """Return the ways that ask for no event, of a state and of those around it."""
    numbers = (node.index, *node.around)
    return [way for number in numbers for way in machine_nodes[number].ways if not way.events]


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
    for path, found in paths(InputSpace(axes), take, MAX_PATHS):
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


CheckClaim = Holds | Outside | DividesByZero | Saturates
"""Something that may be so of an expression."""

OTHER = "another."
"""What precedes the name of an input to tell it from itself with another value."""

GAVE_UP = "the prover gave up"


@dataclass(frozen=True)
class SolverAnswer:
    """Whether some claims can be so at once.

    Attributes:
        possible: None where that could not be decided.
        case: values with which they are, of every name they read.
        reason: why it could not be decided.
    """

    possible: bool | None
    case: Mapping[str, Value] | None = None
    reason: str = ""


class CheckSolver:
    """Answers questions about the names in `types`.

    Attributes:
        proved: how many questions were decided.
        missing: why there is no prover to ask; empty where there is one, or none was needed.
    """

    def __init__(
        self,
        types: Mapping[str, Type],
        pool: SolverBudget | None = None,
        is_over: Callable[[], bool] = bool,
    ) -> None:
        self.prover = Prover(types, pool=pool)
        self.is_over = is_over
        self.proved = 0
        self.missing = ""

    def ask(self, claims: Sequence[CheckClaim]) -> SolverAnswer:
        """Return whether all that is claimed can be so at once."""
        if self.is_over():
            return SolverAnswer(None, reason="the time is over")
        try:
            told = self.prover.ask(claims)
        except MissingExtraError as error:
            return self.tried(claims, str(error))
        self.proved += told.possible is not None
        return SolverAnswer(told.possible, told.case, "" if told.possible is not None else GAVE_UP)

    def tried(self, claims: Sequence[CheckClaim], missing: str) -> SolverAnswer:
        """Return what can be told without a prover."""
        wanted = [(claim.expression, claim.wanted) for claim in claims if isinstance(claim, Holds)]
        try:
            if len(wanted) < len(claims):
                raise Undecided
            case = case_of(wanted, self.prover.types)
        except Undecided:
            self.missing = missing
            return SolverAnswer(None, reason=missing)
        self.proved += 1
        return SolverAnswer(case is not None, case)

    def excludes(self, claims: Sequence[CheckClaim]) -> bool:
        """Return whether it is proved that not all that is claimed can be so at once."""
        return self.ask(claims).possible is False


def claims(true: Iterable[Expression] = (), false: Iterable[Expression] = ()) -> tuple[CheckClaim, ...]:
    """Return the claims that some conditions hold and others do not."""
    return (*map(Holds, true), *(Holds(one, wanted=False) for one in false))


def standing(claim: CheckClaim, held: Mapping[str, Value]) -> CheckClaim:
    """Return a claim with some names held at values."""
    return replace(claim, expression=holding(claim.expression, held))


def shows(claims: Iterable[CheckClaim], held: Mapping[str, Value]) -> bool:
    """Return whether all that is claimed is so with these values."""
    return all(claim.seen(held) for claim in claims)
