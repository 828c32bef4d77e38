"""`posewright robots import` and `export`: robots from files of others, and ours for others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from posewright import runs
from posewright.cli import completion
from posewright.cli.console import give, say
from posewright.cli.options import AsJson, argument, option, refuse_overwriting
from posewright.errors import visible

MODELS = ("urdf", "mjcf")


def import_(
    path: Annotated[Path, argument("FILE", "A URDF file (.urdf), or a model of MuJoCo or OpenRAVE (.xml).")],
    output: Annotated[
        Path | None, option("--output -o FOLDER", "The folder to make; default the robot's name, here.")
    ] = None,
    name: Annotated[
        str | None, option("--name NAME", "Its short name; default made of the file's own.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a robot of somebody else's file: a folder with a card, robot.yaml, and a model.

    It says what is odd about masses, inertias, limits and motors, and what is to be filled in by hand. Meshes
    become the boxes around them. Nothing outside of the file's package or folder is read.

    [bold]Examples[/]
      posewright robots import nao.urdf -o nao
      posewright robots import humanoid.xml --name my_humanoid -o my_humanoid
    """
    made = runs.import_robot(path, output or Path(name or path.stem), name=name)
    told = {
        "name": made.robot.name,
        "folder": str(made.folder),
        "n_joints": len(made.robot.joints),
        "mass_kg": made.robot.mass_kg,
        "feet": list(made.robot.feet),
        "odd": [str(one) for one in made.odd],
        "by_hand": list(made.by_hand),
    }
    give(told, _shown(made), as_json=as_json)


def _shown(made: runs.ImportedRobot) -> Iterator[str]:
    mass = "" if made.robot.mass_kg is None else f", {made.robot.mass_kg:.3g} kg"
    yield f"{made.robot.name}: {len(made.robot.joints)} joints{mass} -> {made.folder}"
    yield f"feet: {', '.join(map(visible, made.robot.feet)) or 'none found: nothing has a shape'}"
    for one in made.odd:
        yield f"odd: {visible(str(one))}"
    for what in made.by_hand:
        yield f"fill in: {what}"


def export(
    name: Annotated[
        str, argument("ROBOT", "A robot of `posewright robots list`, or the path of a robot.yaml.")
    ],
    to: Annotated[str, option("--to KIND", "urdf or mjcf.", autocompletion=completion.words(*MODELS))],
    output: Annotated[
        Path | None, option("--output -o FILE", "Default ROBOT.urdf or ROBOT.xml, here.")
    ] = None,
) -> None:
    """Write a robot's model for others, with the limits and motors of its card.

    URDF has what touches, and meshes as the boxes around them. Read again with `robots import`, either has
    the same masses, axes and limits.

    [bold]Examples[/]
      posewright robots export robotis_bioloid --to urdf
      posewright robots export sony_ers7 --to mjcf -o aibo.xml
    """
    suffix = ".xml" if to == "mjcf" else ".urdf"
    path = output or Path(f"{Path(name).stem}{suffix}")
    refuse_overwriting(path, name)
    runs.export_robot(name, to, path)
    say(f"{name} -> {path}")
