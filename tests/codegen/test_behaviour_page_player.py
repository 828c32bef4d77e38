"""The page player in whole numbers against the player of the simulator, in Python and in C."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.bodies import BodyState
from posewright.codegen.behaviour.page_player import PagePlayer
from posewright.codegen.behaviour.tables import PageTables
from posewright.control import Player
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import Robot, robot

BIOLOID = robot("robotis_bioloid")
STAND = BIOLOID.pose("stand")
STILL = BodyState(0.0, STAND, np.zeros(len(STAND)))
NAMES = ("a", "b", "c", "d")
TIMES = st.sampled_from((0.0, 0.008, 0.1, 0.125, 0.15, 1 / 3, 0.6))
EASINGS = st.sampled_from((Easing.LINEAR, Easing.SMOOTH, Easing.TRAPEZOID))
JOINTS = BIOLOID.joint_names[:5]


@st.composite
def poses(draw: st.DrawFn, joints: tuple[str, ...]) -> Pose:
    far = st.one_of(st.none(), st.floats(-0.7, 0.4))
    return Pose.of(joints, {name: turn for name in joints if (turn := draw(far)) is not None})


@st.composite
def keyframes(draw: st.DrawFn, joints: tuple[str, ...]) -> Keyframe:
    share = draw(st.floats(0.0, 0.5))
    return Keyframe(draw(poses(joints)), draw(TIMES), draw(TIMES), draw(EASINGS), accel_share=share)


@st.composite
def motions(draw: st.DrawFn, name: str) -> Motion:
    joints = JOINTS[: draw(st.integers(1, 5))]
    links = st.one_of(st.none(), st.sampled_from(NAMES))
    frames = (*draw(st.lists(keyframes(joints), max_size=3)), Keyframe(draw(poses(joints)), 0.1))
    return Motion(
        name,
        BIOLOID.name,
        joints,
        frames,
        repeat=draw(st.sampled_from((None, 1, 2, 3))),
        next=draw(links),
        exit=draw(links),
        speed=draw(st.sampled_from((1.0, 0.9, 1.3))),
        start=draw(st.one_of(st.none(), poses(joints))),
    )


library = st.fixed_dictionaries({name: motions(name) for name in NAMES})
requests = st.lists(st.tuples(st.integers(1, 90), st.sampled_from((None, *NAMES))), min_size=1, max_size=8)


def both_play(
    card: Robot, pages: Mapping[str, Motion], asked: list[tuple[int, str | None]]
) -> tuple[list[str | None], list[str | None], float]:
    """Let both play; return what each was playing after every frame, and how far their ticks were apart."""
    player, counted = Player(card, pages, STAND), PagePlayer(PageTables.of(card, pages, STAND))
    theirs, ours, apart = [], [], 0.0
    for frames, name in asked:
        player.request(name)
        counted.request(name)
        for _ in range(frames):
            row = np.rint(card.to_ticks(player.next(STILL, 1).angles[0]))
            counted.frame()
            theirs.append(player.playing)
            ours.append(counted.playing)
            apart = max(apart, float(np.abs(row - counted.ticks).max()))
    return theirs, ours, apart


@settings(max_examples=60)
@given(library, requests)
def test_motions_begin_and_end_at_the_player_s_frames_and_no_servo_is_a_tick_off(
    pages: dict[str, Motion], asked: list[tuple[int, str | None]]
) -> None:
    theirs, ours, apart = both_play(BIOLOID, pages, asked)
    assert ours == theirs
    assert apart <= 1.0
