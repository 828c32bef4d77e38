"""A robot nobody has a card of."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest

from posewright.errors import InputError
from posewright.robots import describe, unlisted_robot

LOCATORS = ["PRM:/r1/c1-Joint2:11", "PRM:/r2/c1-Joint2:21"]


def test_its_joints_are_those_of_the_file_and_may_turn_once_round() -> None:
    it = unlisted_robot("drx_801", LOCATORS)
    assert it.joint_names == tuple(LOCATORS)
    for lower, upper in (it.limits, it.hardware_limits):
        assert np.degrees(lower).tolist() == [-360.0] * 2
        assert np.degrees(upper).tolist() == [360.0] * 2


def test_no_speed_is_too_fast_and_no_pose_is_known() -> None:
    it = unlisted_robot("drx_801", LOCATORS, title="a motion for DRX-801")
    assert it.max_speeds.tolist() == [math.inf] * 2
    assert not it.poses
    assert it.model_path is None
    assert it.title == "a motion for DRX-801"


def test_whole_micro_radians_survive_the_way_to_angles_and_back() -> None:
    it = unlisted_robot("drx_801", LOCATORS)
    ticks = np.array([[-6283185.0, 1.0], [523601.0, 6283185.0]])
    np.testing.assert_array_equal(np.rint(it.to_ticks(it.from_ticks(ticks))), ticks)


def test_it_is_called_in_the_files_own_scheme_and_by_its_design() -> None:
    it = unlisted_robot("drx_801", LOCATORS, scheme="open_r", design="DRX-801")
    assert it.names_in("open_r") == {name: name for name in LOCATORS}
    assert it.design("DRX-801") == tuple(LOCATORS)
    assert unlisted_robot("drx_801", LOCATORS).designs == {}


def test_it_can_be_described_and_sent_to_another_process() -> None:
    it = unlisted_robot("drx_801", LOCATORS)
    described = json.loads(json.dumps(describe(it), allow_nan=False))
    assert described["joints"][0]["servo"]["no_load_speed_deg_s"] is None
    assert pickle.loads(pickle.dumps(it)) == it  # noqa: S301 - what we have just dumped


@pytest.mark.parametrize("joints", [[], ["hip", "hip"]])
def test_it_needs_joints_each_once(joints: list[str]) -> None:
    with pytest.raises(InputError, match="each once"):
        unlisted_robot("drx_801", joints)
