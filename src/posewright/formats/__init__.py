"""Motion files: told by their content, read, written, converted; byte for byte where nothing was edited."""

from __future__ import annotations

from posewright.formats.conversion import Conversion, Rounding, convert_motion, for_robot
from posewright.formats.detect import detect_format
from posewright.formats.motion_file import MotionFile, PageLabel
from posewright.formats.motion_format import MotionFormat
from posewright.formats.origin import Origin, card_of, origin_of
from posewright.formats.reading import read_motion, read_motion_file
from posewright.formats.registry import FORMATS
from posewright.formats.rendering import KeyTimes, Quantum, Rendering, WriteOptions
from posewright.formats.uc3m.table_motion import table_with
from posewright.formats.uc3m.velocity import Velocity, document_velocity, step_speeds
from posewright.formats.writing import losses, write_motion, write_motion_file

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
    "card_of",
    "convert_motion",
    "detect_format",
    "document_velocity",
    "for_robot",
    "losses",
    "origin_of",
    "read_motion",
    "read_motion_file",
    "step_speeds",
    "table_with",
    "write_motion",
    "write_motion_file",
]
