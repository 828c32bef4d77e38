"""From a motion to an OMTN: the document it came from with its numbers changed, or a new one."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from posewright.errors import FormatError
from posewright.formats.omtn.columns import columns_of, micro_radians
from posewright.formats.omtn.designs import dialect_of
from posewright.formats.omtn.document import DEFAULT_FRAME_MS, MAX_BETWEEN, OmtnDocument
from posewright.formats.omtn.layout import Layout, layout_of
from posewright.formats.omtn.names import in_latin_1, remarks_on_name
from posewright.formats.omtn.timeline import Timeline, timeline_of
from posewright.formats.omtn.to_motion import ATTITUDE_SIGNS, EXTRAS
from posewright.formats.motion_file import card_of
from posewright.formats.motion_format import Rendering
from posewright.formats.unsaid import unheld, unsaid
from posewright.motions import Motion


class Written(NamedTuple):
    """A motion as an OMTN.

    Attributes:
        document: the file.
        losses: what of the motion it cannot hold, in words.
        remarks: what had to be filled in or said in another way, in words.
    """

    document: OmtnDocument
    losses: tuple[str, ...]
    remarks: tuple[str, ...]


def rendering_of(motion: Motion) -> Rendering:
    """Return a motion as the file that `omtn_of` makes of it."""
    written, times_s = _written(motion)
    return Rendering(written.document.render(), written.losses, written.remarks, times_s)


def omtn_of(motion: Motion) -> Written:
    """Return a motion as an OMTN.

    One that was read from an OMTN and not edited gives the same bytes. A joint that the motion never sets
    stands as in the robot's pose `stand`.

    Raises:
        FormatError: it is for a robot that has none, or something of it does not fit.
    """
    return _written(motion)[0]


def _written(motion: Motion) -> tuple[Written, tuple[float | None, ...]]:
    """Return a motion as an OMTN, and when each of its keyframes is reached there [s]."""
    card = card_of(motion)
    layout = layout_of(motion, card)
    timeline = timeline_of(motion, layout.frame_ms or DEFAULT_FRAME_MS)
    lost = (*unsaid(motion, extras=EXTRAS, attitude=True, start=True), *timeline.losses)
    lost += unheld(motion, layout.joints, card)
    timeline, held = _playable(timeline, layout)
    angles, unset = columns_of(motion, card, layout.joints, timeline.angles)
    name = _name(motion, layout)
    if name != in_latin_1(name):
        lost += (f"letters of the name {name!r}: the file has those of western Europe only (Latin-1)",)
        name = in_latin_1(name)
    document = replace(
        _blank(layout) if layout.base is None else layout.base,
        name=name,
        creator=in_latin_1(layout.creator),
        angles=angles,
        attitudes=micro_radians(timeline.attitudes * ATTITUDE_SIGNS),
        between=_between(motion, timeline),
        minor=layout.minor,
        frame_ms=layout.frame_ms,
    )
    remarks = (*timeline.remarks, *held, *unset, *remarks_on_name(name))
    return Written(document, lost, remarks), timeline.times_s


def _blank(layout: Layout) -> OmtnDocument:
    """Return a document of that design that says nothing yet."""
    dialect, joints = dialect_of(layout.design), len(layout.locators)
    return OmtnDocument(
        "",
        "",
        layout.design,
        layout.locators,
        angles=np.zeros((1, joints), np.int32),
        attitudes=np.zeros((1, 3), np.int32),
        between=np.zeros(0, np.int32),
        is_short=dialect.is_short,
        is_padded=dialect.is_padded,
    )


def _playable(timeline: Timeline, layout: Layout) -> tuple[Timeline, tuple[str, ...]]:
    """Return a timeline of two keyframes for one of a single one, of which Sony's player plays nothing."""
    if len(timeline.frames) > 1 or (layout.base is not None and len(layout.base.angles) == 1):
        return timeline, ()
    twice = replace(
        timeline,
        frames=np.array([0, 1]),
        angles=np.repeat(timeline.angles, 2, axis=0),
        attitudes=np.repeat(timeline.attitudes, 2, axis=0),
    )
    return twice, ("its one keyframe is written twice, as Sony's player plays nothing of a single one",)


def _between(motion: Motion, timeline: Timeline) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    between = np.diff(timeline.frames) - 1
    if (between > MAX_BETWEEN).any():
        what = f"a way of motion {motion.name!r} takes {int(between.max()) + 1:,} frames"
        raise FormatError(what, hint=f"an OMTN has at most {MAX_BETWEEN:,}; put a keyframe between")
    return between.astype(np.int32)


def _name(motion: Motion, layout: Layout) -> str:
    """Return what the file calls the motion: nothing where it did not and nobody has renamed it."""
    if layout.base is not None and motion.name == layout.unnamed and not layout.base.name:
        return ""
    return motion.name
