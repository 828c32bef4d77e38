"""The page of limits says what the code does: each claim below stands on the page, and its value is ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import posewright as pw
from posewright.contests import find_arena
from posewright.gaits import BipedGait
from posewright.hazards.self_collision import MAX_OVERLAP_MM
from posewright.kinematics import BipedLeg
from posewright.recordings import ROWS_EVERY

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs/limits.md").read_text(encoding="utf-8").split())
BIOLOID = pw.robot("robotis_bioloid")
ERS7 = pw.robot("sony_ers7")


def torques(card: pw.Robot) -> set[float]:
    return {round(servo.stall_torque_nm, 3) for servo in card.servos}


def rpm(card: pw.Robot) -> set[int]:
    return {round(servo.no_load_speed_rad_s * 60.0 / 6.283185307) for servo in card.servos}


CLAIMS: dict[str, Callable[[], bool]] = {
    "Stall torque 1.5 N m and no-load speed 59 rpm are the maker's": lambda: (
        (torques(BIOLOID), rpm(BIOLOID)) == ({1.5}, {59})
    ),
    "we use 1.80": lambda: abs(BIOLOID.mass_kg - 1.80) < 0.005,
    "masses (1.63 kg)": lambda: abs(ERS7.mass_kg - 1.63) < 0.005,
    "ERS-110, ERS-210 and ERS-220 have no model": lambda: (
        {name for name in pw.robot_names() if pw.robot(name).model_path is None}
        == {"sony_ers110", "sony_ers210", "sony_ers220"}
    ),
    "The servo bus was tried on a fake bus only": lambda: callable(pw.open_bus),
    "The studio takes gaits of four legs only": lambda: (
        isinstance(pw.read_gait("biped"), BipedGait) and not BIOLOID.legs
    ),
    "a race records every fourth frame": lambda: ROWS_EVERY == 4,
    "a box weighs 1 kg": lambda: find_arena("ceabot_obstacles").box_kind.mass_kg == 1.0,
    "`motion check` looks at joints and colliding links": lambda: MAX_OVERLAP_MM > 0.0,
    "The ring of 72 beams": lambda: (
        "beams: 72" in ((BIOLOID.folder or Path()) / "behaviours/obstacle_race.behaviour.yaml").read_text()
    ),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_of_the_page_is_true(claim: str) -> None:
    assert claim in PAGE
    assert CLAIMS[claim]()


def test_what_the_page_once_denied_is_not_denied_any_more() -> None:
    """It said that no body drives a servo bus, and that no leg of six joints can be solved."""
    assert "No body drives" not in PAGE
    assert "Legs of three joints and heads" not in PAGE
    assert BipedLeg.__doc__
