"""`posewright motion play`: plays a motion on any body; and the progress and result of such a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import bodies, control, evaluation, hazards, recordings, runs
from posewright.bodies import Plant, StartPosture, TorquePolicy
from posewright.cli.console import print_error, print_result, print_warning, spinner
from posewright.cli.motion_options import MotionPath, Page, RobotName, open_for_robot
from posewright.cli.options import (
    EXIT_FAILURE,
    AcceptFaults,
    AsJson,
    Record,
    option,
    print_accepted_faults,
    report_faults,
    require_recording_path,
)
from posewright.display import format_count

if TYPE_CHECKING:
    from posewright.control import Block

AnyBody = Annotated[
    str,
    option(
        "--body B",
        "sim; random: simulated, with parameters drawn by the seed; a *.bodies.yaml to draw them from; mock; "
        "dynamixel:PORT; robonova:PORT; zenoh:NAME; yarp:NAME; or a body of an installed package.",
    ),
]
OnEnd = Annotated[
    TorquePolicy,
    option(
        "--on-end POLICY",
        "release: torque off at the end; hold: keep the last pose. After an error the torque is always off.",
    ),
]
Start = Annotated[
    StartPosture,
    option("--start POSTURE", "How a simulated robot is put down at the start."),
]
STATUS_PERIOD_S = 0.5
"""Time between two updates of the progress [s]."""

MAX_LATE_SHARE = 0.1
"""Share of late frames above which a warning is printed."""

RealTime = Annotated[bool, option("--real-time", "Run a simulated body in real time; a real one always is.")]


def play(
    file: MotionPath,
    page: Page = None,
    robot: RobotName = None,
    body: AnyBody = "sim",
    settle: Annotated[
        float, option("--settle S", "How long to stand in the first pose before the motion, in seconds.")
    ] = 1.0,
    hold: Annotated[float, option("--hold S", "How long to hold the last pose, in seconds.")] = 1.0,
    start: Start = StartPosture.STANDING,
    seed: Annotated[int, option("--seed N", "Seed of a random body.", min=0)] = 0,
    on_end: OnEnd = TorquePolicy.RELEASE,
    real_time: RealTime = False,
    record: Record = None,
    accept_faults: AcceptFaults = False,
    as_json: AsJson = False,
) -> None:
    """Play a motion on a simulated body, a robot on its servo bus, or a robot across the network.

    A real robot first moves slowly to the motion's first pose; a motion in which `motion check` reports
    errors is played on simulated bodies only. Exits with 1 if the robot falls,
    or still lies at the end.

    [bold]Examples[/]
      posewright motion play walk.motion.yaml
      posewright motion play humanoid.mtn --page Bow --body dynamixel:/dev/ttyUSB0
      posewright motion play kick.motion.yaml --body zenoh:aibo --record kick.mcap
      posewright motion play get_up_front.motion.yaml --start lying_front --body random --seed 7
    """
    require_recording_path(record, file)
    motion = open_for_robot(file, robot).motion(page)
    if accept_faults and runs.choose_plant(body).may_be_real:
        print_accepted_faults(hazards.find_faults(motion))
    with (
        report_faults("nothing has moved"),
        show_run_progress(motion.name, body, quiet=as_json) as progress,
    ):
        recording = runs.play_motion(
            motion,
            body=body,
            settle_s=settle,
            hold_s=hold,
            start_posture=start.value,
            seed=seed,
            plant_watchers=[progress.for_plant],
            record=record,
            accept_faults=accept_faults,
            on_end=on_end,
            clock=control.RealClock(time.monotonic, time.sleep) if real_time else None,
        )
    print_run(recording, as_json=as_json)


class RunProgress:
    """A watcher that shows the progress of a run and counts late frames.

    Times with `wall` in their name are those of the computer's clock, the others those of the body.

    Args:
        name: the name of the motion or gait.
        body: the value of `--body`.
        show_status: shows a text.

    Attributes:
        is_real: whether the body is a real robot.
    """

    def __init__(self, name: str, body: str, show_status: Callable[[str], None]) -> None:
        self._name = name
        self._body = body
        self._show_status = show_status
        self.is_real = False
        self._plant: Plant | None = None
        self._start_wall_s = 0.0
        self._start_time_s = 0.0
        self._elapsed_wall_s = 0.0
        self._elapsed_time_s = 0.0
        self._last_status_wall_s = 0.0
        self._n_frames = 0
        self._n_faults = 0
        self._n_late_frames = 0

    def for_plant(self, plant: Plant) -> RunProgress:
        """Show how the run begins on a plant, and return this watcher for it."""
        self.is_real = plant.is_real
        self._plant = plant
        activity = "going to the first pose" if plant.is_real else "playing"
        self._show_status(f"{self._name}: {activity} on {self._body}")
        return self

    def watch(self, block: Block) -> bool:
        """Count a block's frames and faults, and update the progress; return False: never end the run."""
        wall_s = time.monotonic()
        time_s = float(block.states.times[-1])
        if not self._n_frames:  # the first block
            self._start_wall_s = wall_s
            self._start_time_s = time_s
        self._elapsed_wall_s = wall_s - self._start_wall_s
        self._elapsed_time_s = time_s - self._start_time_s
        self._n_frames += len(block.states)
        self._n_faults += len(block.states.faults)
        self._n_late_frames += sum(fault.kind is bodies.FaultKind.LATE for fault in block.states.faults)
        if wall_s - self._last_status_wall_s >= STATUS_PERIOD_S:
            self._last_status_wall_s = wall_s
            self._show_status(f"{self._name}: {time_s:.1f} s played, {format_count(self._n_faults, 'fault')}")
        return False

    def print_warnings(self) -> None:
        """Print the remarks of the bodies, and a warning if the run was slower than real time."""
        robots = {} if self._plant is None else self._plant.bodies
        for body in robots.values():
            for remark in body.facts().get("remarks", ()):
                print_warning(remark)
        if self._n_late_frames > MAX_LATE_SHARE * self._n_frames:
            durations = f"{self._elapsed_time_s:.1f} s took {self._elapsed_wall_s:.1f} s"
            print_warning(f"{self._n_late_frames} of {self._n_frames} frames were late: {durations}")


@contextmanager
def show_run_progress(name: str, body: str, *, quiet: bool) -> Iterator[RunProgress]:
    """Show the progress of a run, warn if it was slow, and print an error if a signal stopped it."""
    with spinner(f"{name}: setting up", quiet=quiet) as show_status:
        progress = RunProgress(name, body, show_status)
        try:
            yield progress
        except (KeyboardInterrupt, SystemExit):
            print_error("stopped; torque is off" if progress.is_real else "stopped")
            raise
    progress.print_warnings()


def print_run(recording: recordings.Recording, *, as_json: bool) -> None:
    """Print the figures of a run; exit with 1 if a robot fell.

    Raises:
        typer.Exit: a robot fell.
    """
    result = evaluation.evaluate_run(recording)
    print_result(result.figures(), result.lines(), as_json=as_json)
    if any(robot.falls for robot in result.robots.values()):
        raise typer.Exit(EXIT_FAILURE)
