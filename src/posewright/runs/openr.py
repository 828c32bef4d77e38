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
from posewright.runs.perform import MOST_S, PerformOptions, perform_program
from posewright.runs.plants import SIMULATION
from posewright.runtimes.openr import OpenRProgram, entries_of, set_up_openr
from posewright.runtimes.openr.commander import COMMANDER
from posewright.runtimes.openr.flow import STATE
from posewright.runtimes.openr.kernel import LogEntry
from posewright.runtimes.openr.regions import MICRO

EXTRAS = "openr"
"""Under this name a recording's header says which `program` ran, and with which `commands`."""

LONGEST_S = 600.0
"""A program runs no longer than this unless told otherwise [s]."""

STILL_S = 1.0
"""It has ended when its objects have had nothing to do for so long [s]."""


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
    """Run a program of OPEN-R objects on a bare floor; `openr_result` and `draw_sequence` tell what was said.

    Args:
        program: one that ships, or the path of a CONNECT.CFG; default what is on the stick, or MoNet where
            there are MONET files; or what `set_up_openr` returned, alone.
        commands: what Commander sends: a command, `@`, and its time [s]; several with commas.
        robot: on which it runs.
        pose: in which the robot begins; default the program's.
        stick: folder of a memory stick, for MoNet, or with a CONNECT.CFG of its own.
        monet: MONET files without a stick.
        poses: an EKMoves.h for EKMotion.
        sequences: the table of EKMotion's moves over it.
        player: `sony`, or `exact`, which reaches each keyframe of a motion of MoNet.
        objects: a Python file of one's own objects.
        seconds: for so long it runs [s]; default until its objects have had nothing to do for a second.
        options: see `PerformOptions`.

    Raises:
        InputError: something that was handed in is wrong, a file for one; the robot has not moved.
        OutputError: the recording cannot be written there.
        BodyError: the body failed, or the objects send each other messages without end.
    """
    if isinstance(program, OpenRProgram):
        if commands:
            raise InputError("a program that is set up has its commands", hint="say them to set_up_openr")
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
    if seconds is not None and not 0.0 < seconds <= MOST_S:
        raise InputError(f"to run for {seconds:g} s", hint=f"above 0, up to {MOST_S:g} s")
    if ready.robot.model_path is None and options.get("body", SIMULATION) == SIMULATION:
        hint = "--body mock runs the objects without one"
        raise InputError(f"{ready.robot.name} has no model: it cannot be simulated", hint=hint)
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

    `frames` have `commands_urad`, what the objects asked for in whole micro-radians, and `positions_rad`,
    what the joints did, in the order of `joints`; None where nobody measured. `fell` is whether the robot
    tipped over, as `evaluate` counts it, and None where nobody knew; `fell_s` is when it did first.

    Raises:
        InputError: the recording is of something else.
    """
    told = recording.header.extras.get(EXTRAS)
    if not isinstance(told, Mapping):
        raise InputError("this recording is not of OPEN-R objects", hint="one of `posewright aibo run`")
    one, said = recording.robot(), entries_of(recording)
    fallen = next(iter(evaluate_run(recording).robots.values())) if one.knows_place else None
    asked = np.rint(np.nan_to_num(one.requested) * MICRO).astype(np.int64)
    seen = one.positions.astype(object)
    seen[np.isnan(one.positions)] = None
    times = np.round(recording.times, 6).tolist()
    rows = zip(times, asked.tolist(), seen.tolist(), strict=True)
    told_at = [(round(each.time_s, 6), each) for each in said]
    states = [{"time_s": at, **each.data} for at, each in told_at if each.kind == STATE]
    others = [{"time_s": at, "kind": each.kind, **each.data} for at, each in told_at if each.kind != STATE]
    return {
        "fell": None if fallen is None else bool(fallen.falls),
        "fell_s": round(fallen.fall_times_s[0], 6) if fallen and fallen.falls else None,
        "program": told.get("program"),
        "commands": told.get("commands") or _typed(said),
        "robot": one.header.robot,
        "duration_s": times[-1] if times else 0.0,
        "states": states,
        "messages": others,
        "joints": list(one.header.joints),
        "frames": [{"time_s": at, "commands_urad": go, "positions_rad": is_} for at, go, is_ in rows],
        "digest": recording.digest(),
    }


def _typed(said: Sequence[LogEntry]) -> list[str]:
    """Return what a person typed in the run, as a script has it: what Commander handed over, and when."""
    sent = [one for one in said if one.kind == "notify" and one.data["from"].startswith(f"{COMMANDER}.")]
    return [f"{one.data['data']}@{one.time_s:g}" for one in sent]
