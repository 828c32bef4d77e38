"""The registry of contests, shipped and of installed packages, and judging a recording by its contest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from posewright.contests.contest import Contest, Score
from posewright.contests.dropouts import fill_short_dropouts
from posewright.contests.exhibition.contest import Exhibition
from posewright.contests.obstacle_race.contest import ObstacleRace
from posewright.contests.passivity_test.contest import PassivityTest
from posewright.contests.stairs.contest import Stairs
from posewright.contests.sumo.contest import Sumo
from posewright.contests.vision.contest import Vision
from posewright.documents import parse_document
from posewright.documents.catalogue import plugins
from posewright.errors import DocumentError, InputError, UnknownNameError, UserCodeError, Where
from posewright.recordings import Header, Recording
from posewright.recordings.header import RULES_SUFFIX
from posewright.recordings.plausibility import require_plausible

GROUP = "posewright.contests"
"""The entry point group in which packages register contests."""

KIND = "contest"
"""The key of a recording's `extras` with the contest's registered name."""

_RACE = "obstacle-race"
"""The contest of recordings from before there were others."""

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
    """Return the registered names of all contests."""
    return tuple(sorted({*_SHIPPED, *plugins(GROUP)}))


def contest(name: str, rules: str | None = None, source: str = "") -> Contest:
    """Return a contest by its registered name or the name of its rules.

    Args:
        name: the name of the contest or its rules.
        rules: text of other rules to apply; None for the contest's own.
        source: where that text comes from, for error messages.

    Raises:
        UnknownNameError: there is no such contest.
        InputError: a package registers something that is not a contest.
        DocumentError: the text is not a document of the contest's rules.
    """
    factory = _SHIPPED.get(name) or plugins(GROUP).get(name) or _find_by_rules(name)
    if factory is None:
        raise UnknownNameError.among("contest", name, contest_names())
    if not callable(factory):
        raise InputError(
            f"the entry point {name!r} in {GROUP} is not a contest",
            hint="name a class or a function that creates one",
        )
    try:
        created: object = factory() if rules is None else factory(rules)
    except InputError as error:
        where = error.where or Where()
        if rules is None or where.path is not None or not source:
            raise
        raise type(error)(error.message, where=replace(where, path=Path(source)), hint=error.hint) from error
    if not isinstance(created, Contest):
        members = sorted(member for member in dir(Contest) if not member.startswith("_"))
        missing = [member for member in members if member not in dir(created)]
        raise InputError(
            f"the entry point {name!r} in {GROUP} is not a contest: it lacks {', '.join(missing)}",
            hint="see posewright.contests.Contest",
        )
    return created


def _find_by_rules(name: str) -> Callable[..., Contest] | None:
    return next((factory for factory in _SHIPPED.values() if factory().name == name), None)


def has_contest(header: Header) -> bool:
    """Return whether a recording names its contest or has rules attached."""
    has_attached_rules = any(name.endswith(RULES_SUFFIX) for name in header.documents)
    return bool(header.contest or header.extras.get(KIND) or has_attached_rules)


def contest_of(
    header: Header, rules: str | None = None, source: str = "", *, trust_attached_rules: bool = False
) -> Contest:
    """Return the contest of a recording, with given rules, the rules attached to the recording, or its own.

    Args:
        header: the header of the recording.
        rules: text of rules to apply; None for the attached or the contest's own.
        source: where that text comes from, for error messages.
        trust_attached_rules: whether attached rules may differ from the shipped ones of the same name.

    Raises:
        InputError: the recording is of no contest, has several rules attached, or has attached rules that
            differ from those that ship under their name or have another name than the recording states.
    """
    attached_names = [name for name in header.documents if name.endswith(RULES_SUFFIX)]
    if len(attached_names) > 1 and rules is None:
        raise InputError(
            f"the recording has several rules attached: {', '.join(sorted(attached_names))}",
            hint="choose rules with --rules",
        )
    default_kind = _RACE if attached_names or rules else header.contest
    kind = str(header.extras.get(KIND) or default_kind)
    if not kind:
        raise InputError(
            "the recording was not made under a contest's rules", hint="name the rules to judge it by"
        )
    if not attached_names or rules is not None:
        return contest(kind, rules, source)
    attached_name = attached_names[0]
    attached = contest(kind, header.documents[attached_name], f"attached {attached_name}")
    if not trust_attached_rules:
        hint = "--rules judges by your own rules, --trust-attached-rules by the attached ones"
        if header.contest and attached.name != header.contest:
            raise InputError(
                f"the recording is of {header.contest!r:.60} "
                f"but has the rules {attached.name!r:.60} attached",
                hint=hint,
            )
        if change := _describe_change(attached, kind):
            raise InputError(
                f"the attached rules differ from the shipped {attached.name!r:.60}: {change}", hint=hint
            )
    return attached


def _describe_change(changed: Contest, kind: str) -> str | None:
    """Describe how a contest's rules differ from the shipped rules of the same name.

    Returns:
        The first difference; empty if there is none; None if no rules of that name ship.
    """
    for shipped in (contest(kind), *(factory() for factory in _SHIPPED.values())):
        if shipped.name == changed.name:
            return _describe_text_difference(changed.rules_text, shipped.rules_text)
    return None


def _describe_text_difference(text: str, shipped_text: str) -> str:
    """Describe the first difference between two documents of rules except sources; empty for none."""
    if text == shipped_text:
        return ""
    try:
        values = parse_document(text).value
        shipped_values = parse_document(shipped_text).value
    except DocumentError:  # rules of a contest need not be a document
        return "another text"
    values.pop("sources", None)
    shipped_values.pop("sources", None)
    return _describe_difference(values, shipped_values, key_path="")


def _describe_difference(value: object, shipped_value: object, key_path: str) -> str:
    """Describe the first difference between two values of documents; empty if there is none."""
    if isinstance(value, dict) and isinstance(shipped_value, dict):
        for key in {**shipped_value, **value}:
            path = f"{key_path}.{key}" if key_path else str(key)
            if key not in value:
                return f"{path:.60} is missing"
            if key not in shipped_value:
                return f"{path:.60} is not a key of the shipped rules"
            if difference := _describe_difference(value[key], shipped_value[key], path):
                return difference
        return ""
    return "" if value == shipped_value else f"{key_path:.60} is {value!r:.40}, not {shipped_value!r:.40}"


def describe_attached_rules(header: Header, judged_by: Contest) -> str:
    """Return a remark if a recording is judged by attached rules that do not ship; else empty."""
    change = _describe_change(judged_by, str(header.extras.get(KIND) or _RACE))
    if change == "" or judged_by.rules_text not in header.documents.values():
        return ""
    reason = f"they differ from the shipped rules: {change}" if change else "no rules of that name ship"
    return f"judged by the rules attached to the recording, {judged_by.name}: {reason}"


def judge(recording: Recording, by: Contest | None = None, *, trust_attached_rules: bool = False) -> Score:
    """Return the score of a recording.

    Args:
        recording: the recording.
        by: the contest; None for the recording's own.
        trust_attached_rules: as for `contest_of`.

    Raises:
        InputError: the recording is of no contest or of another field, lacks data that the judge needs, has
            physically impossible values, or has attached rules that are not trusted.
        UserCodeError: the judge of an installed package returned something else than a score.
    """
    if by is not None and not has_contest(recording.header) and not recording.header.arena:
        raise InputError("the recording has no field", hint="a judge needs a run on the contest's field")
    judged_by = contest_of(recording.header, trust_attached_rules=trust_attached_rules) if by is None else by
    require_plausible(recording)
    score: object = judged_by.judge(fill_short_dropouts(recording))
    if not isinstance(score, Score):
        raise UserCodeError(
            f"the judge of {judged_by.name} returned an object of the type {type(score).__name__}",
            hint="return a posewright.contests.Score",
        )
    return score
