"""`posewright robi`: what a person and a program are told, what is written, and what is refused."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from posewright.bodies import MockBody
from posewright.cli import app
from posewright.cli.robi_watch import LiveView, render_status
from posewright.errors import FormatError
from posewright.evaluation import Trajectory
from posewright.formats import convert_motion, read_motion
from posewright.recordings import read_mcap
from posewright.runs import robi_result, set_up_robi
from posewright.runtimes.robi import make_patch, status_of

Ask = Callable[..., tuple[int, str, str]]

LOOP = "round:\n    jump round\n"
WRONG = "    calc\n      add\n    endcalc\n"
WAVE = """motion: wave
robot: deagostini_robi2
joints: [right_shoulder_pitch]
keyframes:
  - {reach_s: 0.5, lights: {mouth: 255}, pose_deg: [-20]}
  - {reach_s: 0.25, easing: smooth, pose_deg: [0.04]}
"""


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Give a function that runs the command line: exit code, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = app.run(["robi", *map(str, words)])
        return code, *capsys.readouterr()

    return run


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# ---- run


def test_a_robi_is_told_to_sit_down_and_what_happened_is_told(ask: Ask, tmp_path: Path) -> None:
    record = tmp_path / "sits.mcap"
    code, out, err = ask("run", "--word", "1@1", "--word", "3@6", "--body", "mock", "--record", record)
    assert (code, err) == (0, "")
    assert "word 1 is recognised" in out
    assert "posture sitting; mapped: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 17" in out
    recording = read_mcap(record)
    assert robi_result(recording)["posture"] == "sitting"
    assert set(recording.robot().lights or {}) == {"left_eye", "right_eye", "mouth"}
    assert "sit_down:" in recording.header.documents["startup.lst"]


def test_a_program_gets_the_same_as_plain_data_each_time(ask: Ask) -> None:
    words = ("run", "startup", "--posture", "sit", "--word", "2@1", "--body", "mock", "--json")
    one, other = (ask(*words) for _ in range(2))
    assert one == other
    result: Mapping[str, Any] = json.loads(one[1])
    assert (result["pose"], result["posture"], result["mapped"]) == ("sit", "standing", [])
    assert [event["now"] for event in result["events"] if event["what"] == "posture"] == [1, 0]
    assert result["error"] is None


def test_in_the_simulator_it_sits_on_its_chair_in_the_room(ask: Ask, tmp_path: Path) -> None:
    record = tmp_path / "chair.mcap"
    code, out, _ = ask("run", "--posture", "chair", "--seconds", 1, "--record", record, "--json")
    assert (code, json.loads(out)["posture"]) == (0, "chair")
    recording = read_mcap(record)
    assert recording.header.arena["name"] == "robi_room"
    assert Trajectory.of(recording).tilt_deg.max() < 20.0


def test_a_film_is_made(ask: Ask, tmp_path: Path) -> None:
    code, _, err = ask("run", "--seconds", 0.2, "--video", tmp_path / "robi.gif")
    if "no picture can be rendered" in err:
        pytest.skip(err)
    assert (code, err) == (0, "")
    assert (tmp_path / "robi.gif").stat().st_size > 1000


def test_a_program_stops_at_a_breakpoint_and_its_memory_is_told(ask: Ask) -> None:
    code, out, _ = ask("run", "--word", "1@1", "--body", "mock", "--break", "sit_down", "--json")
    result = json.loads(out)
    assert code == 0
    assert (result["events"][-1]["reason"], result["events"][-1]["label"]) == ("breakpoint", "sit_down")
    assert result["stopped"]["calls"]
    address = f"{result['events'][-1]['address']:#010x}"
    assert (
        json.loads(ask("run", "--word", "1@1", "--body", "mock", "--break", address, "--json")[1]) == result
    )


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        (LOOP, 0, "loops without effect at round"),
        (WRONG, 1, "<add/> needs two values"),
    ],
)
def test_a_program_that_goes_wrong_says_where(
    ask: Ask, tmp_path: Path, text: str, code: int, says: str
) -> None:
    found, out, _ = ask("run", written(tmp_path, "own.lst", text), "--body", "mock")
    assert found == code
    assert says in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "startop"), "did you mean startup?"),
        (("run", "--posture", "siting"), "did you mean sitting"),
        (("run", "--rule", "prnted"), "did you mean printed"),
        (("run", "--word", "hello@1"), "--word 'hello@1' is not a word with its time"),
        (("run", "--break", "lisen"), "did you mean listen"),
        (("run", "--break", "0x00000001"), "no tag begins at 0x00000001"),
        (("run", "--camera", "front"), "add --video FILE"),
        (("run", "--body", "mock", "--video", "a.mp4"), "cannot be filmed"),
        (("run", "none.rm4"), "No such file"),
        (("postures", "--angles", "nan", "0", "0"), "three angles in degrees"),
        (("postures", "--angles", "1e308", "0", "0"), "three angles in degrees"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = ask(*words)
    assert (code, out) == (2, "")
    assert says in err
    assert not list(tmp_path.iterdir())


def test_one_that_falls_off_its_chair_has_fallen_and_one_that_dances_on_it_has_not(ask: Ask) -> None:
    code, out, _ = ask("run", "dance", "--posture", "chair")
    assert (code, "the robot fell" in out) == (1, True)
    code, out, _ = ask("run", "--posture", "chair", "--word", "3@1.5")
    assert (code, "the robot stayed up" in out) == (0, True)


def test_one_that_falls_while_it_stands_up_is_told_that_this_is_known(ask: Ask) -> None:
    code, out, _ = ask("run", "stand_up", "--posture", "sit")
    assert code == 1
    assert "note: the simulated Robi tips over" in out


def test_what_a_motion_loses_is_told_when_it_is_run(ask: Ask, tmp_path: Path) -> None:
    wave = written(tmp_path, "wave.motion.yaml", WAVE)
    code, _, err = ask("run", wave, "--body", "mock")
    assert code == 0
    assert "lost: easing smooth" in err


@pytest.mark.parametrize(("posture", "number"), [("standing", 0), ("sitting", 1), ("chair", 2)])
def test_what_the_judgement_found_is_told(ask: Ask, posture: str, number: int) -> None:
    out = ask("run", "judge", "--posture", posture, "--body", "mock")[1]
    assert f"return value {number}\n" in out


# ---- list, assemble


@pytest.mark.parametrize("name", ["x.lst", "x.motion.yaml"])
def test_what_is_assembled_is_not_called_a_listing(ask: Ask, tmp_path: Path, name: str) -> None:
    assert ask("assemble", "dance", "-o", tmp_path / name)[0] == 2
    assert ask("assemble", "dance", "-o", tmp_path / "dance.rm4")[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["dance.rm4"]


def test_a_conversion_into_a_program_points_to_assemble(tmp_path: Path) -> None:
    wave = written(tmp_path, "wave.motion.yaml", WAVE)
    with pytest.raises(FormatError, match="robi assemble"):
        convert_motion(wave, tmp_path / "wave.rm4")


def test_a_program_that_is_taken_for_a_motion_points_to_list(ask: Ask, tmp_path: Path) -> None:
    assert ask("assemble", "dance", "-o", tmp_path / "dance.rm4")[0] == 0
    with pytest.raises(FormatError, match="robi list FILE --motion"):
        read_motion(tmp_path / "dance.rm4")


def test_list_assemble_list_is_a_fixed_point(ask: Ask, tmp_path: Path) -> None:
    first, program, second = (tmp_path / name for name in ("a.lst", "a.rm4", "b.lst"))
    assert ask("list", "startup", "-o", first)[0] == 0
    assert ask("assemble", first, "-o", program)[0] == 0
    assert ask("list", program, "-o", second)[0] == 0
    bare = [line for line in second.read_text().splitlines() if "L0000" not in line]
    assert len(bare) > 100
    again = tmp_path / "b.rm4"
    assert ask("assemble", second, "-o", again)[0] == 0
    assert again.read_bytes() == program.read_bytes()


def test_a_listing_may_call_what_ships(ask: Ask, tmp_path: Path) -> None:
    own = written(tmp_path, "own.lst", "    call stand\n    call dance\n")
    code, out, _ = ask("assemble", own, "-o", tmp_path / "own.rm4", "--json")
    assert code == 0
    assert json.loads(out)["tags"] > 20
    assert ask("run", tmp_path / "own.rm4", "--body", "mock")[0] == 0


def test_pose_data_of_a_program_is_written_as_a_motion_and_becomes_the_program_again(
    ask: Ask, tmp_path: Path
) -> None:
    motion, program = tmp_path / "dance.motion.yaml", tmp_path / "dance.rm4"
    code, _, err = ask("list", "dance", "--motion", motion)
    assert code == 0
    assert "not followed: " in err
    assert read_motion(motion).lights == ("left_eye", "right_eye", "mouth")
    assert ask("assemble", motion, "-o", program)[0] == 0
    assert ask("list", program, "--motion", tmp_path / "again.motion.yaml")[0] == 0
    assert read_motion(tmp_path / "again.motion.yaml").keyframes == read_motion(motion).keyframes


def test_what_a_motion_would_lose_is_told_before_anything_is_written(ask: Ask, tmp_path: Path) -> None:
    wave, program = written(tmp_path, "wave.motion.yaml", WAVE), tmp_path / "wave.rm4"
    code, _, err = ask("assemble", wave, "-o", program)
    assert code == 2
    assert "would be lost: easing smooth" in err
    assert not program.exists()
    code, _, err = ask("assemble", wave, "-o", program, "--straighten")
    assert code == 0
    assert "angles are rounded by up to 0.0" in err
    assert program.exists()
    assert ask("assemble", wave, "-o", program, "--accept-loss")[0] == 0


def test_what_is_odd_in_a_program_is_told_when_it_is_assembled_again(ask: Ask, tmp_path: Path) -> None:
    odd = written(tmp_path, "odd.rm4", '<mem_w size="2" adr="0x00000a7e">0x0001</mem_w><strange/><return/>')
    code, _, err = ask("assemble", odd, "-o", tmp_path / "again.rm4")
    assert code == 0
    assert "strange" in err


# ---- patch


def test_a_patch_is_applied_and_taken_back_to_the_byte(ask: Ask, tmp_path: Path) -> None:
    before, after = b"abcdefgh", b"abXYefgZ"
    file, list_of = tmp_path / "a.bin", written(tmp_path, "a.csv", make_patch(before, after).text())
    file.write_bytes(before)
    code, out, _ = ask("patch", file, list_of, "-o", tmp_path / "b.bin")
    assert (code, (tmp_path / "b.bin").read_bytes()) == (0, after)
    assert "2 changes applied" in out
    assert ask("patch", tmp_path / "b.bin", list_of, "--reverse", "-o", tmp_path / "c.bin")[0] == 0
    assert (tmp_path / "c.bin").read_bytes() == before


def test_the_patch_that_takes_one_back_is_written(ask: Ask, tmp_path: Path) -> None:
    file, list_of, undo = tmp_path / "a.bin", written(tmp_path, "a.csv", "2,58 59\n"), tmp_path / "undo.csv"
    file.write_bytes(b"abcdefgh")
    assert ask("patch", file, list_of, "--unchecked", "-o", tmp_path / "b.bin", "--undo", undo)[0] == 0
    assert (tmp_path / "b.bin").read_bytes() == b"abXYefgh"
    assert ask("patch", tmp_path / "b.bin", undo, "-o", tmp_path / "c.bin")[0] == 0
    assert (tmp_path / "c.bin").read_bytes() == b"abcdefgh"
    assert ask("patch", file, list_of, "--unchecked", "-o", tmp_path / "d.bin", "--undo", list_of)[0] == 2
    assert not (tmp_path / "d.bin").exists()


def test_the_only_copy_is_never_written_over_but_with_a_backup(ask: Ask, tmp_path: Path) -> None:
    file, list_of = tmp_path / "a.bin", written(tmp_path, "a.csv", make_patch(b"ab", b"ac").text())
    file.write_bytes(b"ab")
    code, _, err = ask("patch", file, list_of)
    assert (code, file.read_bytes()) == (2, b"ab")
    assert "only copy" in err
    assert ask("patch", file, list_of, "--backup", tmp_path / "a.before")[0] == 0
    assert (file.read_bytes(), (tmp_path / "a.before").read_bytes()) == (b"ac", b"ab")


@pytest.mark.parametrize("back", [(), ("--reverse",)])
def test_a_patch_for_another_file_is_refused(ask: Ask, tmp_path: Path, back: tuple[str, ...]) -> None:
    file, list_of = tmp_path / "a.bin", written(tmp_path, "a.csv", make_patch(b"ab", b"ac").text())
    file.write_bytes(b"xc" if back else b"xb")
    code, _, err = ask("patch", file, list_of, *back, "-o", tmp_path / "b.bin")
    assert code == 2
    assert "this patch is for another file" in err
    assert not (tmp_path / "b.bin").exists()


# ---- postures


def test_the_printed_rule_contradicts_its_own_pose_and_the_consistent_one_none(ask: Ask) -> None:
    right, wrong = (
        json.loads(ask("postures", "--rule", rule, "--json")[1]) for rule in ("consistent", "printed")
    )
    assert [one["judged"] for one in right] == ["standing", "sitting", "chair", "standing"]
    assert [one["pose"] for one in wrong if one["contradicts"]] == ["sitting"]
    assert "sitting is judged chair, but it is sitting" in ask("postures", "--rule", "printed")[1]


@pytest.mark.parametrize(
    ("angles", "judged"), [("-59 0 0", "standing"), ("-61 8 0", "chair"), ("-61 0 0", "sitting")]
)
def test_given_angles_are_judged(ask: Ask, angles: str, judged: str) -> None:
    assert json.loads(ask("postures", "--angles", *angles.split(), "--json")[1])[0]["judged"] == judged


# ---- watch


def test_where_no_person_looks_a_line_is_written_for_each_change(ask: Ask) -> None:
    code, out, _ = ask("watch", "--word", "1@1", "--body", "mock", "--seconds", 9)
    assert code == 0
    for line in ("posture standing", "word 1 is recognised", "posture sitting", "left_eye #0040ff"):
        assert line in out
    assert "words of the parameter tables" in out
    assert out.count("posture sitting") == 1
    assert out.splitlines()[-1].endswith("stopped; it is not known whether it fell")


def test_the_page_shows_what_is_seen(ask: Ask) -> None:
    page = (Path(__file__).parents[2] / "docs/robi.md").read_text(encoding="utf-8")
    out = ask("watch", "startup", "--word", "1@1", "--body", "mock")[1]
    block = re.search(r"^   0\.017 s  posture standing\n.*?(?=^```$)", page, re.MULTILINE | re.DOTALL)
    assert block is not None
    shown_lines = [line for line in block[0].splitlines() if line != "..."]
    assert len(shown_lines) >= 8
    assert [line for line in shown_lines if line.partition(" (")[0] not in out] == []


def test_an_error_is_told_once_while_one_watches(ask: Ask, tmp_path: Path) -> None:
    code, out, err = ask("watch", written(tmp_path, "own.lst", WRONG), "--body", "mock")
    assert code == 1
    assert (out + err).count("<add/> needs two values") == 1


def test_a_person_sees_posture_servos_lights_and_memory_in_tables() -> None:
    ready = set_up_robi("startup", posture="sit")
    controller = ready.controller()
    body = MockBody(ready.robot, positions=ready.robot.pose("sit"))
    for _ in range(200):
        body.play(controller.next(body.read(), 1))
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(render_status(3.0, status_of(controller)))
    shown = console.export_text()
    for words in (
        "posture sitting",
        "at listen",
        "right_hip_pitch",
        "-107.0",
        "mapped",
        "mapped_position of ID 3",
    ):
        assert words in shown


def test_in_a_terminal_it_is_drawn_and_cleared_away_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    with LiveView(set_up_robi("startup").controller()) as view:
        assert view._live.is_started
    assert not view._live.is_started
