"""`posewright gait run` and `gait compare`: walk with gaits on simulated bodies, and measure the walks."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from posewright import bodies as body_models
from posewright import controllers, evaluation, figures, gaits, recordings, robots, runs, search
from posewright.cli.batch import BatchOptions, Out, follow_runs, print_batch, require_unset
from posewright.cli.console import print_result, print_warning, spinner
from posewright.cli.gait_options import (
    Forward,
    Left,
    ParameterSettings,
    RobotOption,
    Turn,
    open_gait,
)
from posewright.cli.motion_play import print_run, show_run_progress
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

NOMINAL_BODY = "nominal"
SIMULATED_BODY = "sim"
EXIT_FELL = 1  # exit code if a robot fell
MIN_BODIES_FOR_WORKERS = 8
"""Fewer bodies walk in this process: starting a worker takes as long as a few walks."""

GaitNames = Annotated[
    list[str], argument("GAIT ...", "Gaits of `posewright gait list`, or paths of *.gait.yaml files.")
]
Seconds = Annotated[float, option("--seconds S", "How long to measure, in seconds.")]
Settle = Annotated[
    float,
    option("--settle S", "How long to walk before the measurement, in seconds. Falls count from the start."),
]
Seed = Annotated[int, option("--seed N", "Seed of a random body.")]
Body = Annotated[
    str,
    option(
        "--body B",
        "nominal: the model as it is; random: with other friction, masses and servos; push_05, "
        "plates_3mm, slope: pushed, or on another floor; a *.bodies.yaml; or, with fewer figures: mock, "
        "dynamixel:PORT, zenoh:NAME, yarp:NAME.",
    ),
]
Bodies = Annotated[
    int | None,
    option("--bodies N", "Walk on this many random bodies, with the seeds --seed, --seed + 1, ...", min=1),
]
Workers = Annotated[
    int | None, option("--workers N", "Processes for many bodies. Default: one per processor.", min=1)
]
GaitOrFolder = Annotated[
    str, argument("GAIT", "A gait of `posewright gait list`, a *.gait.yaml file, or a folder of such files.")
]
Speeds = Annotated[
    str | None,
    option("--speeds M/S,...", "Walk once at each of these forward speeds, such as 0.05,0.1,0.15."),
]
PlotFile = Annotated[Path | None, option("--plot PICTURE", "Draw the walk (png, svg or pdf).")]


@dataclass(frozen=True)
class WalkOptions:
    """The options of a measured walk.

    Attributes:
        command: velocity command of the gait.
        seconds: duration of the measurement [s].
        settle_s: duration of the walk before the measurement [s].
        body: value of `--body`.
        seed: seed of a random body.
        as_json: whether the result is printed as JSON.
    """

    command: gaits.VelocityCommand
    seconds: float
    settle_s: float
    body: str
    seed: int
    as_json: bool

    @property
    def domain(self) -> body_models.DomainParameters:
        """Parameters of the simulated body; raises UnknownNameError if there is no such body."""
        if self.body in {NOMINAL_BODY, SIMULATED_BODY}:
            return body_models.NOMINAL
        names = (NOMINAL_BODY, *body_models.domain_randomization_names())
        if self.body not in names and not is_path(self.body):
            raise UnknownNameError.among("body", self.body, names)
        ranges = body_models.domain_randomization(self.body)
        return body_models.draw_domain(ranges, search.require_seed(self.seed))

    @property
    def body_title(self) -> str:
        """The body as reports name it."""
        if self.body in {NOMINAL_BODY, SIMULATED_BODY}:
            return "nominal body"
        return f"{self.body} body of seed {self.seed}"


def run(
    gait_name: GaitOrFolder,
    robot_name: RobotOption = None,
    forward: Forward = 0.0,
    left: Left = 0.0,
    turn: Turn = 0.0,
    seconds: Seconds = 10.0,
    seed: Seed = 0,
    body: Body = NOMINAL_BODY,
    n_bodies: Bodies = None,
    settle: Settle = 1.0,
    settings: ParameterSettings = None,
    workers: Workers = None,
    plot: PlotFile = None,
    record: Record = None,
    speeds: Speeds = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Walk with a gait on a simulated body and measure the walk. Exits with 1 if the robot falls.

    Measures the speed over the ground, tilt, slip, foot clearance, cost of transport, and the speeds and
    torques of the joints compared with the robot's limits. docs/measuring-a-gait.md explains each figure.

    [bold]Examples[/]
      posewright gait run trot --forward 0.2
      posewright gait run fast --forward 0.4 --seed 3 --body random --plot fast.png
      posewright gait run trot --forward 0.1 --turn 0.5 --bodies 20 --json
      posewright gait run trot --forward 0.15 --set central_height_m=0.012 --record trot.mcap
      posewright gait run my_gaits --speeds 0.05,0.1,0.15 --out walked
      posewright gait run trot --forward 0.1 --body zenoh:aibo
    """
    command = gaits.VelocityCommand(forward, left, turn)
    options = WalkOptions(command, seconds, settle_s=settle, body=body, seed=seed, as_json=as_json)
    if speeds is not None or Path(gait_name).is_dir():
        require_unset({"--plot": plot, "--record": record, "--bodies": n_bodies}, "with several walks")
        paths = runs.files_in([gait_name], ".gait.yaml")
        gaits_by_name = {name: open_gait(str(path), robot_name, settings) for name, path in paths.items()}
        _run_batch(gaits_by_name, speeds, options, batch_options=BatchOptions(out, workers))
        return
    if out is not None:
        raise InputError("--out is for several walks", hint="use it with a folder of gaits, or with --speeds")
    if plot is not None:
        figures.require_picture_path(plot)
        require_distinct_output(plot, gait_name)
    require_recording_path(record, gait_name)
    gait, robot = open_gait(gait_name, robot_name, settings)
    walk_and_report(gait, robot, options, n_bodies=n_bodies, workers=workers, record=record, plot=plot)


