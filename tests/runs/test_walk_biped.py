"""A biped walks on a simulated body: upright, as fast as commanded, and straight by its feedback."""

from __future__ import annotations

from dataclasses import replace

import pytest

from posewright.bodies import domain_randomization, draw_domain
from posewright.gaits import OPEN_LOOP, VelocityCommand, read_gait
from posewright.runs.walking.walk import walk_gait

GAIT = read_gait("biped")
AHEAD = VelocityCommand(0.2)


def test_the_shipped_biped_walks_upright_as_fast_as_commanded_and_straight() -> None:
    figures = walk_gait(GAIT, command=AHEAD, seconds=4).figures()
    assert figures["falls"] == 0
    assert figures["speed_m_s"] == pytest.approx(0.2, rel=0.15)
    assert abs(figures["heading_change_deg"]) < 3.0


def test_feedback_keeps_a_random_body_straighter_than_the_open_loop() -> None:
    body = draw_domain(domain_randomization(), seed=4)
    figures = walk_gait(GAIT, command=AHEAD, seconds=4, domain=body).figures()
    open_loop = walk_gait(replace(GAIT, feedback=OPEN_LOOP), command=AHEAD, seconds=4, domain=body).figures()
    assert figures["falls"] == open_loop["falls"] == 0
    assert abs(figures["heading_change_deg"]) < 3.0
    assert abs(open_loop["heading_change_deg"]) > 2.0 * abs(figures["heading_change_deg"])
