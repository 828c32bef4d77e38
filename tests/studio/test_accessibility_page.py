"""Everybody can use the page: an accessibility scan finds nothing, and the keyboard reaches all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Shipped = Callable[[str], Path]

MODES = ("motion", "gait", "trial")
OPENERS = {
    "motion": ("#file-new", "#file-open", "#file-save-as", "#file-export", "#help"),
    "gait": ("#gait-sample",),
    "trial": (),
}
WATCH = """() => {
    window.met = [];
    addEventListener("focusin", ({ target }) => met.push([target, getComputedStyle(target).outlineStyle]));
    document.activeElement.blur();
}"""
"""Notes every element that gets the focus, and whether that is seen."""

TOLD = """() => {
    const every = "button, input, select, textarea, summary, [tabindex]";
    const wanted = [...document.querySelectorAll(every)]
        .filter((one) => one.checkVisibility({ visibilityProperty: true }))
        .filter((one) => !one.disabled && one.tabIndex >= 0);
    const said = (one) => one.id || one.getAttribute("aria-label") || one.textContent || one.className;
    const first = [...new Map(met.filter(([one]) => wanted.includes(one)))];
    return {
        missed: wanted.filter((one) => !first.some(([met]) => met === one)).map(said),
        unseen: first.filter(([, outline]) => outline === "none").map(([one]) => said(one)),
        order: first.map(([one]) => wanted.indexOf(one)),
    };
}"""
"""What the keyboard did not reach, what had the focus without showing it, and the order in the document."""


def scan(page: Any, where: str, *rules: str) -> list[str]:
    """Return what axe finds wrong on the page as it is now."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    options = {"iframes": False, "resultTypes": ["violations"], **only}
    found = axe.Axe().run(page, options=options).response["violations"]
    return [f"{where}: {one['id']} at {[node['target'] for node in one['nodes']]}" for one in found]


def states(page: Any) -> Iterator[str]:
    """Go through every mode and every tab of it."""
    for mode in MODES:
        page.click(f"#mode-{mode}")
        page.wait_for_selector(f"body[data-mode={mode}]")
        yield mode
        for tab in page.locator("[role=tab][aria-selected=false]:visible").all():
            tab.click()
            yield f"{mode}, {tab.text_content()}"
    page.click("#mode-motion")


def test_a_scan_of_every_state_finds_no_fault(shipped: Shipped, studio_of: Any, page_of: Any) -> None:
    page = page_of(studio_of(shipped("play_bow")))
    found = [fault for state in states(page) for fault in scan(page, state)]
    edge = page.get_by_role("separator", name="Width of the controls")
    wide = int(edge.get_attribute("aria-valuenow"))
    edge.press("ArrowLeft")
    page.click("#theme")
    page.reload()
    page.wait_for_selector("[data-theme=dark] .joint")
    page.wait_for_function(f"document.querySelector('#side').offsetWidth === {wide + 16}")
    found += [fault for state in states(page) for fault in scan(page, f"dark {state}", "color-contrast")]
    assert found == []


def test_dialogs_are_left_by_escape_and_all_keys_are_listed(
    shipped: Shipped, studio_of: Any, page_of: Any
) -> None:
    page = page_of(studio_of(shipped("play_bow")))
    found = []
    for mode, openers in OPENERS.items():
        page.click(f"#mode-{mode}")
        for opener in openers:
            # what is not shown yet cannot have the focus, and `press` does not wait for it
            page.wait_for_selector(f"{opener}:not([disabled])")
            page.locator(opener).press("Enter")
            page.wait_for_selector("dialog[open]")
            found += scan(page, f"dialog of {opener}")
            page.keyboard.press("Escape")
            page.wait_for_selector("dialog", state="detached")
            assert page.evaluate("document.activeElement.id") == opener[1:]
    page.keyboard.press("?")
    told = page.locator("dialog").inner_text()
    assert all(key in told for key in ("Ctrl+Z", "Ctrl+Shift+S", "Space", "Insert", "Home", "W"))
    page.keyboard.press("Control+s")
    page.keyboard.press("Delete")
    assert page.locator("dialog").count() == 1
    assert page.evaluate("document.querySelectorAll('.block').length") == 6
    assert found == []


def test_the_keyboard_alone_reaches_every_control_in_order(
    shipped: Shipped, studio_of: Any, page_of: Any
) -> None:
    page = page_of(studio_of(shipped("play_bow")))
    for mode in MODES:
        page.click(f"#mode-{mode}")
        page.wait_for_timeout(300)
        page.evaluate(WATCH)
        count = page.locator("button:visible, input:visible, select:visible, summary:visible").count()
        for _ in range(count + 24):
            page.keyboard.press("Tab")
        told = page.evaluate(TOLD)
        assert (mode, told["missed"], told["unseen"]) == (mode, [], [])
        begin = told["order"].index(0)
        assert told["order"][begin:] + told["order"][:begin] == sorted(told["order"])
    page.locator("role=tab[name='Set up']").press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "Score"
