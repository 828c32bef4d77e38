"""The times of a gait cycle, and the range of velocity commands that follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.gaits.command import VelocityCommand, bound_text
from posewright.gaits.quadruped.parameters import GaitParameters

FRAMES_PER_PAIR = 2
"""The lecture counts in pairs of frames: 16 ms on an AIBO."""

MIN_CYCLE_FRAMES = 4
"""A shorter cycle would have steps without a frame: each of four feet may lift in a step of its own."""

_AIR_TIME_TOLERANCE = 1e-9
"""Relative tolerance of the time for ascent and descent, which may fill the time in the air."""

_RANGE_TOLERANCE = 1e-9
"""Absolute and relative tolerance of the greatest command."""

MAX_CHANGE_PER_STEP = 0.25
"""Greatest change of the command from one step to the next, as a share of the greatest command."""


@dataclass(frozen=True, slots=True)
class GaitTiming:
    """The times of a cycle, which is a whole number of frames.

    Attributes:
        n_frames: the number of frames of a cycle.
        period_s: the duration of a cycle [s].
        ground_s: time of a foot on the ground [s].
        air_s: time of a foot in the air [s].
        ascent_s: part of `air_s` in which it rises; it sinks for as long [s].
    """

    n_frames: int
    period_s: float
    ground_s: float
    air_s: float
    ascent_s: float

    @property
    def air_share(self) -> float:
        """The share of a cycle that a foot is in the air."""
        return self.air_s / self.period_s


def timing_of(parameters: GaitParameters, frame_s: float) -> GaitTiming:
    """Return the times that follow from the parameters, the cycle rounded to whole frames.

    Raises:
        InputError: rising and sinking take longer than a foot is in the air.
    """
    nominal_s = (
        parameters.maximum_displacement_m / parameters.ground_speed_m_s * (1.0 + parameters.air_ground_factor)
    )
    n_frames = max(round(nominal_s / frame_s), MIN_CYCLE_FRAMES)
    period_s = n_frames * frame_s
    ground_s = period_s / (1.0 + parameters.air_ground_factor)
    air_s = period_s - ground_s
    ascent_s = parameters.ascent_pairs * FRAMES_PER_PAIR * frame_s
    max_rise_and_sink_s = air_s * (1.0 + _AIR_TIME_TOLERANCE)
    if 2.0 * ascent_s > max_rise_and_sink_s:
        max_pairs = int(max_rise_and_sink_s / (2.0 * FRAMES_PER_PAIR * frame_s))
        raise InputError(
            f"ascent_pairs is {parameters.ascent_pairs}: up and down take {2.0 * ascent_s:g} s, but a foot "
            f"is in the air for {math.floor(1e4 * air_s) / 1e4:g} s",
            hint=f"at most {max_pairs}, or a longer cycle (maximum_displacement_m / ground_speed_m_s)"
            if max_pairs
            else "a longer cycle: maximum_displacement_m / ground_speed_m_s",
        )
    return GaitTiming(n_frames, period_s, ground_s, air_s, ascent_s=min(ascent_s, air_s / 2.0))


def greatest_speed_m_s(parameters: GaitParameters, timing: GaitTiming) -> float:
    """Return the greatest speed in any direction [m/s]."""
    return parameters.maximum_displacement_m / timing.ground_s


def greatest_turn_rad_s(parameters: GaitParameters, timing: GaitTiming) -> float:
    """Return the greatest turn, to either side [rad/s]."""
    return parameters.maximum_turn_rad / timing.ground_s


def require_command_in_range(
    command: VelocityCommand, parameters: GaitParameters, timing: GaitTiming
) -> None:
    """Raise InputError unless a command is within the maximum displacement and the maximum turn."""
    speed = math.hypot(command.forward_m_s, command.left_m_s)
    max_speed = greatest_speed_m_s(parameters, timing)
    max_turn = greatest_turn_rad_s(parameters, timing)
    if speed > max_speed * (1.0 + _RANGE_TOLERANCE) + _RANGE_TOLERANCE:
        # along one axis the message states the speed with its sign, as it was typed; the other one is 0
        is_diagonal = bool(command.forward_m_s and command.left_m_s)
        stated_speed = speed if is_diagonal else command.forward_m_s + command.left_m_s
        raise InputError(
            f"{stated_speed:g} m/s is out of range",
            hint=f"this gait goes at 0 to {bound_text(max_speed)} m/s in any direction: "
            f"{parameters.maximum_displacement_m:g} m in the {timing.ground_s:.3f} s a foot is down",
        )
    if abs(command.turn_rad_s) > max_turn * (1.0 + _RANGE_TOLERANCE) + _RANGE_TOLERANCE:
        raise InputError(
            f"a turn of {command.turn_rad_s:g} rad/s is out of range",
            hint=f"this gait turns at -{bound_text(max_turn)} to {bound_text(max_turn)} rad/s: "
            f"{parameters.maximum_turn_rad:g} rad in the {timing.ground_s:.3f} s a foot is down",
        )


def clip_command(command: VelocityCommand, parameters: GaitParameters, timing: GaitTiming) -> VelocityCommand:
    """Return the nearest command in range: the same direction, with speed and turn clipped."""
    speed = math.hypot(command.forward_m_s, command.left_m_s)
    max_speed = greatest_speed_m_s(parameters, timing)
    max_turn = greatest_turn_rad_s(parameters, timing)
    scale = max_speed / speed if speed > max_speed else 1.0
    turn = min(max(command.turn_rad_s, -max_turn), max_turn)
    return VelocityCommand(scale * command.forward_m_s, scale * command.left_m_s, turn)


def approach_command(
    current: VelocityCommand, target: VelocityCommand, parameters: GaitParameters, timing: GaitTiming
) -> VelocityCommand:
    """Return the command of the next step on the way from the current command to the target.

    In a step, speed and turn change by at most `MAX_CHANGE_PER_STEP`, a quarter, of the greatest ones.

    The reason is that a foot lands for one command, and then moves with the ground at another, so it ends
    beyond its stroke. The limit keeps this to an eighth of the longest stroke in a trot, and to a quarter of
    it in gaits in which a foot is in the air over several steps.
    """
    forward_change = target.forward_m_s - current.forward_m_s
    left_change = target.left_m_s - current.left_m_s
    turn_change = target.turn_rad_s - current.turn_rad_s
    speed_change = math.hypot(forward_change, left_change)
    relative_changes = [speed_change / greatest_speed_m_s(parameters, timing)]
    if parameters.maximum_turn_rad > 0.0:
        relative_changes.append(abs(turn_change) / greatest_turn_rad_s(parameters, timing))
    largest_change = max(relative_changes)
    if largest_change <= MAX_CHANGE_PER_STEP:
        return target
    fraction = MAX_CHANGE_PER_STEP / largest_change
    return VelocityCommand(
        current.forward_m_s + fraction * forward_change,
        current.left_m_s + fraction * left_change,
        current.turn_rad_s + fraction * turn_change,
    )
