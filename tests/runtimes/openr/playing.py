"""Plays a program of OPEN-R objects on a mock body, which follows its commands exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posewright.arrays import Floats
from posewright.recordings import Recording
from posewright.robots import robot
from posewright.runs import perform
from posewright.runtimes.openr import OObject, OpenRController
from posewright.runtimes.openr.connections import ConnectConfig
from posewright.runtimes.openr.programs import OpenRProgram, program
from posewright.runtimes.openr.script import read_script

DOG = robot("sony_ers7")
STAND = DOG.pose("stand")


@dataclass(frozen=True)
class RunLog:
    """A finished run.

    Attributes:
        frames: commands of each frame, `(n, n_joints)` [micro-radians].
    """

    controller: OpenRController
    recording: Recording
    frames: Any

    def joint(self, name: str) -> Any:
        """Return the commands of one joint, `(n,)` [micro-radians]."""
        return self.frames[:, DOG.index(name)]

    def events(self, what: str, **data: str) -> list[tuple[float, dict[str, Any]]]:
        """Return times and data of the events of a kind with the given data."""
        return [
            (round(event.time_s, 3), dict(event.data))
            for event in self.recording.events
            if event.kind == "openr"
            and event.data["what"] == what
            and data.items() <= dict(event.data).items()
        ]

    def states(self, name: str) -> list[tuple[float, str]]:
        """Return times and states of an object's changes of state."""
        return [(time_s, data["state"]) for time_s, data in self.events("state", object=name)]

    def acknowledged(self, observer: str, sender: str = "Commander") -> list[float]:
        """Return the times at which a sender heard that an observer is ready."""
        return [
            time_s
            for time_s, data in self.events("ready", **{"from": observer})
            if data["to"].startswith(sender)
        ]

    @property
    def interventions(self) -> list[Any]:
        """The events of the safety filter."""
        return [event for event in self.recording.events if event.kind != "openr"]


def make_program(what: str | ConnectConfig, script: str = "", **options: Any) -> OpenRProgram:
    """Return a shipped program or a configuration, ready to run on a dog; `options` go to `OpenRProgram`."""
    if isinstance(what, str):
        options = {"pose": program(what).pose, **options}
    config = program(what).config if isinstance(what, str) else what
    return OpenRProgram("openr", config, **{"robot": DOG, "script": read_script(script), **options})


def play(
    what: str | ConnectConfig,
    script: str,
    until_s: float,
    start: Floats | str = "stand",
    own: Mapping[str, Callable[[], OObject]] | None = None,
) -> RunLog:
    """Play a shipped program, or a configuration, from a pose of the card or another `(n_joints,)` [rad]."""
    pose = start if isinstance(start, str) else "stand"
    controller = make_program(what, script, pose=pose, user_objects=own or {}).controller()
    recording = perform(controller, DOG, name="openr", until_s=until_s, body="mock", pose=start)
    frames = np.rint(recording.robots[DOG.name].commands * 1e6).astype(int)
    return RunLog(controller, recording, frames)
