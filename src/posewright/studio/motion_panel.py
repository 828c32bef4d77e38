"""Publishes the robot, the pages and the current motion to the windows."""

from __future__ import annotations

import math

import numpy as np

from posewright.arrays import Floats
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot
from posewright.studio.pages import Pages
from posewright.studio.requests import View
from posewright.studio.session import Panel, Session

DIGITS = 3
"""Decimals of degrees that are sent to windows: about a hundredth of a tick."""


class MotionPanel(Panel):
    """Publishes `robot`, `pages`, `motion` and `cursor`; changed keyframes of `motion` as splices."""

    name = "motion"

    def __init__(self, session: Session) -> None:
        self._session = session
        self._robot: Robot | None = None
        self._published: tuple[int, Motion] | None = None
        self._keyframes: list[View] = []

    def update(self, before: Pages, after: Pages) -> None:
        """Publish what has changed."""
        session = self._session
        cursor = session.cursor
        if self._robot is not session.document.robot:
            self._robot = session.document.robot
            self._published = None
            session.publish("robot", robot_view(self._robot))
        motion = after.motion(cursor.page)
        labels = [{"number": label.number, "name": label.name} for label in after.labels]
        session.publish("pages", labels)
        if self._published is None or self._published[0] != cursor.page:
            self._keyframes = [keyframe_view(frame) for frame in motion.keyframes]
            session.publish("motion", {**motion_view(motion, cursor.page), "keyframes": self._keyframes})
        elif self._published[1] is not motion:
            self._publish_change(self._published[1], motion, cursor.page)
        self._published = (cursor.page, motion)
        session.publish("cursor", {**vars(cursor), "selected": list(cursor.selected)})

    def _publish_change(self, old: Motion, new: Motion, page: int) -> None:
        """Publish the new motion; if only keyframes differ, send only the changed ones."""
        begin, end_old, end_new = changed_range(old.keyframes, new.keyframes)
        inserted = [keyframe_view(frame) for frame in new.keyframes[begin:end_new]]
        self._keyframes = [*self._keyframes[:begin], *inserted, *self._keyframes[end_old:]]
        view = {**motion_view(new, page), "keyframes": self._keyframes}
        if motion_view(old, page) != motion_view(new, page):
            self._session.publish("motion", view)
            return
        self._session.splice(
            "motion", "keyframes", at=begin, removed=end_old - begin, inserted=inserted, value=view
        )


def changed_range(old: tuple[Keyframe, ...], new: tuple[Keyframe, ...]) -> tuple[int, int, int]:
    """Return the index at which two sequences begin to differ, and the end of the different part in each."""
    begin = 0
    shorter = min(len(old), len(new))
    while begin < shorter and old[begin] is new[begin]:
        begin += 1
    n_equal_at_end = 0
    while n_equal_at_end < shorter - begin and old[-1 - n_equal_at_end] is new[-1 - n_equal_at_end]:
        n_equal_at_end += 1
    return begin, len(old) - n_equal_at_end, len(new) - n_equal_at_end


def motion_view(motion: Motion, page: int) -> View:
    """Return a motion without its keyframes as plain data, angles in degrees."""
    return {
        "name": motion.name,
        "repeat": motion.repeat,
        "next": motion.next,
        "exit": motion.exit,
        "speed": motion.speed,
        "source": motion.source,
        "page": page,
        "joints": list(motion.joints),
        "start": None if motion.start is None else pose_view(motion.start),
    }


def keyframe_view(frame: Keyframe) -> View:
    """Return a keyframe as plain data."""
    return {
        "reach_s": frame.reach_s,
        "pause_s": frame.pause_s,
        "easing": frame.easing.value,
        "accel_share": frame.accel_share,
        "stiffness": frame.stiffness and dict(frame.stiffness),
        "lights": frame.lights and dict(frame.lights),
        "pose": pose_view(frame.pose),
    }


def pose_view(pose: Pose) -> list[float | str | None]:
    """Return the angles of a pose in order of its joints [deg]; None for held, "free" for free joints."""
    degrees = angles_deg(pose.angles)
    return ["free" if name in pose.free else angle for name, angle in zip(pose.joints, degrees, strict=True)]


def angles_deg(angles: Floats) -> list[float | None]:
    """Return angles in rounded degrees; None for NaN."""
    return [
        None if math.isnan(angle) else round(angle, DIGITS) + 0.0 for angle in np.rad2deg(angles).tolist()
    ]


def robot_view(robot: Robot) -> View:
    """Return the data of a robot that windows need."""
    speeds = np.rad2deg(robot.max_speeds).tolist()
    zeros = robot.to_ticks(np.zeros(len(robot.joints))).tolist()
    per_rad = (robot.to_ticks(np.ones(len(robot.joints))) - np.array(zeros)).tolist()
    joints = [
        {
            "name": joint.name,
            "lower_deg": round(math.degrees(joint.lower_rad), DIGITS),
            "upper_deg": round(math.degrees(joint.upper_rad), DIGITS),
            "speed_deg_s": round(speed, DIGITS),
            "tick_zero": zero,
            "ticks_per_deg": math.radians(ticks_per_rad),
        }
        for joint, speed, zero, ticks_per_rad in zip(robot.joints, speeds, zeros, per_rad, strict=True)
    ]
    return {
        "name": robot.name,
        "title": robot.title,
        "joints": joints,
        "groups": {name: list(members) for name, members in robot.groups.items()},
        "poses": list(robot.poses),
        "mirror": [[pair.left, pair.right, pair.sign] for pair in robot.mirror_pairs],
        "leds": [
            {"name": led.name, "colour": led.colour, "has_colours": led.has_colours} for led in robot.leds
        ],
    }
