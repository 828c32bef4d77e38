"""A trial many times, each time with another seed: `run_many`."""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from posewright.arenas import Arena, Role, corners, shadows
from posewright.arrays import Floats
from posewright.bodies import DomainParameters
from posewright.contests import Ranked, contest
from posewright.documents import read_text
from posewright.errors import InputError
from posewright.experiments.batch import Batch, Row, digest_of, run_batch
from posewright.experiments.batch_report import keep_report
from posewright.experiments.outcome import Outcome, Unjudged
from posewright.experiments.plants import SIMULATION
from posewright.experiments.run import documents_of, run_trial
from posewright.experiments.trial import Trial, read_trial
from posewright.recordings import Recording, write_mcap
from posewright.search.plan import checked_seed
from posewright.version import __version__

MOST_SEEDS = 100_000
_SEEDS = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")
_SKETCHED = 160
"""A path is sketched with so many points at most."""


def read_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds that a text such as `1-20` or `1,4,9-12` names, each once, in order.

    Raises:
        InputError: it names none, or too many.
    """
    seeds: set[int] = set()
    for part in text.split(","):
        found = _SEEDS.fullmatch(part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if last < first:
            raise InputError(f"no seeds: {text!r}", hint="such as 1-20, or 1,4,9-12")
        if last - first >= MOST_SEEDS:
            raise InputError(f"too many seeds: {part.strip()}", hint=f"at most {MOST_SEEDS}")
        seeds.update(range(first, last + 1))
    return tuple(sorted(map(checked_seed, seeds)))


@dataclass(frozen=True)
class TrialTask:
    """A trial, but for its seed; it can be handed to another process."""

    trial: Trial
    motions: str | None = None
    body: str = SIMULATION
    legal: bool = False

    @property
    def settings(self) -> dict[str, str]:
        """What a run hangs on besides its seed, in words; raises what a run with these would raise."""
        documents = documents_of(replace(self.trial, seed=0), self.motions, self.body, legal=self.legal)
        if Path(self.body).is_file():
            documents[self.body] = read_text(Path(self.body))
        if self.motions is not None:
            documents[self.motions] = Path(self.motions).read_bytes().hex()
        told = "".join(f"{name}\n{text}\n" for name, text in sorted(documents.items()))
        return {
            "contest": contest(self.trial.contest).title,
            "trial": self.trial.name,
            "robot": self.trial.robot,
            "behaviour": self.trial.behaviour,
            "layout": self.trial.layout or "random",
            "motions": self.motions or "those of the behaviour",
            "body": self.body,
            "legal layouts only": "yes" if self.legal else "no",
            "documents": hashlib.sha256(told.encode()).hexdigest()[:16],
            "Posewright": __version__,
            "MuJoCo": importlib.metadata.version("mujoco"),
            "NumPy": np.__version__,
        }

    def folder(self, within: Path) -> Path:
        """Return where a batch of it is kept unless a person says where."""
        return within / f"{Path(self.trial.name).name}-{digest_of(self.settings)}"

    def row(self, seed: int, record: Path | None) -> Row:
        """Run it with a seed, and write its recording."""
        outcome = run_trial(self.trial, seed=seed, motions=self.motions, body=self.body, legal=self.legal)
        if record is not None:
            write_mcap(outcome.recording, record)
        return row_of(str(seed), outcome)

    def unrecorded(self, seed: int, record: Path | None) -> Row:  # noqa: ARG002 -- as `row`
        """Run it with a seed, and keep no recording."""
        return self.row(seed, None)


def trial_task(
    trial: str | Path | Trial = "obstacle-race",
    *,
    layout: str | Path | None = None,
    behaviour: str | Path | None = None,
    motions: str | Path | None = None,
    body: str = SIMULATION,
    legal: bool = False,
) -> TrialTask:
    """Return a trial that is to be run with many seeds, as `run_trial` would run it."""
    asked = trial if isinstance(trial, Trial) else read_trial(trial)
    asked = replace(
        asked,
        layout=asked.layout if layout is None else str(layout),
        behaviour=asked.behaviour if behaviour is None else str(behaviour),
    )
    return TrialTask(asked, None if motions is None else str(motions), body, legal)


def run_many(
    trial: str | Path | Trial | TrialTask = "obstacle-race",
    *,
    seeds: str | Iterable[int],
    layout: str | Path | None = None,
    behaviour: str | Path | None = None,
    motions: str | Path | None = None,
    body: str = SIMULATION,
    legal: bool = False,
    folder: str | Path | None = None,
    recordings: bool = True,
    workers: int = 1,
    executor: Executor | None = None,
    on_row: Callable[[Row, bool], None] | None = None,
) -> Batch:
    """Run a trial with many seeds; the result is the same with any number of workers.

    Args:
        trial: as of `run_trial`; or a `trial_task`, which says the next five too.
        seeds: numbers, or a text such as `1-20`.
        layout: as of `run_trial`.
        behaviour: as of `run_trial`.
        motions: as of `run_trial`.
        body: as of `run_trial`.
        legal: as of `run_trial`.
        folder: where finished runs, their recordings, `results.csv` and `report.html` are kept; asked for
            again, runs that are there are not run again. None keeps nothing.
        recordings: whether the folder gets a recording of each run.
        workers: processes that run trials side by side; 1 for this one alone.
        executor: who runs them instead, a cluster's for one; its workers must see the folder.
        on_row: is told of each run, and whether it was there already.

    Raises:
        InputError: something that was handed in is wrong, or the folder holds a batch with other settings.
        OutputError: nothing can be written into the folder, or another program is at it.
        UnavailableError: a worker process ended by itself.
    """
    task = trial
    if not isinstance(task, TrialTask):
        task = trial_task(task, layout=layout, behaviour=behaviour, motions=motions, body=body, legal=legal)
    asked = (
        read_seeds(seeds) if isinstance(seeds, str) else tuple(sorted({checked_seed(one) for one in seeds}))
    )
    if not asked:
        raise InputError("no seeds", hint="such as 1-20")
    batch = run_batch(
        task.row if recordings else task.unrecorded,
        {str(seed): seed for seed in asked},
        key="seed",
        measure="points",
        settings=task.settings | ({} if recordings else {"recordings": "none"}),
        folder=None if folder is None else Path(folder),
        workers=workers,
        executor=executor,
        on_row=on_row,
    )
    keep_report(batch)
    return batch


def row_of(name: str, outcome: Outcome) -> Row:
    """Return the row of what came of a trial."""
    score, table = outcome.score, outcome.score.table()
    judged = not isinstance(score, Unjudged)
    is_ranked = isinstance(score, Ranked)
    lines = (*(" ".join(filter(None, row)) for row in (*table.rows, table.total)), *table.notes)
    header = next(iter(outcome.recording.header.robots.values()))
    told: dict[str, Any] = dict(header.facts.get("domain") or {})
    pairs = {key: tuple(value) for key, value in told.items() if isinstance(value, list)}
    domain = DomainParameters(**told | pairs)
    return Row(
        name,
        figures=dict(score.figures) if is_ranked else {"points": score.points if judged else None},
        ranking=score.ranking if is_ranked else (score.points,),
        incidents=score.incidents if is_ranked else (),
        story=tuple(filter(None, (*lines, *score.warnings, *outcome.remarks))),
        body="" if domain.is_nominal else str(domain),
        digest=outcome.recording.digest(),
        sketch=sketch_of(outcome.recording),
    )


def sketch_of(recording: Recording) -> Mapping[str, Any]:
    """Return the field with its lines and boxes, and the robots' paths on it, as SVG paths [cm].

    Seen from above with x to the right; nothing where nobody knew where the robots were.
    """
    placed = [one.base[np.isfinite(one.base).all(axis=1), :2] for one in recording.robots.values()]
    if not recording.header.arena or not any(map(len, placed)):
        return {}
    arena = Arena.from_dict(recording.header.arena)
    lines = [shape for shape in arena.shapes if shape.role is Role.LINE]
    outlines = [corners([(one.x, one.y, one.yaw_rad)], one.size_m[:2])[0] for one in lines]
    boxes = corners(*shadows(recording.boxes[0], arena.box_sizes)) if recording.boxes.size else ()
    width, height = (100.0 * side for side in arena.size_m)
    path = "".join(_path(one[:: max(1, len(one) // _SKETCHED)], height) for one in placed if len(one))
    return {
        "size": [round(width), round(height)],
        "lines": "".join(f"{_path(one, height)}Z" for one in outlines),
        "boxes": "".join(f"{_path(one, height)}Z" for one in boxes),
        "path": path,
    }


def _path(points: Floats, height_cm: float) -> str:
    """Return points of the field [m] as an SVG path [cm], whose y points down from the left edge."""
    told = [f"{100.0 * x:.0f} {height_cm / 2.0 - 100.0 * y:.0f}" for x, y in points.tolist()]
    return f"M{'L'.join(told)}"
