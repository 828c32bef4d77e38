"""Bodies that differ from their model, as laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from posewright.arenas import Box, arena
from posewright.arrays import Floats
from posewright.bodies import (
    NOMINAL,
    DomainParameters,
    JointCommands,
    JointStates,
    domain_randomization,
    draw_domain,
)
from posewright.robots import Imu, Robot
from posewright.rotation import roll_pitch_yaw_of_matrix
from posewright.simulation import SimulatedBody, World
from posewright.simulation.domain import rotate_to_vertical, set_friction, tilt_gravity

from .driving import play

Hold = Callable[..., JointCommands]


@pytest.fixture(params=["robotis_bioloid", "sony_ers7"])
def card(request: pytest.FixtureRequest, bioloid: Robot, ers7: Robot) -> Robot:
    return bioloid if request.param == "robotis_bioloid" else ers7


def standing(card: Robot) -> Floats:
    return card.pose("walk_ready" if "walk_ready" in card.poses else "stand")


def swaying(card: Robot, n_frames: int) -> Floats:
    """Return a pose that every joint leaves a little, each in its own rhythm."""
    rhythm = np.random.default_rng(1).uniform(0.5, 2.0, len(card.joints))
    times = card.frame_period_s * np.arange(n_frames)[:, None]
    swayed: Floats = standing(card) + 0.06 * np.sin(2 * np.pi * times * rhythm)
    return swayed


def world_of(card: Robot) -> World:
    """Return a world with a box, none of it only for the looks."""
    return World(card, replace(arena(), boxes=(Box(1.5, 0.5),)), visuals=False)


def is_same(one: JointStates, other: JointStates) -> bool:
    assert one.truth is not None
    assert other.truth is not None
    return (
        np.array_equal(one.positions, other.positions)
        and np.array_equal(one.efforts, other.efforts)
        and np.array_equal(one.truth.base, other.truth.base)
    )


def walked(card: Robot, frames: JointCommands, variation: DomainParameters | None = None) -> JointStates:
    return play(SimulatedBody(world_of(card), start=(0.4, 0.0, 0.0), domain=variation), frames)


def load_on_feet(body: SimulatedBody, seconds: float) -> float:
    """Return with how much the floor carries the robot at rest, the mean of the last frames [N]."""
    pose = standing(body.robot)
    play(body, JointCommands(np.tile(pose, (round(seconds / body.robot.frame_period_s), 1))))
    forces, force = [], np.empty(6)

    def feel() -> None:
        model, data = body.world.model, body.world.data
        mujoco.mj_forward(model, data)
        total = 0.0
        for contact in range(data.ncon):
            mujoco.mj_contactForce(model, data, contact, force)
            total += force[0]
        forces.append(total)

    play(body, JointCommands(np.tile(pose, (50, 1))), feel)
    return float(np.mean(forces))


def test_the_nominal_body_is_the_same_to_the_last_bit(card: Robot) -> None:
    frames = JointCommands(swaying(card, 200), stiffness=np.full(len(card.joints), 3.0))
    assert is_same(walked(card, frames), walked(card, frames, NOMINAL))
    assert is_same(walked(card, frames), walked(card, frames, DomainParameters()))


def test_a_body_that_was_another_is_nominal_again_to_the_last_bit(card: Robot) -> None:
    frames = JointCommands(swaying(card, 200))
    body = SimulatedBody(world_of(card), start=(0.4, 0.0, 0.0))
    nominal = play(body, frames)
    before = {name: value.copy() for name, value in arrays(body.world.model).items()}
    body.set_domain(replace(draw_domain(domain_randomization(), 5), com_shift_m=(0.004, 0.002, -0.003)))
    varied = play(body, frames)
    assert not is_same(nominal, varied)
    body.set_domain(NOMINAL)
    for name, value in arrays(body.world.model).items():
        assert np.array_equal(before[name], value), name
    assert is_same(nominal, play(body, frames))


def arrays(model: object) -> dict[str, Floats]:
    """Return every array of a model."""
    every = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    return {name: value for name, value in every.items() if isinstance(value, np.ndarray)}


def test_another_body_in_the_same_world_is_nominal_unless_told(ers7: Robot) -> None:
    frames, world = JointCommands(swaying(ers7, 60)), World(ers7, visuals=False)
    nominal = play(SimulatedBody(world), frames)
    SimulatedBody(world, domain=DomainParameters(mass_scale=1.3, friction=0.2, slope_rad=(0.1, 0.0)))
    assert is_same(nominal, play(SimulatedBody(world), frames))


def test_the_same_variation_is_the_same_body_to_the_last_bit(card: Robot) -> None:
    frames = JointCommands(swaying(card, 100))
    variation = draw_domain(domain_randomization(), 11)
    body = SimulatedBody(world_of(card), start=(0.4, 0.0, 0.0), domain=variation)
    first = play(body, frames)
    body.reset()
    assert is_same(first, play(body, frames))
    assert is_same(first, walked(card, frames, variation))


@pytest.mark.parametrize("latency", [1, 6])
@pytest.mark.parametrize("cuts", [(), (1, 3, 3, 8, 20, 41), tuple(range(1, 60))])
def test_latency_shifts_the_track_by_so_many_frames(ers7: Robot, latency: int, cuts: tuple[int, ...]) -> None:
    """Early commands only hold the start pose: what follows is the same run, later."""
    angles = swaying(ers7, 60)
    body = SimulatedBody(World(ers7, visuals=False), domain=DomainParameters(latency_frames=latency))
    prompt = SimulatedBody(World(ers7, visuals=False))
    held = np.tile(body._start_pose, (latency, 1))
    prompt_track = play(prompt, JointCommands(np.concatenate([held, angles])))
    late = [play(body, JointCommands(part)).positions for part in np.split(angles, cuts)]
    assert np.array_equal(np.concatenate(late), prompt_track.positions[:60])
    assert body.time_s == pytest.approx(60 * 0.008)


def test_stiffness_and_torque_are_late_with_their_commands(ers7: Robot) -> None:
    angles = swaying(ers7, 30)
    free = np.arange(20) == ers7.index("head_pan")
    parts = [
        JointCommands(angles[:10]),
        JointCommands(angles[10:20], free, np.full(20, 3.0)),
        JointCommands(angles[20:]),
    ]
    late = SimulatedBody(World(ers7, visuals=False), domain=DomainParameters(latency_frames=4))
    prompt = SimulatedBody(World(ers7, visuals=False))
    shifted = [
        play(prompt, JointCommands(np.tile(prompt._start_pose, (4, 1)))),
        *(play(prompt, part) for part in parts),
    ]
    found = [play(late, part) for part in parts]
    assert np.array_equal(
        np.concatenate([track.efforts for track in found]),
        np.concatenate([track.efforts for track in shifted])[:30],
    )


def test_a_late_body_begins_again_in_its_start_pose(ers7: Robot) -> None:
    angles = swaying(ers7, 40)
    body = SimulatedBody(World(ers7, visuals=False), domain=DomainParameters(latency_frames=6))
    first = play(body, JointCommands(angles))
    body.reset()
    assert is_same(first, play(body, JointCommands(angles)))
    down = ers7.pose("stand")
    down[ers7.index("head_pan")] = 0.5
    body.put_down(down)
    track = play(body, JointCommands(np.tile(standing(ers7), (6, 1))))
    assert np.abs(track.positions[:, ers7.index("head_pan")] - 0.5).max() < 0.01


def test_a_late_body_is_put_elsewhere_as_it_stands(ers7: Robot) -> None:
    body = SimulatedBody(World(ers7, visuals=False), domain=DomainParameters(latency_frames=6))
    turned = standing(ers7)
    turned[ers7.index("head_pan")] = 1.0
    play(body, JointCommands(np.tile(turned, (3, 1))))
    body.place_robot(0.5, 0.0, 0.0)
    pan = play(body, JointCommands(np.tile(turned, (9, 1)))).positions[:, ers7.index("head_pan")]
    assert np.abs(pan[:3]).max() < 0.01
    assert pan[-1] > 0.05


@pytest.mark.parametrize("asked", [None, 4.0])
def test_halved_stiffness_sags_more(bioloid: Robot, hold: Hold, asked: float | None) -> None:
    pose = bioloid.pose("stand")
    joint = bioloid.index("left_shoulder_pitch")
    pose[joint] = -1.2
    stiffness = None if asked is None else np.full(18, asked)
    sags = []
    for scale in (2.0, 1.0, 0.5):
        body = SimulatedBody(World(bioloid, visuals=False), domain=DomainParameters(stiffness_scale=scale))
        sags.append(play(body, hold(pose, 1.0, stiffness=stiffness)).positions[-1, joint] - pose[joint])
    assert 0.0 < 1.2 * sags[0] < sags[1] < sags[2] / 1.2


def test_a_scaled_servo_is_scaled_at_any_setting(ers7: Robot) -> None:
    body = SimulatedBody(World(ers7), domain=DomainParameters(stiffness_scale=0.5, damping_scale=2.0))
    model, at = body.world.model, body.world.addresses
    own = np.array([servo.stiffness for servo in ers7.servos])
    line = np.array([servo.stall_torque_nm / servo.no_load_speed_rad_s for servo in ers7.servos])
    assert np.array_equal(model.actuator_gainprm[at.actuators, 0], 0.5 * own)
    assert np.array_equal(model.dof_damping[at.joint_qvel], 2.0 * line)
    asked = np.where(np.arange(20) < 10, 3.0, np.nan)
    free = np.arange(20) == 2
    play(body, JointCommands(np.tile(standing(ers7), (2, 1)), free, asked))
    wanted = 0.5 * np.where(free, 0.0, np.where(np.isnan(asked), own, 3.0))
    assert np.array_equal(model.actuator_gainprm[at.actuators, 0], wanted)
    assert np.array_equal(model.actuator_biasprm[at.actuators, 1], -wanted)
    assert np.allclose(model.dof_damping[at.joint_qvel], np.where(free, 0.1, 1.0) * 2.0 * line)
    body.reset()
    assert np.array_equal(model.actuator_gainprm[at.actuators, 0], 0.5 * own)


def test_more_damping_runs_slower(bioloid: Robot, hold: Hold) -> None:
    """A joint without load reaches at most its servo's no-load speed over the scale."""
    joint = bioloid.index("right_shoulder_pitch")
    no_load = bioloid.servos[joint].no_load_speed_rad_s
    lower, upper = (limit[joint] for limit in bioloid.limits)
    pose = bioloid.pose("stand")
    for scale in (0.8, 1.2):
        body = SimulatedBody(World(bioloid, visuals=False), domain=DomainParameters(damping_scale=scale))
        body.world.model.opt.gravity[:] = 0.0
        pose[joint] = lower
        body.world.show(((0, 0, 2.0, 1, 0, 0, 0), pose))
        pose[joint] = upper
        speeds = np.diff(play(body, hold(pose, 1.0)).positions[:, joint]) * 128
        assert 0.7 * no_load / scale < speeds.max() <= no_load / scale


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.25])
def test_the_feet_carry_what_the_robot_weighs(card: Robot, scale: float) -> None:
    nominal = World(card, visuals=False).instance().mass_kg
    body = SimulatedBody(World(card, visuals=False), domain=DomainParameters(mass_scale=scale))
    assert body.world.instance().mass_kg == pytest.approx(scale * nominal)
    assert load_on_feet(body, 1.0) == pytest.approx(9.81 * scale * nominal, rel=0.02)


