"""Let any controller drive a robot on a bare floor, and record all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import Plant
from posewright.control import Clock, Controller, Safety, Watcher, drive
from posewright.documents import refuse_unwritable
from posewright.errors import InputError
from posewright.experiments.plants import SIMULATION, Part, body_of, make_plant
from posewright.figures import card_document
from posewright.recordings import Header, Recorder, Recording, RobotHeader, write_mcap
from posewright.robots import Robot, ships
from posewright.search.plan import checked_seed
from posewright.version import __version__

MOST_S = 3600.0
"""A performance lasts no longer than this [s]."""

_ORIGIN = (0.0, 0.0, 0.0)


def perform(
    controller: Controller,
    robot: Robot,
    *,
    name: str,
    until_s: float,
    body: str = SIMULATION,
    pose: str | Floats = "stand",
    seed: int = 0,
    watchers: Sequence[Watcher] = (),
    clock: Clock | None = None,
    safety: Safety | None = None,
    documents: Mapping[str, str] | None = None,
    extras: Mapping[str, Any] | None = None,
    record: str | Path | None = None,
) -> Recording:
    """Let a controller drive a robot on a bare floor; every frame is recorded, and no contest is run.

    Args:
        controller: what decides.
        robot: whom it drives.
        name: of the controller, for people: `openr move_head`.
        until_s: the run ends then at the latest, above 0 and up to an hour [s].
        body: as for `run_trial`.
        pose: in which the robot begins: one of its card's, or angles `(n_joints,)` [rad].
        seed: of everything drawn by chance.
        watchers: see every block after it is recorded; one that says so ends the run.
        clock: paces the frames; simulated time by default.
        safety: what stands between controller and body; `Safety(robot)` by default.
        documents: texts that travel with the recording, by file name.
        extras: whatever else travels along.
        record: where to write the recording as MCAP; of a run that failed or was ended, as far as it went.

    Raises:
        InputError: something that was handed in is wrong.
        UnknownNameError: there is no such body or pose.
        OutputError: the recording cannot be written there; this is told before the robot moves.
        BodyError: the body failed, or the controller.
    """
    if not 0.0 < until_s <= MOST_S:
        raise InputError(f"until {until_s:g} s", hint=f"above 0, up to {MOST_S:g} s")
    kind, domain = body_of(body, checked_seed(seed))
    start = robot.pose(pose) if isinstance(pose, str) else np.asarray(pose, dtype=np.float64)
    plant = make_plant(kind, [Part(robot.name, robot, start, _ORIGIN, seed=seed, domain=domain)], None)
    carried = dict(documents or {}) | ({} if ships(robot) else {card_document(robot.name): robot.text})
    robots = {robot.name: RobotHeader.of(plant.bodies[robot.name], name)}
    header = Header(robots, seed=seed, version=__version__, documents=carried, extras=extras or {})
    return recorded(
        plant,
        {robot.name: controller},
        header,
        until_s=until_s,
        watchers=watchers,
        clock=clock,
        safety=None if safety is None else {robot.name: safety},
        record=record,
    )


def recorded(
    plant: Plant,
    controllers: Mapping[str, Controller],
    header: Header,
    *,
    until_s: float,
    watchers: Sequence[Watcher] = (),
    clock: Clock | None = None,
    safety: Mapping[str, Safety] | None = None,
    record: str | Path | None = None,
) -> Recording:
    """Let controllers drive the robots of a plant, as `control.drive` does; return every frame of it.

    It is written to `record`, where that is given, even if the run fails.
    """
    if record is not None:
        refuse_unwritable(Path(record))
    recorder = Recorder(header, plant, every=1)
    watchers = [recorder, *watchers]
    try:
        drive(plant, controllers, until_s=until_s, watchers=watchers, clock=clock, safety=safety)
    finally:  # above all of a run that failed somebody will want to know how
        recording = recorder.recording()
        if record is not None:
            write_mcap(recording, Path(record))
    return recording
