"""What a <send> or a <cancel> computes from a <data> of texts: one branch for each text it may be.

<send eventexpr="next"/>  becomes  <if cond="next == 'go'"><send event="go"/><elseif .../> ... </if>
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from posewright.charts.formats.scxml.data import data_in, first_settings, lists_in, settings_in
from posewright.charts.formats.scxml.inference import texts_of
from posewright.charts.formats.scxml.markup import Element

COMPUTED = {"eventexpr": "event", "delayexpr": "delay", "sendidexpr": "sendid"}
"""Attributes that compute, and those that they stand for."""

MAX_TEXTS = 50


def laid_out(root: Element) -> Element:
    """Return a document without attributes that compute.

    Raises:
        FormatError: one computes more than the value of a <data> that holds texts.
    """
    if not any(key in one.attributes for one in root.walk() for key in COMPUTED):
        return root
    data = data_in(root)
    settings = [*first_settings(data), *settings_in(root, lists_in(root))]
    sent = {one.get("id") for one in root.walk() if one.name == "send"}
    return _Layout(texts_of(root, settings, data), sent).within(root)


@dataclass(frozen=True)
class _Layout:
    """Lays out a document.

    Attributes:
        texts: what each <data> of texts may hold.
        sent: ids of what is sent.
    """

    texts: Mapping[str, list[str]]
    sent: Collection[str | None]

    def within(self, element: Element) -> Element:
        return replace(element, children=tuple(self.one(self.within(child)) for child in element.children))

    def one(self, element: Element) -> Element:
        """Return what stands for an element."""
        key = next((key for key in COMPUTED if key in element.attributes), None)
        if key is None:
            return element
        name = element.attributes[key].strip()
        if name[:1] in ("'", '"') and name[-1:] == name[:1]:
            return self.one(_said(element, key, name[1:-1]))
        if name not in self.texts:
            hint = f"write {COMPUTED[key]!r}, or the name of a <data> that holds texts"
            element.fail(f"{key}={name!r} is outside the subset of SCXML", hint=hint)
        if len(self.texts[name]) > MAX_TEXTS:
            element.fail(f"{name} may hold {len(self.texts[name])} texts", hint=f"at most {MAX_TEXTS} here")
        return self.branches(element, key, name)

    def branches(self, element: Element, key: str, name: str) -> Element:
        inside: list[Element] = []
        for text in self.texts[name]:
            quote = '"' if "'" in text else "'"
            head = {"cond": f"{name} == {quote}{text}{quote}"}
            inside.append(Element("elseif", head, (), "", element.line, element.path))
            if key != "sendidexpr" or text in self.sent:  # to cancel what nobody sends does nothing
                inside.append(self.one(_said(element, key, text)))
        return Element("if", inside[0].attributes, tuple(inside[1:]), "", element.line, element.path)


def _said(element: Element, key: str, text: str) -> Element:
    """Return an element that says what it would have computed."""
    attributes = {name: value for name, value in element.attributes.items() if name != key}
    return replace(element, attributes={**attributes, COMPUTED[key]: text})
