"""Run programs of a Robi 2 on any body, recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from posewright.control import Until
from posewright.recordings import Recording
from posewright.runs.perform import PerformOptions, fell_in, perform_program
from posewright.runtimes.robi.controller import EVENT, RobiController
from posewright.runtimes.robi.postures import Posture
from posewright.runtimes.robi.setup import RobiProgram, set_up_robi

STILL_S = 0.5
"""A run continues for so long after its program is over [s]."""

LONGEST_S = 600.0
"""Default limit of a program's duration [s]."""

TIPS_OVER = "the simulated Robi tips over when it stands up from sitting: the notes lack a part of the way"
"""Note in the result of a run that fell after it should have stood up."""


def run_robi(
    program: str | Path | RobiProgram = "startup",
    *,
    words: str = "",
    posture: str = "standing",
    rule: str = "consistent",
    breakpoints: Sequence[str] = (),
    seconds: float | None = None,
    controller: RobiController | None = None,
    **options: Unpack[PerformOptions],
) -> Recording:
    """Run a program of a Robi 2; see `robi_result` for the result.

    `pw.run_robi("startup", words="1@2, 3@10")` lets it sit down and then dance.

    Args:
        program: as for `set_up_robi`, like the next four arguments; or what that returned, without them.
        words: numbers of the words that the robot recognises, each with its time: `1@2, 3@10`.
        posture: the posture it begins in.
        rule: the rule by which the programs of the catalogue judge the posture.
        breakpoints: labels or addresses at which the program ends.
        seconds: duration up to 3600 s; by default until the program is over, at most 600 s.
        controller: an existing controller of the program, which a watcher may observe.
        options: see `PerformOptions`; arena and start are the program's.

    Raises:
        InputError: an argument is wrong; the robot has not moved.
        OutputError: the recording cannot be written.
        BodyError: the body failed.
    """
    if isinstance(program, RobiProgram):
        ready = program
    else:
        ready = set_up_robi(program, words=words, posture=posture, rule=rule, breakpoints=breakpoints)
    until_s = LONGEST_S if seconds is None else seconds
    timed = replace(ready, until_s=until_s)
    active_controller = timed.controller() if controller is None else controller
    active_controller.ends_at(until_s)
    if seconds is None:
        ending = Until(lambda: active_controller.is_over, STILL_S)
        options["watchers"] = [*options.get("watchers", ()), ending]
    options["arena"] = timed.arena
    options["start"] = timed.start
    return perform_program(timed, until_s=until_s, controller=active_controller, **options)


def robi_result(recording: Recording) -> dict[str, Any]:
    """Return a run of a Robi's program as plain data, from its recording alone.

    `events` are those of `RobiController`, each with its time; `error` is the message of a faulty program, or
    None. `fell` is None if the robot's attitude is unknown; `note` explains a known fall, or is empty.
    """
    program = recording.header.extras.get(EVENT, {})
    events = [{"time_s": event.time_s, **event.data} for event in recording.events_of(EVENT)]
    errors = [event for event in events if event["what"] == "error"]
    decisions = recording.robot().decisions.outputs
    last_outputs: Mapping[str, Any] = decisions[-1] if decisions else {}
    posture = int(last_outputs.get("posture", 0))
    fell = fell_in(recording)
    posture_changes = [(event["before"], event["now"]) for event in events if event["what"] == "posture"]
    has_stood_up = (Posture.SITTING, Posture.STANDING) in posture_changes
    stood_up = program.get("program") == "stand_up" or has_stood_up
    return {
        "program": program.get("program", ""),
        "words": program.get("words", ""),
        "pose": program.get("pose", ""),
        "duration_s": recording.duration_s,
        "posture": Posture(posture).word if posture in list(Posture) else str(posture),
        "mapped": list(last_outputs.get("mapped", [])),
        "error": errors[0]["message"] if errors else None,
        "events": events,
        "fell": fell,
        "note": TIPS_OVER if fell and stood_up else "",
        "digest": recording.digest(),
    }
