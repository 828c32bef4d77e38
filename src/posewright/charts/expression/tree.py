"""The tree of an expression: frozen nodes that know where they were written and of what type their value is.

A name is given its type by the type checker, or by whoever puts a register of a machine in its place; every
other node's `type` follows from its parts. It is the type in which a value is *computed*: an operation on
whole numbers has 32 bits and saturates, one on fractions has 64, a call of `single` rounds to 32; where
the value is kept, the declared type of the variable says how wide that is.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from posewright.charts.types import (
    INT_HIGH,
    INT_LOW,
    BoolType,
    FloatType,
    IntType,
    Type,
    Value,
    to_single,
    type_of,
)


class Operator(Enum):
    """What joins two operands, or stands before one."""

    OR = "or"
    AND = "and"
    NOT = "not"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    EQUAL = "=="
    UNEQUAL = "!="
    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    OVER = "/"
    MODULO = "%"

    def __str__(self) -> str:
        return self.value


LOGIC = frozenset({Operator.OR, Operator.AND})
ORDER = frozenset({Operator.LESS, Operator.LESS_EQUAL, Operator.GREATER, Operator.GREATER_EQUAL})
COMPARISONS = ORDER | {Operator.EQUAL, Operator.UNEQUAL}
ARITHMETIC = frozenset({Operator.PLUS, Operator.MINUS, Operator.TIMES, Operator.OVER, Operator.MODULO})


class Timing(Enum):
    """What is asked of time: since the state was entered, or for how long a condition has held."""

    AFTER = "after"
    BEFORE = "before"
    EVERY = "every"
    HELD = "held"

    def __str__(self) -> str:
        return self.value


class _Typed:
    """A node whose type follows from its parts."""

    @cached_property
    def type(self) -> Type:
        """The type in which its value is computed; TypeError where it reads a name of unknown type."""
        match self:
            case Literal():
                single = isinstance(self.value, float) and to_single(self.value) == self.value
                return FloatType(single=True) if single else type_of(self.value)
            case If():
                cases, rest = cases_of(self)
                return _joined_type([*(then for _, then in cases), rest])
            case Call():
                return FloatType(single=True) if self.function == "single" else _joined_type(self.arguments)
            case Unary(Operator.MINUS):
                return _joined_type([self.operand])
            case Binary() if self.operator in ARITHMETIC:
                whole = isinstance(_joined_type([self.left, self.right]), IntType)
                return IntType() if whole and self.operator is not Operator.OVER else FloatType()
        return BoolType()


@dataclass(frozen=True)
class Literal(_Typed):
    """A number, or true or false; a number may have been written with a unit, as in `35 cm`."""

    value: Value
    at: int = field(default=0, compare=False)
    unit: str | None = None
    sort: type = field(init=False, repr=False)  # 2 and 2.0 are equal for Python, but not multiplied alike

    def __post_init__(self) -> None:
        object.__setattr__(self, "sort", type(self.value))


@dataclass(frozen=True)
class Name:
    """An input, an output, a local, a constant, a value of an enumeration, or a register of a machine.

    Attributes:
        known: its type as declared; None in a tree that was parsed only.
    """

    name: str
    at: int = field(default=0, compare=False)
    known: Type | None = field(default=None, compare=False, repr=False)

    @property
    def type(self) -> Type:
        """Its type as declared; TypeError in a tree that was parsed only."""
        if self.known is None:
            raise TypeError(f"the type of {self.name!r} is not known: give the tree to the type checker")
        return self.known


@dataclass(frozen=True)
class Unary(_Typed):
    """`not` or `-` before an operand."""

    operator: Operator
    operand: Tree
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Binary(_Typed):
    """Two operands joined."""

    operator: Operator
    left: Tree
    right: Tree
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Call(_Typed):
    """A function of its arguments: `abs`, `min`, `max`, or `single`, which rounds to 32 bits."""

    function: str
    arguments: tuple[Tree, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class If(_Typed):
    """`then if condition else otherwise`: one of two values."""

    condition: Tree
    then: Tree
    otherwise: Tree
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Timed(_Typed):
    """`after(0.5 s)`, `before(2 s)`, `every(1 s)`, `held(near, 0.3 s)`.

    Attributes:
        seconds: the time asked for [s].
        condition: what has to hold all that time; only of `held`.
    """

    timing: Timing
    seconds: float
    condition: Tree | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Inside(_Typed):
    """`in(walking)`: whether that state is active."""

    state: str
    at: int = field(default=0, compare=False)


Tree = Literal | Name | Unary | Binary | Call | If | Timed | Inside


def _joined_type(trees: Sequence[Tree]) -> Type:
    """Return the type that holds the values of all these: of fractions, 32 bits where none has more."""
    kinds = [tree.type for tree in trees]
    fractions = [kind for kind in kinds if isinstance(kind, FloatType)]
    if fractions:
        return FloatType(single=all(kind.single for kind in fractions))
    return IntType() if isinstance(kinds[0], IntType) else kinds[0]


def children(tree: Tree) -> tuple[Tree, ...]:
    """Return the operands of a node, from left to right."""
    if isinstance(tree, Unary):
        return (tree.operand,)
    if isinstance(tree, Binary):
        return (tree.left, tree.right)
    if isinstance(tree, If):
        return (tree.condition, tree.then, tree.otherwise)
    if isinstance(tree, Call):
        return tree.arguments
    return (tree.condition,) if isinstance(tree, Timed) and tree.condition else ()


def with_children(tree: Tree, parts: Sequence[Tree]) -> Tree:
    """Return the node with other operands, as many as it has."""
    if isinstance(tree, Unary):
        return replace(tree, operand=parts[0])
    if isinstance(tree, Binary):
        return replace(tree, left=parts[0], right=parts[1])
    if isinstance(tree, If):
        return If(parts[0], parts[1], parts[2], tree.at)
    if isinstance(tree, Timed) and parts:
        return replace(tree, condition=parts[0])
    return replace(tree, arguments=tuple(parts)) if isinstance(tree, Call) else tree


def cases_of(tree: If) -> tuple[list[tuple[Tree, Tree]], Tree]:
    """Return a chain of `a if c else b if d else e` as its cases, condition and value, and what is left.

    A truth table that is called becomes a long chain: whoever walks a tree goes along it in a loop.
    """
    cases: list[tuple[Tree, Tree]] = []
    rest: Tree = tree
    while isinstance(rest, If):
        cases.append((rest.condition, rest.then))
        rest = rest.otherwise
    return cases, rest


def chain_of(cases: Iterable[tuple[Tree, Tree]], rest: Tree) -> Tree:
    """Return the chain of these cases."""
    for condition, then in reversed(list(cases)):
        rest = If(condition, then, rest)
    return rest


def rewritten(tree: Tree, change: Callable[[Tree], Tree | None]) -> Tree:
    """Return a tree in which `change` has replaced what it wanted to, the outermost nodes first.

    Args:
        tree: stays as it is; the very same comes back where nothing was replaced.
        change: returns what a node is replaced by, or None to leave it and go on below it.
    """
    found = change(tree)
    if found is not None:
        return found
    if isinstance(tree, If):
        return _rewritten_chain(tree, change)
    parts = children(tree)
    others = []
    for part in parts:
        others.append(rewritten(part, change))
    return tree if all(map(operator.is_, parts, others)) else with_children(tree, others)


def _rewritten_chain(tree: If, change: Callable[[Tree], Tree | None]) -> Tree:
    links: list[tuple[If, Tree, Tree]] = []
    rest: Tree = tree
    found: Tree | None = None
    while isinstance(rest, If) and found is None:
        links.append((rest, rewritten(rest.condition, change), rewritten(rest.then, change)))
        rest = rest.otherwise
        found = change(rest) if isinstance(rest, If) else rewritten(rest, change)
    other = found or rest
    for link, condition, then in reversed(links):
        same = condition is link.condition and then is link.then and other is link.otherwise
        other = link if same else If(condition, then, other, link.at)
    return other


def nodes_of(tree: Tree) -> Iterator[Tree]:
    """Yield the tree and everything below it."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def names_in(tree: Tree) -> frozenset[str]:
    """Return every name that the expression mentions."""
    return frozenset(node.name for node in nodes_of(tree) if isinstance(node, Name))


