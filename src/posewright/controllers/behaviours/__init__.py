"""Behaviours: a chart wired to a robot's sensors, motions and gaits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.controllers.behaviours.behaviour import Behaviour as Behaviour
    from posewright.controllers.behaviours.behaviour import BehaviourController as BehaviourController
    from posewright.controllers.behaviours.behaviour import BehaviourRunner as BehaviourRunner
    from posewright.controllers.behaviours.behaviour import Tick as Tick
    from posewright.controllers.behaviours.motion_library import shipped_motions as shipped_motions
    from posewright.controllers.behaviours.reading import BehaviourKind as BehaviourKind
    from posewright.controllers.behaviours.reading import behaviour_names as behaviour_names
    from posewright.controllers.behaviours.reading import read_behaviour as read_behaviour
    from posewright.controllers.behaviours.scan import Beams as Beams
    from posewright.controllers.behaviours.scan import Scan as Scan
    from posewright.controllers.behaviours.scan import Side as Side
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
