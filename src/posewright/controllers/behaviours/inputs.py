"""Wires to the inputs and events of a chart, and their form in documents."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from posewright.charts import BoolType, EnumType, IntType, Type, Value
from posewright.controllers.behaviours.source_reading import NamesInScope, read_source
from posewright.controllers.behaviours.sources import Quantity, Source, TickContext
from posewright.documents import Node
from posewright.errors import BodyError


@dataclass(frozen=True)
class Threshold:
    """True below a limit (with `above`: above it), with hysteresis.

    `below 0.35, hysteresis 0.05` is true as soon as the reading is under 0.35, false again as soon as it is
    over 0.40, and stays as it was in between. Before the first reading it is false.
    """

    limit: float  # in SI units
    above: bool = False  # whether it is true above the limit
    hysteresis: float = 0.0  # distance behind the limit at which it becomes false again, in SI units

    def __str__(self) -> str:
        hysteresis = f", hysteresis {self.hysteresis:g}" if self.hysteresis else ""
        return f"{'above' if self.above else 'below'} {self.limit:g}{hysteresis}"

    def holds(self, value: float, previous: bool) -> bool:
        """Return whether a value is beyond the threshold, by the previous result; NaN keeps it."""
        if math.isnan(value):
            return previous
        excess = value - self.limit if self.above else self.limit - value
        return excess > 0.0 or (previous and excess >= -self.hysteresis)


DECIMALS = 1e9
"""Numbers are rounded to nine decimals, so that 30 degrees are 30, not 30.000000000000004."""

FIRST_INTEGRAL = 2.0**53
"""From here on every float is an integer."""


def round_as_on_board(number: float) -> float:
    """Return a number rounded to nine decimals, as a board computes it: scaled, rounded, scaled back."""
    scaled = number * DECIMALS
    return round(scaled) / DECIMALS if abs(scaled) < FIRST_INTEGRAL else number


NONE = 999.0
"""The value of an input whose source finds nothing, unless the document sets another one."""


@dataclass(frozen=True)
class InputWire:
    """A wire from a source to one input of the chart."""

    name: str  # of the chart's input
    type: Type  # of the chart's input
    source: Source  # where its value comes from
    unit: float = 1.0  # size of the chart's unit, in SI units
    threshold: Threshold | None = None  # turns a number into true or false; None passes the number on
    none: float = NONE  # the input's value while the source detects nothing, in the chart's unit

    @property
    def wired_to(self) -> str:
        """The source and the threshold, for messages."""
        return f"{self.source}" if self.threshold is None else f"{self.source}, {self.threshold}"

    def __repr__(self) -> str:
        return f"InputWire({self.name!r} from {self.wired_to})"

    def read(self, context: TickContext, previous: Value | None) -> Value:
        """Return the value that the chart's input has at the present tick.

        A threshold or a flag gives true or false; another source gives a number in the chart's unit, within
        the range of the input. Where a sensor reads NaN, no number at all, the previous value remains.

        Args:
            context: the present tick.
            previous: the value at the previous tick; None at the first tick.

        Raises:
            BodyError: the first reading is not a number, or the body has no such channel.
        """
        reading = self.source.read(context)
        if self.threshold is not None:
            return self.threshold.holds(reading, bool(previous))
        if math.isnan(reading):
            if previous is None:
                raise BodyError(f"the input {self.name} has no first value: its sensor reads no number")
            return previous
        if self.source.quantity is Quantity.FLAG:
            return bool(reading)
        detects_nothing = math.isinf(reading)
        number = self.none if detects_nothing else round_as_on_board(reading / self.unit)
        if isinstance(self.type, IntType):
            return self.type.clamp(round(min(max(number, self.type.low), self.type.high)))
        return self.type.clamp(number)


KEY_STEMS = ("below", "above", "hysteresis")
"""Keys of a threshold before the unit, as in `below_cm`."""


def read_inputs(node: Node, names: NamesInScope) -> tuple[InputWire, ...]:
    """Read the wires, in the order of the chart's inputs, then of its events.

    An event is wired like a bool input: it occurs when that becomes true.

    Raises:
        DocumentError: an entry is not valid, or an input has none.
        UnknownNameError: a name in an entry is unknown.
    """
    inputs = {**names.chart.inputs, **{event: BoolType() for event in names.chart.events}}
    entries = node.fields(optional=inputs)
    missing = [name for name in inputs if name not in entries]
    if missing:
        node.fail(
            f"nothing is wired to {', '.join(missing)}", hint="wire every input and event of the chart once"
        )
    return tuple(_read_wire(name, kind, node=entries[name], names=names) for name, kind in inputs.items())


def _read_wire(name: str, kind: Type, node: Node, names: NamesInScope) -> InputWire:
    """Read the entry that wires a source, such as a sensor, to an input of the chart.

    Args:
        name: the name of the input.
        kind: the type of the input.
        node: the entry.
        names: the names that the entry may use.

    Raises:
        DocumentError: the entry has an unknown key, or does not fit the type of the input.
        UnknownNameError: a name in the entry is unknown.
    """
    source, source_keys = read_source(node, names)
    unit_sizes = source.quantity.units  # in SI units, by name; empty for a flag
    _require_known_keys(node, source.quantity, source_keys)
    threshold = _read_threshold(node, unit_sizes)
    _require_fitting_type(node, kind, source.quantity, has_threshold=threshold is not None)
    fields = node.fields()
    si_unit = next(iter(unit_sizes), "")
    unit = fields["unit"].choice("unit", unit_sizes) if "unit" in fields else si_unit
    value_for_none = fields["none"].number() if "none" in fields else NONE
    return InputWire(
        name, kind, source, unit=unit_sizes.get(unit, 1.0), threshold=threshold, none=value_for_none
    )


def _require_known_keys(node: Node, quantity: Quantity, source_keys: Collection[str]) -> None:
    """Raise a DocumentError where a key is not known, or a threshold has a unit of another quantity.

    Args:
        node: the entry of an input.
        quantity: what its source measures.
        source_keys: the keys that belong to the source.
    """
    threshold_keys = [f"{stem}{_suffix(unit)}" for unit in quantity.units for stem in KEY_STEMS]
    for key, value_node in node.fields().items():
        stem, _, _ = key.partition("_")
        has_unit_of_other_quantity = stem in KEY_STEMS and key not in threshold_keys
        if has_unit_of_other_quantity:
            limit_keys = [key for key in threshold_keys if not key.startswith("hysteresis")]
            hint = f"write {', '.join(limit_keys)}" if limit_keys else "it needs no threshold"
            value_node.fail(f"this input reads {quantity.value}", hint=hint)
    node.fields(optional={*source_keys, *threshold_keys, "unit", "none"})


def _suffix(unit: str) -> str:
    """Return the end of a key with a unit, such as `_cm`; empty for a quantity without units."""
    return f"_{unit}" if unit else ""


def _read_threshold(node: Node, units: Mapping[str, float]) -> Threshold | None:
    """Read the threshold of an input; None if it has none."""
    below, above, hysteresis = (_read_with_unit(node, stem, units) for stem in KEY_STEMS)
    if below is not None and above is not None:
        node.fail("both below and above are given", hint="an input has one threshold")
    limit = below if below is not None else above
    if limit is None:
        if hysteresis is not None:
            node.fail("a hysteresis without a threshold", hint="add below or above")
        return None
    if hysteresis is not None and hysteresis < 0.0:
        node.fail("the hysteresis is negative", hint="0 or more")
    return Threshold(limit, above=above is not None, hysteresis=hysteresis or 0.0)


def _read_with_unit(node: Node, stem: str, units: Mapping[str, float]) -> float | None:
    """Read the number of a key such as `below_cm`, in SI units; None if the entry has no such key.

    Args:
        node: the entry of an input.
        stem: what the key begins with, such as `below`.
        units: sizes of the units that may follow, by name.
    """
    fields = node.fields()
    unit_sizes = {f"{stem}{_suffix(unit)}": size for unit, size in units.items()}  # by key
    keys = [key for key in unit_sizes if key in fields]
    if not keys:
        return None
    key, *further_keys = keys
    if further_keys:
        node.fail(f"{key} and {further_keys[0]} are both given", hint="give one of them")
    return fields[key].number() * unit_sizes[key]


def _require_fitting_type(node: Node, kind: Type, quantity: Quantity, *, has_threshold: bool) -> None:
    """Raise a DocumentError unless an input of the chart has a type for the values that it is wired to.

    These are true or false from a flag or a threshold, else numbers.

    Args:
        node: the entry of the input.
        kind: the type of the input.
        quantity: what the source measures.
        has_threshold: whether a threshold turns its numbers into true or false.
    """
    if isinstance(kind, EnumType):
        node.fail(f"the chart's input is {kind}, which cannot be wired", hint="bool, int or float")
    gives_flag = has_threshold or quantity is Quantity.FLAG
    if gives_flag == isinstance(kind, BoolType):
        return
    if gives_flag:
        node.fail(f"the chart's input is {kind}, but this gives true or false")
    keys = " or ".join(f"below{_suffix(unit)}" for unit in quantity.units)
    node.fail(
        f"the chart's input is {kind}, but this gives {quantity.value}", hint=f"give a threshold: {keys}"
    )
