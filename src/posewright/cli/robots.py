"""`posewright robots`: lists, shows, imports and exports robots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright import figures, robots, runs
from posewright.cli import completion
from posewright.cli.console import print_line, print_result
from posewright.cli.options import (
    AsJson,
    Plot,
    add_group,
    add_verb,
    argument,
    option,
    require_output_file,
)
from posewright.display import table

MODEL_FORMATS = ("urdf", "mjcf")


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "robots")
    add_verb(group, "list", list_robots, python_equivalents="robot_names")
    add_verb(group, "show", show, python_equivalents="robot describe_robot draw_robot")
    add_verb(group, "legs", legs, python_equivalents="biped_block")
    add_verb(group, "import", import_, python_equivalents="import_robot")
    add_verb(group, "export", export, python_equivalents="export_robot")


def list_robots(as_json: AsJson = False) -> None:
    """List the robots that come with Posewright.

    [bold]Examples[/]
      posewright robots list
      posewright robots list --json
    """
    cards = [robots.describe_briefly(robots.robot(name)) for name in robots.robot_names()]
    rows = [(card["name"], card["maker"], card["n_joints"], card["title"]) for card in cards]
    print_result(cards, [table(("name", "maker", "joints", "description"), rows)], as_json=as_json)


def show(
    name: Annotated[
        str, argument("ROBOT", "A robot of `posewright robots list`, or the path of a robot.yaml.")
    ],
    section: Annotated[
        list[str] | None,
        option(
            "--section NAME",
            "Show this section in full: joints, servos, masses, poses, names, groups, sensors, rules, "
            "sources, or all. Repeat for more.",
            autocompletion=completion.catalogue("posewright.robots.SECTIONS", extra_names=["all"]),
        ),
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Show a robot's card: the joints with their limits, and a summary of the other sections.

    Angles are joint angles: pitch about y, roll about x, yaw about z. --json prints all sections. The picture
    of --plot shows where the joints are and which direction is positive.

    [bold]Examples[/]
      posewright robots show robotis_bioloid
      posewright robots show sony_ers7 --section sensors --section poses
      posewright robots show robotis_bioloid --json
      posewright robots show sony_ers7 --plot joints.png
      posewright robots show my_robot/robot.yaml --section all
    """
    robot = robots.robot(name)
    lines = list(robots.card_lines(robot, section or ()))
    if plot is not None:
        figures.save_figure(figures.draw_robot(robot), plot)
    print_result(robots.describe(robot), lines, as_json=as_json)


def legs(
    name: Annotated[
        str, argument("ROBOT", "A robot of `posewright robots list`, or the path of a robot.yaml.")
    ],
) -> None:
    """Print the block `biped:` of a card as the robot's model gives it, or say why its legs cannot walk.

    A gait on two legs needs legs with yaw, roll and pitch at the hip, a knee, and pitch and roll at the
    ankle; the yaw may be missing. The model's x points ahead, y to the left.

    [bold]Examples[/]
      posewright robots legs robotis_bioloid
      posewright robots legs my_robot/robot.yaml
    """
    for line in runs.biped_block(name).splitlines():
        print_line(line)


def import_(
    path: Annotated[
        Path, argument("FILE", "A URDF file (.urdf, .xacro), or a MuJoCo or OpenRAVE model (.xml).")
    ],
    output: Annotated[
        Path | None, option("--output -o FOLDER", "The folder to create. Default: the robot's name.")
    ] = None,
    name: Annotated[
        str | None, option("--name NAME", "Short name of the robot. Default: made from the name in the file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import a robot from a model file: writes a folder with a card, robot.yaml, and a model.

    Reports implausible masses, inertias, limits and motors, and what you have to fill in by hand. Meshes are
    replaced by their bounding boxes. Only files in the model's package or folder are read.

    [bold]Examples[/]
      posewright robots import nao.urdf -o nao
      posewright robots import humanoid.xml --name my_humanoid -o my_humanoid
    """
    report = runs.import_robot(path, output or Path(name or runs.name_robot_folder(path)), name=name)
    print_result(report.to_dict(), report.lines(), as_json=as_json)


def export(
    name: Annotated[
        str, argument("ROBOT", "A robot of `posewright robots list`, or the path of a robot.yaml.")
    ],
    to: Annotated[
        str,
        option(
            "--to KIND",
            "Format of the model: urdf or mjcf.",
            autocompletion=completion.choices(*MODEL_FORMATS),
        ),
    ],
    output: Annotated[
        Path | None, option("--output -o FILE", "The file to write. Default: ROBOT.urdf or ROBOT.xml.")
    ] = None,
) -> None:
    """Write a robot's model for other programs, with the limits and motors of its card.

    A URDF file has the collision shapes; meshes are replaced by their bounding boxes. `robots import` reads
    both formats back with the same masses, axes and limits.

    [bold]Examples[/]
      posewright robots export robotis_bioloid --to urdf
      posewright robots export sony_ers7 --to mjcf -o aibo.xml
    """
    suffix = ".xml" if to == "mjcf" else ".urdf"
    path = output or Path(f"{Path(name).stem}{suffix}")
    require_output_file(path, "a model", (suffix, ".xml"), name)
    runs.export_robot(name, to, path)
    print_line(f"{name} -> {path}")
