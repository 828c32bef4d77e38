"""A behaviour is read whole, or refused with the line that is wrong and what would be right."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.controllers import Player
from posewright.controllers.behaviours import behaviour_names, read_behaviour
from posewright.controllers.behaviours.motion_library import DocumentTexts
from posewright.errors import DocumentError, ExpressionError, InputError, PosewrightError, UnknownNameError
from posewright.formats import native, read_motion
from posewright.motions import Motion
from posewright.robots import robot


def test_the_shipped_behaviours_are_read_and_can_be_played() -> None:
    assert {"document_mealy", "obstacle_race"} <= set(behaviour_names())
    for name in behaviour_names():
        behaviour = read_behaviour(name)
        assert behaviour.name == name
        assert [wire.name for wire in behaviour.inputs] == list(behaviour.chart.inputs)
        Player(behaviour.robot, behaviour.motions, behaviour.start_pose)


def test_it_carries_the_texts_of_all_its_documents() -> None:
    behaviour = read_behaviour("document_mealy")
    folder = behaviour.path.parent
    assert set(behaviour.documents) == {
        "document_mealy.behaviour.yaml",
        "obstacle_mealy.chart.yaml",
        "walk_forward.motion.yaml",
        "turn_left.motion.yaml",
        "turn_right.motion.yaml",
    }
    for name, text in behaviour.documents.items():
        place = folder.parent / "motions" if name.endswith(".motion.yaml") else folder
        assert text == (place / name).read_text()


def test_two_files_of_one_name_are_both_carried(desk) -> None:
    catalogue = robot("robotis_bioloid").folder / "motions" / "walk_forward.motion.yaml"
    path = desk.write(
        **{
            "{motion: walk_forward}": "{file: walk_forward.motion.yaml}"
            "\n  b: {file: b/walk_forward.motion.yaml}"
            "\n  c: {motion: walk_forward}"
        }
    )
    for number, place in enumerate((path.parent, path.parent / "b")):
        place.mkdir(exist_ok=True)
        (place / "walk_forward.motion.yaml").write_text(f"# {number}\n{catalogue.read_text()}")
    carried = read_behaviour(path).documents
    assert carried["walk_forward.motion.yaml"].startswith("# 0")
    assert carried["b/walk_forward.motion.yaml"].startswith("# 1")
    assert carried["motions/walk_forward.motion.yaml"] == catalogue.read_text()
    assert set(list(carried)[:2]) == {"tiny.behaviour.yaml", "tiny.chart.yaml"}


@given(st.lists(st.sampled_from(["/home/a/b", "/home/a", "/home/a/c/b", "/x/b", "/x/c/b", "/"]), max_size=9))
def test_carried_files_never_share_a_name(folders: list[str]) -> None:
    carried = DocumentTexts(Path("/home/a"))
    paths = [Path(folder, "walk.yaml") for folder in folders]
    names = {path: carried.name_of(path) for path in paths}
    assert len(set(names.values())) == len(names)
    assert all(carried.name_of(path) == name for path, name in names.items())
    assert all(name.endswith("walk.yaml") for name in names.values())


def test_what_is_carried_is_what_was_parsed_though_the_files_change_meanwhile(
    desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = desk.write()
    opened = []
    really = Path.open

    def noted(self: Path, *args: Any, **options: Any) -> Any:
        opened.append(self.name)
        return really(self, *args, **options)

    monkeypatch.setattr(Path, "open", noted)
    carried = read_behaviour(path).documents
    assert sorted(opened.count(name) for name in carried) == [1] * len(carried)


def test_motions_that_are_handed_in_are_carried_as_native_text(desk, shop) -> None:
    own = shop.nod("own", "left_elbow", repeat=None)
    behaviour = read_behaviour(desk.write(), motions_from={"walk": own})
    assert "walk_forward.motion.yaml" not in behaviour.documents
    again = native.read(behaviour.documents["given/walk.motion.yaml"].encode())
    assert (again.name, again.repeat, again.duration) == (own.name, own.repeat, own.duration)
    np.testing.assert_allclose(again.sample(50).angles, own.sample(50).angles, atol=1e-9)


@pytest.fixture
def own_card(tmp_path: Path) -> Path:
    """Give the card of a robot of one's own, beside which its behaviours lie."""
    shipped = robot("robotis_bioloid").folder
    shutil.copytree(shipped / "motions", tmp_path / "motions")
    shutil.copy(shipped / "model.xml", tmp_path)
    text = (shipped / "robot.yaml").read_text().replace("robot: robotis_bioloid", "robot: my_robot")
    (tmp_path / "robot.yaml").write_text(text)
    for motion in (tmp_path / "motions").iterdir():
        motion.write_text(motion.read_text().replace("robot: robotis_bioloid", "robot: my_robot"))
    return tmp_path / "robot.yaml"


