"""A step up and a step down, on the nominal body: both feet land on the next tread; it never leans."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posewright.arenas import read_arena
from posewright.bodies import JointCommands
from posewright.contests import stairs
from posewright.formats import read_motion
from posewright.robots import Robot
from posewright.simulation import SimulatedBody, World

from .driving import play

STAIRS = Path(stairs.__file__).with_name("stairs.arena.yaml")
RATE_HZ = 128.0
TOES_M = 0.062
"""From the middle of the base to the toes, as the robot stands between two steps."""


@pytest.mark.parametrize(
    ("name", "toes_m", "tread_m"),
    [("step_up", 0.7 - 0.02, 0.03), ("step_down", 2.0 + 0.012, 0.0)],
)
def test_a_step_ends_on_the_next_tread(bioloid: Robot, name: str, toes_m: float, tread_m: float) -> None:
    assert bioloid.folder is not None
    motion = read_motion(bioloid.folder / "motions" / f"{name}.motion.yaml")
    angles = motion.sample(RATE_HZ).angles
    stiffness = motion.keyframes[0].stiffness
    assert stiffness is not None
    world = World(bioloid, read_arena(STAIRS), visuals=False)
    body = SimulatedBody(world, start=(toes_m - TOES_M, 0.0, 0.0), start_pose=angles[0])
    still = np.repeat(angles[-1:], 64, axis=0)
    drives = np.array([stiffness.get(joint.name, np.nan) for joint in bioloid.joints])
    truth = play(body, JointCommands(np.concatenate([angles, still]), stiffness=drives)).truth
    assert truth is not None
    soles = truth.footprints[-1].reshape(2, -1, 3)
    np.testing.assert_allclose(soles[..., 2], tread_m, atol=0.003)
    qx, qy = truth.base[:, 4], truth.base[:, 5]
    assert (1.0 - 2.0 * (qx**2 + qy**2)).min() > np.cos(np.radians(20.0))
