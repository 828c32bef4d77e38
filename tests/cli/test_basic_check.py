"""`posewright basic check` and `format`: what is told, what is written, and what is left as it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from posewright.cli import app, basic_check
from posewright.cli.basic_check import Watcher, watch_files

RunVerb = Callable[..., tuple[int, str, str]]

RIGHT = "GETMOTORSET G24, 1\nmain:\n    MOVE G6B, 100,  30,  80\n    WAIT\n    GOTO main\n"
ODD = RIGHT.replace("    WAIT\n", "    WAIT\n    GOTO main\n    BEEP\n")
WRONG = RIGHT.replace("GOTO main", "GOTO mian")
UNTIDY = "getmotorset g24,1\nmain:\nmove g6b,100,30,80' 팔\nwait\ngoto MAIN\n"
TIDY = "GETMOTORSET G24, 1\nmain:\n    MOVE G6B, 100,  30,  80  ' 팔\n    WAIT\n    GOTO main\n"


@pytest.fixture
def run_verb(capsys: pytest.CaptureFixture[str]) -> RunVerb:
    """Give a function that runs the command line: exit code, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = app.run(["basic", *map(str, words)])
        return code, *capsys.readouterr()

    return run


def write_program(folder: Path, text: str, name: str = "p.bas", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


# ---- check


def test_a_program_that_is_right_is_called_so(run_verb: RunVerb, tmp_path: Path) -> None:
    path = write_program(tmp_path, RIGHT)
    assert run_verb("check", path) == (0, f"{path}: no problems\n", "")


def test_what_is_wrong_is_told_as_compilers_tell_it(run_verb: RunVerb, tmp_path: Path) -> None:
    path = write_program(tmp_path, WRONG)
    code, out, _ = run_verb("check", path)
    assert code == 1
    assert f"{path}:5:5: error: there is no label mian (did you mean MAIN?) [unknown-label]\n" in out
    assert out.endswith(f"{path}: 1 error\n")


def test_warnings_are_no_failure_unless_one_is_strict(run_verb: RunVerb, tmp_path: Path) -> None:
    path = write_program(tmp_path, ODD)
    assert run_verb("check", path)[0] == 0
    assert run_verb("check", path, "--strict")[0] == 1


def test_programs_that_ship_are_checked_by_name(run_verb: RunVerb) -> None:
    code, out, _ = run_verb("check", "bow", "walk")
    assert code == 0
    assert out.count("no problems") == 2


def test_findings_are_data_too(run_verb: RunVerb, tmp_path: Path) -> None:
    valid, invalid = write_program(tmp_path, RIGHT, "one.bas"), write_program(tmp_path, WRONG, "two.bas")
    code, out, _ = run_verb("check", valid, invalid, "--json")
    assert code == 1
    valid_report, invalid_report = json.loads(out)["files"]
    assert (valid_report["file"], valid_report["findings"], valid_report["errors"]) == (str(valid), [], 0)
    assert invalid_report["errors"] == 1
    error = next(finding for finding in invalid_report["findings"] if finding["severity"] == "error")
    assert error == {
        "line": 5,
        "column": 5,
        "severity": "error",
        "rule": "unknown-label",
        "message": "there is no label mian",
        "hint": "did you mean MAIN?",
    }


@pytest.mark.parametrize("verb", ["check", "format"])
def test_a_file_that_is_no_text_or_not_there_is_refused_before_anything_is_done(
    run_verb: RunVerb, tmp_path: Path, verb: str
) -> None:
    other, path = write_program(tmp_path, UNTIDY, "other.bas"), write_program(tmp_path, "A = 1\0")
    code, out, err = run_verb(verb, other, path)
    assert (code, out) == (2, "")
    assert f"{path}: not a text file" in err
    assert run_verb(verb, tmp_path / "none.bas")[0] == 2
    assert other.read_text(encoding="utf-8") == UNTIDY


# ---- format


def test_a_program_is_laid_out_in_place_and_then_it_is_well(run_verb: RunVerb, tmp_path: Path) -> None:
    path = write_program(tmp_path, UNTIDY)
    assert run_verb("format", path) == (0, f"{path}: 4 lines changed\n", "")
    assert path.read_text(encoding="utf-8") == TIDY
    before = path.stat()
    assert run_verb("format", path) == (0, f"{path}: already formatted\n", "")
    assert path.stat() == before


def test_check_writes_nothing_and_says_by_its_code_what_it_would_do(
    run_verb: RunVerb, tmp_path: Path
) -> None:
    path, tidy = write_program(tmp_path, UNTIDY), write_program(tmp_path, TIDY, "tidy.bas")
    code, out, _ = run_verb("format", path, tidy, "--check")
    assert (code, out) == (1, f"{path}: 4 lines would change\n{tidy}: already formatted\n")
    assert path.read_text(encoding="utf-8") == UNTIDY
    assert run_verb("format", tidy, "--check")[0] == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encoding_and_line_ends_stay(run_verb: RunVerb, tmp_path: Path, encoding: str, newline: str) -> None:
    path = write_program(tmp_path, UNTIDY.replace("\n", newline), encoding=encoding)
    assert run_verb("format", path)[0] == 0
    assert path.read_bytes() == TIDY.replace("\n", newline).encode(encoding)


def test_bytes_of_no_encoding_stay_in_their_comment(run_verb: RunVerb, tmp_path: Path) -> None:
    path = tmp_path / "p.bas"
    path.write_bytes(b"wait ' \xff\xfe\n")
    assert run_verb("format", path)[0] == 0
    assert path.read_bytes() == b"WAIT  ' \xff\xfe\n"


def test_line_ends_of_two_kinds_become_one_kind(run_verb: RunVerb, tmp_path: Path) -> None:
    path = tmp_path / "p.bas"
    path.write_bytes(b"WAIT\r\nEND\n")
    assert run_verb("format", path)[1] == f"{path}: 1 line changed\n"
    assert path.read_bytes() == b"WAIT\r\nEND\r\n"


def test_a_line_that_cannot_be_read_stays_and_is_told(run_verb: RunVerb, tmp_path: Path) -> None:
    path = write_program(tmp_path, "wait\n  a = (1\nend\n")
    code, out, err = run_verb("format", path)
    assert (code, out) == (0, f"{path}: 2 lines changed\n")
    assert f"{path}:2:7: left unchanged: '(' is not expected here" in err
    assert path.read_text(encoding="utf-8") == "WAIT\n  a = (1\nEND\n"


def test_it_is_written_elsewhere_if_one_asks(run_verb: RunVerb, tmp_path: Path) -> None:
    path, neat = write_program(tmp_path, UNTIDY), tmp_path / "neat.bas"
    assert run_verb("format", path, "-o", neat)[0] == 0
    assert (path.read_text(encoding="utf-8"), neat.read_text(encoding="utf-8")) == (UNTIDY, TIDY)
    assert run_verb("format", neat, "-o", tmp_path / "again.bas")[0] == 0
    assert (tmp_path / "again.bas").read_text(encoding="utf-8") == TIDY


@pytest.mark.parametrize("options", [["-o", "x.bas", "--check"], ["-o", "x.bas", "other.bas"]])
def test_one_file_that_is_written_is_what_o_is_for(
    run_verb: RunVerb, tmp_path: Path, options: list[str]
) -> None:
    code, _, err = run_verb("format", write_program(tmp_path, UNTIDY), *options)
    assert code == 2
    assert "-o" in err


def test_the_file_that_is_read_is_not_named_by_o(run_verb: RunVerb, tmp_path: Path) -> None:
    path = write_program(tmp_path, UNTIDY)
    assert run_verb("format", path, "-o", path)[0] == 2


def test_what_is_changed_is_data_too(run_verb: RunVerb, tmp_path: Path) -> None:
    path, tidy = write_program(tmp_path, UNTIDY), write_program(tmp_path, TIDY, "tidy.bas")
    result = json.loads(run_verb("format", path, tidy, "--json")[1])
    assert result == {
        "files": [
            {"file": str(path), "changed": True, "lines": 4},
            {"file": str(tidy), "changed": False, "lines": 0},
        ]
    }


# ---- check --watch


def poll_twice(watcher: Watcher) -> list[str]:
    """Return what two looks tell: a file that has changed is checked once it stays as it is."""
    return [str(line) for _ in range(2) for line in watcher.poll()]


def test_what_is_new_is_told_and_nothing_else(tmp_path: Path) -> None:
    path = write_program(tmp_path, RIGHT)
    watcher = Watcher([path])
    assert poll_twice(watcher) == [f"{path}: no problems"]
    assert poll_twice(watcher) == []
    write_program(tmp_path, WRONG)
    error = "error: there is no label mian (did you mean MAIN?) [unknown-label]"
    assert poll_twice(watcher) == [f"{path}:5:5: {error}", f"{path}: 1 error"]
    write_program(tmp_path, "\n\n" + WRONG)  # the same, two lines further down
    assert poll_twice(watcher) == []
    write_program(tmp_path, WRONG + "(\n")
    new, summary = poll_twice(watcher)
    assert new.startswith(f"{path}:6:1: error: '(' is not expected here")
    assert summary == f"{path}: 2 errors (1 new, 0 gone)"
    write_program(tmp_path, RIGHT)
    assert poll_twice(watcher) == [f"{path}: no problems (0 new, 2 gone)"]


def test_an_editor_that_puts_another_file_in_its_place_is_followed(tmp_path: Path) -> None:
    path = write_program(tmp_path, RIGHT)
    watcher = Watcher([path])
    poll_twice(watcher)
    stamp = path.stat()
    other = write_program(tmp_path, WRONG, "p.bas.tmp")
    os.utime(other, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    other.replace(path)
    assert any("mian" in line for line in poll_twice(watcher))


def test_a_file_that_is_away_for_a_moment_is_not_missed(tmp_path: Path) -> None:
    path = write_program(tmp_path, RIGHT)
    watcher = Watcher([path])
    poll_twice(watcher)
    path.unlink()
    assert list(watcher.poll()) == []
    write_program(tmp_path, RIGHT)
    assert poll_twice(watcher) == []


def test_a_file_that_vanishes_is_told_and_waited_for(tmp_path: Path) -> None:
    path = write_program(tmp_path, RIGHT)
    watcher = Watcher([path])
    poll_twice(watcher)
    path.unlink()
    assert poll_twice(watcher) == [f"{path}: warning: the file is missing; waiting for it"]
    assert poll_twice(watcher) == []
    write_program(tmp_path, RIGHT)
    assert poll_twice(watcher) == [f"{path}: no problems"]


def test_a_file_that_is_half_written_is_looked_at_when_it_is_done(tmp_path: Path) -> None:
    path = write_program(tmp_path, RIGHT)
    watcher = Watcher([path])
    poll_twice(watcher)
    write_program(tmp_path, RIGHT[:30])
    assert list(watcher.poll()) == []
    write_program(tmp_path, RIGHT + "\n")
    assert poll_twice(watcher) == []


def test_a_file_that_is_no_text_is_told_and_looked_at_again(tmp_path: Path) -> None:
    path = write_program(tmp_path, "\0")
    watcher = Watcher([path])
    (line,) = poll_twice(watcher)
    assert line.startswith("error: ")
    assert "zero byte" in line
    write_program(tmp_path, RIGHT)
    assert poll_twice(watcher) == [f"{path}: no problems"]


def test_ctrl_c_ends_it_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_program(tmp_path, RIGHT)
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 1:
            path.unlink()
        if len(naps) == 4:
            raise KeyboardInterrupt

    watch_files(Watcher([path]), nap)
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        f"{path}: no problems",
        f"{path}: warning: the file is missing; waiting for it",
    ]
    assert naps == [basic_check.POLL_S] * 4


def test_a_signal_ends_it_with_0(tmp_path: Path) -> None:
    path = write_program(tmp_path, RIGHT)
    command = [sys.executable, "-m", "posewright", "basic", "check", str(path), "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.readline() == f"{path}: no problems\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_watching_has_no_json(run_verb: RunVerb, tmp_path: Path) -> None:
    code, _, err = run_verb("check", write_program(tmp_path, RIGHT), "--watch", "--json")
    assert code == 2
    assert "--watch" in err
