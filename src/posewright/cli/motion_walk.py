"""`posewright motion walk`: walk by the pages of a motion file, and measure the walk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from posewright import controllers, figures, formats, hazards, runs
from posewright.cli.console import print_note
from posewright.cli.gait_options import parse_settings
from posewright.cli.gait_run import (
    NOMINAL_BODY,
    Bodies,
    Body,
    PlotFile,
    Seconds,
    Seed,
    Settle,
    WalkOptions,
    Workers,
    walk_and_report,
)
from posewright.cli.motion_options import MotionPath, Page, RobotName, open_for_robot
from posewright.cli.options import (
    AcceptFaults,
    AsJson,
    Record,
    option,
    print_accepted_faults,
    report_faults,
    require_distinct_output,
    require_output_file,
    require_recording_path,
)

Adjustments = Annotated[
    list[str] | None,
    option(
        "--set NAME=VALUE",
        "Adjust the walk: rate=1.1 plays every page faster, lean_rad=0.05 leans the trunk forward, "
        "amplitude.hip_roll=1.2 or amplitude.legs=0.9 scales the movement of joints about their mean. "
        "Repeat for more.",
        show_default=False,
    ),
]
AdjustedFile = Annotated[
    Path | None,
    option("--output -o FILE", "Write the file with the adjusted pages, for the robot. Other pages stay."),
]


def walk(
    file: MotionPath,
    page: Page = None,
    robot: RobotName = None,
    seconds: Seconds = 10.0,
    settings: Adjustments = None,
    output: AdjustedFile = None,
    seed: Seed = 0,
    body: Body = NOMINAL_BODY,
    n_bodies: Bodies = None,
    settle: Settle = 1.0,
    workers: Workers = None,
    plot: PlotFile = None,
    record: Record = None,
    accept_faults: AcceptFaults = False,
    as_json: AsJson = False,
) -> None:
    """Walk by the pages of a motion file, and measure the walk. Exits with 1 if the robot falls.

    From the given page on, the next pages are played as the robot's board plays them, at their own rates and
    as often as they repeat. The figures are those of `gait run`; "commanded" is the velocity at which the
    pages lead ahead if no foot slips and no joint lags.

    [bold]Examples[/]
      posewright motion walk humanoid.mtn --page F_S_L --seconds 10
      posewright motion walk humanoid.mtn --page F_S_L --bodies 20 --json
      posewright motion walk humanoid.mtn --page F_S_L --set rate=1.1 --set lean_rad=0.05 -o faster.mtn
    """
    if plot is not None:
        figures.require_picture_path(plot)
        require_distinct_output(plot, file)
    require_recording_path(record, file)
    motion_file = open_for_robot(file, robot)
    require_output_file(output, "a motion file", formats.format_named(motion_file.format).suffixes[:1], file)
    first_page = motion_file.page_number(page)
    card = formats.robot_of_motion(motion_file.motion(first_page))
    gait = controllers.PageGait(motion_file, first_page, card).with_values(
        parse_settings(settings, example="rate=1.1")
    )
    if output is not None:
        with report_faults():
            faults = controllers.write_page_gait(gait, output, accept_faults=accept_faults)
        print_accepted_faults(faults)
        print_note(f"{gait.name} -> {output}")
    elif body != NOMINAL_BODY and runs.choose_plant(body, extra_names=[NOMINAL_BODY]).may_be_real:
        faults = controllers.find_page_faults(gait)
        with report_faults("nothing has moved"):
            hazards.require_no_faults(faults, f"walk {gait.name!r}", accept_faults=accept_faults, path=file)
        print_accepted_faults(faults)
    options = WalkOptions(gait.velocity, seconds, settle_s=settle, body=body, seed=seed, as_json=as_json)
    walk_and_report(gait, card, options, n_bodies=n_bodies, workers=workers, record=record, plot=plot)
