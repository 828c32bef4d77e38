"""Native motion files, `*.motion.yaml`: YAML 1.2, one keyframe per line, the user's comments kept.

docs/motions.md describes the format.
"""

from __future__ import annotations

import os
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
from posewright.motions import Motion, card_of_motion
from posewright.robots import CARD, Robot, is_listed, is_path

NATIVE = "posewright-motion"

NATIVE_SUFFIX = ".motion.yaml"


def read(data: bytes, path: Path | None = None, card: Robot | None = None) -> Motion:
    """Return the motion in the bytes of a native file, with these as its origin.

    Args:
        data: the whole file.
        path: the file, for messages.
        card: the card of the file's robot; by default, or if the file is for another robot, the one that the
            file names.

    Raises:
        DocumentError: it is not YAML, or a value is invalid.
        UnknownNameError: a key, joint, easing or robot does not exist.
    """
    motion = motion_of(parse_document(decode_document(data, path), path), card)
    own_card = card if card is not None and card.name == motion.robot else None
    return replace(motion, origin=Origin(NATIVE, data, path=path, robot=own_card))


def render(motion: Motion, overwritten_file: bytes | None = None, path: Path | None = None) -> bytes:
    """Return the bytes of a native file.

    A motion that was read from a native file gives that file with only the edited lines changed.

    Args:
        motion: the motion.
        overwritten_file: the bytes of the native file that the result will replace, whose comments and
            unchanged lines are kept; ignored if the motion was itself read from a native file.
        path: where the file is to be; a robot that is not found by its name is then named by the path of its
            card, relative to the file's folder.
    """
    origin = origin_of(motion, NATIVE)
    folder = None if path is None else path.parent
    old_file = overwritten_file
    old_path = path
    source_reference: str | None = None  # how the file that the motion was read from names the robot
    if origin is not None and isinstance(origin.document, bytes):
        old_file = origin.document
        old_path = origin.path
    if old_file is None:
        return render_document(tree_of(motion, robot_reference=_robot_reference(motion, folder))).encode()
    old_text = decode_document(old_file)
    root = parse_document(old_text, old_path)
    old_motion = motion_of(root, card_of_motion(motion))
    if old_file is not overwritten_file and old_motion.robot == motion.robot:
        source_reference = str(root.value["robot"])
    robot_reference = _robot_reference(motion, folder, source_reference)
    tree = tree_of(motion, OldDocument(root.value, old_motion), robot_reference)
    bom = BOM if old_file.startswith(BOM) else b""
    return bom + revise_document(old_text, tree).encode()


def _robot_reference(motion: Motion, folder: Path | None, source_reference: str | None = None) -> str:
    """Return how a native file names a motion's robot: by its name, or by the path of its card.

    Args:
        motion: the motion.
        folder: the folder of the file, to which the path is relative; None if it is not known.
        source_reference: how the file that the motion was read from names the robot; kept if it still
            means it.
    """
    card = card_of_motion(motion)
    if source_reference is not None and (folder is None or not is_path(source_reference)):
        return source_reference
    if folder is None or card is None or card.folder is None or is_listed(card):
        return motion.robot
    card_path = (card.folder / CARD).resolve()
    if source_reference is not None and (folder / source_reference).resolve() in (
        card_path,
        card_path.parent,
    ):
        return source_reference
    try:
        relative = Path(os.path.relpath(card_path, folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return str(card_path)
    return relative if relative.startswith("../") else f"./{relative}"


def write(motion: Motion, path: Path | str) -> None:
    """Write a native file atomically; an existing file of the same motion keeps its comments."""
    path = Path(path)
    write_atomically(path, render(motion, existing_file(path, motion), path))


def existing_file(path: Path, motion: Motion) -> bytes | None:
    """Return the bytes of the file at `path` if it holds a motion of the same name, else None."""
    try:
        data = read_file_bytes(path)
        existing_motion = read(data, path, card_of_motion(motion))
        return data if existing_motion.name == motion.name else None
    except InputError:
        return None


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    motion = read(data, path, card)
    return MotionFile.of_single_motion(NATIVE, path, motion, document=data)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del options
    data = render(motion, existing_file(path, motion), path)
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
FORMAT = MotionFormat(_KIND, (NATIVE_SUFFIX, ".yaml", ".yml"), _read, _render, quantum=EXACT)
