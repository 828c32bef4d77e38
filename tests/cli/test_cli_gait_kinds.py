"""Who hands in a file of another kind as a gait, or a gait as a motion, is told what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.bodies import __file__ as bodies
from posewright.cli.app import run
from posewright.robots import robot

AIBO = robot("sony_ers7").folder or Path()
RANDOM_BODIES = Path(bodies).parent / "catalogue" / "random.bodies.yaml"

Captured = pytest.CaptureFixture[str]


def refusal(capsys: Captured, *words: str | Path) -> str:
    """Run something that must be refused, and return what is said."""
    assert run([*map(str, words)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize("verb", ["info", "check"])
def test_a_gait_that_is_handed_in_as_a_motion_is_told_where_gaits_are_shown(
    verb: str, capsys: Captured
) -> None:
    said = refusal(capsys, "motion", verb, AIBO / "gaits" / "trot.gait.yaml")
    assert "trot.gait.yaml" in said
    assert "this is a Posewright gait (`posewright gait show` shows it" in said
    assert "not a motion file" in said


def test_a_tuning_is_no_motion_although_it_names_a_gait(capsys: Captured) -> None:
    assert "a tuning of a Posewright gait" in refusal(
        capsys, "motion", "info", AIBO / "tunes" / "trot.tune.yaml"
    )


def test_ranges_of_bodies_are_no_motion(capsys: Captured) -> None:
    assert "domain parameters" in refusal(capsys, "motion", "info", RANDOM_BODIES)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (AIBO / "motions" / "nod.motion.yaml", "a Posewright motion, not a gait (`posewright motion info`"),
        (
            AIBO / "tunes" / "trot.tune.yaml",
            "a tuning of a Posewright gait (`posewright tune` runs it), not a gait",
        ),
        (AIBO / "robot.yaml", "a Posewright robot card, not a gait"),
        (RANDOM_BODIES, "a Posewright table of domain parameters, not a gait"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
@pytest.mark.parametrize("verb", ["show", "run", "sample"])
def test_what_is_no_gait_is_called_by_its_name(verb: str, file: Path, says: str, capsys: Captured) -> None:
    said = refusal(capsys, "gait", verb, file)
    assert file.name in said
    assert says in said


def test_a_motion_of_sony_is_no_gait(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "walk.gait.yaml"
    file.write_bytes(b"OMTN" + bytes(60))
    assert "a Sony AIBO motion (OMTN), not a gait" in refusal(capsys, "gait", "show", file)


def test_what_is_wrong_with_a_gait_is_still_said_with_its_line(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "mine.gait.yaml"
    file.write_text("gait: mine\nrobot: sony_ers7\n", encoding="utf-8")
    assert f"{file}:1: 'phases' is missing" in refusal(capsys, "gait", "show", file)


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path: Path, capsys: Captured) -> None:
    assert "No such file" in refusal(capsys, "gait", "show", tmp_path / "none.gait.yaml")
