"""Robi's pose data as a motion: what a program writes to the pose block, keyframe by keyframe.

Poses are taken in the order of the file, as if the end of each move was waited for; what a program computes,
calls and jumps over is told, not followed. What words mean is told in `motions.py`, which goes the other way.
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
from posewright.robots import Light, Robot, Servo, robot
from posewright.robots.lights import BRIGHTEST
from posewright.runtimes.robi.memory import FULL_PERCENT, TICKS_PER_S, Memory
from posewright.runtimes.robi.motions import ROBOT, led_addresses
from posewright.runtimes.robi.program import Op, Program

MOST_KEYFRAMES = 10_000


@dataclass(frozen=True)
class ProgramMotion:
    """The pose data of a program as a motion, and in words what else the program says."""

    motion: Motion
    remarks: tuple[str, ...]


def program_motion(program: Program, name: str | None = None) -> ProgramMotion:
    """Return the pose data of a program as a motion.

    Args:
        program: what is read.
        name: of the motion; default that of the program's file.

    Raises:
        InputError: the program moves nothing.
    """
    reader, aside = _Reader(robot(ROBOT)), Counter[str]()
    for node in program.nodes:
        if node.op is Op.MEM_W and node.values:
            reader.write(node.address, node.size, node.values)
        elif node.op is not Op.KEPT:
            aside[str(node.op)] += 1
    stem = "robi" if program.path is None else re.sub(r"\.\w+$", "", program.path.name)
    followed = ", ".join(f"{count} {op}" for op, count in aside.items())
    told = (f"not followed: {followed}",) if followed else ()
    return ProgramMotion(reader.motion(name or stem), (*reader.remarks(), *told))


@dataclass
class _Moment:
    """A keyframe while it is not yet known which joints all of them have."""

    reach_s: float
    lights: dict[str, Light]
    pause_s: float = 0.0
    angles: dict[str, float] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    percents: dict[str, int] = field(default_factory=dict)


class _Reader:
    """Follows what is written to the pose block."""

    def __init__(self, card: Robot) -> None:
        self._card, self._memory = card, Memory()
        self._map = self._memory.map
        cells = ("position", "torque", "led", "time")
        self._cells = {address: cell for cell in cells for address in self._map[cell].addresses}
        self._lit: dict[str, Light] = {}
        self._moments: list[_Moment] = []
        self._fresh: set[int] = set()  # written since the last move
        self._known: set[str] = set()
        self._limp = set(card.joint_names)  # when it is switched on
        self._elsewhere = 0

    def write(self, address: int, size: int, values: Sequence[int]) -> None:
        """Take what a tag writes; the time word makes a keyframe of all that was written before."""
        block = range(self._map["position"].address, self._map["time"].address + 2)
        for at, value in zip(range(address, address + size * len(values), size), values, strict=True):
            if at not in block:
                self._elsewhere += 1
                continue
            self._memory.write(at, size, value)
            cell = self._cells.get(at & ~1)
            if cell == "time" and self._memory.get("time"):
                self._move(self._memory.get("time") / TICKS_PER_S)
            elif cell not in {"time", None}:
                self._fresh.add(at & ~1)

    def _move(self, seconds: float) -> None:
        if not self._fresh and self._moments:
            self._moments[-1].pause_s += seconds
            return
        if len(self._moments) == MOST_KEYFRAMES:
            raise InputError(
                f"more than {MOST_KEYFRAMES:,} moves", hint="no motion anybody wrote has so many"
            )
        moment = _Moment(seconds, self._lights())
        for joint, servo in zip(self._card.joint_names, self._card.servos, strict=True):
            self._follow(moment, joint, servo)
        self._limp = moment.free | {joint for joint in self._limp if joint not in moment.angles}
        self._fresh.clear()
        self._moments.append(moment)

    def _follow(self, moment: _Moment, joint: str, servo: Servo) -> None:
        number = servo.id or 0
        is_placed, is_set = (self._map[cell].at(number) in self._fresh for cell in ("position", "torque"))
        percent = min(self._memory.get("torque", number), FULL_PERCENT)
        if is_placed or is_set:
            self._known.add(joint)
            if not percent:
                moment.free.add(joint)
            elif is_placed or joint in self._limp:
                moment.angles[joint] = servo.from_ticks(self._memory.get("position", number))
        if joint in self._known and percent:
            moment.percents[joint] = percent

    def _lights(self) -> dict[str, Light]:
        """Return the lights that have changed since they were last looked at."""
        changed: dict[str, Light] = {}
        for led in self._card.leds:
            places = led_addresses(self._map, led.name)
            red, *others = (min(float(self._memory.read(at, 2)), BRIGHTEST) for at in places)
            light: Light = (red, others[0], others[1]) if others else red
            if self._fresh.intersection(places) and self._lit.get(led.name) != light:
                self._lit[led.name] = changed[led.name] = light
        return changed

    def motion(self, name: str) -> Motion:
        """Return what was written as a motion."""
        if not self._moments or not self._known:
            raise InputError(
                "the program moves nothing", hint="a move is positions in the pose block and a time at 0x0a7e"
            )
        joints = tuple(joint for joint in self._card.joint_names if joint in self._known)
        return Motion(
            name, self._card.name, joints, tuple(self._keyframe(one, joints) for one in self._moments)
        )

    def _keyframe(self, one: _Moment, joints: tuple[str, ...]) -> Keyframe:
        angles = np.array([one.angles.get(joint, math.nan) for joint in joints])
        stiffness = {
            joint: self._card.servo(joint).stiffness * percent / FULL_PERCENT
            for joint, percent in one.percents.items()
            if percent < FULL_PERCENT
        }
        pose = Pose(joints, angles, frozenset(one.free))
        return Keyframe(
            pose, one.reach_s, one.pause_s, stiffness=stiffness or None, lights=one.lights or None
        )

    def remarks(self) -> Iterator[str]:
        """Yield what was written besides, in words."""
        if self._elsewhere:
            yield f"not followed: {self._elsewhere} words written elsewhere than to the pose block"
