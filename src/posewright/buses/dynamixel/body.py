"""A robot on a bus of AX-12 servos, as a `Plant` with one `Body`: a write of all goals and reads per frame.

How failures are handled:

| failure | reaction |
|---|---|
| an answer is missing or damaged | the joint has no position in that frame; a fault names it; it is counted |
| a goal is damaged | its checksum is wrong, so no servo accepts it; the next frame has another |
| two damaged bytes of a goal cancel each other | it is read back, counted, and sent again: see `frames` |
| a servo is silent for `silent_s`, or the port is gone | all joints hold; it is looked for; then `on_loss` |
| a servo shut itself down (hot, overloaded), or its power was interrupted | as one that is silent |
| it does not come back within `reconnect_s` | BodyError; `control.drive` then stops and closes |
| an exception, Ctrl-C, SIGTERM, a closed terminal | `control.drive` stops and closes |
| `kill -9` | `guard` switches the torque off |
| the computer hangs or loses power | none: an AX-12 has no watchdog, and holds its last goal |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.bodies import (
    BodyState,
    Fault,
    FaultKind,
    JointCommands,
    JointStates,
    Reading,
    RealClock,
    SingleBodyPlant,
    TorquePolicy,
)
from posewright.buses.dynamixel.answers import PortGoneError
from posewright.buses.dynamixel.control_table import name_of_model
from posewright.buses.dynamixel.frames import ReadScope
from posewright.buses.dynamixel.guard import KillGuard
from posewright.buses.dynamixel.servos import BusServos, BusSettings
from posewright.buses.serial_port import SerialPort
from posewright.documents.plain import PlainData, PlainMapping
from posewright.errors import BodyError, InputError
from posewright.robots import Robot

MAX_START_ERROR_TICKS = 45.0
"""A joint under load stays so far from its goal, as its servo yields: a slope of 32 ticks, and a margin."""

REPORT_PERIOD_S = 1.0
"""A lasting loss is reported again so often [s]."""

PAUSE_S = 0.25
"""A frame that takes so much longer than it may was not a silence of servos: this program was stopped [s]."""

SLOW_SHARE = 0.1
"""A run that is late by this share of its time gets a remark; ours."""

LATE_SHARE = 0.01
"""A run in which this share of the answers came late gets a remark; ours."""

RETRY_S = 0.2
"""How often a lost port is opened again [s]."""


@dataclass
class _Loss:
    """A time in which a servo or the port is lost, and all joints hold.

    Attributes:
        start_s: when it began, by the clock of the bus [s].
        text: what was lost, for messages.
        kind: the kind of its faults.
        last_report_s: when it was reported last [s].
    """

    start_s: float
    text: str
    kind: FaultKind
    last_report_s: float


def _no_sensors() -> Mapping[str, Reading]:
    return {}


class DynamixelPlant(SingleBodyPlant):
    """A robot on a bus: its own `Plant` and `Body`. Its time counts frames, its clock is a real one.

    While a servo or the port is lost, no goal is sent, so that all joints hold their last goals; frames pass.

    Args:
        robot: its servos need IDs, and the control table of an AX-12.
        port: path and rate of the port.
        start_pose: the start pose to which the joints move gently when the plant is opened, `(n_joints,)`
            [rad].
        now: a monotonic clock [s].
        sleep: waits for a time [s].
        settings: how the bus is used.
        name: the name of the robot in the plant; None for the robot's own.
        sensors: reads other devices on the bus, by channel.

    Attributes:
        clock: counts late frames, too.
        servos: the robot's servos, with the counters of the frames.

    Raises:
        InputError: a servo has no ID.
    """

    clock: RealClock

    def __init__(
        self,
        robot: Robot,
        port: SerialPort,
        *,
        start_pose: Floats,
        now: Callable[[], float],
        sleep: Callable[[float], None],
        settings: BusSettings | None = None,
        name: str | None = None,
        sensors: Callable[[], Mapping[str, Reading]] = _no_sensors,
    ) -> None:
        """Store the settings; `open` opens the port."""
        joints_without_id = [servo.joint for servo in robot.servos if servo.id is None]
        if joints_without_id:
            message = f"the servo of {joints_without_id[0]} has no ID"
            raise InputError(message, hint="a bus of Dynamixel servos needs an ID for each")
        super().__init__(robot, name, RealClock(now, sleep))
        self._settings = settings or BusSettings()
        self._sensors = sensors
        self._now = now
        self._sleep = sleep
        self.servos = BusServos(robot, port, self._settings, now, sleep)
        self._start_ticks = self.servos.ticks(np.asarray(start_pose, dtype=np.float64))
        self._is_open = False
        self._guard: KillGuard | None = None
        self._loss: _Loss | None = None  # None while all servos answer
        self._last_attempt_s = 0.0  # when opening the lost port again was tried last
        self._frame_end_s = math.inf  # the end of the last frame, by the clock of the bus; inf: none yet
        self._faults: list[Fault] = []  # during the rows that are being played
        self._is_torque_off_sent: bool | None = None  # None before `stop` was to switch it off
        self._silent_at_stop: list[int] = []  # the joints' columns whose servos were silent at `stop`

    def __repr__(self) -> str:
        return f"<DynamixelPlant of {self.robot.name} at {self.servos.port.path}, {self.time_s:.3f} s>"

    def open(self) -> None:
        """Open the port, set up all servos with their torque on, and move gently to the start pose.

        Raises:
            BodyError: the port cannot be opened, a servo is missing or not fit to move, or a joint does not
                reach the start pose.
            InputError: a servo's EEPROM would have to be written while its torque is on.
            MissingExtraError: dynamixel-sdk is not installed.
        """
        if self._is_open:
            return
        with ExitStack() as on_failure:
            on_failure.callback(self.close)
            self.servos.connect()
            if self._settings.on_kill is TorquePolicy.RELEASE:
                self._guard = KillGuard(self.servos.port)
            on_failure.callback(self.stop, TorquePolicy.RELEASE)
            self.servos.goal = self._start_ticks
            self.servos.set_up()
            self._go_to_start()
            self._is_open = True
            on_failure.pop_all()

    def read(self) -> BodyState:
        """Return the state of the robot; a joint whose servo did not answer keeps its previous state."""
        self._require_open()
        states = self.servos.states
        velocities = states.velocities.copy() if self._settings.reads is ReadScope.STATE else None
        return BodyState(
            self.time_s,
            states.positions,
            efforts=states.efforts.copy(),
            velocities=velocities,
            sensors=self._sensors(),
        )

    def observe(self) -> JointStates:
        """Return one row: positions and efforts that were read last."""
        self._require_open()
        states = self.servos.states
        return JointStates(
            np.array([self.time_s]), states.positions[np.newaxis], states.efforts[np.newaxis].copy()
        )

    def facts(self) -> PlainMapping:
        """Return port, settings, counters, and firmware, voltage and temperature of each servo.

        `torque_off_sent` is present after `stop(RELEASE)`: False if the port was gone; `torque_off_unheard`
        names servos that were silent then.
        """
        port = self.servos.port
        servos = {
            str(servo): {
                "firmware": self.servos.control_tables[servo]["firmware_version"],
                "voltage_v": volts,
                "temperature_c": temperature,
            }
            for servo, (volts, temperature) in self.servos.states.health.items()
        }
        bus: dict[str, PlainData] = {
            "port": port.path,
            "baud": port.baud,
            "staggered": self._settings.staggered,
            "reads": self._settings.reads.name.lower(),
            "groups_a_frame": self.servos.groups_per_frame,
            "adapter_ms": self.servos.adapter_ms,
            "servos": servos,
        }
        if self._is_torque_off_sent is not None:
            bus["torque_off_sent"] = self._is_torque_off_sent
        if self._silent_at_stop:
            bus["torque_off_unheard"] = self.servos.states.names(self._silent_at_stop)
        late = {"late": self.clock.late_frames, "late_s": self.clock.late_s}
        bus["counts"] = self.servos.counts.to_dict() | late
        facts: dict[str, PlainData] = {"bus": bus}
        if remarks := self.remarks():
            facts["remarks"] = remarks
        return facts

    def remarks(self) -> list[PlainData]:
        """Return messages for the user about the run so far: other servos than expected, and slowness."""
        remarks: list[PlainData] = list(self._describe_other_models())
        counts = self.servos.counts
        if counts.late_answers > LATE_SHARE * counts.asked:
            remarks.append(f"{self._describe_late_answers()}; close other programs")
        late_s = self.clock.late_s
        if late_s > SLOW_SHARE * self.time_s:
            remarks.append(
                f"{self.time_s:.1f} s took {self.time_s + late_s:.1f} s: the bus does not keep up; "
                "`posewright bus diagnose` finds out why, and fewer reads per frame help (`groups_per_frame`)"
            )
        return remarks

    def _describe_other_models(self) -> Iterator[str]:
        """Yield a message for each servo of another model than the robot's card has."""
        for servo in self.robot.servos:
            registers = self.servos.control_tables.get(servo.id or 0)
            device = "" if registers is None else name_of_model(registers["model_number"])
            if device not in ("", servo.model):
                yield f"the servo of {servo.joint} (ID {servo.id}) is {device}, by the card {servo.model}"

    def _describe_late_answers(self) -> str:
        counts = self.servos.counts
        return f"this computer is too busy: {counts.late_answers} of {counts.asked} answers came late"

    def stop(self, policy: TorquePolicy) -> None:
        """Switch all torque off, or hold; `facts` reports what did not reach the servos."""
        is_release = policy is TorquePolicy.RELEASE
        try:
            if is_release:
                self._is_torque_off_sent = self.servos.is_connected
                if self._loss is not None:
                    since_s = self._loss.start_s
                else:
                    since_s = self._now() - self._settings.silent_s
                self._silent_at_stop = self.servos.states.silent_columns(since_s)
                self.servos.release()
            else:
                self.servos.hold()
        except OSError:
            if is_release:
                self._is_torque_off_sent = False

    def close(self) -> None:
        """Close the port, and end the guard process."""
        self._is_open = False
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None
        self.servos.close()

    def play(self, rows: JointCommands) -> JointStates:
        """Send rows of commands, and return the states of the joints.

        They are read right after the write, while the wire is free: a row of states is from within its frame,
        not from its end.

        Raises:
            BodyError: the plant is not open, or a lost servo or port did not come back.
        """
        self._require_open()
        self._faults = []
        try:
            self.servos.switch_torque(rows.free, rows.stiffness)
        except OSError:
            self._lose_port()
        goals = self._goals(rows)
        times = np.empty(len(rows))
        positions = np.full(goals.shape, np.nan)
        efforts = positions.copy()
        for row, goal in enumerate(goals):
            is_read = self._play_frame(goal)
            self.n_frames_played += 1
            times[row] = self.time_s
            positions[row] = np.where(is_read, self.servos.states.positions, np.nan)
            efforts[row] = np.where(is_read, self.servos.states.efforts, np.nan)
        return JointStates(times, positions, efforts, faults=tuple(self._faults))

    # --- a frame

    def _play_frame(self, goal: Indices) -> Flags:
        """Send goals `(n_joints,)` [ticks] and read; return which joints were read, `(n_joints,)`.

        Begins a loss if the port is gone, or a servo has been silent for too long or has reset itself. During
        a loss no goals are sent.
        """
        if self._loss is not None:
            return self._recover(goal, self._loss)
        try:
            is_read, faults = self.servos.send(goal, self.time_s)
        except OSError:
            self._lose_port()
            return self._no_joint_flags()
        self._faults += faults
        now_s = self._now()
        silent_s = self._settings.silent_s
        states = self.servos.states
        self._exclude_pause(now_s)
        if states.silent_columns(now_s - silent_s):
            silent = states.silent_columns(now_s - silent_s / 2.0)  # including those that fell silent with it
            self._begin_loss(f"{states.names(silent)}: no answer", silent)
            return is_read
        is_free = self.servos.free
        resets = {
            column: reset for column, reset in states.find_reset_servos().items() if not is_free[column]
        }
        if resets:
            first_reset = next(iter(resets.values()))
            messages = "; ".join(reset.message for reset in resets.values())
            self._begin_loss(messages, list(resets), first_reset.kind)
        return is_read

    def _exclude_pause(self, now_s: float) -> None:
        """Do not count a pause of this program (SIGSTOP, a sleeping laptop) as silence of the servos."""
        pause_s = now_s - self._frame_end_s - self.frame_period_s - self.servos.max_read_s
        if pause_s > PAUSE_S:
            self.servos.states.exclude_pause(pause_s, now_s)
        self._frame_end_s = now_s

    def _goals(self, rows: JointCommands) -> Indices:
        """Return goals `(n, n_joints)` [ticks]; a free joint without an angle keeps its last goal."""
        is_finite = np.isfinite(rows.angles)
        goals = self.servos.ticks(np.where(is_finite, rows.angles, 0.0))
        return np.where(is_finite, goals, self.servos.goal)

    def _no_joint_flags(self) -> Flags:
        return np.zeros(len(self.robot.joints), np.bool_)

    def _report(self, kind: FaultKind, text: str, joint: str | None = None) -> None:
        self._faults.append(Fault(self.time_s, kind, message=text, joint=joint))

    # --- the start

    def _go_to_start(self) -> None:
        """Move gently to the start pose; a movement that a silent servo interrupts begins again.

        Raises:
            BodyError: a joint does not arrive, or a servo stays silent.
        """
        servos = self.servos
        try:
            while servos.is_moving_gently:
                if servos.states.silent_columns(self._now() - self._settings.silent_s):
                    servos.hold()  # it may have lost its power: nothing moves until it answers
                    self._wait_for_answers()
                    servos.move_gently()
                else:
                    servos.send(self._start_ticks, time_s=0.0)
                    self._sleep(self.frame_period_s)
        except OSError as error:
            message = f"the port {servos.port.path} is gone"
            raise BodyError(
                message, hint="check that the cable is plugged in; servos with power still hold"
            ) from error
        self._require_at_start()

    def _require_at_start(self) -> None:
        """Raise a BodyError if a joint is far from the start pose."""
        servos = self.servos
        distances = np.abs(self._start_ticks - servos.states.ticks)
        farthest = int(distances.argmax())
        if distances[farthest] > MAX_START_ERROR_TICKS:
            degrees = distances[farthest] * self.robot.servos[farthest].tick_deg
            message = f"{servos.states.names([farthest])} stays {degrees:.0f} degrees from the start pose"
            raise BodyError(message, hint="something blocks it, or its torque does not suffice")

    def _wait_for_answers(self) -> None:
        """Read the servos until all answer.

        Raises:
            BodyError: one is silent for longer than `reconnect_s`.
            OSError: the port is gone.
        """
        states = self.servos.states
        since_s = self._now()
        while silent := states.silent_columns(self._now() - self._settings.silent_s):
            if self._now() - since_s > self._settings.reconnect_s:
                raise BodyError(f"no answer from {states.names(silent)}", hint=self._loss_hint())
            self.servos.read(time_s=0.0)
            self._sleep(self.frame_period_s)

    def _require_open(self) -> None:
        if not self._is_open:
            raise BodyError(f"{self.name} is not open", hint="open() it first")

    # --- losing and finding servos

    def _begin_loss(self, text: str, columns: Sequence[int] = (), kind: FaultKind = FaultKind.SILENT) -> None:
        """Begin a loss, and report it: joints hold until all servos answer again.

        Args:
            text: what was lost.
            columns: the joints whose servos were lost; the fault names the joint if there is only one.
            kind: kind of the fault.
        """
        now_s = self._now()
        self._loss = _Loss(now_s, text, kind, last_report_s=now_s)
        self.servos.counts.lost += 1
        joint = self.robot.joint_names[columns[0]] if len(columns) == 1 else None
        self._report(kind, f"{text}; all joints hold, for up to {self._settings.reconnect_s:g} s", joint)

    def _lose_port(self) -> None:
        """Close the port, which is gone, and begin a loss unless there is one already."""
        self.servos.close()
        if self._loss is None:
            self._begin_loss(f"the port {self.servos.port.path}: no answer")

    def _recover(self, goal: Indices, loss: _Loss) -> Flags:
        """Read a few servos, or open the port again; end the loss when all servos answer.

        While the loss lasts, it is reported every `REPORT_PERIOD_S`.

        Args:
            goal: the goal to which the joints move afterwards, `(n_joints,)` [ticks].
            loss: the present loss: servos or the port do not answer.

        Returns:
            Which joints were read, `(n_joints,)`.

        Raises:
            BodyError: the loss lasted too long, or it is over and the torque is off now.
        """
        is_read = self._no_joint_flags()
        problem = ""  # for messages
        try:
            is_read = self._try_to_reconnect(goal, loss.start_s)
            silent_columns = self.servos.states.silent_columns(loss.start_s)
            silent_names = self.servos.states.names(silent_columns)
            problem = f"no answer from {silent_names}" if silent_columns else loss.text
        except (OSError, PortGoneError):
            self._lose_port()
        except BodyError as error:
            problem = error.message
        if not self.servos.is_connected:
            problem = f"the port {self.servos.port.path} is gone"
        loss_s = self._now() - loss.start_s
        is_over = self._loss is None
        if is_over and self._settings.on_loss is TorquePolicy.RELEASE:
            message = f"{loss.text}, for {loss_s:.1f} s, and the torque is off now"
            raise BodyError(message, hint=self._loss_hint())
        if not is_over and loss_s > self._settings.reconnect_s:
            raise BodyError(f"{problem}, for {loss_s:.1f} s", hint=self._loss_hint())
        if not is_over and self._now() - loss.last_report_s >= REPORT_PERIOD_S:
            loss.last_report_s = self._now()
            self._report(loss.kind, f"{problem}, for {loss_s:.0f} s now")
        return is_read

    def _try_to_reconnect(self, goal: Indices, since_s: float) -> Flags:
        """Read a few servos, or open the port again; return which joints were read.

        Ends the loss if all servos have answered since it began and none of them is unfit: sets them up to
        hold, or switches their torque off, by the setting `on_loss`.

        Raises:
            OSError: the port is gone.
            BodyError: the port cannot be opened, or a servo is not fit to move.
        """
        if not self.servos.is_connected:
            if self._now() - self._last_attempt_s > RETRY_S:
                self._last_attempt_s = self._now()
                self.servos.connect()
            return self._no_joint_flags()
        is_read, _faults = self.servos.read(self.time_s, n_groups=1)
        if self.servos.states.silent_columns(since_s):
            return is_read
        if self.servos.states.unfit_columns() and self._settings.on_loss is TorquePolicy.HOLD:
            return is_read
        if self._settings.on_loss is TorquePolicy.RELEASE:
            self.servos.release()
            self._is_torque_off_sent = True
        else:  # the servos may have lost their power, and with it their settings
            self.servos.goal = goal
            self.servos.set_up()
        self._loss = None
        self.servos.counts.found += 1
        self._report(FaultKind.RECOVERED, f"all servos answer again after {self._now() - since_s:.1f} s")
        return is_read

    def _loss_hint(self) -> str:
        """Return what to do about a loss: about heat or load, about a slow computer, or about the wiring."""
        if self.servos.is_connected and self.servos.states.unfit_columns():
            return "let it cool down, or lighten its load"
        if self.servos.counts.late_answers:
            return f"{self._describe_late_answers()}; close other programs"
        return "check power, cable and adapter"
