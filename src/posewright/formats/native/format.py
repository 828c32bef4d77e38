"""Native motion files, `*.motion.yaml`: YAML 1.2, one keyframe per line, the user's comments kept.

docs/motions.md describes the format.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from posewright.documents import (
    decode_document,
    parse_document,
    render_document,
    revise_document,
    write_atomically,
)
from posewright.errors import InputError
from posewright.formats.file_kind import BOM, Evidence, FileKind, read_file_bytes, text_matches
from posewright.formats.motion_file import MotionFile, Origin, origin_of
from posewright.formats.motion_format import EXACT, MotionFormat, Rendering, WriteOptions, exact_key_times
from posewright.formats.native.reader import motion_of
from posewright.formats.native.writer import OldDocument, tree_of
from posewright.formats.roboplus.document import ROBOPLUS_TEXT
from posewright.motions import Motion
from posewright.robots import Robot

NATIVE = "posewright-motion"


def read(data: bytes, path: Path | None = None, card: Robot | None = None) -> Motion:
    """Return the motion in the bytes of a native file, with these as its origin.

    Args:
        data: the whole file.
        path: the file, for messages.
        card: the card of the file's robot; by default, or if the file is for another robot, the shipped one.

    Raises:
        DocumentError: it is not YAML, or a value is invalid.
        UnknownNameError: a key, joint, easing or robot does not exist.
    """
    motion = motion_of(parse_document(decode_document(data, path), path), card)
    own_card = card if card is not None and card.name == motion.robot else None
    return replace(motion, origin=Origin(NATIVE, data, path=path, robot=own_card))


def render(motion: Motion, overwritten_file: bytes | None = None) -> bytes:
    """Return the bytes of a native file.

    A motion that was read from a native file gives that file with only the edited lines changed.

    Args:
        motion: the motion.
        overwritten_file: the bytes of the native file that the result will replace, whose comments and
            unchanged lines are kept; ignored if the motion was itself read from a native file.
    """
    origin = origin_of(motion, NATIVE)
    old_file = overwritten_file
    if origin is not None and isinstance(origin.document, bytes):
        old_file = origin.document
    if old_file is None:
        return render_document(tree_of(motion)).encode()
    old_text = decode_document(old_file)
    root = parse_document(old_text)
    card = None if origin is None else origin.robot
    tree = tree_of(motion, OldDocument(root.value, motion_of(root, card)))
    bom = BOM if old_file.startswith(BOM) else b""
    return bom + revise_document(old_text, tree).encode()


def write(motion: Motion, path: Path | str) -> None:
    """Write a native file atomically; an existing file of the same motion keeps its comments."""
    path = Path(path)
    write_atomically(path, render(motion, existing_file(path, motion)))


def existing_file(path: Path, motion: Motion) -> bytes | None:
    """Return the bytes of the file at `path` if it holds a motion of the same name, else None."""
    origin = origin_of(motion)
    try:
        data = read_file_bytes(path)
        existing_motion = read(data, path, None if origin is None else origin.robot)
        return data if existing_motion.name == motion.name else None
    except InputError:
        return None


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    motion = read(data, path, card)
    return MotionFile.of_single_motion(NATIVE, path, motion, document=data)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del options
    data = render(motion, existing_file(path, motion))
    return Rendering(data, losses=_describe_lost_links(motion), remarks=(), times_s=exact_key_times(motion))


def _describe_lost_links(motion: Motion) -> tuple[str, ...]:
    """Return descriptions of the RoboPlus pages that a motion leads to; a native file has one motion only."""
    if origin_of(motion, ROBOPLUS_TEXT) is None:
        return ()
    links = (("next", motion.next), ("exit", motion.exit))
    return tuple(
        f"its {kind} page {page}: only the page itself is written" for kind, page in links if page is not None
    )


_KIND = FileKind(
    NATIVE, title="a Posewright motion", detects=text_matches(rb"^motion[ \t]*:"), evidence=Evidence.KEY
)
FORMAT = MotionFormat(_KIND, (".motion.yaml", ".yaml", ".yml"), _read, _render, quantum=EXACT)
