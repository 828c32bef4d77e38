"""The controller that runs a RoboBASIC program between the pulses of the servos."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import BodyState, Decision, JointCommands
from posewright.control import Controller, Seed
from posewright.robots import Robot
from posewright.runtimes.robobasic.ad_ports import AdPortSensor, assign_ports
from posewright.runtimes.robobasic.board import EVENT, BasicBoard
from posewright.runtimes.robobasic.inputs import BodyInputs, ScriptedInput
from posewright.runtimes.robobasic.machine import BasicMachine, CompiledProgram, StopReason
from posewright.runtimes.robobasic.servos import BoardServos, board_joints, board_parameters

IDLE_S = 2.0
"""A program that has no effect and gets no input for so long is considered waiting [s]; our choice."""

GYRO_AXES = {1: 1, 2: 0, 3: 1, 4: 0}
"""By gyro port, the axis of the base that it measures: 1 and 3 pitch, 2 and 4 roll, as public programs use
them for ankles and hips: `GYROSET G6A, 2, 1, 1, 1`, or `4, 3, 3, 3`."""

DEG_PER_S_OF_GYRO_COUNTS = 100.0
"""The turn rate for which `BoardParameters.gyro_counts` is the correction."""

MAX_SENSITIVITY = 255.0

REVERSED = 0
"""The direction of DIR for a servo whose counts decrease where those of another increase."""


class RoboBasicController(Controller):
    """Runs a RoboBASIC program that drives a RoboNova-1.

    Its decisions, and so a recording, contain events of the kind `robobasic`: `loop` when a loop outside of
    any routine comes round for the first time, `waits`, `end`, `error`, `running`, and the events of the
    board: `motor`, `out`, `print`, `music`, `sent`, ... After the end the servos finish their moves and hold.

    Args:
        robot: its servos have the board's numbers as IDs.
        program: the program.
        script: inputs of the ports over time.
        breakpoints: addresses before which the program stops.
        speed_counts_s: counts a second at SPEED 1; the board's by default.
        seed: the seed of RND.
        ad_sensors: sensors by their AD ports; by default the usual ones, changed by what the program's
            names indicate.

    Attributes:
        machine: the program's state: variables, next line, reason of a stop.
        inputs: the board's inputs.
        last_frame: the frame at which a program that is still running is reported; None for none.

    Raises:
        InputError: the robot is not driven by such a board.
    """

    def __init__(
        self,
        robot: Robot,
        program: CompiledProgram,
        *,
        script: Sequence[ScriptedInput] = (),
        breakpoints: Collection[int] = (),
        speed_counts_s: float | None = None,
        seed: Seed = 0,
        ad_sensors: Mapping[int, AdPortSensor] | None = None,
    ) -> None:
        self.robot = robot
        self.program = program
        self.last_frame: int | None = None
        self._script = tuple(script)
        self._breakpoints = tuple(breakpoints)
        self._speed_counts_s = speed_counts_s
        self._seed = seed
        self._ad_sensors = assign_ports((), program.source) if ad_sensors is None else ad_sensors
        self._servo_numbers = [*board_joints(robot)]
        # labels as the source spells them, by their name in capitals
        written_labels = {line.label.upper(): line.label for line in program.source.lines if line.label}
        labels_by_address = {address: key for key, address in program.labels.items()}
        self._label_addresses = sorted(labels_by_address)
        self._labels = [  # in the order of `_label_addresses`
            written_labels.get(labels_by_address[address], "") for address in self._label_addresses
        ]
        self._eeprom: dict[int, int] = {}
        self._earlier_frames = 0  # before the last restart
        self._frame = 0
        self.restart()

    def restart(self) -> None:
        """Start anew, as when the robot is switched off and on.

        The EEPROM keeps its content, and the count of all frames goes on; everything else is reset.
        """
        self._earlier_frames += self._frame
        self.inputs = BodyInputs(self.robot, self._script, ad_sensors=self._ad_sensors)
        servos = BoardServos({}, self.robot.frame_period_s, self._speed_counts_s)
        board = BasicBoard(
            servos, self.inputs, eeprom=self._eeprom, random_generator=np.random.default_rng(self._seed)
        )
        self.machine = BasicMachine(self.program, board, breakpoints=self._breakpoints)
        self._frame = 0  # since this start
        self._idle_frames = 0  # for so many frames the program has only waited
        self._is_started = False
        self._reported_stop: StopReason | None = None
        self._last_label: str | None = None  # in the last decision
        self._reported_loops: set[int] = set()  # addresses of their first statements
        self._farthest_address = 0
        self._previous_progress: tuple[object, ...] = ()  # by which idle frames are recognised
        self._events: list[tuple[str, Mapping[str, object]]] = []  # for the next decision

    def ends_at(self, until_s: float) -> None:
        """Set when the run ends at the latest [s]; a program that still runs then is reported."""
        if math.isfinite(until_s):  # the runner rejects other values
            self.last_frame = round(until_s / self.robot.frame_period_s)

    @property
    def max_idle_frames(self) -> int:
        """The number of idle frames after which a program is considered waiting."""
        return max(1, round(IDLE_S / self.robot.frame_period_s))

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen: the program has stopped, or waits for input that never comes."""
        is_waiting = self._is_idle() and self.inputs.is_exhausted
        has_stopped = self.machine.stop_reason is not None
        return (has_stopped or is_waiting) and not self.machine.board.servos.is_moving

    @property
    def label(self) -> str:
        """The label above the statement that comes next; empty above the first."""
        return self._label_at(self.machine.address)

    def _label_at(self, address: int) -> str:
        """Return the last label at or before an address, as written; empty above the first."""
        index = bisect_right(self._label_addresses, address) - 1
        return self._labels[index] if index >= 0 else ""

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the commands of one frame, or of up to `n` frames while a DELAY lasts.

        The rows end with the first frame that has a decision, or after which the DELAY is over.
        """
        if not self._is_started:
            self._start(state)
        rows: list[Floats] = []
        free: Flags | None = None
        decision: Decision | None = None
        for frame in range(n):
            self._run_frame(state)
            if frame == 0:
                free = self._free_joints()  # a DELAY does not change it in further frames
            frame_decision = self._collect_decision()
            rows.append(self._joint_angles(state))
            decision = decision or frame_decision
            if frame_decision is not None or not self._is_in_delay():
                break
        return JointCommands(np.array(rows), free=free, decision=decision)

    def _start(self, state: BodyState) -> None:
        """Set the board's servos to the positions of the body; unknown ones stay in the middle."""
        self._is_started = True
        counts = self.robot.to_ticks(state.positions)
        for servo, count in zip(self._servo_numbers, counts, strict=True):
            if math.isfinite(count):
                self.machine.board.servos.positions[servo] = float(count)

    def _is_in_delay(self) -> bool:
        """Whether a DELAY lasts beyond the next pulse and no gyro corrects servos meanwhile."""
        if self.machine.board.gyros:
            return False
        is_ahead = self.machine.clock_us >= (self._frame + 1) * self.machine.pulse_us
        return is_ahead and self.machine.stop_reason is None

    def _run_frame(self, state: BodyState) -> None:
        """Run the program up to the next pulse, send the pulse, and collect the events."""
        machine = self.machine
        self.inputs.update(state, self._frame * self.robot.frame_period_s)
        self._frame += 1
        is_running = machine.stop_reason is None
        if is_running:
            self._reported_stop = None  # the program may have gone on from a breakpoint
            machine.run_until(self._frame * machine.pulse_us)
        self._events += [(EVENT, event) for event in machine.board.events]
        machine.board.events.clear()
        if is_running:
            self._report_loops()
            self._count_idle_frames()
            if self._earlier_frames + self._frame == self.last_frame and not self._is_idle():
                self._add_event("running", line=machine.line, label=self.label)
        machine.board.servos.send_pulse()
        if machine.stop_reason is not self._reported_stop:
            self._report_stop()

    def _report_loops(self) -> None:
        """Add an event for each loop that came round for the first time."""
        for address in self.machine.loop_counts.keys() - self._reported_loops:
            self._reported_loops.add(address)
            self._add_event("loop", line=self.program.lines[address], label=self._label_at(address))

    def _count_idle_frames(self) -> None:
        """Count the frames without progress or input; add an event once, when the program counts as waiting.

        Progress is a change of a variable, an effect on the board, the motion of a servo, or a statement
        farther in the program than any before. Frames inside a DELAY do not count.
        """
        machine = self.machine
        servos_move = machine.board.servos.is_moving
        self._farthest_address = max(self._farthest_address, machine.address)
        progress = (
            tuple(machine.values),
            machine.board.effect_count,
            servos_move,
            self._farthest_address,
        )
        in_delay = machine.clock_us > (self._frame + 1) * machine.pulse_us
        if progress != self._previous_progress or servos_move or not self.inputs.is_exhausted:
            self._idle_frames = 0
        elif not in_delay:
            self._idle_frames += 1
            if self._idle_frames == self.max_idle_frames:
                readings = machine.board.port_readings
                ports = sorted(port for port in readings if not port.startswith("MOTORIN"))
                self._add_event("waits", line=machine.line, label=self.label, looks_at=ports)
        self._previous_progress = progress

    def _is_idle(self) -> bool:
        return self._idle_frames >= self.max_idle_frames

    def _report_stop(self) -> None:
        """Add an event for why the program stopped."""
        machine = self.machine
        self._reported_stop = machine.stop_reason
        if machine.stop_reason is StopReason.ERROR:
            self._add_event("error", line=machine.line, label=self.label, message=str(machine.error))
        elif machine.stop_reason is not None:
            reason = machine.stop_reason.value
            self._add_event("end", line=machine.line, label=self.label, reason=reason)

    def _add_event(self, kind: str, **details: object) -> None:
        self._events.append((EVENT, {"what": kind, **details}))

    def _free_joints(self) -> Flags | None:
        """Return which joints have their torque off, `(n_joints,)`; None if none has."""
        torque_enabled = self.machine.board.servos.torque_enabled
        free = np.array([torque_enabled[servo] is False for servo in self._servo_numbers])
        return free if free.any() else None

    def _joint_angles(self, state: BodyState) -> Floats:
        """Return the joint angles sent, with the corrections of gyros, `(n_joints,)` [rad]."""
        servos = self.machine.board.servos
        counts = np.array([servos.positions[servo] for servo in self._servo_numbers])
        if self.machine.board.gyros:
            counts = counts + self._gyro_corrections(state)
        low, high = board_parameters().counts
        return self.robot.from_ticks(np.clip(counts, low, high))

    def _gyro_corrections(self, state: BodyState) -> Floats:
        """Return the corrections by gyros, which counter the turn of the base, `(n_joints,)` [counts].

        A correction is proportional to the turn rate about the gyro's axis and to its sensitivity, and
        limited. It is 0 without an IMU, and for a servo without a gyro.
        """
        parameters = board_parameters()
        board = self.machine.board
        corrections = np.zeros(len(self._servo_numbers))
        angular_velocity = state.sensors.get("imu.angular_velocity")
        if angular_velocity is None:
            return corrections
        rates_deg_s = np.degrees(np.asarray(angular_velocity, dtype=np.float64))
        max_counts = parameters.gyro_limit_counts
        for index, servo in enumerate(self._servo_numbers):
            gyro = board.gyros.get(servo)
            axis = GYRO_AXES.get(gyro.port) if gyro is not None else None
            if gyro is None or axis is None:
                continue
            relative_rate = float(rates_deg_s[axis] / DEG_PER_S_OF_GYRO_COUNTS)
            counts = parameters.gyro_counts * gyro.sensitivity / MAX_SENSITIVITY * relative_rate
            limited_counts = float(np.clip(counts, -max_counts, max_counts))
            # a reversed servo inverts the correction once more
            is_reversed = board.servos.directions[servo] == REVERSED
            is_inverted = gyro.inverted != is_reversed
            corrections[index] = -limited_counts if is_inverted else limited_counts
        return corrections

    def _collect_decision(self) -> Decision | None:
        """Return a decision if the label changed or events occurred, and clear the events."""
        label = self.label
        if label == self._last_label and not self._events:
            return None
        self._last_label = label
        events = tuple(self._events)
        self._events = []
        readings = dict(sorted(self.machine.board.port_readings.items()))
        self.machine.board.port_readings.clear()
        return Decision(label or "the first lines", readings, self.machine.variables, events=events)
