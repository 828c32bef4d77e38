"""Let a program, or any controller, drive one robot outside contests, and record all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import Clock, PlanarPose, Plant, TorquePolicy
from posewright.control import Controller, Program, Safety, Watcher
from posewright.errors import InputError
from posewright.evaluation import evaluate_run
from posewright.recordings import Recording
from posewright.robots import Robot
from posewright.runs.plants import SIMULATION, choose_plant
from posewright.runs.python_programs import PythonProgram, controller_maker
from posewright.runs.run import ORIGIN, Outputs, Run, run
from posewright.runs.streams import Derivation

MOST_S = 3600.0
"""A performance lasts no longer than this [s]."""


class PerformOptions(TypedDict, total=False):
    """What may be said of every performance.

    Attributes:
        body: what it happens on, as for `run_trial`; a simulation by default.
        arena: the field the robot is in; a bare floor by default.
        start: where in it the robot begins; the origin by default.
        seed: of everything drawn by chance; 0 by default.
        streams: how random streams follow from the seed, as for `run_trial`.
        watchers: see every block after it is recorded; one that says so ends the run.
        plant_watchers: make further watchers of the plant, before it is driven.
        clock: paces the frames of a body without a clock of its own; simulated time by default.
        safety: what stands between controller and body; `Safety(robot)` by default.
        extras: what the recording says besides, as plain data.
        record: where to write the recording as MCAP; of a run that failed or was ended, as far as it went.
        on_end: what the servos do when the run is over, released by default; one that failed always releases.
    """

    body: str
    arena: Arena | None
    start: PlanarPose
    seed: int
    streams: str
    watchers: Sequence[Watcher]
    plant_watchers: Sequence[Callable[[Plant], Watcher]]
    clock: Clock | None
    safety: Safety | None
    extras: Mapping[str, Any]
    record: str | Path | None
    on_end: TorquePolicy


def perform(
    controller: Controller,
    robot: Robot,
    *,
    name: str,
    until_s: float,
    pose: str | Floats = "stand",
    documents: Mapping[str, str] | None = None,
    **options: Unpack[PerformOptions],
) -> Recording:
    """Let a controller drive a robot; every frame is recorded, and no contest is run.

    Args:
        controller: what decides.
        robot: whom it drives.
        name: of the controller, for people.
        until_s: the run ends then at the latest, above 0 and up to an hour [s].
        pose: in which the robot begins: one of its card's, or angles `(n_joints,)` [rad].
        documents: texts that travel with the recording, by file name.
        options: see `PerformOptions`.

    Raises:
        InputError: something that was handed in is wrong.
        UnknownNameError: there is no such body or pose.
        OutputError: the recording cannot be written there; this is told before the robot moves.
        BodyError: the body failed, or the controller.
    """
    program = PythonProgram(
        name,
        robot,
        controller_maker(controller, name),
        sensors=robot.sensors,
        start_pose=robot.pose(pose) if isinstance(pose, str) else np.asarray(pose, dtype=np.float64),
        documents=documents or {},
        kind="",
    )
    return perform_program(program, until_s=until_s, **options)


def perform_program(
    program: Program,
    *,
    until_s: float,
    controller: Controller | None = None,
    **options: Unpack[PerformOptions],
) -> Recording:
    """Let a program drive its robot; every frame is recorded, and no contest is run.

    Args:
        program: what drives.
        until_s: the run ends then at the latest, above 0 and up to an hour [s].
        controller: of the program, where one is made already: a watcher may look at it.
        options: see `PerformOptions`.

    Raises:
        InputError, UnknownNameError, OutputError, BodyError: as `perform`.
    """
    if not 0.0 < until_s <= MOST_S:
        raise InputError(f"until {until_s:g} s", hint=f"above 0, up to {MOST_S:g} s")
    choice = choose_plant(options.get("body", SIMULATION))
    robot_name = program.robot.name
    safety = options.get("safety")
    record = options.get("record")
    performance = Run(
        program.name,
        {robot_name: program},
        until_s,
        make_plant=choice.make,
        arena=options.get("arena"),
        starts={robot_name: options.get("start", ORIGIN)},
        seed=options.get("seed", 0),
        derivation=Derivation(options.get("streams", Derivation.NAMED.value)),
        controllers={} if controller is None else {robot_name: controller},
        safety={} if safety is None else {robot_name: safety},
        watchers=options.get("watchers", ()),
        plant_watchers=options.get("plant_watchers", ()),
        pace=options.get("clock"),
        extras=options.get("extras", {}),
        outputs=Outputs(None if record is None else Path(record)),
        on_end=options.get("on_end", TorquePolicy.RELEASE),
    )
    return run(replace(performance, domain=choice.domain(performance.streams.body))).recording


def fell_in(recording: Recording) -> bool | None:
    """Return whether the robot tipped over, as `evaluate` counts it; None where nobody knew where it was."""
    if not recording.robot().knows_place:
        return None
    return bool(next(iter(evaluate_run(recording).robots.values())).falls)
