"""Input wires: one for each input of the chart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.behaviours.wiring.quantity import Quantity
from posewright.behaviours.wiring.senses import Senses
from posewright.behaviours.wiring.source import Source
from posewright.behaviours.wiring.threshold import Threshold
from posewright.charts import BoolType, EnumType, IntType, Type, Value
from posewright.errors import BodyError

DECIMALS = 9
"""Numbers are rounded to so many: 30 degrees are to be 30, not 30.000000000000004."""

NONE = 999.0
"""What an input reads where there is none of what it looks for, unless the document says otherwise."""


@dataclass(frozen=True)
class InputWire:
    """From a source to one input of the chart.

    Attributes:
        name: of the chart's input.
        type: of the chart's input.
        source: where its value comes from.
        unit: size of the unit the chart counts in, in inner units.
        threshold: what makes true or false of a number; None passes the number on.
        none: what the input reads where the source finds none, in the chart's unit.
    """

    name: str
    type: Type
    source: Source
    unit: float = 1.0
    threshold: Threshold | None = None
    none: float = NONE

    def read(self, senses: Senses, before: Value | None) -> Value:
        """Return the input's value, having been `before` (None at the first tick).

        A reading that is not a number leaves the input as it was.

        Raises:
            BodyError: the very first reading is not a number, or the body has no such channel.
        """
        value = self.source.read(senses)
        if self.threshold is not None:
            return self.threshold.holds(value, bool(before))
        if math.isnan(value):
            if before is None:
                raise BodyError(
                    f"the input {self.name} has nothing to begin with: its sensor reads no number"
                )
            return before
        if self.source.quantity is Quantity.FLAG:
            return bool(value)
        number = self.none if math.isinf(value) else round(value / self.unit, DECIMALS)
        return self.type.fit(round(number)) if isinstance(self.type, IntType) else self.type.fit(number)


def takes(kind: Type, *, flag: bool) -> bool:
    """Return whether an input of a type can be fed with a flag, or else with a number."""
    return isinstance(kind, BoolType) if flag else not isinstance(kind, BoolType | EnumType)
