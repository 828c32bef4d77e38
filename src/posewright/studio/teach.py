"""Teach: catch poses from a body that a person moves by hand."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from posewright.arrays import Floats
from posewright.documents import Bounds
from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.motions import LONGEST_S, Motion, Pose
from posewright.runs.plants import MOCK, SIMULATION
from posewright.studio.bench import Bench
from posewright.studio.commands.changes import with_angles, with_range
from posewright.studio.commands.pose import SetAngles
from posewright.studio.commands.timeline import SetRow
from posewright.studio.motion_panel import angles_deg
from posewright.studio.pages import Pages
from posewright.studio.requests import action
from posewright.studio.session import Panel, settle

if TYPE_CHECKING:
    from posewright.buses.dynamixel.teaching import CaughtPose, Teacher
    from posewright.studio.opening import Parts


@dataclass(frozen=True, eq=False)
class Live:
    """Where a body stands now, as a `Source` of the player: the same at any time."""

    base: Floats = field(repr=False)
    angles: Floats = field(repr=False)
    duration_s: float

    def at(self, time_s: float) -> tuple[Floats, Floats]:
        """Return base and joints."""
        return self.base, self.angles


class Teach(Panel):
    """Publishes `teach`: what is open, which joints are free, what was caught; and `body`: where it stands.

    A window chooses among bodies that whoever started the studio named, and fake ones; never a port.
    """

    name = "teach"

    def __init__(self, parts: Parts) -> None:
        self._parts, self._session = parts, parts.session
        self._robot = parts.session.document.robot
        self._bench: Bench | None = None
        self._bodies = tuple(dict.fromkeys((parts.body, MOCK, SIMULATION)))
        self._told: dict[str, Any] = {}
        self._tell(
            state="closed", body=parts.body, bodies=list(self._bodies), free=[], live=True,
            by_hand=False, caught="", warnings=[], trouble="",
        )  # fmt: skip

    def changed(self, before: Pages, after: Pages) -> None:
        """Close the body where another robot is edited now."""
        if self._session.document.robot is not self._robot:
            self._robot = self._session.document.robot
            if self._bench is not None:
                self._let_go(self._bench)

    def close(self) -> None:
        """Take all torque off, and let the body go."""
        if self._bench is not None:
            self._bench.stop()
            self._bench.join()

    @action
    def connect(self, *, body: str) -> None:
        """Open a body, one of those that `teach` lists; no servo is held or let go by that."""
        if body not in self._bodies:
            raise UnknownNameError.among("body", body, self._bodies)
        if self._bench is not None:
            raise InputError("a body is open already", hint="disconnect it first")
        self._tell(state="opening", body=body, caught="", warnings=[], trouble="")
        post = self._session.post
        self._bench = bench = Bench(
            self._robot,
            body,
            on_state=lambda angles, free: post(lambda: self._heard(bench, angles, free)),
            on_trouble=lambda error: post(lambda: self._tell(trouble=str(error))),
            on_end=lambda error: post(lambda: self._ended(error)),
        )

    @action
    def disconnect(self) -> None:
        """Take all torque off, and let the body go: hold the robot."""
        if self._bench is None:
            raise InputError("no body is open")
        self._let_go(self._bench)

    @action
    def release(self, *, limb: str) -> Future[None]:
        """Take the torque off a group of the card, a joint, or `all`: hold what falls."""
        return self._open().do(lambda teacher: teacher.release(limb))

    @action
    def hold(self, *, limb: str) -> Future[None]:
        """Let a limb hold where it stands."""
        bench = self._open()

        def held(teacher: Teacher) -> None:
            teacher.hold(limb)
            if bench.fake is not None:
                for joint in teacher.joints(limb):
                    bench.fake.let_go(joint)

        return bench.do(held)

    @action
    def move(self, *, joint: str, angle_rad: float) -> None:
        """Turn a free joint of a fake body, as a hand would."""
        fake = self._open().fake
        if fake is None:
            raise InputError("this body is real", hint="move it by hand")
        limits = self._robot.joint(joint)
        fake.hold(joint, min(max(angle_rad, limits.lower_rad), limits.upper_rad))

    @action
    def show(self, *, live: bool) -> None:
        """Show the body in the 3-D view, or the motion."""
        self._tell(live=live)
        if not live:
            self._hide()

    @action
    def catch(
        self, *, is_new: bool = True, seconds: Annotated[float, Bounds(0.001, LONGEST_S)] | None = None
    ) -> Future[None]:
        """Catch where the body stands.

        Args:
            is_new: into a new keyframe behind the current one, else into that.
            seconds: on the way into a new keyframe [s]; default the time since the last was caught.
        """
        bench, answer = self._open(), Future[None]()

        def finish(pose: Future[CaughtPose]) -> None:
            caught = partial(self._caught, bench, pose, is_new=is_new)
            self._session.post(lambda: settle(answer, caught))

        bench.do(lambda teacher: teacher.catch("", seconds)).add_done_callback(finish)
        return answer

    @property
    def _motion(self) -> Motion:
        return self._session.document.pages.motion(self._session.cursor.page)

    def _open(self) -> Bench:
        if self._bench is None or self._told["state"] != "open":
            raise InputError("no body is open", hint="connect one first")
        return self._bench

    def _let_go(self, bench: Bench) -> None:
        bench.stop()
        self._tell(state="closing")

    def _heard(self, bench: Bench, angles: Floats, free: tuple[str, ...]) -> None:
        if self._told["state"] == "closing":
            return
        self._session.publish("body", angles_deg(angles))
        self._tell(state="open", by_hand=bench.fake is not None, free=list(free), trouble="")
        if self._told["live"]:
            angles = np.where(np.isnan(angles), self._motion.first_pose(self._robot), angles)
            base = self._parts.stage.mannequin.stand(angles).base
            self._parts.player.use(Live(base, angles, self._motion.duration))

    def _ended(self, error: PosewrightError | None) -> None:
        self._bench = None
        self._tell(state="closed", free=[], trouble="" if error is None else str(error))
        self._hide()

    def _hide(self) -> None:
        """Show the motion again, where it is the body that is shown."""
        if isinstance(self._parts.player.source, Live):
            self._parts.player.use(None)

    def _caught(self, bench: Bench, done: Future[CaughtPose], *, is_new: bool) -> None:
        pose = done.result()
        if bench.robot is not self._robot:
            raise InputError("another robot is edited now")
        cursor, motion = self._session.cursor, self._motion
        angles = zip(self._robot.joint_names, pose.angles.tolist(), strict=True)
        known = {name: angle for name, angle in angles if np.isfinite(angle) and name in motion.joints}
        if is_new:
            caught, place = with_angles(Pose.of(motion.joints, {}), known, self._robot), cursor.keyframe + 1
            like, reach_s = motion.keyframes[max(cursor.keyframe, 0)], pose.reach_s * motion.speed
            frame = replace(like, pose=caught, reach_s=reach_s, pause_s=0.0, lights=None)
            row = with_range(motion, place, place, [frame]).keyframes
            self._session.do(SetRow(cursor.page, row, "catch a pose"))
            self._session.look(keyframe=place)
        else:
            self._session.do(SetAngles(cursor.page, cursor.keyframe, known))
        place = self._session.cursor.keyframe
        into = f"keyframe {place + 1}" if place >= 0 else "the start pose"
        way = f", {pose.reach_s:.2f} s after the one before" if is_new else ""
        self._tell(caught=f"caught into {into}{way}", warnings=list(pose.warnings))

    def _tell(self, **news: Any) -> None:
        self._told = {**self._told, **news}
        self._session.publish("teach", self._told)
