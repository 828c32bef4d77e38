"""Mutations and mutants: parts of a chart, and charts, with a single mistake in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from math import prod
from typing import Generic, NamedTuple, TypeVar

from posewright.charts.expression import Expression, is_timed
from posewright.charts.model import Chart
from posewright.charts.types import BoolType, EnumType, IntType, Type, Value
from posewright.errors import ExpressionError

Part = TypeVar("Part")
T_co = TypeVar("T_co", covariant=True)
Container = TypeVar("Container")


MAX_COMBINATIONS = 4096
"""Combinations of values for which two expressions are compared."""


class MutationKind(Enum):
    """Kinds of mutations."""

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


class ExpressionChange(NamedTuple):
    """A change of one expression into another.

    Attributes:
        original: the expression in the chart.
        mutated: the expression in the mutant.
        result_type: type of the variable or condition that both are for.
        variables: types of the names that they may read.
    """

    original: Expression
    mutated: Expression
    result_type: Type
    variables: Mapping[str, Type]

    @property
    def makes_no_difference(self) -> bool:
        """Whether both expressions give the same stored value for all values of the names they read.

        False if there are too many combinations of values to try, or if an expression depends on time.
        """
        if is_timed(self.original.tree) or is_timed(self.mutated.tree):
            return False
        names = sorted(self.original.names | self.mutated.names)
        possible_values = [_list_values(self.variables[name]) for name in names]
        # a type with too many values has an empty list
        n_combinations = prod(len(values) or MAX_COMBINATIONS + 1 for values in possible_values)
        if n_combinations > MAX_COMBINATIONS:
            return False
        for combination in product(*possible_values):
            value_by_name = dict(zip(names, combination, strict=True))
            original_value = self._compute_stored_value(self.original, value_by_name)
            mutated_value = self._compute_stored_value(self.mutated, value_by_name)
            if original_value != mutated_value:
                return False
        return True

    def _compute_stored_value(
        self, expression: Expression, value_by_name: Mapping[str, Value]
    ) -> Value | None:
        """Return the value of an expression as a variable stores it; None if it divides by zero."""
        try:
            return self.result_type.clamp(expression.evaluate(value_by_name))
        except ExpressionError:
            return None


def _list_values(value_type: Type) -> Sequence[Value]:
    """Return all values of a type that has few of them; empty for others."""
    if isinstance(value_type, BoolType):
        return (False, True)
    if isinstance(value_type, EnumType):
        return value_type.values
    if isinstance(value_type, IntType) and value_type.high - value_type.low < MAX_COMBINATIONS:
        return range(value_type.low, value_type.high + 1)
    return ()


@dataclass(frozen=True)
class Mutation(Generic[T_co]):
    """A part of a chart with a single mutation.

    Attributes:
        kind: the kind of the mutation.
        description: what is changed, for messages.
        line: the line in the document, if known.
        mutated_part: the mutated part.
        change: the expression that was changed, None if the mutation changes no expression.
    """

    kind: MutationKind
    description: str
    line: int | None
    mutated_part: T_co
    change: ExpressionChange | None = None

    def with_mutated_part(self, mutated_part: Container) -> Mutation[Container]:
        """Return the same mutation as one of a larger part, which contains the changed one."""
        return Mutation(self.kind, self.description, self.line, mutated_part, self.change)


def embed_mutations(
    mutations: Iterable[Mutation[Part]], embed: Callable[[Part], Container]
) -> Iterator[Mutation[Container]]:
    """Yield mutations of a part as mutations of what contains it, for example of a transition for its guard.

    Args:
        mutations: the mutations of the part.
        embed: returns the container with a mutated part in place of the original one.
    """
    for mutation in mutations:
        yield mutation.with_mutated_part(embed(mutation.mutated_part))


def embed_in_tuple(
    parts: tuple[Part, ...], index: int, mutations: Iterable[Mutation[Part]]
) -> Iterator[Mutation[tuple[Part, ...]]]:
    """Yield mutations of one element of a tuple as mutations of the tuple."""
    return embed_mutations(mutations, lambda part: (*parts[:index], part, *parts[index + 1 :]))


@dataclass(frozen=True, eq=False)
class Mutant:
    """A chart with a single mutation.

    Attributes:
        state: the state with the mutation; None if it is not in a single state.
        change: the expression that was changed, None if the mutation changes no expression.
    """

    kind: MutationKind
    description: str
    line: int | None
    chart: Chart
    state: str | None = None
    change: ExpressionChange | None = None

    def __str__(self) -> str:
        line_text = f"line {self.line}: " if self.line is not None else ""
        return f"{line_text}{self.description}"
