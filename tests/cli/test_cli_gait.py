"""`posewright gait list`, `show` and `sample`, as a person and as a program use them."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.cli.app import run
from posewright.formats import read_motion, read_motion_file
from posewright.gaits import (
    EXPLANATIONS,
    GaitGenerator,
    QuadrupedGenerator,
    SteadyWalk,
    VelocityCommand,
    gait_names,
    gait_text,
    read_gait,
)
from posewright.gaits.steady import walk_from_standing
from posewright.robots import robot

Captured = pytest.CaptureFixture[str]

ERS7 = robot("sony_ers7")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def answer(capsys: Captured, *words: str | Path) -> Any:
    assert run(["gait", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def said(capsys: Captured, *words: str | Path) -> str:
    assert run(["gait", *map(str, words)]) == 0
    return capsys.readouterr().out


def refusal(capsys: Captured, *words: str | Path) -> str:
    """Run something that must be refused in one line, and return the line."""
    assert run(["gait", *map(str, words)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    last = captured.err.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert "Traceback" not in captured.err
    return last


def test_the_list_has_every_gait_that_ships_with_its_speeds(capsys: Captured) -> None:
    told = answer(capsys, "list")
    assert sorted(entry["gait"] for entry in told) == list(gait_names())
    walk = QuadrupedGenerator(read_gait("trot"), ERS7)
    trot = next(entry for entry in told if entry["gait"] == "trot")
    assert trot["robot"] == "sony_ers7"
    assert trot["period_s"] == pytest.approx(walk.timing.period_s)
    walk.request(VelocityCommand(trot["greatest_speed_m_s"] * 0.999999))
    assert answer(capsys, "list", "--robot", "sony_ers7") == [
        entry for entry in told if entry["robot"] == "sony_ers7"
    ]
    shown = said(capsys, "list")
    assert all(name in shown for name in gait_names())


def test_a_robot_without_gaits_has_an_empty_list(capsys: Captured) -> None:
    assert answer(capsys, "list", "--robot", "deagostini_robi2") == []
    assert "no gait" in said(capsys, "list", "--robot", "deagostini_robi2")
    assert "sony_ers7" in refusal(capsys, "list", "--robot", "sony_ers8")


def test_show_tells_every_parameter_with_value_unit_range_sentence_and_the_name_in_the_document(
    capsys: Captured,
) -> None:
    gait = read_gait("trot")
    told = answer(capsys, "show", "trot", "--no-check")
    assert [entry["name"] for entry in told["parameters"]] == list(EXPLANATIONS)
    for entry in told["parameters"]:
        known = EXPLANATIONS[entry["name"]]
        assert (entry["document"], entry["unit"]) == (known.title, known.unit)
        assert (entry["low"], entry["high"], entry["sentence"]) == (known.low, known.high, known.sentence)
    values = {entry["name"]: entry["value"] for entry in told["parameters"]}
    assert values["shape_factor"] == gait.parameters.shape_factor
    assert values["rear_height_m"]["hind"] == gait.parameters.rear_height_m.hind
    assert values["equilibrium_m"]["left_rear"] == list(gait.parameters.equilibrium_m["left_rear"])
    assert told["phase_offsets"] == dict(gait.phases.offsets)
    assert told["check"] is None
    timing = told["timing"]
    assert timing["frames"] * timing["frame_s"] == pytest.approx(timing["period_s"])
    assert timing["ground_s"] + timing["air_s"] == pytest.approx(timing["period_s"])


def test_show_is_readable(capsys: Captured) -> None:
    shown = said(capsys, "show", "crawl")
    assert "0.01 to 1 m/s" in shown
    for name, told in EXPLANATIONS.items():
        assert name in shown
        assert told.title.capitalize() in shown
    for concern in ("reach", "joint limit", "coupled limit", "joint speed"):
        assert concern in shown


def test_show_tells_what_the_joints_would_have_to_do(capsys: Captured) -> None:
    check = answer(capsys, "show", "trot", "--set", "ground_speed_m_s=1", "--set", "ascent_pairs=1")["check"]
    worst = {(entry["concern"], entry["when"]): entry for entry in check["worst"]}
    speed = worst["joint speed", "steady"]
    assert speed["kept"] is False
    assert speed["value"] > 1.0
    assert speed["part"] in ERS7.joint_names
    assert set(speed["command"]) == {"forward_m_s", "left_m_s", "turn_rad_s"}
    assert check["findings"] == sum(not entry["kept"] for entry in check["worst"])
    assert check["kept"] == sum(entry["kept"] for entry in check["tried"]) < check["commands"]
    shown = said(capsys, "show", "trot", "--set", "ground_speed_m_s=1", "--set", "ascent_pairs=1")
    assert "BEYOND" in shown


def test_values_are_set_by_name(capsys: Captured) -> None:
    words = ("--set", "shape_factor=0.25", "--set", "front_height_m.fore = 0.02", "--set", "ascent_pairs=1")
    told = answer(capsys, "show", "trot", "--no-check", *words, "--set", "travel_gain.left=1.25")
    values = {entry["name"]: entry["value"] for entry in told["parameters"]}
    assert values["shape_factor"] == 0.25
    assert values["front_height_m"]["fore"] == 0.02
    assert values["ascent_pairs"] == 1
    assert told["travel_gain"]["left"] == 1.25


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("shape_factor=2", "the range is 0 to 1"),
        ("shape_factor", "has no value"),
        ("shape_factor=round", "round is not a number"),
        ("shape_factor=nan", "shape_factor is nan"),
        ("shape=1", "unknown gait parameter 'shape'"),
        ("=1", "unknown gait parameter"),
        ("travel_gain.up=1", "travel_gain"),
        ("ground_points=2.5", "a whole number"),
        ("ascent_pairs=40", "ascent_pairs is 40: up and down take"),
    ],
)
@pytest.mark.parametrize("verb", ["show", "sample"])
def test_a_value_that_cannot_be_set_is_refused(verb: str, setting: str, says: str, capsys: Captured) -> None:
    assert says in refusal(capsys, verb, "trot", "--set", setting)


@pytest.mark.parametrize("verb", ["show", "sample"])
def test_a_gait_that_there_is_not_is_refused(verb: str, capsys: Captured, tmp_path: Path) -> None:
    assert "trot" in refusal(capsys, verb, "trott")
    assert "robotis_bioloid" in refusal(capsys, verb, "trot", "--robot", "robotis_bioloid")
    assert "none.gait.yaml" in refusal(capsys, verb, tmp_path / "none.gait.yaml")


def test_ones_own_gait_is_shown_and_refused_with_its_line(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "own.gait.yaml"
    path.write_text(gait_text(read_gait("trot")), encoding="utf-8")
    assert answer(capsys, "show", path, "--no-check")["path"] == str(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, 1) if "maximum_turn_rad" in text)
    lines[line - 1] = "  maximum_turn_rad: 9"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert f"own.gait.yaml:{line}: parameters.maximum_turn_rad: 9 is out of range" in refusal(
        capsys, "show", path
    )


def test_sample_gives_the_frames_of_a_cycle_as_a_table(capsys: Captured) -> None:
    rows = list(csv.DictReader(io.StringIO(said(capsys, "sample", "trot", "--forward", "0.1"))))
    walk = QuadrupedGenerator(read_gait("trot"), ERS7)
    walk.request(VelocityCommand(0.1))
    frames = walk.timing.n_frames
    steady = walk.frames(9 * frames)[8 * frames - 1 :]
    assert len(rows) == frames + 1
    table = np.array([[float(row[joint]) for joint in ERS7.joint_names] for row in rows])
    assert np.abs(np.deg2rad(table) - steady).max() < 1e-9
    assert float(rows[-1]["time_s"]) == pytest.approx(walk.timing.period_s)


def test_a_table_may_be_coarser_longer_and_go_to_a_file(capsys: Captured, tmp_path: Path) -> None:
    frames = read_frames(capsys)
    told = answer(capsys, "sample", "trot", "--cycles", "2", "--every", "2", "--lead-in")
    assert told["times_s"][1] == pytest.approx(0.016)
    assert told["times_s"][-1] > 3 * frames * 0.008
    assert "rows ->" in said(capsys, "sample", "trot", "-o", tmp_path / "cycle.csv")
    assert (tmp_path / "cycle.csv").read_text().startswith("time_s,neck_tilt")


def read_frames(capsys: Captured) -> int:
    return int(answer(capsys, "show", "trot", "--no-check")["timing"]["frames"])


def test_sample_writes_a_motion_that_repeats_for_ever(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "ahead.motion.yaml"
    assert "posewright-motion" in said(capsys, "sample", "trot", "--forward", "0.1", "-o", path)
    motion = read_motion(path)
    assert motion.name == "ahead"
    assert motion.repeat is None
    assert len(motion.keyframes) == read_frames(capsys) + 1
    assert "forward 0.1 m/s" in motion.source


@pytest.mark.parametrize("name", ["walk.mtn", "EKMoves.h", "walk.motion"])
@pytest.mark.parametrize("gait", ["crawl", "trot", "fast"])
def test_sample_writes_every_file_of_an_aibo_without_a_loss(
    name: str, gait: str, capsys: Captured, tmp_path: Path
) -> None:
    told = answer(
        capsys, "sample", gait, "--forward", "0.05", "--cycles", "2", "--lead-in", "-o", tmp_path / name
    )
    assert told["losses"] == []
    assert told["repeat"] == 1
    again = read_motion(tmp_path / name, robot=ERS7)
    assert again.duration == pytest.approx(told["duration_s"], abs=0.02)


def test_what_a_file_cannot_hold_is_listed_and_nothing_is_written(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "walk.mtn"
    assert "--accept-loss" in refusal(capsys, "sample", "trot", "--every", "1", "-o", path)
    assert not path.exists()
    assert run(["gait", "sample", "trot", "--every", "1", "-o", str(path), "--accept-loss"]) == 0
    assert "lost:" in capsys.readouterr().err
    assert path.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--forward", "5"), "5 m/s is out of range"),
        (("--turn", "-9"), "rad/s is out of range"),
        (("--forward", "nan"), "forward_m_s is nan"),
        (("--left", "inf"), "left_m_s is inf"),
        (("--cycles", "0"), "cycles is 0"),
        (("--every", "0"), "every_frames is 0"),
        (("--every", "-3"), "every_frames is -3"),
        (("--every", "1000000"), "every_frames is 1000000"),
        (("--cycles", "99999999"), "1 to 10,000"),
        (("-o", "walk.docx"), "'.docx' is not the ending of a motion file"),
    ],
)
def test_what_cannot_be_sampled_is_refused(words: tuple[str, ...], says: str, capsys: Captured) -> None:
    assert says in refusal(capsys, "sample", "trot", *words)


def test_a_gait_is_not_overwritten_by_its_own_sample(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(gait_text(read_gait("trot")), encoding="utf-8")
    before = path.read_bytes()
    words = ("sample", str(path), "-o", str(path))
    assert run(["gait", *words]) == 2
    capsys.readouterr()
    assert path.read_bytes() == before


@pytest.mark.parametrize("verb", ["list", "show", "sample", "plot", "run", "compare"])
def test_every_verb_has_help_with_examples(verb: str, capsys: Captured) -> None:
    shown = said(capsys, verb, "--help")
    assert "Examples" in shown
    assert f"posewright gait {verb}" in shown


def test_a_speed_that_is_printed_can_be_asked_for(capsys: Captured) -> None:
    for gait in gait_names():
        (line,) = re.findall("^  commands .*$", said(capsys, "show", gait, "--no-check"), re.MULTILINE)
        slowest, fastest = re.search(r"(-?[\d.]+) to ([\d.]+) m/s", line).groups()
        right, left = re.search(r"(-[\d.]+) to ([\d.]+) rad/s", line).groups()
        for words in (("--forward", slowest), ("--forward", fastest), ("--turn", right), ("--turn", left)):
            assert said(capsys, "sample", gait, *words)


def test_a_command_at_which_joints_do_worst_can_be_asked_for(capsys: Captured) -> None:
    shown = said(capsys, "show", "trot")
    walk = QuadrupedGenerator(read_gait("trot"), ERS7)
    told = re.findall(r" left ([-+][\d.]+) turn ([-+][\d.]+)$", shown, re.MULTILINE)
    assert told
    for left, turn in told:
        walk.request(VelocityCommand(0.0, float(left), float(turn)))


def test_nothing_that_is_shown_is_cut_at_80_columns(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = said(capsys, "show", "trot", "--no-check")
    assert "\u2026" not in shown
    assert all(f"\n{name} " in shown for name in EXPLANATIONS)


def test_a_foot_that_cannot_stand_is_told_by_its_parameter(capsys: Captured) -> None:
    told = refusal(capsys, "show", "trot", "--set", "equilibrium_m.fore.z=-0.3")
    x, y, _ = read_gait("trot").parameters.equilibrium_m["left_front"]
    assert f"equilibrium_m.left_front is ({x:g}, {y:g}, -0.3) m: too far" in told
    assert "nearest=True" not in told


def test_a_foot_too_near_its_shoulder_is_not_told_to_go_nearer(capsys: Captured) -> None:
    near = {"x": 0.0651, "y": 0.0669, "z": -0.0117}
    words = [word for axis, at in near.items() for word in ("--set", f"equilibrium_m.fore.{axis}={at}")]
    told = refusal(capsys, "show", "trot", *words)
    assert "too near" in told
    assert "another point" in told


def own_card(folder: Path, *, text: tuple[str, str]) -> Path:
    """Put an ERS-7 into a folder, other in one text, and beside it a gait for it; return the gait."""
    assert ERS7.folder is not None
    shutil.copy(ERS7.folder / "model.xml", folder)
    card = (ERS7.folder / "robot.yaml").read_text(encoding="utf-8")
    assert text[0] in card
    (folder / "robot.yaml").write_text(card.replace(*text), encoding="utf-8")
    path = folder / "own.gait.yaml"
    gait = gait_text(read_gait("trot")).replace("robot: sony_ers7", "robot: ./robot.yaml", 1)
    path.write_text(gait, encoding="utf-8")
    return path


@pytest.mark.parametrize("verb", ["show", "sample", "run", "compare"])
def test_a_robot_whose_legs_are_called_otherwise_is_refused(
    verb: str, capsys: Captured, tmp_path: Path
) -> None:
    path = own_card(tmp_path, text=("left_front_leg", "leg_1"))
    for words in ((path,), (path, "--robot", tmp_path / "robot.yaml")):
        assert "sony_ers7 has no left_front_leg" in refusal(capsys, verb, *words)


@pytest.mark.parametrize("name", ['""', "../../etc", '"a\\e[31mb"'])
def test_what_is_no_name_is_refused(name: str, capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "own.gait.yaml"
    text = gait_text(read_gait("trot")).replace("gait: trot", f"gait: {name}", 1)
    path.write_text(text, encoding="utf-8")
    assert "is not a valid name" in refusal(capsys, "show", path, "--no-check")


def test_a_gait_cannot_steer_the_terminal(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "own.gait.yaml"
    gait = replace(read_gait("trot"), description="red \x1b[31m", source="\x1b]0;title\x07")
    path.write_text(gait_text(gait), encoding="utf-8")
    shown = said(capsys, "show", path, "--no-check")
    assert "\x1b" not in shown
    assert r"red \x1b[31m" in shown


def cycle_of(stroke_m: float) -> list[str]:
    """Return the options that give a trot so long a cycle: a stroke at 0.29 m/s, and 1.9545 times that up."""
    values = {"ground_speed_m_s": 0.29, "air_ground_factor": 1.9545, "maximum_displacement_m": stroke_m}
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def test_a_walk_that_does_not_fit_the_frames_of_a_file_says_so(capsys: Captured, tmp_path: Path) -> None:
    odd = ("trot", *cycle_of(0.0211), "--forward", "0.05")
    path = tmp_path / "walk.mtn"
    assert answer(capsys, "sample", *odd, "-o", tmp_path / "cycle.csv")["times_s"][-1] == pytest.approx(0.216)
    assert "--cycles 2 fits exactly" in said(capsys, "sample", *odd, "-o", path)
    assert "rounded" not in said(capsys, "sample", *odd, "--cycles", "2", "-o", path)


def test_the_pages_of_a_biped_last_as_long_as_its_walk(capsys: Captured, tmp_path: Path) -> None:
    """RoboPlus counts in frames of 8 ms, a Bioloid's are 7.8 ms: 1 % apart after many keyframes."""
    path = tmp_path / "walk.mtn"
    words = ("sample", "biped", "--forward", "0.1", "--cycles", "2", "--every", "4")
    told = answer(capsys, *words, "--from", "stand", "--to", "stand", "-o", path)
    pages = read_motion_file(path, robot=robot("robotis_bioloid")).motions
    assert len(pages) > 1
    assert sum(page.duration for page in pages) == pytest.approx(told["duration_s"], rel=0.05)
    assert told["rounded"].endswith(f" to {sum(page.duration for page in pages):.3f} s, in frames of 8 ms")


