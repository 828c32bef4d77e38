"""`posewright score` and `posewright judge`, as a program calls them."""

from __future__ import annotations

import json

import pytest

from posewright.cli.app import run
from posewright.contests import judge, score
from posewright.recordings import write_mcap


def test_score_writes_json_alone(capsys):
    arguments = ["score", "obstacle-race", "--time", "120", "--distance", "150", "--penalties", "2", "--json"]
    assert run(arguments) == 0
    written = json.loads(capsys.readouterr().out)
    expected = score(120.0, 150.0, 2)
    assert (written["points"], written["raw_points"]) == (expected.points, expected.raw_points)
    assert written["time_points"] == 4.5


def test_score_shows_people_its_terms(capsys):
    assert run(["score", "obstacle-race", "--time", "120", "--distance", "75"]) == 0
    assert "+3.750" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--time", "400", "--distance", "10"], "the range is 0..300"),
        (["--time", "10", "--distance", "200"], "the range is 0..150"),
        (["--time", "10", "--distance", "20", "--penalties", "-1"], "the range is 0.."),
    ],
)
def test_score_refuses_what_is_out_of_range_in_one_line(capsys, arguments, message):
    assert run(["score", "obstacle-race", *arguments, "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_judge_gives_the_result_of_a_recording(capsys, scenario, tmp_path):
    story = (
        scenario(boxes=((1.0, 0.5),)).stand(4.0).walk(1.0, seconds=9.0, push={0: (1.2, 0.5)}).touch("fall")
    )
    recording = story.walk(2.3, seconds=9.0).recording()
    write_mcap(recording, tmp_path / "race.mcap")
    assert run(["judge", str(tmp_path / "race.mcap"), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written.pop("inconsistencies")  # a story is not a simulation
    assert written == {**json.loads(json.dumps(judge(recording).to_dict())), "digest": recording.digest()}
    assert {"time_s", "distance_cm", "penalties", "points", "raw_points"} <= set(written["legs"][0])


def test_judge_shows_people_a_table_and_its_warnings(capsys, scenario, tmp_path):
    boxes = ((1.0, 0.8), (1.2, 0.8), (1.4, 0.8))
    recording = scenario(boxes).stand(4.0).walk(2.3, seconds=9.0).touch("jam", box=3).recording()
    write_mcap(recording, tmp_path / "race.mcap")
    assert run(["judge", str(tmp_path / "race.mcap")]) == 0
    captured = capsys.readouterr()
    assert "leg 1" in captured.out
    assert "stuck and was moved back (box 3)" in captured.out
    assert judge(recording).penalties[0].box == 3
    assert "false start" in captured.err


def test_judge_refuses_what_is_no_recording(capsys, tmp_path):
    (tmp_path / "race.mcap").write_bytes(b"not a recording")
    assert run(["judge", str(tmp_path / "race.mcap"), "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error:")
