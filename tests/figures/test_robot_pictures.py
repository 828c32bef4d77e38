"""The picture of a robot's joints, and outlines by the links of recordings."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import posewright as pw
from posewright.errors import InputError, UnknownNameError
from posewright.figures import draw_robot
from posewright.figures.outline import link_frames
from posewright.figures.robot import header_of
from posewright.simulation import World
from posewright.simulation.placement import place


@pytest.mark.parametrize("name", ["sony_ers7", "robotis_bioloid"])
def test_every_joint_is_named_once_with_its_range(name: str) -> None:
    card = pw.robot(name)
    words = [text.get_text() for axes in draw_robot(name).axes for text in axes.texts]
    for joint in card.joints:
        said = [one for one in words if one.startswith(f"{joint.name.replace('_', ' ')}  ")]
        assert len(said) == 1
        assert said[0].endswith(f"{np.rad2deg(joint.lower_rad):.0f} .. {np.rad2deg(joint.upper_rad):.0f}")


@pytest.mark.parametrize("name", ["sony_ers7", "robotis_bioloid"])
def test_links_are_where_physics_has_them(name: str) -> None:
    card = pw.robot(name)
    world, header = World(card), header_of(card)
    angles = np.random.default_rng(1).uniform(*card.hardware_limits)
    place(world.instance(), 0.3, -0.2, 0.7, angles)
    mujoco.mj_kinematics(world.model, world.data)
    frames = link_frames(header, world.base[np.newaxis], angles[np.newaxis])
    for link in header.links:
        names = [i for i in range(world.model.nbody) if world.model.body(i).name.endswith(link["name"])]
        if names:
            (places,), (turns,) = frames[link["name"]]
            np.testing.assert_allclose(places, world.data.xpos[names[0]], atol=1e-9)
            np.testing.assert_allclose(turns.ravel(), world.data.xmat[names[0]], atol=1e-9)


def test_a_robot_without_a_model_or_a_pose_it_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="has no model"):
        draw_robot("sony_ers110")
    with pytest.raises(UnknownNameError, match="sitt"):
        draw_robot("sony_ers7", pose="sitt")
