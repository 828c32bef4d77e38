"""`run_many`: one trial with many seeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from posewright.arenas import Arena, Colour, Role, Shape, corners, footprints, shape_outline
from posewright.arrays import Floats
from posewright.bodies import StartPosture, read_posture
from posewright.codegen.hil.boards import PYTHON
from posewright.contests import RankedScore, contest
from posewright.control import Controller, ControllerFactory
from posewright.documents import is_path
from posewright.errors import InputError
from posewright.evaluation.trajectory import domain_of
from posewright.figures.field import BOX_COLOUR
from posewright.figures.style import INK, colours_of, pale
from posewright.recordings import Recording, write_mcap
from posewright.runs.batch import Batch, BatchRun, OnRun, digest_of, run_batch, versions
from posewright.runs.batch_report import write_report
from posewright.runs.outcome import Outcome, Unjudged
from posewright.runs.plants import SIMULATION
from posewright.runs.python_programs import PythonKind, is_controller_object, load_object
from posewright.runs.run import run
from posewright.runs.streams import Derivation, read_derivation
from posewright.runs.trial import (
    ControllerSource,
    Trial,
    TrialOptions,
    add_motions,
    merge_program_options,
    resolve_trial,
    text_or_none,
    trial_documents,
    trial_run,
)
from posewright.search.plan import require_seed

CM_PER_M = 100.0

MAX_SEEDS = 100_000
_SEEDS = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")
_SKETCH_POINTS = 160
"""Largest number of points of a path in a sketch."""


def read_seeds(text: str) -> tuple[int, ...]:
    """Parse seeds such as `1-20` or `1,4,9-12`; return them sorted, without duplicates.

    Raises:
        InputError: the text has no seeds, or more than `MAX_SEEDS`.
    """
    seeds: set[int] = set()
    for part in text.split(","):
        match = _SEEDS.fullmatch(part.strip())
        if match is None:
            raise InputError(f"{text!r} is not a list of seeds", hint="write 1-20, or 1,4,9-12")
        first = int(match[1])
        last = int(match[2] or match[1])
        if last < first:
            raise InputError(f"the seeds {part.strip()!r} run backwards", hint=f"write {last}-{first}")
        if last - first < MAX_SEEDS:
            seeds.update(range(first, last + 1))
        if last - first >= MAX_SEEDS or len(seeds) > MAX_SEEDS:
            raise InputError(f"too many seeds: {text!r}", hint=f"at most {MAX_SEEDS}")
    return tuple(sorted(map(require_seed, seeds)))


@dataclass(frozen=True)
class _TrialTask:
    """A trial without its seed, which can be pickled for another process."""

    trial: Trial
    options: TrialOptions
    keeps_recordings: bool

    def settings(self) -> dict[str, str]:
        """Return what a run depends on besides its seed, as text; raises what running it would raise."""
        options = self.options
        trial = replace(
            self.trial,
            layout=self.trial.layout if options.layout is None else options.layout,
            behaviour=self.trial.behaviour if options.behaviour is None else options.behaviour,
            robot=self._robot_name(),
            options=merge_program_options(self.trial, options),
        )
        documents = trial_documents(self.trial, replace(options, seed=0))
        files = [*trial.options.values(), options.body, trial.arena]
        documents |= {path: Path(path).read_bytes().hex() for path in files if path and Path(path).is_file()}
        optional_settings = {
            "robot": trial.robot,
            "behaviour": trial.behaviour,
            "rules": trial.rules,
            "arena": trial.arena,
            "still_s": str(trial.still_s),
            "opponents": str(dict(trial.opponents)),
            "options": str(dict(trial.options)),
            "time to get up": "" if options.get_up_s is None else f"{options.get_up_s:g} s",
            "start": "" if options.posture is StartPosture.STANDING else options.posture.value,
        }
        settings = {
            "trial": trial.name,
            "contest name": trial.contest,
            **{name: text for name, text in optional_settings.items() if text},
            "contest": contest(trial.contest).title,
            "layout": trial.layout or ("the arena's own" if is_path(trial.arena) else "random"),
            "body": options.body,
            "layouts": "legal ones" if options.require_legal_layout else "any",
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
        """Return the robot's name: the trial's, or that of the program that replaces the trial's."""
        if self.options.robot is not None:
            return self.options.robot
        if self.options.behaviour is None:
            return self.trial.robot
        programs = trial_run(self.trial, replace(self.options, seed=0)).programs
        return next(iter(programs.values())).robot.name

    def __call__(self, seed: int, record: Path | None) -> BatchRun:
        """Run it with a seed, and write its recording if recordings are stored."""
        outcome = run(trial_run(self.trial, replace(self.options, seed=seed)))
        if record is not None and self.keeps_recordings:
            write_mcap(outcome.recording, record)
        return run_of(str(seed), outcome)


