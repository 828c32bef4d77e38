"""The direction wizard: moves each joint a little, and asks the user in which direction it moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from posewright.buses.dynamixel.calibration import Calibration, apply_calibration
from posewright.buses.dynamixel.servo_setup import require_supported_models
from posewright.buses.dynamixel.torque import hold_position, released_after_errors, servo_ids
from posewright.errors import BodyError, InputError, UnknownNameError

if TYPE_CHECKING:
    from posewright.buses.dynamixel.bus import Bus
    from posewright.robots import Robot

STEP_TICKS = 17
"""How far a joint is moved: 5 degrees of an AX-12."""

ARRIVED_TICKS = 4
POLL_S = 0.05
MOVE_TIMEOUT_S = 2.0


class ObservedDirection(Enum):
    """In which direction a joint moved, as the user saw it."""

    AS_DESCRIBED = "as described"
    OPPOSITE = "the opposite"
    NOTHING = "nothing moved"


YES = "yes"
NO = "no"


@dataclass(frozen=True, slots=True)
class WizardQuestion:
    """A question to the user.

    Attributes:
        joint: the joint that it is about.
        text: the question.
        answers: accepted answers: `yes` and `no`, or an `ObservedDirection` or another joint.
    """

    joint: str
    text: str
    answers: tuple[str, ...]


Ask = Callable[[WizardQuestion], str]
"""Returns the user's answer; Ctrl-C there ends the wizard with the torque off."""

_POSITIVE_DIRECTIONS = {
    ("pitch", "knee"): "the limb below it swings back",
    ("roll", "elbow"): "the limb below it swings to the robot's left",
    ("yaw", "pan"): "its front turns to the robot's left",
}
"""What a positive rotation looks like, by the last word of a joint's name (REP-103: x forward, y left)."""


def describe_positive_direction(joint: str) -> str:
    """Return what the user sees when a joint's angle grows."""
    suffix = joint.rpartition("_")[2]
    for suffixes, description in _POSITIVE_DIRECTIONS.items():
        if suffix in suffixes:
            return description
    return "its angle grows, by the robot's card"


