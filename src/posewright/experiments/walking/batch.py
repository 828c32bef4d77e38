"""Many gaits, speeds and bodies in one batch."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.bodies import DomainParameters
from posewright.experiments.batch import Batch, Row, run_batch
from posewright.experiments.walking.walk import SECONDS, SETTLE_S, walk_gait
from posewright.gaits import Gait, VelocityCommand, gait_text
from posewright.recordings import write_mcap
from posewright.robots import Robot
from posewright.version import __version__

_SHOWN = (
    "speed_m_s",
    "left_m_s",
    "turn_rad_s",
    "max_tilt_deg",
    "slip_per_m",
    "max_torque_ratio",
    "cost_of_transport",
)
"""The figures that tell most of a walk."""

Walked = tuple[Gait, Robot, VelocityCommand]


@dataclass(frozen=True)
class BatchedWalk:
    """How long every walk of a batch takes, and on which body; it can be handed to another process."""

    seconds: float = SECONDS
    settle_s: float = SETTLE_S
    domain: DomainParameters | None = None
    body: str = ""
    seed: int = 0

    def row(self, walked: tuple[str, Walked], record: Path | None) -> Row:
        """Walk, measure, and write the recording."""
        name, (gait, robot, command) = walked
        result = walk_gait(
            gait,
            robot,
            command,
            seconds=self.seconds,
            settle_s=self.settle_s,
            domain=self.domain,
            body_name=self.body,
            seed=self.seed,
        )
        if record is not None:
            write_mcap(result.recording, record)
        figures, falls = result.report.figures, result.report.falls
        upright = {"upright": not falls, "falls": len(falls)}
        told = tuple(f"fell {fall.side} at {fall.time_s:.2f} s" for fall in falls)
        body = "" if self.domain is None or self.domain.is_nominal else str(self.domain)
        return Row(
            name,
            {name: figures[name] for name in _SHOWN} | upright,
            (-len(falls), figures["speed_m_s"] or 0.0),
            tuple(f"fell {fall.side}" for fall in falls),
            told,
            body,
            result.recording.digest(),
        )


def _words(command: VelocityCommand) -> str:
    return f"{command.forward_m_s:g} m/s ahead, {command.left_m_s:g} left, {command.turn_rad_s:g} rad/s"


def walk_batch(
    gaits: Mapping[str, tuple[Gait, Robot]],
    commands: Sequence[VelocityCommand],
    walk: BatchedWalk,
    *,
    folder: Path | None = None,
    workers: int = 1,
    on_row: Callable[[Row, bool], None] | None = None,
) -> Batch:
    """Walk every gait with every command, and measure each walk; kept as by `run_batch`."""
    items = {}
    for (name, (gait, robot)), command in itertools.product(gaits.items(), commands):
        words = f"{name} {command.forward_m_s:g} m/s" if len(commands) > 1 else name
        items[words] = (words, (gait, robot, command))
    texts = "".join(f"{name}\n{gait_text(gait)}\n" for name, (gait, _) in gaits.items())
    settings = {
        "what": "Gaits walked",
        "gaits": ", ".join(gaits),
        "robot": ", ".join(dict.fromkeys(robot.name for _, robot in gaits.values())),
        "asked for": "; ".join(map(_words, commands)),
        "measured for": f"{walk.seconds:g} s, after {walk.settle_s:g} s",
        "body": f"{walk.body}, seed {walk.seed}",
        "documents": hashlib.sha256(texts.encode()).hexdigest()[:16],
        "Posewright": __version__,
    }
    return run_batch(
        walk.row,
        items,
        key="gait",
        measure="speed_m_s",
        settings=settings,
        folder=folder,
        workers=workers,
        on_row=on_row,
    )
