"""A motion as the program of a run: played over and over if it says so, otherwise once, which is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from posewright import contests, robots
from posewright.formats import write_motion
from posewright.motions import create_motion
from posewright.runs.motion_programs import MotionKind


@pytest.mark.parametrize("repeat", [None, 1])
def test_a_motion_that_repeats_for_ever_is_played_for_as_long_as_any_contest(
    tmp_path: Path, repeat: int | None
) -> None:
    card = robots.robot("sony_ers7")
    motion = create_motion("bow", card)
    slow_keyframe = replace(motion.keyframes[0], reach_s=20.0)
    path = tmp_path / "bow.motion.yaml"
    write_motion(replace(motion, keyframes=(slow_keyframe,), repeat=repeat), path)
    program = MotionKind().read(str(path), card, {})
    played_s = len(program.commands.keyframes) * card.frame_period_s
    if repeat is None:
        assert program.warnings == ()
        assert all(played_s > contests.contest(name).longest_s for name in contests.contest_names())
    else:
        assert program.warnings == ("bow is played once, for 20.0 s; then the robot stands still",)
        assert played_s == pytest.approx(20.0, abs=card.frame_period_s)
