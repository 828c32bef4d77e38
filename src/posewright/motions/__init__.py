"""Motions: poses, keyframes, what happens between them, and the rules they should keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.motions.checked_motion import DesignRules as DesignRules
    from posewright.motions.checked_motion import Finding as Finding
    from posewright.motions.checked_motion import Level as Level
    from posewright.motions.design_rules import check_design_rules as check_design_rules
    from posewright.motions.motion import Motion as Motion
    from posewright.motions.motion import Samples as Samples
    from posewright.motions.motion import SoundTrack as SoundTrack
    from posewright.motions.motion import card_of_motion as card_of_motion
    from posewright.motions.motion import robot_of_motion as robot_of_motion
    from posewright.motions.new_motion import create_motion as create_motion
    from posewright.motions.new_motion import file_stem as file_stem
    from posewright.motions.pose import DEFAULT_ACCEL_SHARE as DEFAULT_ACCEL_SHARE
    from posewright.motions.pose import LONGEST_S as LONGEST_S
    from posewright.motions.pose import SHORTEST_S as SHORTEST_S
    from posewright.motions.pose import Attitude as Attitude
    from posewright.motions.pose import Easing as Easing
    from posewright.motions.pose import Keyframe as Keyframe
    from posewright.motions.pose import Pose as Pose
    from posewright.motions.pose import Tangent as Tangent
    from posewright.motions.pose import robotis_accel_share as robotis_accel_share
    from posewright.motions.retarget import Clip as Clip
    from posewright.motions.retarget import RetargetedMotion as RetargetedMotion
    from posewright.motions.retarget import mirror_motion as mirror_motion
    from posewright.motions.retarget import retarget_motion as retarget_motion
    from posewright.motions.retarget import straighten_motion as straighten_motion
    from posewright.motions.reversal import reverse_motion as reverse_motion
    from posewright.motions.rule_sets import HARDWARE as HARDWARE
    from posewright.motions.rule_sets import design_rules as design_rules
    from posewright.motions.rule_sets import rule_names as rule_names
    from posewright.motions.sample_table import SampleTable as SampleTable
    from posewright.motions.sample_table import sample_motion as sample_motion
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
