"""OMTN motions, for the registry."""

from __future__ import annotations

from pathlib import Path

from posewright.formats.file_kind import FileKind, begins, begins_in_gzip
from posewright.formats.motion_file import MotionFile, Origin
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions
from posewright.formats.omtn.document import MAGIC, OMTN
from posewright.formats.omtn.from_motion import rendering_of
from posewright.formats.omtn.layout import unnamed_in
from posewright.formats.omtn.reader import read_omtn
from posewright.formats.omtn.to_motion import NAMING, card_for, is_listed, omtn_motion
from posewright.motions import Motion
from posewright.robots import Robot

QUANTUM = Quantum(angle_rad=1e-6, time_s=0.016)
"""A micro-radian, and two frames of the robot."""


def _read(data: bytes, path: Path, asked: Robot | None) -> MotionFile:
    document = read_omtn(data, path)
    card = card_for(document, asked)
    remarks = document.remarks
    if not is_listed(card):
        remarks += (f"nobody has a card of {card.name}: its joints are called as in the file",)
    origin = Origin(OMTN, document, remarks=remarks, path=path, robot=card)
    motion = omtn_motion(document, card, unnamed_in(path), origin)
    return MotionFile.of_one(OMTN, path, motion, remarks, document)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del path, options
    return rendering_of(motion)


FORMAT = MotionFormat(
    FileKind(OMTN, "a Sony AIBO motion (OMTN)", begins(MAGIC)),
    (".mtn",),
    _read,
    _render,
    QUANTUM,
    suits=lambda card: NAMING in card.namings,
    wrapped=(FileKind(f"{OMTN}-gzip", "a Sony AIBO motion (OMTN) inside gzip", begins_in_gzip(MAGIC)),),
)
