"""The judgement of the posture: the printed rule, the consistent one, and the notes' own poses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import UnknownNameError
from posewright.runtimes.robi.catalogue import load_program
from posewright.runtimes.robi.machine import ProgramMachine, RobiStopReason
from posewright.runtimes.robi.memory import RobiMemory
from posewright.runtimes.robi.postures import Posture, judge, judge_postures, posture_table

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


Again = Callable[[float, float, float], int]
RULES = pytest.mark.parametrize(("rule", "again"), [("consistent", consistent), ("printed", printed)])


@RULES
def test_the_judgement_is_the_rule_on_a_grid_of_leg_positions(rule: str, again: Again) -> None:
    hip, right, left = np.meshgrid(HIP, KNEE, KNEE, indexing="ij")
    judged = posture_table().rule(rule).judge({3: hip, 4: right, 9: left})
    expected = np.vectorize(again)(hip, right, left)
    np.testing.assert_array_equal(judged, expected)
    assert set(np.unique(judged)) == {0, 1, 2}


def judged_by_program(rule: str, words: dict[int, int]) -> int:
    """Let a Robi program judge measured positions [0.1 deg]."""
    memory = RobiMemory()
    for number, word in words.items():
        memory.set("measured", word, number)
    stop = ProgramMachine(load_program("judge", rule), memory).run(1000)
    assert stop.reason is RobiStopReason.RETURNED
    return memory.get("return_value")


@RULES
def test_the_program_in_the_robots_own_language_judges_the_same(rule: str, again: Again) -> None:
    for hip in (-1200, -800, -601, -600, -599, 0):
        for right in range(-300, 301, 75):
            for left in range(-300, 301, 75):
                expected = again(hip / 10, right / 10, left / 10)
                assert judged_by_program(rule, {3: hip, 4: right, 9: left}) == expected


@pytest.mark.parametrize("rule", ["consistent", "printed"])
@given(hip=st.integers(-1500, 1500), right=st.integers(-1500, 1500), left=st.integers(-1500, 1500))
def test_rule_and_program_agree_wherever_a_servo_can_be(rule: str, hip: int, right: int, left: int) -> None:
    measured = {3: hip, 4: right, 9: left}
    by_rule = judge({number: word / 10 for number, word in measured.items()}, rule)
    assert judged_by_program(rule, measured) == by_rule


def test_the_consistent_rule_is_the_default_and_judges_the_four_idle_poses_right() -> None:
    judged = {
        name: judge({number: float(at) for number, at in posture_table().pose_degrees(idle.pose).items()})
        for name, idle in posture_table().idle.items()
    }
    assert judged == {
        "standing": Posture.STANDING,
        "sitting": Posture.SITTING,
        "chair": Posture.CHAIR,
        "ride": Posture.STANDING,  # the rule knows no ride: the program that got on it tells
    }
    assert not any(one.contradicts for one in judge_postures())


def test_the_printed_rule_calls_the_sitting_pose_a_chair() -> None:
    wrong = [one for one in judge_postures(rule="printed") if one.contradicts]
    assert [(one.pose, one.judged, one.right) for one in wrong] == [("sitting", "chair", "sitting")]


def test_servos_are_mapped_as_the_notes_say() -> None:
    found = posture_table()
    assert found.mapped_ids(Posture.STANDING) == ()
    assert found.mapped_ids(Posture.SITTING) == (*range(1, 13), *range(16, 22))
    assert found.mapped_ids(Posture.CHAIR) == tuple(range(1, 12))


def test_a_rule_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="printed"):
        judge({3: 0.0, 4: 0.0, 9: 0.0}, "printd")


def test_every_source_is_told() -> None:
    found = posture_table()
    keys = [
        *(rule.source for rule in found.rules.values()),
        *(idle.source for idle in found.idle.values()),
        *(mapped.source for mapped in found.mapped.values()),
    ]
    assert {key for source in keys for key in source} <= set(found.sources)
