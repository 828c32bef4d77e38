"""A card that contradicts itself is refused, with the line and what would be right."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from posewright.errors import InputError
from posewright.robots import read_robot

CARD = """\
robot: walker
maker: us
title: Two legs and a head
sources: {us: measured by us}
frame: {period_s: 0.02, source: us}
joints:
  right_hip: {limits_deg: [-90, 30], source: us}
  left_hip: {limits_deg: [-90, 30], source: us}
  neck: {limits_deg: [-60, 60], source: us}
servo_models:
  S1: {ticks: 1024, range_deg: 300, no_load_speed_rpm: 60, stall_torque_nm: 1, compliance_slope: 32}
servos:
  right_hip: {id: 1, direction: 1, centre_deg: 150, source: us}
  left_hip: {id: 2, direction: -1, centre_deg: 150, source: us}
  neck: {id: 3, direction: 1, centre_deg: 150, source: us}
numberings:
  ours: {ids: [10, 20, 30], source: us}
  theirs: {ids: {right_hip: 2, left_hip: 1, neck: 7}, source: us}
groups:
  legs: [right_hip, left_hip]
  all: [legs, neck]
mirror_pairs:
  same_sign: [[right_hip, left_hip]]
  opposite_sign: [[neck]]
poses:
  stand: {deg: [0, 0, 10], source: us}
  sit: {ticks: [300, 724, 512], source: us}
feet: [right_foot, left_foot]
sensors:
  right_contact: {kind: foot_contact, foot: right_foot}
