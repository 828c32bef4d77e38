"""From an OMTN document to a motion: which robot its design label means, and how files for that are written.

Source: formats.md 1.1 (design labels and the variant of the ERS-110 and ERS-111, seen in 4028 motions).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from posewright.errors import InputError
from posewright.formats.motion_file import Origin
from posewright.formats.omtn.document import DEFAULT_FRAME_MS, URAD, Integers, OmtnDocument
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot, robot, unlisted_robot

NAMING = "open_r"  # the naming on a card in which joints are called by Sony's locators


@dataclass(frozen=True)
class Dialect:
    """How files for one kind of robot are written."""

    robot: str | None = None
    whole_minor: int = 2  # version of a motion of the whole body
    part_minor: int = 1  # version of a motion of a part of it
    frame_ms: int = DEFAULT_FRAME_MS
    is_short: bool = False  # whether the size of section 3 takes two bytes
    is_padded: bool = True

    def minor(self, design: str) -> int:
        """Return the version of a motion with this design label."""
        return self.part_minor if "_" in design else self.whole_minor


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "DRX-700": Dialect("sony_ers110", 0, 0, 0, is_short=True, is_padded=False),
        "DRX-900": Dialect("sony_ers220"),
        "DRX-910": Dialect("sony_ers210"),
        "DRX-1000": Dialect("sony_ers7"),
    }
)
"""By what the label begins with. DRX-801 (ERS-31x) has no card, and its files are as most are."""


def model_of(design: str) -> str:
    """Return the label without the part of the body that it may name: `DRX-1000_Head` is of a `DRX-1000`."""
    return design.partition("_")[0]


def dialect_of(design: str) -> Dialect:
    """Return how files with this design label are written."""
    return DIALECTS.get(model_of(design), Dialect())


def card_for(document: OmtnDocument, asked: Robot | None = None) -> Robot:
    """Return the card of the robot that a motion is for.

    It is the one asked for, if that has these joints; else the one its design label means, if that has;
    else one made up, on which the joints are called by their locators. So a motion of another robot than
    was asked for is told from one of that robot, and can be carried over to it.
    """
    if asked is not None and _has_joints(asked, document.locators):
        return asked
    return _meant(document.design, document.locators)


def is_listed(card: Robot) -> bool:
    """Tell whether this card was not made up by `card_for`."""
    return card.folder is not None or bool(card.poses)


@lru_cache(maxsize=64)
def _meant(design: str, locators: tuple[str, ...]) -> Robot:
    """Return the card that a design label means; the thousands of motions of an archive share one."""
    name = dialect_of(design).robot
    if name is not None and _has_joints(card := robot(name), locators):
        return card
    return unlisted_robot(model_of(design) or "AIBO", locators, scheme=NAMING, design=design)


def _has_joints(card: Robot, locators: tuple[str, ...]) -> bool:
    known = card.namings.get(NAMING, {})
    return all(locator in known for locator in locators)


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
            Pose(joints, row), reach_s, attitude=(attitude[0], attitude[1], attitude[2]) if said else None
        )
        for row, reach_s, attitude in zip(angles, reaches, attitudes, strict=True)
    )


MAX_NUMBERS = 10_000_000  # an hour of a whole body has nine million


def sdk_path(document: OmtnDocument) -> Integers:
    """Return the angles that Sony's player sends to the joints, one row every 8 ms, half a frame of the file.

    Between two keyframes with n frames it sends 2n + 2 rows, the first of them the keyframe itself, each
    further by the difference divided by 2n + 2 with the fraction cut off. So it falls short of the next
    keyframe by up to 2n + 1 micro-radians and then snaps to it. The last keyframe is never sent.
    A `Motion` goes straight from keyframe to keyframe, and reaches the last.

    Returns:
        (n_steps, n_joints) [micro-radians]; no rows for a motion of one keyframe.

    Raises:
        InputError: it would be more than `MAX_NUMBERS`.
    """
    steps = 2 * document.between.astype(np.int64) + 2
    total = int(steps.sum())
    if total * document.angles.shape[1] > MAX_NUMBERS:
        raise InputError(f"the motion has {total:,} steps of 8 ms", hint="more than can be looked at at once")
    way = np.diff(document.angles, axis=0)  # no angle is more than a turn, so all of it fits into 32 bits
    delta = np.sign(way) * (np.abs(way) // steps[:, None].astype(np.int32))  # C cuts towards zero
    index = (np.arange(total) - np.repeat(np.cumsum(steps) - steps, steps)).astype(np.int32)
    path = np.repeat(document.angles[:-1], steps, axis=0) + index[:, None] * np.repeat(delta, steps, axis=0)
    return np.asarray(path, dtype=np.int32)
