"""Findings: checks the motion against design rules, and plays it under gravity, after every edit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError

import numpy as np

from posewright.arrays import Floats
from posewright.control import Block
from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.evaluation import MotionResult
from posewright.figures.playback import Poses
from posewright.hazards import check_motion
from posewright.motions import HARDWARE, Finding, Motion, design_rules, rule_names
from posewright.robots import Robot
from posewright.runs import try_motion
from posewright.studio.background import IsCancelled, LatestTask
from posewright.studio.context import StudioContext
from posewright.studio.motion_panel import angles_deg
from posewright.studio.pages import Pages
from posewright.studio.requests import View, action
from posewright.studio.session import Panel

CHECK_DELAY_S = 0.1
"""Delay between an edit and the check of design rules [s]."""

PHYSICS_DELAY_S = 0.25
"""Delay between an edit and the run under gravity [s]."""

MAX_POINTS = 1000
"""The number of points of a curve at most."""


class FindingsPanel(Panel):
    """Publishes `findings` of the design rules, and `physics`, the result under gravity.

    Keyframes in both are indices; -1 is the start pose.
    """

    name = "truth"

    def __init__(self, context: StudioContext) -> None:
        self._session = context.session
        self._player = context.player
        self._rules = HARDWARE
        self._is_physical = False
        # what was checked last, by which rules, and what was run under gravity last
        self._last_checked_inputs: tuple[Motion, Robot, str] | None = None
        self._last_simulated_inputs: tuple[Motion, Robot] | None = None
        self._trial_result: MotionResult | None = None
        self._check_task = LatestTask(self._session.post, CHECK_DELAY_S)
        self._trial_task = LatestTask(self._session.post, PHYSICS_DELAY_S)

    def update(self, before: Pages, after: Pages) -> None:
        """Check the motion again if it has changed, and run it under gravity again if physics is on."""
        session = self._session
        rules = self._rules
        page = session.cursor.page
        robot = session.document.robot
        motion = after.motion(page)
        if not _are_same((motion, robot, rules), self._last_checked_inputs):
            self._last_checked_inputs = (motion, robot, rules)
            self._check_task.start(
                lambda _: check_motion(motion, robot, rules=rules),
                lambda findings: self._show_findings(page, findings),
            )
        if not self._is_physical:
            session.publish("physics", {"on": False, "state": "off"})
        elif not _are_same((motion, robot), self._last_simulated_inputs):
            self._last_simulated_inputs = (motion, robot)
            self._run_physics(motion, robot)

    def close(self) -> None:
        """Cancel what is running, and wait for it."""
        self._check_task.close()
        self._trial_task.close()

    @action
    def rules(self, *, name: str) -> None:
        """Choose a set of design rules."""
        if name not in rule_names():
            raise UnknownNameError.among("set of design rules", name, rule_names())
        design_rules(name, self._session.document.robot)  # raises an error if they are not for this robot
        self._rules = name
        self.update(self._session.document.pages, self._session.document.pages)

    @action
    def physics(self, *, on: bool) -> None:
        """Switch between the motion under gravity, which is simulated, and the commanded motion."""
        self._is_physical = on
        if not on:
            self._trial_task.cancel()
            self._last_simulated_inputs = None
            self._clear_result()
        self.update(self._session.document.pages, self._session.document.pages)

    @action
    def angles(self, *, joint: str) -> View:
        """Return the commanded and the simulated angle of a joint over time, for a curve of few points.

        Args:
            joint: the name of the joint.

        Returns:
            Times [s], `expected_deg` and `simulated_deg`, from the row before the motion on.

        Raises:
            InputError: the motion has not been simulated.
        """
        if self._trial_result is None:
            raise InputError("the motion was not run under gravity", hint="switch physics on")
        played_motion = self._trial_result.played_motion
        record = played_motion.record
        column = self._trial_result.robot.index(joint)
        first_row = max(0, played_motion.first_frame - 1)  # the row before the first command is the start
        rows = np.unique(np.linspace(first_row, len(record) - 1, MAX_POINTS).astype(int))
        return {
            "times_s": np.round(played_motion.times[rows], 4).tolist(),
            "expected_deg": angles_deg(record.commands[rows, column]),
            "simulated_deg": angles_deg(record.positions[rows, column]),
        }

    def _show_findings(self, page: int, findings: tuple[Finding, ...] | PosewrightError) -> None:
        """Publish the topic `findings`: the findings on a page, or why it could not be checked."""
        if isinstance(findings, PosewrightError):
            error = str(findings)
            views = []
        else:
            error = ""
            views = [finding_view(finding) for finding in findings]
        view = {
            "page": page,
            "rules": self._rules,
            "known": list(rule_names()),
            "error": error,
            "list": views,
        }
        self._session.publish("findings", view)

    def _run_physics(self, motion: Motion, robot: Robot) -> None:
        """Start to run a motion under gravity in the background; the previous run is cancelled."""
        self._clear_result()
        self._session.publish("physics", {"on": True, "state": "running"})
        self._trial_task.start(
            lambda is_cancelled: try_motion(motion, robot, watchers=[_CancelWatcher(is_cancelled)]),
            self._show_result,
        )

    def _clear_result(self) -> None:
        """Forget the last result, and let the player show the motion itself."""
        self._trial_result = None
        self._player.set_source(None)

    def _show_result(self, result: MotionResult | PosewrightError) -> None:
        """Publish the topic `physics`, and let the player show the motion under gravity."""
        if isinstance(result, PosewrightError):
            self._session.publish("physics", {"on": True, "state": "failed", "error": str(result)})
            return
        self._trial_result = result
        self._player.set_source(PhysicsSource(result))
        self._session.publish("physics", {"on": True, "state": "ready", **physics_view(result)})


class PhysicsSource:
    """A motion under gravity, as a `PlaybackSource`."""

    def __init__(self, result: MotionResult) -> None:
        """Take the measured poses from the result of a simulation."""
        played_motion = result.played_motion
        record = played_motion.record
        self._name = result.robot.name
        self._poses = Poses(
            times=played_motion.times,
            base_poses={self._name: record.base},
            joint_angles={self._name: record.positions},
            boxes=np.zeros((len(record), 0, 7)),  # there are none
        )

    @property
    def duration_s(self) -> float:
        """Duration until the end of the last pose's hold time [s]."""
        return float(self._poses.times[-1])

    def at(self, time_s: float) -> tuple[Floats, Floats]:
        """Return base pose `(7,)` and joint angles `(n_joints,)` [rad] at a time [s]."""
        poses = self._poses.interpolate_at(np.array([time_s]))
        return poses.base_poses[self._name][0], poses.joint_angles[self._name][0]


