"""What a gait can be asked for."""

from __future__ import annotations

import math

from posewright.errors import InputError
from posewright.gaits.command import VelocityCommand
from posewright.gaits.parameters import GaitParameters
from posewright.gaits.timing import GaitTiming

_SLACK = 1e-9
"""A command beyond the greatest by so much, or by this part of it, is the greatest."""

_TINY = 1e-6

SHARE_A_STEP = 0.25
"""By so much of the greatest command the command changes from one step to the next."""


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
