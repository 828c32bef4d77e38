"""Every combination of truth values that some conditions can have at once, each with a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from posewright.charts.datatypes import Value
from posewright.charts.expression import Expression
from posewright.charts.proof.answer import Cell, Cells
from posewright.charts.proof.case import Trial
from posewright.charts.proof.claim import FAILED, Claim, Fails, Holds, compute
from posewright.charts.proof.term import Term

if TYPE_CHECKING:
    from posewright.charts.proof.prover import Prover
    from posewright.charts.proof.smt.question import RealQuestion

Truths = tuple[bool | None, ...]


def cells_of(prover: Prover, atoms: Sequence[Expression], given: Sequence[Claim], limit: int) -> Cells:
    """Return the combinations that the atoms can have while the given claims are so; at most `limit`."""
    walk = _Walk(prover, atoms, given, limit)
    roots = [walk.given_term, *(term for pair in walk.atom_terms for term in pair)]
    few = prover.few_cases(roots, walk.trial)
    if few is None:
        return walk.by_solver()
    return walk.by_trying(few)


@dataclass
class _New:
    """That a case is in none of the cells that are known; the solver is told so cell by cell."""

    atoms: Sequence[Expression]
    names: frozenset[str]
    known: set[Truths] = field(default_factory=set)

    def seen(self, case: Mapping[str, Value]) -> bool:
        return _truths(self.atoms, case) not in self.known


class _Walk:
    def __init__(
        self, prover: Prover, atoms: Sequence[Expression], given: Sequence[Claim], limit: int
    ) -> None:
        self.prover = prover
        self.terms = prover.translator.terms
        self.atoms = atoms
        self.given = given
        self.limit = limit
        self.found: dict[Truths, Cell] = {}
        names = frozenset[str]().union(*(atom.names for atom in atoms))
        self.new = _New(atoms, names)
        self.trial = Trial([*given, self.new], prover.types)
        self.given_term = self.terms.every(claim.term(prover.translator) for claim in given)
        meanings = [prover.translator.meaning(atom) for atom in atoms]
        self.atom_terms = [(meaning.value, meaning.failing) for meaning in meanings]

    def cells(self, *, complete: bool) -> Cells:
        return Cells(tuple(self.found.values()), complete)

    def keep(self, case: Mapping[str, Value], truths: Truths) -> None:
        self.new.known.add(truths)
        self.found[truths] = Cell(truths, dict(case))

    def by_trying(self, cases: Sequence[Mapping[str, Value]]) -> Cells:
        for case in cases:
            if self.trial.holds(case):
                if len(self.found) >= self.limit:
                    return self.cells(complete=False)
                self.keep(case, _truths(self.atoms, case))
        return self.cells(complete=True)

    def by_solver(self) -> Cells:
        search, complete = self.prover.search, True
        question = search.real_question([self.given_term])
        question.mention([term for pair in self.atom_terms for term in pair])
        while len(self.found) < self.limit:
            possible = question.check()
            if not possible:
                return self.cells(complete=complete and possible is False)
            case = self.trial.near(question.case(self.trial.types))
            if case is not None:
                truths = _truths(self.atoms, case)
                self.keep(self.inside(truths).plain(case), truths)
            else:
                truths = self.in_model(question)
                complete = self.decided(truths) and complete
            question.add([self.terms.negation(self.cell_term(truths))])
        return self.cells(complete=False)

    def inside(self, truths: Truths) -> Trial:
        """Return the trial of cases in one cell."""
        claims = [
            Fails(atom) if truth is None else Holds(atom, truth)
            for atom, truth in zip(self.atoms, truths, strict=True)
        ]
        return Trial([*self.given, *claims], self.prover.types)

    def cell_term(self, truths: Truths) -> Term:
        """Return the truth value that a case is in one cell."""
        terms, parts = self.terms, []
        for truth, (value, failing) in zip(truths, self.atom_terms, strict=True):
            parts.append(failing if truth is None else terms.negation(failing))
            if truth is not None:
                parts.append(value if truth else terms.negation(value))
        return terms.every(parts)

    def in_model(self, question: RealQuestion) -> Truths:
        """Return the cell in which the solver believes to be."""
        return tuple(
            None if question.truth(failing) else question.truth(value) for value, failing in self.atom_terms
        )

    def decided(self, truths: Truths) -> bool:
        """Return whether it is decided that a cell can be met or not, and keep its case."""
        root = self.terms.every((self.given_term, self.cell_term(truths)))
        answer = self.prover.search.decide(root, self.inside(truths))
        if answer.case is not None:
            self.keep(answer.case, truths)
        return answer.possible is not None


def _truths(atoms: Sequence[Expression], case: Mapping[str, Value]) -> Truths:
    values = (compute(atom, case) for atom in atoms)
    return tuple(None if value is FAILED else value for value in values)
