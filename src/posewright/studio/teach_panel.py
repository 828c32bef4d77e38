"""Teaching: records poses of a robot that you move by hand."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, TypeVar

import numpy as np

from posewright.arrays import Floats
from posewright.documents import Bounds
from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.motions import LONGEST_S, Motion, Pose
from posewright.robots import Robot
from posewright.runs.plants import MOCK, SIMULATION
from posewright.studio.commands.changes import with_angles, with_range
from posewright.studio.commands.pose import SetAngles
from posewright.studio.commands.timeline import ReplaceKeyframes
from posewright.studio.context import StudioContext
from posewright.studio.motion_panel import angles_deg
from posewright.studio.pages import Pages
from posewright.studio.requests import action
from posewright.studio.session import Panel, resolve_future, result_or_error

if TYPE_CHECKING:
    from posewright.buses.dynamixel.fake.bus import FakeBus
    from posewright.buses.dynamixel.teaching import CaughtPose, Teacher

DYNAMIXEL = "dynamixel:"
PERIOD_S = 0.1
"""Time between two readings of the joints [s]."""

TORQUE_READ_INTERVAL = 10
"""Readings of the joints between two readings of the torque: a servo may switch itself off."""

MIN_PATIENCE_S = 0.1
MIN_PATIENCE_WITH_FAKES_S = 1.0
"""Minimum time to wait for an answer [s]; fake servos always answer, but late."""

CLOSE_TIMEOUT_S = 5.0

WINDOWLESS_S = 5.0
"""Time without a window after which the body is disconnected: longer than reloading a page takes [s]."""

WINDOWLESS = "teach without windows"
"""Name of the ticker that waits for a window."""

Result = TypeVar("Result")


class BusThread:
    """A thread that reads the joints of a robot on its servo bus, and runs jobs one at a time.

    All callbacks run on this thread. At the end all torque is off, even if this process is killed.

    Args:
        robot: the robot on the bus.
        address: `dynamixel:PORT`, or a body behind a fake bus: `mock` or `sim`.
        on_state: called with the angles `(n_joints,)` [rad] and the joints without torque.
        on_trouble: called with an error that does not end the thread.
        on_end: called when the bus is closed, with the error that ended it, if any.

    Attributes:
        robot: the robot on the bus.
        fake: the fake bus; None for a real one.
    """

    def __init__(
        self,
        robot: Robot,
        address: str,
        on_state: Callable[[Floats, tuple[str, ...]], None],
        on_trouble: Callable[[PosewrightError], None],
        on_end: Callable[[PosewrightError | None], None],
    ) -> None:
        """Start the thread, which opens the bus."""
        self.robot = robot
        self.fake: FakeBus | None = None
        self._address = address
        self._on_state = on_state
        self._on_trouble = on_trouble
        self._on_end = on_end
        self._jobs: queue.SimpleQueue[Callable[[Teacher], None]] = queue.SimpleQueue()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="studio bus", daemon=True)
        self._thread.start()

    def do(self, job: Callable[[Teacher], Result]) -> Future[Result]:
        """Queue a job, and return a `Future` of its result."""
        answer: Future[Result] = Future()
        self._jobs.put(lambda teacher: resolve_future(answer, lambda: job(teacher)))
        return answer

    def stop(self) -> None:
        """End the thread after the queued jobs; all torque is switched off."""

        def stop(_: Teacher) -> None:
            self._is_stopped = True

        self._jobs.put(stop)

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join(timeout=CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        """Serve the bus until it is stopped or fails, close it, and report how it ended."""

        def serve_and_close() -> None:
            with ExitStack() as cleanup:
                self._serve(self._open_bus(cleanup))

        self._on_end(result_or_error(serve_and_close))

    def _open_bus(self, cleanup: ExitStack) -> Teacher:
        """Open the real or fake bus, check that all servos answer, and return a teacher for its robot.

        Args:
            cleanup: gets what closes the bus and switches all torque off.

        Raises:
            PosewrightError: the bus cannot be opened, or has not the servos of the robot.
        """
        from posewright.buses.dynamixel.bus import BAUD, Bus, joints_of, require_dynamixel_sdk
        from posewright.buses.dynamixel.guard import KillGuard
        from posewright.buses.dynamixel.link import parse_address
        from posewright.buses.dynamixel.servo_setup import find_servos
        from posewright.buses.dynamixel.teaching import Teacher
        from posewright.buses.serial_port import SerialPort
        from posewright.runs.fake_bus import fake_bus, fake_port, has_bus_servos, with_bus_servos

        require_dynamixel_sdk()
        robot = self.robot
        if self._address.startswith(DYNAMIXEL):
            if not has_bus_servos(robot):
                hint = "an AX-12 has 1024 ticks in 300 degrees"
                raise InputError(f"the servos of {robot.name} are not AX-12", hint=hint)
            port, robot = parse_address(self._address, robot)
        else:
            robot = with_bus_servos(robot)
            self.fake = fake_bus(robot, body=self._address)
            port = SerialPort(cleanup.enter_context(fake_port(self.fake)).path, BAUD)
        bus = cleanup.enter_context(Bus(port, joints=joints_of(robot)))
        if self.fake is None:
            cleanup.callback(
                KillGuard(port).dismiss
            )  # until then it switches torque off if this process dies
        min_patience_s = MIN_PATIENCE_S if self.fake is None else MIN_PATIENCE_WITH_FAKES_S
        bus.answer_timeout_s = max(bus.answer_timeout_s, min_patience_s)
        find_servos(bus, robot)
        return cleanup.enter_context(Teacher(bus, robot, time.monotonic))

    def _serve(self, teacher: Teacher) -> None:
        """Run jobs and report the robot's angles and free joints, until stopped.

        Errors of jobs and readings are reported, and the thread goes on; only a lost port ends it.
        """
        from posewright.buses.dynamixel.answers import PortGoneError
        from posewright.buses.dynamixel.torque import read_ticks

        n_rounds = 0
        free_joints = teacher.free
        while not self._is_stopped:
            try:
                has_run_job = self._run_next_job(teacher)
                if has_run_job or n_rounds % TORQUE_READ_INTERVAL == 0:
                    free_joints = teacher.free
                angles = teacher.robot.from_ticks(read_ticks(teacher.bus, teacher.robot))
                self._on_state(angles, free_joints)
            except PortGoneError:
                raise
            except PosewrightError as error:
                self._on_trouble(error)
            n_rounds += 1

    def _run_next_job(self, teacher: Teacher) -> bool:
        """Wait for a job up to `PERIOD_S`, and run it; return whether there was one."""
        try:
            job = self._jobs.get(timeout=PERIOD_S)
        except queue.Empty:
            return False
        job(teacher)
        return True


@dataclass(frozen=True, eq=False)
class LivePose:
    """The current pose of a body, as a `PlaybackSource` that is the same at any time."""

    base: Floats = field(repr=False)
    angles: Floats = field(repr=False)
    duration_s: float

    def at(self, time_s: float) -> tuple[Floats, Floats]:
        """Return base pose and joint angles."""
        return self.base, self.angles


@dataclass(frozen=True)
class TeachStatus:
    """The topic `teach`.

    Attributes:
        state: `closed`, `opening`, `open` or `closing`.
        body: the body that is or was open.
        bodies: the bodies that can be opened.
        live: whether the 3-D view shows the body instead of the motion.
        free: the joints without torque.
        by_hand: whether windows can move the joints, which is possible for fake bodies.
        caught: description of the pose recorded last.
        warnings: warnings about that pose.
        trouble: message of the last error.
    """

    body: str
    bodies: tuple[str, ...]
    state: str = "closed"
    live: bool = True
    free: tuple[str, ...] = ()
    by_hand: bool = False
    caught: str = ""
    warnings: tuple[str, ...] = ()
    trouble: str = ""


class TeachPanel(Panel):
    """Publishes `teach`, a `TeachStatus`, and `body`, the joint angles of the body.

    A window can open the body that the studio was started with, and fake ones; it cannot name a port.
    """

    name = "teach"

    def __init__(self, context: StudioContext) -> None:
        self._context = context
        self._session = context.session
        self._robot = context.session.document.robot
        self._bus: BusThread | None = None
        self._closing_reason = ""
        self._publish(TeachStatus(context.body, tuple(dict.fromkeys((context.body, MOCK, SIMULATION)))))

    def update(self, before: Pages, after: Pages) -> None:
        """Close the body if another robot is edited now."""
        if self._session.document.robot is not self._robot:
            self._robot = self._session.document.robot
            if self._bus is not None:
                self._close(self._bus)

    def count_windows(self, n_windows: int) -> None:
        """Disconnect the body `WINDOWLESS_S` after the last window was closed, unless one is opened."""
        if n_windows or self._bus is None:
            self._session.set_ticker(WINDOWLESS, None)
            return
        due_s = time.monotonic() + WINDOWLESS_S
        self._session.set_ticker(WINDOWLESS, lambda now_s: self._disconnect_if_due(now_s, due_s))

    def _disconnect_if_due(self, now_s: float, due_s: float) -> None:
        if now_s < due_s:
            return
        self._session.set_ticker(WINDOWLESS, None)
        if self._bus is not None:
            self._closing_reason = "disconnected: no window was open"
            self._close(self._bus)

    def close(self) -> None:
        """Switch all torque off, and close the body."""
        if self._bus is not None:
            self._bus.stop()
            self._bus.join()

    @action
    def connect(self, *, body: str) -> None:
        """Open one of the bodies that `teach` lists; its torque stays as it is."""
        if body not in self._status.bodies:
            raise UnknownNameError.among("body", body, self._status.bodies)
        if self._bus is not None:
            raise InputError("a body is open already", hint="disconnect it first")
        status = replace(self._status, state="opening", body=body, caught="", warnings=(), trouble="")
        self._publish(status)
        post = self._session.post
        self._bus = bus = BusThread(
            self._robot,
            body,
            on_state=lambda angles, free: post(lambda: self._show_state(bus, angles, free)),
            on_trouble=lambda error: post(lambda: self._publish(replace(self._status, trouble=str(error)))),
            on_end=lambda error: post(lambda: self._end(error)),
        )

    @action
    def disconnect(self) -> None:
        """Switch all torque off, and close the body: support the robot."""
        if self._bus is None:
            raise InputError("no body is open")
        self._close(self._bus)

    @action
    def release(self, *, limb: str) -> Future[None]:
        """Switch the torque off of a group of the card, a joint, or `all`: support what falls."""
        return self._require_bus().do(lambda teacher: teacher.release(limb))

    @action
    def hold(self, *, limb: str) -> Future[None]:
        """Switch the torque on, so that a limb holds its present position."""
        bus = self._require_bus()

        def hold(teacher: Teacher) -> None:
            teacher.hold(limb)
            if bus.fake is not None:
                for joint in teacher.joints(limb):
                    bus.fake.let_go(joint)

        return bus.do(hold)

    @action
    def move(self, *, joint: str, angle_rad: float) -> None:
        """Turn a free joint of a fake body, as if by hand."""
        fake = self._require_bus().fake
        if fake is None:
            raise InputError("this body is real", hint="move it by hand")
        limits = self._robot.joint(joint)
        fake.hold(joint, min(max(angle_rad, limits.lower_rad), limits.upper_rad))

    @action
    def show(self, *, live: bool) -> None:
        """Show the body or the motion in the 3-D view."""
        self._publish(replace(self._status, live=live))
        if not live:
            self._show_motion()

    @action
    def record_pose(
        self, *, is_new: bool = True, seconds: Annotated[float, Bounds(0.001, LONGEST_S)] | None = None
    ) -> Future[None]:
        """Record the pose of the body.

        Args:
            is_new: whether to insert a keyframe after the current one, instead of replacing the current one's
                pose.
            seconds: duration of the segment into a new keyframe [s]; default: the time since the last pose.
        """
        bus = self._require_bus()
        answer = Future[None]()

        def read_pose(teacher: Teacher) -> CaughtPose:  # on the thread of the bus
            return teacher.catch(seconds=seconds)

        def insert_pose(reading: Future[CaughtPose]) -> None:  # on the session's thread
            resolve_future(answer, lambda: self._insert_pose(bus, reading.result(), is_new=is_new))

        reading = bus.do(read_pose)
        reading.add_done_callback(lambda finished: self._session.post(lambda: insert_pose(finished)))
        return answer

    @property
    def _motion(self) -> Motion:
        return self._session.document.pages.motion(self._session.cursor.page)

    def _require_bus(self) -> BusThread:
        if self._bus is None or self._status.state != "open":
            raise InputError("no body is open", hint="connect one first")
        return self._bus

    def _close(self, bus: BusThread) -> None:
        bus.stop()
        self._publish(replace(self._status, state="closing"))

    def _show_state(self, bus: BusThread, angles: Floats, free: tuple[str, ...]) -> None:
        """Publish the body's angles and free joints, and show them in the 3-D view if `live`."""
        if self._status.state == "closing":
            return
        self._session.publish("body", angles_deg(angles))
        is_fake = bus.fake is not None
        self._publish(replace(self._status, state="open", by_hand=is_fake, free=free, trouble=""))
        if self._status.live:
            # joints that could not be read are shown as at the beginning of the motion
            shown_angles = np.where(np.isnan(angles), self._motion.first_pose(self._robot), angles)
            base = self._context.scene.kinematic_model.stand(shown_angles).base
            self._context.player.set_source(LivePose(base, shown_angles, self._motion.duration))

    def _end(self, error: PosewrightError | None) -> None:
        """Publish that the body is closed, with the error that ended it, and show the motion again."""
        self._bus = None
        trouble = self._closing_reason if error is None else str(error)
        self._closing_reason = ""
        self._publish(replace(self._status, state="closed", free=(), trouble=trouble))
        self._show_motion()

    def _show_motion(self) -> None:
        """Show the motion again, if the body is shown."""
        if isinstance(self._context.player.source, LivePose):
            self._context.player.set_source(None)

    def _insert_pose(self, bus: BusThread, pose: CaughtPose, *, is_new: bool) -> None:
        """Insert a recorded pose as a keyframe after the current one, or replace the current one's pose.

        Args:
            bus: the bus that it was recorded on, which may be that of a robot that is no longer edited.
            pose: the recorded pose.
            is_new: whether to insert a keyframe.
        """
        if bus.robot is not self._robot:
            raise InputError("the open motion is for another robot now")
        cursor = self._session.cursor
        motion = self._motion
        angles = {
            name: angle
            for name, angle in zip(self._robot.joint_names, pose.angles.tolist(), strict=True)
            if np.isfinite(angle) and name in motion.joints
        }
        if is_new:
            index = cursor.keyframe + 1
            frame = replace(
                motion.keyframes[max(cursor.keyframe, 0)],
                pose=with_angles(Pose.of(motion.joints, {}), angles, self._robot),
                reach_s=pose.reach_s * motion.speed,
                pause_s=0.0,
                lights=None,
            )
            keyframes = with_range(motion, begin=index, end=index, frames=[frame]).keyframes
            self._session.do(ReplaceKeyframes(cursor.page, keyframes, "catch a pose"))
            self._session.look(keyframe=index)
        else:
            self._session.do(SetAngles(cursor.page, cursor.keyframe, angles))
        index = self._session.cursor.keyframe
        description = f"caught into keyframe {index + 1}" if index >= 0 else "caught into the start pose"
        if is_new:
            description += f", {pose.reach_s:.2f} s after the one before"
        self._publish(replace(self._status, caught=description, warnings=pose.warnings))

    def _publish(self, status: TeachStatus) -> None:
        """Replace the status, and publish it as the topic `teach`."""
        self._status = status
        self._session.publish("teach", asdict(status))
