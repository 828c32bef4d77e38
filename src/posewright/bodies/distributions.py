"""Distributions of numbers in documents: uniform by `low` and `high`, or normal by `mean` and `sd`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posewright.documents import FieldReader, Node
from posewright.errors import InputError

MAX_DEVIATIONS = 3.0
"""Normal distributions are cut off so many standard deviations from the mean."""


class Distribution(Protocol):
    """A distribution of numbers."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the greatest number that can be drawn."""

    def draw(self, random: np.random.Generator) -> float:
        """Return a number within the bounds."""

    def draw_integer(self, random: np.random.Generator) -> int:
        """Return an integer within the rounded bounds."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """A uniform distribution.

    Raises:
        InputError: a number is not finite, or `low` is above `high`.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise InputError(
                f"a range cannot go from {self.low} to {self.high}",
                hint="write finite numbers, the lower one first",
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """`low` and `high`."""
        return self.low, self.high

    def draw(self, random: np.random.Generator) -> float:
        """Return a number from `low` to `high`."""
        sample = float(random.uniform(self.low, self.high))
        return min(max(sample, self.low), self.high)

    def draw_integer(self, random: np.random.Generator) -> int:
        """Return an integer from `low` to `high`, all with the same probability."""
        low = round(self.low)  # rounding a draw would halve the probability of both bounds
        high = round(self.high)
        return min(low + int(random.random() * (high - low + 1)), high)


@dataclass(frozen=True, slots=True)
class Normal:
    """A normal distribution, cut off at three standard deviations.

    Raises:
        InputError: a number is not finite, or the deviation is negative.
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation >= 0.0):
            raise InputError(
                f"a normal distribution cannot have the mean {self.mean} and the deviation {self.deviation}",
                hint="finite numbers, a deviation of 0 or more",
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The mean less and plus three standard deviations."""
        return self.mean - MAX_DEVIATIONS * self.deviation, self.mean + MAX_DEVIATIONS * self.deviation

    def draw(self, random: np.random.Generator) -> float:
        """Return a number within three standard deviations of the mean."""
        n_deviations = float(random.standard_normal())
        while abs(n_deviations) > MAX_DEVIATIONS:
            n_deviations = float(random.standard_normal())
        return self.mean + self.deviation * n_deviations

    def draw_integer(self, random: np.random.Generator) -> int:
        """Return a number within three standard deviations of the mean, rounded."""
        return round(self.draw(random))


def distribution_reader(
    unit: float = 1.0,
    *,
    needs_source: bool = False,
    require_valid: Callable[[Distribution], object] | None = None,
) -> FieldReader:
    """Return a reader of a distribution, or of a number, which is then always drawn.

    Args:
        unit: size of the document's unit, in SI units.
        needs_source: whether the document must state where the numbers come from; then a number alone is an
            error.
        require_valid: raises an InputError for a distribution that the field cannot have.
    """

    def read(node: Node) -> Distribution:
        is_number = isinstance(node.value, int | float) and not needs_source
        if is_number:
            number = node.number() * unit
            first, second = number, number
            is_normal = False
        else:
            written_keys = node.fields()
            is_normal = "sd" in written_keys or "mean" in written_keys
            keys = ("mean", "sd") if is_normal else ("low", "high")
            required_keys = (*keys, "source") if needs_source else keys
            entries = node.fields(required=required_keys, optional=() if needs_source else ("source",))
            if "source" in entries:
                entries["source"].text()
            first, second = (entries[key].number() * unit for key in keys)  # low, high; or mean, deviation
        with node.locate_errors():
            distribution: Distribution = Normal(first, second) if is_normal else Uniform(first, second)
            if require_valid is not None:
                require_valid(distribution)
        return distribution

    return FieldReader(read)
