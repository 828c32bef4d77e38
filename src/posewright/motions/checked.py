"""What the design rules look at and find: thresholds, a motion on its robot in degrees, and findings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np

from posewright.arrays import Floats
from posewright.motions.motion import Motion
from posewright.motions.pose import Pose
from posewright.robots import Robot

AGAIN = 3
"""From so many keyframes on, one finding speaks for them all."""

MOST_TOLD = 6
"""How many rows of keyframes are named; of more it is said that there are."""


MOST_ANGLES = 2_000_000
"""So many are looked at in all: ways are cut into fewer points where a motion has thousands of keyframes."""

FEWEST_POINTS = 4


class Level(Enum):
    """How bad it is: an error breaks a rule, a warning comes near, a note is only to be known."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """What is found, where, and by how much.

    Attributes:
        rule: the rule's name: finite, limit, coupled, speed, step, pose, duration, camera or free.
        keyframe: counted from 1; 0 is the start pose; None is the motion as a whole. Of several the worst.
        joint: None where it is of no one joint. Of several the worst.
        value: what was found, in `unit`; None where there is nothing to measure.
        limit: what would have been the most (or the least) allowed.
        unit: deg, deg/s, s or frames; empty where there is none.
        times_s: when, the worst first [s] since the motion was started; empty for the motion as a whole.
        keyframes: all it is about, rising, where one finding speaks for several.
    """

    level: Level
    rule: str
    message: str = field(repr=False)
    keyframe: int | None = None
    joint: str | None = None
    value: float | None = None
    limit: float | None = None
    unit: str = ""
    times_s: tuple[float, ...] = field(default=(), repr=False)
    keyframes: tuple[int, ...] = field(default=(), repr=False)

    @property
    def excess(self) -> float:
        """How far the value is from the limit, in `unit`; 0 where there is nothing to measure."""
        return 0.0 if self.value is None or self.limit is None else abs(self.value - self.limit)


def gathered(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; those of one joint, rule and level at several keyframes as the worst of them."""
    alike: dict[object, list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.rule, finding.level, finding.joint), []).append(finding)
    for repeated in alike.values():
        numbers = sorted({found.keyframe for found in repeated if found.keyframe is not None})
        if len(numbers) < AGAIN:
            yield from repeated
        else:
            yield _spokesman(repeated, numbers)


def _spokesman(repeated: Sequence[Finding], numbers: list[int]) -> Finding:
    worst = max(repeated, key=lambda finding: finding.excess)
    times = {time: None for finding in (worst, *repeated) for time in finding.times_s}
    what = "the worst" if worst.excess > 0.0 else "the first"
    message = f"{worst.message}; {what} of {len(numbers)}: {listed(numbers)}"
    return replace(worst, message=message, keyframes=tuple(numbers), times_s=tuple(times))


def listed(numbers: Sequence[int]) -> str:
    """Return what rising keyframe numbers are called: "keyframes 3, 5-9"; 0 is the start pose."""
    known = [number for number in numbers if number > 0]
    told = rows(known)
    words = ", ".join(_row(first, last) for first, last in told[:MOST_TOLD])
    start = "the start pose and " if 0 in numbers else ""
    more = " and others" if len(told) > MOST_TOLD else ""
    return f"{start}keyframe{'s' if len(known) > 1 else ''} {words}{more}"


