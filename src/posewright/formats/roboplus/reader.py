"""Reading RoboPlus text files: lines to pages, with a remark on what is unusual but unambiguous.

Source: formats.md section 2.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.file_kind import BOM
from posewright.formats.roboplus.document import (
    MAX_PAGES,
    MAX_STEPS,
    MAX_STEPS_IN_FILE,
    Page,
    RoboplusDocument,
    Step,
    Trailer,
    split_trailer,
    trailer_remarks,
)
from posewright.formats.roboplus.to_motion import GRID_S, MAX_COMPLIANCE, ValueReader
from posewright.formats.text_lines import Remarks, TextLine, quote_bytes, split_lines

_PAGE_KEYS = (b"name", b"compliance", b"play_param")
_LONGEST_TRAILER = 64


def read_roboplus(data: bytes, path: Path | None = None) -> RoboplusDocument:
    """Read the bytes of a RoboPlus text file.

    Raises:
        FormatError: it is cut off or malformed.
    """
    body, trailer = split_trailer(data)
    if re.search(rb"^(page_begin|step=)", trailer, re.MULTILINE):  # cut off inside a later page
        body = data
        trailer = b""
    reader = _RoboplusReader(path)
    document = reader.read(body)
    _require_complete(len(document.pages), body, trailer, path)
    for remark in trailer_remarks(body, Trailer.read(trailer)):
        reader.remarks.add(remark)
    return replace(document, trailer=trailer, remarks=reader.remarks.all)


def _require_complete(n_pages: int, body: bytes, trailer: bytes, path: Path | None) -> None:
    """Raise FormatError for a file cut off between two pages; a file with fewer pages has a trailer."""
    where = Where(path=path, line=body.count(b"\n") + 1)
    is_cut_page_begin = b"page_begin".startswith(trailer)
    has_no_trailer = not trailer.strip(b"\r\n") or is_cut_page_begin
    if n_pages < MAX_PAGES and has_no_trailer:
        message = f"the file ends after page {n_pages} without a checksum: it was cut off"
        hint = f"RoboPlus writes {MAX_PAGES} pages, empty ones too, and two bytes of checksum"
        raise FormatError(message, where=where, hint=hint)
    if len(trailer) > _LONGEST_TRAILER:
        message = f"{len(trailer)} bytes follow the last page; found {quote_bytes(trailer)}"
        raise FormatError(message, where=where, hint="write two bytes of checksum only")


@dataclass
class _RoboplusReader:
    """Reads the lines of one file.

    Attributes:
        path: the file, for messages.
        remarks: what is unusual about it.
        values: reads the values of its lines.
        enabled: for each ID 0..25, whether the file moves it; None before its `enable=` line.
    """

    path: Path | None
    remarks: Remarks = field(default_factory=Remarks)

    def __post_init__(self) -> None:
        self.values = ValueReader(self.remarks)
        self.enabled: tuple[bool, ...] | None = None

    def read(self, body: bytes) -> RoboplusDocument:
        """Read the document from the bytes before its checksum."""
        if not body.startswith(BOM):
            self.remarks.add("the byte order mark (EF BB BF) at the beginning was stripped")
        if b"\r\n" in body:
            self.remarks.add("the lines end in CRLF; RoboPlus writes LF")
        lines = split_lines(body.removeprefix(BOM), self.path)
        page_lines = (index for index, line in enumerate(lines) if line.text == b"page_begin")
        n_head_lines = next(page_lines, len(lines))
        self._read_head(lines[:n_head_lines])
        if self.enabled is None:
            raise FormatError("there is no enable= line before the first page", where=Where(self.path, 1))
        pages = self._read_pages(lines[n_head_lines:])
        self._remark_dead_ends(pages)
        if self.values.n_off_grid > 1:
            self.remarks.add(f"{self.values.n_off_grid} times in all are not multiples of {GRID_S:g} s")
        n_page_bytes = sum(len(line.raw) for line in lines[n_head_lines:])
        head = body[: len(body) - n_page_bytes]
        return RoboplusDocument(head, self.enabled, self.values.motor_types, pages)

    def _read_head(self, lines: list[TextLine]) -> None:
        """Read the lines before the first page, with each key once."""
        keys: set[bytes] = set()
        for line in lines:
            if not line.text:
                continue
            if not keys and line.text != b"type=motion":
                line.fail("not a RoboPlus motion", hint="the first line must be type=motion")
            if line.key in keys:
                message = f"a second {line.key.decode('latin-1')}= line"
                line.fail(message, hint="write each key once before the pages")
            keys.add(line.key)
            self._read_head_line(line)

    def _read_head_line(self, line: TextLine) -> None:
        """Store the value of a line before the first page."""
        if line.key == b"version":
            self.values.check_version(line)
        elif line.key == b"enable":
            self.enabled = tuple(bool(flag) for flag in self.values.read_numbers(line, high=1))
        elif line.key == b"motor_type":
            self.values.motor_types = self.values.read_numbers(line, high=255)
        elif line.key in (b"step", b"page_end", *_PAGE_KEYS):
            line.fail(f"{line.key.decode()} outside a page", hint="write page_begin before it")
        elif line.key != b"type":
            self._note_unknown(line)

    def _note_unknown(self, line: TextLine) -> None:
        if b"=" not in line.text:
            line.fail("not a line of a RoboPlus motion", hint="write key=value, page_begin or page_end")
        self.remarks.add(f"unknown key {quote_bytes(line.key)}; it is kept", line)

    def _read_pages(self, lines: list[TextLine]) -> tuple[Page, ...]:
        """Read the pages, and remark on missing empty ones."""
        pages: list[Page] = []
        for chunk in _page_lines(lines):
            if len(pages) == MAX_PAGES:
                chunk[0].fail(f"more than {MAX_PAGES} pages", hint="a controller has no more: split the file")
            pages.append(self._read_page(chunk))
        if not pages:
            raise FormatError(
                "the file has no pages", where=Where(self.path, 1), hint="page_begin starts one"
            )
        if len(pages) < MAX_PAGES:
            self.remarks.add(f"there are {len(pages)} pages; RoboPlus writes {MAX_PAGES}, empty ones too")
        return tuple(pages)

    def _read_page(self, lines: list[TextLine]) -> Page:
        """Read a page from its lines, with each key once and at least one line of each."""
        lines_by_key: dict[bytes, TextLine] = {}
        steps: list[Step] = []
        for line in _content_lines(lines):
            if line.key == b"step":
                steps.append(self.values.read_step(line))
            elif line.key in _PAGE_KEYS and b"=" in line.text:
                if line.key in lines_by_key:
                    line.fail(f"a second {line.key.decode()}= line in a page", hint="write it once per page")
                lines_by_key[line.key] = line
            else:
                self._note_unknown(line)
        end_line = lines[-1]
        for key in _PAGE_KEYS:
            if key not in lines_by_key:
                end_line.fail(f"the page has no {key.decode()}= line", hint="write it once per page")
        if len(steps) > MAX_STEPS_IN_FILE:
            end_line.fail(f"a page of {len(steps)} steps", hint=f"a whole file holds {MAX_STEPS_IN_FILE}")
        if len(steps) > MAX_STEPS:
            self.remarks.add(f"a page has {len(steps)} steps; a controller plays {MAX_STEPS}", end_line)
        return Page(
            lines_by_key[b"name"].value,
            compliance=self.values.read_numbers(lines_by_key[b"compliance"], high=MAX_COMPLIANCE),
            play=self.values.read_play_param(lines_by_key[b"play_param"]),
            steps=tuple(steps),
            lines=tuple(line.raw for line in lines),
        )

    def _remark_dead_ends(self, pages: tuple[Page, ...]) -> None:
        """Add remarks on next and exit pages that are empty, where a controller stops."""
        filled_pages = {number for number, page in enumerate(pages, 1) if not page.is_empty}
        for number in sorted(filled_pages):
            play = pages[number - 1].play
            for kind, target in (("next", play.next), ("exit", play.exit)):
                if target and target not in filled_pages:
                    self.remarks.add(f"page {number}: its {kind} page {target} is empty, so it stops there")


def _page_lines(lines: list[TextLine]) -> Iterator[list[TextLine]]:
    """Yield the lines of each page up to its page_end, and last the lines that no page_end closes."""
    chunk: list[TextLine] = []
    for line in lines:
        chunk.append(line)
        if line.text == b"page_end":
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _content_lines(lines: list[TextLine]) -> Iterator[TextLine]:
    """Yield the lines of a page between page_begin and page_end that are not blank.

    Raises:
        FormatError: page_begin or page_end is missing, or there is a second page_begin.
    """
    is_open = False
    for line in lines:
        if line.text == b"page_begin":
            if is_open:
                line.fail("page_begin inside a page", hint="write page_end before it")
            is_open = True
        elif line.text and not is_open:
            line.fail("a line outside a page", hint="write page_begin before it")
        elif line.text not in (b"", b"page_end"):
            yield line
    if lines[-1].text != b"page_end":
        lines[-1].fail("the file ends inside a page: it was cut off", hint="the last line must be page_end")
