"""Tekkotsu's postures: the classic form, the condensed one, sections, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.formats import MotionFile, WriteOptions
from posewright.formats.tekkotsu.document import OUTPUTS
from posewright.formats.tekkotsu.format import POS
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot, robot

ERS7 = robot("sony_ers7")
OPTIONS = WriteOptions()


def read(text: str, card: Robot | None = ERS7) -> MotionFile:
    return POS.read(text.encode(), Path("some.pos"), card)


def posture(*lines: str) -> str:
    return "\n".join(["#POS", *lines, "#END", ""])


def angles(file: MotionFile) -> dict[str, float]:
    (frame,) = file.motion().keyframes
    return dict(zip(frame.pose.joints, frame.pose.angles.tolist(), strict=True))


def test_a_posture_is_a_motion_of_one_keyframe_that_takes_no_time() -> None:
    file = read(posture("LFr:rotor\t 0.028518\t1.000000", "MOUTH~~~~ -0.5", "NECK:nod 1 0"))
    assert angles(file) == {"mouth": -0.5, "left_front_rotator": 0.028518}
    assert file.motion().duration == 0.0
    assert file.warnings == ()


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_comments_stand_anywhere_and_any_line_end_will_do(line_end: str) -> None:
    text = posture("# all of it", "LFr:knee = 1.5 # here too", "MOUTH -0.25#").replace("\n", line_end)
    assert angles(read(text)) == {"mouth": -0.25, "left_front_knee": 1.5}


def test_what_stands_behind_the_end_does_not_count() -> None:
    assert angles(read(posture("MOUTH -0.1") + "MOUTH one\n")) == {"mouth": -0.1}


def test_a_missing_end_is_a_warning() -> None:
    assert read("#POS\nMOUTH 0\n").warnings == ("no #END at the end",)


@pytest.mark.parametrize("model", ["ERS-7", "ERS-210"])
def test_a_condensed_posture_has_its_models_order(model: str) -> None:
    names = OUTPUTS[model]
    values = [f"{place / 100:.2f}" for place in range(len(names))]
    weights = ["0" if name.startswith("LED") else "1" for name in names]
    file = read(
        posture(f"condensed {model}", f"outputs = {' '.join(values)}", f"weights = {' '.join(weights)}"), None
    )
    found = angles(file)
    assert found["right_rear_knee"] == 0.11
    assert found["mouth"] == pytest.approx(0.17)
    assert file.motion().robot == {"ERS-7": "sony_ers7", "ERS-210": "sony_ers210"}[model]
    assert file.motion().extras == {}


def test_a_condensed_posture_of_another_model_is_mapped_by_name() -> None:
    names = OUTPUTS["ERS-210"]
    file = read(posture("condensed ERS-210", f"outputs = {' '.join(['0.5'] * len(names))}"))
    assert "head_tilt" not in angles(file)
    assert any("NECK:roll" in warning for warning in file.warnings)


def test_other_sections_are_passed_over_even_as_tekkotsu_writes_them() -> None:
    file = read(
        posture(
            "<meta-info>",
            "timestamp 1",
            "framenumber 2",
            "</meta-info>",
            "MOUTH -0.1",
            "<buttons>",
            "LFrPaw 1",
            "</buttons><sensors>",
            "MOUTH 9",
            "</sensors><pidduties>",
            "MOUTH 9",
            "</pidduties>",
            "buttons = 1 2 3",
            "verbose",
            "NECK:nod 0.5",
        )
    )
    assert angles(file) == {"mouth": -0.1, "head_tilt": 0.5}
    assert file.warnings == ()


@pytest.mark.parametrize(
    ("pattern", "counts"),
    [
        ("ERS-7", True),
        ("ERS-210", False),
        ("ERS-.*", True),
        ("ERS-2.*", False),
        ("ERS-210|ERS-7", True),
        ("ERS-[67]", True),
    ],
)
def test_what_is_specialised_counts_for_its_models_only(pattern: str, counts: bool) -> None:
    file = read(posture("MOUTH -0.1", f"specialize {pattern}", "MOUTH -0.2", "specialize", "NECK:nod 0"))
    assert angles(file) == {"mouth": -0.2 if counts else -0.1, "head_tilt": 0.0}


@pytest.mark.parametrize(
    ("lines", "number", "message"),
    [
        (("MOUTH",), 2, "an output without a value"),
        (("MOUTH x",), 2, "the value of 'MOUTH' is 'x'"),
        (("MOUTH 0 x",), 2, "the weight of 'MOUTH' is 'x'"),
        (("MOUTH 0", "condensed"), 3, "condensed for an unknown model ''"),
        (("condensed AIBO",), 2, "condensed for an unknown model 'AIBO'"),
        (("condensed ERS-7", "outputs = 1 2 3"), 3, "3 values"),
        (("outputs = 1 2 3",), 2, "3 values"),
        (("weights = 1",), 2, "1 values"),
        (("<motors>",), 2, "unknown section"),
        (("specialize (a*)*",), 2, "a pattern"),
        (("specialize [z-a]",), 2, "a pattern"),
    ],
)
def test_a_fault_is_an_error_with_its_line(lines: tuple[str, ...], number: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(posture(*lines))
    assert str(caught.value).startswith(f"some.pos:{number}: {message}")
    assert caught.value.hint


def test_an_edited_angle_changes_its_number_and_nothing_else() -> None:
    text = posture("# mine", "LFr:rotor\t 0.028518\t1.000000", "MOUTH~~~~ -0.5")
    motion = read(text).motion()
    pose = motion.keyframes[0].pose
    moved = Keyframe(Pose(pose.joints, np.where(np.array(pose.joints) == "mouth", -0.25, pose.angles)), 0.0)
    assert POS.render(motion, Path("b.pos"), OPTIONS).data == text.encode()
    assert POS.render(
        replace(motion, keyframes=(moved,)), Path("some.pos"), OPTIONS
    ).data.decode() == text.replace("-0.5", "-0.25")


@given(st.dictionaries(st.sampled_from(ERS7.joint_names), st.floats(-2.0, 2.0), min_size=1))
def test_a_written_posture_says_the_same_within_a_micro_radian(expected: dict[str, float]) -> None:
    joints = tuple(expected)
    motion = Motion("some", "sony_ers7", joints, (Keyframe(Pose.of(joints, expected), 0.0),))
    written = POS.render(motion, Path("some.pos"), OPTIONS)
    assert written.losses == ()
    assert angles(read(written.data.decode())) == pytest.approx(expected, abs=1e-6)


def test_of_a_longer_motion_the_first_pose_is_written_and_the_rest_is_lost() -> None:
    frames = tuple(Keyframe(Pose.of(("mouth",), {"mouth": -0.1 * i}), 0.1 * i) for i in range(3))
    written = POS.render(Motion("some", "sony_ers7", ("mouth",), frames), Path("some.pos"), OPTIONS)
    assert written.data == b"#POS\nMOUTH\t0\n#END\n"
    assert written.losses == (
        "keyframes 2 to 3: a posture is a single pose, and the first keyframe is written",
        "times: a posture has none",
    )


def test_real_postures_come_back_to_the_byte(samples: Callable[[str], Path]) -> None:
    for name, joints in (("situp", 14), ("stand", 12)):
        path = samples(f"tekkotsu/aibo_{name}.pos")
        file = POS.read(path.read_bytes(), path, None)
        assert (file.motion().robot, len(file.motion().joints), file.warnings) == ("sony_ers7", joints, ())
        assert POS.render(file.motion(), Path("copy.pos"), OPTIONS).data == path.read_bytes()


@given(
    st.binary(max_size=40),
    st.lists(
        st.sampled_from([b"MOUTH 1", b"<sensors>", b"specialize .*", b"outputs = 1", b"=", b"#END"]),
        max_size=5,
    ),
)
def test_a_damaged_posture_is_read_or_refused_and_never_breaks_down(noise: bytes, lines: list[bytes]) -> None:
    data = b"\n".join([b"#POS", *lines, noise])
    try:
        file = POS.read(data, Path("some.pos"), None)
    except InputError:
        return
    assert POS.render(file.motion(), Path("some.pos"), OPTIONS).data == data
