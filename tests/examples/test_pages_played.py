"""The README and the how-to pages are played from top to bottom: commands answer as they are printed.

A block of the kind `console` holds commands after `$ ` and what they print; `...` stands for lines left
out. A command that ends in `&` goes on while the page does; what it prints first may differ from the page,
and stands for the page's line in later commands. A YAML block that begins with `# NAME.yaml` is a file. A
`python` block is run. Races are cut short, so what they say is not compared; nor are the numbers of a
measured walk, which differ between machines.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from posewright.cli.app import run
from posewright.contests import rules

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/how-to-*.md"))]

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w.-]+\.yaml)\b")
CUT_SHORT = ("posewright run", "posewright replay", "posewright judge")
MEASURING = ("posewright gait run", "posewright tune")

RACE_S = 12.0
"""Enough of a race to record, draw and judge it."""

TOOLS = {"how-to-board.md": ("gcc", "avr-gcc", "arm-none-eabi-gcc")}
"""Compilers without which a page cannot be followed; the build server has them."""

VENDOR_NAME = "humanoid.mtn"
VENDOR_FILE = "robotis_mtn_text/robkwan_bio_prm_humanoidtypea_en.mtn"


@dataclass(frozen=True)
class Step:
    """A command of a page and the lines printed below it."""

    command: str
    answer: tuple[str, ...]


def steps(block: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *answer = part.rstrip().splitlines()
        yield Step(command, tuple(answer))


def plain(line: str) -> str:
    """Return a line as it reads, however wide its blanks are."""
    return " ".join(line.split())


def shape(line: str) -> str:
    """Return what a simulation would say on every machine: the line without its figures."""
    return re.sub(r"[-+]?\d[\d.]*", "#", plain(line))


@pytest.fixture
def begin() -> Iterator[Callable[[str], str]]:
    """Give a function that begins a command in the background, and gives the first line it prints."""
    begun: list[subprocess.Popen[str]] = []

    def start(command: str) -> str:
        words = [sys.executable, "-m", *shlex.split(command)]
        how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        begun.append(subprocess.Popen(words, **how))  # noqa: S603 -- our own pages
        assert begun[-1].stdout is not None
        return begun[-1].stdout.readline().rstrip()

    yield start
    for process in begun:
        process.terminate()
        process.communicate(timeout=30.0)


@pytest.fixture
def answer_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, begin: Callable[[str], str]
) -> Callable[[str], tuple[int, str]]:
    """Give a function that runs a command in the present folder: exit code, and all it said."""
    monkeypatch.setenv("COLUMNS", "80")

    def ask(command: str) -> tuple[int, str]:
        if re.fullmatch(r"\w+=\S+", command):
            monkeypatch.setenv(*command.split("=", 1))
            return 0, ""
        if command.endswith(" &"):
            return 0, begin(command.removesuffix(" &"))
        if command.startswith("posewright "):
            capsys.readouterr()
            code = run(shlex.split(os.path.expandvars(command))[1:])
            return code, "".join(capsys.readouterr())
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)  # noqa: S603, S607 -- our own pages
        return done.returncode, done.stdout + done.stderr

    return ask


def play(step: Step, ask: Callable[[str], tuple[int, str]]) -> None:
    code, said = ask(step.command)
    assert code == 0 or "error" in "".join(step.answer), f"$ {step.command}\n{said}"
    if step.command.startswith(CUT_SHORT) and code == 0:
        return
    read = shape if step.command.startswith(MEASURING) else plain
    real = {read(line) for line in said.splitlines()} | {"", "..."}
    assert [line for line in step.answer if read(line) not in real] == [], f"$ {step.command}\n{said}"


@pytest.fixture
def patient_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a fake bus as for an adapter that is slow: here it is one program among many."""
    for room in ("bus", "servos"):
        monkeypatch.setattr(f"posewright.links.dynamixel.{room}.latency_timer_ms", lambda _path: 16.0)


@pytest.fixture
def short_races(monkeypatch: pytest.MonkeyPatch) -> None:
    scoring, clock = rules().scoring, rules().clock
    allowed_s = clock.wait_s + 2.0 * scoring.time_limit_s + clock.leg_2_delay_s
    monkeypatch.setattr("posewright.contests.obstacle_race.contest.SPARE_S", RACE_S - allowed_s)


@pytest.mark.usefixtures("short_races", "patient_bus")
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_page_can_be_followed_word_by_word(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    samples: Callable[[str], Path],
    answer_to: Callable[[str], tuple[int, str]],
) -> None:
    missing = [tool for tool in TOOLS.get(page.name, ()) if shutil.which(tool) is None]
    if missing and os.environ.get("CI") != "true":
        pytest.skip(f"{', '.join(missing)} not installed")
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for folder in ("src", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "out").mkdir()
    if VENDOR_NAME in text:
        (tmp_path / VENDOR_NAME).write_bytes(samples(VENDOR_FILE).read_bytes())
    printed: dict[str, str] = {}
    for kind, block in BLOCK.findall(text):
        if kind == "console":
            for step in steps(block):
                command = step.command
                if command.endswith(" &"):
                    _, printed[step.answer[0]] = answer_to(command)
                    continue
                for on_the_page, in_truth in printed.items():
                    command = command.replace(on_the_page, in_truth)
                play(replace(step, command=command), answer_to)
        elif kind == "python":
            exec(compile(block, str(page), "exec"), {})  # noqa: S102 -- our own page
        elif kind == "yaml" and (named := FILE.match(block)):
            (tmp_path / named[1]).write_text(block, encoding="utf-8")
