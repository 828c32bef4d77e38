"""`posewright gait run` and `gait compare`: walk gaits on simulated bodies, and measure them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from posewright import bodies as known_bodies
from posewright import evaluation, figures, gaits, recordings, robots, runs, search
from posewright.cli.batch import Out, following, give_batch, refuse_of_one, workers_for
from posewright.cli.console import give, working
from posewright.cli.gait_options import (
    Forward,
    Left,
    RobotOption,
    Sets,
    Turn,
    open_gait,
)
from posewright.cli.gait_tables import compare_table, many_lines, walk_lines
from posewright.cli.motion_play import followed, give_run
from posewright.cli.options import (
    AsJson,
    Record,
    argument,
    option,
    record_paths,
    refuse_overwriting,
    refuse_recording,
)
from posewright.documents import is_path
from posewright.errors import BodyError, InputError, UnknownNameError
from posewright.gaits import VelocityCommand

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


class Wishes(NamedTuple):
    """How gaits are walked, on whose body, and who is told."""

    command: VelocityCommand  # what they are asked for
    seconds: float  # for so long each is measured [s]
    settle_s: float  # for so long each walks before [s]
    body: str  # nominal, a set of bodies, or the path of one
    seed: int  # of the body, where it is drawn at random
    as_json: bool  # whether a program reads the result

    @property
    def asked(self) -> dict[str, Any]:
        """What every kind of walk is asked for, by the names that `runs` has for it."""
        return {name: getattr(self, name) for name in ("command", "seconds", "settle_s", "seed")}


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
    wishes = Wishes(VelocityCommand(forward, left, turn), seconds, settle, body, seed, as_json)
    if speeds is not None or Path(gait).is_dir():
        only_one = {"--plot": plot, "--record": record, "--bodies": bodies}
        _run_batch(gait, robot, sets, speeds, wishes, only_one, out, workers)
        return
    if out is not None:
        raise InputError("a report is of many walks", hint="--out with a folder of gaits, or --speeds")
    if plot is not None:
        figures.refuse_unsavable(plot)
        refuse_overwriting(plot, gait)
    refuse_recording(record, gait)
    opened, card = open_gait(gait, robot, sets)
    if not runs.choose_plant(body).is_simulation:
        refuse_of_one({"--plot": plot, "--bodies": bodies, "--workers": workers}, "of a simulated walk")
        _run_anywhere(opened, card, wishes, record)
    elif bodies is None:
        if workers is not None:
            raise InputError("one body is walked by one process", hint="--workers with --bodies N")
        _run_one(opened, card, wishes, record, plot)
    else:
        for output, words, flag in ((plot, "a picture", "--plot"), (record, "a recording", "--record")):
            if output is not None:
                what = f"{words} is of one body"
                raise InputError(what, hint=f"{flag} without --bodies, and --body random --seed N")
        _run_many(opened, card, wishes, bodies, workers)


def _run_one(
    gait: gaits.Gait, robot: robots.Robot, wishes: Wishes, record: Path | None, plot: Path | None
) -> None:
    result = _walked(gait, robot, wishes)
    if record is not None:
        recordings.write_mcap(result.recording, record)
    if plot is not None:
        figures.save_figure(figures.draw_walk(result), plot)
    give(result.to_dict(), walk_lines(result, _whose(wishes.body, wishes.seed)), as_json=wishes.as_json)
    if not result.report.is_upright:
        raise typer.Exit(FELL)


def _run_anywhere(gait: gaits.Gait, robot: robots.Robot, wishes: Wishes, record: Path | None) -> None:
    how: dict[str, Any] = {"command": wishes.command, "seconds": wishes.settle_s + wishes.seconds}
    with followed(gait.name, wishes.body, quiet=wishes.as_json) as watcher:
        how["plant_watchers"] = [watcher.of_plant]
        recording = runs.play_gait(gait, robot, body=wishes.body, record=record, **how)
    give_run(recording, as_json=wishes.as_json)


def _run_batch(
    gait: str,
    robot: str | None,
    sets: list[str] | None,
    speeds: str | None,
    wishes: Wishes,
    only_one: Mapping[str, object],
    out: Path | None,
    workers: int | None,
) -> None:
    refuse_of_one(only_one, "of one walk")
    paths = runs.files_in([gait], ".gait.yaml")
    opened = {name: open_gait(str(path), robot, sets) for name, path in paths.items()}
    commands = [wishes.command]
    if speeds is not None:
        try:
            commands = [replace(wishes.command, forward_m_s=float(one)) for one in speeds.split(",")]
        except ValueError as error:
            raise InputError(f"--speeds {speeds}", hint="numbers such as 0.05,0.1,0.15") from error
    count, body, seed = len(opened) * len(commands), wishes.body, wishes.seed
    how: Any = {"seconds": wishes.seconds, "settle_s": wishes.settle_s, "seed": seed}
    how |= {"domain": _domain(body, seed), "body_name": body, "workers": workers_for(workers, count)}
    with following(count, "gait", quiet=wishes.as_json) as on_run:
        batch = runs.walk_batch(opened, commands, folder=out, on_run=on_run, **how)
    runs.keep_report(batch)
    give_batch(batch, as_json=wishes.as_json)
    if batch.succeeded[1] < count:
        raise typer.Exit(FELL)


def compare(
    gaits: GaitNames,
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
    opened = [open_gait(name, robot, sets) for name in gaits]
    paths = [] if record is None else record_paths(record, [one.name for one, _ in opened])
    for path in paths:
        refuse_recording(path, *gaits)
    wishes = Wishes(VelocityCommand(forward, left, turn), seconds, settle, body, seed, as_json)
    results = [_walked(*one, wishes) for one in opened]
    for result, path in zip(results, paths, strict=False):
        recordings.write_mcap(result.recording, path)
    told = {"gaits": [result.to_dict() for result in results]}
    give(told, [compare_table(results, _whose(body, seed))], as_json=as_json)
    if not all(result.report.is_upright for result in results):
        raise typer.Exit(FELL)


def _walked(gait: gaits.Gait, robot: robots.Robot, wishes: Wishes) -> evaluation.WalkResult:
    """Walk one body, showing how far it is; what is wrong is said with the gait's name."""
    ends_s, domain = wishes.settle_s + wishes.seconds, _domain(wishes.body, wishes.seed)
    with working(f"{gait.name}: setting up", quiet=wishes.as_json) as say:
        try:
            return runs.walk_gait(
                gait,
                robot,
                **wishes.asked,
                domain=domain,
                body_name=wishes.body,
                on_progress=lambda time_s: say(f"{gait.name}: {time_s:.1f} of {ends_s:.1f} s"),
                clock=time.perf_counter,
            )
        except (BodyError, InputError) as error:
            told = f"{gait.name}: {error.message}"
            raise type(error)(told, where=error.where, hint=error.hint) from error


