"""A controller of your own runs a trial, and an old robot's program another."""

import sys
from pathlib import Path

import numpy as np

import posewright as pw
from posewright.bodies import BodyState, JointCommands
from posewright.control import Controller


class Waver(Controller):
    """Stands, and waves an arm."""

    def __init__(self) -> None:
        self.stand = pw.robot("robotis_bioloid").pose("stand")

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the joint angles of the next `n` frames [rad]."""
        angles = np.tile(self.stand, (n, 1))
        angles[:, 0] += 0.2 * np.sin(state.time_s + np.arange(n) / 128)
        return JointCommands(angles)


out = Path(sys.argv[1]) if len(sys.argv) > 1 else None
if out is not None:
    out.mkdir(parents=True, exist_ok=True)
outcome = pw.run_trial(
    "obstacle-race", controller=Waver, layout="example_1", record=None if out is None else out / "waver.mcap"
)
print(f"{outcome.score.points:.1f} points; {', '.join(outcome.score.warnings)}")

outcome = pw.run_trial("dog-crossing", behaviour="openr:move_head", options={"commands": "MV_LEFT@1"})
print(f"{outcome.recording.robot().header.controller}: {outcome.score.points:.1f} points")
