"""The passivity test: a robot that goes at the box passes, one that stands before it does not."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import posewright as pw
from posewright.arenas import corners
from posewright.contests import MarkKind, PassivityScore, PassivityTest, judge
from posewright.control import Block
from posewright.errors import InputError
from posewright.runs import Outcome

SHIPPED = pw.robot("robotis_bioloid").folder
RULES = PassivityTest().rules


def behaving(folder: Path, begins_s: float) -> Path:
    """Return the shipped behaviour, but for when it begins to walk."""
    assert SHIPPED is not None
    for name in ("passivity_test.behaviour.yaml", "passivity_test.chart.yaml"):
        shutil.copy(SHIPPED / "behaviours" / name, folder)
    chart = folder / "passivity_test.chart.yaml"
    chart.write_text(chart.read_text().replace("wait_s: 5.05 ", f"wait_s: {begins_s} "))
    behaviour = folder / "passivity_test.behaviour.yaml"
    text = behaviour.read_text()
    motion = SHIPPED / "motions/walk_forward.motion.yaml"
    behaviour.write_text(text.replace("{motion: walk_forward,", f"{{file: {motion},"))
    return behaviour


def run(seed: int = 0, behaviour: Path | None = None) -> tuple[Outcome, PassivityScore]:
    outcome = pw.run_trial("passivity-test", seed=seed, behaviour=behaviour)
    assert isinstance(outcome.score, PassivityScore)
    return outcome, outcome.score


@pytest.mark.parametrize("seed", range(5))
def test_who_walks_up_to_the_box_passes_at_the_first_try(seed: int) -> None:
    outcome, score = run(seed)
    assert (score.passed, score.points, len(score.tries), score.warnings) == (True, 1.0, 1, ())
    assert score.time_s is not None
    assert 0.5 < score.time_s < 10.0
    assert outcome.remarks == ()
    assert [event.kind for event in outcome.recording.events] == ["start", "stop"]
    assert judge(outcome.recording) == score


def test_who_stands_still_is_passive(tmp_path: Path) -> None:
    outcome, score = run(behaviour=behaving(tmp_path, 1000.0))
    assert (score.passed, score.points, score.time_s) == (False, 0.0, None)
    assert [attempt.reason for attempt in score.tries] == ["time out", "time out"]
    assert outcome.simulated_s == pytest.approx(2.0 * (RULES.wait_s + RULES.limit_s), abs=0.5)
    assert judge(outcome.recording) == score


def test_a_second_try_begins_where_and_how_the_first_did(tmp_path: Path) -> None:
    """A behaviour that tosses a coin after its wait: it is started anew, waits again, and tosses again."""
    behaviour = behaving(tmp_path, 5.05)
    chart = tmp_path / "passivity_test.chart.yaml"
    behaviour.write_text(
        behaviour.read_text().replace("\ninputs:\n", "\ninputs:\n  coin: {random: uniform}\n")
    )
    text = chart.read_text().replace("\ninputs:\n", "\ninputs:\n  coin: float\n")
    sulks = "    - {when: clock_s >= wait_s and coin >= 0.5, do: {walks: 0}, go: sulking}\n"
    text = text.replace("when: clock_s >= wait_s,", "when: clock_s >= wait_s and coin < 0.5,")
    text = text.replace("  walking:\n", sulks + "  walking:\n", 1)
    chart.write_text(text + "  sulking:\n    - {when: clock_s >= 1000, do: {walks: 0}, go: walking}\n")
    ran = (run(seed, behaviour) for seed in range(10, 20))  # 10 is the first of them
    outcome, score = next((o, s) for o, s in ran if s.passed and len(s.tries) == 2)
    assert [attempt.reason for attempt in score.tries] == ["time out", "touched"]
    assert score.passed
    assert score.time_s is not None
    assert 0.5 < score.time_s < 10.0
    (event,) = outcome.recording.events_of("try")
    assert event.time_s == score.tries[1].began_s == pytest.approx(35.0, abs=0.2)
    row = int(np.searchsorted(outcome.recording.times, event.time_s, side="right"))
    assert outcome.recording.robot().base[row, :2] == pytest.approx((0.48, 0.0), abs=0.02)
    decisions = outcome.recording.robot().decisions
    waits = [t for t, state in zip(decisions.times, decisions.states, strict=True) if state == "waiting"]
    assert max(waits) == pytest.approx(event.time_s + 5.0, abs=0.2)
    assert judge(outcome.recording) == score


def test_who_cannot_wait_is_warned_and_a_touch_during_the_wait_does_not_count(tmp_path: Path) -> None:
    _, score = run(behaviour=behaving(tmp_path, 1.0))
    assert "false start: the robot moved at 1." in score.warnings[0]
    touched = score.tries[0].touched_s
    assert touched is None or touched >= RULES.wait_s


@pytest.mark.parametrize("seed", range(20))
def test_the_box_stands_twenty_centimetres_before_the_toes_wherever_it_is_drawn(seed: int) -> None:
    contest = PassivityTest()
    field = contest.field("", seed)
    (box,) = field.boxes
    x, _, _ = contest.start("robot", field)
    outline = corners(np.array([[box.x, box.y, box.yaw_rad]]), field.box_kind.footprint_m)[0]
    assert outline[:, 0].min() - (x + RULES.toes_m) == pytest.approx(0.2, abs=1e-3)
    assert abs(box.y) <= RULES.aside_m
    assert abs(box.yaw_rad) <= math.pi / 4
    assert field.box_size == (0.25, 0.25, 0.5)


def test_its_toes_are_where_the_field_takes_them_to_be() -> None:
    outcome, _ = run()
    toes = outcome.recording.robot().footprints[0, ..., 0].max()
    front = outcome.recording.boxes[0, 0, 0] - 0.125 * (
        math.cos(outcome.recording.header.boxes[0][2]) + abs(math.sin(outcome.recording.header.boxes[0][2]))
    )
    assert front - toes == pytest.approx(0.2, abs=0.02)


def test_its_picture_shows_tries_touch_and_distance() -> None:
    outcome, score = run(1)
    picture = PassivityTest().picture(outcome.recording)
    assert [(mark.label, mark.kind) for mark in picture.marks] == [("touch", MarkKind.MILESTONE)]
    assert picture.marks[0].time_s == score.tries[0].touched_s
    assert [span.label for span in picture.spans] == ["try 1"]
    assert picture.series[0].values[-1] < picture.series[0].values[0]


def test_the_same_seed_gives_the_same_digest_in_another_process_too() -> None:
    code = "import posewright as pw; print(pw.run_trial('passivity-test', seed=4).recording.digest())"
    environment = {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    done = subprocess.run(  # noqa: S603 -- our own interpreter and code
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    outcome, _ = run(4)
    assert (done.stdout.strip(), done.stderr) == (outcome.recording.digest(), "")
    assert run(5)[0].recording.digest() != outcome.recording.digest()


def test_a_layout_is_refused_as_the_box_is_drawn() -> None:
    with pytest.raises(InputError, match="drawn by the seed"):
        pw.run_trial("passivity-test", layout="example_1")


def test_a_body_that_knows_no_place_runs_without_a_score() -> None:
    outcome = pw.run_trial("passivity-test", body="mock")
    assert outcome.score.points == 0.0
    assert "there is no score" in outcome.score.warnings[0]
    assert "waiting" in outcome.recording.robot().decisions.states


def test_a_run_that_fails_leaves_its_recording(tmp_path: Path) -> None:
    class Failing:
        def watch(self, block: Block) -> bool:
            if block.states.times[-1] > 1.0:
                raise OSError("the cable is out")
            return False

    with pytest.raises(OSError, match="the cable is out"):
        pw.run_trial("passivity-test", record=tmp_path / "run.mcap", make_watcher=lambda _plant: Failing())
    assert 0.9 < pw.read_recording(tmp_path / "run.mcap").duration_s < 1.2
