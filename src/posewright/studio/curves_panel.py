"""Curves: joint angles and lights of a motion over time, and segments that are too fast for a servo."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.documents import Bounds
from posewright.motions import Motion
from posewright.motions.lighting import colours_of
from posewright.studio.commands.pages import allows_page_changes, motions_of
from posewright.studio.context import StudioContext
from posewright.studio.motion_panel import angles_deg
from posewright.studio.pages import Pages
from posewright.studio.requests import View, action
from posewright.studio.session import Panel

POINTS = 900
"""Samples of a picture, about one per pixel, shared by its segments."""

MIN_SAMPLES = 2
MAX_SAMPLES = 32
"""Samples of one segment: two for a straight one, more so that a curve shows no corners."""

ROUNDING = 1e-6
"""Relative tolerance of speed limits, for rounding."""

BEFORE_JUMP_S = 1e-6
"""Time before a jump at which the angle before it is sampled [s]."""

Time = Annotated[float, Bounds(0.0, 1e7)]


class CurvesPanel(Panel):
    """Publishes `links`, the pages that follow each page; samples curves of joints and lights."""

    name = "curves"

    def __init__(self, context: StudioContext) -> None:
        self._session = context.session

    def update(self, before: Pages, after: Pages) -> None:
        """Publish the references between pages; in an archive only those of the current page."""
        numbered_motions = motions_of(after) if allows_page_changes(after) else [self._current]
        links = {
            str(number): {"repeat": motion.repeat, "next": motion.next, "exit": motion.exit}
            for number, motion in numbered_motions
        }
        view = {
            "links": links,
            "can_change": allows_page_changes(after),
            "last": after.file.n_pages,
            "start_pose": self._start_pose(),
        }
        self._session.publish("links", view)

    def _start_pose(self) -> str | None:
        """Return the name of the start pose of the current motion; None if it is no pose of the card."""
        robot = self._session.document.robot
        _, motion = self._current
        if motion.start is None:
            return None
        columns = [robot.index(joint) for joint in motion.joints]
        for name in robot.poses:
            # the tolerance is for poses that a motion stores in rounded degrees
            if np.allclose(robot.pose(name)[columns], motion.start.angles, atol=1e-5):
                return name
        return None

    @property
    def _current(self) -> tuple[int, Motion]:
        """Number and motion of the page under the cursor."""
        page = self._session.cursor.page
        return page, self._session.document.pages.motion(page)

    @action
    def sample(self, *, joints: tuple[str, ...], from_s: Time = 0.0, until_s: Time = 0.0) -> View:
        """Return curves of joints of the current page between two times.

        Args:
            joints: names of the joints.
            from_s: begin [s].
            until_s: end [s]; 0 for the end of the motion.

        Returns:
            `times_s`, and by joint `angles_deg`, None where it is free, `too_fast`, the segments of
            `find_overspeed_segments`, and `tangents_deg_s`, at each keyframe the speeds of arriving and
            leaving at speed 1, None where there is no spline.
        """
        robot = self._session.document.robot
        _, motion = self._current
        indices, times = sample_times(motion, from_s, until_s or motion.duration)
        angles = motion.sample_at(times.ravel()).angles
        curves = {}
        arriving, leaving = motion.spline_tangents()
        for name in joints:
            if name in motion.joints:
                column = motion.joints.index(name)
                joint_angles = angles[:, column]
                tangents = zip(angles_deg(arriving[:, column]), angles_deg(leaving[:, column]), strict=True)
                max_speed = float(robot.max_speeds[robot.index(name)])
                curves[name] = {
                    "angles_deg": angles_deg(joint_angles),
                    "tangents_deg_s": list(tangents),
                    "too_fast": find_overspeed_segments(
                        indices, times, angles=joint_angles.reshape(times.shape), max_speed=max_speed
                    ),
                }
        return {"times_s": np.round(times, 6).ravel().tolist(), "joints": curves}

    @action
    def lights(self) -> dict[str, list[tuple[int, str]]]:
        """Return by LED the indices of the keyframes that set it, and the colours."""
        robot = self._session.document.robot
        _, motion = self._current
        colours: dict[str, list[tuple[int, str]]] = {led.name: [] for led in robot.leds}
        for index, frame in enumerate(motion.keyframes):
            for name, colour in colours_of(frame, robot).items():
                hex_digits = "".join(f"{round(255.0 * component):02x}" for component in colour)
                colours[name].append((index, f"#{hex_digits}"))
        return colours


def sample_times(motion: Motion, from_s: float, until_s: float) -> tuple[Indices, Floats]:
    """Return the times at which the segments between two times are sampled.

    Returns:
        Indices of the segments' keyframes, `(n,)`, and times, `(n, m)` [s]. The last of each row is the end
        of the keyframe's pause, the others are spread over the segment. A segment of no duration is a jump;
        it begins `BEFORE_JUMP_S` earlier, so that the angle before it is sampled too.
    """
    starts = motion.segment_starts / motion.speed
    arrivals = motion.keyframe_times
    ends = np.append(starts[1:], motion.duration)
    indices = np.flatnonzero((ends >= from_s) & (starts <= until_s))
    starts = starts[indices]
    arrivals = arrivals[indices]
    ends = ends[indices]
    n_samples = int(np.clip(POINTS // max(len(indices), 1), MIN_SAMPLES, MAX_SAMPLES))
    times = starts[:, None] + (arrivals - starts)[:, None] * np.linspace(0.0, 1.0, n_samples)
    times[:, 0] = np.where(arrivals > starts, starts, np.maximum(starts - BEFORE_JUMP_S, 0.0))
    return indices, np.column_stack([times, ends])


def find_overspeed_segments(indices: Indices, times: Floats, angles: Floats, max_speed: float) -> list[View]:
    """Return the segments in which a joint is commanded to turn faster than it can.

    Args:
        indices: indices of the segments' keyframes, `(n,)`.
        times: sampled times, `(n, m)` [s].
        angles: commanded angles at these times, `(n, m)` [rad].
        max_speed: maximum speed of the joint [rad/s].

    Returns:
        Segments with `keyframe`, `from_s`, `until_s` and `speed_deg_s`, which is None for a jump.
    """
    durations = np.diff(times, axis=1)
    distances = np.abs(np.diff(angles, axis=1))
    speeds = np.where(durations > 0.0, distances / np.where(durations > 0.0, durations, 1.0), 0.0)
    is_too_fast = speeds > max_speed * (1.0 + ROUNDING)
    segments: list[View] = []
    for row in np.flatnonzero(is_too_fast.any(axis=1)).tolist():
        fast_steps = np.flatnonzero(is_too_fast[row])
        begin_s = float(times[row, fast_steps[0]])
        end_s = float(times[row, fast_steps[-1] + 1])
        is_jump = end_s - begin_s <= 2.0 * BEFORE_JUMP_S
        max_speed_deg_s = math.degrees(float(np.nanmax(speeds[row])))
        segments.append(
            {
                "keyframe": int(indices[row]),
                "from_s": begin_s,
                "until_s": end_s,
                "speed_deg_s": None if is_jump else round(max_speed_deg_s, 1),
            }
        )
    return segments
