"""Writing Webots' motions: what stays, what changes, and what gets lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError
from posewright.formats import WriteOptions
from posewright.formats.motion_format import Rendering
from posewright.formats.webots.format import FORMAT
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot, unlisted_robot

ERS7 = robot("sony_ers7")
WRITTEN_RAD = 0.5e-6 + 1e-12
NAN = float("nan")
BESIDE = Path("some.motion")
TEXT = (
    b"#WEBOTS_MOTION,V1.0,Hip,Knee\r\n00:00:000,Begin,0.10,1\r\n00:00:100,with a name,*,1.5\r\n"
    b"00:00:200,End,0.3,+2.0\r\n\r\nleft alone"
)


def read(data: bytes) -> Motion:
    return FORMAT.read(data, BESIDE, None).motion()


def write(motion: Motion) -> Rendering:
    return FORMAT.render(motion, BESIDE, WriteOptions())


def with_angle(motion: Motion, place: int, column: int, angle: float) -> Motion:
    angles = motion.keyframes[place].pose.angles.copy()
    angles[column] = angle
    frames = list(motion.keyframes)
    frames[place] = replace(frames[place], pose=Pose(motion.joints, angles))
    return replace(motion, keyframes=tuple(frames))


def test_an_unedited_motion_is_the_same_bytes() -> None:
    motion = read(TEXT)
    assert write(motion) == Rendering(TEXT, times_s=tuple(motion.keyframe_times.tolist()))


def test_an_edited_angle_changes_its_cell_and_nothing_else() -> None:
    assert write(with_angle(read(TEXT), 2, 0, -0.25)).data == TEXT.replace(b"End,0.3,", b"End,-0.25,")


def test_an_edited_time_changes_the_times_after_it_and_nothing_else() -> None:
    motion = read(TEXT)
    frames = (motion.keyframes[0], replace(motion.keyframes[1], reach_s=0.15), motion.keyframes[2])
    assert write(replace(motion, keyframes=frames)).data == TEXT.replace(b":100,", b":150,").replace(
        b":200,", b":250,"
    )


def test_more_keyframes_need_a_new_file_with_the_same_devices() -> None:
    motion = read(TEXT)
    longer = replace(motion, keyframes=(*motion.keyframes, replace(motion.keyframes[0], reach_s=0.1)))
    assert write(longer).data.decode().splitlines() == [
        "#WEBOTS_MOTION,V1.0,Hip,Knee",
        "00:00:000,Pose1,0.1,1",
        "00:00:100,Pose2,0.1,1.5",
        "00:00:200,Pose3,0.3,2",
        "00:00:300,Pose4,0.1,1",
    ]


def test_columns_of_strangers_stay_in_place_and_are_lost_in_a_new_file() -> None:
    knee = ERS7.names_in("webots")["left_front_knee"]
    data = f"#WEBOTS_MOTION,V1.0,Zeppelin,{knee}\n00:00:000,a,5,0.5\n00:00:100,b,6,0.6\n".encode()
    motion = FORMAT.read(data, BESIDE, ERS7).motion()
    written = write(with_angle(motion, 1, 0, 0.7))
    assert (written.data, written.losses) == (data.replace(b"0.6", b"0.7"), ())
    longer = replace(motion, keyframes=(*motion.keyframes, replace(motion.keyframes[0], reach_s=0.1)))
    assert write(longer).losses == ("Zeppelin: sony_ers7 has no such devices",)


def test_a_motion_of_an_aibo_has_the_devices_of_webots_aibo() -> None:
    motion = Motion("some", "sony_ers7", ("mouth",), (Keyframe(Pose.of(("mouth",), {"mouth": -0.5}), 0.0),))
    assert write(motion).data == b"#WEBOTS_MOTION,V1.0,PRM:/r1/c1/c2/c3/c4-Joint2:14\n00:00:000,Pose1,-0.5\n"


def test_a_joint_that_stays_has_its_angle_again_before_it_goes_on_and_none_for_good() -> None:
    joints = ("mouth", "head_pan", "neck_tilt")
    rows = [(0.0, -0.1, NAN), (NAN, NAN, NAN), (-0.2, NAN, NAN)]
    frames = tuple(Keyframe(Pose(joints, np.array(row)), 0.1) for row in rows)
    lines = write(Motion("some", "sony_ers7", joints, frames)).data.decode().splitlines()
    assert [line.split(",", 2)[2] for line in lines[1:]] == ["0,-0.1", "0,*", "-0.2,*"]


def test_what_the_format_cannot_hold_is_lost_by_name() -> None:
    frame = Keyframe(Pose.of(("mouth",), {"mouth": -0.5}), 0.5, attitude=(0.1, 0.0, 0.0))
    motion = Motion("other", "sony_ers7", ("mouth",), (frame,), repeat=None, extras={"creator": "me"})
    assert [*map(str, write(motion).losses)] == ["that it repeats for ever"]
    told = "; ".join(write(motion).remarks)
    for what in ("name 'other'", "attitude", "creator 'me'"):  # they move no joint
        assert what in told


def test_a_motion_over_100_minutes_does_not_fit() -> None:
    frame = Keyframe(Pose.of(("mouth",), {"mouth": -0.5}), 6000.0)
    with pytest.raises(FormatError, match="lasts 6000000 ms"):
        write(Motion("some", "sony_ers7", ("mouth",), (frame,)))


def test_a_motion_that_gives_no_angle_does_not_fit() -> None:
    with pytest.raises(FormatError, match="no joint an angle"):
        write(Motion("some", "sony_ers7", ("mouth",), (Keyframe(Pose.of(("mouth",), {}), 0.5),)))


@pytest.mark.parametrize("name", ["a,b", "a\nb", " "])
def test_a_name_that_would_break_the_table_is_refused(name: str) -> None:
    card = unlisted_robot("odd", [name])
    origin = replace(read(TEXT).origin, format="", document=None, robot=card)  # type: ignore[type-var]
    motion = Motion("some", "odd", (name,), (Keyframe(Pose.of((name,), {name: 0.0}), 0.0),), origin=origin)
    with pytest.raises(FormatError, match="cannot be the name of a device"):
        write(motion)


@st.composite
def motions(draw: st.DrawFn) -> Motion:
    joints = tuple(draw(st.lists(st.sampled_from(ERS7.joint_names), min_size=1, max_size=4, unique=True)))
    count = draw(st.integers(1, 6))
    angle = st.one_of(st.floats(-2.0, 2.0), st.just(NAN))
    rows = [draw(st.lists(angle, min_size=len(joints), max_size=len(joints))) for _ in range(count)]
    rows[0][0] = draw(st.floats(-2.0, 2.0))
    reaches = draw(st.lists(st.floats(0.003, 2.0), min_size=count, max_size=count))
    pauses = draw(st.lists(st.one_of(st.just(0.0), st.floats(0.003, 1.0)), min_size=count, max_size=count))
    reaches[0] = draw(st.sampled_from([0.0, reaches[0]]))
    frames = [
        Keyframe(Pose(joints, np.array(row)), r, p) for row, r, p in zip(rows, reaches, pauses, strict=True)
    ]
    return Motion("some", "sony_ers7", joints, tuple(frames))


@given(motions())
def test_a_written_motion_has_every_angle_and_time_within_the_quantum(motion: Motion) -> None:
    written = write(motion)
    assert written.losses == ()
    back = FORMAT.read(written.data, BESIDE, ERS7).motion()
    nearest = np.abs(back.keyframe_times[None] - motion.keyframe_times[:, None]).argmin(axis=1)
    times = back.keyframe_times[nearest]
    assert np.abs(times - motion.keyframe_times).max() <= 0.0005 + 1e-9
    assert back.duration == pytest.approx(motion.duration, abs=0.0005 + 1e-9)
    places = [motion.joints.index(joint) for joint in back.joints]
    there = motion.sample_at(motion.keyframe_times).angles[:, places]
    np.testing.assert_allclose(back.sample_at(times).angles, there, rtol=0.0, atol=WRITTEN_RAD)


@given(motions())
def test_what_was_written_once_is_the_same_bytes_ever_after(motion: Motion) -> None:
    first = write(motion).data
    assert write(FORMAT.read(first, BESIDE, ERS7).motion()).data == first
