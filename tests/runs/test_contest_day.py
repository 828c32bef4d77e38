"""A day of contests: entries are folders, everybody plays, and a day that was killed goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import posewright as pw
from posewright.contests import Exhibition
from posewright.errors import DocumentError, FormatError, InputError, UnknownNameError
from posewright.recordings import Recording, write_mcap
from posewright.runs import BatchRun, Contestant, Day, check_day, read_contestant
from posewright.runs.batch import spreadsheet_cell
from posewright.runs.batch_trials import run_of
from posewright.runs.tournament import playing
from posewright.runs.tournament.contestant import read_contestants
from posewright.runs.tournament.day import Discipline, recording_of, save_day
from posewright.runs.tournament.day_rules import read_day_rules
from posewright.runs.tournament.site import _most_eventful_runs, highlight_s
from posewright.runs.trial import Trial

PASSIVE_DAY = """
day: mine
title: A short day
contests:
  exhibition: {share: 10, most: 10, jury: true}
  passivity-test: {share: 5, most: 1}
  sumo: {share: 30, most: 30, needs: passivity-test}
group_size: 4
advancing: 2
sources: {}
"""


def make_entry(folder: Path, name: str, **behaviours: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    programs = behaviours or {"passivity-test": "passivity_test"}
    lines = [f"entry: {name}", "robot: robotis_bioloid", "behaviours:"]
    lines += [f"  {contest.replace('_', '-')}: {behaviour}" for contest, behaviour in programs.items()]
    (folder / "entry.yaml").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def short_day(tmp_path: Path) -> Path:
    path = tmp_path / "mine.day.yaml"
    path.write_text(PASSIVE_DAY)
    return path


@pytest.fixture
def played_quickly(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let nobody move: the one whose name comes first in the alphabet wins, and is best."""
    requested: list[str] = []

    def quick(trial: Trial, record: Path | None) -> BatchRun:
        requested.append(f"{trial.contest} {trial.name}")
        names = trial.name.split(" - ")
        won = {} if len(names) == 1 else {"winner": "red" if names[0] < names[1] else "blue"}
        passed = trial.name != "z, who is passive"
        if record is not None:
            record.write_bytes(b"nothing")
        return BatchRun(
            trial.name,
            {**won, "passed": passed, "points": float(passed)},
            (float(passed),),
            digest=trial.name,
        )

    monkeypatch.setattr(playing, "_run_trial", quick)
    return requested


def entries(folder: Path, *names: str) -> list[Path]:
    programs = {"passivity_test": "passivity_test", "sumo": "passivity_test", "exhibition": "passivity_test"}
    return [make_entry(folder / f"{number}", name, **programs) for number, name in enumerate(names)]


def test_an_entry_is_a_folder(tmp_path: Path) -> None:
    folder = make_entry(tmp_path / "ours", "Ours", obstacle_race="obstacle_race", sumo="passivity_test")
    contestant = read_contestant(folder)
    assert contestant == Contestant(
        "Ours", "robotis_bioloid", {"obstacle-race": "obstacle_race", "sumo": "passivity_test"}
    )
    assert contestant.digest() == read_contestant(folder).digest()
    assert contestant.digest() != replace(contestant, behaviours={}).digest()
    assert read_contestants([tmp_path]) == (contestant,)  # a folder that holds entries


