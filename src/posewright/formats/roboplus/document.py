"""The document of a RoboPlus Motion 1 text file (`.mtn`): pages and checksum, written back byte for byte.

Source: formats.md section 2.1, verified on real files. Deviations that real files have are read with a
remark: no byte order mark, CRLF, decimal commas, unknown keys, more than seven steps in a page, damaged
trailers.

The trailer is a checksum: the one's complement of the sum of every byte before it, from the byte order mark
to the LF after the last `page_end`, as two raw bytes, big-endian: (sum + value) & 0xFFFF == 0xFFFF. RoboPlus
does not open a file with a wrong checksum; we read it with a remark.

A page keeps the lines it was read from. Only lines whose meaning was edited are rendered anew, so an unedited
page has the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.file_kind import BOM
from posewright.formats.motion_file import PageReference, find_page

ROBOPLUS_TEXT = "roboplus-mtn"

_LAST_PAGE_END = re.compile(rb"^page_end[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_BLANK_CHECKSUM = b"  "
"""What some files have in place of the two bytes of a checksum."""

_HEX_CHECKSUM = re.compile(rb"\\([0-9A-Fa-f]{2})\\([0-9A-Fa-f]{2})")


def checksum(body: bytes) -> bytes:
    """Return the two bytes of checksum that follow `body`."""
    return (0xFFFF - (sum(body) & 0xFFFF)).to_bytes(2, "big")


def split_trailer(data: bytes) -> tuple[bytes, bytes]:
    """Split a file after the line of its last `page_end`; without one, all of it is body.

    The trailer is two arbitrary bytes, so the file as a whole is not valid UTF-8: split it before decoding.
    """
    ends = [match.end() for match in _LAST_PAGE_END.finditer(data)]
    body_end = ends[-1] if ends else len(data)
    return data[:body_end], data[body_end:]


@dataclass(frozen=True)
class Trailer:
    """The bytes after the last page.

    Attributes:
        raw: the bytes.
        value: the two bytes of checksum, None if they are missing.
        damage: a description of the damage, empty for none.
    """

    raw: bytes
    value: bytes | None
    damage: str = ""

    @classmethod
    def read(cls, raw: bytes) -> Trailer:
        """Return the trailer with its checksum, whose place is found in all known kinds of damage."""
        if len(raw) == 2:
            return cls(raw, raw)
        if raw[2:] in (b"\n", b"\r\n"):
            return cls(raw, raw[:2], "a line end was appended to the checksum")
        if not raw.strip(b"\r\n"):
            return cls(raw, None, "the checksum was removed")
        match = _HEX_CHECKSUM.fullmatch(raw.rstrip(b"\r\n"))
        if match:
            value = bytes.fromhex((match[1] + match[2]).decode())
            return cls(raw, value, "the checksum is written as text")
        if len(raw) == 1:
            return cls(raw, None, "half of the checksum is missing")
        return cls(raw, None, f"{len(raw)} bytes are in place of the two of the checksum")


def trailer_remarks(body: bytes, trailer: Trailer) -> tuple[str, ...]:
    """Return a remark on what is wrong with the trailer of `body`; empty if it is as RoboPlus writes it.

    For a wrong checksum, the remark names a common damage before which it was right, if there is one.
    """
    expected = f"0x{checksum(body).hex()}"
    if trailer.value == checksum(body):
        return (f"{trailer.damage}; its value {expected} is right",) if trailer.damage else ()
    if trailer.value is None:
        return (f"{trailer.damage}; {expected} would be right",)
    if trailer.value == _BLANK_CHECKSUM:
        return (f"two blanks are in place of the checksum; {expected} would be right",)
    value = f"0x{trailer.value.hex()}"
    for original, damage in _likely_originals(body):
        if checksum(original) == trailer.value:
            return (f"the checksum {value} is that of the file before {damage}; now {expected} is right",)
    return (f"the checksum is wrong: expected {expected}, found {value}; RoboPlus does not open such a file",)


def _likely_originals(body: bytes) -> tuple[tuple[bytes, str], ...]:
    """Return what the body may have been before common damage, each with a description of the damage."""
    body_with_lf = body.replace(b"\r\n", b"\n")
    return (
        (BOM + body, "its byte order mark was stripped"),
        (body_with_lf, "its line ends were converted to CRLF"),
        (BOM + body_with_lf, "its byte order mark was stripped and its line ends were converted"),
    )


IDS = 26  # columns of a page: Dynamixel IDs 0 to 25; ID 0 is a dummy
MAX_PAGES = 255
MAX_STEPS = 7  # steps of a page on the controller; pages of other tools have up to 17
MAX_STEPS_IN_FILE = MAX_PAGES * MAX_STEPS
MAX_NAME_BYTES = 13
DUMMY_TICKS = 512
DEFAULT_COMPLIANCE = 5
STANDARD_RATE = 1.0
STANDARD_INERTIAL_FORCE = 32


@dataclass(frozen=True)
class Step:
    """A `step=` line.

    Attributes:
        ticks: position of each ID 0..25 [ticks].
        pause_s: time to stay there [s], the line's 27th value.
        play_s: time to move there [s], the line's 28th value.
    """

    ticks: tuple[int, ...]
    pause_s: float
    play_s: float

    def render(self) -> bytes:
        """Return the line without its line end."""
        ticks = " ".join(map(str, self.ticks))
        return f"step={ticks} {_seconds(self.pause_s)} {_seconds(self.play_s)}".encode()


@dataclass(frozen=True)
class PlayParam:
    """The `play_param=` line.

    Attributes:
        next: number of the page played afterwards, 0 for none.
        exit: number of the page played when the motion is stopped, 0 for none.
        repeat: how often the page is played.
        rate: speed multiplier.
        inertial_force: the length of the acceleration ramps [1/128 s]; the name is ROBOTIS'.
    """

    next: int = 0
    exit: int = 0
    repeat: int = 1
    rate: float = STANDARD_RATE
    inertial_force: int = STANDARD_INERTIAL_FORCE

    def render(self) -> bytes:
        """Return the line without its line end."""
        rate = f"{self.rate:.1f}" if round(self.rate, 1) == self.rate else f"{self.rate:.12f}".rstrip("0")
        return f"play_param={self.next} {self.exit} {self.repeat} {rate} {self.inertial_force}".encode()


@dataclass(frozen=True)
class Page:
    """A page and the lines it was read from.

    Attributes:
        name: the bytes of the name, trailing blanks included.
        compliance: the compliance of each ID 0..25; the slope is two to this power.
        play: next and exit page, repeat, rate and ramps.
        steps: the poses.
        lines: the raw lines, from those before `page_begin` to `page_end`; empty for a new page.
    """

    name: bytes
    compliance: tuple[int, ...] = (DEFAULT_COMPLIANCE,) * IDS
    play: PlayParam = PlayParam()
    steps: tuple[Step, ...] = ()
    lines: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def is_empty(self) -> bool:
        """Whether it has no steps."""
        return not self.steps

    @property
    def is_unused(self) -> bool:
        """Whether it has no steps, no name, and no next and exit page."""
        return self.is_empty and not self.name.strip() and not (self.play.next or self.play.exit)

    @property
    def title(self) -> str:
        """The name as text, read as UTF-8 or else Latin-1, without trailing blanks."""
        try:
            return self.name.decode("utf-8").rstrip()
        except UnicodeDecodeError:
            return self.name.decode("latin-1").rstrip()

    def render(self, line_end: bytes = b"\n") -> bytes:
        """Return the page's bytes, from the lines it was read from or from new ones."""
        return b"".join(self.lines) or b"".join(line + line_end for line in self._new_lines())

    def _new_lines(self) -> Iterator[bytes]:
        """Yield the lines of a page that was not read from a file: head, play parameters, then steps."""
        yield b"page_begin"
        yield b"name=" + self.name
        yield _compliance_line(self.compliance)
        yield self.play.render()
        for step in self.steps:
            yield step.render()
        yield b"page_end"

    def changed_to(self, new: Page) -> Page:
        """Return the new page with the lines of this page that mean the same in both."""
        if self.content == new.content:
            return self
        if not self.lines:
            return new
        return replace(new, lines=tuple(_revised_lines(self, new)))

    @property
    def content(self) -> tuple[object, ...]:
        """The content of the page, without its lines."""
        return self.name, self.compliance, self.play, self.steps


