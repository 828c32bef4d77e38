"""Files of one's own objects that are wrong in every way: told by file and line, never an internal error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from posewright.cli import app

CONNECT = """\
Commander.Say.char.S          Mine.Hear.char.O
Mine.Move.OCommandVectorData.S OVirtualRobotComm.Effector.OCommandVectorData.O
"""
HEAD = """\
from posewright.errors import InputError
from posewright.runtimes.openr import *


class Mine(OObject):
    def __init__(self):
        super().__init__()
        self.move = CommandVectorSubject(self, "Move", self.ready)
        self.hear = self.observer("Hear", "char", self.on_command)

    def ready(self):
        pass

    def on_command(self, event):
        {statement}
        self.hear.assert_ready(event.sender)
"""
STATEMENT_LINE = 1 + HEAD.splitlines().index("        {statement}")

Output = tuple[int, str, str]
RunVerb = Callable[..., Output]


@pytest.fixture
def run_verb(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RunVerb:
    """Give a function that runs a text as --objects with a CONNECT.CFG: exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(objects: str, *arguments: str, config: str = CONNECT, commands: str = "GO") -> Output:
        (tmp_path / "mine.cfg").write_text(config)
        (tmp_path / "mine.py").write_text(objects)
        command = ("mine.cfg", "--objects", "mine.py", "--commands", commands, "--body", "mock", *arguments)
        capsys.readouterr()
        code = app.run(["aibo", "run", *command])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("self.move.send_frames({1: [float('nan')] * 16})", "an angle is nan (whole micro-radians"),
        ("self.move.send_frames({1: ['abc']})", "an angle is 'abc'"),
        ("self.move.send_frames({1: [10**30]})", "an angle is 1000000"),
        ("self.move.send_frames({1: [2**31]})", "an angle is 2147483648"),
        ("self.move.send_frames({1: [1.5] * 4})", "an angle is 1.5"),
        ("self.move.send_frames({1: [None]})", "an angle is None"),
        ("self.move.send_frames({1: [[1, 2]]})", "an angle is [1, 2]"),
        (
            "self.move.send('102')",
            "Mine.Move sent OVirtualRobotComm.Effector '102' (OCommandVectorData is RCR",
        ),
        ("self.openr.open_primitive('PRM:/r1/c9')", "unknown primitive 'PRM:/r1/c9'"),
        ("raise InputError('not today')", "not today"),
        ("import sys; sys.exit()", "SystemExit"),
        ("exit(3)", "SystemExit: 3"),
        ("exec('def word(:')", "SyntaxError"),
        ("self.subject('X', 'char', ready=5)", "Mine.X cannot call 5: 5 is not a callable object"),
        ("self.observer('X', 'char', None)", "Mine.X cannot call None: None is not a callable object"),
        (
            "self.observer('X', 'char', self.ready)",
            "Mine.X cannot call ready: too many positional arguments (pass a method",
        ),
        ("self.openr.call_at(float('inf'), self.ready)", "call_at(inf)"),
        ("self.openr.call_at(0.1, None)", "call_at cannot call None: None is not a callable object"),
        (
            "self.openr.post(self.on_command)",
            "post cannot call on_command: missing a required argument: 'event' (pass a method that",
        ),
        ("self.openr.log('refused')", "log('refused') lacks object, asked, why"),
    ],
)
def test_what_an_own_object_does_wrong_is_told_by_its_line(
    run_verb: RunVerb, statement: str, message: str
) -> None:
    code, out, err = run_verb(HEAD.format(statement=statement))
    assert (code, out) == (2, ""), err
    assert f"mine.py:{STATEMENT_LINE}: " in err
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys\nsys.exit(0)\n", "mine.py:2: SystemExit: 0"),
        ("from posewright.errors import InputError\nraise InputError('no')\n", "mine.py:2: no"),
        ("x = 1\0\n", "mine.py:1: the file has a zero byte"),
        ("exec('def word(:')\n", "mine.py:1: SyntaxError"),
        (HEAD.replace("Mine", "Commander"), "mine.py:5: Commander is an object of the system"),
        (HEAD.replace("Mine", "OVirtualRobotComm"), "OVirtualRobotComm is an object of the system"),
        (HEAD.replace("super().__init__()", "pass"), "mine.py:8: AttributeError"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_by_its_line(run_verb: RunVerb, text: str, message: str) -> None:
    code, out, err = run_verb(text)
    assert (code, out) == (2, "")
    assert message in err


def test_an_object_that_was_never_made_as_one_is_told(run_verb: RunVerb) -> None:
    text = (
        "from posewright.runtimes.openr import OObject\nclass Mine(OObject):\n    def __init__(self): pass\n"
    )
    code, _, err = run_verb(text)
    assert code == 2
    assert "Mine was not initialised as an object (begin its __init__ with super().__init__())" in err


def test_objects_of_which_none_runs_are_refused_and_one_that_replaces_ours_is_told(run_verb: RunVerb) -> None:
    code, _, err = run_verb(HEAD.replace("Mine", "Other"), config="MoveHead.Move.X.S Commander.Hear.X.O")
    assert code == 2
    assert "no object of the program uses --objects" in err
    text = HEAD.replace("Mine", "MoveHead").format(statement="pass")
    code, _, err = run_verb(text, config=CONNECT.replace("Mine", "MoveHead"))
    assert code == 0
    assert "MoveHead is that of mine.py, not ours" in err


def test_what_an_own_object_prints_keeps_out_of_the_way_of_json(run_verb: RunVerb) -> None:
    code, out, err = run_verb("print('loaded')\n" + HEAD.format(statement="print('told')"), "--json")
    assert code == 0
    assert json.loads(out)["program"] == "mine.cfg"
    assert "loaded\n" in err
    assert "told\n" in err


def test_whatever_is_logged_can_be_written_and_drawn(run_verb: RunVerb) -> None:
    statement = (
        "self.enter_state(5); self.syslog('\\udc80'); "
        "self.openr.log('x', what=float('nan'), y=b'1', time=[1])"
    )
    code, out, _ = run_verb(
        HEAD.format(statement=statement), "--json", "--diagram", "flow.mmd", "--record", "run.mcap"
    )
    assert code == 0
    result = json.loads(out)
    assert [entry["state"] for entry in result["states"]] == ["5"]
    assert any(entry["kind"] == "x" and entry["y"] == "b'1'" for entry in result["messages"])


def test_who_sends_an_observer_of_ours_something_else_is_told(run_verb: RunVerb) -> None:
    config = "Commander.Say.char.S Mine.Hear.char.O\nMine.Out.{0}.S {1}.O\n"
    for observer, data_type, message in (
        ("EKMotion.ReceiveAction.EKMotionData", "EKMotionData", "'102' (EKMotionData is EKMotionData)"),
        ("MoveHead.ReceiveCommand.char", "char", "102 (char is str)"),
    ):
        sent_value = "'102'" if data_type != "char" else "102"
        text = HEAD.format(statement=f"self.out.send({sent_value})").replace(
            'self.move = CommandVectorSubject(self, "Move", self.ready)',
            f"self.out = self.subject('Out', '{data_type}')",
        )
        code, _, err = run_verb(text, config=config.format(data_type, observer))
        assert code == 2
        assert f"mine.py:{STATEMENT_LINE}: Mine.Out sent {observer.rpartition('.')[0]} " in err
        assert message in err


def test_a_subject_that_leads_nowhere_is_told(run_verb: RunVerb) -> None:
    text = HEAD.format(statement="pass")
    code, out, _ = run_verb(text, "--show-messages", config=CONNECT.splitlines()[0])
    assert code == 0
    assert "Mine.Move leads nowhere: no line of CONNECT.CFG begins with it" in out


def test_without_a_stdin_nothing_is_typed() -> None:
    arguments = [sys.executable, "-c", "import sys; sys.stdin = None; from posewright.cli.app import run; "]
    arguments[-1] += "sys.exit(run(['aibo', 'run', 'move_head', '--body', 'mock']))"
    process = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603 -- our own program
    assert (process.returncode, "move_head on sony_ers7" in process.stdout) == (0, True), process.stderr
