"""Whole sessions of a person at the page, with mouse and keyboard alone."""

from __future__ import annotations

import difflib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.formats import read_motion
from posewright.motions import Motion
from posewright.robots import robot
from posewright.rotation import rotation_matrices
from posewright.studio.studio import Studio

Shipped = Callable[[str], Path]

MOST_S = 300.0
"""A person with a plan has a kick in less than this."""


class Person:
    """Uses the page by what it shows, and says how long each step took."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.took_s: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self.took_s[name] = time.monotonic() - begun
        sys.stdout.write(f"{self.took_s[name]:6.2f} s  {name}\n")

    def click(self, name: str, role: str = "button") -> None:
        self.page.get_by_role(role, name=name, exact=True).click()

    def write(self, label: str, text: str) -> None:
        self.page.get_by_label(label, exact=True).fill(text)
        self.page.keyboard.press("Enter")

    def see(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def copies(self, count: int) -> None:
        """Go on from a copy of the pose that is shown."""
        self.page.keyboard.press("Control+d")
        self.see(f"Pose of keyframe {count}")

    def drags(self, label: str, degrees: float) -> None:
        """Drag a slider by mouse to about an angle."""
        slider = self.page.get_by_label(f"{label}, slider", exact=True)
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        lower, upper, now = (float(slider.evaluate(f"it => it.{end}")) for end in ("min", "max", "value"))
        thumb = 16.0

        def x(angle: float) -> float:
            return float(box["x"] + thumb / 2 + (box["width"] - thumb) * (angle - lower) / (upper - lower))

        self.page.mouse.move(x(now), box["y"] + box["height"] / 2)
        self.page.mouse.down()
        self.page.mouse.move(x(degrees), box["y"] + box["height"] / 2, steps=5)
        self.page.mouse.up()


def test_a_kick_of_eight_poses_is_designed_checked_played_and_exported(
    shipped: Shipped, studio_of: Any, page_of: Any
) -> None:
    folder = shipped("kick_right").parent
    person = Person(page_of(studio_of(folder / "kick_right.motion.yaml")))
    with person.step("begin a motion that stands"):
        begin(person)
    with person.step("six poses between"):
        shape(person)
    with person.step("stand again"):
        person.copies(8)
        person.page.get_by_label("Pose to take").select_option("stand")
        person.click("Take")
    with person.step("retime"):
        retime(person)
    with person.step("check"):
        check(person)
    with person.step("play in physics"):
        play(person)
    with person.step("save"):
        person.page.keyboard.press("Control+s")
        person.see("Saved KICK_101.motion.yaml.")
    with person.step("export as EKMoves.h"):
        told = export(person, "C header of AIBO poses (EKMoves.h) (.h)", "EKMoves.h")
    assert "This would be lost" in told
    assert "tail" in told
    with person.step("export as MTN"):
        told = export(person, "Sony AIBO motion (OMTN) (.mtn)", "KICK_101.mtn")
    assert "Nothing is lost." in told
    assert sum(person.took_s.values()) < MOST_S
    kick = read_motion(folder / "KICK_101.motion.yaml")
    assert len(kick.keyframes) == 8
    for pose in (kick.keyframes[0].pose, kick.keyframes[-1].pose):
        stand = [robot(kick.robot).poses["stand"][joint] for joint in pose.joints]
        assert pose.angles == pytest.approx(stand, abs=1e-5)
    assert_are_alike(kick, read_motion(folder / "EKMoves.h"), off_s=1e-3)
    assert_are_alike(kick, read_motion(folder / "KICK_101.mtn"), off_s=0.0081)


def begin(person: Person) -> None:
    person.click("New")
    person.page.get_by_role("dialog").get_by_label("Name", exact=True).fill("KICK_101")
    person.click("Begin")
    person.see("KICK_101.motion.yaml · not saved yet")
    person.page.get_by_label("Both sides").check()


def shape(person: Person) -> None:
    page = person.page
    person.copies(2)
    for field, degrees in {"neck tilt": -32, "left front knee": 38, "left rear knee": 38}.items():
        person.write(f"{field} [deg]", str(degrees))
    person.copies(3)
    person.drags("neck tilt", -48)
    person.drags("left front knee", 46)
    person.drags("left rear knee", 50)
    person.copies(4)
    page.get_by_label("Limb to move").select_option("body")
    for _ in range(2):
        person.click("Move the limb down by 5 mm")
    person.copies(5)
    slider = page.get_by_label("neck tilt, slider", exact=True)
    slider.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    person.copies(6)
    person.write("neck tilt [deg]", "-25")
    person.write("head pan [deg]", "15")
    person.write("tail pan [deg]", "-20")
    person.copies(7)
    person.click("Mirror")


def retime(person: Person) -> None:
    page = person.page
    page.get_by_role("option", name="Keyframe 2:").click()
    page.get_by_role("option", name="Keyframe 8:").click(modifiers=["Shift"])
    person.click("Keyframe", "tab")
    person.see("7 keyframes of 8")
    person.write("Way into it [s]", "0.25")
    page.get_by_role("option", name="Keyframe 1:").click()
    person.write("Way into it [s]", "0")


def check(person: Person) -> None:
    person.click("Check", "tab")
    person.page.get_by_role("combobox", name="Rules").select_option("eagle knights")
    person.see("No rule is broken.")


def play(person: Person) -> None:
    page = person.page
    page.get_by_role("group", name="How it is played").get_by_role("button", name="Physics").click()
    person.see("Nothing falls, slips or gives out.")
    assert page.locator("dt:has-text('Falls') + dd").inner_text() == "none"
    person.click("Play")
    for text in ("Pause", "Play"):
        page.get_by_role("button", name=text, exact=True).wait_for()


def export(person: Person, title: str, name: str) -> str:
    person.click("Export")
    page = person.page
    asked = page.get_by_role("dialog", name="Export the motion")
    asked.get_by_label("Format").select_option(title)
    asked.get_by_label("File name").fill(name)
    page.keyboard.press("Tab")
    told = str(asked.get_by_role("status").filter(has_text="lost").inner_text())  # once it is known
    asked.get_by_role("button", name="Export").click()
    person.see(f"Exported to {name}.")
    return told


def assert_are_alike(kick: Motion, exported: Motion, off_s: float) -> None:
    """Fail unless a motion that was exported is the same, but for what its format rounds."""
    assert exported.name == kick.name
    assert exported.keyframe_times == pytest.approx(kick.keyframe_times, abs=off_s)
    joints = [joint for joint in exported.joints if joint in kick.joints]
    assert len(joints) >= 16
    for ours, theirs in zip(kick.keyframes, exported.keyframes, strict=True):
        wanted = [ours.pose.angle(joint) for joint in joints]
        assert [theirs.pose.angle(joint) for joint in joints] == pytest.approx(wanted, abs=1e-5)


def test_what_is_done_is_undone_and_one_edit_is_a_few_lines_of_the_file(
    shipped: Shipped, studio_of: Any, page_of: Any, settled: Any
) -> None:
    path = shipped("walk_forward")
    before = path.read_text()
    studio = studio_of(path)
    page = page_of(studio, with_view=True, size=(1100, 700))
    person = Person(page)
    with person.step("sliders by mouse and by keys"):
        person.drags("left hip pitch", -30)
        knee = page.get_by_label("left knee, slider", exact=True)
        bent = float(knee.input_value())
        for _ in range(5):
            knee.press("ArrowRight")
        knee.press("Shift+ArrowLeft")
        assert float(knee.input_value()) == pytest.approx(bent + 4.9, abs=0.06)
    settled(page)
    with person.step("a foot dragged in the 3-D view"):
        drag_foot(person, studio)
    with person.step("keyframes added and retimed"):
        retime_walk(person, settled)
    with person.step("undo"):
        undo = page.get_by_role("button", name="Undo", exact=True)
        while undo.is_enabled():
            page.keyboard.press("Control+z")
            page.wait_for_timeout(20)
        person.see("walk_forward.motion.yaml · saved")
    assert studio.session.document.pages.motion(1) == read_motion(path)
    with person.step("a second window"):
        other = Person(page_of(studio, size=(1000, 700)))
    with person.step("one edit"):
        page.get_by_role("option", name="Keyframe 2:").click()
        person.click("Pose", "tab")
        person.see("Pose of keyframe 2")
        person.write("left knee [deg]", "80.5")
        page.keyboard.press("Control+s")
        person.see("Saved walk_forward.motion.yaml.")
    edited = path.read_text()
    changed = [line for line in difflib.ndiff(before.splitlines(), edited.splitlines()) if line[0] in "+-"]
    assert [line[0] for line in changed] == ["-", "+"]
    assert "80.5" in changed[1]
    assert studio.session.document.pages.motion(1) == read_motion(path)
    other.see("walk_forward.motion.yaml · saved")
    other.see("Pose of keyframe 2")
    assert other.page.get_by_label("left knee [deg]", exact=True).input_value() == "80.5"


def drag_foot(person: Person, studio: Studio) -> None:
    """Drag the right foot, and see that its leg goes along and nothing else."""
    page = person.page
    before = studio.session.document.pages.motion(1).keyframes[0].pose
    person.click("Front")
    person.click("Keyframe", "tab")
    focused = page.locator(":focus[data-joint=right_ankle_roll]")
    for _ in range(10):  # the view draws the robot when it can
        page.mouse.click(*on_screen(studio, page, "right_leg"))
        for _ in range(15):
            page.wait_for_timeout(100)
            if focused.count():
                break
        if focused.count():
            break
    assert focused.count(), "the foot is not where it is drawn"
    x, y = on_screen(studio, page, "right_leg")
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 7):
        page.mouse.move(x - 2 * step, y - 5 * step)
        page.wait_for_timeout(50)
    page.mouse.up()
    page.get_by_title("Undo: turn joints (Ctrl+Z)").wait_for()
    page.wait_for_timeout(300)
    after = studio.session.document.pages.motion(1).keyframes[0].pose
    turned = {name for name in before.joints if abs(before.angle(name) - after.angle(name)) > 0.01}
    assert "right_knee" in turned
    assert turned <= set(studio.session.document.robot.group("right_leg"))


def retime_walk(person: Person, settled: Callable[[Any], None]) -> None:
    """Add a keyframe by a button and another by a key, and retime by mouse, key and field."""
    page = person.page
    page.get_by_role("option", name="Keyframe 2:").click()
    person.click("Add")
    page.get_by_role("option", name="Keyframe 5:").wait_for()
    page.get_by_role("option", name="Keyframe 4:").click()
    page.keyboard.press("Insert")
    page.get_by_role("option", name="Keyframe 6:").wait_for()
    page.get_by_role("option", name="Keyframe 1: reached in 0.125 s").wait_for()
    settled(page)
    handle = page.get_by_title("Drag: the time of the way").first
    handle.wait_for()
    edge = handle.bounding_box()
    x, y = edge["x"] + edge["width"] / 2, edge["y"] + edge["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y, steps=5)
    page.mouse.up()
    page.get_by_role("option", name="Keyframe 1: reached in 0.125 s").wait_for(state="detached")
    settled(page)
    page.get_by_role("option", name="Keyframe 5:").click()
    page.get_by_role("heading", name="Keyframe 5").or_(
        page.get_by_text("Pose of keyframe 5")
    ).first.wait_for()
    page.keyboard.press("+")
    page.get_by_role("option", name="Keyframe 5: reached in 0.51 s").wait_for()
    person.click("Keyframe", "tab")
    person.write("Way into it [s]", "0.3")
    page.get_by_role("option", name="Keyframe 5: reached in 0.3 s").wait_for()


def on_screen(studio: Studio, page: Any, name: str) -> tuple[float, float]:
    """Return where in the window the end of a limb is seen."""
    stage = studio.context.scene
    (client,) = stage.viser.get_clients().values()
    limb = {limb.name: limb for limb in stage.kinematic_model.limbs}[name]
    link = stage.kinematic_model.links.index(limb.link)
    place = stage.stance.positions[link] + rotation_matrices(stage.stance.rotations[link]) @ limb.point
    camera = client.camera
    ahead = (camera.look_at - camera.position) / np.linalg.norm(camera.look_at - camera.position)
    right = np.cross(ahead, camera.up_direction)
    right /= np.linalg.norm(right)
    away = place - camera.position
    scale = 1.0 / (away @ ahead * np.tan(camera.fov / 2.0))
    box = page.locator("#view").bounding_box()
    across, up = away @ right * scale, away @ np.cross(right, ahead) * scale
    return (
        box["x"] + box["width"] / 2.0 + across * box["height"] / 2.0,
        box["y"] + box["height"] / 2.0 - up * box["height"] / 2.0,
    )
