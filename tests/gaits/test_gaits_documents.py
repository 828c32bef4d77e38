"""Gaits as documents: read with lines, refused with ranges, written over with a person's comments kept."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import DocumentError, InputError, PosewrightError, UnknownNameError
from posewright.gaits import (
    EXPLANATIONS,
    FEET,
    PHASE_TABLES,
    FeedbackGains,
    Interpolation,
    ParameterKind,
    PhaseTable,
    QuadrupedGait,
    QuadrupedGenerator,
    TravelGain,
    Trim,
    VelocityCommand,
    check_gait,
    gait_names,
    gait_text,
    phase_table,
    read_gait,
    read_gait_and_robot,
    timing_of,
    write_gait,
)
from posewright.gaits.quadruped.phases import CUSTOM
from posewright.gaits.reading import parse_gait
from posewright.robots import Robot, robot

from .walks import ERS7, EXAMPLE, FRAME_S

PLAIN = """\
gait: plain
robot: sony_ers7
phases: trot
parameters:
  ground_speed_m_s: 0.3
  ascent_pairs: 2
  ground_points: 6
  front_height_m: 0.01
  central_height_m: {fore: 0.012, hind: 0.013}
  rear_height_m: 0.01
  shape_factor: 0.5
  ascent_factor: 0.3
  turn_multiplier_rad_m: 0
  air_ground_factor: 1
  equilibrium_m: {fore: [0.06, 0.067, -0.115], hind: [-0.075, 0.067, -0.115]}
  maximum_displacement_m: 0.05
  maximum_turn_rad: 0.4
