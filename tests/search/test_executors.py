"""Several processes do a job, and nobody could tell from the results; they end when they should."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from posewright.errors import InputError, UnavailableError
from posewright.search.executors import MAX_WORKERS, map_in_order, open_executor

from . import worker_tasks
from .worker_tasks import Breaking, Driving, Dying, Slow, Slower, eventually, is_there, squared

ROOT = Path(__file__).parents[2]
NUMBERS = tuple(range(6))


@pytest.fixture(autouse=True)
def _found_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def leave(results: Iterator[object]) -> None:
    """Want no more of them, as whoever breaks out of a loop does."""
    assert isinstance(results, Generator)
    results.close()


def test_results_come_in_the_order_of_the_things_whoever_is_done_first() -> None:
    with open_executor(2, len(NUMBERS)) as executor:
        told = list(map_in_order(squared, NUMBERS, executor))
    assert [square for square, _ in told] == [number * number for number in NUMBERS]
    assert os.getpid() not in {process for _, process in told}


def test_the_same_workers_do_one_lot_after_the_other() -> None:
    with open_executor(2, 4) as executor:
        lots = [list(map_in_order(squared, lot, executor)) for lot in (NUMBERS[:4], NUMBERS[4:5], NUMBERS)]
    assert [[square for square, _ in lot] for lot in lots] == [
        [number * number for number in lot] for lot in (NUMBERS[:4], NUMBERS[4:5], NUMBERS)
    ]
    assert len({process for lot in lots for _, process in lot}) <= 2


@pytest.mark.parametrize(("workers", "most"), [(1, 6), (4, 1)])
def test_where_one_is_enough_it_is_this_process_and_nothing_needs_to_travel(workers: int, most: int) -> None:
    with open_executor(workers, most) as executor:
        assert list(map_in_order(lambda number: (number, os.getpid()), NUMBERS, executor)) == [
            (number, os.getpid()) for number in NUMBERS
        ]


def test_where_there_is_nothing_to_do_the_executor_still_does_what_comes() -> None:
    with open_executor(2, 0) as executor:
        assert [square for square, _ in map_in_order(squared, NUMBERS, executor)] == [
            number * number for number in NUMBERS
        ]


def test_what_was_left_undone_is_not_taken_for_what_comes_next() -> None:
    with open_executor(2, len(NUMBERS)) as executor:
        begun = map_in_order(squared, NUMBERS, executor)
        assert next(begun)[0] == 0
        leave(begun)
        assert [square for square, _ in map_in_order(squared, (10, 11, 12), executor)] == [100, 121, 144]


def test_after_an_error_the_others_are_done_as_ever() -> None:
    with open_executor(2, len(NUMBERS)) as executor:
        with pytest.raises(InputError, match="does not reach"):
            list(map_in_order(Breaking("raise"), NUMBERS, executor))
        assert list(map_in_order(Breaking("raise"), (10, 11, 12), executor)) == [100, 121, 144]


def test_what_nobody_asks_for_starts_no_process() -> None:
    with open_executor(2, 6) as executor:
        assert multiprocessing.active_children() == []
        map_in_order(squared, NUMBERS, executor)  # asked for, but never waited for
        assert list(map_in_order(squared, (), executor)) == []
        assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_the_jobs_own_after_what_was_before_it(workers: int) -> None:
    seen: list[object] = []
    with open_executor(workers, 6) as executor, pytest.raises(InputError) as caught:
        seen.extend(map_in_order(Breaking("raise"), NUMBERS, executor))
    assert (caught.value.message, caught.value.hint) == ("the leg does not reach", "a longer leg")
    assert seen == [0, 1, 4]
    notes = "".join(getattr(caught.value, "__notes__", ()))
    assert ("in a worker process" in notes) == (workers > 1)


def test_an_error_or_a_result_that_cannot_travel_is_told_of() -> None:
    with open_executor(2, 6) as executor, pytest.raises(RuntimeError, match="OddError: odd"):
        list(map_in_order(Breaking("odd"), NUMBERS, executor))
    with open_executor(2, 6) as executor, pytest.raises((AttributeError, TypeError, RuntimeError)):
        list(map_in_order(Breaking("lambda"), NUMBERS, executor))


@pytest.mark.parametrize(("way", "said"), [("exit", "with exit code 3"), ("killed", "by SIGKILL")])
def test_a_worker_that_ends_by_itself_is_told_of_and_leaves_no_other(way: str, said: str) -> None:
    with (
        open_executor(2, 6) as executor,
        pytest.raises(UnavailableError, match=f"ended {said} before it was done") as caught,
    ):
        list(map_in_order(Breaking(way), NUMBERS, executor))
    assert caught.value.hint
    assert multiprocessing.active_children() == []


def test_what_is_done_when_another_worker_ends_is_not_lost(tmp_path: Path) -> None:
    seen: list[int] = []
    with (
        open_executor(2, 2) as executor,
        pytest.raises(UnavailableError, match=r"ended.* before it was done"),
    ):
        seen.extend(map_in_order(Dying(tmp_path), (0, 1), executor))
    assert seen == [0]


def test_a_job_that_cannot_travel_is_refused() -> None:
    with (
        open_executor(2, 6) as executor,
        pytest.raises(InputError, match="cannot be sent to another process"),
    ):
        list(map_in_order(lambda number: number, NUMBERS, executor))


@pytest.mark.parametrize("workers", [0, -1, MAX_WORKERS + 1, 1.5, True])
def test_a_number_of_workers_that_cannot_be_is_refused(workers: int) -> None:
    with (
        pytest.raises(InputError, match=f"{workers} workers .*1 to {MAX_WORKERS}"),
        open_executor(workers, 6),
    ):
        pass


@pytest.mark.parametrize("job", [Slow, Driving])
def test_ctrl_c_ends_all_at_once_and_quietly(
    job: type[Slow], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of two that would take a minute, whatever they make of the signal that ends them."""

    def interrupt() -> None:
        eventually(lambda: len(list(tmp_path.iterdir())) == 2)
        for process in tmp_path.iterdir():  # as the terminal does, to all of them
            os.kill(int(process.name), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    before = threading.active_count()
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt), open_executor(2, 6) as executor:
        list(map_in_order(job(tmp_path), NUMBERS, executor))
    interrupter.join()
    assert not any(is_there(int(process.name)) for process in tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
    assert threading.active_count() == before


def test_nobody_works_on_when_the_rest_is_not_wanted(tmp_path: Path) -> None:
    with open_executor(2, len(NUMBERS)) as executor:
        begun = map_in_order(Slower(tmp_path), NUMBERS, executor)
        assert next(begun) == 0
        assert eventually(lambda: len(list(tmp_path.iterdir())) == 3)  # which two would be at for a minute
        pids = {int(thing.name.partition("-")[2]) for thing in tmp_path.iterdir()}
        assert all(map(is_there, pids))
        leave(begun)
        assert not any(map(is_there, pids))
        assert multiprocessing.active_children() == []


def test_ctrl_c_while_a_worker_starts_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    start = SpawnProcess.start

    def start_and_interrupt(process: SpawnProcess) -> None:
        start(process)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(SpawnProcess, "start", start_and_interrupt)
    with pytest.raises(KeyboardInterrupt), open_executor(2, 6) as executor:
        list(map_in_order(squared, NUMBERS, executor))
    assert multiprocessing.active_children() == []


def test_no_worker_hears_ctrl_c_not_even_the_first_of_all() -> None:
    """In a program of its own, in which no process was ever started."""
    code = (
        "from posewright.search.executors import map_in_order, open_executor\n"
        "from tests.search.worker_tasks import ignores_sigint\n"
        "with open_executor(2, 2) as executor: print(list(map_in_order(ignores_sigint, (1, 2), executor)))"
    )
    done = subprocess.run(  # noqa: S603 -- our own interpreter and code
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[True, True]"


@pytest.mark.parametrize("processes", ["/proc", "/nowhere"])
def test_a_process_is_seen_until_it_ends_with_and_without_proc(
    processes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path(processes).is_dir() and shutil.which("ps") is None:
        pytest.skip("no ps on this machine")
    monkeypatch.setattr(worker_tasks, "PROCESSES", Path(processes))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert is_there(process.pid)
        process.kill()
        assert eventually(lambda: not is_there(process.pid))  # though nobody has asked yet how it ended


SCRIPT = """
import sys
from posewright.search.executors import open_executor, map_in_order
from tests.search.worker_tasks import Breaking
if __name__ == "__main__" or sys.argv[1] == "bare":
    with open_executor(2, 6) as executor:
        print(list(map_in_order(Breaking("raise", number=9), range(6), executor)))
"""


def test_a_script_that_lacks_its_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "working.py"
    script.write_text(SCRIPT, encoding="utf-8")
    bare, guarded = (
        subprocess.run(  # noqa: S603 -- our own interpreter and code
            [sys.executable, str(script), word],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        for word in ("bare", "guarded")
    )
    assert bare.returncode == 1
    # Python's own resource tracker, a process beside, may still have a word after ours
    ours = [line for line in bare.stderr.splitlines() if "UnavailableError: " in line]
    assert "if __name__ == '__main__':" in ours[-1]
    assert guarded.stdout.strip() == "[0, 1, 4, 9, 16, 25]"


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("search.executors", ("numpy", "posewright.robots")),
        (
            "runs.walking.many",
            ("posewright.contests", "posewright.runs.trial", "posewright.figures.gait"),
        ),
        (
            "runs.tuning.search",
            ("posewright.contests", "posewright.runs.trial", "posewright.figures.gait"),
        ),
    ],
)
def test_a_worker_loads_nothing_that_races_or_draws(module: str, unneeded: tuple[str, ...]) -> None:
    """It is loaded anew in every process, which takes time that nobody sees."""
    code = f"import posewright.{module}, sys; print([name for name in {unneeded} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 -- our own interpreter and code
    assert done.stdout.strip() == "[]"
