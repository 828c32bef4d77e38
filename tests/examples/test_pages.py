"""What the pages for readers name exists: verbs, options, links, files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from posewright.cli.app import build_parser

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LINKING_PAGES = sorted([*PAGES, *ROOT.glob("examples/**/*.md")])

BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
ANCHOR = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
PLACE = re.compile(r"`((?:src|tests|examples|docs|benchmarks)/(?:(?!\.\.)[\w./-])+)`")
TOOL = build_parser()


def page_id(path: Path) -> str:
    return path.name


def commands_of(page: Path) -> Iterator[str]:
    """Yield what follows `posewright` in fenced blocks and in code spans."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.findall(text):
        yield from re.findall(r"^(?:\$ )?(?:\.venv/bin/)?posewright +(.+)$", block, re.MULTILINE)
    yield from re.findall(r"`posewright\s+([^`]+)`", BLOCK.sub("", text))


def options(command: Any) -> set[str]:
    """Return the options of a command and of all below it."""
    own = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return own.union({"--help"}, *map(options, getattr(command, "commands", {}).values()))


def faults(words: str) -> Iterator[str]:
    """Yield what of a command line is not so."""
    command: Any = TOOL
    for word in words.split():
        below = getattr(command, "commands", {})
        if not below or not re.fullmatch(r"[a-z][a-z-]*", word):
            break
        if word not in below:
            yield f"no verb {word!r}: posewright {words}"
            return
        command = below[word]
    known = options(command)
    for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", words):
        if option not in known:
            yield f"no option {option!r}: posewright {words}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_command_a_page_names_exists(page: Path) -> None:
    assert [fault for words in commands_of(page) for fault in faults(words)] == []


@pytest.mark.parametrize("words", ["rum obstacle-race", "motion chek FILE", "run --sede 3", "chart run -x"])
def test_a_command_that_does_not_exist_is_seen(words: str) -> None:
    assert list(faults(words)) != []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_link_and_place_a_page_names_exists(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    linked = [page.parent / target for target in LINK.findall(text)]
    places = [ROOT / place for place in PLACE.findall(text)]
    assert [str(path) for path in linked + places if not path.exists()] == []


def heading_anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings as GitHub makes them."""
    anchors: set[str] = set()
    for heading in HEADING.findall(BLOCK.sub("", text)):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
        n_same = sum(
            anchor == slug or re.fullmatch(rf"{re.escape(slug)}-\d+", anchor) is not None
            for anchor in anchors
        )
        anchors.add(f"{slug}-{n_same}" if n_same else slug)
    return anchors


def broken_anchors(page: Path, text: str) -> list[str]:
    """Return the links of a page's text whose anchor is no heading of the page that they lead to."""
    broken = []
    for target, anchor in ANCHOR.findall(BLOCK.sub("", text)):
        linked_text = (page.parent / target).read_text(encoding="utf-8") if target else text
        if anchor not in heading_anchors(linked_text):
            broken.append(f"{target}#{anchor}")
    return broken


@pytest.mark.parametrize("page", LINKING_PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_and_anchor_resolves(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    linked = [page.parent / target for target in LINK.findall(BLOCK.sub("", text))]
    assert [str(path) for path in linked if not path.exists()] == []
    assert broken_anchors(page, text) == []


def test_an_anchor_that_does_not_exist_is_seen() -> None:
    text = "## Two *words*, `three`\n\n[a](#two-words-three) [b](#two-words) [c](index.md#no-heading)\n"
    assert broken_anchors(ROOT / "docs/page.md", text) == ["#two-words", "index.md#no-heading"]


def linked_pages(page: Path) -> set[Path]:
    """Return the Markdown pages that a page links to."""
    targets = LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
    return {(page.parent / target).resolve() for target in targets if target.endswith(".md")}


def test_every_page_is_at_most_two_clicks_from_the_index() -> None:
    index = ROOT / "docs/index.md"
    first_click = linked_pages(index)
    second_click = set().union(*map(linked_pages, first_click))
    reached = {index.resolve()} | first_click | second_click
    assert [path.name for path in ROOT.glob("docs/*.md") if path.resolve() not in reached] == []


STOP = re.compile(r"^\| `([\w/]+\.py)` \| (?:`([\w.]+)`)? *\|", re.MULTILINE)
"""A row of a table on the page about the architecture: file, class or function."""


def test_the_architecture_follows_a_race_and_a_check_through_code_that_exists() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    stops = STOP.findall(text)
    for file, name in stops:
        code = (ROOT / "src/posewright" / file).read_text(encoding="utf-8")
        for part in filter(None, name.split(".")):
            assert re.search(rf"\b(?:def|class) {part}\b", code), f"{file} has no {name}"
    race, check = re.split(r"^### A chart check", text, flags=re.MULTILINE)
    assert len(STOP.findall(race)) <= 7
    assert len(STOP.findall(check)) <= 10
    assert len(stops) >= 15


def test_pictures_are_small() -> None:
    assert [path.name for path in ROOT.glob("docs/pictures/*") if path.stat().st_size > 300_000] == []
