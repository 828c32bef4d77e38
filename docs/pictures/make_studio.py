"""Take the pictures of the studio in docs/how-to-studio.md: `python docs/pictures/make_studio.py [NAME ...]`.

Each opens a studio on a file of its own and uses its page in a headless Chromium, as a person would.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import posewright as pw

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLDER = Path(__file__).parent
SIZE = {"width": 1366, "height": 768}
SETTLE_MS = 4_000
"""A 3-D view without a graphics card has drawn what it is to show by then."""


def tab(page: Page, name: str) -> None:
    """Open a tab of the controls, or of the time line."""
    page.get_by_role("tab", name=name, exact=True).click()


def press(page: Page, name: str) -> None:
    """Press a button."""
    page.get_by_role("button", name=name, exact=True).first.click()


def nearer(page: Page, turns: int = 4) -> None:
    """Turn the wheel over the 3-D view."""
    page.mouse.move(500, 250)
    for _ in range(turns):
        page.mouse.wheel(0, -100)
    page.mouse.move(600, 20)  # what is under the mouse is outlined


def turn(page: Page, joint: str, degrees: float) -> None:
    """Move the slider of a joint."""
    page.locator(f"[data-joint={joint}]").fill(str(degrees))


def pose(page: Page) -> None:
    """Let a Bioloid raise its arm, too fast, with ghosts of the keyframes around it."""
    page.locator("#add").click()
    for joint, degrees in {"pitch": -140, "roll": -60}.items():
        turn(page, f"right_shoulder_{joint}", degrees)
    page.locator("#add").click()
    page.locator("#pose-from").select_option("keyframe")
    page.get_by_label("Keyframe to take the pose of").fill("1")
    press(page, "Take")
    page.locator("#keyframe-1").click()
    tab(page, "Keyframe")
    page.get_by_label("Way into it [s]").fill("0.2")
    page.keyboard.press("Enter")
    page.locator("#easing").select_option("smooth")
    tab(page, "Pose")
    press(page, "Ghosts")
    tab(page, "Curves")
    for joint in ("right_shoulder_pitch", "right_shoulder_roll"):
        page.locator(f"#curve-joints [value={joint}]").check()
    for joint in ("left_shoulder_pitch", "right_elbow"):
        page.locator(f"#curve-joints [value={joint}]").uncheck()


def timeline(page: Page) -> None:
    """Mark two keyframes of an AIBO's kick, and give each a pause."""
    page.locator("#keyframe-2").click()
    page.keyboard.press("Shift+ArrowRight")
    tab(page, "Keyframe")
    page.get_by_label("Pause after it [s]").fill("0.15")
    page.keyboard.press("Enter")
    press(page, "Ghosts")
    press(page, "Fit")
    nearer(page)


def physics(page: Page) -> None:
    """Let the Bioloid lean forward in its walk until gravity has its way, and look at what came of it."""
    page.locator("#keyframe-1").click()
    page.get_by_label("Both sides").check()
    turn(page, "right_hip_pitch", -110)
    tab(page, "Check")
    page.locator("#physics").click()
    page.locator("#physics-findings .finding").nth(1).click(timeout=60_000)
    press(page, "Whole robot")


def gait(page: Page) -> None:
    """Let an AIBO crawl ahead."""
    page.locator("#mode-gait").click()
    page.locator("#gait-name").select_option("crawl")
    page.locator("#steer-forward_m_s").fill("0.06")
    page.keyboard.press("Enter")
    page.locator("#walk-kinematic").click()
    nearer(page)


def replay(page: Page) -> None:
    """Go to a moment of a recorded race in which a box is in the way."""
    tab(page, "Score")
    page.locator("#incidents .penalty button").first.click()
    tab(page, "Chart")


def arena(page: Page) -> None:
    """Draw a block and boxes on the field of the obstacle race, two of them too near to each other."""
    floor = page.locator("#arena-drawing .floor").evaluate("one => one.getBoundingClientRect().toJSON()")

    def pixel(x: float, y: float) -> tuple[float, float]:
        return floor["x"] + floor["width"] * x / 2.5, floor["y"] + floor["height"] * (0.5 - y / 2.0)

    for x, y in ((1.0, 0.4), (1.0, -0.35), (1.75, -0.05), (1.75, 0.4)):
        page.locator("#arena-tool-box").click()
        page.mouse.click(*pixel(x, y))
        page.wait_for_selector("#arena-drawing .box.chosen")
    page.locator("#arena-tool-block").click()
    page.mouse.move(*pixel(1.35, 0.75))
    page.mouse.down()
    page.mouse.move(*pixel(1.65, 0.9), steps=4)
    page.mouse.up()


def walk(folder: Path) -> Path:
    """Copy the Bioloid's walk."""
    return shipped("robotis_bioloid", "walk_forward", folder)


def kick(folder: Path) -> Path:
    """Copy an AIBO's kick."""
    return shipped("sony_ers7", "kick_right", folder)


def begun(folder: Path) -> Path:
    """Begin a motion of a Bioloid."""
    file = folder / "wave.motion.yaml"
    pw.write_motion(pw.create_motion("wave", pw.robot("robotis_bioloid")), file)
    return file


def field(folder: Path) -> Path:
    """Write the field of the obstacle race as one's own."""
    file = folder / "club.arena.yaml"
    pw.write_arena(file, replace(pw.find_arena("ceabot_obstacles"), name="club"))
    return file


def race(folder: Path) -> Path:
    """Record the beginning of a race."""
    file = folder / "race.mcap"
    ending = SimpleNamespace(watch=lambda block: block.state.time_s > 14.0)
    pw.run_trial(
        "obstacle-race", layout="example_1", seed=1, behaviour="document_mealy", record=file,
        make_watcher=lambda _: ending,
    )  # fmt: skip
    return file


def shipped(robot: str, name: str, folder: Path) -> Path:
    """Copy a motion that ships."""
    file = Path(f"{pw.robot(robot).folder}/motions/{name}.motion.yaml")
    return Path(shutil.copy(file, folder))


PICTURES: dict[str, tuple[Callable[[Path], Path], Callable[[Page], None]]] = {
    "pose": (begun, pose),
    "timeline": (kick, timeline),
    "physics": (walk, physics),
    "gait": (kick, gait),
    "replay": (race, replay),
    "arena": (field, arena),
}
DARK = {"physics"}


def take(name: str, browser: Browser) -> None:
    """Take one picture."""
    make, arrange = PICTURES[name]
    with tempfile.TemporaryDirectory() as folder:
        studio = pw.open_studio(make(Path(folder)))
        context = browser.new_context(viewport=SIZE, color_scheme="dark" if name in DARK else "light")
        page = context.new_page()
        page.goto(studio.url)
        page.frame_locator("#view").locator("canvas").first.wait_for(timeout=60_000)
        page.locator("body[data-link=open]").wait_for()
        page.wait_for_timeout(SETTLE_MS)
        arrange(page)
        page.wait_for_timeout(SETTLE_MS)
        file = FOLDER / f"studio_{name}.png"
        page.screenshot(path=file)
        context.close()
        studio.close()
    shrink(file)


def shrink(file: Path) -> None:
    """Write a picture anew with a palette: a quarter of the bytes, and nobody sees it."""
    from PIL import Image

    with Image.open(file) as picture:
        whole = picture.convert("RGB")
    small = whole.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    small.save(file, optimize=True)


def main(names: list[str]) -> None:
    """Take the pictures of these names, or all."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        for name in names or PICTURES:
            take(name, browser)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
