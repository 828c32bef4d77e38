"""Gaits: editing parameters with undo, steering, and walking with and without physics."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from posewright.documents import Bounds
from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.formats import write_motion
from posewright.gaits import (
    Interpolation,
    QuadrupedGait,
    VelocityCommand,
    gait_names,
    phase_table,
    read_gait,
    require_quadruped,
    sample_gait,
    walking_legs,
    write_gait,
)
from posewright.gaits.reading import SUFFIX
from posewright.robots import Robot, robot_names
from posewright.studio.background import run_in_background
from posewright.studio.context import StudioContext
from posewright.studio.gait_view import gait_view, with_displayed_values
from posewright.studio.history import History
from posewright.studio.pages import Pages
from posewright.studio.requests import action
from posewright.studio.session import Panel
from posewright.studio.walk_preview import WalkPreview

MODE = "gait"


class GaitPanel(Panel):
    """Publishes `gaits`, the available ones, and `gait`, the open one; `WalkPreview` has its own topics."""

    name = MODE

    def __init__(self, context: StudioContext) -> None:
        self._session = context.session
        self._workspace = context.workspace
        self._walk = WalkPreview(context)
        self._robot: Robot | None = None
        self._path: Path | None = None
        self._files: list[str] = []
        self._problem = ""
        self._set_history(History(None))

    def update(self, before: Pages, after: Pages) -> None:
        """Handle a change of the mode or the robot."""
        is_gait_mode = self._session.mode == MODE
        if self._robot is not self._session.document.robot:
            self._robot = self._session.document.robot
            self._walk.forget_robot()
            self._path = None
            self._set_history(History(None))
            self._publish_gaits()
        if is_gait_mode and self._history.value is None:
            self._open_first_gait()
        self._walk.show(is_visible=is_gait_mode)

    def _open_first_gait(self) -> None:
        """Open the first gait for the robot, if there is one; an error is shown in the windows."""
        names = (*gait_names(self._session.document.robot), *self._files)
        if names:
            try:
                self.open(gait=names[0])
            except PosewrightError as error:
                self._session.show_error(error)

    def close(self) -> None:
        """End the walk."""
        self._walk.stop()

    @action
    def open(self, *, gait: str, anyway: bool = False) -> None:
        """Open a gait of Posewright or a file of the workspace.

        Args:
            gait: name of the gait, or of the file.
            anyway: whether to discard unsaved changes; without it they are an error.
        """
        if self._history.is_dirty and not anyway:
            message = f"{self._require_gait().name} has changes that are not saved"
            raise InputError(message, hint="save it first, or discard them")
        robot = self._session.document.robot
        path = self._workspace.path(gait) if gait.endswith(SUFFIX) else None
        if path is None and gait not in gait_names(robot):
            raise UnknownNameError.among("gait", gait, gait_names(robot))
        opened_gait = require_quadruped(read_gait(path or gait, robot=robot))
        self._path = path
        self._walk.stop()
        self._set_history(History(opened_gait))

    @action
    def set(self, *, values: Mapping[str, float], gesture: str = "") -> None:
        """Set parameters of the gait, in the units of the topic `gait`."""
        label = f"set {next(iter(values), 'nothing').replace('_', ' ')}"
        self._change(label, with_displayed_values(self._require_gait(), values), gesture)

    @action
    def phase(self, *, foot: str, lifts: float, gesture: str = "") -> None:
        """Set the phase at which a foot lifts."""
        gait = self._require_gait()
        new_gait = replace(gait, phases=gait.phases.with_offset(foot, round(lifts, 4) % 1.0))
        self._change(f"{foot.replace('_', ' ')} lifts", new_gait, gesture)

    @action
    def shape(
        self,
        *,
        phases: str | None = None,
        interpolation: Interpolation | None = None,
        pose: str | None = None,
    ) -> None:
        """Choose a phase table, the interpolation between points, or the pose of the other joints.

        None leaves a property of the gait unchanged.
        """
        gait = self._require_gait()
        robot = self._session.document.robot
        if pose is not None:
            robot.pose(pose)  # raises an error if there is no such pose
        # the gait's own phases may differ from the table of the same name
        keeps_phases = phases is None or phases == gait.phases.name
        new_gait = replace(
            gait,
            phases=gait.phases if keeps_phases else phase_table(str(phases)),
            interpolation=interpolation or gait.interpolation,
            pose=pose or gait.pose,
        )
        self._change("choose the gait's shape", new_gait)

    @action
    def steer(self, *, forward_m_s: float = 0.0, left_m_s: float = 0.0, turn_rad_s: float = 0.0) -> None:
        """Set the velocity command; one out of range is reduced, in the same direction."""
        self._walk.steer(VelocityCommand(forward_m_s, left_m_s, turn_rad_s))

    @action
    def walk(self, *, physics: bool) -> None:
        """Begin to walk, kinematically or in physics."""
        if self._problem:
            raise InputError(self._problem)
        self._walk.begin(in_physics=physics)

    @action
    def stop(self) -> None:
        """End the walk; the robot stays where it is."""
        self._walk.stop()

    @action
    def reset(self) -> None:
        """End the walk, and put the robot back into its standing pose."""
        self._walk.reset()

    @action
    def save(self, *, file: str, over: bool = False) -> None:
        """Save the gait; comments of an existing file are preserved.

        A gait that is saved to another file is named after it, and becomes the open gait with a new history.

        Args:
            file: name of the file in the workspace.
            over: whether to overwrite an existing file other than the gait's own.
        """
        is_own_file = self._workspace.path(file) == self._path
        path = self._workspace.new(file, SUFFIX, overwrite=over or is_own_file)
        gait = self._require_gait()
        if is_own_file:
            write_gait(gait, path)
            self._history.mark_saved(gait)
            self._publish()
        else:
            renamed_gait = replace(gait, name=path.name.removesuffix(SUFFIX), path=path)
            write_gait(renamed_gait, path)
            self._path = path
            self._set_history(History(renamed_gait))
        self._publish_gaits()

    @action
    def sample(
        self,
        *,
        file: str,
        cycles: Annotated[int, Bounds(1, 50)] | None = None,
        every_frames: Annotated[int, Bounds(1, 64)] = 4,
        from_pose: str | None = None,
        to_pose: str | None = None,
        over: bool = False,
    ) -> Future[None]:
        """Write the steady walk at the current velocity command as a motion, in the background.

        Args:
            file: name of the motion file in the workspace.
            cycles: number of gait cycles; None for a single one that repeats for ever.
            every_frames: frames between two keyframes.
            from_pose: name of the robot's pose in which the motion begins; None to begin in the walk.
            to_pose: name of the robot's pose in which it ends; None to end in the walk.
            over: whether to overwrite an existing file.
        """
        path = self._workspace.new(file, ".motion.yaml", overwrite=over)
        gait = self._require_gait()
        robot = self._session.document.robot
        command = self._walk.command

        def sample_and_write() -> None:
            """Sample the walk, and write it with the name of the file; runs in the background."""
            motion = sample_gait(
                gait,
                robot,
                command=command,
                cycles=cycles,
                every_frames=every_frames,
                from_pose=from_pose,
                to_pose=to_pose,
            )
            motion_name, _, _ = path.name.partition(".")
            write_motion(replace(motion, name=motion_name), path)

        return run_in_background(sample_and_write)

    def _require_gait(self) -> QuadrupedGait:
        if self._history.value is None:
            raise InputError("no gait is open", hint="open a gait of this robot")
        return self._history.value

    def _set_history(self, history: History[QuadrupedGait | None]) -> None:
        """Replace the open gait and its history, which undo uses in the gait mode, and publish both."""
        self._history = self._session.histories[MODE] = history
        history.on_change = lambda _before, _after: self._publish()
        self._session.publish_history()
        self._publish()

    def _change(self, label: str, gait: QuadrupedGait, gesture: str = "") -> None:
        self._history.change(label, gait, gesture)
        self._session.publish_history()

    def _publish(self) -> None:
        """Pass the current gait to the preview, and publish it with its timing, or why it cannot walk."""
        gait = self._history.value
        self._problem = ""
        timing = None
        try:
            timing = self._walk.set_gait(gait)
        except PosewrightError as error:
            self._problem = f"This gait cannot walk: {error}"
        if gait is None:
            self._session.publish("gait", None)
            return
        view = {
            **gait_view(gait, self._session.document.robot, timing),
            "file": None if self._path is None else self._workspace.name_of(self._path),
            "dirty": self._history.is_dirty,
            "problem": self._problem,
        }
        self._session.publish("gait", view)

    def _publish_gaits(self) -> None:
        """Find the gaits of Posewright and the workspace for the robot, and publish them.

        For a robot without legs that can walk, publish the reason instead.
        """
        robot = self._session.document.robot
        reason = ""
        self._files = []
        try:
            walking_legs(robot)
            self._files = [name for name in self._workspace.files() if name.endswith(SUFFIX)]
        except InputError as error:
            robots_with_gaits = ", ".join(name for name in robot_names() if gait_names(name))
            reason = (
                f"There is no gait for this robot: {error}. Posewright has gaits for {robots_with_gaits}."
            )
        view = {
            "robot": robot.title,
            "shipped": list(gait_names(robot)),
            "files": self._files,
            "why": reason,
        }
        self._session.publish("gaits", view)
