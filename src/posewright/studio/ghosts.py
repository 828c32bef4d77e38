"""Ghosts: the poses of the keyframes before and after, seen through."""

from __future__ import annotations

from posewright.motions import Motion
from posewright.studio.player import angles_at
from posewright.studio.stage import RobotView, Stage

NODE = "/ghost"
BEFORE, AFTER = (70, 120, 220), (230, 130, 40)
OPACITY = 0.14


class Ghosts:
    """The neighbours of the keyframe under the cursor: blue before it, orange after it.

    Attributes:
        on: whether they are wanted.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._views: dict[int, RobotView] = {}
        self._shown: tuple[Motion, int] | None = None
        self._robot = stage.robot
        self.on = False

    def show(self, motion: Motion, keyframe: int, is_posed: bool) -> None:
        """Show the neighbours of a keyframe, if they are wanted and the robot is posed."""
        is_on = self.on and is_posed
        if self._robot is not self._stage.robot or (not is_on and self._views):
            self._clear()
        if not is_on or (self._shown is not None and self._shown[0] is motion and self._shown[1] == keyframe):
            return
        self._shown = (motion, keyframe)
        stage = self._stage
        with stage.viser.atomic():
            for step, tint in ((-1, BEFORE), (1, AFTER)):
                place = keyframe + step
                is_there = 0 <= place < len(motion.keyframes)
                if is_there:
                    view = self._views.get(step) or RobotView(
                        stage.viser.scene, stage.mannequin, f"{NODE}{step}", opacity=OPACITY, tint=tint
                    )
                    self._views[step] = view
                    angles = angles_at(motion, stage.robot, float(motion.keyframe_times[place]))
                    view.show(stage.mannequin.stand(angles))
                if step in self._views:
                    self._views[step].set_visible(is_there)

    def _clear(self) -> None:
        for view in self._views.values():
            view.root.remove()
        self._views, self._shown, self._robot = {}, None, self._stage.robot
