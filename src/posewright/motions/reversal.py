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
    keyframes = _with_all_lights(motion.keyframes)
    first_keyframe = keyframes[0]
    last_keyframe = keyframes[-1]
    last_pose = poses[-1]
    # a segment leads from one keyframe into the next, which states how
    segment_begins = list(zip(poses[:-1], keyframes[:-1], strict=True))
    if motion.start is None:
        first_reversed = replace(
            first_keyframe,
            pose=last_pose,
            pause_s=last_keyframe.pause_s,
            attitude=last_keyframe.attitude,
            tangents=_reverse_tangents(last_keyframe),
        )
        reversed_keyframes = [first_reversed, *_reverse_segments(segment_begins, keyframes[1:])]
        return replace(motion, keyframes=tuple(reversed_keyframes))
    # a start pose has neither pause nor attitude nor tangents
    start_keyframe = replace(first_keyframe, pause_s=0.0, attitude=None, tangents=None)
    segment_begins.insert(0, (start, start_keyframe))
    reversed_keyframes = _reverse_segments(segment_begins, keyframes)
    needs_keyframe_at_start = last_keyframe.pause_s > 0.0 or bool(last_keyframe.tangents)
    if needs_keyframe_at_start:
        tangents = _reverse_tangents(last_keyframe)
        keyframe_at_start = replace(last_keyframe, pose=last_pose, reach_s=0.0, tangents=tangents)
        reversed_keyframes.insert(0, keyframe_at_start)
    return replace(motion, keyframes=tuple(reversed_keyframes), start=last_pose)


def _reverse_segments(
    segment_begins: list[tuple[Pose, Keyframe]], segment_ends: list[Keyframe]
) -> list[Keyframe]:
    """Return keyframes that go back along some segments, the last segment first.

    A segment gone back has its own time and easing, and ends in the pose at which it began, with that pose's
    pause, attitude and tangents.

    Args:
        segment_begins: for each segment the pose at which it begins, with the keyframe of that pose.
        segment_ends: the keyframe into which each segment leads, in the same order.
    """
    reversed_keyframes = [
        replace(
            segment_end,
            pose=begin_pose,
            pause_s=begin_keyframe.pause_s,
            attitude=begin_keyframe.attitude,
            tangents=_reverse_tangents(begin_keyframe),
        )
        for (begin_pose, begin_keyframe), segment_end in zip(segment_begins, segment_ends, strict=True)
    ]
    reversed_keyframes.reverse()
    return reversed_keyframes


def _reverse_tangents(keyframe: Keyframe) -> dict[str, Tangent]:
    """Return the tangents of a keyframe when time runs backwards."""
    return {joint: tangent.reversed_in_time() for joint, tangent in (keyframe.tangents or {}).items()}


def _with_all_lights(keyframes: tuple[Keyframe, ...]) -> list[Keyframe]:
    """Return keyframes that set every light themselves, also where it was set by an earlier keyframe."""
    current_lights: dict[str, Light] = {}
    complete_keyframes = []
    for keyframe in keyframes:
        current_lights = {**current_lights, **(keyframe.lights or {})}
        complete_keyframes.append(replace(keyframe, lights=current_lights or None))
    return complete_keyframes
