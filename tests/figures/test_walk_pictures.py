"""The picture of a walk."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import InputError
from posewright.evaluation import WalkResult
from posewright.figures import draw_walk, save_figure
from posewright.figures.gait.content import COLOURS
from posewright.figures.walk import foot_colours
from posewright.gaits import VelocityCommand, read_gait
from posewright.recordings import Recording
from posewright.robots import robot
from posewright.runs import walk_gait

CARD = robot("sony_ers7")


@pytest.fixture(scope="module")
def walk() -> WalkResult:
    return walk_gait(read_gait("trot", robot=CARD), CARD, command=VelocityCommand(0.1, 0.0, 0.3), seconds=1.5)


def test_the_same_walk_gives_the_same_picture_also_from_its_recording_alone(
    walk: WalkResult, tmp_path: Path
) -> None:
    save_figure(draw_walk(walk), tmp_path / "a.png")
    save_figure(draw_walk(walk.recording), tmp_path / "b.png")
    drawn = (tmp_path / "a.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    assert drawn == (tmp_path / "b.png").read_bytes()


def test_a_walk_that_ends_at_once_is_drawn_too(tmp_path: Path) -> None:
    gait = read_gait("trot", robot=CARD)
    short = walk_gait(gait, CARD, command=VelocityCommand(), seconds=CARD.frame_period_s, settle_s=0.0)
    save_figure(draw_walk(short), tmp_path / "short.png")
    assert (tmp_path / "short.png").stat().st_size > 0


def test_a_foot_has_the_same_colour_as_in_the_picture_of_its_gait() -> None:
    assert foot_colours(CARD) == {f"{foot}_paw": colour for foot, colour in COLOURS.items()}


def test_a_walk_of_two_legs_is_drawn_with_a_colour_for_each_foot(tmp_path: Path) -> None:
    card = robot("robotis_bioloid")
    walk = walk_gait(read_gait("biped", robot=card), card, command=VelocityCommand(0.1), seconds=1.0)
    save_figure(draw_walk(walk), tmp_path / "biped.png")
    assert (tmp_path / "biped.png").read_bytes().startswith(b"\x89PNG")
    assert len(set(foot_colours(card).values())) == 2


def test_what_is_no_walk_is_refused(played: Recording) -> None:
    with pytest.raises(InputError, match="not the recording of a gait's walk"):
        draw_walk(played)