def test_a_behaviour_of_ones_own_robot_names_its_card_or_is_given_it(desk, own_card: Path) -> None:
    for name in ("robot.yaml", "./robot.yaml"):
        behaviour = desk.read(**{"robot: robotis_bioloid": f"robot: {name}"})
        assert (behaviour.robot.name, behaviour.motions["walk"].robot) == ("my_robot", "my_robot")
    card = robot(own_card)
    assert read_behaviour(desk.write(), robot=robot("robotis_bioloid")).robot is robot("robotis_bioloid")
    path = desk.write(**{"robot: robotis_bioloid": "robot: my_robot"})
    assert read_behaviour(path, robot=card).robot is card
    with pytest.raises(UnknownNameError, match="my_robot"):
        read_behaviour(path)


def test_a_behaviour_for_another_robot_is_refused_by_name(desk, own_card: Path) -> None:
    with pytest.raises(DocumentError, match=r"yaml:2: .*for robotis_bioloid, not for my_robot"):
        read_behaviour(desk.write(), robot=robot(own_card))


def test_further_sensors_come_after_the_cards_own(desk) -> None:
    behaviour = desk.read()
    assert [sensor.name for sensor in behaviour.sensors[-3:]] == ["floor_left", "compass", "ring"]
    assert behaviour.sensors[:-3] == behaviour.robot.sensors


def test_speed_and_repeat_of_an_entry_change_the_motion(desk) -> None:
    motions = desk.read(**{"{motion: walk_forward}": "{motion: walk_forward, speed: 0.5, repeat: 3}"}).motions
    assert (motions["walk"].speed, motions["walk"].repeat) == (0.5, 3)
    assert desk.read().motions["walk"].repeat is None


def test_motions_can_be_given_instead(desk, shop) -> None:
    own = shop.nod("own", "left_elbow", repeat=None, exit="stop")
    stop = shop.nod("stop", "right_elbow")
    behaviour = read_behaviour(desk.write(), motions_from={"walk": own, "stop": stop})
    assert behaviour.motions == {"walk": own, "stop": stop}
    with pytest.raises(UnknownNameError, match="unknown motion 'stop'"):
        read_behaviour(desk.write(), motions_from={"stop": stop})
    foreign = Motion("walk", "somebody", own.joints, own.keyframes)
    with pytest.raises(InputError, match="made for somebody"):
        read_behaviour(desk.write(), motions_from={"walk": foreign})


def test_a_motion_file_beside_the_behaviour_brings_what_it_leads_to(desk) -> None:
    walk = robot("robotis_bioloid").folder / "motions" / "walk_forward.motion.yaml"
    text = walk.read_text().replace("repeat: true", "repeat: 2")
    path = desk.write(**{"{motion: walk_forward}": "{file: begin.motion.yaml}"})
    for name, links in {
        "begin": "next: middle\nexit: end",
        "middle": "next: begin\nexit: end",
        "end": "",
    }.items():
        linked = text.replace("motion: walk_forward", f"motion: {name}\n{links}")
        path.with_name(f"{name}.motion.yaml").write_text(linked)
    motions = read_behaviour(path).motions
    assert {name: (m.next, m.exit) for name, m in motions.items()} == {
        "walk": ("middle", "end"),
        "middle": ("walk", "end"),
        "end": (None, None),
    }


def test_the_speed_of_an_entry_applies_to_all_motions_it_leads_to(desk) -> None:
    walk = robot("robotis_bioloid").folder / "motions" / "walk_forward.motion.yaml"
    path = desk.write(
        **{
            "{motion: walk_forward}": "{file: begin.motion.yaml, speed: 0.5}"
            "\n  march: {file: begin.motion.yaml, speed: 2}"
        }
    )
    for name, links in {
        "begin": "next: middle\nexit: end",
        "middle": "next: begin\nexit: end",
        "end": "",
    }.items():
        text = walk.read_text().replace("repeat: true", "repeat: 2")
        linked = text.replace("motion: walk_forward", f"motion: {name}\n{links}")
        path.with_name(f"{name}.motion.yaml").write_text(linked)
    motions = read_behaviour(path).motions
    assert {name: (motion.speed, motion.next, motion.exit) for name, motion in motions.items()} == {
        "walk": (0.5, "middle", "end"),
        "middle": (0.5, "walk", "end"),
        "end": (0.5, None, None),
        "march": (2.0, "middle'", "end'"),
        "middle'": (2.0, "march", "end'"),
        "end'": (2.0, None, None),
    }


VENDOR = "robotis_mtn_text/robkwan_bio_prm_humanoidtypea_en.mtn"


