"""Names from files are shown as they are: `trot[fast]` is a name, and no markup."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from posewright.cli import console
from posewright.cli.app import run
from posewright.cli.judge import print_outcome, print_score
from posewright.contests import LegResult, Penalty, Result
from posewright.display import Table
from posewright.gaits import gait_text, read_gait
from posewright.recordings import Header, Recording, RobotHeader, RobotRecord
from posewright.robots import describe, robot
from posewright.robots.card_tables import card_tables
from posewright.runs import Outcome
from posewright.runs.tuning.report import task_table, values_table
from posewright.search import Dimension

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal in (console.stdout, console.stderr):
        monkeypatch.setattr(terminal, "_width", 300)


@pytest.fixture
def odd_gait(tmp_path: Path) -> str:
    """A gait with a name that looks like markup."""
    path = tmp_path / "own.gait.yaml"
    text = gait_text(read_gait("trot")).replace("gait: trot", 'gait: "trot[fast]"', 1)
    path.write_text(text, encoding="utf-8")
    return str(path)


def render(table: Table) -> str:
    file = io.StringIO()
    Console(file=file, width=300).print(console.render_table(table))
    return file.getvalue()


@pytest.mark.parametrize(
    "command",
    [
        ("show", "--no-check"),
        ("run", "--seconds", "0.3"),
        ("run", "--seconds", "0.3", "--bodies", "1"),
        ("compare", "--seconds", "0.3"),
    ],
)
def test_a_gait_is_called_as_its_document_says(
    odd_gait: str, command: tuple[str, ...], capsys: Captured
) -> None:
    verb, *options = command
    assert run(["gait", verb, odd_gait, *options]) == 0
    assert "trot[fast]" in capsys.readouterr().out


def test_a_name_between_colons_is_no_picture(capsys: Captured) -> None:
    assert run(["gait", "show", "a:dog:b.gait.yaml"]) == 2
    assert "a:dog:b.gait.yaml" in capsys.readouterr().err


def test_a_set_of_bodies_is_called_as_its_path_says(capsys: Captured, tmp_path: Path) -> None:
    bodies = tmp_path / "bodies[same].bodies.yaml"
    bodies.write_text(
        "bodies: same\nranges:\n  mass_scale: {low: 1, high: 1, source: a test}\n", encoding="utf-8"
    )
    assert run(["gait", "run", "trot", "--seconds", "0.3", "--body", str(bodies)]) == 0
    assert "bodies[same].bodies.yaml body of seed 0" in capsys.readouterr().out


def test_progress_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    terminal = Console(file=file, width=100, force_terminal=True)
    monkeypatch.setattr(console, "stderr", terminal)
    monkeypatch.setattr(console, "BAR_DELAY_S", 0.0)
    with console.build_spinner(quiet=False) as display:
        display.add_task("trot[fast]: setting up")
    with console.progress_bar("reading ODA[1]") as on_progress:
        on_progress(1, 2)
    assert "trot[fast]: setting up" in file.getvalue()
    assert "reading ODA[1]" in file.getvalue()


def test_tunings_and_their_numbers_are_called_as_their_documents_say() -> None:
    texts = {"tune": "t[a]", "robot": "r[b]", "gait": "g[c]", "description": "d[e]"}
    counts = dict.fromkeys(("parameters", "walks", "bodies", "generations"), 1)
    table_text = render(task_table([{**texts, **counts}]))
    assert all(word in table_text for word in texts.values())
    assert "speed[fast]" in render(
        values_table([Dimension("speed[fast]", 0.0, 1.0, 0.5)], {"speed[fast]": 0.5})
    )


def test_poses_and_names_of_joints_are_called_as_the_card_says() -> None:
    card = describe(robot("robotis_bioloid"))
    card["poses"]["stand[up]"] = card["poses"]["stand"]
    card["namings"]["others[names]"] = {}
    output = "".join(render(table) for table in card_tables(card))
    assert "stand[up]" in output
    assert "others[names]" in output


LEG = LegResult(1.0, 2.0, 1, 3.0, 3.0, True, 0.0, 1.0, "ended[so]")
RESULT = Result("race[one]", (LEG, LEG), 6.0, 6.0, 0, (Penalty(0.5, 1, "touched[twice]"),))


def empty_recording(robot: str = "r", **texts: str) -> Recording:
    """Return a recording of nothing."""
    controller = texts.pop("controller", "")
    header = Header({robot: RobotHeader(robot, controller, ("knee",))}, **texts)  # type: ignore[arg-type]  # texts
    shapes = {"base": (0, 7), "footprints": (0, 0, 4, 3), "foot_contacts": (0, 0), "box_contacts": (0, 0)}
    shapes |= dict.fromkeys(("positions", "commands", "efforts"), (0, 1))
    rows = {name: np.zeros(shape) for name, shape in shapes.items()}
    record = RobotRecord(header.robots[robot], **rows)  # type: ignore[arg-type]  # flags and numbers
    return Recording(header, np.zeros(0), {robot: record}, np.zeros((0, 0, 7)))


def test_a_result_is_told_in_the_words_of_its_rules(capsys: Captured) -> None:
    print_score(RESULT, "race[one]")
    output = capsys.readouterr().out
    assert "race[one]" in output
    assert "ended[so]" in output


def test_an_outcome_is_told_in_the_words_of_its_documents(capsys: Captured) -> None:
    recording = empty_recording(
        "own[robot]", controller="behaviour mine[2]", contest="race[one]", layout="tight[most]"
    )
    print_outcome(Outcome(recording, RESULT, wall_s=0.0))
    output = capsys.readouterr().out
    for text in (
        "race[one]: behaviour mine[2] on own[robot], layout tight[most]",
        "ended[so]",
        "touched[twice]",
    ):
        assert text in output


def test_judge_tells_a_penalty_as_it_was_noted(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "posewright.recordings.read_mcap", lambda _, **__: empty_recording(contest="obstacle-race")
    )
    monkeypatch.setattr("posewright.contests.judge", lambda *_: RESULT)
    assert run(["judge", "race.mcap"]) == 0
    assert "touched[twice]" in capsys.readouterr().out


def test_a_chart_with_findings_is_called_as_its_path_says(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "mine[bold].chart.yaml"
    path.write_text(
        "chart: c\nkind: mealy\nperiod_s: 0.1\ninputs: {a: bool}\noutputs: {x: bool}\ninitial: one\n"
        "states:\n  one: [{when: a, do: {x: 1}, go: one}]\n",
        encoding="utf-8",
    )
    assert run(["chart", "check", str(path)]) == 1
    assert f"{path}:" in capsys.readouterr().out
