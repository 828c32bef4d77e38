"""A trial many times, each time with another seed: `run_many`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from posewright.arenas import Arena, Role, corners, footprints
from posewright.arrays import Floats
from posewright.codegen.hil.boards import PYTHON
from posewright.contests import RankedScore, contest
from posewright.control import Controller, ControllerFactory
from posewright.errors import InputError
from posewright.evaluation.trajectory import domain_of
from posewright.recordings import Recording, write_mcap
from posewright.runs.batch import Batch, BatchRun, OnRun, digest_of, run_batch, versions
from posewright.runs.batch_report import keep_report
from posewright.runs.outcome import Outcome, Unjudged
from posewright.runs.plants import SIMULATION
from posewright.runs.run import run
from posewright.runs.streams import Derivation
from posewright.runs.trial import (
    Trial,
    TrialOptions,
    program_options,
    resolve_trial,
    trial_documents,
    trial_run,
)
from posewright.search.plan import require_seed

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
        if last - first < MOST_SEEDS:
            seeds.update(range(first, last + 1))
        if last - first >= MOST_SEEDS or len(seeds) > MOST_SEEDS:
            raise InputError(f"too many seeds: {text!r}", hint=f"at most {MOST_SEEDS}")
    return tuple(sorted(map(require_seed, seeds)))


@dataclass(frozen=True)
class _TrialTask:
    """A trial, but for its seed; it can be handed to another process."""

    trial: Trial
    options: TrialOptions
    keeps_recordings: bool

    def settings(self) -> dict[str, str]:
        """Return what a run hangs on besides its seed, in words; raises what running it would raise."""
        options = self.options
        trial = replace(
            self.trial,
            layout=self.trial.layout if options.layout is None else options.layout,
            behaviour=self.trial.behaviour if options.behaviour is None else options.behaviour,
            robot=self._robot_name(),
            options=program_options(self.trial, options),
        )
        documents = trial_documents(self.trial, replace(options, seed=0))
        files = [*trial.options.values(), options.body]
        documents |= {path: Path(path).read_bytes().hex() for path in files if path and Path(path).is_file()}
        words = {
            "robot": trial.robot,
            "behaviour": trial.behaviour,
            "rules": trial.rules,
            "arena": trial.arena,
            "still_s": str(trial.still_s),
            "opponents": str(dict(trial.opponents)),
            "options": str(dict(trial.options)),
        }
        settings = {
            "trial": trial.name,
            "contest name": trial.contest,
            **{name: word for name, word in words.items() if word},
            "contest": contest(trial.contest).title,
            "layout": trial.layout or "random",
            "body": options.body,
            "layouts": "legal ones" if options.require_legal else "any",
            "random streams": options.derivation.value,
        }
        if not isinstance(options.controller, str):
            settings["controller"] = f"{options.controller!r}".partition(" at 0x")[0]
        elif options.controller != PYTHON:
            settings["controller"] = options.controller
        if not self.keeps_recordings:
            settings["recordings"] = "none"
        digests = {f"file {name}": digest_of({name: text}) for name, text in sorted(documents.items())}
        return settings | digests | versions()

    def _robot_name(self) -> str:
        """Return who runs it: as the trial names it, or the robot of the behaviour in its place."""
        if self.options.robot is not None:
            return self.options.robot
        if self.options.behaviour is None:
            return self.trial.robot
        programs = trial_run(self.trial, replace(self.options, seed=0)).programs
        return next(iter(programs.values())).robot.name

    def __call__(self, seed: int, record: Path | None) -> BatchRun:
        """Run it with a seed, and write its recording where one is kept."""
        outcome = run(trial_run(self.trial, replace(self.options, seed=seed)))
        if record is not None and self.keeps_recordings:
            write_mcap(outcome.recording, record)
        return run_of(str(seed), outcome)


def run_many(
    trial: str | Path | Trial = "obstacle-race",
    *,
    seeds: str | Iterable[int],
    layout: str | Path | None = None,
    behaviour: str | Path | None = None,
    robot: str | Path | None = None,
    options: Mapping[str, str] | None = None,
    motions: str | Path | None = None,
    body: str = SIMULATION,
    controller: str | ControllerFactory | Callable[[], Controller] = PYTHON,
    legal: bool = False,
    streams: str = Derivation.NAMED.value,
    folder: str | Path | None = None,
    recordings: bool = True,
    workers: int = 1,
    executor: Executor | None = None,
    on_run: OnRun | None = None,
) -> Batch:
    """Run a trial with many seeds; the result is the same with any number of workers, and any executor.

    The folder gets a journal, recordings unless they are not wanted, `results.csv` and `report.html`; asked
    for again, runs that are there are not run again. `{trial}` and `{digest}` in its name are replaced by the
    trial's name and a digest of all settings. Without one nothing is kept.

    Args:
        trial: as for `run_trial`, as are the nine that follow but for the seeds.
        layout: name of a layout, path of one, or `random`.
        behaviour: name or path of a behaviour or another program.
        robot: who runs that behaviour.
        options: what is said to the behaviour besides.
        motions: file of the robot's maker, for the behaviour's pages.
        body: what it happens on.
        controller: where the behaviour runs; or a class or function of one's own that makes a controller, and
            that other processes can import.
        legal: whether a layout that breaks the rules is refused.
        streams: how random streams follow from a seed.
        seeds: whole numbers, or a text: `1-20`.
        folder: where the batch is kept.
        recordings: whether recordings are kept, too.
        workers: processes of this machine that run it, 1 for this one alone.
        executor: runs it instead, a cluster's say, whose workers see the folder.
        on_run: is called with each run, and whether it was there already.

    Raises:
        InputError: something that was handed in is wrong, or the folder holds a batch with other settings.
        OutputError: nothing can be written into the folder, or another program is using it.
        UnavailableError: a worker process ended by itself.
    """
    numbers = read_seeds(seeds) if isinstance(seeds, str) else sorted({require_seed(seed) for seed in seeds})
    if not numbers:
        raise InputError("no seeds", hint="such as 1-20")
    resolved, trial_options = resolve_trial(
        trial,
        layout=layout,
        behaviour=behaviour,
        robot=robot,
        options=options,
        motions=motions,
        body=body,
        controller=controller,
        legal=legal,
        streams=streams,
    )
    task = _TrialTask(resolved, trial_options, recordings)
    settings = task.settings()
    if folder is not None:
        names = {"{trial}": Path(resolved.name).name, "{digest}": digest_of(settings)[:8]}
        folder = Path(re.sub(r"\{(trial|digest)\}", lambda match: names[match[0]], str(folder)))
    batch = run_batch(
        task,
        {str(seed): seed for seed in numbers},
        key="seed",
        measure="points",
        settings=settings,
        folder=folder,
        workers=workers,
        executor=executor,
        on_run=on_run,
    )
    keep_report(batch)
    return batch


def run_of(name: str, outcome: Outcome) -> BatchRun:
    """Return the run of what came of a trial."""
    score, table, recording = outcome.score, outcome.score.table(), outcome.recording
    points = {} if isinstance(score, Unjudged) else {"points": score.points}
    ranked = score if isinstance(score, RankedScore) else None
    domain = domain_of(next(iter(recording.header.robots.values())).facts.get("domain") or {})
    return BatchRun(
        name,
        figures=ranked.figures if ranked else points,
        ranking=ranked.ranking if ranked else (score.points,),
        incidents=ranked.incidents if ranked else (),
        score={"columns": table.columns, "rows": table.rows, "total": table.total},
        story=(*table.notes, *score.warnings, *outcome.remarks),
        body="" if domain.is_nominal else str(domain),
        digest=recording.digest(),
        sketch=sketch_of(recording),
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
    boxes = corners(*footprints(recording.boxes[0], arena.box_sizes)) if recording.boxes.size else ()
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
