"""Units that numbers may be written with, and what one is in another."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from fractions import Fraction

from posewright.charts.types.datatypes import IntType, Numeric, Type, Value
from posewright.errors import InputError

_DEGREE = Fraction(math.pi) / 180


@dataclass(frozen=True)
class Unit:
    """A unit: what it measures, and how much of the dimension's own unit it is.

    Units of one dimension go into each other; a number without a unit goes with all.
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
"""Every unit by its name."""

_QUANTITY = re.compile(
    r"(?P<number>[-+]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,3})?)\s+(?P<unit>\S+)"
)


_WITH_UNIT = re.compile(
    r"(?P<number>[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,3})?)"
    r"\s*(?P<unit>[A-Za-z]+(?:/[A-Za-z]+)?)"
)
MAX_DIGITS = 400
"""Characters in the text of a number: the largest float written out has 309 digits."""


def unit_of(name: str) -> Unit:
    """Return the unit of that name; one that is not in the table goes with itself only."""
    return UNITS.get(name) or Unit(name)


def conversion(unit: str, into: str) -> Fraction | None:
    """Return what a number in `unit` is multiplied by to be one `into` another; None: they do not mix."""
    one, other = unit_of(unit), unit_of(into)
    return one.factor / other.factor if one.dimension == other.dimension else None


def exactly(value: int | float) -> Fraction:
    """Return the number that a person wrote: 0.1 is a tenth, not the binary fraction next to it."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def unit_hint(name: str) -> str:
    """Return what to write in place of a unit that does not exist."""
    near = difflib.get_close_matches(name, UNITS, n=2)
    return f"did you mean {' or '.join(near)}?" if near else f"a unit is one of {', '.join(UNITS)}"


def parse_quantity(text: str) -> tuple[float, str]:
    """Return the number and the unit of a text such as `36 cm`.

    Raises:
        InputError: it is not a number, a space and a unit.
    """
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text[:60]!r} is no number with a unit", hint="write it like 36 cm or 0.5 s")
    if match["unit"] not in UNITS:
        raise InputError(f"there is no unit {match['unit'][:60]!r}", hint=unit_hint(match["unit"]))
    number = float(match["number"])
    if not math.isfinite(number):
        raise InputError(f"{match['number']} is too large", hint="the largest is about 1.8e308")
    return number, match["unit"]


def parse_value(kind: Type, text: str) -> Value:
    """Return the value of a type that a person wrote; a number may have a unit, which is converted.

    Raises:
        InputError: it is none of the type, or its unit does not go with the type's.
    """
    if not isinstance(kind, Numeric):
        return kind.parse(text)
    match = _WITH_UNIT.fullmatch(text.strip())
    if match is not None and match["unit"].lower() not in ("e", "inf", "nan"):
        return kind.parse(_converted(match["number"], match["unit"], kind))
    if len(text.strip()) > MAX_DIGITS:
        raise InputError("a number too large", hint=f"the range is {kind}")
    return kind.parse(text)


def _converted(number: str, unit: str, kind: Type) -> str:
    """Return a number with a unit as one in the unit of a type."""
    wanted = kind.unit if isinstance(kind, Numeric) else None
    written = f"{number} {unit}"
    if unit not in UNITS:
        raise InputError(f"there is no unit {unit[:60]!r}", hint=unit_hint(unit))
    if wanted is None:
        raise InputError(f"{written} where no unit is declared", hint=f"write {number}")
    factor = conversion(unit, wanted)
    if factor is None:
        kinds = f"{unit_of(unit).dimension} is not {unit_of(wanted).dimension}"
        raise InputError(f"{written} cannot be had in {wanted}: {kinds}", hint=f"the type is {kind}")
    exact = Fraction(number) * factor
    try:
        if not isinstance(kind, IntType):
            return number if factor == 1 else repr(float(exact))
        if exact.denominator != 1:
            raise InputError(
                f"{written} is {float(exact):g} {wanted}, not a whole number", hint=f"the type is {kind}"
            )
        return str(exact.numerator)
    except OverflowError:
        raise InputError("a number too large", hint=f"the range is {kind}") from None
