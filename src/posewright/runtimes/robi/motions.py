"""Motions as Robi's pose data: a program that plays one.

A keyframe is what a program writes to the pose block: positions, torques, LEDs and, its last word, the time.

    mem_w 2 0x0a00 = 0x0000, 0x0000, ...     ; all 64 words of the block, where all are known
    call wait                                ; until the time word is 0 again

Where a motion moves some joints only, or says nothing of lights, only their words are written; a time word on
its own is a pause. Words are 0.1 deg with the servo's own sign, per cent of its own stiffness (0 is torque
off), 0..255 for an LED, and 1/60 s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.formats import Rounding
from posewright.formats.writing import describe_limit_violations
from posewright.motions import Keyframe, Motion, robot_of_motion, straighten_motion
from posewright.robots import Robot
from posewright.runtimes.robi.memory import FULL_PERCENT, POSE_WORDS, TICKS_PER_S, MemoryMap, memory_map
from posewright.runtimes.robi.program import Program
from posewright.runtimes.robi.programs import linked

ROBOT = "deagostini_robi2"
MOST_TICKS = 0xFFFF
MOST_CALLS = 100
"""A motion that is repeated more often is written once."""

_COLOURS = ("red", "green", "blue")


@dataclass(frozen=True)
class MotionProgram:
    """A motion as a program.

    Attributes:
        losses: what of the motion it cannot hold, in words.
        remarks: what had to be said in another way, in words.
        rounding: the largest changes of an angle at a keyframe and of the time of one.
    """

    program: Program
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    rounding: Rounding

    @property
    def rounding_remarks(self) -> tuple[str, ...]:
        """What was rounded, in words."""
        remarks = []
        largest_deg = math.degrees(self.rounding.angle_rad)
        if largest_deg > 1e-6:
            remarks.append(f"angles are rounded by up to {largest_deg:.3f} deg: a word is 0.1 deg")
        if self.rounding.time_s > 1e-6:
            largest_ms = 1000.0 * self.rounding.time_s
            remarks.append(f"keyframes come up to {largest_ms:.1f} ms early or late: times are in 1/60 s")
        return tuple(remarks)


def motion_program(motion: Motion, *, straighten: bool = False) -> MotionProgram:
    """Return a program that plays a motion.

    Args:
        motion: of a Robi 2.
        straighten: whether ways that are not straight become several that are; its servos go straight.

    Raises:
        InputError: the motion is another robot's, or a way or pause is longer than a time word can say.
    """
    card = robot_of_motion(motion)
    if card.name != ROBOT:
        hint = f"`posewright motion convert --robot {ROBOT}` carries its joints over by their names"
        raise InputError(f"motion {motion.name!r} is for {card.name}", hint=hint)
    if straighten:
        motion = straighten_motion(motion, grid_s=1.0 / TICKS_PER_S)
    writer, again = _Writer(motion, card), motion.repeat or 1
    lines = ["motion:", *writer.lines(), "    jump motion" if motion.repeat is None else "    return"]
    if 1 < again <= MOST_CALLS:
        lines = [*["    call motion"] * again, "    return", *lines]
    program = linked("\n".join(lines))
    rounding = Rounding(writer.angle_rad, writer.time_s)
    return MotionProgram(program, (*_losses(motion), *writer.losses()), tuple(writer.remarks()), rounding)


def _losses(motion: Motion) -> Iterator[str]:
    curved = sorted({frame.easing.value for frame in motion.keyframes if frame.is_curved})
    if curved:
        yield f"easing {', '.join(curved)}: the servos go straight; straightened, many short ways meet it"
    if (motion.repeat or 1) > MOST_CALLS:
        yield f"that it repeats {motion.repeat} times: it is played once"
    if motion.next is not None:
        yield f"that motion {motion.next!r} comes next"
    if motion.exit is not None:
        yield f"that it is left through motion {motion.exit!r}"
    if motion.start is not None:
        yield "the pose it is to be started from"


class _Writer:
    """Writes a motion keyframe by keyframe, and knows what stands in the pose block by then.

    Attributes:
        angle_rad: the most that an angle was rounded [rad].
        time_s: the most that a keyframe comes too early or late [s].
    """

    def __init__(self, motion: Motion, card: Robot) -> None:
        self._motion, self._card, self._map = motion, card, memory_map()
        self._servos = {joint: card.servo(joint) for joint in motion.joints}
        self._block: dict[int, int] = {}
        self._jumps = 0
        self._bounded: set[str] = set()
        self.angle_rad = self.time_s = 0.0

    def lines(self) -> Iterator[str]:
        """Yield the listing of all keyframes; times are rounded so that none adds to the next."""
        wanted, said = 0.0, 0
        for frame in self._motion.keyframes:
            wanted += frame.reach_s / self._motion.speed * TICKS_PER_S
            ticks = max(1, round(wanted) - said)
            self._jumps += frame.reach_s == 0.0
            said += ticks
            self.time_s = max(self.time_s, abs(wanted - said) / TICKS_PER_S)
            yield from self._told(self._words(frame), ticks)
            wanted += frame.pause_s / self._motion.speed * TICKS_PER_S
            if frame.pause_s and round(wanted) > said:
                yield from self._told({}, round(wanted) - said)
                said = round(wanted)

    def _words(self, frame: Keyframe) -> dict[int, int]:
        """Return what a keyframe writes, by address; a joint that is held keeps its words."""
        words: dict[int, int] = {}
        for joint, angle in zip(frame.pose.joints, frame.pose.angles.tolist(), strict=True):
            servo = self._servos[joint]
            position, torque = (self._map[cell].at(servo.id or 0) for cell in ("position", "torque"))
            if joint in frame.pose.free:
                words[torque] = 0
            elif math.isnan(angle):
                if self._block.get(torque, 0) not in {0, percent := self._percent(frame, joint)}:
                    words[torque] = percent
            else:
                ticks = round(servo.to_ticks(angle))
                self.angle_rad = max(self.angle_rad, abs(servo.from_ticks(ticks) - angle))
                words[position], words[torque] = ticks & 0xFFFF, self._percent(frame, joint)
        for name, light in (frame.lights or {}).items():
            self._card.led(name)  # which refuses what is none
            values = light if isinstance(light, tuple) else (light,) * 3
            for address, value in zip(led_addresses(self._map, name), values, strict=False):
                words[address] = round(value)
        self._block |= words
        return words

    def _percent(self, frame: Keyframe, joint: str) -> int:
        """Return the torque of a joint; 0 would let it go, so it is at least 1."""
        wanted = (frame.stiffness or {}).get(joint)
        if wanted is None:
            return FULL_PERCENT
        percent = round(FULL_PERCENT * wanted / self._servos[joint].stiffness)
        if not 1 <= percent <= FULL_PERCENT:
            self._bounded.add(joint)
        return max(1, min(percent, FULL_PERCENT))

    def _told(self, words: Mapping[int, int], ticks: int) -> Iterator[str]:
        """Yield the lines that write words and then the time: the whole block, once all of it is known."""
        if ticks > MOST_TICKS:
            what = f"a way of {self._motion.name!r} lasts {ticks / TICKS_PER_S:.0f} s"
            raise InputError(what, hint=f"a time word says at most {MOST_TICKS / TICKS_PER_S:.0f} s")
        start, time = self._map["position"].at(), self._map["time"].at()
        needed = [
            self._map[cell].at(servo.id or 0)
            for cell in ("position", "torque")
            for servo in self._card.servos
        ]
        if words and self._block.keys() >= {*needed, *self._map["led"].addresses}:
            words = {start + 2 * i: self._block.get(start + 2 * i, 0) for i in range(POSE_WORDS)}
        for address, values in _runs({**words, time: ticks}):
            yield f"    mem_w 2 {address:#06x} = {', '.join(f'{value:#06x}' for value in values)}"
        yield "    call wait"

    def losses(self) -> Iterator[str]:
        """Yield what was lost on the way, in words."""
        if self._bounded:
            bounded = ", ".join(joint for joint in self._motion.joints if joint in self._bounded)
            yield f"the stiffness of {bounded}: torque is 1 to 100 per cent of the servo's own"
        if self._jumps:
            yield f"that {self._jumps} keyframes are jumped to: a move takes 1/60 s at least"
        yield from describe_limit_violations(self._motion)

    def remarks(self) -> Iterator[str]:
        """Yield what the program does not say, in words."""
        never = [
            joint
            for joint, servo in self._servos.items()
            if self._map["torque"].at(servo.id or 0) not in self._block
        ]
        if never:
            yield f"never set, so nothing is written for {', '.join(never)}"


def led_addresses(known: MemoryMap, name: str) -> tuple[int, ...]:
    """Return the words of a light: one, or those of its red, green and blue."""
    places = {part: known["led"].at(number) for number, part in enumerate(known["led"].names, 1)}
    return (places[name],) if name in places else tuple(places[f"{name}_{colour}"] for colour in _COLOURS)


def _runs(words: Mapping[int, int]) -> Iterator[tuple[int, list[int]]]:
    """Yield words that lie one after the other together, by the address of the first."""
    addresses = sorted(words)
    begins = [at for at in addresses if at - 2 not in words]
    for begin, end in zip(begins, [*begins[1:], math.inf], strict=True):
        yield begin, [words[at] for at in addresses if begin <= at < end]
