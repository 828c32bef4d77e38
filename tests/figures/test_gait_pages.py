"""The picture of a gait: true to what the gait sends, readable at every command, the same bytes again."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import InputError, MissingExtraError, UnknownNameError, UnreachableError
from posewright.figures import draw_gait, draw_parameter, save_figure
from posewright.figures.gait.biped_page import BipedContent
from posewright.figures.gait.content import GaitContent, name_and_changes
from posewright.figures.gait.cycle import down_spans, ground_counts, joint_range
from posewright.figures.gait.feet import base_outline, side_axis, standing_leg
from posewright.figures.gait.head import fastest_line, subtitle
from posewright.figures.gait.page import displayed_legs, half_speed_command, times_line
from posewright.gaits import (
    CRAWL,
    PHASE_TABLES,
    STILL,
    TROT,
    BipedGait,
    ForeHind,
    GaitParameters,
    Interpolation,
    QuadrupedGait,
    QuadrupedGenerator,
    TravelGain,
    VelocityCommand,
    gait_names,
    greatest_speed_m_s,
    read_gait,
)
from posewright.kinematics import biped_legs_of
from posewright.robots import robot

DOG = robot("sony_ers7")
Y, Z = 0.067, -0.115
TROTTING = QuadrupedGait(
    "trotting",
    DOG.name,
    GaitParameters(
        ground_speed_m_s=0.3,
        ascent_pairs=3,
        ground_points=6,
        front_height_m=ForeHind(0.01, 0.012),
        central_height_m=ForeHind(0.012, 0.014),
        rear_height_m=ForeHind(0.01, 0.012),
        shape_factor=0.5,
        ascent_factor=0.3,
        turn_multiplier_rad_m=0.0,
        air_ground_factor=1.0,
        equilibrium_m={
            "left_front": (0.06, Y, Z),
            "right_front": (0.06, -Y, Z),
            "left_rear": (-0.075, Y, Z),
            "right_rear": (-0.075, -Y, Z),
        },
        maximum_displacement_m=0.05,
        maximum_turn_rad=0.4,
    ),
    TROT,
)
CRAWLING = replace(
    TROTTING.with_values({"air_ground_factor": 1 / 3, "ground_speed_m_s": 0.1, "ascent_pairs": 3}),
    name="crawling",
    phases=CRAWL,
)
COMMANDS = {
    "ahead": VelocityCommand(0.15),
    "back": VelocityCommand(-0.25),
    "left": VelocityCommand(left_m_s=0.2),
    "diagonal": VelocityCommand(0.15, -0.12),
    "arc": VelocityCommand(0.1, 0.0, 0.8),
    "turn": VelocityCommand(turn_rad_s=-2.2),
    "most": VelocityCommand(0.29, 0.0, 2.3),
    "still": STILL,
}


ODD = "$x^2$ and \\frac, ÄÖ_ü#1"


def content(command: VelocityCommand = COMMANDS["ahead"], gait: QuadrupedGait = TROTTING) -> GaitContent:
    return GaitContent(gait, DOG, command)


def texts(svg: Path) -> list[str]:
    """Return what is written in a picture."""
    return [unescape(text).strip() for text in re.findall(r"<text[^>]*>(.*?)</text>", svg.read_text("utf-8"))]


phases = st.sampled_from(sorted(PHASE_TABLES))
ways = st.floats(-0.17, 0.17)
commands = st.builds(VelocityCommand, ways, ways, st.floats(-1.5, 1.5))


@settings(max_examples=8, deadline=None)
@given(phases, commands, st.sampled_from([0.0, 4.0]), st.sampled_from(list(Interpolation)))
def test_the_joints_lead_each_foot_through_the_points_it_is_drawn_to_be_told(
    table: str, command: VelocityCommand, multiplier: float, interpolation: Interpolation
) -> None:
    gait = replace(
        TROTTING.with_values({"turn_multiplier_rad_m": multiplier}),
        phases=PHASE_TABLES[table],
        interpolation=interpolation,
        travel_gain=TravelGain(1.2, 1.1, 1.3),
    )
    seen = content(command, gait)
    period = seen.timing.period_s
    for way in seen.feet.values():
        told = np.concatenate([way.air_times, way.ground_times, way.lift_times_of_other_feet])
        apart = (way.executed_times[:, np.newaxis] - told + period / 2) % period - period / 2
        rows, columns = np.nonzero(np.abs(apart) < 1e-9)  # points that fall on a frame
        assert len(rows) >= 2
        np.testing.assert_allclose(
            way.executed_positions[rows], way.planned_positions(told[columns] % period), atol=1e-9
        )


@pytest.mark.parametrize("gait", [TROTTING, CRAWLING], ids=lambda gait: gait.name)
def test_a_cycle_that_is_drawn_is_the_one_that_is_walked_for_ever(gait: QuadrupedGait) -> None:
    seen = content(VelocityCommand(0.05, 0.02, 0.2), gait)
    np.testing.assert_allclose(seen.angles[0], seen.angles[-1], atol=1e-12)
    walker = QuadrupedGenerator(gait, DOG)
    walker.request(seen.command)
    frames = seen.timing.n_frames
    np.testing.assert_allclose(seen.angles[1:], walker.frames(20 * frames)[-frames:], atol=1e-12)


@given(phases, st.sampled_from([1 / 3, 0.5, 1.0, 1.7]))
@settings(max_examples=8, deadline=None)
def test_bars_are_as_long_as_feet_are_down_and_counts_count_them(table: str, factor: float) -> None:
    gait = replace(
        TROTTING.with_values({"air_ground_factor": factor, "ascent_pairs": 1}), phases=PHASE_TABLES[table]
    )
    seen = content(STILL, gait)
    spans = {foot: down_spans(way) for foot, way in seen.feet.items()}
    for foot, way in seen.feet.items():
        assert sum(end - start for start, end in spans[foot]) == pytest.approx(seen.timing.ground_s)
        for time in np.linspace(0.0, seen.timing.period_s, 97)[:-1] + 1e-5:
            is_down = any(start < time < end for start, end in spans[foot])
            assert is_down == ((time - way.lift_off_s) % seen.timing.period_s > seen.timing.air_s)
    told = list(ground_counts(seen))
    assert told[0][0] == 0.0
    assert told[-1][1] == pytest.approx(seen.timing.period_s)
    for start, end, n in told:
        middle = start + 0.3711 * (end - start)  # on no foot's own edge
        assert n == sum(any(low < middle < high for low, high in foot) for foot in spans.values())


def test_a_mirrored_command_draws_mirrored_strokes() -> None:
    command = VelocityCommand(0.1, 0.05, 0.6)
    here, there = content(command).feet, content(command.mirrored).feet
    for left, right in (("left_front", "right_front"), ("left_rear", "right_rear")):
        for place in ("landing_point", "lift_off_point", "equilibrium_m"):
            mirrored = getattr(there[right], place) * (1.0, -1.0, 1.0)
            np.testing.assert_allclose(getattr(here[left], place), mirrored, atol=1e-12)


def test_feet_are_seen_from_the_side_along_which_they_go_further() -> None:
    axes = {name: side_axis(content(command)) for name, command in COMMANDS.items()}
    assert (axes["ahead"], axes["back"], axes["diagonal"], axes["still"], axes["left"]) == (0, 0, 0, 0, 1)


def test_joints_are_shown_of_the_side_that_runs_faster_or_of_the_left() -> None:
    assert displayed_legs(content(COMMANDS["ahead"])) == ("left_rear", "left_front")
    turning = VelocityCommand(0.2, 0.0, 1.5)
    assert displayed_legs(content(turning)) == ("right_rear", "right_front")  # the outer side
    assert displayed_legs(content(turning.mirrored)) == ("left_rear", "left_front")


def test_speeds_are_shares_of_the_cards_greatest() -> None:
    seen = content()
    joint, share = seen.fastest_joint_and_share
    angles = seen.angles[:, DOG.index(joint)]
    fastest = np.abs(np.diff(angles)).max() / DOG.frame_period_s
    assert share == pytest.approx(fastest / DOG.max_speeds[DOG.index(joint)])
    assert share == pytest.approx(seen.speeds.max())


def test_a_range_tells_whether_the_limits_are_kept() -> None:
    knee = "left_rear_knee"
    low = TROTTING.with_values(dict.fromkeys(("rear_height_m", "central_height_m", "front_height_m"), 0.008))
    kept = joint_range(content(STILL, low), knee)
    assert kept.is_within_limits
    assert (kept.lower_deg, kept.upper_deg) == pytest.approx((-25.0, 122.0))
    lifted = TROTTING.with_values({"central_height_m": 0.05, "rear_height_m": 0.04, "front_height_m": 0.04})
    beyond = joint_range(content(STILL, lifted), knee)
    assert not beyond.is_within_limits
    assert beyond.most_deg > 122.0


def test_the_base_is_drawn_between_the_shoulders_with_its_nose_ahead() -> None:
    outline = base_outline(content())
    assert outline[:, 0].max() > 0.065
    assert (outline[:, 0].min(), outline[:, 1].max()) == pytest.approx((-0.065, 0.0625), rel=0.3)
    np.testing.assert_allclose(sorted(outline[:, 1]), sorted(-outline[:, 1]))


@pytest.mark.parametrize("foot", TROTTING.phases.offsets)
def test_a_standing_leg_is_drawn_with_bones_of_their_own_length(foot: str) -> None:
    turned = TROTTING.with_values({"equilibrium_m.fore.y": 0.09, "equilibrium_m.hind.x": -0.1})
    seen = content(STILL, turned)
    shoulder, knee, paw = standing_leg(seen, seen.feet[foot])
    geometry = next(leg for leg in DOG.legs if leg.name == f"{foot}_leg")
    assert np.linalg.norm(knee - shoulder) == pytest.approx(np.linalg.norm(geometry.knee_m))
    assert np.linalg.norm(paw - knee) == pytest.approx(np.linalg.norm(geometry.foot_m))
    np.testing.assert_allclose(
        paw - (0, 0, geometry.foot_radius_m), turned.parameters.equilibrium_m[foot], atol=1e-12
    )


@pytest.fixture(scope="module")
def drawn_twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two pictures of a gait with an odd name: without a command, and at half its greatest speed."""
    folder = tmp_path_factory.mktemp("drawn")
    for name, command in (("none", None), ("half", half_speed_command(TROTTING, DOG))):
        save_figure(draw_gait(replace(TROTTING, name=ODD), command=command), folder / f"{name}.svg")
    return folder / "none.svg", folder / "half.svg"


