"""Lights a robot can show."""

from __future__ import annotations

from dataclasses import dataclass

from posewright.documents import Node


@dataclass(frozen=True)
class Led:
    """One light.

    Attributes:
        name: its short name.
        colour: in words; `white/green` where it can show either.
        place: where on the robot, in words.
    """

    name: str
    colour: str
    place: str


def parse_leds(node: Node) -> tuple[Led, ...]:
    """Read `{name: {colour: white, place: head}, ..., source: ...}`, or raise DocumentError."""
    return tuple(_led(name, entry) for name, entry in node.fields().items() if name != "source")


def _led(name: str, node: Node) -> Led:
    fields = node.fields(required=("colour", "place"), optional=("source",))
    return Led(name, fields["colour"].text(), fields["place"].text())
