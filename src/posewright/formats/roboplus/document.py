"""RoboPlus Motion 1 text files (`.mtn`): document, pages and checksum, written back byte for byte.

Source: formats.md section 2.1, verified on real files. What is met in the wild and read with a remark: no
byte order mark, CRLF, decimal commas, unknown keys, more than seven steps in a page, damaged trailers.

The trailer is the one's complement of the sum of every byte before it, from the BOM to the LF after the last
`page_end`, as two raw bytes, big-endian: (sum + value) & 0xFFFF == 0xFFFF. RoboPlus refuses a file whose
trailer is wrong; we read it and say so.

A page keeps the lines it was read from. Editing it renders only the lines whose meaning changed, so an
unedited page is the same bytes again.
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
_AS_TEXT = re.compile(rb"\\([0-9A-Fa-f]{2})\\([0-9A-Fa-f]{2})")


def checksum(body: bytes) -> bytes:
    """Return the two bytes that belong after `body`."""
    return (0xFFFF - (sum(body) & 0xFFFF)).to_bytes(2, "big")


def split_trailer(data: bytes) -> tuple[bytes, bytes]:
    """Split a file behind the line end of its last `page_end`; without one, all of it is body.

    The trailer is two arbitrary bytes, so the file as a whole is not valid UTF-8: split first, decode then.
    """
    ends = [found.end() for found in _LAST_PAGE_END.finditer(data)]
    cut = ends[-1] if ends else len(data)
    return data[:cut], data[cut:]


@dataclass(frozen=True)
class Trailer:
    """What stands behind the last page: its value if it holds one, and the damage done to it in words."""

    raw: bytes
    value: bytes | None
    damage: str = ""

    @classmethod
    def read(cls, raw: bytes) -> Trailer:
        """Recognise the shapes in which trailers are met."""
        if len(raw) == 2:
            return cls(raw, raw)
        if raw[2:] in (b"\n", b"\r\n"):
            return cls(raw, raw[:2], "a line end was appended to the checksum")
        if not raw.strip(b"\r\n"):
            return cls(raw, None, "the checksum was removed")
        written = _AS_TEXT.fullmatch(raw.rstrip(b"\r\n"))
        if written:
            return cls(raw, bytes.fromhex((written[1] + written[2]).decode()), "the checksum stands as text")
        if len(raw) == 1:
            return cls(raw, None, "half of the checksum is missing")
        return cls(raw, None, f"{len(raw)} bytes stand where the two of the checksum belong")


def trailer_remarks(body: bytes, trailer: Trailer) -> tuple[str, ...]:
    """Return what is wrong with the trailer of `body`, in words; nothing if it is as RoboPlus wrote it."""
    right = checksum(body)
    if trailer.value == right:
        return (f"{trailer.damage}; its value 0x{right.hex()} is right",) if trailer.damage else ()
    if trailer.value is None:
        return (f"{trailer.damage}; 0x{right.hex()} would be right",)
    found = f"0x{trailer.value.hex()}"
    if trailer.value == b"  ":
        return (f"two blanks stand in place of the checksum; 0x{right.hex()} would be right",)
    for before, story in _before_damage(body):
        if checksum(before) == trailer.value:
            return (f"the checksum {found} is that of the file before {story}; now 0x{right.hex()} is right",)
    return (f"the checksum is wrong: expected 0x{right.hex()}, found {found}; RoboPlus refuses such a file",)


def _before_damage(body: bytes) -> tuple[tuple[bytes, str], ...]:
    lf = body.replace(b"\r\n", b"\n")
    return (
        (BOM + body, "its byte order mark was stripped"),
        (lf, "its line ends were converted to CRLF"),
        (BOM + lf, "its byte order mark was stripped and its line ends were converted"),
    )


IDS = 26  # columns a page has: Dynamixel IDs 0 to 25; ID 0 is a dummy
MAX_PAGES = 255
MAX_STEPS = 7  # steps that a page of the controller holds; pages made by other tools have had up to 17
MAX_STEPS_IN_FILE = MAX_PAGES * MAX_STEPS
MAX_NAME_BYTES = 13
DUMMY_TICKS = 512
DEFAULT_COMPLIANCE = 5
STANDARD_RATE = 1.0
STANDARD_ACCEL = 32


@dataclass(frozen=True)
class Step:
    """One `step=` line."""

    ticks: tuple[int, ...]  # position of each ID 0..25 [ticks]
    pause_s: float  # time to stay after the way [s]: the line's 27th value
    play_s: float  # time of the way [s]: its 28th

    def render(self) -> bytes:
        """Return the line without its line end."""
        ticks = " ".join(map(str, self.ticks))
        return f"step={ticks} {_seconds(self.pause_s)} {_seconds(self.play_s)}".encode()


@dataclass(frozen=True)
class PlayParam:
    """The `play_param=` line."""

    next: int = 0  # number of the page that follows, 0 for none
    exit: int = 0  # number of the page played when a stop is asked for, 0 for none
    repeat: int = 1
    rate: float = STANDARD_RATE  # speed multiplier
    accel: int = STANDARD_ACCEL  # "inertial force": length of the ramps [1/128 s]

    def render(self) -> bytes:
        """Return the line without its line end."""
        rate = f"{self.rate:.1f}" if round(self.rate, 1) == self.rate else f"{self.rate:.12f}".rstrip("0")
        return f"play_param={self.next} {self.exit} {self.repeat} {rate} {self.accel}".encode()


@dataclass(frozen=True)
class Page:
    """A page and the lines it stands in.

    Attributes:
        name: the name's bytes as they stand, trailing blanks included.
        compliance: of each ID 0..25; the slope is two to this power.
        lines: the raw lines, from what stood before `page_begin` to `page_end`; none for a new page.
    """

    name: bytes
    compliance: tuple[int, ...] = (DEFAULT_COMPLIANCE,) * IDS
    play: PlayParam = PlayParam()
    steps: tuple[Step, ...] = ()
    lines: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to play."""
        return not self.steps

    @property
    def is_spare(self) -> bool:
        """Whether it is empty, has no name and leads nowhere."""
        return self.is_empty and not self.name.strip() and not (self.play.next or self.play.exit)

    @property
    def title(self) -> str:
        """The name as people read it: UTF-8 where it is, else latin-1; trailing blanks away."""
        try:
            return self.name.decode("utf-8").rstrip()
        except UnicodeDecodeError:
            return self.name.decode("latin-1").rstrip()

    def render(self, eol: bytes = b"\n") -> bytes:
        """Return the page's bytes: the lines it was read from, or new ones."""
        return b"".join(self.lines) or b"".join(line + eol for line in self._new_lines())

    def _new_lines(self) -> Iterator[bytes]:
        yield b"page_begin"
        yield b"name=" + self.name
        yield _compliance_line(self.compliance)
        yield self.play.render()
        for step in self.steps:
            yield step.render()
        yield b"page_end"

    def changed_to(self, other: Page) -> Page:
        """Return `other` standing in the lines of this page, as far as they mean the same."""
        if not self.lines or self.values == other.values:
            return self if self.values == other.values else other
        return Page(other.name, other.compliance, other.play, other.steps, tuple(_rewritten(self, other)))

    @property
    def values(self) -> tuple[object, ...]:
        """What the page means, whatever its lines look like."""
        return self.name, self.compliance, self.play, self.steps


