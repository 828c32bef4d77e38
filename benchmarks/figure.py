"""A benchmark figure: a measured number with its target."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One row of the table.

    Attributes:
        name: what was measured.
        value: the number; None if this machine cannot measure it.
        unit: of the number; empty for a ratio.
        at_least: the target, if more is better.
        below: the target, if less is better.
        note: an additional remark.
    """

    name: str
    value: float | None
    unit: str = ""
    at_least: float | None = None
    below: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target or a number."""
        if self.value is None or (self.at_least is None and self.below is None):
            return None
        above = self.at_least is None or self.value >= self.at_least
        return above and (self.below is None or self.value < self.below)

    @property
    def aim(self) -> str:
        """The target as text."""
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return "" if self.below is None else f"< {self.below:g}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON."""
        return {**asdict(self), "met": self.met}


def table(figures: list[Figure]) -> str:
    """Return the figures as a table, one line each, with a mark for missed targets."""
    lines = [f"{'figure':44s} {'value':>10s} {'unit':8s} {'aim':8s}"]
    for figure in figures:
        value = "-" if figure.value is None else f"{figure.value:.4g}"
        if figure.value is not None and abs(figure.value) >= 1000.0:
            value = f"{figure.value:.0f}"
        verdict = {True: "met", False: "MISSED", None: ""}[figure.met]
        line = f"{figure.name:44s} {value:>10s} {figure.unit:8s} {figure.aim:8s} {verdict:7s} {figure.note}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