EMPTY_PAGE = Page(b"")


def _seconds(seconds: float) -> str:
    """Return a time as text with three decimals, or more if it was written with more."""
    text = f"{seconds:.3f}"
    return text if float(text) == seconds else f"{seconds:.12f}".rstrip("0")


def _compliance_line(compliance: tuple[int, ...]) -> bytes:
    return b"compliance=" + " ".join(map(str, compliance)).encode()


def _revised_lines(old: Page, new: Page) -> Iterator[bytes]:
    """Yield the lines of the old page, with those replaced that mean something else in the new one.

    Lines of further steps are added before `page_end`; those of steps that the new page lacks are left out.
    """
    line_end = b"\r\n" if old.lines[-1].endswith(b"\r\n") else b"\n"
    new_lines: dict[bytes, bytes] = {}  # by the key of the line that they replace
    if old.name != new.name:
        new_lines[b"name"] = b"name=" + new.name
    if old.compliance != new.compliance:
        new_lines[b"compliance"] = _compliance_line(new.compliance)
    if old.play != new.play:
        new_lines[b"play_param"] = new.play.render()
    n_old_steps = 0  # so far
    for line in old.lines:
        key = line.strip(b" \t\r\n").partition(b"=")[0]
        if key == b"step":
            step_index = n_old_steps
            n_old_steps += 1
            if step_index < len(new.steps):
                is_unchanged = old.steps[step_index] == new.steps[step_index]
                yield line if is_unchanged else new.steps[step_index].render() + line_end
        elif key in new_lines:
            yield new_lines[key] + line_end
        else:
            if key == b"page_end":
                yield from (step.render() + line_end for step in new.steps[n_old_steps:])
            yield line


