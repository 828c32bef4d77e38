"""Laws that hold for every robot that ships."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from posewright.documents import Node, read_document
from posewright.errors import UnknownNameError
from posewright.robots import Robot, describe, robot, robot_names
from posewright.robots.catalogue import CATALOGUE_FOLDER

BEYOND_BY_THEIR_MAKER = {("sony_ers7", "walk"): 1.75}
"""By how much poses that are a maker's own data break that maker's own coupled limits [deg]."""

everyone = pytest.mark.parametrize("name", robot_names())
modelled = pytest.mark.parametrize("name", [name for name in robot_names() if robot(name).model_path])


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
    elif isinstance(node.value, list):
        for child in node.items():
            yield from used_sources(child)


@everyone
def test_every_number_has_a_source(name: str) -> None:
    card = read_document(CATALOGUE_FOLDER / name / "robot.yaml")
    unsourced = [f"line {node.line}: {node.trail}" for node, sourced in numbers(card) if not sourced]
    assert not unsourced


@everyone
def test_every_source_is_used(name: str) -> None:
    card = read_document(CATALOGUE_FOLDER / name / "robot.yaml")
    assert set(robot(name).sources) == set(used_sources(card))


def test_a_number_without_a_source_would_be_found() -> None:
    card = Node({"robot": "x", "frame": {"period_s": 0.1}, "poses": {"sit": {"deg": [1], "source": "us"}}})
    assert [node.value for node, sourced in numbers(card) if not sourced] == [0.1]


@everyone
def test_a_robot_is_called_as_its_folder(name: str) -> None:
    assert robot(name).name == name
    assert robot(name).folder == CATALOGUE_FOLDER / name


@everyone
def test_a_robot_is_read_once_and_can_be_sent_to_another_process(name: str) -> None:
    assert robot(name) is robot(name)
    assert pickle.loads(pickle.dumps(robot(name))) == robot(name)  # noqa: S301 - what we have just dumped
    assert len({robot(name), robot(name)}) == 1


@everyone
def test_named_poses_lie_within_the_limits_rounded_to_ticks(name: str) -> None:
    lower, upper = robot(name).limits
    half_a_tick = np.array([servo.tick_rad for servo in robot(name).servos]) / 2.0
    for pose in robot(name).poses:
        angles = robot(name).pose(pose)
        assert ((lower - half_a_tick <= angles) & (angles <= upper + half_a_tick)).all(), pose


@everyone
def test_named_poses_lie_within_the_coupled_limits(name: str) -> None:
    for pose in robot(name).poses:
        beyond = np.degrees(robot(name).coupling.excess(robot(name).pose(pose)))
        assert (beyond <= BEYOND_BY_THEIR_MAKER.get((name, pose), 0.0)).all(), pose


@everyone
def test_limits_lie_within_the_stops_of_the_mechanism(name: str) -> None:
    (lower, upper), (first, last) = robot(name).limits, robot(name).hardware_limits
    assert ((first <= lower) & (upper <= last)).all()


@everyone
def test_a_table_of_coupled_limits_covers_all_that_a_joint_may_do(name: str) -> None:
    card = robot(name)
    for table, (condition_joints, joint) in enumerate(
        zip(card.coupling.condition_joints, card.coupling.joints, strict=True)
    ):
        if len(condition_joints) > 1:
            continue  # such a table says nothing of what the other joints do elsewhere
        poses = np.tile(card.pose(next(iter(card.poses))), (3001, 1))
        angles = np.linspace(
            card.joint(condition_joints[0]).lower_rad, card.joint(condition_joints[0]).upper_rad, len(poses)
        )
        poses[:, card.index(condition_joints[0])] = angles
        lower, upper = (side[:, table] for side in card.coupling.bounds(poses))
        assert np.isfinite([lower, upper]).all(), joint
        assert (lower >= card.joint(joint).lower_rad - 1e-9).all()
        assert (upper <= card.joint(joint).upper_rad + 1e-9).all()


@everyone
def test_who_stands_stands_alike_on_both_sides(name: str) -> None:
    stand = robot(name).pose("stand")
    few_ticks = 2.1 * np.array([servo.tick_rad for servo in robot(name).servos])
    assert (np.abs(robot(name).mirror(stand) - stand) <= few_ticks).all()


@everyone
def test_a_naming_calls_joints_and_sensors_by_names_that_lead_back(name: str) -> None:
    card = robot(name)
    names = {*card.joint_names, *(sensor.name for sensor in card.sensors)}
    for scheme in (*card.namings, "webots"):
        assert set(card.naming(scheme).values()) <= names
        for joint, foreign in card.names_in(scheme).items():
            assert card.naming(scheme)[foreign] == joint


@everyone
def test_a_design_names_joints_once_each_and_the_first_names_all(name: str) -> None:
    card = robot(name)
    for label, joints in card.designs.items():
        assert set(joints) <= set(card.joint_names), label
        assert len(joints) == len(set(joints)), label
    if card.designs:
        assert next(iter(card.designs.values())) == card.joint_names


@everyone
def test_everything_on_the_card_can_be_described_as_json(name: str) -> None:
    described = json.loads(json.dumps(describe(robot(name)), allow_nan=False))
    assert [joint["name"] for joint in described["joints"]] == list(robot(name).joint_names)
    assert len(described["coupled_limits"]) == len(robot(name).coupled_limits)


@everyone
def test_right_and_left_have_mirrored_limits(name: str) -> None:
    lower, upper = robot(name).limits
    mirrored_lower, mirrored_upper = robot(name).mirror(lower), robot(name).mirror(upper)
    np.testing.assert_allclose(np.minimum(mirrored_lower, mirrored_upper), lower)
    np.testing.assert_allclose(np.maximum(mirrored_lower, mirrored_upper), upper)


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
    for array in (*it.limits, *it.hardware_limits, it.max_speeds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    it.pose(next(iter(it.poses)))[0] = 9.0
    assert it.pose(next(iter(it.poses)))[0] != 9.0


def model_of(it: Robot) -> ElementTree.Element:
    assert it.model_path is not None
    return ElementTree.parse(it.model_path).getroot()  # noqa: S314 - our own file


@modelled
def test_the_model_has_the_joints_in_the_cards_order(name: str) -> None:
    actuators = model_of(robot(name)).find("actuator")
    assert actuators is not None
    assert tuple(actuator.get("joint") for actuator in actuators) == robot(name).joint_names


@modelled
def test_limits_lie_just_inside_the_models_ranges_or_those_are_the_mechanisms(name: str) -> None:
    model = model_of(robot(name))
    ranges = {joint.get("name"): joint.get("range", "").split() for joint in model.iter("joint")}
    for joint in robot(name).joints:
        if joint.two_state:  # its angle is a name for one of two states
            continue
        lower, upper = (float(limit) for limit in ranges[joint.name])
        slack = math.radians(1.2 if joint.hardware_rad is None else 0.01)
        assert -1e-6 <= joint.hardware_lower_rad - lower < slack, joint.name
        assert -1e-6 <= upper - joint.hardware_upper_rad < slack, joint.name


@modelled
def test_feet_and_mounts_are_in_the_model(name: str) -> None:
    model = model_of(robot(name))
    places = {element.get("name") for kind in ("body", "site") for element in model.iter(kind)}
    mounts = {
        getattr(sensor, "mount", None) or getattr(sensor, "foot", None) for sensor in robot(name).sensors
    }
    assert {*mounts, *robot(name).feet} - {None} <= places


def test_an_unknown_robot_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean robotis_bioloid"):
        robot("robotis_biolod")


def test_unknown_parts_of_a_robot_are_refused_with_the_nearest_name() -> None:
    card = robot(robot_names()[0])
    for look_up in (
        card.joint,
        card.servo,
        card.pose,
        card.numbering,
        card.ids,
        card.naming,
        card.names_in,
        card.design,
        card.group,
        card.sensor,
    ):
        with pytest.raises(UnknownNameError, match=r"unknown .* 'nothing'"):
            look_up("nothing")


@everyone
def test_nobody_can_write_to_a_card_that_all_share_nor_to_a_copy_from_another_process(name: str) -> None:
    original = robot(name)
    travelled = pickle.loads(pickle.dumps(original))  # noqa: S301 - what we have just dumped
    assert travelled == original
    for card in (original, travelled, copy.deepcopy(original), replace(original, title="mine")):
        mappings = (
            card.poses,
            card.groups,
            card.numberings,
            card.namings,
            card.designs,
            card.sources,
            card.servo_models,
        )
        for mapping in mappings:
            for read_only in (mapping, *(inner for inner in mapping.values() if isinstance(inner, Mapping))):
                with pytest.raises(TypeError, match="does not support item assignment"):
                    read_only["right_knee"] = 9  # type: ignore[index]  # what must not be possible
        with pytest.raises(ValueError, match="read-only"):
            card.limits[0][0] = 9.0


def test_a_card_keeps_no_hold_of_the_mapping_it_was_made_from() -> None:
    poses = {"stand": {"knee": 0.1}}
    card = replace(robot(robot_names()[0]), poses=poses)
    poses["stand"]["knee"] = 9.0
    assert card.poses["stand"]["knee"] == 0.1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("aibo", "choose from sony_ers110, sony_ers210, sony_ers220, sony_ers7"),
        ("ROBOTIS", "did you mean robotis_bioloid"),
        ("ers7", "did you mean sony_ers7"),
    ],
)
def test_a_robot_is_suggested_by_its_maker_or_title(text: str, names: str) -> None:
    with pytest.raises(UnknownNameError, match=names):
        robot(text)
