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
from posewright.runs.streams import Derivation, Streams
from posewright.runtimes.robobasic.board import EVENT
from posewright.runtimes.robobasic.controller import RoboBasicController
from posewright.runtimes.robobasic.load import ROBOT
from posewright.runtimes.robobasic.setup import RoboBasicProgram, set_up_basic

STILL_S = 0.5
"""A run goes on for so long after nothing more will happen [s]."""

LONGEST_S = 60.0
"""A program runs no longer than this unless told otherwise [s]: many go round for ever."""


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
    """Run a RoboBASIC program; `basic_result` tells what happened.

    `pw.run_basic("bow.bas", inputs="REMOCON=3@2")` runs it on the simulated robot.

    Args:
        program: as for `set_up_basic`, as the five that follow; or what that returned, alone.
        inputs: what comes to the board, and when: `REMOCON=3@2.0, AD5=20@3`.
        plugs: sensors on other AD ports than usual: `0=tilt`, `5=none`.
        breakpoints: labels or lines before which it stops.
        speed_counts_s: counts a second at SPEED 1, of a robot that was measured; the board's by default.
        robot: on which it runs, or its name.
        seconds: for so long it runs; default until it is over or waits in vain, at most 60 [s].
        controller: of the program, where one is made already: a watcher may look at it.
        options: see `PerformOptions`.

    Raises:
        InputError: something that was handed in is wrong; the robot has not moved.
        OutputError: the recording cannot be written there.
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
    streams = Streams(options.get("seed", 0), Derivation(options.get("streams", Derivation.NAMED.value)))
    driving = controller or timed.controller(streams.chance(timed.robot.name, 0))
    driving.ends_at(until_s)
    if seconds is None:
        ending = Until(lambda: driving.is_over, STILL_S)
        options["watchers"] = [*options.get("watchers", ()), ending]
    return perform_program(timed, until_s=until_s, controller=driving, **options)


def basic_result(recording: Recording) -> dict[str, Any]:
    """Return a run of a RoboBASIC program as plain data, from its recording alone.

    `ended` says how: `end`, `error`, `waits`, `running`, `breakpoint`; `events` are what
    `RoboBasicController` tells, each with its time. `error` is what was wrong with the program, or None.
    `falls` are those of the robot, with time and side; `lies` says whether it still lay at the end; `fell`
    and `lies` are None where nobody knew where the robot was.
    """
    events = [{"time_s": one.time_s, **one.data} for one in recording.events_of(EVENT)]
    endings = [one for one in events if one["what"] in {"end", "error", "waits", "running"}]
    last = endings[-1] if endings else {"what": "running", "line": 0, "label": ""}
    decisions = recording.robot().decisions.outputs
    return {
        "program": recording.header.extras.get(EVENT, {}).get("program", ""),
        "duration_s": recording.duration_s,
        "ended": "breakpoint" if last.get("reason") == "breakpoint" else last["what"],
        "reason": last.get("reason", ""),
        "line": last["line"],
        "label": last["label"],
        "error": last.get("message") if last["what"] == "error" else None,
        "loops": [one["label"] or f"line {one['line']}" for one in events if one["what"] == "loop"],
        "variables": dict(decisions[-1]) if decisions else {},
        "events": events,
        **_falls(recording),
        "digest": recording.digest(),
    }


def _falls(recording: Recording) -> dict[str, Any]:
    if not recording.robot().knows_place:
        return {"fell": None, "falls": [], "lies": None}
    track = Trajectory.of(recording, next(iter(recording.robots)))
    found = track.tip_overs(PhysicsRules())
    falls = [{"time_s": one.since_s, "side": describe_direction(-track.up[one.begin])} for one in found]
    return {"fell": bool(found), "falls": falls, "lies": bool(found) and found[-1].end >= len(track.times)}
