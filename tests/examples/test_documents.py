"""What the pages for readers say is true: commands exist and answer as printed, links and code work."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from posewright.cli.app import build_app, run

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
PLAYED = [ROOT / "README.md", *sorted(ROOT.glob("docs/how-to-*.md"))]
"""Pages whose `console` blocks are played, from top to bottom."""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
PLACE = re.compile(r"`((?:src|tests|examples|docs|benchmarks)/[\w./-]+)`")
NAMED = re.compile(r"\A# ([\w.-]+\.yaml)\b")
"""First line of a block that is a file: `# my.layout.yaml`."""

VENDOR_FILE = "robotis_mtn_text/robkwan_bio_prm_humanoidtypea_en.mtn"
TOOL = get_command(build_app())


def page_id(path: Path) -> str:
    return path.name


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield language and text of every fenced block."""
    yield from BLOCK.findall(page.read_text(encoding="utf-8"))


# -- every command that is named exists ---------------------------------------------------------------


def mentions(page: Path) -> Iterator[str]:
    """Yield what follows `posewright` in fenced blocks and code spans."""
    text = page.read_text(encoding="utf-8")
    for _, block in blocks(page):
        yield from re.findall(r"^(?:\$ )?(?:\.venv/bin/)?posewright +(.+)$", block, re.MULTILINE)
    yield from re.findall(r"`posewright +([^`]+)`", BLOCK.sub("", text))


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
    for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", words):
        if option not in options(command):
            yield f"no option {option!r}: posewright {words}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_command_a_page_names_exists(page: Path) -> None:
    assert [fault for words in mentions(page) for fault in faults(words)] == []


@pytest.mark.parametrize("words", ["rum obstacle-race", "motion chek FILE", "run --sede 3", "chart run -x"])
def test_a_command_that_does_not_exist_is_seen(words: str) -> None:
    assert list(faults(words)) != []


# -- links and places ---------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_link_and_place_a_page_names_exists(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    linked = [page.parent / target for target in LINK.findall(text)]
    places = [ROOT / place for place in PLACE.findall(text)]
    assert [str(path) for path in linked + places if not path.exists()] == []


def test_every_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert {page.name for page in ROOT.glob("docs/*.md")} - set(LINK.findall(index)) == {"index.md"}


# -- pages are played ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A command of a `console` block and the lines printed below it."""

    command: str
    answer: tuple[str, ...]


def steps(block: str) -> list[Step]:
    """Split a `console` block at its prompts."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [Step(lines[0], tuple(lines[1:])) for lines in (part.rstrip().splitlines() for part in parts)]


class Stage:
    """An empty folder in which a page is played; it sees the repository's sources."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def play(self, step: Step) -> None:
        """Run a command, and compare its answer unless it simulates: numbers differ between machines."""
        with suppress(ValueError):
            name, value = re.fullmatch(r"(\w+)=(\S+)", step.command).groups()  # type: ignore[union-attr] -- no match: AttributeError
        if re.fullmatch(r"\w+=\S+", step.command):
            name, value = step.command.split("=")
            os.environ[name] = value
            return
        code, said = self._said(step.command)
        assert code == 0 or any("error" in line for line in step.answer), f"{step.command}\n{said}"
        if not step.command.startswith(("posewright run", "posewright replay", "posewright judge")):
            real = {" ".join(line.split()) for line in said.splitlines()}
            shown = [" ".join(line.split()) for line in step.answer]
            assert [line for line in shown if line not in real | {"", "..."}] == [], said

    def _said(self, command: str) -> tuple[int, str]:
        self._capture.readouterr()
        if command.startswith("posewright "):
            code = run(shlex.split(os.path.expandvars(command))[1:])
            said = self._capture.readouterr()
            return code, said.out + said.err
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)  # noqa: S603, S607 -- our own pages
        return done.returncode, done.stdout + done.stderr
