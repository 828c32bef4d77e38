"""A fault: one small thing that a person may get wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Generic, TypeVar

from posewright.charts.model import Chart

T_co = TypeVar("T_co", covariant=True)
Whole = TypeVar("Whole", bound=Any)
Part = TypeVar("Part")


class FaultKind(Enum):
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

    kind: FaultKind
    what: str
    line: int | None
    value: T_co

    def of(self, value: Whole) -> Fault[Whole]:
        """Return the same fault, seen from what is around it."""
        return Fault(self.kind, self.what, self.line, value)


def in_field(whole: Whole, field: str, faults: Iterable[Fault[Any]]) -> Iterator[Fault[Whole]]:
    """Yield faults in a field of a dataclass as faults of the whole."""
    for fault in faults:
        yield fault.of(replace(whole, **{field: fault.value}))


def in_place(parts: tuple[Part, ...], number: int, faults: Iterable[Fault[Part]]) -> Iterator[Fault[Any]]:
    """Yield faults in one of several parts as faults of all of them."""
    for fault in faults:
        yield fault.of((*parts[:number], fault.value, *parts[number + 1 :]))


@dataclass(frozen=True, eq=False)
class Mutant:
    """A chart with one fault in it.

    Attributes:
        state: where the fault is; None: not in one state.
    """

    kind: FaultKind
    description: str
    line: int | None
    chart: Chart
    state: str | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line is not None else ""
        return f"{place}{self.description}"
