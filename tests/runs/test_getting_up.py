"""The shipped get-ups lead from lying on the floor to standing on random bodies; runs can start lying."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import posewright as pw
from posewright.cli.app import run
from posewright.controllers.behaviours import read_behaviour
from posewright.errors import InputError, UnknownNameError
from posewright.evaluation.walking.walk import fall_limits
from posewright.recordings import Recording
from posewright.recordings.falls import FallDetector, up_in_base_frame
from posewright.runs import RerunStatus, Trial
from posewright.runs.perform import fell_in, perform_program
from posewright.runs.play import play_motion
from posewright.simulation import SimulatedBody, World

HUMANOIDS = {"robotis_bioloid": "walk_ready", "hitec_robonova1": "stand"}
"""The pose in which each of them stands before it walks."""


def motion_path(robot: str, motion: str) -> Path:
    folder = pw.robot(robot).folder
    assert folder is not None
    return folder / "motions" / f"{motion}.motion.yaml"


def play_lying(robot: str, motion: str, start_posture: str, seed: int = 0, body: str = "random") -> Recording:
    return play_motion(
        pw.read_motion(motion_path(robot, motion)),
        start_posture=start_posture,
        body=body,
        seed=seed,
        settle_s=0.5,
        hold_s=2.0,
    )


def stands_at_the_end(recording: Recording, robot: str) -> bool:
    """Return whether the base was not down in any row of the last two seconds, by the limits of a walk."""
    card = pw.robot(robot)
    world = World(card, visuals=False)
    SimulatedBody(world, start_pose=card.pose(HUMANOIDS[robot]))
    detector = FallDetector(fall_limits(card.frame_period_s))
    detector.find_down_rows(world.base[np.newaxis])  # stores the height of a robot that stands
    is_late = recording.times >= recording.times[-1] - 2.0
    return not detector.find_down_rows(recording.robot().base[is_late]).any()


@pytest.mark.parametrize("robot", HUMANOIDS)
@pytest.mark.parametrize("side", ["front", "back"])
def test_a_random_humanoid_gets_up_from_its_front_and_its_back(robot: str, side: str) -> None:
    recording = play_lying(robot, f"get_up_{side}", f"lying_{side}", seed=1)  # 701 to 760 all got up, too
    assert stands_at_the_end(recording, robot)
    assert not fell_in(recording)  # although a trunk that rises leans far forward once more


@pytest.mark.parametrize("robot", HUMANOIDS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_humanoid_on_its_side_rolls_over_to_its_front(robot: str, side: str) -> None:
    recording = play_lying(robot, "roll_over", f"lying_{side}", seed=1)
    base = recording.robot().base
    assert abs(up_in_base_frame(base[:1])[0, 1]) > 0.9  # on its side
    assert up_in_base_frame(base[-1:])[0, 0] < -0.9  # its front looks down


PUSHED = """\
bodies: pushed
source: "strong enough for any walker"
pushes:
  - {impulse_n_s: 2, at_s: {low: 1, high: 1.5}, duration_s: 0.1}
"""


def behaviour_of(robot: str, folder: Path) -> Path:
    """Write the shipped behaviour that gets up, for one of the humanoids, and return its path."""
    shipped = motion_path("robotis_bioloid", "brace").parents[1] / "behaviours"
    gait = {"robotis_bioloid": "biped", "hitec_robonova1": "nova_walk"}[robot]
    changes = {
        "robotis_bioloid": robot,
        "walk_ready": HUMANOIDS[robot],
        "{gait: biped}": f"{{gait: {gait}}}",
        "forward_m_s: 0.2}": "forward_m_s: 0.1}",
    }
    for kind in ("chart", "behaviour"):
        text = (shipped / f"get_up_and_walk.{kind}.yaml").read_text()
        for original, replacement in changes.items():
            text = text.replace(original, replacement)
        (folder / f"get_up_and_walk.{kind}.yaml").write_text(text)
    return folder / "get_up_and_walk.behaviour.yaml"


@pytest.mark.parametrize("robot", HUMANOIDS)
def test_a_walker_that_is_pushed_over_gets_up_and_walks_on(robot: str, tmp_path: Path) -> None:
    body = tmp_path / "pushed.bodies.yaml"
    body.write_text(PUSHED)
    behaviour = read_behaviour(behaviour_of(robot, tmp_path))
    recording = perform_program(behaviour, until_s=14.0, body=str(body), seed=1)
    decisions = recording.robot().decisions
    states = [state for state, _ in itertools.groupby(decisions.states)]
    assert states[:3] == ["walking", "falling", "down"]
    assert states[-2:] == ["down", "walking"]
    assert stands_at_the_end(recording, robot)
    last_down = max(np.flatnonzero(np.array(decisions.states) == "down"))
    row = np.searchsorted(recording.times, decisions.times[last_down])
    walked_m = np.linalg.norm(recording.robot().base[-1, :2] - recording.robot().base[row, :2])
    assert walked_m > 0.1


def test_a_motion_that_does_not_get_a_lying_robot_up_counts_as_a_fall(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["motion", "play", str(motion_path("robotis_bioloid", "roll_over")), "--json", "--start"]
    assert run([*command, "lying_back"]) == 1
    assert '"falls": 1' in capsys.readouterr().out


def test_a_robot_that_lay_at_first_and_gets_up_has_not_fallen(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(motion_path("hitec_robonova1", "get_up_back"))
    assert run(["motion", "play", path, "--json", "--start", "lying_back"]) == 0
    assert '"falls": 0' in capsys.readouterr().out


def test_only_a_simulated_robot_can_start_lying() -> None:
    with pytest.raises(InputError, match="on the body mock cannot start lying_back"):
        play_lying("robotis_bioloid", "get_up_back", "lying_back", body="mock")


def test_an_unknown_posture_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="did you mean lying_left"):
        pw.run_trial("passivity-test", start_posture="lying_lefft")


def test_a_trial_that_began_lying_is_simulated_again_lying() -> None:
    trial = Trial("lying", "robotis_bioloid", "wrestle_passive", "exhibition", still_s=0.5)
    recording = pw.run_trial(trial, start_posture="lying_front").recording
    assert recording.robot().header.facts["posture"] == "lying_front"
    assert up_in_base_frame(recording.robot().base[:1])[0, 0] < -0.9  # its front looks down
    assert pw.rerun(recording).status is RerunStatus.SAME
