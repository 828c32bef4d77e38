"""Pushes and plates of a simulated body, as laws."""

from __future__ import annotations

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.bodies import DomainParameters, JointCommands, JointStates, Plate, Push
from posewright.errors import InputError, UnknownNameError
from posewright.robots import Robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.domain import set_friction

from .driving import play

LEFT = math.pi / 2
DRIFT_N_S = 3e-3
"""What the integration of a turning robot adds to its momentum at 2 ms steps."""


def float_in_space(card: Robot, *pushes: Push, yaw_rad: float = 0.0) -> SimulatedBody:
    """Return a pushed robot one metre above the floor, without gravity."""
    world = World(card, visuals=False)
    world.model.opt.gravity[:] = 0.0
    body = SimulatedBody(world, start=(0.0, 0.0, yaw_rad), domain=DomainParameters(pushes=pushes))
    world.data.qpos[world.addresses.base_qpos.start + 2] += 1.0
    mujoco.mj_forward(world.model, world.data)
    return body


def momentum_n_s(body: SimulatedBody) -> Floats:
    """Return the linear momentum of the whole robot, `(3,)`."""
    world = body.world
    mujoco.mj_subtreeVel(world.model, world.data)
    return np.array(body.instance.mass_kg * world.data.subtree_linvel[world.addresses.base_body])


def hold(body: SimulatedBody, seconds: float) -> JointStates:
    """Simulate the robot while it holds its start pose."""
    n_frames = round(seconds / body.robot.frame_period_s)
    return play(body, JointCommands(np.tile(body.command, (n_frames, 1))))


@pytest.mark.parametrize("duration_s", [0.0, 0.1, 0.35])
def test_the_momentum_after_a_push_is_its_impulse(bioloid: Robot, duration_s: float) -> None:
    body = float_in_space(bioloid, Push(0.1, 0.5, LEFT, duration_s))
    hold(body, 0.1)
    assert np.abs(momentum_n_s(body)).max() < 1e-9
    hold(body, 0.5)
    assert momentum_n_s(body) == pytest.approx([0.0, -0.5, 0.0], abs=DRIFT_N_S)


def test_a_push_comes_from_a_side_of_the_robot_wherever_it_is_heading(bioloid: Robot) -> None:
    body = float_in_space(bioloid, Push(0.05, 0.5, LEFT), yaw_rad=LEFT)  # heads along y, so x is to its right
    hold(body, 0.3)
    assert momentum_n_s(body) == pytest.approx([0.5, 0.0, 0.0], abs=DRIFT_N_S)


def test_a_push_on_a_leg_pushes_that_leg(bioloid: Robot) -> None:
    body = float_in_space(bioloid, Push(0.0, 0.2, math.pi, link="left_foot"))
    foot = body.world.model.body("left_foot").id
    hold(body, 0.02)
    assert body.world.data.xfrc_applied[foot, 0] > 0.0
    hold(body, 0.3)
    assert momentum_n_s(body) == pytest.approx([0.2, 0.0, 0.0], abs=DRIFT_N_S)
    assert not body.world.data.xfrc_applied.any()


def test_overlapping_pushes_add_up(bioloid: Robot) -> None:
    body = float_in_space(bioloid, Push(0.1, 0.5, 0.0, 0.2), Push(0.2, 0.3, 0.0, 0.2))
    hold(body, 0.6)
    assert momentum_n_s(body)[0] == pytest.approx(-0.8, abs=DRIFT_N_S)


def test_pushes_do_not_depend_on_the_blocks_and_repeat_after_a_reset(bioloid: Robot) -> None:
    domain = DomainParameters(pushes=(Push(0.2, 0.4, 1.0), Push(0.27, 0.4, -2.0, 0.05)))
    body = SimulatedBody(World(bioloid, visuals=False), domain=domain)
    frames = np.tile(body.command, (64, 1))
    whole = play(body, JointCommands(frames))
    body.reset()
    parts = [play(body, JointCommands(part)) for part in np.split(frames, [3, 27, 30, 40])]
    assert whole.truth is not None
    in_parts = np.concatenate([part.truth.base for part in parts if part.truth is not None])
    assert np.array_equal(whole.truth.base, in_parts)
    body.set_domain(DomainParameters())
    unpushed = play(body, JointCommands(frames))
    assert unpushed.truth is not None
    assert not np.array_equal(whole.truth.base, unpushed.truth.base)


