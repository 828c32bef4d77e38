"""Motions to Robi's pose data and back: exact to 0.1 deg and 1/60 s, and what is lost is told."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.bodies import MockBody
from posewright.errors import InputError
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import Light, robot
from posewright.runtimes.robi.catalogue import load_program
from posewright.runtimes.robi.listing import assemble
from posewright.runtimes.robi.machine import ProgramMachine
from posewright.runtimes.robi.memory import RobiMemory
from posewright.runtimes.robi.motion_reader import program_to_motion
from posewright.runtimes.robi.motion_writer import motion_to_program
from posewright.runtimes.robi.posture_schemes import read_pose_blocks
from posewright.runtimes.robi.rm4 import read_rm4
from posewright.runtimes.robi.servos import ServoEngine

CARD = robot("deagostini_robi2")
STAND = Pose(CARD.joint_names, CARD.pose("stand"))
SIT = Pose(CARD.joint_names, CARD.pose("sit"))

byte = st.integers(0, 255).map(float)


@st.composite
def keyframes(draw: st.DrawFn, joints: tuple[str, ...]) -> Keyframe:
    """Draw a keyframe of what a Robi can do, to the unit."""
    ticks = draw(st.lists(st.integers(-100, 100) | st.none(), min_size=len(joints), max_size=len(joints)))
    free = draw(st.frozensets(st.sampled_from(joints), max_size=2))
    servos = [CARD.servo(joint) for joint in joints]
    angles = [math.nan if n is None else servo.from_ticks(n) for n, servo in zip(ticks, servos, strict=True)]
    told = draw(st.dictionaries(st.sampled_from(joints), st.integers(1, 100), max_size=3))
    colours: dict[str, Light] = draw(
        st.dictionaries(st.sampled_from(["left_eye", "right_eye"]), st.tuples(byte, byte, byte))
    )
    mouth = draw(st.none() | byte)
    return Keyframe(
        Pose(joints, np.array(angles), free),
        draw(st.integers(1, 300)) / 60,
        draw(st.integers(0, 100)) / 60,
        stiffness={joint: CARD.servo(joint).stiffness * percent / 100 for joint, percent in told.items()}
        or None,
        lights=colours | ({} if mouth is None else {"mouth": mouth}),
    )


@st.composite
def motions(draw: st.DrawFn) -> Motion:
    chosen = draw(st.sets(st.sampled_from(CARD.joint_names), min_size=1))
    joints = tuple(joint for joint in CARD.joint_names if joint in chosen)
    first = Keyframe(Pose(joints, np.array([CARD.servo(joint).from_ticks(0) for joint in joints])), 0.5)
    return Motion(
        "drawn", CARD.name, joints, (first, *draw(st.lists(keyframes(joints), min_size=1, max_size=5)))
    )


@given(motions())
@settings(max_examples=40, deadline=None)
def test_a_motion_becomes_a_program_and_comes_back_to_the_unit(motion: Motion) -> None:
    written = motion_to_program(motion)
    assert written.losses == ()
    assert written.rounding.angle_rad < 1e-9
    assert written.rounding.time_s < 1e-9
    back = program_to_motion(read_rm4(written.program.render()), "drawn").motion
    assert back.joints == motion.joints
    times = motion.keyframe_times
    ends = np.append(times, times + [frame.pause_s for frame in motion.keyframes])
    one, other = (it.sample_at(np.sort(ends + 1e-6)) for it in (motion, back))
    np.testing.assert_allclose(
        other.angles, one.angles, atol=1e-4, equal_nan=True
    )  # 1e-6 s on the way to the next
    np.testing.assert_array_equal(other.free, one.free)
    assert back.duration == pytest.approx(motion.duration, abs=1e-9)
    lit, shown = (it.lights_at(np.sort(times), CARD) for it in (motion, back))
    for name in motion.lights:
        np.testing.assert_array_equal(lit[name], shown[name])


@given(motions())
@settings(max_examples=30, deadline=None)
def test_what_came_back_once_comes_back_the_same(motion: Motion) -> None:
    once = program_to_motion(motion_to_program(motion).program, "drawn").motion
    assert program_to_motion(motion_to_program(once).program, "drawn").motion == once


def test_a_motion_of_the_whole_robot_with_lights_is_written_block_by_block_as_the_notes_have_them() -> None:
    lights: dict[str, Light] = {"left_eye": (255, 0, 0), "right_eye": (0, 0, 255), "mouth": 120}
    motion = Motion(
        "sit", CARD.name, CARD.joint_names, (Keyframe(SIT, 1.0, lights=lights), Keyframe(STAND, 0.5))
    )
    first, second = read_pose_blocks(motion_to_program(motion).program)
    assert first[:8] == (0, 0, 0xFFE2, 100, 0xFBD2, 100, 0, 100)
    assert first[-8:] == (255, 0, 0, 0, 0, 255, 120, 60)
    assert second[-8:] == (255, 0, 0, 0, 0, 255, 120, 30)


def test_a_motion_of_one_arm_leaves_the_words_of_all_others_alone() -> None:
    joints = ("right_elbow",)
    motion = Motion("arm", CARD.name, joints, (Keyframe(Pose(joints, np.array([0.5])), 0.5),))
    (tag,) = [
        node for node in motion_to_program(motion).program.tags if node.values and node.address < 0x0A7E
    ]
    assert (tag.address, len(tag.values)) == (0x0A00 + 4 * 17, 2)


def test_the_program_that_ships_is_a_motion_with_lights() -> None:
    read = program_to_motion(load_program("dance"))
    assert read.motion.name == "dance"
    assert read.motion.lights == ("left_eye", "right_eye", "mouth")
    assert set(read.motion.keyframes[0].stiffness or {}) == set(CARD.joint_names)
    assert any("call" in remark for remark in read.remarks)
    assert read_pose_blocks(motion_to_program(read.motion).program) == read_pose_blocks(load_program("dance"))


def played(motion: Motion, seconds: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return what the servos are commanded while a program plays a motion, a row a frame."""
    memory, body = RobiMemory(), MockBody(CARD)
    engine, machine = ServoEngine(CARD, memory), ProgramMachine(motion_to_program(motion).program, memory)
    rows = []
    for _ in range(round(seconds * 60)):
        engine.update_measured(body.read())
        machine.run(200)
        rows.append(engine.advance_frame())
        body.advance({CARD.name: rows[-1]})
    return np.concatenate([row.angles for row in rows])


