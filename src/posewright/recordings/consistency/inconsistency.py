"""The result of a check: two parts of a recording that contradict each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """A contradiction between two parts of a recording.

    Attributes:
        rule: short name of the broken rule, such as `row-gap`; docs/recordings.md lists them.
        message: what contradicts what, as a sentence without a full stop.
        time_s: when it occurs first; None if it concerns the whole recording [s].
    """

    rule: str
    message: str
    time_s: float | None = None

    def __str__(self) -> str:
        when = "" if self.time_s is None else f"at {self.time_s:.2f} s "
        return f"{self.rule}: {when}{self.message}"

    def to_dict(self) -> dict[str, str | float | None]:
        """Return plain data, fit for JSON."""
        return {"rule": self.rule, "time_s": self.time_s, "message": self.message}
