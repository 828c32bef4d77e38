"""Motions as a program and back, programs as motions and back: no move is lost, and losses are reported."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import robot
from posewright.runtimes.robobasic import compile_or_raise, compile_source, program_names, read_source
from posewright.runtimes.robobasic.motion_reader import read_motions, read_routines
from posewright.runtimes.robobasic.motion_writer import write_motions
from posewright.runtimes.robobasic.servos import board_parameters, count_pulses, find_group
from posewright.runtimes.robobasic.speed_settings import (
    EXTRA,
    SpeedSetting,
    all_speed_settings,
    decode_speed_settings,
)
from posewright.runtimes.robobasic.tree import BasicSource, CommandStatement, Identifier, Number

CARD = robot("hitec_robonova1")
PULSE_S = CARD.frame_period_s
SERVOS = {joint: CARD.servo(joint) for joint in CARD.joint_names}
NUMBERS = {joint: servo.id or 0 for joint, servo in SERVOS.items()}
STAND = dict(zip(NUMBERS.values(), CARD.to_ticks(CARD.pose("stand")).tolist(), strict=True))
COUNT_RAD = abs(SERVOS["left_knee"].from_ticks(101) - SERVOS["left_knee"].from_ticks(100))

counts = st.integers(10, 190)


def motion_of(source: str | bytes, label: str) -> Motion:
    """Return the motion of a routine."""
    (found,) = (
        routine
        for routine in read_routines(compile_or_raise(read_source(source)), CARD)
        if routine.label == label
    )
    assert found.failure == ""
    assert found.motion is not None
    return found.motion


def make_motion(*frames: Keyframe, joints: tuple[str, ...] = ("left_knee",), **more: object) -> Motion:
    return Motion("nod", CARD.name, joints, frames, **more)  # type: ignore[arg-type]


def knee(count: float, reach_s: float, pause_s: float = 0.0) -> Keyframe:
    return Keyframe(Pose(("left_knee",), np.array([SERVOS["left_knee"].from_ticks(count)])), reach_s, pause_s)


# ---- program -> motions -> program


Fields = dict[int, int]


@st.composite
def poses(draw: st.DrawFn) -> tuple[list[str], Fields]:
    """Draw the lines of a pose in one of the ways to write it, and the counts for the robot's servos."""
    targets: Fields = {}
    lines = []
    names = draw(
        st.sampled_from([["G6A", "G6B", "G6C", "G6D"], ["G8A", "G8B", "G8C"], ["G16"], ["G24"], ["G32"]])
    )
    for name in names:
        group = find_group(name)
        assert group is not None
        fields = [
            draw(counts | st.none() if servo in STAND else st.sampled_from([None, 100]))
            for servo in group[: draw(st.integers(0, len(group)))]
        ]
        if not any(fields):
            continue
        targets |= {
            servo: to for servo, to in zip(group, fields, strict=False) if to is not None and servo in STAND
        }
        commas = ", ".join("" if field is None else str(field) for field in fields)
        extra = "," if draw(st.booleans()) else ""
        lines.append(f"MOVE{name[1:]} {commas}{extra}" if name == "G24" else f"MOVE {name}, {commas}{extra}")
    return lines, targets


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[tuple[Fields, SpeedSetting]]]:
    """Draw a program, and the poses of its routine with SPEED and HIGHSPEED of each, in order."""
    lines, expected_moves = [], []
    pace = SpeedSetting(board_parameters().first_speed)
    for _ in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            pace = SpeedSetting(draw(st.integers(1, 15)), pace.high_speed)
            lines.append(f"SPEED {pace.speed}")
        if draw(st.integers(0, 3)) == 0:
            pace = SpeedSetting(pace.speed, not pace.high_speed)
            lines.append(f"HIGHSPEED {'SETON' if pace.high_speed else 'SETOFF'}")
        written, fields = draw(poses())
        lines += [*written, "WAIT"]
        if fields:
            expected_moves.append((fields, pace))
        if draw(st.booleans()):
            lines.append(f"DELAY {20 * draw(st.integers(0, 40))}")
    body = "\n".join(lines)
    return f"PTP SETON\nPTP ALLON\nEND\nhere:\n{body}\nRETURN\n", expected_moves


