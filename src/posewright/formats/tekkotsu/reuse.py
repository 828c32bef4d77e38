"""Writing a motion over the document it came from: unchanged to the byte, or with other numbers in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from posewright.errors import InputError
from posewright.formats.moments import Timeline, timeline_of
from posewright.formats.motion_file import card_of, origin_of
from posewright.formats.text_lines import QUANTUM_RAD, number
from posewright.formats.tekkotsu.document import SettingsDocument
from posewright.formats.tekkotsu.outputs import is_for, joints_called, unit_rad
from posewright.formats.tekkotsu.settings import tracks_of
from posewright.formats.tekkotsu.to_motion import motion_of
from posewright.motions import Motion
from posewright.robots import Robot

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

    Args:
        motion: what is to be written.
        timeline: its own.
        kind: the format.
        read: reads its bytes.

    Returns:
        None where that does not say what the motion does: it came from elsewhere, or has other keyframes now.
    """
    document = document_of(motion, kind)
    origin = origin_of(motion, kind)
    if document is None or origin is None or origin.path is None:
        return None
    raw = document.with_words(dict(_new_words(document, motion, timeline, card_of(motion))))
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
    moments = {moment.time_ms: moment for moment in timeline.moments}
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
            yield place, number(angle / unit).encode()


def _motion(document: SettingsDocument, motion: Motion, kind: str) -> Motion | None:
    """Return what a document says, where it has the joints of a motion and what that says besides."""
    card = card_of(motion)
    tracks = tracks_of(document.settings, card)
    if tuple(tracks.joints) != motion.joints:
        return None
    said = motion_of(document, tracks, card, Path(motion.name), kind)
    return said if said.extras == motion.extras else None


def _go_alike(one: Timeline, other: Timeline) -> bool:
    """Tell whether two timelines say the same, within what is written of an angle."""
    if [moment.time_ms for moment in one.moments] != [moment.time_ms for moment in other.moments]:
        return False
    rows, others = (np.array([moment.angles for moment in each.moments]) for each in (one, other))
    return np.allclose(rows, others, rtol=0.0, atol=QUANTUM_RAD, equal_nan=True)
