"""What the panels of one studio share."""

from __future__ import annotations

from dataclasses import dataclass

from posewright.studio.player import Player
from posewright.studio.scene_view import SceneView
from posewright.studio.session import Session
from posewright.studio.workspace import Workspace


@dataclass(frozen=True)
class Parts:
    """What the panels of one studio share.

    Attributes:
        session: runs the panels, and publishes their topics.
        scene: the 3-D view, with the robot of the document in it.
        player: the playhead on the motion.
        workspace: the folder whose files may be read and written.
        body: where poses are caught from and motions are played, as for `run_trial`.
    """

    session: Session
    scene: SceneView
    player: Player
    workspace: Workspace
    body: str = "sim"
