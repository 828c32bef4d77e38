"""The champions of the obstacle race: there and back at a steered walk, and up again after a fall."""

from __future__ import annotations

from pathlib import Path

import pytest

import posewright as pw


@pytest.mark.parametrize(
    ("behaviour", "seed", "body"),
    [
        ("obstacle_champion", 3, "sim"),
        ("obstacle_champion", 2026, "random"),
        ("obstacle_champion_kit", 3, "sim"),
    ],
)
def test_it_goes_there_and_back_without_touching_a_box(behaviour: str, seed: int, body: str) -> None:
    outcome = pw.run_trial("obstacle-race", behaviour=behaviour, layout="random", seed=seed, body=body)
    assert [leg.finished for leg in outcome.score.legs] == [True, True]
    assert not outcome.recording.robot().box_contacts.any()
    assert outcome.score.penalties == ()
    assert outcome.score.points > 29.0


def test_it_gets_up_by_itself_where_the_judges_wait_and_finishes() -> None:
    """It lies at the start, as after a fall before the judge's signal."""
    outcome = pw.run_trial(
        "obstacle-race",
        behaviour="obstacle_champion",
        layout="random",
        seed=3,
        start_posture="lying_back",
        get_up_s=20.0,
    )
    states = outcome.recording.robot().decisions.states
    assert states.index("getting_up") < next(k for k, state in enumerate(states) if state.endswith("walking"))
    assert outcome.score.legs[0].finished


DEAD_END = """\
layout: dead_end
boxes: [[1.5, -0.3], [1.5, -0.1], [1.5, 0.1], [1.5, 0.3], [1.3, -0.3], [1.3, 0.3]]
"""


def test_it_leaves_a_dead_end_and_does_not_take_its_back_for_the_end_wall(tmp_path: Path) -> None:
    layout = tmp_path / "dead_end.layout.yaml"
    layout.write_text(DEAD_END)
    outcome = pw.run_trial("obstacle-race", behaviour="obstacle_champion", layout=layout)
    assert [leg.finished for leg in outcome.score.legs] == [True, True]
    assert outcome.score.penalties == ()
