"""Pictures and films are made from a trace alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import posewright as pw
from posewright.errors import InputError
from posewright.experiments import Outcome
from posewright.figures import draw_trial, film_trial


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return pw.run_trial("obstacle-race", layout="example_2")


@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_picture_is_of_the_kind_its_name_says(
    outcome: Outcome, tmp_path: Path, ending: str, magic: bytes
) -> None:
    draw_trial(outcome.trace, tmp_path / f"race{ending}")
    assert (tmp_path / f"race{ending}").read_bytes().startswith(magic)


def test_the_same_trial_gives_the_same_picture(outcome: Outcome, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        draw_trial(outcome.trace, tmp_path / name, outcome.result)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_every_state_of_the_chart_is_named_in_the_picture(outcome: Outcome, tmp_path: Path) -> None:
    draw_trial(outcome.trace, tmp_path / "race.svg")
    drawn = (tmp_path / "race.svg").read_text(encoding="utf-8")
    assert all(state in drawn for state in set(outcome.trace.chart_states))


def test_the_score_says_what_its_curves_are(outcome: Outcome, tmp_path: Path) -> None:
    draw_trial(outcome.trace, tmp_path / "race.svg", outcome.result)
    drawn = (tmp_path / "race.svg").read_text(encoding="utf-8")
    for leg, judged in enumerate(outcome.result.legs, 1):
        assert f"leg {leg}: {judged.raw_points:.2f} points" in drawn
    assert "if the line were crossed now" in drawn


def test_a_film_shows_the_whole_trial(outcome: Outcome, tmp_path: Path) -> None:
    film_trial(outcome.trace, tmp_path / "race.mp4", size=(160, 120), fps=4.0, speed=8.0)
    assert b"ftyp" in (tmp_path / "race.mp4").read_bytes()[:16]
    assert list(tmp_path.iterdir()) == [tmp_path / "race.mp4"]


def test_a_picture_of_no_kind_is_refused_and_nothing_is_written(outcome: Outcome, tmp_path: Path) -> None:
    for draw in (draw_trial, film_trial):
        with pytest.raises(InputError, match="not a kind of"):
            draw(outcome.trace, tmp_path / "race.gif")
    assert list(tmp_path.iterdir()) == []