def walk_and_report(
    gait: gaits.Gait,
    robot: robots.Robot,
    options: WalkOptions,
    *,
    n_bodies: int | None,
    workers: int | None,
    record: Path | None,
    plot: Path | None,
) -> None:
    """Walk with a gait on one body or many, write what was requested, and print the report.

    Args:
        gait: the gait.
        robot: the robot.
        options: of the walk.
        n_bodies: number of random bodies; None for the one body of the options.
        workers: number of processes for many bodies; None for the default.
        record: path of the recording.
        plot: path of the picture.

    Raises:
        typer.Exit: the robot fell.
        InputError: an option does not go with the body.
    """
    if (
        options.body != NOMINAL_BODY
        and not runs.choose_plant(options.body, extra_names=[NOMINAL_BODY]).is_simulation
    ):
        require_unset(
            {"--plot": plot, "--bodies": n_bodies, "--workers": workers},
            "on a body that is not simulated here",
        )
        _run_on_other_body(gait, robot, options, record)
        return
    if n_bodies is None:
        if workers is not None:
            raise InputError("one body walks in one process", hint="use --workers with --bodies N")
        _run_on_one_body(gait, robot, options, record, plot)
        return
    for output, option_name in ((plot, "--plot"), (record, "--record")):
        if output is not None:
            raise InputError(
                f"{option_name} is for one body",
                hint=f"use {option_name} with --body random --seed N, without --bodies",
            )
    _run_on_many_bodies(gait, robot, options, n_bodies, workers)


def _run_on_one_body(
    gait: gaits.Gait, robot: robots.Robot, options: WalkOptions, record: Path | None, plot: Path | None
) -> None:
    """Walk on one body, write what was requested, and print the report; exit with an error if it fell."""
    result = _walk(gait, robot, options)
    if record is not None:
        recordings.write_mcap(result.recording, record)
    if plot is not None:
        figures.save_figure(figures.draw_walk(result), plot)
    print_result(result.to_dict(), evaluation.walk_lines(result, options.body_title), as_json=options.as_json)
    if not result.report.is_upright:
        raise typer.Exit(EXIT_FELL)


def _run_on_other_body(
    gait: gaits.Gait, robot: robots.Robot, options: WalkOptions, record: Path | None
) -> None:
    """Walk on a body that is not simulated here: a mock, a servo bus or a robot across the network."""
    with show_run_progress(gait.name, options.body, quiet=options.as_json) as progress:
        recording = runs.play_gait(
            gait,
            robot,
            command=options.command,
            seconds=options.settle_s + options.seconds,
            body=options.body,
            record=record,
            plant_watchers=[progress.for_plant],
        )
    for event in recording.events_of(controllers.NO_FEEDBACK):
        print_warning(f"{options.body} has no {event.data['channel']}: the walk had no feedback from it")
    print_run(recording, as_json=options.as_json)


