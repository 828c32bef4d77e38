"""The names that an expression may use, and what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from posewright.charts.expression.function import Function
from posewright.charts.types import EnumType, Type, Value, type_of


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
