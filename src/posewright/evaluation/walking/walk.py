"""A recorded walk of a gait: trajectory, commands, corrections by the safety filter, and falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.control import Safety, SafetyLimit
from posewright.controllers import is_page_walk, read_page_cycle
from posewright.documents import Bounds, Node, PlainData, parse_document, read_record
from posewright.errors import InputError
from posewright.evaluation.thresholds import SLACK_S, PhysicsRules
from posewright.evaluation.trajectory import Trajectory
from posewright.gaits import STILL, Gait, GaitCycle, VelocityCommand
from posewright.gaits.reading import SUFFIX, parse_gait
from posewright.recordings import Recording
from posewright.recordings.falls import FallLimits, describe_direction
from posewright.recordings.plausibility import MAX_VALUE
from posewright.robots import Robot

EXTRAS = "walk"
"""The entry of a header's extras by which a recording is recognised as one of a walk."""

RULES = PhysicsRules()

MIN_HEIGHT_SHARE = 0.6
"""A base lower than this share of its first height is down. An AIBO's belly is on the ground at 0.45."""

TIME_TOLERANCE_S = 1e-6
"""Times that differ by less are equal [s]."""

CORRECTION_WINDOW_FRAMES = 32
"""Corrections of one joint by one guard count once in this many frames, 0.256 s of an AIBO."""

Velocity = tuple[float, float, float]
"""Forward [m/s], left [m/s] and turn [rad/s]."""


class TimedCommand(NamedTuple):
    """A velocity command and the time when it is given.

    Attributes:
        time_s: since the robot was released [s].
        command: takes effect with the next step.
    """

    time_s: float
    command: VelocityCommand


@dataclass(frozen=True, slots=True)
class Correction:
    """The worst correction of a joint by the safety filter within some frames.

    Attributes:
        time_s: end of the first corrected frame [s].
        joint: its name.
        guard: kind of limit that was exceeded.
        value: requested value at worst [rad or rad/s].
        limit: the limit in the same unit.
    """

    time_s: float
    joint: str
    guard: str
    value: float
    limit: float

    @property
    def excess(self) -> float:
        """Difference between request and limit, in their unit."""
        return abs(self.value - self.limit)


