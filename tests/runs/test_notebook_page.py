"""The notebook page, run in a real kernel: what each of its cells shows, and how."""

from __future__ import annotations

import io
import os
import re
import warnings
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/notebooks.md"
CHARTS = ROOT / "docs/charts-in-a-notebook.md"


def cells_of(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


CELLS = cells_of(PAGE)

LARGEST = 300_000
"""Bytes of a picture."""

STRICT = 'import warnings\nwarnings.filterwarnings("error", module="posewright")'

SURPRISES = """
from dataclasses import replace
import posewright.runs.notebook as notebook
replace(dog, title="<script>alert(1)</script>")
"""
SHORT_RUNS = """
import importlib
run_module = importlib.import_module("posewright.runs.run")
whole_drive = run_module.drive
run_module.drive = lambda *arguments, until_s, **options: whole_drive(*arguments, until_s=5.0, **options)
"""
BROKEN = """
from unittest.mock import patch
from IPython.display import display
with patch("posewright.figures.draw_robot", side_effect=ZeroDivisionError("ours")):
    display(dog)
"""


class Document(HTMLParser):
    """Checks that every tag is closed in order, and keeps names of tags, attributes and text."""

    SINGLE = frozenset({"img", "meta", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.SINGLE:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def run(sources: list[str], folder: Path) -> list[Any]:
    """Run cells in a kernel; return them with their outputs."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client: ours are errors in the kernel
        where = {"metadata": {"path": str(folder)}}
        NotebookClient(notebook, timeout=None, kernel_name="python3", resources=where).execute(
            env=environment
        )
    return list(notebook.cells)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    cells = list(CELLS)
    batch = next(number for number, cell in enumerate(cells) if "run_many" in cell)
    cells.insert(batch, SHORT_RUNS)
    return run([STRICT, *cells, SURPRISES, BROKEN], tmp_path_factory.mktemp("notebook"))


@pytest.fixture(scope="module")
def charted(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    return run([STRICT, *cells_of(CHARTS)], tmp_path_factory.mktemp("charts"))


def data_of(cell: Any) -> dict[str, Any]:
    """Return what the last line of a cell was shown as; it printed and warned of nothing."""
    (output,) = cell.outputs
    assert output.output_type == "execute_result"
    return dict(output.data)


def cell_that_ends(played: list[Any], line: str) -> Any:
    (cell,) = [cell for cell in played if cell.source.rstrip().splitlines()[-1] == line]
    return cell


def is_a_picture(data: bytes) -> None:
    assert len(data) < LARGEST
    image = Image.open(io.BytesIO(data))
    image.load()
    assert image.format == "PNG"
    width, height = image.size
    assert 700 <= width <= 1900
    assert 200 <= height <= 2800
    assert len(image.convert("RGB").getcolors(1 << 24) or ()) > 16  # more than a blank sheet


def test_a_chart_is_built_checked_run_and_drawn_in_thirty_lines(charted: list[Any]) -> None:
    assert sum(len(cell.source.splitlines()) for cell in charted[1:]) <= 40
    displayed = [data_of(cell) for cell in charted[1:] if cell.outputs]
    assert len(displayed) == len(charted) - 1
    pictures = [data["image/svg+xml"] for data in displayed if "image/svg+xml" in data]
    assert len(pictures) == 5
    assert all(picture.startswith("<svg") and "</svg>" in picture for picture in pictures)
    unsound, sound = (data["text/html"] for data in displayed if "<Report" in data["text/plain"])
    assert "two guards hold in closing" in unsound
    assert "overlap" not in sound
    assert any("'opening', 'up'" in data["text/plain"] for data in displayed)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("dog", "left_front_knee"),
        ("nod", "head_tilt"),
        ("trot", ""),
        ("walk", ""),
        ("pw.try_motion(nod)", ""),
        ("race", "line fully crossed"),
        ("race.recording", "behaviour obstacle_race"),
    ],
)
def test_everything_is_a_sharp_picture_and_a_table(played: list[Any], line: str, text: str) -> None:
    displayed = data_of(cell_that_ends(played, line))
    assert set(displayed) == {"text/plain", "text/html"}
    assert len(displayed["text/plain"]) < 100
    document = Document(displayed["text/html"])
    (image,) = document.all("img")
    kind, _, data = str(image["src"]).partition(",")
    assert kind == "data:image/png;base64"
    assert image["alt"]
    assert "max-width: 100%" in str(image["style"])
    is_a_picture(b64decode(data))
    assert text in document.text
    assert bool(document.all("table")) == bool(text)


def test_many_races_are_their_report_and_a_table(played: list[Any]) -> None:
    displayed = data_of(cell_that_ends(played, "races"))
    assert displayed["text/plain"].startswith("<Batch of 3 runs, mean points ")
    document = Document(displayed["text/html"])
    (frame,) = document.all("iframe")
    report = str(frame["srcdoc"])
    assert report.startswith("<!DOCTYPE html>")
    assert "CEABOT 2013, obstacle race" in report
    assert "A closer look" not in report
    assert len(document.all("tr")) == 1 + 3
    assert "points" in document.text


@pytest.mark.parametrize("line", ['pw.draw_robot(dog, pose="sit")', "figure", "page"])
def test_a_figure_is_shown_without_pyplot(played: list[Any], line: str) -> None:
    (output,) = cell_that_ends(played, line).outputs
    assert set(output.data) == {"text/plain", "image/png"}
    is_a_picture(b64decode(output.data["image/png"]))
    assert 300 < output.metadata["image/png"]["width"] < 1300


def test_what_a_card_says_is_text_and_no_markup(played: list[Any]) -> None:
    document = Document(data_of(next(cell for cell in played if cell.source == SURPRISES))["text/html"])
    assert not document.all("script")
    assert "<script>alert(1)</script>" in document.text


def test_what_fails_to_draw_is_shown_as_text_and_told_of(played: list[Any]) -> None:
    outputs = next(cell for cell in played if cell.source == BROKEN).outputs
    (displayed,) = [output.data for output in outputs if output.output_type == "display_data"]
    assert displayed == {"text/plain": "Robot('sony_ers7', 20 joints)"}
    assert any("ZeroDivisionError" in str(output) for output in outputs)


def test_the_page_printed_nothing(played: list[Any]) -> None:
    page = [cell for cell in played if cell.source in {source.rstrip() for source in CELLS} | set(CELLS)]
    assert len(page) == len(CELLS)
    assert [output.text for cell in page for output in cell.outputs if output.output_type == "stream"] == []
