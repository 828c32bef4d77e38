"""A forged recording contradicts itself and wins nothing; an honest one does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import posewright as pw
from posewright.cli.app import run
from posewright.recordings import Recording, read_mcap, write_mcap

from .forgeries import FORGERIES, with_event


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the recording of a whole passivity test, which takes 7 s."""
    path = tmp_path_factory.mktemp("honest") / "honest.mcap"
    pw.run_trial("passivity-test", seed=1, record=path)
    return path


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Give the recording of a whole race without a touch."""
    path = tmp_path_factory.mktemp("race") / "race.mcap"
    pw.run_trial("obstacle-race", seed=1, layout="random", record=path)
    return read_mcap(path)


@pytest.mark.parametrize("name", FORGERIES)
def test_judge_names_what_is_forged(race: Recording, tmp_path: Path, name: str) -> None:
    forge, rule = FORGERIES[name]
    write_mcap(forge(race), tmp_path / "forged.mcap")
    findings = pw.find_inconsistencies(read_mcap(tmp_path / "forged.mcap"))
    assert rule in {finding.rule for finding in findings}, [str(finding) for finding in findings]


def test_no_forgery_wins_the_ranking_unless_it_is_accepted(race: Recording, tmp_path: Path) -> None:
    names = ("the clock and the rate are four times as fast", "there are no boxes", "the lines are nearer")
    write_mcap(race, tmp_path / "honest.mcap")
    for number, name in enumerate(names):
        forge, _ = FORGERIES[name]
        write_mcap(forge(race), tmp_path / f"forged_{number}.mcap")
    ranking = pw.rank(tmp_path)
    assert [entry.name for entry in ranking.completed] == ["honest.mcap"]
    assert all("left out, as it contradicts itself" in str(entry.error) for entry in ranking.failed)
    assert len(ranking.failed) == len(names)
    assert len(pw.rank(tmp_path, accept=True).completed) == 1 + len(names)


def test_what_objects_of_an_aibo_say_to_each_other_is_no_robot(honest: Path) -> None:
    """An honest OPEN-R run had a contradiction at each message, so it could not win."""
    told = with_event(read_mcap(honest), 1.0, "openr", **{"from": "A.Move", "to": "B.Move", "size": 1})
    assert pw.find_inconsistencies(told) == ()


def test_rank_says_in_a_line_why_it_leaves_a_recording_out(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forge, _ = FORGERIES["two starts"]
    write_mcap(forge(read_mcap(honest)), tmp_path / "forged.mcap")
    assert run(["rank", str(honest), str(tmp_path / "forged.mcap")]) == 1
    message = capsys.readouterr().err
    assert "forged.mcap: left out, as it contradicts itself: start: at 0.00 s" in message
    assert "--accept" in message
    assert run(["rank", str(honest), str(tmp_path / "forged.mcap"), "--accept"]) == 0


def test_judge_warns_of_contradictions_in_words_and_in_json(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forge, _ = FORGERIES["a fall of nobody"]
    write_mcap(forge(read_mcap(honest)), tmp_path / "forged.mcap")
    assert run(["judge", str(tmp_path / "forged.mcap")]) == 0
    assert "fall-event: at 3.00 s the event 'fall' says that a robot fell" in capsys.readouterr().err
    assert run(["judge", str(tmp_path / "forged.mcap"), "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["inconsistencies"]
    assert (finding["rule"], finding["time_s"]) == ("fall-event", 3.0)
    assert run(["judge", str(honest), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["inconsistencies"] == []
    assert captured.err == ""


@pytest.mark.parametrize(
    ("trial", "options"),
    [
        ("passivity-test", {"seed": 2, "body": "random"}),
        ("passivity-test-2017", {"seed": 3}),
        ("dog-crossing", {"seed": 4, "body": "random"}),
        ("obstacle-race", {"seed": 5, "layout": "random", "streams": "2026-11"}),
        ("obstacle-race", {"seed": 0, "layout": "random", "body": "random"}),  # with a fall
        ("obstacle-race", {"body": "mock"}),
        ("mini-sumo", {"seed": 2}),
    ],
)
def test_honest_recordings_do_not_contradict_themselves(
    trial: str, options: dict[str, object], tmp_path: Path, mini_sumo: Path
) -> None:
    resolved_trial = mini_sumo if trial == "mini-sumo" else trial
    pw.run_trial(resolved_trial, record=tmp_path / "run.mcap", **options)  # type: ignore[arg-type]  # mixed options
    assert pw.find_inconsistencies(read_mcap(tmp_path / "run.mcap")) == ()


def test_a_walk_outside_contests_does_not_contradict_itself(tmp_path: Path) -> None:
    assert run(["gait", "run", "trot", "--forward", "0.15", "--record", str(tmp_path / "trot.mcap")]) == 0
    assert pw.find_inconsistencies(read_mcap(tmp_path / "trot.mcap")) == ()


def test_points_given_to_the_other_robot_contradict_the_rows(tmp_path: Path, mini_sumo: Path) -> None:
    pw.run_trial(mini_sumo, seed=2, record=tmp_path / "bout.mcap")
    bout = read_mcap(tmp_path / "bout.mcap")
    other = {"red": "blue", "blue": "red"}
    events = [
        replace(event, data={**event.data, "to": other[event.data["to"]]})
        if event.kind == "yuhkoh"
        else event
        for event in bout.events
    ]
    (finding,) = pw.find_inconsistencies(replace(bout, events=tuple(events)))
    assert finding.rule == "yuhkoh"
