"""Reading a C header of AIBO poses (EKMoves.h): the arrays, wherever they stand, and their motions."""

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
    MOTION,
    ORDER,
    PoseArray,
    PoseHeader,
    Series,
    Span,
    Timing,
    notes_before,
    split_name,
    timing_at,
)
from posewright.formats.motion_file import Origin
from posewright.formats.text_lines import MAX_LINES, MAX_REMARKS, Remarks, TextLine, quote_bytes
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot

MAX_DEG = 360.0  # no joint turns further than once round; an MTN holds no more
MAX_ARRAYS = 10_000
MAX_COMMENTS = 200_000

# what is no code: comments, strings, characters, preprocessor lines. Nothing in here can fail after it has
# begun, and nothing is tried twice, so that a file takes as long as it is long.
_NO_CODE = re.compile(
    rb"//(?:[^\\\n]++|\\(?:\r\n|[\s\S])?)*+"
    rb"|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?"
    rb'|"(?:[^"\\\n]++|\\(?:\r\n|[\s\S])?)*+"?'
    rb"|'(?:[^'\\\n]++|\\(?:\r\n|[\s\S])?)*+'?"
    rb"|^[ \t]*+#(?:[^\\\n/]++|\\(?:\r\n|[\s\S])?|/(?![/*]))*+",
    re.MULTILINE,
)
_ARRAY = re.compile(
    rb"\b(?:double|float)\b\s*+(?:const\b\s*+)?([A-Za-z_]\w*+)\s*+\[\s*+(\w*+)\s*+\]\s*+=\s*+\{([^{}]*+)(\}?)"
)
_FLOATING = re.compile(rb"\b(?:double|float)\b")
_NUMBER = re.compile(
    rb"([+-]?)\s{0,8}((?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?)[fFlL]?"
)
_OCTAL = re.compile(rb"0[0-9]+")
_SEMICOLON = re.compile(rb"\s*+;")
_SHOWN_BYTES = 200  # of a line in a message; one line may be the whole of a large file


def read_header(data: bytes, path: Path | None = None) -> PoseHeader:
    """Read the bytes of a header."""
    reader = _Reader(data, path)
    arrays = tuple(reader.arrays()) if _FLOATING.search(data) else ()
    if not arrays:
        hint = f"const double NAME[] = {{{len(ORDER)} numbers}};"
        raise FormatError("no array of angles", where=Where(path, 1), hint=hint)
    return PoseHeader(data, arrays, reader.remarks.all)


def code_of(data: bytes, path: Path | None = None) -> bytes:
    """Return the bytes with blanks for all that is no code; every line and every place stays where it was."""
    pieces, last = [], 0
    for count, found in enumerate(_NO_CODE.finditer(data)):
        if count == MAX_COMMENTS:
            where = Where(path, data.count(b"\n", 0, found.start()) + 1)
            hint = f"no honest header has more than {MAX_COMMENTS:,}"
            raise FormatError("comments and strings without end", where=where, hint=hint)
        pieces += [data[last : found.start()], _blanks(found.group())]
        last = found.end()
    return b"".join([*pieces, data[last:]])


def _blanks(text: bytes) -> bytes:
    if b"\n" not in text:
        return b" " * len(text)
    return b"\n".join(b" " * len(line) for line in text.split(b"\n"))


