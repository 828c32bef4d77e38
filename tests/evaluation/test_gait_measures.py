"""What is measured of a walk, on walks that were made up: their figures are known beforehand."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.evaluation import RunResult, evaluate
from posewright.evaluation.walking.feet import cycles_of, foot_trajectories, measure_feet, slips
from posewright.evaluation.walking.joints import JointLoads, drives_of, measure_energy, measure_joint_loads
from posewright.evaluation.walking.report import GaitReport
from posewright.evaluation.walking.travel import measure_attitude, measure_travel
from posewright.evaluation.walking.walk import EXTRAS, Correction, Walk, WalkSettings, stays_down_limits
from posewright.gaits import (
    TROT,
    ForeHind,
    GaitParameters,
    QuadrupedGait,
    VelocityCommand,
    gait_text,
    se2_exp,
    timing_of,
)
from posewright.kinematics import legs_of
from posewright.recordings import Decisions, Event, Header, Recording, RobotHeader, RobotRecord
from posewright.recordings.falls import FallDetector
from posewright.robots import robot

CARD = robot("sony_ers7")
FRAME_S = CARD.frame_period_s
CYCLE = 40
LIFT = ForeHind(0.012, 0.012)
POINTS = {"left_front": (0.06, 0.067, -0.115), "left_rear": (-0.075, 0.067, -0.115)}
PARAMETERS = GaitParameters(
    ground_speed_m_s=0.3125,
    ascent_pairs=5,
    ground_points=6,
    front_height_m=LIFT,
    central_height_m=LIFT,
    rear_height_m=LIFT,
    shape_factor=0.5,
    ascent_factor=0.3,
    turn_multiplier_rad_m=0.0,
    air_ground_factor=1.0,
    equilibrium_m={
        **POINTS,
        **{name.replace("left", "right"): (x, -y, z) for name, (x, y, z) in POINTS.items()},
    },
    maximum_displacement_m=0.05,
    maximum_turn_rad=0.4,
)
GAIT = QuadrupedGait("made", CARD.name, PARAMETERS, TROT)
TIMING = timing_of(PARAMETERS, FRAME_S)
STANDING = CARD.pose("stand")
HEIGHT_M = 0.13
SLOW = st.floats(-0.5, 0.5)


def test_the_gait_of_these_walks_has_a_cycle_of_40_frames() -> None:
    assert TIMING.n_frames == CYCLE
    assert TIMING.air_s == pytest.approx(0.5 * CYCLE * FRAME_S)


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
    commands: tuple[tuple[float, VelocityCommand], ...] = (),
    facts: dict[str, Any] | None = None,
    **columns: Floats,
) -> Walk:
    """Return a walk in which the joints stand still and nothing is done, but for what is handed in.

    Columns have a row 0, before the first frame.
    """
    return Walk.of(
        recorded(
            places,
            n=n,
            begin=begin,
            angles=(roll, pitch, yaw),
            commands=commands or ((0.0, command or VelocityCommand(0.1)),),
            facts=facts or {},
            columns=columns,
        ),
        gait=GAIT,
    )


def recorded(
    places: Floats | None = None,
    *,
    n: int = 10 * CYCLE,
    begin: int = CYCLE,
    angles: tuple[Floats | float, ...] = (0.0, 0.0, 0.0),
    commands: tuple[tuple[float, VelocityCommand], ...] = ((0.0, VelocityCommand(0.1)),),
    facts: dict[str, Any] | None = None,
    columns: dict[str, Floats] | None = None,
) -> Recording:
    """Return the recording of such a walk."""
    rows = n + 1
    positions_of_base = (
        np.column_stack([np.zeros((rows, 2)), np.full(rows, HEIGHT_M)]) if places is None else places
    )
    base = np.concatenate(
        [positions_of_base, quaternion(*(np.broadcast_to(np.asarray(a, dtype=float), rows) for a in angles))],
        axis=1,
    )
    still = np.tile(STANDING, (rows, 1))
    columns = columns or {}
    positions = columns.get("positions", still)
    default_facts = {
        "stiffness": [servo.stiffness for servo in CARD.servos],
        "damping": [0.0] * len(CARD.joints),
        "latency_frames": 0,
        "mass_kg": 1.6,
        "gravity": [0.0, 0.0, -9.81],
    }
    header = RobotHeader(
        CARD.name, "gait made", CARD.joint_names, CARD.feet, facts=default_facts | (facts or {})
    )
    terms = WalkSettings("made", "nominal", (n - begin) * FRAME_S, begin * FRAME_S, tuple(STANDING.tolist()))
    record = RobotRecord(
        header=header,
        positions=positions[1:],
        commands=columns.get("joint_commands", still)[1:],
        requests=columns["requests"][1:] if "requests" in columns else None,
        efforts=columns.get("efforts", np.zeros_like(still))[1:],
        base=base[1:],
        footprints=np.zeros((n, 4, 4, 3)),
        foot_contacts=columns.get("foot_contacts", np.zeros((rows, 4), dtype=bool))[1:],
        box_contacts=np.zeros((n, 0), dtype=bool),
        start_positions=positions[0],
        start_base=base[0],
        decisions=Decisions(
            times=np.array([time_s for time_s, _ in commands]),
            states=("",) * len(commands),
            inputs=({},) * len(commands),
            outputs=tuple(command.by_name for _, command in commands),
            playing=("made",) * len(commands),
        ),
    )
    return Recording(
        Header({CARD.name: header}, rate_hz=1.0 / FRAME_S, extras={EXTRAS: asdict(terms)}),
        np.arange(1.0, rows) * FRAME_S,
        {CARD.name: record},
        np.zeros((n, 0, 7)),
        (),
    )


def loads_of(walk: Walk) -> JointLoads:
    return measure_joint_loads(walk, drives_of(walk))


def along_an_arc(forward: float, left: float, turn: float, n: int = 10 * CYCLE) -> tuple[Floats, Floats]:
    """Return places and headings of a base that goes so, and besides sways and nods once a cycle."""
    times = np.arange(n + 1) * FRAME_S
    x, y, yaw = se2_exp(np.outer(times, [forward, left, turn])).T
    sway = 0.01 * np.sin(2.0 * np.pi * times / TIMING.period_s)
    heights = HEIGHT_M + 0.3 * sway
    return np.column_stack([x - sway * np.sin(yaw), y + sway * np.cos(yaw), heights]), yaw


@given(forward=SLOW, left=SLOW, turn=st.floats(-3.0, 3.0))
@settings(max_examples=40, deadline=None)
def test_the_speed_is_that_along_the_arc_and_not_that_of_the_sway(
    forward: float, left: float, turn: float
) -> None:
    places, yaw = along_an_arc(forward, left, turn)
    travel = measure_travel(walk(places, yaw=yaw, begin=CYCLE))
    assert (travel.speed_m_s, travel.left_m_s, travel.turn_rad_s) == pytest.approx(
        (forward, left, turn), abs=1e-9
    )
    assert travel.path_m == pytest.approx(math.hypot(forward, left) * travel.measured_s, abs=1e-9)


def test_a_circle_that_ends_where_it_began_has_its_way_and_no_distance() -> None:
    cycles = 20
    turn = 2.0 * np.pi / (cycles * TIMING.period_s)
    places, yaw = along_an_arc(0.1, 0.0, turn, n=(cycles + 1) * CYCLE)
    travel = measure_travel(walk(places, n=(cycles + 1) * CYCLE, yaw=yaw))
    assert travel.distance_m == pytest.approx(0.0, abs=1e-9)
    assert travel.path_m == pytest.approx(0.1 * cycles * TIMING.period_s)
    assert travel.heading_change_deg == pytest.approx(360.0)
    assert travel.cycles == cycles


def test_errors_are_parts_of_what_was_asked_and_none_where_nothing_was() -> None:
    places, yaw = along_an_arc(0.08, 0.02, 0.1)
    travel = measure_travel(walk(places, yaw=yaw, command=VelocityCommand(0.1)))
    assert travel.forward_error == pytest.approx(-0.2)
    assert (travel.left_error, travel.turn_error) == (None, None)
    assert travel.heading_drift_deg == pytest.approx(math.degrees(0.1 * travel.measured_s))


def test_without_a_whole_cycle_there_is_no_speed() -> None:
    travel = measure_travel(walk(n=CYCLE + 30, begin=CYCLE))
    assert (travel.speed_m_s, travel.left_m_s, travel.turn_rad_s, travel.cycles) == (None, None, None, 0)


def test_each_command_of_a_schedule_is_measured_after_the_cycle_in_which_it_came() -> None:
    n = 12 * CYCLE
    steps = np.concatenate([np.full(6 * CYCLE, 0.1), np.full(6 * CYCLE, 0.2)]) * FRAME_S
    places = np.column_stack(
        [np.concatenate([[0.0], np.cumsum(steps)]), np.zeros(n + 1), np.full(n + 1, HEIGHT_M)]
    )
    commands = ((0.0, VelocityCommand(0.1)), (6 * TIMING.period_s, VelocityCommand(0.2)))
    first, second = measure_travel(walk(places, n=n, commands=commands)).stretches
    assert (first.cycles, second.cycles) == (5, 5)
    assert first.measured == pytest.approx((0.1, 0.0, 0.0), abs=1e-12)
    assert second.measured == pytest.approx((0.2, 0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("change", [1, CYCLE - 1, CYCLE, CYCLE + 1, 2 * CYCLE + 7, 6 * CYCLE - 1])
def test_a_command_is_measured_after_its_first_cycle_wherever_the_measuring_begins(change: int) -> None:
    """The robot of this walk does as it was told before for a whole cycle, and then as it is told."""
    n = 6 * CYCLE
    followed = change + CYCLE
    steps = np.where(np.arange(n) < followed, 0.1, 0.2) * FRAME_S
    places = np.column_stack([np.cumsum([0.0, *steps]), np.zeros(n + 1), np.full(n + 1, HEIGHT_M)])
    commands = ((0.0, VelocityCommand(0.1)), (change * FRAME_S, VelocityCommand(0.2)))
    stretch = measure_travel(walk(places, n=n, begin=CYCLE, commands=commands)).stretches[-1]
    assert stretch.from_s == pytest.approx(max(change, CYCLE) * FRAME_S)
    assert stretch.cycles == max(0, n - max(followed, CYCLE)) // CYCLE
    assert stretch.measured == (pytest.approx((0.2, 0.0, 0.0), abs=1e-12) if stretch.cycles else None)


@given(roll=st.floats(-0.6, 0.6), pitch=st.floats(-0.6, 0.6), yaw=st.floats(-3.0, 3.0))
@settings(max_examples=40, deadline=None)
def test_tilt_is_the_angle_to_the_vertical_whatever_the_heading(
    roll: float, pitch: float, yaw: float
) -> None:
    tilted_walk = walk(n=2, begin=0, roll=roll, pitch=pitch, yaw=yaw)
    assert np.cos(np.radians(tilted_walk.trajectory.tilt_deg)) == pytest.approx(
        math.cos(roll) * math.cos(pitch), abs=1e-12
    )
    rolls, pitches = tilted_walk.trajectory.roll_pitch_deg
    assert np.radians([rolls[0], pitches[0]]) == pytest.approx([roll, pitch], abs=1e-9)


def test_on_a_leaning_ground_the_vertical_counts_and_not_the_ground() -> None:
    lean = math.radians(5.0)
    downhill = 9.81 * np.array([math.sin(lean), 0.0, -math.cos(lean)])
    assert measure_attitude(walk(facts={"gravity": downhill.tolist()})).max_tilt_deg == pytest.approx(5.0)
    assert measure_attitude(
        walk(facts={"gravity": downhill.tolist()}, pitch=-lean)
    ).max_tilt_deg == pytest.approx(0.0, abs=1e-6)


def test_bounce_is_from_lowest_to_highest_in_a_cycle_and_settling_is_left_out() -> None:
    places, yaw = along_an_arc(0.1, 0.0, 0.0)
    pitch = np.where(np.arange(len(yaw)) < CYCLE, 0.3, 0.1)
    leaning = measure_attitude(walk(places, yaw=yaw, pitch=pitch))
    assert leaning.bounce_m == pytest.approx(0.006, rel=1e-9)
    assert leaning.max_tilt_deg == pytest.approx(math.degrees(0.1))
    assert leaning.settling_tilt_deg == pytest.approx(math.degrees(0.3))


def test_feet_that_are_dragged_slide_as_far_as_the_base_goes() -> None:
    n = 5 * CYCLE
    places = np.column_stack([np.arange(n + 1) * 1e-3, np.zeros(n + 1), np.full(n + 1, HEIGHT_M)])
    feet = measure_feet(walk(places, n=n, foot_contacts=np.ones((n + 1, 4), dtype=bool)), path_m=0.16)
    assert feet.slip_m == pytest.approx(4 * 4 * CYCLE * 1e-3)
    assert feet.slip_per_m == pytest.approx(4.0)
    assert (feet.duty, feet.feet_down) == (1.0, (0.0, 0.0, 0.0, 0.0, 1.0))


def test_a_foot_slides_in_the_frames_at_whose_ends_it_touches() -> None:
    n = CYCLE
    places = np.column_stack([np.arange(n + 1) * 1e-3, np.zeros(n + 1), np.full(n + 1, HEIGHT_M)])
    contacts = np.zeros((n + 1, 4), dtype=bool)
    contacts[10:15, 2] = True
    dragging_walk = walk(places, n=n, begin=0, foot_contacts=contacts)
    slips_m = slips(dragging_walk, foot_trajectories(dragging_walk))
    assert slips_m.sum(axis=0) == pytest.approx([0.0, 0.0, 6e-3, 0.0])
    assert np.flatnonzero(slips_m[:, 2]).tolist() == [9, 10, 11, 12, 13, 14]


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
    rolling_walk = walk(places, n=n, begin=0, pitch=pitch, foot_contacts=contacts)
    feet = foot_trajectories(rolling_walk)
    assert feet.heights[:, 0] == pytest.approx(np.zeros(n + 1), abs=1e-12)
    assert np.ptp(feet.points[:, 0, 0, 0]) == pytest.approx(0.2 * leg.foot_radius_m)
    assert slips(rolling_walk, feet).sum() < 1e-8


def test_clearance_is_of_the_cycle_that_is_lifted_least_and_dragging_is_none() -> None:
    n = 6 * CYCLE
    times = np.arange(n + 1)
    lift = np.where(times < 3 * CYCLE, 0.02, 0.01) * np.maximum(np.sin(2 * np.pi * times / CYCLE), 0.0)
    lowest = foot_trajectories(walk(n=1, begin=0)).heights[0, 0]
    places = np.column_stack([np.zeros((n + 1, 2)), HEIGHT_M - lowest + lift])
    contacts = np.repeat((lift == 0.0)[:, np.newaxis], 4, axis=1)
    contacts[:, 3] = True
    lifting_walk = walk(places, n=n, begin=CYCLE, foot_contacts=contacts)
    feet = measure_feet(lifting_walk, path_m=1.0)
    assert len(cycles_of(lifting_walk, 0)) == 5
    left_front = feet.feet[0]
    assert left_front.highest_m == pytest.approx(0.02)
    assert left_front.lowest_swing_m == pytest.approx(0.01)
    assert left_front.mid_swing_m == pytest.approx(0.01, rel=0.02)
    assert feet.feet[3].mid_swing_m == feet.mid_swing_clearance_m == 0.0
    assert feet.slip_per_m is not None


def test_joint_speeds_are_of_what_was_asked_and_of_what_was_done() -> None:
    knee = CARD.index("left_rear_knee")
    requests, positions = np.tile(STANDING, (101, 1)), np.tile(STANDING, (101, 1))
    step = CARD.max_speeds[knee] * FRAME_S
    requests[50:, knee] += 1.25 * step
    positions[60:, knee] += 0.75 * step
    loads = loads_of(walk(n=100, begin=80, requests=requests, positions=positions))
    assert loads.max_joint_speed_ratio == loads.commanded_speed_ratio == pytest.approx(1.25)
    assert loads.measured_speed_ratio == pytest.approx(0.75)
    assert loads.fastest_joint == "left_rear_knee"
    assert {load.joint: load for load in loads.joints}[
        "left_rear_knee"
    ].measured_speed_ratio == pytest.approx(0.75)


def test_joints_that_are_no_legs_do_not_count() -> None:
    requests = np.tile(STANDING, (101, 1))
    requests[50:, CARD.index("head_pan")] += 1.0
    assert loads_of(walk(n=100, requests=requests)).max_joint_speed_ratio == 0.0


def test_room_to_limits_is_that_of_the_nearest_joint_and_negative_beyond() -> None:
    requests = np.tile(STANDING, (101, 1))
    requests[50, CARD.index("right_front_knee")] = math.radians(120.0)
    loads = loads_of(walk(n=100, requests=requests))
    assert loads.limit_margin_deg == pytest.approx(2.0)
    assert loads.limit_margin_joint == "right_front_knee"
    rotator, elevator = (CARD.index(f"left_front_{name}") for name in ("rotator", "elevator"))
    requests[50, rotator], requests[50, elevator] = math.radians(60.0), math.radians(-4.0)
    loads = loads_of(walk(n=100, requests=requests))
    assert loads.coupled_margin_deg == pytest.approx(-1.0)
    assert loads.coupled_margin_joint == "left_front_elevator"
    assert loads.limit_margin_deg == pytest.approx(2.0)


def test_of_corrections_the_worst_of_each_joint_is_kept_with_the_time_of_the_first() -> None:
    corrections = (
        Correction(0.1, "left_front_knee", "speed limit", 6.0, 5.0),
        Correction(0.2, "left_front_knee", "speed limit", 7.0, 5.0),
        Correction(0.3, "left_rear_knee", "joint limit", 2.2, 2.1),
    )
    loads = loads_of(replace(walk(), corrections=corrections))
    assert loads.interventions == 3
    assert loads.corrections == (
        Correction(0.1, "left_front_knee", "speed limit", 7.0, 5.0),
        corrections[2],
    )


@given(
    down=st.lists(st.booleans(), min_size=1, max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=5).map(sorted),
)
def test_a_robot_has_lain_since_it_was_last_up_however_the_walk_is_cut(
    down: list[bool], cuts: list[int]
) -> None:
    flags, min_frames = np.array(down, dtype=bool), 5
    lies = np.where(flags, 1.0, 0.0)
    base = walk(n=len(down), roll=np.append(0.0, lies)).trajectory.base[1:]
    times = np.arange(1.0, len(down) + 1.0) * FRAME_S
    detector = FallDetector(stays_down_limits(FRAME_S, min_frames * FRAME_S))
    edges = (0, *(cut for cut in cuts if cut < len(down)), len(down))
    results = [detector.advance(times[a:b], base[a:b]) for a, b in pairwise(edges) if b > a]
    frames = len(list(takewhile(bool, reversed(down))))
    assert bool(results and results[-1] is not None) is (frames >= min_frames)


def test_the_work_of_a_servo_is_that_of_a_spring_less_what_turning_takes() -> None:
    knee = CARD.index("left_front_knee")
    stiffness = CARD.servos[knee].stiffness
    commands, positions = np.tile(STANDING, (3, 1)), np.tile(STANDING, (3, 1))
    commands[1:, knee] += 0.1
    positions[1, knee] += 0.06
    positions[2, knee] += 0.08
    efforts = np.zeros_like(commands)
    efforts[:, knee] = stiffness * (commands[:, knee] - positions[:, knee])
    damping = np.zeros(len(CARD.joints))
    damping[knee] = 0.2
    drives = drives_of(
        walk(
            n=2,
            begin=0,
            joint_commands=commands,
            positions=positions,
            efforts=efforts,
            facts={"damping": damping.tolist()},
        )
    )
    column = drives.work_j[:, 2]
    potential = [stiffness * (a**2 - b**2) / 2.0 for a, b in ((0.1, 0.04), (0.04, 0.02))]
    lost_to_damping = [0.2 * turned**2 / FRAME_S for turned in (0.06, 0.02)]
    assert column == pytest.approx(np.array(potential) - lost_to_damping)
    assert drives.peak_torques[:, 2] == pytest.approx([stiffness * 0.1, stiffness * 0.04])
    assert np.count_nonzero(drives.work_j) == 2


def test_a_late_command_pulls_only_when_it_takes_effect() -> None:
    knee = CARD.index("left_front_knee")
    commands = np.tile(STANDING, (11, 1))
    commands[1:, knee] += 0.1
    peaks = drives_of(walk(n=10, begin=0, joint_commands=commands, facts={"latency_frames": 4})).peak_torques[
        :, 2
    ]
    assert np.flatnonzero(peaks).tolist() == [4, 5, 6, 7, 8, 9]


def test_only_positive_work_counts_as_cost_and_a_short_way_has_none() -> None:
    knee, elevator = CARD.index("left_front_knee"), CARD.index("left_front_elevator")
    n = 50
    positions, efforts = np.tile(STANDING, (n + 1, 1)), np.zeros((n + 1, len(CARD.joints)))
    positions[:, knee] += np.linspace(0.0, 0.5, n + 1)
    positions[:, elevator] += np.linspace(0.0, 0.5, n + 1)
    efforts[:, knee], efforts[:, elevator] = 1.0, -1.0
    stiff = np.zeros(len(CARD.joints))
    working_walk = walk(
        n=n, begin=0, positions=positions, efforts=efforts, facts={"stiffness": stiff.tolist()}
    )
    energy = measure_energy(working_walk, drives_of(working_walk), path_m=2.0)
    assert energy.positive_work_j == pytest.approx(
        0.25
    )  # the mean of nothing at a frame's beginning and 1 N m
    assert energy.negative_work_j == pytest.approx(-0.25)
    assert energy.cost_of_transport == pytest.approx(0.25 / (1.6 * 9.81 * 2.0))
    assert energy.mean_power_w == pytest.approx(0.25 / (n * FRAME_S))
    assert measure_energy(working_walk, drives_of(working_walk), path_m=0.01).cost_of_transport is None


def test_a_base_that_leans_or_sinks_for_long_has_fallen_and_a_stumble_is_none() -> None:
    rows = np.arange(401)
    lies = np.where(rows >= 300, 1.0, 0.0)
    (fall,) = walk(n=400, roll=lies).falls
    assert (fall.row, fall.side, fall.time_s) == (300, "to the right", pytest.approx(300 * FRAME_S))
    assert walk(n=400, pitch=np.where((rows > 200) & (rows < 220), 1.0, 0.0)).falls == ()
    low = np.column_stack([np.zeros((401, 2)), np.where(rows >= 350, 0.05, HEIGHT_M)])
    assert [fall.row for fall in walk(low, n=400).falls] == [350]


@pytest.mark.parametrize(
    ("angles", "side"), [((0.0, 1.0), "forward"), ((0.0, -1.0), "back"), ((-1.0, 0.0), "to the left")]
)
def test_a_fall_says_where_to(angles: tuple[float, float], side: str) -> None:
    after = np.arange(201) >= 100
    roll, pitch = (np.where(after, angle, 0.0) for angle in angles)
    assert [fall.side for fall in walk(n=200, roll=roll, pitch=pitch).falls] == [side]


def test_figures_of_a_walk_that_ends_in_a_fall_are_up_to_there() -> None:
    places, yaw = along_an_arc(0.1, 0.0, 0.0)
    roll = np.where(np.arange(len(yaw)) >= 5 * CYCLE + 3, 1.0, 0.0)
    report = GaitReport.of(walk(places, yaw=yaw, roll=roll))
    assert ([fall.side for fall in report.falls], report.travel.cycles) == (["to the right"], 4)
    assert report.travel.speed_m_s == pytest.approx(0.1)
    assert report.attitude.max_tilt_deg == pytest.approx(0.0, abs=1e-6)
    assert report.travel.measured_s == pytest.approx((4 * CYCLE + 2) * FRAME_S)


def test_a_walk_that_falls_while_it_settles_says_what_can_be_said() -> None:
    roll = np.where(np.arange(401) >= 20, 1.0, 0.0)
    report = GaitReport.of(walk(n=400, begin=100, roll=roll))
    figures = report.to_dict()
    assert figures["falls"] == 1
    assert figures["measured_s"] == 0.0
    for name in (
        "speed_m_s",
        "forward_error",
        "cost_of_transport",
        "mean_power_w",
        "duty",
        "bounce_m",
        "foot_clearance_m",
    ):
        assert figures[name] is None


def test_what_does_not_keep_every_frame_or_is_no_walk_is_refused_with_the_reason() -> None:
    recording = recorded()
    rare = replace(recording, header=replace(recording.header, rate_hz=0.25 / FRAME_S))
    with pytest.raises(InputError, match="every frame, but this recording has one in 4"):
        Walk.of(rare, gait=GAIT)
    with pytest.raises(InputError, match="not the recording of a gait's walk"):
        Walk.of(replace(recording, header=replace(recording.header, extras={})), gait=GAIT)
    with pytest.raises(InputError, match=r"has no document made\.gait\.yaml"):
        Walk.of(recording)


def test_the_gait_is_read_from_the_recording_itself() -> None:
    recording = recorded()
    with_gait = replace(
        recording, header=replace(recording.header, documents={"made.gait.yaml": gait_text(GAIT)})
    )
    walk = Walk.of(with_gait)
    assert walk.cycle == GAIT.cycle(walk.robot)


def test_of_any_recording_way_speed_tilt_and_falls_are_said() -> None:
    places, yaw = along_an_arc(0.1, 0.0, 0.0)
    roll = np.where(np.arange(len(yaw)) >= 6 * CYCLE, 1.0, 0.0)
    walk_recording = recorded(places, angles=(roll, 0.0, yaw))
    fault = Event(0.5, "fault", {"fault": "late", "message": "a frame came late", "joint": None})
    recording = replace(walk_recording, header=replace(walk_recording.header, extras={}), events=(fault,))
    result = evaluate(recording)
    assert isinstance(result, RunResult)
    (figures,) = result.robots.values()
    assert figures.distance_m == pytest.approx(0.1 * 10 * TIMING.period_s, rel=1e-3)
    assert figures.mean_speed_m_s == pytest.approx((figures.path_m or 0.0) / (10 * TIMING.period_s))
    assert (figures.falls, figures.fall_sides) == (1, ("to the right",))
    assert figures.fall_times_s == (pytest.approx(6 * CYCLE * FRAME_S),)
    assert figures.max_tilt_deg == pytest.approx(math.degrees(1.0))
    assert figures.faults == {"late": 1}
    data = json.loads(json.dumps(result.figures(), allow_nan=False))
    assert data["duration_s"] == pytest.approx(10 * TIMING.period_s)


@pytest.mark.parametrize(
    ("roll_deg", "pitch_deg", "height_m", "falls"),
    [
        (0.0, -47.0, HEIGHT_M, 0),  # an AIBO that sits down
        (0.0, 0.0, 0.3 * HEIGHT_M, 0),  # one that lies down
        (0.0, -65.0, HEIGHT_M, 1),
        (45.0, 0.0, HEIGHT_M, 1),
        (-45.0, 0.0, HEIGHT_M, 1),
    ],
)
def test_one_that_sits_or_lies_down_has_not_fallen(
    roll_deg: float, pitch_deg: float, height_m: float, falls: int
) -> None:
    down = np.arange(10 * CYCLE + 1) >= 6 * CYCLE
    places, _ = along_an_arc(0.0, 0.0, 0.0)
    places[:, 2] = np.where(down, height_m, HEIGHT_M)
    recording = recorded(places, angles=tuple(np.radians(a) * down for a in (roll_deg, pitch_deg, 0.0)))
    result = evaluate(replace(recording, header=replace(recording.header, extras={})))
    (figures,) = result.robots.values()  # type: ignore[union-attr]  # neither walk nor motion
    assert figures.falls == falls


def test_where_nobody_knew_the_place_joints_are_measured_all_the_same() -> None:
    walk_recording = recorded()
    record = walk_recording.robot()
    blind = replace(record, base=np.full_like(record.base, np.nan))
    recording = replace(
        walk_recording, header=replace(walk_recording.header, extras={}), robots={CARD.name: blind}
    )
    (figures,) = evaluate(recording).robots.values()  # type: ignore[union-attr]  # neither walk nor motion
    assert (figures.falls, figures.path_m, figures.max_joint_speed_ratio) == (None, None, 0.0)
