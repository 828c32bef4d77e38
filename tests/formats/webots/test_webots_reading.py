"""Reading Webots' motions: times, devices and values, and every fault with its line."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.formats import MotionFile, WriteOptions
from posewright.formats.webots.format import FORMAT
from posewright.robots import Robot, robot

ERS7 = robot("sony_ers7")
KNEE = ERS7.names_in("webots")["left_front_knee"]
HEAD = "#WEBOTS_MOTION,V1.0,RShoulder,Elbow[hip]"


def read(text: str, card: Robot | None = None) -> MotionFile:
    return FORMAT.read(text.encode(), Path("wave.motion"), card)


def table(*rows: str, head: str = HEAD) -> str:
    return "\n".join([head, *rows, ""])


def test_every_row_is_a_keyframe_at_its_time() -> None:
    motion = read(table("00:00:000,a,0,1", "00:00:040,b,0.5,-1e-1", "01:02:003,c,.25,2.")).motion()
    assert motion.name == "wave"
    assert motion.joints == ("RShoulder", "Elbow[hip]")
    assert motion.keyframe_times.round(9).tolist() == [0.0, 0.04, 62.003]
    assert [frame.pose.angles.tolist() for frame in motion.keyframes] == [
        [0.0, 1.0],
        [0.5, -0.1],
        [0.25, 2.0],
    ]


def test_the_first_time_need_not_be_0() -> None:
    motion = read(table("00:00:213,a,0,1", "00:01:000,b,0,1")).motion()
    assert [frame.reach_s for frame in motion.keyframes] == pytest.approx([0.213, 0.787])


@pytest.mark.parametrize(
    ("clock", "ms"), [("250", 250), ("1:250", 1250), ("2:1:250", 121_250), ("0:75:0", 75_000)]
)
def test_minutes_and_seconds_may_be_left_out_as_webots_lets_them(clock: str, ms: int) -> None:
    assert read(table(f"{clock},a,0,1")).motion().keyframe_times[0] == pytest.approx(ms / 1000)


def test_a_star_leaves_a_joint_where_it_is() -> None:
    file = read(table("00:00:000,a,0,1", "00:00:100,b,*,2", "00:00:200,c,0,*", "00:00:300,d,*,*"))
    motion = file.motion()
    assert [motion.at(t).angle("RShoulder") for t in (0.05, 0.1, 0.2, 0.3)] == [0.0, 0.0, 0.0, 0.0]
    assert motion.keyframes[2].pose.held_mask.tolist() == [False, True]
    assert file.warnings == ()


def test_a_new_value_after_stars_is_remarked_as_webots_jumps_there() -> None:
    file = read(table("00:00:000,a,0,1", "00:00:100,b,*,2", "00:00:200,c,1,3"))
    assert len(file.warnings) == 1
    assert file.warnings[0].startswith("RShoulder:")


def test_windows_line_ends_commas_too_many_and_blanks_do_no_harm() -> None:
    text = table("00:00:000,a b, 0 ,1,", "00:00:100,,1,2", head=HEAD + ",").replace("\n", "\r\n")
    file = read(text)
    assert file.motion().keyframes[1].pose.angles.tolist() == [1.0, 2.0]
    assert file.warnings == ("line 3: a pose without a name: Webots itself does not read this file",)


def test_nothing_is_read_behind_an_empty_line_as_in_webots() -> None:
    file = read(table("00:00:000,a,0,1", "", "00:00:100,b,0,1"))
    assert len(file.motion().keyframes) == 1
    assert "line 3" in file.warnings[0]
    assert read(table("00:00:000,a,0,1", "", "")).warnings == ()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (ERS7.names_in("webots")["left_front_knee"], "sony_ers7"),
        (",".join(robot("sony_ers210").naming("open_r")), "sony_ers210"),
        ("left_front_knee,head_tilt", "sony_ers7"),
        ("right_hip_yaw,left_knee", "robotis_bioloid"),
        ("RShoulderPitch,LShoulderPitch", "webots_robot"),
        ("left_front_knee,Zeppelin", "webots_robot"),
    ],
)
def test_the_devices_tell_the_robot(names: str, expected: str) -> None:
    row = ",".join(["00:00:000", "a", *["0"] * len(names.split(","))])
    assert read(table(row, head=f"#WEBOTS_MOTION,V1.0,{names}")).motion().robot == expected


def test_a_robot_that_has_nearly_all_of_the_devices_is_named() -> None:
    row = "00:00:000,a,0.5,9"
    file = read(table(row, head=f"#WEBOTS_MOTION,V1.0,{KNEE},Zeppelin"))
    assert file.motion().robot == "webots_robot"
    assert file.warnings == (
        "sony_ers7 has all devices but Zeppelin; to read it for sony_ers7, name the robot",
    )


def test_a_robot_that_is_asked_for_takes_its_own_devices_and_leaves_the_others() -> None:
    file = read(table("00:00:000,a,0.5,9", head=f"#WEBOTS_MOTION,V1.0,{KNEE},Zeppelin"), ERS7)
    assert file.motion().joints == ("left_front_knee",)
    assert file.warnings == ("sony_ers7 has no devices Zeppelin: left out",)


@pytest.mark.parametrize(
    ("text", "number", "said"),
    [
        ("#WEBOTS_MOTION,V2.0,a\n00:00:000,p,1\n", 1, "not the header"),
        ("#WEBOTS_MOTION,V1.0\n00:00:000,p\n", 1, "a device without a name"),
        ("#WEBOTS_MOTION,V1.0,a,,b\n00:00:000,p,1,2,3\n", 1, "a device without a name"),
        ("#WEBOTS_MOTION,V1.0,a,a\n00:00:000,p,1,2\n", 1, "device 'a' has two columns"),
        (f"{HEAD}\n", 1, "the file has no poses"),
        (table("00:00:000,p,1"), 2, "3 columns, expected 4"),
        (table("00:00:000,p,1,2,3"), 2, "more than 4 columns"),
        (table("00:00:000,p,1,2", "00:00:000,q,1,2"), 3, "the time does not rise"),
        (table("00:00:100,p,1,2", "00:00:050,q,1,2"), 3, "the time does not rise"),
        (table("0:0:0:0,p,1,2"), 2, "the time is '0:0:0:0'"),
        (table("soon,p,1,2"), 2, "the time is 'soon'"),
        (table("-00:00:001,p,1,2"), 2, "the time is"),
        (table("100:00:000,p,1,2"), 2, "the time is '100:00:000'"),
        (table("00:00:000,p,1,two"), 2, "'two' is not a number"),
        (table("00:00:000,p,1,"), 2, "'' is not a number"),
        (table("00:00:000,p,,1"), 2, "'' is not a number"),
        (table("00:00:000,p,nan,1"), 2, "'nan' is not a number"),
        (table("00:00:000,p,1e999,1"), 2, "'1e999' is not a number"),
        (table("00:00:000,p,1.5rad,1"), 2, "'1.5rad' is not a number"),
    ],
)  # fmt: skip
def test_a_fault_is_an_error_with_its_line(text: str, number: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"wave.motion:{number}: {said}")
    assert caught.value.hint


def test_two_devices_that_are_one_joint_are_an_error() -> None:
    with pytest.raises(FormatError, match="both left_front_knee"):
        read(table("00:00:000,a,0,1", head=f"#WEBOTS_MOTION,V1.0,{KNEE},left_front_knee"), ERS7)


def test_a_file_without_a_device_of_the_robot_asked_for_is_an_error() -> None:
    with pytest.raises(FormatError, match="no device of sony_ers7"):
        read(table("00:00:000,a,0,1"), ERS7)


def test_real_files_of_a_robot_without_a_card_read_and_come_back_to_the_byte(
    samples: Callable[[str], Path],
) -> None:
    for name, keyframes, devices in (("HandWave", 37, 3), ("Forwards", 66, 12)):
        path = samples(f"webots_motion/{name}.motion")
        file = FORMAT.read(path.read_bytes(), path, None)
        motion = file.motion()
        assert (motion.robot, len(motion.keyframes), len(motion.joints)) == (
            "webots_robot",
            keyframes,
            devices,
        )
        assert file.warnings == ()
        written = FORMAT.render(motion, Path("copy.motion"), WriteOptions())
        assert (written.data, written.losses) == (path.read_bytes(), ())
        assert all(math.isfinite(angle) for angle in motion.at(0.5).angles)


@given(
    st.lists(
        st.sampled_from(["00:00:000,p,1,2", "00:00:100,q,*,2", "", "7,,1,1", "1:1:1:1,p,1,1"]), max_size=4
    ),
    st.data(),
)
def test_a_damaged_file_is_read_or_refused_and_never_breaks_down(
    rows: list[str], data: st.DataObject
) -> None:
    whole = table(*rows).encode()
    place = data.draw(st.integers(0, len(whole)))
    damaged = whole[:place] + data.draw(st.binary(max_size=3)) + whole[place + data.draw(st.integers(0, 3)) :]
    try:
        file = FORMAT.read(damaged, Path("wave.motion"), None)
    except InputError:
        return
    assert FORMAT.render(file.motion(), Path("wave.motion"), WriteOptions()).data == damaged
