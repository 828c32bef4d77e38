"""The W3C's conformance cases: each is refused by name, or ends in `pass`.

They are in python-statemachine's source distribution, which is not ours.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from posewright.charts import Interpreter, Snapshot
from posewright.charts.formats import parse_scxml
from posewright.errors import InputError

FOLDER = "POSEWRIGHT_W3C_DIR"
"""The variable of the environment that may name the folder with `mandatory/` and `optional/` in it."""

_BUILD = Path(__file__).resolve().parents[2] / "build/w3c"


def cases() -> list[Path]:
    """Return every case, those left out that are only parts of others; none where they are not here."""
    named = os.environ.get(FOLDER)
    folders = [Path(named)] if named else sorted(_BUILD.glob("**/tests/scxml/w3c"))
    found = [path for folder in folders[:1] for path in sorted(folder.glob("*/test*.scxml"))]
    return [path for path in found if "sub" not in path.stem]


SKIPPED = f"the W3C's cases are not here: `make test` fetches them, or {FOLDER} names their folder"

MOST_TICKS = 500
"""Five seconds of simulated time at the period of a document that says none."""

PASSING = 60
"""How many cases are inside the subset."""

PAGE = Path(__file__).parents[2] / "docs/scxml.md"
"""Says which are not, and why."""


def refusal(path: Path) -> InputError | None:
    try:
        parse_scxml(path.read_text(encoding="utf-8"), path)
    except InputError as error:
        return error
    return None


def outcome(path: Path) -> str:
    """Return where a case ends, or how it is refused."""
    try:
        chart = parse_scxml(path.read_text(encoding="utf-8"), path)
    except InputError as error:
        return str(error)
    interpreter = Interpreter(chart)
    state: Snapshot = interpreter.initial()
    for _ in range(MOST_TICKS):
        state = interpreter.step(state, {})
        if {"pass", "fail"} & {*state.active}:
            break
    return "pass" if "pass" in state.active else f"ends in {state.state}"


def test_continuous_integration_has_the_cases() -> None:
    assert cases() or os.environ.get("CI") != "true"


@pytest.mark.skipif(not cases(), reason=SKIPPED)
def test_every_case_passes_or_is_refused_by_name() -> None:
    found = {path.stem: outcome(path) for path in cases()}
    passed = [name for name, one in found.items() if one == "pass"]
    astray = {name: one for name, one in found.items() if one != "pass" and ".scxml:" not in one}
    assert astray == {}
    assert len(passed) >= PASSING
    assert f"**{len(passed)} pass, {len(found) - len(passed)} are rejected by name" in PAGE.read_text()


@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
def test_what_is_refused_is_refused_with_its_line_and_a_hint(path: Path) -> None:
    error = refusal(path)
    assert error is None or (error.where is not None and error.where.line is not None and error.hint)
