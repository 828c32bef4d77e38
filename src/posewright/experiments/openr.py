"""Run OPEN-R objects on any body, recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from posewright.control import Watcher
from posewright.evaluation.thresholds import PhysicsRules
from posewright.evaluation.trajectory import Trajectory
from posewright.experiments.performing import perform
from posewright.recordings import Recording
from posewright.recordings.falls import FallDetector
from posewright.robots import Robot
from posewright.runtimes.openr import UntilIdle
from posewright.runtimes.openr.flow import EXTRAS, run_data
from posewright.runtimes.openr.setup import CONNECT, ReadyProgram, set_up_openr

LONGEST_S = 600.0
"""A program runs no longer than this unless told otherwise [s]."""

STILL_S = 1.0
"""It has ended when its objects have had nothing to do for so long [s]."""


def run_openr(
    called: str | Path | ReadyProgram | None = None,
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
    watchers: Sequence[Watcher] = (),
    **how: Any,
) -> Recording:
    """Run a program of OPEN-R objects on a robot that stands on a bare floor.

    What its objects said is told by `openr_result`, and drawn by `draw_sequence`.

    Args:
        called: a program that ships, or the path of a CONNECT.CFG; with a stick, default what is on it; or
            one that is ready, with its commands.
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
        watchers: see every block.
        how: it is run, as `perform` takes it: `body`, `seed`, `pace`, `record`.

    Raises:
        InputError: something that was handed in is wrong; the robot has not moved.
        FormatError: so is a file, which the error names with its line.
        OutputError: the recording cannot be written there.
        BodyError: the body failed, or the objects send each other messages without end.
    """
    ready = called
    if not isinstance(ready, ReadyProgram):
        made: dict[str, Any] = {"stick": stick, "monet": monet, "poses": poses, "sequences": sequences}
        made |= {"robot": robot, "pose": pose, "player": player, "objects": objects}
        ready = set_up_openr(ready, **made).saying(commands)
    return _run(ready, seconds, watchers, how)


def _run(
    ready: ReadyProgram, seconds: float | None, watchers: Sequence[Watcher], how: Mapping[str, Any]
) -> Recording:
    controller = ready.controller()
    said = [f"{one.to}:{one.word}@{one.time_s:g}".lstrip(":") for one in ready.setting.script]
    return perform(
        controller,
        ready.robot,
        name=f"openr {Path(ready.name).name}",
        until_s=LONGEST_S if seconds is None else seconds,
        pose=ready.pose,
        watchers=[*watchers, UntilIdle(controller, STILL_S if seconds is None else math.inf)],
        documents={CONNECT: "".join(f"{line}\n" for line in ready.config.lines)},
        extras={EXTRAS: {"program": ready.name, "commands": said}},
        **how,
    )


def openr_result(recording: Recording) -> dict[str, Any]:
    """Return a run of OPEN-R objects as plain data, from its recording alone; see `flow.run_data`.

    `fell` is whether the robot tipped over, as a motion's findings count it, and None where nobody knew; one
    that sits or lies down has not fallen.

    Raises:
        InputError: the recording is of something else.
    """
    data, track = run_data(recording), Trajectory.of(recording)
    fell = None
    if track.last and track.knows_place:
        fell = _tipped_over(track, PhysicsRules())
    return {"fell": fell, **data}


def _tipped_over(track: Trajectory, rules: PhysicsRules) -> bool:
    """Tell whether the base lay on a side, or leaned too far either way: Sony's AIBO sits down at 47 deg."""
    sideways = np.degrees(np.arcsin(np.clip(np.abs(track.up[:, 1]), 0.0, 1.0)))
    detector = FallDetector(rules.fall_limits(track.row_s), up=track.sky)
    detector.add(track.times, (sideways > rules.side_deg) | (track.tilt_deg > rules.fall_deg))
    return bool(detector.falls())
