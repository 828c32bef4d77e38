"""The arena editor's commands: each changes a field as it says, and refuses what no document could hold."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from posewright.arenas import WALLS, Arena, Box, Role, Shape, format_arena, parse_arena
from posewright.errors import InputError
from posewright.studio.arena.commands import COMMANDS, added_parts, read_arena_command
from posewright.studio.arena.new_field import new_field

HULL = ((-0.15, -0.15, 0.0), (0.15, -0.15, 0.0), (0.0, 0.15, 0.0), (0.0, 0.0, 0.2))


def apply(field: Arena, command: str, **arguments: Any) -> Arena:
    return read_arena_command(command, arguments).apply(field)


@pytest.fixture
def field() -> Arena:
    """A new field with two boxes and a hill."""
    empty = new_field("club")
    hill = Shape("hill_1", Role.FURNITURE, 1.0, 0.4, (0.3, 0.3, 0.2), yaw_rad=math.radians(30.0), hull_m=HULL)
    return replace(
        empty,
        boxes=(Box(1.0, -0.3), Box(1.5, 0.2, math.radians(20.0))),
        shapes=(*empty.shapes, hill),
        colours={**empty.colours, "furniture": (0.5, 0.5, 0.5)},
    )


def test_a_new_field_is_a_document_that_can_be_read() -> None:
    field = new_field("club")
    assert parse_arena(format_arena(field)) == field
    assert tuple(wall.name for wall in field.walls) == WALLS


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.MARKER])
def test_every_kind_of_shape_is_added_with_a_name_and_a_colour(role: Role) -> None:
    before = new_field("club")
    after = apply(before, "add_shape", role=role.value, x=1.0, y=0.0, size_m=[0.2, 0.4, 0.1])
    assert after.shapes[-1] == Shape(f"{role.value}_1", role, 1.0, 0.0, (0.2, 0.4, 0.1))
    assert added_parts(before, after) == [f"shape:{role.value}_1"]
    assert parse_arena(format_arena(after)) == after


def test_a_box_is_added_to_a_field_that_had_no_boxes() -> None:
    bare = replace(new_field("club"), box_kinds={}, colours={"floor": (0, 1, 0), "wall": (1, 1, 1)})
    after = apply(bare, "add_box", x=1.0, y=0.25, yaw_deg=30)
    assert after.boxes == (Box(1.0, 0.25, math.radians(30.0)),)
    assert after.box_size == (0.2, 0.2, 0.5)


def test_parts_move_turn_and_come_back(field: Arena) -> None:
    parts = ["box:1", "box:2"]
    moved = apply(field, "move_parts", parts=parts, x_m=0.1, y_m=-0.05)
    assert [(box.x, box.y) for box in moved.boxes] == [(1.1, -0.35), (1.6, 0.15)]
    turned = apply(field, "turn_parts", parts=parts, angle_deg=90)
    assert [(box.x, box.y) for box in turned.boxes] == [(1.5, -0.3), (1.0, 0.2)]
    assert turned.boxes[1].yaw_rad == pytest.approx(math.radians(110.0))
    for _ in range(3):
        turned = apply(turned, "turn_parts", parts=parts, angle_deg=90)
    assert turned.boxes == pytest.approx(field.boxes) or turned == field


def test_a_mirrored_hull_is_the_mirror_image_of_its_outline(field: Arena) -> None:
    from posewright.arenas import shape_outline

    hill = field.shapes[-1]
    for axis, mirrored_points in (("along", (1.0, -1.0, 0.0)), ("across", (-1.0, 1.0, 2.5))):
        sign_x, sign_y, offset_x = mirrored_points
        after = apply(field, "mirror_parts", parts=["shape:hill_1"], axis=axis)
        expected = sorted(
            (round(offset_x + sign_x * x, 3), round(sign_y * y, 3)) for x, y in shape_outline(hill)
        )
        assert sorted((round(x, 3), round(y, 3)) for x, y in shape_outline(after.shapes[-1])) == expected


def test_a_mirrored_copy_and_a_copy_get_names_of_their_own(field: Arena) -> None:
    coloured = apply(field, "set_colour", name="hill_1", colour=[255, 0, 0])
    copied = apply(coloured, "copy_parts", parts=["shape:hill_1", "box:2"], x_m=0.2, y_m=0.0)
    assert copied.shapes[-1].name == "hill_2"
    assert copied.colour_of(copied.shapes[-1]) == (1.0, 0.0, 0.0)
    assert len(copied.boxes) == 3
    mirrored = apply(copied, "mirror_parts", parts=["box:1"], copies=True)
    assert (mirrored.boxes[-1].x, mirrored.boxes[-1].y) == (1.0, 0.3)


def test_deleted_parts_are_gone_with_their_colours(field: Arena) -> None:
    coloured = apply(field, "set_colour", name="hill_1", colour=[255, 0, 0])
    after = apply(coloured, "delete_parts", parts=["shape:hill_1", "box:1"])
    assert "hill_1" not in after.colours
    assert after.boxes == field.boxes[1:]


def test_a_larger_field_takes_its_walls_along(field: Arena) -> None:
    after = apply(field, "set_field", size_m=[3.0, 2.4], wall_height_m=0.3)
    end = next(wall for wall in after.walls if wall.name == "wall_end")
    left = next(wall for wall in after.walls if wall.name == "wall_left")
    assert (end.x, end.size_m) == (3.01, (0.02, 2.4, 0.3))
    assert (left.y, left.size_m) == (1.21, (3.04, 0.02, 0.3))
    assert apply(after, "set_field", wall_height_m=0).walls == ()


def test_a_resized_hull_keeps_its_form(field: Arena) -> None:
    after = apply(field, "set_shape", name="hill_1", size_m=[0.6, 0.3, 0.1])
    assert after.shapes[-1].hull_m[0] == pytest.approx((-0.3, -0.15, 0.0))
    assert after.shapes[-1].hull_m[3] == pytest.approx((0.0, 0.0, 0.1))
    assert parse_arena(format_arena(after)).shapes[-1].size_m == (0.6, 0.3, 0.1)


def test_a_renamed_shape_keeps_its_colour(field: Arena) -> None:
    coloured = apply(field, "set_colour", name="hill_1", colour=[255, 0, 0])
    after = apply(coloured, "set_shape", name="hill_1", new_name="ramp")
    assert after.colour_of(after.shapes[-1]) == (1.0, 0.0, 0.0)
    assert "hill_1" not in after.colours


def test_a_command_that_changes_nothing_is_no_step(field: Arena) -> None:
    assert apply(field, "set_box", number=1, x=1.0) is field
    assert apply(field, "set_shape", name="hill_1", x=1.0) is field
    assert apply(field, "set_field", name="club") is field


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("move_parts", {"parts": [], "x_m": 1.0, "y_m": 0.0}, "nothing is selected"),
        ("move_parts", {"parts": ["box:9"], "x_m": 1.0, "y_m": 0.0}, "no part 'box:9'"),
        ("move_parts", {"parts": ["box:1"], "x_m": 99.5, "y_m": 0.0}, "a part at 100.5 m"),
        ("set_shape", {"name": "hill_1", "new_name": "floor"}, "cannot be called 'floor'"),
        ("set_shape", {"name": "hill_1", "new_name": "wall_end"}, "there is a shape 'wall_end' already"),
        ("set_shape", {"name": "hill_1", "size_m": [0.3, 0.3, 0.0]}, "hill_1"),
        ("set_box", {"number": 1, "kind": "post"}, "unknown kind of box 'post'"),
        ("set_field", {"name": " "}, "a field needs a name"),
        ("set_field", {"size_m": [0.0, 2.0]}, "size_m"),
        ("add_shape", {"role": "marker", "x": 1, "y": 0, "size_m": [0.1, 0.2, 0.2]}, "a marker needs a text"),
        ("set_colour", {"name": "sky", "colour": [0, 0, 0]}, "unknown part 'sky'"),
        ("add_everything", {}, "unknown command 'add_everything'"),
    ],
)
def test_what_no_document_could_hold_is_an_error(
    field: Arena, command: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        apply(field, command, **arguments)


def test_every_command_has_a_label_for_the_menu() -> None:
    arguments: dict[str, dict[str, Any]] = {
        "add_box": {"x": 0, "y": 0},
        "add_shape": {"role": "step", "x": 0, "y": 0, "size_m": [1, 1, 1]},
        "set_box": {"number": 2},
        "set_box_kind": {"name": "post", "size_m": [1, 1, 1]},
        "set_colour": {"name": "floor", "colour": [0, 0, 0]},
        "set_field": {},
        "set_shape": {"name": "hill_1"},
        "move_parts": {"parts": ["box:2"], "x_m": 0, "y_m": 0},
        "turn_parts": {"parts": ["box:2"], "angle_deg": 0},
    }
    for name in COMMANDS:
        command = read_arena_command(name, arguments.get(name, {"parts": ["box:2"]}))
        assert command.label
