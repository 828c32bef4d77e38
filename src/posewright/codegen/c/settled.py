"""Guards that are asked one after the other, without what the ones before have settled.

Where `a and b` did not hold and `a` is asked together with something that says `a` again, only what is still
open is asked. Truths that are read and comparisons count as open questions of their own; the ways behind are
taken for the very same answers as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from posewright.charts.expression import Binary, Literal, Operator, Tree, Unary, format_tree, nodes_of

MAX_QUESTIONS = 10
"""More open questions than these are not worked through: there are 2 to their number of answers."""


def operands_of(tree: Tree, operator: Operator) -> Iterator[Tree]:
    """Yield the operands of `a and b and c` from the left, however they are bracketed."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Binary) and one.operator is operator:
            waiting += [one.right, one.left]
        else:
            yield one


def terms_of(tree: Tree) -> Iterator[Tree]:
    """Yield what must all hold for a condition: `not (a or b)` is both `not a` and `not b`."""
    for one in operands_of(tree, Operator.AND):
        if not isinstance(one, Unary) or one.operator is not Operator.NOT:
            yield one
            continue
        for inner in operands_of(one.operand, Operator.OR):
            if isinstance(inner, Unary) and inner.operator is Operator.NOT:
                yield from terms_of(inner.operand)
            else:
                yield Unary(Operator.NOT, inner)


def unsettled(conditions: Sequence[Sequence[Tree]]) -> list[list[int] | None]:
    """Return what is still to be asked of each condition, given that none of those before it holds.

    Args:
        conditions: for each the terms that must all hold, in the order in which they are asked.

    Returns:
        The places of those terms; None for a condition that then never holds. All terms are kept where one
        may divide by zero, which must not be missed.
    """
    every_term = [term for terms in conditions for term in terms]
    questions = _Questions()
    for term in every_term:
        questions.note(term)
    if len(questions.number_of) > MAX_QUESTIONS or any(map(_divides, every_term)):
        return [[*range(len(terms))] for terms in conditions]
    still = every = (1 << (1 << len(questions.number_of))) - 1
    found: list[list[int] | None] = []
    for terms in conditions:
        holds = [questions.truth(term) for term in terms]
        taken = every
        for one in holds:
            taken &= one
        if not taken & still:
            found.append(None)
            continue
        kept = [*range(len(terms))]
        for place in reversed(range(len(terms))):
            others = still
            for other in kept:
                if other != place:
                    others &= holds[other]
            if not others & ~holds[place]:
                kept.remove(place)
        found.append(kept)
        still &= ~taken
    return found


class _Questions:
    """The questions that conditions consist of, and for which answers to them a condition holds.

    Attributes:
        number_of: the place of every question.
    """

    def __init__(self) -> None:
        self.number_of: dict[str, int] = {}

    def note(self, tree: Tree) -> None:
        """Note the questions of a condition."""
        match tree:
            case Unary(Operator.NOT):
                self.note(tree.operand)
            case Binary(Operator.AND | Operator.OR):
                for one in operands_of(tree, tree.operator):
                    self.note(one)
            case Literal():
                pass
            case _:
                self.number_of.setdefault(_positive(tree)[0], len(self.number_of))

    def truth(self, tree: Tree) -> int:
        """Return a number whose bit k says whether a condition holds for the k-th answers."""
        every = (1 << (1 << len(self.number_of))) - 1
        match tree:
            case Literal():
                return every if tree.value else 0
            case Unary(Operator.NOT):
                return every & ~self.truth(tree.operand)
            case Binary(Operator.AND | Operator.OR):
                found = [self.truth(one) for one in operands_of(tree, tree.operator)]
                both = found[0]
                for one in found[1:]:
                    both = both & one if tree.operator is Operator.AND else both | one
                return both
        question, positive = _positive(tree)
        span = 1 << self.number_of[question]
        block = ((1 << span) - 1) << span
        column = 0
        for place in range(0, 1 << len(self.number_of), 2 * span):
            column |= block << place
        return column if positive else every & ~column


def _positive(tree: Tree) -> tuple[str, bool]:
    """Return a question, and whether it is asked as such: `a != b` is `a == b` denied."""
    if isinstance(tree, Binary) and tree.operator is Operator.UNEQUAL:
        return format_tree(Binary(Operator.EQUAL, tree.left, tree.right)), False
    return format_tree(tree), True


def _divides(tree: Tree) -> bool:
    """Return whether a tree has a division in it, but by a number that is written and is not zero."""
    divisions = (Operator.OVER, Operator.MODULO)
    return any(
        isinstance(one, Binary)
        and one.operator in divisions
        and not (isinstance(one.right, Literal) and one.right.value)
        for one in nodes_of(tree)
    )
