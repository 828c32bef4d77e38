"""Generated C computes as the interpreter of charts does, bit for bit, if float and double are IEEE 754."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from posewright.charts.expression import Scope, parse_expression
from posewright.charts.types import FloatType, IntType, to_single
from posewright.codegen.c.arithmetic import fragment, headers, with_called_fragments
from posewright.codegen.c.arithmetic.fragments import every_name

from .c_functions import Functions, assert_same, is_function
from .conftest import need_tool
from .operands import DOUBLES, INTEGERS, SINGLES, pairs, random_doubles, random_integers, random_singles

LOW, HIGH = -(2**31), 2**31 - 1
NATIVE = tuple(name for name in every_name() if is_function(name) and "f64" not in name)


@pytest.fixture(scope="module")
def c(tmp_path_factory: pytest.TempPathFactory) -> Functions:
    """Give every fragment for this computer, compiled without a warning, watched for undefined behaviour."""
    return Functions(need_tool("gcc"), tmp_path_factory.mktemp("c"), NATIVE)


def interpreted(text: str, kind: IntType | FloatType) -> Callable[[Any, Any], Any]:
    """Return a formula of a and b as the interpreter computes it."""
    evaluate = parse_expression(text, Scope({"a": kind, "b": kind})).evaluate
    return lambda a, b: evaluate({"a": a, "b": b})


WHOLE = {
    "pw_add": "a + b",
    "pw_sub": "a - b",
    "pw_mul": "a * b",
    "pw_mod": "a % b",
    "pw_min_i32": "min(a, b)",
    "pw_max_i32": "max(a, b)",
    "pw_neg": "-a",
    "pw_abs": "abs(a)",
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_are_the_interpreters(c: Functions, name: str) -> None:
    a, b = pairs(INTEGERS, random_integers)
    if name == "pw_mod":
        a, b = a[b != 0], b[b != 0]
    formula = interpreted(WHOLE[name], IntType())
    found = c(name, a) if name in ("pw_neg", "pw_abs") else c(name, a, b)
    assert_same(found, list(map(formula, a.tolist(), b.tolist())), a, b)


def test_a_whole_number_is_kept_in_its_range_as_a_register_keeps_it(c: Functions) -> None:
    v, _ = pairs(INTEGERS, random_integers)
    for kind in (IntType(), IntType(-128, 127), IntType(3, 3), IntType(-9, -2), IntType(0, 65535)):
        assert_same(c("pw_clamp_i32", v, kind.low, kind.high), [kind.clamp(one) for one in v.tolist()], v, v)


FRACTIONS = {"fmod": "a % b", "min": "min(a, b)", "max": "max(a, b)"}


@pytest.mark.parametrize("operation", FRACTIONS)
def test_fractions_of_64_bits_are_the_interpreters(c: Functions, operation: str) -> None:
    a, b = pairs(DOUBLES, random_doubles)
    if operation == "fmod":
        a, b = a[b != 0], b[b != 0]
    name = "pw_fmod" if operation == "fmod" else f"pw_{operation}_double"
    formula = interpreted(FRACTIONS[operation], FloatType())
    assert_same(c(name, a, b), list(map(formula, a.tolist(), b.tolist())), a, b)


@pytest.mark.parametrize("operation", FRACTIONS)
def test_fractions_of_32_bits_are_the_interpreters(c: Functions, operation: str) -> None:
    a, b = pairs(SINGLES, random_singles)
    if operation == "fmod":
        a, b = a[b != 0], b[b != 0]
    name = "pw_fmodf" if operation == "fmod" else f"pw_{operation}_float"
    formula = interpreted(FRACTIONS[operation], FloatType(single=True))
    assert_same(c(name, a, b), list(map(formula, a.tolist(), b.tolist())), a, b)


@pytest.mark.parametrize("sign", "+-*/")
def test_an_operation_in_float_is_one_of_64_bits_rounded(sign: str) -> None:
    a, b = pairs(SINGLES, random_singles)
    if sign == "/":
        a, b = a[b != 0], b[b != 0]
    formula = interpreted(f"a {sign} b", FloatType(single=True))
    apply = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[sign]
    with np.errstate(all="ignore"):
        found = apply(a, b)
    assert_same(found, list(map(formula, a.tolist(), b.tolist())), a, b)


def test_the_division_for_an_avr_divides_as_this_processor(c: Functions) -> None:
    a, b = pairs(SINGLES, random_singles)
    with np.errstate(all="ignore"):
        assert_same(c("pw_f32_div", a, b), a / b, a, b)


RANGES = [(-5.0, 5.0), (0.0, 1.5), (-0.0, 0.0), (-3.0, -0.0), (2.0, 7.0), (-7.5, -7.5)]


@pytest.mark.parametrize("single", [False, True])
def test_a_fraction_is_kept_in_its_range_as_a_register_keeps_it(c: Functions, single: bool) -> None:
    v, _ = pairs(SINGLES, random_singles) if single else pairs(DOUBLES, random_doubles)
    kinds = [FloatType(low, high, single) for low, high in RANGES] + [FloatType(single=single)]
    for kind in kinds:
        name = "pw_fit_float" if single else "pw_fit_double"
        found = c(name, v, kind.low, kind.high, kind.default)
        assert_same(found, [kind.clamp(one) for one in v.tolist()], v, v)


def test_a_whole_number_may_be_rounded_to_32_bits_before_it_is_cut() -> None:
    v, _ = pairs(INTEGERS, random_integers)
    for low, high in [*RANGES, (-1e9, 16777217.0)]:
        kind = FloatType(low, high, single=True)
        first = [kind.clamp(to_single(float(one))) for one in v.tolist()]
        after = [kind.clamp(one) for one in v.tolist()]
        assert struct.pack(f"{len(v)}f", *first) == struct.pack(f"{len(v)}f", *after)


def test_a_fragment_comes_after_what_it_calls_and_brings_its_headers() -> None:
    assert with_called_fragments(["pw_abs", "pw_fit_double", "pw_abs"]) == (
        "pw_neg",
        "pw_abs",
        "pw_min_double",
        "pw_max_double",
        "pw_fit_double",
    )
    assert headers(["pw_abs"]) == ("stdint.h",)
    assert "math.h" in headers(["pw_fmod"])


def test_every_fragment_says_first_what_it_is_and_is_whole() -> None:
    for name in every_name():
        text = "\n".join(fragment(name))
        assert text.startswith(f"/* {name}: "), name
        assert text.count("{") == text.count("}"), name


def test_a_name_that_is_no_fragment_is_a_mistake_of_the_generator() -> None:
    with pytest.raises(ValueError, match="no fragment of C named pw_plus"):
        fragment("pw_plus")
    with pytest.raises(ValueError, match="pw_plus"):
        with_called_fragments(["pw_add", "pw_plus"])


def test_special_operands_meet_each_other() -> None:
    a, b = pairs(DOUBLES, random_doubles)
    met = set(
        itertools.islice(zip(a.view("u8").tolist(), b.view("u8").tolist(), strict=True), len(DOUBLES) ** 2)
    )
    assert len(a) >= 100_000 + len(DOUBLES) ** 2
    assert len(met) == len(DOUBLES) ** 2