@dataclass(frozen=True)
class RoboplusDocument:
    """A whole file.

    Attributes:
        head: the bytes before the first page, byte order mark included.
        enabled: for each ID 0..25, whether the file moves it.
        motor_types: the motor types of each ID 0..25: 0 for a 10-bit servo, anything else for a 12-bit one.
        pages: the pages, the first has number 1.
        trailer: the bytes after the last page; None if the checksum is to be computed.
        remarks: descriptions of what is unusual about the file.
    """

    head: bytes
    enabled: tuple[bool, ...]
    motor_types: tuple[int, ...]
    pages: tuple[Page, ...]
    trailer: bytes | None = None
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"RoboplusDocument({len(self.filled_pages)} pages of {len(self.pages)})"

    @property
    def line_end(self) -> bytes:
        """The line end of the file."""
        return b"\r\n" if b"\r\n" in self.head else b"\n"

    def render(self) -> bytes:
        """Return the bytes of the file; the old trailer is kept only if nothing was edited."""
        body = self.head + b"".join(page.render(self.line_end) for page in self.pages)
        return body + (checksum(body) if self.trailer is None else self.trailer)

    def page(self, number: int) -> Page:
        """Return a page by its number, from 1; an empty page if the file has no such page."""
        return self.pages[number - 1] if 1 <= number <= len(self.pages) else EMPTY_PAGE

    def page_name(self, number: int) -> str:
        """Return the name of a page, `page 7` if it has none, as most pages that continue another."""
        return self.page(number).title.strip() or f"page {number}"

    @property
    def filled_pages(self) -> dict[int, Page]:
        """The pages with steps, by number."""
        return {number: page for number, page in enumerate(self.pages, 1) if not page.is_empty}

    def with_page(self, number: int, page: Page) -> RoboplusDocument:
        """Return the document with one page replaced; unchanged lines keep their bytes."""
        old_page = self.page(number)
        new_page = old_page.changed_to(page)
        if new_page is old_page:
            return self
        pages = (*self.pages[: number - 1], new_page, *self.pages[number:])
        return replace(self, pages=pages, trailer=None)  # with a new checksum

    def with_pages(self, pages: tuple[Page, ...]) -> RoboplusDocument:
        """Return the document with other pages, followed by empty ones up to 255."""
        if len(pages) > MAX_PAGES:
            message = f"{len(pages)} pages are needed"
            raise FormatError(message, hint=f"a RoboPlus file has {MAX_PAGES}; split the motion")
        unused_page = next((page for page in self.pages if page.is_unused), EMPTY_PAGE)
        all_pages = pages + (unused_page,) * (MAX_PAGES - len(pages))
        return self if all_pages == self.pages else replace(self, pages=all_pages, trailer=None)

    def repaired(self) -> RoboplusDocument:
        """Return the document with a byte order mark and a correct checksum, so that RoboPlus opens it."""
        head = self.head if self.head.startswith(BOM) else BOM + self.head
        return replace(self, head=head, trailer=None)


def new_document(enabled: tuple[bool, ...]) -> RoboplusDocument:
    """Return a document of 255 empty pages that moves the `enabled` IDs."""
    flags = " ".join("1" if flag else "0" for flag in enabled)
    types = " ".join(["0"] * IDS)
    head = BOM + f"type=motion\nversion=1.01\nenable={flags}\nmotor_type={types}\n".encode()
    return RoboplusDocument(head, enabled, motor_types=(0,) * IDS, pages=(EMPTY_PAGE,) * MAX_PAGES)


def page_number(document: RoboplusDocument, reference: PageReference, path: Path | None = None) -> int:
    """Return the number of a page given by name or number."""
    names = {number: document.page_name(number) for number in document.filled_pages}
    return find_page(reference, names, last=len(document.pages), where=Where(path=path))
