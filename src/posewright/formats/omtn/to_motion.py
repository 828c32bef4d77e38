"""OMTN documents as motions: the robots of design labels, and the dialects of their files.

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
from posewright.formats.omtn.document import DEFAULT_FRAME_MS, URAD_PER_RAD, Integers, OmtnDocument
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot, robot, unlisted_robot

NAMING = "open_r"
"""The naming on a robot's card with Sony's locators."""


@dataclass(frozen=True)
class Dialect:
    """Properties of the files for one kind of robot.

    Attributes:
        robot: the name of the robot's card, None without one.
        body_minor: minor version of a motion of the whole body.
        part_minor: minor version of a motion of a part of the body.
        frame_ms: the frame period in the header [ms].
        has_short_size: whether the size of section 3 takes two bytes.
        is_padded: whether sections 1 and 2 are padded.
    """

    robot: str | None = None
    body_minor: int = 2
    part_minor: int = 1
    frame_ms: int = DEFAULT_FRAME_MS
    has_short_size: bool = False
    is_padded: bool = True

    def minor_version(self, design: str) -> int:
        """Return the minor version of a motion with a design label."""
        return self.part_minor if "_" in design else self.body_minor


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "DRX-700": Dialect(
            "sony_ers110", body_minor=0, part_minor=0, frame_ms=0, has_short_size=True, is_padded=False
        ),
        "DRX-900": Dialect("sony_ers220"),
        "DRX-910": Dialect("sony_ers210"),
        "DRX-1000": Dialect("sony_ers7"),
    }
)
"""By model in the design label. DRX-801 (ERS-31x) has no card; its files have the usual dialect."""


def model_of(design: str) -> str:
    """Return the model in a design label: `DRX-1000` of `DRX-1000_Head`."""
    return design.partition("_")[0]


def dialect_of(design: str) -> Dialect:
    """Return the dialect of files with a design label."""
    return DIALECTS.get(model_of(design), Dialect())


def card_for(document: OmtnDocument, requested_robot: Robot | None = None) -> Robot:
    """Return the card of the robot that a motion is for.

    It is the requested one, if that has all the joints; else that of the design label, if that has them;
    else a new card on which the joints have their locators as names. So a motion of another robot than the
    requested one keeps its own robot, and can be carried over.
    """
    if requested_robot is not None and _has_joints(requested_robot, document.locators):
        return requested_robot
    return _card_of_design(document.design, document.locators)


def is_listed(card: Robot) -> bool:
    """Return whether a card is a real one, not made by `card_for`."""
    return card.folder is not None or bool(card.poses)


@lru_cache(maxsize=64)
def _card_of_design(design: str, locators: tuple[str, ...]) -> Robot:
    """Return the card of a design label; cached, since an archive has thousands of motions."""
    name = dialect_of(design).robot
    if name is not None and _has_joints(card := robot(name), locators):
        return card
    return unlisted_robot(model_of(design) or "AIBO", locators, scheme=NAMING, design=design)


def _has_joints(card: Robot, locators: tuple[str, ...]) -> bool:
    joint_by_locator = card.namings.get(NAMING, {})
    return all(locator in joint_by_locator for locator in locators)


EXTRAS = CREATOR, DESIGN, MINOR, FRAME_MS = "creator", "design", "omtn_minor", "omtn_frame_ms"
"""Keys of `Motion.extras` for the header of an OMTN."""

ATTITUDE_SIGNS = np.array([1.0, -1.0, 1.0])
"""A positive pitch leans back in an OMTN, forward in a keyframe (REP-103); roll and yaw are the same."""


def omtn_motion(
    document: OmtnDocument, card: Robot, default_name: str, origin: Origin | None = None
) -> Motion:
    """Return a document as a motion of `card`.

    Joints are found by their locators, never by their order. The motion starts in its first keyframe; each
    further movement takes one frame more than are interpolated.

    Args:
        document: the document.
        card: its robot.
        default_name: the name of the motion if the document has none.
        origin: the origin of the motion.
    """
    naming = card.naming(NAMING)
    joints = tuple(naming[locator] for locator in document.locators)
    return Motion(
        document.name or default_name,
        card.name,
        joints,
        keyframes=_keyframes(document, joints),
        source=f"OMTN by {document.creator}" if document.creator else "OMTN",
        extras=dict(_extras(document)),
        origin=origin,
    )


def _extras(document: OmtnDocument) -> Iterator[tuple[str, str]]:
    """Yield the entries of the header for the extras, without those that the dialect implies."""
    dialect = dialect_of(document.design)
    yield CREATOR, document.creator
    yield DESIGN, document.design
    if document.minor_version != dialect.minor_version(document.design):
        yield MINOR, str(document.minor_version)
    if document.frame_ms != dialect.frame_ms:
        yield FRAME_MS, str(document.frame_ms)


def _keyframes(document: OmtnDocument, joints: tuple[str, ...]) -> tuple[Keyframe, ...]:
    """Return the keyframes of a document, with attitudes if any is set."""
    n_frames = document.n_frames_between.astype(np.int64) + 1
    reach_times_s = [0.0, *(n_frames * document.step_ms / 1000.0).tolist()]
    angles = document.angles / URAD_PER_RAD
    attitude_rows = document.attitudes / URAD_PER_RAD * ATTITUDE_SIGNS + 0.0  # + 0.0 turns -0.0 into 0.0
    attitudes: list[list[float]] = attitude_rows.tolist()
    has_attitudes = document.attitudes.any()
    keyframes: list[Keyframe] = []
    for pose_angles, reach_s, (roll, pitch, yaw) in zip(angles, reach_times_s, attitudes, strict=True):
        attitude = (roll, pitch, yaw) if has_attitudes else None
        keyframes.append(Keyframe(Pose(joints, pose_angles), reach_s, attitude=attitude))
    return tuple(keyframes)


MAX_NUMBERS = 10_000_000
"""Most numbers of a path; an hour of the whole body has nine million."""


def sdk_path(document: OmtnDocument) -> Integers:
    """Return the angles that Sony's player sends to the joints, one row every 8 ms, half a frame of the file.

    Between two keyframes with n frames it sends 2n + 2 rows. The first is the keyframe itself; each further
    row adds the difference divided by 2n + 2, truncated. So it ends up to 2n + 1 micro-radians before the
    next keyframe and then jumps to it. The last keyframe is never sent. (A `Motion` moves on straight lines
    and reaches the last keyframe.)

    Returns:
        (n_steps, n_joints) [micro-radians]; no rows for a motion of one keyframe.

    Raises:
        InputError: it would have more than `MAX_NUMBERS` numbers.
    """
    n_steps = 2 * document.n_frames_between.astype(np.int64) + 2  # of each movement
    n_rows = int(n_steps.sum())
    if n_rows * document.angles.shape[1] > MAX_NUMBERS:
        raise InputError(
            f"the motion has {n_rows:,} steps of 8 ms", hint=f"at most {MAX_NUMBERS:,} angles are computed"
        )
    changes = np.diff(document.angles, axis=0)  # angles are within a turn, so differences fit into 32 bits
    # the player is written in C, where a division rounds towards zero
    step_changes = np.sign(changes) * (np.abs(changes) // n_steps[:, None].astype(np.int32))
    first_rows = np.cumsum(n_steps) - n_steps
    steps_since_keyframe = (np.arange(n_rows) - np.repeat(first_rows, n_steps)).astype(np.int32)
    keyframe_angles = np.repeat(document.angles[:-1], n_steps, axis=0)
    path = keyframe_angles + steps_since_keyframe[:, None] * np.repeat(step_changes, n_steps, axis=0)
    return np.asarray(path, dtype=np.int32)
