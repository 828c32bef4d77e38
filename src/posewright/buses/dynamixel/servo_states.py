"""States of a robot's servos as last read: positions, loads, voltages, temperatures and reported faults."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import Fault, FaultKind
from posewright.buses.dynamixel.answers import count_bits, fault_kinds
from posewright.buses.dynamixel.control_table import signed
from posewright.buses.dynamixel.frames import FrameAnswers, FrameCounts, ReadScope
from posewright.buses.dynamixel.packets import SPEED_RAD_S
from posewright.buses.dynamixel.servo_setup import JITTER_TICKS, Registers, torque_limit_for
from posewright.robots import Robot

MAX_SPEED_RATIO = 3.0
"""A position that a joint could reach only at so many times its servo's no-load speed is implausible."""

MEASURED = frozenset({FaultKind.OVERHEATED, FaultKind.VOLTAGE})
"""Faults that are known only when a servo's voltage and temperature are read."""

FULL_LOAD = 1023

REMEMBERED_GOALS = 64
"""A servo that holds one of so many goals sent last did not receive the later ones."""

COOLER_C = 5
"""A servo that shut itself down is fit again when it is so much cooler than its limit; ours."""

CONFIRMATIONS = 2
"""A changed torque limit counts after so many readings in a row: damage imitates it once, hardly twice."""

_STATE = struct.Struct("<BHHHHHHBB")
_POSITION = struct.Struct("<BH")


class _StateAnswer(NamedTuple):
    """Error byte and registers in the answer to a read of a servo's state, as `_STATE` unpacks them."""

    error: int
    goal: int
    moving_speed: int
    torque_limit: int
    position: int
    speed: int
    load: int
    decivolts: int
    temperature: int


class ServoReset(NamedTuple):
    """A servo that changed its torque limit by itself: the kind of fault, and a message about it."""

    kind: FaultKind
    message: str


