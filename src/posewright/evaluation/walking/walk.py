"""A recorded walk of a gait: its trajectory, its commands, what safety held back, and its falls."""

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
from posewright.documents import Bounds, Node, PlainData, read_record
from posewright.errors import InputError
from posewright.evaluation.thresholds import SLACK_S, PhysicsRules
from posewright.evaluation.trajectory import Trajectory
from posewright.gaits import STILL, Gait, GaitTiming, PhaseTable, VelocityCommand, timing_of
from posewright.gaits.quadruped.reading import SUFFIX, parse_gait
from posewright.recordings import Recording
from posewright.recordings.falls import FallLimits, describe_direction
from posewright.recordings.plausibility import MAX_VALUE
from posewright.robots import Robot

EXTRAS = "walk"
"""The entry of a header's extras that makes its recording one of a walk."""

RULES = PhysicsRules()

LOW = 0.6
"""A base lower than this share of its height at first lies: no gait bounces so far, and an AIBO's belly is
on the ground at 0.45."""

SAME_S = 1e-6
"""Times closer than this are the same [s]."""

COUNT_FRAMES = 32
"""Each joint and guard counts once in so many frames since the robot was let go, 0.256 s of an AIBO."""

Triple = tuple[float, float, float]
"""Forward [m/s], left [m/s] and turn [rad/s]."""


class Timed(NamedTuple):
    """A command and when it is given, since the robot was let go [s]; it takes effect with the next step."""

    time_s: float
    command: VelocityCommand


@dataclass(frozen=True, slots=True)
class Correction:
    """What safety would not let through of one joint for a while, at the end of the first frame of it [s].

    At worst `value` was asked for and at most `limit` let through [rad or rad/s].
    """

    time_s: float
    joint: str
    guard: str
    value: float
    limit: float

    @property
    def excess(self) -> float:
        """By how much it was too much, in the same unit."""
        return abs(self.value - self.limit)


@dataclass(frozen=True, slots=True)
class GaitFall:
    """A time the robot lay: when it was down [s], the first row in which it was, and how far it leaned."""

    time_s: float
    row: int
    side: str
    tilt_deg: float


@dataclass(frozen=True, slots=True)
class WalkTerms:
    """What a walk is measured by and cannot be seen in it: `extras["walk"]` of its recording.

    Attributes:
        body: what the body is called: `nominal`, `random`, ...
        settle_s: for so long it walked before it was to be measured [s].
        standing: the pose that is held before the first frame, `(n_joints,)` [rad].
    """

    gait: str
    body: str
    seconds: Annotated[float, Bounds(-MAX_VALUE, MAX_VALUE)]
    settle_s: Annotated[float, Bounds(0.0, MAX_VALUE)]
    standing: tuple[Annotated[float, Bounds(-MAX_VALUE, MAX_VALUE)], ...]

    @classmethod
    def read(cls, extras: Mapping[str, PlainData]) -> Self:
        """Return those of a recording; raise an InputError where it is not one of a gait's walk."""
        if EXTRAS not in extras:
            raise InputError(
                "this is not the recording of a gait's walk", hint="one made with `gait run --record`"
            )
        return read_record(Node(extras[EXTRAS], Path("header of the recording"), EXTRAS), cls, degrees=False)


@dataclass(frozen=True, eq=False)
class Walk:
    """A recorded walk of a gait, up to its end or up to a fall.

    The first of the commands holds from the beginning; corrections are what safety would not let through.
    """

    trajectory: Trajectory
    terms: WalkTerms
    timing: GaitTiming
    phases: PhaseTable
    commands: tuple[Timed, ...]
    corrections: tuple[Correction, ...] = ()

    @classmethod
    def of(cls, recording: Recording, *, robot: Robot | None = None, gait: Gait | None = None) -> Self:
        """Return the walk in a recording; see `evaluate_walk`."""
        terms, trajectory = WalkTerms.read(recording.header.extras), Trajectory.of(recording, robot=robot)
        trajectory.expect_every_frame("the figures of a walk")
        if len(terms.standing) != len(trajectory.robot.joint_names):
            raise InputError(f"the walk begins in a pose of {len(terms.standing)} joints", hint="one of all")
        gait = _gait(recording, terms, trajectory.robot) if gait is None else gait
        timing = timing_of(gait.parameters, trajectory.robot.frame_period_s)
        return cls(trajectory, terms, timing, gait.phases, _commands(trajectory), corrections_of(trajectory))

    @property
    def robot(self) -> Robot:
        """Who walks."""
        return self.trajectory.robot

    @property
    def frame_s(self) -> float:
        """Time from row to row [s]."""
        return self.robot.frame_period_s

    @property
    def last(self) -> int:
        """The last row."""
        return self.trajectory.last

    @property
    def begin(self) -> int:
        """The row the measuring begins after: so many frames the robot was left to settle into its walk."""
        return round(self.terms.settle_s / self.frame_s)

    @property
    def first_measured(self) -> int:
        """The same; the last row where it fell before."""
        return min(self.begin, self.last)

    @cached_property
    def asked(self) -> Floats:
        """Joint angles as the gait made them, `(last + 1, n_joints)` [rad]."""
        return self._from_standing(self.trajectory.record.requested)

    @cached_property
    def sent(self) -> Floats:
        """Joint angles as safety let them through, `(last + 1, n_joints)` [rad]."""
        return self._from_standing(self.trajectory.record.commands)

    def _from_standing(self, rows: Floats) -> Floats:
        return np.concatenate([[self.terms.standing], rows[: self.last]])

    @cached_property
    def falls(self) -> tuple[GaitFall, ...]:
        """When the robot fell, from the beginning on; what is over sooner than `fall_s` is a stumble."""
        track = self.trajectory
        return tuple(
            GaitFall(
                float(track.times[at]),
                at,
                describe_direction(-track.up[at]),
                float(track.tilt_deg[at:end].max()),
            )
            for at, end in ((fall.begin, fall.end) for fall in track.falls(fall_limits(self.frame_s)))
        )

    @property
    def last_upright_row(self) -> int:
        """The last row before the first fall, or of all."""
        return max(self.falls[0].row - 1, 0) if self.falls else self.last

    @cached_property
    def upright(self) -> Walk:
        """The walk up to the first fall."""
        return self.until(self.last_upright_row) if self.falls else self

    def until(self, last: int) -> Walk:
        """Return the walk up to a row, that one too."""
        end_s = last * self.frame_s + SAME_S
        kept = tuple(one for one in self.corrections if one.time_s <= end_s)
        return replace(self, trajectory=self.trajectory.until(last), corrections=kept)


