"""Read the inputs that look at a whole scan."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from posewright.behaviours.scan import COURSE_STEP_RAD, Side
from posewright.behaviours.wiring.scan_source import (
    CorridorSource,
    Direction,
    FarthestSource,
    FreeCourseSource,
    Scanner,
)
from posewright.behaviours.wiring.sensor_channels import SensorChannels
from posewright.behaviours.wiring.source import Source
from posewright.charts import FloatType, IntType, Type
from posewright.documents import Node
from posewright.errors import UnknownNameError
from posewright.units import RAD_PER_DEG

Outputs = Mapping[str, Type]
Compass = tuple[str, int | None] | None


def read_view(node: Node, sensors: SensorChannels, outputs: Outputs) -> tuple[Source, Collection[str]]:
    """Read a source that looks at a scan, and the keys of the entry that it has used."""
    fields = node.fields()
    found = [view for view in VIEWS if view in fields]
    if len(found) != 1:
        node.fail(f"{' and '.join(found)} are both given", hint="an input is one of them")
    scanner = sensors.scanner(fields["sensor"])
    compass = sensors.heading(fields["compass"]) if "compass" in fields else None
    return VIEWS[found[0]](fields[found[0]], scanner, compass, outputs), (found[0], "compass")


def _corridor(node: Node, scanner: Scanner, compass: Compass, outputs: Outputs) -> Source:
    fields = node.fields(required=("width_m",), optional=("towards_deg",))
    direction = _direction(fields, compass, outputs)
    return CorridorSource(scanner, direction, fields["width_m"].number(low=0.0))


def _free_course(node: Node, scanner: Scanner, compass: Compass, outputs: Outputs) -> Source:
    fields = node.fields(
        required=("side", "width_m", "length_m"), optional=("towards_deg", "step_deg", "up_to_deg")
    )
    sides = {side.name.lower(): side for side in Side}
    return FreeCourseSource(
        scanner,
        _direction(fields, compass, outputs),
        sides[fields["side"].choice("side", sides)],
        width_m=fields["width_m"].number(low=0.0),
        length_m=fields["length_m"].number(low=0.0),
        step_rad=_angle(fields, "step_deg", COURSE_STEP_RAD, low=0.5, high=90.0),
        up_to_rad=_angle(fields, "up_to_deg", math.pi, low=0.0, high=180.0),
    )


def _farthest(node: Node, scanner: Scanner, compass: Compass, outputs: Outputs) -> Source:
    fields = node.fields(required=("within_deg",), optional=("towards_deg",))
    within_rad = fields["within_deg"].number(low=0.0, high=90.0) * RAD_PER_DEG
    return FarthestSource(scanner, _direction(fields, compass, outputs), within_rad)


def _direction(fields: Mapping[str, Node], compass: Compass, outputs: Outputs) -> Direction:
    """Read `towards_deg`; 0 where it is left out."""
    return (
        read_direction(fields["towards_deg"], compass, outputs)
        if "towards_deg" in fields
        else Direction(0.0, compass)
    )


def read_direction(node: Node, compass: Compass, outputs: Outputs) -> Direction:
    """Read a direction: a number of degrees, or the name of a numeric output of the chart.

    Raises:
        DocumentError: the number is out of range.
        UnknownNameError: the chart has no such output.
    """
    if not isinstance(node.value, str):
        return Direction(node.number(low=-360.0, high=360.0) * RAD_PER_DEG, compass)
    numbers = [name for name, kind in outputs.items() if isinstance(kind, IntType | FloatType)]
    if node.text() not in numbers:
        raise UnknownNameError.among("numeric output of the chart", node.text(), numbers, where=node.where)
    return Direction(node.text(), compass)


def _angle(fields: Mapping[str, Node], key: str, default: float, *, low: float, high: float) -> float:
    return fields[key].number(low=low, high=high) * RAD_PER_DEG if key in fields else default


VIEWS: Mapping[str, Callable[[Node, Scanner, Compass, Outputs], Source]] = {
    "corridor": _corridor,
    "free_course": _free_course,
    "farthest_along": _farthest,
}
"""The readers of the ways to look at a scan, by the key that asks for them."""
