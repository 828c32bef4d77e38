"""From a motion to a sequence or posture: the one it was read from, with other numbers, or a new one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

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
    is_for,
    joints_called,
    robot_of,
    tracks_of,
    unit_rad,
)
from posewright.formats.tekkotsu.reader import MAX_TIME_MS, read_posture, read_sequence
from posewright.formats.tekkotsu.to_motion import LEDS, SAID, WEIGHTS, keys_in, motion_of, remarks_on
from posewright.formats.text_lines import DECIMALS, QUANTUM_RAD, format_angle
from posewright.formats.timeline import TimedPose, Timeline, timeline_of
from posewright.motions import Motion, robot_of_motion
from posewright.robots import Robot

_SLACK_RAD = QUANTUM_RAD / 2.0  # how far a key that is left out may lie off the straight line


def track_of(column: int, timeline: Timeline, key_times: KeyTimes) -> Track:
    """Return the keys of a joint.

    Args:
        column: the joint's place in the motion.
        timeline: the motion's.
        key_times: `OWN` leaves a key out that lies on the straight line between its neighbours, and all
            after the last angle that the joint is given; `ALL` has every moment.

    Returns:
        Keys; empty for a joint that is never given an angle. Where it stays before it has one, a key of
        weight 0 says so: a joint without it would set out at the very start.
    """
    points = [(moment.time_ms, float(moment.angles[column])) for moment in timeline.poses]
    first = next((place for place, (_, angle) in enumerate(points) if not math.isnan(angle)), None)
    if first is None:
        return ()
    if key_times is KeyTimes.OWN:
        kept = _bends(points, first, _last(column, timeline.poses))
    else:
        kept = list(range(first, len(points)))
    waits = first > 0 and points[first - 1][0] > 0
    begun = [Key(points[first - 1][0], 0.0, 0.0)] if waits else []
    return (*begun, *(_key(*points[place]) for place in kept))


def _key(time_ms: int, angle: float) -> Key:
    return Key(time_ms, round(angle, DECIMALS) + 0.0, 1.0)


def _last(column: int, moments: Sequence[TimedPose]) -> int:
    """Return the place of the last moment that gives the joint an angle; the end, if nobody is given one."""
    if not moments[-1].is_set.any():
        return len(moments) - 1
    return max(place for place, moment in enumerate(moments) if moment.is_set[column])


def _bends(points: Sequence[tuple[int, float]], first: int, last: int) -> list[int]:
    """Return the places from `first` to `last` between which the points lie on straight lines, within slack.

    From a point that is kept, the range of slopes that pass every later point within the slack is narrowed
    point by point; the last point whose own slope is within the range is kept next.
    """
    if first < last and len({angle for _, angle in points[first : last + 1]}) == 1:
        return [first, last]  # a joint that stays, as most do
    kept = [first]
    while kept[-1] < last:
        kept.append(_reach(points, kept[-1], last))
    return kept


def _reach(points: Sequence[tuple[int, float]], start: int, last: int) -> int:
    begin_ms, begin = points[start]
    lowest, highest = -math.inf, math.inf
    farthest = start + 1
    for place in range(start + 1, last + 1):
        time_ms, angle = points[place]
        way = time_ms - begin_ms
        if lowest <= (angle - begin) / way <= highest:
            farthest = place
        lowest = max(lowest, (angle - begin - _SLACK_RAD) / way)
        highest = min(highest, (angle - begin + _SLACK_RAD) / way)
        if lowest > highest:
            break
    return farthest


Read = Callable[[bytes, Path], SettingsDocument]


def document_of(motion: Motion, kind: str) -> SettingsDocument | None:
    """Return the document of a format that a motion came from, where it came from one."""
    origin = origin_of(motion, kind)
    return origin.document if origin is not None and isinstance(origin.document, SettingsDocument) else None


def unchanged(motion: Motion, kind: str) -> bytes | None:
    """Return the bytes the motion came from, where its way is what they say; else None."""
    document = document_of(motion, kind)
    if document is None:
        return None
    said = _motion(document, motion, kind)
    same = said is not None and said.keyframes == motion.keyframes and said.speed == motion.speed
    return document.raw if same else None


def edited(motion: Motion, timeline: Timeline, kind: str, read: Read) -> bytes | None:
    """Return the bytes the motion came from, with other numbers where angles were changed.

    Returns:
        None where that does not say what the motion does: it came from elsewhere, or has other keyframes now.
    """
    document = document_of(motion, kind)
    origin = origin_of(motion, kind)
    if document is None or origin is None or origin.path is None:
        return None
    raw = document.with_words(dict(_new_words(document, motion, timeline, robot_of_motion(motion))))
    try:
        said = _motion(read(raw, origin.path), motion, kind)
    except InputError:  # what it loads is no longer there
        return None
    return raw if said is not None and _go_alike(timeline_of(said), timeline) else None


def _new_words(
    document: SettingsDocument, motion: Motion, timeline: Timeline, card: Robot
) -> Iterator[tuple[int, bytes]]:
    """Yield place and new word of every setting whose joint is to be elsewhere at its time."""
    columns = {joint: column for column, joint in enumerate(motion.joints)}
    moments = {moment.time_ms: moment for moment in timeline.poses}
    for place, setting in enumerate(document.settings):
        if setting.word is None or setting.weight <= 0.0 or not is_for(setting.model, card):
            continue
        moment = moments.get(setting.time_ms)
        joint = next((name for name in joints_called(setting.name, card) if name in columns), None)
        if moment is None or joint is None:
            continue
        angle = float(moment.angles[columns[joint]])
        unit = setting.unit * unit_rad(joint, card)
        if abs(angle - setting.value * unit_rad(joint, card)) > QUANTUM_RAD / 2.0:
            yield place, format_angle(angle / unit).encode()


def _motion(document: SettingsDocument, motion: Motion, kind: str) -> Motion | None:
    """Return what a document says, where it has the joints of a motion and what that says besides."""
    card = robot_of_motion(motion)
    tracks = tracks_of(document.settings, card)
    if tuple(tracks.joints) != motion.joints:
        return None
    said = motion_of(document, tracks, card, Path(motion.name), kind)
    return said if said.extras == motion.extras else None


def _go_alike(one: Timeline, other: Timeline) -> bool:
    """Tell whether two timelines say the same, within what is written of an angle."""
    if [moment.time_ms for moment in one.poses] != [moment.time_ms for moment in other.poses]:
        return False
    rows, others = (np.array([moment.angles for moment in each.poses]) for each in (one, other))
    return np.allclose(rows, others, rtol=0.0, atol=QUANTUM_RAD, equal_nan=True)


Lines = tuple[str, ...]


def sequence_with(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return a motion as a sequence that will lie at `path`.

    A motion that came from a sequence and was not changed is that sequence, to the byte. Where only angles
    were changed, only these numbers are.
    """
    losses, aside = describe_path_losses(motion, extras=SAID), describe_unwritten_labels(motion, path)
    keeps = options.keys is KeyTimes.OWN
    same = unchanged(motion, TEKKOTSU_MOT) if keeps else None
    if same is not None:
        return Rendering(same, losses, (*_loads(motion, path), *aside), exact_key_times(motion))
    timeline = timeline_of(motion)
    losses = (*losses, *timeline.losses)
    own = edited(motion, timeline, TEKKOTSU_MOT, read_sequence) if keeps else None
    if own is not None:
        return Rendering(own, losses, (*timeline.remarks, *_loads(motion, path), *aside), timeline.times_s)
    card = _robot(motion)
    tracks = _tracks(motion, timeline, card, options.keys)
    text = _sequence_text(tracks)
    left, remarks = _left_behind(motion, TEKKOTSU_MOT, card)
    return Rendering(
        text.encode("latin-1", "replace"),
        (*losses, *describe_unsupported_joints(motion, card.names_in(NAMING), card), *left),
        (*timeline.remarks, *remarks, *aside),
        timeline.times_s,
    )


