"""A file is written whole or not at all, with the permissions it would have had anyway."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from posewright.documents import refuse_unwritable, write_atomically
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
    refuse_unwritable(tmp_path / "race.mcap")
    for wrong in (tmp_path, tmp_path / "absent" / "race.mcap"):
        with pytest.raises(OutputError, match="cannot write here"):
            refuse_unwritable(wrong)
    assert not list(tmp_path.iterdir())
