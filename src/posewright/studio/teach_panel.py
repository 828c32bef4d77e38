"""Teaching: records poses of a robot that you move by hand."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Annotated, TypeVar

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import FaultKind, TorquePolicy
from posewright.control import Block
from posewright.controllers import PoseFollower
from posewright.documents import Bounds
from posewright.errors import BodyError, InputError, PosewrightError, UnknownNameError, UnsafeMotionError
from posewright.hazards import find_faults, require_no_faults
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
    from posewright.buses.serial_port import SerialPort

DYNAMIXEL = "dynamixel:"
PERIOD_S = 0.1
"""Time between two readings of the joints [s]."""

TORQUE_READ_INTERVAL = 10
"""Readings of the joints between two readings of the torque: a servo may switch itself off."""

MIN_PATIENCE_S = 0.1
MIN_PATIENCE_WITH_FAKES_S = 1.0
"""Minimum time to wait for an answer [s]; fake servos always answer, but late."""

FAKE_LATENCY_S = 0.05
"""How long an answer of fake servos may take while they are driven [s]: they share this process."""

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
        on_recovery: called with a sentence when such a trouble of a body that follows is over.
        on_rejection: called with the reason why the body cannot follow; torque stays as it is.
        on_end: called when the bus is closed, with the error that ended it, if any.

    Attributes:
        robot: the robot on the bus.
        fake: the fake bus; None for a real one.
    """

    def __init__(
        self,
        robot: Robot,
        address: str,
        *,
        on_state: Callable[[Floats, tuple[str, ...]], None],
        on_trouble: Callable[[PosewrightError], None],
        on_recovery: Callable[[str], None],
        on_rejection: Callable[[PosewrightError], None],
        on_end: Callable[[PosewrightError | None], None],
    ) -> None:
        """Start the thread, which opens the bus."""
        self.robot = robot
        self.fake: FakeBus | None = None
        self._address = address
        self._on_state = on_state
        self._on_trouble = on_trouble
        self._on_recovery = on_recovery
        self._on_rejection = on_rejection
        self._on_end = on_end
        self._jobs: queue.SimpleQueue[Callable[[Teacher], None]] = queue.SimpleQueue()
        self._follower: PoseFollower | None = None
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="studio bus", daemon=True)
        self._thread.start()

    def do(self, job: Callable[[Teacher], Result]) -> Future[Result]:
        """Queue a job, and return a `Future` of its result."""
        answer: Future[Result] = Future()
        self._jobs.put(lambda teacher: resolve_future(answer, lambda: job(teacher)))
        return answer

    def follow(self, follower: PoseFollower | None) -> None:
        """Drive the body by a follower, once the queued jobs are done; None lets its joints hold."""
        self._follower = follower

    def stop(self) -> None:
        """End the thread after the queued jobs; all torque is switched off."""
        self._is_stopped = True

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join(timeout=CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        """Serve the bus until it is stopped or fails, close it, and report how it ended."""

        def serve_and_close() -> None:
            """Serve the bus: let a user move the robot by hand, or let it follow the edited pose."""
            with ExitStack() as cleanup:
                port, robot = self._open_port(cleanup)
                while not self._is_stopped:
                    if self._follower is None:
                        self._run_teaching(port, robot)
                    else:
                        self._run_follower(port, robot, self._follower)

        self._on_end(result_or_error(serve_and_close))

    def _open_port(self, cleanup: ExitStack) -> tuple[SerialPort, Robot]:
        """Start a fake bus, or a guard of the real one; return its port, and the robot with servos for it.

        Args:
            cleanup: its exit ends the fake bus or the guard.

        Raises:
            PosewrightError: the address is wrong, or the robot has not the servos of the bus.
        """
        from posewright.buses.dynamixel.bus import BAUD, require_dynamixel_sdk
        from posewright.buses.dynamixel.guard import KillGuard
        from posewright.buses.dynamixel.link import parse_address
        from posewright.buses.serial_port import SerialPort
        from posewright.runs.fake_bus import fake_bus, fake_port, has_bus_servos, with_bus_servos

        require_dynamixel_sdk()
        if not self._address.startswith(DYNAMIXEL):
            robot = with_bus_servos(self.robot)
            self.fake = fake_bus(robot, body=self._address)
            return SerialPort(cleanup.enter_context(fake_port(self.fake)).path, BAUD), robot
        if not has_bus_servos(self.robot):
            hint = "an AX-12 has 1024 ticks in 300 degrees"
            raise InputError(f"the servos of {self.robot.name} are not AX-12", hint=hint)
        port, robot = parse_address(self._address, self.robot)
        guard = KillGuard(port)  # until it is dismissed it switches torque off if this process dies
        cleanup.callback(guard.dismiss)
        return port, robot

    def _run_teaching(self, port: SerialPort, robot: Robot) -> None:
        """Run jobs and report the robot's angles and free joints, until stopped or a follower is to drive it.

        Errors of jobs and readings are reported, and the thread goes on; only a lost port ends it. At the end
        all torque is switched off, or stays as it is if the body is driven next.

        Raises:
            PosewrightError: the port cannot be opened or is lost, or not all servos answer.
        """
        from posewright.buses.dynamixel.answers import PortGoneError
        from posewright.buses.dynamixel.bus import Bus, joints_of
        from posewright.buses.dynamixel.servo_setup import find_servos
        from posewright.buses.dynamixel.teaching import Teacher
        from posewright.buses.dynamixel.torque import read_ticks

        with Bus(port, joints=joints_of(robot)) as bus, Teacher(bus, robot, time.monotonic) as teacher:
            min_patience_s = MIN_PATIENCE_S if self.fake is None else MIN_PATIENCE_WITH_FAKES_S
            bus.answer_timeout_s = max(bus.answer_timeout_s, min_patience_s)
            find_servos(bus, robot)
            n_rounds = 0
            free_joints = teacher.free
            while not (self._is_stopped or self._is_follower_ready(teacher)) or not self._jobs.empty():
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
            if not self._is_stopped:
                teacher.close(TorquePolicy.HOLD)

    def _is_follower_ready(self, teacher: Teacher) -> bool:
        """Return whether a follower is to drive the body next.

        If the servos' settings cannot be written for it, the follower is dropped, and its rejection reported.
        """
        from posewright.buses.dynamixel.answers import PortGoneError
        from posewright.buses.dynamixel.servo_setup import require_settings_writable

        if self._follower is None:
            return False
        try:
            require_settings_writable(teacher.bus, teacher.robot)
        except PortGoneError:
            raise
        except PosewrightError as error:
            self._follower = None
            self._on_rejection(error)
            return False
        return True

    def _run_follower(self, port: SerialPort, robot: Robot, follower: PoseFollower) -> None:
        """Drive the body by a follower, as `motion play` drives one, until stopped or told otherwise.

        The body first moves gently to the follower's pose. At the end its joints hold; if it was stopped, or
        fails, all torque is switched off.

        Raises:
            PosewrightError: the port cannot be opened or is lost, or a servo does not answer.
        """
        from posewright.buses.dynamixel.body import DynamixelPlant
        from posewright.buses.dynamixel.servos import BusSettings
        from posewright.control import drive

        settings = BusSettings(on_kill=TorquePolicy.HOLD)  # this thread's guard watches the whole connection
        if self.fake is not None:
            settings = replace(settings, latency_s=FAKE_LATENCY_S, silent_s=MIN_PATIENCE_WITH_FAKES_S)
        plant = DynamixelPlant(
            robot,
            port,
            start_pose=follower.start_pose,
            now=time.perf_counter,
            sleep=time.sleep,
            settings=settings,
        )

        def is_over() -> bool:
            if self._is_stopped:
                raise _StoppedError
            return self._follower is not follower

        watcher = _DriveWatcher(
            robot.joint_names, self._on_state, self._on_trouble, self._on_recovery, is_over
        )
        with suppress(_StoppedError):  # `drive` has switched all torque off
            drive(
                plant,
                {plant.name: follower},
                until_s=math.inf,
                watchers=[watcher],
                on_end=TorquePolicy.HOLD,
            )

    def _run_next_job(self, teacher: Teacher) -> bool:
        """Wait for a job up to `PERIOD_S`, and run it; return whether there was one."""
        try:
            job = self._jobs.get(timeout=PERIOD_S)
        except queue.Empty:
            return False
        job(teacher)
        return True


class _StoppedError(Exception):
    """Ends a drive as a failure does: all torque is switched off."""


class _DriveWatcher:
    """Reports the joints of a body that is driven every `PERIOD_S`, and losses; ends the drive on request.

    Args:
        joints: the joints of the body.
        on_state: called with measured angles [rad] and the joints without torque.
        on_trouble: called with an error that does not end the drive.
        on_recovery: called with a sentence when such an error is over.
        is_over: returns whether the drive is to end.
    """

    def __init__(
        self,
        joints: Sequence[str],
        on_state: Callable[[Floats, tuple[str, ...]], None],
        on_trouble: Callable[[PosewrightError], None],
        on_recovery: Callable[[str], None],
        is_over: Callable[[], bool],
    ) -> None:
        """Report the first state at once.

        Args:
            joints: the names of the body's joints, in the order of its angles.
            on_state: called every `PERIOD_S` with the measured angles, `(n_joints,)` [rad], and the names of
                the joints without torque.
            on_trouble: called with an error that does not end the drive.
            on_recovery: called with a sentence when such an error is over.
            is_over: returns whether the drive is to end.
        """
        self._joints = joints
        self._on_state = on_state
        self._on_trouble = on_trouble
        self._on_recovery = on_recovery
        self._is_over = is_over
        self._next_report_s = 0.0  # time of the body at which `on_state` is called next

    def watch(self, block: Block) -> bool:
        """Report the block's last row if it is due; return whether the drive is to end."""
        time_s = float(block.states.times[-1])
        if time_s >= self._next_report_s:
            self._next_report_s = time_s + PERIOD_S
            is_free = block.commands.free
            free_joints = () if is_free is None else tuple(compress(self._joints, is_free))
            self._on_state(block.states.positions[-1], free_joints)
        for fault in block.states.faults:
            if fault.kind is FaultKind.RECOVERED:
                self._on_recovery(fault.message)
            elif fault.joint is None and fault.kind is not FaultKind.LATE:  # the body as a whole, which holds
                self._on_trouble(BodyError(fault.message))
        return self._is_over()


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
    """The topic `teach`; the names of the attributes are the keys of its JSON.

    Attributes:
        state: `closed`, `opening`, `open` or `closing`.
        body: the body that is or was open.
        bodies: the bodies that can be opened.
        live: whether the 3-D view shows the body instead of the motion.
        follows: whether the body follows the pose that is edited.
        not_sent: why the present pose was not sent to the body that follows; empty if it was.
        free: the joints without torque.
        by_hand: whether windows can move the joints, which is possible for fake bodies.
        caught: description of the pose recorded last.
        warnings: warnings about that pose.
        trouble: message of the last error, until it is over.
        recovery: how the last error ended; empty if it has not, or if there was none.
    """

    body: str
    bodies: tuple[str, ...]
    state: str = "closed"
    live: bool = True
    follows: bool = False
    not_sent: str = ""
    free: tuple[str, ...] = ()
    by_hand: bool = False
    caught: str = ""
    warnings: tuple[str, ...] = ()
    trouble: str = ""
    recovery: str = ""

    def after_closing(self, trouble: str) -> TeachStatus:
        """Return the status once the body is closed: it follows no pose, and no joint counts as free."""
        status = replace(self, state="closed", follows=False, not_sent="", free=())
        return replace(status, trouble=trouble, recovery="")


class TeachPanel(Panel):
    """Publishes `teach`, a `TeachStatus`, and `body`, the joint angles of the body.

    A window can open the body that the studio was started with, and fake ones; it cannot name a port.
    """

    name = "teach"

    def __init__(self, context: StudioContext) -> None:
        """Begin with a closed body: no bus is opened."""
        self._context = context
        self._session = context.session
        self._robot = context.session.document.robot
        self._bus: BusThread | None = None
        self._follower: PoseFollower | None = None  # while the body follows the pose that is edited
        self._sent_pose: Pose | None = None  # the pose that the follower was given, or that has faults
        self._closing_reason = ""
        self._publish(TeachStatus(context.body, tuple(dict.fromkeys((context.body, MOCK, SIMULATION)))))

    def update(self, before: Pages, after: Pages) -> None:
        """Send the pose to a body that follows it; close the body if another robot is edited now."""
        if self._session.document.robot is not self._robot:
            self._robot = self._session.document.robot
            if self._bus is not None:
                self._close(self._bus)
        elif self._follower is not None:
            self._send_pose(self._follower)

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
        self._publish(
            replace(
                self._status,
                state="opening",
                body=body,
                caught="",
                warnings=(),
                trouble="",
                recovery="",
            )
        )
        # the bus calls these on its own thread; `post` runs their work on the session's thread
        post = self._session.post
        self._bus = bus = BusThread(
            self._robot,
            body,
            on_state=lambda angles, free_joints: post(lambda: self._show_state(bus, angles, free_joints)),
            on_trouble=lambda error: post(lambda: self._show_trouble(trouble=str(error))),
            on_recovery=lambda message: post(lambda: self._show_trouble(recovery=message)),
            on_rejection=lambda error: post(lambda: self._reject_following(error)),
            on_end=lambda error: post(lambda: self._end(error)),
        )

    def _show_trouble(self, *, trouble: str = "", recovery: str = "") -> None:
        """Publish a trouble of the body, or how it ended, in place of the one before."""
        self._publish(replace(self._status, trouble=trouble, recovery=recovery))

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
    def follow(self, *, on: bool) -> None:
        """Let the body follow the pose of the current keyframe, now and after every edit, or hold its pose.

        The body first moves gently to the pose. A pose in which `motion check` reports errors, or to which
        the way from the last one leads through errors, is not sent.
        """
        if not on:
            self._stop_following()
            return
        bus = self._require_bus()
        pose, angles = self._current_pose()
        follower = PoseFollower(self._robot, pose, angles)
        self._require_safe(follower, pose)
        self._follower = follower
        self._sent_pose = pose
        bus.follow(follower)
        self._publish(replace(self._status, follows=True, not_sent="", live=False))
        self._show_motion()

    def _stop_following(self) -> None:
        """Let the body hold its pose, if it follows the one that is edited."""
        if self._follower is None:
            return
        self._follower = None
        if self._bus is not None:
            self._bus.follow(None)
        self._publish(replace(self._status, follows=False, not_sent=""))

    def _reject_following(self, error: PosewrightError) -> None:
        """Show why the body cannot follow."""
        self._stop_following()
        self._session.show_error(error)

    def _current_pose(self) -> tuple[Pose, Floats]:
        """Return the pose of the current keyframe, of all joints, and their angles `(n_joints,)` [rad].

        Joints that the pose holds, or that the motion does not move, have the angles that the studio shows.
        """
        motion = self._motion
        keyframe = self._session.cursor.keyframe
        angles = motion.keyframe_angles(self._robot, keyframe)
        resolved_pose = motion.resolved_poses()[keyframe + 1]
        return Pose(self._robot.joint_names, angles, resolved_pose.free), angles

    def _send_pose(self, follower: PoseFollower) -> None:
        """Give the pose of the current keyframe to the follower, unless it or the way to it has faults."""
        pose, angles = self._current_pose()
        if pose == self._sent_pose:
            return
        self._sent_pose = pose
        not_sent = ""
        try:
            self._require_safe(follower, pose)
            follower.set_target(pose, angles)
        except UnsafeMotionError as error:
            not_sent = error.message
        self._publish(replace(self._status, not_sent=not_sent))

    def _require_safe(self, follower: PoseFollower, pose: Pose) -> None:
        """Raise an UnsafeMotionError if a pose, or a follower's way to it, has faults."""
        faults = [
            fault.removeprefix("keyframe 1: ").replace("on the way into keyframe 1", "on the way")
            for fault in find_faults(follower.plan(pose), self._robot)  # whose only keyframe needs no number
        ]
        require_no_faults(faults, "the pose", accept_faults=False)

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
        """Return the bus of the open body; raise an InputError without one, or while it follows the pose."""
        if self._bus is None or self._status.state != "open":
            raise InputError("no body is open", hint="connect one first")
        if self._follower is not None:
            raise InputError("the body follows the pose that is edited", hint="switch that off first")
        return self._bus

    def _close(self, bus: BusThread) -> None:
        """Begin to close the body; `_end` is called when it is closed."""
        self._follower = None
        bus.stop()
        self._publish(replace(self._status, state="closing", follows=False, not_sent=""))

    def _show_state(self, bus: BusThread, angles: Floats, free_joints: tuple[str, ...]) -> None:
        """Publish the body's angles and free joints, and show them in the 3-D view if `live`.

        Args:
            bus: the bus of the body.
            angles: its joint angles, `(n_joints,)` [rad]; NaN where a joint could not be read.
            free_joints: the names of the joints whose torque is off.
        """
        if self._status.state == "closing":
            return
        self._session.publish("body", angles_deg(angles))
        is_fake = bus.fake is not None
        # a trouble lasts as long as there are joints that could not be read
        trouble = "" if np.isfinite(angles).all() else self._status.trouble
        self._publish(replace(self._status, state="open", by_hand=is_fake, free=free_joints, trouble=trouble))
        if self._status.live:
            # joints that could not be read are shown as at the beginning of the motion
            shown_angles = np.where(np.isnan(angles), self._motion.first_pose(self._robot), angles)
            base = self._context.scene.kinematic_model.stand(shown_angles).base
            self._context.player.set_source(LivePose(base, shown_angles, self._motion.duration))

    def _end(self, error: PosewrightError | None) -> None:
        """Publish that the body is closed, and show the motion again instead of the body.

        Args:
            error: the error that closed it; None if it was closed on purpose.
        """
        self._bus = None
        self._follower = None
        trouble = self._closing_reason if error is None else str(error)
        self._closing_reason = ""
        self._publish(self._status.after_closing(trouble))
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
