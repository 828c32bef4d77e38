"""Commands: all changes that windows can make to a document, by their names in requests."""

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
    "leave_joints": pose.UnsetJoints,
    "mirror_motion": motion.MirrorMotion,
    "mirror_pose": pose.MirrorPose,
    "move_page": pages.MovePage,
    "retime_keyframe": timeline.RetimeKeyframe,
    "reverse_motion": motion.ReverseMotion,
    "set_angles": pose.SetAngles,
    "set_joints": motion.SetJoints,
    "set_keyframes": timeline.SetKeyframes,
    "set_lights": timeline.SetLights,
    "set_sound": motion.SetSound,
    "set_tangent": timeline.SetTangent,
    "set_motion": motion.SetMotion,
    "stretch_keyframes": timeline.StretchKeyframes,
}


def read_command(name: str, arguments: Mapping[str, object]) -> Command:
    """Return a command by its name and arguments, or raise InputError."""
    if name not in COMMANDS:
        raise UnknownNameError.among("command", name, COMMANDS)
    return read_record(Node(dict(arguments)), COMMANDS[name])
