"""MoveHead: fifteen commands that move the head (AIS-Lab Milano's OPEN-R object).

Source: seeds.md D1 for commands, limits and poses, D2 for the automaton, `charts/move_head.chart.yaml`. Of
the numbers of blocks the document names one, 16 for the middle pose. The others are ours: 16 for all that
tilts, at most 75 degrees in 2.048 s or 37 deg/s; 20 for the pan, at most 176 degrees in 2.56 s or 69 deg/s.
The ERS-7's servos reach 182 (tilt1), 576 (pan) and 331 deg/s (tilt2); by its card its camera blurs above
70 deg/s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.moving_object import BlockMotion, MovingObject
from posewright.runtimes.openr.regions import to_micro_radians

TILT1 = "PRM:/r1/c1-Joint2:11"  # the neck
PAN = "PRM:/r1/c1/c2-Joint2:12"
TILT2 = "PRM:/r1/c1/c2/c3-Joint2:13"  # the head on the neck

MOTIONS: Mapping[str, tuple[Mapping[str, float], int]] = MappingProxyType(
    {
        "MOVE_BP": ({TILT1: 0, PAN: 0, TILT2: 0}, 16),
        "MOVE_MP": ({TILT1: -40, PAN: 0, TILT2: 25}, 16),
        "MOVE_FP": ({TILT1: -75, PAN: 0, TILT2: 45}, 16),
        "MV_RGHT": ({PAN: -88}, 20),
        "MV_LEFT": ({PAN: 88}, 20),
        "MV_FWRD": ({TILT1: -75}, 16),
        "MV_BACK": ({TILT1: 0}, 16),
        "MOVE_UP": ({TILT2: 45}, 16),  # the neck does not move
        "MV_DOWN": ({TILT2: -15}, 16),
    }
)
"""End angles [deg] and number of blocks of the motion of each state of the chart."""


class MoveHead(MovingObject):
    """Moves the head by fifteen commands.

    MOVE_BP, MOVE_MP and MOVE_FP move to a pose; the six others move one joint to its limit, or until their
    own STOP comes. The current block is finished: a joint stops within 128 ms.
    """

    def __init__(self) -> None:
        super().__init__("move_head", _motions)


def _motions(openr: OpenR) -> dict[str, BlockMotion]:
    """Return the motion of each state, by the name of the state."""
    motions: dict[str, BlockMotion] = {}
    for state, (angles_deg, n_blocks) in MOTIONS.items():
        end_angles = {
            openr.open_primitive(locator): to_micro_radians(math.radians(angle_deg))
            for locator, angle_deg in angles_deg.items()
        }
        motions[state] = BlockMotion(end_angles, n_blocks)
    return motions
