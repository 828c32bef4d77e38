"""Walks of several gaits with several commands, as a batch."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from posewright.bodies import DomainParameters
from posewright.errors import InputError
from posewright.gaits import Gait, VelocityCommand, gait_text
from posewright.recordings import write_mcap
from posewright.robots import Robot
from posewright.runs.batch import Batch, BatchRun, OnRun, digest_of, run_batch, versions
from posewright.runs.walking.walk import SECONDS, SETTLE_S, walk_gait

_TABLE_FIGURES = (
    "speed_m_s",
    "left_m_s",
    "turn_rad_s",
    "max_tilt_deg",
    "max_torque_ratio",
    "cost_of_transport",
)
"""The figures of a walk that are in the table of a batch."""


@dataclass(frozen=True)
class WalkOptions:
    """The options of all walks of a batch, as for `walk_gait`."""

    seconds: float
    settle_s: float
    domain: DomainParameters | None
    body_name: str | None
    seed: int

    def __repr__(self) -> str:
        """Return all options with exact numbers, for the digest that a batch stores."""
        domain = None if self.domain is None else asdict(self.domain)
        for name in ("pushes", "plates"):  # older batches have no such keys
            if domain is not None and not domain[name]:
                del domain[name]
        return (
            f"WalkOptions({self.seconds!r}, {self.settle_s!r}, {domain!r}, {self.body_name!r}, {self.seed!r})"
        )


@dataclass(frozen=True)
class _WalkTask:
    """One walk of a batch; it can be pickled for another process."""

    name: str
    gait: Gait
    robot: Robot
    command: VelocityCommand
    options: WalkOptions


def walk_batch(
    gaits: Mapping[str, tuple[Gait, Robot]],
    commands: Sequence[VelocityCommand],
    *,
    seconds: float = SECONDS,
    settle_s: float = SETTLE_S,
    domain: DomainParameters | None = None,
    body_name: str | None = None,
    seed: int = 0,
    folder: Path | None = None,
    workers: int = 1,
    on_run: OnRun | None = None,
) -> Batch:
    """Walk every gait with every command, and measure each walk.

    The batch is stored in a folder and resumed as by `run_batch`. A walk without a fall ranks before any with
    a fall; among these the faster one ranks first.

    Args:
        gaits: the gaits with the robots that walk them, by their names in the batch.
        commands: each is walked with every gait.
        seconds: as for `walk_gait`, like settle_s, domain, body_name and seed.
        settle_s: time that the robot walks before the measurement [s].
        domain: how the body differs from the robot's model.
        body_name: name of that body.
        seed: the seed of the sensors' noise.
        folder: where the batch is stored.
        workers: number of processes.
        on_run: called with each run, and whether the folder already held it.

    Raises:
        InputError: two commands have the same forward speed; and as `run_batch`.
    """
    options = WalkOptions(seconds, settle_s, domain, body_name, seed)
    walks: dict[str, _WalkTask] = {}
    for (gait_name, (gait, robot)), command in itertools.product(gaits.items(), commands):
        name = f"{gait_name} at {command.forward_m_s:g}" if len(commands) > 1 else gait_name
        if name in walks:
            raise InputError(
                f"{name} is listed twice", hint="each speed once; they must differ in their first six digits"
            )
        walks[name] = _WalkTask(name, gait, robot, command, options)
    settings = {
        "what": "Gaits walked",
        "gaits": ", ".join(gaits),
        "robot": ", ".join(dict.fromkeys(robot.name for _, robot in gaits.values())),
        "asked for": "; ".join(map(repr, commands)),
        "seconds": str(seconds),
        "settle_s": str(settle_s),
        "domain": str(domain),
        "body_name": str(body_name),
        "seed": str(seed),
        **{
            f"file {name}": digest_of({name: gait_text(gait) + card.text, "model": _model_hex(card)})
            for name, (gait, card) in gaits.items()
        },
        "file exact numbers": digest_of({"options": repr(options)}),
        **versions(),
    }
    return run_batch(
        _run_walk,
        walks,
        key="gait",
        measure="speed_m_s",
        settings=settings,
        folder=folder,
        workers=workers,
        on_run=on_run,
    )


def _model_hex(card: Robot) -> str:
    """Return the content of the robot's model file as hexadecimal digits; empty without a model."""
    return "" if card.model_path is None else card.model_path.read_bytes().hex()


def _run_walk(walk: _WalkTask, record: Path | None) -> BatchRun:
    """Walk once, write the recording, and return the entry of the batch."""
    options = walk.options
    result = walk_gait(
        walk.gait,
        walk.robot,
        command=walk.command,
        seconds=options.seconds,
        settle_s=options.settle_s,
        domain=options.domain,
        body_name=options.body_name,
        seed=options.seed,
    )
    if record is not None:
        write_mcap(result.recording, record)
    figures = result.report.figures
    falls = result.report.falls
    return BatchRun(
        walk.name,
        {name: figures[name] for name in _TABLE_FIGURES} | {"falls": len(falls), "upright": not falls},
        (-len(falls), figures["speed_m_s"] or 0.0),
        incidents=tuple(f"fell {fall.side}" for fall in falls),
        story=tuple(f"fell {fall.side} at {fall.time_s:.2f} s" for fall in falls),
        body="" if result.domain.is_nominal else str(result.domain),
        digest=result.recording.digest(),
    )
