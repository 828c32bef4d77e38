"""The schedule of a walk: what the gait is asked for, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import NamedTuple, TypeGuard

import numpy as np

from posewright.errors import InputError
from posewright.evaluation.walking.track import Timed
from posewright.gaits import VelocityCommand

CommandSchedule = VelocityCommand | Sequence[tuple[float, VelocityCommand]]
"""A command that holds all the time; or several, each with the time it is given, since the robot was let go
[s]."""

Triple = tuple[float, float, float]
"""Forward [m/s], left [m/s] and turn [rad/s]."""


class CommandSpan(NamedTuple):
    """The frames for which a command held while it was measured.

    Attributes:
        given: after which the command was given, be it before the measuring began.
        start: after which it was measured.
        stop: with which it was over, or the measuring.
        command: what was asked for.
    """

    given: int
    start: int
    stop: int
    command: VelocityCommand


def timed_commands(schedule: CommandSchedule, ends_s: float) -> tuple[Timed, ...]:
    """Return the commands of a walk that ends then, each with its time.

    Raises:
        InputError: something else than a command, or times that are not in order.
    """
    if isinstance(schedule, VelocityCommand):
        return (Timed(0.0, schedule),)
    commands = tuple(_timed(one) for one in _listed(schedule))
    if not commands or commands[0].time_s != 0.0:
        raise InputError("a schedule without a command at the beginning", hint="the first command at 0 s")
    for before, after in pairwise(timed.time_s for timed in commands):
        if not before < after < ends_s:
            raise InputError(
                f"a command at {after:g} s, after one at {before:g} s",
                hint=f"times that rise, within the {ends_s:g} s of the walk",
            )
    return commands


def spans(commands: Sequence[Timed], frame_s: float, begin: int, end: int) -> list[CommandSpan]:
    """Return for which frames each command held while it was measured: after `begin` up to `end`."""
    given = [round(timed.time_s / frame_s) for timed in commands]
    found = [
        CommandSpan(start, max(start, begin), min(stop, end), timed.command)
        for start, stop, timed in zip(given, [*given[1:], end], commands, strict=True)
    ]
    return [span for span in found if span.stop > span.start]


def mean_command(commands: Sequence[Timed], frame_s: float, begin: int, end: int) -> Triple:
    """Return what was asked for on the mean over the measured frames; at first, where there are none."""
    held = spans(commands, frame_s, begin, end) or [CommandSpan(0, 0, 1, commands[0].command)]
    frames = sum(span.stop - span.start for span in held)
    forward, left, turn = (
        sum((span.stop - span.start) * getattr(span.command, name) for span in held) / frames
        for name in ("forward_m_s", "left_m_s", "turn_rad_s")
    )
    return forward, left, turn


def _listed(schedule: object) -> Sequence[object]:
    if not isinstance(schedule, Sequence):
        raise InputError(f"{schedule!r} for a command", hint="a VelocityCommand, or several with times")
    return schedule


def _timed(one: object) -> Timed:
    time_s, command = one if isinstance(one, Sequence) and len(one) == len(fields(Timed)) else (None, None)
    if not _is_number(time_s) or not isinstance(command, VelocityCommand):
        raise InputError(f"{one!r} in a schedule", hint="a time [s] and a VelocityCommand")
    return Timed(float(time_s), command)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
