"""What a witness notes, on robots that are put where the test wants them."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from posewright.bodies import Frames
from posewright.robots import Robot, robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.ground import set_friction
from posewright.simulation.placing import place
from posewright.simulation.witness import Witness


def standing(card: Robot) -> World:
    """Return a robot that stands, pressed into the floor by a tenth of a millimetre so that it touches."""
    world = World(card)
    place(world, 0.0, 0.0, 0.0, card.pose("stand"))
    move(world, up=-1e-4)
    return world


def move(world: World, *, along: float = 0.0, up: float = 0.0) -> None:
    """Move the whole robot as it stands [m]."""
    trunk = world.addresses.trunk_qpos.start
    world.data.qpos[trunk] += along
    world.data.qpos[trunk + 2] += up
    mujoco.mj_forward(world.model, world.data)


@pytest.mark.parametrize("name", ["robotis_bioloid", "sony_ers7"])
def test_a_foot_slides_as_far_as_the_robot_is_pushed(name: str) -> None:
    world = standing(robot(name))
    witness = Witness(world)
    for step in (0.0, 0.003, 0.0, 0.002):
        move(world, along=step)
        witness.note()
    slips = witness.slips()
    touched = {witness.touches().names[part] for part in witness.touches().pairs[:, 0].tolist()}
    feet = [column for column, foot in enumerate(world.robot.feet) if foot in touched]
    assert len(feet) >= 2
    assert np.allclose(slips[:, feet], np.array([0.0, 0.003, 0.0, 0.002])[:, None], atol=1e-9)


def test_a_foot_in_the_air_does_not_slide() -> None:
    world = standing(robot("robotis_bioloid"))
    witness = Witness(world)
    for up in (0.0, 0.01, 0.0, -0.01):
        move(world, along=0.003, up=up)
        witness.note()
    assert (witness.slips() == 0.0).all()


def test_a_ball_that_rolls_does_not_slide() -> None:
    """The paw's ball is turned by as much as it goes on."""
    world = standing(robot("sony_ers7"))
    paw = int(world.model.geom("left_front_paw").id)
    radius = float(world.model.geom_size[paw, 0])
    witness, way = Witness(world), 0.0005
    x, turn = world.data.geom_xpos[paw, 0], world.data.geom_xmat[paw].reshape(3, 3).copy()
    witness.note()
    angle = way / radius
    roll = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    world.data.geom_xpos[paw, 0] = x + way
    world.data.geom_xmat[paw] = (roll @ turn).ravel()
    witness.note()
    column = world.robot.feet.index("left_front_paw")
    assert witness.slips()[1, column] < 0.01 * way


def test_the_speed_of_a_landing_is_that_of_the_part() -> None:
    world = standing(robot("robotis_bioloid"))
    frame_s = world.robot.frame_period_s
    witness = Witness(world)
    move(world, up=0.004)
    witness.note()
    move(world, up=-0.004)
    witness.note()
    witness.note()
    touches = witness.touches()
    first, second = touches.frames == 1, touches.frames == 2
    assert first.any()
    assert np.allclose(touches.speeds[first], 0.004 / frame_s)
    assert np.isnan(touches.speeds[second]).all()


def test_touches_name_the_parts_the_floor_last_and_tell_how_deep() -> None:
    world = standing(robot("robotis_bioloid"))
    witness = Witness(world)
    witness.note()
    touches = witness.touches()
    parts = [tuple(touches.names[thing] for thing in pair) for pair in touches.pairs.tolist()]
    assert parts
    assert set(parts) <= {("right_foot", "floor"), ("left_foot", "floor")}
    assert touches.depths.max() == pytest.approx(1e-4)
    assert (touches.depths > 0.0).all()
    assert np.isnan(touches.forces).all()


def test_parts_that_press_against_each_other_are_felt() -> None:
    """Both legs of a Bioloid are turned inwards until its feet meet."""
    card = robot("robotis_bioloid")
    body = SimulatedBody(World(card), start_pose=card.pose("stand"))
    inwards = card.pose("stand")
    for joint, turn in {"hip_roll": 0.3, "hip_yaw": 0.3}.items():
        inwards[card.index(f"right_{joint}")] += turn
        inwards[card.index(f"left_{joint}")] -= turn
    witness = Witness(body.world)
    for _ in range(60):
        body.play(Frames(inwards[None]))
        witness.note()
    touches = witness.touches()
    own = touches.names.index("floor") != touches.pairs[:, 1]
    assert own.any()
    assert np.nanmax(touches.forces[own]) > 1.0
    assert (touches.depths[own] >= 0.0).all()


def test_a_witness_changes_nothing() -> None:
    card = robot("sony_ers7")
    rows = np.linspace(card.pose("stand"), card.pose("sit"), 60)
    seen, alone = (SimulatedBody(World(card), start_pose=card.pose("stand")) for _ in range(2))
    witness = Witness(seen.world)
    for row in rows:
        seen.play(Frames(row[None]))
        witness.note()
    alone.play(Frames(rows))
    assert np.array_equal(seen.world.data.qpos, alone.world.data.qpos)


def test_the_floors_friction_counts_whatever_touches_it() -> None:
    world = standing(robot("robotis_bioloid"))
    set_friction(world, 0.123)
    mujoco.mj_forward(world.model, world.data)
    assert world.data.ncon > 0
    assert np.allclose(world.data.contact.friction[:, :2], 0.123)


def test_nothing_noted_is_nothing_touched() -> None:
    witness = Witness(standing(robot("robotis_bioloid")))
    assert len(witness.touches().frames) == 0
    assert witness.slips().shape == (0, 2)
