"""The tree of an expression: frozen nodes that know where they were written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from posewright.charts.datatypes import Value


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
SAMENESS = frozenset({Operator.EQUAL, Operator.UNEQUAL})
COMPARISONS = ORDER | SAMENESS
ARITHMETIC = frozenset({Operator.PLUS, Operator.MINUS, Operator.TIMES, Operator.OVER, Operator.MODULO})


@dataclass(frozen=True)
class Literal:
    """A number, or true or false."""

    value: Value
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Name:
    """An input, an output, a constant or a value of an enumeration."""

    name: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Unary:
    """`not` or `-` before an operand."""

    operator: Operator
    operand: Tree
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Binary:
    """Two operands joined."""

    operator: Operator
    left: Tree
    right: Tree
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Call:
    """`abs`, `min` or `max` of its arguments."""

    function: str
    arguments: tuple[Tree, ...]
    at: int = field(default=0, compare=False)


Tree = Literal | Name | Unary | Binary | Call


def children(tree: Tree) -> tuple[Tree, ...]:
    """Return the operands of a node, from left to right."""
    if isinstance(tree, Unary):
        return (tree.operand,)
    if isinstance(tree, Binary):
        return (tree.left, tree.right)
    return tree.arguments if isinstance(tree, Call) else ()


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


def height(tree: Tree) -> int:
    """Return the levels of a tree, without recursion: an honest tree is checked before it is walked."""
    level, levels = [tree], 0
    while level:
        levels += 1
        level = [child for node in level for child in children(node)]
    return levels
