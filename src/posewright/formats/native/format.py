"""Native motion files, for the registry."""

from __future__ import annotations

from pathlib import Path

from posewright.formats.kinds import NATIVE, ROBOPLUS_TEXT
from posewright.formats.motion_file import MotionFile, PageLabel
from posewright.formats.motion_format import MotionFormat
from posewright.formats.native.document import read, render, standing_at
from posewright.formats.motion_file import origin_of
from posewright.formats.motion_format import EXACT, Rendering, WriteOptions, as_they_are
from posewright.motions import Motion
from posewright.robots import Robot


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    motion = read(data, path, card)
    return MotionFile(NATIVE, path, (motion,), (PageLabel(1, motion.name),), document=data)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del options
    return Rendering(render(motion, standing_at(path, motion)), _losses(motion), (), as_they_are(motion))


def _losses(motion: Motion) -> tuple[str, ...]:
    """Return what a native file cannot hold: it is one motion, and has no other pages to lead to."""
    if origin_of(motion, ROBOPLUS_TEXT) is None:
        return ()
    links = (("next", motion.next), ("exit", motion.exit))
    return tuple(
        f"{what} page {to}: it stays behind in the file it came from" for what, to in links if to is not None
    )


FORMAT = MotionFormat(NATIVE, (".motion.yaml", ".yaml", ".yml"), _read, _render, EXACT)
