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
"""A run goes on for so long after nothing more will happen [s]."""

LONGEST_S = 600.0
"""A program runs no longer than this unless told otherwise [s]."""

TIPS_OVER = "the simulated Robi tips over when it stands up from sitting: the notes lack a part of the way"
"""What to say of one that fell and was to stand up."""


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
    """Run a program of a Robi 2; `robi_result` tells what happened.

    `pw.run_robi("startup", words="1@2, 3@10")` lets it sit down and then dance.

    Args:
        program: as for `set_up_robi`, as are the four that follow; or what that returned, alone.
        words: numbers of words that the robot recognises, each with its time.
        posture: in which it begins.
        rule: by which programs that ship judge the posture.
        breakpoints: labels, or addresses, at which the program is over.
        seconds: for so long it runs, up to 3600; default until nothing more will happen, at most 600 [s].
        controller: of the program, where one is made already: a watcher may look at it.
        options: see `PerformOptions`; arena and start are the program's.

    Raises:
        InputError: something that was handed in is wrong; the robot has not moved.
        OutputError: the recording cannot be written there.
        BodyError: the body failed.
    """
    if isinstance(program, RobiProgram):
        ready = program
    else:
        ready = set_up_robi(program, words=words, posture=posture, rule=rule, breakpoints=breakpoints)
    until_s = LONGEST_S if seconds is None else seconds
    timed = replace(ready, until_s=until_s)
    driving = timed.controller() if controller is None else controller
    driving.ends_at(until_s)
    if seconds is None:
        ending = Until(lambda: driving.is_over, STILL_S)
        options["watchers"] = [*options.get("watchers", ()), ending]
    options["arena"] = timed.arena
    options["start"] = timed.start
    return perform_program(timed, until_s=until_s, controller=driving, **options)


def robi_result(recording: Recording) -> dict[str, Any]:
    """Return a run of a Robi's program as plain data, from its recording alone.

    `events` are what `RobiController` tells, each with its time; `error` is what was wrong with the program,
    or None. `fell` is None where nobody knew where the robot was; `note` is what is known of such a fall, or
    empty.
    """
    told = recording.header.extras.get(EVENT, {})
    events = [{"time_s": one.time_s, **one.data} for one in recording.events_of(EVENT)]
    errors = [one for one in events if one["what"] == "error"]
    decisions = recording.robot().decisions.outputs
    last: Mapping[str, Any] = decisions[-1] if decisions else {}
    posture, fell = int(last.get("posture", 0)), fell_in(recording)
    stood_up = told.get("program") == "stand_up" or any(
        one["what"] == "posture" and (one["before"], one["now"]) == (Posture.SITTING, Posture.STANDING)
        for one in events
    )
    return {
        "program": told.get("program", ""),
        "words": told.get("words", ""),
        "pose": told.get("pose", ""),
        "duration_s": recording.duration_s,
        "posture": Posture(posture).word if posture in list(Posture) else str(posture),
        "mapped": list(last.get("mapped", [])),
        "error": errors[0]["message"] if errors else None,
        "events": events,
        "fell": fell,
        "note": TIPS_OVER if fell and stood_up else "",
        "digest": recording.digest(),
    }