def written_moves(source: BasicSource) -> list[Fields]:
    """Return the counts for the robot's servos, one dictionary for the MOVEs before each WAIT."""
    moves: list[Fields] = [{}]
    for line in source.lines:
        match line.statement:
            case CommandStatement("MOVE", (Identifier(group), *fields)):
                servos = find_group(group) or range(0)
                moves[-1] |= {
                    servo: field.value
                    for servo, field in zip(servos, fields, strict=False)
                    if isinstance(field, Number)
                }
            case CommandStatement("WAIT"):
                moves.append({})
            case _:
                pass
    return [move for move in moves if move]


@given(programs())
@settings(max_examples=80)
def test_a_program_that_becomes_a_motion_and_a_program_again_keeps_every_move_and_speed(
    drawn: tuple[str, list[tuple[Fields, SpeedSetting]]],
) -> None:
    text, expected_moves = drawn
    motions, _ = read_motions(compile_or_raise(read_source(text)), CARD)
    if not expected_moves:
        assert motions == ()
        return
    written = write_motions(motions, CARD)
    assert written.losses == ()
    source = read_source(written.data)
    assert written_moves(source) == [fields for fields, _ in expected_moves]
    again = motion_of(written.data, "here")
    first = motions[0].keyframes
    moved = [place for place, frame in enumerate(first) if not frame.pose.held_mask.all()]
    assert [decode_speed_settings(again)[place] for place in moved[-len(expected_moves) :]] == [
        pace for _, pace in expected_moves
    ]
    assert again.keyframes == first


@given(programs())
@settings(max_examples=30)
def test_speed_comes_back_wherever_the_time_tells_it_when_it_is_not_kept(
    drawn: tuple[str, list[tuple[Fields, SpeedSetting]]],
) -> None:
    motions, _ = read_motions(compile_or_raise(read_source(drawn[0])), CARD)
    bare_motions = [replace(motion, extras={}) for motion in motions]
    for motion in bare_motions:
        again = motion_of(write_motions([motion], CARD).data, "here")
        assert again.keyframes == motion.keyframes


# ---- motions -> program -> motions


@st.composite
def motions(draw: st.DrawFn) -> Motion:
    """Draw a motion whose ways take as long as some SPEED gives; counts are not whole, pauses anything."""
    chosen = draw(st.sets(st.sampled_from(CARD.joint_names), min_size=1, max_size=5))
    joints = tuple(joint for joint in CARD.joint_names if joint in chosen)
    places, frames = dict(STAND), []
    for _ in range(draw(st.integers(1, 6))):
        targets = draw(st.dictionaries(st.sampled_from(joints), st.integers(11, 189), min_size=1))
        off = {joint: draw(st.floats(-0.45, 0.45)) for joint in targets}
        free = draw(st.sets(st.sampled_from(joints), max_size=2)) - targets.keys()
        travel = max(abs(to - places[NUMBERS[joint]]) for joint, to in targets.items())
        places |= {NUMBERS[joint]: to for joint, to in targets.items()}
        pace = draw(st.sampled_from(all_speed_settings()))
        pulses = count_pulses(travel, pace.rate(board_parameters().speed_counts_s), PULSE_S)
        jumps = draw(st.integers(0, 5)) == 0
        angles = {joint: SERVOS[joint].from_ticks(to + off[joint]) for joint, to in targets.items()}
        pause = draw(st.floats(3 * PULSE_S if jumps else PULSE_S, 2.0) | st.just(0.0 if not jumps else 1.0))
        frames.append(Keyframe(Pose.of(joints, angles, free), 0.0 if jumps else pulses * PULSE_S, pause))
    used = {
        joint for frame in frames for joint in joints if frame.pose.angle(joint) == frame.pose.angle(joint)
    }
    used |= {joint for frame in frames for joint in frame.pose.free}
    moved = tuple(joint for joint in joints if joint in used)
    return Motion(
        "drawn",
        CARD.name,
        moved,
        tuple(replace(frame, pose=frame.pose.with_joints(moved)) for frame in frames),
    )


@given(motions())
@settings(max_examples=100)
def test_a_motion_becomes_a_program_and_comes_back_to_half_a_count_and_a_pulse(motion: Motion) -> None:
    written = write_motions([motion], CARD)
    assert written.losses == ()
    assert written.rounding.time_s <= PULSE_S + 1e-9
    assert written.rounding.angle_rad <= 0.5 * COUNT_RAD
    back = motion_of(written.data, "drawn")
    assert back.joints == motion.joints
    assert len(back.keyframes) == len(motion.keyframes)
    np.testing.assert_allclose(back.keyframe_times, motion.keyframe_times, atol=PULSE_S + 1e-6)
    for pose, read_pose in zip(motion.resolved_poses()[1:], back.resolved_poses()[1:], strict=True):
        assert pose.free == read_pose.free
        np.testing.assert_allclose(read_pose.angles, pose.angles, atol=0.5 * COUNT_RAD + 1e-6)
    for frame, other_frame in zip(motion.keyframes, back.keyframes, strict=True):
        np.testing.assert_array_equal(np.isnan(other_frame.pose.angles), np.isnan(frame.pose.angles))


