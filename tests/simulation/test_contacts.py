"""What a recorder of contacts keeps, of robots that are put where the test wants them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from posewright.arenas import Box, arena
from posewright.arrays import Floats
from posewright.bodies import Contacts, JointCommands
from posewright.robots import Robot, robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.contacts import ContactRecorder
from posewright.simulation.domain import set_friction
from posewright.simulation.placement import place

from .driving import play

Touching = Callable[[World], frozenset[tuple[str, str]]]


def standing(card: Robot) -> World:
    """Return a robot that stands, pressed into the floor by a tenth of a millimetre so that it contacts."""
    world = World(card)
    place(world.instance(), 0.0, 0.0, 0.0, card.pose("stand"))
    move(world, up=-1e-4)
    return world


def move(world: World, *, along: float = 0.0, up: float = 0.0) -> None:
    """Move the whole robot as it stands [m]."""
    base = world.addresses.base_qpos.start
    world.data.qpos[base] += along
    world.data.qpos[base + 2] += up
    mujoco.mj_forward(world.model, world.data)


@pytest.mark.parametrize("name", ["robotis_bioloid", "sony_ers7"])
def test_a_foot_slides_as_far_as_the_robot_is_pushed(name: str) -> None:
    world = standing(robot(name))
    recorder = ContactRecorder(world.instance())
    for step in (0.0, 0.003, 0.0, 0.002):
        move(world, along=step)
        recorder.record_frame()
    contacts, slips = recorder.take_contacts()
    touched = {contacts.names[part] for part in contacts.pairs[:, 0].tolist()}
    feet = [column for column, foot in enumerate(world.robot.feet) if foot in touched]
    assert len(feet) >= 2
    assert np.allclose(slips[:, feet], np.array([0.0, 0.003, 0.0, 0.002])[:, None], atol=1e-9)


def test_a_foot_in_the_air_does_not_slide() -> None:
    world = standing(robot("robotis_bioloid"))
    recorder = ContactRecorder(world.instance())
    for up in (0.0, 0.01, 0.0, -0.01):
        move(world, along=0.003, up=up)
        recorder.record_frame()
    assert (recorder.take_contacts()[1] == 0.0).all()


def test_a_ball_that_rolls_does_not_slide() -> None:
    """The paw's ball is turned by as much as it goes on."""
    world = standing(robot("sony_ers7"))
    paw = int(world.model.geom("left_front_paw").id)
    radius = float(world.model.geom_size[paw, 0])
    recorder, way = ContactRecorder(world.instance()), 0.0005
    x, turn = world.data.geom_xpos[paw, 0], world.data.geom_xmat[paw].reshape(3, 3).copy()
    recorder.record_frame()
    angle = way / radius
    roll = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    world.data.geom_xpos[paw, 0] = x + way
    world.data.geom_xmat[paw] = (roll @ turn).ravel()
    recorder.record_frame()
    column = world.robot.feet.index("left_front_paw")
    assert recorder.take_contacts()[1][1, column] < 0.01 * way


def test_the_speed_of_a_landing_is_that_of_the_part() -> None:
    world = standing(robot("robotis_bioloid"))
    frame_s = world.robot.frame_period_s
    recorder = ContactRecorder(world.instance())
    move(world, up=0.004)
    recorder.record_frame()
    move(world, up=-0.004)
    recorder.record_frame()
    recorder.record_frame()
    contacts, _ = recorder.take_contacts()
    first, second = contacts.frames == 1, contacts.frames == 2
    assert first.any()
    assert np.allclose(contacts.speeds[first], 0.004 / frame_s)
    assert np.isnan(contacts.speeds[second]).all()


def test_contacts_name_the_parts_the_floor_last_and_tell_how_deep() -> None:
    world = standing(robot("robotis_bioloid"))
    recorder = ContactRecorder(world.instance())
    recorder.record_frame()
    contacts, _ = recorder.take_contacts()
    parts = [tuple(contacts.names[thing] for thing in pair) for pair in contacts.pairs.tolist()]
    assert parts
    assert set(parts) <= {("right_foot", "floor"), ("left_foot", "floor")}
    assert contacts.depths.max() == pytest.approx(1e-4)
    assert (contacts.depths > 0.0).all()
    assert np.isnan(contacts.forces).all()


def test_parts_that_press_against_each_other_are_felt() -> None:
    """Both legs of a Bioloid are turned inwards until its feet meet."""
    card = robot("robotis_bioloid")
    body = SimulatedBody(World(card, contacts=True), start_pose=card.pose("stand"))
    inwards = card.pose("stand")
    for joint, turn in {"hip_roll": 0.3, "hip_yaw": 0.3}.items():
        inwards[card.index(f"right_{joint}")] += turn
        inwards[card.index(f"left_{joint}")] -= turn
    truth = play(body, JointCommands(np.tile(inwards, (60, 1)))).truth
    assert truth is not None
    contacts = truth.contacts
    assert contacts is not None
    own = contacts.names.index("floor") != contacts.pairs[:, 1]
    assert own.any()
    assert np.nanmax(contacts.forces[own]) > 1.0
    assert (contacts.depths[own] >= 0.0).all()