"""


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "robot.yaml"
    path.write_text(CARD, encoding="utf-8")
    return path


def test_a_card_is_read_from_its_file_or_its_folder(card: Path) -> None:
    walker = read_robot(card)
    assert walker == read_robot(card.parent)
    assert walker.joint_names == ("right_hip", "left_hip", "neck")
    assert walker.frame_period_s == 0.02
    assert walker.folder == card.parent
    assert walker.model_path is None


def test_a_numbering_is_given_in_the_order_of_the_joints_or_by_joint(card: Path) -> None:
    walker = read_robot(card)
    assert walker.numbering("ours") == {10: "right_hip", 20: "left_hip", 30: "neck"}
    assert walker.ids("theirs") == {"right_hip": 2, "left_hip": 1, "neck": 7}


def test_a_group_may_name_groups_before_it(card: Path) -> None:
    assert read_robot(card).group("all") == ("right_hip", "left_hip", "neck")


def test_a_joint_on_the_middle_line_is_its_own_mirror_image(card: Path) -> None:
    walker = read_robot(card)
    mirrored = walker.mirror(walker.pose("stand"))
    assert mirrored.tolist() == pytest.approx([0.0, 0.0, -walker.pose("stand")[2]])


def test_servos_may_stand_in_any_order(card: Path) -> None:
    lines = CARD.splitlines(keepends=True)
    lines[12:15] = reversed(lines[12:15])
    before = read_robot(card)
    card.write_text("".join(lines), encoding="utf-8")
    assert read_robot(card) == before


BROKEN = [
    ("robot: walker", "robot: Walker 2", 1, "not a short name"),
    ("maker: us", "", 1, "'maker' is missing"),
    ("title: Two", "titel: Two", None, "'title' is missing"),
    ("period_s: 0.02", "period_s: 0", 5, "out of range"),
    ("period_s: 0.02, source: us", "period_s: 0.02, source: them", 5, "unknown source 'them'"),
    ("[-90, 30], source: us}\n  left", "[30, -90], source: us}\n  left", 7, "not below the upper"),
    ("[-60, 60]", "[-60]", 9, "expected two limits, found 1"),
    ("[-60, 60]", "[-60, 200]", 9, "beyond the servo"),
    ("ticks: 1024", "ticks: 1024.5", 11, "expected a whole number"),
    (
        "no_load_speed_rpm: 60",
        "no_load_speed_rpm: 1e-5",
        11,
        "1e-05 is out of range",
    ),
    ("neck: {id: 3", "neck: {id: 2", 15, "ID 2 is already that of left_hip"),
    ("neck: {id: 3", "nek: {id: 3", 15, "did you mean neck"),
    ("  neck: {id: 3, direction: 1, centre_deg: 150, source: us}\n", "", 12, "no servo moves neck"),
    ("{id: 3, direction: 1", "{id: 3, direction: 2", 15, "expected 1 or -1, found 2"),
    ("{id: 3,", "{id: 3, model: S2,", 15, "unknown servo model 'S2'"),
    ("{id: 3,", "{id: 300,", 15, "out of range"),
    ("[10, 20, 30]", "[10, 20, 10]", 17, "right_hip and neck have the same ID 10"),
    ("[10, 20, 30]", "[10, 20]", 17, "2 values for 3 joints"),
    ("neck: 7", "nose: 7", 18, "'neck' is missing"),
    ("[legs, neck]", "[legs, nek]", 21, "did you mean neck"),
    ("  legs: [right_hip", "  neck: [right_hip", 20, "'neck' is a joint"),
    ("[[right_hip, left_hip]]", "[[right_hip, left_hop]]", 23, "did you mean left_hip"),
    ("[[right_hip, left_hip]]", "[[right_hip, right_hip]]", 23, "for a joint in the middle plane"),
    ("[[neck]]", "[[neck], [left_hip]]", 24, "in another pair already"),
    ("[[neck]]", "[[]]", 24, "one or two joints, found 0"),
    ("opposite_sign", "oposite_sign", 24, "did you mean opposite_sign"),
    ("deg: [0, 0, 10]", "deg: [0, 45, 10]", 26, "left_hip would be at 45.0 degrees"),
    ("deg: [0, 0, 10]", "deg: [0, 0, .nan]", 26, "expected a finite number"),
    ("deg: [0, 0, 10]", "degrees: [0, 0, 10]", 26, "did you mean deg"),
    ("ticks: [300, 724, 512]", "ticks: [300, 724, 900]", 27, "neck would be at 113.7 degrees"),
    ("ticks: [300, 724, 512]", "ticks: [300, 724, 1024]", 27, "out of range"),
    ("ticks: [300, 724, 512]", "ticks: [300, 724, 512], deg: [0, 0, 0]", 27, "either 'ticks' or 'deg'"),
    ("[right_foot, left_foot]", "[left_foot, left_foot]", 28, "is listed twice"),
    ("foot: right_foot}", "foot: rigt_foot}", 30, "did you mean right_foot"),
    ("title: Two", "model: model.xml\ntitle: Two", 3, "there is no file model.xml"),
    ("maker: us", "maker: us\nmaker: them", 3, "not valid YAML"),
]


@pytest.mark.parametrize(("right", "wrong", "line", "says"), BROKEN, ids=[says for *_, says in BROKEN])
def test_what_is_wrong_is_said_with_its_line(
    card: Path, right: str, wrong: str, line: int | None, says: str
) -> None:
    assert CARD.count(right) == 1
    card.write_text(CARD.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_robot(card)
    assert says in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.path == card
    assert line is None or caught.value.where.line == line


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"[1, 2]", b"robot: [", b"robot: " + b"[" * 5000])
def test_what_is_no_card_is_refused(card: Path, content: bytes) -> None:
    card.write_bytes(content)
    with pytest.raises(InputError):
        read_robot(card)


DOG = """\
robot: dog
maker: us
title: A leg and a head
sources: {us: measured by us}
frame: {period_s: 0.008, source: us}
joints:
  hip: {limits_deg: [-90, 30], hardware_deg: [-95, 35], source: us}
  knee: {limits_deg: [-20, 100], source: us}
  ear: {limits_deg: [0, 20], two_state: true, source: us}