EMPTY_PAGE = Page(b"")


def _seconds(seconds: float) -> str:
    """Return a time with three decimals, or more where a hand wrote more."""
    text = f"{seconds:.3f}"
    return text if float(text) == seconds else f"{seconds:.12f}".rstrip("0")


def _compliance_line(compliance: tuple[int, ...]) -> bytes:
    return b"compliance=" + " ".join(map(str, compliance)).encode()


def _rewritten(old: Page, new: Page) -> Iterator[bytes]:
    """Yield the lines of `old`, those that no longer say what `new` means replaced."""
    eol = b"\r\n" if old.lines[-1].endswith(b"\r\n") else b"\n"
    wanted = {
        b"name": (old.name == new.name, b"name=" + new.name),
        b"compliance": (old.compliance == new.compliance, _compliance_line(new.compliance)),
        b"play_param": (old.play == new.play, new.play.render()),
    }
    count = 0
    for line in old.lines:
        key = line.strip(b" \t\r\n").partition(b"=")[0]
        if key == b"step":
            if count < len(new.steps):
                same = old.steps[count] == new.steps[count]
                yield line if same else new.steps[count].render() + eol
            count += 1
        elif key in wanted:
            same, rendered = wanted[key]
            yield line if same else rendered + eol
        else:
            if key == b"page_end":
                yield from (step.render() + eol for step in new.steps[count:])
            yield line


