"""The colours of a robot's lights during a motion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.motions.pose import Keyframe
from posewright.robots import Rgb, Robot


def light_names(keyframes: Sequence[Keyframe]) -> tuple[str, ...]:
    """Return the names of all lights that any keyframe sets, in the order of their first use."""
    return tuple(dict.fromkeys(name for keyframe in keyframes for name in keyframe.lights or ()))


def colours_of(keyframe: Keyframe, robot: Robot) -> dict[str, Rgb]:
    """Return the colours that a keyframe sets, by light.

    Raises:
        UnknownNameError: the robot has no such light.
        InputError: the keyframe sets red, green and blue of a light of one colour.
    """
    colours = {}
    for name, light in (keyframe.lights or {}).items():
        led = robot.led(name)
        if isinstance(light, tuple) and not led.has_colours:
            raise InputError(
                f"{name} of {robot.name} is {led.colour} only and cannot show a colour",
                hint="set one number, 0..255",
            )
        colours[name] = led.displayed_colour(light)
    return colours


def colours_by_keyframe(
    keyframes: Sequence[Keyframe], robot: Robot, initial_colours: Mapping[str, Rgb] | None = None
) -> tuple[Mapping[str, Rgb], ...]:
    """Return, for each keyframe, the colours of all lights from the way into it on.

    A light keeps the colour it was set to last.

    Args:
        keyframes: the keyframes of one pass.
        robot: the robot with the lights.
        initial_colours: colours before the first keyframe; lights missing from it have no known colour yet.
    """
    colours: dict[str, Rgb] = dict(initial_colours or {})
    colours_per_keyframe = []
    for keyframe in keyframes:
        colours = {**colours, **colours_of(keyframe, robot)}
        colours_per_keyframe.append(colours)
    return tuple(colours_per_keyframe)


def sample_lights(
    keyframes: Sequence[Keyframe], robot: Robot, indices: Sequence[int], is_later_pass: Sequence[bool]
) -> dict[str, Floats]:
    """Return the colour of each light at n times, `(n, 3)`, 0..1; NaN before it was set.

    Args:
        keyframes: the keyframes of one pass.
        robot: the robot with the lights.
        indices: index of the keyframe that is reached or held at each time.
        is_later_pass: whether each time is in another pass than the first.
    """
    first_pass = colours_by_keyframe(keyframes, robot)
    later_passes = colours_by_keyframe(keyframes, robot, first_pass[-1])
    rows = []
    for index, is_later in zip(indices, is_later_pass, strict=True):
        colours = later_passes if is_later else first_pass
        rows.append(colours[index])
    unset = (math.nan,) * 3
    return {
        name: np.array([row.get(name, unset) for row in rows], dtype=np.float64).reshape(-1, 3)
        for name in light_names(keyframes)
    }
