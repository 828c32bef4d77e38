"""Native motion files: read and written, with exact angles, and edits of single lines."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posewright
from posewright.errors import DocumentError, InputError, PosewrightError, UnknownNameError
from posewright.formats import native, read_motion, write_motion
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import robot

SHIPPED = Path(posewright.__file__).parent / "robots/catalogue/robotis_bioloid/motions"

WAVE = """\
# A wave of the right arm, written by hand.
motion: wave
robot: robotis_bioloid
source: ours
easing: smooth
stiffness_nm_rad: {right_elbow: 9}
repeat: 3            # as often as it is fun
speed: 1.50
next: bow
exit: 12
joints: [right_shoulder_pitch, right_shoulder_roll, right_elbow]
start_pose_deg: [0, -20, ~]
keyframes:
  - {reach_s: 0.5,  pose_deg: [-90.0, -20.00, 10]}     # up
  # to and fro
  - {reach_s: 0.25, pause_s: 0.1, easing: trapezoid, accel_share: 0.3, pose_deg: [~, ~, 45.5]}
  - {reach_s: 0.25, stiffness_nm_rad: ~, pose_deg: [~, free, -45.5]}
"""


def wave(text: str = WAVE) -> Motion:
    return native.read(text.encode())


def test_everything_in_a_file_is_read() -> None:
    motion = wave()
    assert (motion.name, motion.robot, motion.source) == ("wave", "robotis_bioloid", "ours")
    assert (motion.repeat, motion.speed, motion.next, motion.exit) == (3, 1.5, "bow", "12")
    assert motion.joints == ("right_shoulder_pitch", "right_shoulder_roll", "right_elbow")
    up, to, fro = motion.keyframes
    assert (up.reach_s, up.pause_s, up.easing, up.stiffness) == (
        0.5,
        0.0,
        Easing.SMOOTH,
        {"right_elbow": 9.0},
    )
    assert (to.pause_s, to.easing, to.accel_share) == (0.1, Easing.TRAPEZOID, 0.3)
    assert to.pose.held_mask.tolist() == [True, True, False]
    assert to.pose.angle("right_elbow") == math.radians(45.5)
    assert fro.pose.free == {"right_shoulder_roll"}
    assert fro.stiffness is None
    assert motion.start is not None
    assert motion.start.held_mask.tolist() == [False, False, True]


@pytest.mark.parametrize(("written", "repeat"), [("true", None), ("false", 1), ("7", 7)])
def test_repeat_is_for_ever_once_or_a_number(written: str, repeat: int | None) -> None:
    assert wave(WAVE.replace("repeat: 3 ", f"repeat: {written} ")).repeat == repeat


def test_an_unedited_motion_is_the_same_bytes(tmp_path: Path) -> None:
    odd = b"\xef\xbb\xbf" + WAVE.replace("\n", "\r\n").encode()
    for data in (WAVE.encode(), odd):
        native.write(native.read(data), tmp_path / "out.motion.yaml")
        assert (tmp_path / "out.motion.yaml").read_bytes() == data


def edited(motion: Motion, place: int, angle: float) -> Motion:
    frames = list(motion.keyframes)
    angles = frames[place].pose.angles.copy()
    angles[-1] = angle
    frames[place] = replace(frames[place], pose=replace(frames[place].pose, angles=angles))
    return replace(motion, keyframes=tuple(frames))


def test_one_edited_angle_changes_its_line_only_and_its_comment_survives(tmp_path: Path) -> None:
    path = tmp_path / "wave.motion.yaml"
    path.write_text(WAVE)
    native.write(edited(native.read(path.read_bytes(), path), 0, math.radians(12.5)), path)
    old, new = WAVE.splitlines(), path.read_text().splitlines()
    assert len(old) == len(new)
    ((before, after),) = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert " ".join(before.split()) == "- {reach_s: 0.5, pose_deg: [-90.0, -20.00, 10]} # up"
    assert " ".join(after.split()) == "- {reach_s: 0.5, pose_deg: [-90.0, -20.00, 12.5]} # up"


def test_every_other_edit_is_read_back_too() -> None:
    motion = wave()
    hold = Pose.of(motion.joints, {})
    for edit in (
        replace(motion, name="hello", repeat=None, speed=1.0, next=None, exit="bow", source="", start=None),
        replace(motion, start=Pose.of(motion.joints, {"right_elbow": 0.1}, free=["right_shoulder_roll"])),
        replace(motion, keyframes=motion.keyframes[1:]),
        replace(motion, keyframes=(*motion.keyframes, Keyframe(hold, 0.0, 1.0, Easing.PCHIP))),
        replace(motion, keyframes=tuple(replace(k, easing=Easing.LINEAR) for k in motion.keyframes)),
        replace(motion, keyframes=tuple(replace(k, stiffness={}) for k in motion.keyframes)),
        replace(motion, keyframes=tuple(replace(k, pause_s=0.0) for k in motion.keyframes)),
    ):
        again = native.read(native.render(edit))
        assert_same(again, edit)
        assert b"# A wave of the right arm" in native.render(edit)


def test_other_joints_give_other_columns() -> None:
    motion = wave()
    fewer = motion.joints[::-1][:2]
    frames = tuple(replace(k, pose=k.pose.with_joints(fewer)) for k in motion.keyframes)
    edit = replace(motion, joints=fewer, keyframes=frames, start=None)
    assert_same(native.read(native.render(edit)), edit)


def test_written_over_the_same_motion_comments_survive_and_over_another_they_do_not(tmp_path: Path) -> None:
    path = tmp_path / "wave.motion.yaml"
    path.write_text(WAVE)
    native.write(replace(wave(), origin=None), path)
    assert path.read_text() == WAVE
    native.write(replace(wave(), origin=None, name="other"), path)
    assert "#" not in path.read_text()
    path.write_bytes(b"not: [a motion")
    native.write(replace(wave(), origin=None), path)
    assert_same(native.read(path.read_bytes()), wave())


def assert_same(first: Motion, second: Motion) -> None:
    """Require equal motions, except for the ninth decimal of a degree and unused shares of easings."""
    assert (first.name, first.robot, first.joints, first.source) == (
        second.name,
        second.robot,
        second.joints,
        second.source,
    )
    assert (first.repeat, first.speed, first.next, first.exit) == (
        second.repeat,
        second.speed,
        second.next,
        second.exit,
    )
    assert (first.start is None) == (second.start is None)
    poses = [(first.start, second.start)] if first.start and second.start else []
    assert len(first.keyframes) == len(second.keyframes)
    for a, b in zip(first.keyframes, second.keyframes, strict=True):
        assert (a.reach_s, a.pause_s, a.easing, a.stiffness) == (b.reach_s, b.pause_s, b.easing, b.stiffness)
        if a.easing is Easing.TRAPEZOID:
            assert a.accel_share == b.accel_share
        poses.append((a.pose, b.pose))
    for a, b in poses:
        assert a.free == b.free
        np.testing.assert_allclose(a.angles, b.angles, atol=1e-11, rtol=0)


JOINTS = ("right_knee", "left_knee", "left_elbow")
ANGLES = st.one_of(st.just(math.nan), st.floats(-2.6, 2.6))
STIFFNESS = st.one_of(st.none(), st.dictionaries(st.sampled_from(JOINTS), st.floats(0, 50)))


@st.composite
def motions(draw: st.DrawFn) -> Motion:
    def pose() -> Pose:
        free = draw(st.frozensets(st.sampled_from(JOINTS), max_size=1))
        return Pose(JOINTS, np.array([draw(ANGLES) for _ in JOINTS]), free)

    def keyframe() -> Keyframe:
        reach, pause = draw(st.floats(1e-6, 10)), draw(st.sampled_from((0.0, 0.3)))
        share = draw(st.sampled_from((0.25, 0.1)))
        return Keyframe(pose(), reach, pause, draw(st.sampled_from(Easing)), draw(STIFFNESS), share)

    names = st.one_of(
        st.none(), st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1)
    )
    return Motion(
        draw(st.sampled_from(("a", "12", "true", "F wd: #1", "ñandú", "~", "page 3 "))),
        "robotis_bioloid",
        JOINTS,
        tuple(keyframe() for _ in range(draw(st.integers(1, 3)))),
        repeat=draw(st.sampled_from((1, 4, None))),
        next=draw(names),
        exit=draw(names),
        speed=draw(st.floats(0.01, 100)),
        start=draw(st.sampled_from((None, pose()))),
        source=draw(st.sampled_from(("", "a: b", "lines\nof text"))),
    )


@given(motions())
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_read_back(motion: Motion) -> None:
    data = native.render(motion)
    again = native.read(data)
    assert_same(again, motion)
    assert native.render(again) == data
    lines = data.decode().splitlines()
    assert sum(line.startswith("  - {") for line in lines) == len(motion.keyframes)


MISTAKES = {
    "pose_deg: [-90.0, -20.00, 10]": {
        "pose_deg: [-90.0, -20.00]": "2 angles for 3 joints",
        "pose_deg: [-90.0, -20.00, 10, 4]": "4 angles for 3 joints",
        "pose_deg: [-90.0, -20.00, .nan]": "finite",
        "pose_deg: [-90.0, -20.00, .inf]": "finite",
        "pose_deg: [-90.0, -20.00, loose]": "'loose' is not an angle",
        "pose_deg: [-90.0, -20.00, true]": "expected a number",
        "pose_deg: [-90.0, -20.00, 51200]": "out of range",
        "pose_deg: 7": "expected a list",
        "pose_rad: [-90.0, -20.00, 10]": "missing|pose_rad",
        "pose_deg: [-90.0, -20.00, 10], pose_deg: [1, 2, 3]": "duplicate",
        "pose_deg: [-90.0, -20.00, 10], colour: red": "'colour'",
        "pose_deg: [-90.0, -20.00, 10": "not valid YAML",
    },
    "reach_s: 0.5,": {
        "reach_s: -0.5,": "out of range",
        "reach_s: .nan,": "finite",
        "reach_s: soon,": "expected a number",
        "reach_s: 1.0e-9,": "shorter than",
        "reach_s: 1.0e+9,": "out of range",
        "pause_s: 0.5,": "'reach_s' is missing",
    },
    "easing: trapezoid": {"easing: trapezium": "did you mean trapezoid"},
    "easing: smooth": {"easing: smoth": "did you mean smooth"},
    "accel_share: 0.3": {"accel_share: 0.7": "out of range"},
    "robot: robotis_bioloid": {
        "robot: robotis_bioloit": "did you mean robotis_bioloid",
        "robot: 7": "expected text",
    },
    "repeat: 3": {
        "repeat: 0": "out of range",
        "repeat: 1" + "0" * 400: "too large .the range is",
        "repeat: often": "whole number",
        "repet: 3": "did you mean repeat",
    },
    "speed: 1.50": {"speed: 0": "the speed is 0", "speed: -1": "the speed is -1", "speed: .inf": "finite"},
    "{right_elbow: 9}": {"{right_elbow: -9}": "out of range", "{left_elbow: 9}": "did you mean right_elbow"},
    "roll, right_elbow]": {
        "roll, right_elbov]": "did you mean right_elbow",
        "roll, right_shoulder_roll]": "twice",
    },
    "start_pose_deg: [0, -20, ~]": {"start_pose_deg: [0, -20]": "2 angles for 3 joints"},
    "motion: wave": {"motion: [1]": "expected text", "motion: ''": "needs a name"},
}


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [(right, wrong, says) for right, wrongs in MISTAKES.items() for wrong, says in wrongs.items()],
)
def test_every_mistake_is_refused_with_its_line(right: str, wrong: str, says: str) -> None:
    assert WAVE.count(right) == 1
    line = WAVE[: WAVE.index(right)].count("\n") + 1
    with pytest.raises(InputError, match=says) as caught:
        native.read(WAVE.replace(right, wrong).encode(), Path("wave.motion.yaml"))
    assert isinstance(caught.value, DocumentError | UnknownNameError)
    assert caught.value.where is not None
    assert caught.value.where.path == Path("wave.motion.yaml")
    # an unclosed bracket is only noticed at the next line
    assert caught.value.where.line in ((line, line + 1, line + 2) if says == "not valid YAML" else (line,))


@pytest.mark.parametrize("end", ["keyframes: []\n", "keyframes: 3\n", "keyframes:\n"])
def test_a_motion_without_keyframes_is_refused(end: str) -> None:
    with pytest.raises(DocumentError, match="keyframes"):
        native.read((WAVE[: WAVE.index("keyframes:")] + end).encode())


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe\x00", b"- a\n- b\n", b"{" * 5000, b"motion: wave\n", b"a: *b\n"]
)
def test_what_is_no_motion_at_all_is_refused(data: bytes) -> None:
    with pytest.raises(DocumentError):
        native.read(data)


@pytest.mark.parametrize(
    ("name", "table"),
    [("walk_forward", "forward"), ("turn_left", "left"), ("turn_right", "right")],
)
def test_the_shipped_motions_say_what_the_source_tables_print(
    name: str, table: str, source_tables: Callable[[str], Path]
) -> None:
    path = SHIPPED / f"{name}.motion.yaml"
    motion = native.read(path.read_bytes(), path)
    card = robot("robotis_bioloid")
    with source_tables(f"thesis_table_{table}.csv").open() as file:
        rows = {int(row["thesis_id"]): list(row.values())[1:6] for row in csv.DictReader(file)}
    poses = [pose.with_joints(card.joint_names) for pose in motion.resolved_poses()]
    for number, joint in card.numbering("uc3m_thesis").items():
        angles = [card.servo(joint).to_servo_deg(pose.angle(joint)) for pose in poses]
        np.testing.assert_allclose(angles, np.array(rows[number], dtype=float), atol=1e-9)
    assert motion.name == name
    assert motion.repeat is None
    assert [k.reach_s for k in motion.keyframes] == [0.125] * 4
    assert native.render(motion) == path.read_bytes()


def test_attitude_and_extras_come_back_and_an_edit_changes_only_its_line() -> None:
    frames = [
        Keyframe(
            Pose.of(("left_knee",), {"left_knee": math.radians(5 * i)}),
            0.1,
            attitude=(0.0, math.radians(10), 0.0),
        )
        for i in range(3)
    ]
    motion = Motion(
        "bow", "robotis_bioloid", ("left_knee",), tuple(frames), extras={"creator": "A. B.: C", "minor": "2"}
    )
    data = native.render(motion)
    assert b"attitude_deg: [0.0, 10.0, 0.0]" in data
    back = native.read(data)
    assert back == motion
    frames[1] = replace(frames[1], attitude=(0.0, 0.0, 0.0))
    edited = native.render(replace(back, keyframes=tuple(frames)))
    assert sum(a != b for a, b in zip(data.splitlines(), edited.splitlines(), strict=True)) == 1


def test_an_attitude_of_two_angles_is_refused() -> None:
    text = b"motion: a\nrobot: robotis_bioloid\njoints: [left_knee]\nkeyframes:\n"
    with pytest.raises(DocumentError, match="roll, pitch and yaw"):
        native.read(text + b"  - {reach_s: 0.1, attitude_deg: [1, 2], pose_deg: [3]}\n")


SITTING = """\
motion: clap
robot: sony_ers7
joints: [head_tilt, left_rear_knee]
start_pose: sit   # where it begins
keyframes:
  - {reach_s: 0.5, pose_deg: [10, ~]}