def rows(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last of each row of successive numbers among rising ones."""
    firsts = [n for i, n in enumerate(numbers) if i == 0 or numbers[i - 1] != n - 1]
    lasts = [n for i, n in enumerate(numbers) if i == len(numbers) - 1 or numbers[i + 1] != n + 1]
    return list(zip(firsts, lasts, strict=True))


def _row(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first}, {last}" if last == first + 1 else f"{first}-{last}"


CHECKS = ("finite", "limit", "coupled", "speed", "free", "pose", "duration", "step", "camera")
"""The rules by name: the first five are about what the robot can do, the others what a team wants."""

NEAREST = "nearest"
"""The name that asks for whichever of the robot's poses is nearest."""


@dataclass(frozen=True)
class DesignRules:
    """What is looked for, and what counts as near, short and small.

    A robot's card may say otherwise under `motion_rules:`, a team's `*.rules.yaml` over that.

    Attributes:
        checks: the names of the rules that are to be kept.
        near_pose: names of the poses, near one of which a motion begins and ends; none stands for all the
            robot has.
        near_pose_deg: farthest any joint may be from such a pose at both ends. Ours: the source
            document's walk begins up to 19.4 deg (its arms) from ROBOTIS' walk-ready pose.
        max_duration_s: longest pass of a motion that neither loops nor celebrates (the teams' "about 2 s").
        large_step_deg: a joint that goes farther than this between two keyframes is worth a warning; none
            unless a card says, as the most is enough.
        max_step_deg: farthest a joint may go between two keyframes. Ours: a fifth of an AX-12A's 300 deg.
        slack_deg: how far beyond a joint limit is rounding. Ours: half a tick of 300/1024 deg.
        coupled_slack_deg: how far beyond a limit that depends on other joints is rounding: Sony's tables are
            in whole degrees.
        coupled_margin_deg: farther than this beyond such a limit is an error, less a warning. Ours: Sony has
            no second table for the hardware, but its own walks go 2.5 deg beyond the one there is, and the
            hardware limits of the joints it is about lie 5 deg beyond the others.
        speed_margin_deg: a joint that is asked to go too fast all the way falls behind its command: farther
            than this is an error, less a warning. 0 unless a card says that its speeds are less than what
            its servos do.
        speed_per_frame: whether speeds are said in degrees a frame too, as the robot's maker gives them.
        camera_joints: the joints that move the camera; none where no camera counts.
        camera_speed_deg_s: fastest any of these joints may turn while a picture is taken.
    """

    checks: tuple[str, ...] = field(default=CHECKS, repr=False)
    near_pose: tuple[str, ...] = field(default=(), repr=False)
    near_pose_deg: float = 25.0
    max_duration_s: float = 2.0
    large_step_deg: float = field(default=math.inf, repr=False)
    max_step_deg: float = 60.0
    slack_deg: float = field(default=0.15, repr=False)
    coupled_slack_deg: float = field(default=0.5, repr=False)
    coupled_margin_deg: float = field(default=5.0, repr=False)
    speed_margin_deg: float = field(default=0.0, repr=False)
    points_per_way: int = field(default=64, repr=False)
    speed_per_frame: bool = field(default=False, repr=False)
    camera_joints: tuple[str, ...] = field(default=(), repr=False)
    camera_rate_hz: float = field(default=30.0, repr=False)
    camera_speed_deg_s: float = field(default=math.inf, repr=False)
    camera_lost_frames: int = field(default=0, repr=False)

    @classmethod
    def of(cls, robot: Robot) -> DesignRules:
        """Return the thresholds for a robot: those of its card, the defaults where the card is silent."""
        return cls(**robot.motion_rules.thresholds)


@dataclass(frozen=True, eq=False)
class Segment:
    """The way into a keyframe.

    Attributes:
        number: of the keyframe, counted from 1.
        begins_s: when it is begun, since the motion was started [s].
        begin: (n_joints,) resolved pose it leaves [deg].
        end: (n_joints,) resolved pose it reaches [deg].
        points: (n_points, n_joints) [deg], both ends included; NaN where free.
    """

    number: int
    begins_s: float
    reach_s: float
    begin: Floats = field(repr=False)
    end: Floats = field(repr=False)
    points: Floats = field(repr=False)

    @cached_property
    def mean(self) -> Floats:
        """(n_joints,) mean speed over the way [deg/s]; infinite where it jumps, 0 where free."""
        with np.errstate(invalid="ignore"):  # an infinite angle is for the rule `finite` to find
            way = np.nan_to_num(np.abs(self.end - self.begin), nan=0.0, posinf=np.inf)
        if self.reach_s == 0.0:
            return np.where(way > 0.0, np.inf, 0.0)
        return np.asarray(way / self.reach_s, dtype=np.float64)

    @cached_property
    def fastest(self) -> Floats:
        """(n_joints,) fastest between two of the points [deg/s], at least the mean."""
        return np.asarray(np.fmax(self.speeds.max(axis=0), self.mean), dtype=np.float64)

    @cached_property
    def speeds(self) -> Floats:
        """(n_points - 1, n_joints) from each point to the next [deg/s]; the mean where it jumps."""
        if self.reach_s == 0.0:
            return np.broadcast_to(self.mean, (len(self.points) - 1, len(self.mean)))
        with np.errstate(invalid="ignore"):
            steps = np.abs(np.diff(self.points, axis=0))
        speeds = np.nan_to_num(steps * (len(self.points) - 1) / self.reach_s, nan=0.0, posinf=np.inf)
        return np.asarray(speeds, dtype=np.float64)

    def time_s(self, point: float) -> float:
        """Return when it is at a point, counted from 0 and in fractions if so asked [s]."""
        return self.begins_s + self.reach_s * point / max(len(self.points) - 1, 1)

    def where(self, point: int) -> str:
        """Return what a point is called: the keyframe where it is the last one."""
        return (place if point == len(self.points) - 1 else onto)(self.number)

    def fastest_s(self, column: int) -> float:
        """Return when a joint is fastest, the middle of the times where it is equally so [s]."""
        speeds = self.speeds[:, column]
        equally = np.flatnonzero(speeds >= speeds.max() * (1.0 - 1e-6))
        return self.time_s(float(equally[0] + equally[-1] + 1) / 2.0)


@dataclass(frozen=True)
class Checked:
    """A motion on its robot, and by what it is checked."""

    motion: Motion
    robot: Robot
    rules: DesignRules = field(repr=False)
    near_poses: tuple[str, ...]
    celebration: bool

    @cached_property
    def columns(self) -> list[int]:
        """Where the motion's joints stand among the robot's."""
        return [self.robot.joint_names.index(name) for name in self.motion.joints]

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """Lower and upper limits of the motion's joints, (n_joints,) each [deg]."""
        lower, upper = (np.rad2deg(side[self.columns]) for side in self.robot.limits)
        return lower, upper

    @cached_property
    def hardware_limits(self) -> tuple[Floats, Floats]:
        """How far the motion's joints turn at all, lower and upper, (n_joints,) each [deg]."""
        lower, upper = (np.rad2deg(side[self.columns]) for side in self.robot.hardware_limits)
        return lower, upper

    @cached_property
    def max_speeds(self) -> Floats:
        """Fastest that the motion's joints turn, (n_joints,) [deg/s]."""
        return np.rad2deg(self.robot.max_speeds[self.columns])

    @cached_property
    def poses(self) -> tuple[Pose, ...]:
        """The start pose and the keyframe poses of the first pass, nothing held."""
        return self.motion.resolved()

    @cached_property
    def standing(self) -> Segment:
        """The start pose as a way of no length."""
        pose = np.rad2deg(self.poses[0].angles)
        return Segment(0, 0.0, 0.0, pose, pose, pose[None])

    @cached_property
    def ways(self) -> tuple[Segment, ...]:
        """Every way of the first pass, and a loop's way from its end back into its first keyframe."""
        ways = tuple(self._ways(self.motion.resolved(), later=False))
        if not self.motion.loops or self.motion.start is None:
            return ways
        seam = next(self._ways(self.motion.resolved(self.motion.resolved()[-1]), later=True))
        return (*ways, seam)

    @cached_property
    def behind(self) -> Floats:
        """(n_ways, n_joints) how far joints that cannot go faster are behind at the ends [deg]."""
        rows, ended_s, late = [], 0.0, np.zeros(len(self.motion.joints))
        for way in self.ways:
            late = self._caught_up(late, way.begins_s - ended_s)
            with np.errstate(invalid="ignore"):  # an infinite angle is for the rule `finite` to find
                asked = np.nan_to_num(way.end - way.begin, nan=0.0)
            late = self._caught_up(late + asked, way.reach_s)
            ended_s = way.begins_s + way.reach_s
            rows.append(np.abs(late))
        return np.array(rows)

    def _caught_up(self, late: Floats, seconds: float) -> Floats:
        """Return how far joints are behind after a time at their greatest speed, `(n_joints,)` [deg]."""
        slow = np.where(np.isinf(self.max_speeds), 0.0, self.max_speeds)
        gone = np.where(np.isinf(self.max_speeds), np.inf, slow * max(seconds, 0.0))
        return np.asarray(np.sign(late) * np.fmax(np.abs(late) - gone, 0.0))

    def arrival_s(self, number: int) -> float:
        """Return when a keyframe, counted from 1, is reached [s]; 0 is the start pose."""
        return 0.0 if number == 0 else float(self.motion.keyframe_times[number - 1])

    def _ways(self, poses: tuple[Pose, ...], *, later: bool) -> Iterator[Segment]:
        rows = np.rad2deg(np.stack([pose.angles for pose in poses]))
        fitting = MOST_ANGLES // max(rows.size, 1)
        count = max(min(self.rules.points_per_way, fitting), FEWEST_POINTS)
        points = np.rad2deg(self.motion.ways(count, later=later))
        passed = self.motion.duration if later else 0.0
        for i, keyframe in enumerate(self.motion.keyframes):
            reach = keyframe.reach_s / self.motion.speed
            begins = passed + self.arrival_s(i + 1) - reach
            yield Segment(i + 1, begins, reach, rows[i], rows[i + 1], points[i])


def place(number: int) -> str:
    """Return what a keyframe, counted from 1, is called; 0 is the start pose."""
    return "the start pose" if number == 0 else f"keyframe {number}"


def onto(number: int) -> str:
    """Return what the way into a keyframe, counted from 1, is called."""
    return f"on the way into {place(number)}"
