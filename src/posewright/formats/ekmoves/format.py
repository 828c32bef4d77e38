"""C headers of AIBO poses, for the registry."""

from __future__ import annotations

import math
from pathlib import Path

from posewright.formats.ekmoves.document import EKMOVES, ORDER, QUANTUM_DEG, QUANTUM_S
from posewright.formats.ekmoves.from_motion import header_with, render_file
from posewright.formats.ekmoves.reader import read_header, series_motion, series_of
from posewright.formats.file_kind import Evidence, FileKind, says
from posewright.formats.motion_file import MotionFile, PageLabel
from posewright.formats.motion_format import MotionFormat, Quantum
from posewright.robots import Robot, robot

ROBOT = "sony_ers7"
"""Whose poses they are: no header says so."""


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    card = robot(ROBOT) if card is None or not suits(card) else card
    header = read_header(data, path)
    series = series_of(header, path)
    motions = tuple(series_motion(header, each, page, card, path) for page, each in enumerate(series, 1))
    return MotionFile(
        EKMOVES,
        path,
        motions,
        tuple(PageLabel(page, motion.name) for page, motion in enumerate(motions, 1)),
        len(motions),
        (*header.remarks, *(remark for each in series for remark in each.remarks)),
        header,
    )


def suits(card: Robot) -> bool:
    """Tell whether a robot has all the joints of a header of poses."""
    return set(ORDER) <= set(card.joint_names)


_ARRAY = rb"^[ \t]*(?:static[ \t]+|const[ \t]+){0,2}(?:double|float)[ \t]+\w+[ \t]*\["

FORMAT = MotionFormat(
    FileKind(EKMOVES, "a C header of AIBO poses (EKMoves.h)", says(_ARRAY), Evidence.LOOSE),
    (".h",),
    _read,
    header_with,
    Quantum(angle_rad=math.radians(QUANTUM_DEG), time_s=QUANTUM_S),
    suits=suits,
    render_file=render_file,
)
