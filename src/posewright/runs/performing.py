"""Let any controller drive a robot, and record all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import Part, Place, Plant, TorquePolicy
from posewright.control import Clock, Controller, Safety, Watcher
from posewright.errors import InputError
from posewright.evaluation import evaluate_run
from posewright.figures import card_document
from posewright.recordings import Header, Recording, RobotHeader
from posewright.robots import Robot, ships
from posewright.runs.driving import recorded
from posewright.runs.plants import SIMULATION, body_of, make_plant
from posewright.search.plan import checked_seed
from posewright.version import __version__

MOST_S = 3600.0
"""A performance lasts no longer than this [s]."""

ORIGIN: Place = (0.0, 0.0, 0.0)


def perform(
    controller: Controller,
    robot: Robot,
    *,
    name: str,
    until_s: float,
    body: str = SIMULATION,
    pose: str | Floats = "stand",
    arena: Arena | None = None,
    start: Place = ORIGIN,
    seed: int = 0,
    watchers: Sequence[Watcher] = (),
    clock: Clock | None = None,
    safety: Safety | None = None,
    documents: Mapping[str, str] | None = None,
    extras: Mapping[str, Any] | None = None,
    record: str | Path | None = None,
    on_end: TorquePolicy = TorquePolicy.RELEASE,
) -> Recording:
    """Let a controller drive a robot; every frame is recorded, and no contest is run.

    Args:
        controller: what decides.
        robot: whom it drives.
        name: of the controller, for people: `openr move_head`.
        until_s: the run ends then at the latest, above 0 and up to an hour [s].
        body: as for `run_trial`.
        pose: in which the robot begins: one of its card's, or angles `(n_joints,)` [rad].
        arena: the field it is in; default a bare floor.
        start: where in it the robot begins.
        seed: of everything drawn by chance.
        watchers: see every block after it is recorded; one that says so ends the run.
        clock: paces the frames; simulated time by default.
        safety: what stands between controller and body; `Safety(robot)` by default.
        documents: texts that travel with the recording, by file name.
        extras: whatever else travels along.
        record: where to write the recording as MCAP; of a run that failed or was ended, as far as it went.
        on_end: what the servos do when the run is over; one that failed always releases them.

    Raises:
        InputError: something that was handed in is wrong.
        UnknownNameError: there is no such body or pose.
        OutputError: the recording cannot be written there; this is told before the robot moves.
        BodyError: the body failed, or the controller.
    """
    if not 0.0 < until_s <= MOST_S:
        raise InputError(f"until {until_s:g} s", hint=f"above 0, up to {MOST_S:g} s")
    angles = robot.pose(pose) if isinstance(pose, str) else np.asarray(pose, dtype=np.float64)
    plant = _plant(body, Part(robot.name, robot, angles, start, seed=seed), arena)
    header = Header(
        {robot.name: RobotHeader.of(plant.bodies[robot.name], name)},
        seed=seed,
        version=__version__,
        arena={} if arena is None else arena.to_dict(),
        documents=dict(documents or {}) | ({} if ships(robot) else {card_document(robot.name): robot.text}),
        extras=extras or {},
    )
    named = None if safety is None else {robot.name: safety}
    how: Any = {"watchers": watchers, "clock": clock, "safety": named, "record": record, "on_end": on_end}
    return recorded(plant, {robot.name: controller}, header, until_s=until_s, **how)


def _plant(body: str, part: Part, arena: Arena | None) -> Plant:
    kind, domain = body_of(body, checked_seed(part.seed))
    return make_plant(kind, [replace(part, domain=domain)], arena)


def fell_in(recording: Recording) -> bool | None:
    """Return whether the robot tipped over, as `evaluate` counts it; None where nobody knew where it was."""
    if not recording.robot().knows_place:
        return None
    return bool(next(iter(evaluate_run(recording).robots.values())).falls)
