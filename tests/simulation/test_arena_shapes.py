"""Whatever shapes and boxes an arena has stand in the model."""

from __future__ import annotations

import math

import pytest

from posewright.arenas import Arena, Box, BoxKind, Role, Shape, arena
from posewright.robots import Robot, robot
from posewright.simulation import FilmCamera
from posewright.simulation.film import Film
from posewright.simulation.world import World

WHITE = (1.0, 1.0, 1.0)
FIELD = Arena(
    name="dohyo",
    size_m=(1.5, 1.6),
    shapes=(
        Shape("edge", Role.RING, 0.75, 0.0, (1.5, 1.5, 0.05), base_m=-0.05, is_round=True),
        Shape("start_line", Role.LINE, 0.65, 0.1, (0.02, 0.2, 0.0), yaw_rad=math.pi / 2.0),
        Shape("riser", Role.STEP, 1.4, 0.0, (0.25, 0.99, 0.03)),
    ),
    box_kinds={"post": BoxKind((0.25, 0.25, 0.5), 2.0, 0.4), "crate": BoxKind((0.1, 0.2, 0.1), 0.5, 0.4)},
    colours=dict.fromkeys(("floor", "ring", "line", "step", "box"), WHITE),
    friction=0.6,
    boxes=(Box(0.4, 0.0, kind="post"), Box(0.9, 0.4, kind="crate")),
)


def test_shapes_stand_to_scale_and_turned(bioloid: Robot) -> None:
    model = World(bioloid, FIELD).model
    edge, line, riser = (model.geom(name) for name in ("edge", "start_line", "riser"))
    assert edge.size.tolist() == [0.75, 0.025, 0.0]
    assert edge.pos.tolist() == [0.75, 0.0, -0.025]
    assert line.quat.tolist() == pytest.approx([math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)])
    assert (int(line.contype[0]), int(riser.contype[0])) == (0, 1)
    assert riser.pos[2] == pytest.approx(0.015)
    assert riser.friction[0] == 0.6


def test_each_box_has_the_size_and_the_mass_of_its_kind(bioloid: Robot) -> None:
    model = World(bioloid, FIELD).model
    assert [(2.0 * model.geom(name).size).tolist() for name in ("box_0", "box_1")] == FIELD.box_sizes.tolist()
    assert [model.body(name).mass[0] for name in ("box_0", "box_1")] == [2.0, 0.5]


def test_a_field_without_walls_is_filmed(bioloid: Robot) -> None:
    with Film(World(bioloid, FIELD), 64, 48, FilmCamera.FIELD, quick=True) as film:
        assert film.now().shape == (48, 64, 3)


def test_a_box_that_cannot_sleep_at_first_is_no_reason_to_warn(recwarn: pytest.WarningsRecorder) -> None:
    """The engine tries before robots are put where they start, all at the field's origin."""
    World(robot("robotis_bioloid"), arena().with_boxes([Box(0.1, 0.0)]))
    assert not recwarn.list
