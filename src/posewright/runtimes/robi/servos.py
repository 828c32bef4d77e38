"""The servo engine: what each servo is to do is read through its parameter table, every frame.

How we read the notes, which say only that writing the time word moves all servos to the pose in that time: a
move of n frames leads every servo in equal steps from what it was last commanded to where its table leads.
Tables, positions and torques are read anew each frame, so that what is written or mapped during a move counts
from then on, and the move ends at its time all the same. While no move is under way positions are held,
whatever is written; torques and LEDs always count at once. A servo without torque is taken to be commanded to
where it is, so that it does not jump when it gets some.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.errors import InputError
from posewright.robots import Rgb, Robot
from posewright.robots.lights import BRIGHTEST
from posewright.runtimes.robi.memory import TABLE_OFFSET, Memory

FRAME_PERIOD_S = 1.0 / 60.0
"""The unit of the time word."""

FULL_TORQUE_PERCENT = 100
"""What is above counts as this."""


class ServoEngine:
    """Moves the servos of a Robi as its memory says, and writes to it where they are.

    Args:
        robot: its servos have the IDs of the memory's parameter tables, and ticks of 0.1 deg from zero.

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
        self._own_stiffness: Floats = np.array([servo.stiffness for servo in robot.servos])
        self._measured: Floats = np.zeros(len(self.ids))
        self._command: Floats | None = None
        self._shown: Mapping[str, Rgb] = {}

    @property
    def is_moving(self) -> bool:
        """Whether a move is under way."""
        return self.memory.get("time") > 0

    @property
    def mapped(self) -> tuple[int, ...]:
        """IDs whose position is not read from the pose block, rising."""
        pose, get = self.memory.map["position"], self.memory.get
        return tuple(
            number
            for number in sorted(self.ids)
            if get("table_position", number) != pose.at(number) + TABLE_OFFSET
        )

    def see(self, state: BodyState) -> None:
        """Write where the servos are to the memory; one that the body did not look at stays as it was."""
        ticks = self._robot.to_ticks(state.positions)
        self._measured = np.where(np.isfinite(ticks), ticks, self._measured)
        for number, word in zip(self.ids, np.rint(self._measured).tolist(), strict=True):
            self.memory.set("measured", max(-0x8000, min(int(word), 0x7FFF)), number)
        if self._command is None:
            self._command = self._measured.copy()

    def frame(self) -> JointCommands:
        """Return what the servos do in the next frame, one row.

        Raises:
            InputError: a parameter table leads out of the memory.
        """
        goals = np.array([self._signed("table_position", number) for number in self.ids], dtype=np.float64)
        torques = np.array([self._through("table_torque", number) for number in self.ids])
        command = self._measured if self._command is None else self._command
        left = self.memory.get("time")
        if left:
            command = command + (goals - command) / left
            self.memory.set("time", left - 1)
        free = torques == 0
        self._command = np.where(free, self._measured, command)
        share = np.minimum(torques, FULL_TORQUE_PERCENT) / FULL_TORQUE_PERCENT
        return JointCommands(
            self._robot.from_ticks(self._command)[np.newaxis],
            free=free if free.any() else None,
            stiffness=share * self._own_stiffness,
            lights=self._new_lights(),
        )

    def _new_lights(self) -> Mapping[str, Rgb] | None:
        """Return the lights, None where they show what they showed."""
        lights = self.lights()
        if lights == self._shown:
            return None
        self._shown = lights
        return lights

    def lights(self) -> Mapping[str, Rgb]:
        """Return what each light of the robot shows, its words read through the LED table."""
        names = self.memory.map["led_table"].names
        words = {name: min(self._through("led_table", n), BRIGHTEST) for n, name in enumerate(names, 1)}
        return {
            led.name: led.shown(
                (words[f"{led.name}_red"], words[f"{led.name}_green"], words[f"{led.name}_blue"])
                if led.has_colours
                else words[led.name]
            )
            for led in self._robot.leds
        }

    def _through(self, table: str, number: int) -> int:
        """Return the word that an entry of a table leads to."""
        entry = self.memory.get(table, number)
        try:
            return self.memory.read(entry - TABLE_OFFSET, 2)
        except InputError as error:
            what = f"{table} of {self.memory.map[table].called(number)} is {entry:#06x}, {error.message}"
            usual = self.memory.map[table].initial
            hint = f"an address + {TABLE_OFFSET:#06x}; that of the first is {usual:#06x}"
            raise InputError(what, hint=hint) from error

    def _signed(self, table: str, number: int) -> int:
        word = self._through(table, number)
        return word - 0x10000 if word & 0x8000 else word
