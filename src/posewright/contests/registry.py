"""Which contests there are: those that ship, and those of installed packages, found by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from posewright.contests.contest import Contest, Score
from posewright.contests.exhibition.contest import Exhibition
from posewright.contests.gaps import bridged
from posewright.contests.obstacle_race.contest import ObstacleRace
from posewright.contests.passivity_test.contest import PassivityTest
from posewright.contests.stairs.contest import Stairs
from posewright.contests.sumo.contest import Sumo
from posewright.contests.vision.contest import Vision
from posewright.documents import parse_document
from posewright.documents.catalogue import plugins
from posewright.errors import DocumentError, InputError, UnknownNameError, Where
from posewright.recordings import Header, Recording
from posewright.recordings.header import RULES_SUFFIX
from posewright.recordings.plausible import refuse_impossible

GROUP = "posewright.contests"
"""The group of entry points in which a package names its contests."""

KIND = "contest"
"""The entry of a recording's `extras` that tells by which name the contest is registered."""

_RACE = "obstacle-race"
"""What recordings of a time before other contests are of."""

_SHIPPED: dict[str, Callable[..., Contest]] = {
    "exhibition": Exhibition,
    _RACE: ObstacleRace,
    "obstacle-race-2017": partial(ObstacleRace, year=2017),
    "passivity-test": PassivityTest,
    "passivity-test-2017": partial(PassivityTest, year=2017),
    "stairs": Stairs,
    "stairs-2017": partial(Stairs, year=2017),
    "sumo": Sumo,
    "sumo-2017": partial(Sumo, year=2017),
    "vision": Vision,
}


def contest_names() -> tuple[str, ...]:
    """Return the names of all contests."""
    return tuple(sorted({*_SHIPPED, *plugins(GROUP)}))


def contest(name: str, rules: str | None = None, source: str = "") -> Contest:
    """Return the contest registered by that name, or with rules of that name; by the text of other rules.

    Errors in rules say that they stand in `source`.

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
    try:
        made: object = make() if rules is None else make(rules)
    except InputError as error:
        where = error.where or Where()
        if rules is None or where.path is not None or not source:
            raise
        raise type(error)(error.message, where=replace(where, path=Path(source)), hint=error.hint) from error
    if not isinstance(made, Contest):
        members = sorted(name for name in dir(Contest) if not name.startswith("_"))
        missing = [name for name in members if name not in dir(made)]
        raise InputError(
            f"{name!r} in {GROUP} is no contest: it has no {', '.join(missing)}",
            hint="see posewright.contests.Contest",
        )
    return made


def _by_rules(name: str) -> Any:
    return next((make for make in _SHIPPED.values() if make().name == name), None)


def is_of_a_contest(header: Header) -> bool:
    """Tell whether a recording says which contest it is of, or carries rules to be judged by."""
    carries_rules = any(name.endswith(RULES_SUFFIX) for name in header.documents)
    return bool(header.contest or header.extras.get(KIND) or carries_rules)


def contest_of(
    header: Header, rules: str | None = None, source: str = "", *, trust_attached_rules: bool = False
) -> Contest:
    """Return the contest a recording is of, by the rules given, or those that it carries, or else its own.

    Errors in the rules given say that they stand in `source`.

    Raises:
        InputError: it is of no contest, or the rules that it carries are called like those that ship, or like
            others than it says itself, and are not: unless attached rules are trusted.
    """
    carried = [name for name in header.documents if name.endswith(RULES_SUFFIX)]
    if len(carried) > 1 and rules is None:
        raise InputError(f"the recording carries several rules: {', '.join(sorted(carried))}")
    kind = str(header.extras.get(KIND) or (_RACE if carried or rules else header.contest))
    if not kind:
        raise InputError(
            "the recording was not made under a contest's rules", hint="say which rules to judge it by"
        )
    if not carried or rules is not None:
        return contest(kind, rules, source)
    held = contest(kind, header.documents[carried[0]], f"attached {carried[0]}")
    if not trust_attached_rules:
        hint = "--rules judges by rules of yours, --trust-attached-rules by those that it carries"
        if header.contest and held.name != header.contest:
            told = f"the recording is of {header.contest!r:.60} and carries the rules {held.name!r:.60}"
            raise InputError(told, hint=hint)
        if change := _change(held, kind):
            told = f"the rules that the recording carries are not those of {held.name!r:.60}: {change}"
            raise InputError(told, hint=hint)
    return held


def _change(held: Contest, kind: str) -> str | None:
    """Return in words how rules differ from those that ship under their name; None if none do."""
    shipped = (contest(kind), *(make() for make in _SHIPPED.values()))
    changes = (_first_difference(held.rules_text, own.rules_text) for own in shipped if own.name == held.name)
    return next(changes, None)


def _first_difference(told: str, right: str) -> str:
    """Return in words what rules `told` say otherwise than `right` ones, sources aside; empty if nothing."""
    if told == right:
        return ""
    try:
        values = [parse_document(text).value for text in (told, right)]
    except DocumentError:  # of a contest whose rules are no document
        return "another text"
    for value in values:
        value.pop("sources", None)
    return _difference(values[0], values[1], "")


def _difference(told: Any, right: Any, trail: str) -> str:
    if isinstance(told, dict) and isinstance(right, dict):
        for key in {**right, **told}:
            below = f"{trail}.{key}" if trail else str(key)
            if key not in right or key not in told:
                return f"{below:.60} is {'missing' if key in right else 'not one of its keys'}"
            if found := _difference(told[key], right[key], below):
                return found
        return ""
    return "" if told == right else f"{trail:.60} is {told!r:.40}, not {right!r:.40}"


def own_rules(header: Header, held: Contest) -> str:
    """Say in words that the rules a recording is judged by, and carries, do not ship; else nothing."""
    change = _change(held, str(header.extras.get(KIND) or _RACE))
    if change == "" or held.rules_text not in header.documents.values():
        return ""
    why = f"they are not those of that name that ship: {change}" if change else "no rules of that name ship"
    return f"judged by the rules that the recording carries, {held.name}: {why}"


def judge(recording: Recording, by: Contest | None = None, *, trust_attached_rules: bool = False) -> Score:
    """Return the score of a recording, by its own contest where none is given.

    Raises:
        InputError: it is of no contest or of another field, it lacks what a judge must know, something in it
            cannot have happened, or it carries other rules than its contest's, which are not trusted.
    """
    if by is not None and not is_of_a_contest(recording.header) and not recording.header.arena:
        raise InputError("the recording tells of no field", hint="a judge needs a run on the contest's field")
    judged_by = contest_of(recording.header, trust_attached_rules=trust_attached_rules) if by is None else by
    refuse_impossible(recording)
    return judged_by.judge(bridged(recording))
