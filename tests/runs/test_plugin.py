"""A package of somebody's own adds a contest and a body: `examples/plugin`, installed as a user does."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest

import posewright as pw
from posewright.arenas import Arena
from posewright.bodies import Supervisor
from posewright.contests import (
    ContestPicture,
    DefaultEntry,
    Note,
    PlanarPose,
    contest,
    contest_names,
    registry,
)
from posewright.control import Block
from posewright.documents import Plugins
from posewright.errors import InputError
from posewright.recordings import Recording
from posewright.runs import Progress
from posewright.runs.outcome import Unjudged

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples/plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package into a folder of its own, without network."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, folder / "source")
    arguments = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target"]
    command = [sys.executable, "-m", "pip", *arguments, str(folder / "site"), str(folder / "source")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- our own package
    assert done.returncode == 0, done.stderr
    return folder / "site"


def posewright(
    site: Path, *arguments: object, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    paths = [str(site), str(Path(pw.__file__).parents[1])]
    return subprocess.run(  # noqa: S603 -- our own program
        [sys.executable, "-m", "posewright", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def parsed(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert (done.returncode, done.stderr) == (0, "")
    data: dict[str, Any] = json.loads(done.stdout)
    return data


@dataclass(frozen=True)
class Walk:
    """A run of the package's contest: its recording, and what the command printed about it."""

    recording: Path
    summary: Mapping[str, Any]


@pytest.fixture(scope="module")
def walk(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    path = tmp_path_factory.mktemp("walk") / "walk.mcap"
    return Walk(path, parsed(posewright(installed, "run", "line-walk", "--record", path, "--json")))


def test_its_contest_is_run_recorded_and_judged(installed: Path, walk: Walk, tmp_path: Path) -> None:
    assert walk.summary["contest"] == "line-walk"
    assert 1.0 < walk.summary["distance_m"] < 2.5
    judged = parsed(posewright(installed, "judge", walk.recording, "--json"))
    assert (judged["points"], judged["digest"]) == (walk.summary["points"], walk.summary["digest"])
    replayed = posewright(installed, "replay", walk.recording, "--plot", tmp_path / "walk.svg")
    assert f"{walk.summary['distance_m']:.2f} m" in replayed.stdout
    assert "walked" in (tmp_path / "walk.svg").read_text(encoding="utf-8")


def test_the_same_trial_has_the_same_digest_elsewhere_and_unrecorded(
    installed: Path, walk: Walk, tmp_path: Path
) -> None:
    again = parsed(posewright(installed, "run", "line-walk", "--json", folder=tmp_path))
    assert again["digest"] == walk.summary["digest"]


def test_its_body_is_run_on(installed: Path) -> None:
    ran = parsed(posewright(installed, "run", "line-walk", "--body", "glider", "--json"))
    assert ran["distance_m"] == pytest.approx(0.1 * 15.0, abs=0.05)


def test_a_trial_of_ones_own_may_bring_other_rules(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.rules.yaml").write_text("title: Short walk\nlimit_s: 8\n")
    (tmp_path / "mine.trial.yaml").write_text(
        "trial: mine\nrobot: robotis_bioloid\nbehaviour: passivity_test\n"
        "contest: {name: line-walk, rules: mine.rules.yaml}\n"
    )
    ran = parsed(posewright(installed, "run", tmp_path / "mine.trial.yaml", "--json"))
    assert ran["simulated_s"] == pytest.approx(8.0, abs=0.2)


def test_without_the_package_its_recording_is_replayed_but_not_judged(walk: Walk, tmp_path: Path) -> None:
    outcome = pw.replay(walk.recording, plot=tmp_path / "walk.png")
    assert "unknown contest 'line-walk'" in outcome.score.warnings[0]
    with pytest.raises(pw.PosewrightError, match="unknown contest 'line-walk'"):
        pw.judge(outcome.recording)


def test_the_page_shows_the_very_package() -> None:
    page = (ROOT / "docs/how-to-own-contest.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(py|toml)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (project,) = [text for kind, text in blocks if kind == "toml"]
    assert project == (PLUGIN / "pyproject.toml").read_text(encoding="utf-8")
    (excerpt,) = [text for kind, text in blocks if "class LineWalk" in text]
    assert (PLUGIN / "posewright_line_walk/contest.py").read_text(encoding="utf-8").endswith(excerpt)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_package:Contest", "from an unknown package, cannot be loaded"),
        ("math:pi", "is not a contest"),
    ],
)
def test_a_broken_package_is_named_and_only_who_asks_for_it_hears_of_it(
    monkeypatch: pytest.MonkeyPatch, value: str, message: str
) -> None:
    broken = Plugins(registry.GROUP, [EntryPoint("broken", value, registry.GROUP)])
    monkeypatch.setattr(registry, "plugins", lambda _group: broken)
    assert "broken" in contest_names()
    assert contest("obstacle-race").name == "ceabot_2013/obstacle_race"
    with pytest.raises(InputError, match=message):
        contest("broken")


class Meeting:
    """A contest of two: they walk up to each other for nine seconds; who comes further has won."""

    name = "meeting"
    title = "A meeting"
    rules_text = "title: A meeting\n"
    longest_s = 9.0
    walker = DefaultEntry("robotis_bioloid", "passivity_test")
    entries: ClassVar = {"red": walker, "blue": walker}
    needs_contacts = False

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:
        return Arena("meeting", (2.0, 2.0), (), {}, {"floor": (0.2, 0.6, 0.2)}, friction=0.5)

    def start(self, role: str, arena: Arena) -> PlanarPose:
        return (0.5, 0.0, 0.0) if role == "red" else (1.2, 0.0, math.pi)

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> Onlooker:
        assert list(supervisors) == ["red", "blue"]
        return Onlooker()

    def picture(self, recording: Recording) -> ContestPicture:
        return ContestPicture("a meeting")

    def judge(self, recording: Recording) -> Unjudged:
        distances = {
            name: abs(float(record.base[-1, 0] - record.base[0, 0]))
            for name, record in recording.robots.items()
        }
        return Unjudged(recording, distances["red"] - distances["blue"])


class Onlooker:
    """A referee who sees the blocks of both and does nothing."""

    def __init__(self) -> None:
        self.robots: set[str] = set()

    def watch(self, block: Block) -> bool:
        self.robots.add(block.robot)
        return False

    def progress(self) -> str:
        return " and ".join(sorted(self.robots))


def test_two_robots_take_part_where_a_contest_has_two_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._SHIPPED, "meeting", Meeting)
    reports: list[Progress] = []
    run = pw.run_trial("meeting", on_progress=reports.append)
    assert list(run.recording.robots) == ["red", "blue"]
    assert {progress.standing for progress in reports} >= {"blue and red"}
    for name, towards in (("red", 1.0), ("blue", -1.0)):
        x = run.recording.robot(name).base[:, 0]
        assert towards * (x[-1] - x[0]) > 0.1
    assert pw.run_trial("meeting").recording.digest() == run.recording.digest()
