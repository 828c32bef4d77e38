"""Questions put to the solver: whether some terms can all be true, and in which case."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import z3

from posewright.charts.expression import Operator
from posewright.charts.proof.rounding import DOUBLE
from posewright.charts.proof.smt.bits import BitEncoder
from posewright.charts.proof.smt.meter import Meter
from posewright.charts.proof.smt.model import value_found
from posewright.charts.proof.smt.reals import RealEncoder
from posewright.charts.proof.term import Op, Sort, Term, reachable
from posewright.charts.types import Type, Value

RASTER = 1024
"""Parts of one: fractions on this raster are added and compared without rounding."""

MAX_PRODUCTS = 5
"""Products of fractions up to which the solver may use all its methods."""

UNCOUNTED = ("arith.nl.nra", "arith.nl.grobner", "arith.nl.horner")
"""Methods for products of which a single step, of many fractions at once, may take minutes."""

BIT_BY_BIT = ("simplify", "fpa2bv", "simplify", "solve-eqs", "bit-blast", "sat")
"""The solver's tactics; its own choice for such questions takes ten times as long."""


class Question(ABC):
    """Terms that shall all be true.

    Attributes:
        products: of fractions, none of them known, that are in it; quotients too.
        whole_products: the same of whole numbers.
    """

    HEAVY = HEAVY_WHOLE = 1

    def __init__(self, solver: Any, meter: Meter) -> None:
        self.solver = solver
        self.meter = meter
        self.mentioned: set[int] = set()
        self.variables: dict[str, Term] = {}
        self.products = self.whole_products = 0

    def check(self) -> bool | None:
        """Return whether it is possible, None if that was not decided within the steps allowed."""
        self.solver.set("rlimit", self.meter.allowed(self.weight))
        found = self.solver.check()
        steps = int(self.solver.statistics().get_key_value("rlimit count"))
        self.meter.read(steps, self.weight, is_open=found == z3.unknown)
        return None if found == z3.unknown else bool(found == z3.sat)

    def case(self, types: Mapping[str, Type]) -> dict[str, Value]:
        """Return the values with which it is, of the names that matter."""
        model = self.solver.model()
        return {
            name: value_found(model, self.written(term), term, types[name])
            for name, term in self.variables.items()
        }

    @abstractmethod
    def written(self, term: Term) -> Any:
        """Return what a term is for the solver."""

    def first_mentioned(self, terms: Iterable[Term]) -> list[Term]:
        """Return the terms, and those they are made of, that were not mentioned before."""
        found = [term for term in reachable(terms) if term.index not in self.mentioned]
        self.mentioned.update(term.index for term in found)
        self.variables |= {term.value: term for term in found if term.op is Op.VARIABLE}
        products = [term.sort for term in found if _is_product(term)]
        self.products += products.count(Sort.FRACTION)
        self.whole_products += products.count(Sort.WHOLE)
        return found

    @property
    def weight(self) -> int:
        """How much longer a step takes than where there are no products."""
        if self.products:
            return self.HEAVY
        return self.HEAVY_WHOLE if self.whole_products else 1


class RealQuestion(Question):
    """A question about whole and real numbers.

    Args:
        encoder: writes the terms.
        meter: counts the steps that are taken.
        coarse: fractions are looked for on a raster, and nothing is rounded: what is found is a case, and
            that nothing is found says nothing.
    """

    HEAVY, HEAVY_WHOLE = 16, 4

    def __init__(self, encoder: RealEncoder, meter: Meter, *, coarse: bool = False) -> None:
        super().__init__(z3.SimpleSolver(ctx=encoder.sheet.context), meter)
        self.encoder = encoder
        self.sheet = encoder.sheet
        self.coarse = coarse

    def written(self, term: Term) -> Any:
        """Return what a term is for the solver."""
        truth = term.sort is Sort.TRUTH
        return self.sheet.truths[term.index] if truth else self.sheet.numbers[term.index].value

    def add(self, terms: Iterable[Term]) -> None:
        """Ask for more."""
        roots = list(terms)
        self.mention(roots)
        self.solver.add([self.written(term) for term in roots])

    def check(self) -> bool | None:
        """Return whether it is possible, None if that was not decided within the steps allowed."""
        if self.products > MAX_PRODUCTS:
            for method in UNCOUNTED:
                self.solver.set(method, False)
        return super().check()

    def mention(self, terms: Iterable[Term]) -> None:
        """Tell the solver what is known of some terms, whether they be true or not."""
        rules: list[Any] = []
        for term in self.first_mentioned(terms):
            self.encoder.write(term)
            rules += self.sheet.rules[term.index]
            if self.coarse and term.sort is Sort.FRACTION:
                rules += self._on_raster(term)
        self.solver.add(rules)

    def _on_raster(self, term: Term) -> list[Any]:
        number = self.sheet.numbers[term.index]
        if term.op is Op.VARIABLE:
            count = self.sheet.variable(f"c{term.index}", Sort.WHOLE)
            return [number.value * RASTER == z3.ToReal(count)]
        return [] if number.rounded is None else [number.value == number.exact]

    def leave_out(self, name: str, low: float, high: float) -> None:
        """Look for a fraction elsewhere than from `low` to `high`."""
        value = self.written(self.variables[name])
        below, above = self.sheet.constant(DOUBLE.below(low)), self.sheet.constant(DOUBLE.above(high))
        self.solver.add(z3.Or(value <= below, value >= above))

    @contextmanager
    def pinned(self, values: Mapping[str, float], part: int) -> Iterator[None]:
        """Hold some fractions at known values, and allow one part in so many of the steps, for a while."""
        self.solver.push()
        whole, self.meter = self.meter, self.meter.part(part)
        self.solver.add(
            [self.written(self.variables[n]) == self.sheet.constant(v) for n, v in values.items()]
        )
        yield
        self.meter = whole
        self.solver.pop()


def _is_product(term: Term) -> bool:
    """Return whether a term is a product, a quotient or a remainder of two numbers that are not known."""
    if term.op is not Op.ARITHMETIC:
        return False
    known = any(arg.is_constant for arg in term.args)
    return term.value not in (Operator.PLUS, Operator.MINUS) and not known


class BitQuestion(Question):
    """A question decided bit by bit.

    Args:
        encoder: writes the terms.
        meter: counts the steps that are taken.
    """

    HEAVY = 8

    def __init__(self, encoder: BitEncoder, meter: Meter) -> None:
        super().__init__(z3.Then(*BIT_BY_BIT, ctx=encoder.context).solver(), meter)
        self.encoder = encoder

    def written(self, term: Term) -> Any:
        """Return what a term is for the solver."""
        return self.encoder.values[term.index]

    def add(self, terms: Iterable[Term]) -> None:
        """Ask for more.

        Raises:
            NotInBitsError: something in it is not written bit by bit.
        """
        roots, rules = list(terms), list[Any]()
        for term in self.first_mentioned(roots):
            self.encoder.write(term)
            rules += self.encoder.rules[term.index]
        self.solver.add(rules + [self.written(term) for term in roots])
