"""Many runs at once: a row each, whoever runs them, kept and gone on with; the report; ranking."""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import posewright as pw
from posewright.arenas import format_layout, layout
from posewright.bodies import DomainParameters
from posewright.errors import BodyError, FormatError, InputError, OutputError
from posewright.figures.saving import screen_png
from posewright.runs import (
    Batch,
    BatchRun,
    Outcome,
    Trial,
    batch_report,
    draw_outcome,
    read_seeds,
    read_trial,
    run_batch,
    walk_batch,
    write_report,
)
from posewright.runs.batch_trials import _TrialTask, run_of
from posewright.runs.trial import TrialOptions, trial_documents

TEST: dict[str, Any] = {"trial": "passivity-test", "seeds": "1-3"}
"""The quickest trial there is."""

BRIEF: dict[str, Any] = {"seconds": 0.5, "settle_s": 0.2}
"""How a walk is kept short."""


@pytest.fixture(scope="module", autouse=True)
def each_picture_once() -> Iterator[None]:
    """Draw the picture of a recording once: reports of the same runs are written again and again here."""
    pictures: dict[str, bytes] = {}

    def picture(outcome: Outcome) -> bytes:
        digest = outcome.recording.digest()
        if digest not in pictures:
            pictures[digest] = screen_png(draw_outcome(outcome))
        return pictures[digest]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_report, "draw_outcome", lambda outcome: outcome)
        patch.setattr(batch_report, "screen_png", picture)
        yield


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    return pw.run_many(**TEST, folder=tmp_path_factory.mktemp("kept") / "tests")


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("1-4", (1, 2, 3, 4)), ("9,1,4", (1, 4, 9)), ("7", (7,)), ("1-3, 2-5,9", (1, 2, 3, 4, 5, 9))],
)
def test_seeds_are_ranges_and_numbers_each_once_in_order(text: str, seeds: tuple[int, ...]) -> None:
    assert read_seeds(text) == seeds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1-",
        "-3",
        "5-1",
        "a",
        "1..4",
        "1,,2",
        "0-99999999999",
        "9" * 30,
        "1-999999999",
        "1-60000,70000-120000",
    ],
)
def test_what_is_no_seeds_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="seed"):
        read_seeds(text)


def test_a_row_says_what_the_trial_alone_says(tests: Batch) -> None:
    alone = pw.run_trial("passivity-test", seed=2)
    row = tests.runs[1]
    assert (row.name, row.digest) == ("2", alone.recording.digest())
    assert row.figures["time_s"] == alone.score.time_s
    assert tests.folder is not None
    assert pw.read_recording(tests.folder / "seed_2.mcap").digest() == row.digest


def test_workers_and_order_change_nothing_to_the_byte(tests: Batch, tmp_path: Path) -> None:
    again = pw.run_many("passivity-test", seeds=[3, 1, 2, 1], folder=tmp_path, workers=2)
    assert (again.digest, again.csv()) == (tests.digest, tests.csv())
    assert tests.folder is not None
    assert files(tmp_path) == files(tests.folder)


