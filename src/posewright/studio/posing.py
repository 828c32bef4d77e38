"""Posing: feet, hands, head and trunk that are dragged in the 3-D view, ghosts, balance and the camera."""

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from posewright.arrays import Floats
from posewright.documents import Bounds
from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.rotation import matrices
from posewright.studio.balance_view import BalanceView, in_words
from posewright.studio.commands.changes import START
from posewright.studio.commands.pose import SetAngles
from posewright.studio.ghosts import Ghosts
from posewright.studio.motion_panel import DIGITS
from posewright.studio.pages import Pages
from posewright.studio.requests import action
from posewright.studio.session import Panel

if TYPE_CHECKING:
    from posewright.simulation.mannequin import Limb
    from posewright.simulation.reaching import Reach
    from posewright.studio.opening import Parts

GRIP = (0, 145, 210)
GRIP_SHARE = 0.05
"""Radius of a grip, as a share of the robot's size."""

STILL_RAD = 1e-5
"""A joint that turned less than this has not been turned."""

Millimetres = Annotated[float, Bounds(-1000.0, 1000.0)]


@dataclass
class Hold:
    """A robot that somebody has hold of.

    Attributes:
        before: the angles as it was grabbed, `(n_joints,)` [rad].
        moving: the joints that may turn.
        turned: those that have.
    """

    reach: Reach
    page: int
    keyframe: int
    gesture: str
    before: Floats
    moving: tuple[str, ...]
    turned: set[str] = field(default_factory=set)


