"""A truth table as a function: rows of cells, the first row that fits gives the value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from posewright.charts.expression.expression import Expression
from posewright.charts.types import Type


@dataclass(frozen=True)
class FunctionRow:
    """One row.

    Attributes:
        when: over the parameters: where the row fits.
        give: what the function then is; it may read the parameters.
        cells: as written, one a parameter; `X` where it does not matter.
    """

    when: Expression
    give: Expression
    cells: tuple[str, ...] = field(default=(), compare=False)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Function:
    """A truth table that guards and actions may call.

    Every case fits just one row: a case that fits none or two is found by the checks, and given the first
    row that fits, or the last.
    """

    name: str
    takes: Mapping[str, Type]
    gives: Type
    rows: tuple[FunctionRow, ...]
    line: int | None = field(default=None, compare=False)
