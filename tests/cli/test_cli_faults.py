"""What is nobody's input: a reader that goes away, and faults of our own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from posewright.cli import main
from posewright.cli.app import run
from posewright.robots import robot

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "words",
    [
        ("robots", "list"),
        ("robots", "show", "robotis_bioloid", "--json"),
        ("--help",),
        ("--version",),
        ("score", "obstacle-race", "--time", "60", "--distance", "150", "--json"),
    ],
    ids=" ".join,
)
def test_a_reader_that_has_gone_away_is_not_complained_of(words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "posewright", *words]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603 -- our own program
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")


def posewright(*words: str, **streams: object) -> subprocess.CompletedProcess[str]:
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **streams}
    return subprocess.run([sys.executable, "-m", "posewright", *words], check=False, **piped)  # type: ignore[call-overload,no-any-return]  # noqa: S603 -- our own program; its streams are told by name


@needs_full
@pytest.mark.parametrize(
    "words", [("robots", "list"), ("robots", "list", "--json"), ("gait", "show", "trot", "--no-check")]
)
def test_a_stdout_that_is_full_is_no_fault_of_ours(words: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = posewright(*words, stdout=full)
    assert (done.returncode, done.stderr) == (1, "error: stdout: No space left on device\n")


@needs_full
def test_bad_input_is_bad_input_though_nobody_can_be_told() -> None:
    with FULL.open("w") as full:
        assert posewright("robots", "show", "nobody", stderr=full).returncode == 2


@needs_full
@pytest.mark.parametrize("words", [("run", "--sed", "3"), ("rn",), ("robots", "show")])
def test_words_that_are_not_understood_are_bad_input_though_nobody_can_be_told(
    words: tuple[str, ...],
) -> None:
    with FULL.open("w") as full:
        assert posewright(*words, stderr=full).returncode == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run --sed 3", "posewright run: no such option --sed; did you mean --seed?"),
        ("rn", "posewright: no such command 'rn'; did you mean 'run', 'rank'?"),
        ("run --seed x", "posewright run: invalid value for '--seed': should be a valid integer"),
        ("robots show", "posewright robots show: missing argument 'ROBOT'"),
        ("motion info a b", "posewright motion info: got unexpected extra argument (b)"),
        ("run --seed", "posewright run: option '--seed' requires an argument"),
    ],
)
def test_a_word_that_is_not_understood_is_told_in_two_short_lines(
    words: str, told: str, capsys: Captured
) -> None:
    assert run(words.split()) == 2
    shown = capsys.readouterr()
    verb = told.partition(":")[0]
    assert (shown.out, shown.err) == ("", f"error: {told}\nTry '{verb} --help'\n")


@pytest.mark.parametrize(
    "words", [("run", "--record", "x.mcap"), ("gait", "plot", "trot", "-o", "x.png"), ("tune", "fast")]
)
def test_a_folder_that_is_gone_is_no_fault_of_ours(words: tuple[str, ...], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = (
        "import os, sys; from posewright.cli.app import run\n"
        f"os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); sys.exit(run({list(words)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)  # noqa: S603 -- our own program
    assert done.returncode == 2
    assert done.stderr == "error: the current folder no longer exists; change to another folder\n"


ODD = {
    "COLUMNS": "1",
    "TERM": "nosuch",
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONIOENCODING": "ascii:strict",
    "HOME": "/nonexistent",
    "MPLBACKEND": "nosuch",
    "FORCE_COLOR": "1",
}


@pytest.mark.parametrize("odd", [*({name: value} for name, value in ODD.items()), ODD], ids=" ".join)
def test_an_odd_environment_is_no_fault_of_ours(odd: dict[str, str], tmp_path: Path) -> None:
    motion = tmp_path / "nod\u00e9\u732b.motion.yaml"
    motion.write_bytes((Path(robot("sony_ers7").folder or "") / "motions/nod.motion.yaml").read_bytes())
    verbs = [
        ("score", "obstacle-race", "--help"),
        ("motion", "info", str(motion)),
        ("robots", "list", "--json"),
    ]
    for words in verbs if odd is ODD else verbs[:2]:
        done = posewright(*words, env=os.environ | odd, encoding="utf-8")
        assert (done.returncode, done.stderr) == (0, "")


def test_no_home_at_all_is_no_fault_of_ours() -> None:
    done = posewright("robots", "list", env={name: it for name, it in os.environ.items() if name != "HOME"})
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_name_that_is_no_utf_8_is_json_all_the_same(tmp_path: Path) -> None:
    source = Path(robot("sony_ers7").folder or "") / "motions/nod.motion.yaml"
    motion = os.fsencode(tmp_path) + b"/nod\xff\xe9.motion.yaml"
    Path(os.fsdecode(motion)).write_bytes(source.read_bytes())
    done = posewright("motion", "info", os.fsdecode(motion), "--json", errors="strict")
    assert json.loads(done.stdout)["file"].encode(errors="surrogateescape") == motion


@pytest.mark.parametrize("one", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_any_moment_ends_it_without_a_traceback(one: signal.Signals, tmp_path: Path) -> None:
    for moment in range(4):
        command = [
            sys.executable,
            "-X",
            "importtime",
            "-m",
            "posewright",
            "gait",
            "plot",
            "trot",
            "-o",
            "x.png",
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:  # noqa: S603 -- our own program
            assert process.stderr is not None
            while "posewright.cli.console" not in process.stderr.readline():
                pass  # it is loading now
            time.sleep(0.08 * moment)
            process.send_signal(one)
            told = process.stderr.read()
        assert "Traceback" not in told
        assert process.returncode in (0, 128 + one, -one)
        assert list(tmp_path.iterdir()) in ([], [tmp_path / "x.png"])


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Leave signals and warnings as they were: `main` is for a process of its own."""
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    hook = sys.unraisablehook
    with warnings.catch_warnings():
        yield
    sys.unraisablehook = hook
    for one, handler in before.items():
        signal.signal(one, handler)


