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
    "arguments",
    [
        ("robots", "list"),
        ("robots", "show", "robotis_bioloid", "--json"),
        ("--help",),
        ("--version",),
        ("score", "obstacle-race", "--time", "60", "--distance", "150", "--json"),
    ],
    ids=" ".join,
)
def test_a_reader_that_has_gone_away_is_not_complained_of(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "posewright", *arguments]
    process = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603 -- our own program
    os.close(writing)
    assert (process.returncode, process.stderr) == (1, "")


FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")


def run_posewright(*arguments: str, **streams: object) -> subprocess.CompletedProcess[str]:
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **streams}
    return subprocess.run([sys.executable, "-m", "posewright", *arguments], check=False, **piped)  # type: ignore[call-overload,no-any-return]  # noqa: S603 -- our own program; its streams are told by name


@needs_full
@pytest.mark.parametrize(
    "arguments", [("robots", "list"), ("robots", "list", "--json"), ("gait", "show", "trot", "--no-check")]
)
def test_a_stdout_that_is_full_is_no_fault_of_ours(arguments: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        process = run_posewright(*arguments, stdout=full)
    assert (process.returncode, process.stderr) == (1, "error: stdout: No space left on device\n")


@needs_full
def test_bad_input_is_bad_input_though_nobody_can_be_told() -> None:
    with FULL.open("w") as full:
        assert run_posewright("robots", "show", "nobody", stderr=full).returncode == 2


@needs_full
@pytest.mark.parametrize("arguments", [("run", "--sed", "3"), ("rn",), ("robots", "show")])
def test_words_that_are_not_understood_are_bad_input_though_nobody_can_be_told(
    arguments: tuple[str, ...],
) -> None:
    with FULL.open("w") as full:
        assert run_posewright(*arguments, stderr=full).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
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
    arguments: str, message: str, capsys: Captured
) -> None:
    assert run(arguments.split()) == 2
    captured = capsys.readouterr()
    verb = message.partition(":")[0]
    assert (captured.out, captured.err) == ("", f"error: {message}\nTry '{verb} --help'\n")


@pytest.mark.parametrize(
    "arguments", [("run", "--record", "x.mcap"), ("gait", "plot", "trot", "-o", "x.png"), ("tune", "fast")]
)
def test_a_folder_that_is_gone_is_no_fault_of_ours(arguments: tuple[str, ...], tmp_path: Path) -> None:
    deleted_folder = tmp_path / "gone"
    deleted_folder.mkdir()
    program = (
        "import os, sys; from posewright.cli.app import run\n"
        f"os.chdir({str(deleted_folder)!r}); os.rmdir({str(deleted_folder)!r})\n"
        f"sys.exit(run({list(arguments)!r}))"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)  # noqa: S603 -- our own program
    assert process.returncode == 2
    assert process.stderr == "error: the current folder no longer exists; change to another folder\n"