def test_without_a_command_it_goes_at_half_the_greatest_speed(drawn_twice: tuple[Path, Path]) -> None:
    greatest = greatest_speed_m_s(TROTTING.parameters, content().timing)
    assert half_speed_command(TROTTING, DOG) == VelocityCommand(0.5 * greatest)
    assert f"sony_ers7, {greatest / 2:.3g} m/s forward" in texts(drawn_twice[0])


def test_the_same_gait_gives_the_same_bytes(drawn_twice: tuple[Path, Path]) -> None:
    assert drawn_twice[0].read_bytes() == drawn_twice[1].read_bytes()


def test_a_name_is_written_as_it_is(drawn_twice: tuple[Path, Path]) -> None:
    assert ODD in texts(drawn_twice[0])


@pytest.mark.parametrize(("kind", "mark"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_same_parameter_gives_the_same_bytes_of_each_kind(tmp_path: Path, kind: str, mark: bytes) -> None:
    pictures = [tmp_path / f"{name}.{kind}" for name in ("one", "two")]
    for picture in pictures:
        save_figure(draw_parameter(TROTTING, "shape_factor", [0.5]), picture)
    assert pictures[0].read_bytes().startswith(mark)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_the_head_says_what_is_asked_for() -> None:
    told = subtitle(content(VelocityCommand(-0.1, -0.02, -0.5)))
    assert told == "sony_ers7, 0.1 m/s backwards, 0.02 m/s to the right, 0.5 rad/s turning right"
    assert subtitle(content(STILL)) == "sony_ers7, stepping on the spot"


@pytest.mark.parametrize("gait", gait_names("sony_ers7"))
def test_the_greatest_command_in_the_head_can_be_asked_for(gait: str) -> None:
    walk = QuadrupedGenerator(read_gait(gait), DOG)
    line = times_line(GaitContent(walk.gait, DOG, STILL))
    speed, turn = (float(text) for text in line.partition("at most ")[2].split()[::3])
    walk.request(VelocityCommand(speed))
    walk.request(VelocityCommand(0.0, 0.0, turn))


def test_the_head_names_the_joint_that_is_asked_for_most() -> None:
    assert fastest_line(content(COMMANDS["most"])).startswith("too fast for the servos: the ")
    slow = TROTTING.with_values({"ground_speed_m_s": 0.05})
    assert fastest_line(content(STILL, slow)).startswith("no joint is too fast: the ")


def test_what_cannot_be_walked_is_refused() -> None:
    with pytest.raises(InputError, match="out of range"):
        draw_gait(TROTTING, command=VelocityCommand(2.0))
    with pytest.raises(UnreachableError):
        draw_gait(TROTTING.with_values({"equilibrium_m.fore.z": -0.3}))


def test_the_robot_is_the_gaits_own_or_a_card_or_a_name() -> None:
    labels = {draw_gait(TROTTING, walker).get_label() for walker in (None, DOG, DOG.name)}
    assert len(labels) == 1
    with pytest.raises(UnknownNameError, match="sony_ers7"):
        draw_gait(TROTTING, "sony_ers")


def test_a_parameter_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="shape_factor"):
        draw_parameter(TROTTING, "shape_facter", [0.0, 1.0])
    with pytest.raises(InputError, match="the range is 0 to 1"):
        draw_parameter(TROTTING, "shape_factor", [0.0, 1.5])


def test_one_value_of_a_pair_can_be_drawn_alone(tmp_path: Path) -> None:
    save_figure(draw_parameter(TROTTING, "front_height_m.fore", [0.005, 0.02]), tmp_path / "height.svg")
    assert {"0.005 m", "0.02 m"} <= set(texts(tmp_path / "height.svg"))


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="plot"):
        draw_gait(TROTTING)


