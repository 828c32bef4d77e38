"""Playback: the poses of all robots and boxes at any time, of a recording or of a motion without physics."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import Plate
from posewright.documents import Node
from posewright.errors import InputError, UnknownNameError
from posewright.evaluation.trajectory import card_for, domain_of
from posewright.formats import robot_of_motion
from posewright.motions import Motion
from posewright.recordings import Header, Recording, card_document
from posewright.recordings.attached_robot import write_attached_robot
from posewright.recordings.header import MOUNTING_KEYS
from posewright.robots import Robot, SensorSpec, parse_sensor, read_robot

if TYPE_CHECKING:
    from posewright.simulation import World

Attitude = tuple[float, float]
"""Roll and pitch of the base [rad]."""

JUMP_M = 0.1
"""A base that moves farther between two rows was put there by hand, and is not interpolated [m]."""

MAX_LOOPS = 3
"""Passes that are shown of a motion that repeats for ever."""

MAX_DURATION_S = 60.0
"""Greatest duration of a motion that is shown [s]."""


CAMERAS = frozenset({"camera", "code_reader"})
"""Kinds of sensors that take pictures."""


@dataclass(frozen=True, eq=False, slots=True)
class Poses:
    """Poses of robots and boxes at n times.

    Attributes:
        times: `(n,)` [s].
        base_poses: x y z qw qx qy qz by robot, `(n, 7)` each.
        joint_angles: joint angles by robot, `(n, n_joints)` each [rad].
        boxes: x y z qw qx qy qz, `(n, n_boxes, 7)`.
        lights: colours by robot and LED, `(n, 3)` each, 0..1; NaN where a light was not set.
    """

    times: Floats
    base_poses: Mapping[str, Floats]
    joint_angles: Mapping[str, Floats]
    boxes: Floats
    lights: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)

    def interpolate_at(self, times: Floats) -> Poses:
        """Return the poses interpolated at other times, `(m,)` [s]."""
        last_row = len(self.times) - 1
        next_rows = np.clip(np.searchsorted(self.times, times), 1, max(last_row, 1))
        previous_rows = next_rows - 1
        next_rows = np.minimum(next_rows, last_row)  # with a single row, it is both
        gaps = np.maximum(self.times[next_rows] - self.times[previous_rows], 1e-12)
        shares = np.clip((times - self.times[previous_rows]) / gaps, 0.0, 1.0)
        joints = {
            name: angles[previous_rows] + shares[:, None] * (angles[next_rows] - angles[previous_rows])
            for name, angles in self.joint_angles.items()
        }
        base = {
            name: _interpolate_poses(poses[previous_rows], poses[next_rows], shares)
            for name, poses in self.base_poses.items()
        }
        boxes = _interpolate_poses(self.boxes[previous_rows], self.boxes[next_rows], shares[:, None])
        light_rows = np.clip(np.searchsorted(self.times, times), 0, last_row)  # lights do not blend
        lights = {
            name: {led: colours[light_rows] for led, colours in leds.items()}
            for name, leds in self.lights.items()
        }
        return Poses(times, base, joint_angles=joints, boxes=boxes, lights=lights)


def _interpolate_poses(before: Floats, after: Floats, share: Floats) -> Floats:
    """Return poses x y z qw qx qy qz between two others, `(..., 7)`.

    A robot that was put elsewhere jumps: over a jump, the nearer of the two poses is returned.

    Args:
        before: poses before, `(..., 7)`.
        after: poses after, `(..., 7)`.
        share: share of the way from one to the other, 0..1, `(...)`.
    """
    exact_weight = share[..., None]
    is_jump = np.linalg.norm(after[..., :3] - before[..., :3], axis=-1, keepdims=True) > JUMP_M
    weight = np.where(is_jump, np.round(exact_weight), exact_weight)
    # q and -q are the same rotation; that on the side of the other pose is interpolated
    sign = np.where((before[..., 3:] * after[..., 3:]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    near_after = np.concatenate([after[..., :3], sign * after[..., 3:]], axis=-1)
    poses: Floats = before + weight * (near_after - before)
    poses[..., 3:] /= np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True)
    return poses


@dataclass(frozen=True, eq=False)
class Playback:
    """A world with its poses over time.

    Attributes:
        world: the world with the robots and the field.
        begin_s: first time that can be shown [s].
        end_s: last time that can be shown [s].
        poses_at: returns the poses at times `(n,)` [s].
    """

    world: World
    begin_s: float
    end_s: float
    poses_at: Callable[[Floats], Poses]


def recorded_world(recording: Recording | Header, robots: Mapping[str, Robot] | Robot | None = None) -> World:
    """Build the world of a recording from its header.

    Args:
        recording: or its header.
        robots: cards that replace those in the recording, by the robots' names in it; or the card of the
            only robot.

    Raises:
        InputError: the recording does not carry a robot's model, or a card is another robot's.
        FormatError: a model in the recording is not self-contained.
        UnknownNameError: this version does not know a robot.
        DocumentError: the field is invalid.
    """
    from posewright.simulation import World

    header = recording.header if isinstance(recording, Recording) else recording
    arena = Arena.from_dict(header.arena) if header.arena else None
    with tempfile.TemporaryDirectory(prefix="posewright_replay_") as folder:  # until the world is built
        recorded_robots = _find_recorded_robots(header, robots, Path(folder))
        cameras = _added_cameras(header, recorded_robots)
        return World(recorded_robots, arena, sensors=cameras, plates=_find_plates(header))


def _find_plates(header: Header) -> tuple[Plate, ...]:
    """Return the plates on the floor of a recording; its robots share them."""
    for robot in header.robots.values():
        if "domain" in robot.facts:
            return domain_of(robot.facts["domain"]).plates
    return ()


def _added_cameras(header: Header, robots: Mapping[str, Robot]) -> list[SensorSpec]:
    """Return the cameras that a behaviour added: those recorded that the robots do not have."""
    cameras = {}
    for name, robot_header in header.robots.items():
        own_sensor_names = {sensor.name for sensor in robots[name].sensors}
        for sensor_name, sensor_data in robot_header.sensors.items():
            if sensor_data.get("kind") in CAMERAS and sensor_name not in own_sensor_names:
                # as in a card: a header also has the sensor's name and its position on the robot
                card_data = {
                    key: value for key, value in sensor_data.items() if key not in {"name", *MOUNTING_KEYS}
                }
                node = Node(card_data, trail=f"the sensor {sensor_name}")
                cameras[sensor_name] = parse_sensor(sensor_name, node)
    return list(cameras.values())


def _find_recorded_robots(
    header: Header, robots: Mapping[str, Robot] | Robot | None, folder: Path
) -> dict[str, Robot]:
    """Return the robots of a recording by name: the caller's, else those that it carries or that ship.

    Args:
        header: the header of the recording.
        robots: robots that replace those in the recording, by name; a single robot is the first.
        folder: where the cards and models in the recording are written.
    """
    if isinstance(robots, Robot):
        custom_robots: Mapping[str, Robot] = {next(iter(header.robots)): robots}
    else:
        custom_robots = robots or {}
    for name in custom_robots:
        if name not in header.robots:
            raise UnknownNameError.among("robot", name, header.robots, owner="in the recording")
    recorded_robots: dict[str, Robot] = {}
    for name, robot_header in header.robots.items():
        custom_robot = custom_robots.get(name)
        if custom_robot is None and card_document(robot_header.robot) in header.documents:
            custom_robot = _read_attached_robot(header, name, folder / f"robot_{len(recorded_robots)}")
        recorded_robots[name] = card_for(robot_header, custom_robot)
    return recorded_robots


def _read_attached_robot(header: Header, name: str, folder: Path) -> Robot:
    """Return a robot whose card is attached to a recording; its card and model are written into a folder.

    Args:
        header: the header of the recording.
        name: the name of the robot in the recording.
        folder: the folder.

    Raises:
        InputError: the recording does not carry the model.
        FormatError: the model is not self-contained.
    """
    from posewright.simulation.mechanisms import require_self_contained

    # where two robots have documents of the same names, each has its own under its name as a prefix
    prefix = f"{name}/"
    own_documents = {
        document_name.removeprefix(prefix): text
        for document_name, text in header.documents.items()
        if document_name.startswith(prefix)
    }
    documents = {**header.documents, **own_documents}
    card_path = folder / "robot.yaml"
    try:
        write_attached_robot(documents, header.robots[name].robot, card_path, root=folder)
    except InputError as error:
        raise InputError(error.message, hint="pass the robot's card") from error
    card = read_robot(card_path)
    if card.model_path is not None:
        require_self_contained(card.model_path)
    return card


def playback_of_recording(
    recording: Recording, robots: Mapping[str, Robot] | Robot | None = None
) -> Playback:
    """Return the playback of a recording, which shows its poses at any time.

    Args:
        recording: the recording.
        robots: robots that replace those in the recording, as for `recorded_world`.

    Raises:
        InputError: the recording has no positions of a robot; or as `recorded_world`.
    """
    if not all(record.knows_place for record in recording.robots.values()):
        raise InputError("the recording has no positions of the robot: there is nothing to show")
    poses = poses_of_recording(recording)
    begin_s = float(recording.times[0])
    end_s = float(recording.times[-1])
    return Playback(recorded_world(recording, robots), begin_s, end_s, poses.interpolate_at)


def poses_of_recording(recording: Recording) -> Poses:
    """Return the poses at the rows of a recording; the base is NaN where it is unknown."""
    return Poses(
        times=recording.times,
        base_poses={name: record.base for name, record in recording.robots.items()},
        joint_angles={
            name: np.nan_to_num(np.where(np.isnan(record.positions), record.commands, record.positions))
            for name, record in recording.robots.items()
        },
        boxes=recording.boxes,
        lights={name: record.lights for name, record in recording.robots.items() if record.lights},
    )


def playback_of_motion(
    motion: Motion,
    robot: Robot | str | None = None,
    *,
    pose: str | None = None,
    attitude: Attitude | None = None,
) -> Playback:
    """Return the playback of a motion without physics; the arguments are as in `film_motion`.

    Every joint is where it is commanded, and the base as the motion's attitude says, else upright on the
    ground.

    Raises:
        InputError: the motion is another robot's, or the robot has no model.
        UnknownNameError: the robot is not known, or has no such pose.
    """
    played_robot = robot_of_motion(motion, robot)
    if played_robot.model_path is None:
        raise InputError(
            f"{played_robot.name} has no model: there is nothing to show", hint="name another robot"
        )
    from posewright.simulation import World
    from posewright.simulation.placement import Lean, place

    world = World(played_robot)
    start_positions = motion.first_pose(played_robot, pose)
    columns = [played_robot.index(joint) for joint in motion.joints]
    lower, upper = played_robot.hardware_limits
    has_attitude = any(any(frame.attitude[:2]) for frame in motion.keyframes if frame.attitude is not None)

    def poses_at(times: Floats) -> Poses:
        """Return the poses of the robot at times of the motion `(n,)` [s], placed on the ground."""
        n_times = len(times)
        joint_angles = np.tile(start_positions, (n_times, 1))
        commanded = motion.sample_at(np.asarray(times)).angles
        joint_angles[:, columns] = np.where(np.isfinite(commanded), commanded, start_positions[columns])
        joint_angles = np.clip(joint_angles, lower, upper)
        # a requested attitude holds at all times; else the motion's own, if its author stated one
        motion_attitudes = motion.attitude_at(times) if attitude is None and has_attitude else None
        base_poses = np.empty((n_times, 7))
        for row in range(n_times):
            lean = None if attitude is None else Lean(*attitude)
            if motion_attitudes is not None:
                roll_rad, pitch_rad = motion_attitudes[row, :2].tolist()
                lean = Lean(roll_rad, pitch_rad)
            place(world.instance(), x_m=0.0, y_m=0.0, yaw_rad=0.0, joints=joint_angles[row], lean=lean)
            base_poses[row] = world.base
        return Poses(
            times,
            base_poses={played_robot.name: base_poses},
            joint_angles={played_robot.name: joint_angles},
            boxes=np.zeros((n_times, 0, 7)),
            lights={played_robot.name: motion.lights_at(np.asarray(times), played_robot)},
        )

    return Playback(
        world,
        begin_s=0.0,
        end_s=min((motion.repeat or MAX_LOOPS) * motion.duration, MAX_DURATION_S),
        poses_at=poses_at,
    )
