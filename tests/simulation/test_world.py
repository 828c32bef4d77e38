"""The world: robot, arena and boxes in one model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from posewright.arenas import arena, layout, layout_names
from posewright.bodies import JointCommands
from posewright.robots import Robot
from posewright.simulation import SimulatedBody, World

from .driving import play

Hold = Callable[..., JointCommands]
AmongBoxes = Callable[..., SimulatedBody]


def test_robot_weighs_what_its_parts_weigh(bioloid: Robot) -> None:
    assert bioloid.model_path is not None
    parts = ElementTree.parse(bioloid.model_path).iter("inertial")  # noqa: S314  # our own file
    assert World(bioloid).instance().mass_kg == pytest.approx(
        sum(float(part.attrib["mass"]) for part in parts)
    )


def test_arena_stands_to_scale(bioloid: Robot) -> None:
    field = arena()
    world = World(bioloid, field)
    walls = {name: world.model.geom(f"wall_{name}") for name in ("start", "end", "left", "right")}
    inner = {name: (wall.pos, wall.size) for name, wall in walls.items()}
    assert inner["start"][0][0] + inner["start"][1][0] == pytest.approx(0.0)
    assert inner["end"][0][0] - inner["end"][1][0] == pytest.approx(field.size_x)
    assert inner["left"][0][1] - inner["left"][1][1] == pytest.approx(field.size_y / 2)
    assert inner["right"][0][1] + inner["right"][1][1] == pytest.approx(-field.size_y / 2)
    assert all(2 * size[2] == pytest.approx(field.walls[0].size_m[2]) for _, size in inner.values())
    lines = [world.model.geom(f"line_{index}").pos[0] for index in range(len(field.lines))]
    assert lines == [line.x for line in field.lines]


@pytest.mark.parametrize("name", layout_names())
def test_boxes_stand_where_the_layout_has_them_and_stay(name: str, bioloid: Robot, hold: Hold) -> None:
    boxes = layout(name)
    body = SimulatedBody(World(bioloid, arena().with_boxes(boxes)))
    before = body.world.boxes
    assert np.allclose(before[:, :2], [(box.x, box.y) for box in boxes])
    track = play(body, hold(bioloid.pose("walk_ready"), 0.2))
    assert track.truth is not None
    assert np.array_equal(track.truth.boxes[-1], before)
    assert not track.truth.box_contacts.any()


def test_a_box_that_the_robot_falls_against_is_touched_and_moved(among_boxes: AmongBoxes, hold: Hold) -> None:
    body = among_boxes((0.48, 0.0), (1.5, 0.5))
    before = body.world.boxes
    pose = body.robot.pose("walk_ready")
    for side in ("right", "left"):
        pose[body.robot.index(f"{side}_ankle_pitch")] -= 0.6
    world = play(body, hold(pose, 2.5)).truth
    assert world is not None
    assert world.box_contacts[:, 0].any()
    assert not world.box_contacts[:, 1].any()
    assert np.hypot(*(world.boxes[-1, 0, :2] - before[0, :2])) > 0.01
    assert np.array_equal(world.boxes[-1, 1], before[1])


def test_a_pushed_box_comes_to_rest_and_sleeps_again(among_boxes: AmongBoxes, hold: Hold) -> None:
    body = among_boxes((1.5, 0.5))
    body.world.data.qvel[body.world.addresses.box_qvel.start] = 0.5
    track = play(body, hold(body.robot.pose("walk_ready"), 1.5))
    assert track.truth is not None
    moved = track.truth.boxes[-1, 0, 0] - 1.5
    # A block that slides without rocking comes v^2 / (2 mu g) = 2.5 cm far; this one is tall and rocks.
    assert 0.005 < moved < 0.5**2 / (2 * 0.5 * 9.81)
    assert track.truth.boxes[-1, 0, 2] == pytest.approx(0.25, abs=1e-3)
    assert np.array_equal(track.truth.boxes[-1], track.truth.boxes[-20])


def test_the_robot_stops_at_a_wall(bioloid: Robot, hold: Hold) -> None:
    body = SimulatedBody(World(bioloid, arena()), start=(2.36, 0.0, 0.0))
    pose = bioloid.pose("walk_ready")
    for side in ("right", "left"):
        pose[bioloid.index(f"{side}_ankle_pitch")] -= 0.6
    track = play(body, hold(pose, 2.0))
    assert track.truth is not None
    assert track.truth.base[:, 0].max() < 2.5


def test_show_sets_poses_as_a_track_has_them(among_boxes: AmongBoxes, hold: Hold) -> None:
    body = among_boxes((0.48, 0.0))
    pose = body.robot.pose("walk_ready")
    track = play(body, hold(pose, 0.5))
    assert track.truth is not None
    other = World(body.robot, body.world.arena)
    boxes = track.truth.boxes[-1] + [0.1, 0.2, 0.3, 0, 0, 0, 0]
    other.show((track.truth.base[-1], track.positions[-1]), boxes)
    assert np.array_equal(other.base, track.truth.base[-1])
    assert np.array_equal(other.instance().joint_positions, track.positions[-1])
    assert np.allclose(other.data.geom("box_0").xpos, boxes[0, :3])


def test_sensors_of_the_model_file_are_not_stepped(bioloid: Robot) -> None:
    model = World(bioloid, arena().with_boxes(layout("example_1"))).model
    kinds = {int(kind) for kind in model.sensor_type}
    assert kinds == {int(mujoco.mjtSensor.mjSENS_CONTACT)}


def test_a_bare_floor_is_enough(bioloid: Robot) -> None:
    world = World(replace(bioloid, sensors=()))
    assert world.instance().n_boxes == 0
    assert world.boxes.shape == (0, 7)
