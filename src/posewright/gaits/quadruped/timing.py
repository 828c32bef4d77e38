"""How long a foot is up and down, and what a gait can be asked for in that time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.gaits.command import VelocityCommand
from posewright.gaits.quadruped.parameters import GaitParameters

FRAMES_A_PAIR = 2
"""The document counts in pairs of frames: 16 ms on an AIBO."""

FEWEST_FRAMES = 4
"""A cycle of fewer would have steps without a frame: each of four feet may lift in one of its own."""

_ROUNDING = 1e-9
"""Up and down longer than a foot is in the air by this part of it is rounding: they fill just that time."""

_SLACK = 1e-9
"""A command beyond the greatest by so much, or by this part of it, is the greatest."""

_TINY = 1e-6

SHARE_A_STEP = 0.25
"""By so much of the greatest command the command changes from one step to the next."""


@dataclass(frozen=True, slots=True)
class GaitTiming:
    """The times of a cycle, which is a whole number of frames.

    Attributes:
        frames: of a cycle.
        period_s: of a cycle [s].
        ground_s: a foot is down [s].
        air_s: a foot is in the air [s].
        ascent_s: of these, on its way up; as long on its way down [s].
    """

    frames: int
    period_s: float
    ground_s: float
    air_s: float
    ascent_s: float

    @property
    def air_share(self) -> float:
        """The part of a cycle a foot is in the air."""
        return self.air_s / self.period_s


def timing_of(parameters: GaitParameters, frame_s: float) -> GaitTiming:
    """Return the times that follow from the parameters, the cycle rounded to whole frames.

    Raises:
        InputError: a foot would have to go up and down in less time than it is in the air.
    """
    wanted_s = (
        parameters.maximum_displacement_m / parameters.ground_speed_m_s * (1.0 + parameters.air_ground_factor)
    )
    frames = max(round(wanted_s / frame_s), FEWEST_FRAMES)
    period_s = frames * frame_s
    ground_s = period_s / (1.0 + parameters.air_ground_factor)
    air_s = period_s - ground_s
    ascent_s = parameters.ascent_pairs * FRAMES_A_PAIR * frame_s
    longest_s = air_s * (1.0 + _ROUNDING)
    if 2.0 * ascent_s > longest_s:
        most = int(longest_s / (2.0 * FRAMES_A_PAIR * frame_s))
        raise InputError(
            f"ascent_pairs is {parameters.ascent_pairs}: up and down take {2.0 * ascent_s:g} s, but a foot "
            f"is in the air for {math.floor(1e4 * air_s) / 1e4:g} s",
            hint=f"at most {most}, or a longer cycle (maximum_displacement_m / ground_speed_m_s)"
            if most
            else "a longer cycle: maximum_displacement_m / ground_speed_m_s",
        )
    return GaitTiming(frames, period_s, ground_s, air_s, min(ascent_s, air_s / 2.0))


def greatest_speed_m_s(parameters: GaitParameters, timing: GaitTiming) -> float:
    """Return the greatest speed in any direction [m/s]."""
    return parameters.maximum_displacement_m / timing.ground_s


def greatest_turn_rad_s(parameters: GaitParameters, timing: GaitTiming) -> float:
    """Return the greatest turn, to either side [rad/s]."""
    return parameters.maximum_turn_rad / timing.ground_s


def bound_text(value: float, digits: int = 3) -> str:
    """Return a bound with so many digits, rounded down, so that what is printed can be asked for."""
    return f"{math.floor(value * 10**digits + _TINY) / 10**digits:.{digits}f}"


def refuse_out_of_range(command: VelocityCommand, parameters: GaitParameters, timing: GaitTiming) -> None:
    """Raise an InputError where a command goes beyond the maximum displacement or the maximum turn."""
    speed = math.hypot(command.forward_m_s, command.left_m_s)
    fastest, turns = greatest_speed_m_s(parameters, timing), greatest_turn_rad_s(parameters, timing)
    if speed > fastest * (1.0 + _SLACK) + _SLACK:
        asked = speed if command.forward_m_s and command.left_m_s else command.forward_m_s + command.left_m_s
        raise InputError(
            f"{asked:g} m/s is out of range",
            hint=f"this gait goes at 0 to {bound_text(fastest)} m/s in any direction: "
            f"{parameters.maximum_displacement_m:g} m in the {timing.ground_s:.3f} s a foot is down",
        )
    if abs(command.turn_rad_s) > turns * (1.0 + _SLACK) + _SLACK:
        raise InputError(
            f"a turn of {command.turn_rad_s:g} rad/s is out of range",
            hint=f"this gait turns at -{bound_text(turns)} to {bound_text(turns)} rad/s: "
            f"{parameters.maximum_turn_rad:g} rad in the {timing.ground_s:.3f} s a foot is down",
        )


def clipped(command: VelocityCommand, parameters: GaitParameters, timing: GaitTiming) -> VelocityCommand:
    """Return a command in range: the same direction, slower where it is too fast, and likewise the turn."""
    speed = math.hypot(command.forward_m_s, command.left_m_s)
    fastest, turns = greatest_speed_m_s(parameters, timing), greatest_turn_rad_s(parameters, timing)
    share = fastest / speed if speed > fastest else 1.0
    turn = min(max(command.turn_rad_s, -turns), turns)
    return VelocityCommand(share * command.forward_m_s, share * command.left_m_s, turn)


def approached(
    now: VelocityCommand, wanted: VelocityCommand, parameters: GaitParameters, timing: GaitTiming
) -> VelocityCommand:
    """Return the command of the next step on the way from the present one to the one that is wanted.

    A foot that landed for one command and goes with the ground at another ends beyond its stroke. At a
    quarter of the greatest command a step that is an eighth of the longest stroke in a trot, and up to a
    quarter of it where a foot is in the air over several steps.
    """
    ahead, aside = wanted.forward_m_s - now.forward_m_s, wanted.left_m_s - now.left_m_s
    turn = wanted.turn_rad_s - now.turn_rad_s
    shares = [math.hypot(ahead, aside) / greatest_speed_m_s(parameters, timing)]
    if parameters.maximum_turn_rad > 0.0:
        shares.append(abs(turn) / greatest_turn_rad_s(parameters, timing))
    most = max(shares)
    if most <= SHARE_A_STEP:
        return wanted
    part = SHARE_A_STEP / most
    return VelocityCommand(
        now.forward_m_s + part * ahead, now.left_m_s + part * aside, now.turn_rad_s + part * turn
    )
