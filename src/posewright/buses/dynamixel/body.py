"""A robot on a bus of AX-12 servos, as a `Plant` with one `Body`: every frame one write to all, and reads.

What can go wrong, and what is done:

| what | what is done |
|---|---|
| an answer is missing or damaged | the joint has no position in that frame; a fault names it; it is counted |
| a goal is damaged | its sum is wrong, so no servo takes it; the next frame has another |
| two bytes of it are, and cancel each other | it is read back, told, counted, and told anew: see `frames` |
| a servo is not heard for `silent_s`, the port is gone | all joints hold; it is looked for; then `on_loss` |
| a servo shut itself down (hot, overloaded) and is limp, or its power was gone | as one that is not heard |
| it does not come back within `reconnect_s` | BodyError; `control.drive` then stops and closes |
| an exception, Ctrl-C, SIGTERM, a closed terminal | `control.drive` stops and closes |
| `kill -9` | `guard` takes the torque off |
| the computer hangs or loses power | nothing: an AX-12 has no watchdog, and holds its last goal |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack

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
from posewright.buses.dynamixel.frames import Reads
from posewright.buses.dynamixel.guard import Guard
from posewright.buses.dynamixel.servos import BusSettings, Servos
from posewright.buses.serial_port import SerialPort
from posewright.documents.plain import PlainData, PlainMapping
from posewright.errors import BodyError, InputError
from posewright.robots import Robot

SAGGING_TICKS = 45.0
"""A joint under load stays so far from its goal, as its servo yields: a slope of 32 ticks, and some."""

TELL_AGAIN_S = 1.0
"""What is wrong is told again so often for as long as it lasts [s]."""

STOPPED_S = 0.25
"""A frame that takes so much longer than it may was no silence: the computer did something else [s]."""

SLOW = 0.1
"""A run that takes so much longer than it should is remarked on, as a share of its time; ours."""

RETRY_S = 0.2
"""How often a port that is gone is tried again [s]."""


def _no_sensors() -> Mapping[str, Reading]:
    return {}


class DynamixelPlant(SingleBodyPlant):
    """A robot on a bus: its own `Plant` and `Body`. Its time counts frames, its clock is a real one.

    While something is lost, no goal is sent, so that all joints hold where they were sent last; frames pass.

    Args:
        robot: its servos need IDs, and the control table of an AX-12.
        port: where the bus is plugged in.
        start_pose: where the joints go gently when it is opened, `(n_joints,)` [rad].
        now: a clock that only runs forward [s].
        sleep: waits for so long [s].
        settings: how the bus is used.
        name: in the plant; default the robot's.
        sensors: reads whatever else is on the bus, by channel.

    Attributes:
        clock: counts the late frames, too.
        servos: the robot's, and the counters of its frames.

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
        without = [servo.joint for servo in robot.servos if servo.id is None]
        if without:
            raise InputError(f"the servo of {without[0]} has no ID", hint="it is not on a bus of Dynamixels")
        super().__init__(robot, name, RealClock(now, sleep))
        self._settings = settings or BusSettings()
        self._sensors = sensors
        self._now = now
        self._sleep = sleep
        self.servos = Servos(robot, port, self._settings, now, sleep)
        self._start = self.servos.ticks(np.asarray(start_pose, dtype=np.float64))
        self._is_open = False
        self._guard: Guard | None = None
        self._lost_s: float | None = None
        self._tried_s = 0.0
        self._released: bool | None = None
        self._kind = FaultKind.SILENT
        self._why = ""
        self._told_s = 0.0
        self._ended_s = math.inf
        self._unheard: list[int] = []
        self._faults: list[Fault] = []

    def __repr__(self) -> str:
        return f"<DynamixelPlant of {self.robot.name} at {self.servos.port.path}, {self.time_s:.3f} s>"

    def open(self) -> None:
        """Take hold of the port, find and set all servos, torque on where they stand; go gently to the start.

        Raises:
            BodyError: the port cannot be had, a servo is missing or not fit to move, or a joint does not get
                to where the robot starts.
            InputError: a servo's EEPROM would have to be written while its torque is on.
            MissingExtraError: dynamixel-sdk is not installed.
        """
        if self._is_open:
            return
        with ExitStack() as undo:
            undo.callback(self.close)
            self.servos.connect()
            if self._settings.on_kill is TorquePolicy.RELEASE:
                self._guard = Guard(self.servos.port)
            undo.callback(self.stop, TorquePolicy.RELEASE)
            self.servos.goal = self._start
            self.servos.set_up()
            self._go_to_start()
            self._is_open = True
            undo.pop_all()

    def read(self) -> BodyState:
        """Return what the servos said last; where one did not answer, what it said before."""
        self._expect_open()
        seen = self.servos.seen
        velocities = seen.velocities.copy() if self._settings.reads is Reads.STATE else None
        return BodyState(self.time_s, seen.positions, seen.efforts.copy(), velocities, self._sensors())

    def observe(self) -> JointStates:
        """Return where the joints were seen last."""
        self._expect_open()
        seen = self.servos.seen
        return JointStates(
            np.array([self.time_s]), seen.positions[np.newaxis], seen.efforts[np.newaxis].copy()
        )

    def facts(self) -> PlainMapping:
        """Return port, way of reading, counters, and firmware, voltage and temperature of each servo.

        `torque_off_sent` is there after `stop(RELEASE)`: False where the port was gone; `torque_off_unheard`
        names servos that were silent then. `remarks` say what a person should know.
        """
        port = self.servos.port
        servos = {
            str(servo): {
                "firmware": self.servos.memory[servo]["firmware_version"],
                "voltage_v": volts,
                "temperature_c": temperature,
            }
            for servo, (volts, temperature) in self.servos.seen.health.items()
        }
        bus: dict[str, PlainData] = {
            "port": port.path,
            "baud": port.baud,
            "staggered": self._settings.staggered,
            "reads": self._settings.reads.name.lower(),
            "groups_a_frame": self.servos.share,
            "adapter_ms": self.servos.adapter_ms,
            "servos": servos,
        }
        if self._released is not None:
            bus["torque_off_sent"] = self._released
        if self._unheard:
            bus["torque_off_unheard"] = self.servos.seen.names(self._unheard)
        if remarks := self.remarks():
            bus["remarks"] = remarks
        late = {"late": self.clock.late_frames, "late_s": self.clock.late_s}
        bus["counts"] = self.servos.counts.to_dict() | late
        return {"bus": bus}

    def remarks(self) -> list[str]:
        """Return what a person should know of the run so far."""
        late_s = self.clock.late_s
        if late_s <= SLOW * self.time_s:
            return []
        took = f"{self.time_s:.1f} s took {self.time_s + late_s:.1f} s: the bus does not keep up"
        return [f"{took}; `posewright bus diagnose` finds out why, and fewer reads a frame help (`share`)"]

    def stop(self, policy: TorquePolicy) -> None:
        """Take all torque off, or hold; what does not reach the servos, `facts` tell."""
        is_release = policy is TorquePolicy.RELEASE
        try:
            if is_release:
                self._released = self.servos.is_connected
                since_s = self._now() - self._settings.silent_s if self._lost_s is None else self._lost_s
                self._unheard = self.servos.seen.silent(since_s)
                self.servos.release()
            else:
                self.servos.hold()
        except OSError:
            self._released = False if is_release else self._released

    def close(self) -> None:
        """Let go of the port."""
        self._is_open = False
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None
        self.servos.close()

    def play(self, rows: JointCommands) -> JointStates:
        """Send rows, and return what the joints did.

        They are read right after the write, as the wire is free then: a row of what is returned is from
        within its frame, not from its end.

        Raises:
            BodyError: the plant is not open, or what was lost did not come back.
        """
        self._expect_open()
        self._faults = []
        try:
            self.servos.switch(rows.free, rows.stiffness)
        except OSError:
            self._lose_the_port()
        goals = self._goals(rows)
        times = np.empty(len(rows))
        positions = np.full(goals.shape, np.nan)
        efforts = positions.copy()
        for row, goal in enumerate(goals):
            seen = self._frame(goal)
            self.frames += 1
            times[row] = self.time_s
            positions[row] = np.where(seen, self.servos.seen.positions, np.nan)
            efforts[row] = np.where(seen, self.servos.seen.efforts, np.nan)
        return JointStates(times, positions, efforts, faults=tuple(self._faults))

    # --- a frame

    def _frame(self, goal: Indices) -> Flags:
        """Send a goal `(n_joints,)` [ticks] and read; return which joints were seen, `(n_joints,)`."""
        if self._lost_s is not None:
            return self._look_for_the_lost(goal, self._lost_s)
        try:
            seen, faults = self.servos.send(goal, self.time_s)
        except OSError:
            self._lose_the_port()
            return self._nobody
        self._faults += faults
        now = self._now()
        silent_s = self._settings.silent_s
        self._forgive(now)
        if self.servos.seen.silent(now - silent_s):
            silent = self.servos.seen.silent(now - silent_s / 2.0)  # whatever fell silent with it
            joint = self.robot.joint_names[silent[0]] if len(silent) == 1 else None
            self._lose(f"{self.servos.seen.names(silent)}: no answer", joint)
            return seen
        fallen = {k: told for k, told in self.servos.seen.fallen_back().items() if not self.servos.free[k]}
        if fallen:
            joint = self.robot.joint_names[next(iter(fallen))] if len(fallen) == 1 else None
            kinds, whys = zip(*fallen.values(), strict=True)
            self._lose("; ".join(whys), joint, kinds[0])
        return seen

    def _forgive(self, now_s: float) -> None:
        """Take time in which this program stood still (SIGSTOP, a laptop asleep) for no silence of servos."""
        gap_s = now_s - self._ended_s - self.frame_period_s - self.servos.longest_s
        if gap_s > STOPPED_S:
            self.servos.seen.forgive(gap_s, now_s)
        self._ended_s = now_s

    def _goals(self, rows: JointCommands) -> Indices:
        """Return goals in whole ticks `(n, n_joints)`; a free joint without an angle keeps its last goal."""
        is_finite = np.isfinite(rows.angles)
        goals = self.servos.ticks(np.where(is_finite, rows.angles, 0.0))
        return np.where(is_finite, goals, self.servos.goal)

    @property
    def _nobody(self) -> Flags:
        return np.zeros(len(self.robot.joints), np.bool_)

    def _tell(self, kind: FaultKind, what: str, joint: str | None = None) -> None:
        self._faults.append(Fault(self.time_s, kind, what, joint))

    # --- to begin with

    def _go_to_start(self) -> None:
        """Go gently to where the robot starts.

        Raises:
            BodyError: a joint does not get there, or a servo is silent.
        """
        servos = self.servos
        try:
            while servos.is_gentle:
                servos.send(self._start, 0.0)
                if silent := servos.seen.silent(self._now() - self._settings.silent_s):
                    raise BodyError(f"no answer from {servos.seen.names(silent)}", hint="power and cable")
                self._sleep(self.frame_period_s)
        except OSError as error:
            raise _gone(servos.port) from error
        away = np.abs(self._start - servos.seen.ticks)
        worst = int(away.argmax())
        if away[worst] > SAGGING_TICKS:
            degrees = away[worst] * self.robot.servos[worst].tick_deg
            what = f"{servos.seen.names([worst])} stays {degrees:.0f} degrees from where the robot starts"
            raise BodyError(what, hint="something is in its way, or its torque does not suffice")

    def _expect_open(self) -> None:
        if not self._is_open:
            raise BodyError(f"{self.name} is not open", hint="open() it first")

    # --- what was lost

    def _lose(self, why: str, joint: str | None = None, kind: FaultKind = FaultKind.SILENT) -> None:
        self._lost_s = self._told_s = self._now()
        self._why = why
        self._kind = kind
        self.servos.counts.lost += 1
        self._tell(kind, f"{why}; all joints hold, for up to {self._settings.reconnect_s:g} s", joint)

    def _lose_the_port(self) -> None:
        self.servos.close()
        if self._lost_s is None:
            self._lose(f"the port {self.servos.port.path}: no answer")

    def _look_for_the_lost(self, goal: Indices, since_s: float) -> Flags:
        """Ask a few servos, or for the port; go on once all are heard again.

        Raises:
            BodyError: they did not come back in time, or are back and the torque is off now.
        """
        seen = self._nobody
        what = ""
        try:
            seen = self._try_again(goal, since_s)
            silent = self.servos.seen.silent(since_s)
            what = f"no answer from {self.servos.seen.names(silent)}" if silent else self._why
        except (OSError, PortGoneError):
            self._lose_the_port()
        except BodyError as error:
            what = error.message
        what = what if self.servos.is_connected else f"the port {self.servos.port.path} is gone"
        gone_s = self._now() - since_s
        if self._lost_s is None and self._settings.on_loss is TorquePolicy.RELEASE:
            raise BodyError(f"{self._why}, for {gone_s:.1f} s, and the torque is off now", hint=self._hint())
        if self._lost_s is not None and gone_s > self._settings.reconnect_s:
            raise BodyError(f"{what}, for {gone_s:.1f} s", hint=self._hint())
        if self._lost_s is not None and self._now() - self._told_s >= TELL_AGAIN_S:
            self._told_s = self._now()
            self._tell(self._kind, f"{what}, for {gone_s:.0f} s now")
        return seen

    def _try_again(self, goal: Indices, since_s: float) -> Flags:
        """Ask a few servos, or for the port; return which joints were seen.

        Raises:
            OSError: the port is gone.
            BodyError: it cannot be had, or a servo is not fit to move.
        """
        if not self.servos.is_connected:
            if self._now() - self._tried_s > RETRY_S:
                self._tried_s = self._now()
                self.servos.connect()
            return self._nobody
        seen, _told_once = self.servos.look(self.time_s, share=1)
        if self.servos.seen.silent(since_s):
            return seen
        if self.servos.seen.unfit() and self._settings.on_loss is TorquePolicy.HOLD:
            return seen
        if self._settings.on_loss is TorquePolicy.RELEASE:
            self.servos.release()
            self._released = True
        else:  # they may have lost their power meanwhile, and all that they were told
            self.servos.goal = goal
            self.servos.set_up()
        self._lost_s = None
        self.servos.counts.found += 1
        self._tell(FaultKind.SILENT, f"all servos answer again after {self._now() - since_s:.1f} s")
        return seen

    def _hint(self) -> str:
        if self.servos.is_connected and self.servos.seen.unfit():
            return "let it cool down, lighten its load"
        return "power, cable and adapter"


def _gone(port: SerialPort) -> BodyError:
    return BodyError(f"the port {port.path} is gone", hint="is the cable plugged in?")
