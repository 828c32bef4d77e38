"""The champions of the obstacle race: there and back at a steered walk, and up again after a fall."""

from __future__ import annotations

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
