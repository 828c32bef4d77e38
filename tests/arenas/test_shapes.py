"""A field may have no walls, other lines, own kinds of boxes, steps and rings; it can be told as data."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from posewright.arenas import (
    Arena,
    Box,
    LayoutFaultKind,
    Role,
    Spot,
    arena,
    check_layout,
    footprints,
    layout,
    layout_names,
    random_layout,
    read_arena,
    read_layout,
    write_layout,
)
from posewright.errors import DocumentError, InputError, UnknownNameError

DOHYO = """\
arena: dohyo
size_m: [1.5, 1.6]
friction: 0.6
shapes:
  - {name: edge, role: ring, x: 0.75, y: 0, size_m: [1.5, 1.5, 0.05], base_m: -0.05, is_round: true}
  - {name: start_line, role: line, x: 0.65, y: 0.1, size_m: [0.02, 0.2, 0], yaw_deg: 90}
  - {name: riser, role: step, x: 1.4, y: 0.0, size_m: [0.25, 0.99, 0.03]}
box_kinds:
  post: {size_m: [0.25, 0.25, 0.5], mass_kg: 2, friction: 0.4}
  crate: {size_m: [0.1, 0.2, 0.1], mass_kg: 0.5, friction: 0.4}
max_boxes: 3
colours_rgb: {floor: [0, 0, 0], ring: [255, 0, 0], line: [255, 255, 255], step: [9, 9, 9], box: [90, 60, 30]}
sources: {size_m: a test}
"""


@pytest.fixture
def dohyo(tmp_path: Path) -> Arena:
    (tmp_path / "dohyo.arena.yaml").write_text(DOHYO)
    return read_arena(tmp_path / "dohyo.arena.yaml")


def test_a_field_without_walls_has_other_shapes(dohyo: Arena) -> None:
    assert dohyo.walls == ()
    assert [(shape.name, shape.role) for shape in dohyo.shapes] == [
        ("edge", Role.RING),
        ("start_line", Role.LINE),
        ("riser", Role.STEP),
    ]
    assert dohyo.shapes[0].is_round
    assert dohyo.lines[0].yaw_rad == math.pi / 2.0
    assert dohyo.box_zone == (0.0, 1.5)
    with pytest.raises(UnknownNameError, match="unknown kind of box 'box' in dohyo"):
        _ = dohyo.box_kind
    assert repr(dohyo) == "Arena('dohyo', 1.5 x 1.6 m, 3 shapes, 0 boxes)"


def test_each_box_has_the_size_of_its_kind(dohyo: Arena) -> None:
    boxes = [Box(0.4, 0.0, kind="post"), Box(0.9, 0.2, kind="crate")]
    assert dohyo.with_boxes(boxes).box_sizes.tolist() == [[0.25, 0.25, 0.5], [0.1, 0.2, 0.1]]
    with pytest.raises(UnknownNameError, match="did you mean post"):
        dohyo.with_boxes([Box(0.4, 0.0, kind="pots")])
    assert repr(boxes[0]) == "Box(0.4, 0, 0, kind='post')"
    assert repr(Box(0.4, -0.5)) == "Box(0.4, -0.5, 0)"


def test_without_walls_no_box_is_too_near_to_one_but_it_stays_on_the_field(dohyo: Arena) -> None:
    at_the_edge = [Box(0.125, 0.6, kind="post")]
    assert check_layout(at_the_edge, dohyo) == ()
    (fault,) = check_layout([Box(0.1, 0.6, kind="post")], dohyo)
    assert (fault.kind, fault.message) == (
        LayoutFaultKind.OUTSIDE,
        "box 1 extends 0.025 m beyond the start edge",
    )
    row = [Box(0.7, y, kind="crate") for y in (-0.2, 0.0, 0.2)]
    assert check_layout(row, dohyo) == ()


def test_boxes_of_different_kinds_overlap_by_their_own_sizes(dohyo: Arena) -> None:
    near = [Box(0.4, 0.0, kind="post"), Box(0.58, 0.0, kind="crate")]
    assert check_layout(near, dohyo) == ()
    nearer = [Box(0.4, 0.0, kind="post"), Box(0.56, 0.0, kind="crate")]
    assert check_layout(nearer, dohyo)[0].message == "box 1 and box 2 overlap by 0.015 m"


def test_a_layout_names_the_kinds_of_its_boxes(dohyo: Arena, tmp_path: Path) -> None:
    path = tmp_path / "mine.layout.yaml"
    path.write_text(
        "boxes:\n  - {x: 0.4, y: 0, kind: post}\n  - {x: 0.8, y: 0.3, kind: crate, yaw_deg: 90}\n"
    )
    boxes = read_layout(path, dohyo)
    assert boxes == (Box(0.4, 0.0, 0.0, "post"), Box(0.8, 0.3, math.pi / 2.0, "crate"))
    write_layout(path, boxes)
    assert read_layout(path, dohyo) == boxes
    with pytest.raises(UnknownNameError, match=r"mine\.layout\.yaml:2: unknown kind of box 'post'"):
        read_layout(path)


@pytest.mark.parametrize("boxes", [layout(name) for name in layout_names()] + [random_layout(3)])
def test_an_arena_is_made_again_from_what_a_recording_carries(boxes: tuple[Box, ...]) -> None:
    field = arena().with_boxes(boxes)
    told = json.loads(json.dumps(field.to_dict()))
    assert Arena.from_dict(told).to_dict() == told
    assert Arena.from_dict(told).with_boxes(()).shapes == field.shapes
    assert Arena.from_dict(told).boxes == field.boxes


def test_an_arena_of_shapes_is_made_again(dohyo: Arena) -> None:
    field = dohyo.with_boxes([Box(0.4, 0.1, 0.7, "post")])
    again = Arena.from_dict(json.loads(json.dumps(field.to_dict())))
    assert again.shapes == field.shapes
    assert again.boxes == field.boxes
    assert again.box_kinds == field.box_kinds
    assert again.to_dict()["box_size_m"] is None


def test_a_room_has_furniture_and_spots_where_a_robot_belongs(tmp_path: Path) -> None:
    path = tmp_path / "room.arena.yaml"
    path.write_text(
        "arena: room\nsize_m: [1, 1]\nfriction: 0.5\nspots: {chair: {x: 0.5, y: 0.1, yaw_deg: 90}}\n"
        "shapes: [{name: seat, role: furniture, x: 0.5, y: 0.1, size_m: [0.2, 0.2, 0.1]}]\n"
        "colours_rgb: {floor: [0, 0, 0], furniture: [9, 9, 9]}\nsources: {size_m: a test}\n"
    )
    room = read_arena(path)
    assert room.shapes[0].role is Role.FURNITURE
    assert room.spot("chair") == Spot(0.5, 0.1, math.pi / 2.0)
    assert Arena.from_dict(json.loads(json.dumps(room.to_dict()))).spots == room.spots
    with pytest.raises(UnknownNameError, match="did you mean chair"):
        room.spot("char")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("size_m", None, "arena.size_m: expected a list, found nothing"),
        ("size_m", [1.0, float("inf")], r"arena.size_m\[1\]: expected a finite number"),
        ("boxes", [{"x": 1.0, "y": 0.0, "yaw_rad": 0.0, "kind": "pots"}], "unknown kind of box"),
        ("shapes", 3, "arena.shapes: expected a list"),
        ("friction", -1.0, "arena.friction: -1.0 is out of range"),
        ("nothing", 1, "nothing"),
    ],
)
def test_what_a_recording_must_not_say_of_its_arena_is_refused(key: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Arena.from_dict(arena().to_dict() | {key: value})
    with pytest.raises(DocumentError, match="'size_m' is missing"):
        Arena.from_dict({"name": "x"})


@pytest.mark.parametrize(
    ("written", "instead", "line", "message"),
    [
        ("role: step", "role: stair", 7, "unknown role 'stair'"),
        ("name: riser", "name: edge", 1, "two shapes have the same name"),
        ("max_boxes: 3", "max_boxes: -3", 11, "max_boxes"),
        ("mass_kg: 2", "mas_kg: 2", 9, "'mass_kg' is missing"),
        ("[0.25, 0.25, 0.5]", "[0.25, 0.25]", 9, "expected a list of 3"),
        ("floor: [0, 0, 0], ", "", 1, "floor: no colour"),
        ("friction: 0.6", "friction: 0.6\nlines_x_m: [1.0, 0.5]", 1, "in the order of x"),
        ("name: riser", "name: floor", 1, "a shape cannot be called 'floor'"),
        ("friction: 0.6", f"friction: 0.6\nlines_x_m: {[0.1] * 501}", 1, "lines_x_m: 501 of them"),
    ],
)
def test_what_is_wrong_with_an_arena_is_said_with_its_line(
    written: str, instead: str, line: int, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.arena.yaml"
    path.write_text(DOHYO.replace(written, instead, 1))
    with pytest.raises(InputError, match=message) as caught:
        read_arena(path)
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_boxes_of_several_sizes_cover_what_each_would_alone() -> None:
    poses = np.array([[0.5, 0.1, 0.25, 1.0, 0, 0, 0], [1.0, 0.0, 0.1, math.sqrt(0.5), math.sqrt(0.5), 0, 0]])
    sizes = np.array([[0.25, 0.25, 0.5], [0.1, 0.2, 0.3]])
    together = footprints(poses, sizes)
    for i in range(2):
        alone = footprints(poses[i : i + 1], sizes[i])
        for of_all, of_one in zip(together, alone, strict=True):
            assert np.array_equal(of_all[i : i + 1], of_one)
