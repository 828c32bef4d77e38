"""The block `parameters:` of a gait's document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from posewright.documents import Node
from posewright.gaits.explanations import EXPLANATIONS, Explanation, Kind
from posewright.gaits.parameters import ForeHind, GaitParameters, Point
from posewright.gaits.phases import ENDS, FEET

_POINTS_HINT = "{fore: [x, y, z], hind: [x, y, z]}, y outwards, or a point of each foot"


def read_parameters(node: Node) -> GaitParameters:
    """Read the parameters of a walk, each by its name.

    Raises:
        DocumentError: one is missing, unknown, no number or out of its range.
    """
    found = node.fields(required=tuple(EXPLANATIONS), optional=())
    values: dict[str, Any] = {name: _READERS[EXPLANATIONS[name].kind](entry) for name, entry in found.items()}
    return GaitParameters(**values)


def _one(node: Node) -> float:
    return _value(node, _explanation_of(node))


def _fore_hind(node: Node) -> ForeHind:
    explanation = _explanation_of(node)
    if not isinstance(node.value, dict):
        both = _value(node, explanation)
        return ForeHind(both, both)
    pair = node.fields(required=tuple(ENDS), optional=())
    return ForeHind(_value(pair["fore"], explanation), _value(pair["hind"], explanation))


def _points(node: Node) -> dict[str, Point]:
    explanation = _explanation_of(node)
    points: dict[str, Point] = {}
    for name, entry in node.fields(optional=(*ENDS, *FEET)).items():
        for foot, point in _placed(name, _point(entry, explanation)):
            if foot in points:
                entry.fail(f"{foot} stands here twice", hint=_POINTS_HINT)
            points[foot] = point
    missing = [foot for foot in FEET if foot not in points]
    if missing:
        node.fail(f"no point for {', '.join(missing)}", hint=_POINTS_HINT)
    return points


def _placed(name: str, point: Point) -> Iterator[tuple[str, Point]]:
    """Yield the feet that a name stands for, each with its point; a pair's stands left and right."""
    if name in FEET:
        yield name, point
        return
    left, right = ENDS[name]
    x, y, z = point
    yield left, (x, y, z)
    yield right, (x, -y, z)


def _point(node: Node, explanation: Explanation) -> Point:
    entries = node.items()
    if len(entries) != 3:
        node.fail(f"expected three numbers, found {len(entries)}", hint="[x, y, z] in metres")
    x, y, z = (_value(entry, explanation) for entry in entries)
    return x, y, z


def _value(node: Node, explanation: Explanation) -> float:
    """Return a number within its bounds, or fail with the range in the unit it has."""
    number = node.integer() if explanation.is_whole else node.number()
    if not explanation.low <= number <= explanation.high:
        node.fail(f"{number:g} is out of range", hint=f"the range is {explanation.range_text}")
    return number


def _explanation_of(node: Node) -> Explanation:
    return EXPLANATIONS[node.trail.rpartition(".")[2]]


_READERS = {Kind.ONE: _one, Kind.FORE_HIND: _fore_hind, Kind.POINTS: _points}
