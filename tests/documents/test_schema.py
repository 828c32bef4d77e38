"""A dataclass is read from a document by the names and types of its fields."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import pytest

from posewright.documents import Bounds, FieldReader, Node, parse_document, read_record
from posewright.errors import DocumentError, InputError


class Side(Enum):
    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True)
class Ring:
    radius_m: Annotated[float, Bounds(0.1, 10.0)]
    thick_m: float = 0.02

    def __post_init__(self) -> None:
        if self.thick_m > self.radius_m:
            raise InputError("the ring has no inside", hint="a smaller thickness")


def upper(node: Node) -> str:
    return node.text().upper()


@dataclass(frozen=True)
class Field:
    name: str
    size_m: Annotated[tuple[float, float], Bounds(0.001)]
    turn_rad: Annotated[float, Bounds(-math.pi, math.pi)]
    count: Annotated[int, Bounds(0, 9)]
    side: Side
    ring: Ring
    shout: Annotated[str, FieldReader(upper)]
    lines: tuple[float, ...] = ()
    rings: tuple[Ring, ...] = ()
    colours: Mapping[str, tuple[int, int, int]] | None = None
    walled: bool = True
    text: str = ""


WHOLE = """\
name: dohyo
size_m: [1, 2.5]
turn_deg: 90
count: 3
side: right
ring:
  radius_m: 0.7
shout: hakkeyoi
lines: [1, 2, 3.5]
rings:
  - {radius_m: 0.2}
  - {radius_m: 0.3, thick_m: 0.01}
colours: {wall: [1, 2, 3]}
walled: false
"""


def test_every_type_is_read() -> None:
    assert read_record(parse_document(WHOLE), Field, text="as it stands") == Field(
        name="dohyo",
        size_m=(1.0, 2.5),
        turn_rad=math.pi / 2.0,
        count=3,
        side=Side.RIGHT,
        ring=Ring(0.7),
        shout="HAKKEYOI",
        lines=(1.0, 2.0, 3.5),
        rings=(Ring(0.2), Ring(0.3, 0.01)),
        colours={"wall": (1, 2, 3)},
        walled=False,
        text="as it stands",
    )


def test_a_key_that_is_no_field_is_taken_where_it_is_allowed() -> None:
    assert read_record(parse_document(f"title: x\n{WHOLE}"), Field, extra_keys=("title",)).name == "dohyo"


@pytest.mark.parametrize(
    ("written", "instead", "line", "message"),
    [
        ("name: dohyo\n", "", 1, "'name' is missing"),
        ("name: dohyo", "name: 3", 1, "name: expected text, found 3"),
        ("[1, 2.5]", "[1]", 2, "size_m: expected a list of 2, found 1"),
        ("[1, 2.5]", "[1, 0]", 2, r"size_m\[1\]: 0.0 is out of range \(the range is 0.001"),
        ("turn_deg: 90", "turn_deg: 181", 3, r"turn_deg: 181.0 is out of range \(the range is -180..180\)"),
        ("turn_deg", "turn_rad", 3, "turn_deg"),
        ("count: 3", "count: 3.5", 4, "count: expected a whole number"),
        ("count: 3", "count: 10", 4, "the range is 0..9"),
        ("side: right", "side: rigt", 5, "unknown side 'rigt'.*did you mean right"),
        ("radius_m: 0.7", "radius_m: 70", 7, "ring.radius_m: 70.0 is out of range"),
        ("thick_m: 0.01", "thick_m: 0.5", 12, r"rings\[1\]: the ring has no inside \(a smaller"),
        ("thick_m: 0.01", "thik_m: 0.5", 12, "did you mean thick_m"),
        ("walled: false", "walled: no", 14, "walled: expected true or false, found 'no'"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(written: str, instead: str, line: int, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_record(parse_document(WHOLE.replace(written, instead)), Field)
    assert caught.value.where is not None
    if "is missing" not in message and instead != "turn_rad":
        assert caught.value.where.line == line


def test_a_type_that_no_document_can_hold_is_a_mistake_of_the_programmer() -> None:
    @dataclass(frozen=True)
    class Odd:
        what: complex

    with pytest.raises(TypeError, match="what: documents have no notation for a complex"):
        read_record(parse_document("what: 1"), Odd)


def test_a_node_shows_itself_in_one_line() -> None:
    root = parse_document(WHOLE, Path("dohyo.yaml"))
    assert repr(root) == "Node(document: a mapping, dohyo.yaml:1)"
    assert repr(root.fields()["ring"].fields()["radius_m"]) == "Node(ring.radius_m: 0.7, dohyo.yaml:7)"


def test_nothing_is_told_apart_from_something() -> None:
    assert read_record(parse_document(WHOLE.replace("{wall: [1, 2, 3]}", "~")), Field).colours is None
    with pytest.raises(DocumentError):
        read_record(parse_document(WHOLE.replace("name: dohyo", "name: ~")), Field)
