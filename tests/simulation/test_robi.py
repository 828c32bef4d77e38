"""Robi stands and sits: on the floor, on its chair, on its ride."""

from __future__ import annotations

import math
from itertools import combinations

import mujoco
import numpy as np
import pytest

from posewright.arenas import arena
from posewright.bodies import DomainParameters, JointCommands
from posewright.errors import UnknownNameError
from posewright.formats import read_motion
from posewright.robots import Robot, robot
from posewright.rotation import roll_pitch_yaw_of_matrix
from posewright.simulation import SimulatedBody, World

from .driving import play

ROOM = arena("robi_room")


@pytest.fixture(scope="module")
def robi() -> Robot:
    return robot("deagostini_robi2")


def put(robi: Robot, pose: str, spot: str) -> SimulatedBody:
    """Give a Robi in a pose at a spot of its room."""
    at = ROOM.spot(spot)
    return SimulatedBody(World(robi, ROOM), start_pose=robi.pose(pose), start=(at.x, at.y, at.yaw_rad))


def lean_deg(body: SimulatedBody) -> tuple[float, float]:
    turn = body.world.data.xmat[body.instance.addresses.base_body].reshape(3, 3)
    roll, pitch, _ = roll_pitch_yaw_of_matrix(turn)
    return math.degrees(roll), math.degrees(pitch)


@pytest.mark.parametrize(
    ("pose", "spot", "height_m", "pitch_deg"),
    [
        ("stand", "floor", 0.135, 0.0),
        ("sit", "floor", 0.020, 13.7),
        ("stand_up_start", "floor", 0.020, 13.0),
        ("stand_up_crouch", "floor", 0.077, 4.0),
        ("chair", "chair", 0.0735, 0.0),
        ("ride", "ride", 0.174, 24.0),
        ("stand", "ride", 0.175, 0.0),
    ],
)
def test_robi_stays_for_two_seconds_as_it_was_put(
    robi: Robot, pose: str, spot: str, height_m: float, pitch_deg: float
) -> None:
    body = put(robi, pose, spot)
    was = body.world.base
    body.world.step(120)
    roll, pitch = lean_deg(body)
    assert body.world.base[2] == pytest.approx(height_m, abs=0.003)
    assert (roll, pitch) == pytest.approx((0.0, pitch_deg), abs=2.5)
    assert np.abs(body.world.base[:3] - was[:3]).max() < 0.006
    assert np.abs(body.read().positions - robi.pose(pose)).max() < math.radians(2.0)
    assert np.abs(body.world.data.qvel).max() < 0.02


def test_robi_is_34_cm_high_and_weighs_a_kilogram(robi: Robot) -> None:
    body = SimulatedBody(World(robi), start_pose=robi.pose("stand"))
    model, data = body.world.model, body.world.data
    head = model.geom("head").id
    assert data.geom_xpos[head, 2] + model.geom_size[head, 2] == pytest.approx(0.34, abs=0.001)
    assert body.instance.mass_kg == pytest.approx(1.0)
    for name, mass in robi.link_masses_kg.items():
        assert model.body(name).mass[0] == pytest.approx(mass), name


@pytest.mark.parametrize("pose", ["stand", "sit", "chair", "ride", "stand_up_start", "stand_up_crouch"])
def test_no_part_goes_through_another_that_it_does_not_hang_on(robi: Robot, pose: str) -> None:
    """What hangs on one another, or on the next but one at a hip, an ankle or the neck, overlaps there."""
    world = SimulatedBody(World(robi), start_pose=robi.pose(pose)).world
    model, data = world.model, world.data
    solid = [geom for geom in np.flatnonzero(model.geom_conaffinity).tolist() if model.geom_bodyid[geom]]
    for one, other in combinations(solid, 2):
        if not are_near(model, int(model.geom_bodyid[one]), int(model.geom_bodyid[other])):
            gap = mujoco.mj_geomDistance(model, data, one, other, 0.1, None)
            assert gap > -0.002, (model.geom(one).name, model.geom(other).name)


def are_near(model: mujoco.MjModel, one: int, other: int) -> bool:
    def above(body: int) -> list[int]:
        parents = [body]
        while len(parents) < 4:
            parents.append(int(model.body_parentid[parents[-1]]))
        return parents

    return one in above(other) or other in above(one)


def test_the_lights_of_the_card_are_parts_of_the_model(robi: Robot) -> None:
    model = World(robi).model
    for led in robi.leds:
        assert model.geom(led.name).id >= 0


def test_on_the_chair_the_feet_are_just_over_its_foot_rest(robi: Robot) -> None:
    body = put(robi, "chair", "chair")
    body.world.step(120)
    model, data = body.world.model, body.world.data
    for side in ("left", "right"):
        heel, rest = model.geom(f"{side}_heel").id, model.geom("chair_foot_rest").id
        assert mujoco.mj_geomDistance(model, data, heel, rest, 0.1, None) < 0.003


def test_who_is_put_where_nothing_stands_is_put_on_the_floor_as_ever(robi: Robot) -> None:
    bare = SimulatedBody(World(robi), start_pose=robi.pose("sit"))
    assert put(robi, "sit", "floor").world.base[2:].tolist() == bare.world.base[2:].tolist()


def test_a_spot_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="did you mean chair"):
        ROOM.spot("chiar")


@pytest.mark.parametrize(
    ("stiffness", "damping"), [(1.0, 1.0), (0.7, 1.0), (1.2, 1.0), (1.0, 0.8), (1.0, 1.3)]
)
def test_robi_sits_down_with_weaker_and_stronger_servos(
    robi: Robot, stiffness: float, damping: float
) -> None:
    domain = DomainParameters(stiffness_scale=stiffness, damping_scale=damping)
    assert robi.folder is not None
    motion = read_motion(robi.folder / "motions" / "sit_down.motion.yaml")
    moved = motion.sample(60).angles
    angles = np.zeros((len(moved) + 60, len(robi.joints)))
    angles[:, [robi.index(joint) for joint in motion.joints]] = np.vstack(
        [moved, np.tile(moved[-1], (60, 1))]
    )
    body = SimulatedBody(World(robi), start_pose=robi.pose("stand"), domain=domain)
    play(body, JointCommands(angles))
    assert angles[-1] == pytest.approx(robi.pose("sit"))
    assert body.world.base[2] == pytest.approx(0.020, abs=0.003)
    assert lean_deg(body) == pytest.approx((0.0, 13.6), abs=3.0)