"""

NAMES = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters="/\\"), min_size=1, max_size=12
)


@st.composite
def legal_gaits(draw: st.DrawFn) -> QuadrupedGait:
    """Draw any gait that may be written: every value from all of its range."""
    flat = {}
    for name in EXAMPLE.parameters.flat:
        told = EXPLANATIONS[name.partition(".")[0]]
        whole = st.integers(int(told.low), int(told.high))
        flat[name] = draw(whole if told.is_whole else st.floats(told.low, told.high))
    for end in ("fore", "hind"):
        if draw(st.booleans()):
            for axis in "xyz":
                flat[f"equilibrium_m.{end}.{axis}"] = draw(st.floats(-0.4, 0.4))
    gain = st.floats(0.2, 3.0)
    lift = draw(st.tuples(*[st.floats(0.0, 0.999)] * 4))
    table = draw(st.sampled_from(sorted(PHASE_TABLES)).map(PHASE_TABLES.__getitem__))
    gait = replace(
        EXAMPLE,
        name=draw(NAMES),
        description=draw(st.text(max_size=20)),
        source=draw(st.text(max_size=20)),
        parameters=EXAMPLE.parameters.with_values({**flat, "ascent_pairs": 1}),
        phases=draw(st.sampled_from([table, PhaseTable(CUSTOM, dict(zip(FEET, lift, strict=True)))])),
        interpolation=draw(st.sampled_from(Interpolation)),
        pose=draw(st.sampled_from(sorted(ERS7.poses))),
        travel_gain=TravelGain(draw(gain), draw(gain), draw(gain)),
        trim=Trim(draw(st.floats(-0.1, 0.1)), turn_rad_m=draw(st.floats(-10.0, 10.0))),
        feedback=FeedbackGains(draw(st.sampled_from((0.0, 1.5))), draw(st.floats(0.0, 6.0))),
        path=None,
    )
    try:
        timing_of(gait.parameters, FRAME_S)
    except InputError:
        return replace(gait, parameters=EXAMPLE.parameters)
    return gait


def same(one: QuadrupedGait, other: QuadrupedGait) -> bool:
    """Tell whether two gaits say the same, wherever they come from."""
    return replace(one, path=None).__dict__ == replace(other, path=None).__dict__


@given(legal_gaits())
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_read_again(gait: QuadrupedGait) -> None:
    again, card = parse_gait(gait_text(gait))
    assert card is ERS7
    assert same(again, gait)
    assert gait_text(again) == gait_text(gait)


@given(legal_gaits(), legal_gaits())
@settings(max_examples=20, deadline=None)
def test_what_is_written_over_another_gait_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, before: QuadrupedGait, after: QuadrupedGait
) -> None:
    path = tmp_path_factory.mktemp("gaits") / "own.gait.yaml"
    write_gait(before, path)
    write_gait(after, path)
    assert same(read_gait(path), after)


@pytest.mark.parametrize("name", gait_names())
def test_a_gait_that_ships_is_read_and_walks_and_is_written_without_a_change(
    name: str, tmp_path: Path
) -> None:
    gait, card = read_gait_and_robot(name)
    assert gait.name == name
    assert gait.robot == card.name
    assert gait.description
    assert gait.source
    walk = gait.generator(card)
    walk.request(VelocityCommand(0.05))
    assert walk.frames(100).shape == (100, len(card.joints))
    assert gait.path is not None
    copy = tmp_path / gait.path.name
    shutil.copy(gait.path, copy)
    write_gait(gait, copy)
    assert copy.read_bytes() == gait.path.read_bytes()


def test_the_three_gaits_of_the_ers_7_ship() -> None:
    assert {"crawl", "trot", "fast"} <= set(gait_names("sony_ers7"))
    assert gait_names(ERS7) == gait_names("sony_ers7")
    assert gait_names("robotis_bioloid") == gait_names(robot("robotis_bioloid")) == ("biped",)
    assert gait_names("deagostini_robi2") == ()
    assert read_gait("crawl").phases == phase_table("crawl")
    assert read_gait("trot", robot=ERS7).phases == phase_table("trot")


def test_what_a_document_does_not_say_is_as_usual() -> None:
    gait, _ = parse_gait(PLAIN)
    assert gait.interpolation is Interpolation.SPLINE
    assert gait.travel_gain == TravelGain()
    assert gait.pose == "stand"
    assert gait.description == gait.source == ""
    assert gait.path is None
    assert gait.parameters.front_height_m.hind == 0.01
    assert gait.parameters.central_height_m.hind == 0.013
    assert gait.parameters.equilibrium_m["right_rear"] == (-0.075, -0.067, -0.115)
    assert gait.parameters.ground_points == 6


def test_feet_may_be_told_one_by_one_and_pairs_with_them() -> None:
    one_by_one = (
        "{fore: [0.06, 0.067, -0.1], left_rear: [-0.07, 0.06, -0.1], right_rear: [-0.08, -0.07, -0.1]}"
    )
    gait, _ = parse_gait(edited("  equilibrium_m", one_by_one))
    assert gait.parameters.equilibrium_m["right_front"] == (0.06, -0.067, -0.1)
    assert gait.parameters.equilibrium_m["right_rear"] == (-0.08, -0.07, -0.1)


def edited(key: str, value: str | None) -> str:
    """Return the plain document with another value of a key, or without it."""
    lines = []
    for line in PLAIN.splitlines():
        if not line.startswith(f"{key}:"):
            lines.append(line)
        elif value is not None:
            lines.append(f"{key}: {value}")
    return "\n".join(lines) + "\n"


def line_of(key: str) -> int:
    return next(n for n, line in enumerate(PLAIN.splitlines(), 1) if line.startswith(f"{key}:"))


@pytest.mark.parametrize("name", EXPLANATIONS)
@pytest.mark.parametrize("side", ["low", "high"])
def test_a_value_out_of_range_is_refused_with_file_line_and_range(name: str, side: str) -> None:
    told = EXPLANATIONS[name]
    out = told.low - 1 if side == "low" else told.high + 1
    value = f"{{fore: [{out:g}, 0, 0], hind: [0, 0, 0]}}" if told.kind is ParameterKind.POINTS else f"{out:g}"
    key = f"  {name}"
    with pytest.raises(DocumentError) as refused:
        parse_gait(edited(key, value), Path("my.gait.yaml"))
    text = str(refused.value)
    assert text.startswith(f"my.gait.yaml:{line_of(key)}: parameters.{name}")
    assert f"{out:g} is out of range (the range is {told.range_text})" in text


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_a_parameter_that_is_missing_or_no_number_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(DocumentError, match=f"'{name}' is missing"):
        parse_gait(edited(f"  {name}", None))
    for wrong in ("quick", "[1, 2]", "true", ".nan", "1e400"):
        with pytest.raises(DocumentError, match=f"parameters.{name}"):
            parse_gait(edited(f"  {name}", wrong))


@pytest.mark.parametrize(
    ("key", "value", "error", "says"),
    [
        ("gait", None, DocumentError, "'gait' is missing"),
        ("gait", "[1]", DocumentError, "expected text"),
        ("robot", "sony_ers8", UnknownNameError, "did you mean"),
        ("robot", None, DocumentError, "'robot' is missing"),
        ("phases", "gallop", UnknownNameError, "phase table"),
        ("phases", "{left_front: 0}", DocumentError, "'left_rear' is missing"),
        (
            "phases",
            "{left_front: 0, left_rear: 1, right_front: 0, right_rear: 0}",
            DocumentError,
            "from 0 to less than 1",
        ),
        (
            "phases",
            "{left_front: 0, left_rear: -1, right_front: 0, right_rear: 0}",
            DocumentError,
            "out of range",
        ),
        (
            "phases",
            "{left_front: 0, left_rear: 0, right_front: 0, tail: 0, right_rear: 0}",
            UnknownNameError,
            "tail",
        ),
        ("phases", "trot\ninterpolation: cubic", UnknownNameError, "interpolation"),
        ("phases", "trot\npose: fly", UnknownNameError, "pose"),
        ("phases", "trot\ntravel_gain: {forward: 9}", DocumentError, r"the range is 0\.2\.\.3"),
        ("phases", "trot\ntravel_gain: {up: 1}", UnknownNameError, "up"),
        ("phases", "trot\nparametres: 1", UnknownNameError, "did you mean parameters"),
        ("  front_height_m", "{fore: 0.01}", DocumentError, "'hind' is missing"),
        ("  front_height_m", "{fore: 0.01, hind: 0.01, mid: 0.01}", UnknownNameError, "mid"),
        ("  ascent_pairs", "2.5", DocumentError, "a whole number"),
        ("  ascent_pairs", "20", DocumentError, "at most 5"),
        (
            "  equilibrium_m",
            "{fore: [0.06, 0.067, -0.1]}",
            DocumentError,
            "no point for left_rear, right_rear",
        ),
        (
            "  equilibrium_m",
            "{fore: [0.06, 0.067], hind: [0, 0, 0]}",
            DocumentError,
            "three numbers, found 2",
        ),
        (
            "  equilibrium_m",
            "{fore: [0, 0, 0], hind: [0, 0, 0], left_front: [0, 0, 0]}",
            DocumentError,
            "two points",
        ),
        ("  equilibrium_m", "{front: [0, 0, 0]}", UnknownNameError, "front"),
        ("  shape_factor", "0.5\n  shape_facter: 1", UnknownNameError, "did you mean shape_factor"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    key: str, value: str | None, error: type[PosewrightError], says: str
) -> None:
    with pytest.raises(error, match=says) as refused:
        parse_gait(edited(key, value), Path("my.gait.yaml"))
    assert refused.value.where is not None
    assert refused.value.where.path == Path("my.gait.yaml")
    if value is not None:
        assert refused.value.where.line in {line_of(key), line_of(key) + 1}


def test_a_gait_of_another_robot_is_refused_with_its_line() -> None:
    with pytest.raises(DocumentError, match=r"this gait is for sony_ers7 .*robotis_bioloid") as refused:
        parse_gait(PLAIN, Path("my.gait.yaml"), robot=robot("robotis_bioloid"))
    assert refused.value.where is not None
    assert refused.value.where.line == 2


def test_a_robot_without_the_usual_pose_is_told_to_name_one() -> None:
    poses = {name: pose for name, pose in ERS7.poses.items() if name != "stand"}
    with pytest.raises(DocumentError, match=r"no pose 'stand' .*add `pose:`, one of walk"):
        parse_gait(PLAIN, robot=replace(ERS7, poses=poses))


def test_ones_own_card_may_be_named_by_its_path(tmp_path: Path) -> None:
    assert ERS7.folder is not None
    for name in ("robot.yaml", "model.xml"):
        shutil.copy(ERS7.folder / name, tmp_path / name)
    path = tmp_path / "own.gait.yaml"
    path.write_text(edited("robot", "./robot.yaml"), encoding="utf-8")
    gait, card = read_gait_and_robot(path)
    assert card.folder == tmp_path
    assert gait.robot == "sony_ers7"
    write_gait(gait.with_values({"shape_factor": 0.75}), path)
    assert "robot: ./robot.yaml" in path.read_text(encoding="utf-8")
    assert read_gait(path).parameters.shape_factor == 0.75


def called_otherwise(card: Robot) -> Robot:
    """Return the robot with its right legs called as in other books."""
    others = {"right_front_leg": "fore_right", "right_rear_leg": "hind_right"}
    return replace(card, legs=tuple(replace(leg, name=others.get(leg.name, leg.name)) for leg in card.legs))


@pytest.mark.parametrize("card", [called_otherwise(ERS7), replace(ERS7, legs=ERS7.legs[:2])])
def test_a_robot_without_a_leg_for_each_foot_is_refused_with_those_that_are_missing(card: Robot) -> None:
    missing = "sony_ers7 has no right_front_leg, right_rear_leg"
    with pytest.raises(DocumentError, match=missing) as refused:
        parse_gait(PLAIN, robot=card)
    assert refused.value.where is not None
    assert refused.value.where.line == line_of("robot")
    gait = parse_gait(PLAIN)[0]
    with pytest.raises(InputError, match=missing):
        QuadrupedGenerator(gait, card)
    with pytest.raises(InputError, match=missing):
        check_gait(gait, card)


@pytest.mark.parametrize("name", ["gallop", "trott", ""])
def test_a_gait_that_there_is_not_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown gait .*trot"):
        read_gait(name)


def test_a_robot_without_gaits_says_so() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown gait .* of deagostini_robi2 .*there are none"):
        read_gait("trot", robot=robot("deagostini_robi2"))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PosewrightError, match=r"none\.gait\.yaml"):
        read_gait(tmp_path / "none.gait.yaml")


def test_only_lines_that_say_something_else_change_and_comments_stay(tmp_path: Path) -> None:
    path = tmp_path / "own.gait.yaml"
    text = "# mine\n" + PLAIN.replace("shape_factor: 0.5", "shape_factor: 0.5   # round, please")
    path.write_text(text, encoding="utf-8")
    write_gait(read_gait(path), path)
    assert path.read_text(encoding="utf-8") == text
    changed = read_gait(path).with_values({"shape_factor": 0.25, "central_height_m": 0.02})
    write_gait(changed, path)
    lines = dict(zip(text.splitlines(), path.read_text(encoding="utf-8").splitlines(), strict=True))
    differ = {before: after for before, after in lines.items() if before != after}
    assert list(differ) == [
        "  central_height_m: {fore: 0.012, hind: 0.013}",
        "  shape_factor: 0.5   # round, please",
    ]
    assert differ["  central_height_m: {fore: 0.012, hind: 0.013}"] == (
        "  central_height_m: {fore: 0.02, hind: 0.02}"
    )
    assert "# round, please" in differ["  shape_factor: 0.5   # round, please"]


def test_a_document_that_cannot_be_read_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "own.gait.yaml"
    path.write_text("gait: [", encoding="utf-8")
    with pytest.raises(DocumentError):
        write_gait(EXAMPLE, path)
    assert path.read_text(encoding="utf-8") == "gait: ["


def test_the_document_on_the_page_is_one_and_its_phase_tables_are_those_of_the_code() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "gaits.md").read_text(encoding="utf-8")
    gait, _ = parse_gait(page.split("```yaml\n")[1].split("```")[0])
    assert gait.name == "my_trot"
    assert gait.flat == read_gait("trot").flat
    for name, table in PHASE_TABLES.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert [float(cell) for cell in row.split("|")[2:6]] == [table.offsets[foot] for foot in FEET]


@pytest.mark.parametrize("text", ["a\x85b", "\u2028", "\x85 b: c"])
def test_a_text_with_a_separator_of_lines_is_written_over_another(text: str, tmp_path: Path) -> None:
    """ruamel.yaml writes U+0085 as it is, which no document may contain."""
    path = tmp_path / "own.gait.yaml"
    gait, _ = parse_gait(PLAIN)
    write_gait(replace(gait, description="plain"), path)
    write_gait(replace(gait, description=text), path)
    assert read_gait(path).description == text