def test_ctrl_c_while_modules_load_is_one_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    class Loading:
        def __getattr__(self, name: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "posewright.cli.app", Loading())  # type: ignore[arg-type]  # it interrupts
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "error: stopped\n"


def test_ctrl_c_while_a_class_is_made_is_one_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    class Name:
        def __set_name__(self, owner: type, name: str) -> None:
            signal.raise_signal(signal.SIGINT)

    left: list[int] = []
    monkeypatch.setattr("posewright.robots.robot_names", lambda: type("Made", (), {"name": Name()}))
    monkeypatch.setattr(sys, "argv", ["posewright", "robots", "list"])
    received: list[BaseException] = []
    monkeypatch.setattr("posewright.cli.signals._received", received)
    monkeypatch.setattr("posewright.cli.signals.leave", left.append)
    main()
    assert (left, len(received)) == ([130], 1)
    assert capsys.readouterr().err == "error: stopped\n"


def test_ctrl_c_where_nothing_can_be_raised_comes_again() -> None:
    class Lost:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(SystemExit):
        main()  # pytest's words mean nothing to it; it sets the hook
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 -- the signal comes a moment later
        Lost()
        time.sleep(5.0)


@pytest.mark.parametrize("name", ["kick\x1b[2J", "kick\x9b2J", "kick\udcff"])
def test_nothing_in_a_file_or_its_name_steers_a_terminal(capsys: Captured, tmp_path: Path, name: str) -> None:
    motion = tmp_path / f"{name}.motion.yaml"
    motion.write_bytes(
        (Path(robot("robotis_bioloid").folder or "") / "motions/turn_left.motion.yaml").read_bytes()
    )
    for words in (("info", str(motion)), ("convert", str(motion), str(tmp_path / f"{name}.csv"))):
        assert run(["motion", *words]) in (0, 2)
        told = capsys.readouterr()
        assert name not in told.out + told.err
        assert ascii(name)[1:-1] in told.out + told.err


def endless() -> tuple[str, ...]:
    return endless()


def starved() -> tuple[str, ...]:
    raise MemoryError


def mistaken() -> tuple[str, ...]:
    raise ValueError("first line\nsecond line")


@pytest.fixture(params=[endless, starved, mistaken], ids=["RecursionError", "MemoryError", "ValueError"])
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a fault of our own deep in a verb; return its name."""
    broken: Callable[[], tuple[str, ...]] = request.param
    monkeypatch.setattr("posewright.robots.robot_names", broken)
    name: str = request.node.callspec.id
    return name


def test_a_fault_of_ours_is_one_line_that_asks_to_be_reported(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.delenv("POSEWRIGHT_DEBUG", raising=False)
    assert run(["robots", "list"]) == 70
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: internal error: {fault}")
    assert "please report it" in captured.err
    assert captured.err.count("\n") == 1


def test_where_the_fault_is_is_shown_to_those_who_ask(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("POSEWRIGHT_DEBUG", "1")
    assert run(["robots", "list"]) == 70
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert fault in shown
    assert shown.splitlines()[-1].startswith("error: internal error")
