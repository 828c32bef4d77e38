"""Motions as tables of whole numbers: what a board's page player reads.

Positions are servo ticks with 16 binary places (`TICK`), times are counted in an even part of a frame, so
small that keyframes and the ends of passes lie on whole ones: a motion stays on its own clock for ever.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Floats
from posewright.control.schedule import in_frames
from posewright.controllers.passes import PEAK_OF_MEAN, SHARE_OF_SPEED, SHORTEST_JOIN_S, TOUCHING_RAD
from posewright.errors import InputError, Where
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.motions.pose import pause_ends
from posewright.robots import Robot

Whole: TypeAlias = NDArray[np.int64]
"""Whole numbers, of all joints or of none in particular."""

TICK = 1 << 16
"""One servo tick."""

HELD = -1
"""What a table has where a joint stays as it was."""

ONE = 1 << 28
"""All of a way; shares of it are counted in these."""

FINEST = 1 << 20
"""A frame is cut into no more parts than this; a table of times must fit 31 bits."""

MOST_KEYFRAMES, MOST_MOTIONS = 255, 254
"""They are counted in a byte on the board, and one number is none."""

EASINGS = {Easing.LINEAR: 0, Easing.SMOOTH: 1, Easing.TRAPEZOID: 2}
"""The number of each easing on the board."""


@dataclass(frozen=True, eq=False)
class Page:
    """One motion.

    Attributes:
        number: counted from 1; 0 is none.
        positions: of the keyframes, `(n_keyframes, n_joints)` [TICK]; HELD where a joint stays.
        start: where it is to be started from, `(n_joints,)` [TICK]; None for anywhere.
        arrives: when each keyframe is reached, since the pass began [parts of a frame].
        ends: when the pause after it is over [parts of a frame].
        easings: how the way into each keyframe is gone.
        accel: share of the way's time to speed up in [ONE].
        length: of a pass, at least a frame [parts of a frame].
        first_way: whole frames before the first keyframe is reached.
        repeat: how often; 0 for ever.
        next: number of the motion that follows; 0 none.
        exit: number of the motion it is left through; 0 none.
    """

    number: int
    motion: Motion
    positions: Whole
    start: Whole | None
    arrives: tuple[int, ...]
    ends: tuple[int, ...]
    easings: tuple[Easing, ...]
    accel: tuple[int, ...]
    length: int
    first_way: int
    repeat: int
    next: int
    exit: int


@dataclass(frozen=True, eq=False)
class PageTables:
    """All that a page player reads, robot and motions.

    Attributes:
        parts: of a frame, in which times are counted.
        pages: the motions, by name, in the order of their numbers.
        start_pose: `(n_joints,)` [TICK].
        touching: how near two positions are one, `(n_joints,)` [TICK].
        join_frames: frames that a join takes for each tick of the way, `(n_joints,)` [ONE].
        steps: farthest way in a frame without load, and half of it, each `(n_joints,)` [TICK].
    """

    robot: Robot
    parts: int
    pages: Mapping[str, Page]
    start_pose: Whole
    touching: Whole = field(repr=False)
    join_frames: Whole = field(repr=False)
    steps: tuple[Whole, Whole] = field(repr=False)

    @classmethod
    def of(
        cls,
        robot: Robot,
        motions: Mapping[str, Motion],
        start_pose: Floats,
        where: Mapping[str, Where] = MappingProxyType({}),
    ) -> PageTables:
        """Make the tables; `where` says in which line each motion is named.

        Raises:
            InputError: a motion asks for what a board cannot do.
        """
        _require_bus(robot)
        if len(motions) > MOST_MOTIONS:
            what = f"there are {len(motions)} motions, and a board plays at most {MOST_MOTIONS}"
            raise InputError(what, where=where.get([*motions][MOST_MOTIONS]), hint="leave some out")
        parts = _parts(robot, motions)
        numbers = {name: number for number, name in enumerate(motions, 1)}
        writer = _Writer(robot, parts, numbers, where)
        tick_rad = np.array([servo.tick_rad for servo in robot.servos])
        step = robot.max_speeds * robot.frame_period_s / tick_rad
        return cls(
            robot,
            parts,
            {name: writer.page(name, motion) for name, motion in motions.items()},
            writer.ticks(start_pose),
            _whole(TOUCHING_RAD / tick_rad * TICK),
            _whole(PEAK_OF_MEAN / (SHARE_OF_SPEED * step) * ONE),
            (_whole(step * TICK), _whole(SHARE_OF_SPEED * step * TICK)),
        )

    @cached_property
    def names(self) -> tuple[str | None, ...]:
        """What each number means, 0 first."""
        return (None, *self.pages)

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """The servos' numbers on the bus."""
        return tuple(servo.id for servo in self.robot.servos if servo.id is not None)

    @property
    def shortest_join(self) -> int:
        """Frames that a join takes at least."""
        return math.ceil(SHORTEST_JOIN_S / self.robot.frame_period_s - 1e-9)


def _whole(numbers: Floats) -> Whole:
    return np.rint(numbers).astype(np.int64)


