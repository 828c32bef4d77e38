"""What a gait can be asked for."""

from __future__ import annotations

import math

from posewright.errors import InputError
from posewright.gaits.command import VelocityCommand
from posewright.gaits.parameters import GaitParameters
from posewright.gaits.timing import GaitTiming

_SLACK = 1e-9

SHARE_A_STEP = 0.25
"""By so much of the greatest command the command changes from one step to the next."""


def greatest_speed_m_s(parameters: GaitParameters, timing: GaitTiming) -> float:
    """Return the greatest speed in any direction [m/s]."""
    return parameters.maximum_displacement_m / timing.ground_s


def greatest_turn_rad_s(parameters: GaitParameters, timing: GaitTiming) -> float:
    """Return the greatest turn, to either side [rad/s]."""
    return parameters.maximum_turn_rad / timing.ground_s


def refuse_out_of_range(command: VelocityCommand, parameters: GaitParameters, timing: GaitTiming) -> None:
    """Raise an InputError where a command goes beyond the maximum displacement or the maximum turn."""
    speed = math.hypot(command.forward_m_s, command.left_m_s)
    fastest, turns = greatest_speed_m_s(parameters, timing), greatest_turn_rad_s(parameters, timing)
    if speed > fastest * (1.0 + _SLACK):
        raise InputError(
            f"{speed:g} m/s is out of range",
            hint=f"this gait goes at 0 to {fastest:.3f} m/s: {parameters.maximum_displacement_m:g} m in the "
            f"{timing.ground_s:.3f} s a foot is down",
        )
    if abs(command.turn_rad_s) > turns * (1.0 + _SLACK):
        raise InputError(
            f"a turn of {command.turn_rad_s:g} rad/s is out of range",
            hint=f"this gait turns at -{turns:.3f} to {turns:.3f} rad/s: {parameters.maximum_turn_rad:g} rad "
            f"in the {timing.ground_s:.3f} s a foot is down",
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
