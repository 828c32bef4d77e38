"""Converts a sequence or posture to a motion.

Settings that a motion has no place for are stored in its extras as text, so that they can be written again:
in `613 LED:faceA 0.5; 700 LED:faceA 0 0.5` the LED is set to 0.5 at 613 ms, and to 0 of weight 0.5 at 700 ms.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from posewright.arrays import Floats
from posewright.errors import FormatError, Where
from posewright.formats.motion_file import Origin
from posewright.formats.tekkotsu.document import (
    NAMING,
    TEKKOTSU_MOT,
    TEKKOTSU_POS,
    Key,
    SettingsDocument,
    Track,
    Tracks,
)
from posewright.formats.timeline import MS_PER_S
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot

LEDS = "tekkotsu_leds"
WEIGHTS = "tekkotsu_weights"
WRITTEN_EXTRAS = (LEDS, WEIGHTS)
"""The extras of a motion that a Tekkotsu file can hold."""

_ENTRY = re.compile(
    r"(?P<time_ms>[0-9]{1,8}) (?P<name>[!-:<-~]{1,64}) (?P<value>-?[0-9.e+-]{1,24})"
    r"(?: (?P<weight>[0-9.e+-]{1,24}))?"
)
_MAX_UNKNOWN = 20


def format_leds(leds: Mapping[str, Track]) -> str:
    """Return the keys of all LEDs as text."""
    return "; ".join(_format_entry(name, key) for name, track in leds.items() for key in track)


def format_weights(joints: Mapping[str, Track]) -> str:
    """Return as text the joints' keys with a weight other than 0, which holds a joint, and 1."""
    entries: list[str] = []
    for name, track in joints.items():
        entries += [f"{key.time_ms} {name} {key.weight!r}" for key in track if key.weight not in (0.0, 1.0)]
    return "; ".join(entries)


def parse_entries(text: str) -> Iterator[tuple[str, Key]]:
    """Yield the name and key of every entry in a text that `format_leds` or `format_weights` wrote.

    A motion carries such a text as an extra: data of the file that a motion has no field for. An entry is
    `time name value`, with a weight behind it unless that is 1, as in `500 LED:ears 0.5; 900 NECK:tilt 0.2`.
    Its key is the value and weight of one output (a joint or LED) at a time [ms]. Users may edit the text, so
    entries that cannot be read are skipped.
    """
    for entry in text.split(";"):
        match = _ENTRY.fullmatch(entry.strip())
        if match is None:
            continue
        try:
            value = float(match["value"])
            weight = float(match["weight"] or 1.0)
        except ValueError:
            continue
        yield match["name"], Key(int(match["time_ms"]), value, weight)


def _format_entry(name: str, key: Key) -> str:
    weight = "" if key.weight == 1.0 else f" {key.weight!r}"
    return f"{key.time_ms} {name} {key.value!r}{weight}"


_SOURCES = {TEKKOTSU_MOT: "Tekkotsu motion sequence", TEKKOTSU_POS: "Tekkotsu posture"}


def motion_of(document: SettingsDocument, tracks: Tracks, card: Robot, path: Path, kind: str) -> Motion:
    """Return a sequence or posture as a motion.

    In the file, every joint has its own keys with straight lines between them. The motion has a keyframe at
    each time at which any joint has a key; the other joints are interpolated there.

    Args:
        document: becomes the motion's origin.
        tracks: the document's tracks on `card`.
        card: the robot.
        path: its stem becomes the motion's name.
        kind: `TEKKOTSU_MOT` or `TEKKOTSU_POS`.

    Raises:
        FormatError: no track is that of a joint.
    """
    if not tracks.joints:
        outputs = ", ".join(card.namings.get(NAMING, {})) or "none"
        raise FormatError(
            f"it moves no joint of {card.name}", where=Where(path), hint=f"its outputs are {outputs}"
        )
    extras = {LEDS: format_leds(tracks.leds), WEIGHTS: format_weights(tracks.joints)}
    return Motion(
        path.stem,
        robot=card.name,
        joints=tuple(tracks.joints),
        keyframes=tuple(_keyframes(tracks)),
        source=_SOURCES[kind],
        extras={key: text for key, text in extras.items() if text},
        origin=Origin(kind, document, remarks=document.remarks, path=path, robot=card),
    )


def _keyframes(tracks: Tracks) -> Iterator[Keyframe]:
    """Yield a keyframe for each time at which any joint is set; the last one pauses up to the end."""
    times_ms = tracks.times_ms
    rows = np.stack([_sample_track(track, times_ms) for track in tracks.joints.values()], axis=1)
    joints = tuple(tracks.joints)
    previous_ms = 0
    for time_ms, angles in zip(times_ms, rows, strict=True):
        pause_ms = tracks.end_ms - time_ms if time_ms == times_ms[-1] else 0
        yield Keyframe(Pose(joints, angles), (time_ms - previous_ms) / MS_PER_S, pause_ms / MS_PER_S)
        previous_ms = time_ms


def _sample_track(track: Track, times_ms: list[int]) -> Floats:
    """Return the angles of a joint at `times_ms`, `(n,)` [rad]; NaN where it keeps its last angle.

    A key of weight 0 releases the joint: until that key it keeps its angle, and then it moves on. Before the
    first key it stays too, because its path there would depend on the robot's initial pose.
    """
    angles = np.full(len(times_ms), np.nan)
    key_indices = np.searchsorted(times_ms, [key.time_ms for key in track])
    last_angle = np.nan  # of the last key that does not release the joint
    previous_index = None  # of the last key of any weight
    for index, key in zip(key_indices.tolist(), track, strict=True):
        if key.weight > 0.0:
            if previous_index is not None and not np.isnan(last_angle):
                previous_ms = times_ms[previous_index]
                path_times_ms = np.array(times_ms[previous_index:index], dtype=np.float64)
                fraction = (path_times_ms - previous_ms) / (key.time_ms - previous_ms)
                angles[previous_index:index] = last_angle + fraction * (key.value - last_angle)
            last_angle = key.value
            angles[index] = last_angle
        previous_index = index
    return angles


def describe_oddities(document: SettingsDocument, tracks: Tracks, card: Robot) -> tuple[str, ...]:
    """Return the remarks of a document, and on settings that a motion of `card` cannot follow."""
    remarks = [
        f"line {line}: {card.name} has no output {name}: left out"
        for name, line in islice(tracks.unknown.items(), _MAX_UNKNOWN)
    ]
    if tracks.leds:
        remarks.append(f"it lights {len(tracks.leds)} LEDs: the motion only stores their values")
    if format_weights(tracks.joints):
        remarks.append("it has weights below 1: the motion only stores them, and moves these joints fully")
    late_joints = [joint for joint, track in tracks.joints.items() if _starts_late(track, tracks.times_ms)]
    if late_joints:
        remarks.append(
            f"{', '.join(late_joints)}: in the file, they move from the robot's initial pose while other "
            "joints have keys; in the motion, they start at the last of these keys"
        )
    return (*document.remarks, *remarks)


def _starts_late(track: Track, times_ms: list[int]) -> bool:
    """Return whether other joints have keys while a joint moves to its first key with an angle."""
    first_set = next(index for index, key in enumerate(track) if key.weight > 0.0)
    departure_ms = track[first_set - 1].time_ms if first_set else 0
    arrival_ms = track[first_set].time_ms
    return bisect_right(times_ms, departure_ms) < bisect_left(times_ms, arrival_ms)
