"""Controllers: players of motions and gaits, feedback around them, and behaviours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.controllers.feedback import Correction as Correction
    from posewright.controllers.feedback import Feedback as Feedback
    from posewright.controllers.gait_player import NO_FEEDBACK as NO_FEEDBACK
    from posewright.controllers.gait_player import GaitController as GaitController
    from posewright.controllers.gait_player import GaitProgram as GaitProgram
    from posewright.controllers.gait_player import SteeredGaitController as SteeredGaitController
    from posewright.controllers.motion_player import MotionProgram as MotionProgram
    from posewright.controllers.page_gait import PageGait as PageGait
    from posewright.controllers.page_gait import find_page_faults as find_page_faults
    from posewright.controllers.page_gait import is_page_walk as is_page_walk
    from posewright.controllers.page_gait import read_page_cycle as read_page_cycle
    from posewright.controllers.page_gait import read_page_gait as read_page_gait
    from posewright.controllers.page_gait import write_page_gait as write_page_gait
    from posewright.controllers.player import Player as Player
    from posewright.controllers.pose_follower import PoseFollower as PoseFollower
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
