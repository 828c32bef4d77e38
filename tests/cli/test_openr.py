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
        self.move = self.subject("Move", "OCommandVectorData", self.on_moved)
        self.receive = self.observer("Receive", "char", self.on_command, word)

    def do_init(self):
        self.tilt = self.openr.open_primitive("PRM:/r1/c1-Joint2:11")
        self.region = RCRegion(OCommandVectorData.with_room_for(1))
        self.enter_state("IDLE")

    def on_command(self, event):
        for command in event.data:
            if command == "FAIL":
                raise RuntimeError("this one fails")
            if self.state == "NODDING":
                self.report_refusal(command, "it is nodding")
            else:
                self.enter_state("NODDING")
                now = self.openr.get_joint_value(self.tilt)
                self.region.data.set(0, self.tilt, interpolate(now, -300000, 16))
                self.region.data.set_n_data(1)
                self.move.send(self.region)
        self.receive.assert_ready(event.sender)

    def on_moved(self, event):
        if event.is_ready:
            self.enter_state("IDLE")
'''
COMMAND = (sys.executable, "-m", "posewright")
BLOCK_S = 64 * 0.008
"""Nobody looks oftener whether it is over."""

Output = tuple[int, str, str]
RunVerb = Callable[..., Output]


@pytest.fixture
def run_verb(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RunVerb:
    """Give a function that runs `openr run` in a folder with a program: exit code, stdout and stderr."""
    (tmp_path / "nod.cfg").write_text(CONNECT)
    (tmp_path / "nod.py").write_text(OBJECTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(*arguments: object) -> Output:
        capsys.readouterr()
        code = app.run(["aibo", "run", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


NOD = ("nod.cfg", "--objects", "nod.py")


def test_the_head_is_in_the_middle_after_2_048_s_and_the_pan_stops_where_it_is_told(
    run_verb: RunVerb,
) -> None:
    code, out, err = run_verb("move_head", "--commands", "MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5", "--json")
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
    assert [(state["time_s"], state["state"]) for state in result["states"]] == [
        (0.0, "IDLE"),
        (0.0, "MOVE_MP"),
        (2.048, "IDLE"),
        (3.0, "MV_RGHT"),
        (3.504, "IDLE"),
    ]
    pan = result["joints"].index("head_pan")
    pan_angles = {frame["time_s"]: frame["commands_urad"][pan] for frame in result["frames"]}
    assert all(isinstance(angle, int) for angle in pan_angles.values())
    assert pan_angles[2.048] == 0, "the middle pose"
    assert pan_angles[3.0] == 0 > pan_angles[3.504], "to the right"
    assert pan_angles[3.52] == pan_angles[result["duration_s"]], "it stays where it was stopped"


@pytest.mark.parametrize("body", ["sim", "mock"])
def test_the_same_run_has_the_same_digest_and_its_recording_tells_the_same(
    run_verb: RunVerb, body: str
) -> None:
    arguments = (*NOD, "--commands", "NOD@0, NOD@0.04, NOD@0.5", "--body", body, "--json")
    results = [json.loads(run_verb(*arguments, "--record", name)[1]) for name in ("one.mcap", "other.mcap")]
    assert results[0] == results[1]
    assert pw.openr_result(pw.read_recording("one.mcap")) == results[0]
    (refusal,) = [entry for entry in results[0]["messages"] if entry["kind"] == "refused"]
    assert (refusal["asked"], refusal["why"]) == ("NOD", "it is nodding")
    assert results[0]["fell"] is (False if body == "sim" else None)


def test_python_and_the_shell_run_the_same(run_verb: RunVerb) -> None:
    shell = json.loads(run_verb(*NOD, "--commands", "NOD", "--body", "mock", "--json")[1])
    python = pw.run_openr("nod.cfg", commands="NOD", objects="nod.py", body="mock")
    assert python.digest() == shell["digest"]


def test_every_other_verb_takes_its_recording(run_verb: RunVerb, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verb(*NOD, "--commands", "NOD", "--record", "nod.mcap")[0] == 0
    for command in (["replay", "nod.mcap"], ["judge", "nod.mcap"]):
        assert app.run(command) == 0
        assert "no contest: openr nod.cfg on sony_ers7" in capsys.readouterr().out
    assert app.run(["evaluate", "nod.mcap", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["robots"]["sony_ers7"]["falls"] == 0


def test_a_person_is_told_states_refusals_and_whether_the_robot_stayed_up(run_verb: RunVerb) -> None:
    code, out, _ = run_verb(*NOD, "--commands", "NOD, NOD@0.04")
    assert code == 0
    assert "nod.cfg on sony_ers7: 1." in out
    assert "0.000 s  Nod: NODDING" in out
    assert "0.040 s  Nod refused NOD: it is nodding" in out
    assert "the robot stayed up" in out


def test_messages_are_shown_as_they_come_and_keep_out_of_the_way_of_json(run_verb: RunVerb) -> None:
    arguments = (*NOD, "--commands", "NOD", "--body", "mock", "--show-messages")
    line = "0.000 s  Commander -> Nod                      SendCommand: NOD"
    assert line in run_verb(*arguments)[1]
    _, out, err = run_verb(*arguments, "--json")
    assert line in err
    assert json.loads(out)["program"] == "nod.cfg"


@pytest.mark.parametrize("name", ["flow.mmd", "flow.svg", "flow.png", "flow.pdf"])
def test_a_diagram_is_drawn_by_its_files_ending(run_verb: RunVerb, tmp_path: Path, name: str) -> None:
    code, out, _ = run_verb(*NOD, "--commands", "NOD", "--body", "mock", "--diagram", name)
    assert (code, out.splitlines()[-1]) == (0, f"diagram -> {name}")
    data = (tmp_path / name).read_bytes()
    first_bytes = {".mmd": b"sequenceDiagram\n", ".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    assert data.startswith(first_bytes[Path(name).suffix])


def test_a_film_is_made_of_it(run_verb: RunVerb, tmp_path: Path) -> None:
    code, _, err = run_verb(
        *NOD, "--commands", "NOD", "--seconds", "0.05", "--video", "nod.mp4", "--camera", "front"
    )
    assert (code, err) == (0, "")
    assert (tmp_path / "nod.mp4").stat().st_size > 1000


def test_commands_come_from_a_file_or_from_what_is_piped_in(run_verb: RunVerb, tmp_path: Path) -> None:
    (tmp_path / "script.txt").write_text("NOD@0  # once\nNOD@0.5\n")
    from_file = json.loads(run_verb(*NOD, "--script", "script.txt", "--body", "mock", "--json")[1])
    process = subprocess.run(  # noqa: S603 -- our own program
        [*COMMAND, "aibo", "run", *NOD, "--body", "mock", "--json"],
        input="NOD, NOD@0.5",
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(process.stdout) == from_file
    assert from_file["commands"] == ["NOD@0", "NOD@0.5"]


def test_so_many_seconds_are_run_and_else_until_nothing_is_done_for_one(run_verb: RunVerb) -> None:
    def duration_s(commands: str, *arguments: str) -> float:
        arguments = (*NOD, "--commands", commands, "--body", "mock", "--json", *arguments)
        return float(json.loads(run_verb(*arguments)[1])["duration_s"])

    assert duration_s("NOD", "--seconds", "0.4") == 0.4
    assert 0.0 <= duration_s("NOD") - (0.128 + 1.0) < BLOCK_S
    assert 0.0 <= duration_s("") - 1.0 < BLOCK_S, "nothing ever happened"


def test_what_is_wrong_is_told_with_file_and_line_and_nothing_moves_or_is_written(
    run_verb: RunVerb, tmp_path: Path
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
    for arguments, message in (
        ((*NOD, "--script", "bad.txt"), "bad.txt:3: no object knows the command 'STAND'"),
        ((*NOD, "--script", "back.txt"), "back.txt:2: NOD@1 comes after a command at 2 s"),
        ((*NOD, "--commands", "NOD@soon"), "--commands:1: 'soon' is not a valid time"),
        (("nobody.cfg", *NOD[1:]), "nobody.cfg:4: unknown object 'Tail'"),
        (("words.cfg", *NOD[1:]), "words.cfg:4: the line has 1 words, not 2: Tail.Move"),
        (("service.cfg", *NOD[1:]), "did you mean Receive?"),
        (("nod.cfg",), "nod.cfg:2: unknown object 'Nod'"),
        (("nod.cfg", "--objects", "none.py"), "none.py: the file defines no OPEN-R object"),
        (("nod.cfg", "--objects", "missing.py"), "missing.py:2: ModuleNotFoundError: No module named"),
        (("nod.cfg", "--objects", "syntax.py"), "syntax.py:1: SyntaxError"),
        (
            ("nod.cfg", "--objects", "needs.py"),
            "needs.py: Nod cannot be created without arguments: missing a required argument: 'joint'",
        ),
        (("move_heat",), "did you mean move_head"),
        (("move_head", "--robot", "robotis_bioloid"), "robotis_bioloid is not an OPEN-R robot"),
        (("move_head", "--pose", "lotus"), "unknown pose 'lotus'"),
        (("move_head", "--body", "teapot"), "unknown body 'teapot'"),
        (("move_head", "--player", "tape"), "unknown player 'tape'"),
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
        (("move_head", "--diagram", "flow.txt"), "'.txt' is not the ending of a diagram"),
        (("move_head", "--diagram", "nowhere/flow.svg"), "create it or name another"),
        ((*NOD, "--record", "run.txt"), "end the name in .mcap"),
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
        inputs = (
            arguments
            if "--commands" in arguments or "--script" in arguments
            else (*arguments, "--commands", "")
        )
        record = () if "--record" in arguments else ("--record", "run.mcap")
        code, out, err = run_verb(*inputs, *record)
        assert (code, out) == (2, ""), arguments
        assert message in err, arguments
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_own_object_that_fails_is_told_by_its_line_and_the_run_is_recorded(
    run_verb: RunVerb, tmp_path: Path
) -> None:
    code, out, err = run_verb(*NOD, "--commands", "NOD, FAIL@0.8", "--record", "run.mcap")
    assert (code, out) == (2, "")
    line = 1 + next(n for n, text in enumerate(OBJECTS.splitlines()) if "raise RuntimeError" in text)
    assert f"nod.py:{line}: RuntimeError: this one fails" in err
    assert pw.read_recording(tmp_path / "run.mcap").times[-1] == pytest.approx(0.8)


def test_an_input_is_never_written_over(run_verb: RunVerb, tmp_path: Path) -> None:
    (tmp_path / "nod.svg").write_text(CONNECT)
    code, _, err = run_verb("nod.svg", "--objects", "nod.py", "--commands", "", "--diagram", "nod.svg")
    assert code == 2
    assert "this file is an input of the command" in err
    assert (tmp_path / "nod.svg").read_text() == CONNECT


def test_a_stick_whose_objects_are_known_runs_its_own_connections(run_verb: RunVerb, tmp_path: Path) -> None:
    conf = tmp_path / "stick" / "OPEN-R" / "MW" / "CONF"
    conf.mkdir(parents=True)
    (conf / "CONNECT.CFG").write_text(CONNECT)
    code, _, err = run_verb("--stick", "stick", "--commands", "NOD")
    assert code == 2
    assert "CONNECT.CFG:2: the binary of Nod is for the AIBO's processor and cannot run here" in err
    arguments = ("--stick", "stick", "--objects", "nod.py", "--commands", "NOD", "--body", "mock", "--json")
    assert [state["state"] for state in json.loads(run_verb(*arguments)[1])["states"]] == [
        "IDLE",
        "NODDING",
        "IDLE",
    ]


@pytest.fixture
def stick(run_verb: RunVerb, tmp_path: Path, aibo: Any) -> dict[str, Path]:
    """Lay out `stick` with one kick, and give its files by their names."""
    del run_verb  # whose folder it is
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
    folders = {"DESIGNDB.CFG": conf, "MOTION7.ODA": data}
    files = {name: folders.get(name, conf / "ERS-7") / name for name in texts}
    for name, text in texts.items():
        files[name].write_bytes(text)
    return files


def test_a_stick_without_ways_between_postures_is_warned_of(
    run_verb: RunVerb, stick: dict[str, Path]
) -> None:
    stick["MONET.CFG"].unlink()
    code, _, err = run_verb("--stick", "stick", "--commands", "60", "--body", "mock", "--seconds", "1")
    assert code == 0
    assert "there is no MONET.CFG: MoNet cannot leave the posture it starts in" in " ".join(err.split())


@pytest.mark.parametrize(
    ("name", "data", "message"),
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
        ("MONETCMD.CFG", None, "stick: there is no MONETCMD.CFG, so MoNet has no commands"),
    ],
)
def test_a_stick_with_a_damaged_or_missing_file_is_refused_before_the_robot_moves(
    run_verb: RunVerb, stick: dict[str, Path], name: str, data: bytes | None, message: str
) -> None:
    stick[name].unlink() if data is None else stick[name].write_bytes(data)
    code, out, err = run_verb("--stick", "stick", "--commands", "60", "--record", "run.mcap")
    assert (code, out) == (2, "")
    assert message in err
    assert not Path("run.mcap").exists()
    if data is not None and name != "DESIGNDB.CFG":
        inputs = [word for file in stick.values() for word in ("--monet", file)]
        code, _, err = run_verb(*inputs, "--commands", "60")
        assert code == 2
        assert f"{name}" in err


def test_files_of_another_model_on_the_stick_keep_nothing_from_running(
    run_verb: RunVerb, stick: dict[str, Path]
) -> None:
    with stick["DESIGNDB.CFG"].open("a") as file:
        file.write("[ERS-210]\nMONET_MOTION /MS/OPEN-R/MW/DATA/P/ERS-200/MOTION2.ODA\n")
    other_folder = stick["DESIGNDB.CFG"].parent / "ERS-200"
    other_folder.mkdir()
    (other_folder / "MONETCMD.CFG").write_bytes(b"\0\xff" * 10)
    (other_folder / "MONET.CFG").write_text("")
    assert run_verb("--stick", "stick", "--commands", "60", "--body", "mock")[0] == 0


@pytest.mark.parametrize("flag", ["--record", "--diagram", "--video"])
def test_no_file_of_the_stick_is_written_over_by_whatever_name(
    run_verb: RunVerb, stick: dict[str, Path], flag: str
) -> None:
    name = {"--record": "k.mcap", "--diagram": "k.svg", "--video": "k.mp4"}[flag]
    for file, path in stick.items():
        before = path.read_bytes()
        Path(name).unlink(missing_ok=True)
        Path(name).symlink_to(path)
        for inputs in (["--stick", "stick"], [word for path in stick.values() for word in ("--monet", path)]):
            code, _, err = run_verb(*inputs, "--commands", "60", flag, name)
            assert (code, "this file is an input of the command" in err) == (2, True), (file, err)
        assert path.read_bytes() == before


def test_a_command_after_the_end_of_the_run_is_refused_with_its_place(
    run_verb: RunVerb, tmp_path: Path
) -> None:
    (tmp_path / "late.txt").write_text("NOD@0\nNOD@10\n")
    for arguments, message in (
        (("--commands", "NOD@700"), "--commands:1: NOD@700 comes after the run's end at 600 s (--seconds"),
        (("--script", "late.txt", "--seconds", "3"), "late.txt:2: NOD@10 comes after the run's end at 3 s"),
    ):
        code, out, err = run_verb(*NOD, *arguments)
        assert (code, out) == (2, "")
        assert message in err


@pytest.mark.skipif(os.name != "posix", reason="signals, and a terminal")
def test_a_run_that_is_killed_leaves_its_recording(run_verb: RunVerb, tmp_path: Path) -> None:
    del run_verb  # whose folder it is
    arguments = [*COMMAND, "aibo", "run", *NOD, "--commands", "NOD", "--seconds", "60", "--real-time"]
    with subprocess.Popen(  # noqa: S603 -- our own program
        [*arguments, "--body", "mock", "--record", "run.mcap", "--show-messages"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert 0.1 < pw.read_recording(tmp_path / "run.mcap").times[-1] < 5.0


@pytest.mark.skipif(os.name != "posix", reason="signals, and a terminal")
@pytest.mark.parametrize("ending", [b"quit\n", b"\n", b"\x04"])
def test_a_person_types_line_by_line_and_time_stands_still_meanwhile(
    run_verb: RunVerb, tmp_path: Path, ending: bytes
) -> None:
    del run_verb
    import pty

    our_end, their_end = pty.openpty()
    arguments = [*COMMAND, "aibo", "run", *NOD, "--body", "mock", "--record", "run.mcap"]
    with subprocess.Popen(  # noqa: S603 -- our own program
        arguments, stdin=their_end, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        os.write(our_end, b"?\nNOD, NOD@0.04\nJUMP\nNOD@0.5\n" + ending)
        output, _ = process.communicate()
    os.close(our_end)
    os.close(their_end)
    assert process.returncode == 0, output
    assert output.startswith("commands: NOD and FAIL\nType one command, or several separated by commas")
    assert output.count("commands: NOD and FAIL\n") == 2, "at the start, and when asked"
    if ending == b"\x04":  # else the person has ended the line
        assert re.search(r"^nod.cfg on sony_ers7: ", output, re.MULTILINE), "on a line of its own"
    assert "recording -> run.mcap" in output
    assert "0.008 s > " in output
    assert "error: no object knows the command 'JUMP' (Nod: there are NOD and FAIL)" in output
    assert "refused: NOD (it is nodding)" in output
    recording = pw.read_recording(tmp_path / "run.mcap")
    assert pw.openr_result(recording)["commands"] == ["NOD@0.008", "NOD@0.048", "NOD@0.648"]
    states = [(state["time_s"], state["state"]) for state in pw.openr_result(recording)["states"]]
    assert states == [(0.0, "IDLE"), (0.008, "NODDING"), (0.136, "IDLE"), (0.648, "NODDING"), (0.776, "IDLE")]


def test_programs_are_listed_with_their_objects_and_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["aibo", "programs"]) == 0
    assert "MOVE_BP, MOVE_MP" in capsys.readouterr().out
    assert app.run(["aibo", "programs", "--json"]) == 0
    programs = {program["name"]: program for program in json.loads(capsys.readouterr().out)}
    assert {"move_head", "move_legs", "ekmotion", "monet"} <= set(programs)
    assert programs["move_head"]["objects"] == ["MoveHead"]
    assert programs["move_head"]["connections"][0].startswith("Commander.")
    assert programs["monet"]["commands"].startswith("MoNetExecute(ID), or the ID alone; --stick FOLDER lists")


def test_the_ids_on_a_stick_are_listed(stick: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["aibo", "programs", "--stick", "stick"]) == 0
    assert "commands: MoNetExecute(ID), or the ID alone: 60\n" in capsys.readouterr().out
    del stick


@pytest.mark.skipif(os.name != "posix", reason="signals, and a terminal")
def test_ctrl_c_at_the_prompt_ends_as_an_empty_line_does(run_verb: RunVerb, tmp_path: Path) -> None:
    del run_verb, tmp_path
    import pty

    our_end, their_end = pty.openpty()
    with subprocess.Popen(  # noqa: S603 -- our own program
        [*COMMAND, "aibo", "run", *NOD, "--body", "mock"],
        stdin=their_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        output = ""
        while " > " not in output:
            output += process.stderr.read(1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    os.close(our_end)
    os.close(their_end)
    assert process.returncode == 0
    assert "it is unknown whether the robot fell" in out


def test_a_robot_that_falls_is_told_when_and_in_which_states_with_what_objects_said(
    run_verb: RunVerb,
) -> None:
    falling_objects = OBJECTS.replace("PRM:/r1/c1-Joint2:11", "PRM:/r2/c1-Joint2:21").replace(
        "-300000", "2000000"
    )
    falling_objects = falling_objects.replace("with_room_for(1)", "with_room_for(2)").replace(
        "self.region.data.set_n_data(1)",
        """self.syslog("both left legs swing")
                other = self.openr.open_primitive("PRM:/r3/c1-Joint2:31")
                self.region.data.set(1, other, interpolate(now, 2000000, 16))
                self.region.data.set_n_data(2)""",
    )
    Path("nod.py").write_text(falling_objects)
    code, out, _ = run_verb(*NOD, "--commands", "NOD@0.4", "--seconds", "3", "--record", "run.mcap")
    assert code == 1
    result = pw.openr_result(pw.read_recording("run.mcap"))
    assert f"the robot fell at {result['fell_s']:.3f} s (Nod: NODDING, then IDLE)" in out
    assert out.index("IDLE") < out.index("Nod says: both left legs swing") < out.rindex("Nod: IDLE")
    assert 0.4 < result["fell_s"] < 3.0
