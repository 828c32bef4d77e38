"""Input wires, one for each input and event of the chart, and how a document writes them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from posewright.charts import BoolType, EnumType, IntType, Type, Value
from posewright.controllers.behaviours.source_reading import Surroundings, read_source
from posewright.controllers.behaviours.sources import Quantity, Senses, Source
from posewright.documents import Node
from posewright.errors import BodyError


@dataclass(frozen=True)
class Threshold:
    """True below a limit, or with `above` true above it, and once true, true for a little longer.

    `below 0.35, hysteresis 0.05`: true as soon as the reading is under 0.35, false again as soon as it
    is over 0.40; in between it stays what it was. Before the first reading it is false.
    """

    limit: float  # where it becomes true, in inner units
    above: bool = False  # whether it is true above the limit
    hysteresis: float = 0.0  # how far back the reading must go to make it false again, in inner units

    def __str__(self) -> str:
        back = f", hysteresis {self.hysteresis:g}" if self.hysteresis else ""
        return f"{'above' if self.above else 'below'} {self.limit:g}{back}"

    def holds(self, value: float, before: bool) -> bool:
        """Return whether it is true now, having been `before`; NaN changes nothing."""
        if math.isnan(value):
            return before
        over = value - self.limit if self.above else self.limit - value
        return over > 0.0 or (before and over >= -self.hysteresis)


DECIMALS = 1e9
"""Numbers are rounded to nine decimals: 30 degrees are to be 30, not 30.000000000000004."""

ALL_WHOLE = 2.0**53
"""From here on every float is a whole number."""


def rounded(number: float) -> float:
    """Return a number to nine decimals, as a board computes it: scaled, rounded, scaled back."""
    scaled = number * DECIMALS
    return round(scaled) / DECIMALS if abs(scaled) < ALL_WHOLE else number


NONE = 999.0
"""What an input reads where there is none of what it looks for, unless the document says otherwise."""


@dataclass(frozen=True)
class InputWire:
    """From a source to one input of the chart."""

    name: str  # of the chart's input
    type: Type  # of the chart's input
    source: Source  # where its value comes from
    unit: float = 1.0  # size of the unit the chart counts in, in inner units
    threshold: Threshold | None = None  # what makes true or false of a number; None passes the number on
    none: float = NONE  # what the input reads where the source finds none, in the chart's unit

    @property
    def wired_to(self) -> str:
        """What it is read from, in a few words."""
        return f"{self.source}" if self.threshold is None else f"{self.source}, {self.threshold}"

    def __repr__(self) -> str:
        return f"InputWire({self.name!r} from {self.wired_to})"

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
                what = f"the input {self.name} has nothing to begin with: its sensor reads no number"
                raise BodyError(what)
            return before
        if self.source.quantity is Quantity.FLAG:
            return bool(value)
        number = self.none if math.isinf(value) else rounded(value / self.unit)
        if isinstance(self.type, IntType):
            return self.type.clamp(round(min(max(number, self.type.low), self.type.high)))
        return self.type.clamp(number)


def takes(kind: Type, *, flag: bool) -> bool:
    """Return whether an input of a type can be fed with a flag, or else with a number."""
    return isinstance(kind, BoolType) if flag else not isinstance(kind, BoolType | EnumType)


WORDS = ("below", "above", "hysteresis")  # what a key that carries a unit may begin with


def read_inputs(node: Node, around: Surroundings) -> tuple[InputWire, ...]:
    """Read the wires, in the order of the chart's inputs, then of its events.

    An event is wired like a truth value: it comes when that becomes true.
    """
    inputs = {**around.chart.inputs, **{event: BoolType() for event in around.chart.events}}
    entries = node.fields(optional=inputs)
    missing = [name for name in inputs if name not in entries]
    if missing:
        node.fail(f"nothing is wired to {', '.join(missing)}", hint="every input and event of the chart once")
    return tuple(_read_wire(name, kind, entries[name], around) for name, kind in inputs.items())


def _read_wire(name: str, kind: Type, node: Node, around: Surroundings) -> InputWire:
    source, used = read_source(node, around)
    return _finish(name, kind, source, node, used)


def _finish(name: str, kind: Type, source: Source, node: Node, used: Collection[str]) -> InputWire:
    """Read what is left of an entry: its unit, its threshold, and what stands for none."""
    _check_keys(node, source.quantity, used)
    fields = node.fields()
    units = source.quantity.units
    threshold = _read_threshold(node, units)
    is_flag = threshold is not None or source.quantity is Quantity.FLAG
    if not takes(kind, flag=is_flag):
        _refuse_type(node, kind, source.quantity, is_flag=is_flag)
    unit = fields["unit"].choice("unit", units) if "unit" in fields else next(iter(units), "")
    none = fields["none"].number() if "none" in fields else NONE
    return InputWire(name, kind, source, units.get(unit, 1.0), threshold, none)


def _check_keys(node: Node, quantity: Quantity, used: Collection[str]) -> None:
    """Refuse keys that mean nothing here, above all thresholds in a unit that does not fit."""
    written = [f"{word}{_suffix(unit)}" for unit in quantity.units for word in WORDS]
    for key, entry in node.fields().items():
        if key.split("_")[0] in WORDS and key not in written:
            fitting = ", ".join(key for key in written if not key.startswith("hysteresis"))
            hint = f"write {fitting}" if fitting else "it needs no threshold"
            entry.fail(f"what is read here is {quantity.value}", hint=hint)
    node.fields(optional={*used, *written, "unit", "none"})


def _suffix(unit: str) -> str:
    return f"_{unit}" if unit else ""


def _read_threshold(node: Node, units: Mapping[str, float]) -> Threshold | None:
    found = {word: _in_units(node, word, units) for word in WORDS}
    below, above, hysteresis = (found[word] for word in WORDS)
    if below is not None and above is not None:
        node.fail("both below and above are given", hint="an input has one threshold")
    limit = below if below is not None else above
    if limit is None:
        if hysteresis is not None:
            node.fail("a hysteresis without a threshold", hint="give below or above as well")
        return None
    if hysteresis is not None and hysteresis < 0.0:
        node.fail("the hysteresis is negative", hint="it is how far back the reading must go, 0 or more")
    return Threshold(limit, above is not None, hysteresis or 0.0)


def _in_units(node: Node, word: str, units: Mapping[str, float]) -> float | None:
    """Return a number given under `word` with one of the units' names, in inner units."""
    fields = node.fields()
    given = [(key, size) for unit, size in units.items() if (key := word + _suffix(unit)) in fields]
    if len(given) > 1:
        node.fail(f"{given[0][0]} and {given[1][0]} are both given", hint="one of them is enough")
    return fields[given[0][0]].number() * given[0][1] if given else None


def _refuse_type(node: Node, kind: Type, quantity: Quantity, *, is_flag: bool) -> None:
    if isinstance(kind, EnumType):
        what = f"the chart's input is {kind}, which nothing here gives"
        node.fail(what, hint="bool, int or float can be wired")
    if is_flag:
        node.fail(f"the chart's input is {kind}, but this gives true or false")
    units = [_suffix(unit) for unit in quantity.units]
    hint = "give a threshold: " + " or ".join(f"below{unit}" for unit in units)
    node.fail(f"the chart's input is {kind}, but this gives {quantity.value}", hint=hint)
