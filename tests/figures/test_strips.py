"""Film strips: which times, and what is said of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import InputError, MissingExtraError, UnknownNameError
from posewright.evaluation import MotionResult
from posewright.figures import draw_strip, save_figure
from posewright.figures.strip import StripContents, picture_times
from posewright.motions import Finding, Level, Motion
from posewright.recordings import Recording
from posewright.robots import robot

from .conftest import hop_of

HELD = StripContents("hop", last_s=1.4, motion_end_s=0.4, frame_s=0.008, motion=hop_of())


def written(figure: object) -> list[str]:
    """Return what stands in a figure's panels and above them."""
    texts = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]  # type: ignore[attr-defined]
    return [text.get_text() for text in texts]


# ---- which times


def test_a_strip_shows_the_keyframes_the_longest_gaps_and_once_what_comes_after() -> None:
    assert np.allclose(picture_times(HELD, 6), [0.0, 0.1, 0.2, 0.3, 0.4, 1.4])


@given(st.integers(1, 60))
def test_moments_rise_from_the_beginning_to_the_last_frame(n: int) -> None:
    for story in (HELD, replace(HELD, motion=None), replace(HELD, last_s=0.4)):
        times = picture_times(story, n)
        assert 1 <= len(times) <= n
        assert all(before < after for before, after in pairwise(times))
        assert times[-1] == story.last_s
        assert n == 1 or times[0] == 0.0


def test_what_is_found_and_the_greatest_lean_take_the_place_of_the_nearest() -> None:
    found = Finding(Level.ERROR, "fall", "it falls", times_s=(0.33,))
    times = picture_times(replace(HELD, findings=(found,), greatest_lean_s=0.12), 7)
    assert {0.33, 0.12} < set(times)
    assert 0.3 not in times


# ---- what is drawn


@pytest.mark.usefixtures("_can_draw")
def test_a_strip_is_the_same_picture_every_time(tmp_path: Path, played: Recording) -> None:
    for name in ("a.png", "b.png"):
        save_figure(draw_strip(played, pictures=2), tmp_path / name)
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert data == (tmp_path / "b.png").read_bytes()


@pytest.mark.usefixtures("_can_draw")
def test_a_recorded_motion_says_its_keyframes_and_what_was_found(tried: MotionResult) -> None:
    said = written(draw_strip(tried.recording, pictures=6))
    assert "hop, sony_ers7, 0.40 s, under gravity" in said
    assert {"keyframe 1", "keyframe 2", "keyframe 3", "holds"} <= set(said)
    rules = {finding.rule for finding in tried.findings if finding.level is not Level.NOTE}
    assert rules == {rule for text in said for rule in text.split(", ")} & rules
    assert not rules & set(written(draw_strip(tried.recording, pictures=6, findings=())))


@pytest.mark.usefixtures("_can_draw")
def test_a_motion_without_physics_says_so() -> None:
    said = written(draw_strip(hop_of(), "sony_ers7", pictures=3))
    assert "hop, sony_ers7, 0.40 s, without gravity" in said
    assert {"0.00 s", "0.20 s", "0.40 s"} <= set(said)


@pytest.mark.usefixtures("_can_draw")
def test_a_recording_of_no_motion_says_the_controllers_states(played: Recording) -> None:
    header = replace(played.header, extras={})
    said = written(draw_strip(replace(played, header=header), pictures=4))
    assert {"settle", "hold"} <= set(said)
    assert "motion hop, sony_ers7, 2.39 s" in said


@pytest.mark.usefixtures("_can_draw")
@pytest.mark.parametrize("camera", ["side", "front", "chase", "head_camera"])
@pytest.mark.parametrize("what", ["motion", "recording"])
def test_every_camera_makes_a_strip(played: Recording, camera: str, what: str) -> None:
    shown: Motion | Recording = hop_of() if what == "motion" else played
    panels = draw_strip(shown, pictures=2, camera=camera).axes
    assert [len(axes.images) for axes in panels] == [1, 1]


# ---- what is refused


@pytest.mark.parametrize("pictures", [0, -3, 1000])
def test_too_few_and_too_many_pictures_are_refused(pictures: int) -> None:
    with pytest.raises(InputError, match="pictures"):
        draw_strip(hop_of(), pictures=pictures)


@pytest.mark.usefixtures("_can_draw")
def test_an_unknown_camera_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="sdie"):
        draw_strip(hop_of(), camera="sdie")


def test_matplotlib_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # type: ignore[arg-type] -- None is what says so
    with pytest.raises(MissingExtraError, match="pip install"):
        draw_strip(hop_of())


def test_a_robot_without_a_model_cannot_be_shown() -> None:
    card = replace(robot("sony_ers7"), model_path=None)
    with pytest.raises(InputError, match="no model"):
        draw_strip(hop_of(), card)