def test_a_push_on_an_unknown_link_is_an_error(bioloid: Robot) -> None:
    with pytest.raises(UnknownNameError, match=r"tail.*robotis_bioloid"):
        SimulatedBody(World(bioloid), domain=DomainParameters(pushes=(Push(0.0, 0.1, 0.0, link="tail"),)))


def measure_height_m(world: World, x_m: float, y_m: float) -> float:
    """Return the height of the floor at a point by a ray from 5 cm above, below which there is no robot."""
    distance_m = mujoco.mj_ray(
        world.model,
        world.data,
        np.array([x_m, y_m, 0.05]),
        np.array([0.0, 0.0, -1.0]),
        None,
        1,
        -1,
        np.zeros(1, np.int32),
    )
    return 0.05 - distance_m


def test_a_plate_is_as_thick_and_as_wide_as_it_is_said_to_be(bioloid: Robot) -> None:
    plate = Plate(0.7, -0.2, yaw_rad=math.radians(45.0), edge_m=0.04, thickness_m=0.005)
    world = SimulatedBody(World(bioloid, plates=[plate]), domain=DomainParameters(plates=(plate,))).world
    half_diagonal_m = 0.02 * math.sqrt(2.0)
    assert measure_height_m(world, 0.7, -0.2) == pytest.approx(0.005, abs=1e-9)
    assert measure_height_m(world, 0.7 + half_diagonal_m - 0.001, -0.2) == pytest.approx(0.005, abs=1e-9)
    assert measure_height_m(world, 0.7 + half_diagonal_m + 0.001, -0.2) == pytest.approx(0.0, abs=1e-9)
    assert plate.distance_m(0.7 + half_diagonal_m - 0.001, -0.2) == 0.0
    assert plate.distance_m(0.7, -0.2 + half_diagonal_m + 0.01) == pytest.approx(0.01)  # from its corner


def test_a_robot_on_a_plate_stands_higher_and_its_feet_are_on_the_ground(bioloid: Robot) -> None:
    plate = Plate(0.0, 0.0, yaw_rad=0.0, edge_m=0.5, thickness_m=0.005)
    on_floor = SimulatedBody(World(bioloid))
    world = World(bioloid, plates=[plate], contacts=True)
    on_plate = SimulatedBody(world, domain=DomainParameters(plates=(plate,)))
    assert on_plate.instance.base[2] - on_floor.instance.base[2] == pytest.approx(0.005, abs=2e-5)
    truth = hold(on_plate, 0.3).truth
    assert truth is not None
    assert truth.foot_contacts[-1].all()
    assert truth.footprints[-1, :, :, 2].mean() == pytest.approx(0.005, abs=0.001)
    assert truth.contacts is not None
    assert truth.slips is not None
    assert "floor" in {truth.contacts.names[number] for number in truth.contacts.pairs[:, 1]}


def test_plates_have_the_friction_of_the_floor(bioloid: Robot) -> None:
    plates = (Plate(1.0, 0.0, 0.0, 0.04, 0.003),)
    world = World(bioloid, plates=plates)
    SimulatedBody(world, domain=DomainParameters(friction=0.8, plates=plates))
    assert world.model.geom("plate:0").friction[0] == world.model.geom("floor").friction[0] == 0.8
    set_friction(world.model, 0.3)
    assert world.model.geom("plate:0").friction[0] == 0.3


def test_a_world_has_the_plates_of_its_bodies(bioloid: Robot) -> None:
    domain = DomainParameters(plates=(Plate(1.0, 0.0, 0.0, 0.04, 0.003),))
    world = World(bioloid, visuals=False)
    with pytest.raises(InputError, match="0 plates, the body's domain 1"):
        SimulatedBody(world, domain=domain)
    rough = world.with_plates(domain.plates)
    assert rough.with_plates(domain.plates) is rough
    assert rough.visuals == world.visuals
    assert SimulatedBody(rough, domain=domain).facts()["domain"] == domain.to_dict()
    assert not SimulatedBody(world.with_plates([])).facts()["domain"].keys() & {"plates", "pushes"}


def test_a_slope_and_plates_go_together(bioloid: Robot) -> None:
    slope = DomainParameters(slope_rad=(0.0, 0.1))
    domain = replace(slope, plates=(Plate(1.0, 0.0, 0.0, 0.04, 0.003),))
    world = World(bioloid, plates=domain.plates)
    SimulatedBody(world, domain=domain)
    gravity = world.model.opt.gravity
    assert math.atan2(gravity[0], -gravity[2]) == pytest.approx(0.1)  # downhill is ahead
