"""`posewright tune`, its `--list` and its `--report`, as a person and as a program use them."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from posewright.cli.app import run
from posewright.cli.tune import format_duration
from posewright.runs import GaitProblem, tune_names
from posewright.search import Evaluation, read_journal

Captured = pytest.CaptureFixture[str]

DOCUMENT = """\
tune: quick
robot: sony_ers7
gait: made.gait.yaml
parameters:
  ground_speed_m_s: [0.25, 0.4]
  travel_gain.forward: [0.7, 1.8]
walks:
  - {forward_m_s: 0.1, seconds: 0.4, settle_s: 0.1}
score: {following: 1, fall: 2}
search: {generations: 2, population: 4}
"""
JOURNAL = "quick.tune.jsonl"
MADE = Path(__file__).parents[1] / "runs/made.gait.yaml"


def put_into(folder: Path) -> None:
    """Put a tuning into a folder, and the gait it begins at, whose numbers nobody tunes."""
    (folder / "quick.tune.yaml").write_text(DOCUMENT)
    (folder / MADE.name).write_bytes(MADE.read_bytes())


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder with one tuning in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    put_into(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The journal of the search that nothing stopped."""
    folder = tmp_path_factory.mktemp("whole")
    put_into(folder)
    journal = folder / "whole.jsonl"
    assert run(["tune", str(folder / "quick.tune.yaml"), "--journal", str(journal), "--json"]) == 0
    return journal.read_bytes()


def told(capsys: Captured, *words: str | Path, code: int = 0) -> str:
    assert run(["tune", *map(str, words)]) == code
    return capsys.readouterr().out


def answer(capsys: Captured, *words: str | Path, code: int = 0) -> Any:
    return json.loads(told(capsys, *words, "--json", code=code))


