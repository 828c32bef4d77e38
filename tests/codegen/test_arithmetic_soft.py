"""Fractions of 64 bits without a compiler's double are those of IEEE 754, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posewright.charts.types import FloatType
from posewright.codegen.c.arithmetic.fragments import every_name

from .c_functions import Functions, assert_same, is_function
from .conftest import need_tool
from .operands import (
    DOUBLES,
    INTEGERS,
    SINGLES,
    pairs,
    random_doubles,
    random_integers,
    random_singles,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


@pytest.fixture(scope="module")
def c(tmp_path_factory: pytest.TempPathFactory) -> Functions:
    """Give the soft functions for this computer, watched for undefined behaviour."""
    names = [name for name in every_name() if name.startswith("pw_f64") and is_function(name)]
    return Functions(need_tool("gcc"), tmp_path_factory.mktemp("soft"), names)


@pytest.fixture(scope="module")
def operands() -> tuple[Any, Any]:
    """Give pairs of operands."""
    return pairs(DOUBLES, random_doubles)


def soft(c: Functions, name: str, *arguments: Any) -> Any:
    """Return what a soft function gives, as numbers where it gives the bits of numbers."""
    found = c(name, *(np.asarray(one).view(np.uint64) for one in arguments))
    return found.view(np.float64) if found.dtype == np.uint64 else found


OPERATIONS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_are_rounded_as_this_processor_rounds_them(
    c: Functions, operands: tuple[Any, Any], operation: str
) -> None:
    a, b = operands
    assert_same(soft(c, f"pw_f64_{operation}", a, b), OPERATIONS[operation](a, b), a, b)


@pytest.mark.parametrize("operation", ["mod", "min", "max"])
def test_rest_and_extremes_are_pythons(c: Functions, operands: tuple[Any, Any], operation: str) -> None:
    a, b = operands
    if operation == "mod":
        a, b = a[b != 0], b[b != 0]
    compute = {"mod": lambda x, y: x % y, "min": min, "max": max}[operation]
    assert_same(soft(c, f"pw_f64_{operation}", a, b), list(map(compute, a.tolist(), b.tolist())), a, b)


@pytest.mark.parametrize("comparison", ["lt", "le", "eq"])
def test_comparisons_are_false_of_what_is_no_number(
    c: Functions, operands: tuple[Any, Any], comparison: str
) -> None:
    a, b = operands
    expected = {"lt": a < b, "le": a <= b, "eq": a == b}[comparison]
    assert_same(soft(c, f"pw_f64_{comparison}", a, b), expected, a, b)
    same = soft(c, f"pw_f64_{comparison}", a, a)
    assert_same(same, (a == a) & (comparison != "lt"), a, a)  # noqa: PLR0124 -- NaN


def test_signs_are_turned_and_taken_away(c: Functions, operands: tuple[Any, Any]) -> None:
    a, _ = operands
    assert_same(soft(c, "pw_f64_neg", a), -a, a, a)
    assert_same(soft(c, "pw_f64_abs", a), abs(a), a, a)


def test_other_numbers_become_doubles_and_go_back(c: Functions, operands: tuple[Any, Any]) -> None:
    a, _ = operands
    whole, _ = pairs(INTEGERS, random_integers)
    single, _ = pairs(SINGLES, random_singles)
    assert_same(c("pw_f64_from_i32", whole).view(np.float64), whole.astype(np.float64), whole, whole)
    widened = c("pw_f64_from_f32", single)
    assert_same(widened.view(np.float64), single.astype(np.float64), single, single)
    assert_same(c("pw_f64_to_f32", widened), single, single, single)
    assert_same(soft(c, "pw_f64_to_f32", a), a.astype(np.float32), a, a)


def test_doubles_are_rounded_to_32_bits_at_the_middle_of_two_as_well(c: Functions) -> None:
    single, _ = pairs(SINGLES, random_singles)
    single = single[np.isfinite(single) & (abs(single) < np.float32(3e38))]
    middle = (single.astype(np.float64) + np.nextafter(single, np.float32(np.inf)).astype(np.float64)) / 2
    for near in (middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)):
        assert_same(soft(c, "pw_f64_to_f32", near), near.astype(np.float32), near, near)


@pytest.mark.parametrize(
    ("low", "high"), [(-5.0, 5.0), (0.0, 1.5), (-0.0, 0.0), (-3.0, -0.0), (2.0, 7.0), (-1.7e308, 1e-320)]
)
def test_a_register_keeps_its_range(c: Functions, operands: tuple[Any, Any], low: float, high: float) -> None:
    a, _ = operands
    kind = FloatType(low, high)
    ends = (np.full(len(a), end) for end in (kind.low, kind.high, kind.default))
    assert_same(soft(c, "pw_f64_fit", a, *ends), [kind.clamp(one) for one in a.tolist()], a, a)
