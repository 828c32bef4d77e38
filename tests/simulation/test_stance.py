"""How a robot stands: words and margins agree with what gravity would do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.robots import robot
from posewright.simulation.kinematic_model import KinematicModel
from posewright.simulation.stance import StanceKind
from posewright.studio.stance_text import describe_stance


@pytest.fixture(scope="module")
def bioloid() -> KinematicModel:
    return KinematicModel(robot("robotis_bioloid"))


def posed(model: KinematicModel, **degrees: float) -> Floats:
    """Return the angles of the standing robot with some joints turned to other angles [rad]."""
    angles = model.robot.pose("stand")
    for name, angle in degrees.items():
        angles[model.robot.index(name)] = math.radians(angle)
    return angles


def lifted(model: KinematicModel) -> Floats:
    """Return a pose with the right leg pulled up, the weight still between the feet."""
    return posed(model, right_hip_pitch=-60.0, right_knee=100.0, right_ankle_pitch=40.0)


def distance_to_edges(point: Floats, polygon: Floats) -> float:
    """Return the distance of a point from the nearest edge of a polygon [m]."""
    distances = []
    for start, end in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        edge = end - start
        share = np.clip((point - start) @ edge / (edge @ edge), 0.0, 1.0)
        distances.append(float(np.linalg.norm(point - start - share * edge)))
    return min(distances)


def test_a_standing_robot_stands_on_both_feet(bioloid: KinematicModel) -> None:
    bioloid.stand(posed(bioloid))
    stance = bioloid.stance()
    assert stance.kind is StanceKind.STANDS
    assert set(stance.carriers) == set(bioloid.robot.feet)
    assert describe_stance(stance).startswith("Balanced: the centre of mass is ")


def test_a_robot_that_lifts_a_leg_and_does_not_shift_its_weight_topples(bioloid: KinematicModel) -> None:
    bioloid.stand(lifted(bioloid))
    stance = bioloid.stance()
    assert stance.kind is not StanceKind.STANDS
    assert not describe_stance(stance).startswith("Balanced")


def test_the_margin_on_a_chosen_foot_is_the_distance_to_the_edge_of_its_sole(bioloid: KinematicModel) -> None:
    link_poses = bioloid.stand_on_foot(lifted(bioloid), "left_foot")
    stance = bioloid.stance("left_foot")
    assert stance.kind is StanceKind.FALLS
    assert stance.sunk_m == pytest.approx(0.0, abs=1e-6)
    outside_m = distance_to_edges(link_poses.centre_of_mass[:2], stance.balance.polygon)
    assert outside_m > 0.005
    assert stance.balance.margin_m == pytest.approx(-outside_m, abs=2e-4)
    assert "Topples off the left foot" in describe_stance(stance)


def test_a_foot_carries_the_robot_alone_when_its_weight_is_above_it(bioloid: KinematicModel) -> None:
    angles = lifted(bioloid)
    centres = []
    for roll_deg in np.linspace(-25.0, 25.0, 21):
        turned = angles.copy()
        for name in ("left_hip_roll", "left_ankle_roll"):
            turned[bioloid.robot.index(name)] = math.radians(roll_deg)
        bioloid.stand_on_foot(turned, "left_foot")
        centres.append(bioloid.stance("left_foot"))
    best = max(centres, key=lambda stance: stance.balance.margin_m)
    assert best.kind is StanceKind.STANDS
    assert "Balanced on the left foot" in describe_stance(best)


def test_a_robot_on_its_face_is_said_to_lie(bioloid: KinematicModel) -> None:
    base = bioloid.stand(posed(bioloid)).base.copy()
    half = math.radians(90.0) / 2.0
    base[3:] = (math.cos(half), 0.0, math.sin(half), 0.0)  # a quarter turn forward
    bioloid.set_pose(base, posed(bioloid))
    stance = bioloid.stance()
    assert (stance.lean_side, round(math.degrees(stance.lean_rad))) == ("forward", 90)
    assert stance.kind in {StanceKind.SETTLED, StanceKind.FALLS}
    assert "Balanced" not in describe_stance(stance)
    if stance.kind is StanceKind.SETTLED:
        assert describe_stance(stance).startswith("Lies, leaning 90° forward, on ")


def test_a_dog_stands_on_its_paws_and_settles_when_it_sits() -> None:
    model = KinematicModel(robot("sony_ers7"))
    model.stand(model.robot.pose("stand"))
    assert model.stance().kind is StanceKind.STANDS
    assert model.flat_feet == ()
    model.stand(model.robot.pose("sit"))
    stance = model.stance()
    assert stance.kind is StanceKind.SETTLED
    assert describe_stance(stance).startswith("Settled, leaning ")
