"""Pages played one after the other on their own clock, as a robot's board plays them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.controllers.passes import Passes
from posewright.controllers.player import PlannedPass, Succession
from posewright.errors import InputError
from posewright.motions import Motion
from posewright.robots import Robot

MAX_START_DISTANCE_RAD = 0.4
"""Farther from the first keyframe [rad], a named pose is not the one from which a walk starts. ROBOTIS' walks
begin 0.03 away from `walk_ready`, a RoboNova's 0.24 away from `stand`."""


class PageLoop(NamedTuple):
    """The order in which pages are played.

    Attributes:
        lead_in: the passes before the loop.
        loop: the passes that are repeated for ever.
    """

    lead_in: tuple[PlannedPass, ...]
    loop: tuple[PlannedPass, ...]


def find_page_loop(pages: Mapping[str, Motion], first_page: str) -> PageLoop:
    """Return the order of pages from the first one on, each as often as it repeats, up to where it recurs.

    Raises:
        InputError: the last page leads to no other.
    """
    succession = Succession(pages)
    succession.request(first_page)
    passes: list[PlannedPass] = []
    start_by_page: dict[str, int] = {}
    while (planned := succession.advance()) is not None:
        if planned.pass_index == 0:
            start = start_by_page.setdefault(planned.name, len(passes))
            if start < len(passes):
                return PageLoop(tuple(passes[:start]), tuple(passes[start:]))
        elif pages[planned.name].repeat is None:
            return PageLoop(tuple(passes[:-1]), tuple(passes[-1:]))
        passes.append(planned)
    raise InputError(
        f"{pages[first_page].name} leads to no page that repeats: it ends with {pages[passes[-1].name].name}",
        hint="a walk begins at a page whose `next` pages lead back to one of them, such as F_S_L",
    )


def find_start_pose(motion: Motion, robot: Robot) -> Floats:
    """Return the pose in which a robot stands before a walk's first page, `(n_joints,)` [rad].

    It is the motion's own start pose, or the robot's named pose nearest to the first keyframe, as a board
    leads from where the robot stands to there. With no pose near, it is the first keyframe itself.
    """
    first_keyframe = motion.first_pose(robot)
    if motion.start is not None or not robot.poses:
        return first_keyframe
    columns = [robot.index(joint) for joint in motion.joints]
    distances = {
        name: float(np.abs(robot.pose(name)[columns] - first_keyframe[columns]).max()) for name in robot.poses
    }
    nearest = min(distances, key=distances.__getitem__)
    return robot.pose(nearest) if distances[nearest] <= MAX_START_DISTANCE_RAD else first_keyframe


class PageSequence:
    """Samples the pages that follow each other by `next`, and by `exit` once the sequence is left.

    Nothing is slowed down or joined: a page begins where the one before ended.

    Args:
        pages: the pages by the names that `next` and `exit` use.
        first_page: name of the first page.
        robot: the robot.

    Attributes:
        start_pose: the pose before the first page; see `find_start_pose`, `(n_joints,)` [rad].

    Raises:
        InputError: a page is for another robot, or switches torque off.
    """

    def __init__(self, pages: Mapping[str, Motion], first_page: str, robot: Robot) -> None:
        for motion in pages.values():
            free_joints = {joint for keyframe in motion.keyframes for joint in keyframe.pose.free}
            if free_joints:
                raise InputError(
                    f"{motion.name} switches the torque of {', '.join(sorted(free_joints))} off",
                    hint="a walk is made of pages that hold all their joints",
                )
        self._pages = pages
        self._first_page = first_page
        self._passes = {name: Passes(motion, robot) for name, motion in pages.items()}
        self.start_pose = find_start_pose(pages[first_page], robot)
        self.reset()

    def reset(self) -> None:
        """Stand in the start pose."""
        self._succession = Succession(self._pages)
        self._page_start = self.start_pose
        self._pass_end = self.start_pose
        self._phase = Fraction(0)  # time from the last frame to the end of the pass [frames]
        self._pending_rows: Floats = np.empty((0, len(self.start_pose)))
        self._last_row = self.start_pose
        self._stiffness: Floats | None = None

    @property
    def is_standing(self) -> bool:
        """Whether the last page has ended, or none has begun."""
        return self._succession.present_pass is None and not len(self._pending_rows)

    @property
    def stiffness(self) -> Floats | None:
        """Stiffness of the joints in the next frame, `(n_joints,)` [N m/rad]; None for the servos' own."""
        if not len(self._pending_rows):
            self._prepare_pass()
        return self._stiffness

    def count_frames(self, passes: Sequence[PlannedPass]) -> float:
        """Return the duration of passes [frames]; one without any duration takes a frame."""
        return float(sum(self._passes[planned.name].duration_frames for planned in passes))

    def start(self) -> None:
        """Play the first page when the present one has ended."""
        self._succession.request(self._first_page)

    def leave(self) -> None:
        """Play the exit pages when the present page has ended, then stand."""
        self._succession.request(None)

    def frames(self, n: int) -> Floats:
        """Return the next n frames, `(n, n_joints)` [rad]; the last pose is held where no page is left."""
        parts = []
        n_missing = n
        while n_missing:
            if not len(self._pending_rows) and not self._prepare_pass():
                parts.append(np.tile(self._last_row, (n_missing, 1)))
                break
            rows = self._pending_rows[:n_missing]
            self._pending_rows = self._pending_rows[len(rows) :]
            n_missing -= len(rows)
            parts.append(rows)
        joint_angles = np.concatenate(parts)
        self._last_row = joint_angles[-1]
        return joint_angles

    def _prepare_pass(self) -> bool:
        """Sample the next pass; return False if there is none."""
        planned = self._succession.advance()
        if planned is None:
            self._last_row = self._pass_end
            self._phase = Fraction(0)
            return False
        if planned.pass_index == 0:
            self._page_start = self._pass_end
        sampled = self._passes[planned.name].sample(self._page_start, planned.pass_index, self._phase)
        self._phase = sampled.phase
        self._pass_end = sampled.end
        self._pending_rows = sampled.rows
        self._stiffness = sampled.stretches[0].stiffness
        return True
