"""Reads a C header of AIBO poses (EKMoves.h): its arrays, among other C code, grouped to motions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np

from posewright.errors import FormatError, Where
from posewright.formats.ekmoves.document import (
    DEFAULT_REACH_S,
    EKMOVES,
    JOINT_ORDER,
    MOTION,
    PoseArray,
    PoseHeader,
    Series,
    Span,
    Timing,
    find_notes,
    find_timing,
    split_name,
)
from posewright.formats.motion_file import Origin
from posewright.formats.text_lines import MAX_LINES, MAX_REMARKS, Remarks, TextLine, quote_bytes
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot

MAX_DEG = 360.0  # no joint turns further than a full turn, and an MTN holds no more
MAX_ARRAYS = 10_000
MAX_COMMENTS = 200_000

# Matches comments, strings, characters and preprocessor lines. No alternative can fail once it has begun, and
# none backtracks, so the time grows linearly with the size of the file.
_NON_CODE = re.compile(
    rb"//(?:[^\\\n]++|\\(?:\r\n|[\s\S])?)*+"
    rb"|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?"
    rb'|"(?:[^"\\\n]++|\\(?:\r\n|[\s\S])?)*+"?'
    rb"|'(?:[^'\\\n]++|\\(?:\r\n|[\s\S])?)*+'?"
    rb"|^[ \t]*+#(?:[^\\\n/]++|\\(?:\r\n|[\s\S])?|/(?![/*]))*+",
    re.MULTILINE,
)
# groups: the name, the size, the numbers, the closing brace
_ARRAY = re.compile(
    rb"\b(?:double|float)\b\s*+(?:const\b\s*+)?(?P<name>[A-Za-z_]\w*+)\s*+"
    rb"\[\s*+(?P<size>\w*+)\s*+\]\s*+=\s*+\{(?P<numbers>[^{}]*+)(?P<brace>\}?)"
)
_FLOATING_TYPE = re.compile(rb"\b(?:double|float)\b")
_NUMBER = re.compile(
    rb"([+-]?)\s{0,8}((?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?)[fFlL]?"
)
_OCTAL = re.compile(rb"0[0-9]+")
_SEMICOLON = re.compile(rb"\s*+;")
_MAX_QUOTED_BYTES = 200  # of a line in a message; a single line may be as long as a large file


def read_header(data: bytes, path: Path | None = None) -> PoseHeader:
    """Read the bytes of a header.

    Raises:
        FormatError: there is no array of angles, an array is invalid, or the file is too large.
    """
    reader = _Reader(data, path)
    arrays = tuple(reader.read_arrays()) if _FLOATING_TYPE.search(data) else ()
    if not arrays:
        hint = f"expected const double NAME[] = {{{len(JOINT_ORDER)} numbers}};"
        raise FormatError("no array of angles", where=Where(path, 1), hint=hint)
    return PoseHeader(data, arrays, reader.remarks.all)


def blank_non_code(data: bytes, path: Path | None = None) -> bytes:
    """Return C source with blanks for comments, strings and preprocessor lines; all positions stay the same.

    Raises:
        FormatError: there are more than `MAX_COMMENTS` of them.
    """
    pieces: list[bytes] = []
    last_end = 0
    for count, match in enumerate(_NON_CODE.finditer(data)):
        if count == MAX_COMMENTS:
            where = Where(path, data.count(b"\n", 0, match.start()) + 1)
            hint = f"at most {MAX_COMMENTS:,} are read"
            raise FormatError("too many comments and strings", where=where, hint=hint)
        pieces += [data[last_end : match.start()], _blanks(match.group())]
        last_end = match.end()
    return b"".join([*pieces, data[last_end:]])


def _blanks(text: bytes) -> bytes:
    """Return a text with a blank for every byte but the line ends."""
    if b"\n" not in text:
        return b" " * len(text)
    return b"\n".join(b" " * len(line) for line in text.split(b"\n"))


class _Reader:
    """Reads the arrays of a header.

    Args:
        data: the bytes of the header.
        path: its file, for messages.
    """

    def __init__(self, data: bytes, path: Path | None) -> None:
        """Store the file, and where its lines end; raise a FormatError if it has too many."""
        n_lines = data.count(b"\n")
        if n_lines > MAX_LINES:
            where = Where(path, MAX_LINES)
            raise FormatError(f"{n_lines:,} lines", where=where, hint=f"at most {MAX_LINES:,} lines are read")
        self._data = data
        self._code = b""  # `data` with blanks for comments and strings, set by `read_arrays`
        self._path = path
        self._newline_offsets = [match.start() for match in re.finditer(rb"\n", data)]
        self.remarks = Remarks()

    def read_arrays(self) -> Iterator[PoseArray]:
        """Yield the arrays of angles; add a remark on each other floating-point declaration.

        Raises:
            FormatError: an array is invalid or declared twice, or there are more than `MAX_ARRAYS`.
        """
        self._code = blank_non_code(self._data, self._path)
        line_by_name: dict[str, int] = {}
        last_end = 0  # where the last array ends, with its comment
        for match in _ARRAY.finditer(self._code):
            self._remark_other_declarations(last_end, match.start())
            array = self._read_array(match, last_end)
            if array.name in line_by_name:
                message = f"array {array.name} is declared twice"
                hint = f"the first is on line {line_by_name[array.name]}; rename one of them"
                self._fail(match.start("name"), message, hint=hint)
            if len(line_by_name) == MAX_ARRAYS:
                message = f"more than {MAX_ARRAYS:,} arrays"
                self._fail(match.start(), message, hint=f"at most {MAX_ARRAYS:,} are read")
            line_by_name[array.name] = array.line
            last_end = array.comment.end
            yield array
        self._remark_other_declarations(last_end, len(self._code))

    def _remark_other_declarations(self, start: int, end: int) -> None:
        """Add a remark for each floating-point declaration between two offsets, up to `MAX_REMARKS`."""
        for match in islice(_FLOATING_TYPE.finditer(self._code, start, end), MAX_REMARKS):
            self.remarks.add("not an array of one pose: left alone", self._line_at(match.start()))

    def _read_array(self, match: re.Match[bytes], previous_end: int) -> PoseArray:
        """Return the array of a match of `_ARRAY`; `previous_end` is where the array before it ends."""
        name = match["name"].decode()
        semicolon = _SEMICOLON.match(self._code, match.end())
        if not match["brace"] or semicolon is None:
            self._fail(match.start("name"), f"array {name} does not end", hint="end it with };")
        cells = tuple(self._find_cells(match))
        size = match["size"].decode()
        is_number = size[:1].isdigit()  # otherwise it is a macro, which may stand for any number, or left out
        has_wrong_size = is_number and size != str(len(JOINT_ORDER))
        if len(cells) != len(JOINT_ORDER) or has_wrong_size:
            size_note = f", but the size [{size}]" if size else ""
            hint = f"write {len(JOINT_ORDER)}: Tilt2, Pan, Tilt1, mouth, and J1 to J3 of LF, LR, RF and RR"
            self._fail(match.start("name"), f"array {name} has {len(cells)} numbers{size_note}", hint=hint)
        line = self._line_at(match.start())
        start = max(self._data.rfind(b"\n", 0, match.start()) + 1, previous_end)
        timing, comment = find_timing(self._data, semicolon.end())
        notes, notes_span = find_notes(self._data, start, previous_end)
        return PoseArray(
            name=name,
            degrees=tuple(self._read_angle(name, cell) for cell in cells),
            line=line.number,
            statement=Span(start, semicolon.end()),
            identifier=Span(*match.span("name")),
            cells=cells,
            timing=timing,
            comment=comment,
            notes=notes,
            notes_span=notes_span,
        )

    def _find_cells(self, match: re.Match[bytes]) -> Iterator[Span]:
        """Yield the span of each number without the blanks around it; the last one may have a comma."""
        cell_start = match.start("numbers")
        text = match["numbers"]
        if not text.strip():
            return
        if text.rstrip().endswith(b","):
            text = text.rstrip()[:-1]
        for cell in text.split(b","):
            n_leading_blanks = len(cell) - len(cell.lstrip())
            start = cell_start + n_leading_blanks
            yield Span(start, start + len(cell.strip()))
            cell_start += len(cell) + 1  # 1 is the comma

    def _read_angle(self, name: str, cell: Span) -> float:
        """Return a number of array `name` [deg]."""
        text = self._code[cell.start : cell.end]
        match = _NUMBER.fullmatch(text)
        if match is None:
            message = f"a number of array {name} is {quote_bytes(text)}"
            self._fail(
                cell.start, message, hint="write a plain number like -12.5; expressions are not computed"
            )
        sign = match[1]
        digits = match[2]
        if _OCTAL.fullmatch(digits):
            message = f"a number of array {name} is {quote_bytes(text)}, which C reads as octal"
            self._fail(cell.start, message, hint="leave out the 0 in front")
        value = float(sign + digits)
        if not abs(value) <= MAX_DEG:
            message = f"a number of array {name} is {quote_bytes(text)}"
            self._fail(cell.start, message, hint="write degrees from -360 to 360")
        return value

    def _line_at(self, offset: int) -> TextLine:
        """Return the line that contains a byte, cut to what a message may quote."""
        line_index = bisect_right(self._newline_offsets, offset - 1)
        start = self._newline_offsets[line_index - 1] + 1 if line_index else 0
        end = self._data.find(b"\n", start, start + _MAX_QUOTED_BYTES)
        if end < 0:
            end = start + _MAX_QUOTED_BYTES
        return TextLine(self._data[start:end], line_index + 1, self._path)

    def _fail(self, offset: int, message: str, *, hint: str) -> NoReturn:
        """Raise a FormatError at the line that contains a byte."""
        self._line_at(offset).fail(message, hint=hint)


_MAX_NAME_LENGTH = 60


def c_name(name: str) -> str:
    """Return a motion's name as a C identifier in capitals, as in EKMoves.h; so it is never a keyword."""
    plain = re.sub(r"[^A-Z0-9_]", "_", name.upper())[:_MAX_NAME_LENGTH]
    return plain if plain and not plain[0].isdigit() else f"MOTION_{plain}"


