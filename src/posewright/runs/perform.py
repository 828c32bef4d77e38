"""Lets a controller or a program drive one robot outside contests, recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import Clock, PlanarPose, Plant, StartPosture, TorquePolicy, read_posture
from posewright.control import Controller, Program, Safety, Watcher
from posewright.errors import InputError
from posewright.evaluation import evaluate_run
from posewright.hazards import require_no_faults
from posewright.recordings import Recording
from posewright.robots import Robot
from posewright.runs.plants import SIMULATION, choose_plant
from posewright.runs.programs import find_faults_of_program
from posewright.runs.python_programs import PythonProgram, controller_factory
from posewright.runs.run import ORIGIN, Outputs, Run, run
from posewright.runs.streams import Derivation, read_derivation

MAX_DURATION_S = 3600.0
"""The longest allowed duration [s]."""


class PerformOptions(TypedDict, total=False):
    """Options of every run outside contests.

    Attributes:
        body: what it runs on, as for `run_trial`; by default a simulation.
        arena: the field; by default a bare floor.
        start: where the robot starts; by default at the origin.
        start_posture: how a simulated robot is put down there: `standing` (the default), `lying_front`,
            `lying_back`, `lying_left` or `lying_right`.
        seed: the seed of everything random; by default 0.
        streams: how random streams are derived from the seed, as for `run_trial`.
        watchers: receive every block after it is recorded; a watcher that returns True ends the run.
        plant_watchers: functions that make additional watchers of the plant.
        clock: paces the frames of a body without its own clock; by default it runs as fast as it can.
        safety: the filter between controller and body; by default `Safety(robot)`.
        extras: additional plain data in the recording.
        record: where the recording is written as MCAP; also that of a run that failed or was stopped.
        on_end: what the servos do when the run is over, by default release; after a failure always release.
        accept_faults: whether a body that may be a real robot plays motions in which `motion check` reports
            errors; by default not.
    """

    body: str
    arena: Arena | None
    start: PlanarPose
    start_posture: str
    seed: int
    streams: str
    watchers: Sequence[Watcher]
    plant_watchers: Sequence[Callable[[Plant], Watcher]]
    clock: Clock | None
    safety: Safety | None
    extras: Mapping[str, Any]
    record: str | Path | None
    on_end: TorquePolicy
    accept_faults: bool


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
    """Let a controller drive a robot outside contests, and return the recording.

    Args:
        controller: the controller to run.
        robot: the robot that it drives.
        name: the name of the controller, for people.
        until_s: time at which the run ends at the latest, above 0 and up to an hour [s].
        pose: start pose: the name of a pose on the card, or angles `(n_joints,)` [rad].
        documents: additional texts in the recording, by file name.
        options: see `PerformOptions`.

    Raises:
        InputError: an argument is wrong.
        UnknownNameError: there is no such body or pose.
        OutputError: the recording cannot be written; the robot has not moved.
        BodyError: the body or the controller failed.
    """
    program = PythonProgram(
        name,
        robot,
        controller_factory(controller, name),
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
    """Let a program drive its robot outside contests, and return the recording.

    Args:
        program: the program to run.
        until_s: time at which the run ends at the latest, above 0 and up to an hour [s].
        controller: an existing controller of the program, which a watcher may observe.
        options: see `PerformOptions`.

    Raises:
        InputError, UnknownNameError, OutputError, BodyError: as `perform`.
        UnsafeMotionError: the body may be a real robot, `motion check` reports errors in a motion of the
        program,
            and the option `accept_faults` is false.
    """
    if not 0.0 < until_s <= MAX_DURATION_S:
        raise InputError(f"the duration is {until_s:g} s", hint=f"above 0, up to {MAX_DURATION_S:g} s")
    choice = choose_plant(options.get("body", SIMULATION))
    if choice.may_be_real:
        accept_faults = options.get("accept_faults", False)
        require_no_faults(find_faults_of_program(program), program.name, accept_faults=accept_faults)
    posture = read_posture(options.get("start_posture", StartPosture.STANDING.value))
    choice.require_posture(posture)
    robot_name = program.robot.name
    safety = options.get("safety")
    record = options.get("record")
    prepared_run = Run(
        program.name,
        {robot_name: program},
        until_s,
        make_plant=choice.make,
        arena=options.get("arena"),
        starts={robot_name: options.get("start", ORIGIN)},
        postures={robot_name: posture},
        seed=options.get("seed", 0),
        derivation=read_derivation(options.get("streams", Derivation.NAMED.value)),
        controllers={} if controller is None else {robot_name: controller},
        safety={} if safety is None else {robot_name: safety},
        watchers=options.get("watchers", ()),
        plant_watchers=options.get("plant_watchers", ()),
        pace=options.get("clock"),
        extras=options.get("extras", {}),
        outputs=Outputs(None if record is None else Path(record)),
        on_end=options.get("on_end", TorquePolicy.RELEASE),
    )
    return run(replace(prepared_run, domain=choice.domain(prepared_run.streams.body))).recording


def fell_in(recording: Recording) -> bool | None:
    """Return whether the robot fell, by the criteria of `evaluate_run`; None without ground truth."""
    if not recording.robot().knows_place:
        return None
    return bool(next(iter(evaluate_run(recording).robots.values())).falls)
