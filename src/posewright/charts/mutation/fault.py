"""A fault: one small thing that a person may get wrong."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from posewright.charts.model import Chart

T_co = TypeVar("T_co", covariant=True)
Other = TypeVar("Other")


class Sort(Enum):
    """What was got wrong."""

    NEGATION = "condition turned round"
    LOGIC = "and, or"
    COMPARISON = "comparison"
    ARITHMETIC = "plus, minus"
    CONSTANT = "constant"
    CONDITION = "condition left out"
    VALUE = "value set"
    ACTION = "action left out"
    TARGET = "target"
    TRANSITION = "transition left out"
    ORDER = "order"
    TIME = "time"
    EVENT = "event"
    INITIAL = "where it begins"
    HISTORY = "history"
    ROW = "row left out"


@dataclass(frozen=True)
class Fault(Generic[T_co]):
    """Something with a fault in it.

    Attributes:
        what: what was changed, in words.
        value: what became of it.
    """

    sort: Sort
    what: str
    line: int | None
    value: T_co

    def of(self, value: Other) -> Fault[Other]:
        """Return the same fault, seen from what is around it."""
        return Fault(self.sort, self.what, self.line, value)


@dataclass(frozen=True, eq=False)
class Mutant:
    """A chart with one fault in it.

    Attributes:
        state: where the fault is; None: not in one state.
    """

    sort: Sort
    description: str
    line: int | None
    chart: Chart
    state: str | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line is not None else ""
        return f"{place}{self.description}"
