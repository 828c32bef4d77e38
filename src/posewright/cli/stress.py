"""`posewright stress`: runs a program on disturbed bodies, and maps its falls and speed over each factor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright import figures, gaits, runs
from posewright.cli.batch import BatchOptions, Workers, follow_runs
from posewright.cli.console import print_result
from posewright.cli.options import AsJson, Plot, add_command, argument, option, require_distinct_output

ProgramName = Annotated[
    str,
    argument("GAIT|BEHAVIOUR", "A gait, a behaviour or another program, by name or path: biped, race.bas."),
]
RobotName = Annotated[
    str | None, option("--robot R", "The robot's name, or its card's path. Default: the program's own.")
]
Forward = Annotated[
    float | None,
    option("--forward M/S", "Of a gait: speed forwards. Default: half the top speed.", show_default=False),
]
Left = Annotated[float | None, option("--left M/S", "Of a gait: speed to the left.", show_default=False)]
Turn = Annotated[
    float | None, option("--turn RAD/S", "Of a gait: turn rate to the left.", show_default=False)
]
Factors = Annotated[
    str | None,
    option(
        "--factors F,...",
        "Only these: friction, mass, servos, latency, slope, push, bumps. Default: all.",
        show_default=False,
    ),
]
Trials = Annotated[int, option("--trials N", "Runs with each value; each has a seed of its own.", min=1)]
Seed = Annotated[int, option("--seed N", "The first seed.")]
Body = Annotated[
    str,
    option(
        "--body B",
        "Draw bodies by the seeds before a factor is set: random, a *.bodies.yaml; or nominal: the model.",
    ),
]
Seconds = Annotated[float, option("--seconds S", "Duration of a run outside contests, in seconds.")]
ContestName = Annotated[
    str | None,
    option("--contest C", "Run in this contest or trial, and measure points; default on a bare floor."),
]
Out = Annotated[
    Path | None,
    option(
        "--out FOLDER", "Store the runs in this folder, so that the same command continues a stopped map."
    ),
]
Layout = Annotated[str | None, option("--layout L", "The layout of the contest: a name, a path, or random.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "stress", stress, python_equivalents="read_stressed_program stress_program draw_stress")


def stress(
    name: ProgramName,
    robot: RobotName = None,
    factors: Factors = None,
    trials: Trials = 5,
    seed: Seed = 0,
    body: Body = "random",
    forward: Forward = None,
    left: Left = None,
    turn: Turn = None,
    seconds: Seconds = 10.0,
    contest: ContestName = None,
    layout: Layout = None,
    plot: Plot = None,
    out: Out = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Map how often a program falls, and how fast it is, over what disturbs it.

    Sweeps each factor alone: friction, mass, stiffness of servos, latency, slope, pushes from random sides,
    and plates on the floor. All values have the same seeds, which draw body, sides and places.

    [bold]Examples[/]
      posewright stress biped --forward 0.2 --plot biped.png
      posewright stress trot --factors slope,push,bumps --trials 20 --out trot_stress --json
      posewright stress obstacle_race --contest obstacle-race --layout random --plot race.svg
    """
    if plot is not None:
        figures.require_picture_path(plot)
        require_distinct_output(plot, name)
    command: gaits.VelocityCommand | None = None
    if (forward, left, turn) != (None, None, None):
        command = gaits.VelocityCommand(forward or 0.0, left or 0.0, turn or 0.0)
    program = runs.read_stressed_program(
        name, robot, command=command, seconds=seconds, contest=contest, layout=layout
    )
    factor_names = tuple(runs.FACTORS) if factors is None else tuple(factors.split(","))
    n_runs = len(runs.list_runs(program, factor_names, trials, seed))
    with follow_runs(n_runs, "run", quiet=as_json) as on_run:
        stress_map = runs.stress_program(
            program,
            factors=factor_names,
            trials=trials,
            seed=seed,
            body=body,
            folder=out,
            workers=BatchOptions(out, workers).workers_for(n_runs),
            on_run=on_run,
        )
    if plot is not None:
        figures.save_figure(figures.draw_stress(stress_map), plot)
    print_result(stress_map.to_dict(), stress_map.lines(), as_json=as_json)