def test_cycles_that_would_fit_are_counted_as_people_do(capsys: Captured, tmp_path: Path) -> None:
    path = own_card(tmp_path, text=("period_s: 0.008", "period_s: 0.004"))
    odd = (path, *cycle_of(0.0208), "--forward", "0.05", "--lead-in")
    words = ("sample", *odd, "--robot", tmp_path / "robot.yaml", "-o", tmp_path / "walk.mtn")
    assert "3 cycles more fit exactly" in said(capsys, *words, "--cycles", "3", "--accept-loss")
    assert "1 cycle more fits exactly" in said(capsys, *words, "--cycles", "1")


def test_a_walk_that_is_sampled_is_planned_once(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = []

    def counted(generator: GaitGenerator, command: VelocityCommand, n_frames: int) -> SteadyWalk:
        planned.append(command)
        return walk_from_standing(generator, command, n_frames)

    monkeypatch.setattr("posewright.gaits.sampling.walk_from_standing", counted)
    said(capsys, "sample", "trot", "--forward", "0.1", "-o", tmp_path / "walk.mtn")
    assert len(planned) == 1


def test_a_walk_begins_and_ends_in_the_poses_asked_for(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "walk.mtn"
    said(capsys, "sample", "trot", "--forward", "0.1", "--from", "sit", "--to", "stand", "-o", file)
    poses = read_motion(file).resolved_poses()
    assert np.allclose(poses[1].angles, ERS7.pose("sit"), atol=1e-6)
    assert np.allclose(poses[-1].angles, ERS7.pose("stand"), atol=1e-6)


def test_a_pose_that_the_robot_does_not_have_is_refused_with_those_it_has(capsys: Captured) -> None:
    assert run(["gait", "sample", "trot", "--from", "kneel"]) == 2
    assert "broad_base, sit, sleep, stand, walk" in capsys.readouterr().err
