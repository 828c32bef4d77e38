"""What is measured of a walk, on walks that were made up: their figures are known beforehand."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, takewhile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.arrays import Floats
from posewright.evaluation.walking.drives import drives_of
from posewright.evaluation.walking.energy import energy_of
from posewright.evaluation.walking.falls import falls_of, lain, tilt_deg
from posewright.evaluation.walking.feet import cycles_of, feet_work_of, foot_tracks, slips
from posewright.evaluation.walking.joints import JointLoads, joint_efforts_of
from posewright.evaluation.walking.leaning import attitude_deg, leaning_of
from posewright.evaluation.walking.report import report_of
from posewright.evaluation.walking.track import Correction, GaitTrack, Timed
from posewright.evaluation.walking.travel import travel_of
from posewright.gaits import TROT, GaitTiming, VelocityCommand, se2_exp
from posewright.kinematics import legs_of
from posewright.robots import robot

CARD = robot("sony_ers7")
FRAME_S = CARD.frame_period_s
CYCLE = 40
TIMING = GaitTiming(CYCLE, CYCLE * FRAME_S, 0.5 * CYCLE * FRAME_S, 0.5 * CYCLE * FRAME_S, 0.08)
STANDING = CARD.pose("stand")
HEIGHT_M = 0.13
SLOW = st.floats(-0.5, 0.5)


def quaternion(roll: Floats, pitch: Floats, yaw: Floats) -> Floats:
    """Return the quaternions of Rz(yaw) Ry(pitch) Rx(roll), `(n, 4)`."""
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a / 2), np.sin(a / 2)) for a in (roll, pitch, yaw))
    return np.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
        axis=-1,
    )


def walk(
    places: Floats | None = None,
    *,
    n: int = 10 * CYCLE,
    begin: int = CYCLE,
    roll: Floats | float = 0.0,
    pitch: Floats | float = 0.0,
    yaw: Floats | float = 0.0,
    command: VelocityCommand | None = None,
    **changes: object,
) -> GaitTrack:
    """Return a walk in which the joints stand still and nothing is done, but for what is handed in."""
    rows = n + 1
    flat = np.column_stack([np.zeros((rows, 2)), np.full(rows, HEIGHT_M)]) if places is None else places
    turned = quaternion(*(np.broadcast_to(np.asarray(a, dtype=float), rows) for a in (roll, pitch, yaw)))
    still = np.tile(STANDING, (rows, 1))
    track = GaitTrack(
        robot=CARD,
        timing=TIMING,
        phases=TROT,
        commands=(Timed(0.0, command or VelocityCommand(0.1)),),
        begin=begin,
        asked=still,
        sent=still,
        positions=still,
        efforts=np.zeros_like(still),
        base=np.concatenate([flat, turned], axis=1),
        foot_contacts=np.zeros((rows, 4), dtype=bool),
        stiffness=np.array([servo.stiffness for servo in CARD.servos]),
        damping=np.zeros(len(CARD.joints)),
        latency_frames=0,
        mass_kg=1.6,
        gravity=np.array([0.0, 0.0, -9.81]),
    )
    return replace(track, **changes)  # type: ignore[arg-type]


def loads_of(track: GaitTrack) -> JointLoads:
    return joint_efforts_of(track, drives_of(track))


def along_an_arc(forward: float, left: float, turn: float, n: int = 10 * CYCLE) -> tuple[Floats, Floats]:
    """Return places and headings of a base that goes so, and besides sways and nods once a cycle."""
    times = np.arange(n + 1) * FRAME_S
    x, y, yaw = se2_exp(np.outer(times, [forward, left, turn])).T
    sway = 0.01 * np.sin(2.0 * np.pi * times / TIMING.period_s)
    heights = HEIGHT_M + 0.3 * sway
    return np.column_stack([x - sway * np.sin(yaw), y + sway * np.cos(yaw), heights]), yaw


@given(forward=SLOW, left=SLOW, turn=st.floats(-3.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_the_speed_is_that_along_the_arc_and_not_that_of_the_sway(
    forward: float, left: float, turn: float
) -> None:
    places, yaw = along_an_arc(forward, left, turn)
    travel = travel_of(walk(places, yaw=yaw, begin=CYCLE))
    assert (travel.speed_m_s, travel.left_m_s, travel.turn_rad_s) == pytest.approx(
        (forward, left, turn), abs=1e-9
    )
    assert travel.path_m == pytest.approx(math.hypot(forward, left) * travel.measured_s, abs=1e-9)


def test_a_circle_that_ends_where_it_began_has_its_way_and_no_distance() -> None:
    cycles = 20
    turn = 2.0 * np.pi / (cycles * TIMING.period_s)
    places, yaw = along_an_arc(0.1, 0.0, turn, n=(cycles + 1) * CYCLE)
    travel = travel_of(walk(places, n=(cycles + 1) * CYCLE, yaw=yaw))
    assert travel.distance_m == pytest.approx(0.0, abs=1e-9)
    assert travel.path_m == pytest.approx(0.1 * cycles * TIMING.period_s)
    assert travel.heading_change_deg == pytest.approx(360.0)
    assert travel.cycles == cycles


def test_errors_are_parts_of_what_was_asked_and_none_where_nothing_was() -> None:
    places, yaw = along_an_arc(0.08, 0.02, 0.1)
    travel = travel_of(walk(places, yaw=yaw, command=VelocityCommand(0.1)))
    assert travel.forward_error == pytest.approx(-0.2)
    assert (travel.left_error, travel.turn_error) == (None, None)
    assert travel.heading_drift_deg == pytest.approx(math.degrees(0.1 * travel.measured_s))


def test_without_a_whole_cycle_there_is_no_speed() -> None:
    travel = travel_of(walk(n=CYCLE + 30, begin=CYCLE))
    assert (travel.speed_m_s, travel.left_m_s, travel.turn_rad_s, travel.cycles) == (None, None, None, 0)


def test_each_command_of_a_schedule_is_measured_after_the_cycle_in_which_it_came() -> None:
    n = 12 * CYCLE
    ways = np.concatenate([np.full(6 * CYCLE, 0.1), np.full(6 * CYCLE, 0.2)]) * FRAME_S
    places = np.column_stack(
        [np.concatenate([[0.0], np.cumsum(ways)]), np.zeros(n + 1), np.full(n + 1, HEIGHT_M)]
    )
    commands = (Timed(0.0, VelocityCommand(0.1)), Timed(6 * TIMING.period_s, VelocityCommand(0.2)))
    first, second = travel_of(walk(places, n=n, commands=commands)).stretches
    assert (first.cycles, second.cycles) == (5, 5)
    assert first.measured == pytest.approx((0.1, 0.0, 0.0), abs=1e-12)
    assert second.measured == pytest.approx((0.2, 0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("change", [1, CYCLE - 1, CYCLE, CYCLE + 1, 2 * CYCLE + 7, 6 * CYCLE - 1])
def test_a_command_is_measured_after_its_first_cycle_wherever_the_measuring_begins(change: int) -> None:
    """The robot of this walk does as it was told before for a whole cycle, and then as it is told."""
    n = 6 * CYCLE
    followed = change + CYCLE
    ways = np.where(np.arange(n) < followed, 0.1, 0.2) * FRAME_S
    places = np.column_stack([np.cumsum([0.0, *ways]), np.zeros(n + 1), np.full(n + 1, HEIGHT_M)])
    commands = (Timed(0.0, VelocityCommand(0.1)), Timed(change * FRAME_S, VelocityCommand(0.2)))
    stretch = travel_of(walk(places, n=n, begin=CYCLE, commands=commands)).stretches[-1]
    assert stretch.from_s == pytest.approx(max(change, CYCLE) * FRAME_S)
    assert stretch.cycles == max(0, n - max(followed, CYCLE)) // CYCLE
    assert stretch.measured == (pytest.approx((0.2, 0.0, 0.0), abs=1e-12) if stretch.cycles else None)


@given(roll=st.floats(-0.6, 0.6), pitch=st.floats(-0.6, 0.6), yaw=st.floats(-3.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_tilt_is_the_angle_to_the_vertical_whatever_the_heading(
    roll: float, pitch: float, yaw: float
) -> None:
    track = walk(n=2, begin=0, roll=roll, pitch=pitch, yaw=yaw)
    assert np.cos(np.radians(tilt_deg(track))) == pytest.approx(math.cos(roll) * math.cos(pitch), abs=1e-12)
    rolls, pitches = attitude_deg(track)
    assert np.radians([rolls[0], pitches[0]]) == pytest.approx([roll, pitch], abs=1e-9)


def test_on_a_leaning_ground_the_vertical_counts_and_not_the_ground() -> None:
    lean = math.radians(5.0)
    downhill = 9.81 * np.array([math.sin(lean), 0.0, -math.cos(lean)])
    assert leaning_of(walk(gravity=downhill)).max_tilt_deg == pytest.approx(5.0)
    assert leaning_of(walk(gravity=downhill, pitch=-lean)).max_tilt_deg == pytest.approx(0.0, abs=1e-6)


def test_bounce_is_from_lowest_to_highest_in_a_cycle_and_settling_is_left_out() -> None:
    places, yaw = along_an_arc(0.1, 0.0, 0.0)
    pitch = np.where(np.arange(len(yaw)) < CYCLE, 0.3, 0.1)
    leaning = leaning_of(walk(places, yaw=yaw, pitch=pitch))
    assert leaning.bounce_m == pytest.approx(0.006, rel=1e-9)
    assert leaning.max_tilt_deg == pytest.approx(math.degrees(0.1))
    assert leaning.settling_tilt_deg == pytest.approx(math.degrees(0.3))


def test_feet_that_are_dragged_slide_as_far_as_the_base_goes() -> None:
    n = 5 * CYCLE
    places = np.column_stack([np.arange(n + 1) * 1e-3, np.zeros(n + 1), np.full(n + 1, HEIGHT_M)])
    feet = feet_work_of(walk(places, n=n, foot_contacts=np.ones((n + 1, 4), dtype=bool)), path_m=0.16)
    assert feet.slip_m == pytest.approx(4 * 4 * CYCLE * 1e-3)
    assert feet.slip_per_m == pytest.approx(4.0)
    assert (feet.duty, feet.feet_down) == (1.0, (0.0, 0.0, 0.0, 0.0, 1.0))


def test_a_foot_slides_in_the_frames_at_whose_ends_it_touches() -> None:
    n = CYCLE
    places = np.column_stack([np.arange(n + 1) * 1e-3, np.zeros(n + 1), np.full(n + 1, HEIGHT_M)])
    contacts = np.zeros((n + 1, 4), dtype=bool)
    contacts[10:15, 2] = True
    track = walk(places, n=n, begin=0, foot_contacts=contacts)
    slid = slips(track, foot_tracks(track))
    assert slid.sum(axis=0) == pytest.approx([0.0, 0.0, 6e-3, 0.0])
    assert np.flatnonzero(slid[:, 2]).tolist() == [9, 10, 11, 12, 13, 14]


def test_a_ball_that_rolls_does_not_slide() -> None:
    n, leg = 200, legs_of(CARD)[0]
    pitch = np.linspace(0.0, 0.2, n + 1)
    start = leg.forward(STANDING[list(leg.indices)])
    cos, sin = np.cos(pitch), np.sin(pitch)
    ahead, up = cos * start[0] + sin * start[2], cos * start[2] - sin * start[0]
    rolled = leg.foot_radius_m * pitch
    places = np.column_stack([rolled - ahead, np.zeros(n + 1), leg.foot_radius_m - up])
    contacts = np.zeros((n + 1, 4), dtype=bool)
    contacts[:, 0] = True
    track = walk(places, n=n, begin=0, pitch=pitch, foot_contacts=contacts)
    feet = foot_tracks(track)
    assert feet.heights[:, 0] == pytest.approx(np.zeros(n + 1), abs=1e-12)
    assert np.ptp(feet.centres[:, 0, 0]) == pytest.approx(0.2 * leg.foot_radius_m)
    assert slips(track, feet).sum() < 1e-8


def test_clearance_is_of_the_cycle_that_is_lifted_least_and_dragging_is_none() -> None:
    n = 6 * CYCLE
    times = np.arange(n + 1)
    lift = np.where(times < 3 * CYCLE, 0.02, 0.01) * np.maximum(np.sin(2 * np.pi * times / CYCLE), 0.0)
    lowest = foot_tracks(walk(n=1, begin=0)).heights[0, 0]
    places = np.column_stack([np.zeros((n + 1, 2)), HEIGHT_M - lowest + lift])
    contacts = np.repeat((lift == 0.0)[:, np.newaxis], 4, axis=1)
    contacts[:, 3] = True
    track = walk(places, n=n, begin=CYCLE, foot_contacts=contacts)
    feet = feet_work_of(track, path_m=1.0)
    assert len(cycles_of(track, 0)) == 5
    left_front = feet.feet[0]
    assert left_front.highest_m == pytest.approx(0.02)
    assert left_front.lowest_swing_m == pytest.approx(0.01)
    assert left_front.mid_swing_m == pytest.approx(0.01, rel=0.02)
    assert feet.feet[3].mid_swing_m == feet.mid_swing_clearance_m == 0.0
    assert feet.slip_per_m is not None


def test_joint_speeds_are_of_what_was_asked_and_of_what_was_done() -> None:
    knee = CARD.index("left_rear_knee")
    asked, done = np.tile(STANDING, (101, 1)), np.tile(STANDING, (101, 1))
    step = CARD.max_speeds[knee] * FRAME_S
    asked[50:, knee] += 1.25 * step
    done[60:, knee] += 0.75 * step
    loads = loads_of(walk(n=100, begin=80, asked=asked, positions=done))
    assert loads.max_joint_speed_ratio == loads.commanded_speed_ratio == pytest.approx(1.25)
    assert loads.measured_speed_ratio == pytest.approx(0.75)
    assert loads.fastest_joint == "left_rear_knee"
    assert {one.joint: one for one in loads.joints}["left_rear_knee"].measured_speed_ratio == pytest.approx(
        0.75
    )


def test_joints_that_are_no_legs_do_not_count() -> None:
    asked = np.tile(STANDING, (101, 1))
    asked[50:, CARD.index("head_pan")] += 1.0
    assert loads_of(walk(n=100, asked=asked)).max_joint_speed_ratio == 0.0


def test_room_to_limits_is_that_of_the_nearest_joint_and_negative_beyond() -> None:
    asked = np.tile(STANDING, (101, 1))
    asked[50, CARD.index("right_front_knee")] = math.radians(120.0)
    loads = loads_of(walk(n=100, asked=asked))
    assert loads.limit_margin_deg == pytest.approx(2.0)
    assert loads.limit_margin_joint == "right_front_knee"
    rotator, elevator = (CARD.index(f"left_front_{name}") for name in ("rotator", "elevator"))
    asked[50, rotator], asked[50, elevator] = math.radians(60.0), math.radians(-4.0)
    loads = loads_of(walk(n=100, asked=asked))
    assert loads.coupled_margin_deg == pytest.approx(-1.0)
    assert loads.coupled_margin_joint == "left_front_elevator"
    assert loads.limit_margin_deg == pytest.approx(2.0)


def test_of_corrections_the_worst_of_each_joint_is_kept_with_the_time_of_the_first() -> None:
    corrections = (
        Correction(0.1, "left_front_knee", "speed limit", 6.0, 5.0),
        Correction(0.2, "left_front_knee", "speed limit", 7.0, 5.0),
        Correction(0.3, "left_rear_knee", "joint limit", 2.2, 2.1),
    )
    loads = loads_of(walk(corrections=corrections))
    assert loads.interventions == 3
    assert loads.corrections == (
        Correction(0.1, "left_front_knee", "speed limit", 7.0, 5.0),
        corrections[2],
    )


@given(down=st.lists(st.booleans(), max_size=40), cuts=st.lists(st.integers(0, 40), max_size=5).map(sorted))
def test_a_robot_has_lain_since_it_was_last_up_however_the_walk_is_cut(
    down: list[bool], cuts: list[int]
) -> None:
    flags, frames = np.array(down, dtype=bool), 0
    for start, end in pairwise((0, *cuts, len(flags))):
        frames = lain(flags[start:end], frames)
    assert frames == len(list(takewhile(bool, reversed(down))))


def test_the_work_of_a_servo_is_that_of_a_spring_less_what_turning_takes() -> None:
    knee = CARD.index("left_front_knee")
    stiffness = CARD.servos[knee].stiffness
    sent, done = np.tile(STANDING, (3, 1)), np.tile(STANDING, (3, 1))
    sent[1:, knee] += 0.1
    done[1, knee] += 0.06
    done[2, knee] += 0.08
    loads = np.zeros_like(sent)
    loads[:, knee] = stiffness * (sent[:, knee] - done[:, knee])
    damping = np.zeros(len(CARD.joints))
    damping[knee] = 0.2
    drives = drives_of(walk(n=2, begin=0, sent=sent, positions=done, efforts=loads, damping=damping))
    column = drives.work[:, 2]
    potential = [stiffness * (a**2 - b**2) / 2.0 for a, b in ((0.1, 0.04), (0.04, 0.02))]
    taken = [0.2 * turned**2 / FRAME_S for turned in (0.06, 0.02)]
    assert column == pytest.approx(np.array(potential) - taken)
    assert drives.peaks[:, 2] == pytest.approx([stiffness * 0.1, stiffness * 0.04])
    assert np.count_nonzero(drives.work) == 2


def test_a_late_command_pulls_only_when_it_takes_effect() -> None:
    knee = CARD.index("left_front_knee")
    sent = np.tile(STANDING, (11, 1))
    sent[1:, knee] += 0.1
    peaks = drives_of(walk(n=10, begin=0, sent=sent, latency_frames=4)).peaks[:, 2]
    assert np.flatnonzero(peaks).tolist() == [4, 5, 6, 7, 8, 9]


def test_only_positive_work_counts_as_cost_and_a_short_way_has_none() -> None:
    knee, elevator = CARD.index("left_front_knee"), CARD.index("left_front_elevator")
    n = 50
    done, loads = np.tile(STANDING, (n + 1, 1)), np.zeros((n + 1, len(CARD.joints)))
    done[:, knee] += np.linspace(0.0, 0.5, n + 1)
    done[:, elevator] += np.linspace(0.0, 0.5, n + 1)
    loads[:, knee], loads[:, elevator] = 1.0, -1.0
    stiff = np.zeros(len(CARD.joints))
    track = walk(n=n, begin=0, positions=done, efforts=loads, stiffness=stiff)
    energy = energy_of(track, drives_of(track), path_m=2.0)
    assert energy.positive_work_j == pytest.approx(
        0.25
    )  # the mean of nothing at a frame's beginning and 1 N m
    assert energy.negative_work_j == pytest.approx(-0.25)
    assert energy.cost_of_transport == pytest.approx(0.25 / (1.6 * 9.81 * 2.0))
    assert energy.mean_power_w == pytest.approx(0.25 / (n * FRAME_S))
    assert energy_of(track, drives_of(track), path_m=0.01).cost_of_transport is None


def test_a_base_that_leans_or_sinks_for_long_has_fallen_and_a_stumble_is_none() -> None:
    rows = np.arange(401)
    lies = np.where(rows >= 300, 1.0, 0.0)
    (fall,) = falls_of(walk(n=400, roll=lies))
    assert (fall.row, fall.side, fall.time_s) == (300, "to the right", pytest.approx(300 * FRAME_S))
    assert falls_of(walk(n=400, pitch=np.where((rows > 200) & (rows < 220), 1.0, 0.0))) == ()
    low = np.column_stack([np.zeros((401, 2)), np.where(rows >= 350, 0.05, HEIGHT_M)])
    assert [fall.row for fall in falls_of(walk(low, n=400))] == [350]


@pytest.mark.parametrize(
    ("angles", "side"), [((0.0, 1.0), "forward"), ((0.0, -1.0), "back"), ((-1.0, 0.0), "to the left")]
)
def test_a_fall_says_where_to(angles: tuple[float, float], side: str) -> None:
    after = np.arange(201) >= 100
    roll, pitch = (np.where(after, angle, 0.0) for angle in angles)
    assert [fall.side for fall in falls_of(walk(n=200, roll=roll, pitch=pitch))] == [side]


def test_figures_of_a_walk_that_ends_in_a_fall_are_up_to_there() -> None:
    places, yaw = along_an_arc(0.1, 0.0, 0.0)
    roll = np.where(np.arange(len(yaw)) >= 5 * CYCLE + 3, 1.0, 0.0)
    report = report_of(walk(places, yaw=yaw, roll=roll))
    assert (report.falls, report.cycles, report.fall_sides) == (1, 4, ("to the right",))
    assert report.speed_m_s == pytest.approx(0.1)
    assert report.max_tilt_deg == pytest.approx(0.0, abs=1e-6)
    assert report.measured_s == pytest.approx((4 * CYCLE + 2) * FRAME_S)


def test_a_walk_that_falls_while_it_settles_says_what_can_be_said() -> None:
    roll = np.where(np.arange(401) >= 20, 1.0, 0.0)
    report = report_of(walk(n=400, begin=100, roll=roll))
    told = report.to_dict()
    assert told["falls"] == 1
    assert told["measured_s"] == 0.0
    for name in (
        "speed_m_s",
        "forward_error",
        "cost_of_transport",
        "mean_power_w",
        "duty",
        "bounce_m",
        "foot_clearance_m",
    ):
        assert told[name] is None
