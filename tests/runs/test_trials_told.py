"""A trial says what it took for granted, ends when nothing moves, and refuses what cannot apply to it."""

from __future__ import annotations

import dataclasses
import json
import math
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.shell import run_here

import posewright as pw
from posewright.arenas import Arena, Box, arena, write_layout
from posewright.bodies import BodyState, JointCommands, JointStates
from posewright.contests import judge, registry
from posewright.contests.passivity_test.contest import PassivityTest
from posewright.control import Block
from posewright.errors import InputError
from posewright.figures import save_figure
from posewright.recordings import Event, read_mcap
from posewright.runs import Trial, read_trial
from posewright.runs.stillness import StillnessWatcher

LAZY = """\
chart: lazy
kind: mealy
period_s: 0.1
otherwise: stay
inputs: {clock_s: float}
outputs: {walks: bool}
initial: waiting
states:
  waiting:
    - {when: clock_s >= 5, do: {}, go: idle}
  idle:
    - {when: clock_s >= LATE, do: {walks: 1}, go: walking}
  walking:
    - {when: clock_s < 0, do: {walks: 0}, go: waiting}
"""
BEHAVIOUR = """\
behaviour: lazy
robot: robotis_bioloid
chart: lazy.chart.yaml
start_pose: walk_ready
motions: {walk: {motion: walk_forward, speed: 0.9}}
inputs: {clock_s: {clock: since_start}}
outputs: [{when: walks, play: walk}, {otherwise: true, play: null}]
"""


def lazy(folder: Path, late_s: float) -> Path:
    """Return a behaviour that stands still until so late."""
    (folder / "lazy.chart.yaml").write_text(LAZY.replace("LATE", str(late_s)), encoding="utf-8")
    (folder / "lazy.behaviour.yaml").write_text(BEHAVIOUR, encoding="utf-8")
    return folder / "lazy.behaviour.yaml"


def test_a_trial_in_which_nothing_moves_ends_after_half_a_minute_and_says_why(tmp_path: Path) -> None:
    outcome = pw.run_trial(behaviour=lazy(tmp_path, 1000.0), record=tmp_path / "still.mcap")
    assert outcome.simulated_s == pytest.approx(30.0, abs=0.2)
    (stop,) = outcome.recording.events_of("stop")
    assert stop.data == {"reason": "nothing moved for 30 s"}
    assert outcome.score.legs[0].reason == "nothing moved for 30 s"
    assert outcome.score.legs[1].reason == "not begun"
    assert any("no first value to walks" in remark for remark in outcome.remarks)
    assert any(remark.startswith("ended at 30.0 s: nothing moved") for remark in outcome.remarks)
    assert judge(pw.read_recording(tmp_path / "still.mcap")) == outcome.score
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_figure(pw.draw_outcome(outcome), tmp_path / "still.png")


def test_how_long_nothing_may_move_is_the_trials_affair(tmp_path: Path) -> None:
    behaviour = lazy(tmp_path, 12.0)
    text = f"trial: t\nrobot: robotis_bioloid\nbehaviour: {behaviour}\ncontest: passivity-test\n"
    (tmp_path / "t.trial.yaml").write_text(text, encoding="utf-8")
    assert read_trial(tmp_path / "t.trial.yaml").still_s == Trial("t", "r", "b", "c").still_s == 30.0
    (tmp_path / "t.trial.yaml").write_text(text + "still_s: 8\n", encoding="utf-8")
    assert pw.run_trial(tmp_path / "t.trial.yaml").simulated_s == pytest.approx(8.0, abs=0.2)
    (tmp_path / "t.trial.yaml").write_text(text + "still_s: 0\n", encoding="utf-8")
    waited = pw.run_trial(tmp_path / "t.trial.yaml")
    assert waited.score.points == 1.0
    assert "nothing moved" not in " ".join(waited.remarks)


def block(time_s: float, angles: Sequence[float], robot: str = "r") -> Block:
    """Return a frame of a robot of which nobody knows where it is."""
    rows = np.array([angles])
    state = BodyState(time_s - 0.1, rows[0], {})
    states = JointStates(np.array([time_s]), rows, np.zeros_like(rows))
    return Block(robot, state, JointCommands(rows), JointCommands(rows), states)


