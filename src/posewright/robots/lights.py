"""Lights of a robot and their colours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from posewright.documents import Node, read_record

Rgb: TypeAlias = tuple[float, float, float]
"""Red, green and blue, 0..1."""

Light: TypeAlias = float | Rgb
"""A command to a light: its brightness, or its red, green and blue, 0..255 each."""

MAX_BRIGHTNESS = 255.0

COLOURS: Mapping[str, Rgb] = MappingProxyType(
    {
        "white": (1.0, 1.0, 1.0),
        "red": (1.0, 0.0, 0.0),
        "green": (0.0, 1.0, 0.0),
        "blue": (0.0, 0.0, 1.0),
        "yellow": (1.0, 1.0, 0.0),
        "orange": (1.0, 0.5, 0.0),
        "amber": (1.0, 0.75, 0.0),
    }
)
"""Displayed colours by the names in cards, our choice. Lights of other colours are displayed white."""

MIXED = "rgb"
"""In cards, the colour of a light that mixes red, green and blue."""


@dataclass(frozen=True)
class Led:
    """A light.

    Attributes:
        name: the name of the light.
        colour: a name; `white/green` if it can show either, `rgb` if it mixes all colours.
        place: on the robot, in words.
    """

    name: str
    colour: str
    place: str

    @property
    def has_colours(self) -> bool:
        """Whether it can show more than one colour."""
        return self.colour == MIXED or "/" in self.colour

    def displayed_colour(self, light: Light) -> Rgb:
        """Return the colour that the light shows for a command.

        A brightness scales its first colour. For red, green and blue, a light that does not mix colours shows
        the nearest of its colours with the brightness of the greatest of the three.
        """
        if isinstance(light, tuple) and self.colour == MIXED:
            red, green, blue = light
            return red / MAX_BRIGHTNESS, green / MAX_BRIGHTNESS, blue / MAX_BRIGHTNESS
        colours = [COLOURS.get(name.strip().lower(), COLOURS["white"]) for name in self.colour.split("/")]
        values = light if isinstance(light, tuple) else (light,)
        brightness = max(values) / MAX_BRIGHTNESS
        shades = [(red * brightness, green * brightness, blue * brightness) for red, green, blue in colours]
        if len(values) == 1:
            return shades[0]
        requested_shade = [value / MAX_BRIGHTNESS for value in values]
        return min(shades, key=lambda shade: math.dist(shade, requested_shade))


def parse_leds(node: Node) -> tuple[Led, ...]:
    """Read `{name: {colour: white, place: head}, ..., source: ...}`."""
    lights = {name: entry for name, entry in node.fields().items() if name != "source"}
    return tuple(read_record(entry, Led, extra_keys=("source",), name=name) for name, entry in lights.items())
