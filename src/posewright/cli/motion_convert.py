"""`posewright motion convert`: to another format, or to another robot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from posewright import formats
from posewright.cli.console import give, warn
from posewright.cli.motion_options import Page, open_motion_file
from posewright.cli.options import AcceptLoss, AsJson, argument, losses_listed, option
from posewright.errors import UnknownNameError

Source = Annotated[Path, argument("IN", "A motion file; its content tells the format.")]
Target = Annotated[
    Path, argument("OUT", "Where to write; .motion.yaml, .mtn, .mot, .pos, .motion, .h, .csv tell how.")
]
ForRobot = Annotated[
    str | None,
    option("--robot R", "The robot it is for; a motion made for another is carried over joint by joint."),
]
To = Annotated[str | None, option("--to FORMAT", "The format, whatever OUT is called.")]
Keys = Annotated[
    str | None,
    option("--keys own|all", "Where joints have key times of their own (.mot): keep them, or flatten."),
]
Straighten = Annotated[bool, option("--straighten", "Cut curved ways into straight pieces of about 32 ms.")]
Repair = Annotated[bool, option("--repair", "Put a wrong checksum and a stripped byte order mark right.")]


def convert(
    source: Source,
    target: Target,
    page: Page = None,
    robot: ForRobot = None,
    to: To = None,
    accept_loss: AcceptLoss = False,
    keys: Keys = None,
    straighten: Straighten = False,
    repair: Repair = False,
    as_json: AsJson = False,
) -> None:
    """Convert a motion file to another format or robot; to its own format it is copied byte for byte.

    What would be lost is listed, and then nothing is written unless --accept-loss is given. By how much the
    steps of the format round the motion is measured on what was written.

    [bold]Examples[/]
      posewright motion convert humanoid.mtn bow.motion.yaml --page Bow --accept-loss
      posewright motion convert KICK.h KICK.mtn --robot sony_ers7
      posewright motion convert dive.mot dive.motion --keys all
      posewright motion convert play_bow.motion.yaml play_bow.mtn --straighten
    """
    opened = open_motion_file(source, robot)
    if repair and page is None and to in (None, opened.format):
        done = formats.Conversion(opened.format, formats.write_motion_file(opened, target, repair=True))
    else:
        with losses_listed(f"{source} cannot be said wholly in {target.name}: nothing is written"):
            done = formats.convert_motion(
                source,
                target,
                page=page,
                format=to,
                robot=robot,
                accept_loss=accept_loss,
                options=_options(keys, straighten=straighten),
            )
    for loss in done.losses:
        warn(f"lost: {loss}")
    told = {"source": str(source), "target": str(target), **asdict(done)}
    give(told, _lines(source, target, done), as_json=as_json)


def _options(keys: str | None, *, straighten: bool) -> formats.WriteOptions | None:
    if keys is None:
        return formats.WriteOptions(straighten=True) if straighten else None
    known = [choice.value for choice in formats.KeyTimes]
    if keys not in known:
        raise UnknownNameError.among("choice of --keys", keys, known)
    return formats.WriteOptions(formats.KeyTimes(keys), straighten)


def _lines(source: Path, target: Path, done: formats.Conversion) -> Iterator[str]:
    yield f"{source} -> {target} ({done.format})"
    for remark in done.remarks:
        yield f"  note: {remark}"
    if done.rounding is None:
        return
    angle, time = math.degrees(done.rounding.angle_rad), done.rounding.time_s
    if angle > 1e-9 or time > 1e-9:
        step = done.quantum.angle_rad
        steps = "" if step is None else f" (the format has steps of {math.degrees(step):.2g} deg)"
        yield f"  rounded: angles by {angle:.2g} deg at most{steps}, times by {time:.2g} s"
