"""Pruning of guards that are evaluated one after the other.

A term of a guard is left out where it follows from the fact that no earlier guard holds. Bool variables and
comparisons count as independent atoms, so the same transition is taken for all inputs as without pruning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

from posewright.charts.expression import Binary, Literal, Operator, Tree, Unary, format_tree, nodes_of

MAX_ATOMS = 10
"""Guards with more atoms are not pruned, since the truth tables have 2 to the number of atoms rows."""


def find_operands(tree: Tree, operator: Operator) -> Iterator[Tree]:
    """Yield the operands of a chain such as `a and b and c` from the left, whatever its brackets.

    Args:
        tree: the expression; one that is no such chain is its only operand.
        operator: the operator of the chain, AND or OR.
    """
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Binary) and node.operator is operator:
            pending += [node.right, node.left]
        else:
            yield node


def find_terms(tree: Tree) -> Iterator[Tree]:
    """Yield the terms that must all hold for a condition: `not a` and `not b` for `not (a or b)`.

    Double negations are removed.
    """
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

    Truth tables decide this: a row is a combination of truth values of the atoms, the comparisons and bool
    variables that terms are made of. A set of rows is an integer with one bit for each.

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
    if len(tables.atom_numbers) > MAX_ATOMS or any(map(_may_divide_by_zero, all_terms)):
        return [[*range(len(terms))] for terms in conditions]
    open_row_bits = tables.all_row_bits  # the combinations for which no earlier condition holds
    pruned: list[list[int] | None] = []
    for terms in conditions:
        row_bits_of_terms = [tables.find_row_bits(term) for term in terms]
        condition_row_bits = reduce(and_, row_bits_of_terms, tables.all_row_bits)
        if not condition_row_bits & open_row_bits:
            pruned.append(None)
            continue
        pruned.append(_find_needed_terms(row_bits_of_terms, open_row_bits))
        open_row_bits &= ~condition_row_bits
    return pruned


def _find_needed_terms(row_bits_of_terms: Sequence[int], open_row_bits: int) -> list[int]:
    """Return the indices of the terms that do not follow from the others and from `open_row_bits`.

    Sets of rows of a truth table are integers, with bit n for row n.

    Args:
        row_bits_of_terms: for each term, the rows for which it holds.
        open_row_bits: the rows that are possible.
    """
    needed = [*range(len(row_bits_of_terms))]
    for index in reversed(range(len(row_bits_of_terms))):
        row_bits_without_term = open_row_bits
        for other_index in needed:
            if other_index != index:
                row_bits_without_term &= row_bits_of_terms[other_index]
        follows_from_others = not row_bits_without_term & ~row_bits_of_terms[index]
        if follows_from_others:
            needed.remove(index)
    return needed


class _TruthTables:
    """The truth tables of conditions over their atoms, as integers with a bit for each row.

    An atom is a bool variable or a comparison, without `not`, `and` and `or`. A row is a combination of the
    values of all atoms; bit n of the row's number is the value of atom n.

    Attributes:
        atom_numbers: the number of each atom, by its text.
    """

    def __init__(self) -> None:
        self.atom_numbers: dict[str, int] = {}

    @property
    def all_row_bits(self) -> int:
        """The rows of all combinations of atoms: 2 to the number of atoms bits, all 1."""
        n_rows = 1 << len(self.atom_numbers)
        return (1 << n_rows) - 1

    def add_atoms(self, tree: Tree) -> None:
        """Number the atoms of a condition that have no number yet."""
        match tree:
            case Unary(Operator.NOT):
                self.add_atoms(tree.operand)
            case Binary(Operator.AND | Operator.OR):
                for operand in find_operands(tree, tree.operator):
                    self.add_atoms(operand)
            case Literal():
                pass
            case _:
                self.atom_numbers.setdefault(_atom(tree).text, len(self.atom_numbers))

    def find_row_bits(self, tree: Tree) -> int:
        """Return the rows for which a condition holds, as the bits of an integer.

        All atoms must have been added before.
        """
        match tree:
            case Literal():
                return self.all_row_bits if tree.value else 0
            case Unary(Operator.NOT):
                return self.all_row_bits & ~self.find_row_bits(tree.operand)
            case Binary(Operator.AND | Operator.OR):
                operand_rows = [self.find_row_bits(operand) for operand in find_operands(tree, tree.operator)]
                combine = and_ if tree.operator is Operator.AND else or_
                return reduce(combine, operand_rows)
        atom = _atom(tree)
        # an atom is false for as many rows as 2 to its number, then true for as many, and so on
        n_equal_rows = 1 << self.atom_numbers[atom.text]
        true_block = ((1 << n_equal_rows) - 1) << n_equal_rows
        atom_rows = 0
        for first_row in range(0, 1 << len(self.atom_numbers), 2 * n_equal_rows):
            atom_rows |= true_block << first_row
        return self.all_row_bits & ~atom_rows if atom.is_negated else atom_rows


class _Atom(NamedTuple):
    """The text of an atom, and whether a condition is its negation."""

    text: str
    is_negated: bool


def _atom(tree: Tree) -> _Atom:
    """Return the atom of a condition without `not`, `and` and `or`; `a != b` is the negation of `a == b`."""
    if isinstance(tree, Binary) and tree.operator is Operator.UNEQUAL:
        return _Atom(format_tree(Binary(Operator.EQUAL, tree.left, tree.right)), is_negated=True)
    return _Atom(format_tree(tree), is_negated=False)


def _may_divide_by_zero(tree: Tree) -> bool:
    """Return whether a tree has a division or remainder whose divisor is not a literal other than zero."""
    divisions = (Operator.OVER, Operator.MODULO)
    return any(
        isinstance(node, Binary)
        and node.operator in divisions
        and not (isinstance(node.right, Literal) and node.right.value)
        for node in nodes_of(tree)
    )
