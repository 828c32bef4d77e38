"""From a sequence or posture to a motion.

What a file says besides angles is kept with the motion as text, so that it can be written again. In
`613 LED:faceA 0.5; 700 LED:faceA 0 0.5` the LED is set to 0.5 at 613 ms, and to 0, of weight 0.5, at 700 ms.
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
SAID = (LEDS, WEIGHTS)  # the extras of a motion that a Tekkotsu file can hold
_ENTRY = re.compile(r"([0-9]{1,8}) ([!-:<-~]{1,64}) (-?[0-9.e+-]{1,24})(?: ([0-9.e+-]{1,24}))?")


def leds_text(leds: Mapping[str, Track]) -> str:
    """Return the keys of all LEDs."""
    return "; ".join(_entry(name, key) for name, track in leds.items() for key in track)


def weights_text(joints: Mapping[str, Track]) -> str:
    """Return the joints' keys whose weight is neither 0, which holds a joint, nor 1."""
    odd = ((name, key) for name, track in joints.items() for key in track if key.weight not in (0.0, 1.0))
    return "; ".join(f"{key.time_ms} {name} {key.weight!r}" for name, key in odd)


def keys_in(text: str) -> Iterator[tuple[str, Key]]:
    """Yield the keys that a text says, by name; what is no key is passed over."""
    for entry in text.split(";"):
        found = _ENTRY.fullmatch(entry.strip())
        if found is None:
            continue
        try:
            value, weight = float(found[3]), float(found[4] or 1.0)
        except ValueError:
            continue
        yield found[2], Key(int(found[1]), value, weight)


def _entry(name: str, key: Key) -> str:
    weight = "" if key.weight == 1.0 else f" {key.weight!r}"
    return f"{key.time_ms} {name} {key.value!r}{weight}"


_SOURCES = {TEKKOTSU_MOT: "Tekkotsu motion sequence", TEKKOTSU_POS: "Tekkotsu posture"}


def motion_of(document: SettingsDocument, tracks: Tracks, card: Robot, path: Path, kind: str) -> Motion:
    """Return a sequence or posture, whose tracks are known, as a motion that remembers the document.

    Every joint has its own keys there, and goes straight from one to the next. So the motion has a keyframe
    wherever any joint has a key, and in it the other joints are where they are on their own way just then.
    """
    if not tracks.joints:
        known = ", ".join(card.namings.get(NAMING, {})) or "none"
        raise FormatError(f"it moves no joint of {card.name}", where=Where(path), hint=f"there is {known}")
    extras = {LEDS: leds_text(tracks.leds), WEIGHTS: weights_text(tracks.joints)}
    return Motion(
        path.stem,
        card.name,
        tuple(tracks.joints),
        tuple(_keyframes(tracks)),
        source=_SOURCES[kind],
        extras={key: text for key, text in extras.items() if text},
        origin=Origin(kind, document, remarks=document.remarks, path=path, robot=card),
    )


def _keyframes(tracks: Tracks) -> Iterator[Keyframe]:
    times = tracks.times
    rows = np.stack([_along(track, times) for track in tracks.joints.values()], axis=1)
    joints = tuple(tracks.joints)
    before_ms = 0
    for time_ms, angles in zip(times, rows, strict=True):
        pause_ms = tracks.end_ms - time_ms if time_ms == times[-1] else 0
        yield Keyframe(Pose(joints, angles), (time_ms - before_ms) / MS_PER_S, pause_ms / MS_PER_S)
        before_ms = time_ms


def _along(track: Track, times: list[int]) -> Floats:
    """Return where a joint is at each of `times` (n,) [rad]; NaN where it stays.

    A key of weight 0 releases the joint: until the key it stays where it was, and from there it goes on. What
    is before the first key depends on where the robot stands, so there it stays, too.
    """
    angles = np.full(len(times), np.nan)
    places = np.searchsorted(times, [key.time_ms for key in track])
    value = np.nan
    last = None
    for place, key in zip(places.tolist(), track, strict=True):
        if key.weight > 0.0:
            if last is not None and not np.isnan(value):
                between = np.array(times[last:place], dtype=np.float64)
                share = (between - times[last]) / (key.time_ms - times[last])
                angles[last:place] = value + share * (key.value - value)
            angles[place] = value = key.value
        last = place
    return angles


def remarks_on(document: SettingsDocument, tracks: Tracks, card: Robot) -> tuple[str, ...]:
    """Return what is odd about a document as one of `card`, in words."""
    remarks = [
        f"line {line}: {card.name} has no output {name}: left out"
        for name, line in islice(tracks.unknown.items(), _MOST_UNKNOWN)
    ]
    if tracks.leds:
        remarks.append(f"it lights {len(tracks.leds)} LEDs: a motion only remembers that")
    if weights_text(tracks.joints):
        what = "it gives joints a weight below 1: a motion only remembers that, and moves them all the way"
        remarks.append(what)
    late = [joint for joint, track in tracks.joints.items() if _starts_late(track, tracks.times)]
    if late:
        remarks.append(
            f"{', '.join(late)}: on their way from wherever the robot stands while others have keys; "
            "here they set out at the last of those"
        )
    return (*document.remarks, *remarks)


_MOST_UNKNOWN = 20


def _starts_late(track: Track, times: list[int]) -> bool:
    """Tell whether others have keys while a joint is on its way into its first one."""
    first = next(place for place, key in enumerate(track) if key.weight > 0.0)
    sets_out_ms = track[first - 1].time_ms if first else 0
    return bisect_right(times, sets_out_ms) < bisect_left(times, track[first].time_ms)
