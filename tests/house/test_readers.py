"""The table of readers has one for everything in the registries that reads files.

`python -m tests.house.fuzz` also looks which functions the table reaches, and begins only if that is all.
"""

from __future__ import annotations

from pathlib import Path

import posewright as pw
from posewright.charts.formats.files import ChartFormat
from posewright.contests import contest_names
from posewright.formats import FORMATS
from posewright.formats.arena_import import ARENA_SUFFIXES

from . import readers
from .readers import READERS

NOT_FILES = {
    "open_arena_editor": "starts a server; `field in the studio` reads its files",
    "open_bus": "opens a port; `servo bus` reads what comes from it",
    "open_studio": "starts a server; `draft of a motion` and others read its files",
    "open_view": "starts a server",
    "read_program": "a behaviour or another program, which have readers",
    "read_stressed_program": "reads a program by `read_program`",
}
"""Public functions that no reader calls, and why."""

MOTION_FORMATS = {
    "posewright-motion": "motion",
    "roboplus-mtn": "roboplus",
    "uc3m-csv": "uc3m csv",
    "aibo-omtn": "omtn",
    "aibo-oda": "oda",
    "ekmoves-h": "ekmoves",
    "tekkotsu-mot": "tekkotsu mot",
    "tekkotsu-pos": "tekkotsu pos",
    "webots-motion": "webots",
}
CHART_FORMS = {
    ChartFormat.DOCUMENT: "chart",
    ChartFormat.TRUTH_TABLE: "truth table",
    ChartFormat.TRANSITION_TABLE: "chart table",
    ChartFormat.SCXML: "scxml",
}
"""The names of readers by format."""


def test_every_format_of_motions_and_charts_has_a_reader() -> None:
    assert MOTION_FORMATS.keys() == set(FORMATS)
    assert CHART_FORMS.keys() == set(ChartFormat)
    assert {*MOTION_FORMATS.values(), *CHART_FORMS.values()} <= READERS.keys()


def test_every_kind_of_scene_and_robot_has_a_reader() -> None:
    kinds = ("scene", "OpenRAVE", "project of a simulator")
    suffixes = {Path(name).suffix for kind in kinds for name in READERS[kind].seeds()}
    assert suffixes == set(ARENA_SUFFIXES)
    assert {Path(name).suffix for name in READERS["robot import"].seeds()} == {".urdf", ".xacro", ".xml"}


def test_every_contest_has_a_reader_of_its_rules() -> None:
    assert {f"rules of the {name}" for name in contest_names()} <= READERS.keys()


def test_every_public_function_that_reads_has_a_reader() -> None:
    source = Path(readers.__file__).read_text(encoding="utf-8")
    imported = [value for value in vars(readers).values() if callable(value)]
    names = {name for name in dir(pw) if name.startswith(("read_", "open_", "import_"))}
    called = {name for name in names if f"pw.{name}(" in source or f"pw.{name}," in source}
    called |= {name for name in names - called if getattr(pw, name) in imported}
    assert names - called == NOT_FILES.keys()
