"""Behaviours: a chart wired to a robot's sensors, motions and gaits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.behaviours.behaviour import Behaviour as Behaviour
    from posewright.behaviours.controller import BehaviourController as BehaviourController
    from posewright.behaviours.controller import BehaviourRunner as BehaviourRunner
    from posewright.behaviours.controller import Tick as Tick
    from posewright.behaviours.reading import behaviour_names as behaviour_names
    from posewright.behaviours.reading import read_behaviour as read_behaviour
    from posewright.behaviours.scan import Beams as Beams
    from posewright.behaviours.scan import Scan as Scan
    from posewright.behaviours.scan import Side as Side
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