def is_timed(tree: Tree) -> bool:
    """Return whether a tree asks for time or states, which only a running chart knows."""
    return any(isinstance(node, Timed | Inside) for node in nodes_of(tree))


def height(tree: Tree) -> int:
    """Return the levels of a tree, without recursion: an honest tree is checked before it is walked."""
    level, levels = [tree], 0
    while level:
        levels += 1
        level = [child for node in level for child in children(node)]
    return levels


Range = tuple[float, float]
ANYTHING: Range = (-math.inf, math.inf)


def range_of(tree: Tree, fixed: Mapping[str, Value]) -> Range:
    """Return the least and the greatest value that a number may have; both ends may be infinite.

    The ends are sure, yet not always reached: a name that is read twice counts as two.

    Args:
        tree: a typed tree.
        fixed: names whose value is known.
    """
    found = ANYTHING
    match tree:
        case Name() if tree.name not in fixed:
            if isinstance(tree.type, IntType | FloatType):
                found = tree.type.low, tree.type.high
        case Literal() | Name():
            value = tree.value if isinstance(tree, Literal) else fixed[tree.name]
            if isinstance(value, int | float) and not isinstance(value, bool):
                found = value, value
        case Unary():
            low, high = range_of(tree.operand, fixed)
            found = _saturated(-high, -low)
        case Binary():
            found = _joined(tree.operator, range_of(tree.left, fixed), range_of(tree.right, fixed))
        case Call():
            found = _called(tree.function, [range_of(argument, fixed) for argument in tree.arguments])
        case If():
            cases, rest = cases_of(tree)
            ranges = [range_of(value, fixed) for value in (*(then for _, then in cases), rest)]
            found = min(low for low, _ in ranges), max(high for _, high in ranges)
    return found


