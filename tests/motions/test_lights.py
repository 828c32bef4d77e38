"""Lights as a track of motions: read, saved, held, mirrored, carried over and told where they get lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import InputError, UnknownNameError
from posewright.formats import losses
from posewright.formats.native import read, render
from posewright.motions import (
    Easing,
    Keyframe,
    Motion,
    Pose,
    mirror_motion,
    retarget_motion,
    straighten_motion,
)
from posewright.robots import Led, Light, robot

BLINK = b"""motion: blink  # with both eyes
robot: sony_ers7
joints: [head_pan]
keyframes:
  - {reach_s: 0.5, lights: {mode_red: 255, face_1: [0, 255, 0]}, pose_deg: [10]}
  - {reach_s: 0.5, pose_deg: [0]}  # nothing changes
  - {reach_s: 0.5, lights: {mode_red: 51}, pose_deg: [0]}
"""
AIBO = robot("sony_ers7")
EYES = (Led("left_eye", "rgb", "head"), Led("right_eye", "rgb", "head"), Led("right_ear", "red", "head"))
ROBOT = replace(robot("robotis_bioloid"), leds=EYES)


def lit(*lights: Mapping[str, Light] | None, repeat: int | None = 1) -> Motion:
    """Build a motion of the knee, half a second a keyframe, with lights in each."""
    frames = (Keyframe(Pose(("left_knee",), np.array([0.1])), 0.5, lights=one) for one in lights)
    return Motion("lit", ROBOT.name, ("left_knee",), tuple(frames), repeat=repeat)


def test_a_file_with_lights_is_read_and_written_as_it_stood() -> None:
    blink = read(BLINK)
    assert blink.lights == ("mode_red", "face_1")
    assert [dict(frame.lights or {}) for frame in blink.keyframes] == [
        {"mode_red": 255.0, "face_1": (0.0, 255.0, 0.0)},
        {},
        {"mode_red": 51.0},
    ]
    assert render(blink) == BLINK


def test_an_edited_light_changes_its_line_only() -> None:
    blink = read(BLINK)
    frame = replace(blink.keyframes[2], lights={"mode_red": 0})
    edited = replace(blink, keyframes=(*blink.keyframes[:2], frame))
    assert render(edited) == BLINK.replace(b"mode_red: 51", b"mode_red: 0")


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["face_1", "face_13"]),
            st.floats(0.0, 255.0) | st.tuples(*[st.integers(0, 255).map(float)] * 3),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_written_is_read_back(told: list[dict[str, Light]]) -> None:
    frames = tuple(Keyframe(Pose(("head_pan",), np.zeros(1)), 0.5, lights=one) for one in told)
    motion = Motion("lit", "sony_ers7", ("head_pan",), frames)
    assert read(render(motion)) == motion


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (b"mode_rd: 255", r":5: unknown LED 'mode_rd' of sony_ers7 \(did you mean mode_red"),
        (b"mode_red: 256", r":5: .*lights.mode_red: 256.* is out of range"),
        (
            b"mode_red: [255, 0, 0]",
            r":5: .*mode_red: 3 numbers \(write one number, 0..255: the LED is red only\)",
        ),
        (
            b"mode_red: 1, face_14: [255, 0]",
            r":5: .*face_14: 2 numbers \(write \[red, green, blue\] or one number",
        ),
        (b"mode_red: on", r":5: .*expected a number"),
    ],
)
def test_a_wrong_light_is_refused_with_its_line(wrong: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(BLINK.replace(b"mode_red: 255", wrong))


@pytest.mark.parametrize("light", [-1, 256, float("nan"), (1.0, 2.0), (0.0, 0.0, 300.0)])
def test_a_light_no_lamp_can_show_is_no_keyframe(light: Light) -> None:
    with pytest.raises(InputError, match=r"the light left_eye is set to .*0\.\.255"):
        lit({"left_eye": light})


def test_a_light_is_held_until_it_is_told_something_else() -> None:
    motion = lit({"left_eye": (255, 0, 0)}, None, {"right_ear": 255}, {"left_eye": 51})
    shown = motion.lights_at(np.array([0.1, 0.6, 1.1, 1.6, 9.0]), ROBOT)
    assert shown["left_eye"].tolist() == [[1, 0, 0]] * 3 + [[0.2, 0.2, 0.2]] * 2
    assert np.isnan(shown["right_ear"][:2]).all()
    assert shown["right_ear"][2:].tolist() == [[1, 0, 0]] * 3


def test_a_later_pass_begins_as_the_last_one_ended() -> None:
    motion = lit({"left_eye": 255}, {"right_ear": 255}, repeat=2)
    shown = motion.lights_at(np.array([0.1, 1.1]), ROBOT)
    assert np.isnan(shown["right_ear"][0]).all()
    assert shown["right_ear"][1].tolist() == [1, 0, 0]


def test_a_light_that_the_robot_does_not_have_is_named() -> None:
    with pytest.raises(UnknownNameError, match="did you mean left_eye"):
        lit({"left_eye_": 1}).lights_at(np.zeros(1), ROBOT)
    with pytest.raises(InputError, match="right_ear of robotis_bioloid is red only"):
        lit({"right_ear": (1, 2, 3)}).lights_at(np.zeros(1), ROBOT)


@pytest.mark.parametrize("name", ["roboplus-mtn", "uc3m-csv", "webots-motion"])
def test_formats_without_lights_say_that_they_get_lost(name: str) -> None:
    frame = Keyframe(Pose(ROBOT.joint_names, ROBOT.pose("stand")), 0.5, lights={"left_eye": 255})
    motion = Motion("lit", ROBOT.name, ROBOT.joint_names, (frame,))
    assert any("the lights left_eye: only the joints are written" in lost for lost in losses(motion, name))
    dark = replace(motion, keyframes=(replace(frame, lights=None),))
    assert not any("lights" in lost for lost in losses(dark, name))


def test_a_mirror_changes_left_and_right_lights() -> None:
    pose = Pose(("left_knee", "right_knee"), np.array([0.1, 0.2]))
    frame = Keyframe(pose, 0.5, lights={"left_eye": 1, "right_ear": 2})
    motion = Motion("lit", ROBOT.name, pose.joints, (frame,))
    assert dict(mirror_motion(motion, ROBOT).keyframes[0].lights or {}) == {
        "right_eye": 1.0,
        "right_ear": 2.0,
    }


def test_lights_of_another_robot_stay_behind_and_that_is_said() -> None:
    other = replace(ROBOT, leds=EYES[:1])
    carried = retarget_motion(lit({"left_eye": 1, "right_eye": 2}), other, ROBOT)
    assert carried.unlit == ("right_eye",)
    assert carried.motion.lights == ("left_eye",)


def test_straight_pieces_tell_a_light_once() -> None:
    frame = replace(lit({"left_eye": 9}).keyframes[0], easing=Easing.SMOOTH)
    dark = Keyframe(Pose(("left_knee",), np.array([0.9])), 0.0)
    motion = straighten_motion(Motion("m", ROBOT.name, ("left_knee",), (dark, frame, dark)))
    assert [dict(one.lights) for one in motion.keyframes if one.lights] == [{"left_eye": 9.0}]
