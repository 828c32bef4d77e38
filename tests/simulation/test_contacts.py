"""What the observer of contacts sees."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from posewright.arenas import Box, arena
from posewright.bodies import Frames
from posewright.robots import Robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.contacts import ContactObserver

AmongBoxes = Callable[..., SimulatedBody]


def test_a_standing_dog_touches_the_floor_with_its_paws_alone(dog: SimulatedBody) -> None:
    dog.settle(dog.robot.pose("stand"), 1.0)
    contacts = ContactObserver(dog.world).look()
    assert contacts.parts_on_ground == set(dog.robot.feet)
    assert contacts.own == contacts.things == ()
    weight = dog.world.robot_mass_kg * 9.81
    assert sum(touch.force_n for touch in contacts.ground) == pytest.approx(weight, rel=1e-3)
    assert all(0.0 < touch.depth_m < 1e-3 for touch in contacts.ground)
    assert contacts.slips_m_s.max() < 1e-3
    assert contacts.efforts.shape == (20,)
    assert 0.02 < contacts.efforts.max() < 0.3


def test_crossed_legs_are_found(dog: SimulatedBody) -> None:
    pose = dog.robot.pose("stand")
    for joint, degrees in (("left_front_rotator", -70.0), ("left_rear_rotator", -70.0)):
        pose[dog.robot.index(joint)] = math.radians(degrees)
    dog.settle(pose, 0.5)
    contacts = ContactObserver(dog.world).look()
    legs = {name for pair in contacts.own_pairs for name in pair}
    assert legs
    assert all(name.startswith("left") for name in legs)
    assert len(contacts.own) == len(contacts.own_pairs), "a pair stands there once"
    assert all(touch.depth_m >= 0.0 and touch.force_n >= 0.0 for touch in contacts.own)


def test_efforts_tell_who_is_at_the_end_of_its_torque(dog: SimulatedBody) -> None:
    joint = dog.robot.index("left_front_elevator")
    pose = dog.robot.pose("stand")
    dog.settle(pose, 0.5)
    pose[joint] = math.radians(80.0)
    dog.play(Frames(pose[None]))
    efforts = ContactObserver(dog.world).look().efforts
    assert efforts[joint] == pytest.approx(1.0)
    assert np.delete(efforts, joint).max() < 0.9


def test_a_sliding_foot_slips_and_a_rolling_one_does_not(dog: SimulatedBody) -> None:
    dog.settle(dog.robot.pose("stand"), 0.5)
    world, at = dog.world, dog.world.addresses
    observer = ContactObserver(world)
    world.data.qvel[:] = 0.0
    world.data.qvel[at.trunk_qvel][:3] = (0.3, -0.4, 0.0)
    mujoco.mj_forward(world.model, world.data)
    assert observer.look().slips_m_s == pytest.approx(0.5, abs=1e-6)
    # Let the whole robot turn about the point under one paw, as a ball rolling on would.
    paw = world.data.geom("left_front_paw").xpos.copy()
    turn = np.array([0.0, 2.0, 0.0])
    arm = world.trunk[:3] - (paw[0], paw[1], 0.0)
    world.data.qvel[at.trunk_qvel] = (*np.cross(turn, arm), *turn)  # level enough for both frames
    mujoco.mj_forward(world.model, world.data)
    slips = observer.look().slips_m_s
    assert slips[dog.robot.feet.index("left_front_paw")] < 0.01


def test_feet_in_the_air_have_no_slip(dog: SimulatedBody) -> None:
    dog.world.show((0, 0, 1.0, 1, 0, 0, 0), dog.robot.pose("stand"))
    contacts = ContactObserver(dog.world).look()
    assert np.isnan(contacts.slips_m_s).all()
    assert contacts.ground == contacts.own == contacts.things == ()


def test_boxes_and_walls_are_things(ers7: Robot) -> None:
    field = replace(arena(), boxes=(Box(0.85, 0.0),))
    body = SimulatedBody(World(ers7, field), start=(0.6, 0.0, 0.0))
    assert {touch.other for touch in ContactObserver(body.world).look().things} == {"box_0"}
    body.place_robot(0.1, 0.0, 0.0)
    assert "wall_start" in {touch.other for touch in ContactObserver(body.world).look().things}


def test_a_bioloid_is_seen_as_well(among_boxes: AmongBoxes) -> None:
    body = among_boxes((1.5, 0.5))
    body.play(Frames(np.tile(body.robot.pose("walk_ready"), (64, 1))))
    contacts = ContactObserver(body.world).look()
    assert contacts.parts_on_ground == set(body.robot.feet)
    assert contacts.things == ()
    assert contacts.slips_m_s.shape == (2,)
