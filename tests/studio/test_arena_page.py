"""In the browser: a club draws its field by mouse, breaks a rule and is told, undoes, saves, and races."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from posewright.arenas import Role, read_arena, read_layout
from posewright.studio import open_arena_editor
from posewright.studio.studio import Studio

DRAWING_LIMIT_S = 120.0
"""A user draws the field of this test in two minutes, at most."""


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Studio]]:
    """Open the editor in a folder of its own, and close it after the test."""
    monkeypatch.chdir(tmp_path)
    opened: list[Studio] = []

    def open_editor(name: str | None = None) -> Studio:
        opened.append(open_arena_editor(name))
        return opened[-1]

    yield open_editor
    for studio in opened:
        studio.close()


class Field:
    """The drawing of a page, worked by the mouse at places of the field in metres."""

    def __init__(self, page: Any, settled: Callable[[Any], None]) -> None:
        self.page = page
        self._settled = settled

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Return where a place of the field is in the window."""
        box = self.page.locator("#arena-drawing .floor").evaluate(
            "one => one.getBoundingClientRect().toJSON()"
        )
        length, width = self.page.evaluate("async () => (await import('./link.js')).value('arena').size_m")
        return box["x"] + box["width"] * x / length, box["y"] + box["height"] * (0.5 - y / width)

    def tool(self, name: str) -> None:
        self.page.locator(f"#arena-tool-{name}").click()

    def click(self, x: float, y: float) -> None:
        self.page.mouse.click(*self.pixel(x, y))
        self._settled(self.page)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from a place to another one."""
        first, last = self.pixel(*start), self.pixel(*end)
        self.drag_pixels(first, last)

    def drag_pixels(self, first: tuple[float, float], last: tuple[float, float]) -> None:
        self.page.mouse.move(*first)
        self.page.mouse.down()
        for step in range(1, 9):
            share = step / 8
            self.page.mouse.move(
                first[0] + share * (last[0] - first[0]), first[1] + share * (last[1] - first[1])
            )
        self.page.mouse.up()
        self._settled(self.page)

    def handle(self, selector: str) -> tuple[float, float]:
        """Return where a handle of the selected part is in the window."""
        box = self.page.locator(f"#arena-drawing {selector}").evaluate(
            "one => one.getBoundingClientRect().toJSON()"
        )
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def put(self, label: str, number: float) -> None:
        """Write a number into a field of the selected part."""
        box = self.page.locator("#arena-part").get_by_label(label, exact=True)
        box.fill(str(number))
        box.press("Enter")
        self._settled(self.page)

    def faults(self) -> list[str]:
        self._settled(self.page)
        return self.page.locator("#arena-faults .finding strong").all_inner_texts()


def open_page(studio: Studio, page_of: Any, settled: Any) -> Field:
    page = page_of(studio)
    page.wait_for_selector("#arena-drawing .floor")
    settled(page)
    return Field(page, settled)


def test_a_club_draws_its_field_is_told_what_breaks_a_rule_saves_and_races(
    editor: Any, page_of: Any, settled: Any, tmp_path: Path
) -> None:
    field = open_page(editor(), page_of, settled)
    page = field.page
    begin_s = time.monotonic()
    assert any("its lines are at none" in fault for fault in field.faults())
    for x in (0.5, 2.0):
        field.tool("line")
        field.click(x, 0.3)
    field.tool("box")
    field.click(1.0, 0.3)
    field.tool("box")
    field.click(1.6, -0.4)
    field.tool("wall")
    field.drag((1.6, 1.0), (1.6, 0.85))
    assert field.faults() == []
    assert "Everything follows the rules" in page.locator("#arena-verdict").inner_text()
    # on purpose: box 2 is dragged to box 1
    field.drag((1.6, -0.4), (1.2, 0.0))
    (fault,) = field.faults()
    assert fault == "the gap between box 1 and box 2 is 0.100 m wide"
    assert page.locator("#arena-drawing .box.faulty").count() == 2
    page.keyboard.press("Control+z")
    assert field.faults() == []
    page.keyboard.press("Control+s")
    page.wait_for_selector("#messages >> text=Saved field.arena.yaml")
    assert time.monotonic() - begin_s < DRAWING_LIMIT_S
    saved = read_arena(tmp_path / "field.arena.yaml")
    assert [(box.x, box.y) for box in saved.boxes] == [(1.0, 0.3), (1.6, -0.4)]
    assert [line.x for line in saved.lines] == [0.5, 2.0]
    (inner_wall,) = (wall for wall in saved.walls if wall.name == "wall_1")
    assert inner_wall.size_m == (0.02, 0.15, 0.5)
    page.wait_for_selector("#arena-command >> text=posewright run obstacle-race --arena field.arena.yaml")
    page.locator("#arena-race").click()
    page.wait_for_selector("body[data-mode=trial]")
    page.wait_for_selector("#trial-of >> text=obstacle", state="attached")
    page.locator("#trial-stop").click()


def test_a_shape_is_resized_turned_and_set_by_numbers(editor: Any, page_of: Any, settled: Any) -> None:
    studio = editor()
    field = open_page(studio, page_of, settled)
    page = field.page
    field.tool("block")
    field.drag((1.0, -0.1), (1.4, 0.1))
    field.drag_pixels(field.handle('.handle[data-x="1"][data-y="0"]'), field.pixel(1.6, 0.05))
    shape = studio.session.topics["arena"]["shapes"][-1]
    assert (shape["x"], shape["size_m"]) == (1.3, [0.6, 0.2, 0.2])
    middle = field.pixel(1.3, 0.0)
    field.drag_pixels(field.handle(".handle.turn"), (middle[0] - 100, middle[1]))
    assert studio.session.topics["arena"]["shapes"][-1]["yaw_deg"] == 90.0
    field.put("high [m]", 0.35)
    high = page.locator("#arena-part").get_by_label("high [m]", exact=True)
    page.keyboard.press("Control+z")
    settled(page)
    assert high.input_value() == "0.2", "a field that has the focus shows what is"
    page.keyboard.press("Control+y")
    settled(page)
    assert high.input_value() == "0.35"
    high.fill("0")
    page.keyboard.press("Escape")
    assert high.input_value() == "0.35", "what was typed is dropped"
    field.put("turn [deg]", 30)
    page.locator("#arena-part").get_by_label("role", exact=True).select_option("step")
    settled(page)
    shape = studio.session.topics["arena"]["shapes"][-1]
    assert (shape["role"], shape["yaw_deg"], shape["size_m"][2]) == ("step", 30.0, 0.35)
    page.keyboard.press("Escape")


def test_parts_are_copied_mirrored_and_deleted_by_keys_and_buttons(
    editor: Any, page_of: Any, settled: Any
) -> None:
    studio = editor("ceabot_obstacles")
    field = open_page(studio, page_of, settled)
    page = field.page
    field.tool("box")
    field.click(1.0, 0.4)
    page.locator("#arena-mirror-copy").click()
    settled(page)
    boxes = studio.session.topics["arena"]["boxes"]
    assert [(box["x"], box["y"]) for box in boxes] == [(1.0, 0.4), (1.0, -0.4)]
    page.locator("#arena-drawing").focus()
    page.keyboard.press("Control+d")
    page.keyboard.press("Shift+ArrowRight")
    settled(page)
    assert studio.session.topics["arena"]["boxes"][2]["x"] == pytest.approx(1.35)
    page.keyboard.press("Control+a")
    page.wait_for_function("document.querySelectorAll('#arena-drawing .box.chosen').length === 3")
    page.keyboard.press("Delete")
    settled(page)
    assert studio.session.topics["arena"]["boxes"] == []
    assert studio.session.topics["history"]["undo"] == "delete 5 parts"


def test_the_boxes_alone_are_saved_as_a_layout(
    editor: Any, page_of: Any, settled: Any, tmp_path: Path
) -> None:
    field = open_page(editor("example_2"), page_of, settled)
    page = field.page
    page.locator("#arena-save-as").click()
    page.get_by_label("its boxes alone, as a layout").check()
    page.locator("#arena-save-name").press("Enter")
    page.wait_for_selector("#messages >> text=Saved my_example_2.layout.yaml")
    assert len(read_layout(tmp_path / "my_example_2.layout.yaml")) >= 1


def test_a_second_window_sees_every_change(editor: Any, page_of: Any, settled: Any) -> None:
    studio = editor()
    first, second = (open_page(studio, page_of, settled) for _ in range(2))
    first.tool("ring")
    first.drag((1.25, 0.0), (1.5, 0.0))
    second.page.wait_for_selector("#arena-drawing circle.ring")
    assert read_arena_role(studio) == Role.RING.value


def read_arena_role(studio: Studio) -> str:
    return str(studio.session.topics["arena"]["shapes"][-1]["role"])
