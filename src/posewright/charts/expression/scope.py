"""The names that an expression may use: variables, constants, and truth tables as functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from posewright.charts.expression.expression import Expression
from posewright.charts.types import EnumType, Type, Value, type_of


@dataclass(frozen=True)
class FunctionRow:
    """One row of a truth table.

    Attributes:
        when: the condition on the parameters under which the row applies.
        value: the value of the function there; it may read the parameters.
        cells: the row as written, one text per parameter, `X` for any value; empty if it was written as a
            condition.
    """

    when: Expression
    value: Expression
    cells: tuple[str, ...] = field(default=(), compare=False)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Function:
    """A truth table that guards and actions may call.

    Exactly one row should apply in every case. The checks find cases in which none or two do; a run takes the
    first row that applies, or the last row if none does.

    Attributes:
        parameters: the types of the parameters by name.
        return_type: the type of the value.
    """

    name: str
    parameters: Mapping[str, Type]
    return_type: Type
    rows: tuple[FunctionRow, ...]
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Scope:
    """The names that an expression may use.

    Attributes:
        variables: the types of inputs, outputs and locals by name.
        constants: values of constants by name.
        enum_of_value: the type of each value of an enumeration, by its name.
        units: the units of constants that were written with one.
        functions: truth tables that may be called.
        states: names of states that `in(...)` may test.
        in_state: whether the expression belongs to a state, so that temporal conditions have a meaning.
    """

    variables: Mapping[str, Type] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)
    enum_of_value: Mapping[str, EnumType] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    states: frozenset[str] = frozenset()
    in_state: bool = True

    def type_of(self, name: str) -> Type | None:
        """Return the type of a name, or None if there is no such name."""
        if name in self.constants:
            return type_of(self.constants[name])
        return self.variables.get(name) or self.enum_of_value.get(name)

    @property
    def names(self) -> list[str]:
        """The names of all variables, constants and values of enumerations."""
        return [*self.variables, *self.constants, *self.enum_of_value]

    @property
    def constant_values(self) -> dict[str, Value]:
        """The values of constants by name; a value of an enumeration represents itself.

        A variable hides a value of an enumeration of the same name, as in `type_of`.
        """
        visible_values = (name for name in self.enum_of_value if name not in self.variables)
        return {**{name: name for name in visible_values}, **self.constants}
