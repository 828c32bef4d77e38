"""A behaviour that walks by a gait, and plays a motion in between, to be generated as C."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posewright.codegen.unit import Records
from posewright.controllers.behaviours import Behaviour, read_behaviour

CHART = """\
chart: stroll
kind: mealy
period_s: 0.1
priority: ordered
otherwise: stay
inputs:
  ahead_m_s: {float: [-2, 2]}
  aside_m_s: {float: [-2, 2]}
  turning_rad_s: {float: [-4, 4]}
  choice: {int: [0, 4]}
  walks: bool
  stands: bool
outputs:
  action: {int: [0, 4]}
  forward_m_s: {float: [-2, 2]}
  left_m_s: {float: [-2, 2]}
  turn_rad_s: {float: [-4, 4]}
  is_walking: bool
  is_standing: bool
initial: on
initial_values: {action: 0, forward_m_s: 0.0, left_m_s: 0.0, turn_rad_s: 0.0, is_walking: 0, is_standing: 0}
states:
  on:
    - when: true
      do:
        action: choice
        forward_m_s: ahead_m_s
        left_m_s: aside_m_s
        turn_rad_s: turning_rad_s
        is_walking: walks
        is_standing: stands
      go: on
"""

BEHAVIOUR = """\
behaviour: stroll
robot: robotis_bioloid
chart: stroll.chart.yaml
start_pose: walk_ready
motions: {left: {motion: turn_left}}
gaits: {walk: {gait: biped}, slow_walk: {file: slow.gait.yaml}}
sensors:
  ahead: {kind: compass, mount: imu}
  aside: {kind: compass, mount: imu}
  turning: {kind: compass, mount: imu}
  choice: {kind: compass, mount: imu}
inputs:
  ahead_m_s: {sensor: ahead}
  aside_m_s: {sensor: aside}
  turning_rad_s: {sensor: turning}
  choice: {sensor: choice}
  walks: {playing: walk}
  stands: {standing: true}
outputs:
  - {when: action == 1 and forward_m_s > 0, play: left, at_once: true}
  - {when: action == 1, play: left}
  - {when: action == 2, walk: walk, forward_m_s: forward_m_s, left_m_s: left_m_s, turn_rad_s: turn_rad_s}
  - {when: action == 3, walk: slow_walk, forward_cm_s: 100 * forward_m_s}
  - {when: action == 4, play: null, at_once: true}
  - {otherwise: true, play: null}
"""

SPREADS = {"ahead": 0.3, "aside": 0.05, "turning": 1.0}
"""Standard deviations of the velocities that are requested [m/s, m/s, rad/s]."""


ATTITUDE_FIELDS = ("imu_orientation_0", "imu_orientation_1", "imu_orientation_2")
"""Roll, pitch and heading, which the feedback reads."""


def walking_behaviour(folder: Path) -> Behaviour:
    """Write a behaviour with two gaits and a motion, whose inputs choose what it does, and return it."""
    from posewright.gaits import read_gait, write_gait

    slow = read_gait("biped").with_values({"cycle_s": 0.5, "swing_share": 0.8, "trim.left_m_rad": 0.01})
    write_gait(slow, folder / "slow.gait.yaml")
    (folder / "stroll.chart.yaml").write_text(CHART)
    (folder / "stroll.behaviour.yaml").write_text(BEHAVIOUR)
    return read_behaviour(folder / "stroll.behaviour.yaml")


def random_choices(input_dtype: np.dtype[np.void], n_frames: int, seed: int) -> Records:
    """Return records in which action, velocity and attitude change now and then, `(n_frames,)`.

    A few readings of the attitude are not finite.
    """
    rng = np.random.default_rng(seed)
    attitude_fields = [name for name in ATTITUDE_FIELDS if name in (input_dtype.names or ())]
    records = np.zeros(n_frames, input_dtype)
    frame = 0
    while frame < n_frames:
        end = frame + int(rng.integers(20, 300))
        for name, spread in SPREADS.items():
            records[name][frame:end] = rng.normal(0.0, spread) * rng.integers(0, 2)
        records["choice"][frame:end] = rng.integers(0, 5)
        for name in attitude_fields:
            records[name][frame:end] = rng.normal(0.0, 0.15)
        frame = end
    for name in attitude_fields:
        records[name] += rng.normal(0.0, 0.03, n_frames)
        records[name][rng.random(n_frames) < 0.02] = np.nan
    return records
