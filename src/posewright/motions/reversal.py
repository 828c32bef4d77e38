"""Reverses motions in time."""

from __future__ import annotations

from dataclasses import replace

from posewright.motions.motion import Motion
from posewright.motions.pose import Keyframe, Pose, Tangent
from posewright.robots import Light


def reverse_motion(motion: Motion) -> Motion:
    """Return the motion that goes through the poses of a motion from the last to the first.

    Each segment between two poses keeps its duration, easing, stiffness and lights, and each pose its pause
    and tangents.
    Held joints get the angles that they have in the motion. A motion without a start pose reaches its last
    pose, now the first, as it reached its first one.
    """
    start, *poses = motion.resolved_poses()
    segments = _with_all_lights(motion.keyframes)
    last = segments[-1]
    last_pose = poses[-1]
    ends = list(zip(poses[:-1], segments[:-1], strict=True))  # poses in the middle, with their pauses
    if motion.start is None:
        first = replace(
            segments[0],
            pose=last_pose,
            pause_s=last.pause_s,
            attitude=last.attitude,
            tangents=_reverse_tangents(last),
        )
        reversed_frames = [first, *_reverse_segments(ends, segments[1:])]
        return replace(motion, keyframes=tuple(reversed_frames))
    ends.insert(0, (start, replace(segments[0], pause_s=0.0, attitude=None, tangents=None)))
    reversed_frames = _reverse_segments(ends, segments)
    if last.pause_s > 0.0 or last.tangents:  # which a start pose has not
        tangents = _reverse_tangents(last)
        reversed_frames.insert(0, replace(last, pose=last_pose, reach_s=0.0, tangents=tangents))
    return replace(motion, keyframes=tuple(reversed_frames), start=last_pose)


def _reverse_segments(ends: list[tuple[Pose, Keyframe]], segments: list[Keyframe]) -> list[Keyframe]:
    """Return keyframes that go back along some segments.

    Args:
        ends: for each segment the pose at which it begins, with the keyframe of that pose.
        segments: the keyframes into which the segments lead, in the same order.
    """
    frames = [
        replace(
            segment,
            pose=pose,
            pause_s=frame.pause_s,
            attitude=frame.attitude,
            tangents=_reverse_tangents(frame),
        )
        for (pose, frame), segment in zip(ends, segments, strict=True)
    ]
    frames.reverse()
    return frames


def _reverse_tangents(keyframe: Keyframe) -> dict[str, Tangent]:
    """Return the tangents of a keyframe when time runs backwards."""
    return {joint: tangent.reversed_in_time() for joint, tangent in (keyframe.tangents or {}).items()}


def _with_all_lights(keyframes: tuple[Keyframe, ...]) -> list[Keyframe]:
    """Return keyframes that each set all lights that keyframes before them have set."""
    lights: dict[str, Light] = {}
    frames = []
    for frame in keyframes:
        lights = {**lights, **(frame.lights or {})}
        frames.append(replace(frame, lights=lights or None))
    return frames
