"""Posing: dragging limbs in the 3-D view, onion skin, balance and camera."""

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypeVar

import numpy as np

from posewright.arrays import Floats
from posewright.documents import Bounds
from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.motions import Motion
from posewright.rotation import rotation_matrices
from posewright.studio.commands.changes import START
from posewright.studio.commands.pose import SetAngles
from posewright.studio.context import StudioContext
from posewright.studio.motion_panel import DIGITS
from posewright.studio.pages import Pages
from posewright.studio.requests import action
from posewright.studio.scene_view import BalanceView, Colour, RobotView, SceneView
from posewright.studio.session import Panel
from posewright.studio.stance_text import describe_stance

if TYPE_CHECKING:
    from viser import IcosphereHandle, MeshHandle, SceneNodeDragEvent, SceneNodePointerEvent

    from posewright.simulation.kinematic_model import Limb
    from posewright.simulation.point_ik import PointIk

    Node = TypeVar("Node", MeshHandle, IcosphereHandle)

GRIP_COLOUR = (0, 145, 210)
GRIP_SIZE_SHARE = 0.05
"""Radius of a grip as a share of the robot's size."""

MIN_TURN_RAD = 1e-5
"""A joint that a drag turns less than this is not changed [rad]."""

ONION_SKIN = "/ghost"
PREVIOUS_COLOUR = (70, 120, 220)
NEXT_COLOUR = (230, 130, 40)
OPACITY = 0.14
"""Colours and opacity of the previous and next keyframes."""

Millimetres = Annotated[float, Bounds(-1000.0, 1000.0)]


@dataclass
class Drag:
    """A limb that is being dragged.

    Attributes:
        inverse_kinematics: inverse kinematics for the dragged point.
        page: number of the page that is changed.
        keyframe: index of the keyframe that is changed.
        gesture: identifies the changes of this drag, which are undone together.
        start_angles: angles at its start, `(n_joints,)` [rad].
        movable_joints: the joints that may turn.
        turned_joints: the joints that have turned.
    """

    inverse_kinematics: PointIk
    page: int
    keyframe: int
    gesture: str
    start_angles: Floats
    movable_joints: tuple[str, ...]
    turned_joints: set[str] = field(default_factory=set)


class OnionSkin:
    """The poses of the previous (blue) and next (orange) keyframe, shown transparently.

    Attributes:
        is_on: whether the poses are shown.
    """

    def __init__(self, scene: SceneView) -> None:
        self._scene = scene
        self._views: dict[int, RobotView] = {}  # by step from the current keyframe: -1 and 1
        self._shown_motion: Motion | None = None
        self._shown_keyframe: int | None = None
        self._robot = scene.robot
        self.is_on = False

    def show(self, motion: Motion, keyframe: int, *, is_posed: bool) -> None:
        """Show the neighbours of a keyframe, if the onion skin is on and the robot can be posed.

        Args:
            motion: the motion.
            keyframe: index of the keyframe; -1 for the start pose.
            is_posed: whether the 3-D view shows the motion, whose poses can be changed in it.
        """
        is_on = self.is_on and is_posed
        if self._robot is not self._scene.robot or (not is_on and self._views):
            self._clear()
        is_shown = self._shown_motion is motion and self._shown_keyframe == keyframe
        if not is_on or is_shown:
            return
        self._shown_motion = motion
        self._shown_keyframe = keyframe
        with self._scene.viser.atomic():
            for step, tint in ((-1, PREVIOUS_COLOUR), (1, NEXT_COLOUR)):
                neighbour = keyframe + step
                if 0 <= neighbour < len(motion.keyframes):
                    self._show_ghost(step, tint, motion, neighbour)
                elif step in self._views:
                    self._views[step].set_visible(False)

    def _show_ghost(self, step: int, tint: Colour, motion: Motion, keyframe: int) -> None:
        """Show the pose of a keyframe as the ghost `step` keyframes from the current one."""
        scene = self._scene
        if step not in self._views:
            self._views[step] = RobotView(
                scene.viser.scene, scene.kinematic_model, f"{ONION_SKIN}{step}", opacity=OPACITY, tint=tint
            )
        angles = motion.keyframe_angles(scene.robot, keyframe)
        self._views[step].show(scene.stand(angles))
        self._views[step].set_visible(True)

    def _clear(self) -> None:
        """Remove the ghosts, the neighbouring poses drawn faintly; the next ones are of the present robot."""
        for view in self._views.values():
            view.root.remove()
        self._views = {}
        self._shown_motion = None
        self._shown_keyframe = None
        self._robot = self._scene.robot


