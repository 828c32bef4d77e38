"""The servo engine: what each servo is to do is read through its parameter table, every frame.

How we read the notes, which say only that writing the time word moves all servos to the pose in that time: a
move of n frames leads every servo in equal steps from what it was last commanded to where its table leads.
Tables, positions and torques are read anew each frame, so that what is written or mapped during a move counts
from then on, and the move ends at its time all the same. While no move is under way positions are held,
whatever is written; torques and LEDs always count at once. A servo without torque is taken to be commanded to
where it is, so that it does not jump when it gets some.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.errors import InputError
from posewright.robots import Rgb, Robot
from posewright.robots.lights import BRIGHTEST
from posewright.runtimes.robi.memory import FULL_PERCENT, TABLE_OFFSET, TICKS_PER_S, Memory, signed

FRAME_PERIOD_S = 1.0 / TICKS_PER_S


@dataclass(frozen=True, slots=True)
class Excess:
    """What is asked of a servo beyond a limit of it.

    Attributes:
        what: position, as words say it, torque or speed.
    """

    id: int
    what: str
    asked: float
    limit: float
    unit: str

    def __str__(self) -> str:
        asked, limit = (f"{value:.4g} {self.unit}" for value in (self.asked, self.limit))
        return f"{self.what} of ID {self.id} is to be {asked}, and its limit is {limit}"


class ServoEngine:
    """Moves the servos of a Robi as its memory says, and writes to it where they are.

    Args:
        robot: its servos have the IDs of the memory's parameter tables, and ticks of 0.1 deg from zero.

    Attributes:
        shown: what the lights showed last.

    Raises:
        InputError: the robot is no Robi.
    """

    def __init__(self, robot: Robot, memory: Memory) -> None:
        if abs(robot.frame_period_s - FRAME_PERIOD_S) > 1e-6:
            what = f"{robot.name} has a frame of {robot.frame_period_s:g} s"
            raise InputError(what, hint=f"a Robi has one of 1/60 s ({FRAME_PERIOD_S:.6g} s)")
        self.memory = memory
        self.ids = tuple(servo.id for servo in robot.servos if servo.id is not None)
        known = memory.map["table_position"].count
        if len(self.ids) != len(robot.servos) or not all(1 <= number <= known for number in self.ids):
            raise InputError(f"not every servo of {robot.name} has an ID of a Robi", hint=f"1..{known}")
        self._robot = robot
        self._limits = np.sort(robot.to_ticks(np.array(robot.limits)), axis=0)
        self._own_stiffness: Floats = np.array([servo.stiffness for servo in robot.servos])
        self._measured: Floats = np.zeros(len(self.ids))
        self._command: Floats | None = None
        self.shown: Mapping[str, Rgb] = {}

    @property
    def is_moving(self) -> bool:
        """Whether a move is under way."""
        return self.memory.get("time") > 0

    @property
    def mapped(self) -> tuple[int, ...]:
        """IDs whose position and torque are not both read from their own place in the pose block, rising."""
        known, get = self.memory.map, self.memory.get
        return tuple(
            number
            for number in sorted(self.ids)
            if any(
                get(f"table_{cell}", number) != known[cell].at(number) + TABLE_OFFSET
                for cell in ("position", "torque")
            )
        )

    def see(self, state: BodyState) -> None:
        """Write where the servos are to the memory; one that the body did not look at stays as it was.

        Raises:
            InputError: a parameter table leads out of the memory.
        """
        ticks = self._robot.to_ticks(state.positions)
        self._measured = np.where(np.isfinite(ticks), ticks, self._measured)
        if self._command is None:
            self._command = self._measured.copy()
        words = np.clip(np.rint(self._measured), -0x8000, 0x7FFF).astype(int).tolist()
        for number, word in zip(self.ids, words, strict=True):
            self.memory.write(self._place("table_measured", number, offset=0), 2, word & 0xFFFF)

    def excesses(self) -> Iterator[Excess]:
        """Yield what is asked of servos beyond their limits by the move that is under way, and in torque.

        Raises:
            InputError: a parameter table leads out of the memory.
        """
        left, command = self.memory.get("time"), self._measured if self._command is None else self._command
        lower, upper = self._limits
        fastest = np.degrees(self._robot.max_speeds)
        for i, number in enumerate(self.ids):
            torque, goal = (
                self.through("table_torque", number),
                signed(self.through("table_position", number)),
            )
            if torque > FULL_PERCENT:
                yield Excess(number, "torque", torque, FULL_PERCENT, "%")
            if torque == 0 or left == 0:
                continue
            if not lower[i] - 0.5 <= goal <= upper[i] + 0.5:
                limit = lower[i] if goal < lower[i] else upper[i]
                yield Excess(number, "position", goal / 10.0, float(limit) / 10.0, "deg")
            speed = abs(goal - float(command[i])) / 10.0 / (left * FRAME_PERIOD_S)
            if speed > fastest[i]:
                yield Excess(number, "speed", speed, float(fastest[i]), "deg/s")

    def frame(self) -> JointCommands:
        """Return what the servos do in the next frame, one row.

        Raises:
            InputError: a parameter table leads out of the memory.
        """
        goals = np.array(
            [signed(self.through("table_position", number)) for number in self.ids], dtype=np.float64
        )
        torques = np.array([self.through("table_torque", number) for number in self.ids])
        command = self._measured if self._command is None else self._command
        left = self.memory.get("time")
        if left:
            command = command + (goals - command) / left
            self.memory.set("time", left - 1)
        free = torques == 0
        self._command = np.where(free, self._measured, command)
        share = np.minimum(torques, FULL_PERCENT) / FULL_PERCENT
        return JointCommands(
            self._robot.from_ticks(self._command)[np.newaxis],
            free=free if free.any() else None,
            stiffness=share * self._own_stiffness,
            lights=self._new_lights(),
        )

    def _new_lights(self) -> Mapping[str, Rgb] | None:
        """Return the lights, None where they show what they showed."""
        lights = self.lights()
        if lights == self.shown:
            return None
        self.shown = lights
        return lights

    def lights(self) -> Mapping[str, Rgb]:
        """Return what each light of the robot shows, its words read through the LED table."""
        names = self.memory.map["led_table"].names
        words = {name: min(self.through("led_table", n), BRIGHTEST) for n, name in enumerate(names, 1)}
        return {
            led.name: led.shown(
                (words[f"{led.name}_red"], words[f"{led.name}_green"], words[f"{led.name}_blue"])
                if led.has_colours
                else words[led.name]
            )
            for led in self._robot.leds
        }

    def through(self, table: str, number: int) -> int:
        """Return the word that an entry of a table leads to, or raise InputError."""
        return self.memory.read(self._place(table, number), 2)

    def _place(self, table: str, number: int, offset: int = TABLE_OFFSET) -> int:
        entry, cell = self.memory.get(table, number), self.memory.map[table]
        if not 0 <= entry - offset <= self.memory.map.size - 2:
            what = f"{table} of {cell.called(number)} is {entry:#06x}, which leads outside the memory"
            raise InputError(
                what, hint=f"an address + {offset:#06x}; that of the first is {cell.initial:#06x}"
            )
        return entry - offset
