"""Commands: every change that windows can make of a document, by the name under which they ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posewright.studio.commands import lights, motion, pages, pose, timeline

COMMANDS: Mapping[str, type[Any]] = {
    "add_page": pages.AddPage,
    "blend_pose": pose.BlendPose,
    "clear_start": motion.ClearStart,
    "copy_across": pose.CopyAcross,
    "delete_page": pages.DeletePage,
    "duplicate_page": pages.DuplicatePage,
    "leave_joints": pose.LeaveJoints,
    "mirror_pose": pose.MirrorPose,
    "move_page": pages.MovePage,
    "retime_keyframe": timeline.RetimeKeyframe,
    "set_angles": pose.SetAngles,
    "set_joints": motion.SetJoints,
    "set_keyframes": timeline.SetKeyframes,
    "set_lights": lights.SetLights,
    "set_motion": motion.SetMotion,
    "stretch_keyframes": timeline.StretchKeyframes,
}
