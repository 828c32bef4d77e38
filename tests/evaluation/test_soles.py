"""What is measured of a biped's soles, which are moved here as rigid plates of known size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posewright.arrays import Floats
from posewright.evaluation.trajectory import Trajectory
from posewright.evaluation.walking.feet import FootTrajectories, foot_trajectories, slips
from posewright.evaluation.walking.walk import Walk, WalkSettings
from posewright.gaits import read_gait
from posewright.kinematics import biped_legs_of
from posewright.recordings import Decisions, Header, Recording, RobotHeader, RobotRecord
from posewright.robots import robot

CARD = robot("robotis_bioloid")
STANDING = CARD.pose("stand")
LEFT = CARD.feet.index("left_foot")
LENGTH_M = 0.105
"""Soles of the Bioloid, from its card's `sole_size_m`: 105 x 62 mm."""
WIDTH_M = 0.062
CORNERS = np.array([(x, y, 0.0) for x in (-LENGTH_M / 2, LENGTH_M / 2) for y in (-WIDTH_M / 2, WIDTH_M / 2)])
N = 20


def walk_on_sole(places: Floats, turns: Rotation) -> Walk:
    """Return a walk of a stiff robot whose left sole has these places `(N + 1, 3)` and turns, and touches."""
    leg = biped_legs_of(CARD)["left"]
    sole, sole_turn = leg.forward(leg.pick_angles(STANDING))
    base_turns = turns * Rotation.from_matrix(sole_turn).inv()
    quaternions = np.roll(base_turns.as_quat(), 1, axis=1)  # w first
    base = np.concatenate([places - base_turns.apply(sole), quaternions], axis=1)
    still = np.tile(STANDING, (N, 1))
    contacts = np.zeros((N, len(CARD.feet)), dtype=bool)
    contacts[:, LEFT] = True
    header = RobotHeader(CARD.name, "gait biped", CARD.joint_names, CARD.feet)
    record = RobotRecord(
        header=header,
        positions=still,
        commands=still,
        efforts=np.zeros_like(still),
        base=base[1:],
        footprints=np.zeros((N, len(CARD.feet), 4, 3)),
        foot_contacts=contacts,
        box_contacts=np.zeros((N, 0), dtype=bool),
        start_positions=STANDING,
        start_base=base[0],
        decisions=Decisions(),
    )
    times = np.arange(1.0, N + 1.0) * CARD.frame_period_s
    recording = Recording(
        Header({CARD.name: header}, rate_hz=1.0 / CARD.frame_period_s),
        times,
        {CARD.name: record},
        np.zeros((N, 0, 7)),
        (),
    )
    settings = WalkSettings("biped", "nominal", 1.0, 0.0, tuple(STANDING.tolist()))
    return Walk(Trajectory.of(recording), settings, read_gait("biped").cycle(CARD), velocity_commands=())


def measure_slip(places: Floats, turns: Rotation) -> tuple[Floats, FootTrajectories]:
    """Return the slip of the left sole in each frame but the first, `(N - 1,)` [m], and all trajectories."""
    walk = walk_on_sole(places, turns)
    feet = foot_trajectories(walk)
    return slips(walk, feet)[1:, LEFT], feet


def yaw_pitch(yaw_rad: Floats | float, pitch_rad: Floats | float) -> Rotation:
    columns = np.broadcast_arrays(np.zeros(N + 1), yaw_rad, pitch_rad)[1:]
    return Rotation.from_euler("ZY", np.stack(columns, axis=1))


def turned_about(point: tuple[float, float, float], turns: Rotation) -> Floats:
    """Return the places of a sole that turns so about a point of its own, which stays at the origin."""
    return -turns.apply(point)


def test_a_sole_touches_with_the_four_corners_of_its_plate() -> None:
    random = np.random.default_rng(1)
    places = random.uniform(-1.0, 1.0, (N + 1, 3))
    turns = Rotation.from_rotvec(random.uniform(-1.0, 1.0, (N + 1, 3)))
    feet = foot_trajectories(walk_on_sole(places, turns))
    expected = np.stack([turn.apply(CORNERS) + place for turn, place in zip(turns, places, strict=True)])
    for corner in range(4):
        distances = np.linalg.norm(feet.points[:, LEFT] - expected[:, [corner]], axis=-1)
        assert distances.min(axis=1) == pytest.approx(np.zeros(N + 1), abs=1e-9)
    assert feet.heights[:, LEFT] == pytest.approx(expected[..., 2].min(axis=1))


def test_a_sole_that_tips_over_its_toes_or_turns_on_them_does_not_slide() -> None:
    toes = (LENGTH_M / 2, 0.0, 0.0)
    tipping = yaw_pitch(0.0, np.linspace(0.1, 0.5, N + 1))
    turning_on_toes = yaw_pitch(np.linspace(0.0, 0.5, N + 1), 0.3)
    for turns in (tipping, turning_on_toes):
        slip_m, feet = measure_slip(turned_about(toes, turns), turns)
        assert feet.heights[:, LEFT] == pytest.approx(np.zeros(N + 1), abs=1e-9)
        assert slip_m == pytest.approx(np.zeros(N - 1), abs=1e-9)


def test_a_flat_sole_slides_as_far_as_its_middle() -> None:
    yaw_rad = np.linspace(0.0, 0.5, N + 1)
    on_the_spot, _ = measure_slip(np.zeros((N + 1, 3)), yaw_pitch(yaw_rad, 0.0))
    assert on_the_spot == pytest.approx(np.zeros(N - 1), abs=1e-9)
    places = np.linspace((0.0, 0.0, 0.0), (0.03, -0.04, 0.0), N + 1)
    dragged, _ = measure_slip(places, yaw_pitch(yaw_rad, 0.0))
    assert dragged == pytest.approx(np.full(N - 1, 0.05 / N))


def test_a_sole_on_its_toes_slides_as_far_as_they_do() -> None:
    heel = (-LENGTH_M / 2, 0.0, 0.0)
    turns = yaw_pitch(np.linspace(0.0, 0.02, N + 1), 0.3)
    places = turned_about(heel, turns) + np.array([0.0, 0.0, LENGTH_M * np.sin(0.3)])  # the heel in the air
    slip_m, _ = measure_slip(places, turns)
    assert slip_m == pytest.approx(np.full(N - 1, LENGTH_M * np.cos(0.3) * 0.02 / N), rel=1e-4)