def test_a_free_joint_is_still_and_one_robot_that_moves_keeps_the_others_waiting() -> None:
    noted: list[Event] = []
    watch = StillnessWatcher(1.0, noted.append)
    results = [watch.watch(block(i / 10, (0.5, math.nan))) for i in range(1, 11)]
    assert (results, noted[0].time_s) == ([False] * 9 + [True], 1.0)
    joint_watch = StillnessWatcher(1.0, noted.append)
    for i in range(1, 40):
        assert not joint_watch.watch(block(i / 10, (0.5,), "one"))
        assert not joint_watch.watch(block(i / 10, (0.01 * i,), "other"))


def test_a_run_says_in_text_and_json_what_nobody_told_it() -> None:
    outcome = pw.run_trial("passivity-test", seed=3)
    defaults = {
        "rules": "ceabot_2013/passivity_test",
        "robot": "robotis_bioloid",
        "behaviour": "passivity_test",
    }
    assert outcome.assumed == {**defaults, "layout": "random"}
    assert outcome.to_dict()["assumed"] == outcome.assumed
    done = run_here("run", "passivity-test", "--behaviour", "passivity_test")
    assert (
        "assumed: robot robotis_bioloid, layout random, seed 0, rules ceabot_2013/passivity_test"
        in done.stdout
    )
    assert "behaviour passivity_test on robotis_bioloid" in done.stdout
    own = dataclasses.replace(read_trial("passivity-test"), name="own")
    assert pw.run_trial(own).assumed == {"rules": defaults["rules"]}


def test_warnings_of_behaviour_and_layout_stand_in_json_too(tmp_path: Path) -> None:
    write_layout(
        tmp_path / "many.layout.yaml", [Box(0.8 + 0.2 * i, 0.9) for i in range(6)] + [Box(1.2, -0.9)]
    )
    behaviour = lazy(tmp_path, 1000.0)
    done = run_here("run", "--behaviour", behaviour, "--layout", tmp_path / "many.layout.yaml", "--json")
    warnings = json.loads(done.stdout)["warnings"]
    assert "layout: 7 boxes: too many from box 7 on" in warnings
    assert any("no first value" in line for line in warnings)


def test_a_box_where_the_robot_starts_is_refused_by_its_number(tmp_path: Path) -> None:
    write_layout(tmp_path / "on.layout.yaml", [Box(1.2, 0.3), Box(0.25, 0.0)])
    with pytest.raises(
        InputError,
        match=r"box 2 at the start position of robotis_bioloid .move it: the robot starts at x = 0.25",
    ):
        pw.run_trial(layout=tmp_path / "on.layout.yaml")


def test_eighty_one_boxes_are_raced_on_without_a_word_from_the_engine(tmp_path: Path) -> None:
    boxes = [Box(0.6 + 0.201 * (i // 9), -0.85 + 0.2055 * (i % 9)) for i in range(81)]
    write_layout(tmp_path / "full.layout.yaml", boxes)
    lazy(tmp_path, 1000.0)
    done = run_here(
        "run", "--layout", "full.layout.yaml", "--behaviour", "lazy.behaviour.yaml", folder=tmp_path
    )
    assert done.returncode == 0
    assert "layout: 81 boxes: too many from box 7 on" in done.stderr
    assert all(line.startswith("warning: ") for line in done.stderr.splitlines())
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


class Bare(PassivityTest):
    """A contest on a field without boxes."""

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:
        return dataclasses.replace(arena(), name="bare", box_kinds={}, boxes=())


@pytest.mark.parametrize("options", [{"layout": "example_1"}, {"legal": True}])
def test_a_layout_is_refused_where_no_boxes_stand(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    monkeypatch.setitem(registry._SHIPPED, "bare", Bare)
    with pytest.raises(InputError, match="has no layouts"):
        pw.run_trial("bare", **options)  # type: ignore[arg-type]  # one of two options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--camera", "top"), "add --video FILE"),
        (("--body", "mock", "--video", "race.mp4"), "it has no ground truth"),
        (("dog-crossing", "--motions", "humanoid.mtn"), "no motion has a `vendor_page`"),
        (("passivity-test", "--layout", "example_2"), "no layout 'example_2'"),
    ],
)
def test_an_option_that_cannot_apply_is_refused_before_the_run(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = run_here("run", *arguments, folder=tmp_path)
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert message in done.stderr


def test_a_run_that_cannot_have_happened_is_recorded_but_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise InputError("it cannot have happened")

    monkeypatch.setattr("posewright.contests.registry.require_plausible", refuse)
    with pytest.raises(InputError, match="cannot have happened"):
        pw.run_trial("passivity-test", record=tmp_path / "run.mcap")
    assert read_mcap(tmp_path / "run.mcap").n_rows > 0
