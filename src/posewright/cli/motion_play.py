"""`posewright motion play`: a motion on any body, and what a run on any body shows to people."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import bodies, control, evaluation, recordings, runs
from posewright.bodies import Plant, TorquePolicy
from posewright.cli.console import print_error, print_result, print_warning, spinner
from posewright.cli.motion_options import MotionPath, Page, RobotName, open_for_robot
from posewright.cli.options import EXIT_FAILURE, AsJson, Record, option, require_recording_path

if TYPE_CHECKING:
    from posewright.control import Block
from posewright.display import format_count

AnyBody = Annotated[
    str, option("--body B", "sim, mock, dynamixel:PORT, robonova:PORT, zenoh:NAME, yarp:NAME or a package's.")
]
OnEnd = Annotated[
    TorquePolicy,
    option("--on-end POLICY", "release: torque off when it is over; hold: stay. A failure always releases."),
]
EVERY_S = 0.5
"""How often it is told how far a run is [s]."""

MOST_LATE = 0.1
"""A run of whose frames more are late is warned of, as a share."""

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
    require_recording_path(record, file)
    motion = open_for_robot(file, robot).motion(page)
    with followed(motion.name, body, quiet=as_json) as follower:
        recording = runs.play_motion(
            motion,
            body=body,
            settle_s=settle,
            hold_s=hold,
            plant_watchers=[follower.of_plant],
            record=record,
            on_end=on_end,
            clock=control.RealClock(time.monotonic, time.sleep) if real_time else None,
        )
    give_run(recording, as_json=as_json)


class Follower:
    """A watcher that says how far a run is, and knows whether it was as fast as it should be."""

    def __init__(self, name: str, body: str, say: Callable[[str], None]) -> None:
        self._name = name
        self._body = body
        self._say = say
        self.is_real = False
        self._said_s, self._began_s, self._first_s = 0.0, 0.0, 0.0
        self._frames = self._faults = self._late = 0
        self._asked_s = self._took_s = 0.0

    def of_plant(self, plant: Plant) -> Follower:
        """Say what happens first on a plant, and watch it."""
        self.is_real = plant.is_real
        first = "going to the first pose" if plant.is_real else "playing"
        self._say(f"{self._name}: {first} on {self._body}")
        return self

    def watch(self, block: Block) -> bool:
        """Count, and say twice a second how far it is."""
        now_s, time_s = time.monotonic(), float(block.states.times[-1])
        if not self._frames:
            self._began_s, self._first_s = now_s, time_s
        self._frames += len(block.states)
        self._faults += len(block.states.faults)
        self._late += sum(fault.kind is bodies.FaultKind.LATE for fault in block.states.faults)
        self._asked_s, self._took_s = time_s - self._first_s, now_s - self._began_s
        if now_s - self._said_s >= EVERY_S:
            self._said_s = now_s
            self._say(f"{self._name}: {time_s:.1f} s played, {format_count(self._faults, 'fault')}")
        return False

    def warn(self) -> None:
        """Warn of a run in slow motion."""
        if self._late > MOST_LATE * self._frames:
            took = f"{self._asked_s:.1f} s took {self._took_s:.1f} s"
            cure = "`posewright bus diagnose` finds out why; `BusSettings.groups_per_frame` limits the reads"
            print_warning(f"{self._late} of {self._frames} frames were late: {took}. On a servo bus, {cure}")


@contextmanager
def followed(name: str, body: str, *, quiet: bool) -> Iterator[Follower]:
    """Show how far a run is, warn where it was slow, and say so where a signal ended it."""
    with spinner(f"{name}: setting up", quiet=quiet) as say:
        follower = Follower(name, body, say)
        try:
            yield follower
        except (KeyboardInterrupt, SystemExit):
            print_error("stopped; torque is off" if follower.is_real else "stopped")
            raise
    follower.warn()


def give_run(recording: recordings.Recording, *, as_json: bool) -> None:
    """Show the figures of a run; exit with 1 if a robot was seen to fall."""
    result = evaluation.evaluate_run(recording)
    print_result(result.figures(), result.lines(), as_json=as_json)
    if any(one.falls for one in result.robots.values()):
        raise typer.Exit(EXIT_FAILURE)
