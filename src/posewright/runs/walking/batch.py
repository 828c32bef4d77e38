"""Many gaits and speeds in one batch."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from posewright.bodies import DomainParameters
from posewright.errors import InputError
from posewright.gaits import Gait, VelocityCommand, gait_text
from posewright.recordings import write_mcap
from posewright.robots import Robot
from posewright.runs.batch import Batch, BatchRun, OnRun, digest_of, run_batch, versions
from posewright.runs.walking.walk import walk_gait

_SHOWN = ("speed_m_s", "left_m_s", "turn_rad_s", "max_tilt_deg", "max_torque_ratio", "cost_of_transport")
"""The figures that tell most of a walk."""

_Walk = tuple[str, Gait, Robot, VelocityCommand]


def walk_batch(
    gaits: Mapping[str, tuple[Gait, Robot]],
    commands: Sequence[VelocityCommand],
    *,
    folder: Path | None = None,
    workers: int = 1,
    on_run: OnRun | None = None,
    **how: Any,
) -> Batch:
    """Walk every gait with every command, each `how` `walk_gait` does it, and measure each walk.

    It is kept in a folder and gone on with as `run_batch` does it. The faster walk is the better one, and one
    without a fall is better than any with one.

    Raises:
        InputError: a speed is asked for twice; and as `run_batch` does.
    """
    items: dict[str, _Walk] = {}
    for (name, one), command in itertools.product(gaits.items(), commands):
        words = f"{name} at {command.forward_m_s:g}" if len(commands) > 1 else name
        if words in items:
            raise InputError(f"{words} is asked for twice", hint="each speed once, to six digits")
        items[words] = (words, *one, command)
    exact = {
        name: repr(asdict(told) if isinstance(told, DomainParameters) else told) for name, told in how.items()
    }
    settings = {
        "what": "Gaits walked",
        "gaits": ", ".join(gaits),
        "robot": ", ".join(dict.fromkeys(robot.name for _, robot in gaits.values())),
        "asked for": "; ".join(map(repr, commands)),
        **{name: str(value) for name, value in how.items()},
        **{
            f"file {name}": digest_of({name: gait_text(one) + card.text, "model": _model(card)})
            for name, (one, card) in gaits.items()
        },
        "file exact numbers": digest_of(exact),
        **versions(),
    }
    task = functools.partial(_run, how)
    kept: Any = {"folder": folder, "workers": workers, "on_run": on_run}
    return run_batch(task, items, key="gait", measure="speed_m_s", settings=settings, **kept)


def _model(card: Robot) -> str:
    return "" if card.model_path is None else card.model_path.read_bytes().hex()


def _run(how: Mapping[str, Any], walk: _Walk, record: Path | None) -> BatchRun:
    name, gait, robot, command = walk
    result = walk_gait(gait, robot, command=command, **how)
    if record is not None:
        write_mcap(result.recording, record)
    figures, falls, domain = result.report.figures, result.report.falls, result.domain
    return BatchRun(
        name,
        {one: figures[one] for one in _SHOWN} | {"falls": len(falls), "upright": not falls},
        (-len(falls), figures["speed_m_s"] or 0.0),
        incidents=tuple(f"fell {fall.side}" for fall in falls),
        story=tuple(f"fell {fall.side} at {fall.time_s:.2f} s" for fall in falls),
        body="" if domain.is_nominal else str(domain),
        digest=result.recording.digest(),
    )
