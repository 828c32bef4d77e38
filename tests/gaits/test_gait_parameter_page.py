"""docs/gait-parameters.md says what the code says, and its pictures show what it says, in numbers."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.figures.gait.content import FootPath, GaitContent
from posewright.figures.gait.cycle import down_spans
from posewright.figures.gait.parameter import (
    ROWS_OF_PARAMETER,
    height_deviation_mm,
    parameter_variants,
    picture_description,
)
from posewright.gaits.arc import se2_log
from posewright.gaits.command import VelocityCommand
from posewright.gaits.curves import Interpolation
from posewright.gaits.quadruped.parameters import EXPLANATIONS, GaitParameters, ParameterKind

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "gait-parameters.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
FOOT, HEIGHT = "left_front", 0.02


def loaded() -> ModuleType:
    """Return the script that draws the pictures."""
    spec = importlib.util.spec_from_file_location(
        "make_gait_parameters", DOCS / "pictures" / "make_gait_parameters.py"
    )
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


SCRIPT = loaded()


def shown(name: str) -> list[GaitContent]:
    """Return what the three small pictures of a parameter show."""
    return [*parameter_variants(SCRIPT.GAIT, SCRIPT.ROBOT, name, SCRIPT.VALUES[name]).values()]


def of(content: GaitContent, name: str) -> float:
    return float(getattr(content.gait.parameters, name))


def told_height(way: FootPath, when_s: float) -> float:
    return float(way.planned_positions(np.array([when_s]))[0, 2] - way.equilibrium_m[2])


def displacement_below(content: GaitContent) -> Floats:
    """Return how the body moves over the feet while they are down, by where they land and leave."""
    ways = content.feet
    lands, leaves = (
        {foot: getattr(way, place)[:2] for foot, way in ways.items()}
        for place in ("landing_point", "lift_off_point")
    )
    before, after = (ends["left_front"] - ends["right_rear"] for ends in (lands, leaves))
    turn = np.arctan2(before[1], before[0]) - np.arctan2(after[1], after[0])
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    moves = [lands[foot] - rotation @ leaves[foot] for foot in ways]
    np.testing.assert_allclose(moves, [moves[0]] * 4, atol=1e-12)  # no foot slips against another
    return np.array([*moves[0], turn])


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_the_page_says_of_each_parameter_what_the_code_says(name: str) -> None:
    told = EXPLANATIONS[name]
    words = " ".join(SECTIONS[name].split())
    kind = "" if told.kind is ParameterKind.SINGLE else f"; {told.kind.value}"
    assert words.startswith(f"*{told.title}*, {told.range_text}{kind}. {told.sentence} ![")
    assert f"(pictures/gait_parameters/{name}.png)" in words


def test_page_pictures_and_code_know_the_same_parameters() -> None:
    assert list(SECTIONS) == list(EXPLANATIONS) == list(SCRIPT.VALUES) == list(ROWS_OF_PARAMETER)
    assert set(EXPLANATIONS) == set(GaitParameters.__dataclass_fields__)
    assert {path.stem for path in SCRIPT.FOLDER.iterdir()} == set(EXPLANATIONS)


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_each_picture_is_of_the_values_that_the_script_has_now(name: str) -> None:
    path = SCRIPT.FOLDER / f"{name}.png"
    variants = parameter_variants(SCRIPT.GAIT, SCRIPT.ROBOT, name, SCRIPT.VALUES[name])
    assert path.stat().st_size <= 60_000
    with Image.open(path) as picture:
        assert picture.info["Description"] == picture_description(name, variants)


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_the_three_pictures_of_a_parameter_differ_in_it_and_in_nothing_else(name: str) -> None:
    flats = [content.gait.parameters.flat for content in shown(name)]
    assert len(flats) == 3
    changed = {key for flat in flats for key in flat if flat[key] != flats[1][key]}
    assert {key.partition(".")[0] for key in changed} == {name}


def test_ground_speed_is_the_speed_of_the_ground_below_a_foot_in_the_longest_step() -> None:
    for content in shown("ground_speed_m_s"):
        way, frame = content.feet[FOOT], content.robot.frame_period_s
        times, led = way.executed_since_lift
        down = times >= way.timing.air_s
        slope = np.polyfit(times[down], led[down, 0], 1)[0]
        rounding = frame / content.timing.period_s  # of the cycle to whole frames
        assert -slope == pytest.approx(of(content, "ground_speed_m_s"), rel=rounding)
        assert way.landing_point[0] - way.lift_off_point[0] == pytest.approx(0.06)


def test_a_foot_comes_to_its_rear_height_in_so_many_pairs_of_frames() -> None:
    for content in shown("ascent_pairs"):
        way = content.feet[FOOT]
        times, led = way.executed_since_lift
        there = times[np.argmax(led[:, 2] - way.equilibrium_m[2] >= HEIGHT - 1e-9)]
        assert there == pytest.approx(of(content, "ascent_pairs") * 0.016)
        heights = way.planned_positions(way.air_times)[:, 2] - way.equilibrium_m[2]
        leaves_front = way.air_times[heights > HEIGHT - 1e-9][-1]
        assert content.timing.air_s - leaves_front == pytest.approx(of(content, "ascent_pairs") * 0.016)


@pytest.mark.parametrize("interpolation", Interpolation)
def test_the_more_ground_points_the_less_a_foot_strays(interpolation: Interpolation) -> None:
    contents = [
        GaitContent(replace(content.gait, interpolation=interpolation), content.robot, content.command)
        for content in shown("ground_points")
    ]
    strayed = [float(np.abs(height_deviation_mm(content.feet[FOOT])).max()) for content in contents]
    assert strayed[0] > 3.0 * strayed[1] > 6.0 * strayed[2]
    told = [len(content.feet[FOOT].ground_times) for content in contents]
    assert told == [of(content, "ground_points") for content in contents]


def test_the_page_says_how_far_a_foot_strays() -> None:
    two, four, _ = (float(np.abs(height_deviation_mm(c.feet[FOOT])).max()) for c in shown("ground_points"))
    assert f"{two:.1f} mm into the floor with two points, {four:.1f} mm with four" in " ".join(PAGE.split())


@pytest.mark.parametrize(
    ("name", "part"),
    [("rear_height_m", "ascent"), ("central_height_m", "middle"), ("front_height_m", "descent")],
)
def test_each_height_is_that_of_its_own_moment_and_leaves_the_others(name: str, part: str) -> None:
    for content in shown(name):
        timing, way = content.timing, content.feet[FOOT]
        moments = {
            "ascent": timing.ascent_s,
            "middle": timing.air_s / 2,
            "descent": timing.air_s - timing.ascent_s,
        }
        heights = {moment: told_height(way, when) for moment, when in moments.items()}
        value = getattr(content.gait.parameters, name).fore
        assert heights.pop(part) == pytest.approx(value)
        assert list(heights.values()) == pytest.approx([HEIGHT, HEIGHT])


def test_the_rear_height_is_the_most_of_the_curve_at_its_rear_end() -> None:
    for content in shown("rear_height_m"):
        way = content.feet[FOOT]
        times, led = way.executed_since_lift
        at_the_rear = times <= content.timing.ascent_s + 1e-9
        most = (led[at_the_rear, 2] - way.equilibrium_m[2]).max()
        assert most == pytest.approx(content.gait.parameters.rear_height_m.fore, abs=1e-9)


def test_the_shape_goes_from_straight_lines_to_half_an_ellipse() -> None:
    ways = [content.feet[FOOT] for content in shown("shape_factor")]
    times = np.linspace(0.0, ways[0].timing.air_s, 101)[:-1]
    straight, between, round_ = (way.planned_positions(times) for way in ways)
    half = (ways[0].landing_point[0] - ways[0].lift_off_point[0]) / 2.0
    along = (round_[:, 0] - ways[0].equilibrium_m[0]) / half
    height = (round_[:, 2] - ways[0].equilibrium_m[2]) / HEIGHT
    np.testing.assert_allclose(along**2 + height**2, 1.0, atol=1e-9)
    np.testing.assert_allclose(between, (straight + round_) / 2.0, atol=1e-12)
    over = (times > ways[0].timing.ascent_s) & (times < ways[0].timing.air_s - ways[0].timing.ascent_s)
    np.testing.assert_allclose(straight[over, 2] - ways[0].equilibrium_m[2], HEIGHT, atol=1e-12)


def test_the_ascent_goes_from_a_square_to_a_diamond() -> None:
    for content, share in zip(shown("ascent_factor"), (0.0, 0.5, 1.0), strict=True):
        way, timing = content.feet[FOOT], content.timing
        corners = way.planned_positions(np.array([timing.ascent_s, timing.air_s - timing.ascent_s]))[:, 0]
        ends, middle = np.array([way.lift_off_point[0], way.landing_point[0]]), way.equilibrium_m[0]
        np.testing.assert_allclose(corners, ends + share * (middle - ends), atol=1e-12)


def test_the_turn_multiplier_is_a_turn_for_every_metre_ahead() -> None:
    for content in shown("turn_multiplier_rad_m"):
        assert content.command.turn_rad_s == 0.0
        forward, left, turn = se2_log(displacement_below(content))
        assert turn / forward == pytest.approx(of(content, "turn_multiplier_rad_m"), abs=1e-9)
        assert left == pytest.approx(0.0, abs=1e-12)


def test_the_air_ground_factor_is_the_time_in_the_air_for_the_time_down() -> None:
    for content in shown("air_ground_factor"):
        way, wanted = content.feet[FOOT], of(content, "air_ground_factor")
        down = sum(end - start for start, end in down_spans(way))
        assert (content.timing.period_s - down) / down == pytest.approx(wanted)
        aloft = int(
            (way.executed_since_lift[1][:, 2] - way.equilibrium_m[2] > 5e-4).sum()
        )  # what the joints do
        frames = content.timing.n_frames
        assert abs(aloft - frames * wanted / (1.0 + wanted)) < 2.0


def test_equilibrium_points_are_where_feet_stand_and_the_middle_of_their_strokes() -> None:
    stands = []
    for content in shown("equilibrium_m"):
        for foot, way in content.feet.items():
            point = np.array(content.gait.parameters.equilibrium_m[foot])
            standing = way.leg.forward(content.standing_pose[list(way.leg.indices)])
            np.testing.assert_allclose(standing - (0.0, 0.0, way.leg.foot_radius_m), point, atol=1e-12)
            np.testing.assert_allclose((way.landing_point + way.lift_off_point) / 2.0, point, atol=1e-12)
        stands.append(np.abs(content.feet[FOOT].equilibrium_m))
    assert np.all(np.diff(stands, axis=0) * (1.0, 1.0, -1.0) > 0.0)  # further ahead, further out, higher up


def test_the_maximum_displacement_is_the_longest_stroke_and_more_is_refused() -> None:
    for content in shown("maximum_displacement_m"):
        longest = of(content, "maximum_displacement_m")
        for way in content.feet.values():
            assert np.hypot(*(way.landing_point - way.lift_off_point)[:2]) == pytest.approx(longest)
        assert displacement_below(content) == pytest.approx([longest, 0.0, 0.0], abs=1e-12)
        more = VelocityCommand(left_m_s=1.001 * content.command.forward_m_s)
        with pytest.raises(InputError, match="out of range"):
            assert GaitContent(content.gait, content.robot, more).angles.size


def test_the_maximum_turn_is_the_largest_turn_of_a_ground_phase_and_more_is_refused() -> None:
    for content in shown("maximum_turn_rad"):
        assert displacement_below(content) == pytest.approx(
            [0.0, 0.0, of(content, "maximum_turn_rad")], abs=1e-12
        )
        more = VelocityCommand(turn_rad_s=1.001 * content.command.turn_rad_s)
        with pytest.raises(InputError, match="out of range"):
            assert GaitContent(content.gait, content.robot, more).angles.size


def test_the_program_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "gait-parameters.md", "exec"), {})  # noqa: S102 - the page's own example
    assert (tmp_path / "shape_factor.png").stat().st_size > 5_000