def test_boxes_weigh_what_they_weigh_whatever_the_robot_does(card: Robot) -> None:
    world = world_of(card)
    box = world.model.body("box_0").mass.copy()
    SimulatedBody(world, domain=DomainParameters(mass_scale=1.5))
    assert np.array_equal(world.model.body("box_0").mass, box)


def test_a_scaled_robot_moves_alike_where_everything_is_scaled(ers7: Robot) -> None:
    """Twice the mass, inertia, rotors, stiffness and damping make the same motion in free fall."""
    body = SimulatedBody(World(ers7, visuals=False))
    twice = DomainParameters(mass_scale=2.0, armature_scale=2.0, stiffness_scale=2.0, damping_scale=2.0)
    angles = swaying(ers7, 40)
    tracks = []
    for variation in (NOMINAL, twice):
        body.set_domain(variation)
        body.world.model.dof_frictionloss[:] = 0.0
        body.world.model.actuator_forcelimited[:] = 0
        body.world.show(((0, 0, 5.0, 1, 0, 0, 0), standing(ers7)))
        tracks.append(play(body, JointCommands(angles)))
    assert np.abs(tracks[0].positions - tracks[1].positions).max() < 1e-9


def test_the_centre_of_mass_moves_with_the_bases(card: Robot) -> None:
    shift = np.array([0.004, -0.003, 0.002])
    nominal, shifted = World(card, visuals=False), World(card, visuals=False)
    shifted.set_domain(card.name, DomainParameters(com_shift_m=tuple(shift.tolist())))
    for world in (nominal, shifted):
        world.show(((0, 0, 1.0, 1, 0, 0, 0), standing(card)))
    base = nominal.addresses.base_body
    moved = shifted.data.subtree_com[base] - nominal.data.subtree_com[base]
    assert moved == pytest.approx(
        shift * nominal.model.body_mass[base] / nominal.instance().mass_kg, abs=1e-12
    )
    for part in ("xpos", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat"):
        assert np.abs(getattr(nominal.data, part) - getattr(shifted.data, part)).max() < 1e-12, part


def test_geoms_stay_where_the_model_took_their_frame_for_the_inertias(ers7: Robot, bioloid: Robot) -> None:
    """MuJoCo keeps no place for a geom whose frame is that of its body's mass: it must not move along."""
    for card in (ers7, bioloid):
        nominal, shifted = World(card), World(card)
        base = nominal.addresses.base_body
        for world in (nominal, shifted):
            geom = int(world.model.body_geomadr[base])
            world.model.geom_pos[geom] = world.model.body_ipos[base]
            world.model.geom_quat[geom] = world.model.body_iquat[base]
            world.model.geom_sameframe[geom] = int(mujoco.mjtSameFrame.mjSAMEFRAME_INERTIA)
        shifted.set_domain(card.name, DomainParameters(com_shift_m=(0.01, 0.0, 0.0)))
        for world in (nominal, shifted):
            world.show(((0, 0, 1.0, 1, 0, 0, 0), standing(card)))
        assert np.abs(nominal.data.geom_xpos - shifted.data.geom_xpos).max() < 1e-12


def test_a_smooth_floor_lets_feet_slide(ers7: Robot) -> None:
    """On a slope beyond the friction angle the robot slides down, within it it stays."""
    slope = math.radians(12.0)
    ways = []
    for friction in (0.1, 1.0):
        body = SimulatedBody(
            World(ers7, visuals=False), domain=DomainParameters(friction=friction, slope_rad=(0.0, slope))
        )
        world = play(body, JointCommands(np.tile(standing(ers7), (125, 1)))).truth
        assert world is not None
        ways.append(world.base[-1, 0] - world.base[0, 0])
    slid = 0.5 * 9.81 * (math.sin(slope) - 0.1 * math.cos(slope))
    assert ways[0] == pytest.approx(slid, rel=0.15)
    assert abs(ways[1]) < 0.02


def test_friction_set_on_the_world_before_is_the_nominal_one(ers7: Robot) -> None:
    world = World(ers7, visuals=False)
    set_friction(world.model, 0.123)
    body = SimulatedBody(world, domain=DomainParameters(friction=0.9))
    assert world.model.geom("floor").friction[0] == 0.9
    body.set_domain(NOMINAL)
    assert world.model.geom("floor").friction[0] == 0.123


@pytest.mark.parametrize(("roll", "pitch"), [(0.1, 0.0), (0.0, -0.08), (0.06, 0.09)])
def test_gravity_leans_as_the_ground_does(roll: float, pitch: float) -> None:
    gravity = tilt_gravity(np.array([0.0, 0.0, -9.81]), roll, pitch)
    assert np.linalg.norm(gravity) == pytest.approx(9.81)
    assert np.sign(gravity[0]) == np.sign(pitch), "it pulls along +x where the ground falls away there"
    assert np.sign(gravity[1]) == -np.sign(roll), "and to the right, where it falls away there"
    assert roll_pitch_yaw_of_matrix(rotate_to_vertical(np.eye(3), gravity)) == pytest.approx(
        (roll, pitch, 0.0)
    )
    assert rotate_to_vertical(np.eye(3), gravity) @ gravity == pytest.approx((0.0, 0.0, -9.81))


def test_inertial_sensors_on_a_slope_agree_about_the_vertical(ers7: Robot) -> None:
    """Whoever stands still on a slope feels the vertical where the attitude says it is."""
    world = World(ers7, sensors=(Imu("imu", "imu"),), visuals=False)
    body = SimulatedBody(world, domain=DomainParameters(slope_rad=(0.06, -0.1), friction=1.0))
    play(body, JointCommands(np.tile(standing(ers7), (150, 1))))
    sensors = body.read().sensors
    roll, pitch, _ = np.asarray(sensors["imu.orientation"])
    up = 9.81 * np.array(
        [-math.sin(pitch), math.cos(pitch) * math.sin(roll), math.cos(pitch) * math.cos(roll)]
    )
    assert sensors["imu.acceleration"] == pytest.approx(up, abs=0.05)
    assert sensors["accelerometer"] == pytest.approx(up, abs=0.05)
    field_roll, field_pitch, _ = roll_pitch_yaw_of_matrix(world.data.site("imu").xmat.reshape(3, 3))
    assert (roll - field_roll, pitch - field_pitch) == pytest.approx((0.06, -0.1), abs=2e-3)
