"""Requests of windows: JSON that is read into the arguments of a method."""

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

MAX_REQUEST_BYTES = 32_000_000
"""The longest request; a dropped file is sent in one request."""

MAX_REQUEST_NUMBER = 1 << 53
"""Integers up to this are exact in JavaScript."""

View = dict[str, object]
"""Plain data that is sent to windows."""

AnyData = Annotated[object, FieldReader(lambda node: node.value)]
"""The type of an argument that is plain data of any kind."""

Method = TypeVar("Method", bound=Callable[..., object])

_ACTIONS: set[Callable[..., object]] = set()
"""The functions marked with `@action`."""


def action(method: Method) -> Method:
    """Mark a method of a panel as an action, which windows can request with its keyword arguments.

    Arguments have the types of the fields of `documents.read_record`; one that ends in `_rad` is sent in
    degrees, as `_deg`. The method returns the answer: plain data, or a `Future` of it if it takes long.
    """
    _ACTIONS.add(method)
    return method


def actions_of(panel: object) -> dict[str, MethodType]:
    """Return the actions of a panel by name."""
    methods = inspect.getmembers(panel, inspect.ismethod)
    return {name: method for name, method in methods if method.__func__ in _ACTIONS}


@cache
def _arguments_of(function: Callable[..., object]) -> type[object]:
    """Return a dataclass with the keyword arguments of a function."""
    hints = get_type_hints(function, include_extras=True)
    fields: list[tuple[str, object, object]] = []  # name, type and default, as `make_dataclass` takes them
    for name, parameter in inspect.signature(function).parameters.items():
        if name != "self":
            default = MISSING if parameter.default is parameter.empty else parameter.default
            fields.append((name, hints[name], field(default=default)))
    return make_dataclass(function.__name__, fields, frozen=True, kw_only=True)


def call(method: MethodType, arguments: Mapping[str, object]) -> object:
    """Call a method with the arguments of a request.

    Raises:
        InputError: an argument is wrong; the message names it.
    """
    record = read_record(Node(dict(arguments)), _arguments_of(method.__func__))
    answer: object = method(**vars(record))
    return answer


class Request(NamedTuple):
    """A request of a window: the window's number for it, the action as `panel.method`, and its arguments."""

    number: int
    action: str
    arguments: Mapping[str, object]


def read_request(text: str | bytes) -> Request:
    """Read a request such as `{"id": 7, "do": "player.seek", "with": {"time_s": 0.5}}`.

    Raises:
        InputError: it is no such JSON.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the request is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError("the request is not a JSON object", hint='such as {"id": 1, "do": "player.play"}')
    fields = Node(data).fields(required=("id", "do"), optional=("with",))
    arguments = fields["with"].fields() if "with" in fields else {}
    number = fields["id"].integer(low=0, high=MAX_REQUEST_NUMBER)
    return Request(number, fields["do"].text(), {key: node.value for key, node in arguments.items()})
