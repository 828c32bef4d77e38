"""Tekkotsu's sequences and postures, for the registry."""

from __future__ import annotations

from pathlib import Path

from posewright.formats.file_kind import FileKind, says
from posewright.formats.motion_file import MotionFile
from posewright.formats.motion_format import MotionFormat, Quantum
from posewright.formats.tekkotsu.document import (
    NAMING,
    TEKKOTSU_MOT,
    TEKKOTSU_POS,
    SettingsDocument,
    robot_of,
    tracks_of,
)
from posewright.formats.tekkotsu.from_motion import posture_with, sequence_with
from posewright.formats.tekkotsu.posture_reader import read_posture
from posewright.formats.tekkotsu.sequence_reader import read_sequence
from posewright.formats.tekkotsu.to_motion import motion_of, remarks_on
from posewright.formats.text_lines import QUANTUM_RAD
from posewright.robots import Robot


def _read_sequence(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    return _file(read_sequence(data, path), path, card, TEKKOTSU_MOT)


def _read_posture(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    return _file(read_posture(data, path), path, card, TEKKOTSU_POS)


def _file(document: SettingsDocument, path: Path, card: Robot | None, kind: str) -> MotionFile:
    card = robot_of(setting.name for setting in document.settings) if card is None else card
    tracks = tracks_of(document.settings, card)
    motion = motion_of(document, tracks, card, path, kind)
    return MotionFile.of_one(kind, path, motion, remarks_on(document, tracks, card), document)


def _suits(card: Robot) -> bool:
    return NAMING in card.namings


MOT = MotionFormat(
    FileKind(TEKKOTSU_MOT, "a Tekkotsu motion sequence (#MSq)", says(rb"\A#MSq\b")),
    (".mot",),
    _read_sequence,
    sequence_with,
    Quantum(angle_rad=QUANTUM_RAD, time_s=0.001),
    suits=_suits,
    stands_alone=False,
)

POS = MotionFormat(
    FileKind(TEKKOTSU_POS, "a Tekkotsu posture (#POS)", says(rb"\A#POS\b")),
    (".pos",),
    _read_posture,
    posture_with,
    Quantum(angle_rad=QUANTUM_RAD),
    suits=_suits,
    stands_alone=False,
)