@dataclass(slots=True, eq=False)
class DirectionWizard:
    """Finds reversed servos and swapped IDs: moves one joint a little and asks in which direction it moved.

    The robot hangs or lies. Nothing moves before a yes; a joint moves by 5 degrees and back, gently and
    within its own and its servo's limits; its torque is restored afterwards. Any error, and Ctrl-C, switches
    all torque off.

    Attributes:
        bus: the open bus.
        robot: its card, uncalibrated.
        ask: asks the user.
        sleep: waits for a time [s].
    """

    bus: Bus
    robot: Robot
    ask: Ask
    sleep: Callable[[float], None]
    _reversed: set[str] = field(default_factory=set)  # joints that moved opposite to the description
    _moving_ids: dict[str, int] = field(default_factory=dict)  # by joint, the ID whose servo moved it

    def run(self, joints: Iterable[str], name: str) -> Calibration:
        """Ask about each joint, and return the reversed servos and swapped IDs as a calibration.

        Raises:
            InputError: the answers contradict each other.
            BodyError: a servo does not answer, does not arrive, or is of a model that cannot be driven.
        """
        with released_after_errors(self.bus, self.robot):
            require_supported_models(self.bus, self.robot)
            for joint in joints:
                self._test_direction(self.robot, joint)
            card = apply_calibration(self.robot, self._calibration(name))
            for joint in list(self._moving_ids):  # its direction was tested with another servo's ID
                another_joint_moved = self._test_direction(card, joint)
                if another_joint_moved:
                    raise InputError(f"{joint} still moves another joint", hint="start again")
        return self._calibration(name)

    def _calibration(self, name: str) -> Calibration:
        """Return what was found so far: reversed joints, and the IDs that differ from the card's."""
        card_ids = servo_ids(self.robot)
        ids = {
            joint: servo_id for joint, servo_id in self._moving_ids.items() if card_ids.get(joint) != servo_id
        }
        reversed_joints = [joint for joint in self.robot.joint_names if joint in self._reversed]
        return Calibration(name, self.robot.name, reversed=tuple(reversed_joints), ids=ids)

    def _test_direction(self, card: Robot, joint: str) -> bool:
        """Move a joint and store the user's answer; return whether another joint moved.

        The user is asked first whether it may move, and again after it had no room or nothing was seen to
        move; without a yes the joint is left as it is.

        Args:
            card: the robot, with the IDs that are known by now.
            joint: the joint.
        """
        (servo_id,) = servo_ids(card, [joint]).values()
        other_joints = tuple(name for name in self.robot.joint_names if name != joint)
        permission = f"may {joint} (ID {servo_id}) move by 5 degrees and back?"
        while self._answer(WizardQuestion(joint, permission, (YES, NO))) == YES:
            step = _choose_step(self.bus, card, joint)
            if step is None:
                permission = f"{joint} has no room: put it by hand between its limits; may it move then?"
                continue
            self._move_and_return(servo_id, step.goal_ticks)
            description = describe_positive_direction(joint)
            if not step.increases_angle:
                description = f"not {description}, but the opposite"
            text = f"in which direction did {joint} move? as described is: {description}"
            directions = tuple(direction.value for direction in ObservedDirection)
            answer = self._answer(WizardQuestion(joint, text, (*directions, *other_joints)))
            if answer in other_joints:
                self._moving_ids[answer] = servo_id
                return True
            if answer == ObservedDirection.OPPOSITE.value:
                self._reversed.add(joint)
            if answer != ObservedDirection.NOTHING.value:
                return False
            permission = f"may {joint} (ID {servo_id}) move once more?"
        return False

    def _answer(self, question: WizardQuestion) -> str:
        """Return the user's answer, or raise UnknownNameError if it is not among the accepted ones."""
        answer = self.ask(question)
        if answer not in question.answers:
            raise UnknownNameError.among("answer", answer, question.answers)
        return answer

    def _move_and_return(self, servo_id: int, goal: int) -> None:
        """Move a servo to a goal [ticks] and back; restore its speed and torque."""
        previous_values = {name: self.bus.read(servo_id, name) for name in ("moving_speed", "torque_enable")}
        start_ticks = hold_position(self.bus, servo_id)
        for position in (goal, start_ticks):
            self.bus.write(servo_id, "goal_position", position)
            self._wait_for_arrival(servo_id, position)
        for name, value in previous_values.items():
            self.bus.write(servo_id, name, value)

    def _wait_for_arrival(self, servo_id: int, goal: int) -> None:
        """Wait until a servo reaches a goal [ticks]; raise a BodyError after a time."""
        for _ in range(round(MOVE_TIMEOUT_S / POLL_S)):
            self.sleep(POLL_S)
            if abs(self.bus.read(servo_id, "present_position") - goal) <= ARRIVED_TICKS:
                return
        message = f"the servo with ID {servo_id} does not arrive at tick {goal}"
        raise BodyError(message, hint="it is blocked, or too weak")


class _Step(NamedTuple):
    """A small movement of a joint: its goal [ticks], and whether the joint's angle increases."""

    goal_ticks: int
    increases_angle: bool


def _choose_step(bus: Bus, card: Robot, joint: str) -> _Step | None:
    """Choose a small movement of a joint within its limits, those of the card and those in its servo.

    Returns:
        The movement, with an increasing angle if possible; None if there is no room.
    """
    servo = card.servo(joint)
    limits = card.joint(joint)
    (servo_id,) = servo_ids(card, [joint]).values()
    servo_low = bus.read(servo_id, "cw_angle_limit")
    servo_high = bus.read(servo_id, "ccw_angle_limit")
    if servo_low == servo_high == 0:
        hint = "write cw_angle_limit and ccw_angle_limit first"
        raise BodyError(f"{bus.name(servo_id)} is in wheel mode", hint=hint)
    position = bus.read(servo_id, "present_position")
    joint_low, joint_high = sorted(
        round(servo.to_ticks(limit)) for limit in (limits.lower_rad, limits.upper_rad)
    )
    for sign in (1, -1):
        goal = position + sign * servo.direction * STEP_TICKS
        if max(servo_low, joint_low) <= goal <= min(servo_high, joint_high):
            return _Step(goal, increases_angle=sign > 0)
    return None
