"""Pages are played from top to bottom: commands answer as they are printed.

A block of the kind `console` holds commands after `$ ` and what they print; `...` stands for lines left
out. A block that begins with `# NAME.yaml` or `# NAME.py` is a file. Any other `python` block is run. Races
are cut short, so what they say is not compared; nor are the numbers of a measured walk, which differ between
machines.

A command that ends with `&` goes on until the page ends, as in a second window; what follows waits until it
has said as many lines as are printed below it, and listens at the endpoints of 127.0.0.1 that it names. Its
first line may differ from the page, as a port's name does, and then stands for the page's in later commands.
A page's ports on 127.0.0.1 are changed for free ones.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from posewright.cli.app import run

ROOT = Path(__file__).parents[2]
REFERENCES = ("aibo-files", "openr", "robi", "robobasic")
"""Pages of reference whose blocks are played as well."""
PAGES = [
    ROOT / "README.md",
    *sorted([*ROOT.glob("docs/how-to-*.md"), *ROOT.glob("docs/start-*.md")]),
    *(ROOT / f"docs/{name}.md" for name in REFERENCES),
]

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w.-]+\.(?:yaml|py))\b")
CUT_SHORT = ("posewright run", "posewright replay", "posewright judge")
MEASURING = ("posewright gait run", "posewright tune")

TOOLS = {
    "how-to-board.md": ("gcc", "avr-gcc", "arm-none-eabi-gcc"),
    "how-to-across-the-room.md": ("openssl",),
}
"""Programs without which a page cannot be followed; the build server has them."""

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
def answer_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[int, str]]:
    """Give a function that runs a command in the present folder: exit code, and all it said."""
    monkeypatch.setenv("COLUMNS", "80")

    def ask(command: str) -> tuple[int, str]:
        if re.fullmatch(r"(export )?\w+=(\S+|\"[^\"]*\")", command):
            monkeypatch.setenv(*command.removeprefix("export ").replace('"', "").split("=", 1))
            return 0, ""
        if command.startswith("posewright "):
            capsys.readouterr()
            code = run(shlex.split(os.path.expandvars(command))[1:])
            return code, "".join(capsys.readouterr())
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)  # noqa: S603, S607 -- our own pages
        return done.returncode, done.stdout + done.stderr

    return ask


PORT = re.compile(r"127\.0\.0\.1:(\d+)")
READY_S = 120.0
"""What goes on in the background is ready by then."""


def with_free_ports(text: str) -> str:
    """Return a page with every port on 127.0.0.1 changed for one that nobody has."""
    probes = {port: socket.socket() for port in set(PORT.findall(text))}
    for probe in probes.values():
        probe.bind(("127.0.0.1", 0))
    free = {port: probe.getsockname()[1] for port, probe in probes.items()}
    for probe in probes.values():
        probe.close()
    return PORT.sub(lambda found: f"127.0.0.1:{free[found[1]]}", text)


def listens(port: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


@pytest.fixture
def in_background(tmp_path: Path) -> Iterator[Callable[[Step], tuple[str, str]]]:
    """Give a function that starts a command which goes on until the page ends.

    It returns the first line as the page has it, and as it was said.
    """
    started: list[subprocess.Popen[bytes]] = []

    def start(step: Step) -> tuple[str, str]:
        words = shlex.split(os.path.expandvars(step.command.removesuffix("&")))
        said = tmp_path / f"said_{len(started)}.txt"
        with said.open("wb") as out:
            command = [sys.executable, "-m", *words]
            started.append(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT))  # noqa: S603 -- our own pages
        end = time.monotonic() + READY_S
        while True:
            lines = [plain(line) for line in said.read_text().splitlines()]
            missing = [line for line in step.answer[1:] if plain(line) not in {*lines, "", "..."}]
            first = next(iter(step.answer), "...")
            if not lines and first != "...":
                missing.append(first)
            silent = [port for port in PORT.findall(step.command) if not listens(port)]
            if not (missing or silent):
                return first, lines[0] if lines and first != "..." else first
            over = time.monotonic() > end or started[-1].poll() is not None
            assert not over, f"$ {step.command}\n{said.read_text()}\nmissing: {missing} {silent}"
            time.sleep(0.05)

    yield start
    for process in reversed(started):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def play(step: Step, ask: Callable[[str], tuple[int, str]]) -> None:
    code, said = ask(step.command)
    assert code == 0 or "error" in "".join(step.answer), f"$ {step.command}\n{said}"
    if step.command.startswith(CUT_SHORT) and code == 0:
        return
    read = shape if step.command.startswith(MEASURING) else plain
    real = {read(line) for line in said.splitlines()} | {"", "..."}
    assert [line for line in step.answer if read(line) not in real] == [], f"$ {step.command}\n{said}"


@pytest.mark.usefixtures("short_races")
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_page_can_be_followed_word_by_word(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    samples: Callable[[str], Path],
    answer_to: Callable[[str], tuple[int, str]],
    in_background: Callable[[Step], tuple[str, str]],
) -> None:
    missing = [tool for tool in TOOLS.get(page.name, ()) if shutil.which(tool) is None]
    if missing and os.environ.get("CI") != "true":
        pytest.skip(f"{', '.join(missing)} not installed")
    text = with_free_ports(page.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
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
                for on_the_page, in_truth in printed.items():
                    command = command.replace(on_the_page, in_truth)
                if command.endswith("&"):
                    on_the_page, in_truth = in_background(replace(step, command=command))
                    printed[on_the_page] = in_truth
                else:
                    play(replace(step, command=command), answer_to)
        elif named := FILE.match(block):
            (tmp_path / named[1]).write_text(block, encoding="utf-8")
        elif kind == "python":
            exec(compile(block, str(page), "exec"), {})  # noqa: S102 -- our own page
