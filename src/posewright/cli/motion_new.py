"""`posewright motion new`: a motion file to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from posewright import formats, motions, robots
from posewright.cli.console import give
from posewright.cli.options import AsJson, argument, option
from posewright.documents import is_there
from posewright.errors import InputError, Where


def new(
    name: Annotated[str, argument("NAME", "What the motion is called.")],
    robot: Annotated[str, option("--robot R", "Whose motion it is.")],
    pose: Annotated[
        str | None, option("--pose NAME", "One of the robot's poses; default stand, or its first.")
    ] = None,
    output: Annotated[Path | None, option("--output -o FILE", "Default NAME.motion.yaml, here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a motion of one keyframe, a named pose, to go on from; no file is replaced.

    [bold]Examples[/]
      posewright motion new wave --robot sony_ers7 --pose sit
      posewright motion new kick --robot robotis_bioloid -o motions/kick.motion.yaml
    """
    motion = motions.begin_motion(name, robots.robot(robot), pose)
    path = output or Path(f"{motions.file_stem(name)}.motion.yaml")
    if is_there(path):
        raise InputError("a file is there already", where=Where(path), hint="choose another name")
    formats.write_motion(motion, path)
    give({"motion": name, "robot": motion.robot, "file": str(path)}, [f"{name} -> {path}"], as_json=as_json)
