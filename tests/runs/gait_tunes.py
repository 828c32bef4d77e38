"""A short tuning of a made gait, for tests: no preset's numbers are in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from posewright.robots import robot
from posewright.runs import GaitTask
from posewright.runs.tuning.reading import parse_tune

ERS7 = robot("sony_ers7")
MADE_GAIT = Path(__file__).with_name("made.gait.yaml")

QUICK = f"""\
tune: quick
robot: sony_ers7
gait: {MADE_GAIT.as_posix()}
parameters:
  ground_speed_m_s: [0.25, 0.4]
  front_height_m: [0.004, 0.02]
  travel_gain.forward: {{range: [0.9, 1.8], start: 1.2}}
walks:
  - {{forward_m_s: 0.1, seconds: 0.45, settle_s: 0.2}}
score: {{following: 1, tilt_deg: {{weight: 0.02, over: 5}}, fall: 2}}
"""
START = {"ground_speed_m_s": 0.3, "front_height_m": 0.012, "travel_gain.forward": 1.2}


def task_of(**changes: Any) -> GaitTask:
    return replace(parse_tune(QUICK), **changes)
