"""The ERS-7 under gravity: it stands, sits and lies, and its joints are as fast as Sony's, and no faster."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.errors import InputError
from posewright.robots import Robot
from posewright.rotation import roll_pitch_yaw_of_matrix
from posewright.simulation import SimulatedBody, World
from posewright.simulation.placement import Lean, sole_corners

from .driving import play

Touching = Callable[[World], frozenset[tuple[str, str]]]

BELLY = ("sit", "sleep", "broad_base")


def lean_deg(body: SimulatedBody) -> Floats:
    """Return roll, pitch and yaw of the base."""
    world = body.world
    return np.degrees(roll_pitch_yaw_of_matrix(world.data.xmat[world.addresses.base_body].reshape(3, 3)))


def test_stands_still_for_five_seconds(dog: SimulatedBody) -> None:
    assert dog.read().positions == pytest.approx(dog.robot.pose("stand"), abs=1e-9)
    world = dog.settle(dog.robot.pose("stand"), 5.0).truth
    assert world is not None
    assert np.hypot(*(world.base[-1, :2] - world.base[0, :2])) < 0.005
    assert world.foot_contacts[-1].all()
    roll, pitch, yaw = lean_deg(dog)
    assert abs(roll) < 0.1
    assert 0.0 < pitch < 3.0, "Sony's own motions say 1 degree forward"
    assert abs(yaw) < 0.1
    assert np.abs(world.base[-60:] - world.base[-1]).max() < 1e-4


@pytest.mark.parametrize("pose", BELLY)
def test_comes_to_rest_where_it_does_not_stand_on_its_feet(
    dog: SimulatedBody, touching: Touching, pose: str
) -> None:
    world = dog.settle(dog.robot.pose(pose), 2.0).truth
    assert world is not None
    assert np.hypot(*(world.base[-1, :2] - world.base[0, :2])) < 0.006
    assert np.abs(world.base[-60:] - world.base[-1]).max() < 1e-3
    pairs = touching(dog.world)
    assert ("trunk", "floor") in pairs
    assert all(other == "floor" for _, other in pairs)


def test_sits_as_sonys_motions_say(dog: SimulatedBody) -> None:
    dog.settle(dog.robot.pose("sit"), 1.0)
    roll, pitch, _ = lean_deg(dog)
    assert pitch == pytest.approx(-37.0, abs=2.0)
    assert roll == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize("pose", ["stand", "walk", *BELLY])
def test_is_put_down_so_that_it_hardly_moves(dog: SimulatedBody, pose: str) -> None:
    dog.put_down(dog.robot.pose(pose))
    before = lean_deg(dog)
    dog.settle(dog.robot.pose(pose), 1.0)
    assert np.abs(lean_deg(dog) - before).max() < 2.5


def test_it_can_be_held_leaning_and_falls_back_on_its_feet(dog: SimulatedBody) -> None:
    pose = dog.robot.pose("stand")
    dog.put_down(pose, Lean(roll_rad=math.radians(5.0), pitch_rad=math.radians(-8.0)))
    assert lean_deg(dog) == pytest.approx((5.0, -8.0, 0.0))
    assert sole_corners(dog.instance)[..., 2].min() == pytest.approx(0.0, abs=1e-9)
    assert dog.time_s == 0.0
    track = dog.settle(pose, 1.5, Lean(roll_rad=math.radians(5.0)))
    assert dog.time_s == pytest.approx(1.5, abs=dog.robot.frame_period_s)
    assert len(track) == round(1.5 / dog.robot.frame_period_s)
    assert abs(lean_deg(dog)[0]) < 0.5


def test_held_upside_down_it_stays_on_its_back(dog: SimulatedBody, touching: Touching) -> None:
    dog.settle(dog.robot.pose("stand"), 2.0, Lean(roll_rad=math.pi))
    assert dog.world.data.xmat[dog.world.addresses.base_body][8] < 0.0
    assert not touching(dog.world) & {(foot, "floor") for foot in dog.robot.feet}


def test_a_lean_that_is_no_number_is_refused(dog: SimulatedBody) -> None:
    with pytest.raises(InputError, match="cannot place"):
        dog.put_down(dog.robot.pose("stand"), Lean(pitch_rad=math.nan))


def test_no_joint_is_faster_than_sonys(ers7: Robot) -> None:
    body = SimulatedBody(World(ers7))
    world = body.world
    world.model.opt.gravity[:] = 0.0
    for joint, name in enumerate(ers7.joint_names):
        for share in (0.0, 1.0):
            start, ranges = ers7.pose("stand"), world.model.joint(name).range
            end = start.copy()
            start[joint], end[joint] = ranges if share else ranges[::-1]
            body.reset()
            world.show(((0, 0, 2.0, 1, 0, 0, 0), start))
            speeds: list[float] = []
            dof = world.addresses.joint_qvel[joint]
            play(body, JointCommands(np.tile(end, (30, 1))), lambda: speeds.append(abs(world.data.qvel[dof])))  # noqa: B023
            assert 0.3 * ers7.max_speeds[joint] < max(speeds) <= ers7.max_speeds[joint], name


def test_no_joint_rings(ers7: Robot) -> None:
    body = SimulatedBody(World(ers7))
    track = body.settle(ers7.pose("stand"), 0.5)
    step = ers7.pose("stand") + math.radians(3.0)
    step[[ers7.index(name) for name in ("head_pan", "tail_tilt", "left_ear", "right_ear")]] += 0.1
    track = play(body, JointCommands(np.tile(step, (60, 1))))
    assert np.abs(np.diff(track.positions[-15:], axis=0)).max() < 2e-3


def test_equal_runs_are_equal_to_the_last_bit_with_contacts_or_without(ers7: Robot) -> None:
    times = np.arange(250) * ers7.frame_period_s
    angles = ers7.pose("stand") + 0.2 * np.sin(5.0 * times[:, None] + np.arange(20))
    one, other = (SimulatedBody(World(ers7, contacts=contacts)) for contacts in (False, True))
    first = play(one, JointCommands(angles)).truth
    second = play(other, JointCommands(angles)).truth
    assert first is not None
    assert second is not None
    assert np.array_equal(first.base, second.base)


def test_paws_leave_level_footprints_under_them(dog: SimulatedBody) -> None:
    world = play(dog, JointCommands(np.tile(dog.robot.pose("walk"), (40, 1)))).truth
    assert world is not None
    prints = world.footprints[-1]
    radius = float(dog.world.model.geom("left_front_paw").size[0])
    for foot, corners in zip(dog.robot.feet, prints, strict=True):
        middle = dog.world.data.geom(foot).xpos
        assert corners.mean(axis=0) == pytest.approx(middle - (0.0, 0.0, radius))
        assert np.ptp(corners[:, 2]) == 0.0
        front_left, front_right, rear_right, rear_left = corners
        assert front_left[0] == front_right[0] > rear_left[0] == rear_right[0]
        assert front_left[1] == rear_left[1] > front_right[1] == rear_right[1]
