"""Several processes evaluate, and nobody could tell from the result; they end when they should."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from posewright.errors import InputError
from posewright.search import TuningResult, read_journal, tune
from posewright.search.executors import WorkerPool

from .tuning_problems import Bowl, Breaking, Cliffs, Slow
from .worker_tasks import OddError, eventually, is_there

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _found_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def test_two_workers_give_the_same_result_and_the_same_journal_as_none(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone.jsonl", tmp_path / "together.jsonl"
    assert tune(Cliffs(), generations=4, journal=together, workers=2) == tune(
        Cliffs(), generations=4, journal=alone
    )
    assert together.read_bytes() == alone.read_bytes()


def test_what_needs_no_evaluation_starts_no_process(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    tuned = tune(Bowl(), generations=2, journal=path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerPool, "submit", lambda *_: pytest.fail("a process was started"))
        assert tune(Bowl(), generations=2, journal=path, workers=8) == tuned


def test_an_error_in_a_worker_is_raised_as_if_there_were_none(tmp_path: Path) -> None:
    """And what was evaluated before it is in the journal."""
    journals = []
    for workers in (1, 2):
        journals.append(tmp_path / f"{workers}.jsonl")
        with pytest.raises(InputError) as caught:
            tune(Breaking(), generations=50, journal=journals[-1], workers=workers)
        assert (caught.value.message, caught.value.hint) == ("the leg does not reach", "a longer leg")
    alone, together = journals
    assert together.read_bytes() == alone.read_bytes()
    assert len(read_journal(alone).attempts) > 1


def test_alone_an_error_is_the_problems_own() -> None:
    with pytest.raises(OddError):
        tune(Breaking(way="odd", below=9.0), generations=1)
    with pytest.raises(InputError, match="returned None"):
        tune(Breaking(way="nothing", below=9.0), generations=1)


def test_a_problem_that_cannot_travel_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    class Local(Bowl):
        pass

    with pytest.raises(InputError, match="cannot be sent to another process"):
        tune(Local(), generations=1, workers=2, journal=tmp_path / "journal.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_all_at_once_and_quietly(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of two that would take a minute; the start stands in the journal."""
    begun = tmp_path / "begun"
    begun.mkdir()

    def interrupt() -> None:
        eventually(lambda: len(list(begun.iterdir())) == 2)
        for process in begun.iterdir():  # as the terminal does, to all of them
            os.kill(int(process.name), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    before = threading.active_count()
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        tune(Slow(begun=begun), generations=2, workers=2, journal=tmp_path / "journal.jsonl")
    interrupter.join()
    assert not any(is_there(int(process.name)) for process in begun.iterdir())
    assert len(read_journal(tmp_path / "journal.jsonl").attempts) == 1
    assert capfd.readouterr() == ("", "")
    assert threading.active_count() == before


SCRIPT = """
import sys
from pathlib import Path
from posewright.search import tune
from tests.search.tuning_problems import Bowl
if __name__ == "__main__":
    tune(Bowl(pause_s=0.02), generations=500, journal=Path(sys.argv[1]), workers=int(sys.argv[2]))
"""


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Start a search in a process of its own, and kill it (-9) while it writes its journal."""
    script = tmp_path / "searching.py"
    script.write_text(SCRIPT, encoding="utf-8")
    started: list[subprocess.Popen[bytes]] = []

    def kill(workers: int) -> Path:
        path = tmp_path / f"killed_{workers}.jsonl"
        search = subprocess.Popen(  # noqa: S603 -- our own interpreter and code
            [sys.executable, str(script), str(path), str(workers)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(search)
        assert eventually(lambda: path.exists() and path.read_bytes().count(b"\n") > 12)
        search.kill()
        search.wait()
        return path

    yield kill
    for search in started:
        search.kill()
        search.wait()


def test_a_search_that_was_killed_leaves_no_process_and_goes_on(killed: Callable[[int], Path]) -> None:
    path = killed(2)
    before = path.read_bytes()
    attempts = read_journal(path).attempts
    workers = {int(attempt.evaluation.facts["process"]) for attempt in attempts}
    assert workers
    generations = attempts[-1].generation + 1
    tuned = tune(Bowl(), generations=generations, journal=path)
    assert path.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert_same(tuned, tune(Bowl(), generations=generations))
    assert [attempt.values for attempt in read_journal(path).attempts[: len(attempts)]] == [
        attempt.values for attempt in attempts
    ]
    assert eventually(lambda: not any(map(is_there, workers)))


def assert_same(one: TuningResult, other: TuningResult) -> None:
    """Check that two searches are the same but for the facts, which name processes."""
    assert (one.best, one.score, one.generations, one.ending) == (
        other.best,
        other.score,
        other.generations,
        other.ending,
    )
