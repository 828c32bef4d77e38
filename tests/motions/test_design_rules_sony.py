"""Sony's own motions for the ERS-7: the design rules say of them what is so, and not more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from posewright.formats import read_motion
from posewright.motions import Finding, Level
from posewright.robots import robot

from .all_rules import check_all

CARD = robot("sony_ers7")
BOW, WALK, STAND_UP, CLOCK = (
    "a_stand__stand_so0_makebow",
    "a_walk__walk_sox_fwd",
    "a_sit__stand_standard",
    "mind2_part_h_any__any_soc_clock1",
)

Found = Callable[[str], tuple[Finding, ...]]


@pytest.fixture
def found(samples: Callable[[str], Path]) -> Found:
    return lambda name: check_all(read_motion(samples(f"aibo_mtn/{name}.mtn")), CARD)


@pytest.mark.parametrize("name", [BOW, WALK, STAND_UP, CLOCK])
def test_none_goes_beyond_the_mechanism_or_far_beyond_a_coupled_limit(found: Found, name: str) -> None:
    placed = [finding for finding in found(name) if finding.rule in ("limit", "coupled", "step")]
    assert {finding.level for finding in placed} <= {Level.WARNING}


def test_the_bow_costs_pictures_and_is_else_without_fault(found: Found) -> None:
    (finding,) = found(BOW)
    assert (finding.rule, finding.level, finding.joint) == ("camera", Level.WARNING, "head_tilt")
    assert 0 < (finding.value or 0) < 54


def test_getting_up_is_long_begins_elsewhere_and_bends_the_rear_knees_to_125(found: Found) -> None:
    findings = found(STAND_UP)
    assert {f.rule for f in findings if f.level is Level.ERROR} == {"duration", "pose"}
    assert {f.keyframe for f in findings if f.rule == "pose"} == {1}
    knees = {f.joint: (f.value, f.keyframes) for f in findings if f.rule == "limit"}
    assert knees == {
        f"{side}_rear_knee": (pytest.approx(125.0, abs=0.001), (8, 9, 10, 11)) for side in ("left", "right")
    }


def test_the_walk_asks_for_three_times_the_speed_its_own_editor_allows(found: Found) -> None:
    fastest = max((f for f in found(WALK) if f.rule == "speed"), key=lambda f: f.value or 0.0)
    assert (fastest.joint or "").endswith("front_knee")
    assert (fastest.value or 0.0) / (fastest.limit or 1.0) == pytest.approx(3.3, abs=0.05)


def test_a_motion_of_the_head_is_not_asked_where_its_legs_are(found: Found) -> None:
    assert {finding.rule for finding in found(CLOCK)} == {"duration"}
