"""`posewright chart`, as a person and as a program use it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import posewright
from posewright.cli.app import run

BEHAVIOURS = Path(posewright.__file__).parent / "robots/catalogue/robotis_bioloid/behaviours"
MEALY = str(BEHAVIOURS / "obstacle_mealy.chart.yaml")
TABLE = str(BEHAVIOURS / "obstacle_mealy_table.chart.yaml")
Captured = pytest.CaptureFixture[str]


def said(capsys: Captured, *words: str, code: int = 0) -> str:
    assert run(["chart", *words]) == code
    return capsys.readouterr().out


def answer(capsys: Captured, *words: str, code: int = 0) -> Any:
    return json.loads(said(capsys, *words, "--json", code=code))


def table_csv(capsys: Captured) -> str:
    return said(capsys, "run", TABLE, "--all")


def test_a_sound_chart_is_said_to_be(capsys: Captured) -> None:
    assert "obstacle_mealy: 4 states, 18 transitions: sound" in said(capsys, "check", MEALY)
    found = answer(capsys, "check", MEALY)
    assert found == {"chart": "obstacle_mealy", "sound": True, "proved": True, "findings": []}


def test_all_32_rows_are_the_source_table(capsys: Captured, source_tables: Callable[[str], Path]) -> None:
    source = source_tables("mealy_table_6_5.csv")
    wanted = source.read_text()
    assert said(capsys, "run", MEALY, "--all") == wanted
    assert said(capsys, "run", TABLE, "--all") == wanted
    assert said(capsys, "run", str(source), "--all").replace("\r\n", "\n") == wanted
    data = answer(capsys, "run", MEALY, "--all")
    assert [data["columns"], *(row["cells"] for row in data["rows"])] == [
        x.split(",") for x in wanted.split()
    ]
    assert answer(capsys, "run", MEALY, "--inputs", str(source))["differences"] == 0


def test_minimise_prints_the_documents_rows(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(table_csv(capsys))
    shown = said(capsys, "minimise", str(path))
    assert "states 00 and 01\n  000/11 -> 11\n  001/01 -> 01\n  01X/10 -> 10\n  1XX/01 -> 01\n" in shown
    groups = answer(capsys, "minimise", str(path))["groups"]
    assert groups[1] == {"states": ["10"], "rows": ["000/11", "001/10", "01X/10", "10X/01", "11X/10"]}
    assert "X1X/10" in said(capsys, "minimise", str(path), "--method", "two-level")
    assert "18 rows" in said(capsys, "minimise", str(path), "--order", "best")


def test_minimised_rows_are_written_as_table_or_chart(capsys: Captured, tmp_path: Path) -> None:
    for name in ("small.csv", "small.chart.yaml"):
        said(capsys, "minimise", TABLE, "-o", str(tmp_path / name))
        assert said(capsys, "run", str(tmp_path / name), "--all") == table_csv(capsys)


def test_ticks_from_the_command_line_and_from_a_file_come_out_the_same(
    capsys: Captured, tmp_path: Path
) -> None:
    typed = answer(capsys, "run", MEALY, "--input", "", "--input", "front=1", "--input", "left=1,w=true")
    path = tmp_path / "ticks.csv"
    path.write_text("front,left,right\n0,0,0\n1,0,0\n0,1,1\n")
    filed = answer(capsys, "run", MEALY, "--inputs", str(path))
    assert filed == typed
    assert [tick["state"] for tick in typed["ticks"]] == ["walking", "turning_left", "turning_left"]
    assert typed["ticks"][1] == {
        "tick": 1,
        "time_s": 0.1,
        "from": "walking",
        "inputs": {"front": True, "left": False, "right": False},
        "state": "turning_left",
        "outputs": {"s1": False, "s0": True},
    }


def test_a_run_may_start_in_any_state_by_name_or_code(capsys: Captured) -> None:
    for state in ("turning_right", "10"):
        shown = said(capsys, "run", MEALY, "--input", "u=1", "--from", state)
        assert shown.splitlines()[1].split() == [
            "0",
            "0",
            "turning_right",
            "1",
            "0",
            "0",
            "turning_right",
            "1",
            "0",
        ]


def test_rows_that_expect_something_else_are_told_and_exit_with_1(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(table_csv(capsys).replace("1,0,0,0,1,1,0,1,0", "1,0,0,0,1,0,1,0,1"))
    assert run(["chart", "run", MEALY, "--inputs", str(path)]) == 1
    captured = capsys.readouterr()
    assert "line 19: expected" in captured.err
    assert captured.err.count("\n") == 1


def unsound(tmp_path: Path, capsys: Captured, fault: str) -> str:
    lines = table_csv(capsys).splitlines()
    if fault == "gap":
        del lines[12]
    elif fault == "overlap":
        lines.append("1,1,1,1,1,0,0,0,0")
    else:
        lines = [line.replace(",1,1,1,1", ",0,1,0,1") if line.endswith("1,1,1,1") else line for line in lines]
    path = tmp_path / f"{fault}.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("fault", "case"),
    [
        ("gap", "no transition in 01 with w=0, v=1, u=1"),
        ("overlap", "two guards hold in 11 with w=1, v=1, u=1"),
        ("unreachable", "11 cannot be reached from 00"),
    ],
)
def test_an_unsound_chart_is_refused_with_its_case(
    fault: str, case: str, tmp_path: Path, capsys: Captured
) -> None:
    path = unsound(tmp_path, capsys, fault)
    assert case in said(capsys, "check", path, code=1)
    report = answer(capsys, "check", path, code=1)
    assert report["sound"] is False
    (finding,) = [one for one in report["findings"] if one["level"] == "error"]
    assert finding["rule"] == fault
    assert finding["counterexample"]["state"] == finding["state"]
    for command in (["run", path, "--all"], ["minimise", path], ["table", path]):
        assert run(["chart", *command]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert case in captured.err
        assert captured.err.count("\n") == 1


def test_pictures_are_written_by_the_name_of_the_file(capsys: Captured, tmp_path: Path) -> None:
    said(capsys, "draw", MEALY, "-o", str(tmp_path / "x.svg"), "--active", "walking")
    assert (tmp_path / "x.svg").read_text().startswith("<svg ")
    said(capsys, "draw", MEALY, "-o", str(tmp_path / "x.mmd"))
    assert (tmp_path / "x.mmd").read_text() == said(capsys, "draw", MEALY)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "none.chart.yaml"], "No such file"),
        (["run", MEALY], "expected exactly one source of inputs"),
        (["run", MEALY, "--all", "--input", "front=1"], "--all runs every state"),
        (["run", MEALY, "--input", "fornt=1"], "did you mean front"),
        (["run", MEALY, "--input", "front=2"], "front: '2' is not a bool"),
        (["run", MEALY, "--input", "front"], "has no value"),
        (["run", MEALY, "--input", "front=1", "--from", "walkin"], "did you mean walking"),
        (["draw", MEALY, "-o", "x.png"], "end the name in .svg, .mmd, .md or .txt"),
        (["draw", MEALY, "--labels", "big"], "unknown labels"),
        (["minimise", MEALY, "--method", "best"], "junctions or two-level"),
        (["minimise", MEALY, "--order", "w,v"], "does not name every input once"),
    ],
)
def test_bad_input_is_one_line_and_code_2(words: list[str], message: str, capsys: Captured) -> None:
    assert run(["chart", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_a_wrong_file_of_inputs_is_refused_with_its_line(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "ticks.csv"
    for text, message in (
        ("front,left\n0,0\n", "ticks.csv:1: the input 'right' has no column"),
        ("front,left,right,w\n0,0,0,0\n", "ticks.csv:1: the input 'right' has the columns right, w"),
        ("front,left,right,rear\n", "ticks.csv:1: unknown column 'rear'"),
        ("front,left,right\n0,0,0\n0,0,7\n", "ticks.csv:3: right: '7' is not a bool"),
        ("front,left,right\n0,0\n", "ticks.csv:2: 2 cells in 3 columns"),
        ("q1,q0,w,v,u\n0,2,0,0,0\n", "ticks.csv:2: unknown state '02'"),
        ("", "the file is empty"),
    ):
        path.write_text(text)
        assert run(["chart", "run", MEALY, "--inputs", str(path)]) == 2
        assert message in capsys.readouterr().err
