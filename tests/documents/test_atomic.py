"""A file is written whole or not at all, with the permissions it would have had anyway."""

from __future__ import annotations

import multiprocessing
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from posewright.documents import atomic_replacement, require_writable, write_atomically
from posewright.errors import InputError, OutputError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_gets_the_permissions_of_an_ordinary_one(tmp_path: Path) -> None:
    (tmp_path / "ordinary").write_bytes(b"")
    write_atomically(tmp_path / "new", b"1")
    assert mode(tmp_path / "new") == mode(tmp_path / "ordinary")


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o755])
def test_a_file_that_stood_there_keeps_its_permissions(tmp_path: Path, permissions: int) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"0")
    path.chmod(permissions)
    write_atomically(path, b"1")
    assert (path.read_bytes(), mode(path)) == (b"1", permissions)


def test_the_umask_is_the_processes_own_affair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(_: int) -> int:
        raise AssertionError("another thread may be making a file just now")

    monkeypatch.setattr(os, "umask", touched)
    write_atomically(tmp_path / "new", b"\n")
    assert (tmp_path / "new").read_bytes() == b"\n"


def test_what_cannot_be_written_is_told_with_what_would_be_right(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"walk\.csv: cannot write here: No such file.*there is no folder"):
        write_atomically(tmp_path / "absent" / "walk.csv", b"")
    with pytest.raises(OutputError, match="name a file, not a folder"):
        write_atomically(tmp_path, b"")
    assert not list(tmp_path.iterdir())
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))


def test_a_path_that_is_none_is_told_too() -> None:
    with pytest.raises(OutputError):
        write_atomically(Path(), b"")


def test_an_unwritable_place_is_no_wrong_document() -> None:
    assert not issubclass(OutputError, InputError)


def test_that_a_result_could_not_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    require_writable(tmp_path / "race.mcap")
    for wrong in (tmp_path, tmp_path / "absent" / "race.mcap"):
        with pytest.raises(OutputError, match="cannot write here"):
            require_writable(wrong)
    assert not list(tmp_path.iterdir())


def begin(path: Path, begun: Any) -> None:
    with atomic_replacement(path) as (_, handle):
        os.write(handle, b"half of")
        begun.set()
        multiprocessing.Event().wait()


@pytest.fixture
def writer(tmp_path: Path) -> Any:
    """Another program in the middle of writing `file`, for ever."""
    context = multiprocessing.get_context("spawn")
    begun = context.Event()
    other = context.Process(target=begin, args=(tmp_path / "file", begun))
    other.start()
    assert begun.wait(30.0)
    yield other
    other.kill()
    other.join()


SAVE = """
from pathlib import Path
import sys
from posewright.documents import write_atomically
write_atomically(Path(sys.argv[1]), b"x")
"""


def save(path: Path) -> None:
    subprocess.run([sys.executable, "-c", SAVE, path], check=True)  # noqa: S603 -- our own interpreter and program


def test_what_a_living_program_has_not_finished_is_left_alone(tmp_path: Path, writer: Any) -> None:
    save(tmp_path / "other")
    assert len(list(tmp_path.iterdir())) == 2
    assert writer.is_alive()


def test_what_a_killed_program_left_unfinished_goes_with_the_next_save(tmp_path: Path, writer: Any) -> None:
    mine = tmp_path / ".walk.mtn.0123456789abcdef"
    mine.write_text("a person's own")
    writer.kill()
    writer.join()
    assert len(list(tmp_path.iterdir())) == 2
    save(tmp_path / "other")
    assert sorted(tmp_path.iterdir()) == [mine, tmp_path / "other"]


def test_a_file_is_replaced_only_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), atomic_replacement(path, suffix=".mp4") as (unfinished, _):
        raise KeyError(unfinished.write_bytes(b"half"))
    assert (list(tmp_path.iterdir()), path.read_bytes()) == ([path], b"old")
    with atomic_replacement(path, suffix=".mp4") as (unfinished, _):
        assert unfinished.suffix == ".mp4"
        unfinished.write_bytes(b"new")
    assert (list(tmp_path.iterdir()), path.read_bytes()) == ([path], b"new")