class PosingPanel(Panel):
    """Publishes `posing`, `balance`, and `picked`, the joint clicked last in the 3-D view."""

    name = "posing"

    def __init__(self, context: StudioContext) -> None:
        """Add the drawing of the balance to the scene, which is updated whenever the robot moves."""
        self._context = context
        self._drag: Drag | None = None
        self._targets: deque[Floats] = deque(maxlen=1)  # a slow session uses only the latest
        self._view: RobotView | None = None
        self._grips: list[IcosphereHandle] = []
        self._keeps_feet = False
        self._failure_reason = ""  # why the last drag was not possible; empty if it was
        self._gesture_numbers = itertools.count(1)
        self._pick_numbers = itertools.count(1)
        self._balance = BalanceView(context.scene.viser.scene)
        self._onion_skin = OnionSkin(context.scene)
        context.scene.on_show = self._show_balance

    def update(self, before: Pages, after: Pages) -> None:
        """Update grips, onion skin and balance."""
        session = self._context.session
        scene = self._context.scene
        if self._view is not scene.view:
            self._view = scene.view
            self._drag = None
            self._make_grips()
        if before is not after:
            self._failure_reason = ""
        is_posed = session.mode == "motion"
        self._balance.set_visible(is_posed)
        for grip in self._grips:
            grip.visible = is_posed
        if self._drag is None:
            self._onion_skin.show(
                after.motion(session.cursor.page), session.cursor.keyframe, is_posed=is_posed
            )
        self._publish_options()

    def close(self) -> None:
        """Stop drawing the balance."""
        self._context.scene.on_show = None

    @property
    def limbs(self) -> tuple[Limb, ...]:
        """The limbs that can be dragged; the base is the last."""
        from posewright.simulation.kinematic_model import Limb

        kinematic_model = self._context.scene.kinematic_model
        return (*kinematic_model.limbs, Limb("body", kinematic_model.links[0], (0.0, 0.0, 0.0)))

    @action
    def move(
        self,
        *,
        limb: str,
        forward_mm: Millimetres = 0.0,
        left_mm: Millimetres = 0.0,
        up_mm: Millimetres = 0.0,
        gesture: str = "",
    ) -> float:
        """Move a limb of the current pose; return the distance that remains to the target [mm].

        Args:
            limb: name of the limb, or `body`.
            forward_mm: distance along x of the field frame [mm].
            left_mm: distance along y [mm].
            up_mm: distance along z [mm].
            gesture: consecutive moves of one gesture are undone together.
        """
        limbs = {candidate.name: candidate for candidate in self.limbs}
        if limb not in limbs:
            raise UnknownNameError.among("limb", limb, limbs)
        link = limbs[limb].link
        self._pause_at_current_keyframe()
        start = self._position(link) + self._rotation(link) @ limbs[limb].point
        self._begin_drag(link, start, gesture)
        if self._drag is None:  # it is not possible
            raise InputError(self._failure_reason)
        self._targets.append(start + np.array([forward_mm, left_mm, up_mm]) / 1000.0)  # mm to m
        error_m = self._drag_to_target()
        self._finish_drag()
        return round(1000.0 * error_m, DIGITS)

    @action
    def keep_feet(self, *, on: bool) -> None:
        """Set whether feet on the floor stay there while a limb is dragged, so that the body moves."""
        self._keeps_feet = on
        self._publish_options()

    @action
    def stand_on(self, *, foot: str) -> None:
        """Choose the foot that carries the robot in the scene, and end a drag.

        Args:
            foot: name of a flat foot, which alone carries it; empty: whichever parts touch the floor do.
        """
        scene = self._context.scene
        if foot and foot not in scene.kinematic_model.flat_feet:
            raise UnknownNameError.among("foot", foot, scene.kinematic_model.flat_feet)
        scene.stance_foot = foot
        self._end_drag()
        self._pause_at_current_keyframe()
        self._publish_options()

    @action
    def ghosts(self, *, on: bool) -> None:
        """Set whether the poses of the previous and next keyframe are shown."""
        self._onion_skin.is_on = on
        pages = self._context.session.document.pages
        self.update(pages, pages)

    @action
    def camera(self, *, view: str) -> None:
        """Move the camera: `front`, `side`, `top` or `whole`."""
        self._context.scene.look_from(view)

    @action
    def theme(self, *, dark: bool) -> None:
        """Switch the 3-D view to dark or light colours."""
        self._context.scene.set_dark(dark)

    def _publish_options(self) -> None:
        """Publish the topic `posing`: its options, note and limbs."""
        view = {
            "keep_feet": self._keeps_feet,
            "ghosts": self._onion_skin.is_on,
            "note": self._failure_reason,
            "stance": self._context.scene.stance_foot,
            "stances": list(self._context.scene.kinematic_model.flat_feet),
            "limbs": [limb.name for limb in self.limbs],
        }
        self._context.session.publish("posing", view)

    def _show_balance(self) -> None:
        """Draw the balance of the present pose, and publish it."""
        session = self._context.session
        scene = self._context.scene
        if session.mode != "motion":
            return
        stance = scene.kinematic_model.stance(scene.stance_foot if scene.is_posed else "")
        self._balance.show(stance, scene.stance.centre_of_mass)
        view = {
            "margin_mm": round(1000.0 * stance.balance.margin_m),
            "kind": stance.kind.value,
            "words": describe_stance(stance),
        }
        session.publish("balance", view)

    def _make_grips(self) -> None:
        """Make all parts of the robot draggable and clickable, and add grips at the ends of its limbs."""
        scene = self._context.scene
        radius = GRIP_SIZE_SHARE * max(float(np.ptp(scene.stance.positions, axis=0).max()), 0.1)
        self._grips = []
        for link, mesh in scene.view.meshes:
            self._watch(link, mesh)
        for limb in scene.kinematic_model.limbs:
            name = f"{scene.view.root.name}/{limb.link}/grip"
            grip = scene.viser.scene.add_icosphere(
                name, radius, GRIP_COLOUR, subdivisions=3, opacity=0.6, position=limb.point, cast_shadow=False
            )
            self._grips.append(grip)
            self._watch(limb.link, grip)

    def _watch(self, link: str, node: Node) -> None:
        """Make a node of a link draggable and clickable."""
        post = self._context.session.post

        def publish_joint() -> None:
            """Publish the joint that turns the clicked link."""
            chain = self._context.scene.kinematic_model.joint_chain(link)
            if chain:
                self._context.session.publish(
                    "picked", {"joint": chain[-1], "time": next(self._pick_numbers)}
                )

        # viser calls these on its own thread, and keeps the order of async callbacks only
        async def on_drag(event: SceneNodeDragEvent[Node]) -> None:
            """Pass the begin, moves and end of a drag on to the session's thread."""
            grabbed_point = np.array(event.start_position)
            pointer = np.array(event.end_position)
            if event.phase == "start":
                self._targets.clear()
                post(lambda: self._begin_drag(link, grabbed_point))
            elif event.phase == "end":
                post(self._finish_drag)
            else:
                self._targets.append(pointer)
                post(self._drag_to_target)

        async def on_click(_: SceneNodePointerEvent[Node]) -> None:
            post(publish_joint)

        node.on_drag(on_drag)
        node.on_click(on_click)

    def _begin_drag(self, link: str, point: Floats, gesture: str = "") -> None:
        """Begin to drag a link; if that is not possible, show the reason.

        The joints from the base to the link turn. If the feet on the floor are kept there, or the base itself
        is dragged, all joints may turn, so that the base moves above the feet.

        Args:
            link: name of the link.
            point: the dragged point, `(3,)` in the field frame [m].
            gesture: identifies the changes that are undone together; empty for a new gesture.
        """
        from posewright.simulation.point_ik import PointIk

        session = self._context.session
        scene = self._context.scene
        kinematic_model = scene.kinematic_model
        point_on_link = self._rotation(link).T @ (point - self._position(link))
        if session.mode != "motion" or self._context.player.source is not None:
            self._show_failure(
                "the 3-D view does not show the motion itself; switch back to it to change the pose"
            )
            return
        self._pause_at_current_keyframe()
        movable_joints = self._movable_joints()
        chain = kinematic_model.joint_chain(link)  # joints from the base to the link; empty for the base
        kinematic_model.set_pose(scene.stance.base, scene.angles)
        is_base_moving = self._keeps_feet or not chain
        planted_feet: list[str] = []
        usable_joints = set(movable_joints)
        if is_base_moving:
            planted_feet = [foot for foot in kinematic_model.feet_on_floor() if foot != link]
        else:
            usable_joints &= set(chain)
        if not usable_joints or not (chain or planted_feet):
            self._show_failure(
                f"the joints of the {link.replace('_', ' ')} are held, free, or not in the motion"
            )
            return
        cursor = session.cursor
        scene.pinned_base = scene.stance.base
        self._drag = Drag(
            inverse_kinematics=PointIk(
                kinematic_model,
                scene.stance,
                scene.angles,
                link,
                point=point_on_link,
                movable_joints=movable_joints,
                planted=planted_feet,
            ),
            page=cursor.page,
            keyframe=cursor.keyframe,
            gesture=gesture or f"drag {next(self._gesture_numbers)}",
            start_angles=scene.angles,
            movable_joints=movable_joints,
        )
        self._show_failure("")

    def _drag_to_target(self) -> float:
        """Move the dragged limb to its latest target; return the remaining distance [m], or 0."""
        drag = self._drag
        scene = self._context.scene
        if drag is None or not self._targets:
            return 0.0
        solution = drag.inverse_kinematics.solve(self._targets.pop())
        scene.pinned_base = solution.base
        columns = {joint: scene.robot.index(joint) for joint in drag.movable_joints}
        for joint, column in columns.items():
            if abs(solution.angles[column] - drag.start_angles[column]) > MIN_TURN_RAD:
                drag.turned_joints.add(joint)
        # a joint that has turned in this drag is set even if it is back at its first angle
        angles = {joint: _rounded(solution.angles[columns[joint]]) for joint in sorted(drag.turned_joints)}
        try:
            if angles:
                self._context.session.do(SetAngles(drag.page, drag.keyframe, angles), drag.gesture)
        except PosewrightError as error:  # another window has deleted the keyframe
            self._end_drag()
            self._show_failure(str(error.message))
        return solution.error_m

    def _finish_drag(self) -> None:
        """Move the limb to its last target, and end the drag."""
        self._drag_to_target()
        self._end_drag()

    def _end_drag(self) -> None:
        """End the drag, if any, and stand the robot on the floor again."""
        if self._drag is None:
            return
        self._drag = None
        scene = self._context.scene
        scene.pinned_base = None
        scene.show_standing(scene.angles)
        pages = self._context.session.document.pages
        self.update(pages, pages)

    def _pause_at_current_keyframe(self) -> None:
        """Pause, and move the playhead to the current keyframe."""
        session = self._context.session
        cursor = session.cursor
        self._context.player.pause()
        session.look(page=cursor.page, keyframe=cursor.keyframe, selected=cursor.selected)

    def _movable_joints(self) -> tuple[str, ...]:
        """Return the joints of the current pose that have an angle."""
        cursor = self._context.session.cursor
        motion = self._context.session.document.pages.motion(cursor.page)
        pose = motion.start if cursor.keyframe == START else motion.keyframes[cursor.keyframe].pose
        if pose is None:
            return motion.joints
        return tuple(
            name for name, angle in zip(pose.joints, pose.angles, strict=True) if not math.isnan(angle)
        )

    def _show_failure(self, reason: str) -> None:
        """Publish why a drag is not possible; an empty reason removes the last one."""
        self._failure_reason = reason
        self._publish_options()

    def _position(self, link: str) -> Floats:
        scene = self._context.scene
        position: Floats = scene.stance.positions[scene.kinematic_model.links.index(link)]
        return position

    def _rotation(self, link: str) -> Floats:
        scene = self._context.scene
        return rotation_matrices(scene.stance.rotations[scene.kinematic_model.links.index(link)])


def _rounded(angle_rad: float) -> float:
    """Return an angle rounded as windows show it, so that files have no invisible digits."""
    return math.radians(round(math.degrees(angle_rad), DIGITS))
