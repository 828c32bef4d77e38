"""Run OPEN-R objects on any body, recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from posewright.control import Until
from posewright.errors import InputError
from posewright.evaluation import evaluate_run
from posewright.recordings import Recording
from posewright.robots import Robot
from posewright.runs.perform import MAX_DURATION_S, PerformOptions, perform_program
from posewright.runs.plants import SIMULATION
from posewright.runtimes.openr import OpenRProgram, entries_of, set_up_openr
from posewright.runtimes.openr.commander import COMMANDER
from posewright.runtimes.openr.flow import STATE
from posewright.runtimes.openr.kernel import LogEntry
from posewright.runtimes.openr.regions import MICRO_PER_UNIT

EXTRAS = "openr"
"""Entry of a recording's extras with the `program` that ran and its `commands`."""

LONGEST_S = 600.0
"""Default limit of a program's duration [s]."""

STILL_S = 1.0
"""By default a run ends when all objects have been idle for so long [s]."""


def run_openr(
    program: str | Path | OpenRProgram | None = None,
    *,
    commands: str = "",
    robot: str | Robot = "sony_ers7",
    pose: str | None = None,
    stick: str | Path | None = None,
    monet: Sequence[str | Path] = (),
    poses: str | Path | None = None,
    sequences: str | Path | None = None,
    player: str = "sony",
    objects: str | Path | None = None,
    seconds: float | None = None,
    **options: Unpack[PerformOptions],
) -> Recording:
    """Run a program of OPEN-R objects on a bare floor; see `openr_result` and `draw_sequence` for results.

    Args:
        program: name of a program of the catalogue, or path of a CONNECT.CFG; by default the stick's, or
            MoNet if there are MONET files. Or what `set_up_openr` returned, then without the arguments below.
        commands: what Commander sends, as `COMMAND@TIME` [s], separated by commas.
        robot: the robot it runs on.
        pose: the robot's first pose; by default the program's.
        stick: folder of a memory stick, for MoNet, or with its own CONNECT.CFG.
        monet: MONET files without a stick.
        poses: an EKMoves.h for EKMotion.
        sequences: a table of EKMotion's moves over these poses.
        player: `sony`, or `exact`, which reaches each keyframe of a motion of MoNet.
        objects: a Python file with the user's own objects.
        seconds: duration [s]; by default until all objects have been idle for a second.
        options: see `PerformOptions`.

    Raises:
        InputError: an argument or a file is wrong; the robot has not moved.
        OutputError: the recording cannot be written.
        BodyError: the body failed, or the objects send each other messages without end.
    """
    if isinstance(program, OpenRProgram):
        if commands:
            raise InputError("the program already has its commands", hint="pass them to set_up_openr")
        ready = program
    else:
        ready = set_up_openr(
            program,
            commands=commands,
            robot=robot,
            pose=pose,
            stick=stick,
            monet=monet,
            poses=poses,
            sequences=sequences,
            player=player,
            objects=objects,
        )
    if seconds is not None and not 0.0 < seconds <= MAX_DURATION_S:
        raise InputError(f"the duration is {seconds:g} s", hint=f"above 0, up to {MAX_DURATION_S:g} s")
    if ready.robot.model_path is None and options.get("body", SIMULATION) == SIMULATION:
        hint = "the body mock runs the objects without one"
        raise InputError(f"{ready.robot.name} has no model and cannot be simulated", hint=hint)
    until_s = LONGEST_S if seconds is None else seconds
    timed = replace(ready, until_s=until_s)
    controller = timed.controller()
    endings = [Until(lambda: controller.is_over)]
    if seconds is None:
        endings.append(Until(lambda: controller.is_idle, STILL_S))
    options["watchers"] = [*options.get("watchers", ()), *endings]
    return perform_program(timed, until_s=until_s, controller=controller, **options)


def openr_result(recording: Recording) -> dict[str, Any]:
    """Return a run of OPEN-R objects as plain data, from its recording alone.

    `frames` hold `commands_urad`, the commanded angles in whole micro-radians, and `positions_rad`, the
    measured angles or None, both in the order of `joints`. `fell` tells whether the robot tipped over, as
    `evaluate` counts it, and is None if its attitude is unknown; `fell_s` is the time of the first fall.

    Raises:
        InputError: the recording is not of OPEN-R objects.
    """
    program = recording.header.extras.get(EXTRAS)
    if not isinstance(program, Mapping):
        raise InputError(
            "the recording is not of OPEN-R objects", hint="use one made by `posewright aibo run`"
        )
    record = recording.robot()
    log = entries_of(recording)
    evaluation = next(iter(evaluate_run(recording).robots.values())) if record.knows_place else None
    commands_urad = np.rint(np.nan_to_num(record.requested) * MICRO_PER_UNIT).astype(np.int64)
    positions_rad = record.positions.astype(object)
    positions_rad[np.isnan(record.positions)] = None
    times = np.round(recording.times, 6).tolist()
    states = []
    messages = []
    for entry in log:
        time_s = round(entry.time_s, 6)
        if entry.kind == STATE:
            states.append({"time_s": time_s, **entry.data})
        else:
            messages.append({"time_s": time_s, "kind": entry.kind, **entry.data})
    frames = [
        {"time_s": time_s, "commands_urad": commands, "positions_rad": positions}
        for time_s, commands, positions in zip(
            times, commands_urad.tolist(), positions_rad.tolist(), strict=True
        )
    ]
    return {
        "fell": None if evaluation is None else bool(evaluation.falls),
        "fell_s": round(evaluation.fall_times_s[0], 6) if evaluation and evaluation.falls else None,
        "program": program.get("program"),
        "commands": program.get("commands") or _typed_commands(log),
        "robot": record.header.robot,
        "duration_s": times[-1] if times else 0.0,
        "states": states,
        "messages": messages,
        "joints": list(record.header.joints),
        "frames": frames,
        "digest": recording.digest(),
    }


def _typed_commands(log: Sequence[LogEntry]) -> list[str]:
    """Return the commands that Commander sent during the run, as `COMMAND@TIME`."""
    return [
        f"{entry.data['data']}@{entry.time_s:g}"
        for entry in log
        if entry.kind == "notify" and entry.data["from"].startswith(f"{COMMANDER}.")
    ]
