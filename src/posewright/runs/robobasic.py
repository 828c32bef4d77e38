"""Run RoboBASIC programs on any body, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from posewright.control import Until, Watcher
from posewright.evaluation import PhysicsRules, Trajectory
from posewright.recordings import Recording
from posewright.recordings.falls import side_of
from posewright.robots import Robot, robot
from posewright.runs.performing import perform
from posewright.runtimes.robobasic.board import EVENT
from posewright.runtimes.robobasic.controller import RoboBasicController
from posewright.runtimes.robobasic.inputs import read_inputs
from posewright.runtimes.robobasic.opening import ROBOT, open_program
from posewright.runtimes.robobasic.plugs import read_plugs
from posewright.search.plan import checked_seed

STILL_S = 0.5
"""A run goes on for so long after nothing more will happen [s]."""

LONGEST_S = 60.0
"""A program runs no longer than this unless told otherwise [s]: many go round for ever."""


def set_up_basic(
    called: str | Path,
    *,
    inputs: str = "",
    plugs: Sequence[str] = (),
    breakpoints: Sequence[str] = (),
    speed_counts_s: float | None = None,
    seed: int = 0,
    on: str | Robot = ROBOT,
) -> RoboBasicController:
    """Return a controller that is ready to run a program; all that is handed in is checked first.

    Args:
        called: a program that ships, or the path of a RoboBASIC file.
        inputs: what comes to the board, and when: `REMOCON=3@2.0, AD5=20@3`.
        plugs: sensors on other AD ports than usual: `0=tilt`, `5=none`.
        breakpoints: labels or lines before which the program stops.
        speed_counts_s: counts a second at SPEED 1, of a robot that was measured; the board's by default.
        seed: of what RND draws.
        on: the robot, or its name.

    Raises:
        UnknownNameError: there is no such program, robot, label or line.
        FormatError: the file is no text, or an input is wrong.
        ProgramError: the program has errors; the first, and the others.
        InputError: the robot has no such board.
    """
    program, card = open_program(called), robot(on) if isinstance(on, str) else on
    return RoboBasicController(
        card,
        program,
        script=read_inputs(inputs),
        plugged=read_plugs(plugs, program.source),
        breakpoints=[program.address_of(place) for place in breakpoints],
        speed_counts_s=speed_counts_s,
        seed=checked_seed(seed),
    )


def run_basic(
    called: str | Path | RoboBasicController,
    *,
    inputs: str = "",
    plugs: Sequence[str] = (),
    breakpoints: Sequence[str] = (),
    seconds: float | None = None,
    watchers: Sequence[Watcher] = (),
    **how: Any,
) -> Recording:
    """Run a RoboBASIC program; `basic_result` tells what happened.

    `pw.run_basic("bow.bas", inputs="REMOCON=3@2")` runs it on the simulated robot.

    Args:
        called: the program, as for `set_up_basic`, as the three that follow; or what that returned, alone.
        inputs: what comes to the board.
        plugs: sensors on other AD ports than usual.
        breakpoints: labels or lines before which it stops.
        seconds: for so long it runs; default until it is over or waits in vain, at most 60 [s].
        watchers: see every block.
        how: it is run, as `perform` takes it: `body`, `seed`, `clock`, `record`, `pose`, `arena`.

    Raises:
        InputError: something that was handed in is wrong; the robot has not moved.
        OutputError: the recording cannot be written there.
        BodyError: the body failed.
    """
    controller = called
    if not isinstance(controller, RoboBasicController):
        controller = set_up_basic(
            controller, inputs=inputs, plugs=plugs, breakpoints=breakpoints, seed=how.get("seed", 0)
        )
    until_s = LONGEST_S if seconds is None else seconds
    controller.ends_at(until_s)
    source = controller.program.source
    return perform(
        controller,
        controller.robot,
        name=f"robobasic {controller.program.name}",
        until_s=until_s,
        watchers=[*watchers, *([Until(lambda: controller.is_over, STILL_S)] if seconds is None else [])],
        documents={source.name: source.text},
        extras={EVENT: {"program": controller.program.name}},
        **how,
    )


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
    falls = [{"time_s": one.since_s, "side": side_of(-track.up[one.begin])} for one in found]
    return {"fell": bool(found), "falls": falls, "lies": bool(found) and found[-1].end >= len(track.times)}
