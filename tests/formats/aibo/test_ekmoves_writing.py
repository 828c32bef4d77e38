"""Writing C headers of AIBO poses: both directions exact, old text kept, and through Sony's own format."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError
from posewright.formats import FORMATS, WriteOptions
from posewright.formats.ekmoves.document import JOINT_ORDER
from posewright.formats.ekmoves.format import FORMAT
from posewright.formats.motion_file import mark_single_page
from posewright.formats.motion_format import Rendering
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import robot

ERS7 = robot("sony_ers7")
BESIDE = Path("some.h")
OPTIONS = WriteOptions()
NUMBERS = ("40", "-12.50", "0", "-3f", *("3e1", "5", "60") * 4)
HEADER = (
    "#pragma once // ours\r\n"
    + "".join(
        f"static const double KICK_101_0{n}[] = {{{', '.join(NUMBERS)}}};  // pose {n}\r\n" for n in (1, 2, 3)
    )
    + f"\r\nconst double EK_POS[16] =\r\n  {{ {', '.join(NUMBERS)} }};\r\n"
).encode()


def read(data: bytes) -> tuple[Motion, ...]:
    return FORMAT.read(data, BESIDE, None).motions


def write(motion: Motion) -> Rendering:
    return FORMAT.render(motion, BESIDE, OPTIONS)


def with_angle(motion: Motion, place: int, joint: str, degrees: float) -> Motion:
    angles = motion.keyframes[place].pose.angles.copy()
    angles[motion.joints.index(joint)] = math.radians(degrees)
    frames = list(motion.keyframes)
    frames[place] = replace(frames[place], pose=Pose(motion.joints, angles))
    return replace(motion, keyframes=tuple(frames))


def test_an_unedited_header_is_the_same_bytes() -> None:
    for motion in read(HEADER):
        assert write(motion) == Rendering(HEADER, times_s=tuple(motion.keyframe_times.tolist()))


def test_an_edited_angle_changes_its_number_and_nothing_else() -> None:
    kick, stand = read(HEADER)
    second = HEADER.index(b"02[]")
    assert write(with_angle(kick, 1, "head_pan", 7.25)).data == HEADER[:second] + HEADER[second:].replace(
        b"-12.50", b"7.25", 1
    )
    assert write(with_angle(stand, 0, "mouth", -4.0)).data == HEADER.replace(b"-3f", b"!").replace(
        b"!", b"-3f", 3
    ).replace(b"!", b"-4")


def test_an_edited_time_is_said_in_a_comment() -> None:
    kick = read(HEADER)[0]
    frames = (kick.keyframes[0], replace(kick.keyframes[1], reach_s=0.25, pause_s=0.1), kick.keyframes[2])
    edited = write(replace(kick, keyframes=frames)).data
    assert edited == HEADER.replace(b"};  // pose 2", b"};  // reach 0.250 s, pause 0.100 s  // pose 2")
    assert read(edited)[0].keyframes == frames


def test_more_keyframes_are_arrays_after_the_last_and_fewer_are_taken_out() -> None:
    kick = read(HEADER)[0]
    longer = replace(kick, keyframes=(*kick.keyframes, replace(kick.keyframes[0], reach_s=0.4)))
    grown = write(longer).data
    assert grown.startswith(
        HEADER[: HEADER.index(b"\r\nconst double EK_POS")] + b"const double KICK_101_04[16] = {\r\n"
    )
    assert grown.endswith(HEADER[HEADER.index(b"\r\nconst double EK_POS") :])
    assert read(grown)[0].keyframes == longer.keyframes
    shorter = replace(kick, keyframes=kick.keyframes[:1])
    assert write(shorter).data == b"".join(
        line for line in HEADER.splitlines(True) if b"_02" not in line and b"_03" not in line
    )


def test_a_single_pose_that_becomes_a_motion_gets_numbers() -> None:
    stand = read(HEADER)[1]
    grown = write(replace(stand, keyframes=stand.keyframes * 2)).data
    assert b"const double EK_POS_01[16] =\r\n  {" in grown
    assert b"const double EK_POS_02[16] = {" in grown


def test_a_new_name_renames_the_arrays() -> None:
    kick = read(HEADER)[0]
    renamed = write(replace(kick, name="a#b")).data
    assert renamed.count(b"A_B_0") == 3
    assert b"// motion: a#b\r\nstatic const double A_B_01[]" in renamed
    assert read(renamed)[0].name == "a#b"
    assert write(replace(kick, name="KICK")).data.count(b"KICK_0") == 3


def test_a_name_that_another_motion_has_is_refused() -> None:
    with pytest.raises(FormatError, match="another array EK_POS"):
        write(replace(read(HEADER)[0], name="ek_pos", keyframes=read(HEADER)[0].keyframes[:1]))


def test_all_edited_motions_of_a_file_are_written_at_once() -> None:
    file = FORMAT.read(HEADER, BESIDE, None)
    assert FORMAT.render_file is not None
    assert FORMAT.render_file(file).data == HEADER
    edited = [with_angle(motion, 0, "mouth", -20.0) for motion in file.motions]
    edited_file = file.with_motion(1, edited[0]).with_motion(2, edited[1])
    assert FORMAT.render_file(edited_file).data.count(b"-20") == 2


def test_a_motion_asked_for_alone_is_a_file_of_its_own() -> None:
    kick = mark_single_page(read(HEADER)[0])
    rendering = write(kick).data
    assert [motion.name for motion in read(rendering)] == ["KICK_101"]
    assert read(rendering)[0].keyframes == kick.keyframes


def test_joints_that_are_never_set_stand() -> None:
    motion = Motion("bow", "sony_ers7", ("mouth",), (Keyframe(Pose.of(("mouth",), {"mouth": -0.5}), 0.0),))
    rendering = write(motion)
    assert rendering.losses == ()
    assert "left_front_knee" in rendering.remarks[0]
    assert "mouth" not in rendering.remarks[0]
    back = read(rendering.data)[0]
    assert back.name == "bow"
    assert back.keyframes[0].pose.angle("left_front_knee") == pytest.approx(
        ERS7.poses["stand"]["left_front_knee"], abs=1e-7
    )


def test_ears_and_tail_are_lost_where_they_do_anything() -> None:
    joints = ("mouth", "left_ear", "tail_tilt", "tail_pan")
    stand = ERS7.poses["stand"]
    still = {"mouth": -0.5, "left_ear": 0.0, "tail_tilt": stand["tail_tilt"]}
    frames = (
        Keyframe(Pose.of(joints, still), 0.0),
        Keyframe(Pose.of(joints, {**still, "tail_pan": 0.0}), 0.4),
    )
    motion = Motion("wag", "sony_ers7", joints, frames)
    assert write(motion).losses == ()
    wagging = replace(
        motion, keyframes=(frames[0], Keyframe(Pose.of(joints, {**still, "tail_pan": 0.2}), 0.4))
    )
    assert write(wagging).losses == ("tail_pan: there is no place for such joints",)


def test_what_a_header_cannot_hold_is_lost_by_name() -> None:
    frame = Keyframe(
        Pose.of(("mouth",), {"mouth": -0.5}), 0.4, easing=Easing.SMOOTH, stiffness={"mouth": 1.0}
    )
    motion = Motion("x", "sony_ers7", ("mouth",), (frame,), repeat=2, next="y", start=frame.pose)
    losses = "; ".join(write(motion).losses)
    for loss in ("easing", "stiffness", "repeats 2 times", "'y' comes next", "start pose"):
        assert loss in losses


def test_a_robot_with_other_joints_cannot_be_written() -> None:
    motion = Motion("x", "sony_ers210", ("mouth",), (Keyframe(Pose.of(("mouth",), {"mouth": -0.5}), 0.0),))
    with pytest.raises(FormatError, match="sony_ers210 has no head_tilt"):
        write(motion)


def test_an_angle_beyond_a_turn_cannot_be_written() -> None:
    motion = Motion("x", "sony_ers7", ("mouth",), (Keyframe(Pose.of(("mouth",), {"mouth": 7.0}), 0.0),))
    with pytest.raises(FormatError, match="by more than 360"):
        write(motion)


@st.composite
def motions(draw: st.DrawFn) -> Motion:
    count = draw(st.integers(1, 5))
    angle = st.floats(-2.2, 2.2)
    rows = [draw(st.lists(angle, min_size=16, max_size=16)) for _ in range(count)]
    times = st.one_of(st.just(0.0), st.floats(1e-5, 30.0))
    lean = st.floats(-3.0, 3.0)
    attitudes = st.one_of(st.none(), st.tuples(lean, lean, lean))
    frames = [
        Keyframe(Pose(JOINT_ORDER, np.array(row)), draw(times), draw(times), attitude=draw(attitudes))
        for row in rows
    ]
    text = st.text(min_size=1, max_size=12)
    extras = draw(st.dictionaries(text.filter(lambda key: key != "motion"), text, max_size=2))
    return Motion(draw(text), "sony_ers7", JOINT_ORDER, tuple(frames), extras=extras)


@given(motions())
def test_a_written_motion_is_read_back_exactly_to_half_a_micro_radian(motion: Motion) -> None:
    rendering = write(motion)
    assert rendering.losses == ()
    (back,) = read(rendering.data)
    assert back.name == motion.name
    assert back.extras == motion.extras
    assert len(back.keyframes) == len(motion.keyframes)
    for before, after in zip(motion.keyframes, back.keyframes, strict=True):
        np.testing.assert_allclose(after.pose.angles, before.pose.angles, rtol=0.0, atol=0.5e-6)
        expected, actual = (frame.attitude or (0.0, 0.0, 0.0) for frame in (before, after))
        np.testing.assert_allclose(actual, expected, rtol=0.0, atol=0.5e-6)
    np.testing.assert_allclose(back.keyframe_times, motion.keyframe_times, rtol=0.0, atol=0.6e-6)
    assert write(back).data == rendering.data


@given(motions())
def test_through_sonys_format_and_back_every_angle_is_exact_to_a_micro_radian(motion: Motion) -> None:
    omtn = FORMATS["aibo-omtn"]
    frames = tuple(
        replace(frame, reach_s=0.4 if place else 0.0, pause_s=0.0)
        for place, frame in enumerate(motion.keyframes)
    )
    motion = replace(motion, name="kick", keyframes=frames, extras={})
    (header,) = read(write(motion).data)
    mtn = omtn.read(omtn.render(header, Path("kick.mtn"), OPTIONS).data, Path("kick.mtn"), None).motion()
    (back,) = read(FORMAT.render(mtn, Path("kick.h"), OPTIONS).data)
    again = omtn.read(omtn.render(back, Path("kick.mtn"), OPTIONS).data, Path("kick.mtn"), None).motion()
    for before, between, after in zip(header.keyframes, back.keyframes, again.keyframes, strict=False):
        np.testing.assert_allclose(between.pose.angles, before.pose.angles, rtol=0.0, atol=0.52e-6)
        np.testing.assert_allclose(
            after.pose.with_joints(JOINT_ORDER).angles, before.pose.angles, rtol=0.0, atol=0.52e-6
        )
    assert [frame.pose for frame in again.keyframes] == [frame.pose for frame in mtn.keyframes]
    assert mtn.keyframe_times[-1] == pytest.approx(header.keyframe_times[-1], abs=0.017)


def test_a_trunk_that_is_level_among_others_that_lean_is_said_to_be() -> None:
    (motion, *_) = read(HEADER)
    attitudes = [(0.1, 0.0, 0.0), (0.0, 0.0, 0.0), None]
    frames = tuple(replace(motion.keyframes[0], reach_s=0.1, attitude=attitude) for attitude in attitudes)
    (back, *_) = read(write(replace(motion, keyframes=frames)).data)
    assert [frame.attitude is None for frame in back.keyframes] == [False, False, True]
    assert back.keyframes[1].attitude == (0.0, 0.0, 0.0)