def test_a_vendors_pages_come_with_those_they_lead_to(desk, samples) -> None:
    file = samples(VENDOR)
    behaviour = desk.read(**{"{motion: walk_forward}": f"{{file: {file}, page: F_S_L}}"})
    title = f"{file.name}#"
    assert set(behaviour.motions) == {"walk", *(f"{title}{n}" for n in (33, 36, 37, 38, 39, 40, 41, 42, 43))}
    assert behaviour.motions["walk"].next == f"{title}33"
    assert behaviour.documents[f"{title}33.motion.yaml"].startswith("motion:")


def test_a_vendors_walk_begins_goes_on_and_ends_as_its_pages_say(desk, shop, samples) -> None:
    file = samples(VENDOR)
    behaviour = desk.read(**{"{motion: walk_forward}": f"{{file: {file}, page: 32}}"})
    player = Player(behaviour.robot, behaviour.motions, behaviour.start_pose)
    player.request("walk")
    played = []
    for _ in range(3 * 128):
        if player.playing not in played[-1:]:
            played.append(player.playing)
        shop.play(player, 1)
        if len(played) == 8:
            player.request(None)
    numbers = [int(name.split("#")[1]) for name in played[1:-1]]
    assert played[0] == "walk"
    assert numbers == [33, 38, 39, 36, 37, 38, 39, 40, 41]
    assert played[-1] is None


def test_vendor_motions_can_be_given_instead_of_the_shipped_ones(samples) -> None:
    motions = {"walk_forward": read_motion(samples(VENDOR), page="Bow")}
    behaviour = read_behaviour("document_mealy", motions_from=motions)
    assert behaviour.motions["walk_forward"].name == "Bow"


WRONG = [
    # a change, the kind of error, what the message says, its line
    ({"robotis_bioloid": "robotis_biolid"}, UnknownNameError, "did you mean robotis_bioloid", 2),
    ({"chart: tiny.chart": "chart: other.chart"}, PosewrightError, "No such file", None),
    ({"walk_ready": "walk_redy"}, UnknownNameError, "did you mean walk_ready", 4),
    ({"{motion: walk_forward}": "{motion: walk_foward}"}, UnknownNameError, "did you mean walk_forward", 6),
    ({"{motion: walk_forward}": "{file: none.mtn}"}, PosewrightError, "none.mtn", None),
    ({"{motion: walk_forward}": "{speed: 2}"}, DocumentError, "needs either `motion` or `file`", 6),
    ({"{motion: walk_forward}": "{motion: walk_forward, page: 3}"}, DocumentError, "has no pages", 6),
    ({"compass: {": "laser_front: {"}, DocumentError, "has a sensor laser_front already", 8),
    ({"x: {sensor": "y: {sensor"}, UnknownNameError, "unknown key 'y'", 11),
    ({"INPUTS": "{x: bool, y: bool}"}, DocumentError, "nothing is wired to y", 10),
    ({"INPUT": "x: {below_m: 1}"}, DocumentError, "one of sensor, joint", 11),
    ({"INPUT": "x: {sensor: laser_frnt, below_m: 1}"}, UnknownNameError, "did you mean laser_front", 11),
    ({"INPUT": "x: {sensor: laser_front, below_deg: 1}"}, DocumentError, "a length .write below_m", 11),
    ({"INPUT": "x: {sensor: laser_front}"}, DocumentError, "give a threshold: below_m", 11),
    ({"INPUT": "x: {sensor: laser_front, below_m: 1, above_m: 2}"}, DocumentError, "both below and", 11),
    ({"INPUT": "x: {sensor: laser_front, below_m: 1, below_cm: 2}"}, DocumentError, "give one of them", 11),
    ({"INPUT": "x: {sensor: laser_front, below_m: 1, hysteresis_m: -1}"}, DocumentError, "negative", 11),
    ({"INPUT": "x: {sensor: laser_front, hysteresis_m: 1}"}, DocumentError, "without a threshold", 11),
    ({"INPUT": "x: {sensor: laser_front, below_m: 1, colour: red}"}, UnknownNameError, "'colour'", 11),
    ({"INPUT": "x: {sensor: ring, below_m: 1}"}, DocumentError, "has many beams .add corridor", 11),
    ({"INPUT": "x: {sensor: head_camera, below_m: 1}"}, DocumentError, "no reading that a chart", 11),
    ({"INPUT": "x: {sensor: imu.orientation, below_deg: 1}"}, DocumentError, "imu.orientation.roll", 11),
    ({"INPUT": "x: {sensor: right_foot_contact, below_m: 1}"}, DocumentError, "needs no threshold", 11),
    ({"INPUT": "x: {sensor: imu, fallen: frnt}"}, UnknownNameError, "did you mean front", 11),
    ({"INPUT": "x: {sensor: compass, fallen: any}"}, UnknownNameError, "imu or accelerometer", 11),
    ({"INPUT": "x: {sensor: imu, fallen: any, below_m: 1}"}, DocumentError, "needs no threshold", 11),
    ({"INPUT": "x: {joint: left_elbo, below_deg: 1}"}, UnknownNameError, "did you mean left_elbow", 11),
    ({"INPUT": "x: {playing: run}"}, UnknownNameError, "choose from walk", 11),
    ({"INPUT": "x: {clock: wall, above_s: 1}"}, UnknownNameError, "since_start", 11),
    (
        {"INPUT": "x: {sensor: laser_front, corridor: {width_m: 1}, below_m: 1}"},
        DocumentError,
        "not a scanner",
        11,
    ),
    (
        {"INPUT": "x: {sensor: ring, compass: laser_front, corridor: {width_m: 1}, below_m: 1}"},
        DocumentError,
        "a compass reads an angle",
        11,
    ),
    (
        {"INPUT": "x: {sensor: ring, corridor: {width_m: 1, towards_deg: go_on}, below_m: 1}"},
        UnknownNameError,
        "choose from goal_deg",
        11,
    ),
    ({"when: go_on": "when: go_onn"}, ExpressionError, "go_onn", 13),
    ({"when: go_on": "when: x"}, ExpressionError, "x", 13),
    ({"when: go_on": "when: goal_deg"}, ExpressionError, "goal_deg", 13),
    ({"play: walk}": "play: run}"}, UnknownNameError, "unknown motion 'run'", 13),
    ({"when: go_on": "otherwise: true"}, DocumentError, "never reached", 14),
    ({"otherwise: true": "otherwise: false"}, DocumentError, "expected true", 14),
    ({"play: null}": "plays: null}"}, UnknownNameError, "unknown key 'plays'", 14),
    ({", play: null}": "}"}, DocumentError, "needs either `play` or `walk`", 14),
    ({"play: null}": "play: null, forward_m_s: 0.1}"}, DocumentError, "a motion has no velocity", 14),
    ({"play: null}": "play: null, at_once: soon}"}, DocumentError, "true or false", 14),
    ({"play: null}": "walk: trot}"}, UnknownNameError, "unknown gait 'trot'", 14),
    ({"play: null}": "play: null, joints_deg: {nose: 3}}"}, UnknownNameError, "nose", 14),
    ({"period_s: 0.1": "period_s: 0.001"}, DocumentError, "shorter than a frame", 3),
    ({"go: going}": "go: standing}"}, InputError, "chart tiny has errors", None),
]


