"""Reading RoboPlus text files: lines to pages, strictly, with a remark for what is odd but clear.

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
        FormatError: it is cut off or malformed; with the line, what stands there and what would be right.
    """
    body, rest = split_trailer(data)
    if re.search(rb"^(page_begin|step=)", rest, re.MULTILINE):  # cut off inside a later page
        body, rest = data, b""
    reader = _DocumentReader(path)
    document = reader.read(body)
    _refuse_wrong_end(len(document.pages), body, rest, path)
    for remark in trailer_remarks(body, Trailer.read(rest)):
        reader.remarks.add(remark)
    return replace(document, trailer=rest, remarks=reader.remarks.all)


def _refuse_wrong_end(pages: int, body: bytes, rest: bytes, path: Path | None) -> None:
    """Refuse a file that ends early between two pages; one that was made short ends in a trailer."""
    where = Where(path=path, line=body.count(b"\n") + 1)
    if pages < MAX_PAGES and (not rest.strip(b"\r\n") or b"page_begin".startswith(rest)):
        what = f"the file ends after page {pages} without a checksum: it was cut off"
        hint = f"RoboPlus writes {MAX_PAGES} pages, empty ones too, and two bytes of checksum"
        raise FormatError(what, where=where, hint=hint)
    if len(rest) > _LONGEST_TRAILER:
        what = f"{len(rest)} bytes stand after the last page; found {quote_bytes(rest)}"
        raise FormatError(what, where=where, hint="two bytes of checksum belong here")


@dataclass
class _DocumentReader:
    path: Path | None
    remarks: Remarks = field(default_factory=Remarks)

    def __post_init__(self) -> None:
        self.values = ValueReader(self.remarks)
        self.enabled: tuple[bool, ...] | None = None

    def read(self, body: bytes) -> RoboplusDocument:
        if not body.startswith(BOM):
            self.remarks.add("the byte order mark (EF BB BF) at the beginning was stripped")
        if b"\r\n" in body:
            self.remarks.add("the lines end in CRLF; RoboPlus writes LF")
        lines = split_lines(body.removeprefix(BOM), self.path)
        first = next((i for i, line in enumerate(lines) if line.text == b"page_begin"), len(lines))
        self._read_head(lines[:first])
        if self.enabled is None:
            raise FormatError("no enable= line stands before the first page", where=Where(self.path, 1))
        pages = self._read_pages(lines[first:])
        self._remark_dead_ends(pages)
        if self.values.off_grid > 1:
            self.remarks.add(f"{self.values.off_grid} times in all are no multiples of {GRID_S:g} s")
        head = body[: len(body) - sum(len(line.raw) for line in lines[first:])]
        return RoboplusDocument(head, self.enabled, self.values.motor_types, pages)

    def _read_head(self, lines: list[TextLine]) -> None:
        seen: set[bytes] = set()
        for line in lines:
            if not line.text:
                continue
            if not seen and line.text != b"type=motion":
                line.fail("not a RoboPlus motion", hint="the first line is type=motion")
            if line.key in seen:
                what = f"a second {line.key.decode('latin-1')}= line"
                line.fail(what, hint="there is one before the pages")
            seen.add(line.key)
            self._read_head_line(line)

    def _read_head_line(self, line: TextLine) -> None:
        if line.key == b"version":
            self.values.version(line)
        elif line.key == b"enable":
            self.enabled = tuple(bool(flag) for flag in self.values.numbers(line, 1))
        elif line.key == b"motor_type":
            self.values.motor_types = self.values.numbers(line, 255)
        elif line.key in (b"step", b"page_end", *_PAGE_KEYS):
            line.fail(f"{line.key.decode()} stands outside a page", hint="page_begin opens a page")
        elif line.key != b"type":
            self._keep_unknown(line)

    def _keep_unknown(self, line: TextLine) -> None:
        if b"=" not in line.text:
            line.fail("not a line of a RoboPlus motion", hint="lines read key=value, page_begin or page_end")
        self.remarks.add(f"unknown key {quote_bytes(line.key)}; kept as it stands", line)

    def _read_pages(self, lines: list[TextLine]) -> tuple[Page, ...]:
        pages: list[Page] = []
        for chunk in _chunks(lines):
            if len(pages) == MAX_PAGES:
                chunk[0].fail(f"more than {MAX_PAGES} pages", hint="a controller has no more: split the file")
            pages.append(self._read_page(chunk))
        if not pages:
            raise FormatError("there is no page", where=Where(self.path, 1), hint="page_begin opens a page")
        if len(pages) < MAX_PAGES:
            self.remarks.add(f"there are {len(pages)} pages; RoboPlus writes {MAX_PAGES}, empty ones too")
        return tuple(pages)

    def _read_page(self, lines: list[TextLine]) -> Page:
        found: dict[bytes, TextLine] = {}
        steps: list[Step] = []
        for line in _inside(lines):
            if line.key == b"step":
                steps.append(self.values.step(line))
            elif line.key in _PAGE_KEYS and b"=" in line.text:
                if line.key in found:
                    line.fail(f"a second {line.key.decode()}= line in a page", hint="a page has one")
                found[line.key] = line
            else:
                self._keep_unknown(line)
        end = lines[-1]
        for key in _PAGE_KEYS:
            if key not in found:
                end.fail(f"the page has no {key.decode()}= line", hint="a page has one")
        if len(steps) > MAX_STEPS_IN_FILE:
            end.fail(f"a page of {len(steps)} steps", hint=f"a whole file holds {MAX_STEPS_IN_FILE}")
        if len(steps) > MAX_STEPS:
            self.remarks.add(f"a page has {len(steps)} steps; a controller plays {MAX_STEPS}", end)
        return Page(
            found[b"name"].value,
            self.values.numbers(found[b"compliance"], MAX_COMPLIANCE),
            self.values.play(found[b"play_param"]),
            tuple(steps),
            tuple(line.raw for line in lines),
        )

    def _remark_dead_ends(self, pages: tuple[Page, ...]) -> None:
        """Remark pages that lead to an empty page, where a controller just stops."""
        played = {number for number, page in enumerate(pages, 1) if not page.is_empty}
        for number in sorted(played):
            play = pages[number - 1].play
            for what, target in (("next", play.next), ("exit", play.exit)):
                if target and target not in played:
                    self.remarks.add(f"page {number}: its {what} page {target} is empty, so it stops there")


def _chunks(lines: list[TextLine]) -> Iterator[list[TextLine]]:
    """Yield the lines of each page, up to and with its page_end; at last those that no page_end closes."""
    chunk: list[TextLine] = []
    for line in lines:
        chunk.append(line)
        if line.text == b"page_end":
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _inside(lines: list[TextLine]) -> Iterator[TextLine]:
    """Yield the lines between page_begin and page_end that say something."""
    is_open = False
    for line in lines:
        if line.text == b"page_begin":
            if is_open:
                line.fail("page_begin inside a page", hint="page_end closes a page first")
            is_open = True
        elif line.text and not is_open:
            line.fail("a line outside a page", hint="page_begin opens a page")
        elif line.text not in (b"", b"page_end"):
            yield line
    if lines[-1].text != b"page_end":
        lines[-1].fail("the file ends inside a page: it was cut off", hint="page_end closes a page")