def run_many(
    trial: str | Path | Trial = "obstacle-race",
    *,
    seeds: str | Iterable[int],
    arena: str | Path | None = None,
    layout: str | Path | None = None,
    behaviour: str | Path | None = None,
    robot: str | Path | None = None,
    options: Mapping[str, str] | None = None,
    motions: str | Path | None = None,
    body: str = SIMULATION,
    controller: str | ControllerFactory | Callable[[], Controller] = PYTHON,
    legal: bool = False,
    get_up_s: float | None = None,
    start_posture: str = StartPosture.STANDING.value,
    streams: str = Derivation.NAMED.value,
    folder: str | Path | None = None,
    recordings: bool = True,
    workers: int = 1,
    executor: Executor | None = None,
    on_run: OnRun | None = None,
) -> Batch:
    """Run a trial with many seeds; the result does not depend on the number of workers or the executor.

    The folder receives a journal, `results.csv`, `report.html` and, if requested, the recordings. A second
    call repeats only what is missing. `{trial}` and `{digest}` in the folder's name are replaced by the
    trial's name and a digest of all settings. Without a folder nothing is stored.

    Args:
        trial: as for `run_trial`, like the twelve arguments after `seeds`.
        seeds: integers, or a text such as `1-20`.
        arena: path of an arena document whose field and boxes replace those of the trial.
        layout: name or path of a layout, or `random`.
        behaviour: name or path of a behaviour or another program.
        robot: the robot that runs that behaviour.
        options: further options of the program.
        motions: motion file of the robot's maker, for the behaviour's pages.
        body: the body it runs on.
        controller: where the behaviour runs; or a class or function that makes a controller, importable by
            other processes.
        legal: whether a layout that breaks the rules is an error.
        get_up_s: time that the referee of a race leaves a fallen robot to get up by itself [s].
        start_posture: how a simulated robot is put down at the start.
        streams: how random streams are derived from a seed.
        folder: where the batch is stored.
        recordings: whether recordings are stored, too.
        workers: number of processes on this machine; 1 runs in this one.
        executor: runs the trials instead, for example on a cluster; its workers must see the folder.
        on_run: called with each run, and whether the folder already held it.

    Raises:
        InputError: an argument is wrong, or the folder holds a batch with other settings.
        OutputError: the folder cannot be written, or another program is using it.
        UnavailableError: a worker process ended unexpectedly.
    """
    seed_numbers = (
        read_seeds(seeds) if isinstance(seeds, str) else sorted({require_seed(seed) for seed in seeds})
    )
    if not seed_numbers:
        raise InputError("there are no seeds", hint="at least one, such as 1-20")
    resolved_trial, trial_options = resolve_trial(
        trial,
        TrialOptions(
            layout=text_or_none(layout),
            behaviour=text_or_none(behaviour),
            robot=text_or_none(robot),
            options=add_motions(options, motions),
            body=body,
            controller=controller,
            require_legal_layout=legal,
            get_up_s=get_up_s,
            posture=read_posture(start_posture),
            derivation=read_derivation(streams),
        ),
    )
    if arena is not None:
        resolved_trial = replace(resolved_trial, arena=str(arena), layout="")
    if _is_shared_controller(controller):
        raise InputError(
            "the seeds of a batch cannot share a controller",
            hint="pass a class or a function that creates it",
        )
    task = _TrialTask(resolved_trial, trial_options, recordings)
    settings = task.settings()
    if folder is not None:
        placeholders = {"{trial}": Path(resolved_trial.name).name, "{digest}": digest_of(settings)[:8]}
        folder = Path(re.sub(r"\{(trial|digest)\}", lambda match: placeholders[match[0]], str(folder)))
    batch = run_batch(
        task,
        {str(seed): seed for seed in seed_numbers},
        key="seed",
        measure="points",
        settings=settings,
        folder=folder,
        workers=workers,
        executor=executor,
        on_run=on_run,
    )
    write_report(batch)
    return batch


def _is_shared_controller(controller: ControllerSource) -> bool:
    """Return whether all seeds would use one object, which carries its state from one seed to the next."""
    if isinstance(controller, str):
        return PythonKind().recognises(controller) and is_controller_object(load_object(controller))
    return is_controller_object(controller)


