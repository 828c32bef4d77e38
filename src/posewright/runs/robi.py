"""Run programs of a Robi 2 on any body, recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posewright.arenas import Arena, arena
from posewright.contests import Place
from posewright.control import Until, Watcher
from posewright.errors import UnknownNameError
from posewright.recordings import Recording
from posewright.robots import Robot, robot
from posewright.runs.performing import ORIGIN, fell_in, perform
from posewright.runtimes.robi.controller import EVENT, RobiController
from posewright.runtimes.robi.listing import listing
from posewright.runtimes.robi.motions import ROBOT
from posewright.runtimes.robi.opening import breakpoint_in, open_program
from posewright.runtimes.robi.postures import Posture, postures
from posewright.runtimes.robi.program import Program
from posewright.runtimes.robi.words import read_words

STILL_S = 0.5
"""A run goes on for so long after nothing more will happen [s]."""

LONGEST_S = 600.0
"""A program runs no longer than this unless told otherwise [s]."""

TIPS_OVER = "the simulated Robi tips over when it stands up from sitting: the notes lack a part of the way"
"""What to say of one that fell and was to stand up."""

ROOM = "robi_room"
ON_FURNITURE: Mapping[str, str] = {Posture.CHAIR.word: "chair", Posture.RIDE.word: "ride"}
"""In which postures the robot begins on what, by the spots of the room."""


@dataclass(frozen=True)
class ReadyRobi:
    """A program that is ready to run on a robot that is ready to be put down.

    Attributes:
        words: as they were written.
        pose: of the card, in which the robot begins.
        arena: where; None for a bare floor.
    """

    name: str
    program: Program
    controller: RobiController
    robot: Robot
    words: str
    pose: str
    arena: Arena | None
    start: Place

    def __repr__(self) -> str:
        return f"ReadyRobi({self.name!r}, {self.pose})"


def set_up_robi(
    called: str | Path = "startup",
    *,
    words: str = "",
    posture: str = "standing",
    rule: str = "consistent",
    breakpoints: Sequence[str] = (),
) -> ReadyRobi:
    """Return a program ready to run; all that is handed in is checked, and nothing moves.

    Args:
        called: a program that ships, or the path of an RM4 file, a listing or a motion.
        words: numbers of words that the robot recognises, each with its time: `472@3.0, 1@20`.
        posture: in which it begins: standing, sitting, chair or ride, or that pose's name on its card. On the
            chair and on the ride it begins in a room that has them, else on a bare floor.
        rule: by which programs that ship judge the posture: consistent, or as it is printed.
        breakpoints: labels, or addresses of tags in the program's file, at which the program is over.

    Raises:
        UnknownNameError: there is no such program, posture, rule or label.
        FormatError: the file of the program is wrong, or a word.
    """
    program = open_program(called, rule)
    idle, card = postures().idle, robot(ROBOT)
    word = next((name for name, one in idle.items() if posture in {name, one.pose}), None)
    if word is None:
        raise UnknownNameError.among("posture", posture, idle)
    room = arena(ROOM) if word in ON_FURNITURE else None
    spot = room.spot(ON_FURNITURE[word]) if room is not None else None
    controller = RobiController(
        card,
        program,
        words=read_words(words),
        breakpoints=[breakpoint_in(program, one) for one in breakpoints],
    )
    start = ORIGIN if spot is None else (spot.x, spot.y, spot.yaw_rad)
    return ReadyRobi(Path(called).stem, program, controller, card, words, idle[word].pose, room, start)


def run_robi(
    called: str | Path | ReadyRobi = "startup",
    *,
    words: str = "",
    posture: str = "standing",
    rule: str = "consistent",
    breakpoints: Sequence[str] = (),
    seconds: float | None = None,
    watchers: Sequence[Watcher] = (),
    **how: Any,
) -> Recording:
    """Run a program of a Robi 2; `robi_result` tells what happened.

    `pw.run_robi("startup", words="1@2, 3@10")` lets it sit down and then dance.

    Args:
        called: the program, as for `set_up_robi`, as are the four that follow; or what that returned, alone.
        words: numbers of words that the robot recognises, each with its time.
        posture: in which it begins.
        rule: by which programs that ship judge the posture.
        breakpoints: labels, or addresses, at which the program is over.
        seconds: for so long it runs, up to 3600; default until nothing more will happen, at most 600 [s].
        watchers: see every block.
        how: it is run, as `perform` takes it: `body`, `seed`, `clock`, `record`.

    Raises:
        InputError: something that was handed in is wrong; the robot has not moved.
        OutputError: the recording cannot be written there.
        BodyError: the body failed.
    """
    ready = called
    if not isinstance(ready, ReadyRobi):
        ready = set_up_robi(ready, words=words, posture=posture, rule=rule, breakpoints=breakpoints)
    until_s = LONGEST_S if seconds is None else seconds
    controller = ready.controller
    controller.ends_at(until_s)
    return perform(
        controller,
        ready.robot,
        name=f"robi {ready.name}",
        until_s=until_s,
        pose=ready.pose,
        arena=ready.arena,
        start=ready.start,
        watchers=[*watchers, *([Until(lambda: controller.is_over, STILL_S)] if seconds is None else [])],
        documents={f"{ready.name}.lst": listing(ready.program)},
        extras={EVENT: {"program": ready.name, "words": ready.words, "pose": ready.pose}},
        **how,
    )


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