def test_files_in_the_options_of_an_entry_are_those_of_its_folder(tmp_path: Path) -> None:
    entry = make_entry(tmp_path / "ours", "Ours", sumo="dance")
    (entry / "walk.mtn").write_text("a motion file")
    (entry / "mine.py").write_text("class Mine: ...")
    (entry / "stick").mkdir()
    text = (entry / "entry.yaml").read_text()
    options = "{motions: walk.mtn, stick: stick, like: 'mine.py:Mine', commands: MOVE_SI@6, forward: '0.1'}"
    (entry / "entry.yaml").write_text(f"{text}options:\n  sumo: {options}\n")
    assert read_contestant(entry).options["sumo"] == {
        "motions": f"{entry}/walk.mtn",
        "stick": f"{entry}/stick",
        "like": f"{entry}/mine.py:Mine",
        "commands": "MOVE_SI@6",
        "forward": "0.1",
    }
    (tmp_path / "theirs.mtn").write_text("another entry's")
    (entry / "entry.yaml").write_text(f"{text}options:\n  sumo: {{motions: ../theirs.mtn}}\n")
    with pytest.raises(DocumentError, match="is outside the entry's folder"):
        read_contestant(entry)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("entry: a\nrobot: robotis_bioloid\nbehaviours: {fencing: x}\n", "unknown contest 'fencing'"),
        ("entry: ''\nrobot: robotis_bioloid\nbehaviours: {}\n", "not a name"),
        ("entry: a\nrobot: ../../robot.yaml\nbehaviours: {}\n", "is outside the entry's folder"),
        ("entry: a\nrobot: r\nbehaviours: {sumo: /etc/passwd}\n", "is outside the entry's folder"),
        ("entry: a\nrobot: r\n", "'behaviours' is missing"),
        ("entry: a\nrobot: r\nbehaviours: {sumo: wrestel}\n", "unknown behaviour 'wrestel'"),
        ("entry: a\nrobot: r\nbehaviours: {}\nlooks: nice\n", "looks"),
    ],
)
def test_a_wrong_entry_is_refused_with_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "entry.yaml").write_text(text)
    with pytest.raises((DocumentError, UnknownNameError), match=message) as error:
        read_contestant(tmp_path)
    assert "entry.yaml:" in str(error.value)


def test_two_entries_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the name 'OURS' is already used"):
        read_contestants(entries(tmp_path, "Ours", "OURS"))
    (tmp_path / "empty").mkdir()
    for folder, message in (("empty", r"no entry\.yaml"), ("nowhere", "there is no such folder")):
        with pytest.raises(InputError, match=message):
            read_contestants([tmp_path / folder])


def test_the_shares_of_the_shipped_days_are_those_of_the_rules() -> None:
    shares = {
        name: {rules.contest: rules.share for rules in read_day_rules(name).disciplines if rules.share}
        for name in ("ceabot_2013", "ceabot_2017")
    }
    assert shares["ceabot_2013"] == {"obstacle-race": 35, "stairs": 35, "sumo": 30}
    assert (
        shares["ceabot_2017"].items()
        >= {"exhibition": 10, "obstacle-race": 25, "stairs": 20, "sumo": 25}.items()
    )


def test_a_day_of_a_contest_that_is_not_here_is_refused(short_day: Path) -> None:
    short_day.write_text(PASSIVE_DAY.replace("sumo:", "sumoo:"))
    with pytest.raises(UnknownNameError, match="'sumoo'") as error:
        read_day_rules(short_day)
    assert "mine.day.yaml:7" in str(error.value)


def test_a_day_is_played_ranked_and_read_again(
    tmp_path: Path, short_day: Path, played_quickly: list[str]
) -> None:
    folders = entries(tmp_path / "in", "z, who is passive", *"fedcba")
    day = pw.play_day(folders, tmp_path / "out", rules=short_day)
    assert [discipline.contest for discipline in day.disciplines] == ["exhibition", "passivity-test", "sumo"]
    sumo = day.disciplines[2]
    assert sumo.remarks == ("z, who is passive has not passed passivity-test",)
    assert sumo.places["a"] == 1
    assert set(sumo.places) == set("abcdef")
    assert sumo.tables.keys() == {"Group A", "Group B", "Semifinals", "Final"}
    assert day.ranking[0].name == "a"
    assert day.ranking[0].points == pytest.approx(35.0)  # 30 for the first place in sumo, 5 for the test
    assert (day.ranking[-1].name, day.ranking[-1].points) == ("z, who is passive", 0.0)
    assert pw.read_day(tmp_path / "out") == day
    n_asked = len(played_quickly)
    assert pw.play_day(folders, tmp_path / "out", rules=short_day) == day
    assert len(played_quickly) == n_asked  # nothing was played again


