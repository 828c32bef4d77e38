"""Motion files: told by their content, read, written, converted; byte for byte where nothing was edited.

Names load on first use: whoever lists an archive needs no NumPy, and whoever reads one format no other.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posewright.formats.detect import GAIT, detect_format, detect_kind
    from posewright.formats.file_bytes import read_file_bytes
    from posewright.formats.file_kind import (
        Evidence,
        FileContent,
        FileKind,
        begins,
        begins_in_gzip,
        has_root,
        says,
    )
    from posewright.formats.for_robot import file_for_robot
    from posewright.formats.motion_file import LazyMotions, MotionFile, Origin, PageLabel, card_of, origin_of
    from posewright.formats.motion_format import (
        KeyTimes,
        MotionFormat,
        Quantum,
        Rendering,
        Rounding,
        WriteOptions,
    )
    from posewright.formats.native.format import NATIVE
    from posewright.formats.oda.archive import ODA, Compression, OdaArchive
    from posewright.formats.oda.extraction import Extraction, extract_archive
    from posewright.formats.oda.files import (
        Assembled,
        add_to_archive,
        create_archive,
        read_archive_file,
        remove_from_archive,
        write_archive_file,
    )
    from posewright.formats.omtn.document import OMTN
    from posewright.formats.reading import read_motion, read_motion_file
    from posewright.formats.registry import FORMATS, format_for
    from posewright.formats.uc3m.table_motion import Velocity, document_velocity, step_speeds, table_with
    from posewright.formats.writing import Conversion, convert_motion, losses, write_motion, write_motion_file

_ROOM = {
    "GAIT": "detect",
    "detect_format": "detect",
    "detect_kind": "detect",
    "read_file_bytes": "file_bytes",
    "Evidence": "file_kind",
    "FileContent": "file_kind",
    "FileKind": "file_kind",
    "begins": "file_kind",
    "begins_in_gzip": "file_kind",
    "has_root": "file_kind",
    "says": "file_kind",
    "file_for_robot": "for_robot",
    "LazyMotions": "motion_file",
    "MotionFile": "motion_file",
    "Origin": "motion_file",
    "PageLabel": "motion_file",
    "card_of": "motion_file",
    "origin_of": "motion_file",
    "KeyTimes": "motion_format",
    "MotionFormat": "motion_format",
    "Quantum": "motion_format",
    "Rendering": "motion_format",
    "Rounding": "motion_format",
    "WriteOptions": "motion_format",
    "NATIVE": "native.format",
    "ODA": "oda.archive",
    "Compression": "oda.archive",
    "OdaArchive": "oda.archive",
    "Extraction": "oda.extraction",
    "extract_archive": "oda.extraction",
    "Assembled": "oda.files",
    "add_to_archive": "oda.files",
    "create_archive": "oda.files",
    "read_archive_file": "oda.files",
    "remove_from_archive": "oda.files",
    "write_archive_file": "oda.files",
    "OMTN": "omtn.document",
    "read_motion": "reading",
    "read_motion_file": "reading",
    "FORMATS": "registry",
    "format_for": "registry",
    "Velocity": "uc3m.table_motion",
    "document_velocity": "uc3m.table_motion",
    "step_speeds": "uc3m.table_motion",
    "table_with": "uc3m.table_motion",
    "Conversion": "writing",
    "convert_motion": "writing",
    "losses": "writing",
    "write_motion": "writing",
    "write_motion_file": "writing",
}

__all__ = [
    "FORMATS",
    "GAIT",
    "NATIVE",
    "ODA",
    "OMTN",
    "Assembled",
    "Compression",
    "Conversion",
    "Evidence",
    "Extraction",
    "FileContent",
    "FileKind",
    "KeyTimes",
    "LazyMotions",
    "MotionFile",
    "MotionFormat",
    "OdaArchive",
    "Origin",
    "PageLabel",
    "Quantum",
    "Rendering",
    "Rounding",
    "Velocity",
    "WriteOptions",
    "add_to_archive",
    "begins",
    "begins_in_gzip",
    "card_of",
    "convert_motion",
    "create_archive",
    "detect_format",
    "detect_kind",
    "document_velocity",
    "extract_archive",
    "file_for_robot",
    "format_for",
    "has_root",
    "losses",
    "origin_of",
    "read_archive_file",
    "read_file_bytes",
    "read_motion",
    "read_motion_file",
    "remove_from_archive",
    "says",
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
