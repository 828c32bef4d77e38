"""Terms for the SMT solver, bit by bit: the one place, with `search`, that knows Bitwuzla.

Whole numbers are bit vectors as wide as their interval needs, fractions are IEEE 754 numbers of 32 or 64
bits: what the solver says of them is so, with one exception. The remainder of two fractions is written out
only for finite divisors and quotients below `QUOTIENT_LIMIT`; beyond, it is any number that a remainder may
be, and `exact` says where.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import reduce

from bitwuzla import Bitwuzla, Kind, RoundingMode, Term, TermManager

from posewright.charts.expression import Operator
from posewright.charts.proof.interval import DOUBLE, SINGLE, FloatFormat
from posewright.charts.proof.terms import SmtOp, SmtSort, SmtTerm
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, EnumType, FloatType, Type, Value

QUOTIENT_LIMIT = 2.0**52

_WHOLE = {
    Operator.PLUS: Kind.BV_ADD,
    Operator.MINUS: Kind.BV_SUB,
    Operator.TIMES: Kind.BV_MUL,
    Operator.MODULO: Kind.BV_SMOD,  # has the sign of the divisor, as Python's
}
_FRACTION = {
    Operator.PLUS: Kind.FP_ADD,
    Operator.MINUS: Kind.FP_SUB,
    Operator.TIMES: Kind.FP_MUL,
    Operator.OVER: Kind.FP_DIV,
}
_COMPARE_WHOLE = {SmtOp.LESS: Kind.BV_SLT, SmtOp.AT_MOST: Kind.BV_SLE, SmtOp.EQUAL: Kind.EQUAL}
_COMPARE_FRACTION = {SmtOp.LESS: Kind.FP_LT, SmtOp.AT_MOST: Kind.FP_LEQ, SmtOp.EQUAL: Kind.FP_EQUAL}
_CONNECT = {SmtOp.NOT: Kind.NOT, SmtOp.AND: Kind.AND, SmtOp.OR: Kind.OR, SmtOp.IF: Kind.ITE}
_PACKED = {DOUBLE: (">d", 8), SINGLE: (">f", 4)}


class BitEncoder:
    """Writes terms for the solver, each just once.

    Attributes:
        written: what a term is for the solver, by its index.
        rules: what is known of a variable, by the index of its term.
        exact: where a remainder is written out, by the index of its term.
    """

    def __init__(self) -> None:
        self.manager = TermManager()
        self.near = self.manager.mk_rm_value(RoundingMode.RNE)
        self.sorts = {DOUBLE: self.manager.mk_fp_sort(*DOUBLE), SINGLE: self.manager.mk_fp_sort(*SINGLE)}
        self.written: dict[int, Term] = {}
        self.rules: dict[int, list[Term]] = {}
        self.exact: dict[int, Term] = {}

    def write(self, term: SmtTerm) -> None:
        """Write a term whose arguments are written already."""
        if term.index not in self.written:
            build = {
                SmtSort.TRUTH: self._truth,
                SmtSort.WHOLE: self._whole,
                SmtSort.FRACTION: self._fraction,
            }[term.sort]
            self.written[term.index] = build(term)

    def value_found(self, solver: Bitwuzla, term: SmtTerm, kind: Type) -> Value:
        """Return the value that a variable of that type has in the case which the solver found."""
        found = solver.get_value(self.written[term.index]).value(2, False)
        if isinstance(kind, BoolType):
            return bool(found)
        bits = int(found, 2)
        if isinstance(kind, FloatType):
            number, size = _PACKED[SINGLE if term.interval.single else DOUBLE]
            return float(struct.unpack(number, bits.to_bytes(size, "big"))[0]) + 0.0  # no negative zero
        whole = bits - (1 << len(found)) if found[0] == "1" else bits
        return kind.values[term.codes.index(whole)] if isinstance(kind, EnumType) else whole

    def _make(self, kind: Kind, *args: Term, indices: Sequence[int] = ()) -> Term:
        return self.manager.mk_term(kind, list(args), list(indices))

    def _if(self, condition: Term, then: Term, otherwise: Term) -> Term:
        return self._make(Kind.ITE, condition, then, otherwise)

    def _folded(self, parts: Sequence[Term], beats: Callable[[Term, Term], Term]) -> Term:
        """Return the first of the parts that no later one beats, as `min` and `max` choose."""
        return reduce(lambda kept, next_: self._if(beats(next_, kept), next_, kept), parts)

    # truth

    def _truth(self, term: SmtTerm) -> Term:
        if term.is_constant:
            return self.manager.mk_true() if term.is_true else self.manager.mk_false()
        if term.op is SmtOp.VARIABLE:
            return self.manager.mk_const(self.manager.mk_bool_sort(), str(term.value))
        if term.op in _CONNECT:
            return self._make(_CONNECT[term.op], *(self.written[arg.index] for arg in term.args))
        one, other = term.args
        if one.sort is SmtSort.FRACTION:
            form = SINGLE if one.interval.single and other.interval.single else DOUBLE
            return self._make(_COMPARE_FRACTION[term.op], self._in(one, form), self._in(other, form))
        width = max(_width(one), _width(other))
        return self._make(_COMPARE_WHOLE[term.op], self._wide(one, width), self._wide(other, width))

    # whole numbers

    def _number(self, value: float, width: int) -> Term:
        return self.manager.mk_bv_value(self.manager.mk_bv_sort(width), int(value))

    def _wide(self, term: SmtTerm, width: int) -> Term:
        """Return a whole number with so many bits, at least as many as it needs."""
        value, more = self.written[term.index], width - _width(term)
        return self._make(Kind.BV_SIGN_EXTEND, value, indices=[more]) if more else value

    def _whole(self, term: SmtTerm) -> Term:
        width = _width(term)
        if term.is_constant:
            return self._number(term.value, width)
        if term.op is SmtOp.VARIABLE:
            return self._whole_variable(term, width)
        if term.op is SmtOp.IF:
            return self._if(self.written[term.args[0].index], *(self._wide(a, width) for a in term.args[1:]))
        room = max(width, *(_width(arg) for arg in term.args)) + 1
        found = self._computed(term, room, [self._wide(arg, room) for arg in term.args])
        return self._make(Kind.BV_EXTRACT, found, indices=[width - 1, 0])

    def _whole_variable(self, term: SmtTerm, width: int) -> Term:
        value = self.manager.mk_const(self.manager.mk_bv_sort(width), str(term.value))
        low, high = (self._number(end, width) for end in (term.interval.low, term.interval.high))
        rules = [self._make(Kind.BV_SLE, low, value), self._make(Kind.BV_SLE, value, high)]
        if term.codes and len(term.codes) <= term.interval.high - term.interval.low:
            codes = [self._make(Kind.EQUAL, value, self._number(code, width)) for code in term.codes]
            rules.append(self._make(Kind.OR, *codes) if len(codes) > 1 else codes[0])
        self.rules[term.index] = rules
        return value

    def _computed(self, term: SmtTerm, room: int, parts: list[Term]) -> Term:
        if term.op is SmtOp.ARITHMETIC:
            return self._make(_WHOLE[term.value], *parts)
        if term.op is SmtOp.NEGATIVE:
            return self._make(Kind.BV_NEG, parts[0])
        if term.op is SmtOp.ABSOLUTE:
            parts = [*parts, self._make(Kind.BV_NEG, *parts)]  # the greater of the two
        if term.op is SmtOp.SATURATE:
            low, high = self._number(INT_LOW, room), self._number(INT_HIGH, room)
            least = self._folded([parts[0], high], lambda a, b: self._make(Kind.BV_SLT, a, b))
            return self._folded([least, low], lambda a, b: self._make(Kind.BV_SGT, a, b))
        beats = Kind.BV_SLT if term.op is SmtOp.LEAST else Kind.BV_SGT
        return self._folded(parts, lambda a, b: self._make(beats, a, b))

    # fractions

    def _constant(self, value: float, form: FloatFormat) -> Term:
        number, size = _PACKED[form]
        bits = int.from_bytes(struct.pack(number, value), "big")
        return self._make(Kind.FP_TO_FP_FROM_BV, self._number(bits, 8 * size), indices=form)

    def _in(self, term: SmtTerm, form: FloatFormat) -> Term:
        """Return a fraction in a format that has it."""
        if term.is_constant:
            return self._constant(term.value, form)
        value = self.written[term.index]
        return value if value.sort() == self.sorts[form] else self._rounded(value, form)

    def _rounded(self, value: Term, form: FloatFormat) -> Term:
        return self._make(Kind.FP_TO_FP_FROM_FP, self.near, value, indices=form)

    def _fraction(self, term: SmtTerm) -> Term:
        form = SINGLE if term.interval.single else DOUBLE
        if term.is_constant:
            return self._constant(term.value, DOUBLE)
        if term.op is SmtOp.VARIABLE:
            return self._fraction_variable(term, form)
        if term.op is SmtOp.FRACTION:
            whole = self.written[term.args[0].index]
            return self._make(Kind.FP_TO_FP_FROM_SBV, self.near, whole, indices=DOUBLE)
        if term.op is SmtOp.SINGLE:
            return self._rounded(self._in(term.args[0], DOUBLE), SINGLE)
        if term.op is SmtOp.ARITHMETIC:
            return self._arithmetic(term)
        return self._chosen(term, form)

    def _fraction_variable(self, term: SmtTerm, form: FloatFormat) -> Term:
        value = self.manager.mk_const(self.sorts[form], str(term.value))
        self._bound(term, value, form)
        return value

    def _bound(self, term: SmtTerm, value: Term, form: FloatFormat) -> None:
        """Note that a fraction is between its ends."""
        low, high = self._constant(term.interval.low, form), self._constant(term.interval.high, form)
        self.rules[term.index] = [
            self._make(Kind.FP_LEQ, low, value),
            self._make(Kind.FP_LEQ, value, high),
        ]

    def _arithmetic(self, term: SmtTerm) -> Term:
        left, right = (self._in(arg, term.form) for arg in term.args)
        if term.value is Operator.MODULO:
            return self._remainder(term, left, right)
        return self._make(_FRACTION[term.value], self.near, left, right)

    def _remainder(self, term: SmtTerm, left: Term, right: Term) -> Term:
        """Return Python's `%`: the remainder of the sizes, which is exact, then on the side of the divisor.

        A quotient rounded towards zero has the same whole part as the exact one, as long as every whole
        number up to it is a number of 64 bits.
        """
        size, divisor = self._make(Kind.FP_ABS, left), self._make(Kind.FP_ABS, right)
        zero = self._constant(0.0, DOUBLE)
        toward_zero = self.manager.mk_rm_value(RoundingMode.RTZ)
        quotient = self._make(Kind.FP_DIV, toward_zero, size, divisor)
        whole = self._make(Kind.FP_RTI, toward_zero, quotient)
        rest = self._make(Kind.FP_FMA, self.near, self._make(Kind.FP_NEG, whole), divisor, size)
        opposite = self._make(
            Kind.XOR, self._make(Kind.FP_LT, left, zero), self._make(Kind.FP_LT, right, zero)
        )
        across = self._make(Kind.AND, opposite, self._make(Kind.NOT, self._make(Kind.FP_IS_ZERO, rest)))
        rest = self._if(across, self._make(Kind.FP_SUB, self.near, divisor, rest), rest)
        rest = self._if(self._make(Kind.FP_LT, right, zero), self._make(Kind.FP_NEG, rest), rest)
        short = self._make(Kind.FP_LT, quotient, self._constant(QUOTIENT_LIMIT, DOUBLE))
        finite = self._make(Kind.FP_LT, divisor, self._constant(math.inf, DOUBLE))
        self.exact[term.index] = exact = self._make(Kind.AND, short, finite)
        return self._if(exact, rest, self._some_remainder(term))

    def _some_remainder(self, term: SmtTerm) -> Term:
        """Return a number of which nothing but the ends is known."""
        found = self.manager.mk_const(self.sorts[DOUBLE], f"remainder {term.index}")
        if term.interval.finite:
            self._bound(term, found, DOUBLE)
        return found

    def _chosen(self, term: SmtTerm, form: FloatFormat) -> Term:
        """Return a fraction that is one of its arguments, or one with another sign."""
        if term.op is SmtOp.IF:
            return self._if(self.written[term.args[0].index], *(self._in(a, form) for a in term.args[1:]))
        parts = [self._in(arg, form) for arg in term.args]
        if term.op is SmtOp.NEGATIVE:
            return self._make(Kind.FP_NEG, parts[0])
        if term.op is SmtOp.ABSOLUTE:
            return self._make(Kind.FP_ABS, parts[0])
        beats = Kind.FP_LT if term.op is SmtOp.LEAST else Kind.FP_GT
        return self._folded(parts, lambda a, b: self._make(beats, a, b))


def _width(term: SmtTerm) -> int:
    """Return the bits that a whole number needs, its sign among them."""
    low, high = int(term.interval.low), int(term.interval.high)
    return max(low.bit_length() if low >= 0 else (-low - 1).bit_length(), high.bit_length()) + 1
