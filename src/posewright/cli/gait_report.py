"""`posewright gait report`: runs the same tests with any gait or behaviour, and reports them on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from posewright import runs
from posewright.cli.batch import BatchOptions, Workers, follow_runs
from posewright.cli.console import print_line, print_result, progress_bar
from posewright.cli.options import AsJson, argument, option

ProgramName = Annotated[
    str,
    argument("GAIT|BEHAVIOUR", "A gait, a behaviour or another program, by name or path."),
]
RobotName = Annotated[
    str | None, option("--robot R", "The robot's name, or its card's path. Default: the program's own.")
]
Forward = Annotated[
    float | None,
    option(
        "--forward M/S",
        "Of a gait: the command of all tests but those of speed. Default: half the top speed.",
        show_default=False,
    ),
]
Quick = Annotated[bool, option("--quick", "A tenth of the runs.")]
Seed = Annotated[int, option("--seed N", "The first seed of the random bodies.")]
ReportFolder = Annotated[
    Path | None,
    option(
        "--out FOLDER",
        "Write report.html, report.png and report.json to this folder, and store the runs, so that the same "
        "command continues a stopped report.",
    ),
]


def report(
    name: ProgramName,
    robot: RobotName = None,
    forward: Forward = None,
    quick: Quick = False,
    seed: Seed = 0,
    out: ReportFolder = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Report how well a gait or behaviour walks: the same tests for every robot, on one page.

    Measures speeds asked and got, heading, falls an hour without and with pushes, the greatest push survived
    by side and phase, plates, slopes, slip, cost of transport, and margins of torque and speed.
    A Bioloid takes about three minutes on two free processors, half a minute with --quick.

    [bold]Examples[/]
      posewright gait report biped --forward 0.2 --out biped_report
      posewright gait report trot --quick --json
      posewright gait report get_up_and_walk --robot robotis_bioloid --quick
    """
    benchmark = runs.QUICK_BENCHMARK if quick else runs.FULL_BENCHMARK
    plan = runs.plan_walk_report(name, robot, forward_m_s=forward, benchmark=benchmark, seed=seed)
    n_finished = 0
    with (
        progress_bar(f"report of {plan.program}") as show_progress,
        follow_runs(plan.n_runs, "run", quiet=True) as count_run,
    ):

        def on_run(batch_run: runs.BatchRun, is_stored: bool) -> None:
            """Count a finished run, and show how many are finished."""
            nonlocal n_finished
            count_run(batch_run, is_stored)
            n_finished += 1
            show_progress(n_finished, plan.n_runs)

        walk_report = runs.run_walk_report(
            plan, folder=out, workers=BatchOptions(out, workers).workers_for(plan.n_runs), on_run=on_run
        )
    if out is not None:
        runs.write_walk_report(walk_report, out)
    print_result(walk_report.to_dict(), walk_report.lines(), as_json=as_json)
    if out is not None and not as_json:
        print_line(f"report: {out / 'report.html'}")
