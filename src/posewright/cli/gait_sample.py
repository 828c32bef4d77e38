"""`posewright gait sample`: a gait at one command as a motion file, or as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posewright.cli.gait_options import (
    Forward,
    GaitName,
    Left,
    RobotOption,
    Sets,
    Turn,
    command_of,
    open_gait,
)
from posewright.cli.losses import losses_listed
from posewright.cli.options import AsJson, refuse_overwriting

if TYPE_CHECKING:
    from posewright.formats import MotionFormat
    from posewright.gaits import Gait, VelocityCommand
    from posewright.motions import Motion, SampleTable
    from posewright.robots import Robot

TABLE = ".csv"

EQUAL_S = 1e-6
"""Lengths that differ by less are the same [s]."""


MotionOrTable = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="A motion, as the name says: .motion.yaml, .mtn, .h, .mot, .motion; or a table: .csv. "
        "Default: the table to stdout.",
    ),
]
Cycles = Annotated[
    int | None,
    typer.Option(
        "--cycles",
        metavar="N",
        help="Write so many cycles one after the other; default one, which repeats for ever where the "
        "format can say so.",
    ),
]
Every = Annotated[
    int | None,
    typer.Option(
        "--every",
        metavar="N",
        help="A keyframe every so many frames; default every frame that the format can tell apart.",
    ),
]
LeadIn = Annotated[bool, typer.Option("--lead-in", help="Begin in the standing pose, not amid the walk.")]
AcceptLoss = Annotated[
    bool, typer.Option("--accept-loss", help="Write all the same what the format cannot hold.")
]


def sample(
    gait: GaitName,
    forward: Forward = 0.0,
    left: Left = 0.0,
    turn: Turn = 0.0,
    output: MotionOrTable = None,
    cycles: Cycles = None,
    every: Every = None,
    lead_in: LeadIn = False,
    accept_loss: AcceptLoss = False,
    robot: RobotOption = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Sample a gait at one command: a motion for files and players that know only keyframes, or a table.

    [bold]Examples[/]

      posewright gait sample trot --forward 0.2 -o ahead.motion.yaml

      posewright gait sample trot --turn 1 --cycles 4 --lead-in -o turn.mtn

      posewright gait sample crawl --left 0.05 --cycles 2 -o EKMoves.h

      posewright gait sample trot --forward 0.1 > cycle.csv
    """
    opened, card = open_gait(gait, robot, sets)
    refuse_overwriting(output, opened.path)
    command = command_of(forward, left, turn)
    if output is None or output.name.lower().endswith(TABLE):
        table = _table(opened, card, command, cycles=cycles, every=every, lead_in=lead_in)
        _give_table(table, opened, output, as_json=as_json)
        return
    motion = _motion(opened, card, command, output, cycles=cycles, every=every, lead_in=lead_in)
    told = _write(motion, output, accept_loss=accept_loss)
    rounded = _rounded(motion, card, output, opened, is_led_in=lead_in)
    if as_json:
        _emit({"gait": opened.name, **command.by_name, **told, "rounded": rounded})
        return
    _tell(opened.name, told, output, rounded)


def _tell(name: str, told: Mapping[str, Any], output: Path, rounded: str | None) -> None:
    """Say to a person what was written."""
    from posewright.cli.console import out

    line = f"{name}: {told['keyframes']} keyframes, {told['duration_s']:.3f} s -> {output} ({told['format']})"
    out.print(line, markup=False, highlight=False, soft_wrap=True)
    if rounded is not None:
        out.print(f"  rounded: {rounded}", markup=False, highlight=False, soft_wrap=True)


