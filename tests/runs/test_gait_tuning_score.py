"""The score of a candidate: each term is what its name says, and they add up as the document wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from posewright.evaluation.walking.walk import GaitFall
from posewright.gaits import VelocityCommand, read_gait
from posewright.runs import walk_gait
from posewright.runs.tuning.reading import parse_tune
from posewright.runs.tuning.score import (
    MAX_TRANSPORT_COST,
    TERMS,
    CostOfTransport,
    Drift,
    Fall,
    Following,
    JointMargin,
    JointSpeed,
    Slip,
    Speed,
    Term,
    Tilt,
    score_candidate,
)
from posewright.runs.tuning.task import TunedBodies, TunedWalk, VelocityTarget, WalkMeasurement

from .gait_tunes import ERS7, MADE_GAIT, QUICK


@pytest.fixture(scope="module")
def walked() -> WalkMeasurement:
    """A short walk of a real robot, to make others from."""
    walk = TunedWalk(VelocityTarget(0.1), seconds=0.4, settle_s=0.1)
    trial = walk_gait(
        read_gait(MADE_GAIT, robot=ERS7),
        ERS7,
        command=VelocityCommand(0.1),
        seconds=walk.seconds,
        settle_s=walk.settle_s,
    )
    return WalkMeasurement(walk, trial.report)


def as_if(walked: WalkMeasurement, **figures: Any) -> WalkMeasurement:
    """Return a walk with other figures in its report; `fall_times_s` are those of its falls."""
    report = walked.report
    if "fall_times_s" in figures:
        falls = tuple(GaitFall(at_s, 1, "back", 90.0) for at_s in figures.pop("fall_times_s"))
        report = replace(report, falls=falls)
    for name in ("travel", "attitude", "loads", "feet", "energy"):
        part = getattr(report, name)
        own = {key: figures.pop(key) for key in list(figures) if hasattr(part, key)}
        report = replace(report, **{name: replace(part, **own)})
    assert not figures
    return WalkMeasurement(walked.walk, report)


def going(
    walked: WalkMeasurement, measured: tuple[float, float, float], commanded: tuple[float, float, float]
) -> WalkMeasurement:
    names = ("commanded_forward_m_s", "commanded_left_m_s", "commanded_turn_rad_s")
    measured_figures = dict(zip(("speed_m_s", "left_m_s", "turn_rad_s"), measured, strict=True))
    return as_if(walked, **measured_figures, **dict(zip(names, commanded, strict=True)))


def test_every_term_that_a_document_can_name_is_known() -> None:
    for name, term in TERMS.items():
        named = f"score: {{{name}: 0.5, {'slip: 1' if name == 'fall' else 'fall: 2'}}}"
        task = parse_tune(QUICK[: QUICK.index("score:")] + named)
        assert term(weight=0.5) in task.terms  # type: ignore[call-arg]


def test_speed_counts_along_the_command_and_less_where_joints_are_overtaxed(walked: WalkMeasurement) -> None:
    straight = going(walked, (0.3, 0.1, 0.0), (0.4, 0.0, 0.0))
    aside = going(walked, (0.3, 0.4, 0.0), (0.0, -0.2, 0.0))
    term = Speed(weight=1.0, joint_speed_ratio=0.97, power=2.0)
    assert term.value(as_if(straight, max_joint_speed_ratio=0.9)) == pytest.approx(-0.3)
    assert term.value(as_if(straight, max_joint_speed_ratio=1.94)) == pytest.approx(-0.3 / 4.0)
    assert term.value(as_if(aside, max_joint_speed_ratio=1.94)) == pytest.approx(0.4)
    assert term.value(going(walked, (0.3, 0.1, 1.0), (0.0, 0.0, 1.0))) == 0.0


def test_following_is_the_relative_error_of_three_components(walked: WalkMeasurement) -> None:
    measurement = going(walked, (0.15, 0.01, 0.5), (0.2, 0.0, 1.0))
    assert Following(weight=1.0, worst=0.0).value(measurement) == pytest.approx((0.25 + 0.1 + 0.5) / 3.0)
    assert Following(weight=1.0, worst=1.0).value(measurement) == pytest.approx(0.5)
    assert Following(weight=1.0, worst=1.0, scale_m_s=0.01).value(measurement) == pytest.approx(1.0)
    perfect = going(walked, (0.2, 0.0, 1.0), (0.2, 0.0, 1.0))
    assert Following(weight=1.0).value(perfect) == 0.0


def test_a_robot_that_fell_at_once_has_followed_nothing(walked: WalkMeasurement) -> None:
    nothing = as_if(walked, speed_m_s=None, left_m_s=None, turn_rad_s=None)
    assert Following(weight=1.0, worst=1.0).value(nothing) == 1.0
    assert Speed(weight=1.0).value(nothing) == 0.0
    assert CostOfTransport(weight=1.0).value(as_if(walked, cost_of_transport=None)) == MAX_TRANSPORT_COST


def test_drift_is_across_the_command_and_the_turn_beside_it(walked: WalkMeasurement) -> None:
    drift = Drift(weight=1.0, turn_m=0.5)
    assert drift.value(going(walked, (0.1, 0.03, 0.2), (0.4, 0.0, 0.0))) == pytest.approx(0.03 + 0.1)
    assert drift.value(going(walked, (0.02, 0.3, 0.5), (0.0, 0.1, 0.5))) == pytest.approx(0.02)
    assert drift.value(going(walked, (0.03, 0.04, 1.0), (0.0, 0.0, 1.0))) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("term", "figures", "value"),
    [
        (Tilt(weight=1.0, over=6.0), {"max_tilt_deg": 9.0}, 3.0),
        (Tilt(weight=1.0, over=6.0), {"max_tilt_deg": 5.0}, 0.0),
        (Slip(weight=1.0), {"slip_m": 0.2, "path_m": 0.5}, 0.4),
        (Slip(weight=1.0), {"slip_m": 0.2, "path_m": 0.0}, 4.0),
        (CostOfTransport(weight=1.0), {"cost_of_transport": 1.5}, 1.5),
        (JointSpeed(weight=1.0, over=0.9), {"max_joint_speed_ratio": 1.4}, 0.5),
        (JointSpeed(weight=1.0, over=0.9), {"max_joint_speed_ratio": 0.4}, 0.0),
        (JointMargin(weight=1.0, under=1.0), {"limit_margin_deg": 3.0, "coupled_margin_deg": -2.0}, 3.0),
        (JointMargin(weight=1.0, under=1.0), {"limit_margin_deg": 0.5, "coupled_margin_deg": None}, 0.5),
        (JointMargin(weight=1.0), {"limit_margin_deg": 0.5, "coupled_margin_deg": 0.1}, 0.0),
        (Fall(weight=1.0), {}, 0.0),
        (Fall(weight=1.0), {"fall_times_s": (0.0,)}, 2.0),
        (Fall(weight=1.0), {"fall_times_s": (0.5, 0.5)}, 1.0),
    ],
)
def test_a_term_is_what_its_name_says(
    walked: WalkMeasurement, term: Term, figures: Mapping[str, Any], value: float
) -> None:
    assert term.value(as_if(walked, **figures)) == pytest.approx(value)


def test_walks_count_by_their_weight_and_bodies_by_their_worst(walked: WalkMeasurement) -> None:
    def leaning(tilt_deg: float, weight: float) -> WalkMeasurement:
        measurement = as_if(walked, max_tilt_deg=tilt_deg)
        return WalkMeasurement(replace(walked.walk, weight=weight), measurement.report)

    walks = [[leaning(1.0, 3.0), leaning(3.0, 3.0)], [leaning(8.0, 1.0), leaning(10.0, 1.0)]]
    terms = (Tilt(weight=0.5), Fall(weight=1.0))
    assert score_candidate(walks, terms, TunedBodies(worst_share=0.0)).score == pytest.approx(
        0.5 * (3 * 2 + 9) / 4
    )
    worst = score_candidate(walks, terms, TunedBodies(worst_share=1.0))
    assert worst.score == pytest.approx(0.5 * (3 * 3 + 10) / 4)
    assert worst.facts["max_tilt_deg"] == 10.0
    assert worst.facts["score_tilt_deg"] == pytest.approx(0.5 * (3 * 2 + 9) / 4)
    assert (worst.facts["walks"], worst.facts["falls"]) == (4, 0)


def test_the_parts_of_a_score_add_up_where_no_body_counts_for_more(walked: WalkMeasurement) -> None:
    walks = [[as_if(walked, max_tilt_deg=tilt_deg) for tilt_deg in (1.0, 3.0)]]
    terms = (Tilt(weight=0.5), Following(weight=1.0))
    for worst_share, surplus in ((0.0, 0.0), (0.5, 0.25)):
        evaluation = score_candidate(walks, terms, TunedBodies(worst_share=worst_share))
        parts = [float(evaluation.facts[f"score_{term.name}"]) for term in terms]
        assert evaluation.score == pytest.approx(sum(parts) + surplus)
