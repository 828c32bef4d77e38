"""What a window asks: JSON that is read into the arguments of a method."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, make_dataclass
from functools import cache
from types import MethodType
from typing import Annotated, NamedTuple, TypeVar, get_type_hints

from posewright.documents import FieldReader, Node, read_record
from posewright.errors import InputError

MOST_BYTES = 32_000_000
"""A request is no longer than this: a dropped file comes in one."""

View = dict[str, object]
"""What a window is shown of something: plain data, by name."""

Anything = Annotated[object, FieldReader(lambda node: node.value)]
"""The type of an argument that is plain data of any kind."""

Method = TypeVar("Method", bound=Callable[..., object])

_ACTIONS: set[Callable[..., object]] = set()
"""The functions that are marked with `@action`."""


def action(method: Method) -> Method:
    """Let windows ask for a method of a panel; its keyword arguments are what they send.

    Arguments are typed as the fields of `documents.read_record`; one that ends in `_rad` is sent in degrees,
    as `_deg`. What it returns is the answer: plain data, or None; or a `Future` of that, where it takes long.
    """
    _ACTIONS.add(method)
    return method


def actions_of(panel: object) -> dict[str, MethodType]:
    """Return the methods of a panel that windows may ask for, by name."""
    methods = inspect.getmembers(panel, inspect.ismethod)
    return {name: method for name, method in methods if method.__func__ in _ACTIONS}


@cache
def _arguments_of(function: Callable[..., object]) -> type[object]:
    """Return a dataclass with the keyword arguments of a function."""
    hints = get_type_hints(function, include_extras=True)
    entries: list[tuple[str, object, object]] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name != "self":
            default = MISSING if parameter.default is parameter.empty else parameter.default
            entries.append((name, hints[name], field(default=default)))
    return make_dataclass(function.__name__, entries, frozen=True, kw_only=True)


def call(method: MethodType, arguments: Mapping[str, object]) -> object:
    """Call a method with arguments as they were sent; an `InputError` says which one is wrong."""
    record = read_record(Node(dict(arguments)), _arguments_of(method.__func__))
    answer: object = method(**vars(record))
    return answer


class Request(NamedTuple):
    """A request of a window: its own number for it, `panel.method`, and the arguments as they were sent."""

    number: int
    action: str
    arguments: Mapping[str, object]


def read_request(text: str | bytes) -> Request:
    """Read `{"id": 7, "do": "player.seek", "with": {"time_s": 0.5}}`, or raise InputError."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"a request is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError("a request is no object", hint='{"id": 1, "do": "player.play"}')
    fields = Node(data).fields(required=("id", "do"), optional=("with",))
    arguments = fields["with"].fields() if "with" in fields else {}
    number = fields["id"].integer(low=0, high=1 << 53)
    return Request(number, fields["do"].text(), {key: node.value for key, node in arguments.items()})
