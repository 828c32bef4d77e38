"""What `motion check` reports as an error stops every verb that writes for a robot or moves one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from posewright.cli import app
from posewright.formats import read_motion
from posewright.formats.oda.archive import OdaArchive
from posewright.formats.oda.files import read_archive_file
from posewright.hazards import check_motion
from posewright.motions import Level

Output = tuple[int, str, str]
RunVerb = Callable[..., Output]

PLANTED = {
    "speed": [(0.5, 0.0), (0.008, 62.5), (0.5, 0.0)],
    "jump": [(0.5, 0.0), (0.0, 60.0), (0.5, 0.0)],
    "limit": [(0.5, 0.0), (2.0, 140.0), (2.0, 0.0)],
}
"""Keyframes of motions with a fault: `reach_s`, and the angle of the joint [deg]."""

COLLIDING: dict[str, dict[str, float]] = {
    "sony_ers7": {"left_front_rotator": -94.0, "left_rear_rotator": -93.0},
    "robotis_bioloid": {"left_hip_roll": -25.0, "right_hip_roll": 25.0},
    "deagostini_robi2": {"left_hip_roll": -18.0, "right_hip_roll": 9.0},
    "hitec_robonova1": {"left_hip_roll": -20.0, "right_hip_roll": 20.0},
}
"""Angles within the limits at which legs of a robot that stands go through each other [deg]."""

FAULTS = (*PLANTED, "collision")

DATA, CONF = "OPEN-R/MW/DATA/P/ERS-7", "OPEN-R/MW/CONF"

COUPLED = """motion: hurt
robot: sony_ers7
joints: [left_front_rotator, left_front_elevator]
keyframes:
  - {reach_s: 0, pose_deg: [0, 5]}
  - {reach_s: 2, pose_deg: [-90, 0]}
  - {reach_s: 2, pose_deg: [-90, -14]}
  - {reach_s: 4, pose_deg: [0, 5]}
"""

CHART = """chart: tiny
kind: mealy
period_s: 0.1
inputs: {near: bool}
outputs: {go_on: bool}
initial: going
initial_values: {go_on: 0}
states:
  going:
    - {when: near, do: {go_on: 1}, go: going}
    - {when: not near, do: {go_on: 0}, go: going}
"""

BEHAVIOUR = """behaviour: tiny
robot: robotis_bioloid
chart: tiny.chart.yaml
start_pose: walk_ready
motions: {hurt: {file: hurt.motion.yaml}}
sensors:
  front: {kind: range, mount: trunk, position_m: [0.06, 0, 0.08], max_range_m: 5}
inputs:
  near: {sensor: front, below_m: 0.5}
outputs:
  - {when: go_on, play: hurt}
  - {otherwise: true, play: null}
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> RunVerb:
    """Give a function that runs the command line: exit code, stdout and stderr."""

    def run_verb(*arguments: object) -> Output:
        capsys.readouterr()
        code = app.run([*map(str, arguments)])
        return code, *capsys.readouterr()

    return run_verb


def one_joint(robot: str, joint: str, keyframes: list[tuple[float, float]]) -> str:
    """Return a motion of one joint as a document."""
    lines = [f"  - {{reach_s: {reach_s}, pose_deg: [{angle}]}}" for reach_s, angle in keyframes]
    return "\n".join(["motion: hurt", f"robot: {robot}", f"joints: [{joint}]", "keyframes:", *lines, ""])


def motion_with(robot: str, joint: str, fault: str) -> str:
    """Return a motion with one kind of fault as a document."""
    if fault != "collision":
        return one_joint(robot, joint, PLANTED[fault])
    angles = COLLIDING[robot]
    middle = ", ".join(str(angle) for angle in angles.values())
    ends = ", ".join("0" for _ in angles)
    poses = ((0.5, ends), (3.0, middle), (3.0, ends))
    lines = [f"  - {{reach_s: {reach_s}, pose_deg: [{pose}]}}" for reach_s, pose in poses]
    joints = ", ".join(angles)
    return "\n".join(["motion: hurt", f"robot: {robot}", f"joints: [{joints}]", "keyframes:", *lines, ""])


def errors_in(path: Path) -> list[str]:
    """Return the sentences of the errors that `motion check` reports."""
    return [finding.message for finding in check_motion(read_motion(path)) if finding.level is Level.ERROR]


def plain(text: str) -> str:
    """Return a text without the line breaks of a terminal."""
    return " ".join(text.split())


