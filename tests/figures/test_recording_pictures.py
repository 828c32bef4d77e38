"""The picture of a recording, whatever was recorded, with what its contest adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import posewright as pw
from posewright.contests import ContestPicture, Mark, MarkKind, Series, Span, contest_of
from posewright.errors import InputError
from posewright.experiments import Outcome
from posewright.figures import draw_recording, film_recording, save_figure
from posewright.figures.field import beam_hits
from posewright.recordings import Recording


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return pw.run_trial("obstacle-race", layout="example_2")


@pytest.fixture(scope="module")
def adds(outcome: Outcome) -> ContestPicture:
    return contest_of(outcome.recording.header).picture(outcome.recording)


def drawn(path: Path, figure: Any) -> str:
    save_figure(figure, path / "picture.svg")
    return unescape((path / "picture.svg").read_text(encoding="utf-8"))


def lines(figure: Any) -> Iterator[str]:
    for axes in figure.axes:
        yield from (str(line.get_label()) for line in axes.lines)


def test_the_same_recording_gives_the_same_picture(
    outcome: Outcome, adds: ContestPicture, tmp_path: Path
) -> None:
    for name in ("a.svg", "b.svg"):
        save_figure(draw_recording(outcome.recording, adds), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_every_state_of_the_chart_is_named_in_the_picture(outcome: Outcome, tmp_path: Path) -> None:
    words = drawn(tmp_path, draw_recording(outcome.recording))
    states = set(outcome.recording.robot().decisions.states)
    assert len(states) > 2
    assert all(f">{state}<" in words for state in states)


def test_a_contest_adds_its_score_its_numbers_and_a_field_for_each_part(
    outcome: Outcome, adds: ContestPicture, tmp_path: Path
) -> None:
    figure = draw_recording(outcome.recording, adds)
    words = drawn(tmp_path, figure)
    assert adds.headline in words
    assert adds.series_title in words
    assert all(series.title in words for series in adds.series)
    assert len(adds.spans) == 2
    assert all(f">{span.label}<" in words for span in adds.spans)
    assert len(figure.axes) == 4  # two fields, states, points


def test_marks_have_their_place_and_their_time(played: Recording) -> None:
    marks = (
        Mark(0.5, 0.1, 0.2, "touch", MarkKind.MILESTONE),
        Mark(0.7, None, None, "fall", MarkKind.PENALTY),
    )
    series = (Series("way", "m", played.times, played.robot().base[:, 0]),)
    figure = draw_recording(
        played, ContestPicture("0 points", marks, series, (Span(0.0, 2.0, "try"),), "way")
    )
    field, states, way = figure.axes
    assert "touch" in {line.get_label() for line in field.lines}
    for axes in (states, way):
        times = {float(np.ravel(line.get_xdata())[0]) for line in axes.lines}
        assert {0.5, 0.7} <= times


def test_a_recording_outside_contests_shows_path_states_and_tilt(played: Recording, tmp_path: Path) -> None:
    words = drawn(tmp_path, draw_recording(played))
    for expected in ("motion hop on sony_ers7", "settle", "tilt of the base", "start", "end"):
        assert expected in words


def test_several_robots_have_a_colour_and_a_name_each(played: Recording, tmp_path: Path) -> None:
    (record,), (header,) = played.robots.values(), played.header.robots.values()
    moved = replace(record, base=record.base + np.array([0.0, 0.3, 0, 0, 0, 0, 0]))
    both = replace(
        played,
        header=replace(played.header, robots={"red": header, "blue": header}),
        robots={"red": record, "blue": moved},
    )
    words = drawn(tmp_path, draw_recording(both))
    for expected in ("path of red", "path of blue", "red: settle", "blue: hold"):
        assert expected in words


def test_paths_can_be_drawn_into_axes_of_ones_own(played: Recording) -> None:
    mine = Figure()
    left, right = mine.subplots(1, 2)
    assert draw_recording(played, ax=right) is mine
    assert not left.lines
    assert {"settle", "start", "end"} <= {line.get_label() for line in right.lines}


def test_beams_end_at_what_they_hit(outcome: Outcome) -> None:
    hits = beam_hits(outcome.recording)
    assert len(hits) > 100
    x, y = outcome.recording.header.arena["size_m"]
    inside = (hits[:, 0] > -0.1) & (hits[:, 0] < x + 0.1) & (abs(hits[:, 1]) < y / 2 + 0.1)
    assert inside.mean() > 0.9
    assert len(beam_hits(outcome.recording, end_s=5.0)) < len(hits)


def test_a_recording_that_does_not_know_where_the_robot_was_cannot_be_drawn(
    played: Recording, tmp_path: Path
) -> None:
    (record,) = played.robots.values()
    lost = replace(played, robots={"sony_ers7": replace(record, base=np.full_like(record.base, np.nan))})
    with pytest.raises(InputError, match="does not say where"):
        draw_recording(lost)
    with pytest.raises(InputError, match="does not say where"):
        film_recording(lost, tmp_path / "lost.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_can_draw")
def test_a_film_shows_the_whole_trial(outcome: Outcome, tmp_path: Path) -> None:
    film_recording(outcome.recording, tmp_path / "race.mp4", size=(160, 120), fps=4.0, speed=8.0)
    assert b"ftyp" in (tmp_path / "race.mp4").read_bytes()[:16]
    assert list(tmp_path.iterdir()) == [tmp_path / "race.mp4"]
