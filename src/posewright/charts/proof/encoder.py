"""Encoding of terms for the SMT solver, Bitwuzla, as bit vectors and floating-point numbers.

Integers are bit vectors as wide as their interval needs, fractions are IEEE 754 numbers of 32 or 64 bits. The
encoding is exact with one exception: the remainder of two fractions is encoded only for finite divisors and
quotients below `QUOTIENT_LIMIT`. Beyond, it is any number within its bounds; see `exact_conditions`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import reduce

from bitwuzla import Bitwuzla, Kind, RoundingMode, Term, TermManager

from posewright.charts.expression import Operator
from posewright.charts.proof.interval import DOUBLE, SINGLE, FloatFormat
from posewright.charts.proof.terms import SmtOp, SmtSort, SmtTerm
from posewright.charts.types import INT_HIGH, INT_LOW, BoolType, EnumType, FloatType, Type, Value

QUOTIENT_LIMIT = 2.0**52
"""Quotients of fractions below which a remainder is encoded exactly."""

_INTEGER_OPERATIONS = {
    Operator.PLUS: Kind.BV_ADD,
    Operator.MINUS: Kind.BV_SUB,
    Operator.TIMES: Kind.BV_MUL,
    Operator.MODULO: Kind.BV_SMOD,  # has the sign of the divisor, as Python's
}
_FLOAT_OPERATIONS = {
    Operator.PLUS: Kind.FP_ADD,
    Operator.MINUS: Kind.FP_SUB,
    Operator.TIMES: Kind.FP_MUL,
    Operator.OVER: Kind.FP_DIV,
}
_INTEGER_COMPARISONS = {SmtOp.LESS: Kind.BV_SLT, SmtOp.AT_MOST: Kind.BV_SLE, SmtOp.EQUAL: Kind.EQUAL}
_FLOAT_COMPARISONS = {SmtOp.LESS: Kind.FP_LT, SmtOp.AT_MOST: Kind.FP_LEQ, SmtOp.EQUAL: Kind.FP_EQUAL}
_LOGIC_OPERATIONS = {SmtOp.NOT: Kind.NOT, SmtOp.AND: Kind.AND, SmtOp.OR: Kind.OR, SmtOp.IF: Kind.ITE}
_STRUCT_FORMATS = {DOUBLE: ">d", SINGLE: ">f"}
_BYTE_SIZES = {DOUBLE: 8, SINGLE: 4}


class BitEncoder:
    """Encodes terms for the solver, each only once.

    Attributes:
        manager: makes the terms of the solver.
        round_nearest: the rounding mode of all arithmetic.
        sorts: the solver's sort of each floating-point format.
        encoded_terms: the terms of the solver, by the index of the SmtTerm.
        constraints: conditions on each variable that follow from its type, by the index of its SmtTerm.
        exact_conditions: for each remainder, the condition under which it is encoded exactly, by the index of
            its SmtTerm.
    """

    def __init__(self) -> None:
        """Start without encoded terms, with a term manager of its own."""
        self.manager = TermManager()
        self.round_nearest = self.manager.mk_rm_value(RoundingMode.RNE)
        self.sorts = {DOUBLE: self.manager.mk_fp_sort(*DOUBLE), SINGLE: self.manager.mk_fp_sort(*SINGLE)}
        self.encoded_terms: dict[int, Term] = {}
        self.constraints: dict[int, list[Term]] = {}
        self.exact_conditions: dict[int, Term] = {}

    def encode(self, term: SmtTerm) -> None:
        """Encode a term whose arguments are encoded already, and store the result in `encoded_terms`."""
        if term.index in self.encoded_terms:
            return
        if term.sort is SmtSort.BOOLEAN:
            self.encoded_terms[term.index] = self._encode_boolean(term)
        elif term.sort is SmtSort.INTEGER:
            self.encoded_terms[term.index] = self._encode_integer(term)
        else:
            self.encoded_terms[term.index] = self._encode_float(term)

    def encoded_form(self, term: SmtTerm) -> Term:
        """Return the solver's term of a term that was encoded before."""
        return self.encoded_terms[term.index]

    def read_value(self, solver: Bitwuzla, term: SmtTerm, value_type: Type) -> Value:
        """Return the value of a variable in the model of the solver.

        Args:
            solver: the solver, after it has found a model.
            term: the variable.
            value_type: the type of the variable.
        """
        model_value = solver.get_value(self.encoded_form(term))
        binary_value = model_value.value(2, False)  # in base 2, without the prefix of SMT-LIB
        if isinstance(value_type, BoolType):
            return bool(binary_value)
        binary_digits = str(binary_value)
        bits = int(binary_digits, 2)
        if isinstance(value_type, FloatType):
            float_format = _format_of(term)
            value_bytes = bits.to_bytes(_BYTE_SIZES[float_format], "big")
            (number,) = struct.unpack(_STRUCT_FORMATS[float_format], value_bytes)
            return float(number) + 0.0  # turns -0.0 into 0.0
        is_negative = binary_digits.startswith("1")  # two's complement
        integer = bits - (1 << len(binary_digits)) if is_negative else bits
        return value_type.values[term.codes.index(integer)] if isinstance(value_type, EnumType) else integer

    def _make_term(self, solver_operator: Kind, *args: Term, indices: Sequence[int] = ()) -> Term:
        """Return a term of the solver; `indices` are the numbers that some operators need, such as widths."""
        return self.manager.mk_term(solver_operator, list(args), list(indices))

    def _make_if(self, condition: Term, then_term: Term, else_term: Term) -> Term:
        """Return the solver's term of `then_term if condition else else_term`."""
        return self._make_term(Kind.ITE, condition, then_term, else_term)

    def _select_extreme(self, candidates: Sequence[Term], comparison: Kind) -> Term:
        """Return the minimum or maximum of some terms, the first of equal ones, as `min` and `max` do.

        Args:
            candidates: the terms.
            comparison: less than, for the minimum, or greater than.
        """

        def select(best: Term, candidate: Term) -> Term:
            """Return the candidate where it is better than the best one so far, else that."""
            is_better = self._make_term(comparison, candidate, best)
            return self._make_if(is_better, candidate, best)

        return reduce(select, candidates)

    # Booleans

    def _encode_boolean(self, term: SmtTerm) -> Term:
        """Return the solver's term of a Boolean term, whose arguments are encoded already."""
        if term.is_constant:
            return self.manager.mk_true() if term.is_true else self.manager.mk_false()
        if term.op is SmtOp.VARIABLE:
            return self.manager.mk_const(self.manager.mk_bool_sort(), term.variable_name)
        if term.op in _LOGIC_OPERATIONS:
            operands = [self.encoded_form(arg) for arg in term.args]
            return self._make_term(_LOGIC_OPERATIONS[term.op], *operands)
        # everything else is a comparison
        left, right = term.args
        if left.sort is SmtSort.FLOAT:
            both_fit_single = left.interval.fits_single and right.interval.fits_single
            float_format = SINGLE if both_fit_single else DOUBLE
            return self._make_term(
                _FLOAT_COMPARISONS[term.op],
                self._to_format(left, float_format),
                self._to_format(right, float_format),
            )
        width = max(_width(left), _width(right))
        return self._make_term(
            _INTEGER_COMPARISONS[term.op],
            self._extend_to_width(left, width),
            self._extend_to_width(right, width),
        )

    # Integers

    def _integer_constant(self, value: float, width: int) -> Term:
        """Return an integer constant as a bit vector of `width` bits."""
        return self.manager.mk_bv_value(self.manager.mk_bv_sort(width), int(value))

    def _extend_to_width(self, term: SmtTerm, width: int) -> Term:
        """Return the bit vector of an integer with `width` bits, which are at least as many as it needs."""
        value = self.encoded_form(term)
        n_extra_bits = width - _width(term)
        return self._make_term(Kind.BV_SIGN_EXTEND, value, indices=[n_extra_bits]) if n_extra_bits else value

    def _encode_integer(self, term: SmtTerm) -> Term:
        """Return the bit vector of an integer term, of the term's width."""
        width = _width(term)
        if term.is_constant:
            return self._integer_constant(term.value, width)
        if term.op is SmtOp.VARIABLE:
            return self._encode_integer_variable(term, width)
        if term.op is SmtOp.IF:
            condition, *branches = term.args
            encoded_branches = [self._extend_to_width(branch, width) for branch in branches]
            return self._make_if(self.encoded_form(condition), *encoded_branches)
        # computed with one more bit than operands and result need, and cut afterwards
        wide_width = max(width, *(_width(arg) for arg in term.args)) + 1
        operands = [self._extend_to_width(arg, wide_width) for arg in term.args]
        wide_result = self._encode_integer_operation(term, wide_width, operands)
        last_bit = width - 1
        return self._make_term(Kind.BV_EXTRACT, wide_result, indices=[last_bit, 0])

    def _encode_integer_variable(self, term: SmtTerm, width: int) -> Term:
        """Return a variable, and store its constraints: its bounds, and the codes of an enumeration.

        Args:
            term: the variable.
            width: the number of its bits.
        """
        variable = self.manager.mk_const(self.manager.mk_bv_sort(width), term.variable_name)
        low = self._integer_constant(term.interval.low, width)
        high = self._integer_constant(term.interval.high, width)
        constraints = [
            self._make_term(Kind.BV_SLE, low, variable),
            self._make_term(Kind.BV_SLE, variable, high),
        ]
        # an enumeration whose codes are all the integers between the bounds needs no further constraint
        has_gaps = len(term.codes) <= term.interval.high - term.interval.low
        if term.codes and has_gaps:
            equalities = [
                self._make_term(Kind.EQUAL, variable, self._integer_constant(code, width))
                for code in term.codes
            ]
            constraints.append(
                self._make_term(Kind.OR, *equalities) if len(equalities) > 1 else equalities[0]
            )
        self.constraints[term.index] = constraints
        return variable

    def _encode_integer_operation(self, term: SmtTerm, width: int, operands: list[Term]) -> Term:
        """Return the bit vector of an operation.

        Args:
            term: the operation.
            width: the number of bits of the operands and of the result, enough for both.
            operands: the encoded operands.
        """
        is_less = Kind.BV_SLT  # selects the minimum
        is_greater = Kind.BV_SGT  # selects the maximum
        if term.op is SmtOp.ARITHMETIC:
            operator = term.value
            return self._make_term(_INTEGER_OPERATIONS[operator], *operands)
        if term.op is SmtOp.NEGATE:
            return self._make_term(Kind.BV_NEG, operands[0])
        if term.op is SmtOp.SATURATE:
            low = self._integer_constant(INT_LOW, width)
            high = self._integer_constant(INT_HIGH, width)
            at_most_high = self._select_extreme([operands[0], high], is_less)
            return self._select_extreme([at_most_high, low], is_greater)
        candidates = operands
        if term.op is SmtOp.ABS:  # the maximum of a number and its negation
            candidates = [*operands, self._make_term(Kind.BV_NEG, *operands)]
        return self._select_extreme(candidates, is_less if term.op is SmtOp.MIN else is_greater)

    # Fractions

    def _float_constant(self, value: float, float_format: FloatFormat) -> Term:
        """Return the constant with the bits of a number in a floating-point format."""
        bits = int.from_bytes(struct.pack(_STRUCT_FORMATS[float_format], value), "big")
        bit_vector = self._integer_constant(bits, width=8 * _BYTE_SIZES[float_format])
        return self._make_term(Kind.FP_TO_FP_FROM_BV, bit_vector, indices=float_format)

    def _to_format(self, term: SmtTerm, float_format: FloatFormat) -> Term:
        """Return a fraction in a format that can represent it."""
        if term.is_constant:
            return self._float_constant(term.value, float_format)
        value = self.encoded_form(term)
        return value if value.sort() == self.sorts[float_format] else self._round(value, float_format)

    def _round(self, value: Term, float_format: FloatFormat) -> Term:
        """Return a fraction rounded to a floating-point format."""
        return self._make_term(Kind.FP_TO_FP_FROM_FP, self.round_nearest, value, indices=float_format)

    def _encode_float(self, term: SmtTerm) -> Term:
        """Return the floating-point term of a fraction, in single or double format."""
        float_format = _format_of(term)
        if term.is_constant:
            return self._float_constant(term.value, DOUBLE)
        if term.op is SmtOp.VARIABLE:
            return self._encode_float_variable(term, float_format)
        if term.op is SmtOp.TO_FLOAT:
            integer = self.encoded_form(term.args[0])
            return self._make_term(Kind.FP_TO_FP_FROM_SBV, self.round_nearest, integer, indices=DOUBLE)
        if term.op is SmtOp.TO_SINGLE:
            return self._round(self._to_format(term.args[0], DOUBLE), SINGLE)
        if term.op is SmtOp.ARITHMETIC:
            return self._encode_float_arithmetic(term)
        return self._encode_float_selection(term, float_format)

    def _encode_float_variable(self, term: SmtTerm, float_format: FloatFormat) -> Term:
        """Return a variable for a fraction, constrained to its bounds."""
        variable = self.manager.mk_const(self.sorts[float_format], term.variable_name)
        self._constrain_to_bounds(term, variable, float_format)
        return variable

    def _constrain_to_bounds(self, term: SmtTerm, variable: Term, float_format: FloatFormat) -> None:
        """Add the constraint that a fraction is within its bounds.

        Args:
            term: the fraction, whose bounds are known.
            variable: the variable that represents it in the solver.
            float_format: the format of the variable.
        """
        low = self._float_constant(term.interval.low, float_format)
        high = self._float_constant(term.interval.high, float_format)
        self.constraints[term.index] = [
            self._make_term(Kind.FP_LEQ, low, variable),
            self._make_term(Kind.FP_LEQ, variable, high),
        ]

    def _encode_float_arithmetic(self, term: SmtTerm) -> Term:
        """Return the operation on two fractions in the term's format."""
        left, right = (self._to_format(arg, term.float_format) for arg in term.args)
        if term.arithmetic_operator is Operator.MODULO:
            return self._encode_remainder(term, left, right)
        return self._make_term(_FLOAT_OPERATIONS[term.value], self.round_nearest, left, right)

    def _encode_remainder(self, term: SmtTerm, left: Term, right: Term) -> Term:
        """Return Python's `%`: the remainder of the absolute values, which is exact, with the divisor's sign.

        A quotient rounded towards zero has the same integral part as the exact one, as long as every integer
        up to it is a number of 64 bits. Beyond, the remainder is any number within its bounds; the condition
        under which it is exact is stored in `exact_conditions`.

        Args:
            term: the remainder.
            left: what is divided.
            right: the divisor.
        """
        # of the absolute values: remainder = dividend - integral part of (dividend / divisor) * divisor
        dividend = self._make_term(Kind.FP_ABS, left)
        divisor = self._make_term(Kind.FP_ABS, right)
        zero = self._float_constant(0.0, DOUBLE)
        toward_zero = self.manager.mk_rm_value(RoundingMode.RTZ)
        quotient = self._make_term(Kind.FP_DIV, toward_zero, dividend, divisor)
        integral_part = self._make_term(Kind.FP_RTI, toward_zero, quotient)
        negated_part = self._make_term(Kind.FP_NEG, integral_part)
        remainder = self._make_term(Kind.FP_FMA, self.round_nearest, negated_part, divisor, dividend)
        left_is_negative = self._make_term(Kind.FP_LT, left, zero)
        right_is_negative = self._make_term(Kind.FP_LT, right, zero)
        has_opposite_signs = self._make_term(Kind.XOR, left_is_negative, right_is_negative)
        is_nonzero = self._make_term(Kind.NOT, self._make_term(Kind.FP_IS_ZERO, remainder))
        # -7 % 3 is 2 and not 1: with opposite signs, the magnitude is what remains up to the divisor
        is_complemented = self._make_term(Kind.AND, has_opposite_signs, is_nonzero)
        complement = self._make_term(Kind.FP_SUB, self.round_nearest, divisor, remainder)
        magnitude = self._make_if(is_complemented, complement, remainder)
        negated_magnitude = self._make_term(Kind.FP_NEG, magnitude)
        signed_remainder = self._make_if(right_is_negative, negated_magnitude, magnitude)
        is_small = self._make_term(Kind.FP_LT, quotient, self._float_constant(QUOTIENT_LIMIT, DOUBLE))
        is_finite = self._make_term(Kind.FP_LT, divisor, self._float_constant(math.inf, DOUBLE))
        is_exact = self._make_term(Kind.AND, is_small, is_finite)
        self.exact_conditions[term.index] = is_exact
        return self._make_if(is_exact, signed_remainder, self._build_unknown_remainder(term))

    def _build_unknown_remainder(self, term: SmtTerm) -> Term:
        """Return a new variable for a remainder of which only the bounds are known."""
        remainder = self.manager.mk_const(self.sorts[DOUBLE], f"remainder {term.index}")
        if term.interval.is_finite:
            self._constrain_to_bounds(term, remainder, DOUBLE)
        return remainder

    def _encode_float_selection(self, term: SmtTerm, float_format: FloatFormat) -> Term:
        """Return `if`, `min`, `max`, `abs` or the negation of fractions."""
        if term.op is SmtOp.IF:
            condition, *branches = term.args
            encoded_branches = [self._to_format(branch, float_format) for branch in branches]
            return self._make_if(self.encoded_form(condition), *encoded_branches)
        operands = [self._to_format(arg, float_format) for arg in term.args]
        if term.op is SmtOp.NEGATE:
            return self._make_term(Kind.FP_NEG, operands[0])
        if term.op is SmtOp.ABS:
            return self._make_term(Kind.FP_ABS, operands[0])
        return self._select_extreme(operands, Kind.FP_LT if term.op is SmtOp.MIN else Kind.FP_GT)


def _format_of(term: SmtTerm) -> FloatFormat:
    """Return the floating-point format in which a fraction is encoded."""
    return SINGLE if term.interval.fits_single else DOUBLE


def _width(term: SmtTerm) -> int:
    """Return the number of bits that an integer needs, including its sign."""
    low = int(term.interval.low)
    high = int(term.interval.high)
    low_bits = low.bit_length() if low >= 0 else (-low - 1).bit_length()
    return max(low_bits, high.bit_length()) + 1