def blocks(card: Robot, rows: Floats, cuts: list[int]) -> tuple[Contacts, Floats, Floats]:
    """Return the contacts and slips of a run commanded in blocks that are cut there, and its last state."""
    body = SimulatedBody(World(card, contacts=True))
    parts, slips, begin = {}, [], 0
    for block in np.split(rows, cuts):
        truth = play(body, JointCommands(block)).truth
        assert truth is not None
        assert truth.slips is not None
        assert truth.contacts is not None
        parts[begin] = truth.contacts
        slips.append(truth.slips)
        begin += len(block)
    return Contacts.concatenate(parts), np.concatenate(slips), body.world.data.qpos.copy()


def trampling(card: Robot) -> Floats:
    pose = card.pose("walk_ready") if "walk_ready" in card.poses else card.pose("stand")
    rhythm = np.random.default_rng(1).uniform(0.0, 6.0, len(pose))
    rows: Floats = pose + 0.4 * np.sin(0.1 * np.arange(200)[:, None] + rhythm)
    return rows


@pytest.mark.parametrize("name", ["robotis_bioloid", "sony_ers7"])
def test_contacts_and_slips_are_the_same_however_blocks_are_cut(name: str) -> None:
    card = robot(name)
    whole, slid, _ = blocks(card, trampling(card), [])
    assert slid.sum() > 0.001
    assert np.isfinite(whole.speeds).sum() > 10
    for cuts in ([13, 26, 27, 100], list(range(1, 200)), [199]):
        parts, slid_too, _ = blocks(card, trampling(card), cuts)
        assert np.array_equal(slid, slid_too)
        for column in ("frames", "pairs", "depths", "forces", "speeds"):
            assert np.array_equal(getattr(whole, column), getattr(parts, column), equal_nan=True), column


def test_to_look_at_contacts_changes_nothing_else() -> None:
    card = robot("sony_ers7")
    *_, end = blocks(card, trampling(card), [13, 100])
    alone = SimulatedBody(World(card))
    truth = play(alone, JointCommands(trampling(card))).truth
    assert truth is not None
    assert truth.contacts is None
    assert truth.slips is None
    assert np.array_equal(end, alone.world.data.qpos)


def test_a_robot_that_is_put_elsewhere_has_not_slid_there() -> None:
    card = robot("sony_ers7")
    body = SimulatedBody(World(card, contacts=True), start_pose=card.pose("stand"))
    still = JointCommands(np.tile(card.pose("stand"), (40, 1)))
    play(body, still)
    body.place_robot(1.0, 0.5, 0.0)
    truth = play(body, still).truth
    assert truth is not None
    assert truth.slips is not None
    assert truth.slips.max() < 0.001


def test_the_floors_friction_counts_whatever_touches_it() -> None:
    world = standing(robot("robotis_bioloid"))
    set_friction(world.model, 0.123)
    mujoco.mj_forward(world.model, world.data)
    assert world.data.ncon > 0
    assert np.allclose(world.data.contact.friction[:, :2], 0.123)


def test_nothing_noted_is_nothing_touched() -> None:
    recorder = ContactRecorder(standing(robot("robotis_bioloid")).instance())
    contacts, slips = recorder.take_contacts()
    assert len(contacts.frames) == 0
    assert slips.shape == (0, 2)


def test_a_standing_dog_touches_the_floor_with_its_paws_alone(dog: SimulatedBody, touching: Touching) -> None:
    dog.settle(dog.robot.pose("stand"), 1.0)
    assert touching(dog.world) == {(foot, "floor") for foot in dog.robot.feet}


def test_nothing_is_touched_in_the_air(dog: SimulatedBody, touching: Touching) -> None:
    dog.world.show(((0, 0, 1.0, 1, 0, 0, 0), dog.robot.pose("stand")))
    assert not touching(dog.world)


def test_boxes_are_left_out_and_walls_are_told_of(ers7: Robot, touching: Touching) -> None:
    field = replace(arena(), boxes=(Box(0.85, 0.0),))
    body = SimulatedBody(World(ers7, field), start=(0.6, 0.0, 0.0))
    names = {body.world.model.geom(geom).name for geom in body.world.data.contact.geom.ravel().tolist()}
    assert any(name.startswith("box_0") for name in names)
    paws = {(foot, "floor") for foot in ers7.feet}
    assert touching(body.world) <= paws
    body.place_robot(0.1, 0.0, 0.0)
    walls = touching(body.world) - paws
    assert {thing for _, thing in walls} == {"wall_start"}


def test_crossed_legs_are_felt_as_hard_as_they_press(dog: SimulatedBody) -> None:
    pose = dog.robot.pose("stand")
    for joint in ("left_front_rotator", "left_rear_rotator"):
        pose[dog.robot.index(joint)] = math.radians(-70.0)
    dog.settle(pose, 0.5)
    world, recorder = dog.world, ContactRecorder(dog.instance)
    recorder.record_frame()
    contacts, _ = recorder.take_contacts()
    own = contacts.pairs[:, 1] != contacts.names.index("floor")
    assert own.any()
    assert all(contacts.names[part].startswith("left") for part in contacts.pairs[own].ravel())
    assert len(np.unique(contacts.pairs, axis=0)) == len(contacts.pairs), "a pair stands there once"
    mujoco.mj_forward(world.model, world.data)
    bodies = world.model.geom_bodyid[world.data.contact.geom]
    force, total = np.empty(6), 0.0
    for index in np.flatnonzero((bodies > 0).all(axis=1)).tolist():
        mujoco.mj_contactForce(world.model, world.data, index, force)
        total += force[0]
    assert contacts.forces[own].sum() == pytest.approx(total, rel=1e-3)
