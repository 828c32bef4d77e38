"""The judgement of the posture: the printed rule, the consistent one, and the notes' own poses."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.errors import UnknownNameError
from posewright.runtimes.robi.postures import Posture, judge, postures

HIP = np.arange(-1200, 301, 50) / 10.0
KNEE = np.arange(-300, 301, 25) / 10.0


def consistent(hip: float, right: float, left: float) -> int:
    """Say it again, independently."""
    if hip > -60:
        return 0
    return 2 if right > 7.5 or left < -7.5 else 1


def printed(hip: float, right: float, left: float) -> int:
    """Say the notes' rule again."""
    if hip > -60:
        return 0
    return 2 if right > -22.5 or left < -17 else 1


@pytest.mark.parametrize(("rule", "again"), [("consistent", consistent), ("printed", printed)])
def test_the_judgement_is_the_rule_on_a_grid_of_leg_positions(rule: str, again: object) -> None:
    hip, right, left = np.meshgrid(HIP, KNEE, KNEE, indexing="ij")
    judged = postures().rule(rule).judge({3: hip, 4: right, 9: left})
    expected = np.vectorize(again)(hip, right, left)
    np.testing.assert_array_equal(judged, expected)
    assert set(np.unique(judged)) == {0, 1, 2}


def test_the_consistent_rule_is_the_default_and_judges_the_four_idle_poses_right() -> None:
    judged = {
        name: judge({number: float(at) for number, at in postures().degrees(idle.pose).items()})
        for name, idle in postures().idle.items()
    }
    assert judged == {
        "standing": Posture.STANDING,
        "sitting": Posture.SITTING,
        "chair": Posture.CHAIR,
        "ride": Posture.STANDING,  # the rule knows no ride: the program that got on it tells
    }
    assert postures().contradictions() == {}


def test_the_printed_rule_calls_the_sitting_pose_a_chair() -> None:
    assert postures().contradictions("printed") == {"sitting": (Posture.CHAIR, Posture.SITTING)}


def test_servos_are_mapped_as_the_notes_say() -> None:
    found = postures()
    assert found.mapped_ids(Posture.STANDING) == ()
    assert found.mapped_ids(Posture.SITTING) == (*range(1, 13), *range(16, 22))
    assert found.mapped_ids(Posture.CHAIR) == tuple(range(1, 12))


def test_a_rule_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="printed"):
        judge({3: 0.0, 4: 0.0, 9: 0.0}, "printd")


def test_every_source_is_told() -> None:
    found = postures()
    named = [*found.rules.values(), *found.idle.values(), *found.mapped.values(), *found.transitions.values()]
    assert {key for one in named for key in one.source} <= set(found.sources)
