"""Robot inspection: what ships is measured, and a card of ours breaks each rule once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import posewright as pw
from posewright.cli.app import run
from posewright.errors import InputError, UnknownNameError

BIOLOID = pw.robot("robotis_bioloid")


def changed(folder: Path, **changes: str) -> Path:
    """Return the card of a robot like the Bioloid, but for some texts of its model and card."""
    assert BIOLOID.folder is not None
    place = folder / "robot"
    shutil.copytree(BIOLOID.folder, place)
    for document in ("model.xml", "robot.yaml"):
        text = (place / document).read_text()
        for old, new in changes.items():
            text = text.replace(old, new)
        (place / document).write_text(text)
    return place / "robot.yaml"


BREAKS = {
    "height": {'pos="0.0045 0 0.12175"': 'pos="0.0045 0 0.30"'},
    "mass": {'mass="0.580"': 'mass="1.9"', "trunk: 0.580": "trunk: 1.9"},
    "foot length": {
        "0.0525 0.031 0.004": "0.0575 0.031 0.004",
        "0.0535 0.032 0.004": "0.0575 0.032 0.004",
        "sole_size_m: [0.105, 0.062]": "sole_size_m: [0.115, 0.062]",
    },
}


def test_a_bioloid_may_enter() -> None:
    inspection = pw.inspect_robot("robotis_bioloid")
    assert inspection.passed
    values = {verdict.measure: verdict.value for verdict in inspection.verdicts}
    assert values == {"height": 0.350175, "foot length": 0.105, "mass": 1.7986, "legs": 2}
    assert all(verdict.method and verdict.source for verdict in inspection.verdicts)


@pytest.mark.parametrize("measure", BREAKS)
def test_a_robot_that_breaks_one_rule_is_told_which(measure: str, tmp_path: Path) -> None:
    inspection = pw.inspect_robot(changed(tmp_path, **BREAKS[measure]))
    assert [verdict.measure for verdict in inspection.verdicts if not verdict.passed] == [measure]
    assert not inspection.passed
    verdict = next(verdict for verdict in inspection.verdicts if verdict.measure == measure)
    assert verdict.limit < verdict.value < 1.2 * verdict.limit


def test_a_dog_has_too_many_legs() -> None:
    inspection = pw.inspect_robot("sony_ers7")
    assert [str(verdict) for verdict in inspection.verdicts if not verdict.passed] == [
        "legs 4: exactly 2, failed"
    ]


def test_a_robot_without_a_model_or_of_no_name_is_refused() -> None:
    with pytest.raises(InputError, match="model"):
        pw.inspect_robot("sony_ers110")
    with pytest.raises(UnknownNameError, match="robotis_bioloid"):
        pw.inspect_robot("robotis_bioliod")


def test_the_verb_says_it_in_json_and_by_its_exit_code(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["inspect", "robotis_bioloid", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == pw.inspect_robot("robotis_bioloid").to_dict()
    assert run(["inspect", str(changed(tmp_path, **BREAKS["mass"]))]) == 1
    assert "may not enter" in capsys.readouterr().out
