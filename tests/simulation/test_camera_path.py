"""A camera that follows a robot through a field: boxes do not hide it, and it moves softly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posewright.arenas import Arena, Box
from posewright.arenas import arena as arena_named
from posewright.arrays import Floats
from posewright.rotation import rotation_matrices
from posewright.simulation.camera_path import CameraPose, plan_camera_path
from posewright.simulation.cameras import CloseUp, direction

NEAR = CloseUp(0.17, 1.1)
FPS = 25.0
WALK_S = 12.0


def field_with(*boxes: tuple[float, float]) -> Arena:
    """Return the field of the obstacle race with boxes at places."""
    own = arena_named("ceabot_obstacles")
    return replace(own, boxes=tuple(Box(x, y, 0.3) for x, y in boxes))


def walk(y: float = 0.0, turned_deg: float = 0.0) -> Floats:
    """Return poses of a robot that walks through the field, `(n, 7)`."""
    poses = np.zeros((round(WALK_S * FPS), 7))
    poses[:, 0] = np.linspace(0.3, 2.2, len(poses))
    poses[:, 1:3] = y, 0.2
    poses[:, 3], poses[:, 6] = np.cos(np.radians(turned_deg) / 2), np.sin(np.radians(turned_deg) / 2)
    return poses


def standing_boxes(arena: Arena, n: int) -> Floats:
    """Return the boxes' poses where they do not move, `(n, n_boxes, 7)`."""
    one = [(b.x, b.y, 0.25, np.cos(b.yaw_rad / 2), 0, 0, np.sin(b.yaw_rad / 2)) for b in arena.boxes]
    return np.tile(np.array(one).reshape(1, -1, 7), (n, 1, 1))


def is_hidden(sight: CameraPose, body: Floats, boxes: Floats) -> bool:
    """Tell, going along the line of sight to the robot's middle, whether a box is met."""
    eye = np.array(sight.target) - sight.distance_m * direction(sight.azimuth_deg, sight.elevation_deg)
    line = eye + np.linspace(0.0, 1.0, 200)[:, None] * (body[:3] * (1, 1, 0) + (0, 0, 0.17) - eye)
    own = np.einsum("bji,bnj->bni", rotation_matrices(boxes[:, 3:]), line - boxes[:, None, :3])
    return bool((np.abs(own) < (0.1, 0.1, 0.25)).all(axis=-1).any())


@pytest.mark.parametrize("camera", ["chase", "side", "front"])
@pytest.mark.parametrize("boxes", [((1.2, -0.35),), ((0.9, -0.4), (1.6, -0.5), (1.2, 0.4)), ((1.9, 0.4),)])
def test_boxes_do_not_hide_the_robot(camera: str, boxes: tuple[tuple[float, float], ...]) -> None:
    arena, poses = field_with(*boxes), walk()
    places = standing_boxes(arena, len(poses))
    seen = plan_camera_path(arena, camera, NEAR, poses, places, fps=FPS)
    assert seen is not None
    hidden = [is_hidden(*one) for one in zip(seen, poses, places, strict=True)]
    assert np.mean(hidden) == 0.0


def test_pictures_on_their_own_are_each_taken_from_where_the_robot_is_seen() -> None:
    arena, poses = field_with((1.2, -0.35), (0.8, 0.5)), walk()[::40]
    places = standing_boxes(arena, len(poses))
    seen = plan_camera_path(arena, "side", NEAR, poses, places)
    assert seen is not None
    assert not any(is_hidden(*one) for one in zip(seen, poses, places, strict=True))


def test_the_camera_moves_softly_and_the_same_way_each_time() -> None:
    arena, poses = field_with((1.2, -0.35), (1.7, -0.45)), walk()
    places = standing_boxes(arena, len(poses))
    first, second = (plan_camera_path(arena, "side", NEAR, poses, places, fps=FPS) for _ in range(2))
    assert first == second
    assert first is not None
    turning = np.abs(np.diff([sight.azimuth_deg for sight in first])) * FPS
    assert turning.max() < 60.0
    assert np.abs(np.diff(turning)).max() < 20.0


@pytest.mark.parametrize("course_deg", [0.0, 90.0, 180.0])
def test_the_chase_camera_stays_behind_the_robot(course_deg: float) -> None:
    arena, poses = field_with(), walk(turned_deg=course_deg)
    seen = plan_camera_path(arena, "chase", NEAR, poses, standing_boxes(arena, len(poses)), fps=FPS)
    assert seen is not None
    assert all(abs((sight.azimuth_deg - course_deg + 180) % 360 - 180) < 65 for sight in seen)


def test_on_a_bare_floor_the_camera_does_not_turn_and_cameras_that_stand_have_no_sights() -> None:
    poses = walk()
    nothing = np.zeros((len(poses), 0, 7))
    seen = plan_camera_path(None, "side", NEAR, poses, nothing, fps=FPS)
    assert seen is not None
    assert {(sight.azimuth_deg, sight.elevation_deg) for sight in seen} == {(90.0, -14.0)}
    assert plan_camera_path(None, "field", NEAR, poses, nothing) is None
    assert plan_camera_path(field_with(), "top", NEAR, poses, nothing) is None
