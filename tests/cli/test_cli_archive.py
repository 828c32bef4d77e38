"""`posewright aibo archive`, as a person and as a program use it."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.cli import app
from posewright.cli.aibo_archive import group_messages
from posewright.cli.app import run
from posewright.errors import escape_unprintable
from posewright.robots import robot

Captured = pytest.CaptureFixture[str]


def build_archive(*entries: tuple[str, bytes]) -> bytes:
    """Return an archive, from the layout."""
    offset = 64 + 144 * len(entries)
    table = b""
    for name, data in entries:
        table += struct.pack("<4s128s3I", b"OMTN", name.encode("latin-1"), offset, len(data), 0)
        offset += len(data)
    head = b"ODAR" + struct.pack("<2H2I", 0, 3, len(entries), 144) + bytes(48)
    return head + table + b"".join(data for _, data in entries)


def build_tail(name: str, angle: int = 100_000, attitude: int = 0) -> bytes:
    """Return a motion of the tail of an ERS-7, from the layout."""

    def section(number: int, *texts: str, head: bytes = b"") -> bytes:
        content = head + b"".join(bytes([len(text)]) + text.encode("latin-1") for text in texts)
        content += bytes(-len(content) % 4)
        return struct.pack("<2I", number, 8 + len(content)) + content

    joints = ("PRM:/r6/c1-Joint2:61", "PRM:/r6/c2-Joint2:62")
    frames = struct.pack("<5iI5i", attitude, 0, 0, 200_000, 0, 9, 0, 0, 0, 200_000, angle)
    return b"".join(
        (
            b"OMTN" + struct.pack("<3I4HI", 0, 24, 4, 1, 1, 2, 16, 0),
            section(1, name, "nobody", "DRX-1000_Tail"),
            section(2, *joints, head=struct.pack("<H", 2)),
            struct.pack("<3I", 3, 12 + len(frames), 0) + frames,
        )
    )


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "TAIL.ODA"
    entries = (
        ("t_any#any_wag", build_tail("wag")),
        ("t_any#any_up", b"NotOMTN "),
        ("bark", b"RIFF\0\0\0\0WAVE"),
    )
    path.write_bytes(build_archive(*entries))
    return path


def run_json(capsys: Captured, *arguments: str | Path, code: int = 0) -> Any:
    assert app.run(["aibo", "archive", *map(str, arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def run_text(capsys: Captured, *arguments: str | Path, code: int = 0) -> tuple[str, str]:
    """Run something and return what a person reads, with blanks and line ends of stderr made one."""
    assert app.run(["aibo", "archive", *map(str, arguments)]) == code
    captured = capsys.readouterr()
    return captured.out, " ".join(captured.err.split())


def test_a_program_gets_the_table(archive: Path, capsys: Captured) -> None:
    result = run_json(capsys, "list", archive)
    assert {key: result[key] for key in ("format", "gzip", "n_entries", "holds", "warnings")} == {
        "format": "aibo-oda",
        "gzip": "none",
        "n_entries": 3,
        "holds": {"motion": 1, "placeholder": 1, "sound": 1},
        "warnings": ["1 entry has the type of a motion but no motion: 'bark'"],
    }
    assert result["entries"][1] == {
        "number": 2,
        "name": "t_any#any_up",
        "type": "OMTN",
        "holds": "placeholder",
        "gzip": False,
        "offset": result["entries"][0]["offset"] + result["entries"][0]["size_bytes"],
        "size_bytes": 8,
    }


def test_a_person_gets_a_line_an_entry(archive: Path, capsys: Captured) -> None:
    out, err = run_text(capsys, "list", archive)
    assert out.splitlines()[0].endswith("TAIL.ODA: 3 entries (1 motion, 1 placeholder, 1 sound), no gzip")
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [
        ["1", "motion"],
        ["2", "placeholder"],
        ["3", "sound"],
    ]
    assert "has the type of a motion" in err


def test_what_a_terminal_must_not_get_is_shown_as_its_code(tmp_path: Path, capsys: Captured) -> None:
    assert escape_unprintable("a\x1b[31m\x9b\xe9") == "a\\x1b[31m\\x9b\xe9"
    path = tmp_path / "x.oda"
    path.write_bytes(build_archive(("\x1b]0;gotcha\x07", b"NotOMTN ")))
    out, _ = run_text(capsys, "list", path)
    assert "\x1b" not in out


def test_entries_become_files(archive: Path, tmp_path: Path, capsys: Captured) -> None:
    result = run_json(capsys, "extract", archive, "-o", tmp_path / "out")
    assert [Path(file["file"]).name for file in result["files"]] == ["t_any#any_wag.mtn", "bark.wav"]
    assert result["placeholders"] == ["t_any#any_up"]
    assert (tmp_path / "out/t_any#any_wag.mtn").read_bytes() == build_tail("wag")
    _, err = run_text(capsys, "extract", archive, "-o", tmp_path / "out", code=2)
    assert "t_any#any_wag.mtn and 1 more would be overwritten (--force replaces existing files)" in err
    out, _ = run_text(capsys, "extract", archive, "1", "-o", tmp_path / "out", "--force")
    assert out.startswith("1 file -> ")


def test_a_damaged_entry_is_told_and_the_others_are_written(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "x.oda"
    path.write_bytes(build_archive(("good", build_tail("good")), ("bad", build_tail("bad")[:-4])))
    out, err = run_text(capsys, "extract", path, "-o", tmp_path / "out", code=1)
    assert out.startswith("1 file -> ")
    assert "not extracted: " in err
    assert "entry 2, 'bad': section 3 has a size of" in err
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["good.mtn"]


def test_losses_are_listed_before_and_told_after(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "x.oda"
    motions = [(name, build_tail(name, attitude=5)) for name in ("a", "b", "c")]
    path.write_bytes(build_archive(*motions))
    to_csv = ("extract", path, "--to", "tekkotsu-pos", "-o", tmp_path / "out")
    _, err = run_text(capsys, *to_csv, code=2)
    assert "warning: would be lost: " in err
    assert "(3 motions)" in err
    assert "--accept-loss writes it anyway" in err
    assert not (tmp_path / "out").exists()
    result = run_json(capsys, *to_csv, "--accept-loss")
    assert len(result["files"]) == 3
    assert result["losses"]


def test_the_same_said_of_several_is_said_once() -> None:
    assert list(group_messages(["a: lost", "b: lost", "c: other: thing"])) == [
        "lost (2 motions)",
        "c: other: thing",
    ]


def test_an_archive_is_made_added_to_and_taken_from(tmp_path: Path, capsys: Captured) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.mtn").write_bytes(build_tail(name))
    path = tmp_path / "new.oda"
    archive_data = run_json(capsys, "create", path, tmp_path / "one.mtn", "--gzip", "entries")
    assert (archive_data["n_entries"], archive_data["added"], archive_data["gzip"]) == (1, ["one"], "entries")
    _, err = run_text(capsys, "create", path, tmp_path / "one.mtn", code=2)
    assert "exists already (--force replaces it)" in err
    out, err = run_text(capsys, "add", path, tmp_path / "two.mtn", "--name", "t_any#any_two")
    assert out.startswith("t_any#any_two -> ")
    assert "t_any#any_two: the motion itself is called 'two'" in err
    _, err = run_text(capsys, "add", path, tmp_path / "two.mtn", "--name", "one", code=2)
    assert "there is an entry called 'one' already" in err
    assert run_json(capsys, "add", path, tmp_path / "two.mtn", "--name", "one", "--replace")["n_entries"] == 2
    out, err = run_text(capsys, "remove", path, "one")
    assert "entries after the removed ones have new numbers" in err
    assert run_json(capsys, "remove", path, "1", "--keep-places") == {
        "file": str(path),
        "n_entries": 1,
        "removed": 1,
    }
    assert run_json(capsys, "list", path)["entries"][0]["holds"] == "placeholder"


def test_a_file_that_is_no_archive_is_refused_in_one_line(
    tmp_path: Path, capsys: Captured, samples: Callable[[str], Path]
) -> None:
    (tmp_path / "x.oda").write_bytes(b"ODAR")
    out, err = run_text(capsys, "list", tmp_path / "x.oda", code=2)
    assert (out, err.startswith("error: ")) == ("", True)
    assert "within its header" in err
    _, err = run_text(capsys, "list", samples("aibo_oda/ers7_SYSMTN_ENCRYPTED_first4k.ODA"), code=2)
    assert "encrypted archive" in err
    _, err = run_text(capsys, "list", tmp_path / "nothing.oda", code=2)
    assert "No such file" in err


def test_of_a_folder_its_archives_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk = robot("sony_ers7").folder / "motions" / "nod.motion.yaml"  # type: ignore[operator] -- it has one
    stick = tmp_path / "OPEN-R" / "MW"
    stick.mkdir(parents=True)
    assert run(["aibo", "archive", "list", str(tmp_path)]) == 2
    assert "no archive is in this folder" in capsys.readouterr().err
    assert run(["motion", "convert", str(walk), str(tmp_path / "nod.mtn"), "--straighten"]) == 0
    assert run(["aibo", "archive", "create", str(stick / "MOTION7.ODA"), str(tmp_path / "nod.mtn")]) == 0
    (stick / "odd.oda").write_bytes(b"ODAR and nothing more")
    capsys.readouterr()
    assert run(["aibo", "archive", "list", str(tmp_path)]) == 0
    good_line, odd_line = capsys.readouterr().out.splitlines()
    assert good_line.endswith("MOTION7.ODA: 1 entry (1 motion), no gzip")
    assert "odd.oda: " in odd_line
    assert run(["aibo", "archive", "list", str(tmp_path), "--json"]) == 0
    archives = json.loads(capsys.readouterr().out)["archives"]
    assert [archive["unreadable"] is None for archive in archives] == [True, False]
