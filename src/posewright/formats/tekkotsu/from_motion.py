"""From a motion to a sequence or posture: the one it was read from, with other numbers, or a new one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from posewright.errors import FormatError
from posewright.formats.kinds import TEKKOTSU_MOT, TEKKOTSU_POS
from posewright.formats.moments import Timeline, timeline_of
from posewright.formats.motion_file import card_of, origin_of
from posewright.formats.text_lines import number
from posewright.formats.motion_format import KeyTimes, Rendering, WriteOptions, as_they_are
from posewright.formats.tekkotsu.keys import track_of
from posewright.formats.tekkotsu.lines import MAX_VALUE
from posewright.formats.tekkotsu.outputs import NAMING, unit_rad
from posewright.formats.tekkotsu.posture_reader import read_posture
from posewright.formats.tekkotsu.reuse import document_of, edited, unchanged
from posewright.formats.tekkotsu.sayings import LEDS, SAID, WEIGHTS, keys_in
from posewright.formats.tekkotsu.sequence_reader import MAX_TIME_MS, read_sequence
from posewright.formats.tekkotsu.settings import Key, Track, tracks_of
from posewright.formats.unsaid import unheld, unsaid
from posewright.motions import Motion
from posewright.robots import Robot

Lines = tuple[str, ...]


def sequence_with(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return a motion as a sequence that will lie at `path`.

    A motion that came from a sequence and was not changed is that sequence, to the byte. Where only angles
    were changed, only these numbers are.

    Raises:
        FormatError: it does not fit: its joints have no names in Tekkotsu, or it lasts more than a day.
    """
    losses = unsaid(motion, path, extras=SAID)
    keeps = options.keys is KeyTimes.OWN
    same = unchanged(motion, TEKKOTSU_MOT) if keeps else None
    if same is not None:
        return Rendering(same, losses, _loads(motion, path), as_they_are(motion))
    timeline = timeline_of(motion)
    losses = (*losses, *timeline.losses)
    own = edited(motion, timeline, TEKKOTSU_MOT, read_sequence) if keeps else None
    if own is not None:
        return Rendering(own, losses, (*timeline.remarks, *_loads(motion, path)), timeline.times_s)
    card = _robot(motion)
    tracks = _tracks(motion, timeline, card, options.keys)
    text = _sequence_text(tracks)
    left, remarks = _left_behind(motion, TEKKOTSU_MOT, card)
    return Rendering(
        text.encode("latin-1", "replace"),
        (*losses, *unheld(motion, card.names_in(NAMING), card), *left),
        (*timeline.remarks, *remarks),
        timeline.times_s,
    )


def posture_with(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return the first keyframe of a motion as a posture; `sequence_with` says the rest."""
    del options
    losses = [*unsaid(motion, path, extras=SAID)]
    if len(motion.keyframes) > 1:
        losses.append(f"keyframes 2 to {len(motion.keyframes)}: a posture is one pose, and this is the first")
    if any(keyframe.duration for keyframe in motion.keyframes):
        losses.append("times: a posture says none")
    timeline = timeline_of(motion)
    own = unchanged(motion, TEKKOTSU_POS) or edited(motion, timeline, TEKKOTSU_POS, read_posture)
    if own is not None:
        return Rendering(own, tuple(losses))
    card = _robot(motion)
    first = Timeline(timeline.moments[:1])
    tracks = _tracks(motion, first, card, KeyTimes.ALL)
    lines = [_line(name, track[0]) for name, track in tracks.items()]
    left, remarks = _left_behind(motion, TEKKOTSU_POS, card)
    text = "".join(f"{line}\n" for line in ("#POS", *lines, "#END"))
    return Rendering(
        text.encode("latin-1", "replace"),
        (*losses, *unheld(motion, card.names_in(NAMING), card), *left),
        remarks,
    )


def _robot(motion: Motion) -> Robot:
    """Return the motion's robot.

    Raises:
        FormatError: Tekkotsu does not know it.
    """
    card = card_of(motion)
    if NAMING not in card.namings:
        raise FormatError(
            f"{card.name} is no robot of Tekkotsu", hint=f"its card would have a naming {NAMING!r}"
        )
    return card


def _tracks(motion: Motion, timeline: Timeline, card: Robot, keys: KeyTimes) -> dict[str, Track]:
    """Return the tracks to write, by Tekkotsu's names of the joints of `card`.

    Raises:
        FormatError: there is nothing to write, or it is beyond what is read again.
    """
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
    return "\t".join([name, number(key.value), *([] if key.weight == 1.0 else [number(key.weight)])])


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
