"""Which contests there are: those that ship, and those of installed packages, found by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from posewright.contests.contest import Contest, Score
from posewright.contests.obstacle_race.contest import ObstacleRace
from posewright.contests.passivity_test.contest import PassivityTest
from posewright.documents.catalogue import plugins
from posewright.errors import InputError, UnknownNameError
from posewright.recordings import Event, Header, Recording
from posewright.recordings.header import RULES_SUFFIX

GROUP = "posewright.contests"
"""The group of entry points in which a package names its contests."""

KIND = "contest"
"""The entry of a recording's `extras` that tells by which name the contest is registered."""

_RACE = "obstacle-race"
"""What recordings of a time before other contests are of."""

_SHIPPED: dict[str, Callable[..., Contest]] = {
    _RACE: ObstacleRace,
    "passivity-test": PassivityTest,
}
_LATE_S = 1.0
"""An event may be noted so much after the last row that was kept [s]."""


def contest_names() -> tuple[str, ...]:
    """Return the names of all contests."""
    return tuple(sorted({*_SHIPPED, *plugins(GROUP)}))


def contest(name: str, rules: str | None = None) -> Contest:
    """Return the contest registered by that name, or with rules of that name; by the text of other rules.

    Raises:
        UnknownNameError: there is none.
        InputError: the package that offers it is broken.
        DocumentError: these are not its rules.
    """
    make = _SHIPPED.get(name) or plugins(GROUP).get(name) or _by_rules(name)
    if make is None:
        raise UnknownNameError.among("contest", name, contest_names())
    if not callable(make):
        raise InputError(
            f"{name!r} in {GROUP} is no contest", hint="it names a class or a function that makes one"
        )
    made: Contest = make() if rules is None else make(rules)
    return made


def _by_rules(name: str) -> Any:
    return next((make for make in _SHIPPED.values() if make().name == name), None)


def is_of_a_contest(header: Header) -> bool:
    """Tell whether a recording says which contest it is of, or carries rules to be judged by."""
    carries_rules = any(name.endswith(RULES_SUFFIX) for name in header.documents)
    return bool(header.contest or header.extras.get(KIND) or carries_rules)


def contest_of(header: Header, rules: str | None = None) -> Contest:
    """Return the contest a recording is of, by the rules given, or those that it carries, or else its own."""
    carried = [name for name in header.documents if name.endswith(RULES_SUFFIX)]
    if len(carried) > 1 and rules is None:
        raise InputError(f"the recording carries several rules: {', '.join(sorted(carried))}")
    kind = str(header.extras.get(KIND) or (_RACE if carried or rules else header.contest))
    if not kind:
        raise InputError(
            "the recording was not made under a contest's rules", hint="say which rules to judge it by"
        )
    return contest(kind, header.documents[carried[0]] if carried and rules is None else rules)


def judge(recording: Recording, by: Contest | None = None) -> Score:
    """Return the score of a recording, by its own contest where none is given.

    Raises:
        InputError: it is of no contest or of another field, it lacks what a judge must know, or an event in
            it cannot have happened.
    """
    if by is not None and not is_of_a_contest(recording.header) and not recording.header.arena:
        raise InputError("the recording tells of no field", hint="a judge needs a run on the contest's field")
    judged_by = contest_of(recording.header) if by is None else by
    for event in recording.events:
        _check(event, recording)
    return judged_by.judge(recording)


def _check(event: Event, recording: Recording) -> None:
    """Refuse an event at a time that was not, or about a box that is not there."""
    last_s, n_boxes = recording.duration_s + _LATE_S, len(recording.header.boxes)
    for what, time_s in (("its time", event.time_s), ("since_s", event.data.get("since_s"))):
        if isinstance(time_s, int | float) and not 0.0 <= time_s <= last_s:  # nor is not-a-number
            raise InputError(
                f"a {event.kind} in the recording cannot be: {what} is {time_s}", hint=f"0 to {last_s:g} s"
            )
    box = event.data.get("box")
    if type(box) is int and not 1 <= box <= n_boxes:
        raise InputError(f"a {event.kind} in the recording is about box {box}", hint=f"1 to {n_boxes}")
