"""A card that contradicts itself is refused, with the line and what would be right."""

from __future__ import annotations

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
    ("period_s: 0.02, source: us", "period_s: 0.02, source: them", 5, "no source is called 'them'"),
    ("[-90, 30], source: us}\n  left", "[30, -90], source: us}\n  left", 7, "not below the upper"),
    ("[-60, 60]", "[-60]", 9, "expected two limits, found 1"),
    ("[-60, 60]", "[-60, 200]", 9, "beyond the servo"),
    ("ticks: 1024", "ticks: 1024.5", 11, "expected a whole number"),
    ("no_load_speed_rpm: 60", "no_load_speed_rpm: 0", 11, "0 is not positive"),
    ("neck: {id: 3", "neck: {id: 2", 15, "ID 2 is already that of left_hip"),
    ("neck: {id: 3", "nek: {id: 3", 15, "did you mean neck"),
    ("  neck: {id: 3, direction: 1, centre_deg: 150, source: us}\n", "", 12, "no servo moves neck"),
    ("{id: 3, direction: 1", "{id: 3, direction: 2", 15, "expected 1 or -1, found 2"),
    ("{id: 3,", "{id: 3, model: S2,", 15, "no servo model is called 'S2'"),
    ("{id: 3,", "{id: 300,", 15, "out of range"),
    ("[10, 20, 30]", "[10, 20, 10]", 17, "10 stands for both right_hip and neck"),
    ("[10, 20, 30]", "[10, 20]", 17, "2 values for 3 joints"),
    ("neck: 7", "nose: 7", 18, "'neck' is missing"),
    ("[legs, neck]", "[legs, nek]", 21, "did you mean neck"),
    ("  legs: [right_hip", "  neck: [right_hip", 20, "'neck' is a joint"),
    ("[[right_hip, left_hip]]", "[[right_hip, left_hop]]", 23, "did you mean left_hip"),
    ("[[right_hip, left_hip]]", "[[right_hip, right_hip]]", 23, "stands alone"),
    ("[[neck]]", "[[neck], [left_hip]]", 24, "in another pair already"),
    ("[[neck]]", "[[]]", 24, "one or two joints, found 0"),
    ("opposite_sign", "oposite_sign", 24, "did you mean opposite_sign"),
    ("deg: [0, 0, 10]", "deg: [0, 45, 10]", 26, "left_hip would stand at 45.0 degrees"),
    ("deg: [0, 0, 10]", "deg: [0, 0, .nan]", 26, "expected a finite number"),
    ("deg: [0, 0, 10]", "degrees: [0, 0, 10]", 26, "did you mean deg"),
    ("ticks: [300, 724, 512]", "ticks: [300, 724, 900]", 27, "neck would stand at 113.7 degrees"),
    ("ticks: [300, 724, 512]", "ticks: [300, 724, 1024]", 27, "out of range"),
    ("ticks: [300, 724, 512]", "ticks: [300, 724, 512], deg: [0, 0, 0]", 27, "either 'ticks' or 'deg'"),
    ("[right_foot, left_foot]", "[left_foot, left_foot]", 28, "stands here twice"),
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
