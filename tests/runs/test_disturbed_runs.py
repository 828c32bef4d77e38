"""Runs with pushes and plates: where plates lie, what is recorded, and what is drawn of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posewright.bodies import DomainParameters, Plate, Push, domain_randomization, draw_domain
from posewright.evaluation.trajectory import domain_of
from posewright.figures.playback import recorded_world
from posewright.gaits import VelocityCommand, read_gait_and_robot
from posewright.recordings.scene import build_scene
from posewright.robots import robot
from posewright.runs import walk_gait
from posewright.runs.trial import TrialOptions, read_trial, trial_run
from posewright.runs.walking.walk import make_walking_world

BIOLOID = robot("robotis_bioloid")
BIPED, _ = read_gait_and_robot("biped", robot=BIOLOID)
DISTURBED = DomainParameters(
    pushes=(Push(0.5, 0.3, math.pi / 2),),
    plates=(Plate(0.35, 0.0, 0.3, 0.2, 0.003), Plate(0.05, 0.0, 0.0, 0.04, 0.003)),
)


def test_no_plate_lies_under_a_start_or_under_a_box() -> None:
    run = trial_run(read_trial("obstacle-race"), TrialOptions(body="plates_5mm", seed=1, layout="example_1"))
    assert run.arena is not None
    (body,) = run.bodies
    start_x, start_y, _ = body.start
    assert all(plate.distance_m(start_x, start_y) >= 0.2 for plate in body.domain.plates)
    for box in run.arena.boxes:
        half_diagonal_m = math.hypot(*run.arena.kind_of(box).footprint_m) / 2.0
        assert all(plate.distance_m(box.x, box.y) >= half_diagonal_m for plate in body.domain.plates)
    n_drawn = len(draw_domain(domain_randomization("plates_5mm"), run.streams.body).plates)
    assert 0.8 * n_drawn < len(body.domain.plates) < n_drawn


def test_a_walk_is_recorded_with_its_pushes_and_plates_and_drawn_with_them() -> None:
    walk = walk_gait(BIPED, BIOLOID, command=VelocityCommand(0.2), seconds=1.0, domain=DISTURBED)
    recording = walk.recording
    recorded = domain_of(recording.header.robots["robotis_bioloid"].facts["domain"])
    assert recorded.pushes == DISTURBED.pushes
    (event,) = recording.events_of("push")
    assert event.time_s == 0.5
    assert event.data["impulse_n_s"] == 0.3
    assert event.data["from_deg"] == pytest.approx(90.0)
    assert recorded.plates == DISTURBED.plates[:1]  # the other one lies under the start
    assert recorded_world(recording).plates == recorded.plates
    (plates,) = [entity for entity in build_scene(recording)["entities"] if entity["id"] == "plates"]
    (cube,) = plates["cubes"]
    assert cube["size"] == {"x": 0.2, "y": 0.2, "z": 0.003}
    assert cube["pose"]["position"]["z"] == pytest.approx(0.0015)
    assert walk.to_dict()["variation"]["n_plates"] == 1
    reused = walk_gait(
        BIPED,
        BIOLOID,
        command=VelocityCommand(0.2),
        seconds=1.0,
        domain=DISTURBED,
        world=make_walking_world(BIPED, BIOLOID),
    )
    assert reused.recording.digest() == recording.digest()


def test_a_push_from_the_left_moves_a_walking_robot_to_the_right() -> None:
    pushed, undisturbed = (
        walk_gait(BIPED, BIOLOID, command=VelocityCommand(0.1), seconds=0.8, settle_s=0.0, domain=domain)
        for domain in (DomainParameters(pushes=(Push(0.5, 0.3, math.pi / 2),)), None)
    )
    drift_m = [walk.recording.robots["robotis_bioloid"].base[:, 1] for walk in (pushed, undisturbed)]
    difference = drift_m[0] - drift_m[1]
    times = pushed.recording.times
    assert np.abs(difference[times <= 0.5]).max() == 0.0
    assert difference.min() < -0.005
    assert difference.max() < 0.001
