"""MoveHead: fifteen commands that move the head (AIS-Lab Milano's OPEN-R object).

Source: seeds.md D1 for commands, limits and poses, D2 for the automaton, `charts/move_head.chart.yaml`. Of
the numbers of blocks the document names one, 16 for the middle pose. The others are ours: 16 for all that
tilts, at most 75 degrees in 2.048 s or 37 deg/s; 20 for the pan, at most 176 degrees in 2.56 s or 69 deg/s.
The ERS-7's servos can do 182 (tilt1), 576 (pan) and 331 deg/s (tilt2); its camera blurs above 70 deg/s, says
its card.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from posewright.runtimes.openr.blocks import BlockMotion, micro
from posewright.runtimes.openr.moving import MovingObject

TILT1 = "PRM:/r1/c1-Joint2:11"  # the neck
PAN = "PRM:/r1/c1/c2-Joint2:12"
TILT2 = "PRM:/r1/c1/c2/c3-Joint2:13"  # the head on the neck


def _pose(tilt1_deg: float, pan_deg: float, tilt2_deg: float) -> BlockMotion:
    return BlockMotion({TILT1: micro(tilt1_deg), PAN: micro(pan_deg), TILT2: micro(tilt2_deg)}, 16)


def _to(locator: str, deg: float, n_blocks: int = 16) -> BlockMotion:
    return BlockMotion({locator: micro(deg)}, n_blocks)


MOTIONS: Mapping[str, BlockMotion] = MappingProxyType(
    {
        "head_back": _pose(0, 0, 0),  # MOVE_BP
        "head_middle": _pose(-40, 0, 25),  # MOVE_MP
        "head_front": _pose(-75, 0, 45),  # MOVE_FP
        "pan_right": _to(PAN, -88, 20),  # MV_RGHT, until STOP_MR
        "pan_left": _to(PAN, 88, 20),  # MV_LEFT, until STOP_ML
        "neck_forward": _to(TILT1, -75),  # MV_FWRD, until STOP_MF
        "neck_back": _to(TILT1, 0),  # MV_BACK, until STOP_MB
        "head_up": _to(TILT2, 45),  # MOVE_UP, until STOP_MU; the neck keeps still
        "head_down": _to(TILT2, -15),  # MV_DOWN, until STOP_MD
    }
)
"""Where each motion of the chart ends, and in how many blocks; beside it the commands."""


class MoveHead(MovingObject):
    """Moves the head by fifteen commands.

    MOVE_BP, MOVE_MP and MOVE_FP go to a pose; the six others go to the limit of one joint, or until their own
    STOP comes. A block that is under way is finished: a joint stops within 128 ms.
    """

    def __init__(self) -> None:
        super().__init__("move_head", (TILT1, PAN, TILT2))

    def motion(self, name: str) -> BlockMotion:
        """Return a motion by its name in the chart."""
        return MOTIONS[name]
