"""`posewright motion`, as a person and as a program use it."""

from __future__ import annotations

import builtins
import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.cli.app import run
from posewright.formats import read_motion, read_motion_file, write_motion
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot
from posewright.robots.catalogue import CATALOGUE_FOLDER

Captured = pytest.CaptureFixture[str]
Folder = Callable[[str], Path]

SHIPPED = Path(robot("robotis_bioloid").folder or "") / "motions"
WALK = SHIPPED / "walk_forward.motion.yaml"
OFFICIAL = "robotis_mtn_text/robkwan_bio_prm_humanoidtypea_en.mtn"

WAVE = """\
# by hand
motion: wave
robot: robotis_bioloid
joints: [right_shoulder_pitch, right_elbow, left_elbow]
start_pose_deg: [0, 0, ~]
keyframes:
  - {reach_s: 0.5, pose_deg: [-20, 10.5, ~]}   # up
  - {reach_s: 0.5, pause_s: 1.0, pose_deg: [0, ~, free]}
"""


@pytest.fixture
def wave(tmp_path: Path) -> Path:
    path = tmp_path / "wave.motion.yaml"
    path.write_text(WAVE)
    return path


def answer(capsys: Captured, *words: str | Path, code: int = 0) -> Any:
    assert run(["motion", *map(str, words), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def refusal(capsys: Captured, *words: str | Path) -> str:
    """Run something that must be refused in one line, and return the line."""
    assert run(["motion", *map(str, words)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    last = captured.err.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert "Traceback" not in captured.err
    return last


def test_info_tells_a_program_what_a_file_holds(capsys: Captured, wave: Path) -> None:
    told = answer(capsys, "info", wave)
    assert (told["format"], told["robot"], told["name"]) == ("posewright-motion", "robotis_bioloid", "wave")
    assert (told["keyframes"], told["duration_s"], told["repeat"]) == (2, 2.0, 1)
    assert told["keyframe_times_s"] == [0.5, 1.0]
    assert told["joints"] == ["right_shoulder_pitch", "right_elbow", "left_elbow"]
    assert told["free_joints"] == ["left_elbow"]
    assert told["warnings"] == []
    assert [page["name"] for page in told["pages"]] == ["wave"]
    walk = answer(capsys, "info", WALK)
    assert (walk["repeat"], walk["total_duration_s"], walk["duration_s"]) == (None, None, 0.5)


def test_info_tells_a_person(capsys: Captured, wave: Path) -> None:
    assert run(["motion", "info", str(wave)]) == 0
    shown = capsys.readouterr().out
    for word in ("wave", "posewright-motion", "2.000 s", "left_elbow", "linear"):
        assert word in shown
    assert run(["motion", "info", str(WALK)]) == 0
    shown = capsys.readouterr().out
    for word in ("for ever", "all 18", "UC3M thesis"):
        assert word in shown


def test_info_lists_the_pages_of_a_vendor_file_and_warns_on_stderr(capsys: Captured, samples: Folder) -> None:
    path = samples(OFFICIAL)
    assert run(["motion", "info", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert "warning:" in captured.err
    assert told["warnings"]
    first = told["pages"][0]
    assert (first["number"], first["name"], first["keyframes"]) == (
        1,
        "Bow",
        len(read_motion(path, "Bow").keyframes),
    )
    assert set(first) == {"number", "name", "keyframes", "duration_s", "repeat", "next", "exit"}
    assert answer(capsys, "info", path, "--page", "Bow")["page"] == 1
    assert run(["motion", "info", str(path)]) == 0
    assert "Rap chest" in capsys.readouterr().out


def test_convert_to_the_same_format_is_byte_identical(capsys: Captured, wave: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy.motion.yaml"
    assert run(["motion", "convert", str(wave), str(out)]) == 0
    assert out.read_bytes() == wave.read_bytes()
    assert "copy.motion.yaml" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", [OFFICIAL, "robotis_mtn_text/sumo_COMMA.mtn", "robotis_mtn_text/grab-n-lift_BADSUM.mtn"]
)
def test_a_vendor_file_is_copied_whole_damage_and_all_or_repaired_on_request(
    capsys: Captured, samples: Folder, tmp_path: Path, name: str
) -> None:
    copy, whole = tmp_path / "copy.mtn", tmp_path / "whole.mtn"
    assert run(["motion", "convert", str(samples(name)), str(copy)]) == 0
    assert copy.read_bytes() == samples(name).read_bytes()
    assert "warning:" in capsys.readouterr().err
    assert run(["motion", "convert", str(samples(name)), str(whole), "--repair"]) == 0
    assert read_motion_file(whole).motions == read_motion_file(copy).motions
    assert not [warning for warning in read_motion_file(whole).warnings if "checksum" in warning]


def test_a_walk_goes_to_a_vendor_file_and_back(tmp_path: Path) -> None:
    page, back = tmp_path / "walk.mtn", tmp_path / "walk.motion.yaml"
    assert run(["motion", "convert", str(WALK), str(page), "--accept-loss"]) == 0
    assert run(["motion", "convert", str(page), str(back), "--accept-loss"]) == 0
    one, other = read_motion(WALK), read_motion(back)
    for frame, again in zip(one.keyframes, other.keyframes, strict=True):
        np.testing.assert_allclose(np.rad2deg(frame.pose.angles), np.rad2deg(again.pose.angles), atol=0.15)
    assert other.repeat is None


def test_what_would_be_lost_is_refused_until_it_is_accepted(
    capsys: Captured, wave: Path, tmp_path: Path
) -> None:
    out = tmp_path / "wave.csv"
    line = refusal(capsys, "convert", WALK, tmp_path / "walk.mtn")
    assert "--accept-loss" in line
    assert not (tmp_path / "walk.mtn").exists()
    refusal(capsys, "convert", wave, out)
    assert not out.exists()
    assert run(["motion", "convert", str(WALK), str(tmp_path / "walk.mtn"), "--accept-loss"]) == 0
    assert "lost:" in capsys.readouterr().err


def test_the_format_may_be_named(capsys: Captured, wave: Path, tmp_path: Path) -> None:
    out = tmp_path / "wave.txt"
    assert run(["motion", "convert", str(wave), str(out), "--to", "posewright-motion"]) == 0
    assert out.read_bytes() == wave.read_bytes()
    capsys.readouterr()
    assert "posewright-motion" in refusal(capsys, "convert", wave, out, "--to", "posewright-motoin")


def test_an_output_that_stands_there_survives_a_refusal(capsys: Captured, wave: Path, tmp_path: Path) -> None:
    out = tmp_path / "kept.csv"
    out.write_text("mine")
    refusal(capsys, "convert", wave, out)
    assert out.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.csv", "wave.motion.yaml"]


def test_check_finds_nothing_in_what_ships(capsys: Captured) -> None:
    for path in SHIPPED.iterdir():
        report = answer(capsys, "check", path)
        assert (report["errors"], report["warnings"], report["findings"]) == (0, 0, [])
    assert run(["motion", "check", str(WALK)]) == 0
    assert capsys.readouterr().out.strip() == "no errors, no warnings"


def test_check_says_keyframe_joint_value_and_limit_and_exits_with_one(capsys: Captured, wave: Path) -> None:
    wave.write_text(WAVE.replace("10.5", "110.5"))
    report = answer(capsys, "check", wave, "--pose", "walk_ready", code=1)
    (limit,) = (found for found in report["findings"] if found["rule"] == "limit" and found["keyframe"] == 1)
    assert (limit["level"], limit["joint"], limit["unit"]) == ("error", "right_elbow", "deg")
    assert limit["value"] == pytest.approx(110.5)
    assert limit["limit"] == pytest.approx(105.0)
    assert report["errors"] == sum(found["level"] == "error" for found in report["findings"])
    assert run(["motion", "check", str(wave)]) == 1
    shown = capsys.readouterr().out
    assert "keyframe 1: right_elbow is commanded to 110.50 deg, its limit is 105.00 deg" in shown


def test_a_celebration_may_last(capsys: Captured, wave: Path) -> None:
    wave.write_text(WAVE.replace("pause_s: 1.0", "pause_s: 3.0").replace(", free]", ", ~]"))
    team = ("check", wave, "--rules", "eagle_knights")
    assert {found["rule"] for found in answer(capsys, *team, code=1)["findings"]} == {"duration"}
    assert answer(capsys, *team, "--celebration")["findings"] == []


def test_what_a_team_wants_is_only_asked_where_its_rules_are_named(capsys: Captured, wave: Path) -> None:
    wave.write_text(WAVE.replace("pause_s: 1.0", "pause_s: 3.0").replace(", free]", ", ~]"))
    assert answer(capsys, "check", wave)["findings"] == []
    assert run(["motion", "check", str(wave), "--celebration"]) == 2
    assert "a team's rules may: eagle_knights" in capsys.readouterr().err
    assert run(["motion", "check", str(wave), "--rules", "eagle_nights"]) == 2
    assert "did you mean eagle_knights?" in capsys.readouterr().err


def test_rules_of_ones_own_are_a_file(capsys: Captured, wave: Path) -> None:
    own = wave.with_name("own.rules.yaml")
    own.write_text("rules: own\nchecks: [duration, pose]\nnear_pose: [walk_ready]\nmax_duration_s: 0.5\n")
    found = answer(capsys, "check", wave, "--rules", own, code=1)["findings"]
    assert {(one["rule"], one["limit"]) for one in found if one["rule"] == "duration"} == {("duration", 0.5)}
    own.write_text("rules: own\nchecks: [durations]\n")
    assert run(["motion", "check", str(wave), "--rules", str(own)]) == 2
    assert "own.rules.yaml:2" in capsys.readouterr().err


def test_sonys_archives_have_no_error_and_a_line_a_motion(
    capsys: Captured, samples: Callable[[str], Path]
) -> None:
    archive = str(samples("aibo_oda/sdk_ers7_MOTION7.ODA"))
    assert run(["motion", "check", archive]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == 12
    assert last.startswith("12 motions: no errors, ")
    assert last.endswith("shows all {})".format(re.findall(r"\d+", last)[-1]))
    assert any(line.split() == ["a_stand#stand_so0_makebow", "ok"] for line in lines)
    assert run(["motion", "check", archive, "-v"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > len(lines) + 1
    for name in ("ers111_cd_1", "a_walk__walk_sox_fwd", "a_sit__stand_standard"):
        assert run(["motion", "check", str(samples(f"aibo_mtn/{name}.mtn"))]) == 0


@pytest.mark.parametrize(
    "path", sorted(CATALOGUE_FOLDER.glob("*/motions/*.yaml")), ids=lambda path: path.name.partition(".")[0]
)
def test_what_ships_has_no_error(capsys: Captured, path: Path) -> None:
    assert answer(capsys, "check", path)["errors"] == 0


def test_a_warning_fails_only_a_strict_check(capsys: Captured, wave: Path) -> None:
    back = "  - {reach_s: 0.5, pose_deg: [0, ~, 0]}\n"
    wave.write_text(WAVE.replace("pause_s: 1.0", "pause_s: 0.1") + back)
    assert answer(capsys, "check", wave)["warnings"] == 1
    assert answer(capsys, "check", wave, "--strict", code=1)["errors"] == 0


def test_a_jump_is_null_in_json(capsys: Captured, wave: Path) -> None:
    wave.write_text(WAVE.replace("{reach_s: 0.5, pose", "{reach_s: 0, pose"))
    found = answer(capsys, "check", wave, code=1)["findings"][0]
    assert (found["rule"], found["value"]) == ("speed", None)


def test_sampling_the_source_table_gives_its_printed_degrees(capsys: Captured, source_tables: Folder) -> None:
    table = source_tables("thesis_table_forward.csv")
    with table.open() as file:
        printed = {
            int(row["thesis_id"]): list(map(float, list(row.values())[1:6])) for row in csv.DictReader(file)
        }
    told = answer(capsys, "sample", table, "--rate", "8")
    assert told["times_s"] == [0.0, 0.125, 0.25, 0.375, 0.5]
    for column, number in enumerate(told["servo_ids"]["uc3m_thesis"]):
        np.testing.assert_allclose([row[column] for row in told["servo_deg"]], printed[number], atol=0.01)
        exact = [told["start"], *told["keyframes"]]
        np.testing.assert_allclose([at["servo_deg"][column] for at in exact], printed[number], atol=0.01)
    assert told["servo_ids"]["robotis"] == list(range(1, 19))
    assert (
        run(
            [
                "motion",
                "sample",
                str(table),
                "--rate",
                "8",
                "--unit",
                "servo_deg",
                "--numbering",
                "uc3m_thesis",
            ]
        )
        == 0
    )
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    for number in map(int, list(rows[0])[1:]):
        values = [float(row[str(number)]) for row in rows]
        np.testing.assert_allclose(values, printed[number], atol=0.01)


def test_units_are_the_same_angle_in_other_words(capsys: Captured) -> None:
    tables = {
        unit: np.array(answer(capsys, "sample", WALK, "--rate", "20", "--unit", unit)["values"], dtype=float)
        for unit in ("deg", "rad", "servo_deg", "ticks")
    }
    np.testing.assert_allclose(np.rad2deg(tables["rad"]), tables["deg"], atol=1e-7)
    np.testing.assert_allclose(tables["ticks"] * 300 / 1024, tables["servo_deg"], atol=1e-7)
    np.testing.assert_allclose(robot("robotis_bioloid").to_ticks(tables["rad"]), tables["ticks"], atol=1e-6)


def test_a_free_joint_is_null_in_json_and_empty_in_csv(capsys: Captured, wave: Path, tmp_path: Path) -> None:
    told = answer(capsys, "sample", wave, "--rate", "2")
    assert told["angles_deg"] == [
        [0.0, 0.0, None],
        [-20.0, 10.5, None],
        [0.0, 10.5, None],
        [0.0, 10.5, None],
        [0.0, 10.5, None],
    ]
    assert told["keyframes"][1]["free"] == ["left_elbow"]
    out = tmp_path / "wave.csv"
    assert run(["motion", "sample", str(wave), "--rate", "2", "-o", str(out)]) == 0
    assert "5 rows" in capsys.readouterr().out
    assert out.read_text().splitlines()[:2] == [
        "time_s,right_shoulder_pitch,right_elbow,left_elbow",
        "0.0,0.0,0.0,",
    ]


def test_a_loop_is_sampled_as_long_as_asked_for(capsys: Captured) -> None:
    assert answer(capsys, "sample", WALK, "--rate", "8", "--until", "1.25")["times_s"][-1] == 1.25


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_plot_is_drawn_the_same_every_time(tmp_path: Path, wave: Path, kind: str) -> None:
    pictures = []
    for name in ("one", "two"):
        out = tmp_path / f"{name}.{kind}"
        assert run(["motion", "plot", str(wave), "-o", str(out)]) == 0
        pictures.append(out.read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(b"\x89PNG" if kind == "png" else b"<?xml")


def test_a_plot_shows_the_joints_that_move_and_no_others(tmp_path: Path) -> None:
    out = tmp_path / "walk.svg"
    assert run(["motion", "plot", str(WALK), "--output", str(out)]) == 0
    drawn = out.read_text()
    assert "right knee" in drawn
    assert "right elbow" not in drawn


def test_a_plot_without_matplotlib_says_which_extra_brings_it(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "posewright[plot]" in refusal(capsys, "plot", WALK, "-o", tmp_path / "walk.png")
    assert not (tmp_path / "walk.png").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("info", "nowhere.mtn"), "nowhere.mtn"),
        (("info", "{folder}"), "directory"),
        (("info", "{walk}", "--page", "nine"), "nine"),
        (("check", "{walk}", "--pose", "walkready"), "did you mean walk_ready"),
        (("check", "{walk}", "--page", "7"), "7"),
        (("sample", "{walk}", "--rate", "0"), "rate"),
        (("sample", "{walk}", "--rate", "nan"), "rate"),
        (("sample", "{walk}", "--rate", "1e9"), "rows"),
        (("sample", "{walk}", "--rate", "8", "--until", "-1"), "the end time is"),
        (("sample", "{walk}", "--rate", "8", "--unit", "grad"), "did you mean rad"),
        (("sample", "{walk}", "--rate", "8", "--numbering", "robots"), "did you mean robotis"),
        (("sample", "{walk}", "--rate", "8", "-o", "{folder}/no/where.csv"), "where.csv"),
        (("plot", "{walk}", "-o", "{folder}/walk.gif"), ".png, .svg or .pdf"),
        (("plot", "{walk}", "-o", "{folder}/no/walk.png"), "walk.png"),
        (("convert", "{walk}", "{folder}/walk.csv", "--to", "mtn"), "roboplus-mtn"),
        (("convert", "{walk}", "{folder}/no/walk.motion.yaml"), "cannot write"),
        (("convert", "nowhere.mtn", "{folder}/walk.mtn"), "nowhere.mtn"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    capsys: Captured, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    spoken = [word.format(walk=WALK, folder=tmp_path) for word in words]
    assert says in refusal(capsys, *spoken)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x02" * 100, b"motion: [", b"hello there\n", b"%PDF-1.4"])
@pytest.mark.parametrize("verb", ["info", "check"])
def test_a_file_of_another_kind_is_refused_by_every_verb(
    capsys: Captured, tmp_path: Path, data: bytes, verb: str
) -> None:
    path = tmp_path / "odd.motion.yaml"
    path.write_bytes(data)
    assert "odd.motion.yaml" in refusal(capsys, verb, path)


def test_whose_motion_was_assumed_is_said_wherever_it_counts(
    capsys: Captured, tmp_path: Path, wave: Path
) -> None:
    page = tmp_path / "page.mtn"
    assert run(["motion", "convert", str(WALK), str(page), "--accept-loss"]) == 0
    capsys.readouterr()
    for verb in (("info", page), ("check", page), ("convert", page, tmp_path / "page.motion.yaml")):
        answered = run(["motion", *map(str, verb), "--json", *(["--accept-loss"] if len(verb) > 2 else [])])
        told = capsys.readouterr()
        assert answered == 0
        assert json.loads(told.out)["assumed"].startswith("robotis_bioloid (18 joints)")
        assert "assumed robotis_bioloid (18 joints): the file does not name its robot" in told.err
    assert run(["motion", "info", str(page), "--robot", "robotis_bioloid"]) == 0
    assert "assumed" not in capsys.readouterr().err
    assert answer(capsys, "info", wave)["assumed"] is None


def test_a_file_whose_poses_are_beyond_the_joints_of_whom_it_is_taken_for_is_doubted(tmp_path: Path) -> None:
    man = robot("robotis_bioloid")
    bent = man.hardware_limits[0] - np.radians(30.0)  # as a scorpion's servos may be
    page = tmp_path / "scorpion.mtn"
    frames = [Keyframe(Pose(man.joint_names, bent), 0.5)]
    write_motion(Motion("scorpion", man.name, man.joint_names, frames), page, accept_loss=True)
    told = read_motion_file(page).assumed_robot or ""
    assert "1 of its 1 poses exceed the joint limits of this one" in told


def test_part_of_a_pages_name_leads_to_it(capsys: Captured, tmp_path: Path) -> None:
    archive = tmp_path / "MOTION7.ODA"
    dog = robot("sony_ers7")
    names = ("a_stand#stand_so0_makebow", "a_sit#sit_so0_greet")
    motions = [
        Motion(name, dog.name, dog.joint_names, [Keyframe(Pose(dog.joint_names, dog.pose("sit")), 0.0)])
        for name in names
    ]
    write_motion(motions[0], archive)
    write_motion(motions[1], tmp_path / "greet.mtn")
    assert run(["aibo", "archive", "add", str(archive), str(tmp_path / "greet.mtn"), "--name", names[1]]) == 0
    assert run(["motion", "info", str(archive), "--page", "makebow"]) == 2
    assert "did you mean a_stand#stand_so0_makebow?" in capsys.readouterr().err
