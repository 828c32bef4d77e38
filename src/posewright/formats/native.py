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
from posewright.formats.kinds import NATIVE
from posewright.formats.native_reading import motion_of
from posewright.formats.native_writing import Before, tree_of
from posewright.formats.origin import Origin, origin_of
from posewright.motions import Motion

MARK = b"\xef\xbb\xbf"
"""A byte order mark, which some editors put and YAML allows."""


def read(data: bytes, path: Path | None = None) -> Motion:
    """Return the motion in the bytes of a native file; it remembers them as its origin.

    Args:
        data: the whole file.
        path: only used in messages.

    Raises:
        DocumentError: it is not YAML, or a value is not what it should be.
        UnknownNameError: a key, joint, easing or robot that does not exist.
    """
    motion = motion_of(parse_document(decode_document(data, path), path))
    return replace(motion, origin=Origin(NATIVE, data, path=path))


def render(motion: Motion, over: bytes | None = None) -> bytes:
    """Return the bytes of a native file.

    A motion that was read from a native file gives that file with only the changed lines changed, to the
    byte the same where nothing was edited.

    Args:
        motion: what to write.
        over: a native file to write it over, where the motion did not come from one.
    """
    origin = origin_of(motion, NATIVE)
    data = origin.document if origin is not None and isinstance(origin.document, bytes) else over
    if data is None:
        return render_document(tree_of(motion)).encode()
    text = decode_document(data)
    root = parse_document(text)
    tree = tree_of(motion, Before(root.value, motion_of(root)))
    return (MARK if data.startswith(MARK) else b"") + revise_document(text, tree).encode()


def write(motion: Motion, path: Path | str) -> None:
    """Write a native file atomically; one that stands there already keeps its comments.

    Raises:
        DocumentError: it cannot be written there.
    """
    path = Path(path)
    write_atomically(path, render(motion, _standing_at(path, motion.name)))


def _standing_at(path: Path, name: str) -> bytes | None:
    """Return the file of the motion `name` at `path`; anything else is overwritten, not revised."""
    try:
        data = path.read_bytes()
        return data if read(data, path).name == name else None
    except (OSError, InputError):
        return None
