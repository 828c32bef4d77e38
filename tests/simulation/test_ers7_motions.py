"""Sony's own motions, played as they are: the base leans as their authors say. Bands, not metres."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.formats import read_motion
from posewright.rotation import roll_pitch_yaw_of_matrix
from posewright.simulation import Lean, SimulatedBody
from posewright.simulation.contacts import ContactRecorder

from .driving import play

Samples = Callable[[str], Path]


def perform(body: SimulatedBody, path: Path, times: int = 1) -> tuple[Floats, Floats, set[str]]:
    """Play a motion of Sony's; return how far it went [m], roll and pitch with those meant [deg], and pairs.

    Returns:
        Way of the base `(3,)`; roll, pitch, and roll and pitch as the file has them, `(n, 4)`; parts of
        the robot that touched each other.
    """
    motion = read_motion(path)
    assert motion.joints == body.robot.joint_names
    sampled = motion.sample(round(1 / body.robot.frame_period_s))
    attitudes = np.array([keyframe.attitude or (0.0, 0.0, 0.0) for keyframe in motion.keyframes])[:, :2]
    ends = np.cumsum([keyframe.reach_s + keyframe.pause_s for keyframe in motion.keyframes])
    meant = np.stack([np.interp(sampled.times, ends, column) for column in attitudes.T], axis=-1)
    body.settle(sampled.angles[0], 0.5, Lean(*attitudes[0]))
    world, recorder = body.world, ContactRecorder(body.instance)
    start, base = world.base, world.addresses.base_body
    leans: list[tuple[float, float]] = []

    def look() -> None:
        leans.append(roll_pitch_yaw_of_matrix(world.data.xmat[base].reshape(3, 3))[:2])
        recorder.record_frame()

    play(body, JointCommands(np.tile(sampled.angles, (times, 1))), look)
    both = np.degrees(np.hstack([np.array(leans), np.tile(meant, (times, 1))]))
    contacts, _ = recorder.take_contacts()
    own = contacts.pairs[contacts.pairs[:, 1] != contacts.names.index("floor")]
    return world.base[:3] - start[:3], both, {contacts.names[part] for part in own.ravel().tolist()}


@pytest.mark.parametrize(
    ("name", "degrees"),
    [("a_stand__stand_so0_makebow", 4.0), ("a_sit__stand_standard", 12.0)],
)
def test_the_base_leans_as_the_author_says(
    dog: SimulatedBody, samples: Samples, name: str, degrees: float
) -> None:
    _, leans, touched = perform(dog, samples(f"aibo_mtn/{name}.mtn"))
    assert np.abs(leans[:, :2] - leans[:, 2:]).max() < degrees
    assert not touched
    assert dog.world.base[2] > 0.14, "it ends on its feet"


def test_sonys_walk_walks(dog: SimulatedBody, samples: Samples) -> None:
    way, leans, touched = perform(dog, samples("aibo_mtn/a_walk__walk_sox_fwd.mtn"), times=4)
    assert 0.2 < way[0] < 0.6
    assert abs(way[1]) < 0.08
    assert np.abs(leans[:, :2] - leans[:, 2:]).max() < 5.0
    assert not touched
