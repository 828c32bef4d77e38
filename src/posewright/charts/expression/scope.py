"""The names that an expression may use: variables, constants, truth tables as functions; and their ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from posewright.charts.expression.expression import Expression
from posewright.charts.types import EnumType, Type, Value, type_of


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


@dataclass(frozen=True)
class Scope:
    """Names in reach of an expression.

    Attributes:
        variables: inputs, outputs and locals by name.
        constants: values known before the chart runs.
        values: names of enumeration values, each belonging to one enumeration.
        units: the units of constants that were written with one.
        functions: truth tables that may be called.
        states: names that `in(...)` may ask for.
    """

    variables: Mapping[str, Type] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)
    values: Mapping[str, EnumType] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    states: frozenset[str] = frozenset()

    def type_of(self, name: str) -> Type | None:
        """Return the type of a name, or None where there is no such name."""
        if name in self.constants:
            return type_of(self.constants[name])
        return self.variables.get(name) or self.values.get(name)

    @property
    def names(self) -> list[str]:
        """Every name in reach."""
        return [*self.variables, *self.constants, *self.values]

    @property
    def fixed(self) -> dict[str, Value]:
        """What is known before the chart runs: constants, and enumeration values standing for themselves."""
        return {**{name: name for name in self.values}, **self.constants}
