"""A motion as poses at whole time steps with straight segments between them, for formats that hold these."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.motions import Motion
from posewright.motions.pose import keyframe_clock

MS_PER_S = 1000.0

_HALF = 0.5 + 1e-9  # half a step rounds up, whatever the rounding errors of floats
_NO_SHIFT_S = 1e-9  # a shift below this is a rounding error of floats


class TimedPose(NamedTuple):
    """The joint angles at one time; between two timed poses, joints move on straight lines.

    Attributes:
        time_ms: time since the start of the motion [ms].
        angles: (n_joints,) [rad]; a held or free joint keeps its last angle, NaN before its first one.
        is_set: (n_joints,) whether the keyframe itself gives the joint an angle.
        keyframe_number: from 1; 0 for the pose the motion begins in.
        unrounded_s: the time before it was rounded to `time_ms` [s].
    """

    time_ms: int
    angles: Floats
    is_set: Flags
    keyframe_number: int
    unrounded_s: float


@dataclass(frozen=True)
class Timeline:
    """The timed poses of a motion, each at least a step after the one before.

    Attributes:
        poses: the poses in order of time: every keyframe, and the end of every pause.
        losses: descriptions of keyframes that were merged into others.
        remarks: descriptions of what was shifted.
        times_s: when each keyframe of the motion is reached here [s]; None for one that was merged.
    """

    poses: tuple[TimedPose, ...]
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    times_s: tuple[float | None, ...] = ()

    @property
    def end_ms(self) -> int:
        """The time of the last pose [ms]."""
        return self.poses[-1].time_ms


def timeline_of(
    motion: Motion, step_ms: int = 1, *, has_pose_at_zero: bool = False, jumps_start_early: bool = True
) -> Timeline:
    """Return one pass of a motion on a timeline of whole steps.

    Times are rounded on the timeline, not segment by segment, so rounding errors do not add up.

    Args:
        motion: the motion.
        step_ms: length of a step [ms].
        has_pose_at_zero: whether there must be a pose at time 0, even if the first keyframe is reached later.
        jumps_start_early: whether a jump, which is two keyframes with different angles within a step, starts
            a step early, which is little if steps are short; otherwise the last of several keyframes within
            a step replaces the others.
    """
    poses: list[TimedPose] = []
    losses: list[str] = []
    time_ms_by_keyframe: dict[int, int] = {}
    n_jumps = 0
    all_poses = _timed_poses(motion, step_ms, has_pose_at_zero=has_pose_at_zero)
    for time_ms, poses_at_time in groupby(all_poses, key=lambda pose: pose.time_ms):
        runs = _group_equal_poses(poses_at_time)  # more than one is a jump, from the first to the last
        last_ms = poses[-1].time_ms if poses else -step_ms  # the first pose may be at any time from 0
        is_jump = len(runs) > 1
        leaves_early = jumps_start_early and is_jump and time_ms > 0 and last_ms < time_ms - step_ms
        if leaves_early:
            poses.append(_merge_run(runs[0])._replace(time_ms=time_ms - step_ms))
            n_jumps += 1
        # a jump that starts in the pose of the step before needs no further pose
        is_already_there = is_jump and last_ms == time_ms - step_ms and _is_last_pose(poses, runs[0][0])
        if leaves_early or is_already_there:
            run_before_jump = runs.pop(0)
            _store_keyframe_times(time_ms_by_keyframe, run_before_jump, poses[-1].time_ms)
        final_run = runs[-1]
        poses.append(_merge_run(final_run))
        _store_keyframe_times(time_ms_by_keyframe, final_run, time_ms)
        losses += _describe_merged_keyframes(runs, step_ms)
    remarks = [f"jumps take {step_ms} ms: {n_jumps} of them"] if n_jumps else []
    shifts_s = [pose.unrounded_s - _round_to_step(pose.unrounded_s, step_ms) / MS_PER_S for pose in poses]
    remarks += rounding_remarks(step_ms, shifts_s)
    times_s: list[float | None] = []
    for number in range(1, len(motion.keyframes) + 1):
        keyframe_ms = time_ms_by_keyframe.get(number)
        times_s.append(None if keyframe_ms is None else keyframe_ms / MS_PER_S)
    return Timeline(tuple(poses), losses=tuple(losses), remarks=tuple(remarks), times_s=tuple(times_s))


def rounding_remarks(step_ms: float, shifts_s: Sequence[float]) -> Iterator[str]:
    """Yield a remark on the largest shift of times that are rounded to a step; none if no time shifts."""
    largest_s = max(map(abs, shifts_s), default=0.0)
    if largest_s > _NO_SHIFT_S:
        yield f"times are rounded to {step_ms:g} ms, by up to {largest_s * MS_PER_S:.2g} ms"


def _timed_poses(motion: Motion, step_ms: int, *, has_pose_at_zero: bool) -> Iterator[TimedPose]:
    """Yield the pose of each keyframe at its time, and once more at the end of a pause.

    Args:
        motion: the motion.
        step_ms: the step to which times are rounded [ms].
        has_pose_at_zero: whether to yield the pose that the motion begins in, at time 0, if the first
            keyframe is reached later.
    """
    angles = np.full(len(motion.joints), np.nan)  # NaN before a joint's first angle
    if has_pose_at_zero:
        angles = motion.resolved_poses()[0].angles
        if motion.keyframes[0].reach_s > 0.0:
            yield TimedPose(0, angles, is_set=~np.isnan(angles), keyframe_number=0, unrounded_s=0.0)
    timed_keyframes = zip(motion.keyframes, key_times(motion), strict=True)
    for number, (keyframe, (reached_s, pause_end_s)) in enumerate(timed_keyframes, 1):
        is_set = ~np.isnan(keyframe.pose.angles)
        angles = np.where(is_set, keyframe.pose.angles, angles)  # other joints keep their last angle
        pose_times_s = (reached_s, pause_end_s) if keyframe.pause_s else (reached_s,)
        for time_s in pose_times_s:
            yield TimedPose(_round_to_step(time_s, step_ms), angles, is_set, number, unrounded_s=time_s)


def key_times(motion: Motion) -> Iterator[tuple[float, float]]:
    """Yield when each keyframe is reached and when its pause ends, at the motion's speed [s]."""
    clock = keyframe_clock(motion.keyframes)  # of each keyframe, when it is reached and when its pause ends
    for reached, pause_end in zip(clock[::2], clock[1::2], strict=True):
        yield reached / motion.speed, pause_end / motion.speed


