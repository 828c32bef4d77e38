"""`posewright gait run` and `gait compare`: walk gaits on simulated bodies, and measure them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from posewright import bodies as known_bodies
from posewright import evaluation, figures, gaits, recordings, robots, runs, search
from posewright.cli.batch import BatchOptions, Out, follow_runs, print_batch, require_unset
from posewright.cli.console import print_result, spinner
from posewright.cli.gait_options import (
    Forward,
    Left,
    RobotOption,
    Sets,
    Turn,
    open_gait,
)
from posewright.cli.motion_play import followed, give_run
from posewright.cli.options import (
    AsJson,
    Record,
    argument,
    option,
    recording_paths,
    require_distinct_output,
    require_recording_path,
)
from posewright.documents import is_path
from posewright.errors import BodyError, InputError, UnknownNameError

NOMINAL_BODY, SIMULATED = "nominal", "sim"
FELL = 1  # exit code where a robot fell
WORTH_WORKERS = 8
"""So many bodies and more are walked by several processes: starting one takes as long as walking a few."""

GaitNames = Annotated[
    list[str], argument("GAIT ...", "Gaits of `posewright gait list`, or paths of your own *.gait.yaml.")
]
Seconds = Annotated[float, option("--seconds S", "How long to measure.")]
Settle = Annotated[
    float, option("--settle S", "How long to walk before measuring; falls count from the start.")
]
Seed = Annotated[int, option("--seed N", "Seed of a body that is drawn at random.")]
Body = Annotated[
    str,
    option(
        "--body B",
        "nominal: as the model says; random: other friction, masses, servos; a *.yaml; or, not measured as "
        "closely, mock, dynamixel:PORT, zenoh:NAME, yarp:NAME.",
    ),
]
Bodies = Annotated[
    int | None, option("--bodies N", "Walk this many random bodies, with seeds N, N + 1, ...", min=1)
]
Workers = Annotated[
    int | None, option("--workers N", "Processes for many bodies; default one per processor.", min=1)
]
Walks = Annotated[str, argument("GAIT", "A gait of the list, one's own *.gait.yaml, or a folder of them.")]
Speeds = Annotated[
    str | None, option("--speeds M/S,...", "Walk once at each of these forward speeds, as in 0.05,0.1,0.15.")
]
PlotFile = Annotated[Path | None, option("--plot PICTURE", "Draw the walk (png, svg or pdf).")]


@dataclass(frozen=True)
class WalkOptions:
    """How gaits are walked, on whose body, and who reads the result.

    Attributes:
        command: what they are asked for.
        seconds: for so long each is measured [s].
        settle_s: for so long each walks before [s].
        body: nominal, a set of bodies, or the path of one.
        seed: of the body, where it is drawn at random.
        as_json: whether a program reads the result.
    """

    command: gaits.VelocityCommand
    seconds: float
    settle_s: float
    body: str
    seed: int
    as_json: bool

    @property
    def domain(self) -> known_bodies.DomainParameters:
        """The body that is walked; raises UnknownNameError where there is none of that name."""
        if self.body in {NOMINAL_BODY, SIMULATED}:
            return known_bodies.NOMINAL
        known = (NOMINAL_BODY, *known_bodies.domain_randomization_names())
        if self.body not in known and not is_path(self.body):
            raise UnknownNameError.among("body", self.body, known)
        ranges = known_bodies.domain_randomization(self.body)
        return known_bodies.draw_domain(ranges, search.require_seed(self.seed))

    @property
    def body_text(self) -> str:
        """The body in words."""
        if self.body in {NOMINAL_BODY, SIMULATED}:
            return "nominal body"
        return f"{self.body} body of seed {self.seed}"


def run(
    gait: Walks,
    robot: RobotOption = None,
    forward: Forward = 0.0,
    left: Left = 0.0,
    turn: Turn = 0.0,
    seconds: Seconds = 10.0,
    seed: Seed = 0,
    body: Body = NOMINAL_BODY,
    bodies: Bodies = None,
    settle: Settle = 1.0,
    sets: Sets = None,
    workers: Workers = None,
    plot: PlotFile = None,
    record: Record = None,
    speeds: Speeds = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Walk a gait on a simulated body and measure it; exit with 1 if the robot falls.

    True speed over the ground, tilt, slip, clearance, joint speeds and torques against the card's, cost of
    transport. docs/measuring-a-gait.md explains each figure.

    [bold]Examples[/]
      posewright gait run trot --forward 0.2
      posewright gait run fast --forward 0.4 --seed 3 --body random --plot fast.png
      posewright gait run trot --forward 0.1 --turn 0.5 --bodies 20 --json
      posewright gait run trot --forward 0.15 --set central_height_m=0.012 --record trot.mcap
      posewright gait run my_gaits --speeds 0.05,0.1,0.15 --out walked
      posewright gait run trot --forward 0.1 --body zenoh:aibo
    """
    options = WalkOptions(gaits.VelocityCommand(forward, left, turn), seconds, settle, body, seed, as_json)
    if speeds is not None or Path(gait).is_dir():
        require_unset({"--plot": plot, "--record": record, "--bodies": bodies}, "with several walks")
        paths = runs.files_in([gait], ".gait.yaml")
        opened_gaits = {name: open_gait(str(path), robot, sets) for name, path in paths.items()}
        _run_batch(opened_gaits, speeds, options, BatchOptions(out, workers))
        return
    if out is not None:
        raise InputError("a report is of many walks", hint="--out with a folder of gaits, or --speeds")
    if plot is not None:
        figures.require_picture_path(plot)
        require_distinct_output(plot, gait)
    require_recording_path(record, gait)
    opened, card = open_gait(gait, robot, sets)
    if body != NOMINAL_BODY and not runs.choose_plant(body, extra_names=[NOMINAL_BODY]).is_simulation:
        require_unset({"--plot": plot, "--bodies": bodies, "--workers": workers}, "on a real robot")
        _run_anywhere(opened, card, options, record)
    elif bodies is None:
        if workers is not None:
            raise InputError("one body is walked by one process", hint="--workers with --bodies N")
        _run_one(opened, card, options, record, plot)
    else:
        for output, words, flag in ((plot, "a picture", "--plot"), (record, "a recording", "--record")):
            if output is not None:
                raise InputError(
                    f"{words} is of one body", hint=f"{flag} without --bodies, and --body random --seed N"
                )
        _run_many(opened, card, options, bodies, workers)