@dataclass(frozen=True, slots=True)
class GaitFall:
    """A fall in a walk.

    Attributes:
        time_s: when the base was first down [s].
        row: the row of that time.
        side: direction of the tilt in that row.
        tilt_deg: greatest tilt while it was down [deg].
    """

    time_s: float
    row: int
    side: str
    tilt_deg: float


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings of a walk that its rows do not show: `extras["walk"]` of its recording.

    Attributes:
        gait: name of the gait.
        body: name of the simulated body: `nominal`, `random`, ...
        seconds: duration of the measured time [s].
        settle_s: duration of the walk before it is measured [s].
        standing: pose before the first frame, `(n_joints,)` [rad].
    """

    gait: str
    body: str
    seconds: Annotated[float, Bounds(-MAX_VALUE, MAX_VALUE)]
    settle_s: Annotated[float, Bounds(0.0, MAX_VALUE)]
    standing: tuple[Annotated[float, Bounds(-MAX_VALUE, MAX_VALUE)], ...]

    @classmethod
    def read(cls, extras: Mapping[str, PlainData]) -> Self:
        """Return the settings in a header's extras.

        Raises:
            InputError: the recording is not one of a gait's walk.
            DocumentError: the settings are malformed.
        """
        if EXTRAS not in extras:
            raise InputError(
                "this is not the recording of a gait's walk", hint="use one made with `gait run --record`"
            )
        return read_record(Node(extras[EXTRAS], Path("header of the recording"), EXTRAS), cls, degrees=False)


@dataclass(frozen=True, eq=False)
class Walk:
    """A recorded walk of a gait, up to its end or to a given row.

    Attributes:
        trajectory: the trajectory of the robot.
        settings: the settings of the walk.
        cycle: the cycle of the gait.
        velocity_commands: the velocity commands in the order of time; the first is in effect from the start.
        corrections: the corrections by the safety filter.
    """

    trajectory: Trajectory
    settings: WalkSettings
    cycle: GaitCycle
    velocity_commands: tuple[TimedCommand, ...]
    corrections: tuple[Correction, ...] = ()

    @classmethod
    def of(cls, recording: Recording, *, robot: Robot | None = None, gait: Gait | None = None) -> Self:
        """Return the walk in a recording.

        Args:
            recording: the recording of a walk, with every frame.
            robot: the recorded robot; required unless it ships with Posewright.
            gait: the gait that was walked; default the one attached to the recording.

        Raises:
            InputError: the recording is not one of a walk, or lacks frames, joints, commands or the gait.
        """
        settings = WalkSettings.read(recording.header.extras)
        trajectory = Trajectory.of(recording, robot=robot)
        trajectory.require_every_frame("the figures of a walk")
        recorded_robot = trajectory.robot
        if len(settings.standing) != len(recorded_robot.joint_names):
            raise InputError(
                f"the recorded standing pose has {len(settings.standing)} joints",
                hint=f"all {len(recorded_robot.joint_names)} joints of {recorded_robot.name}",
            )
        if gait is None:
            cycle = _read_recorded_cycle(recording, settings, recorded_robot)
        else:
            cycle = gait.cycle(recorded_robot)
        return cls(
            trajectory,
            settings,
            cycle=cycle,
            velocity_commands=_read_velocity_commands(trajectory),
            corrections=corrections_of(trajectory),
        )

    @property
    def robot(self) -> Robot:
        """Card of the robot."""
        return self.trajectory.robot

    @property
    def frame_s(self) -> float:
        """Time from row to row [s]."""
        return self.robot.frame_period_s

    @property
    def last_row(self) -> int:
        """The last row."""
        return self.trajectory.last_row

    @property
    def settled_row(self) -> int:
        """The row at the end of the settling time, after which measuring begins."""
        return round(self.settings.settle_s / self.frame_s)

    @property
    def first_measured_row(self) -> int:
        """`settled_row`, or the last row if the robot fell while settling."""
        return min(self.settled_row, self.last_row)

    @cached_property
    def requested_angles(self) -> Floats:
        """Joint angles requested by the gait, `(last + 1, n_joints)` [rad]."""
        return self._prepend_standing_pose(self.trajectory.record.requested)

    @cached_property
    def commanded_angles(self) -> Floats:
        """Joint angles commanded after the safety filter, `(last + 1, n_joints)` [rad]."""
        return self._prepend_standing_pose(self.trajectory.record.commands)

    def _prepend_standing_pose(self, rows: Floats) -> Floats:
        return np.concatenate([[self.settings.standing], rows[: self.last_row]])

    @cached_property
    def falls(self) -> tuple[GaitFall, ...]:
        """The falls of the robot, including the settling time."""
        trajectory = self.trajectory
        return tuple(
            GaitFall(
                time_s=float(trajectory.times[interval.begin]),
                row=interval.begin,
                side=describe_direction(-trajectory.up_in_base[interval.begin]),
                tilt_deg=float(trajectory.tilt_deg[interval.begin : interval.end].max()),
            )
            for interval in trajectory.falls(fall_limits(self.frame_s))
        )

    @property
    def last_upright_row(self) -> int:
        """The last row before the first fall, or the last row."""
        return max(self.falls[0].row - 1, 0) if self.falls else self.last_row

    @cached_property
    def up_to_first_fall(self) -> Walk:
        """The walk up to the first fall."""
        return self.until(self.last_upright_row) if self.falls else self

    def until(self, last_row: int) -> Walk:
        """Return the walk up to a row, inclusive."""
        end_s = last_row * self.frame_s + TIME_TOLERANCE_S
        corrections = tuple(correction for correction in self.corrections if correction.time_s <= end_s)
        return replace(self, trajectory=self.trajectory.until(last_row), corrections=corrections)


def fall_limits(frame_s: float) -> FallLimits:
    """Return the limits of a fall in a walk: a base far from upright, or low, for some time.

    Contacts do not matter: a base that is neither tilted nor low has not fallen, even if a knee scrapes.
    """
    return RULES.fall_limits(frame_s, height_share=MIN_HEIGHT_SHARE)


def stays_down_limits(frame_s: float, lasting_s: float) -> FallLimits:
    """Return the limits of being down for `lasting_s` [s] without interruption."""
    return replace(
        fall_limits(frame_s), lasting_s=lasting_s - frame_s - SLACK_S, bridge_s=0.0, ends_down=False
    )


class _CorrectionKey(NamedTuple):
    """A window of frames, a guard by its index in `SafetyLimit`, and a joint by its index."""

    window: int
    guard: int
    joint: int


def corrections_of(trajectory: Trajectory) -> tuple[Correction, ...]:
    """Return the corrections by the safety filter, in the order of time.

    There is one for each joint and kind of limit (guard) in `CORRECTION_WINDOW_FRAMES` frames: the worst, at
    the time of the first. Corrections below the resolution of the servo are left out.
    """
    record = trajectory.record
    robot = trajectory.robot
    if record.requests is None:
        return ()
    interventions = Safety(robot).filter(JointCommands(record.requests), record.start_positions).interventions
    if interventions is None:
        return ()
    worst_corrections: dict[_CorrectionKey, Correction] = {}
    for i in np.argsort(interventions.frames, kind="stable").tolist():
        frame = int(interventions.frames[i])
        joint = int(interventions.joints[i])
        guard = interventions.guards[i]
        correction = Correction(
            time_s=(frame + 1) * robot.frame_period_s,
            joint=robot.joint_names[joint],
            guard=guard.value,
            value=float(interventions.values[i]),
            limit=float(interventions.limits[i]),
        )
        key = _CorrectionKey(frame // CORRECTION_WINDOW_FRAMES, list(SafetyLimit).index(guard), joint)
        worst_corrections[key] = worse_correction(worst_corrections.get(key, correction), correction)
    corrections = [worst_corrections[key] for key in sorted(worst_corrections)]
    # poses in whole ticks may exceed a limit by rounding
    return tuple(
        correction
        for correction in corrections
        if correction.guard != SafetyLimit.JOINT_LIMIT.value
        or correction.excess > robot.servo(correction.joint).tick_rad
    )


def worse_correction(first: Correction, second: Correction) -> Correction:
    """Return the correction with the greater excess, with the time of the first."""
    return replace(second, time_s=first.time_s) if second.excess > first.excess else first


def _read_velocity_commands(trajectory: Trajectory) -> tuple[TimedCommand, ...]:
    """Return the velocity commands, which are the outputs of the recorded decisions."""
    decisions = trajectory.record.decisions
    try:
        commands = tuple(
            TimedCommand(time_s, VelocityCommand(*(float(outputs[name]) for name in STILL.by_name)))
            for time_s, outputs in zip(decisions.times.tolist(), decisions.outputs, strict=True)
        )
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"a velocity command of the walk cannot be read: {error}") from error
    if not commands:
        raise InputError(
            "the recording has no velocity command", hint="use one made with `gait run --record`"
        )
    return commands


def _read_recorded_cycle(recording: Recording, settings: WalkSettings, robot: Robot) -> GaitCycle:
    """Return the cycle of the gait attached to the recording; that of pages is stored as such."""
    documents = recording.header.documents
    name = f"{settings.gait}{SUFFIX}"
    if name not in documents:
        raise InputError(f"the recording has no document {name}, its gait", hint="pass the gait")
    document = parse_document(documents[name], Path(name))
    if is_page_walk(document):
        return read_page_cycle(document, robot)
    gait, _ = parse_gait(documents[name], robot=robot)
    return gait.cycle(robot)


class CommandSpan(NamedTuple):
    """The measured frames in which a velocity command was in effect: after row `start` up to row `stop`.

    The command was given after `given_row`, which may be before the measuring began.
    """

    given_row: int
    start_row: int
    stop_row: int
    command: VelocityCommand


def command_spans(
    commands: Sequence[TimedCommand], frame_s: float, begin: int, end: int
) -> list[CommandSpan]:
    """Return the spans of all commands in effect after row `begin` up to row `end`."""
    given_rows = [round(timed_command.time_s / frame_s) for timed_command in commands]
    next_rows = [*given_rows[1:], end]
    spans = [
        CommandSpan(given_row, start_row=max(given_row, begin), stop_row=min(next_row, end), command=command)
        for given_row, next_row, (_, command) in zip(given_rows, next_rows, commands, strict=True)
    ]
    return [span for span in spans if span.stop_row > span.start_row]


def mean_command(commands: Sequence[TimedCommand], frame_s: float, begin: int, end: int) -> Velocity:
    """Return the mean commanded velocity after row `begin` up to row `end`.

    If no command was in effect there, it is the first command.
    """
    spans = command_spans(commands, frame_s, begin, end)
    if not spans:
        spans = [CommandSpan(given_row=0, start_row=0, stop_row=1, command=commands[0].command)]
    n_frames = sum(span.stop_row - span.start_row for span in spans)
    forward, left, turn = (
        sum((span.stop_row - span.start_row) * getattr(span.command, name) for span in spans) / n_frames
        for name in ("forward_m_s", "left_m_s", "turn_rad_s")
    )
    return forward, left, turn
