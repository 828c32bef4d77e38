"""What the lights of a robot show while a motion is played."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.motions.pose import Keyframe
from posewright.robots import Rgb, Robot


def lit_names(keyframes: Sequence[Keyframe]) -> tuple[str, ...]:
    """Return the lights that keyframes ever set, in the order in which they are named."""
    return tuple(dict.fromkeys(name for keyframe in keyframes for name in keyframe.lights or ()))


def colours_of(keyframe: Keyframe, robot: Robot) -> dict[str, Rgb]:
    """Return the colours that a keyframe sets, by light.

    Raises:
        UnknownNameError: the robot has no such light.
        InputError: a light of one colour is told several.
    """
    colours = {}
    for name, light in (keyframe.lights or {}).items():
        led = robot.led(name)
        if isinstance(light, tuple) and not led.has_colours:
            raise InputError(
                f"{name} of {robot.name} is {led.colour} only, and is told a colour",
                hint="one number, 0..255",
            )
        colours[name] = led.shown(light)
    return colours


def held_colours(
    keyframes: Sequence[Keyframe], robot: Robot, before: Mapping[str, Rgb] | None = None
) -> tuple[Mapping[str, Rgb], ...]:
    """Return what is lit from the way into each keyframe on: what was said last of each light.

    Args:
        keyframes: of one pass.
        robot: whose lights they are.
        before: what was lit before the first; nothing is known of lights that are not in it.
    """
    lit: dict[str, Rgb] = dict(before or {})
    rows = []
    for keyframe in keyframes:
        lit = {**lit, **colours_of(keyframe, robot)}
        rows.append(lit)
    return tuple(rows)


def lights_over(
    keyframes: Sequence[Keyframe], robot: Robot, places: Sequence[int], later: Sequence[bool]
) -> dict[str, Floats]:
    """Return the colour of each light at n times, `(n, 3)`, 0..1; NaN before it was told any.

    Args:
        keyframes: of one pass.
        robot: whose lights they are.
        places: which keyframe is gone to or held at each time.
        later: whether that is in another pass than the first.
    """
    first = held_colours(keyframes, robot)
    again = held_colours(keyframes, robot, first[-1])
    dark = (math.nan,) * 3
    lit = [(again if is_later else first)[place] for place, is_later in zip(places, later, strict=True)]
    return {
        name: np.array([row.get(name, dark) for row in lit], dtype=np.float64).reshape(-1, 3)
        for name in lit_names(keyframes)
    }