@pytest.fixture(params=[*FAULTS, "coupled"])
def hurt(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give a motion of an ERS-7 with one kind of fault."""
    fault = request.param
    text = COUPLED if fault == "coupled" else motion_with("sony_ers7", "left_front_rotator", fault)
    path = tmp_path / "hurt.motion.yaml"
    path.write_text(text)
    assert errors_in(path)
    return path


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    """Give a memory stick without motions."""
    root = tmp_path / "stick"
    files = {
        f"{CONF}/DESIGNDB.CFG": f"[ERS-7]\nMONET_MOTION /MS/{DATA}/MOTION7.ODA\n".encode(),
        f"{CONF}/ERS-7/MONETCMD.CFG": b"# commands\n",
        f"{CONF}/ERS-7/MONET.CFG": b"monetagentNEUTRAL a_nt#stand_standard 0\n",
        f"{DATA}/MOTION7.ODA": OdaArchive().render(),
    }
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in walk(folder)}


def walk(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def refuse_then_accept(run: RunVerb, folder: Path, hurt: Path, *arguments: object) -> Output:
    """Run a verb, which refuses with the sentences of `motion check`; then accept, and return the output."""
    before = contents(folder)
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    for sentence in errors_in(hurt):
        assert sentence in plain(err)
    assert "--accept-faults" in err
    assert contents(folder) == before
    code, out, err = run(*arguments, "--accept-faults")
    for sentence in errors_in(hurt):
        assert f"could harm the robot: {sentence}" in plain(err) or f": {sentence}" in plain(err)
    return code, out, err


@pytest.mark.parametrize("robot", COLLIDING)
def test_a_self_collision_is_an_error_of_motion_check_and_nothing_else_is_wrong(
    run: RunVerb, tmp_path: Path, robot: str
) -> None:
    path = tmp_path / "hurt.motion.yaml"
    path.write_text(motion_with(robot, "", "collision"))
    findings = check_motion(read_motion(path))
    assert {finding.rule for finding in findings if finding.level is Level.ERROR} == {"collision"}
    code, out, _ = run("motion", "check", path)
    assert code == 1
    assert all(sentence in plain(out) for sentence in errors_in(path))
    assert "collide from" in out


def test_on_a_stick(run: RunVerb, hurt: Path, stick: Path) -> None:
    name = "a_stand#stand_hurt"
    archive = stick / DATA / "MOTION7.ODA"
    original = archive.read_bytes()
    arguments = ("aibo", "add", hurt, "--id", 70, "--name", name, "--stick", stick, "--accept-loss")
    code, out, _ = refuse_then_accept(run, stick, hurt, *arguments, "--accept-jump")
    assert code == 0
    assert f"{archive}.bak" in out
    assert archive.with_name("MOTION7.ODA.bak").read_bytes() == original
    code, out, _ = run("aibo", "check", stick)
    stored = errors_in(archive)  # none of a jump: an OMTN stores no two poses at one time
    assert code == (1 if stored else 0)
    assert all(f"could harm the robot: {sentence}" in plain(out) for sentence in stored)
    second = ("aibo", "add", hurt, "--id", 71, "--name", "a_stand#stand_more", "--stick", stick)
    assert run(*second, "--accept-loss", "--accept-jump", "--accept-faults")[0] == 0
    assert archive.with_name("MOTION7.ODA.bak").read_bytes() == original, "the backup is of the first write"


def test_in_an_archive_that_is_there_and_a_new_one(run: RunVerb, hurt: Path, tmp_path: Path) -> None:
    folder = tmp_path / "archives"
    folder.mkdir()
    archive = folder / "MOTION7.ODA"
    archive.write_bytes(OdaArchive().render())
    loss = "--accept-loss"
    assert refuse_then_accept(run, folder, hurt, "aibo", "archive", "add", archive, hurt, loss)[0] == 0
    assert (folder / "MOTION7.ODA.bak").read_bytes() == OdaArchive().render()
    assert len(read_archive_file(archive).entries) == 1
    new = folder / "NEW.ODA"
    assert refuse_then_accept(run, folder, hurt, "aibo", "archive", "create", new, hurt, loss)[0] == 0


def test_out_of_an_archive_into_files_that_a_robot_plays(run: RunVerb, tmp_path: Path) -> None:
    path = tmp_path / "hurt.motion.yaml"
    path.write_text(one_joint("sony_ers7", "left_front_rotator", PLANTED["speed"]))
    archive = tmp_path / "MOTION7.ODA"
    assert run("aibo", "archive", "create", archive, path, "--accept-loss", "--accept-faults")[0] == 0
    (sentence, *_) = errors_in(archive)
    arguments = ("aibo", "archive", "extract", archive, "--to", "tekkotsu-mot", "--accept-loss", "-o")
    code, out, err = run(*arguments, tmp_path / "out")
    assert (code, out.startswith("0 files")) == (1, True)
    assert sentence in plain(err)
    code, out, err = run(*arguments, tmp_path / "out", "--accept-faults")
    assert (code, out.startswith("1 file ")) == (0, True)
    assert sentence in plain(err)
    assert run("aibo", "archive", "extract", archive, "-o", tmp_path / "same")[0] == 0, "as they are"


@pytest.mark.parametrize("name", ["hurt.mtn", "hurt.mot", "hurt.h", "hurt.oda"])
def test_in_a_file_that_a_robot_plays(run: RunVerb, hurt: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "converted"
    folder.mkdir()
    arguments = ("motion", "convert", hurt, folder / name, "--accept-loss")
    code, _, _ = refuse_then_accept(run, folder, hurt, *arguments)
    assert code == 0


def test_a_file_that_no_robot_plays_is_written_so_that_it_can_be_corrected(
    run: RunVerb, hurt: Path, tmp_path: Path
) -> None:
    assert run("motion", "convert", hurt, tmp_path / "again.motion.yaml")[0] == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_on_a_bus_but_not_in_a_simulation(run: RunVerb, tmp_path: Path, fault: str) -> None:
    path = tmp_path / "hurt.motion.yaml"
    path.write_text(motion_with("robotis_bioloid", "right_elbow", fault))
    before = contents(tmp_path)
    port = tmp_path / "no_port"
    code, _, err = run("motion", "play", path, "--body", f"dynamixel:{port}")
    assert code == 1
    assert errors_in(path)[0] in plain(err)
    assert contents(tmp_path) == before
    code, _, err = run("motion", "play", path, "--body", f"dynamixel:{port}", "--accept-faults")
    assert code == 2, "there is no such port, which is asked for now"
    assert f"could harm the robot: {errors_in(path)[0]}" in plain(err)
    assert run("motion", "play", path, "--body", "mock")[0] == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_on_a_board_and_in_a_trial_on_a_bus(run: RunVerb, tmp_path: Path, fault: str) -> None:
    path = tmp_path / "hurt.motion.yaml"
    path.write_text(motion_with("robotis_bioloid", "right_elbow", fault))
    (tmp_path / "tiny.chart.yaml").write_text(CHART)
    behaviour = tmp_path / "tiny.behaviour.yaml"
    behaviour.write_text(BEHAVIOUR)
    board = tmp_path / "board"
    code, _, _ = refuse_then_accept(run, tmp_path, path, "board", "generate", behaviour, "-o", board)
    assert code == 0
    assert json.loads((board / "posewright.json").read_text())["accepted_faults"]
    code, _, err = run("board", "flash", board, "--dry-run")
    assert code == 1
    assert errors_in(path)[0] in plain(err)
    trial = ("run", "obstacle-race", "--behaviour", behaviour, "--body", f"dynamixel:{tmp_path / 'no_port'}")
    code, _, err = run(*trial)
    assert code == 1
    assert errors_in(path)[0] in plain(err)
    assert run(*trial, "--accept-faults")[0] == 2, "there is no such port"


PROGRAMS = {
    "hurt.rm4": ("deagostini_robi2", ("robi", "assemble")),
    "hurt.bas": ("hitec_robonova1", ("basic", "motions")),
}
"""Programs by file: the robot, and the verb that writes them from a motion."""


@pytest.mark.parametrize("target", PROGRAMS)
@pytest.mark.parametrize("fault", ["speed", "jump", "collision"])
def test_in_a_program(run: RunVerb, tmp_path: Path, target: str, fault: str) -> None:
    robot, verb = PROGRAMS[target]
    path = tmp_path / "hurt.motion.yaml"
    path.write_text(motion_with(robot, "right_shoulder_pitch", fault))
    folder = tmp_path / "programs"
    folder.mkdir()
    code, _, _ = refuse_then_accept(run, folder, path, *verb, path, "-o", folder / target, "--accept-loss")
    assert code == 0
    assert (folder / target).exists()


def test_a_warning_is_no_refusal(run: RunVerb, tmp_path: Path, stick: Path) -> None:
    path = tmp_path / "bold.motion.yaml"
    path.write_text(one_joint("sony_ers7", "left_front_knee", [(0.0, 30.0), (2.0, 124.0), (2.0, 30.0)]))
    code, out, _ = run("motion", "check", path)
    assert (code, "warning" in out) == (0, True)
    arguments = ("--id", 70, "--name", "a_stand#stand_bold", "--stick", stick, "--accept-loss")
    assert run("aibo", "add", path, *arguments)[0] == 0
