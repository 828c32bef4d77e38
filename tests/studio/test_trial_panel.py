"""Trials in the studio: recordings replayed, trials watched live, and what went wrong found again."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from posewright.recordings import Recording, read_mcap, write_mcap
from posewright.runs import run_trial
from posewright.studio import trial_world
from posewright.studio.trial_panel import TrialPacer


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first seconds of a race, in which a box is moved, as a file."""
    path = tmp_path_factory.mktemp("raced") / "race.mcap"
    ending = SimpleNamespace(watch=lambda block: block.state.time_s > 11.0)
    how = {"layout": "example_1", "seed": 1, "behaviour": "document_mealy"}
    run_trial("obstacle-race", **how, record=path, make_watcher=lambda _: ending)
    return path


@pytest.fixture
def opened(
    shipped: Callable[[str], Path], studio_of: Any, window_of: Any, raced: Path
) -> tuple[Any, Recording]:
    """A window that shows the race, and the race."""
    folder = shipped("walk_forward")
    (folder.parent / raced.name).write_bytes(raced.read_bytes())
    window = window_of(studio_of(folder))
    window.ask("trial.open", file=raced.name)
    window.until(lambda topics: topics.get("trial_now") is not None)
    return window, read_mcap(raced)


def test_a_recording_is_shown_with_its_score_and_with_what_cost_points(opened: Any) -> None:
    window, _ = opened
    track = window.topics["trial_track"]
    lost = [one for one in track["incidents"] if one["kind"] == "penalty"]
    assert window.topics["mode"] == "trial"
    assert [one["text"] for one in lost] == ["box moved"]
    assert any("box was displaced" in note for note in track["score"]["notes"])
    window.ask("trial.look", at=lost[0]["robot"], time_s=lost[0]["time_s"])
    now = window.topics["trial_now"]
    assert now["time_s"] == pytest.approx(lost[0]["time_s"])
    assert not now["playing"]


def test_what_cost_points_is_marked_in_the_view_from_then_on_and_named_for_a_while(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_world, "LABEL_S", 1.0)  # the recording ends soon after
    window, _ = opened
    scene = window.studio.context.scene.viser.scene
    lost_s = next(
        one["time_s"] for one in window.topics["trial_track"]["incidents"] if one["kind"] == "penalty"
    )
    ball = scene.get_handle_by_name("/trial/mark-0")
    text = scene.get_handle_by_name("/trial/mark-0/words")
    for time_s, is_marked, is_named in (
        (lost_s - 0.1, False, False),
        (lost_s, True, True),
        (lost_s + 1.1, True, False),
        (0.0, False, False),
    ):
        window.ask("trial.seek", time_s=time_s)
        assert (ball.visible, text.visible) == (is_marked, is_named), time_s


def test_two_robots_have_the_colours_of_their_roles(
    shipped: Callable[[str], Path], studio_of: Any, window_of: Any
) -> None:
    motion = shipped("walk_forward")
    ending = SimpleNamespace(watch=lambda block: block.state.time_s > 0.1)
    run_trial("sumo", record=motion.parent / "bout.mcap", make_watcher=lambda _: ending)
    window = window_of(studio_of(motion))
    window.ask("trial.open", file="bout.mcap")
    window.until(lambda topics: topics.get("trial_now") is not None)
    scene = window.studio.context.scene.viser.scene
    for robot_name, strong, weak in (("red", 0, 2), ("blue", 2, 0)):
        names = (f"/trial/{robot_name}/look-{number}-0" for number in range(100))
        shapes = [shape for name in names if (shape := scene.get_handle_by_name(name)) is not None]
        assert shapes
        assert all(shape.color[strong] > shape.color[weak] for shape in shapes)


