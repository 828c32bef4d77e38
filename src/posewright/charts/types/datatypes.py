"""The types of a chart's inputs, outputs, locals and constants.

| written | values |
|---|---|
| `bool` | false, true |
| `int`, `int8` ... `int32`, `uint8`, `uint16`, `{int: [0, 3]}` | integers of that range |
| `float`, `{float: [0.0, 5.0]}` | finite numbers of that range, of 64 bits |
| `float32`, `{float32: [0.0, 5.0]}` | finite numbers of that range, rounded to 32 bits |
| `{enum: [slow, fast]}` | one of these names |

Numbers may have a unit; the type checker converts between units of one dimension.

The `storage` of a type is what a variable of it needs on a board: `bool`, the narrowest of `int8`, `uint8`,
`int16`, `uint16`, `int32` that holds its range, `float32` or `float64`. A value of an enumeration is stored
as its code, its place in the enumeration. Integers are computed with 32 bits, whatever they are stored in.
"""

from __future__ import annotations

import math
import sys
from ctypes import c_float
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from posewright.errors import InputError

Value = bool | int | float | str
"""The value of an input, an output or a constant; a value of an enumeration is its name."""

INT_LOW = -(2**31)
INT_HIGH = 2**31 - 1
"""Integer arithmetic saturates at 32 bits, on a board and in Python alike."""

INT_RANGES = {
    "int": (INT_LOW, INT_HIGH),
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (INT_LOW, INT_HIGH),
    "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1),
}
STORAGES = ("int8", "uint8", "int16", "uint16", "int32")
"""Storage types of integers, narrowest first."""

SINGLE_MAX = (2 - 2**-23) * 2.0**127
"""The largest finite float of 32 bits."""


@dataclass(frozen=True)
class BoolType:
    """False or true."""

    storage = "bool"

    def __str__(self) -> str:
        return "bool"

    @property
    def default(self) -> bool:
        """The value of an output of this type before an action sets it."""
        return False

    def contains(self, value: object) -> bool:
        """Return whether `value` is of this type, without any conversion."""
        return type(value) is bool

    def clamp(self, value: Value) -> bool:
        """Return `value` as it is stored in a variable of this type."""
        return bool(value)

    def parse(self, text: str) -> bool:
        """Return the value of the text 0, 1, false or true.

        Raises:
            InputError: it is another text.
        """
        values_by_text = {"0": False, "1": True, "false": False, "true": True}
        if text.strip().lower() not in values_by_text:
            raise InputError(f"{text!r} is not a bool", hint="write 0, 1, false or true")
        return values_by_text[text.strip().lower()]


@dataclass(frozen=True)
class IntType:
    """An integer from `low` to `high`, both included.

    Attributes:
        keyword: the word that declares the type, such as `uint8`; None if it was declared by a range.
    """

    low: int = INT_LOW
    high: int = INT_HIGH
    keyword: str | None = field(default=None, compare=False)
    unit: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return (self.keyword or f"int {self.low}..{self.high}") + _in_brackets(self.unit)

    @property
    def storage(self) -> str:
        """The narrowest storage type that holds the range."""
        for name in STORAGES:
            low, high = INT_RANGES[name]
            if low <= self.low and self.high <= high:
                return name
        raise ValueError(f"no integer of 32 bits holds {self.low}..{self.high}")

    @property
    def default(self) -> int:
        """The value of an output of this type before an action sets it: 0, or the nearest value in range."""
        return min(max(0, self.low), self.high)

    def contains(self, value: object) -> bool:
        """Return whether `value` is of this type, without any conversion."""
        return type(value) is int and self.low <= value <= self.high

    def clamp(self, value: float) -> int:
        """Return the value in range nearest to `value`; numbers saturate and never wrap around."""
        return int(min(max(value, self.low), self.high))

    def parse(self, text: str) -> int:
        """Return the integer that a text states.

        Raises:
            InputError: it is no integer, or out of range.
        """
        try:
            number = int(text)
        except ValueError:
            raise InputError(f"{text!r} is not a whole number", hint=f"the range is {self}") from None
        if not self.contains(number):
            raise InputError(f"{number} is out of range", hint=f"the range is {self.low}..{self.high}")
        return number


