"""Gathering: what a joint does again and again is told once, by the worst of it."""

from __future__ import annotations

import pytest

from posewright.motions import Finding, Level
from posewright.motions.checked_motion import MIN_REPEATS, format_keyframes, merge_repeated, successive_ranges


def beyond(keyframe: int, value: float, joint: str = "knee", level: Level = Level.WARNING) -> Finding:
    message = f"keyframe {keyframe}: {joint} is commanded to {value:g} deg"
    return Finding(level, "limit", message, keyframe, joint, value, 10.0, "deg", (keyframe / 10,))


def test_few_stay_as_they_are() -> None:
    findings = [beyond(n, 11.0) for n in range(1, MIN_REPEATS)]
    assert list(merge_repeated(findings)) == findings


def test_many_are_told_by_the_worst_that_names_all_keyframes() -> None:
    (one,) = merge_repeated([beyond(3, 11.0), beyond(5, 14.0), beyond(4, 12.0), beyond(9, 11.0)])
    assert (one.keyframe, one.value, one.limit, one.joint) == (5, 14.0, 10.0, "knee")
    assert one.message == "keyframe 5: knee is commanded to 14 deg; the worst of 4: keyframes 3-5, 9"
    assert one.keyframes == (3, 4, 5, 9)
    assert one.times_s == (0.5, 0.3, 0.4, 0.9)


def test_below_a_limit_the_lowest_is_the_worst() -> None:
    (one,) = merge_repeated([beyond(1, 9.0), beyond(2, -4.0), beyond(3, 8.0)])
    assert one.keyframe == 2


def test_joints_rules_and_levels_are_kept_apart() -> None:
    findings = [beyond(n, 11.0, joint) for n in (1, 2, 3) for joint in ("knee", "hip")]
    assert [one.joint for one in merge_repeated(findings)] == ["knee", "hip"]
    findings = [beyond(1, 11.0), beyond(2, 11.0), beyond(3, 19.0, level=Level.ERROR)]
    assert list(merge_repeated(findings)) == findings


def test_where_nothing_is_measured_the_first_speaks() -> None:
    free = [Finding(Level.WARNING, "free", f"keyframe {n}: was free", n, "knee") for n in (2, 3, 4)]
    (one,) = merge_repeated(free)
    assert one.message == "keyframe 2: was free; the first of 3: keyframes 2-4"


def test_the_two_ends_of_a_motion_are_no_repetition() -> None:
    ends = [beyond(1, 11.0), beyond(9, 11.0), beyond(9, 12.0)]
    assert list(merge_repeated(ends)) == ends


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([4], "keyframe 4"),
        ([4, 5], "keyframes 4, 5"),
        ([3, 4, 7], "keyframes 3, 4, 7"),
        ([3, 4, 5, 7, 9, 10, 11, 12], "keyframes 3-5, 7, 9-12"),
        ([0, 1, 2, 3], "the start pose and keyframes 1-3"),
        (list(range(1, 20, 2)), "keyframes 1, 3, 5, 7, 9, 11 and others"),
    ],
)
def test_keyframes_are_listed_in_rows(numbers: list[int], told: str) -> None:
    assert format_keyframes(numbers) == told


def test_rows_of_numbers() -> None:
    assert successive_ranges([]) == []
    assert successive_ranges([2, 3, 4, 8]) == [(2, 4), (8, 8)]