ODD_VARIABLES = {
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


@pytest.mark.parametrize(
    "variables", [*({name: value} for name, value in ODD_VARIABLES.items()), ODD_VARIABLES], ids=" ".join
)
def test_an_odd_environment_is_no_fault_of_ours(variables: dict[str, str], tmp_path: Path) -> None:
    motion = tmp_path / "nod\u00e9\u732b.motion.yaml"
    motion.write_bytes((Path(robot("sony_ers7").folder or "") / "motions/nod.motion.yaml").read_bytes())
    verbs = [
        ("score", "obstacle-race", "--help"),
        ("motion", "info", str(motion)),
        ("robots", "list", "--json"),
    ]
    for arguments in verbs if variables is ODD_VARIABLES else verbs[:2]:
        process = run_posewright(*arguments, env=os.environ | variables, encoding="utf-8")
        assert (process.returncode, process.stderr) == (0, "")


def test_no_home_at_all_is_no_fault_of_ours() -> None:
    process = run_posewright(
        "robots", "list", env={name: value for name, value in os.environ.items() if name != "HOME"}
    )
    assert (process.returncode, process.stderr) == (0, "")


def test_a_file_name_that_is_no_utf_8_is_json_all_the_same(tmp_path: Path) -> None:
    source = Path(robot("sony_ers7").folder or "") / "motions/nod.motion.yaml"
    motion = os.fsencode(tmp_path) + b"/nod\xff\xe9.motion.yaml"
    Path(os.fsdecode(motion)).write_bytes(source.read_bytes())
    process = run_posewright("motion", "info", os.fsdecode(motion), "--json", errors="strict")
    assert json.loads(process.stdout)["file"].encode(errors="surrogateescape") == motion


@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_any_moment_ends_it_without_a_traceback(
    stop_signal: signal.Signals, tmp_path: Path
) -> None:
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
            process.send_signal(stop_signal)
            err = process.stderr.read()
        assert "Traceback" not in err
        assert process.returncode in (0, 128 + stop_signal, -stop_signal)
        assert list(tmp_path.iterdir()) in ([], [tmp_path / "x.png"])


@pytest.fixture(autouse=True)
def restore_signals() -> Iterator[None]:
    """Leave signals and warnings as they were: `main` is for a process of its own."""
    handlers_before = {
        stop_signal: signal.getsignal(stop_signal)
        for stop_signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    hook = sys.unraisablehook
    with warnings.catch_warnings():
        yield
    sys.unraisablehook = hook
    for stop_signal, handler in handlers_before.items():
        signal.signal(stop_signal, handler)


def test_ctrl_c_while_modules_load_is_one_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    class Loading:
        def __getattr__(self, name: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "posewright.cli.app", Loading())  # type: ignore[arg-type]  # it interrupts
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert exit_info.value.code == 130
    assert capsys.readouterr().err == "error: stopped\n"


def test_ctrl_c_while_a_class_is_made_is_one_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    class Name:
        def __set_name__(self, owner: type, name: str) -> None:
            signal.raise_signal(signal.SIGINT)

    exit_codes: list[int] = []
    monkeypatch.setattr("posewright.robots.robot_names", lambda: type("Made", (), {"name": Name()}))
    monkeypatch.setattr(sys, "argv", ["posewright", "robots", "list"])
    received: list[BaseException] = []
    monkeypatch.setattr("posewright.cli.signals._received", received)
    monkeypatch.setattr("posewright.cli.signals.leave", exit_codes.append)
    main()
    assert (exit_codes, len(received)) == ([130], 1)
    assert capsys.readouterr().err == "error: stopped\n"


def test_ctrl_c_where_nothing_can_be_raised_comes_again() -> None:
    class RaisesLate:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(SystemExit):
        main()  # pytest's words mean nothing to it; it sets the hook
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 -- the signal comes a moment later
        RaisesLate()
        time.sleep(5.0)


@pytest.mark.parametrize("name", ["kick\x1b[2J", "kick\x9b2J", "kick\udcff"])
def test_nothing_in_a_file_or_its_name_steers_a_terminal(capsys: Captured, tmp_path: Path, name: str) -> None:
    motion = tmp_path / f"{name}.motion.yaml"
    motion.write_bytes(
        (Path(robot("robotis_bioloid").folder or "") / "motions/turn_left.motion.yaml").read_bytes()
    )
    for arguments in (("info", str(motion)), ("convert", str(motion), str(tmp_path / f"{name}.csv"))):
        assert run(["motion", *arguments]) in (0, 2)
        captured = capsys.readouterr()
        assert name not in captured.out + captured.err
        assert ascii(name)[1:-1] in captured.out + captured.err


def recurse_forever() -> tuple[str, ...]:
    return recurse_forever()


def run_out_of_memory() -> tuple[str, ...]:
    raise MemoryError


def raise_value_error() -> tuple[str, ...]:
    raise ValueError("first line\nsecond line")


@pytest.fixture(
    params=[recurse_forever, run_out_of_memory, raise_value_error],
    ids=["RecursionError", "MemoryError", "ValueError"],
)
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a fault of our own deep in a verb; return its name."""
    faulty_function: Callable[[], tuple[str, ...]] = request.param
    monkeypatch.setattr("posewright.robots.robot_names", faulty_function)
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
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert fault in err
    assert err.splitlines()[-1].startswith("error: internal error")
