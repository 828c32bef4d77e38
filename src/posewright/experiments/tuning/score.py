"""The score of a candidate: the weighted terms of its walks, and the figures people want beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from posewright.experiments.tuning.terms import Following, Slip, Term, speed_along
from posewright.experiments.tuning.walk import TunedBodies, Walked
from posewright.search import Evaluation, Fact


def judged(walks: Sequence[Sequence[Walked]], terms: Sequence[Term], bodies: TunedBodies) -> Evaluation:
    """Return how good a candidate is.

    The score of a walk is the sum of the weighted terms, of all bodies by `bodies.worst_share`; that of the
    candidate is the weighted mean of its walks. The facts `score_<term>` are means over all bodies: they add
    up to the score where `worst_share` is 0, and to less where the worst body counts for more.

    Args:
        walks: for each walk what became of each body.
        terms: that are looked at.
        bodies: how they count.
    """
    weights = [walk[0].walk.weight for walk in walks]
    score = _mean([_of_bodies(walk, terms, bodies.worst_share) for walk in walks], weights)
    parts = {
        f"score_{term.name}": _mean([fmean(_value(term, one) for one in walk) for walk in walks], weights)
        for term in terms
    }
    return Evaluation(score, {**figures(walks, terms), **parts})


def _of_bodies(walk: Sequence[Walked], terms: Sequence[Term], worst_share: float) -> float:
    scores = [math.fsum(_value(term, one) for term in terms) for one in walk]
    return (1.0 - worst_share) * fmean(scores) + worst_share * max(scores)


def _value(term: Term, walked: Walked) -> float:
    return term.weight * term.value(walked)


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = math.fsum(value * weight for value, weight in zip(values, weights, strict=True))
    return total / math.fsum(weights)


def figures(walks: Sequence[Sequence[Walked]], terms: Sequence[Term] = ()) -> dict[str, Fact]:
    """Return what people want to know of a candidate, its score aside.

    Speed along the command is the mean of the walks that go anywhere; the others are the worst of all.

    Args:
        walks: for each walk what became of each body.
        terms: of the score; that of following says what errors are measured against.
    """
    every = [one for walk in walks for one in walk]
    going = [walk for walk in walks if walk[0].walk.goes_somewhere]
    named = next((term for term in terms if isinstance(term, Following)), Following(weight=1.0))
    worst = replace(named, worst=1.0)
    told: dict[str, Fact] = {}
    if going:
        speeds = [fmean(speed_along(one) for one in walk) for walk in going]
        told["speed_m_s"] = _mean(speeds, [walk[0].walk.weight for walk in going])
    told["following_error"] = max(worst.value(one) for one in every)
    told["max_joint_speed_ratio"] = max(one.report.max_joint_speed_ratio for one in every)
    told["max_tilt_deg"] = max(one.report.max_tilt_deg for one in every)
    told["slip_per_m"] = max(Slip(weight=1.0).value(one) for one in every)
    told["walks"] = len(every)
    told["falls"] = sum(not one.report.is_upright for one in every)
    return told