def test_the_program_moves_the_robot_as_the_motion_does() -> None:
    frames = Keyframe(STAND, 0.5), Keyframe(SIT, 1.0, 0.5), Keyframe(STAND, 0.25)
    motion = Motion("bow", CARD.name, CARD.joint_names, frames)
    rows = played(motion, 4.0)
    for wanted in (SIT, STAND):
        assert np.abs(rows - wanted.angles).max(axis=1).min() < 1e-6
    still = (np.abs(rows - SIT.angles).max(axis=1) < 1e-6).sum()
    assert (
        30 <= still <= 33
    )  # the pause of half a second, and a frame in which the program sees that a move is over


def test_a_motion_that_is_repeated_is_played_so_often() -> None:
    motion = Motion("bow", CARD.name, CARD.joint_names, (Keyframe(SIT, 0.1), Keyframe(STAND, 0.1)), repeat=3)
    down = np.abs(played(motion, 3.0) - SIT.angles).max(axis=1) < 1e-6
    assert np.count_nonzero(down[1:] & ~down[:-1]) == 3
    endless = np.abs(played(replace(motion, repeat=None), 3.0) - SIT.angles).max(axis=1) < 1e-6
    assert np.count_nonzero(endless[1:] & ~endless[:-1]) > 8


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"next": "bow"}, "the next motion, 'bow'"),
        ({"exit": "bow"}, "the exit motion, 'bow'"),
        ({"start": STAND}, "the start pose"),
        ({"repeat": 101}, "1 instead of 101"),
        ({"keyframes": (Keyframe(STAND, 0.0),)}, "jumps of 1 keyframes"),
        ({"keyframes": (Keyframe(STAND, 0.5, easing=Easing.SMOOTH),)}, "easing smooth"),
        ({"keyframes": (Keyframe(STAND, 0.5, stiffness={"left_knee": 1e3}),)}, "the stiffness of left_knee"),
        (
            {"keyframes": (Keyframe(Pose.of(CARD.joint_names, {"left_knee": 3.0}), 0.5),)},
            "left_knee is at 171.9 deg",
        ),
    ],
)
def test_what_a_program_cannot_say_is_told(change: dict[str, object], says: str) -> None:
    motion = Motion("m", CARD.name, CARD.joint_names, (Keyframe(STAND, 0.5),))
    assert motion_to_program(motion).losses == ()
    assert any(says in lost for lost in motion_to_program(replace(motion, **change)).losses)  # type: ignore[arg-type]