@given(st.lists(counts, min_size=2, max_size=5), st.integers(2, 5), st.sampled_from(all_speed_settings()))
@settings(max_examples=50)
def test_a_motion_that_repeats_becomes_a_loop_whose_passes_all_take_the_same_time(
    places: list[int], again: int, pace: SpeedSetting
) -> None:
    rate = pace.rate(board_parameters().speed_counts_s)
    ways = [abs(to - before) for before, to in zip([places[-1], *places[:-1]], places, strict=True)]
    frames = [
        knee(to, count_pulses(way, rate, PULSE_S) * PULSE_S, 0.2)
        for to, way in zip(places, ways, strict=True)
    ]
    written = write_motions([make_motion(*frames, repeat=again)], CARD)
    assert written.losses == ()
    assert f"    FOR TIMES = 1 TO {again}\n" in written.text
    back = motion_of(written.data, "nod").keyframes
    assert [frame.pose for frame in back] == [frame.pose for frame in back[: len(frames)]] * again
    assert len(back) == again * len(frames)
    ends = [sum(frame.duration for frame in back[: number * len(frames)]) for number in range(1, again + 1)]
    np.testing.assert_allclose(np.diff(ends), sum(frame.duration for frame in frames), atol=PULSE_S)


def test_a_motion_for_ever_goes_back_to_its_label_and_is_called_last() -> None:
    walk = replace(make_motion(knee(120, 0.5), knee(140, 0.5)), name="walk", repeat=None)
    written = write_motions([walk, make_motion(knee(120, 0.5))], CARD)
    assert "    GOTO walk\n" in written.text
    assert written.text.index("GOSUB nod") < written.text.index("GOSUB walk")
    back = motion_of(written.data, "walk")
    assert back.repeat is None
    assert [frame.reach_s for frame in back.keyframes] == pytest.approx([0.5, 0.5], abs=0.05)


def test_a_program_is_what_a_person_would_write() -> None:
    motion = make_motion(knee(115, 2 * 0.02 * math.ceil(30 / (5 * 15 * 0.02) / 2), 0.5), knee(145, 0.0))
    text = write_motions([motion], CARD).text
    assert text.endswith(
        "GOSUB nod\nEND\n\nnod:\n    SPEED 5\n    MOVE G6A,    ,    , 115\n    WAIT\n    DELAY 500\n"
        "    SERVO 2, 145\n    RETURN\n"
    )
    assert text.startswith("' Motions of a RoboNova-1 (MR-C3024), written by Posewright: nod.\n")
    assert "PTP ALLON\nDIR G6A, 1, 0, 0, 1, 0, 0\n" in text
    assert "GETMOTORSET G6A, 1, 1, 1, 1, 1, 0\n" in text


def test_a_written_program_has_nothing_odd_about_it() -> None:
    repeated = replace(make_motion(knee(120, 0.5)), repeat=3)
    assert compile_source(read_source(write_motions([repeated], CARD).data)).findings == ()


def test_a_pace_that_is_kept_is_taken_only_where_it_still_fits() -> None:
    (motion,), _ = read_motions(
        compile_or_raise(read_source("SPEED 9\nMOVE G6A, , , 144\nWAIT\nSPEED 9\nMOVE G6A, , , 100\nWAIT\n")),
        CARD,
    )
    assert motion.extras[EXTRA] == "9*2"
    slower = replace(motion, speed=0.5)
    text = write_motions([slower], CARD).text
    assert "    SPEED 9\n" not in text
    assert "    SPEED 9\n" in write_motions([motion], CARD).text
    odd = replace(motion, extras={EXTRA: "9*99999"})
    assert decode_speed_settings(odd) == [None, None]
    assert decode_speed_settings(replace(motion, extras={EXTRA: "99 x"})) == [None, None]


def test_whole_groups_and_parts_of_them_are_let_go() -> None:
    joints = CARD.joint_names
    arm = CARD.groups["left_arm"]
    held = Pose.of(joints, {}, {*arm, "right_elbow"})
    motion = Motion("rest", CARD.name, joints, (Keyframe(held, 1.0),))
    text = write_motions([motion], CARD).text
    assert "rest:\n    MOTOROFF G6B\n    MOTOROFF 14\n    DELAY 1000\n    RETURN\n" in text


