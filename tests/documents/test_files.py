from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from posewright.documents import lock_folders, read_document, save_document, write_atomically
from posewright.documents.files import LOCK_FILE, LOCK_TIMEOUT_S, _lock_folder, _wait_for_lock, back_up
from posewright.errors import DocumentError, OutputError, Where


def count_up(path: Path, times: int) -> None:
    for _ in range(times):
        with lock_folders(path.parent, path.parent):
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
    with lock_folders(tmp_path / "nowhere", tmp_path):
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


def hold(folder: Path, seconds: float, held: Any) -> None:
    with lock_folders(folder):
        held.set()
        time.sleep(seconds)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[None]:
    """Another program that holds the folder for a minute."""
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    other = context.Process(target=hold, args=(tmp_path, 60.0, held))
    other.start()
    assert held.wait(30.0)
    yield
    other.kill()
    other.join()


@pytest.mark.usefixtures("holder")
def test_whoever_waits_in_vain_for_another_program_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posewright.documents.files.LOCK_TIMEOUT_S", 0.2)
    with pytest.raises(OutputError, match="has been changing files here") as failed, lock_folders(tmp_path):
        pass
    assert failed.value.where == Where(tmp_path)
    if Path("/proc/locks").exists():
        assert re.search(r"process \d+", str(failed.value))


@pytest.mark.usefixtures("holder")
def test_whoever_waits_is_told_for_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("posewright.documents.files.LOCK_TIMEOUT_S", 0.3)
    monkeypatch.setattr("posewright.documents.files._WARN_AFTER_S", 0.05)
    with pytest.raises(OutputError), lock_folders(tmp_path):
        pass
    (warning,) = caplog.messages
    assert f"{tmp_path}: waiting for another program" in warning


def test_whoever_waits_is_patient_while_something_gets_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posewright.documents.files.try_lock", lambda _: False)
    now, works = 0.0, 4

    def sleep(_: float) -> None:
        nonlocal now, works
        now += 0.9 * LOCK_TIMEOUT_S
        if works:
            os.utime(tmp_path, ns=(works, works))
            works -= 1

    handle = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(OutputError):
        _wait_for_lock(handle, tmp_path, lambda: now, sleep)
    os.close(handle)
    assert now == pytest.approx(6 * 0.9 * LOCK_TIMEOUT_S)


@pytest.mark.usefixtures("holder")
def test_a_file_is_locked_where_its_link_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("posewright.documents.files.LOCK_TIMEOUT_S", 0.1)
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(tmp_path / "file")
    with pytest.raises(OutputError), lock_folders(link):
        pass
    with lock_folders(tmp_path / "elsewhere" / "file"):
        pass


@pytest.mark.usefixtures("holder")
def test_ctrl_c_ends_the_waiting(tmp_path: Path) -> None:
    alarm = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    alarm.start()
    with pytest.raises(KeyboardInterrupt), lock_folders(tmp_path):
        pass


def test_a_name_that_no_disk_takes_is_an_error_of_ours_too(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write here"):
        save_document(tmp_path / ("n" * 300), {"a": 1})
    with pytest.raises(DocumentError):
        read_document(tmp_path / ("n" * 300))


def test_a_name_with_a_nul_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no file can be called"):
        write_atomically(tmp_path / "a\0b", b"")
    with pytest.raises(DocumentError, match="no file can have this name"):
        read_document(tmp_path / "a\0b")


def test_a_file_is_closed_once_where_it_must_be_closed_before_it_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close, closed = os.close, []

    def counted(handle: int) -> None:
        closed.append(handle)
        close(handle)

    monkeypatch.setattr("posewright.documents.files.sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr("posewright.documents.files.os.close", counted)
    write_atomically(tmp_path / "a", b"x")
    assert len(closed) == 1
    assert (tmp_path / "a").read_bytes() == b"x"


def test_where_no_folder_can_be_opened_a_file_in_it_is_locked_and_removed_afterwards(tmp_path: Path) -> None:
    """Windows opens no folders, so that `lock_folders` locked nothing there."""
    with _lock_folder(tmp_path, wait=False, uses_lock_file=True):
        assert (tmp_path / LOCK_FILE).exists()
        with (
            pytest.raises(OutputError, match="is using this folder"),
            _lock_folder(tmp_path, wait=False, uses_lock_file=True),
        ):
            pytest.fail("two programs were in the folder")
    assert not any(tmp_path.iterdir())


def test_a_backup_is_of_the_file_before_its_first_change(tmp_path: Path) -> None:
    path = tmp_path / "MOTION7.ODA"
    assert back_up(path) is None
    path.write_bytes(b"first")
    backup = back_up(path)
    assert backup == tmp_path / "MOTION7.ODA.bak"
    path.write_bytes(b"second")
    assert back_up(path) is None
    assert backup.read_bytes() == b"first"
