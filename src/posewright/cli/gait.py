"""`posewright gait`: lists, shows and draws gaits. More in `gait_run`, `gait_report`, `gait_sample`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright import figures, gaits, robots
from posewright.cli.console import print_line, print_result
from posewright.cli.gait_options import GaitName, Left, ParameterSettings, RobotOption, Turn, open_gait
from posewright.cli.gait_report import report
from posewright.cli.gait_run import compare, run
from posewright.cli.gait_sample import sample
from posewright.cli.options import AsJson, add_group, add_verb, argument, option, require_distinct_output
from posewright.documents import path_exists
from posewright.errors import InputError, Where

OptionalForward = Annotated[
    float | None,
    option(
        "--forward M/S",
        "Speed forwards; negative is backwards. Default: half the top speed, or 0 with --left or --turn.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "gait")
    add_verb(group, "list", list_gaits, python_equivalents="gait_names")
    add_verb(group, "new", new, python_equivalents="create_gait write_gait")
    add_verb(group, "show", show, python_equivalents="read_gait check_gait")
    add_verb(group, "plot", plot, python_equivalents="draw_gait")
    add_verb(group, "sample", sample, python_equivalents="sample_gait write_motion")
    add_verb(group, "run", run, python_equivalents="walk_gait walk_many play_gait draw_walk")
    add_verb(group, "compare", compare, python_equivalents="walk_gait")
    add_verb(group, "report", report, python_equivalents="report_walk draw_walk_report")


def list_gaits(
    robot_name: Annotated[
        str | None, option("--robot R", "List only the gaits of this robot: a name, or a card's path.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the gaits that come with Posewright, with their top speeds and the time of a cycle.

    [bold]Examples[/]
      posewright gait list
      posewright gait list --robot sony_ers7 --json
    """
    robot_names = robots.robot_names() if robot_name is None else (robot_name,)
    descriptions = []
    for robot in map(robots.robot, robot_names):
        for gait_name in gaits.gait_names(robot):
            gait, _ = gaits.read_gait_and_robot(gait_name, robot=robot)
            descriptions.append(gait.describe_briefly(robot))
    if descriptions:
        print_result(descriptions, [gaits.gait_table(descriptions)], as_json=as_json)
    else:
        print_result(descriptions, ["Posewright has no gait for this robot"], as_json=as_json)


def new(
    name: Annotated[str, argument("NAME", "Name of the gait.")],
    robot_name: Annotated[str, option("--robot R", "The robot that is to walk: a name, or a card's path.")],
    output: Annotated[
        Path | None, option("--output -o FILE", "The file to write. Default: NAME.gait.yaml.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a gait for a robot on two legs: a shipped gait, scaled to its legs. Replaces no file.

    It is a start: `gait run` shows what it does, and `tune` betters it.

    [bold]Examples[/]
      posewright gait new walk --robot my_robot/robot.yaml
      posewright gait new stroll --robot robotis_bioloid -o stroll.gait.yaml
    """
    robot = robots.robot(robot_name)
    gait = gaits.create_gait(name, robot)
    path = output or Path(f"{name}.gait.yaml")
    if path_exists(path):
        raise InputError("the file exists already", where=Where(path), hint="choose another name")
    gaits.write_gait(gait, path)
    print_result(
        {"gait": name, "robot": robot.name, "source": gait.source, "file": str(path)},
        [f"{name}, {gait.source} -> {path}"],
        as_json=as_json,
    )


def show(
    gait_name: GaitName,
    robot_name: RobotOption = None,
    settings: ParameterSettings = None,
    no_check: Annotated[bool, option("--no-check", "Skip the check of reach, limits and speeds.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a gait: what each parameter does, the resulting times, and whether the joints can follow.

    The check needs no physics. It runs every extreme of the command, and the change from each to its
    opposite, and compares reach, joint angles, coupled joints and speeds with the limits of the robot.

    [bold]Examples[/]
      posewright gait show trot
      posewright gait show trot --set maximum_turn_rad=0.05 --set front_height_m.fore=0.012
      posewright gait show my.gait.yaml --robot my_robot/robot.yaml --json
    """
    gait, robot = open_gait(gait_name, robot_name, settings)
    check = None if no_check else gaits.check_gait(gait, robot)
    description = gaits.describe_gait(gait, robot, check)
    print_result(description, gaits.gait_lines(gait, robot, check), as_json=as_json)


def plot(
    gait_name: GaitName,
    output: Annotated[Path, option("--output -o PICTURE", "A .png, .svg or .pdf file.")],
    forward: OptionalForward = None,
    left: Left = 0.0,
    turn: Turn = 0.0,
    robot_name: RobotOption = None,
    settings: ParameterSettings = None,
) -> None:
    """Draw a gait: the paths of the feet, when each foot is down, and the joints with their limits.

    The page shows one steady cycle: each foot from the side, with its waypoints and the path between them;
    all feet from above, with the path of the robot; the phases; and angles and speeds of the joints of two
    legs. Nothing is simulated. Without a command the robot walks forwards at half its top speed.

    [bold]Examples[/]
      posewright gait plot trot -o trot.png
      posewright gait plot crawl --forward 0.03 --turn 0.2 -o arc.svg
      posewright gait plot trot --forward 0 --set shape_factor=1 -o on_the_spot.pdf
    """
    gait, robot = open_gait(gait_name, robot_name, settings)
    require_distinct_output(output, gait_name, gait.path)
    figures.require_picture_path(output)
    command: gaits.VelocityCommand | None = None
    if forward is not None or left != 0.0 or turn != 0.0:
        command = gaits.VelocityCommand(forward or 0.0, left, turn)
    figures.save_figure(figures.draw_gait(gait, robot, command=command), output)
    print_line(f"{gait.name} -> {output}")