def _run_one(
    gait: gaits.Gait, robot: robots.Robot, options: WalkOptions, record: Path | None, plot: Path | None
) -> None:
    result = _walked(gait, robot, options)
    if record is not None:
        recordings.write_mcap(result.recording, record)
    if plot is not None:
        figures.save_figure(figures.draw_walk(result), plot)
    print_result(result.to_dict(), evaluation.walk_lines(result, options.body_text), as_json=options.as_json)
    if not result.report.is_upright:
        raise typer.Exit(FELL)


def _run_anywhere(gait: gaits.Gait, robot: robots.Robot, options: WalkOptions, record: Path | None) -> None:
    with followed(gait.name, options.body, quiet=options.as_json) as follower:
        recording = runs.play_gait(
            gait,
            robot,
            command=options.command,
            seconds=options.settle_s + options.seconds,
            body=options.body,
            record=record,
            plant_watchers=[follower.of_plant],
        )
    give_run(recording, as_json=options.as_json)


def _run_batch(
    opened: Mapping[str, tuple[gaits.Gait, robots.Robot]],
    speeds: str | None,
    options: WalkOptions,
    batch_options: BatchOptions,
) -> None:
    commands = [options.command]
    if speeds is not None:
        try:
            commands = [replace(options.command, forward_m_s=float(speed)) for speed in speeds.split(",")]
        except ValueError as error:
            raise InputError(f"--speeds {speeds}", hint="numbers such as 0.05,0.1,0.15") from error
    n_walks = len(opened) * len(commands)
    with follow_runs(n_walks, "gait", quiet=options.as_json) as on_run:
        batch = runs.walk_batch(
            opened,
            commands,
            seconds=options.seconds,
            settle_s=options.settle_s,
            seed=options.seed,
            domain=options.domain,
            body_name=options.body,
            workers=batch_options.workers_for(n_walks),
            folder=batch_options.folder,
            on_run=on_run,
        )
    runs.write_report(batch)
    print_batch(batch, as_json=options.as_json)
    if batch.succeeded[1] < n_walks:
        raise typer.Exit(FELL)