def test_the_playhead_tells_what_was_decided_last_and_steps_by_rows(opened: Any) -> None:
    window, recording = opened
    decisions = recording.robot().decisions
    row = len(decisions) // 2
    window.ask("trial.seek", time_s=float(decisions.times[row]) + 1e-4)
    now = window.topics["trial_now"]["robots"][0]
    assert now["states"] == decisions.states[row].split("+")
    assert now["inputs"] == dict(decisions.inputs[row])
    window.ask("trial.seek", time_s=float(recording.times[10]))
    window.ask("trial.step", rows=1)
    assert window.topics["trial_now"]["time_s"] == pytest.approx(recording.times[11], abs=1e-4)


def test_every_state_that_was_active_is_in_the_picture_of_the_chart(opened: Any) -> None:
    window, recording = opened
    drawn = set(re.findall(r'data-state="([^"]*)"', window.topics["trial"]["robots"][0]["chart"]))
    assert {name for state in recording.robot().decisions.states for name in state.split("+")} <= drawn


def test_the_3d_view_has_robot_and_boxes_where_they_were_and_nothing_of_it_in_another_mode(
    opened: Any,
) -> None:
    window, recording = opened
    scene = window.studio.context.scene.viser.scene
    row = recording.n_rows // 2
    window.ask("trial.seek", time_s=float(recording.times[row]))
    base = scene.get_handle_by_name(f"/trial/{next(iter(recording.robots))}")
    assert np.allclose(base.position, recording.robot().base[row, :3], atol=1e-6)
    assert np.allclose(scene.get_handle_by_name("/trial/box_1").position, recording.boxes[row, 0, :3])
    window.ask("session.choose", mode="motion")
    assert scene.get_handle_by_name("/trial") is None
    assert scene.get_handle_by_name("/robot").visible


def test_a_trial_is_watched_while_it_runs_and_can_be_stopped_and_saved(
    shipped: Callable[[str], Path], studio_of: Any, window_of: Any
) -> None:
    file = shipped("walk_forward")
    window = window_of(studio_of(file))
    window.ask("trial.manner", speed=16.0)
    window.ask("trial.run", trial="obstacle-race", seed=3)
    window.until(lambda topics: (topics.get("trial_track") or {"duration_s": 0})["duration_s"] > 2.0)
    assert window.topics["trial_status"]["live"]
    assert window.topics["trial_track"]["score"] is None
    window.ask("trial.stop")
    window.until(lambda topics: not topics["trial_status"]["live"])
    assert window.topics["trial_track"]["score"]["is_judged"]
    window.ask("trial.save", name="kept.mcap")
    assert read_mcap(file.parent / "kept.mcap").header.seed == 3
    assert "exists already" in window.answer("trial.save", name="kept.mcap")["error"]["message"]


def test_a_controller_of_ones_own_in_the_folder_runs_a_trial(
    shipped: Callable[[str], Path], studio_of: Any, window_of: Any
) -> None:
    file = shipped("walk_forward")
    (file.parent / "mine.py").write_text(
        "import numpy as np\nfrom posewright.bodies import JointCommands\n"
        "from posewright.control import Controller\n\n\n"
        "class Mine(Controller):\n"
        "    def __init__(self, program, seed):\n        self.pose = program.start_pose\n\n"
        "    def next(self, state, n):\n        return JointCommands(np.tile(self.pose, (n, 1)))\n"
    )
    window = window_of(studio_of(file))
    assert "mine.py:Mine" in window.ask("trial.choices")["behaviours"]
    window.ask("trial.manner", speed=16.0)
    window.ask("trial.run", trial="passivity-test", behaviour="mine.py:Mine")
    window.until(lambda topics: topics.get("trial_track") is not None)
    window.ask("trial.stop")
    window.until(lambda topics: not topics["trial_status"]["live"])
    assert window.topics["trial"]["robots"][0]["controller"] == "python Mine"


def test_a_trial_that_is_paused_stands_still(
    shipped: Callable[[str], Path], studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(shipped("walk_forward")))
    window.ask("trial.run", trial="passivity-test")
    window.until(lambda topics: topics.get("trial_track") is not None)
    window.ask("trial.pause")
    known_s = []
    for _ in range(4):
        time.sleep(0.5)
        known_s.append(window.topics["trial_track"]["duration_s"])
    assert known_s[-1] == known_s[-2]
    assert not window.topics["trial_now"]["playing"]


