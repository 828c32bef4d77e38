"""Where a trace says a sensor sits is where its beams begin and where they point."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.robots import Compass, RangeScan, RangeSensor, Robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.mounts import find_mount, sensor_poses
from posewright.simulation.rays import beam_directions

OWN = (
    RangeScan("ring", "head", 5.0, start_deg=-10.0, step_deg=10.0, beams=3, pitch_deg=20.0),
    RangeSensor("nose", "camera", 5.0, position_m=(0.02, 0.01, -0.03), yaw_deg=30.0, pitch_deg=-15.0),
)


def matrix(quaternion: Floats) -> Floats:
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, np.asarray(quaternion))
    return turn.reshape(3, 3)


@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_beams_begin_and_point_as_the_pose_says_however_the_robot_stands(bioloid: Robot, yaw: float) -> None:
    world = World(bioloid, sensors=OWN)
    poses = sensor_poses(world.instance())
    SimulatedBody(world, start=(1.0, -0.5, yaw))
    base, turn = world.base[:3], matrix(world.base[3:])
    for sensor in OWN:
        mount, pose = find_mount(world.instance(), sensor.mount), np.array(poses[sensor.name])
        begin = mount.position + mount.rotation @ np.array(sensor.position_m)
        middle = mount.rotation @ beam_directions(sensor)[sensor.beams // 2]
        np.testing.assert_allclose(base + turn @ pose[:3], begin, atol=1e-9)
        np.testing.assert_allclose(turn @ matrix(pose[3:])[:, 0], middle, atol=1e-9)


def test_the_head_is_above_the_base_and_what_a_joint_moves_is_left_out(bioloid: Robot) -> None:
    world = World(bioloid, sensors=(*OWN, Compass("toe", "right_foot")))
    before = world.data.qpos.copy()
    poses = sensor_poses(world.instance())
    assert poses["ring"][2] > 0.03
    assert set(poses) == {"laser_front", "laser_left", "laser_right", "imu", "head_camera", "ring", "nose"}
    assert np.array_equal(world.data.qpos, before)
