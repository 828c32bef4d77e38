"""Playback: where everything is at any time, of a recording or of a motion without physics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.documents import Node
from posewright.errors import InputError, UnknownNameError
from posewright.evaluation.trajectory import card_for
from posewright.formats import robot_of_motion
from posewright.motions import Motion
from posewright.recordings import Header, Recording
from posewright.recordings.header import PLACED
from posewright.robots import Robot, SensorSpec, parse_sensor

if TYPE_CHECKING:
    from posewright.simulation import World

Attitude = tuple[float, float]
"""Roll and pitch of the base [rad]."""

JUMP_M = 0.1
"""A base that is farther away in the next row was put there: nothing lies between."""

LOOPS_SHOWN = 3
"""Passes that are shown of a motion that repeats for ever."""

LONGEST_S = 60.0
"""So much of a motion is shown at most [s]."""


CAMERAS = frozenset({"camera", "code_reader"})
"""Kinds of sensors that see pictures."""


@dataclass(frozen=True, eq=False, slots=True)
class Poses:
    """Where everything is at n times.

    Attributes:
        times: `(n,)` [s].
        base: x y z qw qx qy qz by robot, `(n, 7)` each.
        positions: joint angles by robot, `(n, n_joints)` each [rad].
        boxes: x y z qw qx qy qz, `(n, n_boxes, 7)`.
        lights: colours by robot and LED, `(n, 3)` each, 0..1; NaN where a light was not set.
    """

    times: Floats
    base: Mapping[str, Floats]
    positions: Mapping[str, Floats]
    boxes: Floats
    lights: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)

    def at(self, times: Floats) -> Poses:
        """Return the poses at other times, `(m,)` [s], between two known ones what lies between."""
        after = np.clip(np.searchsorted(self.times, times), 1, max(len(self.times) - 1, 1))
        before = after - 1
        after = np.minimum(after, len(self.times) - 1)
        gaps = np.maximum(self.times[after] - self.times[before], 1e-12)
        share = np.clip((times - self.times[before]) / gaps, 0.0, 1.0)
        joints = {
            name: values[before] + share[:, None] * (values[after] - values[before])
            for name, values in self.positions.items()
        }
        base = {name: _between(values[before], values[after], share) for name, values in self.base.items()}
        boxes = _between(self.boxes[before], self.boxes[after], share[:, None])
        now = np.clip(np.searchsorted(self.times, times), 0, len(self.times) - 1)  # a row is taken at its end
        lights = {name: {led: rows[now] for led, rows in leds.items()} for name, leds in self.lights.items()}
        return Poses(times, base, joints, boxes, lights)


def _between(before: Floats, after: Floats, share: Floats) -> Floats:
    """Return poses x y z qw qx qy qz between others, `(..., 7)`, at shares of the way `(...)`."""
    weight = share[..., None]
    jumps = np.linalg.norm(after[..., :3] - before[..., :3], axis=-1, keepdims=True) > JUMP_M
    weight = np.where(jumps, np.round(weight), weight)
    turned = np.where((before[..., 3:] * after[..., 3:]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    after = np.concatenate([after[..., :3], turned * after[..., 3:]], axis=-1)
    poses: Floats = before + weight * (after - before)
    poses[..., 3:] /= np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True)
    return poses


@dataclass(frozen=True, eq=False)
class Playback:
    """What can be shown of a world, from when to when [s]; `at` gives the poses at times `(n,)` [s]."""

    world: World
    begin_s: float
    end_s: float
    at: Callable[[Floats], Poses]


def card_document(name: str) -> str:
    """Return under what name a recording carries the card of a robot that does not ship."""
    return f"{name}.robot.yaml"


def scene_of(recording: Recording | Header, robots: Mapping[str, Robot] | Robot | None = None) -> World:
    """Build the world a recording was made in, from what the recording carries.

    Args:
        recording: or its header.
        robots: cards by the robots' names in the recording, of those whose model does not travel with it, as
            they do not ship; or the card of the only one.

    Raises:
        InputError: a card is missing, or is another robot's.
        UnknownNameError: a robot is none that this version knows.
        DocumentError: the field is not what it should be.
    """
    from posewright.simulation import World

    header = recording.header if isinstance(recording, Recording) else recording
    cards = _cards(header, robots)
    arena = Arena.from_dict(header.arena) if header.arena else None
    return World(cards, arena, sensors=_cameras_without_card(header, cards))


def _cameras_without_card(header: Header, cards: Mapping[str, Robot]) -> list[SensorSpec]:
    """Return cameras of a recording that no card has: a behaviour added them."""
    cameras = {}
    for name, robot in header.robots.items():
        own = {sensor.name for sensor in cards[name].sensors}
        for sensor, card in robot.sensors.items():
            if card.get("kind") in CAMERAS and sensor not in own:
                data = {key: value for key, value in card.items() if key not in {"name", *PLACED}}
                cameras[sensor] = parse_sensor(sensor, Node(data, trail=f"the sensor {sensor}"))
    return list(cameras.values())


def _cards(header: Header, robots: Mapping[str, Robot] | Robot | None) -> dict[str, Robot]:
    if isinstance(robots, Robot):
        own_cards: Mapping[str, Robot] = {next(iter(header.robots)): robots}
    else:
        own_cards = robots or {}
    for name in own_cards:
        if name not in header.robots:
            raise UnknownNameError.among("robot of the recording", name, header.robots)
    cards = {}
    for name, robot in header.robots.items():
        card = own_cards.get(name)
        if card is None and card_document(robot.robot) in header.documents:
            hint = "a model does not travel with a recording: hand in the robot's card"
            raise InputError(
                f"the recording is of {robot.robot!r}, a robot with a card of its own", hint=hint
            )
        cards[name] = card_for(robot, card)
    return cards


def playback_of(recording: Recording, robots: Mapping[str, Robot] | Robot | None = None) -> Playback:
    """Return a recording as something that can be shown; `robots` as in `scene_of`.

    Raises:
        InputError: the recording does not know where its robots were; or as `scene_of`.
    """
    if not all(record.knows_place for record in recording.robots.values()):
        raise InputError("the recording does not say where the robot was: there is nothing to show")
    poses = poses_of(recording)
    begin_s = float(recording.times[0])
    end_s = float(recording.times[-1])
    return Playback(scene_of(recording, robots), begin_s, end_s, poses.at)


def poses_of(recording: Recording) -> Poses:
    """Return where everything was at the rows of a recording; the base is NaN where it is unknown."""
    return Poses(
        times=recording.times,
        base={name: record.base for name, record in recording.robots.items()},
        positions={
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
    """Return a motion without physics as something that can be shown.

    Every joint is where it is commanded, and the base as the author says, or upright on whatever carries it.

    The arguments are as in `film_motion`.

    Raises:
        InputError: the motion is another robot's, or the robot has no model.
        UnknownNameError: the robot is not known, or has no such pose.
    """
    card = robot_of_motion(motion, robot)
    if card.model_path is None:
        raise InputError(f"{card.name} has no model: there is nothing to show", hint="name another robot")
    from posewright.simulation import World
    from posewright.simulation.placement import Lean, place

    world = World(card)
    first = motion.first_pose(card, pose)
    columns = [card.index(joint) for joint in motion.joints]
    lower, upper = card.hardware_limits
    has_attitude = any(any(frame.attitude[:2]) for frame in motion.keyframes if frame.attitude is not None)

    def at(times: Floats) -> Poses:
        positions = np.tile(first, (len(times), 1))
        commanded = motion.sample_at(np.asarray(times)).angles
        positions[:, columns] = np.where(np.isfinite(commanded), commanded, first[columns])
        positions = np.clip(positions, lower, upper)
        leans = motion.attitude_at(times) if attitude is None and has_attitude else None
        base = np.empty((len(times), 7))
        for row in range(len(times)):
            lean = attitude if leans is None else tuple(leans[row, :2].tolist())
            place(world.instance(), 0.0, 0.0, 0.0, positions[row], lean=None if lean is None else Lean(*lean))
            base[row] = world.base
        lights = {card.name: motion.lights_at(np.asarray(times), card)}
        return Poses(times, {card.name: base}, {card.name: positions}, np.zeros((len(times), 0, 7)), lights)

    return Playback(world, 0.0, min((motion.repeat or LOOPS_SHOWN) * motion.duration, LONGEST_S), at)
