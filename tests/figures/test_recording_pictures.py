"""The picture of a recording, whatever was recorded, with what its contest adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

import posewright as pw
from posewright.arenas import Arena, arena
from posewright.arrays import Floats
from posewright.contests import ContestPicture, Mark, MarkKind, Series, Span, contest_of, find_arena
from posewright.control import Block
from posewright.errors import InputError
from posewright.figures import draw_recording, film_recording, save_figure
from posewright.figures.field import beam_hits
from posewright.figures.film import plan_close_up
from posewright.figures.playback import playback_of_recording
from posewright.figures.style import COLOURS, SERIES, colours_of, displayed_states
from posewright.recordings import Decisions, Event, Recording
from posewright.rotation import quaternion_product
from posewright.runs import Outcome
from posewright.runs.batch_trials import sketch_of


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
        save_figure(draw_recording(outcome.recording, contest=adds), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_every_state_of_the_chart_is_named_in_the_picture(outcome: Outcome, tmp_path: Path) -> None:
    words = drawn(tmp_path, draw_recording(outcome.recording))
    states = set(outcome.recording.robot().decisions.states)
    assert len(states) > 2
    assert all(f">{state}<" in words for state in states)


def test_a_contest_adds_its_score_its_numbers_and_a_field_for_each_part(
    outcome: Outcome, adds: ContestPicture, tmp_path: Path
) -> None:
    figure = draw_recording(outcome.recording, contest=adds)
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
        played, contest=ContestPicture("0 points", marks, series, (Span(0.0, 2.0, "try"),), "way")
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


def test_robots_named_after_colours_are_drawn_in_them() -> None:
    colours = colours_of(["red", "blue"])
    red = to_rgb(colours["red"])
    blue = to_rgb(colours["blue"])
    assert red[0] > 2 * max(red[1:])
    assert blue[2] > 2 * blue[0]
    assert colours_of(["blue", "red", "green"])["red"] == colours["red"]


def test_a_state_has_the_same_colour_in_every_race(outcome: Outcome) -> None:
    recording = outcome.recording
    (record,) = recording.robots.values()
    decisions = record.decisions
    n_short = decisions.states.index("turning_left") + 1  # before others of its states

    def colour_of(state: str, drawn_recording: Recording) -> str:
        figure = draw_recording(drawn_recording)
        (colour,) = {
            to_hex(line.get_color())
            for axes in figure.axes
            for line in axes.lines
            if line.get_label() == state
        }
        return colour

    states = tuple("waiting" if i >= n_short else state for i, state in enumerate(decisions.states))
    short = replace(record, decisions=replace(decisions, states=states))
    name = next(iter(recording.robots))
    short_race = replace(recording, robots={name: short})
    assert set(states) < set(decisions.states)
    for state in set(states) - {"waiting"}:
        assert colour_of(state, short_race) == colour_of(state, recording)
    # with more states than colours, those that are drawn still differ
    many = [f"state {i:02}" for i in range(25)]
    assert len(set(colours_of(many[::4], many).values())) == 7


def _in_the_ring(recording: Recording, *names: str) -> Recording:
    """Return a recording of one robot on a bare floor as one of several robots in the middle of a ring."""
    (record,) = recording.robots.values()
    (robot_header,) = recording.header.robots.values()
    base = record.base.copy()
    base[:, :2] += np.array([1.25, 0.0]) - base[0, :2]
    header = replace(
        recording.header, arena=find_arena("sumo").to_dict(), robots=dict.fromkeys(names, robot_header)
    )
    return replace(recording, header=header, robots=dict.fromkeys(names, replace(record, base=base)))


def test_only_the_floor_around_everything_is_left_out_of_a_picture(
    outcome: Outcome, played: Recording
) -> None:
    axes = Figure().subplots()
    draw_recording(outcome.recording, ax=axes)
    assert axes.get_xlim() == pytest.approx((-0.06, 2.56))  # walls stand around all of the field of 2.5 m
    axes = Figure().subplots()
    draw_recording(_in_the_ring(played, "red"), ax=axes)
    assert axes.get_xlim() == pytest.approx((0.44, 2.06))  # the ring of 1.5 m at 1.25 m, and 6 cm around it


def test_the_small_field_of_a_report_has_the_arenas_shapes_and_colours(played: Recording) -> None:
    sketch = sketch_of(_in_the_ring(played, "red", "blue"))
    (_, floor), (edge, white), (_, green), *_ = sketch["areas"]
    assert "a75.0 75.0" in edge  # a circle of 150 cm, not a square
    assert white == "#ffffff"
    channels = to_rgb(green)
    assert channels[1] > max(channels[0], channels[2])
    assert max(to_rgb(floor)) - min(to_rgb(floor)) < 0.03  # grey around it
    red, blue = (to_rgb(colour) for _, colour in sketch["paths"])
    assert red[0] > max(red[1:])
    assert blue[2] > max(blue[:2])


def test_the_ground_of_a_sumo_ring_is_green(played: Recording) -> None:
    ring = find_arena("sumo")
    axes = Figure().subplots()
    draw_recording(replace(played, header=replace(played.header, arena=ring.to_dict())), ax=axes)
    greens = [face for face in (patch.get_facecolor() for patch in axes.patches) if face[1] > face[0] + 0.1]
    assert greens


def test_paths_can_be_drawn_into_axes_of_ones_own(played: Recording) -> None:
    mine = Figure()
    left, right = mine.subplots(1, 2)
    assert draw_recording(played, ax=right) is mine
    assert not left.lines
    assert {"settle", "start", "end"} <= {line.get_label() for line in right.lines}


def from_faces(recording: Recording, points: Floats) -> Floats:
    """Return how far points lie from the nearest face of a box or of the field's walls [m]."""
    arena = Arena.from_dict(recording.header.arena)
    found = [np.abs(points[:, :1] - (0.0, arena.size_x)), np.abs(np.abs(points[:, 1:]) - arena.size_y / 2)]
    for x, y, yaw in recording.header.boxes:
        away = (points - (x, y)) @ [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
        beyond = np.abs(away) - np.array(arena.box_sizes[0][:2]) / 2.0
        outside, inside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1), np.minimum(beyond.max(axis=1), 0.0)
        found.append((outside - inside)[:, np.newaxis])
    nearest: Floats = np.concatenate(found, axis=1).min(axis=1)
    return nearest