_CORNERS: dict[Operator, Callable[[float, float], float]] = {
    Operator.PLUS: operator.add,
    Operator.MINUS: operator.sub,
    Operator.TIMES: operator.mul,
    Operator.OVER: operator.truediv,
}


def _joined(how: Operator, left: Range, right: Range) -> Range:
    if how is Operator.MODULO:
        return min(right[0], 0), max(right[1], 0)
    if how not in _CORNERS or (how is Operator.OVER and right[0] <= 0 <= right[1]):
        return ANYTHING
    corners = [_CORNERS[how](a, b) for a in left for b in right]
    return ANYTHING if any(map(math.isnan, corners)) else _saturated(min(corners), max(corners))


def _called(function: str, parts: list[Range]) -> Range:
    lows, highs = [low for low, _ in parts], [high for _, high in parts]
    if function == "abs":
        ends = abs(lows[0]), abs(highs[0])
        return _saturated(0 if lows[0] <= 0 <= highs[0] else min(ends), max(ends))
    if function == "single":
        return to_single(lows[0]), to_single(highs[0])
    choose = min if function == "min" else max
    low, high = choose(lows), choose(highs)
    whole = all(isinstance(end, int) for end in (*lows, *highs))
    return (low, high) if whole else (float(low), float(high))


def _saturated(low: float, high: float) -> Range:
    """Return whole ends within 32 bits, and others as they are."""
    if isinstance(low, int) and isinstance(high, int):
        return min(max(low, INT_LOW), INT_HIGH), min(max(high, INT_LOW), INT_HIGH)
    return low, high
