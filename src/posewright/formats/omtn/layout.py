"""How the OMTN of a motion is laid out: which columns, for which robot, and what stands in its header."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.binary import Place
from posewright.formats.motion_file import origin_of
from posewright.formats.oda.archive import OdaArchive
from posewright.formats.omtn.document import OmtnDocument
from posewright.formats.omtn.reader import read_omtn_at
from posewright.formats.omtn.to_motion import CREATOR, DESIGN, FRAME_MS, MINOR, NAMING, dialect_of
from posewright.formats.unsaid import OURS, moved_joints
from posewright.motions import Motion
from posewright.robots import Robot


@dataclass(frozen=True)
class OmtnLayout:
    """What the file of a motion is like.

    Attributes:
        frame_ms: milliseconds a frame as the header says.
        base: the document the motion came from, where it can be written as that with its numbers changed.
        unnamed: what the motion is called if that document has no name.
    """

    design: str
    joints: tuple[str, ...]
    locators: tuple[str, ...]
    creator: str
    minor: int
    frame_ms: int
    base: OmtnDocument | None = None
    unnamed: str = ""


def layout_of(motion: Motion, card: Robot) -> OmtnLayout:
    """Return how a motion of `card` is written.

    It is written as the document it came from, if that has a column for every joint it moves. Otherwise
    it gets the design it says it had, if that is one of the robot's; or that of a part of the body, if it
    moves exactly the joints of that; or that of the whole body.
    """
    moved = moved_joints(motion)
    (base, unnamed), asked = _base(motion), motion.extras.get(DESIGN)
    if base is not None and asked in (None, base.design):
        naming = card.naming(NAMING)
        joints = tuple(naming[locator] for locator in base.locators)
        if moved <= set(joints):
            layout = _layout(motion, base.design, joints, base.locators, base)
            return replace(layout, unnamed=unnamed)
    designs, names = _designs(card), card.names_in(NAMING)
    if not moved & set(names):
        hint = f"joints are {', '.join(names)}"
        raise FormatError(f"motion {motion.name!r} sets no joint that an OMTN can move", hint=hint)
    design = _chosen(designs, moved & set(names), asked)
    joints = designs[design]
    return _layout(motion, design, joints, tuple(names[joint] for joint in joints), None)


def unnamed_in(path: Path | None) -> str:
    """Return what a motion without a name is called: as its file."""
    return (path.stem if path is not None else "") or "unnamed"


def _base(motion: Motion) -> tuple[OmtnDocument | None, str]:
    """Return the document a motion came from, a file or an entry, and what it is called without a name."""
    origin = origin_of(motion)
    if origin is None or (origin.robot is not None and origin.robot.name != motion.robot):
        return None, ""
    if isinstance(origin.document, OmtnDocument):
        return origin.document, unnamed_in(origin.path)
    if isinstance(origin.document, OdaArchive):
        entry = origin.document.entries[origin.page - 1]
        return read_omtn_at(entry.data, Place(origin.path)), entry.name
    return None, ""


def _designs(card: Robot) -> dict[str, tuple[str, ...]]:
    if NAMING not in card.namings or not card.designs:
        hint = "it can be carried over to an AIBO: posewright motion convert --robot sony_ers7"
        raise FormatError(
            f"{card.name} is no robot that an OMTN can move", where=Where(Path(card.name)), hint=hint
        )
    return dict(card.designs)


def _chosen(designs: dict[str, tuple[str, ...]], moved: set[str], asked: str | None) -> str:
    if asked in designs and moved <= set(designs[asked]):
        return asked
    for label, joints in designs.items():
        if set(joints) == moved:
            return label
    return max(designs, key=lambda label: len(designs[label]))


def _layout(
    motion: Motion, design: str, joints: tuple[str, ...], locators: tuple[str, ...], base: OmtnDocument | None
) -> OmtnLayout:
    extras, dialect = motion.extras, dialect_of(design)
    minor, frame_ms = dialect.minor(design), dialect.frame_ms
    creator = OURS
    if base is not None:
        minor, frame_ms, creator = base.minor, base.frame_ms, base.creator
    if base is not None or extras.get(DESIGN) == design:
        minor = _number(extras.get(MINOR), minor)
        frame_ms = _number(extras.get(FRAME_MS), frame_ms)
    return OmtnLayout(design, joints, locators, extras.get(CREATOR, creator), minor, frame_ms, base)


def _number(text: str | None, default: int) -> int:
    """Return a number of the header that a person may have edited; what it cannot hold does not count."""
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= 5):
        return default
    return int(text) if int(text) <= 0xFFFF else default