def _rounded(motion: Motion, robot: Robot, output: Path, gait: Gait, *, is_led_in: bool) -> str | None:
    """Return how the file's length differs from the walk's, and how many cycles fit; None if it does not."""
    from posewright.formats import format_for, read_motion
    from posewright.gaits import timing_of

    step_s = format_for(motion, output).quantum.time_s
    if step_s is None:
        return None
    written_s = read_motion(output, robot=robot).duration
    if abs(written_s - motion.duration) < EQUAL_S:
        return None
    told = f"{motion.duration:.3f} s to {written_s:.3f} s, in frames of {1e3 * step_s:g} ms"
    frames, every = (
        timing_of(gait.parameters, robot.frame_period_s).frames,
        round(step_s / robot.frame_period_s),
    )
    total = round(motion.duration / robot.frame_period_s)
    more = next((n for n in range(1, every + 1) if (total + n * frames) % every == 0), None)
    if is_led_in or more is None:
        return told if more is None else f"{told}; {_cycles_more(more)} exactly"
    return f"{told}; --cycles {total // frames + more} fits exactly"


def _cycles_more(number: int) -> str:
    return "1 cycle more fits" if number == 1 else f"{number} cycles more fit"


def _table(
    gait: Gait,
    robot: Robot,
    command: VelocityCommand,
    *,
    cycles: int | None,
    every: int | None,
    lead_in: bool,
) -> SampleTable:
    from posewright.gaits import sample_gait
    from posewright.motions import sample_motion

    step = 1 if every is None else every
    motion = sample_gait(
        gait, robot, command, cycles=1 if cycles is None else cycles, every_frames=step, lead_in=lead_in
    )
    return sample_motion(motion, robot, rate_hz=1.0 / (robot.frame_period_s * step))


def _give_table(table: SampleTable, gait: Gait, output: Path | None, *, as_json: bool) -> None:
    from posewright.cli.console import out
    from posewright.documents import write_atomically

    if output is not None:
        write_atomically(output, table.csv().encode())
    if as_json:
        _emit({"gait": gait.name, **table.to_dict()})
    elif output is None:
        typer.echo(table.csv(), nl=False)
    else:
        out.print(f"{len(table.times)} rows -> {output}", markup=False, highlight=False, soft_wrap=True)


def _motion(
    gait: Gait,
    robot: Robot,
    command: VelocityCommand,
    output: Path,
    *,
    cycles: int | None,
    every: int | None,
    lead_in: bool,
) -> Motion:
    """Return the motion as the format of the file can hold it, called after the file."""
    from posewright.formats import NATIVE
    from posewright.gaits import sample_gait

    known = _format(gait, robot, output)
    if cycles is None and (lead_in or known.name != NATIVE):
        cycles = 1
    if every is None:
        step_s = known.quantum.time_s or 0.0
        every = max(1, math.ceil(step_s / robot.frame_period_s - 1e-9))
    motion = sample_gait(gait, robot, command, cycles=cycles, every_frames=every, lead_in=lead_in)
    return replace(motion, name=output.name.split(".")[0] or gait.name)


def _format(gait: Gait, robot: Robot, output: Path) -> MotionFormat:
    """Return the format of the file, which the file's name and the robot tell: standing still is enough."""
    from posewright.formats import format_for
    from posewright.motions import Keyframe, Motion, Pose

    standing = Keyframe(Pose(robot.joint_names, robot.pose(gait.pose)), 0.0)
    return format_for(Motion(gait.name, robot.name, robot.joint_names, (standing,)), output)


def _write(motion: Motion, output: Path, *, accept_loss: bool) -> dict[str, Any]:
    """Write the motion, and return what was written."""
    from posewright.cli.console import warn
    from posewright.formats import format_for, write_motion

    known = format_for(motion, output)
    with losses_listed(f"the walk cannot be said wholly in {output.name}: nothing is written"):
        lost = write_motion(motion, output, accept_loss=accept_loss)
    for loss in lost:
        warn(f"lost: {loss}")
    return {
        "file": str(output),
        "format": known.name,
        "keyframes": len(motion.keyframes),
        "duration_s": round(motion.duration, 9),
        "repeat": motion.repeat,
        "losses": list(lost),
    }


def _emit(told: dict[str, Any]) -> None:
    from posewright.cli.console import emit_json

    emit_json(told)
