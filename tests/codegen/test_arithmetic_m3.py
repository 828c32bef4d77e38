"""The Cortex-M3 computes as this one does: with its compiler's floats and doubles, and our functions."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .c_functions import STRICT, assert_same, source_of
from .conftest import need_tool
from .operands import DOUBLES, INTEGERS, SINGLES, pairs, random_doubles, random_integers, random_singles

if os.environ.get("CI") != "true":
    pytest.importorskip("unicorn")

from unicorn import UC_ARCH_ARM, UC_MODE_MCLASS, UC_MODE_THUMB, Uc
from unicorn.arm_const import (
    UC_ARM_REG_LR,
    UC_ARM_REG_R0,
    UC_ARM_REG_R1,
    UC_ARM_REG_R2,
    UC_ARM_REG_SP,
    UC_CPU_ARM_CORTEX_M3,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
IMAGE, MEMORY, SIZE = 0x10000, 0x100000, 0x100000
KINDS = {"f8": "double", "f4": "float", "i4": "int32_t", "u1": "uint8_t"}


def on_cortex_m3(folder: Path, formula: str, gives: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return a formula of a and b, of the type of C that it gives, computed by an emulated Cortex-M3."""
    compiler, kind = need_tool("arm-none-eabi-gcc"), KINDS[a.dtype.str[1:]]
    names = [word for word in formula.replace("(", " ").split() if word.startswith("pw_")]
    text = source_of(names) + (
        f"void run({gives} *out, const {kind} *operands, uint32_t n);\n"
        f"void run({gives} *out, const {kind} *operands, uint32_t n)\n{{\n"
        f"    for (; n != 0; n--) {{\n        {kind} a = *operands++;\n        {kind} b = *operands++;\n"
        f"        (void)b;\n        *out++ = {formula};\n    }}\n}}\n"
    )
    source, image, flat = (folder / f"m3.{end}" for end in ("c", "elf", "bin"))
    source.write_text(text, encoding="utf-8")
    target = ["-mcpu=cortex-m3", "-mthumb", "-Os", "-nostartfiles", f"-Wl,-Ttext={IMAGE:#x},-e,run,-N"]
    sections = ["-ffunction-sections", "-Wl,--gc-sections", "-Wl,--build-id=none"]
    build = [compiler, *STRICT, *target, *sections, str(source), "-o", str(image), "-lm"]
    subprocess.run(build, check=True)
    tool = need_tool("arm-none-eabi-objcopy")
    subprocess.run([tool, "-O", "binary", str(image), str(flat)], check=True)
    entry = int.from_bytes(image.read_bytes()[24:28], "little")
    machine = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
    machine.ctl_set_cpu_model(UC_CPU_ARM_CORTEX_M3)
    machine.mem_map(0, MEMORY + 2 * SIZE)
    machine.mem_write(IMAGE, flat.read_bytes())
    machine.mem_write(MEMORY, np.column_stack([a, b]).tobytes())
    stop, out = 0x8000, MEMORY + SIZE
    for register, value in {
        UC_ARM_REG_R0: out,
        UC_ARM_REG_R1: MEMORY,
        UC_ARM_REG_R2: len(a),
        UC_ARM_REG_SP: 0x8000,
        UC_ARM_REG_LR: stop | 1,
    }.items():
        machine.reg_write(register, value)
    machine.emu_start(entry | 1, stop)
    dtype = np.dtype({name: code for code, name in KINDS.items()}[gives])
    return np.frombuffer(bytes(machine.mem_read(out, len(a) * dtype.itemsize)), dtype)


def some(special: NDArray[Any], random: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return special pairs and as many at random, none with 0 on the right, 6000 at most."""
    a, b = pairs(special, random, 3000)
    a, b = a[b != 0], b[b != 0]
    return a[-6000:], b[-6000:]


def pythons(compute: Any, a: NDArray[Any], b: NDArray[Any]) -> list[Any]:
    """Return what Python computes."""
    return list(map(compute, a.tolist(), b.tolist()))


@pytest.mark.parametrize("kind", ["double", "float"])
def test_fractions(tmp_path: Path, kind: str) -> None:
    a, b = some(DOUBLES, random_doubles) if kind == "double" else some(SINGLES, random_singles)
    rest = "pw_fmod(a, b)" if kind == "double" else "pw_fmodf(a, b)"
    expected = {
        "a + b": a + b,
        "a - b": a - b,
        "a * b": a * b,
        "a / b": a / b,
        rest: pythons(lambda x, y: x % y, a, b),
        f"pw_min_{kind}(a, b)": pythons(min, a, b),
        f"pw_max_{kind}(a, b)": pythons(max, a, b),
    }
    for formula, wanted in expected.items():
        found = on_cortex_m3(tmp_path, formula, kind, a, b)
        assert_same(found, wanted, a, b)
    for formula, truth in {"a < b": a < b, "a <= b": a <= b, "a == b": a == b}.items():
        found = on_cortex_m3(tmp_path, formula, "uint8_t", a, b)
        assert_same(found, truth, a, b)


def test_fractions_become_narrower_and_wider(tmp_path: Path) -> None:
    a, b = some(DOUBLES, random_doubles)
    assert_same(on_cortex_m3(tmp_path, "(float)a", "float", a, b), a.astype("f4"), a, a)
    a, b = some(SINGLES, random_singles)
    assert_same(on_cortex_m3(tmp_path, "(double)a", "double", a, b), a.astype("f8"), a, a)


def test_whole_numbers(tmp_path: Path) -> None:
    a, b = some(INTEGERS, random_integers)
    low, high = -(2**31), 2**31 - 1
    expected = {
        "pw_add(a, b)": pythons(lambda x, y: min(max(x + y, low), high), a, b),
        "pw_sub(a, b)": pythons(lambda x, y: min(max(x - y, low), high), a, b),
        "pw_mul(a, b)": pythons(lambda x, y: min(max(x * y, low), high), a, b),
        "pw_mod(a, b)": pythons(lambda x, y: x % y, a, b),
    }
    for formula, wanted in expected.items():
        assert_same(on_cortex_m3(tmp_path, formula, "int32_t", a, b), wanted, a, b)
    assert_same(on_cortex_m3(tmp_path, "(float)a", "float", a, b), a.astype("f4"), a, a)
