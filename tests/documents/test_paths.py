"""Whatever is handed in as a path, the Python door answers with an error of ours, and waits for no pipe."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import posewright as pw
from posewright.arenas.arena import read_arena
from posewright.errors import FormatError, InputError, PosewrightError
from posewright.search.journal import JournalWriter, read_journal


def stick(path: str | Path) -> None:
    """Read a memory stick; raise what is the matter with a file of it."""
    raise FormatError(pw.read_stick(path).findings[0].message)


READERS: dict[str, Callable[[Any], Any]] = {
    "robot": pw.robot,
    "gait": pw.read_gait,
    "layout": pw.read_layout,
    "arena": read_arena,
    "behaviour": pw.read_behaviour,
    "chart": pw.read_chart,
    "motion": pw.read_motion,
    "archive": pw.read_archive,
    "recording": pw.read_recording,
    "stick": stick,
    "journal": read_journal,
    "trial": pw.run_trial,
    "extract": lambda path: pw.extract_archive(path, "out"),
}

NOD = Path(pw.robot("sony_ers7").folder or "") / "motions" / "nod.motion.yaml"
MOTION = pw.read_motion(NOD)
WRITERS: dict[str, Callable[[Any], Any]] = {
    "layout": lambda path: pw.write_layout(path, []),
    "motion": lambda path: pw.write_motion(MOTION, path, "posewright-motion"),
    "omtn": lambda path: pw.write_motion(MOTION, path, "aibo-omtn", accept_loss=True),
    "oda": lambda path: pw.write_motion(MOTION, path, "aibo-oda", accept_loss=True),
    "gait": lambda path: pw.write_gait(pw.read_gait("trot"), path),
    "convert": lambda path: pw.convert_motion(NOD, path, format="posewright-motion"),
    "create": lambda path: pw.create_archive(path, [NOD], accept_loss=True, overwrite=True),
    "add": lambda path: pw.add_to_archive(path, NOD, accept_loss=True),
    "stick": lambda path: pw.add_to_stick(MOTION, path, id=60, name="a_stand#stand_x", accept_loss=True),
    "journal": lambda path: JournalWriter(Path(path), None),  # type: ignore[arg-type]  # it gets no further
}

NAMES = (
    "n" * 300,
    "n" * 300 + ".yaml",
    "a/" * 3000,
    "a\0b",
    "a\0b.yaml",
    "\ud800.yaml",
    "loop",
    "fifo",
    "/dev/zero",
)


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with a pipe and a link to itself."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    Path("loop").symlink_to("loop")


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_cannot_be_read_is_an_error_of_ours(read: Callable[[Any], Any], name: str) -> None:
    for path in (name, Path(name)):
        with pytest.raises(PosewrightError) as failed:
            read(path)
        assert str(failed.value).isprintable()


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_what_cannot_be_written_is_an_error_of_ours(write: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(PosewrightError) as failed:
        write(name)
    assert str(failed.value).isprintable()


def test_the_text_of_a_chart_is_told_from_its_path() -> None:
    with pytest.raises(InputError, match=r"call pw\.chart\(text\), or parse_chart\(text\)"):
        pw.read_chart("chart: lamp\nstates:\n  off: {}\n")


def test_a_name_out_of_a_file_cannot_steer_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "layout.yaml"
    path.write_text('boxes: ["\\e[31mred"]\n')
    with pytest.raises(PosewrightError) as failed:
        pw.read_layout(path)
    assert "\x1b" not in str(failed.value)
    assert str(pw.PosewrightError("a\x1b[31m\nb")) == "a\\x1b[31m\\x0ab"


def test_only_what_steers_is_written_out_and_honest_text_stays() -> None:
    honest = "Schritt\u00a0eins\u3000\u4e00\u6b69"
    assert str(pw.PosewrightError(honest)) == honest
    steering = "\u202ea\u2028b\x9b\x85\U000e0001"
    assert str(pw.PosewrightError(steering)) == r"\u202ea\u2028b\x9b\x85\U000e0001"