HALF = """
import os, signal, sys; from pathlib import Path; from posewright.documents import atomic_replacement
with atomic_replacement(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_is_done_is_not_done_again_and_more_seeds_go_on(tests: Batch, tmp_path: Path) -> None:
    reported: list[tuple[str, bool]] = []
    pw.run_many("passivity-test", seeds=[2], folder=tmp_path)
    for killed in (tmp_path, tmp_path / "journal"):
        subprocess.run([sys.executable, "-c", HALF, killed / "x"], check=False)  # noqa: S603 -- our own
        assert any("unfinished" in path.name for path in killed.iterdir())
    pw.run_many(**TEST, folder=tmp_path, on_run=lambda row, is_old: reported.append((row.name, is_old)))
    assert reported == [("2", True), ("1", False), ("3", False)]
    assert tests.folder is not None
    assert files(tmp_path) == files(tests.folder)


def test_another_batch_in_the_same_folder_is_refused_by_naming_the_difference(tests: Batch) -> None:
    with pytest.raises(InputError, match="another body: sim, not random"):
        pw.run_many(**TEST, folder=tests.folder, body="random")


def test_a_document_that_was_changed_is_named(tmp_path: Path) -> None:
    bodies = tmp_path / "mine.bodies.yaml"
    arguments: dict[str, Any] = {
        "seeds": [1],
        "body": str(bodies),
        "folder": tmp_path / "kept",
        "recordings": False,
    }
    for high in (1.1, 1.2):
        bodies.write_text(
            f"bodies: mine\nranges:\n  mass_scale: {{low: 1, high: {high}, source: a test}}\n",
            encoding="utf-8",
        )
        if high == 1.1:
            pw.run_many("passivity-test", **arguments)
    with pytest.raises(InputError, match=r"another file .*mine\.bodies\.yaml"):
        pw.run_many("passivity-test", **arguments)


def test_every_field_of_a_trial_but_its_seed_is_a_setting(tests: Batch, tmp_path: Path) -> None:
    field_names = {trial_field.name for trial_field in fields(Trial)} - {
        "seed",
        "name",
        "rules",
        "arena",
    }  # empty in this trial
    assert field_names | {"trial", "contest name", "MuJoCo", "NumPy"} <= tests.settings.keys()
    trial = read_trial("passivity-test")
    pw.run_many(trial, seeds=[1], folder=tmp_path)
    for changes in ({"still_s": 7.0}, {"name": "other"}, {"arena": "race"}):
        with pytest.raises(
            InputError, match=f"another {next(iter(changes))}|another trial|cannot be run in the arena"
        ):
            pw.run_many(replace(trial, **changes), seeds=[1], folder=tmp_path)  # type: ignore[arg-type]


def test_a_model_that_was_changed_is_named(tmp_path: Path) -> None:
    shutil.copytree(pw.robot("sony_ers7").folder or "", tmp_path / "dog")
    card = tmp_path / "dog/robot.yaml"
    model = tmp_path / "dog/model.xml"

    def walked() -> Batch:
        gaits = {"trot": (pw.read_gait("trot"), pw.robot(card))}
        return walk_batch(gaits, [pw.VelocityCommand(0.1)], folder=tmp_path / "walks", **BRIEF)

    assert walked().failed == ()
    model.write_text(model.read_text().replace("<mujoco", "<!-- mine --><mujoco", 1))
    with pytest.raises(InputError, match="another file trot"):
        walked()
    texts = _TrialTask(read_trial("passivity-test"), TrialOptions(), keeps_recordings=True).settings()
    assert "file model of robotis_bioloid" in texts


def test_bodies_that_read_alike_are_not_the_same_batch(tmp_path: Path) -> None:
    gaits = {"trot": (pw.read_gait("trot"), pw.robot("sony_ers7"))}
    bodies = [DomainParameters(mass_scale=scale) for scale in (1.1, 1.1 + 1e-9)]
    assert str(bodies[0]) == str(bodies[1])
    walk_batch(gaits, [pw.VelocityCommand(0.1)], folder=tmp_path, domain=bodies[0], **BRIEF)
    with pytest.raises(InputError, match="another file exact numbers"):
        walk_batch(gaits, [pw.VelocityCommand(0.1)], folder=tmp_path, domain=bodies[1], **BRIEF)


def test_a_layout_of_ones_own_counts_whatever_it_is_called(tmp_path: Path) -> None:
    mine = tmp_path / "random.layout.yaml"
    texts = []
    for name in ("example_1", "example_2"):
        mine.write_text(format_layout(layout(name), "random"), encoding="utf-8")
        own = replace(read_trial("obstacle-race"), layout=str(mine))
        texts.append(trial_documents(own, TrialOptions()))
    assert texts[0] != texts[1]
    random_documents = trial_documents(replace(own, layout="random"), TrialOptions())
    assert "random.layout.yaml" not in random_documents


@pytest.mark.parametrize(
    ("first_name", "second_name"),
    [("walk one", "walk_one"), ("g" * 200, "g" * 201), ("步" * 120, "步" * 121), ("a/b", "a:b")],
)
def test_no_two_runs_share_a_file_and_any_name_has_one(
    first_name: str, second_name: str, tmp_path: Path
) -> None:
    batch_of_two = run_batch(
        named,
        {first_name: first_name, second_name: second_name},
        key="walk",
        measure="points",
        settings={},
        folder=tmp_path,
    )
    again = run_batch(
        named,
        {second_name: second_name, first_name: first_name},
        key="walk",
        measure="points",
        settings={},
        folder=tmp_path,
    )
    assert [run.name for run in (*batch_of_two.runs, *again.runs)] == [
        first_name,
        second_name,
        second_name,
        first_name,
    ]
    assert len(list((tmp_path / "journal").iterdir())) == 2


def test_a_second_batch_in_one_folder_is_refused_at_once(tmp_path: Path) -> None:
    options: dict[str, Any] = {"key": "walk", "measure": "points", "settings": {}, "folder": tmp_path}

    def second(_: BatchRun, __: bool) -> None:
        with pytest.raises(OutputError, match=r"another program .*is using this folder"):
            run_batch(named, {"b": "b"}, **options)

    assert run_batch(named, {"a": "a"}, **options, on_run=second).failed == ()


def test_a_full_disk_ends_the_batch_and_what_is_done_stays(tmp_path: Path) -> None:
    names: list[str] = []
    options: dict[str, Any] = {"key": "walk", "measure": "points", "settings": {}, "folder": tmp_path}
    with pytest.raises(OutputError, match="No space left"):
        run_batch(
            named,
            {name: name for name in ("a", "full", "b")},
            **options,
            on_run=lambda run, _: names.append(run.name),
        )
    assert names == ["a"]
    assert [path.stem for path in (tmp_path / "journal").iterdir()] == ["walk_a"]


def test_a_recording_whose_body_is_forged_is_refused_as_wrong_input() -> None:
    outcome = pw.run_trial("passivity-test", seed=1)
    header = outcome.recording.header
    name, robot_header = next(iter(header.robots.items()))
    for domain in ({"gravity": 1.0}, {"mass_scale": "heavy"}, [1], "sim"):
        forged = replace(robot_header, facts={**robot_header.facts, "domain": domain})
        recording = replace(outcome.recording, header=replace(header, robots={name: forged}))
        with pytest.raises(InputError, match="header of the recording"):
            run_of("1", replace(outcome, recording=recording))


def test_speeds_of_one_name_are_refused() -> None:
    gait = pw.read_gait("trot")
    commands = [pw.VelocityCommand(0.1), pw.VelocityCommand(0.1 + 1e-9)]
    with pytest.raises(InputError, match=r"trot at 0\.1 is listed twice"):
        walk_batch({"trot": (gait, pw.robot("sony_ers7"))}, commands)


@pytest.mark.parametrize("harm", ["junk", "gone", "another"])
def test_a_run_whose_recording_was_lost_is_done_again(harm: str, tests: Batch, tmp_path: Path) -> None:
    assert tests.folder is not None
    folder = Path(shutil.copytree(tests.folder, tmp_path / "harmed"))
    lost = folder / "seed_2.mcap"
    if harm == "junk":
        lost.write_bytes(b"junk")
    elif harm == "gone":
        lost.unlink()
    else:
        shutil.copy(folder / "seed_1.mcap", lost)
    old: list[str] = []
    again = pw.run_many(
        **TEST, folder=folder, on_run=lambda run, is_old: old.append(run.name) if is_old else None
    )
    assert old == ["1", "3"]
    assert again.digest == tests.digest
    assert lost.read_bytes() == (tests.folder / "seed_2.mcap").read_bytes()


def test_runs_without_their_settings_are_refused(tests: Batch, tmp_path: Path) -> None:
    assert tests.folder is not None
    folder = Path(shutil.copytree(tests.folder, tmp_path / "orphaned"))
    (folder / "batch.json").unlink()
    with pytest.raises(InputError, match=r"has runs, but no batch\.json"):
        pw.run_many(**TEST, folder=folder)


def test_a_folder_can_be_named_by_its_settings(tmp_path: Path) -> None:
    options: dict[str, Any] = {"seeds": [1], "folder": tmp_path / "{trial}-{digest}", "recordings": False}
    nominal, random = (pw.run_many("passivity-test", body=body, **options) for body in ("sim", "random"))
    assert nominal.folder is not None
    assert re.fullmatch(r"passivity-test-[0-9a-f]{8}", nominal.folder.name)
    assert nominal.folder != random.folder
    assert list(nominal.folder.glob("*.mcap")) == []


def test_a_damaged_entry_of_the_journal_is_told_of(tmp_path: Path) -> None:
    pw.run_many("passivity-test", seeds=[1], folder=tmp_path)
    entry = tmp_path / "journal/seed_1.json"
    entry.write_text(entry.read_text().replace("passed", "missed", 1))
    with pytest.raises(FormatError, match=r"seed_1\.json.*delete it"):
        pw.run_many("passivity-test", seeds=[1], folder=tmp_path)


def test_a_random_body_is_drawn_by_the_seed_and_told_of() -> None:
    first, second = pw.run_many("passivity-test", seeds=[1, 2], body="random").runs
    assert first.body.startswith("friction ")
    assert first.body != second.body
    alone = pw.run_trial("passivity-test", seed=1, body="random")
    assert (
        alone.recording.digest() == first.digest != pw.run_trial("passivity-test", seed=1).recording.digest()
    )


class ThisProcess(Executor):
    """An executor as a cluster's might be, which does everything here."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def test_any_executor_can_serve(tests: Batch) -> None:
    assert pw.run_many(**TEST, executor=ThisProcess()).digest == tests.digest


