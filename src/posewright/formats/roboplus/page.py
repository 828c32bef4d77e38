"""A page of a RoboPlus text file: name, compliance, what plays next, and its steps.

A page keeps the lines it was read from. Editing it renders only the lines whose meaning changed, so an
unedited page is the same bytes again. Source of the layout: formats.md section 2.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

IDS = 26
"""Columns a page has: Dynamixel IDs 0 to 25; ID 0 is a dummy."""

MAX_PAGES = 255
MAX_STEPS = 7
"""Steps that a page of the controller holds; pages made by other tools have had up to 17."""

MAX_STEPS_IN_FILE = MAX_PAGES * MAX_STEPS
MAX_NAME_BYTES = 13
DUMMY_TICKS = 512
DEFAULT_COMPLIANCE = 5
STANDARD_RATE = 1.0
STANDARD_ACCEL = 32


@dataclass(frozen=True)
class Step:
    """One `step=` line.

    Attributes:
        ticks: position of each ID 0..25 [ticks].
        pause_s: time to stay after the way [s]: the line's 27th value.
        play_s: time of the way [s]: its 28th.
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
        next: number of the page that follows, 0 for none.
        exit: number of the page played when a stop is asked for, 0 for none.
        repeat: how often the page is played.
        rate: speed multiplier.
        accel: "inertial force": length of the ramps [1/128 s].
    """

    next: int = 0
    exit: int = 0
    repeat: int = 1
    rate: float = STANDARD_RATE
    accel: int = STANDARD_ACCEL

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
    lines: tuple[bytes, ...] = ()

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
