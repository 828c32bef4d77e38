"""Writing Tekkotsu's motion sequences: what stays, what changes, what is left out and what gets lost."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.errors import FormatError
from posewright.formats import WriteOptions
from posewright.formats.motion_format import KeyTimes, Rendering
from posewright.formats.tekkotsu.format import MOT
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import robot

ERS7 = robot("sony_ers7")
BESIDE = Path("some.mot")


def read(data: bytes) -> Motion:
    return MOT.read(data, BESIDE, ERS7).motion()


def write(motion: Motion, keys: KeyTimes = KeyTimes.OWN) -> Rendering:
    return MOT.render(motion, BESIDE, WriteOptions(keys))


def motion_of(
    *rows: tuple[float, dict[str, float]], joints: tuple[str, ...] = ("mouth", "head_pan")
) -> Motion:
    frames = tuple(Keyframe(Pose.of(joints, angles), reach_s) for reach_s, angles in rows)
    return Motion("some", "sony_ers7", joints, frames)


def with_angle(motion: Motion, place: int, joint: str, angle: float) -> Motion:
    frame = motion.keyframes[place]
    angles = frame.pose.angles.copy()
    angles[motion.joints.index(joint)] = angle
    frames = list(motion.keyframes)
    frames[place] = replace(frame, pose=Pose(motion.joints, angles))
    return replace(motion, keyframes=tuple(frames))


SEQUENCE = (
    b"#MSq\r\n# by hand\r\n\tadvanceTime  100\r\nFr:knee~   1.50 1\r\n\r\nMOUTH~~~~\t-.25\r\n"
    b"advanceTime\t0x64\r\nMOUTH 0\r\n"
)


def test_an_unedited_motion_is_the_same_bytes() -> None:
    motion = read(SEQUENCE)
    assert write(motion) == Rendering(SEQUENCE, times_s=tuple(motion.keyframe_times.tolist()))


def test_an_edited_angle_changes_its_number_and_nothing_else() -> None:
    edited = with_angle(read(SEQUENCE), 0, "mouth", -0.5)
    rendering = write(edited)
    assert (rendering.data, rendering.losses) == (SEQUENCE.replace(b"-.25", b"-0.5"), ())


def test_both_sides_edited_alike_change_the_one_line_they_share() -> None:
    motion = read(SEQUENCE)
    for joint in ("left_front_knee", "right_front_knee"):
        motion = with_angle(motion, 0, joint, 1.25)
    assert write(motion).data == SEQUENCE.replace(b"1.50 1", b"1.25 1")


def test_one_side_edited_alone_needs_a_new_file() -> None:
    motion = with_angle(read(SEQUENCE), 0, "left_front_knee", 1.25)
    rendering = write(motion)
    assert b"LFr:knee\t1.25\n" in rendering.data
    assert b"RFr:knee\t1.5\n" in rendering.data
    assert "comments" in rendering.remarks[0]


def test_degrees_stay_degrees() -> None:
    data = b"#MSq\ndegrees\nMOUTH -10\ndelay 100\nMOUTH -20\n#END\n"
    edited = with_angle(read(data), 1, "mouth", math.radians(-30.0))
    assert write(edited).data == data.replace(b"-20", b"-30")


def test_an_ear_is_written_as_0_and_1() -> None:
    up = ERS7.joint("left_ear").upper_rad
    motion = motion_of((0.0, {"left_ear": 0.0}), (0.5, {"left_ear": up}), joints=("left_ear",))
    assert b"EAR:left\t0\nadvanceTime\t500\nEAR:left\t1\n" in write(motion).data
    assert read(write(motion).data).keyframes[1].pose.angle("left_ear") == pytest.approx(up, abs=1e-6)


def test_a_key_on_the_straight_line_between_its_neighbours_is_left_out() -> None:
    motion = motion_of(
        (0.0, {"mouth": 0.0, "head_pan": 0.0}),
        (0.1, {"mouth": -0.1, "head_pan": 0.5}),
        (0.3, {"mouth": -0.4, "head_pan": 0.5}),
    )
    text = write(motion).data.decode()
    assert text.count("MOUTH") == 2
    assert text.count("NECK:pan") == 3


def test_all_key_times_are_written_where_that_is_asked_for() -> None:
    motion = motion_of((0.0, {"mouth": 0.0}), (0.1, {"mouth": 0.0, "head_pan": 0.5}), (0.3, {"mouth": -0.4}))
    text = write(motion, KeyTimes.ALL).data.decode()
    assert text.count("MOUTH") == 3
    assert text.count("NECK:pan") == 2


def test_a_file_flattened_on_purpose_is_not_the_old_one() -> None:
    rendering = write(read(SEQUENCE), KeyTimes.ALL)
    assert rendering.data != SEQUENCE
    assert rendering.data.count(b"LFr:knee") == 2


def test_a_pause_is_a_key_repeated() -> None:
    frames = (
        Keyframe(Pose.of(("mouth",), {"mouth": -0.1}), 0.1, 0.2),
        Keyframe(Pose.of(("mouth",), {"mouth": 0.0}), 0.1),
    )
    back = read(write(Motion("some", "sony_ers7", ("mouth",), frames)).data)
    assert back.keyframe_times.round(9).tolist() == [0.1, 0.3, 0.4]
    assert [frame.pose.angle("mouth") for frame in back.keyframes] == [-0.1, -0.1, 0.0]


def test_a_pause_at_the_end_is_kept() -> None:
    frames = (Keyframe(Pose.of(("mouth",), {"mouth": -0.1}), 0.1, 0.2),)
    assert read(write(Motion("some", "sony_ers7", ("mouth",), frames)).data).duration == pytest.approx(0.3)


def test_a_wait_at_the_end_is_kept_where_every_joint_stays() -> None:
    motion = motion_of((0.0, {"mouth": 0.0}), (0.5, {"mouth": -0.1}), (0.5, {}))
    assert read(write(motion).data).duration == pytest.approx(1.0)


def test_a_jump_takes_a_millisecond_and_no_more() -> None:
    frames = (
        Keyframe(Pose.of(("mouth",), {"mouth": 0.0}), 0.0, 1.0),
        Keyframe(Pose.of(("mouth",), {"mouth": -0.4}), 0.0, 1.0),
    )
    rendering = write(Motion("some", "sony_ers7", ("mouth",), frames))
    back = read(rendering.data)
    assert [back.at(t).angle("mouth") for t in (0.0, 0.998, 1.0, 2.0)] == pytest.approx(
        [0.0, 0.0, -0.4, -0.4]
    )
    assert rendering.losses == ()
    assert rendering.remarks == ("jumps take 1 ms: 1 of them",)


def test_keyframes_in_the_same_millisecond_are_merged_and_the_lost_one_is_named() -> None:
    motion = motion_of((0.1, {"mouth": 0.0}), (2e-4, {"mouth": -0.5}), (1e-4, {"mouth": -0.1}))
    rendering = write(motion)
    assert rendering.losses == ("keyframe 2: within the same millisecond as keyframe 3, which stays",)


def test_lights_and_weights_are_written_again() -> None:
    data = b"#MSq\nMOUTH 0\ndelay 100\nLED:faceA 0.5 0.25\nMOUTH -0.1 0.5\ndelay 100\nMOUTH 0\n#END\n"
    motion = replace(read(data), origin=None)
    rendering = write(motion)
    assert rendering.losses == ()
    assert read(rendering.data).extras == motion.extras


def test_what_the_format_cannot_hold_is_lost_by_name() -> None:
    frame = Keyframe(
        Pose.of(("mouth", "head_pan"), {"mouth": 0.0}, ["head_pan"]),
        0.5,
        easing=Easing.SMOOTH,
        stiffness={"mouth": 1.0},
        attitude=(0.0, 0.1, 0.0),
    )
    motion = Motion(
        "a_stand#sit", "sony_ers7", frame.pose.joints, (frame,), repeat=3, next="x", exit="y",
        start=frame.pose, extras={"creator": "me", "odd": "well", "empty": ""},
    )  # fmt: skip
    losses = "; ".join(write(motion).losses)
    expected = "easing smooth|stiffness|torque off at head_pan|repeats 3 times"
    for loss in f"{expected}|motion 'x' comes next|motion 'y'|start pose|odd 'well'".split("|"):
        assert loss in losses
    remarks = "; ".join(write(motion).remarks)
    for remark in ("name 'a_stand#sit'", "attitude", "creator 'me'"):  # they move no joint
        assert remark in remarks
        assert remark not in losses
    assert "empty" not in losses
    assert "creator" not in "; ".join(write(replace(motion, extras={})).remarks)


def test_outputs_that_the_robot_has_not_are_kept_in_place_and_lost_in_a_new_file() -> None:
    data = b"#MSq\nNECK:roll 1\nMOUTH 0\ndelay 100\nMOUTH -0.1\n#END\n"
    motion = read(data)
    assert write(with_angle(motion, 1, "mouth", -0.2)).losses == ()
    longer = replace(motion, keyframes=(*motion.keyframes, Keyframe(motion.keyframes[0].pose, 0.2)))
    assert write(longer).losses == ("NECK:roll: sony_ers7 has no such outputs",)


def test_a_robot_that_tekkotsu_does_not_know_cannot_be_written() -> None:
    motion = Motion("some", "robotis_bioloid", ("left_knee",), (Keyframe(Pose.of(("left_knee",), {}), 0.0),))
    with pytest.raises(FormatError, match="Tekkotsu has no names"):
        write(motion)


@pytest.mark.parametrize("angle", [math.inf, 1e9])
def test_an_angle_beyond_all_bounds_cannot_be_written(angle: float) -> None:
    with pytest.raises(FormatError, match="has an angle beyond"):
        write(motion_of((0.0, {"mouth": angle})))


def test_a_motion_that_gives_no_angle_cannot_be_written() -> None:
    with pytest.raises(FormatError, match="moves no joint"):
        write(motion_of((0.5, {})))


def test_a_long_motion_is_written_and_read_in_reasonable_time() -> None:
    rows = tuple((0.01, {"mouth": -0.1 * (i % 3), "head_pan": math.sin(i)}) for i in range(5000))
    back = read(write(motion_of(*rows)).data)
    assert len(back.keyframes) == 5000
    assert np.isclose(back.duration, 50.0)