coupled_limits:
  - limits: {knee: [hip]}
    rounding_deg: 0.5
    rows_deg: [[[-90, -1], [10, 100]], [[0, 30], [-20, 100]]]
    source: us
servo_models:
  big:
    {tick_urad: 1, range_deg: [-180, 180], no_load_speed_rad_s: 5, stall_torque_nm: 1.5, stiffness_nm_rad: 8,
    gains: {shifts: {p: 0x0E, i: 2, d: 15}, standard: {p: 0x1C, i: 8, d: 1}}, source: us}
servos: {hip: {}, knee: {direction: -1, centre_deg: 10}, ear: {}}
namings:
  sony: {names: ["PRM:1", "PRM:2", "PRM:3"], source: us}
  half: {names: {hip: HIP}, source: us}
groups:
  leg: [hip, knee]
designs: {source: us, DRX: [leg, ear], DRX_Leg: [leg]}
poses:
  stand: {deg: [0, 10, 0], source: us}
  sit: {ticks: [523599, 174533, 0], source: us}
sensors:
  eye: {kind: camera, mount: head, width: 64, height: 48, frame_rate_hz: 30, source: us}
leds: {source: us, nose: {colour: red, place: head}}
motion_rules:
  near_pose: stand
  max_step_deg: 50
  camera: {sensor: eye, joints: [hip], max_speed_deg_s: 70}
  source: us
