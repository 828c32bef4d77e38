"""The 3-D view: a robot on a floor, and its balance; panels add their own nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.errors import UnknownNameError
from posewright.robots import Robot

if TYPE_CHECKING:
    from viser import IcosphereHandle, MeshHandle, SceneApi, ViserServer

    from posewright.simulation.kinematic_model import KinematicModel, LinkPoses
    from posewright.simulation.stance import Stance

ROBOT = "/robot"
BALANCE = "/balance"
"""Names of nodes in the scene."""

Colour = tuple[int, int, int]

VIEWS: Mapping[str, tuple[float, float, float]] = {
    "front": (1.0, 0.0, 0.12),
    "side": (0.0, -1.0, 0.12),
    "top": (0.001, 0.0, 1.0),
    "whole": (0.68, -0.6, 0.42),
}
"""Direction from the robot to the camera by view; `top` is not quite vertical, so that up is defined."""

BALANCED_COLOUR = (29, 122, 72)
SETTLED_COLOUR = (176, 106, 0)
UNBALANCED_COLOUR = (200, 44, 34)
STANCE_COLOURS = {
    "stands": BALANCED_COLOUR,
    "settled": SETTLED_COLOUR,
    "tips": UNBALANCED_COLOUR,
    "falls": UNBALANCED_COLOUR,
}
"""Colours of the support polygon by the kind of the stance."""

SUPPORT_HEIGHT_M = 0.001
"""Height at which the support polygon is drawn, above the lines of the floor."""

LIGHT, DARK = False, True
GRID_COLOURS = {LIGHT: ((205, 210, 218), (165, 173, 184)), DARK: ((52, 60, 70), (82, 93, 106))}
"""Colours of cells and sections of the floor's grid by whether the view is dark."""

_CAMERA_DISTANCE = 1.7
"""Distance of the camera, as a multiple of the robot's size."""

MIN_SIZE_M = 0.2
"""A robot smaller than this is viewed as if it had this size [m]."""


class RobotView:
    """A robot in the scene.

    Args:
        scene: the scene to draw in.
        kinematic_model: the model of the robot.
        root: name of its root node.
        opacity: below 1 for a ghost.
        tint: one colour for the robot, 0 to 255; None for its own colours.

    Attributes:
        meshes: nodes in the scene, each with the name of its link.
    """

    def __init__(
        self,
        scene: SceneApi,
        kinematic_model: KinematicModel,
        root: str = ROBOT,
        *,
        opacity: float = 1.0,
        tint: Colour | None = None,
    ) -> None:
        """Add a node for each link below the root node, and one for each mesh below its link."""
        self.root = scene.add_frame(root, show_axes=False)
        self._links = {
            name: scene.add_frame(f"{root}/{name}", show_axes=False) for name in kinematic_model.links
        }
        self.meshes: list[tuple[str, MeshHandle]] = []
        for number, mesh in enumerate(kinematic_model.meshes):
            red, green, blue, own_opacity = mesh.colour
            node = scene.add_mesh_simple(
                f"{root}/{mesh.link}/mesh{number}",
                mesh.vertices.astype(np.float32),
                mesh.faces.astype(np.uint32),
                color=tint or (red, green, blue),
                opacity=None if own_opacity * opacity >= 1.0 else own_opacity * opacity,
                flat_shading=True,
            )
            self.meshes.append((mesh.link, node))

    def show(self, stance: LinkPoses) -> None:
        """Move the links to their poses."""
        poses = zip(self._links.values(), stance.positions, stance.rotations, strict=True)
        for handle, position, rotation in poses:
            handle.position = position
            handle.wxyz = rotation

    def set_visible(self, is_visible: bool) -> None:
        """Show or hide the robot."""
        self.root.visible = is_visible


class BalanceView:
    """The support polygon of a robot, and a plumb line from its centre of mass."""

    def __init__(self, scene: SceneApi) -> None:
        """Add the nodes of polygon and plumb line, whose points `show` sets."""
        self._root = scene.add_frame(BALANCE, show_axes=False)
        corner = np.zeros((3, 3), dtype=np.float32)
        self._area = scene.add_mesh_simple(
            f"{BALANCE}/support",
            corner,
            np.array([[0, 1, 2]], dtype=np.uint32),
            color=BALANCED_COLOUR,
            opacity=0.35,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )
        self._edge = scene.add_line_segments(
            f"{BALANCE}/edge", np.zeros((1, 2, 3)), BALANCED_COLOUR, thickness=3.0, thickness_units="screen"
        )
        self._plumb = scene.add_line_segments(
            f"{BALANCE}/plumb", np.zeros((1, 2, 3)), BALANCED_COLOUR, thickness=2.0, thickness_units="screen"
        )
        self._projection = scene.add_icosphere(
            f"{BALANCE}/foot", radius=0.005, color=BALANCED_COLOUR, subdivisions=2
        )
        self._centre = scene.add_icosphere(
            f"{BALANCE}/centre", radius=0.008, color=BALANCED_COLOUR, subdivisions=2
        )

    def set_visible(self, is_visible: bool) -> None:
        """Show or hide the polygon and the line."""
        self._root.visible = is_visible

    def show(self, stance: Stance, centre_of_mass: Floats) -> None:
        """Draw the support of a robot with the centre of mass at `(3,)` [m]."""
        balance = stance.balance
        heights = np.full(len(balance.polygon), SUPPORT_HEIGHT_M)
        corners = np.column_stack([balance.polygon, heights]).astype(np.float32)
        triangles = [(0, i, i + 1) for i in range(1, len(corners) - 1)]  # a fan around the first corner
        projection = np.array([*centre_of_mass[:2], SUPPORT_HEIGHT_M])
        self._area.vertices = corners
        self._area.faces = np.array(triangles, dtype=np.uint32)
        self._edge.points = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
        self._plumb.points = np.array([[centre_of_mass, projection]], dtype=np.float32)
        self._projection.position = projection
        self._centre.position = centre_of_mass
        colour = STANCE_COLOURS[stance.kind.value]
        nodes: tuple[MeshHandle | IcosphereHandle, ...] = (self._area, self._projection, self._centre)
        for node in nodes:
            node.color = colour
        for lines in (self._edge, self._plumb):
            lines.colors = np.array(colour, dtype=np.uint8)


