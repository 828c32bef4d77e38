"""One loop, one recording, one way to save a figure; and a house that is no larger than it need be."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from posewright.cli.commands import COMMANDS

from .imports import PACKAGE

ROOT = Path(__file__).parents[2]
OTHERS = {"charts", "links", "codegen", "runtimes", "studio"}
"""Charts are to become half as deep in a work of their own; the others are yet to be built."""

OURS = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in OTHERS]

MOST_LINES, MOST_FILES, LONGEST = 69_000, 420, 500

OLD_VERBS = {
    "robots",
    "motion",
    "gait",
    "tune",
    "aibo",
    "chart",
    "run",
    "replay",
    "judge",
    "score",
}
OLD_PAGES = {
    *("aibo-files", "architecture", "behaviours", "chart-examples", "chart-semantics", "charts", "contests"),
    *("conventions", "formats", "gait-parameters", "gaits", "how-to-check-a-motion", "how-to-foxglove"),
    *("how-to-layout", "how-to-own-behaviour", "how-to-save-your-aibos-motions", "how-to-statecharts"),
    *("how-to-tune", "how-to-vendor-motions", "index", "kinematics", "limits", "measuring-a-gait"),
    *("motions-under-gravity", "motions", "recordings", "robots", "scxml", "simulation", "text-formats"),
}


def calls(path: Path) -> list[str]:
    """Return what a module calls, as it is written there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def where(pattern: str) -> set[str]:
    """Return the modules in which something that looks like this is called."""
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in OURS
        if any(re.search(pattern, call) for call in calls(path))
    }


def test_exactly_one_loop_advances_a_plant() -> None:
    assert where(r"(plant|world)\.advance$") == {"control/loop.py"}


def test_only_the_world_steps_the_physics() -> None:
    assert {path.split("/")[0] for path in where(r"mj_step|\bstep1$|\bstep2$")} <= {"simulation"}


def test_one_class_says_what_happened() -> None:
    names = {"Trace", "GaitTrack", "Course", "Track"}
    found = [
        (path.relative_to(PACKAGE).as_posix(), node.name)
        for path in OURS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name in {*names, "Recording"}
    ]
    assert found == [("recordings/recording.py", "Recording")]


def test_one_function_saves_figures() -> None:
    assert where(r"savefig$|print_(png|svg|pdf|figure)$") == {"figures/saving.py"}


def test_the_house_is_no_larger_than_it_need_be() -> None:
    """Boards brought four verbs, 450 lines; the servo bus, `serve` and `motion play` another 1,900.

    The studio's verbs, the mannequin that is posed in it and its solver are some 900 of the house; the
    verbs of RoboBASIC programs some 800.
    """
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in OURS}
    assert sum(lines.values()) <= MOST_LINES
    assert len(lines) <= MOST_FILES
    assert {path.name: count for path, count in lines.items() if count > LONGEST} == {}


def test_every_verb_and_page_that_stood_before_is_there() -> None:
    assert {command.name for command in COMMANDS} >= OLD_VERBS
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} >= OLD_PAGES
