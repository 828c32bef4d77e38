"""Tuning journals: lines of JSON, each sealed with a check over itself and all lines before it.

A last line that was cut off is left out; anything else that is not as it was written is told with its line.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from posewright.documents import open_ordinary
from posewright.errors import FormatError, InputError, Where
from posewright.search.attempt import Attempt, Generation, generations_of
from posewright.search.plan import Plan
from posewright.search.problem import Dimension, Evaluation, Fact

KIND = "posewright-tuning"
VERSION = 1
_CHECK_DIGITS = 16


class LineError(ValueError):
    """A line is not what a journal's line is; whoever reads the file knows which one it is."""


def header_line(plan: Plan, made_with: str) -> str:
    """Return the first line of a journal, without its line feed; its `hash` is the check of the rest."""
    return _sealed(
        {
            "journal": KIND,
            "version": VERSION,
            "made_with": made_with,
            "fingerprint": plan.fingerprint,
            "dimensions": [asdict(dimension) for dimension in plan.dimensions],
            "population": plan.population,
            "spread": plan.spread,
            "seed": plan.seed,
        },
        "hash",
        "",
    )


def attempt_line(attempt: Attempt, check_before: str) -> str:
    """Return the line of an attempt, without its line feed; its `check` goes on from that of the line before.

    A score that is no number is null.
    """
    evaluation = attempt.evaluation
    return _sealed(
        {
            "generation": attempt.generation,
            "index": attempt.index,
            "values": dict(attempt.values),
            "score": evaluation.score if evaluation.is_judged else None,
            "facts": {name: _written(fact) for name, fact in evaluation.facts.items()},
        },
        "check",
        check_before,
    )


def check_of(line: str) -> str:
    """Return the check at the end of a line that was written here."""
    return line[-2 - _CHECK_DIGITS : -2]


def read_header(line: str) -> tuple[Plan, str]:
    """Return plan and `made_with` of a journal's first line."""
    found = _parsed(line)
    if found.get("journal") != KIND:
        raise LineError("this is no tuning journal")
    if found.get("version") != VERSION:
        raise LineError(f"the journal is of version {found.get('version')!r}, not {VERSION}")
    try:
        plan = Plan(
            fingerprint=found["fingerprint"],
            dimensions=tuple(Dimension(**one) for one in found["dimensions"]),
            population=found["population"],
            spread=found["spread"],
            seed=found["seed"],
        )
        written = header_line(plan, found["made_with"])
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, InputError) as error:
        raise LineError("the header is damaged") from error
    if written != line:
        raise LineError("the header is not as it was written")
    return plan, found["made_with"]


def read_attempt(line: str, plan: Plan, number: int, check_before: str) -> Attempt:
    """Return the attempt of a line.

    Raises:
        LineError: it is none, or not as it was written, or not the next one.
    """
    found = _parsed(line)
    generation, index = plan.place(number)
    names = [one.name for one in plan.dimensions]
    try:
        score = math.inf if found["score"] is None else float(found["score"])
        facts = {name: _read(fact) for name, fact in found["facts"].items()}
        attempt = Attempt(generation, index, dict(found["values"]), Evaluation(score, facts))
        written = attempt_line(attempt, check_before)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, InputError) as error:
        raise LineError("the line is damaged") from error
    if written != line or list(attempt.values) != names:
        raise LineError("the line is not as it was written, or one before it is missing")
    return attempt


def _sealed(body: dict[str, Any], name: str, check_before: str) -> str:
    text = json.dumps(body, allow_nan=False)
    digest = hashlib.sha256(f"{check_before}{text}".encode()).hexdigest()
    return f'{text[:-1]}, "{name}": "{digest[:_CHECK_DIGITS]}"}}'


def _parsed(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LineError("the line is no JSON") from error
    if not isinstance(found, dict):
        raise LineError("the line is no JSON object")
    return found


def _written(fact: Fact) -> Fact | dict[str, str]:
    """Return a fact as JSON can hold it, which knows no infinity."""
    if isinstance(fact, float) and not math.isfinite(fact):
        return {"float": repr(fact)}
    return fact


def _read(fact: Any) -> Fact:
    return float(fact["float"]) if isinstance(fact, dict) else fact


_ADVICE = "take a copy from before the damage, or begin a new journal"


@dataclass(frozen=True)
class Journal:
    """What a journal holds.

    Attributes:
        made_with: the packages that drew the candidates, with their versions.
        attempts: all evaluations, in order: the start, then generation by generation; the last
            generation may be unfinished.
        length: how many bytes its whole lines take up; what follows was cut off.
        last_check: the check of its last whole line.
    """

    plan: Plan
    made_with: str
    attempts: tuple[Attempt, ...]
    length: int
    last_check: str

    @property
    def generations(self) -> tuple[Generation, ...]:
        """Its generations, worked out from its attempts."""
        return tuple(generations_of(self.attempts, self.plan.dimensions))


def read_journal(path: str | Path) -> Journal:
    """Read a journal, one that is being written too.

    Raises:
        FormatError: it cannot be read, is no journal, or is damaged anywhere but at the end of a last line
            that was cut off.
    """
    path = Path(path)
    try:
        with open_ordinary(path) as file:
            raw = file.read()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", where=Where(path)) from error
    return journal_in(raw, path)


def journal_in(raw: bytes, path: Path) -> Journal:
    """Return the journal that the bytes of a file are; `path` is only used in messages."""
    length = raw.rfind(b"\n") + 1
    header, *lines = raw[:length].split(b"\n")
    number = 1
    try:
        if not length:
            raise LineError("no line of this file is whole")
        first = _text(header)
        plan, made_with = read_header(first)
        check, attempts = check_of(first), []
        for number, line in enumerate(lines[:-1], start=2):
            text = _text(line)
            attempts.append(read_attempt(text, plan, number - 2, check))
            check = check_of(text)
    except LineError as error:
        advice = _ADVICE if number > 1 else "a file that `posewright tune` wrote"
        raise FormatError(str(error), where=Where(path, line=number), hint=advice) from error
    return Journal(plan, made_with, tuple(attempts), length, check)


def _text(line: bytes) -> str:
    try:
        return line.decode("ascii")
    except UnicodeDecodeError as error:
        raise LineError(f"byte {error.start} of the line is none that a journal has") from error
