"""Units of numbers, and the conversion between them."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from fractions import Fraction

from posewright.charts.types.datatypes import FloatType, IntType, Numeric, Type, Value
from posewright.errors import InputError

_DEGREE = Fraction(math.pi) / 180


@dataclass(frozen=True)
class Unit:
    """A unit of measurement.

    Units of one dimension convert into each other; a number without a unit can be combined with any.

    Attributes:
        dimension: what it measures.
        factor: its size in the base unit of the dimension.
    """

    dimension: str
    factor: Fraction = Fraction(1)


UNITS: dict[str, Unit] = {
    "s": Unit("time"),
    "ms": Unit("time", Fraction(1, 1000)),
    "min": Unit("time", Fraction(60)),
    "h": Unit("time", Fraction(3600)),
    "m": Unit("length"),
    "cm": Unit("length", Fraction(1, 100)),
    "mm": Unit("length", Fraction(1, 1000)),
    "km": Unit("length", Fraction(1000)),
    "rad": Unit("angle"),
    "deg": Unit("angle", _DEGREE),
    "kg": Unit("mass"),
    "g": Unit("mass", Fraction(1, 1000)),
    "N": Unit("force"),
    "V": Unit("voltage"),
    "A": Unit("current"),
    "mA": Unit("current", Fraction(1, 1000)),
    "Hz": Unit("frequency"),
    "m/s": Unit("speed"),
    "cm/s": Unit("speed", Fraction(1, 100)),
    "mm/s": Unit("speed", Fraction(1, 1000)),
    "km/h": Unit("speed", Fraction(1000, 3600)),
    "rad/s": Unit("turning speed"),
    "deg/s": Unit("turning speed", _DEGREE),
}
"""All units by name."""

_QUANTITY = re.compile(
    r"(?P<number>[-+]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,3})?)\s+(?P<unit>\S+)"
)


_WITH_UNIT = re.compile(
    r"(?P<number>[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,3})?)"
    r"\s*(?P<unit>[A-Za-z]+(?:/[A-Za-z]+)?)"
)
MAX_DIGITS = 400
"""Characters in the text of a number: the largest float written out has 309 digits."""


def find_unit(name: str) -> Unit:
    """Return the unit of that name; a name not in the table is a dimension of its own."""
    return UNITS.get(name) or Unit(name)


def conversion_factor(unit: str, into: str) -> Fraction | None:
    """Return the factor that converts a number from `unit` into another; None if they do not convert."""
    source = find_unit(unit)
    target = find_unit(into)
    return source.factor / target.factor if source.dimension == target.dimension else None


def to_fraction(value: int | float) -> Fraction:
    """Return the decimal number as an exact fraction: 0.1 is a tenth, not the binary float next to it."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def unit_hint(name: str) -> str:
    """Return a hint that names units similar to one that does not exist."""
    is_plural = name.endswith("s") and name[:-1] in UNITS
    matches = [name[:-1]] if is_plural else difflib.get_close_matches(name, UNITS, n=2)
    return f"did you mean {' or '.join(matches)}?" if matches else f"a unit is one of {', '.join(UNITS)}"


def parse_quantity(text: str) -> tuple[float, str]:
    """Return the number and the unit of a text such as `36 cm`.

    Raises:
        InputError: it is not a number, a space and a unit.
    """
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text[:60]!r} is not a number with a unit", hint="write it like 36 cm or 0.5 s")
    if match["unit"] not in UNITS:
        raise InputError(f"there is no unit {match['unit'][:60]!r}", hint=unit_hint(match["unit"]))
    number = float(match["number"])
    if not math.isfinite(number):
        raise InputError(f"{match['number']} is too large", hint="the largest is about 1.8e308")
    return number, match["unit"]


def parse_value(value_type: Type, text: str) -> Value:
    """Return the value that a text states; a number may have a unit, which is converted.

    Args:
        value_type: the type of the value.
        text: such as `1`, `slow`, `0.5` or `35cm`.

    Raises:
        InputError: it is no value of the type, or its unit does not convert into the type's.
    """
    if not isinstance(value_type, Numeric):
        return value_type.parse(text)
    match = _WITH_UNIT.fullmatch(text.strip())
    # letters that belong to a number are no unit
    if match is not None and match["unit"].lower() not in ("e", "inf", "nan"):
        return value_type.parse(_convert_text(match["number"], match["unit"], value_type))
    if len(text.strip()) > MAX_DIGITS:
        raise InputError("the number is too large", hint=f"the range is {value_type}")
    return value_type.parse(text)


def _convert_text(number: str, unit: str, value_type: IntType | FloatType) -> str:
    """Return the text of a number, converted into the unit of a type.

    The conversion is exact; a number that is in that unit already keeps its text.

    Args:
        number: the text of the number.
        unit: its unit.
        value_type: the type that the value is for.

    Raises:
        InputError: the units do not convert, or the result does not fit the type.
    """
    quantity = f"{number} {unit}"  # for messages
    if unit not in UNITS:
        raise InputError(f"there is no unit {unit[:60]!r}", hint=unit_hint(unit))
    target = value_type.unit
    if target is None:
        raise InputError(f"{quantity} where no unit is declared", hint=f"write {number}")
    factor = conversion_factor(unit, target)
    if factor is None:
        mismatch = f"{find_unit(unit).dimension} is not {find_unit(target).dimension}"
        hint = f"the type is {value_type}"
        raise InputError(f"{quantity} does not convert into {target}: {mismatch}", hint=hint)
    exact_value = Fraction(number) * factor
    try:
        if not isinstance(value_type, IntType):
            return number if factor == 1 else repr(float(exact_value))
        if exact_value.denominator != 1:
            message = f"{quantity} is {float(exact_value):g} {target}, not a whole number"
            raise InputError(message, hint=f"the type is {value_type}")
        return str(exact_value.numerator)
    except OverflowError:
        raise InputError("the number is too large", hint=f"the range is {value_type}") from None
