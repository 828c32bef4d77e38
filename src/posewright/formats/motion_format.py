"""A format of motion files, as the registry knows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from posewright.formats.motion_file import MotionFile
from posewright.formats.rendering import Quantum, Rendering, WriteOptions
from posewright.motions import Motion, straightened
from posewright.robots import Robot


@dataclass(frozen=True)
class MotionFormat:
    """A format that is read and written.

    Attributes:
        name: its name in programs.
        suffixes: of file names to write it under; for reading they mean nothing.
        read: bytes, path and the robot asked for, if one was, to the file.
        render: a motion, the path it will have and what is asked, to the file's bytes.
        quantum: its smallest steps.
        suits: whether motions of a robot can be written so at all; tells apart formats of one suffix.
        stands_alone: whether its files never load others; only those are kept between two readings.
        render_file: a file of several motions, some perhaps edited, to its bytes; None where a file is
            one motion.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[bytes, Path, Robot | None], MotionFile]
    render: Callable[[Motion, Path, WriteOptions], Rendering]
    quantum: Quantum
    suits: Callable[[Robot], bool] = lambda _: True
    render_file: Callable[[MotionFile], Rendering] | None = None
    stands_alone: bool = True

    def prepared(self, motion: Motion, options: WriteOptions) -> Motion:
        """Return the motion as it is to be rendered: straightened on the format's clock, if that is asked."""
        return straightened(motion, grid_s=self.quantum.time_s) if options.straighten else motion
