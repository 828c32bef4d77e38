"""A gait on many bodies, none quite like the model."""

from __future__ import annotations

import json

import pytest

from posewright.errors import InputError
from posewright.gaits import VelocityCommand, read_gait
from posewright.robots import robot
from posewright.trials.walking.figures import FIGURES
from posewright.trials.walking.many import walk_many
from posewright.trials.walking.trial import walk_gait
from posewright.trials.walking.workers import Walker

CARD = robot("sony_ers7")
GAIT = read_gait("trot", robot=CARD)
AHEAD = VelocityCommand(0.12)


def test_many_bodies_are_the_ones_of_the_seeds_that_follow() -> None:
    many = walk_many(GAIT, CARD, AHEAD, bodies=3, seed=5, seconds=0.5)
    assert [body.seed for body in many.bodies] == [5, 6, 7]
    assert len({body.variation for body in many.bodies}) == 3
    (second,) = walk_many(GAIT, CARD, AHEAD, bodies=1, seed=6, seconds=0.5).bodies
    assert second.to_dict() == many.bodies[1].to_dict()
    alone = walk_gait(GAIT, CARD, AHEAD, seconds=0.5, variation=second.variation, seed=6)
    assert alone.report == second.report


def test_of_many_bodies_the_worst_and_the_median_are_told() -> None:
    told: list[int] = []
    many = walk_many(
        GAIT, CARD, AHEAD, bodies=3, seconds=0.5, tell=lambda body: told.append(body.seed), clock=lambda: 0.0
    )
    tilts = sorted(report.max_tilt_deg for report in many.reports)
    assert many.worst["max_tilt_deg"] == tilts[2]
    assert many.median["max_tilt_deg"] == tilts[1]
    assert set(many.worst) == {figure.name for figure in FIGURES}
    speeds = [report.speed_m_s for report in many.reports if report.speed_m_s is not None]
    assert many.worst["speed_m_s"] == max(speeds, key=lambda speed: abs(speed - 0.12))
    assert told == [0, 1, 2]
    data = json.loads(json.dumps(many.to_dict(), allow_nan=False))
    assert data["held_joints"] == ["mouth", *CARD.group("ears"), *CARD.group("tail")]
    assert (data["upright"], data["n_bodies"], data["falls"]) == (many.upright, 3, 3 - many.upright)


def test_workers_walk_the_same_bodies() -> None:
    alone, beside = (
        walk_many(GAIT, CARD, AHEAD, bodies=2, seconds=0.4, workers=workers) for workers in (1, 2)
    )
    assert alone.to_dict()["bodies"] == beside.to_dict()["bodies"]


@pytest.mark.parametrize(
    "changes", [{"bodies": 0}, {"bodies": 10**9}, {"workers": 0}, {"seed": -1}, {"seed": 2**63}]
)
def test_numbers_of_bodies_and_workers_have_their_ranges(changes: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(changes))):
        walk_many(GAIT, CARD, AHEAD, **changes)  # type: ignore[arg-type]


def test_a_gait_comes_back_whole_from_its_travels() -> None:
    import pickle

    sent = pickle.loads(pickle.dumps(Walker(GAIT, CARD, AHEAD, 1.0, 1.0)))  # noqa: S301 -- our own
    assert sent.gait.parameters == GAIT.parameters
    assert sent.gait.phases == GAIT.phases
    assert (sent.gait.name, sent.gait.travel_gain) == (GAIT.name, GAIT.travel_gain)