def posture_with(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return the first keyframe of a motion as a posture; `sequence_with` says the rest."""
    del options
    losses, aside = [*describe_path_losses(motion, extras=SAID)], describe_unwritten_labels(motion, path)
    if len(motion.keyframes) > 1:
        dropped = "keyframe 2" if len(motion.keyframes) == 2 else f"keyframes 2 to {len(motion.keyframes)}"
        losses.append(f"{dropped}: a posture is one pose, and this is the first")
    if any(keyframe.duration for keyframe in motion.keyframes):
        losses.append("times: a posture says none")
    timeline = timeline_of(motion)
    own = unchanged(motion, TEKKOTSU_POS) or edited(motion, timeline, TEKKOTSU_POS, read_posture)
    if own is not None:
        return Rendering(own, tuple(losses), aside)
    card = _robot(motion)
    first = Timeline(timeline.poses[:1])
    tracks = _tracks(motion, first, card, KeyTimes.ALL)
    lines = [_line(name, track[0]) for name, track in tracks.items()]
    left, remarks = _left_behind(motion, TEKKOTSU_POS, card)
    text = "".join(f"{line}\n" for line in ("#POS", *lines, "#END"))
    return Rendering(
        text.encode("latin-1", "replace"),
        (*losses, *describe_unsupported_joints(motion, card.names_in(NAMING), card), *left),
        (*remarks, *aside),
    )


def _robot(motion: Motion) -> Robot:
    card = robot_of_motion(motion)
    if NAMING not in card.namings:
        what = f"{card.name} is no robot of Tekkotsu"
        raise FormatError(what, hint=f"its card would have a naming {NAMING!r}")
    return card


def _tracks(motion: Motion, timeline: Timeline, card: Robot, keys: KeyTimes) -> dict[str, Track]:
    """Return the tracks to write, by Tekkotsu's names of the joints of `card`."""
    names = card.names_in(NAMING)
    weights = {(name, key.time_ms): key.value for name, key in keys_in(motion.extras.get(WEIGHTS, ""))}
    tracks: dict[str, Track] = {}
    for column, joint in enumerate(motion.joints):
        track = track_of(column, timeline, keys) if joint in names else ()
        if track:
            unit = unit_rad(joint, card)
            tracks[names[joint]] = tuple(
                Key(key.time_ms, key.value / unit, weights.get((joint, key.time_ms), key.weight))
                for key in track
            )
    if not tracks:
        raise FormatError(f"motion {motion.name!r} moves no joint that Tekkotsu knows")
    if timeline.end_ms > MAX_TIME_MS:
        raise FormatError(f"motion {motion.name!r} lasts {timeline.end_ms} ms", hint=f"at most {MAX_TIME_MS}")
    if not all(abs(key.value) <= MAX_VALUE for track in tracks.values() for key in track):
        raise FormatError(f"motion {motion.name!r} has an angle beyond all bounds")
    _hold_until(timeline.end_ms, tracks)
    for name, key in keys_in(motion.extras.get(LEDS, "")):
        tracks[name] = (*tracks.get(name, ()), key)
    return tracks


def _hold_until(end_ms: int, tracks: dict[str, Track]) -> None:
    """Repeat a key at the end where no joint has one there, or the motion would be over before."""
    if max(track[-1].time_ms for track in tracks.values()) < end_ms:
        name, track = next(iter(tracks.items()))
        tracks[name] = (*track, track[-1]._replace(time_ms=end_ms))


def _sequence_text(tracks: Mapping[str, Track]) -> str:
    by_time: dict[int, list[str]] = defaultdict(list)
    for name, track in tracks.items():
        for key in track:
            by_time[key.time_ms].append(_line(name, key))
    lines = ["#MSq", "radians"]
    before_ms = 0
    for time_ms in sorted(by_time):
        if time_ms > before_ms:
            lines.append(f"advanceTime\t{time_ms - before_ms}")
        lines += by_time[time_ms]
        before_ms = time_ms
    return "".join(f"{line}\n" for line in (*lines, "#END"))


def _line(name: str, key: Key) -> str:
    return "\t".join(
        [name, format_angle(key.value), *([] if key.weight == 1.0 else [format_angle(key.weight)])]
    )


def _left_behind(motion: Motion, kind: str, card: Robot) -> tuple[Lines, Lines]:
    """Return what a new file does not have of the one that the motion came from: losses and remarks."""
    document = document_of(motion, kind)
    if document is None:
        return (), ()
    unknown = tracks_of(document.settings, card).unknown
    losses = (f"{', '.join(unknown)}: {card.name} has no such outputs",) if unknown else ()
    remarks = ["the file is written anew: comments and blank lines of the old one stay behind"]
    if document.loads:
        remarks.append(f"what it loads is written into it: {', '.join(document.loads)}")
    return losses, tuple(remarks)


def _loads(motion: Motion, path: Path) -> Lines:
    """Return what must be copied along, as the same bytes load the same files."""
    document = document_of(motion, TEKKOTSU_MOT)
    if document is None or not document.loads or (origin := origin_of(motion)) is None or origin.path is None:
        return ()
    if origin.path.parent.absolute() == path.parent.absolute():
        return ()
    return (f"it loads files that must lie beside it: {', '.join(document.loads)}",)


def _read_sequence(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    return _file(read_sequence(data, path), path, card, TEKKOTSU_MOT)


def _read_posture(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    return _file(read_posture(data, path), path, card, TEKKOTSU_POS)


def _file(document: SettingsDocument, path: Path, card: Robot | None, kind: str) -> MotionFile:
    card = robot_of(setting.name for setting in document.settings) if card is None else card
    tracks = tracks_of(document.settings, card)
    motion = motion_of(document, tracks, card, path, kind)
    return MotionFile.of_single_motion(kind, path, motion, remarks_on(document, tracks, card), document)


_Format = partial(
    MotionFormat,
    supports_robot=lambda card: NAMING in card.namings,
    is_self_contained=False,
    names_robot=False,
)

_MOT = FileKind(TEKKOTSU_MOT, "a Tekkotsu motion sequence (#MSq)", text_matches(rb"\A#MSq\b"))
MOT = _Format(_MOT, (".mot",), _read_sequence, sequence_with, Quantum(angle_rad=QUANTUM_RAD, time_s=0.001))

_POS = FileKind(TEKKOTSU_POS, "a Tekkotsu posture (#POS)", text_matches(rb"\A#POS\b"))
POS = _Format(_POS, (".pos",), _read_posture, posture_with, Quantum(angle_rad=QUANTUM_RAD))