class Posing(Panel):
    """Publishes `posing`, `balance`, and `picked`, the joint that was clicked in the 3-D view last."""

    name = "posing"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._hold: Hold | None = None
        self._targets: deque[Floats] = deque(maxlen=1)  # a slow session works on the latest place only
        self._view: Any = None
        self._grips: list[Any] = []
        self._keeps_feet = False
        self._note = ""
        self._gestures = itertools.count(1)
        self._picks = itertools.count(1)
        self._balance = BalanceView(parts.stage.viser.scene)
        self._ghosts = Ghosts(parts.stage)
        parts.stage.on_show = self._show_balance

    def changed(self, before: Pages, after: Pages) -> None:
        """Make the robot ready to be taken hold of, and show its neighbours in time."""
        session, stage = self._parts.session, self._parts.stage
        if self._view is not stage.view:
            self._view, self._hold = stage.view, None
            self._make_grips()
        if before is not after:
            self._note = ""
        is_posed = session.mode == "motion"
        self._balance.set_visible(is_posed)
        for grip in self._grips:
            grip.visible = is_posed
        if self._hold is None:
            self._ghosts.show(after.motion(session.cursor.page), session.cursor.keyframe, is_posed)
        self._publish()

    def close(self) -> None:
        """Watch the stage no longer."""
        self._parts.stage.on_show = None

    @property
    def limbs(self) -> tuple[Limb, ...]:
        """What the robot is taken by, the base last."""
        from posewright.simulation.mannequin import Limb

        mannequin = self._parts.stage.mannequin
        return (*mannequin.limbs, Limb("body", mannequin.links[0], (0.0, 0.0, 0.0)))

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
        """Move a limb of the pose under the cursor; return how far it stayed off [mm]."""
        limbs = {known.name: known for known in self.limbs}
        if limb not in limbs:
            raise UnknownNameError.among("limb", limb, limbs)
        link = limbs[limb].link
        self._look_at_keyframe()
        start = self._where(link) + self._turn(link) @ limbs[limb].point
        self._grab(link, start, gesture)
        if self._hold is None:
            raise InputError(self._note)
        self._targets.append(start + np.array([forward_mm, left_mm, up_mm]) / 1000.0)
        missed = self._pull()
        self._let_go()
        return round(1000.0 * missed, DIGITS)

    @action
    def keep_feet(self, *, on: bool) -> None:
        """Choose whether feet that stand on the floor stay there, and carry the body where a limb pulls."""
        self._keeps_feet = on
        self._publish()

    @action
    def ghosts(self, *, on: bool) -> None:
        """Choose whether the poses of the keyframes before and after are shown as ghosts."""
        self._ghosts.on = on
        pages = self._parts.session.document.pages
        self.changed(pages, pages)

    @action
    def camera(self, *, view: str) -> None:
        """Look at the robot from the `front`, the `side`, the `top`, or at the `whole` of it."""
        self._parts.stage.look_from(view)

    @action
    def theme(self, *, dark: bool) -> None:
        """Put the 3-D view in dark or light colours."""
        self._parts.stage.set_dark(dark)

    def _publish(self) -> None:
        told = {"keep_feet": self._keeps_feet, "ghosts": self._ghosts.on, "note": self._note}
        self._parts.session.publish("posing", {**told, "limbs": [limb.name for limb in self.limbs]})

    def _show_balance(self) -> None:
        session, stage = self._parts.session, self._parts.stage
        if session.mode != "motion":
            return
        balance = stage.mannequin.balance()
        self._balance.show(balance, stage.stance.centre_of_mass)
        millimetres = round(1000.0 * balance.margin_m)
        session.publish("balance", {"margin_mm": millimetres, "words": in_words(balance.margin_m)})

    def _make_grips(self) -> None:
        """Let every part of the robot be dragged and clicked, and mark the ends of its limbs."""
        stage = self._parts.stage
        radius = GRIP_SHARE * max(float(np.ptp(stage.stance.positions, axis=0).max()), 0.1)
        nodes, self._grips = list(stage.view.meshes), []
        for limb in stage.mannequin.limbs:
            name = f"{stage.view.root.name}/{limb.link}/grip"
            grip = stage.viser.scene.add_icosphere(
                name, radius, GRIP, subdivisions=3, opacity=0.6, position=limb.point, cast_shadow=False
            )
            self._grips.append(grip)
            nodes.append((limb.link, grip))
        for link, node in nodes:
            self._watch(link, node)

    def _watch(self, link: str, node: Any) -> None:
        post = self._parts.session.post

        async def dragged(event: Any) -> None:  # async: viser keeps the order of such callbacks only
            start, end = np.array(event.start_position), np.array(event.end_position)
            if event.phase == "start":
                self._targets.clear()
                post(lambda: self._grab(link, start))
            elif event.phase == "end":
                post(self._let_go)
            else:
                self._targets.append(end)
                post(self._pull)

        async def clicked(_: Any) -> None:
            post(lambda: self._pick(link))

        node.on_drag(dragged)
        node.on_click(clicked)

    def _pick(self, link: str) -> None:
        chain = self._parts.stage.mannequin.chain(link)
        if chain:
            self._parts.session.publish("picked", {"joint": chain[-1], "time": next(self._picks)})

    def _grab(self, link: str, where: Floats, gesture: str = "") -> None:
        """Take hold of a link at a place in the field frame, `(3,)` [m]."""
        from posewright.simulation.reaching import Reach

        session, stage = self._parts.session, self._parts.stage
        mannequin = stage.mannequin
        local = self._turn(link).T @ (where - self._where(link))
        if session.mode != "motion" or self._parts.player.source is not None:
            self._say("what is shown is not the motion itself: switch back to it to change the pose")
            return
        self._look_at_keyframe()
        moving, chain = self._moving(), mannequin.chain(link)
        mannequin.take(stage.stance.base, stage.angles)
        is_carried = self._keeps_feet or not chain
        planted = [foot for foot in mannequin.feet_on_floor() if foot != link] if is_carried else []
        if not (set(moving) if is_carried else set(moving) & set(chain)) or not (chain or planted):
            self._say(f"the joints of the {link.replace('_', ' ')} are held, free, or not in the motion")
            return
        reach = Reach(mannequin, stage.stance, stage.angles, link, local, moving=moving, planted=planted)
        cursor, name = session.cursor, gesture or f"drag {next(self._gestures)}"
        stage.pin = stage.stance.base
        self._hold = Hold(reach, cursor.page, cursor.keyframe, name, stage.angles, moving)
        self._say("")

    def _pull(self) -> float:
        """Bring what is held to its target; return how far it stays off [m]."""
        hold, session, stage = self._hold, self._parts.session, self._parts.stage
        if hold is None or not self._targets:
            return 0.0
        reached = hold.reach.to(self._targets.pop())
        stage.pin = reached.base
        columns = {joint: stage.robot.index(joint) for joint in hold.moving}
        hold.turned |= {
            joint
            for joint, column in columns.items()
            if abs(reached.angles[column] - hold.before[column]) > STILL_RAD
        }
        angles = {joint: _rounded(reached.angles[columns[joint]]) for joint in sorted(hold.turned)}
        try:
            if angles:
                session.do(SetAngles(hold.page, hold.keyframe, angles), hold.gesture)
        except PosewrightError as error:  # another window has taken the keyframe away
            self._release()
            self._say(str(error.message))
        return reached.missed_m

    def _let_go(self) -> None:
        self._pull()
        self._release()

    def _release(self) -> None:
        if self._hold is None:
            return
        self._hold, stage = None, self._parts.stage
        stage.pin = None
        stage.stand(stage.angles)
        pages = self._parts.session.document.pages
        self.changed(pages, pages)

    def _look_at_keyframe(self) -> None:
        """Put the playhead on the keyframe that is edited."""
        session = self._parts.session
        cursor = session.cursor
        self._parts.player.pause()
        session.look(page=cursor.page, keyframe=cursor.keyframe, selected=cursor.selected)

    def _moving(self) -> tuple[str, ...]:
        """Return the joints of the pose under the cursor that are neither held nor free."""
        cursor = self._parts.session.cursor
        motion = self._parts.session.document.pages.motion(cursor.page)
        pose = motion.start if cursor.keyframe == START else motion.keyframes[cursor.keyframe].pose
        if pose is None:
            return motion.joints
        return tuple(
            name for name, angle in zip(pose.joints, pose.angles, strict=True) if not math.isnan(angle)
        )

    def _say(self, note: str) -> None:
        self._note = note
        self._publish()

    def _where(self, link: str) -> Floats:
        stage = self._parts.stage
        place: Floats = stage.stance.positions[stage.mannequin.links.index(link)]
        return place

    def _turn(self, link: str) -> Floats:
        stage = self._parts.stage
        return matrices(stage.stance.rotations[stage.mannequin.links.index(link)])


def _rounded(angle_rad: float) -> float:
    """Return an angle as windows show it, so that a file is not full of digits that nobody sees."""
    return math.radians(round(math.degrees(angle_rad), DIGITS))