@pytest.mark.parametrize(("changes", "kind", "message", "line"), WRONG)
def test_what_is_wrong_is_refused_with_its_line(desk, changes, kind, message, line) -> None:
    with pytest.raises(kind, match=message) as caught:
        desk.read(**changes)
    if line is not None:
        place = caught.value.where
        assert place is not None
        assert (place.path.name, place.line) == ("tiny.behaviour.yaml", line)


def test_a_behaviour_that_is_not_there_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean document_mealy"):
        read_behaviour("document_mealey")


def test_the_makers_own_pages_are_played_where_the_behaviour_names_them(samples) -> None:
    behaviour = read_behaviour("obstacle_race", vendor_file=samples(VENDOR))
    assert behaviour.motions["walk_forward"].name == "F_S_L"
    assert behaviour.motions["turn_left"].name == "LT_S_L"
    assert read_behaviour("obstacle_race").motions["walk_forward"].name == "walk_forward"


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + ".behaviour.yaml", "a\0b"])
def test_a_name_that_no_file_can_have_is_refused_like_any_other(name: str) -> None:
    with pytest.raises(InputError, match="behaviour"):
        read_behaviour(name)


def test_a_behaviour_tells_in_a_line_what_it_is_and_in_a_table_what_is_wired_to_what() -> None:
    behaviour = read_behaviour("obstacle_race")
    assert repr(behaviour) == "Behaviour('obstacle_race', robotis_bioloid, chart 'obstacle_race')"
    table = behaviour._repr_html_()
    assert all(f"<td>{name}</td>" in table for name in (*behaviour.chart.inputs, "walk_forward", "s1 and s0"))


@pytest.mark.parametrize("name", ["obstacle_race", "document_mealy", "cross_field"])
def test_every_part_of_a_behaviour_has_a_short_repr(name: str) -> None:
    behaviour = read_behaviour(name)
    parts = [*behaviour.inputs, *behaviour.outputs, *(wire.source for wire in behaviour.inputs)]
    assert max(len(repr(part)) for part in parts) < 230


def test_a_sound_chart_is_checked_once_however_often_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read_behaviour("obstacle_race")
    monkeypatch.setattr(
        "posewright.controllers.behaviours.reading.require_sound", lambda chart: pytest.fail(chart.name)
    )
    read_behaviour("obstacle_race")
