"""What design rules work on: their thresholds, a motion on its robot in degrees, and the findings."""

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

MIN_REPEATS = 3
"""Findings alike at so many keyframes or more are merged into one."""

MAX_LISTED_RANGES = 6
"""Ranges of keyframes that a message lists; it adds "and others" for more."""


MAX_ANGLES = 2_000_000
"""Angles sampled for one check: segments get fewer points where a motion has thousands of keyframes."""

MIN_POINTS = 4


class Level(Enum):
    """Severity: an error breaks a rule, a warning comes near one, a note only informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """One result of a check: what is wrong, where, and by how much.

    Attributes:
        rule: the rule's name: finite, limit, coupled, speed, step, pose, duration, camera or free.
        keyframe: counted from 1; 0 is the start pose; None is the motion as a whole. Of several, the worst.
        joint: None if no single joint is meant. Of several, the worst.
        value: the measured value, in `unit`; None if there is nothing to measure.
        limit: the greatest (or least) value allowed.
        unit: deg, deg/s, s or frames; empty if there is none.
        times_s: when, the worst first [s] since the motion was started; empty for the motion as a whole.
        keyframes: all keyframes concerned, rising, where one finding represents several.
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
        """How far the value is from the limit, in `unit`; 0 if there is nothing to measure."""
        return 0.0 if self.value is None or self.limit is None else abs(self.value - self.limit)


