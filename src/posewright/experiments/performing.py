"""Let any controller drive a robot, on a bare floor or in a field, and record all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import Body, Plant
from posewright.contests import Place
from posewright.control import Clock, Controller, Safety, Watcher, drive
from posewright.documents import refuse_unwritable
from posewright.errors import InputError
from posewright.experiments.plants import SIMULATION, Part, body_of, make_plant
from posewright.figures import card_document, refuse_camera
from posewright.recordings import Header, Recorder, Recording, RobotHeader, write_mcap
from posewright.robots import Robot, ships
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
    pace: Clock | None = None,
    safety: Safety | None = None,
    documents: Mapping[str, str] | None = None,
    extras: Mapping[str, Any] | None = None,
    to_film: bool = False,
    camera: str | None = None,
    record: str | Path | None = None,
) -> Recording:
    """Let a controller drive a robot; every frame is recorded, and no contest is run.

    Args:
        controller: what decides.
        robot: whom it drives.
        name: of the controller, for people: `openr move_head`.
        until_s: the run ends then at the latest, above 0 and up to an hour [s].
        body: as for `run_trial`.
        pose: in which the robot begins: one of its card's, or angles `(n_joints,)` [rad].
        arena: the field in which the robot begins at `start`; default a bare floor.
        seed: of everything drawn by chance.
        watchers: see every block after it is recorded; one that says so ends the run.
        pace: how frames are paced; simulated time by default.
        safety: what stands between controller and body; `Safety(robot)` by default.
        documents: texts that travel with the recording, by file name.
        extras: whatever else travels along.
        to_film: whether it is to be filmed, which needs a body that knows where it is.
        camera: who films, refused before the run begins where there is none of that name.
        record: where to write the recording as MCAP; of a run that failed or was ended, as far as it went.

    Raises:
        InputError: something that was handed in is wrong.
        UnknownNameError: there is no such body, pose or camera.
        OutputError: the recording cannot be written there; this is told before the robot moves.
        BodyError: the body failed, or the controller.
    """
    if record is not None:
        refuse_unwritable(Path(record))
    plant = _plant(body, Part(robot.name, robot, _angles(robot, pose), start, seed=seed), arena)
    _refuse(plant.bodies[robot.name], until_s, camera, to_film=to_film)
    told: Any = {"documents": documents or {}, "extras": extras or {}, "seed": seed}
    recorder = Recorder(_header(plant.bodies[robot.name], name, arena, told), plant, every=1)
    try:
        how: Any = {"until_s": until_s, "clock": pace, "safety": safety and {robot.name: safety}}
        drive(plant, {robot.name: controller}, watchers=[recorder, *watchers], **how)
    finally:  # above all of a run that failed somebody will want to know how
        recording = recorder.recording()
        if record is not None:
            write_mcap(recording, Path(record))
    return recording


def _angles(robot: Robot, pose: str | Floats) -> Floats:
    return robot.pose(pose) if isinstance(pose, str) else np.asarray(pose, dtype=np.float64)


def _header(body: Body, name: str, arena: Arena | None, told: dict[str, Any]) -> Header:
    """Return the header of a performance; a card that does not ship is among its documents."""
    card, field = body.robot, {} if arena is None else arena.to_dict()
    told["documents"] = {
        **told["documents"],
        **({} if ships(card) else {card_document(card.name): card.text}),
    }
    return Header({card.name: RobotHeader.of(body, name)}, arena=field, version=__version__, **told)


def _plant(body: str, part: Part, arena: Arena | None) -> Plant:
    """Return the robot on a body of that name, where it begins."""
    kind, domain = body_of(body, checked_seed(part.seed))
    return make_plant(kind, [replace(part, domain=domain)], arena)


def _refuse(body: Body, until_s: float, camera: str | None, *, to_film: bool) -> None:
    """Refuse a senseless time, a camera that is not there, and a film of a robot that nobody sees."""
    card = body.robot
    if not 0.0 < until_s <= MOST_S:
        raise InputError(f"until {until_s:g} s", hint=f"above 0, up to {MOST_S:g} s")
    if camera is not None:
        refuse_camera(camera, {card.name: card.sensors})
    if to_film and body.observe().truth is None:
        raise InputError(f"there is nothing to film: {card.name} does not know where it is")
