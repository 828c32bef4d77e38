"""Expressions in C have the interpreter's values, bit for bit, whatever types meet."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import numpy as np
import pytest

from posewright.charts import Chart, Interpreter, parse_chart
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type
from posewright.codegen.c import ChartUnitSpec, Options
from posewright.errors import ExpressionError, InputError

from .host_unit import host_unit

INPUTS = {
    "a": "bool",
    "b": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int",
    "k": "{int: [-3, 3]}",
    "x": "float",
    "y": "float",
    "f": "float32",
    "g": "float32",
    "r": "{float: [-2.0, 2.0]}",
    "e": "{enum: [red, green, blue]}",
}
OUTPUTS = {f"out_{name}": kind for name, kind in INPUTS.items()}
WHOLE, FRACTION, SINGLE = ("i8", "u8", "i16", "u16", "i32", "k"), ("x", "y", "r"), ("f", "g")


class Writer:
    """Writes random expressions as a person might."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 -- not for secrets

    def number(self, names: tuple[str, ...], depth: int) -> str:
        pick = self.random.random()
        if depth == 0 or pick < 0.2:
            return self.random.choice((*names, *names, self.literal(names)))
        inner = depth - 1
        if pick < 0.6:
            sign = self.random.choice("+-*" + ("/%" if self.random.random() < 0.4 else "+"))
            if sign == "/" and names[0] in WHOLE:
                sign = "-"
            return f"({self.number(names, inner)} {sign} {self.number(names, inner)})"
        if pick < 0.75:
            function = self.random.choice(("min", "max"))
            return f"{function}({self.number(names, inner)}, {self.number(names, inner)})"
        if pick < 0.9:
            return f"({self.number(names, inner)} if {self.truth(inner)} else {self.number(names, inner)})"
        return self.random.choice((f"abs({self.number(names, inner)})", f"(-{self.number(names, inner)})"))

    def literal(self, names: tuple[str, ...]) -> str:
        if names[0] in WHOLE:
            return str(self.random.choice((1, 2, 7, 100, 40000, 2147483647)))
        return self.random.choice(("0.5", "0.1", "3.25", "1e20", "1e-3"))

    def truth(self, depth: int) -> str:
        pick = self.random.random()
        if depth == 0 or pick < 0.15:
            return self.random.choice(("a", "b", "e == red", "e != blue"))
        if pick < 0.4:
            word = self.random.choice(("and", "or"))
            return f"({self.truth(depth - 1)} {word} {self.truth(depth - 1)})"
        if pick < 0.5:
            return f"(not {self.truth(depth - 1)})"
        one, other = (self.random.choice((WHOLE, FRACTION, SINGLE, WHOLE + FRACTION)) for _ in "ab")
        sign = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"({self.number(one, depth - 1)} {sign} {self.number(other, depth - 1)})"

    def value(self, kind: str) -> str:
        if kind == "bool":
            return self.truth(3)
        if "enum" in kind:
            return f"(green if {self.truth(2)} else blue if {self.truth(1)} else e)"
        names = (
            WHOLE
            if "int" in kind
            else SINGLE
            if "32" in kind
            else self.random.choice((FRACTION, SINGLE, WHOLE))
        )
        return self.number(names, 3)


def chart_of(seed: int) -> Chart:
    """Return a chart that sets every output to a random expression, those that do not type left out."""
    writer = Writer(seed)
    head = ["chart: sums", "kind: statechart", "period_s: 0.1", "inputs:"]
    head += [f"  {name}: {kind}" for name, kind in INPUTS.items()] + ["outputs:"]
    head += [f"  {name}: {kind}" for name, kind in OUTPUTS.items()] + [
        "initial: only",
        "states:",
        "  only:",
        "    during:",
    ]
    kept: list[str] = []
    for name, kind in OUTPUTS.items():
        for _ in range(20):
            line = f"      - {{{name}: '{writer.value(kind)}'}}"
            try:
                parse_chart("\n".join([*head, line]) + "\n")
            except InputError:
                continue
            kept.append(line)
            break
    return parse_chart("\n".join([*head, *kept]) + "\n")


def drawn(kind: Type, chance: random.Random) -> object:
    if isinstance(kind, BoolType):
        return chance.random() < 0.5
    if isinstance(kind, EnumType):
        return chance.choice(kind.values)
    if isinstance(kind, IntType):
        near = kind.clamp(chance.randint(-10, 10))
        return chance.choice((kind.low, kind.high, kind.clamp(0), near, chance.randint(kind.low, kind.high)))
    assert isinstance(kind, FloatType)
    special = (0.0, -0.0, 5e-324, 1e308, -1e308, 1e-40, 3e38, -3e38, 1.0, 0.1)
    bits = struct.unpack("<d", struct.pack("<Q", chance.getrandbits(64)))[0]
    bits = bits if bits == bits and abs(bits) != float("inf") else 2.5  # noqa: PLR0124 -- NaN
    return kind.clamp(
        chance.choice((chance.choice(special), chance.uniform(-3, 3), chance.uniform(-1e5, 1e5), bits))
    )


@pytest.mark.parametrize("seed", range(20))
def test_expressions_in_c_have_the_interpreters_values_bit_for_bit(seed: int, tmp_path: Path) -> None:
    chart = chart_of(seed)
    unit_spec = ChartUnitSpec(chart, Options(soft_doubles=seed % 2 == 1))
    interpreter = Interpreter(chart, unit_spec.lowered, remember=False)
    chance = random.Random(seed)  # noqa: S311 -- not for secrets
    rows = [{name: drawn(kind, chance) for name, kind in chart.inputs.items()} for _ in range(300)]
    records = unit_spec.format.pack(rows)
    compared = 0
    with host_unit(unit_spec, tmp_path) as step:
        for row, record in zip(rows, records, strict=True):
            got = step(record, fresh=True)
            try:
                after = interpreter.step(interpreter.initial(), row)
            except ExpressionError:
                assert got["status"] == 1, row
                continue
            assert got["status"] == 0, row
            expected = np.asarray(unit_spec.format.pack_snapshot(after))
            assert got.tobytes() == expected.tobytes(), (row, expected, got, str(chart.every_state[0].during))
            compared += 1
    assert compared > 20
