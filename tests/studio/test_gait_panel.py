"""A gait is tuned, undone, saved with its comments, sampled, and walked with and without physics."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.formats import read_motion
from posewright.gaits import QuadrupedGenerator, VelocityCommand, read_gait
from posewright.robots import robot
from posewright.studio.walk_preview import KinematicWalk, Speedometer

Shipped = Callable[[str], Path]

OWN = """\
# A trot for tests: nobody tunes it.
gait: made
robot: sony_ers7
phases: trot
parameters:
  ground_speed_m_s: 0.3  # as measured on the carpet
  ascent_pairs: 3
  ground_points: 6
  front_height_m: 0.012
  central_height_m: 0.012
  rear_height_m: 0.012
  shape_factor: 0.5
  ascent_factor: 0.3
  turn_multiplier_rad_m: 0.0
  air_ground_factor: 1.0
  equilibrium_m: {fore: [0.06, 0.067, -0.115], hind: [-0.075, 0.067, -0.115]}
  maximum_displacement_m: 0.05
  maximum_turn_rad: 0.4
"""


@pytest.fixture
def dog(shipped: Shipped, studio_of: Any, window_of: Any) -> Any:
    """A window on a dog, in the mode of gaits, with a gait file beside its motion."""
    path = shipped("play_bow")
    path.with_name("made.gait.yaml").write_text(OWN)
    window = window_of(studio_of(path))
    window.ask("session.choose", mode="gait")
    return window


def entry(window: Any, name: str) -> dict[str, Any]:
    groups = window.topics["gait"]["groups"]
    return next(one for group in groups for one in group["entries"] if one["name"] == name)


def test_the_gaits_of_the_robot_and_of_the_folder_are_offered_with_every_number_explained(dog: Any) -> None:
    assert dog.topics["gaits"]["shipped"] == ["crawl", "fast", "trot"]
    assert dog.topics["gaits"]["files"] == ["made.gait.yaml"]
    gait = dog.topics["gait"]
    assert gait["name"] == "crawl"
    assert all(one["sentence"] for group in gait["groups"] for one in group["entries"])
    shown = entry(dog, "maximum_turn_rad")
    assert (shown["unit"], shown["high"]) == ("deg", pytest.approx(np.degrees(1.5)))


def test_a_robot_without_a_gait_says_why(shipped: Shipped, studio_of: Any, window_of: Any) -> None:
    window = window_of(studio_of(shipped("walk_forward")))
    window.ask("session.choose", mode="gait")
    assert window.topics["gaits"]["why"].startswith("There is no gait for this robot")
    assert window.topics["gait"] is None
    assert "no gait is open" in window.answer("gait.set", values={"shape_factor": 0.5})["error"]["message"]


def test_numbers_are_set_as_shown_and_undone_by_gesture_without_touching_the_motion(dog: Any) -> None:
    before = dog.topics["gait"]
    for height in (15.0, 16.0, 17.5):
        dog.ask("gait.set", values={"central_height_m.fore": height}, gesture="drag")
    dog.ask("gait.set", values={"equilibrium_m.hind.y": 60.0})
    assert entry(dog, "central_height_m.fore")["value"] == 17.5
    assert entry(dog, "equilibrium_m.hind.y")["value"] == 60.0
    assert dog.topics["history"]["undo"] == "set equilibrium m.hind.y"
    assert not dog.topics["history"]["dirty"]
    dog.ask("session.undo")
    dog.ask("session.undo")
    assert dog.topics["gait"] == before
    dog.ask("session.choose", mode="motion")
    assert dog.topics["history"]["redo"] is None


def test_a_value_out_of_range_is_refused_and_a_gait_that_cannot_be_walked_says_so(dog: Any) -> None:
    told = dog.answer("gait.set", values={"shape_factor": 1.5})["error"]
    assert "0 to 1" in told["hint"]
    dog.ask("gait.set", values={"ascent_pairs": 40})
    assert "cannot walk" in dog.topics["gait"]["problem"]
    assert "error" in dog.answer("gait.walk", physics=False)
    dog.ask("session.undo")
    assert dog.topics["gait"]["problem"] == ""


def test_a_foot_is_lifted_at_another_time(dog: Any) -> None:
    dog.ask("gait.shape", phases="trot")
    assert dog.topics["gait"]["phases"] == "trot"
    dog.ask("gait.phase", foot="left_rear", lifts=1.25)
    assert dog.topics["gait"]["phases"] == "own"
    dog.ask("gait.phase", foot="left_rear", lifts=0.5)
    assert dog.topics["gait"]["phases"] == "trot"


def test_a_gait_is_saved_over_its_file_in_one_line_and_a_shipped_one_beside(dog: Any, tmp_path: Path) -> None:
    folder = tmp_path / "opened"
    dog.ask("gait.set", values={"shape_factor": 0.4})
    assert "not saved" in dog.answer("gait.open", gait="made.gait.yaml")["error"]["message"]
    assert "exists already" in dog.answer("gait.save", file="made.gait.yaml")["error"]["message"]
    dog.ask("gait.save", file="mine.gait.yaml")
    assert read_gait(folder / "mine.gait.yaml").parameters.shape_factor == 0.4
    dog.ask("gait.open", gait="made.gait.yaml")
    dog.ask("gait.set", values={"ground_speed_m_s": 0.25})
    dog.ask("gait.save", file="made.gait.yaml")
    assert not dog.topics["gait"]["dirty"]
    lines = (folder / "made.gait.yaml").read_text().splitlines()
    changed = [after for before, after in zip(OWN.splitlines(), lines, strict=True) if before != after]
    assert [line.split() for line in changed] == [
        ["ground_speed_m_s:", "0.25", *["#", "as", "measured", "on", "the", "carpet"]]
    ]
    assert "outside" in dog.answer("gait.save", file="../made.gait.yaml")["error"]["message"]


def test_a_walk_is_sampled_into_a_motion(dog: Any, tmp_path: Path) -> None:
    dog.ask("gait.open", gait="trot")
    dog.ask("gait.steer", forward_m_s=0.1)
    dog.ask("gait.sample", file="ahead.motion.yaml", cycles=2, from_pose="stand", to_pose="stand")
    motion = read_motion(tmp_path / "opened" / "ahead.motion.yaml")
    assert motion.name == "ahead"
    assert motion.repeat == 1
    assert motion.duration > 2 * dog.topics["gait"]["timing"]["period_s"]


def test_a_command_beyond_the_gait_is_brought_into_its_range(dog: Any) -> None:
    dog.ask("gait.steer", forward_m_s=3.0, left_m_s=4.0, turn_deg_s=-1000.0)
    asked, most = dog.topics["steering"], dog.topics["gait"]["timing"]
    assert np.hypot(asked["forward_m_s"], asked["left_m_s"]) == pytest.approx(most["speed_m_s"], abs=1e-3)
    assert asked["left_m_s"] > asked["forward_m_s"]
    assert asked["turn_deg_s"] == pytest.approx(-most["turn_deg_s"], abs=0.1)


@pytest.mark.parametrize("asked", [(0.06, 0.0, 0.0), (0.0, 0.0, 0.4), (0.05, 0.0, -0.3)])
def test_feet_that_are_down_carry_the_base_as_fast_as_the_travel_gain_says(
    monkeypatch: pytest.MonkeyPatch, asked: tuple[float, float, float]
) -> None:
    now_s = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    dog = robot("sony_ers7")
    gait = read_gait("crawl", robot=dog).with_values({"trim.forward_m_s": 0.0, "trim.turn_rad_m": 0.0})
    command = VelocityCommand(*asked)
    base = np.array([0.0, 0.0, 0.13, 1.0, 0.0, 0.0, 0.0])
    walk = KinematicWalk(QuadrupedGenerator(gait, dog), dog, steering=lambda: command, base=base)
    speedometer, measured = Speedometer(), None
    for _ in range(300):
        now_s[0] += 1.0 / 30.0
        measured = speedometer.measure(walk.now())
    assert measured is not None
    assert measured.forward_m_s == pytest.approx(asked[0] * gait.travel_gain.forward, abs=0.002)
    assert measured.turn_rad_s == pytest.approx(asked[2] * gait.travel_gain.turn, abs=0.01)


def test_it_walks_in_physics_by_the_joystick_and_is_measured(dog: Any) -> None:
    dog.ask("gait.open", gait="trot")
    dog.ask("gait.steer", forward_m_s=0.1)
    dog.ask("gait.walk", physics=True)
    dog.until(lambda topics: topics["walk"]["time_s"] > 1.6)
    speed = dog.topics["walk"]["speed"]
    assert 0.03 < speed["forward_m_s"] < 0.15
    dog.ask("gait.stop")
    dog.until(lambda topics: topics["walked"])
    figures = {one["words"]: one for one in dog.topics["walked"]["figures"]}
    assert figures["forward"]["asked"] == "0.100"
    assert dog.topics["walked"]["falls"] == []
    assert not dog.topics["walk"]["walking"]


def test_a_fall_is_noticed_and_said(dog: Any) -> None:
    dog.ask("gait.set", values={"equilibrium_m.fore.y": 0.0, "equilibrium_m.hind.y": 0.0})
    dog.ask("gait.walk", physics=True)
    dog.until(lambda topics: topics.get("walked"))
    assert dog.topics["walked"]["falls"][0]["side"] in {"to the left", "to the right"}
    assert not dog.topics["walk"]["walking"]


def test_mouse_and_keys_tune_and_steer_a_gait_in_the_page(
    shipped: Shipped, studio_of: Any, window_of: Any, page_of: Any
) -> None:
    studio = studio_of(shipped("play_bow"))
    page, window = page_of(studio), window_of(studio)
    page.click("#mode-gait")
    page.select_option("#gait-name", "trot")
    window.until(lambda topics: (topics["gait"] or {}).get("name") == "trot")
    before = window.topics["gait"]
    page.locator("[data-number=shape_factor]").press("ArrowLeft")
    page.get_by_role("slider", name="left front lifts").press("ArrowRight")
    window.until(lambda topics: topics["gait"]["phases"] == "own")
    assert entry(window, "shape_factor")["value"] < 0.99
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    window.until(lambda topics: topics["gait"] == before)
    page.keyboard.down("w")
    window.until(lambda topics: topics["steering"]["forward_m_s"] > 0.25)
    page.keyboard.up("w")
    window.until(lambda topics: topics["steering"]["forward_m_s"] == 0.0)
    page.locator("#joystick").click(position={"x": 20, "y": 60})
    window.until(lambda topics: topics["steering"]["left_m_s"] > 0.1)
    page.click("#walk-kinematic")
    window.until(lambda topics: topics["walk"]["time_s"] > 0.1)
    page.click("#walk-stop")


def test_it_goes_on_with_new_parameters_and_stops_when_another_mode_is_chosen(dog: Any) -> None:
    dog.ask("gait.open", gait="trot")
    dog.ask("gait.walk", physics=False)
    dog.until(lambda topics: topics["walk"]["time_s"] > 0.2)
    dog.ask("gait.set", values={"ground_speed_m_s": 0.25})
    dog.until(lambda topics: topics["walk"]["time_s"] < 0.2)
    dog.until(lambda topics: topics["walk"]["time_s"] > 0.2)
    dog.ask("session.choose", mode="motion")
    assert not dog.topics["walk"]["walking"]
