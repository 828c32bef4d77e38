"""What is odd about a file but does not keep it from being read."""

from __future__ import annotations

from dataclasses import dataclass, field

from posewright.formats.text_line import Line

MAX_REMARKS = 50
"""More than this many say nothing more to a person; the rest is only counted."""


@dataclass
class Remarks:
    """A list of remarks in words, each with its line, that cannot grow without end."""

    _texts: list[str] = field(default_factory=list)
    _once: set[str] = field(default_factory=set)
    _left_off: int = 0

    def add(self, text: str, line: Line | None = None) -> None:
        """Note `text`, found at `line`."""
        if len(self._texts) >= MAX_REMARKS:
            self._left_off += 1
            return
        self._texts.append(f"line {line.number}: {text}" if line is not None else text)

    def once(self, text: str, line: Line) -> None:
        """Note `text` the first time it is met in the file, and not again."""
        if text not in self._once:
            self._once.add(text)
            self.add(text, line)

    @property
    def all(self) -> tuple[str, ...]:
        """All remarks, in the order of the file."""
        more = (f"{self._left_off} more remarks of this kind",) if self._left_off else ()
        return (*self._texts, *more)
