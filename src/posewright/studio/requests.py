"""What a window asks: JSON that is read into the arguments of a method, or into a command."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, make_dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

from posewright.documents import Node, Reader, read_record
from posewright.errors import InputError, UnknownNameError

MOST_BYTES = 32_000_000
"""A request is no longer than this: a dropped file comes in one."""

_MARK = "_is_an_action"

Method = TypeVar("Method", bound=Callable[..., Any])


def action(method: Method) -> Method:
    """Let windows ask for a method of a panel; its keyword arguments are what they send.

    Arguments are typed as the fields of `documents.read_record`; one that ends in `_rad` is sent in degrees,
    as `_deg`. What it returns is the answer: plain data, or None; or a `Future` of that, where it takes long.
    """
    setattr(method, _MARK, True)
    return method


def actions_of(panel: object) -> dict[str, Callable[..., Any]]:
    """Return the methods of a panel that windows may ask for, by name."""
    methods = inspect.getmembers(panel, inspect.ismethod)
    return {name: method for name, method in methods if getattr(method, _MARK, False)}


Anything = Annotated[Any, Reader(lambda node: node.value)]
"""The type of an argument that is plain data of any kind."""


@cache
def _arguments(function: Any) -> type[Any]:
    """Return a dataclass with the keyword arguments of a function."""
    hints = get_type_hints(function, include_extras=True)
    entries: list[tuple[str, Any, Any]] = [
        (name, hints[name], field(default=MISSING if one.default is one.empty else one.default))
        for name, one in inspect.signature(function).parameters.items()
        if name != "self"
    ]
    return make_dataclass(function.__name__, entries, frozen=True, kw_only=True)


def call(method: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a method with arguments as they were sent; an `InputError` says which one is wrong."""
    kind = _arguments(getattr(method, "__func__", method))
    asked = read_record(Node(dict(arguments)), kind)
    return method(**vars(asked))


class Request(NamedTuple):
    """One thing a window asks: its own number for it, `panel.method`, and the arguments as they were sent."""

    number: int
    action: str
    arguments: Mapping[str, Any]


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


def read_command(kinds: Mapping[str, type[Any]], name: str, arguments: Mapping[str, Any]) -> Any:
    """Return the command of that name with these arguments, or raise InputError."""
    if name not in kinds:
        raise UnknownNameError.among("command", name, kinds)
    return read_record(Node(dict(arguments)), kinds[name])
