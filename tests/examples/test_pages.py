"""What the pages for readers name exists: verbs, options, links, files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from posewright.cli.app import build_app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])

BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
PLACE = re.compile(r"`((?:src|tests|examples|docs|benchmarks)/(?:(?!\.\.)[\w./-])+)`")
TOOL = get_command(build_app())


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


def test_every_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert {page.name for page in ROOT.glob("docs/*.md")} - set(LINK.findall(index)) == {"index.md"}


def test_pictures_are_small() -> None:
    assert [path.name for path in ROOT.glob("docs/pictures/*") if path.stat().st_size > 300_000] == []
