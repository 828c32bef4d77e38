"""Webots' motions, for the registry."""

from __future__ import annotations

from pathlib import Path

from posewright.formats.file_kind import FileKind, says
from posewright.formats.motion_file import MotionFile
from posewright.formats.motion_format import MotionFormat, Quantum
from posewright.formats.text_lines import QUANTUM_RAD
from posewright.formats.webots.document import WEBOTS, nearly, read_table, robot_for
from posewright.formats.webots.motion import strangers, table_motion, table_with
from posewright.robots import Robot


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    table = read_table(data, path)
    remarks = list(table.remarks)
    if card is None:
        card = robot_for(table.devices)
        remarks += filter(None, [nearly(table.devices)])
    motion = table_motion(table, card, path)
    strange = strangers(table, card)
    if strange:
        remarks.append(f"{card.name} has no devices {', '.join(strange)}: left out")
    return MotionFile.of_one(WEBOTS, path, motion, remarks, table)


FORMAT = MotionFormat(
    FileKind(WEBOTS, "a Webots motion", says(rb"\A#WEBOTS_MOTION\b")),
    (".motion",),
    _read,
    table_with,
    Quantum(angle_rad=QUANTUM_RAD, time_s=0.001),
)
