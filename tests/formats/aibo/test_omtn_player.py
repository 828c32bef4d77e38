"""What Sony's own player makes of an OMTN, worked out by hand and held against the motion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.errors import InputError
from posewright.formats.omtn.format import FORMAT
from posewright.formats.omtn.reader import read_omtn
from posewright.formats.omtn.to_motion import sdk_path


def test_it_steps_by_whole_numbers_falls_short_snaps_and_never_sends_the_last(aibo: Any) -> None:
    """Between n frames go 2n + 2 steps: 7 / 4 is 1, and -7 / 4 is -1 in C."""
    path = sdk_path(read_omtn(aibo.omtn([[0, 0, 100], [7, -7, 100], [8, 0, 0]], [1, 0])))
    assert path.tolist() == [
        [0, 0, 100],
        [1, -1, 100],
        [2, -2, 100],
        [3, -3, 100],
        [7, -7, 100],
        [7, -4, 50],
    ]


def test_nothing_is_played_of_one_keyframe(aibo: Any) -> None:
    assert sdk_path(read_omtn(aibo.omtn([[1, 2, 3]]))).shape == (0, 3)


def test_a_motion_goes_where_the_player_goes_but_for_what_it_cuts_off(
    samples: Callable[[str], Path],
) -> None:
    """A row every 8 ms, and never further off than the 2n + 1 micro-radians of the longest way."""
    for name in ("a_stand__stand_so0_makebow", "a_sit__stand_standard"):
        document = read_omtn(samples(f"aibo_mtn/{name}.mtn").read_bytes())
        motion = FORMAT.read(document.render(), Path("x.mtn"), None).motion()
        path = sdk_path(document)
        assert len(path) == document.duration_s / 0.008
        ours = motion.sample_at(np.arange(len(path)) * 0.008).angles
        most = 2 * int(document.n_frames_between.max()) + 1
        off = np.abs(path / 1e6 - ours).max()
        assert 0 < off <= (most + 0.5) * 1e-6


def test_a_motion_of_days_is_not_worked_out(aibo: Any) -> None:
    with pytest.raises(InputError, match="8,000,008 steps"):
        sdk_path(read_omtn(aibo.omtn([[0, 0, 0]] * 5, [1_000_000] * 4)))
