"""Pruning of guards that are evaluated one after the other.

A term of a guard is left out where it follows from the fact that no earlier guard holds. Bool variables and
comparisons count as independent atoms, so the same transition is taken for all inputs as without pruning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_, or_

from posewright.charts.expression import Binary, Literal, Operator, Tree, Unary, format_tree, nodes_of

MAX_ATOMS = 10
"""Guards with more atoms are not pruned, since the truth tables have 2 to the number of atoms rows."""


def find_operands(tree: Tree, operator: Operator) -> Iterator[Tree]:
    """Yield the operands of `a and b and c` from the left, whatever the brackets."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Binary) and node.operator is operator:
            pending += [node.right, node.left]
        else:
            yield node


def find_terms(tree: Tree) -> Iterator[Tree]:
    """Yield the terms that must all hold for a condition: `not a` and `not b` for `not (a or b)`."""
    for operand in find_operands(tree, Operator.AND):
        if not isinstance(operand, Unary) or operand.operator is not Operator.NOT:
            yield operand
            continue
        for negated in find_operands(operand.operand, Operator.OR):
            if isinstance(negated, Unary) and negated.operator is Operator.NOT:
                yield from find_terms(negated.operand)
            else:
                yield Unary(Operator.NOT, negated)


def prune_guards(conditions: Sequence[Sequence[Tree]]) -> list[list[int] | None]:
    """Return the terms of each condition that have to be evaluated, given that no earlier condition holds.

    Args:
        conditions: for each condition the terms that must all hold, in the order of evaluation.

    Returns:
        For each condition the indices of its terms; None for a condition that never holds then. Nothing is
        pruned where a term may divide by zero, since that must be noticed.
    """
    all_terms = [term for terms in conditions for term in terms]
    tables = _TruthTables()
    for term in all_terms:
        tables.add_atoms(term)
    if len(tables.number_of) > MAX_ATOMS or any(map(_divides, all_terms)):
        return [[*range(len(terms))] for terms in conditions]
    all_rows = (1 << (1 << len(tables.number_of))) - 1
    open_rows = all_rows  # rows for which no earlier condition holds
    pruned: list[list[int] | None] = []
    for terms in conditions:
        term_rows = [tables.rows(term) for term in terms]
        condition_rows = all_rows
        for rows in term_rows:
            condition_rows &= rows
        if not condition_rows & open_rows:
            pruned.append(None)
            continue
        remaining = [*range(len(terms))]
        for index in reversed(range(len(terms))):
            rows_without_term = open_rows
            for other_index in remaining:
                if other_index != index:
                    rows_without_term &= term_rows[other_index]
            if not rows_without_term & ~term_rows[index]:
                remaining.remove(index)
        pruned.append(remaining)
        open_rows &= ~condition_rows
    return pruned


class _TruthTables:
    """The truth tables of conditions over their atoms, as integers with a bit for each row.

    Attributes:
        number_of: the number of each atom, by its text.
    """

    def __init__(self) -> None:
        self.number_of: dict[str, int] = {}

    def add_atoms(self, tree: Tree) -> None:
        """Number the atoms of a condition."""
        match tree:
            case Unary(Operator.NOT):
                self.add_atoms(tree.operand)
            case Binary(Operator.AND | Operator.OR):
                for operand in find_operands(tree, tree.operator):
                    self.add_atoms(operand)
            case Literal():
                pass
            case _:
                self.number_of.setdefault(_atom(tree)[0], len(self.number_of))

    def rows(self, tree: Tree) -> int:
        """Return the rows for which a condition holds; bit n of the row's number is the value of atom n."""
        all_rows = (1 << (1 << len(self.number_of))) - 1
        match tree:
            case Literal():
                return all_rows if tree.value else 0
            case Unary(Operator.NOT):
                return all_rows & ~self.rows(tree.operand)
            case Binary(Operator.AND | Operator.OR):
                operand_rows = [self.rows(operand) for operand in find_operands(tree, tree.operator)]
                combine = and_ if tree.operator is Operator.AND else or_
                return reduce(combine, operand_rows)
        atom, is_positive = _atom(tree)
        period = 1 << self.number_of[atom]
        block = ((1 << period) - 1) << period
        atom_rows = 0
        for begin in range(0, 1 << len(self.number_of), 2 * period):
            atom_rows |= block << begin
        return atom_rows if is_positive else all_rows & ~atom_rows


def _atom(tree: Tree) -> tuple[str, bool]:
    """Return the text of an atom, and whether it stands as such: `a != b` is the negation of `a == b`."""
    if isinstance(tree, Binary) and tree.operator is Operator.UNEQUAL:
        return format_tree(Binary(Operator.EQUAL, tree.left, tree.right)), False
    return format_tree(tree), True


def _divides(tree: Tree) -> bool:
    """Return whether a tree has a division by anything but a literal other than zero."""
    divisions = (Operator.OVER, Operator.MODULO)
    return any(
        isinstance(node, Binary)
        and node.operator in divisions
        and not (isinstance(node.right, Literal) and node.right.value)
        for node in nodes_of(tree)
    )