def test_a_recording_of_a_robot_that_knew_no_place_is_shown_all_the_same(opened: Any) -> None:
    window, whole = opened
    record, n = whole.robot(), whole.n_rows
    lost = replace(record, base=np.full((n, 7), np.nan), box_contacts=np.zeros((n, 0), dtype=bool))
    bare = replace(whole.header, contest="", arena={}, documents={}, extras={}, boxes=())
    robots = {next(iter(whole.robots)): lost}
    recording = replace(whole, header=bare, robots=robots, boxes=np.zeros((n, 0, 7)), events=())
    write_mcap(recording, window.studio.context.workspace.root / "lost.mcap")
    window.ask("trial.open", file="lost.mcap")
    window.until(lambda topics: (topics.get("trial") or {}).get("contest") == "")
    assert window.topics["trial"]["robots"][0]["chart"] is None


def test_a_trial_of_the_folder_names_nothing_outside_it(
    shipped: Callable[[str], Path], studio_of: Any, window_of: Any
) -> None:
    file = shipped("walk_forward")
    secret = file.parent.parent / "secret.behaviour.yaml"
    secret.write_text("behaviour: none")
    told = "trial: t\nrobot: robotis_bioloid\nbehaviour: {}\ncontest: obstacle-race\n"
    window = window_of(studio_of(file))
    for name in ("../secret.behaviour.yaml", str(secret)):
        (file.parent / "t.trial.yaml").write_text(told.format(name))
        assert "outside" in window.answer("trial.run", trial="t.trial.yaml")["error"]["message"]


def test_what_is_no_recording_of_the_folder_is_refused_in_words(opened: Any) -> None:
    window, _ = opened
    (window.studio.context.workspace.root / "broken.mcap").write_bytes(b"\x89MCAP0\r\n and nothing else")
    for name in ("../race.mcap", "/etc/passwd"):
        assert "outside" in window.answer("trial.open", file=name)["error"]["message"]
    for name in ("absent.mcap", "broken.mcap"):
        window.topics.pop("problem", None)
        window.ask("trial.open", file=name)
        window.until(lambda topics: "problem" in topics)
        assert name in window.topics["problem"]["message"]
    assert window.topics["trial"] is not None, "what was shown before is still there"


def test_a_recording_is_moved_through_with_mouse_and_keys(opened: Any, page_of: Any) -> None:
    window, recording = opened
    page = page_of(window.studio)
    window.topics.pop("trial_status")
    page.click("#trial-open:not([disabled])")
    window.until(lambda topics: topics.get("trial_status", {"busy": "asked"})["busy"] == "")
    page.wait_for_selector("#trial-play:not([disabled])")
    page.click("role=tab[name='Score']")
    page.click(".incidents .penalty button")
    page.wait_for_function("document.querySelector('#trial-clock').textContent.startsWith('9.')")
    page.click("role=tab[name='Chart']")
    page.wait_for_function("document.querySelector('.chart').shadowRoot.querySelector('.active')")
    lit = page.evaluate(
        "document.querySelector('.chart').shadowRoot.querySelector('.active').parentNode.dataset.state"
    )
    assert page.text_content("#trial-states") == f"State: {lit.replace('_', ' ')}"
    page.focus("#trial-ruler")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("+document.querySelector('#trial-ruler').getAttribute('aria-valuenow') > 0")
    box = page.locator(".lane-tracks").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 60)
    window.until(lambda topics: abs(topics["trial_now"]["time_s"] - recording.duration_s / 2.0) < 0.3)


def test_a_trial_that_is_cancelled_is_not_judged() -> None:
    pacer = TrialPacer(1.0)
    assert not pacer.watch(None)  # type: ignore[arg-type]
    pacer.stop()
    assert pacer.watch(None)  # type: ignore[arg-type]
    pacer.cancel()
    with pytest.raises(CancelledError):
        pacer.watch(None)  # type: ignore[arg-type]
