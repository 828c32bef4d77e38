"""The values on the lines of a RoboPlus text file. Source: formats.md section 2.1."""

from __future__ import annotations

from dataclasses import dataclass

from posewright.formats.text_lines import Remarks
from posewright.formats.roboplus.page import IDS, MAX_PAGES, PlayParam, Step
from posewright.formats.text_lines import Line, show

GRID_S = 0.008
"""Step of the times that RoboPlus writes [s]."""

MAX_TIME_S = 2.040
"""Longest time of a step: 255 units of `GRID_S` [s]."""

MAX_SECONDS = 9999.0
"""Longest time that is read at all [s]."""

MAX_RATE = 32.0
"""The controller's speed byte is 32 / rate, and at least 1."""

MAX_COMPLIANCE = 15
"""The controller keeps the compliance in half a byte."""


def max_ticks(motor_type: int) -> int:
    """Return the last position of a servo: 10-bit for type 0, else 12-bit."""
    return 4095 if motor_type else 1023


@dataclass
class ValueReader:
    """Reads values off lines and remarks what is odd about them."""

    remarks: Remarks
    motor_types: tuple[int, ...] = (0,) * IDS
    off_grid: int = 0

    def version(self, line: Line) -> None:
        """Check the `version=` line."""
        (word,) = line.words(1, "one number, 1.01")
        self._note_comma(line)
        if line.decimal(word, "the version", 0.0, 1e6) not in (1.0, 1.01):
            self.remarks.add(f"version {show(word)} is unknown; 1.00 and 1.01 are known", line)

    def numbers(self, line: Line, high: int) -> tuple[int, ...]:
        """Return a whole number 0..`high` for each ID."""
        words = line.words(IDS, f"one for each of the IDs 0..{IDS - 1}")
        key = line.key.decode("latin-1")
        return tuple(line.whole(word, f"{key} of ID {i}", 0, high) for i, word in enumerate(words))

    def play(self, line: Line) -> PlayParam:
        """Return the values of a `play_param=` line."""
        words = line.words(5, "next page, exit page, repeat, rate, inertial force")
        self._note_comma(line)
        return PlayParam(
            next=line.whole(words[0], "the next page", 0, MAX_PAGES),
            exit=line.whole(words[1], "the exit page", 0, MAX_PAGES),
            repeat=line.whole(words[2], "the repeat count", 1, 255),
            rate=line.decimal(words[3], "the rate", 0.01, MAX_RATE),
            accel=line.whole(words[4], "the inertial force", 0, 255),
        )

    def step(self, line: Line) -> Step:
        """Return the values of a `step=` line."""
        words = line.words(IDS + 2, f"{IDS} positions, seconds of pause, seconds of play")
        self._note_comma(line)
        ticks = tuple(
            line.whole(word, f"the position of ID {i}", 0, max_ticks(kind))
            for i, (word, kind) in enumerate(zip(words, self.motor_types, strict=False))
        )
        pause = line.decimal(words[IDS], "the time of the pause", 0.0, MAX_SECONDS)
        play = line.decimal(words[IDS + 1], "the time of the way", 0.0, MAX_SECONDS)
        self._note_times(line, pause, play)
        return Step(ticks, pause, play)

    def _note_comma(self, line: Line) -> None:
        if b"," in line.value:
            self.remarks.once("numbers have a decimal comma (written under such a Windows)", line)

    def _note_times(self, line: Line, *times: float) -> None:
        for seconds in times:
            if not is_on_grid(seconds):
                self.off_grid += 1
                self.remarks.once(f"a time is no multiple of {GRID_S:g} s; a controller rounds it", line)
            if seconds > MAX_TIME_S + 1e-9:
                self.remarks.once(f"a time is longer than the {MAX_TIME_S:.3f} s a controller counts", line)


def is_on_grid(seconds: float) -> bool:
    """Tell whether a time is a multiple of `GRID_S`."""
    units = seconds / GRID_S
    return abs(units - round(units)) < 1e-6