def _round_to_step(time_s: float, step_ms: int) -> int:
    """Return the nearest multiple of a step [ms]."""
    return math.floor(time_s * MS_PER_S / step_ms + _HALF) * step_ms


def _group_equal_poses(poses: Iterator[TimedPose]) -> list[list[TimedPose]]:
    """Return poses of one time as runs with equal angles."""
    runs: list[list[TimedPose]] = []
    for pose in poses:
        if runs and np.array_equal(runs[-1][-1].angles, pose.angles, equal_nan=True):
            runs[-1].append(pose)
        else:
            runs.append([pose])
    return runs


def _merge_run(run: list[TimedPose]) -> TimedPose:
    """Return the last pose of a run, with every joint set that any pose of the run sets."""
    if len(run) == 1:
        return run[0]
    return run[-1]._replace(is_set=np.logical_or.reduce([pose.is_set for pose in run]))


def _store_keyframe_times(time_ms_by_keyframe: dict[int, int], run: list[TimedPose], time_ms: int) -> None:
    """Store `time_ms` for the keyframes of a run, unless they have one, as at the end of a pause."""
    for pose in run:
        time_ms_by_keyframe.setdefault(pose.keyframe_number, time_ms)


def _describe_merged_keyframes(runs: list[list[TimedPose]], step_ms: int) -> Iterator[str]:
    """Yield a description of each keyframe that is lost, since only the last of these runs is kept."""
    last_keyframe = runs[-1][-1].keyframe_number
    step = "millisecond" if step_ms == 1 else f"{step_ms} ms"
    for number in dict.fromkeys(pose.keyframe_number for run in runs[:-1] for pose in run):
        subject = f"keyframe {number}" if number else "the pose it begins in"
        yield f"{subject}: within the same {step} as keyframe {last_keyframe}, which stays"


def _is_last_pose(poses: list[TimedPose], pose: TimedPose) -> bool:
    return bool(poses) and np.array_equal(poses[-1].angles, pose.angles, equal_nan=True)
