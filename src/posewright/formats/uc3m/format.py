"""The source document's joint tables, for the registry."""

from __future__ import annotations

import math
from pathlib import Path

from posewright.formats.file_kind import FileKind, says
from posewright.formats.motion_file import MotionFile
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions
from posewright.formats.uc3m.joint_table import UC3M_CSV, read_table
from posewright.formats.uc3m.table_motion import NUMBERING, table_motion, table_with
from posewright.motions import Motion
from posewright.robots import Robot, robot

ROBOT = "robotis_bioloid"
"""Whose joints the document numbered."""

QUANTUM = Quantum(angle_rad=math.radians(300.0 / 1024.0))
"""A tick of an AX servo; a table says no times at all."""


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    table = read_table(data, path)
    motion = table_motion(table, robot(ROBOT) if card is None else card, name=path.stem, path=path)
    return MotionFile.of_one(UC3M_CSV, path, motion, table.remarks, table)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del path, options
    table, losses = table_with(motion)
    return Rendering(table.render(), losses)


FORMAT = MotionFormat(
    FileKind(
        UC3M_CSV, "a joint table of the source document", says(rb"\Athesis_id[ \t]*,[ \t]*initial_deg\b")
    ),
    (".csv",),
    _read,
    _render,
    QUANTUM,
    suits=lambda card: NUMBERING in card.numberings,
)
