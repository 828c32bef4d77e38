"""Viewers draw the robot where it is: link frames by hand agree with MuJoCo's, for every model that ships."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posewright.contests import find_arena
from posewright.recordings import Header, Recording, RobotHeader, RobotRecord
from posewright.recordings.scene import (
    build_scene,
    fixed_links,
    link_rotations,
    movable_links,
    quaternion_product,
)
from posewright.robots import robot, robot_names
from posewright.rotation import quaternions_of_roll_pitch_yaw
from posewright.simulation.robot_model import robot_links

MODELS = [name for name in robot_names() if robot(name).model_path]


def shipped(name: str) -> tuple[Any, RobotHeader]:
    card = robot(name)
    model = mujoco.MjModel.from_xml_path(str(card.model_path))
    return model, RobotHeader(name, joints=card.joint_names, feet=card.feet, links=robot_links(card))


def world_poses(header: RobotHeader, base: np.ndarray, positions: np.ndarray) -> dict[str, tuple[Any, Any]]:
    """Return where each link is, `(n, 3)`, and how it is turned, by chaining what viewers chain."""
    n = len(base)
    rotations = dict(
        zip(
            (link["name"] for link in movable_links(header)),
            np.moveaxis(link_rotations(header, positions), 1, 0),
            strict=True,
        )
    )
    rotations |= {link["name"]: np.tile(link["rotation"], (n, 1)) for link in fixed_links(header)}
    poses = {header.links[0]["name"]: (base[:, :3], base[:, 3:])}
    for link in header.links[1:]:
        position, rotation = poses[link["parent"]]
        offset = Rotation.from_quat(rotation, scalar_first=True).apply(link["position"])
        poses[link["name"]] = (position + offset, quaternion_product(rotation, rotations[link["name"]]))
    return poses


@pytest.mark.parametrize("name", MODELS)
def test_link_frames_are_where_mujoco_has_them(name: str) -> None:
    model, header = shipped(name)
    data, rng, n = mujoco.MjData(model), np.random.default_rng(1), 5
    turns = Rotation.random(n, rng=rng).as_quat(scalar_first=True)
    base = np.concatenate([rng.normal(size=(n, 3)), turns], axis=1)
    positions = rng.uniform(-2.0, 2.0, (n, len(header.joints)))
    poses = world_poses(header, base, positions)
    for k in range(n):
        data.qpos[:] = 0.0
        data.qpos[:7] = base[k]
        for joint, angle in zip(header.joints, positions[k], strict=True):
            data.qpos[model.joint(joint).qposadr[0]] = angle
        mujoco.mj_kinematics(model, data)
        for link, (positions_of_link, rotations) in poses.items():
            np.testing.assert_allclose(positions_of_link[k], data.body(link).xpos, atol=1e-12)
            alignment = abs(float(rotations[k] @ data.body(link).xquat))
            assert alignment == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_every_shape_of_a_model_is_in_the_scene(name: str) -> None:
    _, header = shipped(name)
    n, joints, feet = 1, len(header.joints), len(header.feet)
    record = RobotRecord(
        header=header,
        positions=np.zeros((n, joints)),
        commands=np.zeros((n, joints)),
        efforts=np.zeros((n, joints)),
        base=np.zeros((n, 7)),
        footprints=np.zeros((n, feet, 4, 3)),
        foot_contacts=np.zeros((n, feet), dtype=bool),
        box_contacts=np.zeros((n, 0), dtype=bool),
    )
    recording = Recording(Header({"me": header}), np.zeros(n), {"me": record}, np.zeros((n, 0, 7)))
    entities = {entity["id"]: entity for entity in build_scene(recording)["entities"]}
    for i, link in enumerate(header.links):
        entity, shapes = entities[f"me/{link['name']}"], link["shapes"]
        assert entity["frame_id"] == ("me/base" if i == 0 else f"me/{link['name']}")
        kinds = [shape["kind"] for shape in shapes]
        assert len(entity["cubes"]) == kinds.count("box")
        assert len(entity["cylinders"]) == kinds.count("cylinder") + kinds.count("capsule")
        rounds = kinds.count("sphere") + kinds.count("ellipsoid") + 2 * kinds.count("capsule")
        assert len(entity["spheres"]) == rounds


def test_a_shape_with_a_colour_of_its_own_has_it_in_the_scene(
    make_recording: Callable[..., Recording],
) -> None:
    recording = make_recording()
    recording = replace(recording, header=replace(recording.header, arena=find_arena("sumo").to_dict()))
    field = build_scene(recording)["entities"][0]
    colours = [tuple(round(255 * cylinder["color"][key]) for key in "rgb") for cylinder in field["cylinders"]]
    # CEABOT rules 2017: the ring is green, its edge is white
    assert colours == [(255, 255, 255), (22, 198, 6)]


@given(seed=st.integers(0, 2**32 - 1))
def test_roll_pitch_yaw(seed: int) -> None:
    angles = np.random.default_rng(seed).uniform(-3, 3, size=(10, 3))
    ours = Rotation.from_quat(quaternions_of_roll_pitch_yaw(angles), scalar_first=True).as_matrix()
    np.testing.assert_allclose(ours, Rotation.from_euler("xyz", angles).as_matrix(), atol=1e-12)