def complaint(capsys: Captured, *words: str | Path) -> str:
    """Return what is said of bad input, on one line, and nothing on stdout."""
    assert run(["tune", *map(str, words)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


@contextlib.contextmanager
def started(here: Path, lines: int) -> Iterator[subprocess.Popen[str]]:
    """A search in a process of its own, which has that many lines in its journal already."""
    words = [sys.executable, "-m", "posewright", "tune", "quick.tune.yaml", "--workers", "1"]
    journal = here / JOURNAL
    with subprocess.Popen(words, cwd=here, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 -- our own
        while not journal.exists() or journal.read_bytes().count(b"\n") < lines:
            assert process.poll() is None
            time.sleep(0.002)
        yield process


def test_a_search_ends_in_a_gait_that_walks_at_once(here: Path, whole: bytes, capsys: Captured) -> None:
    words = ("quick.tune.yaml", "-o", "best.gait.yaml", "--plot", "search.png")
    said = told(capsys, *words)
    assert "ground_speed_m_s" in said
    assert "complete after 2 generations, 9 evaluations" in said
    assert (here / JOURNAL).read_bytes() == whole
    assert (here / "search.png").read_bytes().startswith(b"\x89PNG")
    assert run(["gait", "run", "best.gait.yaml", "--forward", "0.1", "--seconds", "0.4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gait"] == "quick"


def test_a_program_is_told_everything(here: Path, whole: bytes, capsys: Captured) -> None:
    (here / JOURNAL).write_bytes(whole)
    found = answer(capsys, "quick.tune.yaml", "--resume", "-o", "best.gait.yaml")
    best = min(read_journal(here / JOURNAL).attempts, key=lambda attempt: attempt.score)
    assert found["score"] == best.score < found["start_score"]
    assert found["figures"] == dict(best.evaluation.facts)
    assert found["best"] == pytest.approx(dict(best.values), rel=1e-3)
    assert (found["generations"], found["evaluations"], found["ending"]) == (2, 9, "complete")
    assert (found["seed"], found["journal"], found["output"]) == (0, JOURNAL, "best.gait.yaml")
    assert found["whole"]["score"] == found["score"]


def test_progress_is_plain_lines_where_nobody_watches(capsys: Captured) -> None:
    assert run(["tune", "quick.tune.yaml", "--generations", "1", "--json"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(";")[0] for line in lines] == [
        "quick: generation 0 of 1",
        "quick: generation 1 of 1",
    ]
    assert lines[0].endswith(" left")
    assert "best 0." in lines[1]
    assert "tilt" in lines[1]


def test_a_journal_that_is_there_is_left_alone(here: Path, whole: bytes, capsys: Captured) -> None:
    (here / JOURNAL).write_bytes(whole)
    assert "the journal exists already (--resume continues" in complaint(capsys, "quick.tune.yaml")
    assert (here / JOURNAL).read_bytes() == whole


def test_resuming_evaluates_nothing_again_and_takes_seed_and_population_from_the_journal(
    here: Path, capsys: Captured
) -> None:
    words = ("quick.tune.yaml", "--generations", "1", "--seed", "8", "--population", "5")
    first = answer(capsys, *words)
    before = (here / JOURNAL).read_bytes()
    again = answer(capsys, "quick.tune.yaml", "--resume", "--generations", "1")
    assert (here / JOURNAL).read_bytes() == before
    assert (again.pop("wall_s") > 0.0, first.pop("wall_s") > 0.0) == (True, True)
    assert again == first
    assert first["seed"] == 8
    assert first["evaluations"] == 6
    assert "another seed" in complaint(capsys, "quick.tune.yaml", "--resume", "--seed", "9")


def test_an_empty_journal_is_gone_on_with_too(here: Path, whole: bytes, capsys: Captured) -> None:
    (here / JOURNAL).write_bytes(b"")
    answer(capsys, "quick.tune.yaml", "--resume")
    assert (here / JOURNAL).read_bytes() == whole


def test_a_search_that_was_killed_goes_on_to_the_same_result(
    here: Path, whole: bytes, capsys: Captured
) -> None:
    with started(here, 4) as process:
        process.kill()
    assert 4 <= (here / JOURNAL).read_bytes().count(b"\n") < 10
    answer(capsys, "quick.tune.yaml", "--resume")
    assert (here / JOURNAL).read_bytes() == whole


def test_ctrl_c_says_how_to_go_on(
    here: Path, whole: bytes, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = GaitProblem.evaluate

    def stopped_by_hand(problem: GaitProblem, values: Mapping[str, float]) -> Evaluation:
        if (here / JOURNAL).read_bytes().count(b"\n") == 7:
            raise KeyboardInterrupt
        return evaluate(problem, values)

    with monkeypatch.context() as patched:
        patched.setattr(GaitProblem, "evaluate", stopped_by_hand)
        assert run(["tune", "quick.tune.yaml"]) == 130
    said = capsys.readouterr().err
    command = f"posewright tune quick.tune.yaml --resume --journal {JOURNAL}"
    assert f"Continue with: {command}\n" in said
    best = f"{command} --generations 1 -o best.gait.yaml"
    assert f"to write the best gait so far: {best}\n" in said
    before = (here / JOURNAL).read_bytes()
    told(capsys, *best.split()[2:])
    assert (here / "best.gait.yaml").exists()
    assert (here / JOURNAL).read_bytes() == before
    told(capsys, *command.split()[2:])
    assert (here / JOURNAL).read_bytes() == whole


def test_a_gait_and_bodies_of_ones_own_are_tuned_and_tested(here: Path, capsys: Captured) -> None:
    (here / "mine.gait.yaml").write_text(MADE.read_text().replace("gait: made", "gait: mine"))
    words = ("quick.tune.yaml", "--gait", "mine.gait.yaml", "--generations", "1", "--bodies", "1")
    found = answer(capsys, *words, "--held-out", "2")
    assert found["gait"] == "mine"
    assert found["figures"]["walks"] == 2
    walks = [(walk["candidate"], walk["gait"], walk["bodies"]) for walk in found["held_out"]]
    assert walks == [("start", "mine", 2), ("best", "quick", 2)]
    said = told(capsys, *words, "--held-out", "1", "--resume")
    assert "other bodies" in said
    assert "0 of 1" in said


def test_ctrl_c_repeats_the_options_that_replace_parts_of_the_tuning(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped_by_hand(*_: object) -> Evaluation:
        raise KeyboardInterrupt

    (here / "my own.bodies.yaml").write_text("bodies: mine\nplates: {count: 3, thickness_m: 0.002}\n")
    options = "--gait made.gait.yaml --body random --body 'my own.bodies.yaml' --bodies 2 --held-out 0"
    monkeypatch.setattr(GaitProblem, "evaluate", stopped_by_hand)
    assert run(["tune", "quick.tune.yaml", *shlex.split(options)]) == 130
    command = f"posewright tune quick.tune.yaml {options} --resume --journal {JOURNAL}"
    assert f"Continue with: {command}\n" in capsys.readouterr().err


def test_a_search_that_finds_nothing_says_why(here: Path, capsys: Captured) -> None:
    (here / "quick.tune.yaml").write_text(DOCUMENT.replace("forward_m_s: 0.1", "forward_m_s: 5"))
    said = told(capsys, "quick.tune.yaml", "-o", "best.gait.yaml", code=1)
    assert "none of 9 candidates could be judged: 5 m/s is out of range" in said
    assert not (here / "best.gait.yaml").exists()
    report = answer(capsys, "--report", JOURNAL)
    assert report["refused"] == {".. m/s is out of range": 9}
    assert (report["score"], report["best"]) == (None, None)
    assert "9 not judged: .. m/s is out of range" in told(capsys, "--report", JOURNAL)
    (here / JOURNAL).unlink()
    assert answer(capsys, "quick.tune.yaml", code=1)["score"] is None


def test_a_report_shows_what_a_journal_holds(here: Path, whole: bytes, capsys: Captured) -> None:
    (here / "half.jsonl").write_bytes(whole[: len(whole) // 2])
    report = answer(capsys, "--report", "half.jsonl", "--plot", "half.svg")
    attempts = read_journal(here / "half.jsonl").attempts
    assert report["evaluations"] == report["judged"] == len(attempts) < 9
    assert report["score"] == min(attempt.score for attempt in attempts)
    assert [one["number"] for one in report["generations"]] == [0, 1]
    assert (here / "half.svg").read_bytes().startswith(b"<?xml")
    said = told(capsys, "--report", "half.jsonl")
    assert f"{len(attempts)} evaluations" in said
    assert "best so far" in said


def test_the_tunings_that_ship_are_listed(capsys: Captured) -> None:
    assert [one["tune"] for one in answer(capsys, "--list")] == list(tune_names())
    assert "sony_ers7" in told(capsys, "--list")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "expected exactly one task"),
        (("fast", "--list"), "expected exactly one task"),
        (("--list", "--report", "other.yaml"), "expected exactly one task"),
        (("--list", "--seed", "3"), "--list and --report do not search"),
        (("--list", "--bodies", "3"), "--list and --report do not search"),
        (("quick.tune.yaml", "--bodies", "10001"), "10001 random bodies (0 to 10000)"),
        (("quick.tune.yaml", "--bodies", "1", "--body", "mars"), "unknown set of bodies 'mars'"),
        (("quick.tune.yaml", "--gait", "gone.gait.yaml"), "gone.gait.yaml"),
        (("--report", "other.yaml", "--resume"), "--list and --report do not search"),
        (("qick",), "unknown tuning 'qick'"),
        (("gone.tune.yaml",), "gone.tune.yaml"),
        (("quick.tune.yaml", "--resume"), "there is no journal to resume (leave --resume out)"),
        (("quick.tune.yaml", "--seed", "-1"), "the seed is -1"),
        (("quick.tune.yaml", "--population", "2"), "the population is 2"),
        (("quick.tune.yaml", "--generations", "0"), "--generations"),
        (("quick.tune.yaml", "--workers", "0"), "--workers"),
        (("quick.tune.yaml", "--journal", "no/where.jsonl"), "no/where.jsonl"),
        (
            ("quick.tune.yaml", "--journal", "quick.tune.yaml"),
            "'.yaml' is not the ending of a journal",
        ),
        (("quick.tune.yaml", "-o", "best.txt"), "best.txt: '.txt' is not the ending of a gait"),
        (("quick.tune.yaml", "-o", "no/best.gait.yaml"), "no/best.gait.yaml"),
        (("quick.tune.yaml", "-o", "quick.tune.yaml"), "this file is an input of the command"),
        (("quick.tune.yaml", "-o", "other.yaml"), "other.yaml"),
        (("quick.tune.yaml", "--plot", "search.txt"), "search.txt: '.txt' is not the ending of a picture"),
        (("--report", "gone.jsonl"), "gone.jsonl"),
        (("--report", "other.yaml"), "other.yaml: this is a Posewright motion"),
        (("--report", "other.yaml", "--plot", "x.txt"), "x.txt: '.txt' is not the ending of a picture"),
    ],
)
def test_what_is_wrong_is_said_before_anything_walks(
    here: Path, capsys: Captured, words: tuple[str, ...], message: str
) -> None:
    (here / "other.yaml").write_text("motion: nod\n")
    assert message in complaint(capsys, *words)
    assert {path.name for path in here.iterdir()} == {"other.yaml", "quick.tune.yaml", MADE.name}


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (59.0, "59 s"), (61.0, "2 min"), (7380.0, "2 h 3 min")]
)
def test_the_time_left_reads_as_people_say_it(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


@pytest.mark.parametrize(
    "words", [("quick.tune.yaml", "--plot", "x.png"), ("--report", "other.jsonl", "--plot", "x.png")]
)
def test_without_matplotlib_it_is_a_tuning_that_cannot_be_drawn(
    words: tuple[str, ...], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["tune", *words]) != 0
    assert "saving a picture needs" in capsys.readouterr().err
