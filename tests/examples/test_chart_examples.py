"""The ten example charts: sound without a warning, tried, drawn, each with a page that can be followed."""

from __future__ import annotations

import re
import shlex
import shutil
from itertools import combinations
from pathlib import Path

import pytest

from posewright.charts import Level, check_chart, equivalent, read_chart, read_scenario, run_scenario
from posewright.cli.app import run

EXAMPLES = Path(__file__).parents[2] / "examples/charts"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/README.md"))
CHARTS = sorted(EXAMPLES.glob("*/*.chart.yaml"))
DOCUMENT = sorted((EXAMPLES / "document").glob("*.chart.yaml"))
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)

FOLDER = pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
SCENARIO = pytest.mark.parametrize(
    "path",
    sorted(EXAMPLES.glob("*/scenarios/*.yaml")),
    ids=lambda path: f"{path.parts[-3]}-{path.name[:-14]}",
)


def test_there_are_ten() -> None:
    assert len(FOLDERS) == 10
    assert all(any(chart.parent == folder for chart in CHARTS) for folder in FOLDERS)


@FOLDER
def test_the_page_can_be_followed_word_by_word(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So the check says that it is sound and no word more, and the picture is up to date."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "diagram.svg").unlink()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for command, answer in COMMAND.findall(
        "\n".join(CONSOLE.findall((folder / "README.md").read_text("utf-8")))
    ):
        assert run(shlex.split(command)[1:]) == 0, command
        said, shown = capsys.readouterr().out.splitlines(), answer.strip().splitlines()
        assert said == shown if "..." not in shown else {*shown} - {"..."} <= {*said}, command
    assert (tmp_path / "diagram.svg").read_bytes() == (folder / "diagram.svg").read_bytes()


@FOLDER
def test_the_page_asks_for_the_check_and_the_scenarios_of_its_chart(folder: Path) -> None:
    commands = [one.split()[2:4] for one, _ in COMMAND.findall((folder / "README.md").read_text("utf-8"))]
    name = next(name for verb, name in commands if verb == "check")
    assert {"check", "test", "draw"} <= {verb for verb, named in commands if named == name}
    assert "![" in (folder / "README.md").read_text("utf-8")


@SCENARIO
def test_the_scenario_comes_out_as_expected(path: Path) -> None:
    scenario = read_scenario(path)
    assert scenario.name == path.name.removesuffix(".scenario.yaml")
    assert scenario.description
    result = run_scenario(read_chart(path.parent / scenario.chart), scenario)
    assert [str(failure) for failure in result.failures] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_there_are_two_to_five_scenarios_and_the_page_names_each(folder: Path) -> None:
    names = [path.name.removesuffix(".scenario.yaml") for path in (folder / "scenarios").glob("*.yaml")]
    text = (folder / "README.md").read_text("utf-8")
    assert 2 <= len(names) <= 5
    assert [name for name in names if name not in text and folder.name != "document"] == []


@pytest.mark.parametrize("path", DOCUMENT, ids=lambda path: path.name)
def test_the_documents_machine_is_sound_however_it_is_written(path: Path) -> None:
    assert [one for one in check_chart(read_chart(path)) if one.level is not Level.NOTE] == []
    for scenario in (EXAMPLES / "document/scenarios").glob("*.yaml"):
        assert run_scenario(read_chart(path), scenario).passed


@pytest.mark.parametrize(("one", "other"), [*combinations(DOCUMENT, 2)], ids=lambda path: path.name)
def test_the_documents_machine_is_one_however_it_is_written(one: Path, other: Path) -> None:
    assert equivalent(read_chart(one), read_chart(other), every_state=True)


def test_the_files_beside_the_robot_are_the_same() -> None:
    shipped = EXAMPLES.parents[1] / "src/posewright/robots/catalogue/robotis_bioloid/behaviours"
    for name in ("obstacle_mealy.chart.yaml", "obstacle_mealy_table.chart.yaml"):
        assert (EXAMPLES / "document" / name).read_bytes() == (shipped / name).read_bytes()
