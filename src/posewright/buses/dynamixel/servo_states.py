"""What a bus body knows of its joints: where each was seen last, and what its servo complains of."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import Fault, FaultKind
from posewright.buses.dynamixel.answers import count_bits, fault_kinds
from posewright.buses.dynamixel.control_table import signed
from posewright.buses.dynamixel.frames import Answers, FrameCounts, Reads
from posewright.buses.dynamixel.opening import JITTER_TICKS, Registers, torque_limit_of
from posewright.buses.dynamixel.packets import SPEED_RAD_S
from posewright.robots import Robot

FASTEST = 3.0
"""A joint that seems to move so many times as fast as its servo without load was not seen right."""

MEASURED = frozenset({FaultKind.OVERHEATED, FaultKind.VOLTAGE})
"""What is known of a servo only when its voltage and temperature are read."""

FULL_LOAD = 1023

REMEMBERED = 64
"""A servo that holds one of so many goals sent last did not hear the later ones."""

COOLER_C = 5
"""A servo that shut itself down is fit again when it is so much cooler than its limit; ours."""

SURE = 2
"""A torque limit is believed when it is read so often in a row: damage passes for it once, hardly twice."""

_STATE = struct.Struct("<BHHHHHHBB")
_POSITION = struct.Struct("<BH")


class ServoStates:
    """Where the joints of a robot are, by their servos' answers.

    Attributes:
        ticks: where each joint was seen last, `(n_joints,)` [ticks]; NaN before that.
        efforts: `(n_joints,)` [N m], load as a share of the stall torque; NaN where it was never read. An
            AX-12 does not measure torque: its load is what drives its motor.
        velocities: `(n_joints,)` [rad/s]; NaN as above.
        heard_s: when each was heard last [s].
        health: voltage [V] and temperature [degrees Celsius] by ID.
        wrong: columns of those that hold a goal that nobody sent.
    """

    def __init__(self, robot: Robot, ids: Sequence[int], counts: FrameCounts) -> None:
        n = len(ids)
        self._robot = robot
        self._counts = counts
        self._columns = {servo: column for column, servo in enumerate(ids)}
        self._names = [f"{joint} (ID {one})" for joint, one in zip(robot.joint_names, ids, strict=True)]
        self._directions = [servo.direction for servo in robot.servos]
        self._stalls = [servo.stall_torque_nm for servo in robot.servos]
        self._fastest = [
            FASTEST * servo.no_load_speed_rad_s / servo.tick_rad for servo in robot.servos
        ]  # [ticks/s]
        self._lasts = [servo.last_tick for servo in robot.servos]
        self.ticks: Floats = np.full(n, np.nan)
        self.efforts: Floats = np.full(n, np.nan)
        self.velocities: Floats = np.full(n, np.nan)
        self.heard_s: Floats = np.full(n, -np.inf)
        self.health: dict[int, tuple[float, int]] = {}
        self.wrong: set[int] = set()
        self._sent: deque[list[int]] = deque(maxlen=REMEMBERED)
        self._limits: dict[int, int] = {}
        self._read: dict[int, int] = {}
        self._odd: dict[int, int] = {}  # how often in a row another torque limit was read than was set
        self._memory: Mapping[int, Registers] = {}
        self._complaints: dict[int, frozenset[FaultKind]] = {}

    @property
    def positions(self) -> Floats:
        """Where each joint was seen last, `(n_joints,)` [rad]."""
        return self._robot.from_ticks(self.ticks)

    def begin(self, memory: Mapping[int, Registers], now_s: float) -> None:
        """Take over what the servos' control tables held, before they were set up."""
        self._memory = memory
        self._limits = {servo: torque_limit_of(one) for servo, one in memory.items()}
        self._odd.clear()
        self.wrong.clear()
        self.sent([memory[servo]["present_position"] for servo in self._columns])
        for servo, one in memory.items():
            column = self._columns[servo]
            self.ticks[column] = one["present_position"]
            self.heard_s[column] = now_s
            self.health[servo] = one["present_voltage"] / 10.0, one["present_temperature"]

    def take(self, answers: Answers, reads: Reads, now_s: float, time_s: float) -> tuple[Flags, list[Fault]]:
        """Take over what came in a frame; return which joints were seen, `(n_joints,)`, and what is wrong."""
        seen = np.zeros(len(self.ticks), np.bool_)
        faults: list[Fault] = []
        for servo, data in answers.whole.items():
            column = self._columns[servo]
            if reads is Reads.STATE:
                error, goal, _, limit, ticks, speed, load, decivolts, temperature = _STATE.unpack(data)
            else:
                error, ticks = _POSITION.unpack(data)
                goal = ticks
            reach = self._fastest[column] * (now_s - self.heard_s[column]) + JITTER_TICKS
            if max(goal, ticks) > self._lasts[column] or abs(ticks - self.ticks[column]) > reach:
                self._counts.implausible += 1
                faults.append(self._fault(time_s, column, FaultKind.GARBLED, f"says it is at tick {ticks}"))
                continue
            seen[column] = True
            self.ticks[column] = ticks
            self.heard_s[column] = now_s
            complaints = set(fault_kinds(error)) if error else set()
            if reads is Reads.STATE:
                self._drive(column, speed, load)
                self._odd[servo] = self._odd.get(servo, 0) + 1 if limit != self._limits[servo] else 0
                if self._is_wrong(column, goal):
                    what = f"holds tick {goal} as its goal, which nobody sent it"
                    faults.append(self._fault(time_s, column, FaultKind.GARBLED, what))
                self._read[servo] = limit
                self.health[servo] = decivolts / 10.0, temperature
                complaints |= self._out_of_limits(servo, decivolts, temperature)
            else:
                complaints |= self._complaints.get(servo, frozenset()) & MEASURED
            if error:
                count_bits(error, self._counts.reported)
            faults += self._new(servo, column, frozenset(complaints), time_s)
        for servo, kind in answers.missing.items():
            faults.append(self._fault(time_s, self._columns[servo], kind, kind.value))
        self._counts.answered += len(answers.whole)
        silent = sum(kind is FaultKind.SILENT for kind in answers.missing.values())
        self._counts.silent += silent
        self._counts.garbled += len(answers.missing) - silent
        return seen, faults

    def sent(self, goals: Sequence[int]) -> None:
        """Keep what the joints were sent, `(n_joints,)` [ticks]; they may have heard none of the next few."""
        self._sent.append(list(goals))

    def fallen_back(self) -> dict[int, tuple[FaultKind, str]]:
        """Return by column whose torque limit is another than was set, and what it says.

        It is 0 where a servo shut itself down, and its power-on value where the power was gone for a moment.
        """
        found: dict[int, tuple[FaultKind, str]] = {}
        for servo in (servo for servo, times in self._odd.items() if times >= SURE):
            column = self._columns[servo]
            is_hot = self._is_hot(servo)
            kind = FaultKind.OVERHEATED if is_hot else FaultKind.OVERLOADED
            why = f"shut itself down ({kind.value}) and is limp"
            if self._read[servo]:
                kind = FaultKind.VOLTAGE
                why = "lost its power for a moment, and what it was told"
            found[column] = kind, f"{self._names[column]} {why}"
        return found

    def unfit(self) -> list[int]:
        """Return the columns of those that shut themselves down and have not recovered."""
        return [
            self._columns[servo]
            for servo, times in self._odd.items()
            if times and not self._read[servo]
            if self._is_hot(servo) or FaultKind.OVERLOADED in self._complaints.get(servo, ())
        ]

    def _is_hot(self, servo: int) -> bool:
        return self.health[servo][1] > self._memory[servo]["temperature_limit"] - COOLER_C

    def forgive(self, seconds: float, now_s: float) -> None:
        """Let a time in which nobody could hear anything not count as silence [s]."""
        self.heard_s = np.minimum(self.heard_s + seconds, now_s)

    def silent(self, since_s: float) -> list[int]:
        """Return the columns of those that were not heard since then [s]."""
        return [int(column) for column in np.flatnonzero(self.heard_s <= since_s)]

    def names(self, columns: Sequence[int]) -> str:
        """Return the joints and IDs of some columns, for a message."""
        told = [self._names[column] for column in columns]
        return "every servo" if len(told) == len(self._names) else ", ".join(told)

    def _is_wrong(self, column: int, goal: int) -> bool:
        """Count a goal that nobody sent, once while it is there; return whether it is new."""
        if any(goals[column] == goal for goals in reversed(self._sent)):
            self.wrong.discard(column)
            return False
        is_new = column not in self.wrong
        self.wrong.add(column)
        self._counts.wrong_goals += is_new
        return is_new

    def _drive(self, column: int, speed: int, load: int) -> None:
        direction = self._directions[column]
        self.velocities[column] = direction * signed(speed) * SPEED_RAD_S
        self.efforts[column] = direction * signed(load) / FULL_LOAD * self._stalls[column]

    def _out_of_limits(self, servo: int, decivolts: int, temperature: int) -> set[FaultKind]:
        memory = self._memory.get(servo)
        if memory is None:
            return set()
        found = set()
        if temperature >= memory["temperature_limit"]:
            found.add(FaultKind.OVERHEATED)
        if not memory["min_voltage_limit"] <= decivolts <= memory["max_voltage_limit"]:
            found.add(FaultKind.VOLTAGE)
        return found

    def _new(self, servo: int, column: int, now: frozenset[FaultKind], time_s: float) -> list[Fault]:
        """Return what a servo complains of that it did not before."""
        before = self._complaints.get(servo, frozenset())
        self._complaints[servo] = now
        volts, temperature = self.health.get(servo, (0.0, 0))
        about = f"{volts:.1f} V, {temperature} degrees Celsius"
        return [
            self._fault(time_s, column, kind, f"{kind.value} ({about})")
            for kind in FaultKind
            if kind in now - before
        ]

    def _fault(self, time_s: float, column: int, kind: FaultKind, what: str) -> Fault:
        return Fault(time_s, kind, f"{self._names[column]}: {what}", self._robot.joint_names[column])
