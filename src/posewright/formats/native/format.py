"""Native motion files, `*.motion.yaml`: YAML 1.2, one keyframe a line, a person's comments kept.

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
from posewright.formats.native.writer import Before, tree_of
from posewright.formats.roboplus.document import ROBOPLUS_TEXT
from posewright.motions import Motion
from posewright.robots import Robot

NATIVE = "posewright-motion"


def read(data: bytes, path: Path | None = None, card: Robot | None = None) -> Motion:
    """Return the motion in the bytes of a native file; it remembers them as its origin.

    Args:
        data: the whole file.
        path: only used in messages.
        card: of the robot, should the file be for that one; else the one that ships is looked up.

    Raises:
        DocumentError: it is not YAML, or a value is not what it should be.
        UnknownNameError: a key, joint, easing or robot that does not exist.
    """
    motion = motion_of(parse_document(decode_document(data, path), path), card)
    own = card if card is not None and card.name == motion.robot else None
    return replace(motion, origin=Origin(NATIVE, data, path=path, robot=own))


def render(motion: Motion, over: bytes | None = None) -> bytes:
    """Return the bytes of a native file.

    A motion that was read from a native file gives that file with only the changed lines changed, to the
    byte the same where nothing was edited.
    A motion that did not come from a native file is written over the one in `over`, if there is one.
    """
    origin = origin_of(motion, NATIVE)
    data = origin.document if origin is not None and isinstance(origin.document, bytes) else over
    if data is None:
        return render_document(tree_of(motion)).encode()
    text = decode_document(data)
    root = parse_document(text)
    card = None if origin is None else origin.robot
    tree = tree_of(motion, Before(root.value, motion_of(root, card)))
    return (BOM if data.startswith(BOM) else b"") + revise_document(text, tree).encode()


def write(motion: Motion, path: Path | str) -> None:
    """Write a native file atomically; one that stands there already keeps its comments."""
    path = Path(path)
    write_atomically(path, render(motion, standing_at(path, motion)))


def standing_at(path: Path, motion: Motion) -> bytes | None:
    """Return the file of that motion at `path`; anything else is overwritten, not revised."""
    origin = origin_of(motion)
    try:
        data = read_file_bytes(path)
        stands = read(data, path, None if origin is None else origin.robot)
        return data if stands.name == motion.name else None
    except InputError:
        return None


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    motion = read(data, path, card)
    return MotionFile.of_single_motion(NATIVE, path, motion, document=data)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del options
    return Rendering(render(motion, standing_at(path, motion)), _losses(motion), (), exact_key_times(motion))


def _losses(motion: Motion) -> tuple[str, ...]:
    """Return what a native file cannot hold: it is one motion, and has no other pages to lead to."""
    if origin_of(motion, ROBOPLUS_TEXT) is None:
        return ()
    links = (("next", motion.next), ("exit", motion.exit))
    return tuple(
        f"{what} page {to}: it stays behind in the file it came from" for what, to in links if to is not None
    )


_KIND = FileKind(NATIVE, "a Posewright motion", text_matches(rb"^motion[ \t]*:"), Evidence.KEY)
FORMAT = MotionFormat(_KIND, (".motion.yaml", ".yaml", ".yml"), _read, _render, EXACT)
