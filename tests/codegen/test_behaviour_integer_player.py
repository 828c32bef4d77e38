"""The page player in whole numbers against the player of the simulator, in Python and in C."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.bodies import BodyState
from posewright.buses.dynamixel.packets import FULL_SPEED, GENTLE_SPEED, goal_positions
from posewright.codegen.behaviour.integer_player import PagePlayer, minimum_jerk, smooth, trapezoid
from posewright.codegen.behaviour.motion_sources import player_sources
from posewright.codegen.behaviour.tables import ONE, PageTables
from posewright.controllers import Player
from posewright.errors import InputError
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.motions.pose import smooth as half_cosine
from posewright.motions.pose import trapezoid as ramps
from posewright.robots import Robot, robot

from .behaviour_host import library as compiled

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
    player, counted = Player(card, pages, STAND), PagePlayer(PageTables.from_motions(card, pages, STAND))
    theirs, ours, apart = [], [], 0.0
    for frames, name in asked:
        player.request(name)
        counted.request(name)
        for _ in range(frames):
            row = np.rint(card.to_ticks(player.next(STILL, 1).angles[0]))
            counted.advance_frame()
            theirs.append(player.playing)
            ours.append(counted.playing)
            apart = max(apart, float(np.abs(row - counted.ticks).max()))
    return theirs, ours, apart


@settings(max_examples=40)
@given(library, requests)
def test_motions_begin_and_end_at_the_player_s_frames_and_no_servo_is_a_tick_off(
    pages: dict[str, Motion], asked: list[tuple[int, str | None]]
) -> None:
    theirs, ours, apart = both_play(BIOLOID, pages, asked)
    assert ours == theirs
    assert apart <= 1.0


def moved(name: str, *, reach_s: float = 0.13, turn: float = 0.3, **rest: object) -> Motion:
    """Return a motion that lifts an arm and puts it down again."""
    up, down = (Pose.of(JOINTS[:1], {JOINTS[0]: STAND[0] + angle}) for angle in (turn, 0.0))
    frames = (Keyframe(up, reach_s, easing=Easing.SMOOTH), Keyframe(down, reach_s))
    return Motion(name, BIOLOID.name, JOINTS[:1], frames, **rest)  # type: ignore[arg-type]


GRAPH = {
    "loop": moved("loop", repeat=None, exit="out"),
    "out": moved("out", repeat=2, exit="end"),
    "end": moved("end", next="rest"),
    "rest": moved("rest", reach_s=0.07, start=Pose.of(JOINTS[:1], {JOINTS[0]: STAND[0] + 0.5})),
    "thrice": moved("thrice", repeat=3, next="end", speed=0.9),
    "fast": moved("fast", reach_s=0.01, turn=0.9),
    "ramps": Motion(
        "ramps",
        BIOLOID.name,
        JOINTS,
        tuple(
            Keyframe(Pose.of(JOINTS, {JOINTS[k]: 0.1 * k - 0.2}), 0.3, 0.05 * k, Easing.TRAPEZOID)
            for k in range(5)
        ),
    ),
}


def test_a_graph_of_motions_is_played_in_c_as_in_python(tmp_path: Path) -> None:
    tables = PageTables.from_motions(BIOLOID, GRAPH, STAND)
    c, counted = compiled(tmp_path, player_sources(tables, {})), PagePlayer(tables)
    c.player_reset()
    chance = np.random.default_rng(4)
    packet = (ctypes.c_uint8 * 98)()
    seen = set()
    for _ in range(400):
        number = int(chance.integers(0, len(GRAPH) + 1))
        counted.request(tables.motion_names[number])
        c.player_request(number)
        for _ in range(int(chance.integers(1, 60))):
            counted.advance_frame()
            c.player_frame()
            c.player_packet(packet)
            assert tables.motion_names[c.player_playing()] == counted.playing
            assert bytes(packet) == goal_positions(tables.servo_ids, counted.ticks, counted.speed)
            seen.add(counted.playing)
    assert seen == {None, *GRAPH}


def test_a_motion_that_is_left_goes_through_its_exits_and_a_finished_one_leads_on() -> None:
    player = PagePlayer(PageTables.from_motions(BIOLOID, GRAPH, STAND))
    player.request("loop")
    order: list[str | None] = []
    for frame in range(900):
        if frame == 100:
            player.request("thrice")
        player.advance_frame()
        if order[-1:] != [player.playing]:
            order.append(player.playing)
    assert order == ["loop", "out", "end", "thrice", "end", "rest", None]


def test_passes_stay_on_their_own_clock_however_many_there_are() -> None:
    """45 passes of 0.26 s at nine tenths of their speed are exactly 1664 frames."""
    player = PagePlayer(
        PageTables.from_motions(BIOLOID, {"loop": moved("loop", repeat=None, speed=0.9)}, STAND)
    )
    player.request("loop")
    ticks = []
    for _ in range(1664 * 20):
        player.advance_frame()
        ticks.append(player.ticks[0])
    assert ticks[1664 : 2 * 1664] == ticks[-1664:]


def test_shares_of_a_way_are_those_of_the_simulator() -> None:
    shares = np.linspace(0.0, 1.0, 301)
    whole = np.rint(shares * ONE).astype(int).tolist()
    assert np.array([smooth(u) for u in whole]) / ONE == pytest.approx(half_cosine(shares), abs=1e-6)
    jerk = shares**3 * (10.0 + shares * (6.0 * shares - 15.0))
    assert np.array([minimum_jerk(u) for u in whole]) / ONE == pytest.approx(jerk, abs=1e-6)
    for accel in (0.0, 0.003, 0.25, 0.5):
        counted = np.array([trapezoid(u, round(accel * ONE)) for u in whole]) / ONE
        assert counted == pytest.approx(ramps(shares, np.full(301, accel)), abs=1e-6)
    assert smooth(ONE) == minimum_jerk(ONE) == trapezoid(ONE, ONE // 4) == ONE


@pytest.mark.parametrize(
    ("keyframe", "what"),
    [
        (Keyframe(Pose.of(JOINTS, {}, free=JOINTS[:1]), 0.1), "releases right_shoulder_pitch"),
        (Keyframe(Pose.of(JOINTS, {}), 0.1, easing=Easing.PCHIP), "goes by pchip"),
        (Keyframe(Pose.of(JOINTS, {}), 0.1, stiffness={JOINTS[0]: 0.5}), "sets the stiffness"),
        (Keyframe(Pose.of(JOINTS, {JOINTS[0]: 3.0}), 0.1), "sends right_shoulder_pitch to tick -"),
    ],
)
def test_what_a_board_cannot_play_is_refused(keyframe: Keyframe, what: str) -> None:
    motion = Motion("odd", BIOLOID.name, JOINTS, (keyframe,))
    with pytest.raises(InputError, match=f"the motion odd {what}"):
        PageTables.from_motions(BIOLOID, {"odd": motion}, STAND)


def test_more_keyframes_or_motions_than_a_byte_counts_are_refused() -> None:
    keyframe = Keyframe(Pose.of(JOINTS, {}), 0.1)
    longest = Motion("long", BIOLOID.name, JOINTS, (keyframe,) * 255)
    assert len(PageTables.from_motions(BIOLOID, {"long": longest}, STAND).pages["long"].end_times) == 255
    with pytest.raises(InputError, match="the motion long has 320 keyframes, more than 255"):
        PageTables.from_motions(BIOLOID, {"long": replace(longest, keyframes=(keyframe,) * 320)}, STAND)
    short = replace(longest, keyframes=(keyframe,))
    with pytest.raises(InputError, match="there are 255 motions, and a board plays at most 254"):
        PageTables.from_motions(BIOLOID, {f"m{k}": short for k in range(255)}, STAND)


def test_servos_go_gently_until_the_first_motion_begins() -> None:
    player = PagePlayer(PageTables.from_motions(BIOLOID, GRAPH, STAND))
    player.advance_frame()
    assert player.speed == GENTLE_SPEED
    player.request("rest")
    assert player.speed == FULL_SPEED
    player.restart()
    assert player.speed == GENTLE_SPEED


def test_a_robot_without_a_servo_bus_is_refused() -> None:
    aibo = robot("sony_ers7")
    with pytest.raises(InputError, match="does not take goal positions over a Dynamixel bus"):
        PageTables.from_motions(aibo, {}, np.zeros(len(aibo.joints)))
