"""The data of a document: what is a variable, what it holds at first, what of it is a list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.namespaces import own

_LIST = re.compile(r"\[(.*)\]", re.DOTALL)
MAX_LIST = 100
"""Elements in a list: a <foreach> does its actions once for each."""


@dataclass(frozen=True)
class Setting:
    """That some place of the document sets a variable to a value.

    Attributes:
        text: the expression, in the document's words.
    """

    location: str
    text: str
    element: Element


def data_in(root: Element) -> dict[str, Element]:
    """Return every <data> that is a variable, by its id; also those declared by a <foreach>.

    Raises:
        FormatError: two have the same id, or one has none.
    """
    found: dict[str, Element] = {}
    for element in root.walk():
        if element.name == "data":
            name = required(element, "id")
            if name in found:
                element.fail(f"a <data> {name!r} is there twice", hint="rename one")
            found[name] = element
    for element in root.walk():
        for key in ("item", "index") if element.name == "foreach" else ():
            item = element.get(key)
            if item is not None and item not in found:
                found[item] = Element("data", {"id": item}, line=element.line, path=element.path)
    return {name: element for name, element in found.items() if list_in(element) is None}


def lists_in(root: Element) -> dict[str, tuple[str, ...]]:
    """Return every <data> that is a list, with the texts of its elements."""
    lists = {required(one, "id"): list_in(one) for one in root.walk() if one.name == "data"}
    return {name: items for name, items in lists.items() if items is not None}


def list_in(element: Element) -> tuple[str, ...] | None:
    """Return the elements of a <data> that is a list, None where it is not one."""
    match = _LIST.fullmatch(value_text(element) or "")
    if match is None:
        return None
    items = tuple(item.strip() for item in match[1].split(",") if item.strip())
    if len(items) > MAX_LIST:
        element.fail(f"a list of {len(items)} elements", hint=f"at most {MAX_LIST}")
    return items


def value_text(element: Element) -> str | None:
    """Return what a <data> or an <assign> writes as its value: its `expr`, else the text inside."""
    expr = element.get("expr")
    return (element.text.strip() or None) if expr is None else expr.strip()


def settings_in(root: Element, lists: dict[str, tuple[str, ...]]) -> Iterator[Setting]:
    """Yield every place that sets a variable, but for those <data> themselves."""
    for element in root.walk():
        if element.name == "assign":
            yield Setting(required(element, "location"), written(element), element)
        elif element.name == "foreach":
            items = lists.get(element.get("array") or "", ())
            for text in items if element.get("item") else ():
                yield Setting(required(element, "item"), text, element)
            if element.get("index"):
                yield Setting(required(element, "index"), str(max(len(items) - 1, 0)), element)


def first_settings(data: Mapping[str, Element]) -> list[Setting]:
    """Return what these <data> hold at first."""
    texts = {name: value_text(element) for name, element in data.items()}
    return [Setting(name, text, data[name]) for name, text in texts.items() if text is not None]


def written(element: Element) -> str:
    """Return the value that an <assign> writes.

    Raises:
        FormatError: there is none.
    """
    text = value_text(element)
    if text is None:
        element.fail(f"<{element.name}> without a value", hint="write it in `expr`")
    return text


def required(element: Element, name: str) -> str:
    """Return an attribute that has to be there.

    Raises:
        FormatError: it is not.
    """
    value = element.get(name)
    if value is None or not value.strip():
        element.fail(f"<{element.name}> without {name!r}", hint=f'write {name}="..."')
    return value.strip()


def is_typed(element: Element) -> bool:
    """Return whether a <data> says its type in our words."""
    return element.get(own("type")) is not None or element.get(own("role")) == "constant"
