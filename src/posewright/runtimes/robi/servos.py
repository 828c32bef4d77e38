"""The servo engine: reads the goal of each servo through its parameter table, every frame.

This is our interpretation of the notes, which only say that writing the time word moves all servos to the
pose in that time: a move of n frames takes every servo in equal steps from its last command to the position
its table leads to. Tables, positions and torques are read anew each frame, so changes during a move take
effect at once, and the move still ends at its time. Without a move positions are held, whatever is written;
torques and LEDs always take effect at once. A servo without torque counts as commanded to its measured
position, so that it does not jump when the torque comes back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.errors import InputError
from posewright.robots import Rgb, Robot
from posewright.robots.lights import MAX_BRIGHTNESS
from posewright.runtimes.robi.memory import (
    FULL_PERCENT,
    TABLE_OFFSET,
    TICKS_PER_S,
    WORDS_PER_DEG,
    RobiMemory,
    signed,
)

FRAME_PERIOD_S = 1.0 / TICKS_PER_S

_ROUNDING = 0.5
"""Goals are whole words, limits are not: a goal may exceed a limit by half a word."""


@dataclass(frozen=True, slots=True)
class Excess:
    """A request to a servo beyond one of its limits.

    Attributes:
        id: the ID of the servo.
        quantity: `position`, with the sign of the memory's word, `torque` or `speed`.
        requested: value.
        limit: value.
        unit: the unit of both.
    """

    id: int
    quantity: str
    requested: float
    limit: float
    unit: str

    def __str__(self) -> str:
        requested = f"{self.requested:.4g} {self.unit}"
        limit = f"{self.limit:.4g} {self.unit}"
        return f"{self.quantity} of ID {self.id} is to be {requested}, and its limit is {limit}"


class ServoEngine:
    """Moves the servos of a Robi as its memory says, and writes their measured positions to it.

    Args:
        robot: its servos have the IDs of the memory's parameter tables, and ticks of 0.1 deg from zero.
        memory: the memory of the robot.

    Attributes:
        memory: the memory of the robot.
        ids: the IDs of the servos, in the order of the robot's joints.
        last_lights: the colours of the lights in the last frame.

    Raises:
        InputError: the robot is not a Robi.
    """

    def __init__(self, robot: Robot, memory: RobiMemory) -> None:
        if abs(robot.frame_period_s - FRAME_PERIOD_S) > 1e-6:
            message = f"a frame of {robot.name} lasts {robot.frame_period_s:g} s"
            raise InputError(message, hint=f"a frame of a Robi lasts 1/60 s ({FRAME_PERIOD_S:.6g} s)")
        self.memory = memory
        self.servo_ids = tuple(servo.id for servo in robot.servos if servo.id is not None)
        max_id = memory.map["table_position"].count
        if len(self.servo_ids) != len(robot.servos) or not all(
            1 <= servo_id <= max_id for servo_id in self.servo_ids
        ):
            message = f"{robot.name} has servos without an ID of a Robi"
            raise InputError(message, hint=f"expected IDs in 1..{max_id}")
        self.last_lights: Mapping[str, Rgb] = {}
        self._robot = robot
        self._lower_limits, self._upper_limits = np.sort(robot.to_ticks(np.array(robot.limits)), axis=0)
        self._full_stiffness: Floats = np.array([servo.stiffness for servo in robot.servos])
        # one element for each servo, in the robot's order
        self._measured_ticks: Floats = np.zeros(len(self.servo_ids))
        self._command_ticks: Floats | None = None

    @property
    def is_moving(self) -> bool:
        """Whether a move is running."""
        return self.memory.get("time") > 0

    @property
    def mapped_ids(self) -> tuple[int, ...]:
        """IDs, ascending, of servos that do not read position and torque from their pose block words."""
        return tuple(servo_id for servo_id in sorted(self.servo_ids) if self._is_mapped(servo_id))

    def _is_mapped(self, servo_id: int) -> bool:
        """Whether a table entry of a servo leads elsewhere than to its own word in the pose block."""
        for cell in ("position", "torque"):
            own_entry = self.memory.map[cell].address_of(servo_id) + TABLE_OFFSET
            if self.memory.get(f"table_{cell}", servo_id) != own_entry:
                return True
        return False

    def update_measured(self, state: BodyState) -> None:
        """Write the positions of the servos to the memory; unknown positions stay as they were.

        Raises:
            InputError: a parameter table leads out of the memory.
        """
        ticks = self._robot.to_ticks(state.positions)
        self._measured_ticks = np.where(np.isfinite(ticks), ticks, self._measured_ticks)
        if self._command_ticks is None:
            self._command_ticks = self._measured_ticks.copy()
        words = np.clip(np.rint(self._measured_ticks), -0x8000, 0x7FFF).astype(int).tolist()
        for servo_id, word in zip(self.servo_ids, words, strict=True):
            address = self._resolve_entry("table_measured", servo_id, offset=0)  # has plain addresses
            self.memory.write(address, 2, word & 0xFFFF)

    def iterate_excesses(self) -> Iterator[Excess]:
        """Yield what the program requests of the servos beyond their limits: torque, position and speed.

        Positions and speeds are checked only while a move runs, and only of servos with torque.

        Raises:
            InputError: a parameter table leads out of the memory.
        """
        frames_left = self.memory.get("time")
        command = self._measured_ticks if self._command_ticks is None else self._command_ticks
        max_speeds_deg_s = np.degrees(self._robot.max_speeds)
        for i, servo_id in enumerate(self.servo_ids):
            torque = self.read_table_target("table_torque", servo_id)
            goal = signed(self.read_table_target("table_position", servo_id))
            if torque > FULL_PERCENT:
                yield Excess(servo_id, quantity="torque", requested=torque, limit=FULL_PERCENT, unit="%")
            if torque == 0 or frames_left == 0:
                continue
            lower = self._lower_limits[i]
            upper = self._upper_limits[i]
            if not lower - _ROUNDING <= goal <= upper + _ROUNDING:
                limit = lower if goal < lower else upper
                yield Excess(
                    servo_id,
                    quantity="position",
                    requested=goal / WORDS_PER_DEG,
                    limit=float(limit) / WORDS_PER_DEG,
                    unit="deg",
                )
            speed_deg_s = abs(goal - float(command[i])) / WORDS_PER_DEG / (frames_left * FRAME_PERIOD_S)
            if speed_deg_s > max_speeds_deg_s[i]:
                yield Excess(
                    servo_id,
                    quantity="speed",
                    requested=speed_deg_s,
                    limit=float(max_speeds_deg_s[i]),
                    unit="deg/s",
                )

    def advance_frame(self) -> JointCommands:
        """Advance the running move by one frame, and return the commands of that frame, one row.

        A servo reads its goal and its torque from the words that the table entries point to, so that a
        program can map it to other words.

        Raises:
            InputError: a parameter table leads out of the memory.
        """
        positions = [
            signed(self.read_table_target("table_position", servo_id)) for servo_id in self.servo_ids
        ]
        goals = np.array(positions, dtype=np.float64)
        torques = np.array([self.read_table_target("table_torque", servo_id) for servo_id in self.servo_ids])
        command = self._measured_ticks if self._command_ticks is None else self._command_ticks
        frames_left = self.memory.get("time")
        if frames_left:
            command = command + (goals - command) / frames_left  # the last frame arrives at the goals
            self.memory.set("time", frames_left - 1)
        is_free = torques == 0
        self._command_ticks = np.where(is_free, self._measured_ticks, command)
        torque_fraction = np.minimum(torques, FULL_PERCENT) / FULL_PERCENT
        lights = self.lights()
        changed_lights = None if lights == self.last_lights else lights
        self.last_lights = lights
        return JointCommands(
            self._robot.from_ticks(self._command_ticks)[np.newaxis],
            free=is_free if is_free.any() else None,
            stiffness=torque_fraction * self._full_stiffness,
            lights=changed_lights,
        )

    def lights(self) -> Mapping[str, Rgb]:
        """Return the colour of each light of the robot, read through the LED table."""
        brightness: dict[str, float] = {}
        for number, name in enumerate(self.memory.map["led_table"].names, 1):
            brightness[name] = min(self.read_table_target("led_table", number), MAX_BRIGHTNESS)
        lights: dict[str, Rgb] = {}
        for led in self._robot.leds:
            if led.has_colours:
                red, green, blue = (brightness[f"{led.name}_{part}"] for part in ("red", "green", "blue"))
                lights[led.name] = led.displayed_colour((red, green, blue))
            else:
                lights[led.name] = led.displayed_colour(brightness[led.name])
        return lights

    def read_table_target(self, table: str, number: int) -> int:
        """Return the memory word that an entry of a table points to; `number` counts the entries from 1.

        Raises:
            InputError: it leads out of the memory.
        """
        return self.memory.read(self._resolve_entry(table, number), 2)

    def _resolve_entry(self, table: str, number: int, offset: int = TABLE_OFFSET) -> int:
        """Return the address that an entry of a table leads to; entries are addresses plus `offset`.

        Raises:
            InputError: the address is outside the memory.
        """
        entry = self.memory.get(table, number)
        cell = self.memory.map[table]
        if not 0 <= entry - offset <= self.memory.map.size - 2:
            name = cell.name_of(number)
            message = f"{table} of {name} is {entry:#06x}, which leads outside the memory"
            hint = f"an address + {offset:#06x}; that of the first is {cell.initial:#06x}"
            raise InputError(message, hint=hint)
        return entry - offset