@dataclass(frozen=True)
class RoboplusDocument:
    """A whole file."""

    head: bytes  # everything before the first page, byte order mark included
    enabled: tuple[bool, ...]  # of each ID 0..25, whether the file moves it
    motor_types: tuple[int, ...]  # of each ID 0..25; 0 is a 10-bit servo, anything else a 12-bit one
    pages: tuple[Page, ...]
    trailer: bytes | None = None  # the bytes behind the last page; None where they are to be computed
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"RoboplusDocument({len(self.played)} pages of {len(self.pages)})"

    @property
    def eol(self) -> bytes:
        """The line end of the file."""
        return b"\r\n" if b"\r\n" in self.head else b"\n"

    def render(self) -> bytes:
        """Return the bytes of the file; a trailer only survives where nothing was edited."""
        body = self.head + b"".join(page.render(self.eol) for page in self.pages)
        return body + (checksum(body) if self.trailer is None else self.trailer)

    def page(self, number: int) -> Page:
        """Return a page by its number, which counts from 1; a page the file does not have is empty."""
        return self.pages[number - 1] if 1 <= number <= len(self.pages) else EMPTY_PAGE

    def page_name(self, number: int) -> str:
        """Return what a page is called; most pages that continue another have no name of their own."""
        return self.page(number).title.strip() or f"page {number}"

    @property
    def played(self) -> dict[int, Page]:
        """The pages that hold something, by number."""
        return {number: page for number, page in enumerate(self.pages, 1) if not page.is_empty}

    def with_page(self, number: int, page: Page) -> RoboplusDocument:
        """Return the document with one page changed, every untouched line as it stood."""
        changed = self.page(number).changed_to(page)
        if changed is self.page(number):
            return self
        pages = (*self.pages[: number - 1], changed, *self.pages[number:])
        return replace(self, pages=pages, trailer=None)

    def with_pages(self, pages: tuple[Page, ...]) -> RoboplusDocument:
        """Return the document with other pages, filled up with empty ones."""
        if len(pages) > MAX_PAGES:
            what = f"{len(pages)} pages are needed"
            raise FormatError(what, hint=f"a RoboPlus file has {MAX_PAGES}; split the motion")
        spare = next((page for page in self.pages if page.is_spare), EMPTY_PAGE)
        filled = pages + (spare,) * (MAX_PAGES - len(pages))
        return self if filled == self.pages else replace(self, pages=filled, trailer=None)

    def repaired(self) -> RoboplusDocument:
        """Return the document with its byte order mark and a right trailer, so that RoboPlus opens it."""
        head = self.head if self.head.startswith(BOM) else BOM + self.head
        return replace(self, head=head, trailer=None)


def new_document(enabled: tuple[bool, ...]) -> RoboplusDocument:
    """Return a document of 255 empty pages that moves the `enabled` ones of the IDs 0..25."""
    flags = " ".join("1" if flag else "0" for flag in enabled)
    types = " ".join(["0"] * IDS)
    head = BOM + f"type=motion\nversion=1.01\nenable={flags}\nmotor_type={types}\n".encode()
    return RoboplusDocument(head, enabled, (0,) * IDS, (EMPTY_PAGE,) * MAX_PAGES)


def page_number(document: RoboplusDocument, reference: PageReference, path: Path | None = None) -> int:
    """Return the number of the page that `reference` names."""
    names = {number: document.page_name(number) for number in document.played}
    return find_page(reference, names, last=len(document.pages), where=Where(path=path))
