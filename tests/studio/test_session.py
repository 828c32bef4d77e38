"""Requests of windows change the document, every window sees it, and everything can be undone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.errors import PosewrightError

Shipped = Callable[[str], Path]


@pytest.fixture
def walk(shipped: Shipped, studio_of: Any) -> Any:
    return studio_of(shipped("walk_forward"))


def test_a_new_window_is_shown_robot_motion_and_pose(walk: Any, window_of: Any) -> None:
    topics = window_of(walk).topics
    assert topics["robot"]["name"] == "robotis_bioloid"
    assert len(topics["motion"]["keyframes"]) == 4
    assert len(topics["pose"]) == 18
    assert topics["history"] == {"undo": None, "redo": None, "dirty": False}


def test_an_angle_is_set_and_two_windows_see_the_same(walk: Any, window_of: Any) -> None:
    one, other = window_of(walk), window_of(walk)
    before = one.topics["motion"]
    assert one.edit("set_angles", page=1, keyframe=2, angles_deg={"right_knee": 30.0})
    other.settle()
    column = one.topics["motion"]["joints"].index("right_knee")
    assert one.topics["motion"]["keyframes"][2]["pose"][column] == pytest.approx(30.0)
    assert other.topics == one.topics
    spliced = [message["splice"] for message in other.messages if "splice" in message]
    assert [splice[1:3] for splice in spliced] == [[2, 1]]
    assert one.topics["history"]["undo"] == "turn right_knee"
    one.ask("session.undo")
    assert one.topics["motion"] == before
    assert not one.topics["history"]["dirty"]


def test_changes_of_one_gesture_are_undone_as_one(walk: Any, window_of: Any) -> None:
    window = window_of(walk)
    before = window.topics["motion"]
    for degrees in (10.0, 20.0, 30.0):
        window.edit("set_angles", "drag-1", page=1, keyframe=0, angles_deg={"left_knee": degrees})
    window.ask("session.undo")
    assert window.topics["motion"] == before
    assert window.topics["history"]["undo"] is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"id": 1}',
        '{"id": 1, "do": "session.nothing"}',
        '{"id": 1, "do": "session.edit", "with": {"command": "no_such"}}',
        '{"id": 1, "do": "session.look", "with": {"keyframe": 99}}',
        '{"id": 1, "do": "session.undo"}',
        '{"id": 1, "do": "player.seek", "with": {"time_s": NaN}}',
        '{"id": 1, "do": "__init__"}',
        '{"id": 1, "do": "timeline.paste", "with": {"text": "\\ud800"}}',
        "[" * 100_000,
    ],
)
def test_a_wrong_request_is_answered_with_an_error_and_changes_nothing(
    walk: Any, window_of: Any, text: str
) -> None:
    window = window_of(walk)
    before = dict(window.topics)
    window.send(text)
    told = window._answers.get(timeout=600.0)
    assert told["error"]["message"]
    assert window.topics == {**window.topics, **before}


def test_a_fault_of_ours_is_told_and_the_session_goes_on(
    walk: Any, window_of: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    window = window_of(walk)

    def broken() -> None:
        raise ZeroDivisionError("by nothing")

    walk.session.post(broken)
    window.settle()
    assert "by nothing" in window.messages[-1]["value"]["message"]
    with pytest.raises(PosewrightError, match="by nothing"):
        walk.session.do_and_wait(broken)
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert window.edit("set_angles", page=1, keyframe=0, angles_deg={"left_knee": 33.0})
