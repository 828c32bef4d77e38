"""One conversion to plain data: what JSON and YAML can hold."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from posewright.documents import plain_mapping, plain_with_arrays, to_plain
from posewright.documents.yaml_tree import QuotedText
from posewright.errors import InputError


class Side(Enum):
    LEFT = "left"


class Mode(StrEnum):
    WALK = "walk"


class Level(IntEnum):
    HIGH = 3


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Leg:
    name: str
    place: tuple[float, float]
    side: Side = Side.LEFT
    inner: Leg | None = None


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (np.True_, True),
        (3, 3),
        (np.int16(3), 3),
        (2.5, 2.5),
        (np.float64(2.5), 2.5),
        (np.float32(0.5), 0.5),
        ("a", "a"),
        (QuotedText("3"), "3"),
        (Side.LEFT, "left"),
        (Mode.WALK, "walk"),
        (Level.HIGH, 3),
        (Path("a") / "b", str(Path("a") / "b")),
        ((1, 2), [1, 2]),
        (Point(1.0, 2.0), [1.0, 2.0]),
        pytest.param({"b", "a"}, ["a", "b"], id="a set"),
        (frozenset({2, 1}), [1, 2]),
        (np.eye(2), [[1.0, 0.0], [0.0, 1.0]]),
        (np.array([True]), [True]),
        ({Side.LEFT: 1, 2: (3,)}, {"left": 1, "2": [3]}),
        (
            Leg("a", (1.0, 2.0), inner=Leg("b", (0.0, 0.0))),
            {
                "name": "a",
                "place": [1.0, 2.0],
                "side": "left",
                "inner": {"name": "b", "place": [0.0, 0.0], "side": "left", "inner": None},
            },
        ),
    ],
    ids=repr,
)
def test_whatever_a_program_has_becomes_what_json_can_hold(value: object, plain: object) -> None:
    made = to_plain(value)
    assert made == plain
    assert type(made) is type(plain)
    assert json.loads(json.dumps(made)) == plain


@pytest.mark.parametrize("value", [0.1 + 0.2, -0.0, math.nan, math.inf, -math.inf, np.float64(0.1) * 3])
def test_floats_stay_to_the_last_bit_unless_somebody_says_otherwise(value: float) -> None:
    made = to_plain(value)
    assert isinstance(made, float)
    assert np.float64(made).tobytes() == np.float64(value).tobytes()


def test_floats_are_rounded_and_lose_the_sign_of_zero_where_it_is_asked_for() -> None:
    made = to_plain({"a": [0.1 + 0.2, -1e-12], "b": np.float64(1.23456)}, decimals=3)
    assert made == {"a": [0.3, 0.0], "b": 1.235}
    assert str(made) == "{'a': [0.3, 0.0], 'b': 1.235}"


def test_what_is_no_number_becomes_none_where_it_is_asked_for() -> None:
    values = np.array([1.0, np.nan, np.inf, -np.inf])
    assert to_plain(values, nan_as_none=True) == [1.0, None, None, None]
    assert to_plain({"a": math.nan, "b": 1}, decimals=2, nan_as_none=True) == {"a": None, "b": 1}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "cannot hold a object"),
        ({"a": [b"bytes"]}, "cannot hold a bytes"),
        (Leg, "cannot hold a type"),
        (1 << 64, "65 bits"),
    ],
)
def test_what_has_no_plain_form_is_refused_by_its_type(value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        to_plain(value)


def test_a_record_and_a_mapping_are_mappings_and_nothing_else_is() -> None:
    assert plain_mapping(Leg("a", (1.0, 2.0)))["place"] == [1.0, 2.0]
    assert plain_mapping({"a": 1}) == {"a": 1}
    with pytest.raises(InputError, match="not a mapping"):
        plain_mapping([1])


def test_arrays_stay_arrays_for_whoever_sends_them_as_bytes() -> None:
    array = np.arange(3.0)
    made = plain_with_arrays({"a": array, "b": (np.float64(1.0), Side.LEFT)})
    assert made["a"] is array
    assert made["b"] == [1.0, "left"]