def fall_limits(frame_s: float) -> FallLimits:
    """Return what counts as a fall in a walk: a base that leans far whichever way, or is low, for long.

    Contacts of other parts than feet are not looked at: a base that is neither tilted nor low is no fall,
    even where a knee scrapes.
    """
    return RULES.fall_limits(frame_s, height_share=LOW)


def stays_down_limits(frame_s: float, lasting_s: float) -> FallLimits:
    """Return what counts as staying down, for as long as that and without a moment in between [s]."""
    return replace(
        fall_limits(frame_s), lasting_s=lasting_s - frame_s - SLACK_S, bridge_s=0.0, ends_down=False
    )


def corrections_of(trajectory: Trajectory) -> tuple[Correction, ...]:
    """Return what safety held back of each joint in each `COUNT_FRAMES` frames, in the order of time.

    Each is the worst of its frames, at the time of the first. What no servo would notice is left out.
    """
    record, card = trajectory.record, trajectory.robot
    if record.requests is None:
        return ()
    found = Safety(card).filter(JointCommands(record.requests), record.start_positions).interventions
    if found is None:
        return ()
    worst: dict[tuple[int, int, int], Correction] = {}
    for k in np.argsort(found.frames, kind="stable").tolist():
        frame, joint, guard = int(found.frames[k]), int(found.joints[k]), found.guards[k]
        name, value, limit = card.joint_names[joint], float(found.values[k]), float(found.limits[k])
        one = Correction((frame + 1) * card.frame_period_s, name, guard.value, value, limit)
        key = frame // COUNT_FRAMES, list(SafetyLimit).index(guard), joint
        worst[key] = worse_of(worst.get(key, one), one)
    told = (one for _, one in sorted(worst.items()))
    # Poses in whole ticks may lie a rounding beyond a limit.
    stop = SafetyLimit.JOINT_LIMIT.value
    return tuple(one for one in told if one.guard != stop or one.excess > card.servo(one.joint).tick_rad)


def worse_of(first: Correction, other: Correction) -> Correction:
    """Return the worse of two corrections, with the time of the first."""
    return replace(other, time_s=first.time_s) if other.excess > first.excess else first


def _commands(trajectory: Trajectory) -> tuple[Timed, ...]:
    decisions = trajectory.record.decisions
    try:
        found = tuple(
            Timed(time_s, VelocityCommand(*(float(outputs[name]) for name in STILL.by_name)))
            for time_s, outputs in zip(decisions.times.tolist(), decisions.outputs, strict=True)
        )
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"a command of the walk cannot be read: {error}") from error
    if not found:
        raise InputError("the recording does not say what the gait was asked for")
    return found


def _gait(recording: Recording, terms: WalkTerms, card: Robot) -> Gait:
    texts = recording.header.documents
    name = f"{terms.gait}{SUFFIX}"
    if name not in texts:
        raise InputError(f"the recording does not carry the gait it is of, {name}")
    return parse_gait(texts[name], robot=card)[0]


class CommandSpan(NamedTuple):
    """The frames for which a command held while it was measured: after `start`, with `stop` the last.

    It was given after frame `given`, be it before the measuring began.
    """

    given: int
    start: int
    stop: int
    command: VelocityCommand


def spans(commands: Sequence[Timed], frame_s: float, begin: int, end: int) -> list[CommandSpan]:
    """Return for which frames each command held while it was measured: after `begin` up to `end`."""
    given = [round(timed.time_s / frame_s) for timed in commands]
    found = [
        CommandSpan(start, max(start, begin), min(stop, end), timed.command)
        for start, stop, timed in zip(given, [*given[1:], end], commands, strict=True)
    ]
    return [span for span in found if span.stop > span.start]


def mean_command(commands: Sequence[Timed], frame_s: float, begin: int, end: int) -> Triple:
    """Return what was asked for on the mean over the measured frames; at first, where there are none."""
    held = spans(commands, frame_s, begin, end) or [CommandSpan(0, 0, 1, commands[0].command)]
    frames = sum(span.stop - span.start for span in held)
    forward, left, turn = (
        sum((span.stop - span.start) * getattr(span.command, name) for span in held) / frames
        for name in ("forward_m_s", "left_m_s", "turn_rad_s")
    )
    return forward, left, turn
