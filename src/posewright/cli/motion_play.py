"""`posewright motion play`: a motion on any body, and what a run on any body shows to people."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from posewright import evaluation, experiments, recordings
from posewright.bodies import TorquePolicy
from posewright.cli.console import give, working
from posewright.cli.evaluate import run_table
from posewright.cli.motion_options import MotionPath, Page, RobotName, open_for_robot
from posewright.cli.options import FOUND, AsJson, Record, option, refuse_recording
from posewright.control import RealClock

AnyBody = Annotated[
    str, option("--body B", "sim, mock, dynamixel:PORT, robonova:PORT, zenoh:NAME, yarp:NAME or a package's.")
]
OnEnd = Annotated[
    TorquePolicy,
    option("--on-end POLICY", "release: torque off when it is over; hold: stay. A failure always releases."),
]
RealTime = Annotated[bool, option("--real-time", "Send each frame at its time; a real body always does.")]


def play(
    file: MotionPath,
    page: Page = None,
    robot: RobotName = None,
    body: AnyBody = "sim",
    settle: Annotated[float, option("--settle S", "How long it stands in the first pose before.")] = 1.0,
    hold: Annotated[float, option("--hold S", "How long it holds the last pose.")] = 1.0,
    on_end: OnEnd = TorquePolicy.RELEASE,
    real_time: RealTime = False,
    record: Record = None,
    as_json: AsJson = False,
) -> None:
    """Play a motion on a body: simulated, a robot on its servo bus, or one across the network.

    A real robot goes gently to the motion's first pose before. Exits with 1 if the robot is seen to fall.

    [bold]Examples[/]
      posewright motion play walk.motion.yaml
      posewright motion play humanoid.mtn --page Bow --body dynamixel:/dev/ttyUSB0
      posewright motion play kick.motion.yaml --body zenoh:aibo --record kick.mcap
    """
    refuse_recording(record, file)
    motion = open_for_robot(file, robot).motion(page)
    how: dict[str, Any] = {"settle_s": settle, "hold_s": hold, "record": record, "on_end": on_end}
    how["clock"] = RealClock(time.monotonic, time.sleep) if real_time else None
    with working(f"{motion.name}: playing on {body}", quiet=as_json):
        recording = experiments.play_motion(motion, body=body, **how)
    give_run(recording, as_json=as_json)


def give_run(recording: recordings.Recording, *, as_json: bool) -> None:
    """Show the figures of a run; exit with 1 if a robot was seen to fall."""
    result = evaluation.evaluate_run(recording)
    give(result.figures(), [run_table(result)], as_json=as_json)
    if any(one.falls for one in result.robots.values()):
        raise typer.Exit(FOUND)