def compare(
    names: GaitNames,
    robot: RobotOption = None,
    forward: Forward = 0.0,
    left: Left = 0.0,
    turn: Turn = 0.0,
    seconds: Seconds = 10.0,
    seed: Seed = 0,
    body: Body = NOMINAL_BODY,
    settle: Settle = 1.0,
    sets: Sets = None,
    record: Record = None,
    as_json: AsJson = False,
) -> None:
    """Simulate several gaits with the same command and compare their figures; exit with 1 if one falls.

    With several gaits, each recording has the gait in its name: walk.trot.mcap, walk.crawl.mcap.

    [bold]Examples[/]
      posewright gait compare trot fast --forward 0.2
      posewright gait compare trot my_trot.gait.yaml --forward 0.2 --turn 0.5 --body random --seed 7
      posewright gait compare trot crawl --forward 0.03 --record walk.mcap
    """
    opened = [open_gait(name, robot, sets) for name in names]
    paths = [] if record is None else recording_paths(record, [gait.name for gait, _ in opened])
    for path in paths:
        require_recording_path(path, *names)
    options = WalkOptions(gaits.VelocityCommand(forward, left, turn), seconds, settle, body, seed, as_json)
    results = [_walked(gait, card, options) for gait, card in opened]
    for result, path in zip(results, paths, strict=False):
        recordings.write_mcap(result.recording, path)
    data = {"gaits": [result.to_dict() for result in results]}
    print_result(data, [evaluation.compare_table(results, options.body_text)], as_json=as_json)
    if not all(result.report.is_upright for result in results):
        raise typer.Exit(FELL)


def _walked(gait: gaits.Gait, robot: robots.Robot, options: WalkOptions) -> evaluation.WalkResult:
    """Walk one body, showing how far it is; what is wrong is said with the gait's name."""
    ends_s = options.settle_s + options.seconds
    domain = options.domain
    with spinner(f"{gait.name}: setting up", quiet=options.as_json) as say:
        try:
            return runs.walk_gait(
                gait,
                robot,
                command=options.command,
                seconds=options.seconds,
                settle_s=options.settle_s,
                seed=options.seed,
                domain=domain,
                body_name=options.body,
                on_progress=lambda time_s: say(f"{gait.name}: {time_s:.1f} of {ends_s:.1f} s"),
                clock=time.perf_counter,
            )
        except (BodyError, InputError) as error:
            message = f"{gait.name}: {error.message}"
            raise type(error)(message, where=error.where, hint=error.hint) from error


def _run_many(
    gait: gaits.Gait, robot: robots.Robot, options: WalkOptions, bodies: int, workers: int | None
) -> None:
    ranges = "random" if options.body == NOMINAL_BODY else options.body
    walked = 0
    fallen = 0
    with spinner(f"{gait.name}: 0 of {bodies} bodies", quiet=options.as_json) as say:

        def count(body: runs.WalkedBody) -> None:
            nonlocal walked, fallen
            walked += 1
            fallen += not body.is_upright
            say(f"{gait.name}: {walked} of {bodies} bodies, {fallen} fell")

        many: runs.ManyReport = runs.walk_many(
            gait,
            robot,
            command=options.command,
            seconds=options.seconds,
            settle_s=options.settle_s,
            seed=options.seed,
            bodies=bodies,
            ranges=known_bodies.domain_randomization(ranges),
            workers=workers or (min(os.cpu_count() or 1, bodies) if bodies >= WORTH_WORKERS else 1),
            on_progress=count,
            clock=time.perf_counter,
        )
    print_result(many.to_dict(ranges), many.lines(), as_json=options.as_json)
    if many.upright < bodies:
        raise typer.Exit(FELL)
