"""Sony AIBO memory sticks: the configuration of MONET, checked and added to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.sticks.add import Added as Added
    from posewright.sticks.add import add_to_stick as add_to_stick
    from posewright.sticks.check import check_monet as check_monet
    from posewright.sticks.contents import StickMotion as StickMotion
    from posewright.sticks.contents import motions_on as motions_on
    from posewright.sticks.finding import MonetFinding as MonetFinding
    from posewright.sticks.memory_stick import read_stick as read_stick
    from posewright.sticks.setup import MemoryStick as MemoryStick
    from posewright.sticks.setup import MonetSetup as MonetSetup
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
