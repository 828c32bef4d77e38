"""Keyframes are added, copied, moved, retimed and deleted: the motion does what that means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.work import Calls

from posewright.formats import read_motion_file, write_motion
from posewright.motions import Motion
from posewright.robots import robot
from posewright.studio.commands import timeline
from posewright.studio.document import Command
from posewright.studio.pages import Pages

Shipped = Callable[[str], Path]


@pytest.fixture
def bow(shipped: Shipped) -> Pages:
    return Pages.of(read_motion_file(shipped("play_bow")))


def after(pages: Pages, command: Command) -> Motion:
    """Return the motion of page 1 once a command was applied to it."""
    return command.apply(pages, robot(pages.motion(1).robot)).motion(1)


def straight(pages: Pages, speed: float = 1.0) -> Pages:
    """Return the pages with straight ways, played at another speed."""
    places = tuple(range(len(pages.motion(1).keyframes)))
    easing = timeline.SetKeyframes(1, places, easing=timeline.Easing.LINEAR)
    eased = easing.apply(pages, robot("sony_ers7"))
    return eased.with_changed_motion(1, lambda motion: replace(motion, speed=speed))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("speed", [1.0, 2.0])
def test_a_keyframe_added_on_a_straight_way_leaves_the_motion_as_it_was(
    bow: Pages, share: float, speed: float
) -> None:
    pages = straight(bow, speed)
    motion = pages.motion(1)
    at = float(motion.segment_starts[1] + share * motion.keyframes[1].reach_s) / speed
    added, place = timeline.with_keyframe_at(motion, at)
    assert place == 1
    assert len(added.keyframes) == len(motion.keyframes) + 1
    assert added.duration == pytest.approx(motion.duration, abs=1e-9)
    times = np.linspace(0.0, motion.duration, 301)
    np.testing.assert_allclose(
        added.sample_at(times).angles, motion.sample_at(times).angles, atol=1e-5, equal_nan=True
    )


def test_a_keyframe_added_on_a_keyframe_is_a_copy_after_it(bow: Pages) -> None:
    motion = bow.motion(1)
    added, place = timeline.with_keyframe_at(motion, float(motion.keyframe_times[1]))
    assert place == 2
    assert added.keyframes[2].pose == motion.keyframes[1].pose
    assert added.keyframes[3:] == motion.keyframes[2:]


def test_retiming_shifts_what_comes_later_or_keeps_it(bow: Pages) -> None:
    motion = bow.motion(1)
    reach_s = motion.keyframes[1].reach_s - 0.05
    shifted = after(bow, timeline.SetKeyframes(1, (1,), reach_s=reach_s))
    kept = after(bow, timeline.RetimeKeyframe(1, 1, reach_s=reach_s))
    np.testing.assert_allclose(shifted.keyframe_times[1:], motion.keyframe_times[1:] - 0.05 / motion.speed)
    np.testing.assert_allclose(kept.keyframe_times[2:], motion.keyframe_times[2:], atol=1e-6)
    assert kept.keyframe_times[1] == pytest.approx(shifted.keyframe_times[1])
    at_most = after(bow, timeline.RetimeKeyframe(1, 1, reach_s=1000.0))
    assert at_most.duration == pytest.approx(motion.duration)


def test_a_stretched_selection_lasts_longer_by_the_factor_and_lengthening_back_is_exact(bow: Pages) -> None:
    motion = bow.motion(1)
    stretched = after(bow, timeline.StretchKeyframes(1, (0, 2), 1.5))
    longer = sum(motion.keyframes[place].duration for place in (0, 2)) * 0.5
    assert stretched.duration == pytest.approx(motion.duration + longer / motion.speed)
    there = timeline.StretchKeyframes(1, (0, 1), reach_by_s=0.01).apply(bow, robot("sony_ers7"))
    assert after(there, timeline.StretchKeyframes(1, (0, 1), reach_by_s=-0.01)) == motion


def test_every_tool_is_undone_to_the_same_pages(shipped: Shipped, studio_of: Any, window_of: Any) -> None:
    window = window_of(studio_of(shipped("play_bow")))
    before = window.topics["motion"]
    count = len(before["keyframes"])
    window.ask("session.look", keyframe=1, selected=[0])
    window.ask("timeline.duplicate")
    assert window.topics["cursor"]["selected"] == [2, 3]
    window.ask("timeline.move", before=1)
    assert window.topics["cursor"]["selected"] == [1, 2]
    window.ask("timeline.delete")
    assert window.topics["motion"] == before
    assert window.topics["cursor"]["selected"] == [1]
    frames = before["keyframes"]
    window.ask("session.look", keyframe=0, selected=[2])
    window.ask("timeline.move", before=count)
    assert window.topics["motion"]["keyframes"] == [frames[1], *frames[3:], frames[0], frames[2]]
    window.ask("session.undo")
    window.ask("player.seek", time_s=0.1)
    window.ask("timeline.add")
    assert len(window.topics["motion"]["keyframes"]) == count + 1
    for _ in range(4):
        window.ask("session.undo")
    assert window.topics["motion"] == before
    assert not window.topics["history"]["dirty"]


def test_the_last_keyframe_cannot_be_deleted(shipped: Shipped, studio_of: Any, window_of: Any) -> None:
    window = window_of(studio_of(shipped("play_bow")))
    every = list(range(len(window.topics["motion"]["keyframes"])))
    window.ask("session.look", keyframe=0, selected=every)
    told = window.answer("timeline.delete")["error"]
    assert "at least one" in told["message"]
    assert window.topics["history"]["undo"] is None


def test_copied_keyframes_are_pasted_unchanged_in_the_same_motion(
    shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(shipped("play_bow")))
    before = window.topics["motion"]["keyframes"]
    window.ask("session.look", keyframe=1, selected=[0, 1])
    text = window.ask("timeline.copy")
    window.ask("session.look", keyframe=len(before) - 1)
    assert window.ask("timeline.paste", text=text) == {"count": 2, "lost": []}
    assert window.topics["motion"]["keyframes"] == [*before, *before[:2]]


def test_keyframes_of_another_robot_are_carried_over_and_what_is_lost_is_said(
    shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    robi = window_of(studio_of(shipped("sit_down")))
    text = robi.ask("timeline.copy")
    bioloid = window_of(studio_of(shipped("walk_forward")))
    before = bioloid.topics["motion"]["keyframes"]
    told = bioloid.ask("timeline.paste", text=text)
    assert told["count"] == 1
    assert any("robotis_bioloid" in lost for lost in told["lost"])
    assert len(bioloid.topics["motion"]["keyframes"]) == len(before) + 1
    assert len(bioloid.topics["motion"]["keyframes"][1]["pose"]) == 18


@pytest.mark.parametrize("text", ["", "hello", "motion: x", "[" * 10_000, "a: &a [*a, *a]"])
def test_other_text_is_not_pasted(shipped: Shipped, studio_of: Any, window_of: Any, text: str) -> None:
    window = window_of(studio_of(shipped("play_bow")))
    assert window.answer("timeline.paste", text=text)["error"]["message"]
    assert window.topics["history"]["undo"] is None


def test_to_edit_one_of_a_thousand_keyframes_is_little_work(
    shipped: Shipped, studio_of: Any, window_of: Any, tmp_path: Path
) -> None:
    motion = read_motion_file(shipped("walk_forward")).motion()
    long = replace(motion, keyframes=motion.keyframes * 250, origin=None)
    write_motion(long, tmp_path / "long.motion.yaml")
    window = window_of(studio_of(tmp_path / "long.motion.yaml"))
    n_calls = []
    for step in range(20):
        with Calls() as calls:
            window.edit("set_keyframes", page=1, keyframes=[500], reach_s=0.2 + 0.01 * step)
        n_calls.append(calls.count)
    spliced = [message["splice"] for message in window.messages if "splice" in message]
    assert {(at, removed, len(inserted)) for _, at, removed, inserted in spliced} == {(500, 1, 1)}
    assert max(n_calls) < 20 * len(long.keyframes)
