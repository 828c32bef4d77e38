"""The shipped motions, played as they are: bands, not metres."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from posewright.bodies import JointCommands
from posewright.formats import read_motion
from posewright.robots import Robot
from posewright.simulation import SimulatedBody

from .driving import play

AmongBoxes = Callable[..., SimulatedBody]

SECONDS = 6.0


def perform(body: SimulatedBody, card: Robot, name: str) -> tuple[float, float, float]:
    """Play a shipped motion; return how far it went ahead [m], turned [deg], and how low it came [m]."""
    assert card.folder is not None
    motion = read_motion(card.folder / "motions" / f"{name}.motion.yaml")
    assert motion.joints == card.joint_names
    rate = round(1 / card.frame_period_s)
    world = play(body, JointCommands(motion.sample(rate, until_s=SECONDS).angles)).truth
    assert world is not None
    base = world.base
    yaw = np.degrees(np.unwrap(2.0 * np.arctan2(base[:, 6], base[:, 3])))
    return float(base[-1, 0] - base[0, 0]), float(yaw[-1] - yaw[0]), float(base[:, 2].min())


def test_walks_forward(among_boxes: AmongBoxes, bioloid: Robot) -> None:
    ahead, turned, lowest = perform(among_boxes(), bioloid, "walk_forward")
    assert 0.08 < ahead / SECONDS < 0.20
    assert abs(turned) < 30.0
    assert lowest > 0.17


@pytest.mark.parametrize(("name", "side"), [("turn_left", 1), ("turn_right", -1)])
def test_turns_in_place(among_boxes: AmongBoxes, bioloid: Robot, name: str, side: int) -> None:
    ahead, turned, lowest = perform(among_boxes(start=(1.2, 0.0, 0.0)), bioloid, name)
    assert 35.0 < side * turned / SECONDS < 90.0
    assert abs(ahead) < 0.25
    assert lowest > 0.17
