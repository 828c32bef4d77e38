"""Evaluation of the Python expressions in xacro files by simpleeval, which runs no code of the document.

What an expression may use is listed here. Numbers, texts and collections have a largest size, so that no
expression takes long.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from simpleeval import DEFAULT_OPERATORS, EvalWithCompoundTypes, NameNotDefined

from posewright.errors import FormatError, PosewrightError

MAX_EXPRESSION_CHARACTERS = 4_000
MAX_WORK = 2_000_000
"""Most steps of all expressions of a document, each of which counts as `_STEP_WORK`, and parts of the values
between them; an expression itself counts as `_EXPRESSION_WORK`."""

_STEP_WORK = 5
_EXPRESSION_WORK = 60
MAX_SIZE = 20_000
"""Largest size of a value: the number of its parts, and the characters of its texts."""

_MAX_BITS = 4096
"""Longest integer, in bits."""

_MAX_NESTING = 20
_MAX_DIGITS = 400
"""Largest number of digits to which a number is rounded."""

_WIDE_FORMAT = re.compile(r"\d{4}|\*")
"""A width or precision of a thousand or more, or one that an operand gives."""

_UNLIMITED_MATH = frozenset({"factorial", "comb", "perm"})


class ExpressionEvaluator:
    """Evaluates the expressions of one document.

    Args:
        functions: functions by name, besides those of Python and `math`; the expressions also reach them as
            attributes of `xacro`.
    """

    def __init__(self, functions: Mapping[str, Callable[..., object]]) -> None:
        self._functions = {**_FUNCTIONS, **_MATH_FUNCTIONS, **functions}
        self._constants = {**_CONSTANTS, "xacro": SimpleNamespace(**functions)}
        self._work = 0

    def evaluate(self, expression: str, names: Mapping[str, object]) -> object:
        """Return the value of an expression: a number, truth value, text, list, tuple or dictionary.

        Args:
            expression: the expression.
            names: values by name, besides the constants of `math`. A mapping among them has its names as
                attributes: `leg.length`.

        Raises:
            FormatError: it is no expression, uses something else, fails, or its value is too large.
        """
        if len(expression) > MAX_EXPRESSION_CHARACTERS:
            raise FormatError(f"longer than {MAX_EXPRESSION_CHARACTERS:,} characters")
        self._work += _EXPRESSION_WORK
        find_value = partial(self._find_value, names)
        evaluator = EvalWithCompoundTypes(operators=_OPERATORS, functions={}, names=find_value)
        evaluator.functions = self._functions
        evaluator.nodes[ast.Attribute] = partial(_read_attribute, evaluator)
        evaluator.nodes[ast.FormattedValue] = partial(_format_value, evaluator)
        del evaluator.nodes[ast.Set]  # its order differs from run to run
        # simpleeval calls this for each value, to reject modules and functions of the system, which nothing
        # here can reach
        evaluator._check_disallowed_items = self._count_work
        try:
            tree = ast.parse(expression.strip(), mode="eval").body
            value: object = evaluator.eval(expression, previously_parsed=tree)
            _measure(value)
        except PosewrightError:
            raise
        except (RecursionError, MemoryError) as error:  # the second is how Python's parser says it
            raise FormatError("nested too deep") from error
        except SyntaxError as error:
            raise FormatError(f"not an expression of Python: {error.msg}") from error
        except Exception as error:  # an operation on values of the document may raise anything
            reason = " ".join(str(error).split())
            raise FormatError(f"{type(error).__name__}: {reason:.200}") from error
        return value

    def _find_value(self, names: Mapping[str, object], node: ast.Name) -> object:
        """Return the value of a name; raise NameNotDefined, after which simpleeval looks for a function."""
        for values in (names, self._constants):
            if node.id in values:
                return values[node.id]
        raise NameNotDefined(node.id, node.id)

    def _count_work(self, value: object) -> None:
        """Count the work for a value; raise FormatError if the expressions of the document need too much."""
        self._work += _STEP_WORK
        if isinstance(value, list | tuple | dict):
            self._work += _measure(value, is_result=False)
        if self._work > MAX_WORK:
            raise FormatError("the expressions of this file take too long")


def _read_attribute(evaluator: Any, node: ast.Attribute) -> object:  # simpleeval is not typed
    """Return `owner.name`: a function of a namespace, an entry of a mapping, or a method without effects."""
    owner = evaluator._eval(node.value)
    name = node.attr
    if isinstance(owner, SimpleNamespace):
        attributes = vars(owner)
        if name in attributes:
            return attributes[name]
    for kind, methods in _METHODS.items():
        if isinstance(owner, kind) and name in methods:
            return partial(methods[name], owner)
    if isinstance(owner, Mapping) and name in owner:
        return owner[name]
    raise FormatError(f"there is no {name!r:.80} in it that can be used here")


def _format_value(evaluator: Any, node: ast.FormattedValue) -> str:  # simpleeval is not typed
    """Return the text of a value in an f-string."""
    value = evaluator._eval(node.value)
    specification = "" if node.format_spec is None else evaluator._eval(node.format_spec)
    if _WIDE_FORMAT.search(specification) or not isinstance(value, bool | int | float | str):
        raise FormatError("a format that is not supported")
    return format(value, specification)


def _measure(value: object, *, is_result: bool = True, level: int = 0) -> int:
    """Return the size of a value; raise FormatError if it is too large.

    Args:
        value: the value.
        is_result: whether it must be of a kind that an expression may result in.
        level: the number of collections around it.
    """
    if value is None or isinstance(value, float):
        return 1
    if isinstance(value, int):
        _require_bits(value.bit_length())
        return 1
    if isinstance(value, str):
        return _require_size(1 + len(value))
    if level > _MAX_NESTING:
        raise FormatError("a value that is nested too deep")
    if isinstance(value, dict):
        items: Iterable[object] = (item for entry in value.items() for item in entry)
    elif isinstance(value, list | tuple):
        items = value
    elif is_result:
        raise FormatError("its value is no number, text, list or dictionary")
    else:
        return 1
    size = 1
    for item in items:
        size = _require_size(size + _measure(item, is_result=is_result, level=level + 1))
    return size


def _require_size(size: float) -> int:
    """Return a size; raise FormatError if it is too large."""
    if size > MAX_SIZE:
        raise FormatError(f"a value of more than {MAX_SIZE:,} parts or characters")
    return int(size)


def _require_bits(bits: float) -> None:
    if bits > _MAX_BITS:
        raise FormatError(f"an integer of more than {_MAX_BITS:,} bits")


def _add(left: Any, right: Any) -> object:  # operands of any kind, as in Python
    if isinstance(left, str | list | tuple):
        _require_size(_measure(left) + _measure(right))
    return left + right


def _multiply(left: Any, right: Any) -> object:
    if isinstance(left, int) and isinstance(right, int):
        _require_bits(left.bit_length() + right.bit_length())
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple) and isinstance(count, int):
            _require_size(_measure(sequence) * max(count, 0))
    return left * right


def _power(base: Any, exponent: Any) -> object:
    if isinstance(base, int) and isinstance(exponent, int):
        _require_bits(base.bit_length() * abs(exponent))
    return base**exponent


def _modulo(left: Any, right: Any) -> object:
    if isinstance(left, str) and _WIDE_FORMAT.search(left):
        raise FormatError("a format that is not supported")
    return left % right


def _round(number: Any, digits: int | None = None) -> object:
    if digits is not None and abs(digits) > _MAX_DIGITS:
        raise FormatError(f"rounding to {digits:g} digits")
    return round(number) if digits is None else round(number, digits)


def _range(*limits: int) -> list[int]:
    numbers = range(*limits)
    _require_size(len(numbers))
    return list(numbers)


def _replace(text: str, old: str, new: str) -> str:
    _require_size(len(text) + (text.count(old) * len(new)))
    return text.replace(old, new)


def _join(text: str, parts: Iterable[str]) -> str:
    parts = list(parts)
    _require_size(sum(len(part) for part in parts) + len(parts) * len(text))
    return text.join(parts)


_OPERATORS = {
    **DEFAULT_OPERATORS,
    ast.Add: _add,
    ast.Mult: _multiply,
    ast.Pow: _power,
    ast.Mod: _modulo,
}

_MATH_FUNCTIONS: dict[str, Callable[..., object]] = {
    name: function
    for name, function in vars(math).items()
    if callable(function) and not name.startswith("_") and name not in _UNLIMITED_MATH
}
_CONSTANTS: dict[str, object] = {
    name: value for name, value in vars(math).items() if isinstance(value, float) and not name.startswith("_")
}

_FUNCTIONS: dict[str, Callable[..., object]] = {
    "abs": abs,
    "all": all,
    "any": any,
    "bool": bool,
    "dict": dict,
    "divmod": divmod,
    "enumerate": lambda *arguments: list(enumerate(*arguments)),
    "filter": lambda *arguments: list(filter(*arguments)),
    "float": float,
    "int": int,
    "len": len,
    "list": list,
    "map": lambda *arguments: list(map(*arguments)),
    "max": max,
    "min": min,
    "range": _range,
    "reversed": lambda sequence: list(reversed(sequence)),
    "round": _round,
    "sorted": sorted,
    "str": str,
    "sum": sum,
    "tuple": tuple,
    "zip": lambda *arguments: list(zip(*arguments, strict=False)),
}

_CONSTANTS |= {
    "True": True,
    "False": False,
    "None": None,
    "math": SimpleNamespace(**_MATH_FUNCTIONS, **_CONSTANTS),
    "python": SimpleNamespace(**_FUNCTIONS),
}

_TEXT_METHODS = (
    str.capitalize,
    str.count,
    str.endswith,
    str.find,
    str.index,
    str.isalpha,
    str.isdigit,
    str.lower,
    str.lstrip,
    str.rfind,
    str.rsplit,
    str.rstrip,
    str.split,
    str.startswith,
    str.strip,
    str.title,
    str.upper,
)

_METHODS: Mapping[type, Mapping[str, Callable[..., object]]] = {
    str: {method.__name__: method for method in _TEXT_METHODS} | {"replace": _replace, "join": _join},
    list: {"index": list.index, "count": list.count, "copy": list.copy},
    tuple: {"index": tuple.index, "count": tuple.count},
    dict: {
        "get": dict.get,
        "keys": lambda mapping: list(mapping.keys()),
        "values": lambda mapping: list(mapping.values()),
        "items": lambda mapping: list(mapping.items()),
    },
}
"""Methods that change nothing, by the type of their owner."""
