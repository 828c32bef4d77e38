"""A robot's lights, and what they look like."""

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
"""What a light is told: how bright, 0..255, or how much red, green and blue, 0..255 each."""

BRIGHTEST = 255.0

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
"""How a light of that colour is shown; ours. One of a colour that is not among them is shown white."""

MIXES = "rgb"
"""The colour of a light that mixes any from red, green and blue."""


@dataclass(frozen=True)
class Led:
    """One light.

    Attributes:
        colour: in words; `white/green` where it can show either, `rgb` where it mixes all colours.
    """

    name: str
    colour: str
    place: str

    @property
    def has_colours(self) -> bool:
        """Whether it can show more than one colour."""
        return self.colour == MIXES or "/" in self.colour

    def shown(self, light: Light) -> Rgb:
        """Return the colour it shows when told that; of one number, this much of its first colour.

        One that mixes no colours shows the nearest that it has, as bright as the brightest of three numbers.
        """
        if isinstance(light, tuple) and self.colour == MIXES:
            red, green, blue = light
            return red / BRIGHTEST, green / BRIGHTEST, blue / BRIGHTEST
        known = [COLOURS.get(name.strip().lower(), COLOURS["white"]) for name in self.colour.split("/")]
        told = light if isinstance(light, tuple) else (light,)
        share = max(told) / BRIGHTEST
        shades = [(red * share, green * share, blue * share) for red, green, blue in known]
        if len(told) == 1:
            return shades[0]
        return min(shades, key=lambda shade: math.dist(shade, [part / BRIGHTEST for part in told]))


def parse_leds(node: Node) -> tuple[Led, ...]:
    """Read `{name: {colour: white, place: head}, ..., source: ...}`, or raise DocumentError."""
    lights = {name: entry for name, entry in node.fields().items() if name != "source"}
    return tuple(read_record(entry, Led, extra_keys=("source",), name=name) for name, entry in lights.items())