def series_of(header: PoseHeader, path: Path | None = None) -> tuple[Series, ...]:
    """Return the motions of a header, in the order of their first arrays.

    Raises:
        FormatError: two arrays of a motion have the same pose number.
    """
    all_names = frozenset(array.name for array in header.arrays)
    # by motion name and whether the arrays have pose numbers: KICK and KICK_01 are two motions
    groups: dict[tuple[str, bool], dict[int, PoseArray]] = {}
    for array in header.arrays:
        motion_name, pose_number = split_name(array.name, all_names)
        is_numbered = pose_number is not None
        arrays_by_number = groups.setdefault((motion_name, is_numbered), {})
        existing = arrays_by_number.setdefault(pose_number or 0, array)
        if existing is not array:
            message = f"{array.name} and {existing.name} are both pose {pose_number}"
            raise FormatError(message, where=Where(path, array.line), hint="give each pose its own number")
    return tuple(
        _build_series(name, arrays_by_number, is_numbered=is_numbered)
        for (name, is_numbered), arrays_by_number in groups.items()
    )


def _build_series(name: str, arrays_by_number: dict[int, PoseArray], *, is_numbered: bool) -> Series:
    """Return the arrays of a name as a series in the order of their numbers, with remarks about gaps."""
    numbers = sorted(arrays_by_number)
    remarks: list[str] = []
    if numbers[0] > 1:
        remarks.append(f"{name} begins with pose {numbers[0]}")
    for number, next_number in pairwise(numbers):
        if next_number != number + 1:
            remarks.append(f"{name} has a gap between pose {number} and pose {next_number}")
    if list(arrays_by_number) != numbers:
        remarks.append(f"{name}: the poses are read in the order of their numbers, not of the file")
    return Series(
        name, tuple(arrays_by_number[number] for number in numbers), is_numbered, remarks=tuple(remarks)
    )


