"""The picture of a walk."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import InputError, OutputError
from posewright.experiments.walking.trial import GaitTrial, walk_gait
from posewright.figures.gait.feet import COLOURS
from posewright.figures.walking.picture import draw_gait_trial, refuse_no_picture
from posewright.figures.walking.picture_ground import foot_colours
from posewright.gaits import VelocityCommand, read_gait
from posewright.robots import robot

CARD = robot("sony_ers7")


@pytest.fixture(scope="module")
def trial() -> GaitTrial:
    return walk_gait(read_gait("trot", robot=CARD), CARD, VelocityCommand(0.1, 0.0, 0.3), seconds=1.5)


@pytest.mark.parametrize(("ending", "magic"), [(".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_picture_is_of_the_kind_its_name_says(
    trial: GaitTrial, tmp_path: Path, ending: str, magic: bytes
) -> None:
    draw_gait_trial(trial, tmp_path / f"walk{ending}")
    assert (tmp_path / f"walk{ending}").read_bytes().startswith(magic)


def test_the_same_walk_gives_the_same_picture(trial: GaitTrial, tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        draw_gait_trial(trial, tmp_path / name)
    drawn = (tmp_path / "a.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    assert drawn == (tmp_path / "b.png").read_bytes()


def test_a_walk_that_ends_at_once_is_drawn_too(tmp_path: Path) -> None:
    gait = read_gait("trot", robot=CARD)
    trial = walk_gait(gait, CARD, VelocityCommand(), seconds=CARD.frame_period_s, settle_s=0.0)
    draw_gait_trial(trial, tmp_path / "short.png")
    assert (tmp_path / "short.png").stat().st_size > 0


def test_no_picture_is_refused_before_anything_walks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a kind of picture"):
        refuse_no_picture(tmp_path / "walk.gif")
    with pytest.raises(OutputError):
        refuse_no_picture(tmp_path / "nowhere" / "walk.png")
    assert list(tmp_path.iterdir()) == []


def test_a_foot_has_the_same_colour_as_in_the_picture_of_its_gait(trial: GaitTrial) -> None:
    assert foot_colours(trial.track) == {f"{foot}_paw": colour for foot, colour in COLOURS.items()}