def test_drawing_a_gait_needs_no_simulator() -> None:
    program = (
        "import sys; from posewright.gaits import STILL, read_gait; from posewright.robots import robot;"
        "from posewright.figures import draw_gait;"
        "draw_gait(read_gait('trot'), robot('sony_ers7'), command=STILL);"
        "print('mujoco' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert ran.stdout.split() == ["False", "False"]


def test_a_name_of_a_gait_is_no_path_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = read_gait("trot").path
    assert path is not None
    Path("mine.gait.yaml").write_text(path.read_text().replace("gait: trot", "gait: mine"))
    found = replace(
        read_gait("trot").with_values({"ground_speed_m_s": 0.2}), name="mine.gait.yaml", path=None
    )
    assert name_and_changes(found, robot("sony_ers7")) == "mine.gait.yaml"
    own = replace(found, path=Path("mine.gait.yaml"))
    assert "changed: ground_speed_m_s 0.2" in name_and_changes(own, robot("sony_ers7"))


def test_the_name_of_a_gait_is_no_gait_to_draw_a_parameter_of() -> None:
    with pytest.raises(InputError, match="read_gait reads it"):
        draw_parameter("trot", "shape_factor", [0.5])  # type: ignore[arg-type]  # what is tried


def biped_content(command: VelocityCommand) -> BipedContent:
    gait = read_gait("biped")
    assert isinstance(gait, BipedGait)
    return BipedContent(gait, robot("robotis_bioloid"), command)


def test_a_swinging_sole_is_drawn_where_the_joints_put_it() -> None:
    """Its leg has no roll added at the hip, so the joints give its place and its height."""
    content = biped_content(VelocityCommand(0.1, 0.02, 0.3))
    parameters = content.gait.parameters
    lean = parameters.lean_rad
    level = np.array([[np.cos(lean), 0.0, np.sin(lean)], [0.0, 1.0, 0.0], [-np.sin(lean), 0.0, np.cos(lean)]])
    for side, leg in biped_legs_of(content.robot).items():
        sole, _ = leg.forward(leg.pick_angles(content.angles[1:]))
        hip = np.array([leg.hip_m[0] + leg.hip_ahead_m, 0.0, leg.hip_m[2]])
        below_hips = (sole - hip) @ level.T
        is_in_air = content.is_in_air(side)
        assert 0.4 < is_in_air.mean() < 0.6
        heights = below_hips[:, 2] + parameters.hip_height_m - leg.sole_m[2]
        assert np.abs(heights - content.heights_m(side))[is_in_air].max() < 1e-9
        assert np.abs(below_hips[:, :2] - content.sole_poses(side)[:, :2])[is_in_air].max() < 1e-9


def test_the_page_of_a_biped_has_a_panel_for_each_joint_and_says_what_is_too_fast() -> None:
    figure = draw_gait(read_gait("biped"))
    titles = {axes.get_title(loc="left") for axes in figure.axes}
    assert {"hip yaw", "hip roll", "hip pitch", "knee", "ankle pitch", "ankle roll"} <= titles
    assert any("no joint is too fast" in text.get_text() for text in figure.texts)
    hasty = read_gait("biped").with_values({"cycle_s": 0.2, "lift_m": 0.04})
    assert any("too fast for the servos" in text.get_text() for text in draw_gait(hasty).texts)
