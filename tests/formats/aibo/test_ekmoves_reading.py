"""Reading C headers of AIBO poses (EKMoves.h): arrays among whatever else C allows, and every fault."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.formats import MotionFile, WriteOptions
from posewright.formats.ekmoves.document import JOINT_ORDER
from posewright.formats.ekmoves.format import FORMAT
from posewright.formats.ekmoves.reader import blank_non_code
from posewright.robots import robot

NUMBERS = ("40", "-12.5", "0", "-3", *("30", "5", "60") * 4)


def array(
    name: str = "KICK_101_01", numbers: tuple[str, ...] = NUMBERS, before: str = "const double "
) -> str:
    return f"{before}{name}[] = {{ {', '.join(numbers)} }};\n"


def read(text: str | bytes) -> MotionFile:
    data = text.encode() if isinstance(text, str) else text
    return FORMAT.read(data, Path("EKMoves.h"), None)


def test_the_numbers_are_degrees_in_the_order_of_the_source() -> None:
    names = ("head_tilt", "head_pan", "neck_tilt", "mouth")
    legs = ("left_front", "left_rear", "right_front", "right_rear")
    motion = read(array(numbers=tuple(str(n) for n in range(16)))).motion()
    assert motion.joints[:4] == names
    assert [joint.rsplit("_", 1)[0] for joint in motion.joints[4::3]] == list(legs)
    pose = motion.keyframes[0].pose
    assert pose.angle("neck_tilt") == math.radians(2)
    assert pose.angle("left_rear_elevator") == math.radians(8)
    assert motion.robot == "sony_ers7"


def test_a_numbered_series_is_one_motion_of_400_ms_a_pose() -> None:
    file = read("".join(array(f"KICK_101_{n:02d}") for n in range(1, 7)) + array("EK_POS"))
    assert [label.name for label in file.pages] == ["KICK_101", "EK_POS"]
    kick, stand = file.motions
    assert [frame.reach_s for frame in kick.keyframes] == [0.0, *[0.4] * 5]
    assert len(stand.keyframes) == 1
    assert file.warnings == ()


def test_three_digits_are_part_of_the_name() -> None:
    file = read(array("KICK_101") + array("KICK_102"))
    assert [motion.name for motion in file.motions] == ["KICK_101", "KICK_102"]


def test_the_hundredth_pose_comes_after_the_ninety_ninth() -> None:
    file = read("".join(array(f"WALK_{n:02d}") for n in range(1, 121)))
    assert [len(motion.keyframes) for motion in file.motions] == [120]


def test_the_numbers_tell_the_order_and_gaps_are_warned_of() -> None:
    first = ("1", *NUMBERS[1:])
    file = read(array("A_03") + array("A_02", first) + array("A_05"))
    assert file.motion().keyframes[0].pose.angle("head_tilt") == math.radians(1)
    assert file.warnings == (
        "A begins with pose 2",
        "A has a gap between pose 3 and pose 5",
        "A: the poses are read in the order of their numbers, not of the file",
    )


@pytest.mark.parametrize(
    "text",
    [
        array(before="static const double "),
        array(before="const float "),
        array(before="double "),
        array(before="static double const "),
        array().replace("[]", "[16]"),
        array().replace("[]", "[ N_JOINTS ]"),
        array().replace(" }", ", }"),
        array().replace("[] = {", "\n [\t]\n=\n{\n"),
        array().replace(", ", " , /* a } comment; */ // double X[] = {\n "),
        "#ifndef X\n#define X {1, 2}; \\\n double Y[] = {3};\n#pragma once\n" + array() + "#endif",
        '#include "double.h"\nextern "C" {\nint speeds[] = {1, 2};\nvoid f(int);\n' + array() + "}",
        "const char *s = \"double X[] = {1};\", c = '\\'';\n" + array(),
        "// double X[] = {1}; \\\n double Y[] = {2};\n" + array(),
        array().replace("\n", ""),
        array().replace("\n", "\r\n"),
    ],
)
def test_whatever_else_c_allows_is_passed_over(text: str) -> None:
    file = read(text)
    assert file.motion().keyframes[0].pose.angle("head_tilt") == math.radians(40)
    assert file.warnings == ()
    assert FORMAT.render(file.motion(), Path("EKMoves.h"), WriteOptions()).data == text.encode()


@pytest.mark.parametrize(
    ("word", "degrees"),
    [("+1.5f", 1.5), ("-1.e1", -10.0), (".5", 0.5), ("1E-1F", 0.1), ("- 2", -2.0), ("0", 0.0), ("3L", 3.0)],
)
def test_numbers_are_written_as_in_c(word: str, degrees: float) -> None:
    assert read(array(numbers=(word, *NUMBERS[1:]))).motion().keyframes[0].pose.angle(
        "head_tilt"
    ) == math.radians(degrees)


def test_a_comment_of_ours_behind_an_array_tells_time_and_attitude() -> None:
    text = array().replace("\n", "  // reach 0.250 s, pause 0.100 s, attitude 0.0 -2.5 90.0 deg\n")
    (frame,) = read(text).motion().keyframes
    assert (frame.reach_s, frame.pause_s) == (0.25, 0.1)
    assert frame.attitude == pytest.approx((0.0, math.radians(-2.5), math.radians(90.0)))


def test_other_comments_behind_an_array_tell_nothing() -> None:
    for comment in (
        "// the kick",
        "// reach soon",
        "// reach 9e9 s, pause 0 s",
        "/* reach 1 s */",
    ):
        assert read(array().replace("\n", f" {comment}\n")).motion().keyframes[0].reach_s == 0.0


def test_comments_of_ours_before_a_motion_tell_its_name_and_extras() -> None:
    text = '// mine\n// motion: a_stand#kick 101\n// creator: Eagle Knights\n// "odd: key": "two\\nlines"\n'
    motion = read(text + array("A_STAND_KICK_101_01")).motion()
    assert motion.name == "a_stand#kick 101"
    assert dict(motion.extras) == {"creator": "Eagle Knights", "odd: key": "two\nlines"}


def test_a_name_told_for_another_motion_does_not_count() -> None:
    assert read("// motion: bow\n" + array("KICK_01")).motion().name == "KICK"


def test_other_floating_numbers_are_left_alone_and_remarked() -> None:
    file = read("double speed = 1.5;\n" + array() + "double TABLE[2][16] = {{0}};\n")
    assert [warning.partition(":")[0] for warning in file.warnings] == ["line 1", "line 3"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("int x;\n", 1, "no array of angles"),
        ("/* " + array(), 1, "no array of angles"),
        (array("A") + array("B", NUMBERS[:-1]), 2, "array B has 15 numbers"),
        (array("A", (*NUMBERS, "1")), 1, "array A has 17 numbers"),
        (array("A", ()), 1, "array A has 0 numbers"),
        (array("A").replace("[]", "[12]"), 1, "array A has 16 numbers, but the size [12]"),
        (array("A") + "\n" + array("A"), 3, "array A is declared twice"),
        (array("A_1") + array("A_01"), 2, "A_01 and A_1 are both pose 1"),
        (array("A", ("", *NUMBERS[1:])), 1, "a number of array A is ''"),
        (array("A", ("PI / 2", *NUMBERS[1:])), 1, "a number of array A is 'PI / 2'"),
        (array("A", ("2*30", *NUMBERS[1:])), 1, "a number of array A is '2*30'"),
        (array("A", ("(3)", *NUMBERS[1:])), 1, "a number of array A is '(3)'"),
        (array("A", ("--3", *NUMBERS[1:])), 1, "a number of array A is '--3'"),
        (array("A", ("NAN", *NUMBERS[1:])), 1, "a number of array A is 'NAN'"),
        (array("A", ("1e99", *NUMBERS[1:])), 1, "a number of array A is '1e99'"),
        (array("A", ("1e999", *NUMBERS[1:])), 1, "a number of array A is '1e999'"),
        (array("A", ("361", *NUMBERS[1:])), 1, "a number of array A is '361'"),
        (array("A", ("012", *NUMBERS[1:])), 1, "a number of array A is '012'"),
        (array("A", ("0x1F", *NUMBERS[1:])), 1, "a number of array A is '0x1F'"),
        (array("A").replace("}", ""), 1, "array A does not end"),
        (array("A").replace(";", ""), 1, "array A does not end"),
        (array("A").replace("0,", "0,\n", 1).replace("60 }", "x }"), 2, "a number of array A is 'x'"),
    ],
)  # fmt: skip
def test_a_fault_is_an_error_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"EKMoves.h:{line}: {message}")
    assert caught.value.hint


def test_a_robot_that_has_not_the_joints_is_not_asked() -> None:
    assert FORMAT.read(array().encode(), Path("x.h"), robot("sony_ers210")).motion().robot == "sony_ers7"
    assert not FORMAT.supports_robot(robot("sony_ers210"))
    assert FORMAT.supports_robot(robot("sony_ers7"))
    assert set(JOINT_ORDER) < set(robot("sony_ers7").joint_names)


@given(st.text(alphabet="/*\"'\\#\n ad{};", max_size=60))
def test_what_is_no_code_is_blanked_and_nothing_moves(text: str) -> None:
    code = blank_non_code(text.encode())
    assert len(code) == len(text)
    assert [at for at, byte in enumerate(code) if byte == 10] == [
        at for at, sign in enumerate(text) if sign == "\n"
    ]
    assert b"//" not in code
    assert b"/*" not in code
    assert all(new in (old, 32) for old, new in zip(text.encode(), code, strict=True))


HEADER = (
    "// motion: kick\n" + array("KICK_01") + array("KICK_02").replace("\n", "  // reach 0.1 s, pause 0.1 s\n")
).encode()


@given(st.integers(0, len(HEADER)), st.integers(0, 6), st.binary(max_size=4))
def test_a_damaged_header_is_read_or_refused_and_never_breaks_down(
    start: int, n_removed: int, noise: bytes
) -> None:
    damaged = HEADER[:start] + noise + HEADER[start + n_removed :]
    try:
        file = read(damaged)
    except InputError:
        return
    assert FORMAT.render_file is not None
    assert FORMAT.render_file(file).data == damaged


def test_a_pause_may_be_left_out_of_the_comment() -> None:
    frame = read(array().replace("\n", " // reach 0.1 s\n")).motion().keyframes[0]
    assert (frame.reach_s, frame.pause_s) == (0.1, 0.0)
