"""Curves: joints and lights over the time of a motion, and where a servo is too slow."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.documents import Bounds
from posewright.motions import Motion
from posewright.motions.lighting import colours_of
from posewright.studio.commands.pages import can_change, motions_of
from posewright.studio.motion_panel import angles_deg
from posewright.studio.pages import Pages
from posewright.studio.parts import Parts
from posewright.studio.requests import View, action
from posewright.studio.session import Panel

POINTS = 900
"""Samples of a picture, about one to a pixel, shared by the ways that are in it."""

LEAST_SAMPLES = 2
MOST_SAMPLES = 32
"""Samples of one way: a straight one needs its ends, a curved one shows no corners."""

ROUNDING = 1e-6
"""A speed that is beyond its limit by less than this share is beyond it by rounding only."""

BEFORE_JUMP_S = 1e-6
"""So long before a jump a joint is where it jumps from [s]."""

Time = Annotated[float, Bounds(0.0, 1e7)]


class CurvesPanel(Panel):
    """Publishes `links`, the pages that follow each page; answers with curves of joints and lights."""

    name = "curves"

    def __init__(self, parts: Parts) -> None:
        self._session = parts.session

    def changed(self, before: Pages, after: Pages) -> None:
        """Publish where pages lead, of a file whose motions have all been made."""
        numbered = motions_of(after) if can_change(after) else [self._current]
        links = {
            str(number): {"repeat": motion.repeat, "next": motion.next, "exit": motion.exit}
            for number, motion in numbered
        }
        view = {
            "links": links,
            "can_change": can_change(after),
            "last": after.file.n_pages,
            "start_pose": self._start_pose(),
        }
        self._session.publish("links", view)

    def _start_pose(self) -> str | None:
        """Return the name of the robot's pose that the current motion is started from, if it is one."""
        robot = self._session.document.robot
        _, motion = self._current
        if motion.start is None:
            return None
        columns = [robot.index(joint) for joint in motion.joints]
        named = ((name, robot.pose(name)[columns]) for name in robot.poses)
        # a card's pose is written into a motion in rounded degrees
        return next((name for name, pose in named if np.allclose(pose, motion.start.angles, atol=1e-5)), None)

    @property
    def _current(self) -> tuple[int, Motion]:
        page = self._session.cursor.page
        return page, self._session.document.pages.motion(page)

    @action
    def sample(self, *, joints: tuple[str, ...], from_s: Time = 0.0, until_s: Time = 0.0) -> View:
        """Return curves of joints of the current page, of the ways between two times; to its end for 0.

        It has `times_s`, and by joint `angles_deg`, None where free, and `too_fast` as of `too_fast`.
        """
        robot = self._session.document.robot
        _, motion = self._current
        places, times = times_of(motion, from_s, until_s or motion.duration)
        angles = motion.sample_at(times.ravel()).angles
        curves = {}
        for name in joints:
            if name in motion.joints:
                row = angles[:, motion.joints.index(name)]
                max_speed = float(robot.max_speeds[robot.index(name)])
                curves[name] = {
                    "angles_deg": angles_deg(row),
                    "too_fast": too_fast(places, times, row.reshape(times.shape), max_speed),
                }
        return {"times_s": np.round(times, 6).ravel().tolist(), "joints": curves}

    @action
    def lights(self) -> dict[str, list[tuple[int, str]]]:
        """Return by LED the keyframes that set it, from 0, and the colour it shows then."""
        robot = self._session.document.robot
        _, motion = self._current
        colours: dict[str, list[tuple[int, str]]] = {led.name: [] for led in robot.leds}
        for place, frame in enumerate(motion.keyframes):
            for name, colour in colours_of(frame, robot).items():
                colours[name].append((place, "#" + "".join(f"{round(255.0 * part):02x}" for part in colour)))
        return colours


def times_of(motion: Motion, from_s: float, until_s: float) -> tuple[Indices, Floats]:
    """Return when the ways between two times are looked at: their keyframes `(n,)`, and times `(n, m)` [s].

    The last of a row is the end of the keyframe's pause, the others are spread over the way into it.
    """
    leaves = motion.segment_starts / motion.speed
    arrives = motion.keyframe_times
    ends = np.append(leaves[1:], motion.duration)
    places = np.flatnonzero((ends >= from_s) & (leaves <= until_s))
    leaves = leaves[places]
    arrives = arrives[places]
    ends = ends[places]
    count = int(np.clip(POINTS // max(len(places), 1), LEAST_SAMPLES, MOST_SAMPLES))
    times = leaves[:, None] + (arrives - leaves)[:, None] * np.linspace(0.0, 1.0, count)
    times[:, 0] = np.where(arrives > leaves, leaves, np.maximum(leaves - BEFORE_JUMP_S, 0.0))
    return places, np.column_stack([times, ends])


def too_fast(places: Indices, times: Floats, angles: Floats, max_speed: float) -> list[View]:
    """Return the ways on which a joint is commanded to turn faster than `max_speed` [rad/s], of `times_of`.

    Each has its `keyframe`, from 0, `from_s`, `until_s`, and the `speed_deg_s`; None for a jump.
    """
    durations = np.diff(times, axis=1)
    distances = np.abs(np.diff(angles, axis=1))
    speeds = np.where(durations > 0.0, distances / np.where(durations > 0.0, durations, 1.0), 0.0)
    over = speeds > max_speed * (1.0 + ROUNDING)
    ways: list[View] = []
    for row in np.flatnonzero(over.any(axis=1)).tolist():
        parts = np.flatnonzero(over[row])
        begin = float(times[row, parts[0]])
        end = float(times[row, parts[-1] + 1])
        fastest = math.degrees(float(np.nanmax(speeds[row])))
        speed = None if end - begin <= 2.0 * BEFORE_JUMP_S else round(fastest, 1)
        ways.append({"keyframe": int(places[row]), "from_s": begin, "until_s": end, "speed_deg_s": speed})
    return ways
