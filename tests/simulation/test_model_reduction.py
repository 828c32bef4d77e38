"""A simulation that does without: looks, joints that are held, fine steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from posewright.arenas import Box, arena
from posewright.arrays import Floats
from posewright.bodies import JointCommands, JointStates
from posewright.errors import InputError, UnknownNameError
from posewright.robots import Camera, FootContact, Robot
from posewright.simulation import Film, LiveView, SimulatedBody, World, sensor_poses
from posewright.simulation.domain import set_friction

from .driving import play

AmongBoxes = Callable[..., SimulatedBody]

HEAD = {"neck_tilt": -0.5, "head_pan": 0.4, "head_tilt": 0.3}
SMALL = {"mouth": -0.1, "left_ear": 0.05, "right_ear": 0.0, "tail_tilt": 0.2, "tail_pan": -0.3}


def stepping(card: Robot, seconds: float, seed: int = 0) -> Floats:
    """Return commands that trample: every joint swings about the stand in its own rhythm."""
    n = round(seconds / card.frame_period_s)
    random = np.random.default_rng(seed)
    rhythm, phase = random.uniform(0.8, 2.5, len(card.joints)), random.uniform(0, 6, len(card.joints))
    times = np.arange(n)[:, None] * card.frame_period_s
    pose = card.pose("stand") if "stand" in card.poses else card.pose("walk_ready")
    swung: Floats = pose + 0.15 * np.sin(2 * math.pi * times * rhythm + phase)
    return swung


def same(one: JointStates, other: JointStates) -> bool:
    """Tell whether two tracks are equal to the last bit."""
    assert one.truth is not None
    assert other.truth is not None
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for a, b, names in (
            (one, other, ("times", "positions", "efforts")),
            (one.truth, other.truth, ("base", "footprints", "foot_contacts", "boxes", "box_contacts")),
        )
        for name in names
    )


@pytest.fixture(params=["robotis_bioloid", "sony_ers7"])
def card(request: pytest.FixtureRequest, bioloid: Robot, ers7: Robot) -> Robot:
    return bioloid if request.param == "robotis_bioloid" else ers7


def test_without_looks_the_states_are_the_same_to_the_last_bit(card: Robot) -> None:
    field = replace(arena(), boxes=(Box(0.5, 0.05), Box(1.5, 0.5)))
    bodies = [
        SimulatedBody(World(card, field, visuals=visuals), start=(0.25, 0, 0)) for visuals in (True, False)
    ]
    angles = stepping(card, 3.0)
    full, bare = (play(body, JointCommands(angles)) for body in bodies)
    assert same(full, bare)
    with_looks, without = (body.read() for body in bodies)
    assert with_looks.sensors.keys() == without.sensors.keys()
    for name, reading in with_looks.sensors.items():
        assert np.array_equal(np.asarray(reading), np.asarray(without.sensors[name])), name
    full_world, bare_world = (body.world for body in bodies)
    for part in ("qpos", "qvel", "qacc", "sensordata"):
        assert np.array_equal(getattr(full_world.data, part), getattr(bare_world.data, part)), part
    assert sensor_poses(full_world.instance()) == sensor_poses(bare_world.instance())


def test_without_looks_only_what_touches_is_left(card: Robot) -> None:
    full, bare = World(card, arena()).model, World(card, arena(), visuals=False).model
    assert bare.ngeom < full.ngeom
    assert ((bare.geom_contype != 0) | (bare.geom_conaffinity != 0)).all()
    touches = (full.geom_contype != 0) | (full.geom_conaffinity != 0)
    assert bare.ngeom == np.count_nonzero(touches)
    assert bare.nmesh == 0
    assert (bare.nsite, bare.ncam, bare.nbody) == (full.nsite, full.ncam, full.nbody)
    assert np.array_equal(bare.body_mass, full.body_mass)


@pytest.mark.parametrize("mass", ["", ' mass="0"'])
def test_what_weighs_stays_whatever_it_looks_like(ers7: Robot, tmp_path: Path, mass: str) -> None:
    """A body whose mass follows from its shapes keeps those that weigh."""
    assert ers7.model_path is not None
    text = ers7.model_path.read_text(encoding="utf-8")
    before, rest = text.split('<body name="left_ear"')
    inertial = rest[rest.index("<inertial") : rest.index("/>") + 2]
    rest = rest.replace(inertial, '<geom class="looks" type="sphere" size="0.01" mass="0.005"/>', 1)
    rest = rest.replace('material="ear"/>', f'material="ear"{mass}/>', 1)
    path = tmp_path / "model.xml"
    path.write_text(f'{before}<body name="left_ear"{rest}', encoding="utf-8")
    card = replace(ers7, model_path=path)
    full, bare = World(card).model, World(card, visuals=False).model
    assert np.array_equal(full.body_mass, bare.body_mass)
    assert np.array_equal(full.body_inertia, bare.body_inertia)
    ear = bare.body("left_ear").id
    assert bare.body_geomnum[ear] == (1 if mass else 2)


def test_contacts_are_noted_without_looks(ers7: Robot) -> None:
    found = []
    for visuals in (True, False):
        body = SimulatedBody(World(ers7, visuals=visuals, contacts=True))
        truth = play(body, JointCommands(stepping(ers7, 0.5))).truth
        assert truth is not None
        found.append((truth.contacts, truth.slips))
    (one, slid), (other, slid_too) = found
    assert one.names == other.names
    assert np.array_equal(one.pairs, other.pairs)
    assert np.array_equal(slid, slid_too)


def test_a_world_without_looks_is_not_drawn(ers7: Robot) -> None:
    world = World(ers7, visuals=False)
    with pytest.raises(InputError, match="visuals=True"):
        Film(world)
    with pytest.raises(InputError, match="visuals=True"):
        LiveView(world)
    with pytest.raises(InputError, match="visuals=True"):
        SimulatedBody(world).picture(next(s.name for s in ers7.sensors if isinstance(s, Camera)))


def test_a_held_joint_stays_where_it_is_held(ers7: Robot) -> None:
    held = {**HEAD, **SMALL}
    body = SimulatedBody(World(ers7, welded=held))
    track = play(body, JointCommands(stepping(ers7, 1.0)))
    track.require_shapes(20)
    state = body.read()
    for name, angle in held.items():
        joint = ers7.index(name)
        assert np.all(track.positions[:, joint] == angle)
        assert np.all(track.efforts[:, joint] == 0.0)
        assert state.positions[joint] == pytest.approx(angle, abs=1e-5)
        assert state.efforts[joint] == 0.0
        assert state.velocities is not None
        assert state.velocities[joint] == 0.0
        assert body.world.instance().joint_positions[joint] == angle
    assert body.world.model.nu == body.world.model.nv - 6 == 12
    legs = [ers7.index(name) for name in ers7.joint_names if name not in held]
    assert np.ptp(track.positions[:, legs], axis=0).min() > 0.05


def test_held_parts_stand_where_moving_ones_would(card: Robot) -> None:
    """A held joint is the same geometry: every body is where a joint at that angle puts it."""
    names = list(card.joint_names)[::2]
    low, high = card.limits
    rng = np.random.default_rng(4)
    angles = low + (high - low) * rng.uniform(0.2, 0.8, len(low))
    held = {name: float(angles[card.index(name)]) for name in names}
    moving, welded = World(card), World(card, welded=held)
    base = (0.1, 0.2, 0.5, 1, 0, 0, 0)
    for world in (moving, welded):
        world.show((base, angles))
    for part in ("xpos", "xmat", "xipos", "geom_xpos", "site_xpos"):
        assert np.abs(getattr(moving.data, part) - getattr(welded.data, part)).max() < 1e-12, part
    assert np.allclose(moving.instance().joint_positions, welded.instance().joint_positions)
    assert moving.instance().mass_kg == pytest.approx(welded.instance().mass_kg)


def test_commands_to_held_joints_are_ignored(ers7: Robot) -> None:
    angles = stepping(ers7, 0.5)
    other = angles.copy()
    for name in HEAD:
        other[:, ers7.index(name)] = 0.1
    one, two = (
        play(SimulatedBody(World(ers7, welded=HEAD)), JointCommands(rows)) for rows in (angles, other)
    )
    assert same(one, two)


def test_moving_servos_of_a_world_with_held_joints_are_their_own(ers7: Robot) -> None:
    body = SimulatedBody(World(ers7, welded=HEAD))
    stiffness = np.full(20, np.nan)
    knee = ers7.index("left_rear_knee")
    stiffness[knee] = 2.5
    free = np.zeros(20, dtype=bool)
    free[ers7.index("tail_pan")] = True
    play(body, JointCommands(stepping(ers7, 0.1), stiffness=stiffness, free=free))
    model = body.world.model
    for place, joint in enumerate(body.world.addresses.moving_joints):
        servo = ers7.servos[joint]
        wanted = 2.5 if joint == knee else 0.0 if free[joint] else servo.stiffness
        actuator = body.world.addresses.actuators[place]
        assert model.actuator(actuator).name == ers7.joint_names[joint]
        assert model.actuator_gainprm[actuator, 0] == wanted
        assert model.actuator_forcerange[actuator, 1] == servo.stall_torque_nm


def test_a_dog_with_held_ears_stands_as_one_with_ears(ers7: Robot) -> None:
    pose = ers7.pose("stand")
    held = {name: float(pose[ers7.index(name)]) for name in (*HEAD, *SMALL)}
    ends = []
    for joints in ({}, held):
        body = SimulatedBody(World(ers7, welded=joints))
        world = play(body, JointCommands(np.tile(pose, (125, 1)))).truth
        assert world is not None
        ends.append(world.base[-1])
    assert np.abs(ends[0] - ends[1]).max() < 2e-3


def test_an_axis_beside_the_origin_is_held_in_its_place(
    ers7: Robot, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert ers7.model_path is not None
    text = ers7.model_path.read_text(encoding="utf-8")
    moved = text.replace('<joint name="mouth" axis', '<joint name="mouth" pos="0.01 0 0.02" ref="0.1" axis')
    assert moved != text
    path = tmp_path_factory.mktemp("model") / "model.xml"
    path.write_text(moved, encoding="utf-8")
    card = replace(ers7, model_path=path)
    angles = card.pose("stand")
    angles[card.index("mouth")] = -0.7
    places = []
    for world in (World(card), World(card, welded={"mouth": -0.7})):
        world.show(((0, 0, 0.5, 1, 0, 0, 0), angles))
        places.append(world.data.body("jaw").xpos.copy())
    assert np.allclose(*places, atol=1e-12)


@pytest.mark.parametrize(
    ("held", "error", "said"),
    [
        ({"wing": 0.0}, UnknownNameError, "wing"),
        ({"mouth": 0.5}, InputError, "limits"),
        ({"mouth": math.nan}, InputError, "limits"),
    ],
)
def test_what_cannot_be_held_is_refused(
    ers7: Robot, held: dict[str, float], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        World(ers7, welded=held)


def test_a_robot_is_not_held_altogether(ers7: Robot) -> None:
    with pytest.raises(InputError, match="all joints"):
        World(ers7, welded=dict(zip(ers7.joint_names, ers7.pose("stand").tolist(), strict=True)))


@pytest.mark.parametrize("steps", [1, 2, 8])
def test_a_frame_is_a_frame_at_any_step(ers7: Robot, steps: int) -> None:
    body = SimulatedBody(World(ers7, timestep_s=0.008 / steps))
    assert body.world.n_substeps == steps
    track = play(body, JointCommands(np.tile(ers7.pose("stand"), (125, 1))))
    assert body.time_s == pytest.approx(1.0)
    assert body.world.data.time == pytest.approx(1.0, abs=0.009)
    assert track.truth is not None
    assert track.truth.base[-1, 2] > 0.1


@pytest.mark.parametrize("wrong", [0.003, 0.016, 0.0, -0.002, math.nan, math.inf, 1e-12])
def test_a_step_that_does_not_divide_the_frame_is_refused(ers7: Robot, wrong: float) -> None:
    with pytest.raises(InputError, match="divide"):
        World(ers7, timestep_s=wrong)


def test_economies_go_together(ers7: Robot) -> None:
    world = World(ers7, visuals=False, welded={**HEAD, **SMALL}, timestep_s=0.004)
    set_friction(world.model, 0.6)
    body = SimulatedBody(world)
    track = play(body, JointCommands(np.tile(ers7.pose("stand"), (60, 1))))
    assert track.truth is not None
    assert track.truth.foot_contacts[-1].all()
    body.reset()
    assert same(track, play(body, JointCommands(np.tile(ers7.pose("stand"), (60, 1)))))


def test_feet_are_felt_without_looks(ers7: Robot) -> None:
    sensor = FootContact(name="paw", foot="left_rear_paw")
    body = SimulatedBody(World(ers7, sensors=(sensor,), visuals=False, welded=HEAD))
    play(body, JointCommands(np.tile(ers7.pose("stand"), (60, 1))))
    assert body.read().sensors["paw"] is True
    assert mujoco.mj_name2id(body.world.model, mujoco.mjtObj.mjOBJ_ACTUATOR, "head_pan") == -1


def test_contacts_are_the_same_with_mujocos_tree_of_boxes(card: Robot) -> None:
    """A robot that falls over among walls and boxes: many contacts at once, and their order counts."""
    field = replace(arena(), boxes=(Box(0.45, 0.0), Box(0.3, 0.4), Box(0.5, -0.35)))
    angles = stepping(card, 2.5)
    angles[len(angles) // 5 :] *= 2.5
    tracks = []
    for with_tree in (False, True):
        body = SimulatedBody(World(card, field, visuals=False), start=(0.2, 0.0, 0.0))
        if with_tree:
            body.world.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
        tracks.append(play(body, JointCommands(angles)))
    assert same(*tracks)
    assert tracks[0].truth is not None
    assert tracks[0].truth.box_contacts.any()
