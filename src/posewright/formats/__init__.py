"""Motion files: recognized by their content, read, written and converted; unedited files byte for byte.

Names load on first use: listing an archive loads no NumPy, and reading a format loads no other format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.formats.arena_import import ARENA_SUFFIXES as ARENA_SUFFIXES
    from posewright.formats.arena_import import import_arena as import_arena
    from posewright.formats.binary import GzipWrapping as GzipWrapping
    from posewright.formats.default_angles import STAND as STAND
    from posewright.formats.default_angles import moved_joints as moved_joints
    from posewright.formats.description import describe_motion_file as describe_motion_file
    from posewright.formats.description import motion_file_lines as motion_file_lines
    from posewright.formats.file_kind import ARCHIVE_MARKS as ARCHIVE_MARKS
    from posewright.formats.file_kind import Evidence as Evidence
    from posewright.formats.file_kind import FileContent as FileContent
    from posewright.formats.file_kind import FileKind as FileKind
    from posewright.formats.file_kind import gzip_starts_with as gzip_starts_with
    from posewright.formats.file_kind import has_xml_root as has_xml_root
    from posewright.formats.file_kind import is_text as is_text
    from posewright.formats.file_kind import read_file_bytes as read_file_bytes
    from posewright.formats.file_kind import starts_with as starts_with
    from posewright.formats.file_kind import text_matches as text_matches
    from posewright.formats.motion_file import LazyMotions as LazyMotions
    from posewright.formats.motion_file import MotionFile as MotionFile
    from posewright.formats.motion_file import Origin as Origin
    from posewright.formats.motion_file import PageLabel as PageLabel
    from posewright.formats.motion_file import PageReference as PageReference
    from posewright.formats.motion_file import describe_retargeting_losses as describe_retargeting_losses
    from posewright.formats.motion_file import describe_unmoved_joints as describe_unmoved_joints
    from posewright.formats.motion_file import origin_of as origin_of
    from posewright.formats.motion_file import retarget_file_to_robot as retarget_file_to_robot
    from posewright.formats.motion_file import retarget_to_robot as retarget_to_robot
    from posewright.formats.motion_format import KeyTimes as KeyTimes
    from posewright.formats.motion_format import MotionFormat as MotionFormat
    from posewright.formats.motion_format import Quantum as Quantum
    from posewright.formats.motion_format import Rendering as Rendering
    from posewright.formats.motion_format import Rounding as Rounding
    from posewright.formats.motion_format import WriteOptions as WriteOptions
    from posewright.formats.native.format import NATIVE as NATIVE
    from posewright.formats.oda.archive import ODA as ODA
    from posewright.formats.oda.archive import Compression as Compression
    from posewright.formats.oda.archive import EntryKind as EntryKind
    from posewright.formats.oda.archive import OdaArchive as OdaArchive
    from posewright.formats.oda.archive import OdaEntry as OdaEntry
    from posewright.formats.oda.extraction import Extraction as Extraction
    from posewright.formats.oda.extraction import extract_archive as extract_archive
    from posewright.formats.oda.files import WrittenArchive as WrittenArchive
    from posewright.formats.oda.files import add_to_archive as add_to_archive
    from posewright.formats.oda.files import archives_in as archives_in
    from posewright.formats.oda.files import create_archive as create_archive
    from posewright.formats.oda.files import read_archive_file as read_archive_file
    from posewright.formats.oda.files import remove_from_archive as remove_from_archive
    from posewright.formats.oda.files import write_archive_file as write_archive_file
    from posewright.formats.oda.format import archive_motion as archive_motion
    from posewright.formats.oda.format import document_of as document_of
    from posewright.formats.omtn.document import OMTN as OMTN
    from posewright.formats.omtn.document import OmtnDocument as OmtnDocument
    from posewright.formats.omtn.reader import MotionLabel as MotionLabel
    from posewright.formats.omtn.reader import label_of as label_of
    from posewright.formats.omtn.reader import read_omtn as read_omtn
    from posewright.formats.omtn.to_motion import DESIGN as DESIGN
    from posewright.formats.omtn.to_motion import sdk_path as sdk_path
    from posewright.formats.reading import detect_format as detect_format
    from posewright.formats.reading import detect_kind as detect_kind
    from posewright.formats.reading import motion_file_in as motion_file_in
    from posewright.formats.reading import raise_if_other_kind as raise_if_other_kind
    from posewright.formats.reading import read_linked_motions as read_linked_motions
    from posewright.formats.reading import read_motion as read_motion
    from posewright.formats.reading import read_motion_file as read_motion_file
    from posewright.formats.reading import read_to_carry as read_to_carry
    from posewright.formats.registry import FORMATS as FORMATS
    from posewright.formats.registry import format_for as format_for
    from posewright.formats.registry import format_named as format_named
    from posewright.formats.roboplus.document import ROBOPLUS_TEXT as ROBOPLUS_TEXT
    from posewright.formats.text_lines import TextLine as TextLine
    from posewright.formats.text_lines import quote_bytes as quote_bytes
    from posewright.formats.text_lines import split_lines as split_lines
    from posewright.formats.uc3m import Velocity as Velocity
    from posewright.formats.uc3m import document_velocity as document_velocity
    from posewright.formats.uc3m import step_speeds as step_speeds
    from posewright.formats.uc3m import table_with as table_with
    from posewright.formats.writing import Conversion as Conversion
    from posewright.formats.writing import convert_motion as convert_motion
    from posewright.formats.writing import losses as losses
    from posewright.formats.writing import preview_motion as preview_motion
    from posewright.formats.writing import require_no_losses as require_no_losses
    from posewright.formats.writing import write_motion as write_motion
    from posewright.formats.writing import write_motion_file as write_motion_file
    from posewright.motions import robot_of_motion as robot_of_motion
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