def make_run(points: float, _: Path | None) -> BatchRun:
    if points < 0.0:
        raise BodyError("the servo <b>melted</b>")
    return BatchRun(
        f"{points:g}",
        {"points": points, "finished": points > 2.0},
        (points,),
        incidents=("fall",) * int(points),
        story=("<script>alert(1)</script>",),
    )


def named(name: str, _: Path | None) -> BatchRun:
    if name == "full":
        raise OutputError("No space left on device")
    return BatchRun(name, {"points": 1.0}, (1.0,))


def batch(*points: float, **settings: str) -> Batch:
    items = {f"{value:g}": value for value in points}
    return run_batch(make_run, items, key="run", measure="points", settings=settings)


def test_a_run_that_fails_is_a_row_and_the_others_go_on() -> None:
    summary = batch(1.0, -1.0, 3.0)
    assert [row.error for row in summary.runs] == [None, "the servo <b>melted</b>", None]
    assert (len(summary.completed), len(summary.failed)) == (2, 1)


def test_the_summary_is_that_of_statistics() -> None:
    summary = batch(4.0, 1.0, 3.0, -1.0)
    assert (summary.mean, summary.deviation) == (8.0 / 3.0, statistics.stdev([4.0, 1.0, 3.0]))
    assert summary.best is not None
    assert summary.worst is not None
    assert (summary.best.name, summary.worst.name) == ("4", "1")
    assert summary.success_count == ("finished", 2)
    assert summary.incidents == {"fall": 8}
    data = json.loads(json.dumps(summary.to_dict()))
    assert (data["worst"], data["best"]) == (data["runs"][1], data["runs"][0])
    assert summary.csv().splitlines()[0] == "run,points,finished,incidents,digest,error"
    assert len(summary.table()) == 4


