"""The objects that all panels of a studio share."""

from __future__ import annotations

from dataclasses import dataclass

from posewright.studio.player import Player
from posewright.studio.scene_view import SceneView
from posewright.studio.session import Session
from posewright.studio.workspace import Workspace


@dataclass(frozen=True)
class StudioContext:
    """The objects that all panels of a studio share.

    Attributes:
        session: runs the panels and publishes their topics.
        scene: the 3-D view with the robot of the document.
        player: plays the motion.
        workspace: the folder that the studio reads and writes.
        body: body for teaching and playing, as for `run_trial`.
    """

    session: Session
    scene: SceneView
    player: Player
    workspace: Workspace
    body: str = "sim"