def merge_repeated(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings, those of one joint, rule and level at many keyframes merged into the worst."""
    groups: dict[tuple[str, Level, str | None], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.rule, finding.level, finding.joint), []).append(finding)
    for group in groups.values():
        keyframes = sorted({finding.keyframe for finding in group if finding.keyframe is not None})
        if len(keyframes) < MIN_REPEATS:
            yield from group
            continue
        worst = max(group, key=lambda finding: finding.excess)
        # each time once, those of the worst finding first
        times = dict.fromkeys(time for finding in (worst, *group) for time in finding.times_s)
        rank = "the worst" if worst.excess > 0.0 else "the first"
        message = f"{worst.message}; {rank} of {len(keyframes)}: {format_keyframes(keyframes)}"
        yield replace(worst, message=message, keyframes=tuple(keyframes), times_s=tuple(times))


def format_keyframes(numbers: Sequence[int]) -> str:
    """Return rising keyframe numbers as text, "keyframes 3, 5-9"; 0 is the start pose."""
    keyframes = [number for number in numbers if number > 0]
    ranges = successive_ranges(keyframes)
    listed = ", ".join(_format_range(first, last) for first, last in ranges[:MAX_LISTED_RANGES])
    start = "the start pose and " if 0 in numbers else ""
    suffix = " and others" if len(ranges) > MAX_LISTED_RANGES else ""
    return f"{start}keyframe{'s' if len(keyframes) > 1 else ''} {listed}{suffix}"


def successive_ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last number of each run of successive numbers, given rising ones."""
    firsts = [n for i, n in enumerate(numbers) if i == 0 or numbers[i - 1] != n - 1]
    lasts = [n for i, n in enumerate(numbers) if i == len(numbers) - 1 or numbers[i + 1] != n + 1]
    return list(zip(firsts, lasts, strict=True))


def _format_range(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first}, {last}" if last == first + 1 else f"{first}-{last}"


CHECKS = ("finite", "limit", "coupled", "speed", "free", "pose", "duration", "step", "camera")
"""The rules by name: the first five check what the robot can do, the others a team's preferences."""

PATH_ROUNDING = 1e-9
"""Relative rounding of the sum of a segment's pieces."""

NEAREST = "nearest"
"""As `near_pose`: whichever of the robot's poses is nearest."""


@dataclass(frozen=True)
class DesignRules:
    """Which rules are checked, and their thresholds.

    A robot's card overrides these defaults under `motion_rules:`, a team's `*.rules.yaml` both.

    Attributes:
        checks: the names of the rules.
        near_pose: names of the poses, near one of which a motion must begin and end; empty for any of the
            robot's.
        near_pose_deg: farthest any joint may be from such a pose at both ends. Ours: the source
            document's walk begins up to 19.4 deg (its arms) from ROBOTIS' walk-ready pose.
        max_duration_s: longest pass of a motion that neither loops nor celebrates (the teams' "about 2 s").
        large_step_deg: a joint that goes farther than this between two keyframes gets a warning; infinite
            unless a card sets it, as `max_step_deg` is enough.
        max_step_deg: farthest a joint may go between two keyframes. Ours: a fifth of an AX-12A's 300 deg.
        slack_deg: how far beyond a joint limit is rounding. Ours: half a tick of 300/1024 deg.
        coupled_slack_deg: how far beyond a limit that depends on other joints is rounding: Sony's tables are
            in whole degrees.
        coupled_margin_deg: farther than this beyond such a limit is an error, less a warning. Ours: Sony has
            no second table for the hardware, but its own walks go 2.5 deg beyond the one there is, and the
            hardware limits of the joints it is about lie 5 deg beyond the others.
        speed_margin_deg: a joint that is commanded to go too fast all the way falls behind its command:
            farther than this is an error, less a warning. 0 unless a card says that its speeds are less than
            what its servos do.
        points_per_way: points at which a segment between two keyframes is sampled.
        speed_per_frame: messages give speeds in degrees a frame too, as the robot's maker does.
        camera_joints: the joints that move the camera; empty if the camera does not matter.
        camera_rate_hz: pictures a second.
        camera_speed_deg_s: fastest any of these joints may turn while a picture is taken.
        camera_lost_frames: pictures that a motion may lose.
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
        """Return the thresholds for a robot: those of its card, and defaults for the others."""
        return cls(**robot.motion_rules.thresholds)


@dataclass(frozen=True, eq=False)
class Segment:
    """The part of a motion that leads into one keyframe.

    Attributes:
        keyframe_number: the number of the keyframe, counted from 1; 0 for the start pose.
        begins_s: when it begins, since the motion was started [s].
        reach_s: its duration [s]; 0 jumps.
        begin: (n_joints,) resolved pose it leaves [deg].
        end: (n_joints,) resolved pose it reaches [deg].
        points: (n_points, n_joints) [deg], both ends included; NaN if free.
    """

    keyframe_number: int
    begins_s: float
    reach_s: float
    begin: Floats = field(repr=False)
    end: Floats = field(repr=False)
    points: Floats = field(repr=False)

    @cached_property
    def mean_speeds(self) -> Floats:
        """(n_joints,) mean speed over the segment [deg/s]; infinite where it jumps, 0 if free.

        A spline with tangents may go farther than from end to end.
        """
        with np.errstate(invalid="ignore"):  # infinite angles are reported by the rule `finite`
            distance = np.nan_to_num(np.abs(self.end - self.begin), nan=0.0, posinf=np.inf)
            path = np.nan_to_num(np.abs(np.diff(self.points, axis=0)).sum(axis=0), nan=0.0, posinf=np.inf)
        if self.reach_s == 0.0:
            return np.where(distance > 0.0, np.inf, 0.0)
        distance = np.where(path > distance * (1.0 + PATH_ROUNDING), path, distance)
        return np.asarray(distance / self.reach_s, dtype=np.float64)

    @cached_property
    def greatest_speeds(self) -> Floats:
        """(n_joints,) fastest between two of the points [deg/s], at least the mean."""
        return np.asarray(np.fmax(self.speeds.max(axis=0), self.mean_speeds), dtype=np.float64)

    @cached_property
    def speeds(self) -> Floats:
        """(n_points - 1, n_joints) speeds from each point to the next [deg/s]; 0 if free.

        A jump has its mean speed, infinite for each joint that moves.
        """
        n_intervals = len(self.points) - 1
        if self.reach_s == 0.0:
            return np.broadcast_to(self.mean_speeds, (n_intervals, len(self.mean_speeds)))
        with np.errstate(invalid="ignore"):  # infinite angles are reported by the rule `finite`
            distances = np.abs(np.diff(self.points, axis=0))
        speeds = np.nan_to_num(distances * n_intervals / self.reach_s, nan=0.0, posinf=np.inf)
        return np.asarray(speeds, dtype=np.float64)

    def time_s(self, point: float) -> float:
        """Return the time of a point, counted from 0, possibly fractional [s]."""
        return self.begins_s + self.reach_s * point / max(len(self.points) - 1, 1)

    def point_name(self, point: int) -> str:
        """Return what messages call a point: the keyframe if it is the last one, else the segment."""
        if point == len(self.points) - 1:
            return keyframe_name(self.keyframe_number)
        return segment_name(self.keyframe_number)

    def fastest_s(self, column: int) -> float:
        """Return when a joint is fastest, the middle of the times if there are several [s]."""
        speeds = self.speeds[:, column]
        fastest = np.flatnonzero(speeds >= speeds.max() * (1.0 - 1e-6))  # equal but for rounding
        first_point = fastest[0]
        last_point = fastest[-1] + 1  # a speed leads to the next point
        return self.time_s(float(first_point + last_point) / 2.0)


@dataclass(frozen=True)
class CheckedMotion:
    """A motion on its robot with the rules to check it by, as every rule gets it.

    Attributes:
        motion: the motion.
        robot: the robot.
        rules: the thresholds of the rules.
        near_poses: names of the poses near which it must begin and end; empty for any of the robot's.
        is_celebration: whether the motion may last longer.
    """

    motion: Motion
    robot: Robot
    rules: DesignRules = field(repr=False)
    near_poses: tuple[str, ...]
    is_celebration: bool

    @cached_property
    def columns(self) -> list[int]:
        """Indices of the motion's joints among the robot's."""
        return [self.robot.joint_names.index(name) for name in self.motion.joints]

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """Lower and upper limits of the motion's joints, (n_joints,) each [deg]."""
        lower, upper = (np.rad2deg(side[self.columns]) for side in self.robot.limits)
        return lower, upper

    @cached_property
    def hardware_limits(self) -> tuple[Floats, Floats]:
        """Lower and upper mechanical limits of the motion's joints, (n_joints,) each [deg]."""
        lower, upper = (np.rad2deg(side[self.columns]) for side in self.robot.hardware_limits)
        return lower, upper

    @cached_property
    def max_speeds(self) -> Floats:
        """Greatest speeds of the motion's joints, (n_joints,) [deg/s]."""
        return np.rad2deg(self.robot.max_speeds[self.columns])

    @cached_property
    def poses(self) -> tuple[Pose, ...]:
        """The start pose and the keyframe poses of the first pass, nothing held."""
        return self.motion.resolved_poses()

    @cached_property
    def start_segment(self) -> Segment:
        """The start pose as a segment of one point."""
        pose = np.rad2deg(self.poses[0].angles)
        return Segment(0, begins_s=0.0, reach_s=0.0, begin=pose, end=pose, points=pose[None])

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The segments of the first pass, and a loop's segment from its end back into its first keyframe."""
        poses = self.motion.resolved_poses()
        segments = tuple(self._build_segments(poses, later=False))
        if not self.motion.loops or self.motion.start is None:
            return segments
        later_poses = self.motion.resolved_poses(poses[-1])
        return_segment = next(self._build_segments(later_poses, later=True))
        return (*segments, return_segment)

    @cached_property
    def lags_deg(self) -> Floats:
        """(n_segments, n_joints) how far joints are behind their commands at the end of each segment [deg].

        A joint whose command is too fast is taken to follow at its greatest speed, also through pauses.
        """
        lags_at_ends = []
        previous_end_s = 0.0
        lag = np.zeros(len(self.motion.joints))  # signed
        for segment in self.segments:
            pause_s = segment.begins_s - previous_end_s
            lag = self._reduce_lag(lag, pause_s)
            with np.errstate(invalid="ignore"):  # infinite angles are reported by the rule `finite`
                commanded_distance = np.nan_to_num(segment.end - segment.begin, nan=0.0)
            lag = self._reduce_lag(lag + commanded_distance, segment.reach_s)
            previous_end_s = segment.begins_s + segment.reach_s
            lags_at_ends.append(np.abs(lag))
        return np.array(lags_at_ends)

    def _reduce_lag(self, lag: Floats, seconds: float) -> Floats:
        """Return how far joints are behind after they have followed for a time, `(n_joints,)` [deg].

        Args:
            lag: how far they are behind before, with its sign, `(n_joints,)` [deg].
            seconds: the time in which they follow at their greatest speed [s].
        """
        has_no_limit = np.isinf(self.max_speeds)
        finite_speeds = np.where(has_no_limit, 0.0, self.max_speeds)  # inf * 0 s would be NaN
        distance = np.where(has_no_limit, np.inf, finite_speeds * max(seconds, 0.0))
        return np.asarray(np.sign(lag) * np.fmax(np.abs(lag) - distance, 0.0))

    def arrival_s(self, number: int) -> float:
        """Return when a keyframe, counted from 1, is reached [s]; 0 is the start pose."""
        return 0.0 if number == 0 else float(self.motion.keyframe_times[number - 1])

    def _build_segments(self, poses: tuple[Pose, ...], *, later: bool) -> Iterator[Segment]:
        """Yield the segments of a pass, each from one pose to the next with points sampled along it.

        Args:
            poses: the pose that the pass begins in, and the pose of each keyframe, held joints filled in.
            later: whether it is another pass than the first.
        """
        angles_deg = np.rad2deg(np.stack([pose.angles for pose in poses]))
        affordable_points = MAX_ANGLES // max(angles_deg.size, 1)  # a long motion has fewer in a segment
        n_points = max(min(self.rules.points_per_way, affordable_points), MIN_POINTS)
        points_deg = np.rad2deg(self.motion.sample_segments(n_points, later=later))
        pass_start_s = self.motion.duration if later else 0.0
        for index, keyframe in enumerate(self.motion.keyframes):
            keyframe_number = index + 1
            reach_s = keyframe.reach_s / self.motion.speed
            yield Segment(
                keyframe_number,
                begins_s=pass_start_s + self.arrival_s(keyframe_number) - reach_s,
                reach_s=reach_s,
                begin=angles_deg[index],
                end=angles_deg[index + 1],
                points=points_deg[index],
            )


def keyframe_name(number: int) -> str:
    """Return what messages call a keyframe, counted from 1; 0 is the start pose."""
    return "the start pose" if number == 0 else f"keyframe {number}"


def segment_name(number: int) -> str:
    """Return what messages call the segment into a keyframe, counted from 1."""
    return f"on the way into {keyframe_name(number)}"