class _Reader:
    """Knows the file's bytes, its code and where its lines begin."""

    def __init__(self, data: bytes, path: Path | None) -> None:
        count = data.count(b"\n")
        if count > MAX_LINES:
            where, hint = Where(path, MAX_LINES), f"no honest header has more than {MAX_LINES:,}"
            raise FormatError(f"{count:,} lines", where=where, hint=hint)
        self._data, self._code, self._path = data, b"", path
        self._newlines = [found.start() for found in re.finditer(rb"\n", data)]
        self.remarks = Remarks()

    def arrays(self) -> Iterator[PoseArray]:
        self._code = code_of(self._data, self._path)
        names: dict[str, int] = {}
        last = 0
        for found in _ARRAY.finditer(self._code):
            self._remark_others(last, found.start())
            array = self._array(found, last)
            if array.name in names:
                what = f"{array.name} for the second time"
                self._fail(found.start(1), what, hint=f"see line {names[array.name]}")
            if len(names) > MAX_ARRAYS:
                what = f"more than {MAX_ARRAYS:,} arrays"
                self._fail(found.start(), what, hint="no honest header has as many")
            names[array.name] = array.line
            last = array.comment.end
            yield array
        self._remark_others(last, len(self._code))

    def _remark_others(self, at: int, end: int) -> None:
        for found in islice(_FLOATING.finditer(self._code, at, end), MAX_REMARKS):
            self.remarks.add("no array of one pose: left alone", self._line(found.start()))

    def _array(self, found: re.Match[bytes], last: int) -> PoseArray:
        name = found[1].decode()
        semicolon = _SEMICOLON.match(self._code, found.end())
        if not found[4] or semicolon is None:
            self._fail(found.start(1), f"array {name} does not end", hint="it ends in };")
        cells = tuple(self._cells(found))
        if len(cells) != len(ORDER) or found[2].decode() not in ("", str(len(ORDER)), _word(found[2])):
            said = f" and says [{found[2].decode()}]" if found[2] else ""
            hint = f"{len(ORDER)}: Tilt2, Pan, Tilt1, mouth, and J1 to J3 of LF, LR, RF and RR"
            self._fail(found.start(1), f"array {name} has {len(cells)} numbers{said}", hint=hint)
        line = self._line(found.start())
        begin = max(self._data.rfind(b"\n", 0, found.start()) + 1, last)
        timing, comment = timing_at(self._data, semicolon.end())
        notes, notes_span = notes_before(self._data, begin, last)
        return PoseArray(
            name,
            tuple(self._degrees(name, cell) for cell in cells),
            line.number,
            Span(begin, semicolon.end()),
            Span(*found.span(1)),
            cells,
            timing,
            comment,
            notes,
            notes_span,
        )

    def _cells(self, found: re.Match[bytes]) -> Iterator[Span]:
        """Yield where each number stands, without the blanks around it; one comma may end the list."""
        at, text = found.start(3), found[3]
        if text.rstrip().endswith(b","):
            text = text.rstrip()[:-1]
        for cell in text.split(b",") if text.strip() else ():
            begin = at + len(cell) - len(cell.lstrip())
            yield Span(begin, begin + len(cell.strip()))
            at += len(cell) + 1

    def _degrees(self, name: str, cell: Span) -> float:
        text = self._code[cell.at : cell.end]
        found = _NUMBER.fullmatch(text)
        if found is None:
            what = f"a number of array {name} is {quote_bytes(text)}"
            self._fail(cell.at, what, hint="right is a plain number like -12.5; nothing is computed here")
        if _OCTAL.fullmatch(found[2]):
            message = f"{quote_bytes(text)} in array {name}"
            self._fail(cell.at, message, hint="C takes a 0 in front for octal; leave it out")
        value = float(found[1] + found[2])
        if not abs(value) <= MAX_DEG:
            message = f"a number of array {name} is {quote_bytes(text)}"
            self._fail(cell.at, message, hint="right are degrees within 360")
        return value

    def _line(self, at: int) -> TextLine:
        number = bisect_right(self._newlines, at - 1)
        begin = self._newlines[number - 1] + 1 if number else 0
        end = self._data.find(b"\n", begin, begin + _SHOWN_BYTES)
        return TextLine(self._data[begin : begin + _SHOWN_BYTES if end < 0 else end], number + 1, self._path)

    def _fail(self, at: int, message: str, *, hint: str) -> NoReturn:
        self._line(at).fail(message, hint=hint)


def _word(size: bytes) -> str | None:
    """Return a size that is a name, which may stand for anything; None for a number."""
    return None if size[:1].isdigit() else size.decode()


_LONGEST_NAME = 60


def c_name(name: str) -> str:
    """Return a motion's name as C takes it, in capitals as Eagle Knights wrote them; so it is no keyword."""
    plain = re.sub(r"[^A-Z0-9_]", "_", name.upper())[:_LONGEST_NAME]
    return plain if plain and not plain[0].isdigit() else f"MOTION_{plain}"


def series_of(header: PoseHeader, path: Path | None = None) -> tuple[Series, ...]:
    """Return the motions of a header, in the order in which they begin."""
    names = frozenset(array.name for array in header.arrays)
    groups: dict[tuple[str, bool], dict[int, PoseArray]] = {}
    for array in header.arrays:
        name, number = split_name(array.name, names)
        poses = groups.setdefault((name, number is not None), {})
        if (number or 0) in poses:
            where = Where(path, array.line)
            hint = f"the other is {poses[number or 0].name}"
            raise FormatError(f"{array.name} is pose {number} for the second time", where=where, hint=hint)
        poses[number or 0] = array
    return tuple(_series(name, poses, numbered) for (name, numbered), poses in groups.items())


def _series(name: str, poses: dict[int, PoseArray], is_numbered: bool) -> Series:
    numbers = sorted(poses)
    remarks = []
    if numbers[0] > 1:
        remarks.append(f"{name} begins with pose {numbers[0]}")
    remarks += [f"{name} goes from pose {a} to pose {b}" for a, b in pairwise(numbers) if b != a + 1]
    if list(poses) != numbers:
        remarks.append(f"{name}: the poses do not stand in the order of their numbers, which counts")
    return Series(name, tuple(poses[number] for number in numbers), is_numbered, tuple(remarks))


def series_motion(
    header: PoseHeader, series: Series, page: int, card: Robot, path: Path | None = None
) -> Motion:
    """Return a series as a motion, which remembers the header."""
    notes = dict(series.arrays[0].notes)
    name = notes.pop(MOTION, series.name)
    return Motion(
        name if c_name(name) == series.name.upper() else series.name,
        card.name,
        ORDER,
        tuple(_keyframes(series)),
        source="C header of poses (EKMoves.h)",
        extras=notes,
        origin=Origin(EKMOVES, header, page, remarks=header.remarks, path=path, robot=card),
    )


def _keyframes(series: Series) -> Iterator[Keyframe]:
    for place, array in enumerate(series.arrays):
        timing = timing_of(array, place)
        pose = Pose(ORDER, np.radians(array.degrees))
        yield Keyframe(pose, timing.reach_s, timing.pause_s, attitude=timing.attitude)


def timing_of(array: PoseArray, place: int) -> Timing:
    """Return when the pose at a place of its motion is reached: as our comment says, or as EKMotion did."""
    return array.timing or Timing(DEFAULT_REACH_S if place else 0.0)
