"""Commands: every change that windows can make of a document, by the name under which they ask for it."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.documents import Node, read_record
from posewright.errors import UnknownNameError
from posewright.studio.commands import motion, pages, pose, timeline
from posewright.studio.document import Command

COMMANDS: Mapping[str, type[Command]] = {
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
    "set_lights": timeline.SetLights,
    "set_motion": motion.SetMotion,
    "stretch_keyframes": timeline.StretchKeyframes,
}


def read_command(name: str, arguments: Mapping[str, object]) -> Command:
    """Return the command of that name with these arguments, or raise InputError."""
    if name not in COMMANDS:
        raise UnknownNameError.among("command", name, COMMANDS)
    return read_record(Node(dict(arguments)), COMMANDS[name])
