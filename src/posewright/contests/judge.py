"""The judge: a pure function from a trace to a result, whoever the body was."""

from __future__ import annotations

from posewright.contests.field import check_field
from posewright.contests.race import Race
from posewright.contests.result import Result
from posewright.contests.rows import Rows
from posewright.contests.rules import Rules, parse_rules, rules, rules_names
from posewright.errors import InputError
from posewright.recordings import Header, Recording

_SUFFIX = ".rules.yaml"


def judge(trace: Recording, rules: Rules | None = None) -> Result:
    """Return the result of the race that a trace tells of.

    Crossings, clocks, distances, displaced boxes, and falls that nobody noted, are worked out from the
    rows; touches, and the falls that were noted, are taken from the events.

    Args:
        trace: what happened.
        rules: by which to judge; those the trace carries where none are given.

    Raises:
        InputError: the trace does not say where the robot was, carries no rules, or is of another arena
            than the rules'.
    """
    by = rules_of(trace.header) if rules is None else rules
    check_field(by, trace.header.arena)
    race = Race(by)
    for event in trace.events:
        race.note(event)
    race.advance(Rows.of_recording(trace))
    return race.result()


def rules_of(header: Header) -> Rules:
    """Return the rules a trace was run under: those it carries, or the shipped ones it names.

    Raises:
        InputError: it carries several, or neither carries nor names any.
    """
    carried = [name for name in header.documents if name.endswith(_SUFFIX)]
    if len(carried) > 1:
        raise InputError(f"the trace carries several rules: {', '.join(sorted(carried))}")
    if carried:
        text = header.documents[carried[0]]
        known = header.contest in rules_names() and rules(header.contest).text == text
        return rules(header.contest) if known else parse_rules(text, carried[0])
    if not header.contest:
        raise InputError(
            "the trace was not run under a contest's rules", hint="say which rules to judge it by"
        )
    return rules(header.contest)
