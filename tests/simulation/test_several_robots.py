"""Worlds with several robots: each is what it is alone, and they see, push and feel each other."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.arenas import Box, arena
from posewright.arrays import Floats
from posewright.bodies import (
    DomainParameters,
    JointCommands,
    JointStates,
    Plant,
    TorquePolicy,
)
from posewright.control import Script, drive
from posewright.errors import BodyError, InputError, UnknownNameError
from posewright.robots import RangeScan, RangeSensor, Robot
from posewright.simulation import SimulatedBody, World

LASER = RangeSensor("chest", "trunk", 4.0, position_m=(0.05, 0.0, 0.06), pitch_deg=-10.0)


def standing(card: Robot, n: int) -> JointCommands:
    return JointCommands(np.tile(card.pose("walk_ready"), (n, 1)))


def trampling(card: Robot, n: int, seed: int) -> JointCommands:
    rhythm = np.random.default_rng(seed).uniform(0.0, 6.0, len(card.joints))
    return JointCommands(card.pose("walk_ready") + 0.1 * np.sin(0.08 * np.arange(n)[:, None] + rhythm))


def two(card: Robot, apart_m: float, **options: object) -> tuple[World, SimulatedBody, SimulatedBody]:
    """Return two robots, red behind blue, both looking along x."""
    world = World({"red": card, "blue": card}, **options)  # type: ignore[arg-type]  # passed on as given
    return world, SimulatedBody(world, "red"), SimulatedBody(world, "blue", start=(apart_m, 0.0, 0.0))


def columns(states: JointStates) -> tuple[Floats, ...]:
    assert states.truth is not None
    truth = states.truth
    return states.positions, states.efforts, truth.base, truth.footprints, truth.foot_contacts


def test_a_world_is_a_plant(bioloid: Robot) -> None:
    world, red, blue = two(bioloid, 1.0)
    assert isinstance(world, Plant)
    assert dict(world.bodies) == {"red": red, "blue": blue}
    assert (red.robot, blue.robot) == (bioloid, bioloid)


def test_each_stands_where_it_was_put_and_moves_as_it_is_told(bioloid: Robot) -> None:
    world, red, blue = two(bioloid, 1.0)
    states = world.advance({"red": trampling(bioloid, 64, 1), "blue": standing(bioloid, 64)})
    assert states["red"].truth is not None
    assert states["blue"].truth is not None
    assert np.abs(states["red"].truth.base[:, :2]).max() < 0.1
    assert np.abs(states["blue"].truth.base[:, :2] - (1.0, 0.0)).max() < 0.02
    assert np.ptp(states["red"].positions, axis=0).max() > 0.1
    assert np.ptp(states["blue"].positions, axis=0).max() < 0.05
    assert red.time_s == blue.time_s == world.time_s == 64 * bioloid.frame_period_s


def test_far_from_each_other_a_robot_does_what_it_does_alone(bioloid: Robot) -> None:
    world, _, _ = two(bioloid, 3.0)
    alone = World(bioloid)
    SimulatedBody(alone)
    rows = trampling(bioloid, 40, 1)
    one = world.advance({"red": rows, "blue": standing(bioloid, 40)})["red"]
    other = alone.advance({bioloid.name: rows})[bioloid.name]
    for ours, theirs in zip(columns(one), columns(other), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-6)  # MuJoCo's solver sums in another order


def test_the_same_run_is_the_same_to_the_last_bit_however_it_is_cut(bioloid: Robot) -> None:
    ends = []
    for cuts in ([], [13, 26], list(range(1, 60))):
        world, *_ = two(bioloid, 0.3, contacts=True)
        red, blue = trampling(bioloid, 60, 1).angles, trampling(bioloid, 60, 2).angles
        for one, other in zip(np.split(red, cuts), np.split(blue, cuts), strict=True):
            world.advance({"red": JointCommands(one), "blue": JointCommands(other)})
        ends.append(world.data.qpos.copy())
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])


def test_a_range_sensor_sees_the_other_robot_and_never_its_own(bioloid: Robot) -> None:
    scan = RangeScan(
        "ring", "trunk", 4.0, start_deg=-180.0, step_deg=10.0, beams=36, position_m=(0.0, 0.0, 0.06)
    )
    field = replace(arena(), boxes=())
    world = World({"red": bioloid, "blue": bioloid}, field, sensors=(LASER, scan))
    red = SimulatedBody(world, "red", start=(0.5, 0.3, 0.0))
    blue = SimulatedBody(world, "blue", start=(1.2, -0.6, math.pi))
    alone = SimulatedBody(World(bioloid, field, sensors=(LASER, scan)), start=(0.5, 0.3, 0.0))
    free = red.read().sensors
    assert free["chest"] == pytest.approx(alone.read().sensors["chest"])
    blue.place_robot(1.0, 0.3, math.pi)
    met = red.read().sensors
    assert met["chest"] < min(free["chest"], 0.5)
    assert (np.asarray(met["ring"]) <= np.asarray(free["ring"]) + 1e-9).sum() >= 30
    assert blue.read().sensors["chest"] == pytest.approx(met["chest"], abs=0.05)


@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_robots_push_each_other(bioloid: Robot, speed: float) -> None:
    world, red, blue = two(bioloid, 0.25)
    world.data.qvel[red.instance.addresses.base_qvel.start] = speed  # red runs into blue
    pushed = world.step(128)["blue"].truth
    assert pushed is not None
    assert (pushed.base[-1, 0] - 0.25 > 0.05) == (speed > 0.0)
    assert blue.instance.base[0] > red.instance.base[0]


def test_only_the_robot_that_touches_a_box_is_told_so(bioloid: Robot) -> None:
    field = replace(arena(), boxes=(Box(0.75, 0.0),))
    world = World({"red": bioloid, "blue": bioloid}, field)
    SimulatedBody(world, "red", start=(0.65, 0.0, 0.0))  # inside the box
    SimulatedBody(world, "blue", start=(1.8, 0.0, 0.0))
    states = world.advance({name: standing(bioloid, 4) for name in world.bodies})
    assert states["red"].truth is not None
    assert states["blue"].truth is not None
    assert states["red"].truth.box_contacts.any()
    assert not states["blue"].truth.box_contacts.any()
    assert np.array_equal(states["red"].truth.boxes, states["blue"].truth.boxes)


def test_contacts_of_each_robot_are_called_as_its_model_calls_them(bioloid: Robot) -> None:
    world, *_ = two(bioloid, 1.0, contacts=True)
    states = world.advance({name: standing(bioloid, 20) for name in world.bodies})
    for one in states.values():
        assert one.truth is not None
        assert one.truth.contacts is not None
        names = one.truth.contacts.names
        touched = {names[part] for pair in one.truth.contacts.pairs.tolist() for part in pair}
        assert {"right_foot", "left_foot", "floor"} <= touched


def test_placing_one_robot_leaves_the_other(bioloid: Robot) -> None:
    world, red, blue = two(bioloid, 1.0)
    world.step(20)
    before, speed = blue.instance.base, world.data.qvel[blue.instance.addresses.base_qvel].copy()
    red.place_robot(-1.0, 0.5, 1.0)
    assert np.array_equal(blue.instance.base, before)
    assert np.array_equal(world.data.qvel[blue.instance.addresses.base_qvel], speed)
    assert red.instance.base[:2] == pytest.approx((-1.0, 0.5))


def test_reset_begins_again_for_all(bioloid: Robot) -> None:
    world, red, blue = two(bioloid, 0.6)
    first = world.advance({"red": trampling(bioloid, 30, 1), "blue": trampling(bioloid, 30, 2)})
    red.reset()
    again = world.advance({"red": trampling(bioloid, 30, 1), "blue": trampling(bioloid, 30, 2)})
    for name in ("red", "blue"):
        assert all(
            np.array_equal(a, b) for a, b in zip(columns(first[name]), columns(again[name]), strict=True)
        )
    assert blue.time_s == 30 * bioloid.frame_period_s


def test_bodies_differ_one_by_one_and_share_the_ground(bioloid: Robot) -> None:
    world = World({"red": bioloid, "blue": bioloid})
    red = SimulatedBody(world, "red", domain=DomainParameters(mass_scale=1.2, friction=0.4))
    blue = SimulatedBody(world, "blue", start=(1.0, 0.0, 0.0))
    assert red.instance.mass_kg == pytest.approx(1.2 * blue.instance.mass_kg)
    with pytest.raises(InputError, match="different grounds"):
        blue.set_domain(DomainParameters(friction=0.9))
    blue.set_domain(DomainParameters(stiffness_scale=0.5, friction=0.4))
    assert blue.stiffness == pytest.approx(0.5 * red.stiffness)


def test_a_late_robot_is_late_alone(bioloid: Robot) -> None:
    world = World({"red": bioloid, "blue": bioloid})
    SimulatedBody(world, "red", domain=DomainParameters(latency_frames=5))
    SimulatedBody(world, "blue", start=(1.0, 0.0, 0.0))
    step = np.tile(bioloid.pose("walk_ready"), (5, 1))
    arm = bioloid.index("right_shoulder_roll")
    step[:, arm] -= 0.2
    states = world.advance({name: JointCommands(step) for name in world.bodies})
    assert abs(np.ptp(states["red"].positions[:, arm])) < 0.005 < np.ptp(states["blue"].positions[:, arm])


def test_drive_drives_all(bioloid: Robot) -> None:
    world, *_ = two(bioloid, 1.0)
    drive(world, {name: Script([standing(bioloid, 7)]) for name in world.bodies}, until_s=0.5)
    assert world.time_s == pytest.approx(0.5)


def test_torque_that_was_released_comes_back_when_the_body_is_opened(bioloid: Robot) -> None:
    world, red, blue = two(bioloid, 1.0)
    world.step(30)
    for body in (red, blue):
        body.stop(TorquePolicy.HOLD)
    world.step(60)
    assert red.instance.base[2] == pytest.approx(blue.instance.base[2], abs=1e-3)
    red.stop(TorquePolicy.RELEASE)
    states = world.step(128)
    assert np.abs(states["red"].efforts).max() == 0.0
    assert red.instance.base[2] < 0.6 * blue.instance.base[2], "it has collapsed, the other stands"
    red.open()
    assert np.abs(world.step(2)["red"].efforts).max() > 0.1


def test_what_cannot_be_one_world_is_refused(bioloid: Robot, ers7: Robot) -> None:
    with pytest.raises(InputError, match="different frame periods"):
        World({"ape": bioloid, "dog": ers7})
    with pytest.raises(InputError, match="no robot"):
        World({})
    world = World({"red": bioloid, "blue": bioloid})
    with pytest.raises(InputError, match="several robots"):
        SimulatedBody(world)
    with pytest.raises(UnknownNameError, match="green"):
        SimulatedBody(world, "green")
    SimulatedBody(world, "red")
    with pytest.raises(BodyError, match="no body: blue"):
        world.advance({"red": standing(bioloid, 1), "blue": standing(bioloid, 1)})
    SimulatedBody(world, "blue", start=(1.0, 0.0, 0.0))
    with pytest.raises(BodyError, match="commands for red"):
        world.advance({"red": standing(bioloid, 1)})
    with pytest.raises(BodyError, match="row counts differ"):
        world.advance({"red": standing(bioloid, 1), "blue": standing(bioloid, 2)})


def test_dogs_meet_as_well(ers7: Robot) -> None:
    world = World({"one": ers7, "two": ers7}, visuals=False, welded={"mouth": -0.1})
    SimulatedBody(world, "one")
    other = SimulatedBody(world, "two", start=(0.6, 0.0, math.pi))
    world.step(60)
    assert world.instances["one"].welded_joints == ("mouth",)
    near = other.read().sensors
    other.place_robot(0.6, 0.0, 0.0)
    assert any(
        np.any(np.asarray(other.read().sensors[name]) != np.asarray(value)) for name, value in near.items()
    )


def test_the_example_with_two_robots_says_the_same_twice() -> None:
    """The walker comes into view of the other's laser; another process writes the same recording."""
    path, said = Path(__file__).parents[2] / "examples" / "17_two_robots.py", []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)  # noqa: S603  # our own program
        said.append(done.stdout)
    assert said[0] == said[1]
    before, after = (float(found) for found in re.findall(r"(\d\.\d+) m", said[0]))
    assert after < before - 0.3
    assert re.search(r"digest: [0-9a-f]{32,}", said[0])
