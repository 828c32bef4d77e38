"""Outputs of a Moore state: set as it is entered, those that it leaves out to what they begin with."""

from __future__ import annotations

from posewright.charts.expression import Expression
from posewright.charts.formats.scxml.acting import Content
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.namespaces import own
from posewright.charts.model import Assign

MOORE = own("moore")
DEFAULT = own("default")


def moore_values(element: Element, content: Content) -> dict[str, Expression]:
    """Return what the outputs of a Moore state are, as far as the state itself says so."""
    blocks = (one for one in element.all("onentry") if one.get(MOORE) is not None)
    said = [child for one in blocks for child in one.children if child.get(DEFAULT) is None]
    actions = content.actions(said)
    return {name: value for one in actions if isinstance(one, Assign) for name, value in one.values.items()}