def test_a_jury_gives_points_that_stay(tmp_path: Path, short_day: Path, played_quickly: list[str]) -> None:
    folders = entries(tmp_path / "in", "a", "b")
    jury = tmp_path / "jury.yaml"
    jury.write_text("exhibition: {b: 8.5}\n")
    without = pw.play_day(folders, tmp_path / "out", rules=short_day)
    day = pw.play_day(folders, tmp_path / "out", rules=short_day, jury=jury)
    assert [row.parts["exhibition"] for row in without.ranking] == [0.0, 0.0]
    assert {row.name: row.parts["exhibition"] for row in day.ranking} == {"a": 0.0, "b": 8.5}
    assert day.disciplines[0].places == {"b": 1, "a": 2}
    assert pw.play_day(folders, tmp_path / "out", rules=short_day) == day
    for text in ("exhibition: {b: 11}", "exhibition: {c: 1}", "sumo: {b: 1}"):
        jury.write_text(f"{text}\n")
        with pytest.raises((DocumentError, UnknownNameError)):
            pw.read_day(tmp_path / "out", jury)
    assert played_quickly


def test_a_jury_gives_nothing_to_who_showed_nothing(
    tmp_path: Path, short_day: Path, played_quickly: list[str]
) -> None:
    folders = [*entries(tmp_path / "in", "a", "b"), make_entry(tmp_path / "in/c", "c")]
    jury = tmp_path / "jury.yaml"
    pw.play_day(folders, tmp_path / "out", rules=short_day)
    jury.write_text("exhibition: {c: 1}\n")
    with pytest.raises(DocumentError, match="'c' took no part in the exhibition"):
        pw.read_day(tmp_path / "out", jury)
    assert played_quickly


def test_a_day_that_was_not_played_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="the folder contains no finished day"):
        pw.read_day(tmp_path)


def test_every_bout_says_who_is_red_and_has_a_seed_of_its_own(
    tmp_path: Path, short_day: Path, monkeypatch: pytest.MonkeyPatch, played_quickly: list[str]
) -> None:
    bouts: list[Trial] = []
    quick = playing._run_trial

    def play(trial: Trial, record: Path | None) -> BatchRun:
        if trial.contest == "sumo":
            bouts.append(trial)
        return quick(trial, record)

    monkeypatch.setattr(playing, "_run_trial", play)
    pw.play_day(entries(tmp_path / "in", *"abcdef"), tmp_path / "out", rules=short_day)
    assert len({bout.seed for bout in bouts}) == len(bouts) == 6 + 2 + 1
    assert all(" (red) - " in bout.name and bout.name.endswith(" (blue)") for bout in bouts)
    assert played_quickly


def test_films_are_of_different_runs() -> None:
    def run(name: str, digest: str, *incidents: str) -> BatchRun:
        return BatchRun(name, {"points": 1.0}, (1.0,), incidents=incidents, digest=digest)

    runs = (run("a", "same", "fall"), run("b", "same", "fall"), run("c", "other"))
    discipline = Discipline("stairs", "Stairs", 35.0, 35.0, runs={"stairs": runs})
    assert [name for _, name in _most_eventful_runs(discipline, 2)] == ["a", "c"]


def test_a_day_that_was_changed_by_hand_is_refused(
    tmp_path: Path, short_day: Path, played_quickly: list[str]
) -> None:
    pw.play_day(entries(tmp_path / "in", "a", "b"), tmp_path / "out", rules=short_day)
    path = tmp_path / "out/day.json"
    path.write_text(path.read_text().replace("passivity", "activity"))
    with pytest.raises(FormatError, match="changed after it was written"):
        pw.read_day(tmp_path / "out")
    assert played_quickly


def test_another_entry_is_another_day(tmp_path: Path, short_day: Path, played_quickly: list[str]) -> None:
    pw.play_day(entries(tmp_path / "in", "a", "b"), tmp_path / "out", rules=short_day)
    with pytest.raises(InputError, match="another"):
        pw.play_day(entries(tmp_path / "in", "a", "c"), tmp_path / "out", rules=short_day)
    assert played_quickly


