"""Where a file is written: never over a link, a pipe or a device."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from posewright.documents import read_document, write_atomically
from posewright.errors import DocumentError, OutputError


def test_a_link_stays_a_link_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real.mtn", tmp_path / "link.mtn"
    real.write_bytes(b"old")
    link.symlink_to(real)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_link_that_leads_nowhere_yet_leads_to_the_new_file(tmp_path: Path) -> None:
    (tmp_path / "link.mtn").symlink_to(tmp_path / "real.mtn")
    write_atomically(tmp_path / "link.mtn", b"new")
    assert (tmp_path / "real.mtn").read_bytes() == b"new"


def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="not a regular file"):
        write_atomically(tmp_path / "pipe", b"new")
    assert (tmp_path / "pipe").is_fifo()
    assert list(tmp_path.iterdir()) == [tmp_path / "pipe"]


def test_a_pipe_is_not_waited_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.chart.yaml")
    with pytest.raises(DocumentError, match="not a regular file"):
        read_document(tmp_path / "pipe.chart.yaml")
