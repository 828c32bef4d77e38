"""How a motion whose name says no postures can be played without a jump, in words."""

from __future__ import annotations

import math

from posewright.errors import escape_unprintable
from posewright.robots import Robot
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.monet.frames import Frames, motion_frames
from posewright.runtimes.openr.regions import MICRO
from posewright.runtimes.openr.stick import MonetSetup
from posewright.runtimes.openr.stick.check import PostureGraph, command_postures
from posewright.runtimes.openr.stick.jumps import FARTHEST_DEG, LEGS
from posewright.runtimes.openr.stick.limits import AGENTS, NAME_BYTES, POSTURES, is_null
from posewright.runtimes.openr.stick.lookup import index_of
from posewright.runtimes.openr.stick.text import AgentLine


def way_out(line: AgentLine, setup: MonetSetup, graph: PostureGraph, here: str, openr: OpenR) -> str:
    """Return by which command the robot gets to where a motion begins, and which name would take it there.

    Empty where the line plays no motion, or one that begins or ends in no posture. No command is named where
    MoNet takes the robot to be there already, in `here`, or knows no way there.
    """
    if line.agent not in AGENTS or AGENTS[line.agent].plays != "OMTN":
        return ""
    frames = motion_frames(index_of(line, setup), setup, openr, exact=True)
    start, end = (_posture(frames, place, openr.robot) for place in (0, -1))
    if not (start and end):
        return ""
    leads_there = here != start and graph.route(here, start) is not None
    begin = graph.begins.get(start, ()) if leads_there else ()
    fitting = [one for one in begin if command_postures(one).end == start]
    first = min(fitting, key=lambda command: not is_null(command.agents[0].name), default=None)
    go = f"MoNetExecute({first.id}) goes there first; or " if first is not None else ""
    title = line.name.replace("#", "_").rpartition("_")[2]
    name = escape_unprintable(f"a_{start}#{end}_{title}"[:NAME_BYTES])
    return f"{escape_unprintable(line.name)} begins near {start}: {go}call it {name}"


def _posture(frames: Frames, place: int, robot: Robot) -> str:
    """Return which posture the legs are near to in a frame; empty where they are far from all."""
    names, legs = robot.joint_names, robot.groups.get(LEGS, ())
    angles = {names[one]: frames[one][place] / MICRO for one in frames if names[one] in legs}
    away = [
        (max(abs(angle - robot.poses[posture][joint]) for joint, angle in angles.items()), posture)
        for posture in robot.poses
        if posture in POSTURES and angles
    ]
    near, posture = min(away, default=(math.inf, ""))
    return posture if math.degrees(near) <= FARTHEST_DEG else ""