def run_of(name: str, outcome: Outcome) -> BatchRun:
    """Return the batch's entry for a trial's outcome.

    Its `story` are the remarks about the run, one line each, its `sketch` is a small drawing of the robots'
    paths, and its `body` says how the robots differ from their model; it is empty if they do not.

    Args:
        name: name of the run in the batch.
        outcome: recording and score of the run.
    """
    recording = outcome.recording
    score = outcome.score
    score_table = score.table()
    run_without_ranking = BatchRun(
        name,
        figures={} if isinstance(score, Unjudged) else {"points": score.points},
        ranking=(score.points,),
        score={"columns": score_table.columns, "rows": score_table.rows, "total": score_table.total},
        story=(*score_table.notes, *score.warnings, *outcome.remarks),
        body=_describe_deviations(recording),
        digest=recording.digest(),
        sketch=sketch_of(recording),
    )
    if not isinstance(score, RankedScore):
        return run_without_ranking
    return replace(
        run_without_ranking, figures=score.figures, ranking=score.ranking, incidents=score.incidents
    )


def _describe_deviations(recording: Recording) -> str:
    """Return how the robots of a run differ from their model; empty if they do not."""
    first_robot, *_ = recording.header.robots.values()  # all robots of a run differ in the same way
    domain = domain_of(first_robot.facts.get("domain") or {})
    return "" if domain.is_nominal else str(domain)


def sketch_of(recording: Recording) -> Mapping[str, Any]:
    """Return the field and the robots' paths on it as SVG paths [cm], seen from above with x to the right.

    Returns:
        `size`, width and height; `areas`, floor, shapes and boxes from bottom to top, and `paths`, one for
        each robot, each with its outline and its colour. Empty if no robot's position is known.
    """
    places = {
        name: record.base[np.isfinite(record.base).all(axis=1), :2]
        for name, record in recording.robots.items()
    }
    if not recording.header.arena or not any(map(len, places.values())):
        return {}
    arena = Arena.from_dict(recording.header.arena)
    width, height = (CM_PER_M * side for side in arena.size_m)
    areas = [[f"M0 0H{width:.0f}V{height:.0f}H0Z", _hex_colour(pale(arena.colours["floor"]))]]
    for shape in sorted(arena.shapes, key=lambda shape: shape.top_m):
        colour = arena.colour_of(shape)
        areas.append(
            [_svg_outline(shape, height), _hex_colour(pale(colour) if shape.role is Role.LINE else colour)]
        )
    if recording.boxes.size:
        for outline in corners(*footprints(recording.boxes[0], arena.box_sizes)):
            areas.append([f"{_svg_path(outline, height)}Z", BOX_COLOUR])
    path_colours = colours_of(places) if len(places) > 1 else dict.fromkeys(places, INK)
    return {
        "size": [round(width), round(height)],
        "areas": areas,
        "paths": [
            [_svg_path(points[:: max(1, len(points) // _SKETCH_POINTS)], height), path_colours[name]]
            for name, points in places.items()
            if len(points)
        ],
    }


def _svg_outline(shape: Shape, height_cm: float) -> str:
    """Return the outline of a shape of the field as an SVG path [cm]: a circle, or a polygon."""
    if shape.is_round:
        diameter_m = shape.size_m[0]
        radius_cm = CM_PER_M / 2.0 * diameter_m
        left_cm = CM_PER_M * shape.x - radius_cm
        middle_y_cm = height_cm / 2.0 - CM_PER_M * shape.y  # y of the field points up from its middle
        half_circle = f"a{radius_cm:.1f} {radius_cm:.1f} 0 0 0"
        return (
            f"M{left_cm:.1f} {middle_y_cm:.1f}"
            f"{half_circle} {2.0 * radius_cm:.1f} 0{half_circle} {-2.0 * radius_cm:.1f} 0Z"
        )
    return f"{_svg_path(shape_outline(shape), height_cm)}Z"


def _hex_colour(colour: Colour) -> str:
    """Return a colour of channels 0..1 as `#rrggbb`."""
    return "#" + "".join(f"{round(255.0 * channel):02x}" for channel in colour)


def _svg_path(points: Floats, height_cm: float) -> str:
    """Return points of the field `(n, 2)` [m] as an SVG path [cm] with y pointing down."""
    coordinates = [f"{CM_PER_M * x:.0f} {height_cm / 2.0 - CM_PER_M * y:.0f}" for x, y in points.tolist()]
    return f"M{'L'.join(coordinates)}"
