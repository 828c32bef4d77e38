"""A package or file of somebody's own that fails is named, with its line, and is no bug of Posewright."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.shell import run_here

import posewright as pw
from posewright.documents import plugins
from posewright.errors import UserCodeError

PACKAGE = """
from pathlib import Path


class Words:
    name = "words"
    option_names = ()

    def names(self, robot):
        {names}

    def recognises(self, name):
        return name.endswith(".words")

    def read(self, name, robot, options):
        {read}


def make(bodies, arena):
    {make}


def open_link(address, bodies, arena):
    {make}


def contest(rules=None):
    {contest}
"""
WELL_BEHAVED = {
    "names": "return ()",
    "read": "return None",
    "make": "return None",
    "contest": "return None",
}
FAULTS = {
    "the names of a kind": (
        {"names": "return 1 / 0"},
        ("run", "passivity-test", "--behaviour", "x.words"),
        "strange.py:10: ZeroDivisionError: division by zero",
    ),
    "reading raises": (
        {"read": "return {}[name]"},
        ("run", "passivity-test", "--behaviour", "x.words"),
        "strange.py:16: KeyError: 'x.words'",
    ),
    "reading returns nothing": (
        {},
        ("run", "passivity-test", "--behaviour", "x.words"),
        "words.read('x.words') returned an object of the type NoneType, which is not a Program: it lacks "
        "controller, ",
    ),
    "reading exits": (
        {"read": "raise SystemExit(0)"},
        ("run", "passivity-test", "--behaviour", "x.words"),
        "strange.py:16: SystemExit: 0",
    ),
    "a plant that raises": (
        {"make": "return bodies[7]"},
        ("run", "passivity-test", "--body", "strange"),
        "strange.py:20: IndexError: ",
    ),
    "a plant that is none": (
        {},
        ("run", "passivity-test", "--body", "strange"),
        "strange returned an object of the type NoneType, which is not a Plant: it lacks advance, ",
    ),
    "a link that is none": (
        {},
        ("run", "passivity-test", "--body", "strange:here"),
        "the maker of strange:here returned an object of the type NoneType, which is not a Plant",
    ),
    "a contest that raises": (
        {"contest": "raise ValueError('no field today')"},
        ("run", "strange"),
        "strange.py:28: ValueError: no field today",
    ),
    "a contest that is none": ({}, ("run", "strange"), "'strange' in posewright.contests is not a contest"),
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder on the path whose module `strange` is a package with entry points in all groups."""
    folder = tmp_path / "site"
    facts = folder / "strange-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(
        "[posewright.programs]\nwords = strange:Words\n[posewright.bodies]\nstrange = strange:make\n"
        "[posewright.links]\nstrange = strange:open_link\n[posewright.contests]\nstrange = strange:contest\n"
    )
    monkeypatch.syspath_prepend(folder)
    plugins.cache_clear()
    yield folder
    plugins.cache_clear()


@pytest.mark.parametrize(("parts", "command", "message"), FAULTS.values(), ids=FAULTS)
def test_what_a_package_does_wrong_is_its_own_error(
    site: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    parts: dict[str, str],
    command: tuple[str, ...],
    message: str,
) -> None:
    (site / "strange.py").write_text(PACKAGE.format(**{**WELL_BEHAVED, **parts}))
    monkeypatch.delitem(sys.modules, "strange", raising=False)
    done = run_here(*command, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "internal error" not in done.stderr


PRINTS = """
import numpy as np

from posewright.bodies import JointCommands
from posewright.control import Controller
from words import GREETING

print(GREETING, "from the file")


class Talks(Controller):
    def next(self, state, n):
        print(GREETING)
        return JointCommands(np.repeat(state.positions[np.newaxis], n, axis=0))
"""


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """Return a user's file, which prints, and imports a module beside it."""
    (tmp_path / "words.py").write_text('GREETING = "hello"\n')
    path = tmp_path / "talks.py"
    path.write_text(PRINTS)
    return path


@pytest.mark.parametrize(
    "options", [("--seed", "1"), ("--seeds", "1", "--workers", "2")], ids=["one", "batch"]
)
def test_json_stays_json_whatever_a_controller_prints(talks: Path, options: tuple[str, ...]) -> None:
    arguments = ("run", "passivity-test", "--controller", f"{talks}:Talks", *options, "--json")
    done = subprocess.run(  # noqa: S603 -- our own program
        [sys.executable, "-m", "posewright", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert "hello" in done.stderr


def test_a_users_file_imports_modules_beside_it_and_each_file_its_own(tmp_path: Path) -> None:
    for team in ("red", "blue"):
        folder = tmp_path / team
        folder.mkdir()
        (folder / "team.py").write_text(f"class Stop(ValueError): ...\n\n\nCOLOUR = {team!r}\n")
        (folder / "mine.py").write_text(
            "import team\nfrom posewright.control import Controller\n\n\nclass Mine(Controller):\n"
            "    def next(self, state, n):\n        raise team.Stop(team.COLOUR)\n"
        )
        with pytest.raises(UserCodeError, match=f"Stop: {team}") as caught:
            pw.run_trial("passivity-test", controller=f"{folder / 'mine.py'}:Mine")
        assert str(caught.value.where) == f"{folder / 'mine.py'}:7"
