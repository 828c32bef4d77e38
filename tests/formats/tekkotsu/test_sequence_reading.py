"""Reading Tekkotsu's motion sequences: every command, every oddity, every fault with its line."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.formats import MotionFile, WriteOptions
from posewright.formats.tekkotsu.format import MOT
from posewright.robots import Robot, robot

ERS7 = robot("sony_ers7")


def read(text: str | bytes, card: Robot | None = ERS7, path: str = "some.mot") -> MotionFile:
    data = text.encode() if isinstance(text, str) else text
    return MOT.read(data, Path(path), card)


def sequence(*lines: str) -> str:
    return "\n".join(["#MSq", *lines, "#END"]) + "\n"


def keys(file: MotionFile, joint: str) -> list[tuple[float, float]]:
    """Return time and angle of every keyframe that gives the joint one."""
    motion = file.motion()
    times = motion.keyframe_times.round(9).tolist()
    angles = [frame.pose.angle(joint) for frame in motion.keyframes]
    return [(t, angle) for t, angle in zip(times, angles, strict=True) if not math.isnan(angle)]


@pytest.mark.parametrize("command", ["advanceTime", "delay", "DELAY", "AdvanceTime"])
def test_time_goes_on_by_either_word_in_any_case(command: str) -> None:
    file = read(sequence(f"{command} 500", "LFr:knee 1", f"{command} 250", "LFr:knee 2"))
    assert keys(file, "left_front_knee") == [(0.5, 1.0), (0.75, 2.0)]


def test_what_stands_before_the_first_time_is_at_0_and_jumps_there() -> None:
    file = read(sequence("LFr:knee 1", "delay 100", "LFr:knee 2"))
    assert [frame.reach_s for frame in file.motion().keyframes] == [0.0, 0.1]


def test_set_time_is_absolute_and_may_go_back() -> None:
    file = read(sequence("setTime 900", "LFr:knee 3", "setTime 300", "LFr:knee 1", "delay 300", "LFr:knee 0"))
    assert keys(file, "left_front_knee") == [(0.3, 1.0), (0.6, 0.0), (0.9, 3.0)]


def test_the_later_line_counts_where_two_set_the_same_at_the_same_time() -> None:
    file = read(sequence("delay 100", "LFr:knee 1", "setTime 100", "LFr:knee 2"))
    assert keys(file, "left_front_knee") == [(0.1, 2.0)]


@pytest.mark.parametrize(("word", "ms"), [("010", 8), ("0x10", 16), ("0X1f", 31), ("+7", 7), ("0", 0)])
def test_times_are_written_as_in_c(word: str, ms: int) -> None:
    assert keys(read(sequence(f"delay {word}", "MOUTH -0.1")), "mouth") == [(ms / 1000, -0.1)]


def test_degrees_multiply_everything_after_them_until_radians() -> None:
    file = read(
        sequence("LFr:knee 0.5", "degrees", "RFr:knee 90", "LED:faceA 180", "radians", "LBk:knee 0.25")
    )
    pose = file.motion().keyframes[0].pose
    assert pose.angle("left_front_knee") == 0.5
    assert pose.angle("right_front_knee") == pytest.approx(math.pi / 2)
    assert pose.angle("left_rear_knee") == 0.25
    assert file.motion().extras["tekkotsu_leds"] == f"0 LED:faceA {math.pi!r}"
    assert any("deprecated" in warning for warning in file.warnings)


def test_names_are_padded_with_tildes_and_may_leave_the_side_out() -> None:
    pose = read(sequence("Fr:rotor 0.3", "NECK:pan~ 0.2", "MOUTH~~~~ -0.1")).motion().keyframes[0].pose
    assert pose.angle("left_front_rotator") == pose.angle("right_front_rotator") == 0.3
    assert (pose.angle("head_pan"), pose.angle("mouth")) == (0.2, -0.1)


def test_a_side_may_be_set_again_after_both() -> None:
    pose = read(sequence("Bk:knee 1", "LBk:knee 2")).motion().keyframes[0].pose
    assert (pose.angle("left_rear_knee"), pose.angle("right_rear_knee")) == (2.0, 1.0)


def test_an_ear_is_up_at_1_and_down_at_0() -> None:
    pose = read(sequence("EAR:left 1", "EAR:right 0")).motion().keyframes[0].pose
    assert pose.angle("left_ear") == ERS7.joint("left_ear").upper_rad
    assert pose.angle("right_ear") == 0.0


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_any_line_end_will_do(line_end: str) -> None:
    text = sequence("# a comment", "", "\tdelay\t 100 ", "  LFr:knee\t1.5 ")
    file = read(text.replace("\n", line_end))
    assert keys(file, "left_front_knee") == [(0.1, 1.5)]
    assert file.warnings == ()


def test_comments_are_lines_and_the_end_ends_it() -> None:
    file = read(sequence("#radians? no", "LFr:knee 1") + "this is no line of it\n")
    assert keys(file, "left_front_knee") == [(0.0, 1.0)]


def test_a_missing_end_is_a_warning() -> None:
    assert read("#MSq\nLFr:knee 1\n").warnings == ("no #END at the end",)


def test_an_end_without_a_line_end_is_one() -> None:
    assert read("#MSq\nLFr:knee 1\n#END").warnings == ()


def test_an_unknown_output_is_a_warning_with_its_line() -> None:
    file = read(sequence("LFr:knee 1", "WHEEL:left 2", "neck:pan 1"))
    assert file.motion().joints == ("left_front_knee",)
    assert [warning.partition(":")[0] for warning in file.warnings] == ["line 3", "line 4"]


def test_a_roll_of_the_neck_is_skipped_on_an_ers7() -> None:
    file = read(sequence("NECK:tilt 0.1", "NECK:roll 0.2"))
    assert file.motion().joints == ("neck_tilt",)
    assert "NECK:roll" in file.warnings[0]


@pytest.mark.parametrize(
    ("names", "card"),
    [
        (("NECK:tilt", "LFr:knee"), "sony_ers7"),
        (("NECK:nod", "LFr:knee"), "sony_ers7"),
        (("NECK:roll", "LFr:knee"), "sony_ers210"),
        (("NECK:roll", "NECK:nod", "Fr:knee"), "sony_ers7"),
    ],
)
def test_the_names_tell_the_robot_where_nobody_asks_for_one(names: tuple[str, ...], card: str) -> None:
    assert read(sequence(*(f"{name} 0" for name in names)), None).motion().robot == card


def test_lights_are_remembered_and_last_as_long_as_they_say() -> None:
    file = read(sequence("LFr:knee 1", "delay 500", "LED:faceA 0.5 0.25"))
    motion = file.motion()
    assert motion.extras == {"tekkotsu_leds": "500 LED:faceA 0.5 0.25"}
    assert motion.duration == 0.5
    assert any("LED" in warning for warning in file.warnings)


def test_a_weight_of_0_at_the_beginning_leaves_the_joint_where_it_is() -> None:
    file = read(sequence("LFr:knee 9 0", "MOUTH -0.1", "delay 400", "LFr:knee 1"))
    assert keys(file, "left_front_knee") == [(0.4, 1.0)]


def test_a_weight_of_0_holds_the_joint_until_it_goes_on() -> None:
    file = read(sequence("LFr:knee 1", "delay 100", "LFr:knee 7 0", "delay 100", "LFr:knee 3"))
    motion = file.motion()
    assert [motion.at(t).angle("left_front_knee") for t in (0.0, 0.05, 0.1, 0.15, 0.2)] == pytest.approx(
        [1.0, 1.0, 1.0, 2.0, 3.0]
    )


def test_other_weights_are_remembered() -> None:
    file = read(sequence("delay 100", "LFr:knee 1 0.5"))
    assert file.motion().extras == {"tekkotsu_weights": "100 left_front_knee 0.5"}
    assert any("weight" in warning for warning in file.warnings)


def test_joints_that_set_out_together_but_arrive_apart_are_remarked() -> None:
    file = read(sequence("delay 100", "LFr:knee 1", "delay 100", "MOUTH -0.2"))
    assert len(file.warnings) == 1
    assert file.warnings[0].startswith("mouth:")


@pytest.mark.parametrize(
    ("lines", "number", "message"),
    [
        (("LFr:knee 1", "LFr:knee one"), 3, "the value of 'LFr:knee' is 'one'"),
        (("LFr:knee nan",), 2, "'nan'"),
        (("LFr:knee inf",), 2, "'inf'"),
        (("LFr:knee 1e999",), 2, "'1e999'"),
        (("LFr:knee 0x10",), 2, "'0x10'"),
        (("LFr:knee 1,5",), 2, "'1,5'"),
        (("LFr:knee 1 half",), 2, "the weight of 'LFr:knee' is 'half'"),
        (("LFr:knee",), 2, "neither a command nor an output"),
        (("~~~ 1",), 2, "neither a command nor an output"),
        (("delay 1.5",), 2, "the time is '1.5'"),
        (("delay 08",), 2, "the time is '08'"),
        (("delay",), 2, "the time is ''"),
        (("delay 0x",), 2, "the time is '0x'"),
        (("delay 99999999999",), 2, "the time is"),
        (("delay 5", "delay -6"), 3, "the time comes to -1 ms"),
        (("setTime 86400001",), 2, "the time comes to"),
        (("load",), 2, "no file name"),
    ],
)
def test_a_fault_is_an_error_with_its_line(lines: tuple[str, ...], number: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(sequence(*lines))
    assert str(caught.value).startswith(f"some.mot:{number}: ")
    assert message in str(caught.value)
    assert caught.value.hint


def test_a_sequence_that_moves_nothing_is_an_error() -> None:
    with pytest.raises(FormatError, match="moves no joint of sony_ers7"):
        read(sequence("LED:faceA 1"))


def test_real_files_read_and_come_back_to_the_byte(samples: Callable[[str], Path]) -> None:
    for name, keyframes, duration in (("k_dive", 12, 4.589), ("k_fwd", 8, 3.196)):
        path = samples(f"tekkotsu/aibo_{name}.mot")
        for card in (None, ERS7):
            file = MOT.read(path.read_bytes(), path, card)
            motion = file.motion()
            assert len(motion.keyframes) == keyframes
            assert motion.duration == pytest.approx(duration)
            written = MOT.render(motion, Path("copy.mot"), WriteOptions())
            assert written.data == path.read_bytes()
            assert written.losses == ()


def test_a_real_file_with_a_rolling_neck_is_of_an_ers210(samples: Callable[[str], Path]) -> None:
    path = samples("tekkotsu/aibo_k_fwd.mot")
    assert MOT.read(path.read_bytes(), path, None).motion().robot == "sony_ers210"


LINE = st.sampled_from(
    [
        *(
            b"LFr:knee 1",
            b"Fr:rotor~ -0.5 0",
            b"NECK:roll 1",
            b"LED:faceA 1 0.5",
            b"delay 010",
            b"setTime 50",
        ),
        *(
            b"degrees",
            b"radians",
            b"# hm",
            b"",
            b"#END",
            b"load some.pos",
            b"loadExplicit x",
            b"MOUTH 1 2 3 4",
        ),
    ]
)


@given(st.lists(LINE, max_size=8), st.data())
def test_a_damaged_file_is_read_or_refused_and_never_breaks_down(
    lines: list[bytes], data: st.DataObject
) -> None:
    whole = b"#MSq\n" + b"\n".join(lines)
    place = data.draw(st.integers(0, len(whole)))
    damaged = whole[:place] + data.draw(st.binary(max_size=3)) + whole[place + data.draw(st.integers(0, 3)) :]
    try:
        file = read(damaged, None)
    except InputError:
        return
    assert MOT.render(file.motion(), Path("some.mot"), WriteOptions()).data == damaged
