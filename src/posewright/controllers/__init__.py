"""Controllers: players of motions and gaits, feedback around them, and behaviours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.controllers.feedback import Correction as Correction
    from posewright.controllers.feedback import Feedback as Feedback
    from posewright.controllers.gait_player import GaitController as GaitController
    from posewright.controllers.gait_player import GaitProgram as GaitProgram
    from posewright.controllers.gait_player import SteeredGaitController as SteeredGaitController
    from posewright.controllers.motion_player import MotionProgram as MotionProgram
    from posewright.controllers.player import Player as Player
    from posewright.controllers.pose_follower import PoseFollower as PoseFollower
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
