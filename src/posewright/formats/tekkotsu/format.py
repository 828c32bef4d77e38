"""Writes a motion as a sequence or posture: as the file it was read from with new numbers, or a new one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from posewright.errors import FormatError, InputError
from posewright.formats.file_kind import FileKind, text_matches
from posewright.formats.motion_file import MotionFile, origin_of
from posewright.formats.motion_format import (
    KeyTimes,
    MotionFormat,
    Quantum,
    Rendering,
    WriteOptions,
    exact_key_times,
)
from posewright.formats.path_losses import (
    describe_path_losses,
    describe_unsupported_joints,
    describe_unwritten_labels,
)
from posewright.formats.tekkotsu.document import (
    MAX_VALUE,
    NAMING,
    TEKKOTSU_MOT,
    TEKKOTSU_POS,
    Key,
    SettingsDocument,
    Track,
    applies_to,
    guess_robot,
    joints_named,
    tracks_of,
    unit_rad,
)
from posewright.formats.tekkotsu.reader import MAX_TIME_MS, read_posture, read_sequence
from posewright.formats.tekkotsu.to_motion import (
    LEDS,
    WEIGHTS,
    WRITTEN_EXTRAS,
    describe_oddities,
    motion_of,
    parse_entries,
)
from posewright.formats.text_lines import DECIMALS, QUANTUM_RAD, format_angle
from posewright.formats.timeline import TimedPose, Timeline, timeline_of
from posewright.motions import Motion, robot_of_motion
from posewright.robots import Robot

_SLACK_RAD = QUANTUM_RAD / 2.0  # largest distance of an omitted key from the straight line


class _PathPoint(NamedTuple):
    """The angle of one joint [rad] at a time; NaN before its first angle."""

    time_ms: int
    angle: float


def track_of(column: int, timeline: Timeline, key_times: KeyTimes) -> Track:
    """Return the keys of a joint, each with a time, an angle and a weight, as a sequence will have them.

    Args:
        column: the index of the joint in the motion.
        timeline: the timeline of the motion.
        key_times: `OWN` omits keys on the straight line between their neighbours, and all after the last
            angle that the motion sets; `ALL` has a key at each timed pose.

    Returns:
        The keys; empty if the motion never sets the joint. If it sets the joint late, the first key has the
        weight 0, because without it the joint would move from the start.
    """
    points = [_PathPoint(pose.time_ms, float(pose.angles[column])) for pose in timeline.poses]
    first = next((index for index, point in enumerate(points) if not math.isnan(point.angle)), None)
    if first is None:
        return ()
    if key_times is KeyTimes.OWN:
        indices = _corner_indices(points, first, _last_set_index(column, timeline.poses))
    else:
        indices = list(range(first, len(points)))
    keys: list[Key] = []
    if first > 0 and points[first - 1].time_ms > 0:
        keys.append(Key(points[first - 1].time_ms, value=0.0, weight=0.0))
    for index in indices:
        time_ms, angle = points[index]
        keys.append(Key(time_ms, round(angle, DECIMALS) + 0.0, weight=1.0))  # + 0.0 turns -0.0 into 0.0
    return tuple(keys)


def _last_set_index(column: int, poses: Sequence[TimedPose]) -> int:
    """Return the index of the last pose that sets a joint.

    It is that of the last pose of all if that sets no joint at all: then the motion ends with a wait.
    """
    if not poses[-1].is_set.any():
        return len(poses) - 1
    return max(index for index, pose in enumerate(poses) if pose.is_set[column])


def _corner_indices(points: Sequence[_PathPoint], first: int, last: int) -> list[int]:
    """Return the indices from `first` to `last` of points that straight lines must go through.

    The other points are within `_SLACK_RAD` of these lines. The corners are found greedily: each is the
    farthest point that a line from the corner before it can reach.

    Args:
        points: the path of the joint.
        first: index of the first point.
        last: index of the last point.
    """
    if first < last and len({point.angle for point in points[first : last + 1]}) == 1:
        return [first, last]  # a fast path, as most joints stay still
    corners = [first]
    while corners[-1] < last:
        corners.append(_farthest_reachable(points, corners[-1], last))
    return corners


def _farthest_reachable(points: Sequence[_PathPoint], start: int, last: int) -> int:
    """Return the index of the farthest point to which a line from `start` passes all points between.

    Each point between narrows the range of slopes that pass it within the slack.
    """
    start_ms, start_angle = points[start]
    min_slope = -math.inf
    max_slope = math.inf
    farthest = start + 1
    for index in range(start + 1, last + 1):
        time_ms, angle = points[index]
        elapsed_ms = time_ms - start_ms
        if min_slope <= (angle - start_angle) / elapsed_ms <= max_slope:
            farthest = index
        min_slope = max(min_slope, (angle - start_angle - _SLACK_RAD) / elapsed_ms)
        max_slope = min(max_slope, (angle - start_angle + _SLACK_RAD) / elapsed_ms)
        if min_slope > max_slope:
            break
    return farthest


DocumentReader = Callable[[bytes, Path], SettingsDocument]


def document_of(motion: Motion, kind: str) -> SettingsDocument | None:
    """Return the document that a motion was read from, if it is one of this format."""
    origin = origin_of(motion, kind)
    return origin.document if origin is not None and isinstance(origin.document, SettingsDocument) else None


def unchanged_bytes(motion: Motion, kind: str) -> bytes | None:
    """Return the bytes that a motion was read from if it still has their keyframes and speed, else None."""
    document = document_of(motion, kind)
    if document is None:
        return None
    original_motion = _read_if_same_joints(document, motion, kind)
    if original_motion is None:
        return None
    has_same_keyframes = original_motion.keyframes == motion.keyframes
    return document.raw if has_same_keyframes and original_motion.speed == motion.speed else None


def edited_bytes(motion: Motion, timeline: Timeline, kind: str, read: DocumentReader) -> bytes | None:
    """Return the bytes that a motion was read from, with new numbers for edited angles.

    The result is read again to make sure that it holds the motion.

    Args:
        motion: the motion.
        timeline: its timeline.
        kind: `TEKKOTSU_MOT` or `TEKKOTSU_POS`.
        read: the reader of this kind.

    Returns:
        None if this is not possible: the motion was not read from such a file, or has other keyframes now.
    """
    document = document_of(motion, kind)
    origin = origin_of(motion, kind)
    if document is None or origin is None or origin.path is None:
        return None
    raw = document.with_value_words(_edited_value_words(document, motion, timeline))
    try:
        edited_motion = _read_if_same_joints(read(raw, origin.path), motion, kind)
    except InputError:  # a file that it loads no longer exists
        return None
    if edited_motion is None or not _is_same_path(timeline_of(edited_motion), timeline):
        return None
    return raw


def _edited_value_words(document: SettingsDocument, motion: Motion, timeline: Timeline) -> dict[int, bytes]:
    """Return new words for the values of joints that have another angle in the motion, by setting index."""
    card = robot_of_motion(motion)
    columns = {joint: column for column, joint in enumerate(motion.joints)}
    poses = {pose.time_ms: pose for pose in timeline.poses}
    new_words: dict[int, bytes] = {}
    for index, setting in enumerate(document.settings):
        if setting.value_word is None or setting.weight <= 0.0 or not applies_to(setting.model, card):
            continue
        pose = poses.get(setting.time_ms)
        joint = next((name for name in joints_named(setting.name, card) if name in columns), None)
        if pose is None or joint is None:
            continue
        angle = float(pose.angles[columns[joint]])
        joint_unit_rad = unit_rad(joint, card)
        if abs(angle - setting.value * joint_unit_rad) > QUANTUM_RAD / 2.0:
            new_words[index] = format_angle(angle / (setting.unit * joint_unit_rad)).encode()
    return new_words


def _read_if_same_joints(document: SettingsDocument, motion: Motion, kind: str) -> Motion | None:
    """Return a document as a motion if it has the joints and extras of another motion, else None."""
    card = robot_of_motion(motion)
    tracks = tracks_of(document.settings, card)
    if tuple(tracks.joints) != motion.joints:
        return None
    original_motion = motion_of(document, tracks, card, path=Path(motion.name), kind=kind)
    return original_motion if original_motion.extras == motion.extras else None


def _is_same_path(first: Timeline, second: Timeline) -> bool:
    """Return whether two timelines have the same times, and the same angles within a quantum."""
    if [pose.time_ms for pose in first.poses] != [pose.time_ms for pose in second.poses]:
        return False
    first_rows = np.array([pose.angles for pose in first.poses])
    second_rows = np.array([pose.angles for pose in second.poses])
    return np.allclose(first_rows, second_rows, rtol=0.0, atol=QUANTUM_RAD, equal_nan=True)


Lines = tuple[str, ...]


def render_sequence(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return a motion as a motion sequence, a text file of Tekkotsu, that will be written to `path`.

    An unchanged motion that was read from a sequence gives the same bytes. If only angles were edited, only
    their numbers change; otherwise the file is new. It is always new if `options` ask for all key times.

    Args:
        motion: the motion.
        path: where the sequence will be written.
        options: which keys of each joint are written.

    Raises:
        FormatError: the robot has no Tekkotsu names, or the motion cannot be written.
    """
    timeline = timeline_of(motion)
    path_losses = describe_path_losses(motion, extras=WRITTEN_EXTRAS)
    label_remarks = describe_unwritten_labels(motion, path)
    may_reuse_original = options.keys is KeyTimes.OWN
    if may_reuse_original:
        remarks_on_original = (*_remark_on_loaded_files(motion, path), *label_remarks)
        original_bytes = unchanged_bytes(motion, TEKKOTSU_MOT)
        if original_bytes is not None:
            return Rendering(
                original_bytes, path_losses, remarks_on_original, times_s=exact_key_times(motion)
            )
        new_bytes = edited_bytes(motion, timeline, kind=TEKKOTSU_MOT, read=read_sequence)
        if new_bytes is not None:
            return Rendering(
                new_bytes,
                losses=(*path_losses, *timeline.losses),
                remarks=(*timeline.remarks, *remarks_on_original),
                times_s=timeline.times_s,
            )
    card = _robot_with_naming(motion)
    tracks = _build_tracks(motion, timeline, card, key_times=options.keys)
    rewriting_losses, rewriting_remarks = _describe_rewriting(motion, TEKKOTSU_MOT, card)
    joint_losses = describe_unsupported_joints(motion, card.names_in(NAMING), card)
    return Rendering(
        _sequence_text(tracks).encode("latin-1", "replace"),
        losses=(*path_losses, *timeline.losses, *joint_losses, *rewriting_losses),
        remarks=(*timeline.remarks, *rewriting_remarks, *label_remarks),
        times_s=timeline.times_s,
    )