def test_straightened_a_curved_way_loses_nothing() -> None:
    frames = Keyframe(STAND, 0.5), Keyframe(SIT, 0.5, easing=Easing.SMOOTH)
    written = motion_to_program(Motion("m", CARD.name, CARD.joint_names, frames), straighten=True)
    assert written.losses == ()
    assert len(program_to_motion(written.program).motion.keyframes) > 5


def test_what_is_rounded_is_told() -> None:
    frame = Keyframe(Pose.of(CARD.joint_names, {"left_knee": math.radians(10.04)}), 0.508)
    rounding = motion_to_program(Motion("m", CARD.name, CARD.joint_names, (frame,))).rounding
    assert math.degrees(rounding.angle_rad) == pytest.approx(0.04)
    assert rounding.time_s == pytest.approx(0.508 - 0.5)


def test_a_motion_of_another_robot_is_refused_with_advice() -> None:
    bow = Motion("bow", "robotis_bioloid", ("head_pan",), (Keyframe(Pose(("head_pan",), np.zeros(1)), 1.0),))
    with pytest.raises(InputError, match="--robot deagostini_robi2"):
        motion_to_program(bow)


def test_a_way_longer_than_a_word_can_say_is_refused() -> None:
    with pytest.raises(InputError, match="at most 1092 s"):
        motion_to_program(Motion("m", CARD.name, CARD.joint_names, (Keyframe(STAND, 2000.0),)))


def test_a_program_that_moves_nothing_is_no_motion() -> None:
    with pytest.raises(InputError, match="moves no joint"):
        program_to_motion(assemble("    mem_w 2 0x0f82 = 0x0001\n"))


def test_a_program_without_end_of_moves_is_refused_soon() -> None:
    text = "    mem_w 2 0x0a08 = 0x0001\n    mem_w 2 0x0a7e = 0x0001\n" * 10_001
    with pytest.raises(InputError, match="more than 10,000 moves"):
        program_to_motion(assemble(text))


@given(
    st.lists(
        st.tuples(
            st.integers(0x09F8, 0x0A88),
            st.sampled_from([1, 2]),
            st.lists(st.integers(0, 0xFF), min_size=1, max_size=80),
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=50, deadline=None)
def test_whatever_is_written_to_the_pose_block_is_a_motion_or_refused(
    writes: list[tuple[int, int, list[int]]],
) -> None:
    lines = (f"    mem_w {size} {at:#06x} = {', '.join(map(str, values))}\n" for at, size, values in writes)
    try:
        motion = program_to_motion(assemble("".join(lines))).motion
    except InputError:
        return
    again = program_to_motion(motion_to_program(motion).program).motion
    np.testing.assert_allclose(again.duration, motion.duration, atol=1e-9)


def test_torque_that_comes_and_goes_is_read_as_free_and_as_stiffness() -> None:
    text = (
        "    mem_w 2 0x0a08 = 0x0064, 0x0050, 0x0000, 0x0064, 0x0000\n"  # ID 3 and 4, ID 5 without its torque
        "    mem_w 2 0x0a7e = 0x003c\n"
        "    mem_w 2 0x0a0a = 0x0000\n"
        "    mem_w 2 0x0a7e = 0x003c\n"
        "    mem_w 2 0x0a0a = 0x0064\n"
        "    mem_w 2 0x0a7e = 0x003c\n"
    )
    motion = program_to_motion(assemble(text)).motion
    assert motion.joints == ("right_hip_pitch", "right_knee", "right_ankle_pitch")
    own = CARD.servo("right_hip_pitch").stiffness
    assert motion.keyframes[0].stiffness == {"right_hip_pitch": pytest.approx(0.8 * own)}
    assert [sorted(frame.pose.free) for frame in motion.keyframes] == [
        ["right_ankle_pitch"],
        ["right_hip_pitch"],
        [],
    ]
    assert motion.keyframes[2].pose.angle("right_hip_pitch") == pytest.approx(math.radians(10.0))
