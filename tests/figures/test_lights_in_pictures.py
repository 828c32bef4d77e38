"""Lights in films and pictures: the geom called as the LED takes its colour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posewright.bodies import JointCommands
from posewright.control import Script, drive
from posewright.figures.film import open_renderer
from posewright.figures.playback import playback_of_motion, playback_of_recording
from posewright.motions import Keyframe, Motion, Pose
from posewright.recordings import Header, Recorder, RobotHeader
from posewright.robots import Led, robot
from posewright.simulation import Film, SimulatedBody, World

CARD = replace(
    robot("robotis_bioloid"),
    leds=(Led("chest", "rgb", "a geom there is"), Led("aura", "red", "and one there is not")),
)
STAND = Pose(CARD.joint_names, CARD.pose("stand"))
LIT = Motion(
    "lit",
    CARD.name,
    CARD.joint_names,
    (Keyframe(STAND, 0.2), Keyframe(STAND, 0.2, lights={"chest": (0, 0, 255), "aura": 255})),
)


def blueness(picture: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> int:
    """Return how many pixels are lit blue."""
    red, green, blue = (picture[..., channel].astype(int) for channel in range(3))
    return int(((blue > 150) & (blue > 2 * red) & (blue > 2 * green)).sum())


@pytest.mark.usefixtures("_can_draw")
def test_a_motion_shows_its_lights_from_the_way_on_that_tells_them() -> None:
    playback = playback_of_motion(LIT, CARD)
    poses = playback.poses_at(np.array([0.1, 0.3]))
    with open_renderer(playback, poses, "front", (160, 120), 25.0) as picture:
        before, after = blueness(picture(0)), blueness(picture(1))
    assert before == 0
    assert after > 50


@pytest.mark.usefixtures("_can_draw")
def test_a_recording_shows_the_lights_that_were_told() -> None:
    body = SimulatedBody(World(CARD), start_pose=CARD.pose("stand"))
    recorder = Recorder(Header({CARD.name: RobotHeader.of(body)}), body.world, every=1)
    rows = np.tile(CARD.pose("stand"), (4, 1))
    blocks = [JointCommands(rows), JointCommands(rows, lights={"chest": (0.0, 0.0, 1.0)})]
    drive(body.world, {CARD.name: Script(blocks)}, until_s=8 * CARD.frame_period_s, watchers=[recorder])
    playback = playback_of_recording(recorder.recording(), CARD)
    poses = playback.poses_at(recorder.recording().times)
    with open_renderer(playback, poses, "front", (160, 120), 25.0) as picture:
        assert [blueness(picture(row)) > 50 for row in range(8)] == [False] * 4 + [True] * 4


@pytest.mark.usefixtures("_can_draw")
def test_a_light_that_is_off_looks_as_the_model_does_and_half_a_light_is_half_of_both() -> None:
    with Film(World(CARD), 160, 120, "front", quick=True) as film:
        pose = (np.array([0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0]), CARD.pose("stand"))
        off = film.frame(pose, lights={CARD.name: {"chest": np.full(3, np.nan)}})
        np.testing.assert_array_equal(off, film.frame(pose))
        on, half = (
            film.frame(pose, lights={CARD.name: {"chest": np.array([0.0, 0.0, blue])}}) for blue in (1.0, 0.5)
        )
        np.testing.assert_array_equal(off, film.frame(pose))
    assert blueness(on) > blueness(half)
    assert off[..., 0].sum() > half[..., 0].sum() > on[..., 0].sum()  # a white chest turns blue
