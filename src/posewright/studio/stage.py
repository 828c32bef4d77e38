"""The stage: what the 3-D view shows. A robot on a floor; panels put their own things beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.arrays import Floats
from posewright.errors import UnknownNameError
from posewright.robots import Robot

if TYPE_CHECKING:
    from viser import ViserServer

    from posewright.simulation.mannequin import Mannequin, Stance

ROBOT = "/robot"


Colour = tuple[int, int, int]

VIEWS: Mapping[str, tuple[float, float, float]] = {
    "front": (1.0, 0.0, 0.12),
    "side": (0.0, -1.0, 0.12),
    "top": (0.001, 0.0, 1.0),
    "whole": (0.68, -0.6, 0.42),
}
"""Where the camera is, seen from the robot, by the name of the view; the top is not quite above: up is up."""

GRID = {False: ((205, 210, 218), (165, 173, 184)), True: ((52, 60, 70), (82, 93, 106))}
"""Lines of the floor, near and far apart, in a light and in a dark view."""

_SIZES_AWAY = 1.7
"""How far away it is, in sizes of the robot."""


class RobotView:
    """A robot in the scene.

    Args:
        scene: what it is drawn in.
        mannequin: whose links it has.
        root: name of the node it hangs on.
        opacity: below 1 for a ghost.
        tint: one colour for all of it, 0..255; None for its own.

    Attributes:
        meshes: nodes in the scene, each with the link it is of.
    """

    def __init__(
        self,
        scene: Any,
        mannequin: Mannequin,
        root: str = ROBOT,
        *,
        opacity: float = 1.0,
        tint: Colour | None = None,
    ) -> None:
        self.root = scene.add_frame(root, show_axes=False)
        self._links = {name: scene.add_frame(f"{root}/{name}", show_axes=False) for name in mannequin.links}
        self.meshes: list[tuple[str, Any]] = []
        for number, mesh in enumerate(mannequin.meshes):
            red, green, blue, own = mesh.colour
            node = scene.add_mesh_simple(
                f"{root}/{mesh.link}/mesh{number}",
                mesh.vertices.astype(np.float32),
                mesh.faces.astype(np.uint32),
                color=tint or (red, green, blue),
                opacity=None if own * opacity >= 1.0 else own * opacity,
                flat_shading=True,
            )
            self.meshes.append((mesh.link, node))

    def show(self, stance: Stance) -> None:
        """Move the links."""
        moved = zip(self._links.values(), stance.positions, stance.rotations, strict=True)
        for handle, position, rotation in moved:
            handle.position, handle.wxyz = position, rotation

    def set_visible(self, is_visible: bool) -> None:
        """Show or hide all of it."""
        self.root.visible = is_visible


class Stage:
    """The scene, and the robot of the document in it.

    Attributes:
        viser: whose scene it is; `viser.scene` for whatever a panel adds.
        robot: who stands there.
        mannequin: takes poses without physics.
        view: the robot in the scene.
        stance: how the robot stands now.
        angles: its joints, `(n_joints,)` [rad].
        pin: where the base stays, as in `Stance`, while somebody has hold of the robot; None for a robot that
            stands on the floor.
        on_show: called whenever the robot has taken a pose.

    Raises:
        InputError: the robot has no model.
    """

    def __init__(self, viser: ViserServer, robot: Robot) -> None:
        self.viser = viser
        self.on_show: Callable[[], None] | None = None
        viser.scene.set_up_direction("+z")
        viser.scene.world_axes.visible = False
        self.floor = viser.scene.add_grid(
            "/floor", width=4.0, height=4.0, cell_size=0.05, section_size=0.25, cell_color=GRID[False][0]
        )
        self.use(robot)

    def use(self, robot: Robot) -> None:
        """Let another robot stand there; an `InputError` where it has no model."""
        from posewright.simulation.mannequin import Mannequin

        self.mannequin = Mannequin(robot)
        self.robot = robot
        self.pin: Floats | None = None
        self.angles = _first_pose(robot)
        self.stance = self.mannequin.stand(self.angles)
        with self.viser.atomic():
            self.viser.scene.remove_by_name(ROBOT)
            self.view = RobotView(self.viser.scene, self.mannequin)
            self.view.show(self.stance)
        initial = self.viser.initial_camera
        initial.look_at, initial.position = self._camera("whole")

    def stand(self, angles: Floats) -> None:
        """Show the robot as it stands on the floor with joint angles `(n_joints,)` [rad]."""
        if self.pin is not None:
            self.take(self.pin, angles)
            return
        self.angles, self.stance = angles, self.mannequin.stand(angles)
        self._show()

    def take(self, base: Floats, angles: Floats) -> None:
        """Show the robot with its base at `(7,)` as in `Stance`, and joint angles `(n_joints,)` [rad]."""
        self.angles, self.stance = angles, self.mannequin.take(base, angles)
        self._show()

    def _show(self) -> None:
        with self.viser.atomic():
            self.view.show(self.stance)
            if self.on_show is not None:
                self.on_show()

    def set_dark(self, is_dark: bool) -> None:
        """Put the view in dark or light colours."""
        self.viser.gui.configure_theme(dark_mode=is_dark, show_logo=False, show_share_button=False)
        self.floor.cell_color, self.floor.section_color = GRID[is_dark]

    def look_from(self, view: str) -> None:
        """Look at the robot from one of `VIEWS` in every window; raise UnknownNameError for another."""
        if view not in VIEWS:
            raise UnknownNameError.among("view", view, VIEWS)
        initial = self.viser.initial_camera
        initial.look_at, initial.position = self._camera(view)
        for client in self.viser.get_clients().values():
            if not client.camera.update_timestamp:
                continue
            with client.atomic():
                client.camera.up_direction = (0.0, 0.0, 1.0)
                # viser moves what is looked at along with the camera
                look_at, client.camera.position = self._camera(view)
                client.camera.look_at = look_at

    def _camera(self, view: str) -> tuple[Floats, Floats]:
        """Return what the camera looks at, and where it is, `(3,)` each [m]."""
        positions = self.stance.positions
        middle = (positions.max(axis=0) + positions.min(axis=0)) / 2.0
        size = max(float(np.ptp(positions, axis=0).max()), 0.2)
        return middle, middle + _SIZES_AWAY * size * np.array(VIEWS[view])


def _first_pose(robot: Robot) -> Floats:
    name = "stand" if "stand" in robot.poses else next(iter(robot.poses), None)
    return np.zeros(len(robot.joints)) if name is None else robot.pose(name)
