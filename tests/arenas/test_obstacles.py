"""The fixed shapes of a field are obstacles: distances from them, and boxes that stand in them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from posewright.arenas import (
    Arena,
    Box,
    LayoutFaultKind,
    Role,
    Shape,
    arena,
    check_layout,
    fixed_obstacles,
    obstacle_distances,
    random_layout,
    read_layout,
)
from posewright.errors import InputError

PYRAMID = ((-0.15, -0.15, 0.0), (0.15, -0.15, 0.0), (0.15, 0.15, 0.0), (-0.15, 0.15, 0.0), (0.0, 0.0, 0.2))
BLOCK = Shape("block", Role.FURNITURE, 1.2, 0.0, (0.4, 0.2, 0.3), yaw_rad=math.pi / 2)
PILLAR = Shape("pillar", Role.FURNITURE, 1.2, 0.0, (0.4, 0.4, 0.3), is_round=True)
HILL = Shape("hill", Role.FURNITURE, 1.2, 0.0, (0.3, 0.3, 0.2), hull_m=PYRAMID)


def field_with(*shapes: Shape) -> Arena:
    """Return the race's field with further shapes."""
    field = arena()
    colours = {**field.colours, "furniture": (0.5, 0.5, 0.5)}
    return replace(field, shapes=(*field.shapes, *shapes), colours=colours)


def test_walls_at_the_edges_lines_bridges_and_what_is_let_into_the_floor_are_no_obstacles() -> None:
    bridge = replace(BLOCK, name="bridge", base_m=0.6)
    flush = replace(BLOCK, name="flush", base_m=-0.3)
    assert fixed_obstacles(field_with(BLOCK, bridge, flush)) == (BLOCK,)


@pytest.mark.parametrize(
    ("shape", "point", "distance_m"),
    [
        (BLOCK, (1.2, 0.5), 0.3),  # turned by 90 degrees, it reaches 0.2 m along y
        (BLOCK, (1.5, 0.0), 0.2),
        (BLOCK, (1.25, 0.1), 0.0),
        (PILLAR, (1.2, 0.5), 0.3),
        (PILLAR, (1.3, 0.1), 0.0),
        (HILL, (1.2, 0.5), 0.35),
        (HILL, (1.2 + 0.25, 0.25), 0.1 * math.sqrt(2.0)),  # from its corner
        (HILL, (1.2, 0.1), 0.0),
    ],
)
def test_the_distance_from_a_shape_is_that_of_its_outline(
    shape: Shape, point: tuple[float, float], distance_m: float
) -> None:
    assert obstacle_distances([point], field_with(shape))[0, 0] == pytest.approx(distance_m, abs=1e-9)


@pytest.mark.parametrize("shape", [BLOCK, PILLAR, HILL])
def test_a_box_in_a_shape_is_an_impossible_layout_that_names_both(shape: Shape) -> None:
    field = field_with(shape)
    faults = check_layout([Box(1.2, 0.2)], field)
    overlap = next(fault for fault in faults if fault.kind is LayoutFaultKind.OVERLAP)
    assert (overlap.box, overlap.shape) == (1, shape.name)
    assert overlap.message.startswith(f"box 1 overlaps {shape.name} by 0.")
    beside = check_layout([Box(1.2, 0.5)], field)
    assert {fault.kind for fault in beside if fault.shape} == {LayoutFaultKind.GAP}


def test_a_random_layout_never_stands_in_a_shape() -> None:
    field = field_with(BLOCK)
    for seed in range(8):
        assert not check_layout(random_layout(seed, field), field)


def test_a_layout_document_with_a_box_in_a_shape_is_an_error_at_its_line(tmp_path) -> None:
    path = tmp_path / "in.layout.yaml"
    path.write_text("boxes:\n  - [1.8, 0.5]\n  - [1.2, 0.1]\n")
    with pytest.raises(InputError, match=r"in\.layout\.yaml:3.*box 2 overlaps hill"):
        read_layout(path, field_with(HILL), legal=False)


def test_a_field_without_a_limit_of_boxes_has_any_number_of_them() -> None:
    """An arena document without `max_boxes` reported `1 boxes: too many from box 1 on`."""
    field = replace(arena(), max_boxes=0)
    kinds = {fault.kind for fault in check_layout([Box(1.0, 0.0)] * 7, field)}
    assert LayoutFaultKind.COUNT not in kinds
    assert 3 <= len(random_layout(5, field)) <= 6


@pytest.mark.parametrize("is_round", [False, True])
def test_a_gap_between_a_box_and_furniture_is_as_wide_as_one_between_boxes(is_round: bool) -> None:
    """The rules leave 50 cm between obstacles; the box of 20 cm stands at the wall, 90 cm from the middle."""
    boxes = [Box(1.25, 0.9)]
    table = Shape("table", Role.FURNITURE, x=1.25, y=0.0, size_m=(0.8, 0.8, 0.5), is_round=is_round)
    (fault,) = check_layout(boxes, field_with(table))
    assert fault.message == "the gap between box 1 and table is 0.400 m wide"
    assert (fault.kind, fault.box, fault.shape) == (LayoutFaultKind.GAP, 1, "table")
    small_table = replace(table, size_m=(0.6, 0.6, 0.5))
    assert check_layout(boxes, field_with(small_table)) == ()
    assert check_layout(boxes) == ()


def test_furniture_and_boxes_can_close_the_way_together() -> None:
    table = Shape("table", Role.FURNITURE, x=1.25, y=-0.3, size_m=(0.4, 1.2, 0.5))  # 10 cm from a wall
    kinds = {fault.kind for fault in check_layout([Box(1.25, 0.6)], field_with(table))}
    assert LayoutFaultKind.PASSAGE in kinds
    assert check_layout([], field_with(table)) == ()