def _run_batch(
    gaits_by_name: Mapping[str, tuple[gaits.Gait, robots.Robot]],
    speeds: str | None,
    options: WalkOptions,
    batch_options: BatchOptions,
) -> None:
    """Walk with each gait at each of the speeds, and report."""
    commands = [options.command]
    if speeds is not None:
        try:
            commands = [replace(options.command, forward_m_s=float(speed)) for speed in speeds.split(",")]
        except ValueError as error:
            raise InputError(
                f"--speeds {speeds} is not a list of numbers", hint="such as 0.05,0.1,0.15"
            ) from error
    n_walks = len(gaits_by_name) * len(commands)
    with follow_runs(n_walks, "gait", quiet=options.as_json) as on_run:
        batch = runs.walk_batch(
            gaits_by_name,
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
    _, n_upright = batch.success_count
    if n_upright < n_walks:
        raise typer.Exit(EXIT_FELL)


def compare(
    gait_names: GaitNames,
    robot_name: RobotOption = None,
    forward: Forward = 0.0,
    left: Left = 0.0,
    turn: Turn = 0.0,
    seconds: Seconds = 10.0,
    seed: Seed = 0,
    body: Body = NOMINAL_BODY,
    settle: Settle = 1.0,
    settings: ParameterSettings = None,
    record: Record = None,
    as_json: AsJson = False,
) -> None:
    """Simulate several gaits with the same command and compare their figures. Exits with 1 if a robot falls.

    With several gaits, each recording has the gait in its name: walk.trot.mcap, walk.crawl.mcap.

    [bold]Examples[/]
      posewright gait compare trot fast --forward 0.2
      posewright gait compare trot my_trot.gait.yaml --forward 0.2 --turn 0.5 --body random --seed 7
      posewright gait compare trot crawl --forward 0.03 --record walk.mcap
    """
    gaits_and_robots = [open_gait(name, robot_name, settings) for name in gait_names]
    output_paths: list[Path] = []
    if record is not None:
        output_paths = recording_paths(record, [gait.name for gait, _ in gaits_and_robots])
    for path in output_paths:
        require_recording_path(path, *gait_names)
    command = gaits.VelocityCommand(forward, left, turn)
    options = WalkOptions(command, seconds, settle_s=settle, body=body, seed=seed, as_json=as_json)
    results = [_walk(gait, robot, options) for gait, robot in gaits_and_robots]
    for result, path in zip(results, output_paths, strict=False):  # there may be no paths
        recordings.write_mcap(result.recording, path)
    data = {"gaits": [result.to_dict() for result in results]}
    print_result(data, [evaluation.compare_table(results, options.body_title)], as_json=as_json)
    if not all(result.report.is_upright for result in results):
        raise typer.Exit(EXIT_FELL)


def _walk(gait: gaits.Gait, robot: robots.Robot, options: WalkOptions) -> evaluation.WalkResult:
    """Walk with a gait on one body and show the progress; errors begin with the gait's name."""
    end_s = options.settle_s + options.seconds
    domain = options.domain
    with spinner(f"{gait.name}: setting up", quiet=options.as_json) as show_status:
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
                on_progress=lambda time_s: show_status(f"{gait.name}: {time_s:.1f} of {end_s:.1f} s"),
                clock=time.perf_counter,
            )
        except (BodyError, InputError) as error:
            message = f"{gait.name}: {error.message}"
            raise type(error)(message, where=error.where, hint=error.hint) from error


def _run_on_many_bodies(
    gait: gaits.Gait, robot: robots.Robot, options: WalkOptions, n_bodies: int, workers: int | None
) -> None:
    """Walk with a gait on random bodies, and report how many stay upright."""
    randomization = "random" if options.body == NOMINAL_BODY else options.body
    if workers is None:
        is_worth_workers = n_bodies >= MIN_BODIES_FOR_WORKERS
        workers = min(os.cpu_count() or 1, n_bodies) if is_worth_workers else 1
    n_walked = 0
    n_fallen = 0
    with spinner(f"{gait.name}: 0 of {n_bodies} bodies", quiet=options.as_json) as show_status:

        def on_body(body: runs.WalkedBody) -> None:
            """Count a body that has walked, and show the numbers."""
            nonlocal n_walked, n_fallen
            n_walked += 1
            n_fallen += not body.is_upright
            show_status(f"{gait.name}: {n_walked} of {n_bodies} bodies, {n_fallen} fell")

        report: runs.ManyReport = runs.walk_many(
            gait,
            robot,
            command=options.command,
            seconds=options.seconds,
            settle_s=options.settle_s,
            seed=options.seed,
            bodies=n_bodies,
            ranges=body_models.domain_randomization(randomization),
            workers=workers,
            on_progress=on_body,
            clock=time.perf_counter,
        )
    print_result(report.to_dict(randomization), report.lines(), as_json=options.as_json)
    if report.upright < n_bodies:
        raise typer.Exit(EXIT_FELL)
