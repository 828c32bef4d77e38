"""Motion files: told by their content, read, written, converted; byte for byte where nothing was edited.

Names load on first use: whoever lists an archive needs no NumPy, and whoever reads one format no other.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posewright.formats.detect import detect_format
    from posewright.formats.for_robot import file_for_robot
    from posewright.formats.motion_file import MotionFile, Origin, PageLabel, card_of, origin_of
    from posewright.formats.motion_format import (
        KeyTimes,
        MotionFormat,
        Quantum,
        Rendering,
        Rounding,
        WriteOptions,
    )
    from posewright.formats.oda.extraction import extract_archive
    from posewright.formats.oda.files import (
        add_to_archive,
        create_archive,
        read_archive_file,
        remove_from_archive,
        write_archive_file,
    )
    from posewright.formats.reading import read_motion, read_motion_file
    from posewright.formats.registry import FORMATS
    from posewright.formats.uc3m.table_motion import Velocity, document_velocity, step_speeds, table_with
    from posewright.formats.writing import Conversion, convert_motion, losses, write_motion, write_motion_file

_ROOM = {
    "extract_archive": "oda.extraction",
    "add_to_archive": "oda.files",
    "create_archive": "oda.files",
    "read_archive_file": "oda.files",
    "remove_from_archive": "oda.files",
    "write_archive_file": "oda.files",
    "Conversion": "writing",
    "Rounding": "motion_format",
    "convert_motion": "writing",
    "detect_format": "detect",
    "file_for_robot": "for_robot",
    "MotionFile": "motion_file",
    "PageLabel": "motion_file",
    "MotionFormat": "motion_format",
    "Origin": "motion_file",
    "card_of": "motion_file",
    "origin_of": "motion_file",
    "read_motion": "reading",
    "read_motion_file": "reading",
    "FORMATS": "registry",
    "KeyTimes": "motion_format",
    "Quantum": "motion_format",
    "Rendering": "motion_format",
    "WriteOptions": "motion_format",
    "table_with": "uc3m.table_motion",
    "Velocity": "uc3m.table_motion",
    "document_velocity": "uc3m.table_motion",
    "step_speeds": "uc3m.table_motion",
    "losses": "writing",
    "write_motion": "writing",
    "write_motion_file": "writing",
}

__all__ = [
    "FORMATS",
    "Conversion",
    "KeyTimes",
    "MotionFile",
    "MotionFormat",
    "Origin",
    "PageLabel",
    "Quantum",
    "Rendering",
    "Rounding",
    "Velocity",
    "WriteOptions",
    "add_to_archive",
    "card_of",
    "convert_motion",
    "create_archive",
    "detect_format",
    "document_velocity",
    "extract_archive",
    "file_for_robot",
    "losses",
    "origin_of",
    "read_archive_file",
    "read_motion",
    "read_motion_file",
    "remove_from_archive",
    "step_speeds",
    "table_with",
    "write_archive_file",
    "write_motion",
    "write_motion_file",
]


if not TYPE_CHECKING:  # else any name, misspelt ones too, would be there for who checks types

    def __getattr__(name: str) -> object:
        if name not in _ROOM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_ROOM[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