def render_posture(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return the first keyframe of a motion as a posture, a text file of Tekkotsu with a single pose.

    A motion that was read from a posture gives the same bytes, with only the numbers of changed angles
    replaced; otherwise the file is new. `options` have no effect.

    Raises:
        FormatError: the robot has no Tekkotsu names, or the motion cannot be written.
    """
    del options
    losses = list(describe_path_losses(motion, extras=WRITTEN_EXTRAS))
    label_remarks = describe_unwritten_labels(motion, path)
    n_keyframes = len(motion.keyframes)
    if n_keyframes > 1:
        dropped = "keyframe 2" if n_keyframes == 2 else f"keyframes 2 to {n_keyframes}"
        losses.append(f"{dropped}: a posture is a single pose, and the first keyframe is written")
    if any(keyframe.duration for keyframe in motion.keyframes):
        losses.append("times: a posture has none")
    timeline = timeline_of(motion)
    reused_bytes = unchanged_bytes(motion, TEKKOTSU_POS)
    if reused_bytes is None:
        reused_bytes = edited_bytes(motion, timeline, kind=TEKKOTSU_POS, read=read_posture)
    if reused_bytes is not None:
        return Rendering(reused_bytes, tuple(losses), label_remarks)
    card = _robot_with_naming(motion)
    first_pose = Timeline(timeline.poses[:1])
    tracks = _build_tracks(motion, first_pose, card, key_times=KeyTimes.ALL)
    lines = ["#POS", *(_setting_line(name, track[0]) for name, track in tracks.items()), "#END"]
    text = "".join(f"{line}\n" for line in lines)
    rewriting_losses, rewriting_remarks = _describe_rewriting(motion, TEKKOTSU_POS, card)
    joint_losses = describe_unsupported_joints(motion, card.names_in(NAMING), card)
    return Rendering(
        text.encode("latin-1", "replace"),
        (*losses, *joint_losses, *rewriting_losses),
        (*rewriting_remarks, *label_remarks),
    )


def _robot_with_naming(motion: Motion) -> Robot:
    """Return the robot of a motion; raise FormatError if its card has no Tekkotsu names."""
    card = robot_of_motion(motion)
    if NAMING not in card.namings:
        message = f"Tekkotsu has no names for the joints of {card.name}"
        raise FormatError(message, hint=f"add a naming {NAMING!r} to its card")
    return card


def _build_tracks(motion: Motion, timeline: Timeline, card: Robot, key_times: KeyTimes) -> dict[str, Track]:
    """Return the tracks to write, by Tekkotsu's names of the outputs.

    These are the motion's joints, with the weights stored in its extras, and the LEDs stored there.

    Raises:
        FormatError: no joint moves, or the motion is too long or has an angle out of bounds.
    """
    output_names = card.names_in(NAMING)  # by joint
    stored_weights: dict[tuple[str, int], float] = {}  # by joint and time
    for joint, key in parse_entries(motion.extras.get(WEIGHTS, "")):
        stored_weights[joint, key.time_ms] = key.value
    tracks: dict[str, Track] = {}
    for column, joint in enumerate(motion.joints):
        if joint not in output_names:
            continue
        unit = unit_rad(joint, card)
        keys = [
            Key(key.time_ms, key.value / unit, stored_weights.get((joint, key.time_ms), key.weight))
            for key in track_of(column, timeline, key_times)
        ]
        if keys:
            tracks[output_names[joint]] = tuple(keys)
    if not tracks:
        raise FormatError(f"motion {motion.name!r} moves no joint that Tekkotsu has")
    if timeline.end_ms > MAX_TIME_MS:
        message = f"motion {motion.name!r} lasts {timeline.end_ms} ms"
        raise FormatError(message, hint=f"at most {MAX_TIME_MS} ms can be written")
    if not all(abs(key.value) <= MAX_VALUE for track in tracks.values() for key in track):
        raise FormatError(f"motion {motion.name!r} has an angle beyond {MAX_VALUE:g} rad")
    _extend_first_track(timeline.end_ms, tracks)  # so that a final pause is written
    for name, key in parse_entries(motion.extras.get(LEDS, "")):
        tracks[name] = (*tracks.get(name, ()), key)
    return tracks


def _extend_first_track(end_ms: int, tracks: dict[str, Track]) -> None:
    """Repeat a key at the end of the motion if no joint has one there, since the last key ends a sequence."""
    if max(track[-1].time_ms for track in tracks.values()) < end_ms:
        name, track = next(iter(tracks.items()))
        tracks[name] = (*track, track[-1]._replace(time_ms=end_ms))


def _sequence_text(tracks: Mapping[str, Track]) -> str:
    """Return the tracks of outputs as a motion sequence: settings in the order of time."""
    lines_by_time: dict[int, list[str]] = defaultdict(list)
    for name, track in tracks.items():
        for key in track:
            lines_by_time[key.time_ms].append(_setting_line(name, key))
    lines = ["#MSq", "radians"]
    previous_ms = 0
    for time_ms in sorted(lines_by_time):
        if time_ms > previous_ms:
            lines.append(f"advanceTime\t{time_ms - previous_ms}")
        lines += lines_by_time[time_ms]
        previous_ms = time_ms
    lines.append("#END")
    return "".join(f"{line}\n" for line in lines)


def _setting_line(name: str, key: Key) -> str:
    """Return the line that sets an output: its name, its value, and its weight if that is not 1."""
    words = [name, format_angle(key.value)]
    if key.weight != 1.0:
        words.append(format_angle(key.weight))
    return "\t".join(words)


def _describe_rewriting(motion: Motion, kind: str, card: Robot) -> tuple[Lines, Lines]:
    """Return the losses and remarks if the file that a motion was read from is replaced by a new one."""
    document = document_of(motion, kind)
    if document is None:
        return (), ()
    unknown = tracks_of(document.settings, card).unknown
    losses = (f"{', '.join(unknown)}: {card.name} has no such outputs",) if unknown else ()
    remarks = ["the file is written anew, without the comments and blank lines of the old one"]
    if document.loads:
        remarks.append(f"the files it loads are written into it: {', '.join(document.loads)}")
    return losses, tuple(remarks)


def _remark_on_loaded_files(motion: Motion, path: Path) -> Lines:
    """Return a remark on the files that a sequence loads, which it must find beside it at `path`.

    Empty if it loads none, or if it is written to the folder it was read from.
    """
    document = document_of(motion, TEKKOTSU_MOT)
    origin = origin_of(motion)
    if document is None or not document.loads or origin is None or origin.path is None:
        return ()
    is_same_folder = origin.path.parent.absolute() == path.parent.absolute()
    if is_same_folder:
        return ()
    return (f"it loads files that must be beside it: {', '.join(document.loads)}",)


def _read_sequence(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    return _motion_file(read_sequence(data, path), path, card, kind=TEKKOTSU_MOT)


def _read_posture(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    return _motion_file(read_posture(data, path), path, card, kind=TEKKOTSU_POS)


def _motion_file(document: SettingsDocument, path: Path, card: Robot | None, kind: str) -> MotionFile:
    """Return a document as a motion file, by default for the robot that its outputs suggest."""
    if card is None:
        card = guess_robot(setting.name for setting in document.settings)
    tracks = tracks_of(document.settings, card)
    motion = motion_of(document, tracks, card, path, kind)
    return MotionFile.of_single_motion(
        kind, path, motion, warnings=describe_oddities(document, tracks, card), document=document
    )


_TekkotsuFormat = partial(
    MotionFormat,
    supports_robot=lambda card: NAMING in card.namings,
    is_self_contained=False,
    names_robot=False,
    is_played_by_robots=True,
)

_MOT = FileKind(TEKKOTSU_MOT, "a Tekkotsu motion sequence (#MSq)", text_matches(rb"\A#MSq\b"))
_MOT_QUANTUM = Quantum(angle_rad=QUANTUM_RAD, time_s=0.001)
MOT = _TekkotsuFormat(_MOT, (".mot",), _read_sequence, render_sequence, _MOT_QUANTUM)

_POS = FileKind(TEKKOTSU_POS, "a Tekkotsu posture (#POS)", text_matches(rb"\A#POS\b"))
POS = _TekkotsuFormat(_POS, (".pos",), _read_posture, render_posture, Quantum(angle_rad=QUANTUM_RAD))
