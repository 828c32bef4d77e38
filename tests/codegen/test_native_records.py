"""Records hold all that a Snapshot holds, and take the inputs that the interpreter takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import Interpreter, parse_chart
from posewright.codegen.records import RecordFormat
from posewright.errors import InputError

from ..charts import random_charts

CHART = """
chart: kept
period_s: 0.1
events: [go]
inputs: {wall: {float32: [0.0, 5.0]}, n: int16, word: {enum: [slow, fast]}}
outputs: {status: uint8, says: {enum: [no, yes]}}
otherwise: stay
initial: a
states:
  a: [{on: go, go: b, do: {status: 7, says: "yes"}}]
  b: [{on: go, go: a}]
"""


@settings(max_examples=40)
@given(st.data())
def test_a_snapshot_comes_back_from_its_record(data: st.DataObject) -> None:
    chart = data.draw(random_charts.charts())
    interpreter = Interpreter(chart)
    layout = RecordFormat(interpreter.machine)
    for state in interpreter.run(data.draw(random_charts.rows(chart, 8))):
        back = layout.unpack(layout.pack_snapshot(state))
        assert back == state
        assert [type(value) for value in back.values] == [type(value) for value in state.values]


def test_records_are_packed_in_the_order_of_the_chart() -> None:
    layout = RecordFormat(Interpreter(parse_chart(CHART)).machine)
    assert layout.input_dtype.names == ("wall", "n", "word", "go")
    assert layout.input_dtype.itemsize == 4 + 2 + 1 + 1
    assert layout.state_dtype.names == ("status", "active", "register.status", "says")
    [record] = layout.pack([{"wall": 9, "n": np.int16(-3), "word": "fast", "go": True}])
    assert record.tobytes() == np.float32(5.0).tobytes() + b"\xfd\xff\x01\x01"


@pytest.mark.parametrize(
    "row",
    [
        {"wall": 1.0, "n": 1},
        {"wall": 1.0, "n": 1, "word": "slow", "other": 1},
        {"wall": float("nan"), "n": 1, "word": "slow"},
        {"wall": 1.0, "n": 1.0, "word": "slow"},
        {"wall": 1.0, "n": 1, "word": 0},
        {"wall": 1.0, "n": 1, "word": "slow", "go": 1},
    ],
)
def test_a_row_that_the_interpreter_refuses_is_refused_in_the_same_words(row: dict[str, Any]) -> None:
    interpreter = Interpreter(parse_chart(CHART))
    with pytest.raises(InputError) as plain:
        interpreter.step(interpreter.initial(), row)
    with pytest.raises(type(plain.value)) as packed:
        RecordFormat(interpreter.machine).pack([row])
    assert str(packed.value) == str(plain.value)