class _CancelWatcher:
    """A watcher that ends a run whose result is no longer needed."""

    def __init__(self, is_cancelled: IsCancelled) -> None:
        self._is_cancelled = is_cancelled

    def watch(self, block: Block) -> bool:
        if self._is_cancelled():
            raise CancelledError
        return False


def _are_same(current: Sequence[object], previous: Sequence[object] | None) -> bool:
    """Return whether these are identical objects, not only equal ones: comparing motions by value is slow."""
    return previous is not None and all(new is old for new, old in zip(current, previous, strict=True))


def finding_view(finding: Finding) -> View:
    """Return a finding as plain data; its keyframes, which are numbered from 1, as indices from 0."""
    numbers = finding.keyframes or (() if finding.keyframe is None else (finding.keyframe,))
    return {
        "level": finding.level.value,
        "rule": finding.rule,
        "message": finding.message,
        "joint": finding.joint,
        "keyframe": None if finding.keyframe is None else finding.keyframe - 1,
        "keyframes": [number - 1 for number in numbers],
        "time_s": finding.times_s[0] if finding.times_s else None,
    }


def physics_view(result: MotionResult) -> View:
    """Return the result of a motion under gravity as plain data, joints with the largest lag first."""
    figures = result.figures()
    joints = [
        {"name": name, "max_deg": lag["max"], "rms_deg": lag["rms"], "time_s": lag["time_s"]}
        for name, lag in figures["lag_deg"].items()
    ]
    # is_whole: whether the motion was played to its end
    figure_names = (
        "is_whole",
        "played_s",
        "falls",
        "travel",
        "max_tilt_deg",
        "max_tilt",
        "slip_mm",
        "saturated",
    )
    return {
        "figures": {name: figures[name] for name in figure_names},
        "findings": [finding_view(finding) for finding in result.findings],
        "joints": sorted(joints, key=lambda joint: -joint["max_deg"]),
    }