def _run_many(
    gait: gaits.Gait, robot: robots.Robot, wishes: Wishes, bodies: int, workers: int | None
) -> None:
    ranges = "random" if wishes.body == NOMINAL_BODY else wishes.body
    walked, fallen = 0, 0
    with working(f"{gait.name}: 0 of {bodies} bodies", quiet=wishes.as_json) as say:

        def count(body: runs.WalkedBody) -> None:
            nonlocal walked, fallen
            walked, fallen = walked + 1, fallen + (not body.is_upright)
            say(f"{gait.name}: {walked} of {bodies} bodies, {fallen} fell")

        many: runs.ManyReport = runs.walk_many(
            gait,
            robot,
            **wishes.asked,
            bodies=bodies,
            ranges=known_bodies.domain_randomization(ranges),
            workers=workers or (min(os.cpu_count() or 1, bodies) if bodies >= WORTH_WORKERS else 1),
            on_progress=count,
            clock=time.perf_counter,
        )
    give(many.to_dict(ranges), many_lines(many), as_json=wishes.as_json)
    if many.upright < bodies:
        raise typer.Exit(FELL)


def _domain(body: str, seed: int) -> known_bodies.DomainParameters:
    if body in {NOMINAL_BODY, SIMULATED}:
        return known_bodies.NOMINAL
    known = (NOMINAL_BODY, *known_bodies.domain_randomization_names())
    if body not in known and not is_path(body):
        raise UnknownNameError.among("body", body, known)
    return known_bodies.draw_domain(known_bodies.domain_randomization(body), search.checked_seed(seed))


def _whose(body: str, seed: int) -> str:
    return "nominal body" if body in {NOMINAL_BODY, SIMULATED} else f"{body} body of seed {seed}"