def series_motion(
    header: PoseHeader, series: Series, page: int, card: Robot, path: Path | None = None
) -> Motion:
    """Return a series as a motion of a robot.

    Args:
        header: the document, which becomes the motion's origin.
        series: one of the header's series.
        page: its number in the header, from 1.
        card: the robot.
        path: the header's file.
    """
    notes = dict(series.arrays[0].notes)
    noted_name = notes.pop(MOTION, series.name)
    # a note of another name is out of date: somebody has renamed the arrays
    is_current = c_name(noted_name) == series.name.upper()
    return Motion(
        noted_name if is_current else series.name,
        robot=card.name,
        joints=JOINT_ORDER,
        keyframes=tuple(_keyframes(series)),
        source="C header of poses (EKMoves.h)",
        extras=notes,
        origin=Origin(EKMOVES, header, page, remarks=header.remarks, path=path, robot=card),
    )


def _keyframes(series: Series) -> Iterator[Keyframe]:
    for index, array in enumerate(series.arrays):
        timing = timing_of(array, index)
        pose = Pose(JOINT_ORDER, np.radians(array.degrees))
        yield Keyframe(pose, timing.reach_s, timing.pause_s, attitude=timing.attitude)


def timing_of(array: PoseArray, index: int) -> Timing:
    """Return the timing of a motion's array number `index`: by its comment, otherwise by EKMotion."""
    return array.timing or Timing(DEFAULT_REACH_S if index else 0.0)