"""


def test_the_start_pose_may_be_called_by_its_name_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "clap.motion.yaml"
    path.write_text(SITTING)
    motion, sit = read_motion(path), robot("sony_ers7").poses["sit"]
    assert motion.start == Pose(motion.joints, np.array([sit["head_tilt"], sit["left_rear_knee"]]))
    assert np.isclose(motion.at(0.5).angle("left_rear_knee"), sit["left_rear_knee"])
    write_motion(replace(motion, speed=2.0), path)
    assert "start_pose: sit   # where it begins" in path.read_text()
    assert read_motion(path).start == motion.start
    write_motion(replace(motion, start=motion.at(0.5)), path)
    assert np.allclose(read_motion(path).start.angles, motion.at(0.5).angles)  # type: ignore[union-attr]
    assert "start_pose:" not in path.read_text()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("start_pose: kneel", ":4: .*broad_base.*sit.*sleep.*stand.*walk"),
        ("start_pose: sit\nstart_pose_deg: [0, 0]", "keep one of them"),
    ],
)
def test_a_start_pose_that_says_nothing_sensible_is_refused(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "clap.motion.yaml"
    path.write_text(SITTING.replace("start_pose: sit   # where it begins", line))
    with pytest.raises(PosewrightError, match=says):
        read_motion(path)
