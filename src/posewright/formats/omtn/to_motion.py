"""From an OMTN document to a motion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posewright.formats.omtn.designs import NAMING, dialect_of
from posewright.formats.omtn.document import URAD, OmtnDocument
from posewright.formats.motion_file import Origin
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot

EXTRAS = CREATOR, DESIGN, MINOR, FRAME_MS = "creator", "design", "omtn_minor", "omtn_frame_ms"
"""Keys of `Motion.extras`: what an OMTN says besides."""

ATTITUDE_SIGNS = np.array([1.0, -1.0, 1.0])
"""Sony's pitch leans back, that of a keyframe forward (REP-103); roll and yaw are the same."""


def omtn_motion(document: OmtnDocument, card: Robot, unnamed: str, origin: Origin | None = None) -> Motion:
    """Return a document as a motion of `card`, called `unnamed` where it has no name.

    The joints are told by their locators, never by their place. The first keyframe is where it begins;
    each further way lasts one frame more than are interpolated.
    """
    naming = card.naming(NAMING)
    joints = tuple(naming[locator] for locator in document.locators)
    return Motion(
        document.name or unnamed,
        card.name,
        joints,
        _keyframes(document, joints),
        source=f"OMTN by {document.creator}" if document.creator else "OMTN",
        extras=dict(_extras(document)),
        origin=origin,
    )


def _extras(document: OmtnDocument) -> Iterator[tuple[str, str]]:
    """Yield what a file says besides, but for what every file with its design label says."""
    dialect = dialect_of(document.design)
    yield CREATOR, document.creator
    yield DESIGN, document.design
    if document.minor != dialect.minor(document.design):
        yield MINOR, str(document.minor)
    if document.frame_ms != dialect.frame_ms:
        yield FRAME_MS, str(document.frame_ms)


def _keyframes(document: OmtnDocument, joints: tuple[str, ...]) -> tuple[Keyframe, ...]:
    reaches = [0.0, *((document.between.astype(np.int64) + 1) * document.step_ms / 1000.0).tolist()]
    angles = document.angles / URAD
    attitudes = (document.attitudes / URAD * ATTITUDE_SIGNS + 0.0).tolist()  # no minus zero
    said = document.attitudes.any()
    return tuple(
        Keyframe(
            Pose(joints, row),
            reach_s,
            attitude=(attitude[0], attitude[1], attitude[2]) if said else None,
        )
        for row, reach_s, attitude in zip(angles, reaches, attitudes, strict=True)
    )