def test_beams_end_at_what_they_hit(outcome: Outcome) -> None:
    hits = beam_hits(outcome.recording)
    assert len(hits) > 100
    assert np.quantile(from_faces(outcome.recording, hits), 0.98) < 0.02
    assert len(beam_hits(outcome.recording, end_s=5.0)) < len(hits)


class EndsEarly:
    """Ends a trial after 15 s."""

    def watch(self, block: Block) -> bool:
        return bool(block.states.times[-1] >= 15.0)


def test_beams_of_a_head_that_turns_end_at_faces_too() -> None:
    outcome = pw.run_trial("dog-crossing", layout="random", seed=9, make_watcher=lambda _plant: EndsEarly())
    recording = outcome.recording
    assert recording.robot().header.sensors["infrared_far"]["link"] == "head"
    hits = beam_hits(recording)
    assert np.ptp(hits[:, 1]) > 1.5
    assert np.quantile(from_faces(recording, hits), 0.98) < 0.02


def with_a_sensor(played: Recording, card: dict[str, Any], read: float) -> Recording:
    """Return a recording whose robot stands turned and leaning; its one sensor always reads alike."""
    record = played.robot()
    yaw, pitch = np.array([np.cos(0.4), 0, 0, np.sin(0.4)]), np.array([np.cos(0.1), 0, np.sin(0.1), 0])
    base = np.tile([1.0, 0.2, 0.3, *quaternion_product(yaw, pitch)], (len(record), 1))
    readings = {"eye": np.full((len(record.decisions), 1), read)}
    header = replace(record.header, sensors={"eye": {"kind": "range", "max_range_m": 2.0, **card}})
    decisions = replace(record.decisions, sensors=readings)
    robots = {"sony_ers7": replace(record, header=header, base=base, decisions=decisions)}
    return replace(played, header=replace(played.header, robots={"sony_ers7": header}), robots=robots)


def test_a_beam_begins_at_its_mount_and_leans_with_the_robot(played: Recording) -> None:
    left = (0.1, 0.05, 0.0, np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    hits = beam_hits(with_a_sensor(played, {"base_pose": left}, 0.5))
    ahead, aside = np.array([np.cos(0.8), np.sin(0.8)]), np.array([-np.sin(0.8), np.cos(0.8)])
    wanted = np.array([1.0, 0.2]) + 0.1 * np.cos(0.2) * ahead + 0.55 * aside
    assert len(hits) == len(played.robot().decisions)
    np.testing.assert_allclose(hits, np.tile(wanted, (len(hits), 1)), atol=1e-9)


@pytest.mark.parametrize(
    ("card", "read"),
    [
        ({"base_pose": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)}, 2.0),
        ({"base_pose": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)}, 0.3 / np.sin(0.2)),
        ({"base_pose": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), "min_range_m": 0.2}, 0.2),
        ({}, 0.5),
    ],
    ids=["met nothing", "met the floor", "nearer than it can tell", "sits nobody knows where"],
)
def test_what_is_no_hit_is_left_out(played: Recording, card: dict[str, Any], read: float) -> None:
    assert not len(beam_hits(with_a_sensor(played, card, read)))


def test_everything_that_is_named_lies_inside_the_figure(played: Recording) -> None:
    record = played.robot()
    times = np.linspace(0.0, played.duration_s, 48)
    states = tuple(f"a_state_with_a_long_name_{n % 12}" for n in range(48))
    empty = ({},) * 48
    decisions = Decisions(times, states, empty, empty, (None,) * 48)
    figure = draw_recording(replace(played, robots={"sony_ers7": replace(record, decisions=decisions)}))
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box, page = legend.get_window_extent(), figure.bbox
    assert page.x0 <= box.x0 < box.x1 <= page.x1
    assert page.y0 <= box.y0 < box.y1 <= page.y1
    assert [text.get_text() for text in legend.get_texts()].count("other states") == 1
    assert len(legend.get_texts()) == 8 + 1 + 2