class ServoStates:
    """The states of a robot's servos, updated from their answers.

    Attributes:
        ticks: position of each joint when it was last read, `(n_joints,)` [ticks]; NaN before that.
        efforts: `(n_joints,)` [N m], load as a share of the stall torque; NaN where it was never read. An
            AX-12 does not measure torque: its load is what drives its motor.
        velocities: `(n_joints,)` [rad/s]; NaN as above.
        answered_s: when each servo answered last [s].
        health: voltage [V] and temperature [degrees Celsius] by ID.
        wrong_goal_columns: columns of the servos that hold a goal that was never sent.
    """

    def __init__(self, robot: Robot, ids: Sequence[int], counts: FrameCounts) -> None:
        """Prepare arrays for the states, which are unknown before `initialise`."""
        n = len(ids)
        self._robot = robot
        self._counts = counts
        self._columns = {servo: column for column, servo in enumerate(ids)}
        self._names = [f"{joint} (ID {servo})" for joint, servo in zip(robot.joint_names, ids, strict=True)]
        self._directions = [servo.direction for servo in robot.servos]
        self._stall_torques = [servo.stall_torque_nm for servo in robot.servos]
        self._max_speeds = [  # [ticks/s]
            MAX_SPEED_RATIO * servo.no_load_speed_rad_s / servo.tick_rad for servo in robot.servos
        ]
        self._max_ticks = [servo.last_tick for servo in robot.servos]
        self.ticks: Floats = np.full(n, np.nan)
        self.efforts: Floats = np.full(n, np.nan)
        self.velocities: Floats = np.full(n, np.nan)
        self.answered_s: Floats = np.full(n, -np.inf)
        self.health: dict[int, tuple[float, int]] = {}
        self.wrong_goal_columns: set[int] = set()
        self._sent_goals: deque[list[int]] = deque(maxlen=REMEMBERED_GOALS)
        self._torque_limits: dict[int, int] = {}  # as set, by ID
        self._read_torque_limits: dict[int, int] = {}  # as read last, by ID
        self._n_limit_changes: dict[int, int] = {}  # readings in a row of another limit than set, by ID
        self._control_tables: Mapping[int, Registers] = {}  # before the servos were set up, by ID
        self._faults: dict[int, frozenset[FaultKind]] = {}  # reported last, by ID

    @property
    def positions(self) -> Floats:
        """Position of each joint when it was last read, `(n_joints,)` [rad]."""
        return self._robot.from_ticks(self.ticks)

    def initialise(self, control_tables: Mapping[int, Registers], now_s: float) -> None:
        """Initialise the states from the servos' control tables, read at `now_s` before they were set up."""
        self._control_tables = control_tables
        self._torque_limits = {
            servo_id: torque_limit_for(registers) for servo_id, registers in control_tables.items()
        }
        self._n_limit_changes.clear()
        self.wrong_goal_columns.clear()
        self.add_sent_goals([control_tables[servo_id]["present_position"] for servo_id in self._columns])
        for servo_id, registers in control_tables.items():
            column = self._columns[servo_id]
            self.ticks[column] = registers["present_position"]
            self.answered_s[column] = now_s
            volts = registers["present_voltage"] / 10.0
            self.health[servo_id] = (volts, registers["present_temperature"])

    def update(
        self, answers: FrameAnswers, scope: ReadScope, now_s: float, time_s: float
    ) -> tuple[Flags, list[Fault]]:
        """Update the states from the answers of a frame.

        Args:
            answers: the answers of the servos.
            scope: what was read of each.
            now_s: the time by the bus's clock [s].
            time_s: the time by the plant's clock, for faults [s].

        Returns:
            Which joints were read, `(n_joints,)`, and the faults.
        """
        is_read = np.zeros(len(self.ticks), np.bool_)
        faults: list[Fault] = []
        for servo_id, data in answers.complete.items():
            column = self._columns[servo_id]
            state: _StateAnswer | None = None
            if scope is ReadScope.STATE:
                state = _StateAnswer(*_STATE.unpack(data))
                error = state.error
                ticks = state.position
            else:
                error, ticks = _POSITION.unpack(data)
            if not self._is_plausible(column, ticks, now_s, goal=ticks if state is None else state.goal):
                self._counts.implausible += 1
                faults.append(
                    self._fault(time_s, column, kind=FaultKind.GARBLED, text=f"says it is at tick {ticks}")
                )
                continue
            is_read[column] = True
            self.ticks[column] = ticks
            self.answered_s[column] = now_s
            kinds = set(fault_kinds(error)) if error else set()
            if state is not None:
                self._update_drive(column, state.speed, state.load)
                self._count_changed_limit(servo_id, state.torque_limit)
                if self._is_new_wrong_goal(column, state.goal):
                    text = f"holds tick {state.goal} as its goal, which nobody sent it"
                    faults.append(self._fault(time_s, column, kind=FaultKind.GARBLED, text=text))
                self.health[servo_id] = (state.decivolts / 10.0, state.temperature)
                kinds |= self._limit_faults(servo_id, state.decivolts, state.temperature)
            else:  # faults of voltage and temperature last until these are read again
                kinds |= self._faults.get(servo_id, frozenset()) & MEASURED
            if error:
                count_bits(error, self._counts.reported)
            faults += self._new_faults(servo_id, column, kinds=frozenset(kinds), time_s=time_s)
        for servo_id in answers.late:
            self.answered_s[self._columns[servo_id]] = now_s
        for servo_id, kind in answers.missing.items():
            faults.append(self._fault(time_s, self._columns[servo_id], kind, text=kind.value))
        self._counts.answered += len(answers.complete)
        n_silent = sum(kind is FaultKind.SILENT for kind in answers.missing.values())
        self._counts.silent += n_silent
        self._counts.garbled += len(answers.missing) - n_silent
        return is_read, faults

    def _count_changed_limit(self, servo_id: int, torque_limit: int) -> None:
        """Store a torque limit that was read, and count the readings in a row with another one than set."""
        is_changed = torque_limit != self._torque_limits[servo_id]
        self._n_limit_changes[servo_id] = self._n_limit_changes.get(servo_id, 0) + 1 if is_changed else 0
        self._read_torque_limits[servo_id] = torque_limit

    def _is_plausible(self, column: int, ticks: int, now_s: float, *, goal: int) -> bool:
        """Return whether a joint can have moved to a position [ticks] since its last answer."""
        if max(goal, ticks) > self._max_ticks[column]:
            return False
        max_distance = self._max_speeds[column] * (now_s - self.answered_s[column]) + JITTER_TICKS
        # "not greater", as the comparison with NaN, before the first answer, is False
        return not abs(ticks - self.ticks[column]) > max_distance

    def add_sent_goals(self, goals: Sequence[int]) -> None:
        """Remember goals that were sent, `(n_joints,)` [ticks]; servos may miss the next few."""
        self._sent_goals.append(list(goals))

    def find_reset_servos(self) -> dict[int, ServoReset]:
        """Return the servos whose torque limit changed by itself, by column.

        The limit is 0 where a servo shut itself down, and its power-on value where the power was interrupted.
        """
        resets: dict[int, ServoReset] = {}
        for servo_id, n_changed in self._n_limit_changes.items():
            if n_changed < CONFIRMATIONS:
                continue
            column = self._columns[servo_id]
            if self._read_torque_limits[servo_id]:
                kind = FaultKind.VOLTAGE
                text = "lost its power for a moment, and with it its settings"
            else:
                kind = FaultKind.OVERHEATED if self._is_hot(servo_id) else FaultKind.OVERLOADED
                text = f"shut itself down ({kind.value}) and is limp"
            resets[column] = ServoReset(kind, f"{self._names[column]} {text}")
        return resets

    def unfit_columns(self) -> list[int]:
        """Return the columns of the servos that shut themselves down and are still hot or overloaded.

        A servo shuts itself down by setting its torque limit to 0, which then differs from the limit that was
        set. Its column is its index in all arrays of joints.
        """
        columns: list[int] = []
        for servo_id, n_changed in self._n_limit_changes.items():
            is_shut_down = n_changed > 0 and not self._read_torque_limits[servo_id]
            is_overloaded = FaultKind.OVERLOADED in self._faults.get(servo_id, ())
            if is_shut_down and (self._is_hot(servo_id) or is_overloaded):
                columns.append(self._columns[servo_id])
        return columns

    def _is_hot(self, servo_id: int) -> bool:
        _volts, temperature = self.health[servo_id]
        return temperature > self._control_tables[servo_id]["temperature_limit"] - COOLER_C

    def exclude_pause(self, pause_s: float, now_s: float) -> None:
        """Do not count a pause of this program, in which it did not read, as silence of the servos [s]."""
        self.answered_s = np.minimum(self.answered_s + pause_s, now_s)

    def silent_columns(self, since_s: float) -> list[int]:
        """Return the columns of the servos that have not answered since a time [s]."""
        return [int(column) for column in np.flatnonzero(self.answered_s <= since_s)]

    def names(self, columns: Sequence[int]) -> str:
        """Return joints and IDs of some columns, for a message."""
        if len(columns) == len(self._names):
            return "every servo"
        return ", ".join(self._names[column] for column in columns)

    def _is_new_wrong_goal(self, column: int, goal: int) -> bool:
        """Return whether a servo holds a goal that was never sent and was not counted yet; count it."""
        if any(goals[column] == goal for goals in reversed(self._sent_goals)):
            self.wrong_goal_columns.discard(column)
            return False
        is_new = column not in self.wrong_goal_columns
        self.wrong_goal_columns.add(column)
        self._counts.wrong_goals += is_new
        return is_new

    def _update_drive(self, column: int, speed: int, load: int) -> None:
        """Store velocity and effort of a joint from the servo's registers of speed and load."""
        direction = self._directions[column]
        self.velocities[column] = direction * signed(speed) * SPEED_RAD_S
        self.efforts[column] = direction * signed(load) / FULL_LOAD * self._stall_torques[column]

    def _limit_faults(self, servo_id: int, decivolts: int, temperature: int) -> set[FaultKind]:
        """Return the faults of a servo's voltage [0.1 V] and temperature by its own limits."""
        registers = self._control_tables.get(servo_id)
        if registers is None:
            return set()
        kinds = set()
        if temperature >= registers["temperature_limit"]:
            kinds.add(FaultKind.OVERHEATED)
        if not registers["min_voltage_limit"] <= decivolts <= registers["max_voltage_limit"]:
            kinds.add(FaultKind.VOLTAGE)
        return kinds

    def _new_faults(
        self, servo_id: int, column: int, kinds: frozenset[FaultKind], time_s: float
    ) -> list[Fault]:
        """Return the faults of some kinds that a servo's previous answer did not have; store the kinds."""
        previous = self._faults.get(servo_id, frozenset())
        self._faults[servo_id] = kinds
        volts, temperature = self.health.get(servo_id, (0.0, 0))
        health = f"{volts:.1f} V, {temperature} degrees Celsius"
        return [
            self._fault(time_s, column, kind, text=f"{kind.value} ({health})")
            for kind in FaultKind
            if kind in kinds - previous
        ]

    def _fault(self, time_s: float, column: int, kind: FaultKind, text: str) -> Fault:
        return Fault(
            time_s, kind, message=f"{self._names[column]}: {text}", joint=self._robot.joint_names[column]
        )
