"""What a Tekkotsu file says besides angles: kept with the motion as text, so that it can be written again.

`613 LED:faceA 0.5; 700 LED:faceA 0 0.5`: at 613 ms the LED is set to 0.5, at 700 ms to 0, of weight 0.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from posewright.formats.tekkotsu.settings import Key, Track

LEDS = "tekkotsu_leds"
WEIGHTS = "tekkotsu_weights"
SAID = (LEDS, WEIGHTS)
"""The extras of a motion that a Tekkotsu file can hold."""

_ENTRY = re.compile(r"([0-9]{1,8}) ([!-:<-~]{1,64}) (-?[0-9.e+-]{1,24})(?: ([0-9.e+-]{1,24}))?")


def leds_text(leds: Mapping[str, Track]) -> str:
    """Return the keys of all LEDs."""
    return "; ".join(_entry(name, key) for name, track in leds.items() for key in track)


def weights_text(joints: Mapping[str, Track]) -> str:
    """Return the joints' keys whose weight is neither 0, which holds a joint, nor 1."""
    odd = ((name, key) for name, track in joints.items() for key in track if key.weight not in (0.0, 1.0))
    return "; ".join(f"{key.time_ms} {name} {key.weight!r}" for name, key in odd)


def keys_in(text: str) -> Iterator[tuple[str, Key]]:
    """Yield the keys that a text says, by name; what is no key is passed over."""
    for entry in text.split(";"):
        found = _ENTRY.fullmatch(entry.strip())
        if found is None:
            continue
        try:
            value, weight = float(found[3]), float(found[4] or 1.0)
        except ValueError:
            continue
        yield found[2], Key(int(found[1]), value, weight)


def _entry(name: str, key: Key) -> str:
    weight = "" if key.weight == 1.0 else f" {key.weight!r}"
    return f"{key.time_ms} {name} {key.value!r}{weight}"
