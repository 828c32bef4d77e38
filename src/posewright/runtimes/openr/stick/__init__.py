"""Sony AIBO memory sticks: the configuration of MONET, checked and added to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.runtimes.openr.stick.add import AddedMotion as AddedMotion
    from posewright.runtimes.openr.stick.add import add_to_stick as add_to_stick
    from posewright.runtimes.openr.stick.check import check_monet as check_monet
    from posewright.runtimes.openr.stick.contents import StickMotion as StickMotion
    from posewright.runtimes.openr.stick.contents import motions_on as motions_on
    from posewright.runtimes.openr.stick.finding import MonetFinding as MonetFinding
    from posewright.runtimes.openr.stick.memory_stick import read_stick as read_stick
    from posewright.runtimes.openr.stick.setup import MemoryStick as MemoryStick
    from posewright.runtimes.openr.stick.setup import MonetSetup as MonetSetup
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
