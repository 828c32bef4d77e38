"""Show 2 in the simulator: a dance written for standing, danced where the robot is."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.arenas import arena
from posewright.arrays import Floats
from posewright.bodies import BodySpec
from posewright.control import Until, drive
from posewright.recordings import Header, Recorder, Recording, RobotHeader
from posewright.robots import robot
from posewright.runs.plants import make_plant
from posewright.runtimes.robi.catalogue import load_program
from posewright.runtimes.robi.controller import RobiController
from posewright.runtimes.robi.words import read_words

ROBI = robot("deagostini_robi2")
ROOM = arena("robi_room")
BEGUN_S = 3.0
"""When the dance is asked for; by then the robot has taken its idle pose."""


def run_dance(
    pose: str, spot: str, before: str = "", begun_s: float = BEGUN_S
) -> tuple[Floats, Floats, list[str]]:
    """Return the ranges of the joints in the dance [deg], the base height, and the reported postures."""
    recording = run(pose, spot, f"{before} 3@{begun_s}")
    record = recording.robots[ROBI.name]
    during = record.positions[recording.times > begun_s]
    postures = [event.data["name"] for event in recording.events if event.data.get("what") == "posture"]
    return np.degrees(np.ptp(during, axis=0)), record.base[:, 2], postures


def run(pose: str, spot: str, words: str) -> Recording:
    where = ROOM.spot(spot)
    part = BodySpec(ROBI.name, ROBI, ROBI.pose(pose), (where.x, where.y, where.yaw_rad))
    plant = make_plant("sim", [part], ROOM)
    recorder = Recorder(Header({ROBI.name: RobotHeader.of(plant.bodies[ROBI.name])}), plant, every=1)
    controller = RobiController(ROBI, load_program("startup"), words=read_words(words))
    drive(
        plant,
        {ROBI.name: controller},
        until_s=20.0,
        watchers=[recorder, Until(lambda: controller.is_over, 0.5)],
    )
    return recorder.recording()


def ids(*numbers: int) -> list[int]:
    """Return the columns of servos."""
    return [number - 2 for number in numbers]


def test_on_the_chair_the_legs_stay_and_the_rest_dances() -> None:
    moved, height, postures = run_dance("chair", "chair")
    assert postures == ["chair"]
    assert moved[ids(*range(2, 12))].max() < 5.0  # they give a little, at 70 % of their torque
    assert moved[ids(*range(12, 22))].min() > 15.0
    assert np.ptp(height) < 0.02


def test_the_chair_leaves_room_for_the_arms_so_the_robot_stays_where_it_sits() -> None:
    base = run("chair", "chair", f"3@{BEGUN_S}").robots[ROBI.name].base
    assert np.abs(base[:, :3] - base[0, :3]).max() < 0.005
    turned = 2.0 * np.degrees(np.arccos(np.clip(np.abs(base[:, 3:] @ base[0, 3:]), 0.0, 1.0)))
    assert turned.max() < 2.0


def test_on_the_floor_only_the_head_dances() -> None:
    moved, height, postures = run_dance("sit", "floor")
    assert postures == ["sitting"]
    assert moved[ids(13, 14, 15)].min() > 15.0
    assert np.delete(moved, ids(13, 14, 15)).max() < 5.0
    assert np.ptp(height) < 0.01


def test_on_the_ride_only_the_head_dances() -> None:
    moved, height, postures = run_dance("ride", "ride", "4@2,", 6.0)
    assert postures == ["ride"]
    assert moved[ids(13, 14, 15)].min() > 15.0
    assert np.delete(moved, ids(13, 14, 15)).max() < 6.0  # they give a little: it stands on its legs
    assert np.ptp(height) < 0.01


def test_standing_everything_dances_and_the_robot_does_not_fall() -> None:
    moved, height, postures = run_dance("stand", "floor")
    assert postures == []
    assert moved[ids(4, 9)].min() > 25.0
    assert moved[ids(*range(12, 22))].min() > 15.0
    assert height[-1] == pytest.approx(height[0], abs=0.005)


def test_told_to_sit_down_it_ends_as_one_that_was_put_down() -> None:
    commanded, placed = run("stand", "floor", "1@2"), run("sit", "floor", "1@2")
    ends = [recording.robots[ROBI.name] for recording in (commanded, placed)]
    assert ends[0].base[-1, 2] == pytest.approx(ends[1].base[-1, 2], abs=0.003)
    np.testing.assert_allclose(ends[0].positions[-1], ends[1].positions[-1], atol=np.radians(3.0))
    np.testing.assert_allclose(np.abs(ends[0].base[-1, 3:]), np.abs(ends[1].base[-1, 3:]), atol=0.03)
