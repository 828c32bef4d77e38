"""Design rules run as one edits; physics plays what is edited, and says what became of it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.errors import PosewrightError
from posewright.formats import read_motion_file
from posewright.hazards import check_motion
from posewright.runs import try_motion
from posewright.studio import findings_panel
from posewright.studio.background import LatestTask

Shipped = Callable[[str], Path]


def is_played(topics: dict[str, Any]) -> bool:
    return topics["physics"]["state"] == "ready"


@pytest.fixture
def kick(shipped: Shipped, studio_of: Any) -> Any:
    return studio_of(shipped("kick_right"))


def test_an_edit_that_breaks_a_rule_is_found_at_its_keyframe_and_joint(kick: Any, window_of: Any) -> None:
    window = window_of(kick)
    window.until(lambda topics: topics.get("findings", {}).get("list") == [])
    window.edit("set_angles", page=1, keyframe=3, angles_deg={"right_front_knee": 120.0})
    found = window.until(lambda topics: topics["findings"]["list"])["findings"]
    motion = kick.session.document.pages.motion(1)
    assert [one["message"] for one in found["list"]] == [one.message for one in check_motion(motion)]
    assert ("right_front_knee", 4) in {(one["joint"], one["keyframe"]) for one in found["list"]}
    window.ask("session.undo")
    window.until(lambda topics: topics["findings"]["list"] == [])


def test_a_team_s_rules_find_more(shipped: Shipped, studio_of: Any, window_of: Any) -> None:
    window = window_of(studio_of(shipped("sit_down")))
    assert window.until(lambda topics: "findings" in topics)["findings"]["list"] == []
    window.ask("truth.rules", name="eagle_knights")
    found = window.until(lambda topics: topics["findings"]["rules"] == "eagle_knights")
    assert {one["rule"] for one in found["findings"]["list"]} == {"duration", "step"}
    assert window.answer("truth.rules", name="nobody's")["error"]["kind"] == "UnknownNameError"


def test_physics_shows_what_became_of_the_motion(kick: Any, window_of: Any, shipped: Shipped) -> None:
    window = window_of(kick)
    tried = try_motion(read_motion_file(shipped("kick_right")).motion())
    window.ask("truth.physics", on=True)
    told = window.until(is_played)["physics"]
    lags = [joint["max_deg"] for joint in told["joints"]]
    assert lags == sorted(lags, reverse=True)
    assert told["figures"]["travel"] == tried.figures()["travel"]
    assert [one["message"] for one in told["findings"]] == [one.message for one in tried.findings]
    curves = window.ask("truth.angles", joint=told["joints"][0]["name"])
    behind = np.abs(np.subtract(curves["expected_deg"], curves["simulated_deg"]))
    assert behind.max() == pytest.approx(lags[0], abs=0.01)
    # the 3-D view shows the robot where the simulator has it
    row = int(np.argmin(np.abs(tried.played_motion.times - 1.0)))
    window.ask("player.seek", time_s=float(tried.played_motion.times[row]))
    assert kick.context.scene.stance.base == pytest.approx(tried.played_motion.record.base[row], abs=1e-9)
    window.ask("truth.physics", on=False)
    assert window.topics["physics"] == {"on": False, "state": "off"}
    assert window.topics["player"]["duration_s"] == pytest.approx(1.94, abs=0.01)
    assert "error" in window.answer("truth.angles", joint="head_tilt")


def test_physics_follows_an_edit_and_only_the_last_of_many_counts(
    kick: Any, window_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_edited = threading.Event()
    all_edited.set()

    def try_late(*arguments: Any, **options: Any) -> Any:
        all_edited.wait()
        return try_motion(*arguments, **options)

    monkeypatch.setattr(findings_panel, "try_motion", try_late)
    window = window_of(kick)
    window.ask("truth.physics", on=True)
    before = window.until(is_played)["physics"]
    window.messages.clear()
    all_edited.clear()
    for degrees in range(30, 60):
        window.edit("set_angles", "drag", page=1, keyframe=3, angles_deg={"right_front_knee": float(degrees)})
    assert window.topics["physics"] == {"on": True, "state": "running"}
    all_edited.set()
    after = window.until(is_played)["physics"]
    shown = [one["value"] for one in window.messages if one.get("topic") == "physics"]
    assert [one["state"] for one in shown] == ["running", "ready"]
    motion = kick.session.document.pages.motion(1)
    assert after["figures"]["travel"] == try_motion(motion).figures()["travel"] != before["figures"]["travel"]


def test_a_trial_under_way_is_given_up_when_the_studio_is_closed(
    shipped: Shipped, studio_of: Any, window_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, given_up = threading.Event(), threading.Event()

    def try_and_tell(*arguments: Any, **options: Any) -> Any:
        begun.set()
        try:
            return try_motion(*arguments, **options)
        except CancelledError:
            given_up.set()
            raise

    monkeypatch.setattr(findings_panel, "try_motion", try_and_tell)
    path = shipped("walk_forward")
    path.write_text(path.read_text().replace("repeat: forever", "repeat: 100"))
    studio = studio_of(path)
    window_of(studio).ask("truth.physics", on=True)
    begun.wait()
    studio.close()
    assert given_up.is_set()


def test_a_finding_is_a_click_away_from_its_keyframe_and_its_joint(kick: Any, page_of: Any) -> None:
    page = page_of(kick)
    page.get_by_role("tab", name="Check").click()
    page.get_by_text("No rule is broken.").wait_for()
    edit = "set_angles", {"page": 1, "keyframe": 3, "angles_deg": {"right_front_knee": 120}}
    page.evaluate("async edit => (await import('./link.js')).edit(...edit)", edit)
    page.get_by_text("1 warning").wait_for()
    page.get_by_role("button", name="right_front_knee is commanded").click()
    page.wait_for_function("async () => (await import('./link.js')).value('cursor').keyframe === 4")
    page.get_by_role("button", name="right front knee", exact=True).click()
    page.wait_for_function("document.activeElement.dataset.joint === 'right_front_knee'")


def test_physics_is_switched_on_with_the_keyboard_and_told_in_words(kick: Any, page_of: Any) -> None:
    page = page_of(kick)
    page.get_by_role("tab", name="Check").click()
    page.locator("#physics").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Nothing falls, slips or gives out.").wait_for()
    assert page.locator("#in-physics").get_attribute("aria-pressed") == "true"
    picture = page.get_by_role("img", name="degrees behind")
    picture.wait_for()
    worst = picture.get_attribute("aria-label")
    page.locator("#angles-joint").select_option(index=5)
    page.wait_for_function(
        "worst => document.querySelector('.angles').getAttribute('aria-label') !== worst", arg=worst
    )


def test_of_work_that_is_asked_for_again_and_again_only_one_goes_on_at_a_time() -> None:
    going: list[int] = []
    most = [0]
    done: queue.Queue[Any] = queue.Queue()
    first_begun, all_started = threading.Event(), threading.Event()

    def work(number: int) -> int:
        going.append(number)
        most[0] = max(most[0], len(going))
        first_begun.set()
        all_started.wait()
        going.remove(number)
        return number

    latest = LatestTask(lambda post: post(), delay_s=0.001)
    for number in range(10):
        latest.start(lambda _, number=number: work(number), done.put)  # type: ignore[misc]
        first_begun.wait()
    all_started.set()
    assert done.get() == 9
    latest.close()
    assert most == [1]
    assert done.empty()


def test_a_fault_in_work_beside_the_session_is_handed_over_like_any_error() -> None:
    results: queue.Queue[Any] = queue.Queue()
    latest = LatestTask(lambda post: post())
    latest.start(lambda _: 1 // 0, results.put)
    error = results.get()
    latest.close()
    assert isinstance(error, PosewrightError)
    assert "internal error of the studio" in error.message