def _require_bus(robot: Robot) -> None:
    for servo in robot.servos:
        if servo.id is None or servo.tick_urad is not None or servo.last_tick >= 1 << 14:
            what = f"the servo of {servo.joint} does not take goal positions over a Dynamixel bus"
            raise InputError(
                what, hint="a whole behaviour is made for robots of AX-12 servos, such as Bioloid"
            )


def _parts(robot: Robot, motions: Mapping[str, Motion]) -> int:
    """Return into how many parts a frame is cut."""
    passes = [in_frames(motion.duration, robot.frame_period_s) for motion in motions.values()]
    times = [_clock(motion, robot) for motion in motions.values()]
    least = math.lcm(*(one.denominator for one in passes))
    parts = math.lcm(least, *(time.denominator for time in chain.from_iterable(times)))
    if parts > FINEST:  # keyframes go to the nearest part, passes still end where they should
        parts = least * max(1, FINEST // least)
    if parts * max(map(math.ceil, passes), default=1) >= 1 << 31:
        what = "the motions' times have no common measure that a board could count in"
        hint = "give them times in whole frames, or speeds of fewer digits, such as 0.9"
        raise InputError(what, hint=hint)
    return parts


def _clock(motion: Motion, robot: Robot) -> list[Fraction]:
    """Return when each keyframe is reached, then when the pause after each is over [frames]."""
    ends = pause_ends(motion.keyframes) / motion.speed
    return [in_frames(float(time), robot.frame_period_s) for time in (*motion.keyframe_times, *ends)]


@dataclass(frozen=True)
class _Writer:
    """Writes pages."""

    robot: Robot
    parts: int
    numbers: Mapping[str, int]
    where: Mapping[str, Where]

    def page(self, name: str, motion: Motion) -> Page:
        if len(motion.keyframes) > MOST_KEYFRAMES:
            what = f"has {len(motion.keyframes)} keyframes, more than {MOST_KEYFRAMES}"
            self._refuse(name, what, "cut it into motions that follow one another by `next`")
        for keyframe in motion.keyframes:
            self._check(name, keyframe)
        times = [round(time * self.parts) for time in _clock(motion, self.robot)]
        half = len(motion.keyframes)
        duration = in_frames(motion.duration, self.robot.frame_period_s)
        first_way = in_frames(float(motion.keyframe_times[0]), self.robot.frame_period_s)
        return Page(
            number=self.numbers[name],
            motion=motion,
            positions=np.array([self._pose(keyframe.pose, name) for keyframe in motion.keyframes]),
            start=None if motion.start is None else self._pose(motion.start, name),
            arrives=tuple(times[:half]),
            ends=tuple(times[half:]),
            easings=tuple(keyframe.easing for keyframe in motion.keyframes),
            accel=tuple(round(keyframe.accel_share * ONE) for keyframe in motion.keyframes),
            length=int(max(Fraction(1), duration) * self.parts),
            first_way=int(first_way),
            repeat=motion.repeat or 0,
            next=self.numbers[motion.next] if motion.next else 0,
            exit=self.numbers[motion.exit] if motion.exit else 0,
        )

    def ticks(self, angles: Floats, name: str | None = None) -> Whole:
        """Return the positions for joint angles `(n_joints,)` [rad]; NaN is a joint that stays."""
        held = np.isnan(angles)
        exact = self.robot.to_ticks(np.where(held, 0.0, angles))
        for servo, tick, stays in zip(self.robot.servos, exact.tolist(), held.tolist(), strict=True):
            if not stays and not servo.first_tick - 0.5 <= tick <= servo.last_tick + 0.5:
                hint = f"the servo has the ticks {servo.first_tick} to {servo.last_tick}"
                self._refuse(name, f"sends {servo.joint} to tick {tick:.1f}", hint)
        first = np.array([servo.first_tick for servo in self.robot.servos])
        last = np.array([servo.last_tick for servo in self.robot.servos])
        return np.where(held, HELD, _whole(np.clip(exact, first, last) * TICK))

    def _pose(self, pose: Pose, name: str) -> Whole:
        angles = np.full(len(self.robot.joints), np.nan)
        angles[[self.robot.index(joint) for joint in pose.joints]] = pose.angles
        return self.ticks(angles, name)

    def _check(self, name: str, keyframe: Keyframe) -> None:
        if keyframe.pose.free:
            self._refuse(name, f"lets {', '.join(sorted(keyframe.pose.free))} go", "give the joint an angle")
        if keyframe.lights:
            self._refuse(name, "sets lights", "leave them out for the board")
        if keyframe.easing not in EASINGS:
            what = f"goes by {keyframe.easing.value}"
            self._refuse(name, what, f"write easing: {' or '.join(one.value for one in EASINGS)}")
        for joint, stiffness in (keyframe.stiffness or {}).items():
            if not math.isclose(stiffness, self.robot.servo(joint).stiffness, rel_tol=1e-6):
                self._refuse(name, f"sets the stiffness of {joint}", "leave it as the servo has it")

    def _refuse(self, name: str | None, what: str, hint: str) -> NoReturn:
        who = "the start pose" if name is None else f"the motion {name}"
        where = None if name is None else self.where.get(name)
        raise InputError(f"{who} {what}, which a board does not do", where=where, hint=hint)
