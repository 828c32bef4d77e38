"""A flash lidar of the simulated body: thousands of beams at once, each as a single ray would be."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from posewright.arenas import arena, layout
from posewright.robots import Encoder, FlashLidar, Robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.rays import beam_directions

FLASH = FlashLidar(
    "flash", "laser_mount", 5.0, 70.0, 50.0, position_m=(0.01, 0.0, 0.02), yaw_deg=20, pitch_deg=5
)
PLACES = [(0.25, 0.0, 0.0), (1.2, 0.7, 2.0), (2.2, -0.6, -2.8)]


def test_every_beam_measures_what_a_single_ray_does(bioloid: Robot) -> None:
    world = World(bioloid, arena().with_boxes(layout("example_1")), sensors=[FLASH])
    body = SimulatedBody(world)
    environment = np.array([0, 0, 1, 0, 0, 0], dtype=np.uint8)
    for place in PLACES:
        body.place_robot(*place)
        measured = body.read().sensors["flash"]
        site = world.data.site("laser_mount")
        turn = site.xmat.reshape(3, 3)
        origin, geom = site.xpos + turn @ np.array(FLASH.position_m), np.zeros(1, dtype=np.int32)
        beams = beam_directions(FLASH) @ turn.T
        assert np.shape(measured) == (48 * 64,) == (len(beams),)
        for beam in range(0, len(beams), 7):
            single = mujoco.mj_ray(
                world.model, world.data, origin, beams[beam], environment, 1, -1, geom, None
            )
            expected = single if 0.0 <= single < 5.0 else 5.0
            assert np.asarray(measured)[beam] == pytest.approx(expected, abs=1e-6)


def test_beams_lie_as_the_pixels_of_a_camera_from_the_upper_left() -> None:
    ahead = FlashLidar("flash", "trunk", 5.0, 60.0, 40.0, columns=3, rows=3)
    beams = beam_directions(ahead).reshape(3, 3, 3)
    ends = beams / beams[..., :1]
    edge = math.tan(math.radians(30.0)), math.tan(math.radians(20.0))
    assert ends[0, 0] == pytest.approx((1.0, *edge))
    assert ends[2, 2] == pytest.approx((1.0, -edge[0], -edge[1]))
    assert ends[1, 1] == pytest.approx((1.0, 0.0, 0.0))


def test_yaw_turns_the_grid_to_the_left_and_pitch_down() -> None:
    middle = FlashLidar("flash", "trunk", 5.0, 60.0, 40.0, columns=1, rows=1, yaw_deg=90.0)
    assert beam_directions(middle)[0] == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)
    middle = FlashLidar("flash", "trunk", 5.0, 60.0, 40.0, columns=1, rows=1, pitch_deg=30.0)
    assert beam_directions(middle)[0, 2] == pytest.approx(-0.5)


def test_an_encoder_tells_whole_ticks_as_its_servo_counts_them(bioloid: Robot) -> None:
    sensors = [Encoder("knee", "right_knee"), Encoder("hip", "left_hip_pitch")]
    body = SimulatedBody(World(bioloid, sensors=sensors), start_pose=bioloid.pose("walk_ready"))
    told = body.read().sensors
    angles = body.instance.joint_positions
    for name, joint in (("knee", "right_knee"), ("hip", "left_hip_pitch")):
        servo = bioloid.servo(joint)
        assert told[name] == round(servo.to_ticks(float(angles[bioloid.index(joint)])))
        assert servo.first_tick <= told[name] <= servo.last_tick
