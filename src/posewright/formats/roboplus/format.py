"""RoboPlus text files, for the registry."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from posewright.formats.file_bytes import BOM
from posewright.formats.file_kind import FileContent, FileKind
from posewright.formats.motion_file import MotionFile, PageLabel, card_of
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions
from posewright.formats.roboplus.document import ROBOPLUS_TEXT, RoboplusDocument
from posewright.formats.roboplus.from_motion import document_with, put_motion
from posewright.formats.roboplus.reader import read_roboplus
from posewright.formats.roboplus.to_motion import NUMBERING, page_motion, remarks_on
from posewright.motions import Motion
from posewright.robots import Robot, robot

ROBOT = "robotis_bioloid"
"""Whose motion a file is: no RoboPlus file says so."""

QUANTUM = Quantum(angle_rad=math.radians(300.0 / 1024.0), time_s=0.008)
"""A tick of an AX servo; times are written in frames of 1/128 s, rounded to whole milliseconds."""


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    card = robot(ROBOT) if card is None else card
    document = read_roboplus(data, path)
    document = replace(document, remarks=document.remarks + remarks_on(document, card))
    numbers = tuple(document.played)
    return MotionFile(
        ROBOPLUS_TEXT,
        path,
        tuple(page_motion(document, number, card, path) for number in numbers),
        tuple(PageLabel(number, document.page_name(number)) for number in numbers),
        len(document.pages),
        document.remarks,
        document,
    )


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del path, options
    document, losses, remarks, times_s = document_with(motion)
    return Rendering(document.render(), losses, remarks, times_s)


def render_file(file: MotionFile, *, repair: bool = False) -> Rendering:
    """Return the file with the motions that were edited; with `repair` its mark and checksum put right."""
    document = file.document
    if not isinstance(document, RoboplusDocument):
        return _render(file.motion(), file.path, WriteOptions())
    losses: list[str] = []
    remarks: list[str] = []
    for label, motion in zip(file.pages, file.motions, strict=True):
        document, lost, said, _ = put_motion(document, label.number, motion, card_of(motion))
        losses += [f"page {label.number}: {loss}" for loss in lost]
        remarks += [f"page {label.number}: {remark}" for remark in said]
    return Rendering((document.repaired() if repair else document).render(), tuple(losses), tuple(remarks))


def _begins(content: FileContent) -> bool:
    """Tell a file by its first line; its checksum makes it no text file."""
    return content.data[:64].removeprefix(BOM).lstrip().startswith(b"type=motion")


FORMAT = MotionFormat(
    FileKind(ROBOPLUS_TEXT, "a ROBOTIS RoboPlus Motion 1 text file", _begins),
    (".mtn",),
    _read,
    _render,
    QUANTUM,
    suits=lambda card: NUMBERING in card.numberings,
    render_file=render_file,
)
