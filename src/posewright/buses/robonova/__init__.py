"""A RoboNova-1 on its serial line: a program of ours on its board receives poses and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.buses.robonova.plant import RobonovaPlant as RobonovaPlant
    from posewright.buses.robonova.protocol import BAUD as BAUD
    from posewright.buses.robonova.protocol import receiver_program as receiver_program
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
