"""What a robot is built of, as a recording tells it: the same places as MuJoCo's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.recordings import RobotHeader
from posewright.robots import Robot, robot
from posewright.rotation import rotation_matrices as matrix
from posewright.simulation import SimulatedBody, World
from posewright.simulation.robot_model import robot_links


def turn(axis: list[float], angle: float) -> Floats:
    """Return the rotation about a unit vector, by Rodrigues."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: Floats = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return turned


def places(links: Any, base: Floats, angles: dict[str, float]) -> dict[str, tuple[Floats, Floats]]:
    """Return where each link is, position and rotation, by forward kinematics."""
    found: dict[str, tuple[Floats, Floats]] = {"": (base[:3], matrix(base[3:]))}
    for link in links:
        at, rotation = found[link["parent"]]
        own = rotation @ matrix(np.array(link["rotation"]))
        if "joint" in link:
            own = own @ turn(link["axis"], angles[link["joint"]])
        found[link["name"]] = at + rotation @ np.array(link["position"]), own
    return found


def beside_its_origin(card: Robot, folder: Path) -> Robot:
    """Return a dog whose mouth turns about an axis beside its origin, and is not drawn at 0."""
    assert card.model_path is not None
    text = card.model_path.read_text(encoding="utf-8")
    moved = text.replace('<joint name="mouth" axis', '<joint name="mouth" pos="0.01 0 0.02" ref="0.1" axis')
    assert moved != text
    path = folder / "model.xml"
    path.write_text(moved, encoding="utf-8")
    return replace(card, model_path=path)


@pytest.mark.parametrize("name", ["robotis_bioloid", "sony_ers7", "beside"])
def test_forward_kinematics_by_links_is_mujocos(name: str, tmp_path: Path) -> None:
    card = robot("sony_ers7" if name == "beside" else name)
    card = beside_its_origin(card, tmp_path) if name == "beside" else card
    world, links = World(card), robot_links(card)
    low, high = card.limits
    for seed in range(5):
        angles = low + (high - low) * np.random.default_rng(seed).uniform(0.1, 0.9, len(low))
        base = np.array(
            [0.3, -0.2, 0.5, *(np.array([0.8, 0.1, -0.3, 0.5]) / np.linalg.norm([0.8, 0.1, -0.3, 0.5]))]
        )
        world.show((base, angles))
        found = places(links, base, dict(zip(card.joint_names, angles.tolist(), strict=True)))
        for body in world.instance().bodies.tolist():
            position, rotation = found[world.model.body(body).name]
            assert position == pytest.approx(world.data.xpos[body], abs=1e-9)
            assert rotation == pytest.approx(world.data.xmat[body].reshape(3, 3), abs=1e-9)


def test_every_joint_turns_one_link_and_parents_come_first(bioloid: Robot) -> None:
    links = robot_links(bioloid)
    assert sorted(link["joint"] for link in links if "joint" in link) == sorted(bioloid.joint_names)
    seen = {""}
    for link in links:
        assert link["parent"] in seen
        seen.add(link["name"])


@pytest.mark.parametrize("name", ["robotis_bioloid", "sony_ers7"])
def test_shapes_are_those_that_are_seen(name: str) -> None:
    card = robot(name)
    world = World(card)
    model, own = world.model, world.instance().own_geoms()
    shapes = [shape for link in robot_links(card) for shape in link["shapes"]]
    assert len(shapes) == np.count_nonzero(own & (model.geom_group < 3))
    assert {shape["kind"] for shape in shapes} <= {"box", "sphere", "capsule", "cylinder", "ellipsoid"}
    assert all(len(shape["size"]) == 3 and min(shape["size"]) > 0.0 for shape in shapes)
    assert all(len(shape["colour"]) == 4 and min(shape["colour"]) >= 0.0 for shape in shapes)
    assert len({tuple(shape["colour"]) for shape in shapes}) > 2


def test_a_ball_and_a_mesh_are_as_large_as_they_are(ers7: Robot) -> None:
    links = {link["name"]: link for link in robot_links(ers7)}
    paw = next(shape for shape in links["left_front_paw"]["shapes"] if shape["kind"] == "sphere")
    assert paw["size"] == pytest.approx([2 * 0.01172] * 3)
    trunk = links["trunk"]["shapes"]
    assert any(shape["kind"] == "box" and max(shape["size"]) < 0.3 for shape in trunk), (
        "a mesh is told as its box"
    )


def test_links_are_the_same_without_visuals_and_where_joints_are_welded(ers7: Robot) -> None:
    plain = SimulatedBody(World(ers7)).facts()["links"]
    bare = SimulatedBody(World(ers7, visuals=False, welded={"mouth": -0.1})).facts()["links"]
    assert plain == bare


def test_a_recordings_header_has_them(bioloid: Robot) -> None:
    header = RobotHeader.of(SimulatedBody(World(bioloid)))
    assert [link["name"] for link in header.links] == [link["name"] for link in robot_links(bioloid)]
