"""`posewright aibo run` and `programs` as a shell sees it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import posewright as pw
from posewright.cli import app

CONNECT = """\
# Nod, told by Commander
Commander.SendCommand.char.S  Nod.Receive.char.O
Nod.Move.OCommandVectorData.S OVirtualRobotComm.Effector.OCommandVectorData.O
"""
OBJECTS = '''\
from posewright.errors import InputError
from posewright.runtimes.openr import OCommandVectorData, OObject, RCRegion
from posewright.runtimes.openr.regions import interpolate


def word(text):
    if text not in ("NOD", "FAIL"):
        raise InputError(f"no {text}", hint="there are NOD and FAIL")
    return text


class Nod(OObject):
    """Nods once when told to, and is busy meanwhile."""

    def __init__(self):
        super().__init__()
        self.move = self.subject("Move", "OCommandVectorData", self.moved)
        self.receive = self.observer("Receive", "char", self.told, word)

    def do_init(self):
        self.tilt = self.openr.open_primitive("PRM:/r1/c1-Joint2:11")
        self.region = RCRegion(OCommandVectorData.with_room_for(1))
        self.enter_state("IDLE")

    def told(self, event):
        for one in event.data:
            if one == "FAIL":
                raise RuntimeError("this one fails")
            if self.state == "NODDING":
                self.report_refusal(one, "it is nodding")
            else:
                self.enter_state("NODDING")
                now = self.openr.get_joint_value(self.tilt)
                self.region.data.set(0, self.tilt, interpolate(now, -300000, 16))
                self.region.data.set_n_data(1)
                self.move.send(self.region)
        self.receive.assert_ready(event.sender)

    def moved(self, event):
        if event.is_ready:
            self.enter_state("IDLE")
'''
POSEWRIGHT = (sys.executable, "-m", "posewright")
BLOCK_S = 64 * 0.008
"""Nobody looks oftener whether it is over."""

Answer = tuple[int, str, str]
Ask = Callable[..., Answer]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """Give a function that runs `openr run` in a folder with a program: exit code, stdout and stderr."""
    (tmp_path / "nod.cfg").write_text(CONNECT)
    (tmp_path / "nod.py").write_text(OBJECTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(*words: object) -> Answer:
        capsys.readouterr()
        code = app.run(["aibo", "run", *map(str, words)])
        return code, *capsys.readouterr()

    return run


NOD = ("nod.cfg", "--objects", "nod.py")


def test_the_head_is_in_the_middle_after_2_048_s_and_the_pan_stops_where_it_is_told(ask: Ask) -> None:
    code, out, err = ask("move_head", "--commands", "MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert {
        "program",
        "robot",
        "joints",
        "frames",
        "states",
        "messages",
        "duration_s",
        "fell",
        "digest",
    } <= set(result)
    assert result["fell"] is False
    assert [(one["time_s"], one["state"]) for one in result["states"]] == [
        (0.0, "IDLE"),
        (0.0, "MOVE_MP"),
        (2.048, "IDLE"),
        (3.0, "MV_RGHT"),
        (3.504, "IDLE"),
    ]
    pan = result["joints"].index("head_pan")
    at = {frame["time_s"]: frame["commands_urad"][pan] for frame in result["frames"]}
    assert all(isinstance(angle, int) for angle in at.values())
    assert at[2.048] == 0, "the middle pose"
    assert at[3.0] == 0 > at[3.504], "to the right"
    assert at[3.52] == at[result["duration_s"]], "it stays where it was stopped"


@pytest.mark.parametrize("body", ["sim", "mock"])
def test_the_same_run_has_the_same_digest_and_its_recording_tells_the_same(ask: Ask, body: str) -> None:
    words = (*NOD, "--commands", "NOD@0, NOD@0.04, NOD@0.5", "--body", body, "--json")
    results = [json.loads(ask(*words, "--record", name)[1]) for name in ("one.mcap", "other.mcap")]
    assert results[0] == results[1]
    assert pw.openr_result(pw.read_recording("one.mcap")) == results[0]
    (refused,) = [one for one in results[0]["messages"] if one["kind"] == "refused"]
    assert (refused["asked"], refused["why"]) == ("NOD", "it is nodding")
    assert results[0]["fell"] is (False if body == "sim" else None)


def test_python_and_the_shell_run_the_same(ask: Ask) -> None:
    shell = json.loads(ask(*NOD, "--commands", "NOD", "--body", "mock", "--json")[1])
    python = pw.run_openr("nod.cfg", commands="NOD", objects="nod.py", body="mock")
    assert python.digest() == shell["digest"]


def test_every_other_verb_takes_its_recording(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(*NOD, "--commands", "NOD", "--record", "nod.mcap")[0] == 0
    for words in (["replay", "nod.mcap"], ["judge", "nod.mcap"]):
        assert app.run(words) == 0
        assert "no contest: openr nod.cfg on sony_ers7" in capsys.readouterr().out
    assert app.run(["evaluate", "nod.mcap", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["robots"]["sony_ers7"]["falls"] == 0


def test_a_person_is_told_states_refusals_and_whether_the_robot_stayed_up(ask: Ask) -> None:
    code, out, _ = ask(*NOD, "--commands", "NOD, NOD@0.04")
    assert code == 0
    assert "nod.cfg on sony_ers7: 1." in out
    assert "0.000 s  Nod: NODDING" in out
    assert "0.040 s  Nod refused NOD: it is nodding" in out
    assert "the robot stayed up" in out


def test_messages_are_shown_as_they_come_and_keep_out_of_the_way_of_json(ask: Ask) -> None:
    words = (*NOD, "--commands", "NOD", "--body", "mock", "--show-messages")
    line = "0.000 s  Commander -> Nod                      SendCommand: NOD"
    assert line in ask(*words)[1]
    _, out, err = ask(*words, "--json")
    assert line in err
    assert json.loads(out)["program"] == "nod.cfg"


@pytest.mark.parametrize("name", ["flow.mmd", "flow.svg", "flow.png", "flow.pdf"])
def test_a_diagram_is_drawn_by_its_files_ending(ask: Ask, tmp_path: Path, name: str) -> None:
    code, out, _ = ask(*NOD, "--commands", "NOD", "--body", "mock", "--diagram", name)
    assert (code, out.splitlines()[-1]) == (0, f"diagram -> {name}")
    data = (tmp_path / name).read_bytes()
    marks = {".mmd": b"sequenceDiagram\n", ".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    assert data.startswith(marks[Path(name).suffix])


def test_a_film_is_made_of_it(ask: Ask, tmp_path: Path) -> None:
    code, _, err = ask(
        *NOD, "--commands", "NOD", "--seconds", "0.05", "--video", "nod.mp4", "--camera", "front"
    )
    assert (code, err) == (0, "")
    assert (tmp_path / "nod.mp4").stat().st_size > 1000


def test_commands_come_from_a_file_or_from_what_is_piped_in(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "script.txt").write_text("NOD@0  # once\nNOD@0.5\n")
    from_file = json.loads(ask(*NOD, "--script", "script.txt", "--body", "mock", "--json")[1])
    piped = subprocess.run(  # noqa: S603 -- our own program
        [*POSEWRIGHT, "aibo", "run", *NOD, "--body", "mock", "--json"],
        input="NOD, NOD@0.5",
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(piped.stdout) == from_file
    assert from_file["commands"] == ["NOD@0", "NOD@0.5"]


def test_so_many_seconds_are_run_and_else_until_nothing_is_done_for_one(ask: Ask) -> None:
    def lasting_s(commands: str, *words: str) -> float:
        words = (*NOD, "--commands", commands, "--body", "mock", "--json", *words)
        return float(json.loads(ask(*words)[1])["duration_s"])

    assert lasting_s("NOD", "--seconds", "0.4") == 0.4
    assert 0.0 <= lasting_s("NOD") - (0.128 + 1.0) < BLOCK_S
    assert 0.0 <= lasting_s("") - 1.0 < BLOCK_S, "nothing ever happened"


def test_what_is_wrong_is_told_with_file_and_line_and_nothing_moves_or_is_written(
    ask: Ask, tmp_path: Path
) -> None:
    files = {
        "bad.txt": "NOD@0\n\nSTAND@1\n",
        "back.txt": "NOD@2\nNOD@1\n",
        "nobody.cfg": CONNECT + "Tail.Move.X.S OVirtualRobotComm.Effector.X.O\n",
        "words.cfg": CONNECT + "Tail.Move\n",
        "service.cfg": CONNECT.replace("Receive", "Recieve"),
        "none.py": "import json\n",
        "missing.py": "\nimport no_such_module\n",
        "syntax.py": "def word(:\n",
        "needs.py": OBJECTS.replace("__init__(self)", "__init__(self, joint)", 1),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bytes.cfg").write_bytes(b"\xff\0")
    (tmp_path / "folder.cfg").mkdir()
    (tmp_path / "strange/OPEN-R/MW/CONF/CONNECT.CFG").mkdir(parents=True)
    before = sorted(path.name for path in tmp_path.iterdir())
    for words, told in (
        ((*NOD, "--script", "bad.txt"), "bad.txt:3: no object knows the command 'STAND'"),
        ((*NOD, "--script", "back.txt"), "back.txt:2: NOD@1 comes after a command at 2 s"),
        ((*NOD, "--commands", "NOD@soon"), "--commands:1: 'soon' is no time"),
        (("nobody.cfg", *NOD[1:]), "nobody.cfg:4: no object is called 'Tail'"),
        (("words.cfg", *NOD[1:]), "words.cfg:4: the line has 1 words, not 2: Tail.Move"),
        (("service.cfg", *NOD[1:]), "did you mean Receive?"),
        (("nod.cfg",), "nod.cfg:2: no object is called 'Nod'"),
        (("nod.cfg", "--objects", "none.py"), "none.py: the file defines no OPEN-R object"),
        (("nod.cfg", "--objects", "missing.py"), "missing.py:2: ModuleNotFoundError: No module named"),
        (("nod.cfg", "--objects", "syntax.py"), "syntax.py:1: SyntaxError"),
        (
            ("nod.cfg", "--objects", "needs.py"),
            "needs.py: Nod cannot be created without arguments: missing a required argument: 'joint'",
        ),
        (("move_heat",), "did you mean move_head"),
        (("move_head", "--robot", "robotis_bioloid"), "robotis_bioloid is no OPEN-R robot"),
        (("move_head", "--pose", "lotus"), "no pose is called 'lotus'"),
        (("move_head", "--body", "teapot"), "no body is called 'teapot'"),
        (("move_head", "--player", "tape"), "no player is called 'tape'"),
        (("move_head", "--poses", "nod.py"), "no object of the program uses --poses"),
        (
            ("move_head", "--script", "bad.txt", "--commands", "X"),
            "--commands and --script exclude each other",
        ),
        (("move_head", "--seconds", "0"), "the duration is 0 s (above 0"),
        (("move_head", "--robot", "sony_ers210"), "cannot be simulated (the body mock"),
        (("move_head", "--seconds", "-1"), "the duration is -1 s (above 0"),
        (("move_head", "--camera", "front"), "add --video FILE"),
        (("move_head", "--video", "a.mp4", "--camera", "moon"), "moon"),
        (("move_head", "--video", "a.mp4", "--body", "mock"), "cannot be filmed"),
        (("move_head", "--diagram", "flow.txt"), "the file type of the diagram is unknown"),
        (("move_head", "--diagram", "nowhere/flow.svg"), "create it or name another"),
        ((*NOD, "--record", "run.txt"), "end its name in .mcap"),
        (("move_head", "--stick", "."), "no object of the program uses --stick"),
        (("ekmotion", "--player", "exact"), "no object of the program uses --player"),
        (("gone.cfg",), "gone.cfg: No such file"),
        (("folder.cfg",), "folder.cfg: Is a directory"),
        (("--stick", "strange"), "strange/OPEN-R/MW/CONF/CONNECT.CFG: Is a directory"),
        (("bytes.cfg",), "bytes.cfg, byte 0: not a text file (save it as UTF-8)"),
        ((), "no program is given"),
        (("--stick", "nowhere"), "there is no such folder"),
        (("monet",), "MoNet needs the files of a memory stick"),
    ):
        given = words if "--commands" in words or "--script" in words else (*words, "--commands", "")
        record = () if "--record" in words else ("--record", "run.mcap")
        code, out, err = ask(*given, *record)
        assert (code, out) == (2, ""), words
        assert told in err, words
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_own_object_that_fails_is_told_by_its_line_and_the_run_is_recorded(
    ask: Ask, tmp_path: Path
) -> None:
    code, out, err = ask(*NOD, "--commands", "NOD, FAIL@0.8", "--record", "run.mcap")
    assert (code, out) == (2, "")
    line = 1 + next(n for n, text in enumerate(OBJECTS.splitlines()) if "raise RuntimeError" in text)
    assert f"nod.py:{line}: RuntimeError: this one fails" in err
    assert pw.read_recording(tmp_path / "run.mcap").times[-1] == pytest.approx(0.8)


def test_an_input_is_never_written_over(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "nod.svg").write_text(CONNECT)
    code, _, err = ask("nod.svg", "--objects", "nod.py", "--commands", "", "--diagram", "nod.svg")
    assert code == 2
    assert "this file is an input of the command" in err
    assert (tmp_path / "nod.svg").read_text() == CONNECT


def test_a_stick_whose_objects_are_known_runs_its_own_connections(ask: Ask, tmp_path: Path) -> None:
    conf = tmp_path / "stick" / "OPEN-R" / "MW" / "CONF"
    conf.mkdir(parents=True)
    (conf / "CONNECT.CFG").write_text(CONNECT)
    code, _, err = ask("--stick", "stick", "--commands", "NOD")
    assert code == 2
    assert "CONNECT.CFG:2: the binary of Nod is for the AIBO's processor and cannot run here" in err
    words = ("--stick", "stick", "--objects", "nod.py", "--commands", "NOD", "--body", "mock", "--json")
    assert [one["state"] for one in json.loads(ask(*words)[1])["states"]] == ["IDLE", "NODDING", "IDLE"]


@pytest.fixture
def stick(ask: Ask, tmp_path: Path, aibo: Any) -> dict[str, Path]:
    """Lay out `stick` with one kick, and give its files by their names."""
    del ask  # whose folder it is
    conf, data = tmp_path / "stick/OPEN-R/MW/CONF", tmp_path / "stick/OPEN-R/MW/DATA/P/ERS-7"
    for folder in (conf / "ERS-7", data):
        folder.mkdir(parents=True)
    kick = aibo.omtn(
        [[0] * len(aibo.ers7)] * 2, [9], name="a_Kick", design="DRX-1000", locators=aibo.ers7, minor=2
    )
    texts = {
        "DESIGNDB.CFG": b"[ERS-7]\nMONET_MOTION /MS/OPEN-R/MW/DATA/P/ERS-7/MOTION7.ODA\n",
        "MONETCMD.CFG": b"60 1 0\nmonetagentMTN a_Kick -1\n",
        "MONET.CFG": b"monetagentNEUTRAL a_nt#stand_standard 0\n",
        "MOTION7.ODA": aibo.oda([("a_Kick", kick)]),
    }
    places = {"DESIGNDB.CFG": conf, "MOTION7.ODA": data}
    files = {name: places.get(name, conf / "ERS-7") / name for name in texts}
    for name, text in texts.items():
        files[name].write_bytes(text)
    return files


def test_a_stick_without_ways_between_postures_is_warned_of(ask: Ask, stick: dict[str, Path]) -> None:
    stick["MONET.CFG"].unlink()
    code, _, err = ask("--stick", "stick", "--commands", "60", "--body", "mock", "--seconds", "1")
    assert code == 0
    assert "there is no MONET.CFG: MoNet knows no way out of the posture it starts in" in " ".join(
        err.split()
    )


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("MOTION7.ODA", b"ODA?", "MOTION7.ODA: an archive begins with ODAR"),
        ("MOTION7.ODA", b"ODAR", "MOTION7.ODA: "),
        ("MOTION7.ODA", b"", "MOTION7.ODA: "),
        (
            "MOTION7.ODA",
            None,
            "DESIGNDB.CFG:2: there is no /MS/OPEN-R/MW/DATA/P/ERS-7/MOTION7.ODA on the stick",
        ),
        ("DESIGNDB.CFG", b"\0\xff\0\xff", "DESIGNDB.CFG: this is not text"),
        ("MONETCMD.CFG", b"#" * 1_000_001, "MONETCMD.CFG: "),
        ("MONETCMD.CFG", None, "stick: there is no MONETCMD.CFG, so MoNet knows no command"),
    ],
)
def test_a_stick_with_a_damaged_or_missing_file_is_refused_before_the_robot_moves(
    ask: Ask, stick: dict[str, Path], name: str, data: bytes | None, told: str
) -> None:
    stick[name].unlink() if data is None else stick[name].write_bytes(data)
    code, out, err = ask("--stick", "stick", "--commands", "60", "--record", "run.mcap")
    assert (code, out) == (2, "")
    assert told in err
    assert not Path("run.mcap").exists()
    if data is not None and name != "DESIGNDB.CFG":
        given = [word for file in stick.values() for word in ("--monet", file)]
        code, _, err = ask(*given, "--commands", "60")
        assert code == 2
        assert f"{name}" in err


def test_files_of_another_model_on_the_stick_keep_nothing_from_running(
    ask: Ask, stick: dict[str, Path]
) -> None:
    with stick["DESIGNDB.CFG"].open("a") as file:
        file.write("[ERS-210]\nMONET_MOTION /MS/OPEN-R/MW/DATA/P/ERS-200/MOTION2.ODA\n")
    other = stick["DESIGNDB.CFG"].parent / "ERS-200"
    other.mkdir()
    (other / "MONETCMD.CFG").write_bytes(b"\0\xff" * 10)
    (other / "MONET.CFG").write_text("")
    assert ask("--stick", "stick", "--commands", "60", "--body", "mock")[0] == 0


@pytest.mark.parametrize("flag", ["--record", "--diagram", "--video"])
def test_no_file_of_the_stick_is_written_over_by_whatever_name(
    ask: Ask, stick: dict[str, Path], flag: str
) -> None:
    name = {"--record": "k.mcap", "--diagram": "k.svg", "--video": "k.mp4"}[flag]
    for file, path in stick.items():
        before = path.read_bytes()
        Path(name).unlink(missing_ok=True)
        Path(name).symlink_to(path)
        for inputs in (["--stick", "stick"], [word for one in stick.values() for word in ("--monet", one)]):
            code, _, err = ask(*inputs, "--commands", "60", flag, name)
            assert (code, "this file is an input of the command" in err) == (2, True), (file, err)
        assert path.read_bytes() == before


def test_a_command_after_the_end_of_the_run_is_refused_with_its_place(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "late.txt").write_text("NOD@0\nNOD@10\n")
    for words, told in (
        (("--commands", "NOD@700"), "--commands:1: NOD@700 comes after the run's end at 600 s (--seconds"),
        (("--script", "late.txt", "--seconds", "3"), "late.txt:2: NOD@10 comes after the run's end at 3 s"),
    ):
        code, out, err = ask(*NOD, *words)
        assert (code, out) == (2, "")
        assert told in err


@pytest.mark.skipif(os.name != "posix", reason="signals, and a terminal")
def test_a_run_that_is_killed_leaves_its_recording(ask: Ask, tmp_path: Path) -> None:
    del ask  # whose folder it is
    words = [*POSEWRIGHT, "aibo", "run", *NOD, "--commands", "NOD", "--seconds", "60", "--real-time"]
    with subprocess.Popen(  # noqa: S603 -- our own program
        [*words, "--body", "mock", "--record", "run.mcap", "--show-messages"], stdout=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        run.stdout.readline()
        time.sleep(0.5)
        run.send_signal(signal.SIGTERM)
        run.communicate()
    assert run.returncode == 128 + signal.SIGTERM
    assert 0.1 < pw.read_recording(tmp_path / "run.mcap").times[-1] < 5.0


@pytest.mark.skipif(os.name != "posix", reason="signals, and a terminal")
@pytest.mark.parametrize("ending", [b"quit\n", b"\n", b"\x04"])
def test_a_person_types_line_by_line_and_time_stands_still_meanwhile(
    ask: Ask, tmp_path: Path, ending: bytes
) -> None:
    del ask
    import pty

    ours, theirs = pty.openpty()
    words = [*POSEWRIGHT, "aibo", "run", *NOD, "--body", "mock", "--record", "run.mcap"]
    with subprocess.Popen(  # noqa: S603 -- our own program
        words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        os.write(ours, b"?\nNOD, NOD@0.04\nJUMP\nNOD@0.5\n" + ending)
        said, _ = run.communicate()
    os.close(ours)
    os.close(theirs)
    assert run.returncode == 0, said
    assert said.startswith("commands: NOD and FAIL\nType one command, or several separated by commas")
    assert said.count("commands: NOD and FAIL\n") == 2, "at the start, and when asked"
    if ending == b"\x04":  # else the person has ended the line
        assert re.search(r"^nod.cfg on sony_ers7: ", said, re.MULTILINE), "on a line of its own"
    assert "recording -> run.mcap" in said
    assert "0.008 s > " in said
    assert "error: no object knows the command 'JUMP' (Nod: there are NOD and FAIL)" in said
    assert "refused: NOD (it is nodding)" in said
    seen = pw.read_recording(tmp_path / "run.mcap")
    assert pw.openr_result(seen)["commands"] == ["NOD@0.008", "NOD@0.048", "NOD@0.648"]
    told = [(one["time_s"], one["state"]) for one in pw.openr_result(seen)["states"]]
    assert told == [(0.0, "IDLE"), (0.008, "NODDING"), (0.136, "IDLE"), (0.648, "NODDING"), (0.776, "IDLE")]


def test_programs_are_listed_with_their_objects_and_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["aibo", "programs"]) == 0
    assert "MOVE_BP, MOVE_MP" in capsys.readouterr().out
    assert app.run(["aibo", "programs", "--json"]) == 0
    told = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert {"move_head", "move_legs", "ekmotion", "monet"} <= set(told)
    assert told["move_head"]["objects"] == ["MoveHead"]
    assert told["move_head"]["connections"][0].startswith("Commander.")
    assert told["monet"]["commands"].startswith("MoNetExecute(ID), or the ID alone; --stick FOLDER lists")


def test_the_ids_on_a_stick_are_listed(stick: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["aibo", "programs", "--stick", "stick"]) == 0
    assert "commands: MoNetExecute(ID), or the id alone: 60\n" in capsys.readouterr().out
    del stick


@pytest.mark.skipif(os.name != "posix", reason="signals, and a terminal")
def test_ctrl_c_at_the_prompt_ends_as_an_empty_line_does(ask: Ask, tmp_path: Path) -> None:
    del ask, tmp_path
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(  # noqa: S603 -- our own program
        [*POSEWRIGHT, "aibo", "run", *NOD, "--body", "mock"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stderr is not None
        said = ""
        while " > " not in said:
            said += run.stderr.read(1)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate()
    os.close(ours)
    os.close(theirs)
    assert run.returncode == 0
    assert "it is unknown whether the robot fell" in out


def test_a_robot_that_falls_is_told_when_and_in_which_states_with_what_objects_said(ask: Ask) -> None:
    own = OBJECTS.replace("PRM:/r1/c1-Joint2:11", "PRM:/r2/c1-Joint2:21").replace("-300000", "2000000")
    own = own.replace("with_room_for(1)", "with_room_for(2)").replace(
        "self.region.data.set_n_data(1)",
        """self.syslog("both left legs swing")
                other = self.openr.open_primitive("PRM:/r3/c1-Joint2:31")
                self.region.data.set(1, other, interpolate(now, 2000000, 16))
                self.region.data.set_n_data(2)""",
    )
    Path("nod.py").write_text(own)
    code, out, _ = ask(*NOD, "--commands", "NOD@0.4", "--seconds", "3", "--record", "run.mcap")
    assert code == 1
    result = pw.openr_result(pw.read_recording("run.mcap"))
    assert f"the robot fell at {result['fell_s']:.3f} s (Nod: NODDING, then IDLE)" in out
    assert out.index("IDLE") < out.index("Nod says: both left legs swing") < out.rindex("Nod: IDLE")
    assert 0.4 < result["fell_s"] < 3.0
