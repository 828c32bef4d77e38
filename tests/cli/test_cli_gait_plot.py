"""`posewright gait plot`, as a person uses it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from posewright.cli.app import run
from posewright.figures.gait.content import GaitContent
from posewright.figures.gait.page import half_speed_command
from posewright.gaits import VelocityCommand, gait_names

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Note what is to be drawn instead of drawing it, which takes its time."""
    calls: list[tuple[Any, ...]] = []

    def draw(*given: Any, command: VelocityCommand | None) -> tuple[Any, ...]:
        return (*given, command)

    monkeypatch.setattr("posewright.figures.draw_gait", draw)
    monkeypatch.setattr("posewright.figures.save_figure", lambda drawn, path: calls.append((*drawn, path)))
    return calls


def asked(drawn: list[tuple[Any, ...]], *words: str) -> VelocityCommand | None:
    assert run(["gait", "plot", "trot", *words, "-o", "gait.svg"]) == 0
    ((_, _, command, _),) = drawn
    return command  # type: ignore[no-any-return]


def test_a_gait_is_drawn(tmp_path: Path, capsys: Captured) -> None:
    picture = tmp_path / "crawl.png"
    assert run(["gait", "plot", "crawl", "-o", str(picture)]) == 0
    assert capsys.readouterr().out == f"crawl -> {picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("gait", gait_names("sony_ers7"))
def test_each_gait_that_ships_can_be_drawn(drawn: list[tuple[Any, ...]], gait: str) -> None:
    assert run(["gait", "plot", gait, "-o", "gait.png"]) == 0
    ((opened, card, command, path),) = drawn
    assert (opened.name, card.name, command, path) == (gait, "sony_ers7", None, Path("gait.png"))
    seen = GaitContent(opened, card, half_speed_command(opened, card))
    assert all(way.executed_positions.shape == (seen.timing.n_frames + 1, 3) for way in seen.feet.values())


def test_what_is_asked_for_is_drawn(drawn: list[tuple[Any, ...]]) -> None:
    words = ["--forward", "0.05", "--left", "-0.02", "--turn", "0.3"]
    assert asked(drawn, *words) == VelocityCommand(0.05, -0.02, 0.3)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ([], None),
        (["--turn", "0.3"], VelocityCommand(turn_rad_s=0.3)),
        (["--left", "0.02"], VelocityCommand(left_m_s=0.02)),
        (["--forward", "0"], VelocityCommand()),
    ],
)
def test_only_without_any_command_it_walks_ahead(
    drawn: list[tuple[Any, ...]], words: list[str], command: VelocityCommand | None
) -> None:
    assert asked(drawn, *words) == command


def test_set_changes_what_is_drawn(drawn: list[tuple[Any, ...]]) -> None:
    asked(drawn, "--set", "shape_factor=0.25", "--set", "travel_gain.left=1.5")
    ((gait, *_),) = drawn
    assert (gait.parameters.shape_factor, gait.travel_gain.left) == (0.25, 1.5)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "trot -o gait.jpg",
            r"gait\.jpg: '\.jpg' is not the ending of a picture \(end the name in \.png, \.svg or \.pdf\)",
        ),
        ("trot --forward 9 -o gait.png", r"9 m/s is out of range \(this gait goes at 0 to "),
        ("trot --turn nan -o gait.png", r"turn_rad_s is nan \(use a finite number\)"),
        ("trott -o gait.png", r"trot"),
        ("trot --set shape_factor=2 -o gait.png", r"shape_factor is 2 \(the range is 0 to 1\)"),
        ("trot --set shape=1 -o gait.png", r"shape"),
        ("trot -o missing/folder/gait.png", r"missing"),
    ],
)
def test_what_cannot_be_drawn_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, words: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["gait", "plot", *words.split()]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.search(told, captured.err)
    assert len(captured.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_gait_is_not_overwritten_by_its_picture(tmp_path: Path, capsys: Captured) -> None:
    own = tmp_path / "mine.gait.yaml"
    shipped = Path(__file__).parents[2] / "src/posewright/robots/catalogue/sony_ers7/gaits/trot.gait.yaml"
    own.write_bytes(shipped.read_bytes())
    (tmp_path / "gait.png").hardlink_to(own)
    assert run(["gait", "plot", str(own), "-o", str(tmp_path / "gait.png")]) == 2
    assert "this file is an input of the command" in capsys.readouterr().err
    assert own.read_bytes() == shipped.read_bytes()