"""


@pytest.fixture
def dog(tmp_path: Path) -> Path:
    path = tmp_path / "robot.yaml"
    path.write_text(DOG, encoding="utf-8")
    return path


def test_a_joint_has_stops_beyond_its_limits_or_none_are_known(dog: Path) -> None:
    hip, knee, ear = read_robot(dog).joints
    assert [math.degrees(hip.hardware_lower_rad), math.degrees(hip.hardware_upper_rad)] == [-95.0, 35.0]
    assert (knee.hardware_lower_rad, knee.hardware_upper_rad) == (knee.lower_rad, knee.upper_rad)
    assert [joint.two_state for joint in (hip, knee, ear)] == [False, False, True]


def test_servos_that_are_told_angles_need_no_id_nor_centre(dog: Path) -> None:
    hip, knee, _ = read_robot(dog).servos
    assert hip.id is None
    assert hip.to_ticks(1.0) == pytest.approx(1e6)
    assert hip.stiffness == 8.0
    assert knee.to_servo_deg(0.0) == 10.0


def test_a_pose_in_ticks_may_miss_a_limit_by_their_rounding(dog: Path) -> None:
    walker = read_robot(dog)
    assert 0.0 < walker.pose("sit")[0] - walker.joint("hip").upper_rad < 0.5e-6


def test_what_others_call_the_joints_may_be_said_of_some(dog: Path) -> None:
    it = read_robot(dog)
    assert it.naming("sony")["PRM:2"] == "knee"
    assert it.names_in("half") == {"hip": "HIP"}
    assert it.naming("webots") == {"hip": "hip", "knee": "knee", "ear": "ear"}


def test_a_design_may_name_groups(dog: Path) -> None:
    assert read_robot(dog).designs == {"DRX": ("hip", "knee", "ear"), "DRX_Leg": ("hip", "knee")}


def test_coupled_limits_gains_lights_and_rules_are_read(dog: Path) -> None:
    it = read_robot(dog)
    first = it.coupled_limits[0]
    assert (first.joint, first.conditions[0].joint, math.degrees(first.lower_rad)) == ("knee", "hip", 10.0)
    assert it.servo_models["big"].gain("standard").p == 0x1C
    assert [(led.name, led.colour, led.place) for led in it.leds] == [("nose", "red", "head")]
    assert it.motion_rules.thresholds == {
        "near_pose": ("stand",),
        "max_step_deg": 50.0,
        "camera_joints": ("hip",),
        "camera_rate_hz": 30.0,
        "camera_speed_deg_s": 70.0,
        "camera_lost_frames": 0,
    }


def test_a_motion_may_be_asked_to_be_near_one_of_several_poses(dog: Path) -> None:
    dog.write_text(DOG.replace("near_pose: stand", "near_pose: [stand, sit]"), encoding="utf-8")
    assert read_robot(dog).motion_rules.near_pose == ("stand", "sit")


def test_a_card_may_say_what_is_uncertain_of_a_joint(dog: Path) -> None:
    assert {joint.uncertain for joint in read_robot(dog).joints} == {""}
    dog.write_text(DOG.replace("two_state: true", "two_state: true, uncertain: zero"), encoding="utf-8")
    assert [joint.uncertain for joint in read_robot(dog).joints] == ["", "", "zero"]


BROKEN_DOG = [
    ("two_state: true", "uncertain: sgin", 9, "did you mean sign"),
    ("max_step_deg: 50", "max_step_deg: 50\n  large_step_deg: 60", 35, "larger than max_step_deg"),
    ("[-95, 35]", "[-85, 35]", 7, "the limits -90..30 are beyond the stops"),
    ("[-95, 35]", "[-95]", 7, "expected two limits, found 1"),
    ("two_state: true", "two_state: 1", 9, "expected true or false"),
    ("limits: {knee: [hip]}", "limits: {knee: [hop]}", 11, "did you mean hip"),
    ("limits: {knee: [hip]}", "limits: {knee: [knee]}", 11, "knee cannot depend on knee"),
    ("limits: {knee: [hip]}", "limits: {knee: []}", 11, "knee cannot depend on nothing"),
    ("rounding_deg: 0.5", "rounding_deg: 50", 12, "out of range"),
    ("[[0, 30], [-20, 100]]", "[[0, 30]]", 13, "1 ranges in a row for 2"),
    ("[[0, 30], [-20, 100]]", "[[30, 0], [-20, 100]]", 13, "is not below the upper"),
    ("tick_urad: 1", "tick_urad: 0", 17, "out of range"),
    ("stiffness_nm_rad: 8", "compliance_slope: 8", 16, "'stiffness_nm_rad' is missing"),
    ("i: 2, d: 15}", "i: 2}", 18, "'d' is missing"),
    ("p: 0x1C", "p: 0x1C000", 18, "out of range"),
    ("hip: {}", "hip: {compliance_slope: 3}", 19, "unknown key 'compliance_slope'"),
    ("centre_deg: 10", "centre_deg: 181", 19, "out of range"),
    ('"PRM:2"', '"PRM:1"', 21, "hip and knee have the same name 'PRM:1'"),
    (', "PRM:3"', "", 21, "2 values for 3 joints"),
    ("{hip: HIP}", "{hop: HIP}", 22, "did you mean hip"),
    ("DRX: [leg, ear]", "DRX: [leg, hip]", 25, "a joint is listed twice"),
    ("DRX: [leg, ear]", "DRX: [log, ear]", 25, "did you mean leg"),
    ("523599", "523600", 28, "hip would be at 30.0 degrees"),
    ("523599", "-3141593", 28, "out of range"),
    ("frame_rate_hz: 30, ", "", 35, "eye has no frame rate"),
    ("nose: {colour: red, ", "nose: {", 31, "'colour' is missing"),
    ("near_pose: stand", "near_pose: stond", 33, "did you mean stand"),
    ("max_step_deg: 50", "max_stp_deg: 50", 34, "did you mean max_step_deg"),
    ("sensor: eye", "sensor: aye", 35, "unknown camera 'aye'"),
    ("joints: [hip]", "joints: [hop]", 35, "did you mean hip"),
]


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"), BROKEN_DOG, ids=[says for *_, says in BROKEN_DOG]
)
def test_what_is_wrong_with_the_newer_blocks_is_said_with_its_line(
    dog: Path, right: str, wrong: str, line: int, says: str
) -> None:
    assert DOG.count(right) == 1
    dog.write_text(DOG.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_robot(dog)
    assert says in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.line == line
