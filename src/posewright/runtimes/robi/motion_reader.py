"""Reads the pose data of a program as a motion: what it writes to the pose block becomes keyframes.

Poses are taken in the order of the file, as if the program waited for the end of each move. Computations,
calls and jumps are not followed but listed as remarks. `motion_writer` explains the words and does the
opposite.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from posewright.errors import InputError
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Light, Robot, Servo
from posewright.robots import robot as find_robot
from posewright.robots.lights import MAX_BRIGHTNESS
from posewright.runtimes.robi.memory import FULL_PERCENT, TICKS_PER_S, WORD_BYTES, RobiMemory
from posewright.runtimes.robi.motion_writer import ROBOT, led_addresses
from posewright.runtimes.robi.program import Op, Rm4Program

MAX_KEYFRAMES = 10_000


@dataclass(frozen=True)
class ProgramMotion:
    """The pose data of a program as a motion, with remarks about what else the program contains."""

    motion: Motion
    remarks: tuple[str, ...]


def program_to_motion(program: Rm4Program, name: str | None = None) -> ProgramMotion:
    """Return the pose data of a program as a motion.

    Args:
        program: the program.
        name: the name of the motion; that of the program's file by default.

    Raises:
        InputError: the program moves nothing, or has too many moves.
    """
    reader = _PoseBlockReader(find_robot(ROBOT))
    skipped = Counter[str]()
    for tag in program.tags:
        if tag.op is Op.MEM_W and tag.values:
            reader.write(tag.address, tag.size, tag.values)
        elif tag.op is not Op.VERBATIM:
            skipped[str(tag.op)] += 1
    if name is None or not name:
        name = "robi" if program.path is None else re.sub(r"\.\w+$", "", program.path.name)
    remarks = [*reader.remarks()]
    if skipped:
        counts = ", ".join(f"{count} {op}" for op, count in skipped.items())
        remarks.append(f"not followed: {counts}")
    return ProgramMotion(reader.motion(name), tuple(remarks))


@dataclass
class _Move:
    """A move, as long as the joints of the motion are not yet known.

    Attributes:
        reach_s: duration of the move [s].
        lights: the lights that change.
        pause_s: pause after the move [s].
        angles: the angles by joint [rad].
        free: joints whose torque is switched off.
        torque_percents: torque by joint [%].
    """

    reach_s: float
    lights: dict[str, Light]
    pause_s: float = 0.0
    angles: dict[str, float] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    torque_percents: dict[str, int] = field(default_factory=dict)


class _PoseBlockReader:
    """Collects the moves from writes to the pose block."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._memory = RobiMemory()
        self._memory_map = self._memory.map
        self._cell_names: dict[int, str] = {}
        for name in ("position", "torque", "led", "time"):
            for address in self._memory_map[name].addresses:
                self._cell_names[address] = name
        self._moves: list[_Move] = []
        self._written_words: set[int] = set()  # addresses of words written since the last move
        self._last_lights: dict[str, Light] = {}  # in the last move that changed them
        self._moved_joints: set[str] = set()  # whose position or torque was ever written
        self._free_joints = set(robot.joint_names)  # all have no torque at power-on
        self._n_words_elsewhere = 0  # written outside the pose block

    def write(self, address: int, size: int, values: Sequence[int]) -> None:
        """Apply the writes of a tag; writing the time word makes a move of all that was written before.

        Args:
            address: the address of the first value.
            size: the size of each value [byte].
            values: the values that the tag writes, one after the other.
        """
        block = range(self._memory_map["position"].address, self._memory_map["time"].address + WORD_BYTES)
        value_addresses = range(address, address + size * len(values), size)
        for value_address, value in zip(value_addresses, values, strict=True):
            if value_address not in block:
                self._n_words_elsewhere += 1
                continue
            self._memory.write(value_address, size, value)
            word = value_address & ~1  # a single byte changes the word that it is in
            cell = self._cell_names.get(word)
            if cell == "time":
                if self._memory.get("time"):
                    self._add_move(self._memory.get("time") / TICKS_PER_S)
            elif cell is not None:
                self._written_words.add(word)

    def _add_move(self, seconds: float) -> None:
        """Add a move of what was written; a time word alone is a pause."""
        if not self._written_words and self._moves:
            self._moves[-1].pause_s += seconds
            return
        if len(self._moves) == MAX_KEYFRAMES:
            message = f"the program has more than {MAX_KEYFRAMES:,} moves"
            raise InputError(message, hint=f"a motion has at most {MAX_KEYFRAMES:,} keyframes")
        move = _Move(seconds, self._changed_lights())
        for joint, servo in zip(self._robot.joint_names, self._robot.servos, strict=True):
            self._read_servo(move, joint, servo)
        still_free = {joint for joint in self._free_joints if joint not in move.angles}
        self._free_joints = move.free | still_free
        self._written_words.clear()
        self._moves.append(move)

    def _read_servo(self, move: _Move, joint: str, servo: Servo) -> None:
        """Add angle, torque and release of a joint to a move.

        A joint is released if its torque was written or left 0. It gets an angle if its position was written,
        or if its torque comes back. Its torque is added in every move after the first that names it.
        """
        servo_id = servo.id or 0
        has_position = self._memory_map["position"].address_of(servo_id) in self._written_words
        has_torque = self._memory_map["torque"].address_of(servo_id) in self._written_words
        percent = min(self._memory.get("torque", servo_id), FULL_PERCENT)
        if has_position or has_torque:
            self._moved_joints.add(joint)
            if not percent:
                move.free.add(joint)
            elif has_position or joint in self._free_joints:
                move.angles[joint] = servo.from_ticks(self._memory.get("position", servo_id))
        if joint in self._moved_joints and percent:
            move.torque_percents[joint] = percent

    def _changed_lights(self) -> dict[str, Light]:
        """Return the lights that have changed since the last move."""
        changed: dict[str, Light] = {}
        for led in self._robot.leds:
            addresses = led_addresses(self._memory_map, led.name)
            values = [min(float(self._memory.read(address, 2)), MAX_BRIGHTNESS) for address in addresses]
            light: Light = values[0]
            if len(values) > 1:
                red, green, blue = values
                light = (red, green, blue)
            if self._written_words.intersection(addresses) and self._last_lights.get(led.name) != light:
                self._last_lights[led.name] = light
                changed[led.name] = light
        return changed

    def motion(self, name: str) -> Motion:
        """Return the moves as a motion.

        Raises:
            InputError: there is none.
        """
        if not self._moves or not self._moved_joints:
            hint = "a move is positions in the pose block and a time at 0x0a7e"
            raise InputError("the program moves no joint", hint=hint)
        joints = tuple(joint for joint in self._robot.joint_names if joint in self._moved_joints)
        keyframes = tuple(self._build_keyframe(move, joints) for move in self._moves)
        return Motion(name, self._robot.name, joints, keyframes, card=self._robot)

    def _build_keyframe(self, move: _Move, joints: tuple[str, ...]) -> Keyframe:
        """Return a move as a keyframe of joints; those without an angle are NaN."""
        angles = np.array([move.angles.get(joint, math.nan) for joint in joints])
        stiffness: dict[str, float] = {}
        for joint, percent in move.torque_percents.items():
            if percent < FULL_PERCENT:
                stiffness[joint] = self._robot.servo(joint).stiffness * percent / FULL_PERCENT
        pose = Pose(joints, angles, frozenset(move.free))
        return Keyframe(
            pose, move.reach_s, move.pause_s, stiffness=stiffness or None, lights=move.lights or None
        )

    def remarks(self) -> Iterator[str]:
        """Yield a sentence about writes outside of the pose block, if there were any."""
        if self._n_words_elsewhere:
            yield f"not followed: {self._n_words_elsewhere} words written elsewhere than to the pose block"
