"""Layouts: what a person may write, what is legal, and what ships."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from pathlib import Path

import pytest

from posewright import arenas
from posewright.arenas import (
    Box,
    LayoutFaultKind,
    arena,
    arena_names,
    check_layout,
    layout,
    layout_names,
    read_layout,
    require_valid_layout,
    write_layout,
)
from posewright.documents import read_document
from posewright.errors import DocumentError, InputError, UnknownNameError

FIELD = arena()


def written(tmp_path, text):
    path = tmp_path / "mine.layout.yaml"
    path.write_text(text)
    return path


def kinds(*boxes):
    return [fault.kind for fault in check_layout([Box(*box) for box in boxes])]


def test_the_field_is_that_of_the_rules():
    assert (FIELD.size_x, FIELD.size_y) == (2.5, 2.0)
    assert [wall.size_m[2] for wall in FIELD.walls] == [0.5] * 4
    assert [line.x for line in FIELD.lines] == [0.5, 2.0]
    assert FIELD.box_size == (0.2, 0.2, 0.5)
    assert FIELD.friction == 0.5
    assert [round(part * 255) for part in FIELD.colours["floor"]] == [22, 198, 6]
    assert FIELD.max_boxes == 6


def test_every_number_of_the_field_has_its_source():
    for name in arena_names():
        path = Path(arenas.__file__).with_name(f"{name}.arena.yaml")
        document = dict(read_document(path).value)
        sources = document.pop("sources")
        plain = {key for key, value in document.items() if not isinstance(value, dict | str)}
        nested = {
            f"{part}.{key}" for part, keys in document.items() if isinstance(keys, dict) for key in keys
        }
        assert set(sources) == plain | nested


def test_an_arena_can_be_carried_by_a_trace():
    told = FIELD.with_boxes([Box(1.0, 0.2, 0.5)]).to_dict()
    assert told["size_m"] == [2.5, 2.0]
    assert told["boxes"] == [{"x": 1.0, "y": 0.2, "yaw_rad": 0.5}]
    assert told["lines"][1] == {"x": 2.0, "width_m": 0.02}


def pickled(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 -- our own bytes


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, dataclasses.replace, pickled])
def test_an_arena_cannot_be_written_to_and_can_be_copied_and_sent(again):
    """A pool of processes sends it by pickling."""
    for field in (FIELD, again(FIELD)):
        assert field == FIELD
        for mapping in (field.colours, field.sources):
            with pytest.raises(TypeError):
                mapping["floor"] = (0.0, 0.0, 0.0)


def test_six_examples_ship_and_all_are_legal():
    assert layout_names() == tuple(f"example_{i}" for i in range(1, 7))
    for name in layout_names():
        assert check_layout(layout(name)) == ()
        assert any(abs(box.y) < 0.4 for box in layout(name)) or name == "example_5"


def test_an_unknown_layout_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="example_1"):
        layout("exmple_1")


def test_boxes_are_written_in_any_of_the_documented_ways(tmp_path):
    path = written(
        tmp_path,
        "boxes:\n  - [0.7, 0]\n  - [1.5, -0.3, 30]\n"
        "  - {x: 1.4, y: 0.9}\n  - {x: 0.8, y: -0.9, yaw_deg: 90}\n"
        "yaw_deg: [5, 0, 0, 0]\n",
    )
    degrees = [(box.x, box.y, round(math.degrees(box.yaw_rad), 9)) for box in read_layout(path)]
    assert degrees == [(0.7, 0.0, 5.0), (1.5, -0.3, 30.0), (1.4, 0.9, 0.0), (0.8, -0.9, 90.0)]


def test_one_angle_turns_all_boxes(tmp_path):
    boxes = read_layout(written(tmp_path, "boxes: [[0.8, 0], [1.6, 0.2]]\nyaw_deg: 10\n"))
    assert [round(math.degrees(box.yaw_rad), 9) for box in boxes] == [10.0, 10.0]


def test_a_field_may_be_empty(tmp_path):
    assert read_layout(written(tmp_path, "boxes: []\n")) == ()


def test_what_is_written_is_read_again(tmp_path):
    boxes = (Box(1.0, 0.1), Box(1.55, 0.9), Box(1.75, -0.3, math.radians(25.0)))
    write_layout(tmp_path / "mine.layout.yaml", boxes)
    again = read_layout(tmp_path / "mine.layout.yaml")
    assert [(b.x, b.y, pytest.approx(b.yaw_rad)) for b in again] == [(b.x, b.y, b.yaw_rad) for b in boxes]
    with pytest.raises(InputError, match="finite"):
        write_layout(tmp_path / "bad.layout.yaml", [Box(float("nan"), 0.0)])


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("boxes: here\n", 1, "expected a list"),
        ("layout: a\n", 1, "'boxes' is missing"),
        ("boxes:\n  - [1.0, 0.0]\n  - [1.0]\n", 3, r"\[x, y\] or \[x, y, yaw_deg\]"),
        ("boxes:\n  - [1.0, .nan]\n", 2, "finite"),
        ("boxes:\n  - [1.0, 0.0]\nyaw_deg: [1, 2]\n", 3, "2 angles for 1 boxes"),
        ("boxes:\n  - {x: 1, z: 2}\n", 2, "'y' is missing"),
        ("boxes:\n  - [1.0, 0.0]\nboxs: 3\n", 3, "boxes"),
    ],
)
def test_what_is_wrong_with_a_document_is_said_with_its_line(tmp_path, text, line, told):
    with pytest.raises(DocumentError if "boxs" not in text else InputError, match=told) as caught:
        read_layout(written(tmp_path, text))
    assert f"mine.layout.yaml:{line}" in str(caught.value)


@pytest.mark.parametrize(
    ("boxes", "kind"),
    [
        ([(1.0, 0.95)], LayoutFaultKind.OUTSIDE),
        ([(1.0, 0.0), (1.1, 0.1)], LayoutFaultKind.OVERLAP),
        ([(0.55, 0.0)], LayoutFaultKind.ZONE),
        ([(1.95, 0.0)], LayoutFaultKind.ZONE),
        ([(1.0, 0.0), (1.6, 0.0)], LayoutFaultKind.GAP),
        ([(1.0, 0.6)], LayoutFaultKind.GAP),
        ([(1.0, float("inf"))], LayoutFaultKind.NOT_FINITE),
        ([(0.7 + 0.2 * (i % 2), 0.9 - 0.2 * (i // 2)) for i in range(7)], LayoutFaultKind.COUNT),
    ],
)
def test_each_rule_has_its_fault(boxes, kind):
    assert kind in kinds(*boxes)
    with pytest.raises(InputError):
        require_valid_layout([Box(*box) for box in boxes])


def test_a_row_of_boxes_against_a_wall_is_one_obstacle_without_gaps():
    assert kinds(*[(1.0, 0.9 - 0.2 * i) for i in range(3)]) == []
    assert kinds(*[(1.0, 0.9 - 0.215 * i) for i in range(3)]) == []


def test_a_gap_of_exactly_half_a_metre_is_wide_enough():
    assert kinds((1.0, 0.0), (1.7, 0.0)) == []
    assert kinds((1.0, 0.4)) == []


def test_a_wall_from_side_to_side_leaves_no_way():
    wall = [(1.0, 0.9 - 0.2 * i) for i in range(10)]
    assert kinds(*wall) == [LayoutFaultKind.COUNT, LayoutFaultKind.PASSAGE]


def test_an_illegal_layout_is_taken_when_told_so_but_not_an_impossible_one(tmp_path):
    narrow = written(tmp_path, "boxes: [[1.0, 0.0], [1.4, 0.0]]\n")
    with pytest.raises(InputError, match=r"mine\.layout\.yaml:1.*0\.200 m wide.*at least 0\.5 m"):
        read_layout(narrow)
    assert len(read_layout(narrow, legal=False)) == 2
    with pytest.raises(InputError, match="overlap by"):
        read_layout(written(tmp_path, "boxes: [[1.0, 0.0], [1.1, 0.0]]\n"), legal=False)
