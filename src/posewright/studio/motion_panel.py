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
        self._published_page: int | None = None
        self._published_motion: Motion | None = None
        self._keyframe_views: list[View] = []  # the keyframes of the published motion

    def update(self, before: Pages, after: Pages) -> None:
        """Publish robot, pages, motion and cursor as far as they differ from those published last."""
        session = self._session
        cursor = session.cursor
        if self._robot is not session.document.robot:
            self._robot = session.document.robot
            self._published_motion = None
            session.publish("robot", robot_view(self._robot))
        motion = after.motion(cursor.page)
        labels = [{"number": label.number, "name": label.name} for label in after.labels]
        session.publish("pages", labels)
        if self._published_motion is None or self._published_page != cursor.page:
            self._keyframe_views = [keyframe_view(frame) for frame in motion.keyframes]
            session.publish("motion", {**motion_view(motion, cursor.page), "keyframes": self._keyframe_views})
        elif self._published_motion is not motion:
            self._publish_change(self._published_motion, motion, cursor.page)
        self._published_page = cursor.page
        self._published_motion = motion
        session.publish("cursor", {**vars(cursor), "selected": list(cursor.selected)})

    def _publish_change(self, old: Motion, new: Motion, page: int) -> None:
        """Publish the new motion of a page; if only keyframes differ, send only the changed ones."""
        begin, end_old, end_new = changed_range(old.keyframes, new.keyframes)
        inserted = [keyframe_view(frame) for frame in new.keyframes[begin:end_new]]
        self._keyframe_views = [
            *self._keyframe_views[:begin],
            *inserted,
            *self._keyframe_views[end_old:],
        ]
        view = {**motion_view(new, page), "keyframes": self._keyframe_views}
        if motion_view(old, page) != motion_view(new, page):
            self._session.publish("motion", view)
            return
        self._session.splice(
            "motion", "keyframes", at=begin, removed=end_old - begin, inserted=inserted, value=view
        )


def changed_range(old: tuple[Keyframe, ...], new: tuple[Keyframe, ...]) -> tuple[int, int, int]:
    """Return the index at which two sequences begin to differ, and the end of the different part in each.

    Keyframes are compared by identity: an edit creates new objects only for those that it changes.
    """
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
        "sound": motion.sound and {"file": motion.sound.file, "start_s": motion.sound.start_s},
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
        "tangents": frame.tangents
        and {joint: angles_deg(np.array(pair)) for joint, pair in frame.tangents.items()},
        "pose": pose_view(frame.pose),
    }


def pose_view(pose: Pose) -> list[float | str | None]:
    """Return the angles of a pose in order of its joints [deg]; None for held, "free" for free joints."""
    degrees = angles_deg(pose.angles)
    return ["free" if name in pose.free else angle for name, angle in zip(pose.joints, degrees, strict=True)]


def angles_deg(angles: Floats) -> list[float | None]:
    """Return angles in rounded degrees; None for NaN."""
    # adding 0.0 turns -0.0 into 0.0
    return [
        None if math.isnan(angle) else round(angle, DIGITS) + 0.0 for angle in np.rad2deg(angles).tolist()
    ]


def robot_view(robot: Robot) -> View:
    """Return the data of a robot that windows need: its joints with limits and ticks, its poses and LEDs."""
    max_speeds_deg_s = np.rad2deg(robot.max_speeds).tolist()
    zero_ticks = robot.to_ticks(np.zeros(len(robot.joints)))
    ticks_per_rad = robot.to_ticks(np.ones(len(robot.joints))) - zero_ticks
    joints = [
        {
            "name": joint.name,
            "lower_deg": round(math.degrees(joint.lower_rad), DIGITS),
            "upper_deg": round(math.degrees(joint.upper_rad), DIGITS),
            "speed_deg_s": round(max_speed_deg_s, DIGITS),
            "tick_zero": zero_tick,
            "ticks_per_deg": math.radians(joint_ticks_per_rad),
        }
        for joint, max_speed_deg_s, zero_tick, joint_ticks_per_rad in zip(
            robot.joints, max_speeds_deg_s, zero_ticks.tolist(), ticks_per_rad.tolist(), strict=True
        )
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
