"""The ATmega328P computes as the interpreter does: whole numbers, its own floats, soft doubles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from posewright.charts.types import FloatType

from .avr_functions import run_on_avr
from .c_functions import assert_same
from .conftest import need_tool
from .operands import DOUBLES, INTEGERS, SINGLES, pairs, random_doubles, random_integers, random_singles

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


@pytest.fixture(scope="module")
def tools() -> tuple[str, str]:
    """Give the compiler and the simulator."""
    return need_tool("avr-gcc"), need_tool("simavr")


def some(special: NDArray[Any], random: Any, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return some pairs, half of them special, none with 0 on the right."""
    a, b = pairs(special, random)
    a, b = a[b != 0], b[b != 0]
    n_special = len(special) ** 2 * 9 // 10
    rng = np.random.default_rng(3)
    chosen = np.concatenate([rng.permutation(n_special)[: n // 2], np.arange(len(a))[-(n // 2) :]])
    return a[chosen], b[chosen]


def small_quotients(n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return pairs whose quotient is subnormal, near a step of 2^-149 or near the middle of two."""
    rng = np.random.default_rng(4)
    a = (rng.standard_normal(n) * 10.0 ** rng.uniform(-18, 0, n)).astype(np.float32)
    b = (a / (rng.integers(1, 2**24, n) * 2.0**-150)).astype(np.float32)
    fine = np.isfinite(b)
    return a[fine], b[fine]


def pythons(compute: Any, a: NDArray[Any], b: NDArray[Any]) -> list[Any]:
    """Return what Python computes."""
    return list(map(compute, a.tolist(), b.tolist()))


def saturated(value: int) -> int:
    """Return a whole number kept within 32 bits."""
    return min(max(value, -(2**31)), 2**31 - 1)


def test_whole_numbers(tools: tuple[str, str], tmp_path: Path) -> None:
    a, b = some(INTEGERS, random_integers, 2000)
    expected = {
        "pw_add(a, b)": pythons(lambda x, y: saturated(x + y), a, b),
        "pw_sub(a, b)": pythons(lambda x, y: saturated(x - y), a, b),
        "pw_mul(a, b)": pythons(lambda x, y: saturated(x * y), a, b),
        "pw_mod(a, b)": pythons(lambda x, y: x % y, a, b),
        "pw_abs(a)": pythons(lambda x, _: saturated(abs(x)), a, b),
        "pw_clamp_i32(a, -7, 300)": pythons(lambda x, _: min(max(x, -7), 300), a, b),
    }
    found = run_on_avr(tools, tmp_path, dict.fromkeys(expected, "int32_t"), a, b)
    for formula, wanted in expected.items():
        assert_same(found[formula].view(np.int32), wanted, a, b)
    found = run_on_avr(tools, tmp_path, {"(float)a": "float"}, a, b)
    assert_same(found["(float)a"].view(np.float32), a.astype(np.float32), a, a)


def test_floats_of_32_bits(tools: tuple[str, str], tmp_path: Path) -> None:
    a, b = some(SINGLES, random_singles, 2000)
    kind = FloatType(-1.5, 1e-40, single=True)
    expected = {
        "a + b": a + b,
        "a - b": a - b,
        "a * b": a * b,
        "pw_f32_div(a, b)": a / b,
        "pw_fmodf(a, b)": pythons(lambda x, y: x % y, a, b),
        "pw_min_float(a, b)": pythons(min, a, b),
        "pw_max_float(a, b)": pythons(max, a, b),
        "pw_fit_float(a, -1.5F, 1e-40F, 0.0F)": [kind.clamp(one) for one in a.tolist()],
    }
    found = run_on_avr(tools, tmp_path, dict.fromkeys(expected, "float"), a, b)
    for formula, wanted in expected.items():
        assert_same(found[formula].view(np.float32), wanted, a, b)
    compared = {"a < b": a < b, "a <= b": a <= b, "a == b": a == b, "a != b": a != b}
    found = run_on_avr(tools, tmp_path, dict.fromkeys(compared, "bool"), a, b)
    for formula, wanted in compared.items():
        assert_same(found[formula], wanted, a, b)


def test_subnormal_quotients_which_the_library_of_the_avr_gets_wrong(
    tools: tuple[str, str], tmp_path: Path
) -> None:
    a, b = small_quotients(2000)
    found = run_on_avr(tools, tmp_path, dict.fromkeys(["pw_f32_div(a, b)", "a / b"], "float"), a, b)
    assert_same(found["pw_f32_div(a, b)"].view(np.float32), a / b, a, b)
    assert (found["a / b"].view(np.float32) != a / b).any()  # else the function is no longer needed


def test_soft_doubles(tools: tuple[str, str], tmp_path: Path) -> None:
    a, b = some(DOUBLES, random_doubles, 800)
    near = abs(np.log2(abs(a)) - np.log2(abs(b))) < 200  # a rest of numbers further apart takes long
    numbers = {
        "pw_f64_add(a, b)": a + b,
        "pw_f64_sub(a, b)": a - b,
        "pw_f64_mul(a, b)": a * b,
        "pw_f64_div(a, b)": a / b,
        "pw_f64_min(a, b)": pythons(min, a, b),
        "pw_f64_max(a, b)": pythons(max, a, b),
        "pw_f64_from_f32(pw_f64_to_f32(a))": a.astype(np.float32).astype(np.float64),
    }
    compared = {"pw_f64_lt(a, b)": a < b, "pw_f64_le(a, b)": a <= b, "pw_f64_eq(a, b)": a == b}
    formulas = dict.fromkeys(numbers, "pw_f64") | dict.fromkeys(compared, "bool")
    found = run_on_avr(tools, tmp_path, formulas, a.view(np.uint64), b.view(np.uint64))
    for formula, wanted in numbers.items():
        assert_same(found[formula].view(np.float64), wanted, a, b)
    for formula, wanted in compared.items():
        assert_same(found[formula], wanted, a, b)
    a, b = a[near], b[near]
    rest = {"pw_f64_mod(a, b)": "pw_f64"}
    found = run_on_avr(tools, tmp_path, rest, a.view(np.uint64), b.view(np.uint64))
    assert_same(found["pw_f64_mod(a, b)"].view(np.float64), pythons(lambda x, y: x % y, a, b), a, b)


def test_whole_numbers_as_soft_doubles(tools: tuple[str, str], tmp_path: Path) -> None:
    a, b = some(INTEGERS, random_integers, 1000)
    found = run_on_avr(tools, tmp_path, {"pw_f64_from_i32(a)": "pw_f64"}, a, b)
    assert_same(found["pw_f64_from_i32(a)"].view(np.float64), a.astype(np.float64), a, a)
