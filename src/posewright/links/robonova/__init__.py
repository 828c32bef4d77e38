"""A RoboNova-1 on its serial line: a program of ours on the board hears poses and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.links.robonova.plant import RobonovaPlant as RobonovaPlant
    from posewright.links.robonova.protocol import BAUD as BAUD
    from posewright.links.robonova.protocol import receiver_program as receiver_program
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