def test_of_a_chart_with_regions_the_one_with_most_states_is_shown_or_the_calmest() -> None:
    assert displayed_states(["left+ahead", "right+ahead", "left+turning", ""]) == [
        "ahead",
        "ahead",
        "turning",
        "",
    ]
    assert displayed_states(["waiting", "a+x", "b+x"]) == ["waiting", "a", "b"]


@pytest.mark.parametrize("walls", [4, 0])
def test_walls_are_drawn_where_an_arena_has_some(played: Recording, walls: int) -> None:
    field = arena()
    shapes = field.shapes if walls else field.lines
    header = replace(played.header, arena=replace(field, shapes=shapes).to_dict())
    (paths, *_) = draw_recording(replace(played, header=header)).axes
    grey = [patch for patch in paths.patches if to_hex(patch.get_edgecolor()) == "#888888"]
    assert len(grey) == walls


def without_a_place(played: Recording) -> Recording:
    (record,) = played.robots.values()
    return replace(played, robots={"sony_ers7": replace(record, base=np.full_like(record.base, np.nan))})


def test_where_nobody_knew_the_place_states_joints_and_faults_are_drawn(
    played: Recording, tmp_path: Path
) -> None:
    lost = replace(without_a_place(played), events=(Event(0.7, "fault", {"fault": "late"}),))
    figure = draw_recording(lost)
    states, joints = figure.axes
    assert {0.7} <= {float(np.ravel(line.get_xdata())[0]) for line in states.lines}
    assert len(joints.lines) == 2 * 6 + 1
    words = drawn(tmp_path, figure)
    assert all(word in words for word in ("settle", "joints that move most", ">fault<"))


def test_several_robots_are_named_in_the_title_and_all_seen(played: Recording) -> None:
    (record,), (header,) = played.robots.values(), played.header.robots.values()
    far = replace(record, base=record.base + np.array([0.0, 3.0, 0, 0, 0, 0, 0]))
    both = replace(
        played,
        header=replace(played.header, robots={"red": header, "blue": header}),
        robots={"red": record, "blue": far},
    )
    assert "red (motion hop on sony_ers7), blue" in str(draw_recording(both).get_label())
    playback = playback_of_recording(both)
    near = plan_close_up(playback, playback.poses_at(both.times), "side", 4 / 3, is_steady=True)
    middle = record.base[:, :2].mean(axis=0) + np.array([0.0, 1.5])
    np.testing.assert_allclose(near.target, middle, atol=0.1)
    assert near.distance_m > 3.0


def test_paths_and_films_need_a_place(played: Recording, tmp_path: Path) -> None:
    lost = without_a_place(played)
    with pytest.raises(InputError, match="has no positions of the robot"):
        draw_recording(lost, ax=Figure().subplots())
    with pytest.raises(InputError, match="has no positions of the robot"):
        film_recording(lost, tmp_path / "lost.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_can_draw")
def test_a_film_shows_the_whole_trial(outcome: Outcome, tmp_path: Path) -> None:
    film_recording(outcome.recording, tmp_path / "race.mp4", size=(160, 120), fps=4.0, speed=8.0)
    assert b"ftyp" in (tmp_path / "race.mp4").read_bytes()[:16]
    assert list(tmp_path.iterdir()) == [tmp_path / "race.mp4"]


def test_boxes_are_counted_from_one_and_every_stroke_is_named(outcome: Outcome, adds: ContestPicture) -> None:
    figure = draw_recording(outcome.recording, contest=adds)
    numbers = [text.get_text() for text in figure.axes[0].texts if text.get_text().isdigit()]
    assert numbers == [str(n + 1) for n in range(outcome.recording.boxes.shape[1])]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    states = [state for state in dict.fromkeys(outcome.recording.robot().decisions.states) if state in named]
    assert named[: len(states)] == states
    assert {"start", "end", "where it looks, and when", "what range sensors hit"} <= set(named)
    for handle, name in zip(figure.legends[0].legend_handles, named, strict=True):
        if name.startswith("end of leg"):  # on the field a sign, over time a dashed line: named as one
            assert (handle.get_marker(), handle.get_linestyle()) == ("D", "--")  # type: ignore[union-attr]


def test_no_colour_of_a_state_is_one_of_numbers_over_time() -> None:
    assert set(COLOURS).isdisjoint(SERIES)
    assert len(set(COLOURS)) == len(COLOURS)


def test_of_a_long_run_what_is_long_past_is_paler_and_short_states_are_merged(played: Recording) -> None:
    figure = draw_recording(replace(played, times=played.times * 100.0))
    alphas = {line.get_alpha() for line in figure.axes[0].lines} - {None}
    assert len(alphas) > 3
    assert "paler: earlier" in [text.get_text() for text in figure.legends[0].get_texts()]
    bars = sum(len(one.get_paths()) for one in figure.axes[1].collections)
    assert bars < 12
