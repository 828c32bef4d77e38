"""What a parameter of a gait means: its name in words, its unit, its bounds, and a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from posewright.errors import InputError, UnknownNameError


class ParameterKind(Enum):
    """Number of values of a parameter."""

    SINGLE = "one"
    FORE_HIND = "one for the fore legs, one for the hind legs"
    POINTS = "a point for each foot"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Meaning, unit and bounds of a parameter.

    Attributes:
        title: its name in words; for a walk of four legs its name in the lecture that the walk comes from.
        unit: the unit of the value; empty if it has none.
        low: the least allowed value.
        high: the greatest allowed value.
        sentence: what the parameter means, for readers.
        kind: how many values it has.
        is_whole: whether its values are whole numbers.
    """

    title: str
    unit: str
    low: float
    high: float
    sentence: str = field(repr=False)
    kind: ParameterKind = ParameterKind.SINGLE
    is_whole: bool = False

    @property
    def range_text(self) -> str:
        """The range with its unit."""
        return f"{self.low:g} to {self.high:g}{f' {self.unit}' if self.unit else ''}"

    def check(self, name: str, value: object) -> None:
        """Raise InputError unless the value is a number within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"{name} is {value}", hint=f"a number, {self.range_text}")
        if self.is_whole and value != int(value):
            raise InputError(f"{name} is {value:g}", hint=f"a whole number, {self.range_text}")
        if not self.low <= value <= self.high:
            raise InputError(f"{name} is {value:g}", hint=f"the range is {self.range_text}")


def find_explanation(name: str, explanations: Mapping[str, Explanation]) -> Explanation:
    """Return the explanation of a parameter by its dotted name, or raise UnknownNameError.

    Args:
        name: name of the parameter, after which a dot and one of its several numbers may follow.
        explanations: of all parameters, by name.
    """
    base = name.partition(".")[0]
    if base not in explanations:
        raise UnknownNameError.among("gait parameter", name, explanations)
    return explanations[base]