def test_the_exhibition_is_recorded_and_judged_by_nobody() -> None:
    trial = Trial("show", "robotis_bioloid", "passivity_test", "exhibition", still_s=1.0)
    outcome = pw.run_trial(trial)
    assert isinstance(pw.contest("exhibition"), Exhibition)
    assert outcome.score.points == 0.0
    assert outcome.score.table().notes == ("the jury gives the points",)
    assert pw.judge(outcome.recording) == outcome.score
    assert 0.0 <= highlight_s(outcome.recording) <= outcome.recording.duration_s


@pytest.mark.skipif(os.name != "posix", reason="only there can a process be killed so")
def test_a_day_killed_twice_is_the_day_that_was_not(tmp_path: Path) -> None:
    for number in range(3):
        make_entry(tmp_path / f"in/{number}", f"Team {number}")
    uninterrupted = tmp_path / "whole"
    killed = tmp_path / "killed"

    def command(out: Path) -> list[str]:
        arguments = ["contest", "run", tmp_path / "in", "--out", out, "--films", "0", "--json"]
        return [sys.executable, "-m", "posewright", *map(str, arguments)]

    run: Callable[..., subprocess.CompletedProcess[str]] = subprocess.run
    expected = run(command(uninterrupted), capture_output=True, text=True, check=False)
    assert (expected.returncode, expected.stderr) == (0, "")
    for done in (1, 2):
        process = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL)  # noqa: S603 -- our own program
        while len(list(killed.glob("*/journal/*.json"))) < done and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    resumed = run(command(killed), capture_output=True, text=True, check=False)
    expected_day = json.loads(expected.stdout)
    resumed_day = json.loads(resumed.stdout)
    assert expected_day.pop("folder") != resumed_day.pop("folder")
    assert expected_day == resumed_day
    assert (uninterrupted / "ranking.csv").read_text() == (killed / "ranking.csv").read_text()
    for page in ("index.html", "passivity-test.html"):
        assert (uninterrupted / page).read_text() == (killed / page).read_text()


BROKEN_PROGRAMS = """
entry: Broken
robot: robotis_bioloid
behaviours: {exhibition: climb_stairs, passivity-test: mine.behaviour.yaml, sumo: pipe.behaviour.yaml}
"""


def test_who_cannot_be_read_forfeits_and_the_others_play(
    tmp_path: Path, short_day: Path, played_quickly: list[str]
) -> None:
    folders = entries(tmp_path / "in", "a", "b")
    broken = tmp_path / "in/broken"
    broken.mkdir()
    (broken / "entry.yaml").write_text(BROKEN_PROGRAMS)
    (broken / "mine.behaviour.yaml").write_text("behaviour: mine\n")
    os.mkfifo(broken / "pipe.behaviour.yaml")
    unreadable = tmp_path / "in/unreadable"
    unreadable.mkdir()
    (unreadable / "entry.yaml").write_text("entry: [")
    no_robot = make_entry(tmp_path / "in/3", "No robot")
    (no_robot / "entry.yaml").write_text("entry: No robot\nrobot: robot.yaml\nbehaviours: {}\n")
    forfeits: list[str] = []
    day = pw.play_day(
        [*folders, broken, unreadable, no_robot],
        tmp_path / "out",
        rules=short_day,
        on_forfeit=lambda line: forfeits.append(f"{len(played_quickly)} {line}"),
    )
    told = [line.split(":")[0] for line in forfeits]
    assert told == [  # all at once, before anybody has played
        "0 Broken forfeits passivity-test",
        "0 Broken forfeits sumo",
        "0 No robot forfeits all contests",
        "0 unreadable forfeits all contests",
    ]
    assert "'robot' is missing" in forfeits[0]
    assert "it is neither a file nor a folder" in forfeits[1]
    assert {name for name, reason in day.inspections.items() if reason} == {"No robot", "unreadable"}
    exhibition, passivity, sumo = day.disciplines
    assert set(exhibition.places) == {"a", "b", "Broken"}
    assert set(passivity.places) == set(sumo.places) == {"a", "b"}
    assert passivity.remarks[0].startswith("Broken forfeits: ")
    assert pw.read_day(day.folder).ranking == day.ranking
    assert [row.points for row in day.ranking][2:] == [0.0, 0.0, 0.0]