@dataclass(frozen=True)
class FloatType:
    """A finite number from `low` to `high`, both included.

    Attributes:
        single: it has 32 bits, and so have the ends of its range; else 64.
    """

    low: float = -sys.float_info.max
    high: float = sys.float_info.max
    single: bool = False
    unit: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.single:
            object.__setattr__(self, "low", to_single(max(self.low, -SINGLE_MAX)))
            object.__setattr__(self, "high", to_single(min(self.high, SINGLE_MAX)))

    def __str__(self) -> str:
        keyword = "float32" if self.single else "float"
        range_text = "" if self.is_unbounded else f" {self.low:g}..{self.high:g}"
        return keyword + range_text + _in_brackets(self.unit)

    @property
    def storage(self) -> str:
        """IEEE 754 with 32 or 64 bits."""
        return "float32" if self.single else "float64"

    @property
    def is_unbounded(self) -> bool:
        """Whether no range was declared."""
        return self == FloatType(single=self.single)

    @property
    def written_range(self) -> tuple[float, float]:
        """The range as declared: at 32 bits, the shortest numbers that round to its ends."""
        return (_shortest(self.low), _shortest(self.high)) if self.single else (self.low, self.high)

    @property
    def default(self) -> float:
        """The value of an output of this type before an action sets it: 0, or the nearest value in range."""
        return min(max(0.0, self.low), self.high)

    def contains(self, value: object) -> bool:
        """Return whether `value` is of this type, without any conversion."""
        if type(value) is not float or not self.low <= value <= self.high:
            return False
        return not self.single or to_single(value) == value

    def clamp(self, value: float) -> float:
        """Return the value in range nearest to `value`; NaN becomes the default."""
        if value != value:  # noqa: PLR0124 -- NaN
            return self.default
        nearest = float(min(max(value, self.low), self.high))
        return to_single(nearest) if self.single else nearest

    def parse(self, text: str) -> float:
        """Return the number that a text states.

        Raises:
            InputError: it is no number, or out of range.
        """
        try:
            number = to_single(float(text)) if self.single else float(text)
        except ValueError:
            raise InputError(f"{text!r} is not a number", hint=f"the type is {self}") from None
        if not self.contains(number):
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
        """The code of each name on a board: its place, from 0."""
        return {name: code for code, name in enumerate(self.values)}

    @property
    def storage(self) -> str:
        """The narrowest storage type that holds the codes."""
        return IntType(0, len(self.values) - 1).storage

    @property
    def default(self) -> str:
        """The value of an output of this type before an action sets it: the first name."""
        return self.values[0]

    def contains(self, value: object) -> bool:
        """Return whether `value` is of this type, without any conversion."""
        return isinstance(value, str) and value in self.values

    def clamp(self, value: Value) -> str:
        """Return `value`, which the type checker has found to be one of the names."""
        return str(value)

    def parse(self, text: str) -> str:
        """Return the name that a text states.

        Raises:
            InputError: it is none of the names.
        """
        if text.strip() not in self.values:
            raise InputError(f"{text!r} is not one of the values", hint=f"it is {self}")
        return text.strip()


Type = BoolType | IntType | FloatType | EnumType
Numeric = (IntType, FloatType)


_PLAIN_TYPES = frozenset({bool, int, float, str})


@runtime_checkable
class _NumPyScalar(Protocol):
    """A single value of NumPy, or an array without dimensions."""

    ndim: int

    def item(self) -> object:
        """Return the value as a Python object."""


def convert_value(name: str, target: Type, value: object) -> Value:
    """Return `value` as one of the target type; NumPy scalars are accepted, and integers for floats.

    A number outside the declared range becomes the nearest one inside: a sensor may overshoot, and what was
    proved about the chart then still holds.

    Args:
        name: the name of the variable, for messages.
        target: the type of the variable.
        value: the value to convert.

    Raises:
        InputError: the value is of another type, or is not finite.
    """
    python_value: Any = value
    is_plain = type(value) in _PLAIN_TYPES  # asked first, since it is much faster
    if not is_plain and isinstance(value, _NumPyScalar) and value.ndim == 0:
        python_value = value.item()
    if isinstance(target, FloatType) and type(python_value) is int:
        # clamped first, since an integer may be larger than any float
        python_value = float(min(max(python_value, target.low), target.high))
    is_of_type = (
        (isinstance(target, BoolType) and type(python_value) is bool)
        or (isinstance(target, IntType) and type(python_value) is int)
        or (isinstance(target, FloatType) and type(python_value) is float and math.isfinite(python_value))
        or (isinstance(target, EnumType) and target.contains(python_value))
    )
    if not is_of_type:
        raise InputError(f"{name} = {value!r} does not fit", hint=f"{name} is {target}")
    return target.clamp(python_value)


def to_single(value: float) -> float:
    """Return the float of 32 bits nearest to `value`; infinity if it is too large."""
    return c_float(value).value


def _shortest(value: float) -> float:
    """Return the number with the fewest digits that rounds to a given float of 32 bits."""
    for n_digits in range(1, 10):
        number = float(f"{value:.{n_digits}g}")
        if to_single(number) == value:
            return number
    return value


def _in_brackets(unit: str | None) -> str:
    return f" [{unit}]" if unit else ""


def type_of(value: Value) -> Type:
    """Return the type of a constant; the widest one, for a number."""
    if isinstance(value, bool):
        return BoolType()
    if isinstance(value, int):
        return IntType()
    return FloatType() if isinstance(value, float) else EnumType((value,))


def format_value(value: Value) -> str:
    """Return the text of a value in a chart; truth values are 0 and 1."""
    return str(int(value)) if isinstance(value, bool) else str(value)
