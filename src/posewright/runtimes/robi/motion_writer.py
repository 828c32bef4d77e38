"""Converts a motion to a program that plays it.

A keyframe becomes writes to the pose block: positions, torques, LEDs and, in its last word, the time.

    mem_w 2 0x0a00 = 0x0000, 0x0000, ...     ; all 64 words of the block, if all are known
    call wait                                ; until the time word is 0 again

If a motion moves only some joints, or sets no lights, only their words are written; a time word alone is a
pause. Words are 0.1 deg with the servo's own sign, per cent of its own stiffness (0 is torque off), 0..255
for an LED, and 1/60 s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.formats import Rounding
from posewright.formats.path_losses import describe_lost_sound
from posewright.formats.writing import describe_limit_violations
from posewright.motions import Keyframe, Motion, robot_of_motion, straighten_motion
from posewright.robots import Robot
from posewright.runtimes.robi.catalogue import link
from posewright.runtimes.robi.memory import (
    FULL_PERCENT,
    POSE_WORDS,
    TICKS_PER_S,
    WORD_BYTES,
    MemoryMap,
    memory_map,
)
from posewright.runtimes.robi.program import Rm4Program

ROBOT = "deagostini_robi2"
MAX_TICKS = 0xFFFF
MAX_REPETITIONS = 100
"""A motion with more repetitions is played once."""

_COLOURS = ("red", "green", "blue")


@dataclass(frozen=True)
class ConvertedMotion:
    """A motion as a program.

    Attributes:
        program: the program that plays it.
        losses: what of the motion the program does not contain.
        remarks: what the program leaves out without effect.
        rounding: the largest changes of a keyframe's angle and time.
    """

    program: Rm4Program
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    rounding: Rounding

    @property
    def rounding_remarks(self) -> tuple[str, ...]:
        """Sentences about the rounding of angles and times."""
        remarks: list[str] = []
        largest_deg = math.degrees(self.rounding.angle_rad)
        if largest_deg > 1e-6:
            remarks.append(f"angles are rounded by up to {largest_deg:.3f} deg: a word is 0.1 deg")
        if self.rounding.time_s > 1e-6:
            largest_ms = 1000.0 * self.rounding.time_s
            remarks.append(f"keyframes come up to {largest_ms:.1f} ms early or late: times are in 1/60 s")
        return tuple(remarks)


def motion_to_program(motion: Motion, *, straighten: bool = False) -> ConvertedMotion:
    """Return a program that plays a motion.

    Args:
        motion: the motion of a Robi 2.
        straighten: whether to replace curved moves by several straight ones; the servos move in straight
            lines.

    Raises:
        InputError: the motion is for another robot, or a move or pause is longer than a time word allows.
    """
    robot = robot_of_motion(motion)
    if robot.name != ROBOT:
        hint = f"`posewright motion convert --robot {ROBOT}` transfers its joints by name"
        raise InputError(f"motion {motion.name!r} is for {robot.name}, not {ROBOT}", hint=hint)
    if straighten:
        motion = straighten_motion(motion, grid_s=1.0 / TICKS_PER_S)
    writer = _PoseBlockWriter(motion, robot)
    lines = ["motion:", *writer.write_lines()]
    lines.append("    jump motion" if motion.repeat is None else "    return")
    repetitions = motion.repeat or 1
    if 1 < repetitions <= MAX_REPETITIONS:
        lines = [*["    call motion"] * repetitions, "    return", *lines]
    return ConvertedMotion(
        link("\n".join(lines)),
        losses=(*_losses(motion), *writer.losses()),
        remarks=tuple(writer.remarks()),
        rounding=Rounding(writer.max_angle_error_rad, writer.max_time_error_s),
    )


def _losses(motion: Motion) -> Iterator[str]:
    """Yield what of a motion no program can contain."""
    easings = sorted({keyframe.easing.value for keyframe in motion.keyframes if keyframe.is_curved})
    if easings:
        yield (
            f"easing {', '.join(easings)}: servos move at constant speed; "
            "straightening replaces it by many short moves"
        )
    if (motion.repeat or 1) > MAX_REPETITIONS:
        yield f"repetitions: 1 instead of {motion.repeat}"
    yield from describe_lost_sound(motion)
    if motion.next is not None:
        yield f"the next motion, {motion.next!r}"
    if motion.exit is not None:
        yield f"the exit motion, {motion.exit!r}"
    if motion.start is not None:
        yield "the start pose"


class _PoseBlockWriter:
    """Writes a motion keyframe by keyframe and tracks the content of the pose block.

    Attributes:
        max_angle_error_rad: largest rounding of an angle [rad].
        max_time_error_s: largest deviation of a keyframe's time [s].
    """

    def __init__(self, motion: Motion, robot: Robot) -> None:
        self.max_angle_error_rad = 0.0
        self.max_time_error_s = 0.0
        self._motion = motion
        self._robot = robot
        self._memory_map = memory_map()
        self._servo_of_joint = {joint: robot.servo(joint) for joint in motion.joints}
        self._written_words: dict[int, int] = {}  # of the pose block, by address
        self._n_instant_keyframes = 0
        self._limited_joints: set[str] = set()  # whose stiffness is out of range

    def write_lines(self) -> Iterator[str]:
        """Yield the listing of all keyframes.

        Each move ends at the tick nearest to its time from the beginning of the motion, so that rounding
        errors do not add up. Sets `max_time_error_s`.
        """
        planned_ticks = 0.0
        written_ticks = 0
        for keyframe in self._motion.keyframes:
            planned_ticks += keyframe.reach_s / self._motion.speed * TICKS_PER_S
            ticks = max(1, round(planned_ticks) - written_ticks)
            if keyframe.reach_s == 0.0:
                self._n_instant_keyframes += 1
            written_ticks += ticks
            time_error_s = abs(planned_ticks - written_ticks) / TICKS_PER_S
            self.max_time_error_s = max(self.max_time_error_s, time_error_s)
            yield from self._write_move(self._convert_keyframe(keyframe), ticks)
            planned_ticks += keyframe.pause_s / self._motion.speed * TICKS_PER_S
            pause_ticks = round(planned_ticks) - written_ticks
            if keyframe.pause_s and pause_ticks > 0:
                yield from self._write_move({}, pause_ticks)
                written_ticks += pause_ticks

    def _convert_keyframe(self, keyframe: Keyframe) -> dict[int, int]:
        """Return the words that a keyframe writes, by address; held joints keep their words.

        Side effects: updates `_written_words`, `max_angle_error_rad` and the joints whose stiffness is
        limited.
        """
        words: dict[int, int] = {}
        for joint, angle_rad in zip(keyframe.pose.joints, keyframe.pose.angles.tolist(), strict=True):
            servo = self._servo_of_joint[joint]
            position_address = self._memory_map["position"].address_of(servo.id or 0)
            torque_address = self._memory_map["torque"].address_of(servo.id or 0)
            if joint in keyframe.pose.free:
                words[torque_address] = 0
                continue
            percent = self._torque_percent(keyframe, joint)
            if not math.isnan(angle_rad):
                ticks = round(servo.to_ticks(angle_rad))
                error_rad = abs(servo.from_ticks(ticks) - angle_rad)
                self.max_angle_error_rad = max(self.max_angle_error_rad, error_rad)
                words[position_address] = ticks & 0xFFFF
                words[torque_address] = percent
            elif self._written_words.get(torque_address, 0) not in {0, percent}:
                words[torque_address] = percent  # a held joint with torque changes its stiffness
        for name, light in (keyframe.lights or {}).items():
            self._robot.led(name)  # raises if there is no such light
            brightnesses = light if isinstance(light, tuple) else (light,) * len(_COLOURS)
            # a light without colours has a single address
            for address, brightness in zip(led_addresses(self._memory_map, name), brightnesses, strict=False):
                words[address] = round(brightness)
        self._written_words |= words
        return words

    def _torque_percent(self, keyframe: Keyframe, joint: str) -> int:
        """Return the torque of a joint, at least 1, since 0 would switch it off."""
        stiffness = (keyframe.stiffness or {}).get(joint)
        if stiffness is None:
            return FULL_PERCENT
        percent = round(FULL_PERCENT * stiffness / self._servo_of_joint[joint].stiffness)
        if not 1 <= percent <= FULL_PERCENT:
            self._limited_joints.add(joint)
        return max(1, min(percent, FULL_PERCENT))

    def _write_move(self, words: Mapping[int, int], ticks: int) -> Iterator[str]:
        """Yield the lines that write words and then the time; the whole block, once all of it is known.

        Raises:
            InputError: the move is longer than a time word allows.
        """
        if ticks > MAX_TICKS:
            message = f"a move or pause of {self._motion.name!r} lasts {ticks / TICKS_PER_S:.0f} s"
            raise InputError(message, hint=f"a time word allows at most {MAX_TICKS / TICKS_PER_S:.0f} s")
        if words and self._is_block_known():
            start = self._memory_map["position"].address
            block_addresses = range(start, start + WORD_BYTES * POSE_WORDS, WORD_BYTES)
            words = {address: self._written_words.get(address, 0) for address in block_addresses}
        for address, values in _group_adjacent({**words, self._memory_map["time"].address_of(): ticks}):
            yield f"    mem_w 2 {address:#06x} = {', '.join(f'{value:#06x}' for value in values)}"
        yield "    call wait"

    def _is_block_known(self) -> bool:
        """Whether position and torque of all servos, and all LEDs, have been written."""
        addresses = set(self._memory_map["led"].addresses)
        for servo in self._robot.servos:
            addresses |= {self._memory_map[cell].address_of(servo.id or 0) for cell in ("position", "torque")}
        return self._written_words.keys() >= addresses

    def losses(self) -> Iterator[str]:
        """Yield what of the motion the program does not contain; call it after `write_lines`."""
        if self._limited_joints:
            joints = ", ".join(joint for joint in self._motion.joints if joint in self._limited_joints)
            yield f"the stiffness of {joints}: torque is 1 to 100 per cent of the servo's own"
        if self._n_instant_keyframes:
            yield f"jumps of {self._n_instant_keyframes} keyframes: a move takes at least 1/60 s"
        yield from describe_limit_violations(self._motion)

    def remarks(self) -> Iterator[str]:
        """Yield a sentence about joints that the motion never sets, if there are any."""
        unset_joints: list[str] = []
        for joint, servo in self._servo_of_joint.items():
            if self._memory_map["torque"].address_of(servo.id or 0) not in self._written_words:
                unset_joints.append(joint)
        if unset_joints:
            yield f"never set, so nothing is written for {', '.join(unset_joints)}"


def led_addresses(cells: MemoryMap, name: str) -> tuple[int, ...]:
    """Return the addresses of a light's words: one, or those of red, green and blue."""
    addresses = {led: cells["led"].address_of(number) for number, led in enumerate(cells["led"].names, 1)}
    if name in addresses:
        return (addresses[name],)
    return tuple(addresses[f"{name}_{colour}"] for colour in _COLOURS)


def _group_adjacent(words: Mapping[int, int]) -> Iterator[tuple[int, list[int]]]:
    """Yield groups of adjacent words: the address of the first, and the values of all.

    Args:
        words: values by address.
    """
    start = 0
    values: list[int] = []
    for address in sorted(words):
        if values and address != start + WORD_BYTES * len(values):
            yield start, values
            values = []
        if not values:
            start = address
        values.append(words[address])
    if values:
        yield start, values
