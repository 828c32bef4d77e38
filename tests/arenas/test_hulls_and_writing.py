"""A mesh of a field is a convex hull; a field is read as it was written, also by other programs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from posewright.arenas import (
    MAX_HULL_POINTS,
    Arena,
    Piece,
    Role,
    Shape,
    hull_points,
    read_arena,
    recognise_arena,
    write_arena,
)
from posewright.contests import all_arena_names, find_arena
from posewright.errors import InputError
from posewright.formats.urdf.arenas import urdf_of_arena
from posewright.simulation import arena_mjcf

PYRAMID = ((-0.15, -0.15, 0.0), (-0.15, 0.15, 0.0), (0.0, 0.0, 0.2), (0.15, -0.15, 0.0), (0.15, 0.15, 0.0))
COLOURS = {"floor": (0.0, 0.0, 0.0), "furniture": (1.0, 0.0, 0.0)}


@pytest.fixture
def field() -> Arena:
    pyramid = Shape(
        "pyramid", Role.FURNITURE, 0.5, 0.1, (0.3, 0.3, 0.2), yaw_rad=math.pi / 4, base_m=0.05, hull_m=PYRAMID
    )
    return Arena("hill", (1.0, 1.0), (pyramid,), {}, COLOURS, 0.5)


@pytest.mark.parametrize("name", all_arena_names())
def test_every_field_that_ships_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    shipped = find_arena(name)
    write_arena(tmp_path / "again.arena.yaml", shipped)
    again = read_arena(tmp_path / "again.arena.yaml")
    assert again == shipped


def test_a_mesh_is_written_read_and_told_as_data(field: Arena, tmp_path: Path) -> None:
    write_arena(tmp_path / "hill.arena.yaml", field)
    (again,) = read_arena(tmp_path / "hill.arena.yaml").shapes
    assert again.hull_m == PYRAMID
    assert Arena.from_dict(field.to_dict()).shapes == field.shapes


def test_physics_and_beams_meet_a_mesh_where_it_is(field: Arena) -> None:
    model = mujoco.MjModel.from_xml_string(arena_mjcf(field))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    hit = np.zeros(1, dtype=np.int32)

    def height(x: float, y: float) -> float:
        down = np.array([0.0, 0.0, -1.0])
        return 1.0 - mujoco.mj_ray(model, data, np.array([x, y, 1.0]), down, None, 1, -1, hit)

    assert height(0.5, 0.1) == pytest.approx(0.25, abs=1e-3)
    # Turned by 45 degrees, a corner lies 0.15 * sqrt(2) along x.
    assert height(0.5 + 0.2, 0.1) == pytest.approx(0.05 + 0.2 * (1 - 0.2 / (0.15 * math.sqrt(2))), abs=1e-3)
    assert height(0.5 + 0.14, 0.1 + 0.14) == 0.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hull_m": PYRAMID[:3]}, "a hull of 3 points"),
        ({"hull_m": tuple((x, y, 0.0) for x, y, _ in PYRAMID)}, "lie in a plane"),
        ({"size_m": (0.3, 0.3, 0.3)}, "size_m is not that of its hull"),
        ({"is_round": True}, "a round shape has points of a hull"),
    ],
)
def test_points_that_are_no_such_body_are_refused(field: Arena, change: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        replace(field.shapes[0], **change)  # type: ignore[arg-type]  # of a mixed mapping


def test_a_hull_has_few_points_and_the_same_box_around_it() -> None:
    ball = np.random.default_rng(0).normal(size=(20_000, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    kept = hull_points(ball)
    assert len(kept) <= MAX_HULL_POINTS
    assert np.allclose(np.ptp(kept, axis=0), np.ptp(ball, axis=0), atol=1e-4)


def test_a_urdf_has_a_link_for_everything(field: Arena) -> None:
    race = find_arena("ceabot_obstacles")
    root = ElementTree.fromstring(urdf_of_arena(race))  # noqa: S314 -- ours
    links = {link.attrib["name"] for link in root.iter("link")}
    assert links == {"field", "floor", *(shape.name for shape in race.shapes)}
    assert len(list(root.iter("joint"))) == len(links) - 1
    with pytest.raises(InputError, match="pyramid: a URDF cannot hold"):
        urdf_of_arena(field)


def test_a_field_in_mjcf_has_the_same_sizes() -> None:
    stairs = find_arena("stairs")
    model = mujoco.MjModel.from_xml_string(arena_mjcf(stairs))
    for shape in stairs.shapes:
        if shape.is_solid:
            assert 2.0 * model.geom(shape.name).size == pytest.approx(shape.size_m)
            assert model.geom(shape.name).pos[2] == pytest.approx(shape.base_m + shape.size_m[2] / 2)


def test_a_scene_of_nothing_and_one_of_far_too_much_are_refused() -> None:
    cube = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    with pytest.raises(InputError, match="0 pieces"):
        recognise_arena("x", [], "a test")
    with pytest.raises(InputError, match="2001 pieces"):
        recognise_arena("x", [Piece("a", cube)] * 2001, "a test")
    with pytest.raises(InputError, match="not finite"):
        recognise_arena("x", [Piece("a", cube * np.nan)], "a test")


def test_names_tell_before_sizes_do() -> None:
    cube = np.array([(x, y, z) for x in (0, 0.2) for y in (0, 0.2) for z in (0, 0.1)])
    floor = np.array([(x, y, 0.0) for x in (-1, 1) for y in (-1, 1)])
    roles = {}
    for name in ("step_1", "Escalon", "ring", "wall", "thing"):
        made = recognise_arena("x", [Piece("floor", floor), Piece(name, cube)], "a test").arena
        roles[name] = made.shapes[0].role.value if made.shapes else "box"
    assert roles == {"step_1": "step", "Escalon": "step", "ring": "ring", "wall": "wall", "thing": "box"}


def test_a_urdf_of_a_field_has_colours_and_lines_nobody_can_touch() -> None:
    race = find_arena("ceabot_obstacles")
    root = ElementTree.fromstring(urdf_of_arena(race))  # noqa: S314 -- ours
    links = {link.attrib["name"]: link for link in root.iter("link")}
    assert links["wall_left"].find("collision") is not None
    assert links[race.lines[0].name].find("collision") is None
    told = links["floor"].find("visual/material/color")
    assert told is not None
    assert told.attrib["rgba"].split() == [str(float(part)) for part in (*race.colours["floor"], 1.0)]
