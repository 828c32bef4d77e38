"""The player finishes what it began, follows the links between pages, and keeps its own clock."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.controllers.passes import join_duration, join_frames
from posewright.errors import InputError, UnknownNameError
from posewright.motions import Easing, Keyframe, Motion


def test_with_no_request_it_stands_still(shop) -> None:
    player = shop.player(shop.nod("nod", "left_elbow"))
    assert np.array_equal(shop.play(player, 300), np.tile(shop.stand, (300, 1)))
    assert player.playing is None


def test_a_motion_is_played_to_its_last_pose_and_then_held(shop) -> None:
    player = shop.player(shop.motion("raise", {"left_elbow": 0.4}, reach_s=0.5))
    player.request("raise")
    angles = shop.play(player, 64)
    assert np.allclose(shop.way(angles, "left_elbow"), 0.4 * np.arange(1, 65) / 64)
    assert player.playing is None
    assert np.allclose(shop.way(shop.play(player, 200), "left_elbow"), 0.4)


def test_a_request_that_stays_is_played_once_and_a_new_one_again(shop) -> None:
    player = shop.player(shop.nod("nod", "left_elbow"))
    for _ in range(20):
        player.request("nod")
        angles = shop.play(player, 10)
    assert not shop.way(angles, "left_elbow").any()
    player.request(None)
    player.request("nod")
    assert player.playing == "nod"
    assert shop.way(shop.play(player, 32), "left_elbow")[-1] == pytest.approx(0.3)


def test_repeats_are_counted(shop) -> None:
    player = shop.player(shop.nod("nod", "left_elbow", repeat=3))
    player.request("nod")
    way = shop.way(shop.play(player, 256), "left_elbow")
    assert np.flatnonzero(np.isclose(way, 0.3)).tolist() == [31, 95, 159]


def test_a_motion_repeats_for_ever_until_something_else_is_asked_for(shop) -> None:
    walk = shop.nod("walk", "left_elbow", repeat=None)
    player = shop.player(walk, shop.nod("turn", "right_elbow"))
    player.request("walk")
    shop.play(player, 64 * 10 + 5)
    player.request("turn")
    angles = shop.play(player, 59 + 64)
    assert player.playing is None
    left, right = shop.way(angles, "left_elbow"), shop.way(angles, "right_elbow")
    assert left[59:] == pytest.approx(0.0)
    assert right[:59] == pytest.approx(0.0)
    assert right[59 + 31] == pytest.approx(0.3)


def test_a_change_of_mind_within_a_pass_leaves_no_trace(shop) -> None:
    motions = shop.nod("walk", "left_elbow", repeat=None), shop.nod("turn", "right_elbow")
    steady, fickle = shop.player(*motions), shop.player(*motions)
    for player, wishes in ((steady, ["walk"] * 3), (fickle, ["walk", "turn", "walk"])):
        player.request(wishes[0])
        shop.play(player, 10)
        for wish in wishes[1:]:
            player.request(wish)
            shop.play(player, 10)
    assert np.array_equal(shop.play(steady, 200), shop.play(fickle, 200))


def test_next_is_followed_while_nothing_else_is_asked_for(shop) -> None:
    player = shop.player(
        shop.nod("first", "left_elbow", next="second"),
        shop.nod("second", "right_elbow", next="first"),
        shop.nod("other", "left_knee"),
    )
    player.request("first")
    played = []
    for _ in range(6):
        shop.play(player, 32)
        played.append(player.playing)
        shop.play(player, 32)
    assert played == ["first", "second"] * 3
    shop.play(player, 1)
    player.request("other")
    shop.play(player, 63)
    assert player.playing == "first"  # its pass is over, the next block begins the other one
    shop.play(player, 1)
    assert player.playing == "other"


def test_exit_motions_are_played_before_the_one_asked_for(shop) -> None:
    player = shop.player(
        shop.nod("walk", "left_elbow", repeat=None, exit="stop"),
        shop.nod("stop", "right_elbow", repeat=2, exit="straighten", next="walk"),
        shop.nod("straighten", "left_knee", exit="stop"),
        shop.nod("kick", "right_knee"),
    )
    player.request("walk")
    shop.play(player, 70)
    player.request("kick")
    played = []
    for _ in range(6):
        played.append(player.playing)
        shop.play(player, 64)
    assert played == ["walk", "stop", "stop", "straighten", "kick", None]


def test_it_also_leaves_through_the_exit_motion_to_stand_still(shop) -> None:
    player = shop.player(
        shop.nod("walk", "left_elbow", repeat=None, exit="stop"), shop.nod("stop", "right_elbow")
    )
    player.request("walk")
    shop.play(player, 30)
    player.request(None)
    angles = shop.play(player, 34 + 64)
    assert shop.way(angles, "right_elbow").max() == pytest.approx(0.3)
    assert player.playing is None
    player.request("walk")
    assert player.playing == "walk"


def test_what_is_asked_for_during_an_exit_motion_begins_anew(shop) -> None:
    player = shop.player(
        shop.nod("walk", "left_elbow", repeat=None, exit="stop"), shop.nod("stop", "right_elbow")
    )
    player.request("walk")
    shop.play(player, 30)
    player.request(None)
    shop.play(player, 40)
    assert player.playing == "stop"
    player.request("walk")
    shop.play(player, 60)
    assert player.playing == "walk"


def test_it_joins_smoothly_to_where_a_motion_is_to_be_started(shop) -> None:
    crouched = shop.pose(left_knee=0.5)
    motion = shop.motion("rise", {"left_knee": 0.3}, start=crouched, reach_s=1.0)
    player = shop.player(motion)
    player.request("rise")
    n = round(join_duration(shop.stand, crouched.angles, shop.robot.max_speeds) * 128 + 0.499)
    way = shop.way(shop.play(player, n + 128), "left_knee")
    assert way[n - 1] == pytest.approx(0.5)
    assert way[-1] == pytest.approx(0.3)
    speeds = np.diff(way[:n], prepend=0.0) / shop.frame_s
    knee = shop.robot.index("left_knee")
    assert speeds.max() <= 0.5 * shop.robot.max_speeds[knee] + 1e-9
    assert speeds[0] < 0.1 * speeds.max()
    assert speeds[-1] < 0.1 * speeds.max()


def test_a_join_is_never_shorter_than_a_tenth_of_a_second(shop) -> None:
    near = shop.stand + 0.01
    assert len(join_frames(shop.stand, near, shop.robot.max_speeds, shop.frame_s)) == 13


def test_a_first_keyframe_too_far_for_its_time_is_given_more(shop) -> None:
    hasty = shop.motion("hasty", {"left_elbow": 1.0}, {"left_elbow": 0.9}, reach_s=1 / 16)
    player = shop.player(hasty)
    player.request("hasty")
    angles = shop.play(player, 200)
    moved = np.abs(np.diff(angles, axis=0, prepend=shop.stand[np.newaxis]))
    assert (moved <= 0.5 * shop.step + 1e-9).all()
    assert shop.way(angles, "left_elbow").max() == pytest.approx(1.0)
    assert shop.way(angles, "left_elbow")[-1] == pytest.approx(0.9)


def test_a_page_led_to_goes_at_its_makers_speed(shop) -> None:
    """A request may come in any pose; the page before is known."""
    reach_s, angle = 0.125, 0.6  # 4.8 rad/s: more than half of what the servo can
    player = shop.player(
        shop.motion("first", {"left_elbow": 0.0}, next="second"),
        shop.motion("second", {"left_elbow": angle}, reach_s=reach_s),
    )
    player.request("first")
    way = shop.way(shop.play(player, 32 + 16), "left_elbow")
    assert way[-1] == pytest.approx(angle)


@pytest.mark.parametrize("duration_s", [0.3, 0.1037, 1 / 3, 0.5, 0.0571])
def test_after_a_thousand_passes_it_is_still_on_its_own_clock(shop, duration_s: float) -> None:
    reach_s = duration_s / 2
    player = shop.player(shop.nod("walk", "left_elbow", 0.05, repeat=None, reach_s=reach_s))
    player.request("walk")
    n = int(1000 * duration_s * 128)
    for _ in range(n // 13):
        last = shop.play(player, 13)
    times = (np.arange(n // 13 * 13 - 13, n // 13 * 13) + 1) / 128 % duration_s
    expected = 0.05 * (1.0 - np.abs(times / reach_s - 1.0))
    assert shop.way(last, "left_elbow") == pytest.approx(expected, abs=1e-7)


def test_a_page_chain_off_the_frames_keeps_its_clock_too(shop) -> None:
    player = shop.player(
        shop.nod("a", "left_elbow", 0.2, next="b", reach_s=0.1001),
        shop.nod("b", "left_elbow", 0.1, next="a", reach_s=0.1001),
    )
    player.request("a")
    way = shop.way(shop.play(player, 128 * 60), "left_elbow")
    times = np.arange(1, 128 * 60 + 1) / 128 % 0.4004
    heights = np.where(times < 0.2002, 0.2, 0.1)
    assert way == pytest.approx(heights * (1.0 - np.abs(times % 0.2002 / 0.1001 - 1.0)), abs=1e-9)


def test_a_motion_off_the_frames_ends_in_its_last_pose_exactly(shop) -> None:
    motion = shop.motion("raise", {"left_elbow": 0.4}, reach_s=0.3)
    player = shop.player(motion)
    player.request("raise")
    shop.play(player, 50)
    assert np.array_equal(player.command, motion.keyframes[-1].pose.angles)


def test_joints_a_motion_does_not_move_keep_their_command(shop) -> None:
    arm = ("left_elbow", "left_shoulder_roll")
    wave = Motion(
        "wave", shop.robot.name, arm, (Keyframe(shop.pose(arm, left_elbow=0.3), 0.25),), repeat=None
    )
    squat = shop.motion("squat", {"left_knee": 0.2, "right_knee": 0.2}, reach_s=0.5)
    player = shop.player(squat, wave)
    player.request("squat")
    shop.play(player, 64)
    player.request("wave")
    angles = shop.play(player, 150)
    assert shop.way(angles, "left_knee") == pytest.approx(0.2)
    assert shop.way(angles, "left_elbow")[-1] == pytest.approx(0.3)


def test_a_held_joint_keeps_its_command(shop) -> None:
    held = shop.pose(left_elbow=0.3)
    angles = held.angles.copy()
    angles[shop.robot.index("left_knee")] = np.nan
    motion = Motion(
        "wave",
        shop.robot.name,
        shop.robot.joint_names,
        (Keyframe(type(held)(held.joints, angles), 0.25),),
        repeat=2,
    )
    squat = shop.motion("squat", {"left_knee": 0.2}, reach_s=0.5)
    player = shop.player(squat, motion)
    player.request("squat")
    shop.play(player, 64)
    player.request("wave")
    assert shop.way(shop.play(player, 100), "left_knee") == pytest.approx(0.2)


def test_blocks_end_where_torque_or_stiffness_change(shop) -> None:
    soft = {"left_elbow": 2.0}
    keyframes = (
        Keyframe(shop.pose(), 0.125),
        Keyframe(shop.pose(free=("left_elbow",)), 0.125),
        Keyframe(shop.pose(), 0.125, stiffness=soft),
    )
    player = shop.player(Motion("relax", shop.robot.name, shop.robot.joint_names, keyframes))
    player.request("relax")
    blocks = [player.frames(20) for _ in range(4)]
    assert [len(block) for block in blocks] == [16, 16, 16, 20]
    elbow = shop.robot.index("left_elbow")
    assert [block.free is not None and block.free[elbow] for block in blocks] == [False, True, False, False]
    stiff, own = blocks[2].stiffness, blocks[3].stiffness
    assert own is None
    assert stiff is not None
    assert stiff[elbow] == 2.0
    assert stiff[0] == shop.robot.servos[0].stiffness
    assert all(np.isfinite(block.angles).all() for block in blocks)


def test_a_limp_joint_is_taken_on_from_where_it_fell(shop) -> None:
    limp = Motion(
        "limp", shop.robot.name, shop.robot.joint_names, (Keyframe(shop.pose(free=("left_elbow",)), 0.125),)
    )
    player = shop.player(limp)
    player.request("limp")
    block = player.frames(16)
    assert block.free is not None
    elbow = shop.robot.index("left_elbow")
    fallen = shop.stand.copy()
    fallen[elbow] -= 0.3
    fallen[0] += 0.1  # a driven joint that sags is still where it was told to be
    player.follow(fallen, block.free)
    after = player.frames(5)
    assert after.free is None
    assert shop.way(after.angles, "left_elbow") == pytest.approx(-0.3)
    assert after.angles[:, 0] == pytest.approx(shop.stand[0])


def test_a_motion_that_is_not_there_is_refused_with_a_suggestion(shop) -> None:
    player = shop.player(shop.nod("walk_forward", "left_elbow"))
    with pytest.raises(UnknownNameError, match="did you mean walk_forward"):
        player.request("walk_foward")


def test_links_to_nowhere_are_refused_at_once(shop) -> None:
    with pytest.raises(UnknownNameError, match="unknown motion 'stop' after 'walk'"):
        shop.player(shop.nod("walk", "left_elbow", exit="stop"))


def test_another_robots_motion_is_refused(shop) -> None:
    foreign = Motion("walk", "somebody", ("left_elbow",), (Keyframe(shop.pose(("left_elbow",)), 1.0),))
    with pytest.raises(InputError, match="made for somebody"):
        shop.player(foreign)


NAMES = ("walk", "turn", "wave", "stop", "chain", "odd")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from((None, *NAMES)), st.integers(1, 40)), max_size=25))
def test_whatever_is_asked_for_no_joint_ever_jumps(shop, wishes) -> None:
    arm = ("left_elbow",)
    player = shop.player(
        shop.nod("walk", "left_knee", 0.5, repeat=None, start=shop.pose(left_knee=0.3), exit="stop"),
        shop.nod("turn", "right_knee", 0.4, repeat=None, reach_s=0.137, easing=Easing.SMOOTH),
        Motion("wave", shop.robot.name, arm, (Keyframe(shop.pose(arm, left_elbow=0.9), 0.01),), repeat=2),
        shop.motion("stop", {"left_knee": 0.2}, {"left_knee": 0.0}, reach_s=0.21),
        shop.nod("chain", "left_elbow", 0.3, next="odd", reach_s=0.1003),
        shop.nod("odd", "right_elbow", -0.2, repeat=3, reach_s=0.0777, next="chain", easing=Easing.PCHIP),
    )
    before = shop.stand
    for name, n in wishes:
        player.request(name)
        angles = shop.play(player, n)
        path = np.concatenate((before[np.newaxis], angles))
        assert (np.abs(np.diff(path, axis=0)) <= shop.step + 1e-9).all()
        before = player.command
        assert np.array_equal(before, angles[-1]) or player.playing is None