class SceneView:
    """The scene, and the robot of the document in it.

    Attributes:
        viser: the server of the 3-D view; panels add nodes to `viser.scene`.
        robot: the robot in the scene.
        kinematic_model: computes poses of its links without physics.
        view: its nodes in the scene.
        stance: current poses of its links.
        angles: current joint angles, `(n_joints,)` [rad].
        stance_foot: the foot that alone carries the robot in poses of the motion; empty for the parts that
            touch the floor.
        is_posed: whether it is shown in a pose of the motion, not as something else moves it.
        pinned_base: fixed base pose while a limb is dragged, as in `LinkPoses`; None if the robot stands on
            the floor.
        on_show: called whenever the robot has moved.

    Raises:
        InputError: the robot has no model.
    """

    def __init__(self, viser: ViserServer, robot: Robot) -> None:
        """Add the floor and the robot to the scene, in light colours."""
        cell_colour, _ = GRID_COLOURS[LIGHT]
        self.viser = viser
        self.on_show: Callable[[], None] | None = None
        viser.scene.set_up_direction("+z")
        viser.scene.world_axes.visible = False
        self.floor = viser.scene.add_grid(
            "/floor", width=4.0, height=4.0, cell_size=0.05, section_size=0.25, cell_color=cell_colour
        )
        self.set_robot(robot)

    def set_robot(self, robot: Robot) -> None:
        """Replace the robot.

        Raises:
            InputError: the robot has no model.
        """
        from posewright.simulation.kinematic_model import KinematicModel

        self.kinematic_model = KinematicModel(robot)
        self.robot = robot
        self.pinned_base: Floats | None = None
        self.stance_foot = ""
        self.is_posed = True
        name = "stand" if "stand" in robot.poses else next(iter(robot.poses), None)
        self.angles = np.zeros(len(robot.joints)) if name is None else robot.pose(name)
        self.stance = self.kinematic_model.stand(self.angles)
        with self.viser.atomic():
            self.viser.scene.remove_by_name(ROBOT)
            self.view = RobotView(self.viser.scene, self.kinematic_model)
            self.view.show(self.stance)
        self._place_initial_camera("whole")

    def show_standing(self, angles: Floats) -> None:
        """Show the robot on the floor, or at `pinned_base`, with joint angles `(n_joints,)` [rad]."""
        self.is_posed = True
        self.angles = angles
        if self.pinned_base is None:
            self.stance = self.stand(angles)
        else:
            self.stance = self.kinematic_model.set_pose(self.pinned_base, angles)
        self._show()

    def stand(self, angles: Floats) -> LinkPoses:
        """Return the poses of the links when the robot stands with joint angles `(n_joints,)` [rad]."""
        if self.stance_foot:
            return self.kinematic_model.stand_on_foot(angles, self.stance_foot)
        return self.kinematic_model.stand(angles)

    def show_pose(self, base: Floats, angles: Floats) -> None:
        """Show the robot with a base pose `(7,)`, as in `LinkPoses`, and joint angles `(n_joints,)` [rad]."""
        self.is_posed = False
        self.angles = angles
        self.stance = self.kinematic_model.set_pose(base, angles)
        self._show()

    def _show(self) -> None:
        with self.viser.atomic():
            self.view.show(self.stance)
            if self.on_show is not None:
                self.on_show()

    def set_dark(self, is_dark: bool) -> None:
        """Switch the view to dark or light colours."""
        self.viser.gui.configure_theme(dark_mode=is_dark, show_logo=False, show_share_button=False)
        cell_colour, section_colour = GRID_COLOURS[is_dark]
        self.floor.cell_color = cell_colour
        self.floor.section_color = section_colour

    def look_from(self, view: str) -> None:
        """Move the camera of every window to one of `VIEWS`; raise UnknownNameError for another name."""
        if view not in VIEWS:
            raise UnknownNameError.among("view", view, VIEWS)
        self._place_initial_camera(view)
        for client in self.viser.get_clients().values():
            if not client.camera.update_timestamp:  # the browser has not sent its camera yet
                continue
            with client.atomic():
                client.camera.up_direction = (0.0, 0.0, 1.0)
                # the position first: viser moves `look_at` along with it
                look_at, position = self._camera_target_and_position(view)
                client.camera.position = position
                client.camera.look_at = look_at

    def _place_initial_camera(self, view: str) -> None:
        """Set the camera of windows that will be opened."""
        look_at, position = self._camera_target_and_position(view)
        initial = self.viser.initial_camera
        initial.look_at = look_at
        initial.position = position

    def _camera_target_and_position(self, view: str) -> tuple[Floats, Floats]:
        """Return the point that the camera looks at, and its position, `(3,)` each [m]."""
        positions = self.stance.positions
        middle = (positions.max(axis=0) + positions.min(axis=0)) / 2.0
        size = max(float(np.ptp(positions, axis=0).max()), MIN_SIZE_M)
        return middle, middle + _CAMERA_DISTANCE * size * np.array(VIEWS[view])
