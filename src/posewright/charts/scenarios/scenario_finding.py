"""Finds the scenarios of a chart: those that lie beside it and name it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from posewright.charts.model import Chart
from posewright.documents import is_folder, read_document
from posewright.errors import DocumentError, InputError, Where

ENDING = ".scenario.yaml"
FOLDERS = (".", "scenarios")
"""Where scenarios are looked for, seen from the chart."""


def scenarios_beside(chart: Chart) -> list[Path]:
    """Return the scenario files beside a chart, and in `scenarios/` there, that name it, by their names.

    Raises:
        InputError: there is none.
        DocumentError: a document beside the chart cannot be read.
    """
    if chart.path is None:
        raise InputError(f"{chart.name} was not read from a file", hint="name the scenarios")
    folders = [chart.path.parent / folder for folder in FOLDERS]
    found = [
        path for folder in folders for path in sorted(folder.glob(f"*{ENDING}")) if _names(path, chart.path)
    ]
    if not found:
        hint = f"write one, or let `posewright chart cover {chart.path} -o FOLDER` write some"
        raise InputError("no scenario names this chart", where=Where(chart.path), hint=hint)
    return found


def files_in(paths: Iterable[Path | str]) -> list[Path]:
    """Return the files that paths stand for: a folder stands for the scenarios in it.

    Raises:
        DocumentError: a folder holds no scenario.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.glob(f"*{ENDING}")) if is_folder(path) else [path]
        if not inside:
            raise DocumentError(
                "no scenario in this folder", where=Where(path), hint=f"their names end in {ENDING}"
            )
        found += inside
    return found


def _names(path: Path, chart: Path) -> bool:
    named = read_document(path).fields().get("chart")
    if named is None or not isinstance(named.value, str):
        return False
    return (path.parent / named.value).resolve() == chart.resolve()
