"""The types a chart's inputs, outputs and constants may have.

| written | values |
|---|---|
| `bool` | false, true |
| `int`, `int8` ... `int32`, `uint8`, `uint16`, `{int: [0, 3]}` | whole numbers of that range |
| `float`, `{float: [0.0, 5.0]}` | finite numbers of that range, of 64 bits |
| `float32`, `{float32: [0.0, 5.0]}` | finite numbers of that range, rounded to 32 bits |
| `{enum: [slow, fast]}` | one of these names |

Numbers may have a unit; the type checker converts between units of one dimension.

Each type says in `storage` what a variable of it needs on a board: `bool`, the narrowest of `int8`, `uint8`,
`int16`, `uint16`, `int32` that holds its range, `float32` or `float64`; a name is stored as its code, its
place in the enumeration. Whole numbers are computed with 32 bits, whatever they are stored in.
"""

from __future__ import annotations

import math
import sys
from ctypes import c_float
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from posewright.errors import InputError

Value = bool | int | float | str
"""What an input, an output or a constant holds; text is the name of an enumeration's value."""

INT_LOW, INT_HIGH = -(2**31), 2**31 - 1
"""Whole-number arithmetic saturates at 32 bits: on a board, in arrays and here alike."""

INT_RANGES = {
    "int": (INT_LOW, INT_HIGH),
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (INT_LOW, INT_HIGH),
    "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1),
}
STORAGES = ("int8", "uint8", "int16", "uint16", "int32")
"""What whole numbers are stored in, the narrowest first."""

SINGLE_MAX = (2 - 2**-23) * 2.0**127
"""The greatest finite number of 32 bits."""


@dataclass(frozen=True)
class BoolType:
    """False or true."""

    storage = "bool"

    def __str__(self) -> str:
        return "bool"

    @property
    def zero(self) -> bool:
        """What an output of this type holds before anything sets it."""
        return False

    def holds(self, value: object) -> bool:
        """Return whether `value` is of this type, exactly as it stands."""
        return type(value) is bool

    def fit(self, value: Value) -> bool:
        """Return `value` made fit to be kept in a register of this type."""
        return bool(value)

    def parse(self, text: str) -> bool:
        """Return the value that a person wrote as 0, 1, false or true."""
        words = {"0": False, "1": True, "false": False, "true": True}
        if text.strip().lower() not in words:
            raise InputError(f"{text!r} is not a bool", hint="write 0, 1, false or true")
        return words[text.strip().lower()]


@dataclass(frozen=True)
class IntType:
    """A whole number from `low` to `high`, both included."""

    low: int = INT_LOW
    high: int = INT_HIGH
    written: str | None = field(default=None, compare=False)
    unit: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return (self.written or f"int {self.low}..{self.high}") + _brackets(self.unit)

    @property
    def storage(self) -> str:
        """The narrowest type that holds the range: its bits and whether it has a sign."""
        return next(
            name for name in STORAGES if INT_RANGES[name][0] <= self.low and self.high <= INT_RANGES[name][1]
        )

    @property
    def zero(self) -> int:
        """What an output of this type holds before anything sets it: 0, or the value nearest to it."""
        return min(max(0, self.low), self.high)

    def holds(self, value: object) -> bool:
        """Return whether `value` is of this type, exactly as it stands."""
        return type(value) is int and self.low <= value <= self.high

    def fit(self, value: float) -> int:
        """Return the value of the range nearest to `value`: numbers saturate, they never wrap."""
        return int(min(max(value, self.low), self.high))

    def parse(self, text: str) -> int:
        """Return the whole number that a person wrote."""
        try:
            number = int(text)
        except ValueError:
            raise InputError(f"{text!r} is not a whole number", hint=f"the range is {self}") from None
        if not self.holds(number):
            raise InputError(f"{number} is out of range", hint=f"the range is {self.low}..{self.high}")
        return number


