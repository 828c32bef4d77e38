from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import pytest

from posewright.documents import locked, write_atomically
from posewright.errors import OutputError


def count_up(path: Path, times: int) -> None:
    for _ in range(times):
        with locked(path.parent, path.parent):
            number = int(path.read_text())
            time.sleep(0.001)
            path.write_text(str(number + 1))


def test_two_programs_change_a_file_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "count"
    path.write_text("0")
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=count_up, args=(path, 20)) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert path.read_text() == "40"
    assert [entry.name for entry in tmp_path.iterdir()] == ["count"]


def test_a_folder_that_is_not_there_is_not_locked(tmp_path: Path) -> None:
    with locked(tmp_path / "nowhere", tmp_path):
        pass


def test_a_write_protected_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("mine")
    path.chmod(0o444)
    with pytest.raises(OutputError, match="write-protected"):
        write_atomically(path, b"yours")
    assert path.read_text() == "mine"


def test_a_name_that_no_disk_takes_is_an_error_and_a_long_one_is_none(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write here"):
        write_atomically(tmp_path / ("n" * 300), b"")
    write_atomically(tmp_path / ("n" * 250), b"x")
    assert (tmp_path / ("n" * 250)).read_bytes() == b"x"