def test_a_name_is_no_formula_in_a_spreadsheet(
    tmp_path: Path, short_day: Path, played_quickly: list[str]
) -> None:
    # OWASP, "CSV Injection": cells that begin with = + - @, a tab or a carriage return
    names = ('"=HYPERLINK(1)"', '"@SUM(A1)"', '"-2+3"', "3-2")
    day = pw.play_day(entries(tmp_path / "in", *names), tmp_path / "out", rules=short_day)
    assert played_quickly
    for table in ("ranking.csv", "exhibition/results.csv"):
        lines = (tmp_path / "out" / table).read_text().splitlines()[1:]
        cells = {cell for line in lines for cell in line.split(",")}
        assert {"'=HYPERLINK(1)", "'@SUM(A1)", "'-2+3", "3-2"} <= cells
    assert {row.name for row in day.ranking} == {"=HYPERLINK(1)", "@SUM(A1)", "-2+3", "3-2"}
    assert spreadsheet_cell(-2.5) == -2.5


def test_a_day_is_checked_against_its_recordings(tmp_path: Path) -> None:
    outcome = pw.run_trial("passivity-test")
    run = run_of("ours", outcome)
    discipline = Discipline(
        "passivity-test", title="", share=0.0, max_points=1.0, runs={"passivity-test": (run,)}
    )
    day = Day("mine", "", 1, (), (discipline,), inspections={}, folder=tmp_path)

    def problems(stored_run: BatchRun, recording: Recording | None) -> list[str]:
        path = recording_of(day, "passivity-test", run)
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        if recording is not None:
            write_mcap(recording, path)
        changed = replace(discipline, runs={"passivity-test": (stored_run,)})
        changed_day = replace(day, disciplines=(changed,))
        return [problem for name, problem in check_day(changed_day) if name == "passivity-test/ours"]

    assert problems(run, outcome.recording) == []
    assert problems(run, None) == ["its recording is missing"]
    forged_figures = replace(run, figures={**run.figures, "time_s": 0.1})
    (problem,) = problems(forged_figures, outcome.recording)
    assert problem.startswith("figures of 'time_s': 0.1 is stored, but its recording gives ")
    (problem,) = problems(replace(run, ranking=(99.0,)), outcome.recording)
    assert problem.startswith("ranking: [99.0] is stored")
    forged = replace(outcome.recording, events=outcome.recording.events[:-1])  # without the stop
    assert problems(run, forged) == ["the file is not the recording of the day"]
    (problem,) = problems(replace(run, digest=forged.digest()), forged)
    assert problem.startswith("it contradicts itself: stop")


def contests_not_trusted(day: Day) -> dict[str, str]:
    """Return what is wrong with the contests of a day, besides their runs, as `nothing` was recorded."""
    return {name: problem for name, problem in check_day(day) if "/" not in name}


def test_a_stored_day_needs_the_inspection_of_each_entry_and_points_for_each_place(
    tmp_path: Path, short_day: Path, played_quickly: list[str]
) -> None:
    day = pw.play_day(entries(tmp_path / "in", "a", "b"), tmp_path / "out", rules=short_day)
    assert played_quickly
    save_day(replace(day, inspections={"a": ""}))
    with pytest.raises(FormatError, match="inspections: 'b' is missing"):
        pw.read_day(tmp_path / "out")
    exhibition, *others = day.disciplines
    save_day(replace(day, disciplines=(replace(exhibition, earned={"a": 0.0}), *others)))
    with pytest.raises(FormatError, match=r"disciplines\[0\].earned: 'b' is missing"):
        pw.read_day(tmp_path / "out")