@dataclass(frozen=True)
class FloatType:
    """A finite number from `low` to `high`, both included; a `single` one and its range have 32 bits."""

    low: float = -sys.float_info.max
    high: float = sys.float_info.max
    single: bool = False
    unit: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.single:
            object.__setattr__(self, "low", to_single(max(self.low, -SINGLE_MAX)))
            object.__setattr__(self, "high", to_single(min(self.high, SINGLE_MAX)))

    def __str__(self) -> str:
        word = "float32" if self.single else "float"
        return (word if self.open else f"{word} {self.low:g}..{self.high:g}") + _brackets(self.unit)

    @property
    def storage(self) -> str:
        """IEEE 754 of 32 or of 64 bits."""
        return "float32" if self.single else "float64"

    @property
    def open(self) -> bool:
        """Whether no range was declared."""
        return self == FloatType(single=self.single)

    @property
    def ends(self) -> tuple[float, float]:
        """The range as a person would write it: of 32 bits, the shortest numbers that round to it."""
        return (_shortest(self.low), _shortest(self.high)) if self.single else (self.low, self.high)

    @property
    def zero(self) -> float:
        """What an output of this type holds before anything sets it: 0, or the value nearest to it."""
        return min(max(0.0, self.low), self.high)

    def holds(self, value: object) -> bool:
        """Return whether `value` is of this type, exactly as it stands."""
        inside = type(value) is float and self.low <= value <= self.high
        return inside and (not self.single or to_single(value) == value)  # type: ignore[arg-type]

    def fit(self, value: float) -> float:
        """Return the value of the range nearest to `value`; what is not a number becomes `zero`."""
        if value != value:  # noqa: PLR0124 -- NaN
            return self.zero
        nearest = float(min(max(value, self.low), self.high))
        return to_single(nearest) if self.single else nearest

    def parse(self, text: str) -> float:
        """Return the number that a person wrote."""
        try:
            number = to_single(float(text)) if self.single else float(text)
        except ValueError:
            raise InputError(f"{text!r} is not a number", hint=f"the type is {self}") from None
        if not self.holds(number):
            raise InputError(f"{number:g} is out of range", hint=f"the range is {self}")
        return number


@dataclass(frozen=True)
class EnumType:
    """One of a few names."""

    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"one of {', '.join(self.values)}"

    @property
    def codes(self) -> dict[str, int]:
        """The number that stands for each name on a board: its place, from 0."""
        return {name: code for code, name in enumerate(self.values)}

    @property
    def storage(self) -> str:
        """The narrowest type that holds the codes."""
        return IntType(0, len(self.values) - 1).storage

    @property
    def zero(self) -> str:
        """What an output of this type holds before anything sets it: the first name."""
        return self.values[0]

    def holds(self, value: object) -> bool:
        """Return whether `value` is of this type, exactly as it stands."""
        return isinstance(value, str) and value in self.values

    def fit(self, value: Value) -> str:
        """Return `value`: the type checker has seen that it is one of the names."""
        return str(value)

    def parse(self, text: str) -> str:
        """Return the name that a person wrote."""
        if text.strip() not in self.values:
            raise InputError(f"{text!r} is none of the values", hint=f"it is {self}")
        return text.strip()


Type = BoolType | IntType | FloatType | EnumType
Numeric = (IntType, FloatType)


_PLAIN_TYPES = frozenset({bool, int, float, str})


@runtime_checkable
class _Scalar(Protocol):
    """What NumPy keeps a single value in."""

    ndim: int

    def item(self) -> object:
        """Return the value as Python has it."""


def accept(name: str, wanted: Type, value: object) -> Value:
    """Return `value` as one of type `wanted`, taking NumPy scalars and whole numbers for floats.

    A number outside the declared range becomes the nearest one inside: a sensor may overshoot, and
    what was proved about the chart then still holds.

    Raises:
        InputError: the value is of another type, or is not finite.
    """
    plain: Any = value
    if type(value) not in _PLAIN_TYPES and isinstance(value, _Scalar) and value.ndim == 0:
        plain = value.item()
    if isinstance(wanted, FloatType) and type(plain) is int:
        plain = float(min(max(plain, wanted.low), wanted.high))  # whole numbers may be beyond all floats
    right = (
        (isinstance(wanted, BoolType) and type(plain) is bool)
        or (isinstance(wanted, IntType) and type(plain) is int)
        or (isinstance(wanted, FloatType) and type(plain) is float and math.isfinite(plain))
        or (isinstance(wanted, EnumType) and wanted.holds(plain))
    )
    if not right:
        raise InputError(f"{name} = {value!r} does not fit", hint=f"{name} is {wanted}")
    return wanted.fit(plain)


def to_single(value: float) -> float:
    """Return the number of 32 bits nearest to `value`; beyond the greatest one lies infinity."""
    return c_float(value).value


def _shortest(value: float) -> float:
    """Return the number with the fewest digits that rounds to a number of 32 bits."""
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next((float(text) for text in texts if to_single(float(text)) == value), value)


def _brackets(unit: str | None) -> str:
    return f" [{unit}]" if unit else ""


def type_of(value: Value) -> Type:
    """Return the widest type a constant of this value has."""
    if isinstance(value, bool):
        return BoolType()
    if isinstance(value, int):
        return IntType()
    return FloatType() if isinstance(value, float) else EnumType((value,))


def show(value: Value) -> str:
    """Return a value as charts write it: truth values are 0 and 1."""
    return str(int(value)) if isinstance(value, bool) else str(value)