def test_a_long_pause_is_several_delays() -> None:
    text = write_motions([make_motion(knee(145, 0.02, 100.0))], CARD).text
    assert "    DELAY 65535\n    DELAY 34465\n" in text


# ---- what cannot be


def test_what_a_program_cannot_hold_is_listed() -> None:
    frames = (replace(knee(120, 0.5), easing=Easing.SMOOTH, stiffness={"left_knee": 1.0}),)
    nod = make_motion(
        *(replace(frame, reach_s=25 / 45) for frame in frames), next="bow", exit="sit", start=frames[0].pose
    )
    assert write_motions([nod], CARD).losses == (
        "easing smooth: servos move at constant speed",
        "the stiffness of left_knee",
        "the next motion, 'bow'",
        "the exit motion, 'sit'",
        "the start pose",
    )


def test_times_that_no_speed_gives_are_told_with_the_largest() -> None:
    slowest = 100 / board_parameters().speed_counts_s
    written = write_motions([make_motion(knee(45, slowest + 2.0))], CARD)
    assert written.losses == ("times of keyframes, by up to 2 s: no SPEED gives them",)
    assert re.search("SPEED 1\n    MOVE G6A,    ,    ,  45\n    WAIT\n    DELAY (19|20)..\n", written.text)
    both = write_motions([make_motion(knee(45, slowest + 2.0)), make_motion(knee(145, 0.02))], CARD)
    assert both.losses[0].startswith("nod: times of keyframes")


def test_one_keyframe_that_is_late_does_not_make_the_others_late() -> None:
    fast = [knee(45, 0.02), knee(145, 1.0), knee(45, 1.0), knee(145, 1.0)]
    back = motion_of(write_motions([make_motion(*fast)], CARD).data, "nod")
    assert back.keyframe_times[-1] == pytest.approx(3.02, abs=0.1)


def test_a_joint_beyond_what_move_takes_is_refused_by_name() -> None:
    far = Keyframe(Pose(("left_knee",), np.array([SERVOS["left_knee"].from_ticks(191)])), 1.0)
    with pytest.raises(InputError, match=r"'nod', keyframe 2: left_knee is at .* 191 counts") as caught:
        write_motions([make_motion(knee(120, 1.0), far)], CARD)
    assert "MOVE takes 10..190" in str(caught.value)


def test_a_motion_of_another_robot_and_none_at_all_are_refused() -> None:
    joints = robot("sony_ers7").joint_names[:1]
    other = Motion("wag", "sony_ers7", joints, (Keyframe(Pose(joints, np.zeros(1)), 1.0),))
    with pytest.raises(InputError, match="motion 'wag' is for sony_ers7"):
        write_motions([other], CARD)
    with pytest.raises(InputError, match="there is no motion to write"):
        write_motions([], CARD)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("bow", "bow"),
        ("get up!", "get_up"),
        ("1 2 3", "motion_1_2_3"),
        ("GOTO", "motion_GOTO"),
        ("move", "motion_move"),
        ("G6A", "motion_G6A"),
        ("times", "motion_times"),
        ("...", "motion"),
        ("앞으로", "앞으로"),
        ("größe", "gr_ße"),
        ("x\n' y", "x___y"),
        ("a" * 200, "a" * 56),
    ],
)
def test_a_label_is_what_of_a_name_can_be_one(name: str, label: str) -> None:
    written = write_motions([replace(make_motion(knee(120, 0.5)), name=name)], CARD)
    assert written.labels == (label,)
    assert motion_of(written.data, label).name == label
    assert (name == label) == (written.remarks == ())


def test_no_two_labels_are_alike() -> None:
    named = [replace(make_motion(knee(120, 0.5)), name=name) for name in ("bow", "Bow", "bow")]
    assert write_motions(named, CARD).labels == ("bow", "Bow_2", "bow_3")


@pytest.mark.parametrize("name", program_names())
def test_static_routines_of_the_programs_that_ship_come_back_as_they_were(name: str) -> None:
    motions, _ = read_motions(name, CARD)
    assert motions
    written = write_motions(motions, CARD)
    assert written.losses == ()
    again = {
        motion.name: motion for motion in read_motions(compile_or_raise(read_source(written.data)), CARD)[0]
    }
    for motion in motions:
        assert again[motion.name].keyframes == motion.keyframes
