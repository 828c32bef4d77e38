"""The files of a walk report: a page, its picture and its numbers."""

from __future__ import annotations

import json
from pathlib import Path

from posewright.documents import create_folder, write_atomically
from posewright.evaluation.walking.benchmark import BenchmarkReport
from posewright.figures.benchmark import draw_walk_report
from posewright.figures.saving import picture_bytes
from posewright.runs.batch import REPORT
from posewright.runs.batch_report import picture_url, report_environment
from posewright.version import __version__

PICTURE = "report.png"
NUMBERS = "report.json"
_TEMPLATE = "walking/benchmark_report.html"


def write_walk_report(report: BenchmarkReport, folder: Path) -> None:
    """Write `report.html`, `report.png` and `report.json` into a folder.

    Raises:
        MissingExtraError: Jinja or matplotlib is not installed.
        OutputError: the folder cannot be written.
    """
    picture = picture_bytes(draw_walk_report(report), Path(PICTURE).suffix)
    numbers = json.dumps(report.to_dict(), indent=2, allow_nan=False) + "\n"
    page = walk_report_html(report, picture)
    create_folder(folder)
    write_atomically(folder / NUMBERS, numbers.encode())
    write_atomically(folder / PICTURE, picture)
    write_atomically(folder / REPORT, page.encode(errors="backslashreplace"))


def walk_report_html(report: BenchmarkReport, picture: bytes) -> str:
    """Return the report as one HTML page that loads nothing: leading figures, the picture, tables.

    Args:
        report: the results.
        picture: the page that `draw_walk_report` draws, as PNG.

    Raises:
        MissingExtraError: Jinja is not installed.
    """
    _, *tables = report.tables()  # the page shows the leading figures as tiles
    return (
        report_environment()
        .get_template(_TEMPLATE)
        .render(
            report=report,
            headlines=list(report.headlines()),
            picture=picture_url(picture),
            tables=tables,
            version=__version__,
        )
    )
