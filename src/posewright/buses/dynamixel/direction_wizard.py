"""The direction wizard: one joint after the other moves a little, and a person says which way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from posewright.buses.dynamixel.calibration import Calibration, apply
from posewright.buses.dynamixel.torque import hold_here, released_after_errors, servo_ids
from posewright.errors import BodyError, InputError, UnknownNameError

if TYPE_CHECKING:
    from posewright.buses.dynamixel.bus import Bus
    from posewright.robots import Robot

STEP_TICKS = 17
"""How far a joint is moved: 5 degrees of an AX-12."""

ARRIVED_TICKS = 4
POLL_S = 0.05
LONGEST_WAY_S = 2.0


class Way(Enum):
    """What a person saw a joint do."""

    AS_TOLD = "as told"
    OTHER_WAY = "the other way"
    NOTHING = "nothing moved"


YES = "yes"
NO = "no"


@dataclass(frozen=True, slots=True)
class Question:
    """What the wizard wants to know.

    Attributes:
        answers: what may be answered: `yes` and `no`, or a `Way` or another joint.
    """

    joint: str
    text: str
    answers: tuple[str, ...]


Ask = Callable[[Question], str]
"""Asks a person; Ctrl-C there ends the wizard, torque off."""

_POSITIVE = {
    ("pitch", "knee"): "what hangs from it swings back",
    ("roll", "elbow"): "what hangs from it swings to the robot's left",
    ("yaw", "pan"): "its front turns to the robot's left",
}
"""What a joint does that goes up, by the last word of its name (REP-103: x forward, y left, z up)."""


def positive_way(joint: str) -> str:
    """Return what a person sees where a joint's angle grows."""
    word = joint.rpartition("_")[2]
    told = (way for words, way in _POSITIVE.items() if word in words)
    return next(told, "its angle grows, as the robot's card has it")


@dataclass(slots=True, eq=False)
class DirectionWizard:
    """Moves one joint a little and asks which way it went: finds reversed servos and swapped IDs.

    The robot hangs or lies. Nothing moves before a yes; a joint goes 5 degrees and back, gently and within
    its own and its servo's limits; its torque is then as it was. Any error, and Ctrl-C, takes all torque off.

    Attributes:
        robot: its card, as it ships.
        sleep: lets time pass [s].
    """

    bus: Bus
    robot: Robot
    ask: Ask
    sleep: Callable[[float], None]
    _reversed: set[str] = field(default_factory=set)
    _found_ids: dict[str, int] = field(default_factory=dict)

    def run(self, joints: Iterable[str], name: str) -> Calibration:
        """Ask about each joint, and return what was found.

        Raises:
            InputError: what was answered does not fit together.
            BodyError: a servo does not answer, or does not arrive.
        """
        with released_after_errors(self.bus, self.robot):
            for joint in joints:
                self._try(self.robot, joint)
            card = apply(self.robot, self._calibration(name))
            for joint in list(self._found_ids):  # which way it goes was seen of its own servo only
                if self._try(card, joint):
                    raise InputError(f"{joint} still moves another joint", hint="begin again")
        return self._calibration(name)

    def _calibration(self, name: str) -> Calibration:
        own = servo_ids(self.robot)
        ids = {joint: number for joint, number in self._found_ids.items() if own.get(joint) != number}
        places = [joint for joint in self.robot.joint_names if joint in self._reversed]
        return Calibration(name, self.robot.name, reversed=tuple(places), ids=ids)

    def _try(self, card: Robot, joint: str) -> bool:
        """Move a joint and note what happened; tell whether another one moved."""
        (number,) = servo_ids(card, [joint]).values()
        others = tuple(name for name in self.robot.joint_names if name != joint)
        may = f"may {joint} (ID {number}) move by 5 degrees and back?"
        while self._answer(Question(joint, may, (YES, NO))) == YES:
            step = _step(self.bus, card, joint)
            if step is None:
                may = f"{joint} has no room: put it by hand between its limits; may it move then?"
                continue
            self._nudge(number, step[0])
            told = positive_way(joint) if step[1] > 0 else f"not {positive_way(joint)}, but the opposite"
            text = f"which way did {joint} move? as told is: {told}"
            said = self._answer(Question(joint, text, (*(way.value for way in Way), *others)))
            if said in others:
                self._found_ids[said] = number
                return True
            if said == Way.OTHER_WAY.value:
                self._reversed.add(joint)
            if said != Way.NOTHING.value:
                return False
            may = f"may {joint} (ID {number}) move once more?"
        return False

    def _answer(self, question: Question) -> str:
        said = self.ask(question)
        if said not in question.answers:
            raise UnknownNameError.among("answer", said, question.answers)
        return said

    def _nudge(self, number: int, goal: int) -> None:
        before = {name: self.bus.read(number, name) for name in ("moving_speed", "torque_enable")}
        here = hold_here(self.bus, number)
        for place in (goal, here):
            self.bus.write(number, "goal_position", place)
            self._arrive(number, place)
        for name, value in before.items():
            self.bus.write(number, name, value)

    def _arrive(self, number: int, goal: int) -> None:
        for _ in range(round(LONGEST_WAY_S / POLL_S)):
            self.sleep(POLL_S)
            if abs(self.bus.read(number, "present_position") - goal) <= ARRIVED_TICKS:
                return
        raise BodyError(f"ID {number} does not arrive at {goal} ticks", hint="is it blocked, or too weak?")


def _step(bus: Bus, card: Robot, joint: str) -> tuple[int, int] | None:
    """Return where a joint goes to be seen [ticks], and whether its angle grows (1) or falls (-1).

    None where there is no room within the limits, those of the joint and those in its servo.
    """
    servo = card.servo(joint)
    limits = card.joint(joint)
    (number,) = servo_ids(card, [joint]).values()
    low, high = (bus.read(number, name) for name in ("cw_angle_limit", "ccw_angle_limit"))
    if low == high == 0:
        hint = "an endless turn: write cw_angle_limit and ccw_angle_limit first"
        raise BodyError(f"{bus.name(number)} is in wheel mode", hint=hint)
    here = bus.read(number, "present_position")
    ends = sorted(round(servo.to_ticks(end)) for end in (limits.lower_rad, limits.upper_rad))
    for sign in (1, -1):
        goal = here + sign * servo.direction * STEP_TICKS
        if max(low, ends[0]) <= goal <= min(high, ends[1]):
            return goal, sign
    return None
