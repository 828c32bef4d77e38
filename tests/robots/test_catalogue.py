"""Laws that hold for every robot that ships."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from posewright.documents import Node, read_document
from posewright.errors import UnknownNameError
from posewright.robots import Robot, robot, robot_names
from posewright.robots.catalogue import FOLDER

everyone = pytest.mark.parametrize("name", robot_names())


def sources_in(node: Node) -> list[Node]:
    source = node.fields()["source"]
    return source.items() if isinstance(source.value, list) else [source]


def numbers(node: Node, *, sourced: bool = False, root: bool = True) -> Iterator[tuple[Node, bool]]:
    """Yield every number below `node`, and whether a block around it, short of the card, has a source."""
    if isinstance(node.value, dict):
        inside = sourced or (not root and "source" in node.value)
        for child in node.fields().values():
            yield from numbers(child, sourced=inside, root=False)
    elif isinstance(node.value, list):
        for child in node.items():
            yield from numbers(child, sourced=sourced, root=False)
    elif isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield node, sourced


def used_sources(node: Node) -> Iterator[str]:
    if isinstance(node.value, dict):
        if isinstance(node.value.get("source"), str | list):
            yield from (source.text() for source in sources_in(node))
        for child in node.fields().values():
            yield from used_sources(child)


@everyone
def test_every_number_has_a_source(name: str) -> None:
    card = read_document(FOLDER / name / "robot.yaml")
    unsourced = [f"line {node.line}: {node.trail}" for node, sourced in numbers(card) if not sourced]
    assert not unsourced


@everyone
def test_every_source_is_used(name: str) -> None:
    card = read_document(FOLDER / name / "robot.yaml")
    assert set(robot(name).sources) == set(used_sources(card))


def test_a_number_without_a_source_would_be_found() -> None:
    card = Node({"robot": "x", "frame": {"period_s": 0.1}, "poses": {"sit": {"deg": [1], "source": "us"}}})
    assert [node.value for node, sourced in numbers(card) if not sourced] == [0.1]


@everyone
def test_a_robot_is_called_as_its_folder(name: str) -> None:
    assert robot(name).name == name
    assert robot(name).folder == FOLDER / name


@everyone
def test_a_robot_is_read_once_and_can_be_sent_to_another_process(name: str) -> None:
    assert robot(name) is robot(name)
    assert pickle.loads(pickle.dumps(robot(name))) == robot(name)  # noqa: S301 - what we have just dumped
    assert len({robot(name), robot(name)}) == 1


@everyone
def test_named_poses_lie_within_the_limits(name: str) -> None:
    lower, upper = robot(name).limits
    for pose in robot(name).poses:
        angles = robot(name).pose(pose)
        assert ((lower <= angles) & (angles <= upper)).all(), pose


@everyone
def test_right_and_left_have_mirrored_limits(name: str) -> None:
    lower, upper = robot(name).limits
    one, other = robot(name).mirror(lower), robot(name).mirror(upper)
    np.testing.assert_allclose(np.minimum(one, other), lower)
    np.testing.assert_allclose(np.maximum(one, other), upper)


@everyone
def test_a_pose_mirrored_twice_is_the_pose(name: str) -> None:
    angles = np.random.default_rng(1).uniform(-1.0, 1.0, (5, len(robot(name).joints)))
    np.testing.assert_array_equal(robot(name).mirror(robot(name).mirror(angles)), angles)
    assert not np.array_equal(robot(name).mirror(angles), angles)


@everyone
def test_the_robot_converts_ticks_as_its_servos_do(name: str) -> None:
    it = robot(name)
    angles = np.random.default_rng(2).uniform(*it.limits, (4, len(it.joints)))
    one_by_one = [
        [servo.to_ticks(float(angle)) for servo, angle in zip(it.servos, row, strict=True)] for row in angles
    ]
    np.testing.assert_array_equal(it.to_ticks(angles), one_by_one)
    np.testing.assert_allclose(it.from_ticks(it.to_ticks(angles)), angles, atol=1e-12)


@everyone
def test_nobody_can_change_the_shared_arrays(name: str) -> None:
    it = robot(name)
    for array in (*it.limits, it.max_speeds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    it.pose(next(iter(it.poses)))[0] = 9.0
    assert it.pose(next(iter(it.poses)))[0] != 9.0


def model_of(it: Robot) -> ElementTree.Element:
    if it.model_path is None:
        pytest.skip(f"{it.name} has no model")
    return ElementTree.parse(it.model_path).getroot()  # noqa: S314 - our own file


@everyone
def test_the_model_has_the_joints_in_the_cards_order(name: str) -> None:
    actuators = model_of(robot(name)).find("actuator")
    assert actuators is not None
    assert tuple(actuator.get("joint") for actuator in actuators) == robot(name).joint_names


@everyone
def test_limits_lie_just_inside_the_models_ranges(name: str) -> None:
    model = model_of(robot(name))
    ranges = {joint.get("name"): joint.get("range", "").split() for joint in model.iter("joint")}
    for joint in robot(name).joints:
        lower, upper = (float(limit) for limit in ranges[joint.name])
        assert 0.0 <= joint.lower_rad - lower < math.radians(1.2), joint.name
        assert 0.0 <= upper - joint.upper_rad < math.radians(1.2), joint.name


@everyone
def test_feet_and_mounts_are_in_the_model(name: str) -> None:
    model = model_of(robot(name))
    places = {element.get("name") for kind in ("body", "site") for element in model.iter(kind)}
    mounts = {
        getattr(sensor, "mount", None) or getattr(sensor, "foot", None) for sensor in robot(name).sensors
    }
    assert {*mounts, *robot(name).feet} <= places


def test_an_unknown_robot_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean robotis_bioloid"):
        robot("robotis_biolod")


def test_unknown_parts_of_a_robot_are_refused_with_the_nearest_name() -> None:
    it = robot(robot_names()[0])
    for ask in (it.joint, it.servo, it.pose, it.numbering, it.ids, it.group, it.sensor):
        with pytest.raises(UnknownNameError, match="is called 'nothing'"):
            ask("nothing")


@everyone
def test_nobody_can_write_to_a_card_that_all_share_nor_to_a_copy_from_another_process(name: str) -> None:
    it = robot(name)
    travelled = pickle.loads(pickle.dumps(it))  # noqa: S301 - what we have just dumped
    assert travelled == it
    for card in (it, travelled, copy.deepcopy(it), replace(it, title="mine")):
        for mapping in (card.poses, card.groups, card.numberings, card.sources, card.servo_models):
            for whole in (mapping, *(inner for inner in mapping.values() if isinstance(inner, Mapping))):
                with pytest.raises(TypeError, match="does not support item assignment"):
                    whole["right_knee"] = 9  # type: ignore[index]  # what must not be possible
        with pytest.raises(ValueError, match="read-only"):
            card.limits[0][0] = 9.0


def test_a_card_keeps_no_hold_of_the_mapping_it_was_made_from() -> None:
    poses = {"stand": {"knee": 0.1}}
    card = replace(robot(robot_names()[0]), poses=poses)
    poses["stand"]["knee"] = 9.0
    assert card.poses["stand"]["knee"] == 0.1