def test_where_all_fail_there_is_still_a_summary_and_a_report() -> None:
    summary = batch(-1.0)
    assert (summary.mean, summary.best, summary.success_count) == (None, None, ("done", 0))
    assert "melted" in report(summary)


class Strict(HTMLParser):
    """Sees that every element is closed where it should be, and gathers what a browser would fetch."""

    VOID = frozenset({"meta", "img", "br", "link", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "action", "srcset")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open = self.open[:-1]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def report(runs: Batch) -> str:
    pytest.importorskip("jinja2", reason="the report needs the extra `report`")
    from posewright.runs import report_of

    return report_of(runs)


def parsed(text: str) -> Strict:
    page = Strict()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def test_the_report_is_one_whole_page_that_fetches_nothing(tests: Batch) -> None:
    text = report(tests)
    page = parsed(text)
    assert len(page.fetched) == 3
    assert all(source.startswith("data:image/png;base64,") for source in page.fetched)
    assert re.findall(r"(?:https?:|url\(|@import)", text) == []
    for row in tests.runs:
        assert f"path of seed {row.name}" in text
    assert tests.digest[:16] in page.text


def test_a_damaged_recording_costs_its_own_picture_only(tests: Batch, tmp_path: Path) -> None:
    assert tests.folder is not None
    shutil.copytree(tests.folder, tmp_path / "kept")
    (tmp_path / "kept/seed_1.mcap").write_bytes(b"junk")
    page = parsed(report(replace(tests, folder=tmp_path / "kept")))
    assert len(page.fetched) == 2
    assert "not an MCAP file" in page.text


def test_a_report_of_before_is_not_shown_as_that_of_now(
    tests: Batch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report.html").write_text("old")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    write_report(replace(tests, folder=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


def test_where_nothing_was_recorded_there_is_no_digest() -> None:
    summary = batch(1.0, 2.0)
    assert (summary.digest, summary.to_dict()["digest"]) == (None, None)
    assert "digest" not in parsed(report(summary)).text


def test_whatever_a_text_holds_is_shown_as_it_is() -> None:
    page = parsed(report(batch(1.0, -1.0, contest="<i>&\"'", gait="<script>")))
    assert "<i>&\"'" in page.text
    assert "the servo <b>melted</b>" in page.text
    assert "<script>alert(1)</script>" in page.text


def test_recordings_are_ranked_by_their_contest_and_equal_ones_share_a_place(
    tests: Batch, tmp_path: Path
) -> None:
    assert tests.folder is not None
    shutil.copy(tests.folder / "seed_1.mcap", tmp_path / "twin.mcap")
    ranking = pw.rank(tests.folder, tmp_path / "twin.mcap", tmp_path)
    assert [row.figures["time_s"] for row in ranking.runs] == sorted(
        row.figures["time_s"] for row in ranking.runs
    )
    assert [row.figures["place"] for row in ranking.runs] == [1, 1, 3, 4]


def test_what_cannot_be_read_is_ranked_last_with_its_error(tests: Batch, tmp_path: Path) -> None:
    assert tests.folder is not None
    (tmp_path / "junk.mcap").write_bytes(b"junk")
    ranking = pw.rank(tmp_path, tests.folder)
    assert [row.name for row in ranking.failed] == [ranking.runs[-1].name] == ["junk.mcap"]
    assert "not an MCAP file" in str(ranking.runs[-1].error)


def test_several_contests_are_not_ranked_together(tests: Batch, tmp_path: Path) -> None:
    assert tests.folder is not None
    show = Trial("show", "robotis_bioloid", "passivity_test", "exhibition", still_s=1.0)
    pw.run_trial(show, record=tmp_path / "show.mcap")
    with pytest.raises(InputError, match="cannot be ranked with the others"):
        pw.rank(tests.folder, tmp_path)
    with pytest.raises(InputError, match="the folder has no files to read"):
        pw.rank(tests.folder / "journal")
