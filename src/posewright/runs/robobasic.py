"""Run RoboBASIC programs on any body, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from posewright.control import Until
from posewright.evaluation import PhysicsRules, Trajectory
from posewright.recordings import Recording
from posewright.recordings.falls import describe_direction
from posewright.robots import Robot
from posewright.runs.perform import PerformOptions, perform_program
from posewright.runs.streams import Derivation, Streams, read_derivation
from posewright.runtimes.robobasic.board import EVENT
from posewright.runtimes.robobasic.controller import RoboBasicController
from posewright.runtimes.robobasic.load import ROBOT
from posewright.runtimes.robobasic.setup import RoboBasicProgram, set_up_basic

STILL_S = 0.5
"""A run continues for so long after its program is over [s]."""

LONGEST_S = 60.0
"""Default limit of a program's duration [s]; many programs loop for ever."""


def run_basic(
    program: str | Path | RoboBasicProgram,
    *,
    inputs: str = "",
    plugs: Sequence[str] = (),
    breakpoints: Sequence[str] = (),
    speed_counts_s: float | None = None,
    robot: str | Robot | None = None,
    seconds: float | None = None,
    controller: RoboBasicController | None = None,
    **options: Unpack[PerformOptions],
) -> Recording:
    """Run a RoboBASIC program; see `basic_result` for the result.

    `pw.run_basic("bow.bas", inputs="REMOCON=3@2")` runs it on the simulated robot.

    Args:
        program: as for `set_up_basic`, like the next five arguments; or what that returned, without them.
        inputs: inputs of the board with their times: `REMOCON=3@2.0, AD5=20@3`.
        plugs: sensors on other AD ports than the usual ones: `0=tilt`, `5=none`.
        breakpoints: labels or lines before which it stops.
        speed_counts_s: counts per second at SPEED 1, as measured on a robot; by default the board's.
        robot: the robot it runs on, or its name.
        seconds: duration; by default until it is over or waits in vain, at most 60 s.
        controller: an existing controller of the program, which a watcher may observe.
        options: see `PerformOptions`.

    Raises:
        InputError: an argument is wrong; the robot has not moved.
        OutputError: the recording cannot be written.
        BodyError: the body failed.
    """
    if isinstance(program, RoboBasicProgram):
        ready = program
    else:
        ready = set_up_basic(
            program,
            inputs=inputs,
            plugs=plugs,
            breakpoints=breakpoints,
            speed_counts_s=speed_counts_s,
            on=ROBOT if robot is None else robot,
        )
    until_s = LONGEST_S if seconds is None else seconds
    timed = replace(ready, until_s=until_s)
    derivation = read_derivation(options.get("streams", Derivation.NAMED.value))
    streams = Streams(options.get("seed", 0), derivation)
    active_controller = controller or timed.controller(streams.chance_seed(timed.robot.name, 0))
    active_controller.ends_at(until_s)
    if seconds is None:
        ending = Until(lambda: active_controller.is_over, STILL_S)
        options["watchers"] = [*options.get("watchers", ()), ending]
    return perform_program(timed, until_s=until_s, controller=active_controller, **options)


def basic_result(recording: Recording) -> dict[str, Any]:
    """Return a run of a RoboBASIC program as plain data, from its recording alone.

    `ended` is `end`, `error`, `waits`, `running` or `breakpoint`; `events` are those of
    `RoboBasicController`, each with its time. `error` is the message of a faulty program, or None. `falls`
    are the robot's falls with time and side; `lies` tells whether it still lay at the end; `fell` and
    `lies` are None if the robot's attitude is unknown.
    """
    events = [{"time_s": event.time_s, **event.data} for event in recording.events_of(EVENT)]
    endings = [event for event in events if event["what"] in {"end", "error", "waits", "running"}]
    ending = endings[-1] if endings else {"what": "running", "line": 0, "label": ""}
    decisions = recording.robot().decisions.outputs
    return {
        "program": recording.header.extras.get(EVENT, {}).get("program", ""),
        "duration_s": recording.duration_s,
        "ended": "breakpoint" if ending.get("reason") == "breakpoint" else ending["what"],
        "reason": ending.get("reason", ""),
        "line": ending["line"],
        "label": ending["label"],
        "error": ending.get("message") if ending["what"] == "error" else None,
        "loops": [event["label"] or f"line {event['line']}" for event in events if event["what"] == "loop"],
        "variables": dict(decisions[-1]) if decisions else {},
        "events": events,
        **_fall_entries(recording),
        "digest": recording.digest(),
    }


def _fall_entries(recording: Recording) -> dict[str, Any]:
    """Return the entries `fell`, `falls` and `lies` of the result."""
    if not recording.robot().knows_place:
        return {"fell": None, "falls": [], "lies": None}
    track = Trajectory.of(recording, next(iter(recording.robots)))
    tip_overs = track.tip_overs(PhysicsRules())
    falls = [
        {"time_s": fall.since_s, "side": describe_direction(-track.up_in_base[fall.begin])}
        for fall in tip_overs
    ]
    lies = bool(tip_overs) and tip_overs[-1].end >= len(track.times)
    return {"fell": bool(tip_overs), "falls": falls, "lies": lies}