def test_places_points_and_tables_follow_from_the_runs(
    tmp_path: Path, short_day: Path, played_quickly: list[str]
) -> None:
    pw.play_day(entries(tmp_path / "in", *"abcdef"), tmp_path / "out", rules=short_day)
    short_day.unlink()  # what the day needs of its rules is stored with it
    day = pw.read_day(tmp_path / "out")
    assert played_quickly
    assert contests_not_trusted(day) == {}
    exhibition, passivity, sumo = day.disciplines

    def problems(changed: Discipline) -> dict[str, str]:
        disciplines = [changed if kept.contest == changed.contest else kept for kept in day.disciplines]
        return contests_not_trusted(replace(day, disciplines=tuple(disciplines)))

    swapped = {"a": "f", "f": "a"}
    places = {swapped.get(name, name): place for name, place in sumo.places.items()}
    forged_places = problems(replace(sumo, places=places))
    assert forged_places == {"sumo": "places of 'a': 5 is stored, but the result of the runs gives 1"}
    assert "99.0 is stored" in problems(replace(sumo, earned={**sumo.earned, "f": 99.0}))["sumo"]
    assert "'Final'" in problems(replace(sumo, tables={**sumo.tables, "Final": ()}))["sumo"]
    assert "share: 500.0 is stored" in problems(replace(passivity, share=500.0))["passivity-test"]
    assert "remarks" in problems(replace(passivity, remarks=("f has not passed it",)))["passivity-test"]
    jury_cheats = problems(
        replace(exhibition, earned={**exhibition.earned, "f": 10.0})
    )  # but not with places
    assert jury_cheats["exhibition"] == "places of 'a': 1 is stored, but the result of the runs gives 2"
    without_final = {name: runs for name, runs in sumo.runs.items() if name != "sumo-round-2"}
    assert "the runs in sumo-round-2 are none" in problems(replace(sumo, runs=without_final))["day.json"]
    with_rematch = {**sumo.runs, "sumo-round-3": sumo.runs["sumo-round-2"]}
    assert problems(replace(sumo, runs=with_rematch)) == {"sumo": "it has runs that the day did not need"}
    first_run, *further_runs = passivity.runs["passivity-test"]
    run_without_number = replace(first_run, figures={**first_run.figures, "points": "many"})
    no_number = replace(passivity, runs={"passivity-test": (run_without_number, *further_runs)})
    assert "the points of a are 'many'" in problems(no_number)["day.json"]
    failed = tuple(replace(run, error="it fell") for run in passivity.runs["passivity-test"])
    forged = replace(passivity, runs={"passivity-test": failed})
    changed_day = replace(day, disciplines=(exhibition, forged, sumo))
    assert ("passivity-test/f", "it is stored as failed, but it has a recording") in check_day(changed_day)


def test_a_day_without_its_rules_is_checked_by_shipped_rules_of_its_name(
    tmp_path: Path, short_day: Path, played_quickly: list[str]
) -> None:
    day = pw.play_day(entries(tmp_path / "in", "a"), tmp_path / "out", rules=short_day)
    save_day(replace(day, rules=None))
    assert played_quickly
    problem = contests_not_trusted(pw.read_day(tmp_path / "out"))["day.json"]
    assert problem.startswith("the places cannot be computed again: unknown day 'mine'")


def test_the_pages_name_everybody_and_need_nothing_from_elsewhere(
    tmp_path: Path, short_day: Path, played_quickly: list[str]
) -> None:
    pytest.importorskip("jinja2")
    day: Day = pw.play_day(entries(tmp_path / "in", "a", "<b>&"), tmp_path / "out", rules=short_day)
    index = pw.write_site(day, films=0).read_text()
    assert "&lt;b&gt;&amp;" in index
    for page in (tmp_path / "out").glob("*.html"):
        text = page.read_text()
        assert "http:" not in text
        assert "https:" not in text
        assert "<b>&" not in text
    assert played_quickly
