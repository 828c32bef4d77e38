"""Sony AIBO memory sticks: the configuration of MONET, checked and added to."""

from __future__ import annotations

from posewright.sticks.add import Added, add_to_stick
from posewright.sticks.check import check_monet
from posewright.sticks.finding import MonetFinding
from posewright.sticks.memory_stick import read_stick
from posewright.sticks.setup import MemoryStick, MonetSetup

__all__ = ["Added", "MemoryStick", "MonetFinding", "MonetSetup", "add_to_stick", "check_monet", "read_stick"]
