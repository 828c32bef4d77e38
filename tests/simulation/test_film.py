"""Pictures, gated on whether this machine can draw any."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from posewright.errors import InputError, UnavailableError, UnknownNameError
from posewright.robots import Robot
from posewright.simulation import Film, FilmCamera, LiveView, SimulatedBody, World
from posewright.simulation import film as film_module

AmongBoxes = Callable[..., SimulatedBody]
SIZE = (160, 120)


@pytest.fixture(scope="module")
def _can_draw() -> None:
    from posewright.robots import robot

    try:
        Film(World(robot("robotis_bioloid")), *SIZE).close()
    except UnavailableError as error:
        pytest.skip(f"nothing can be drawn here: {error}")


@pytest.mark.usefixtures("_can_draw")
@pytest.mark.parametrize("camera", [*FilmCamera, "head_camera"])
def test_every_camera_sees_the_green_field(among_boxes: AmongBoxes, camera: FilmCamera | str) -> None:
    world = among_boxes((1.2, 0.3)).world
    with Film(world, *SIZE, camera, quick=True) as film:
        picture = film.now()
    assert picture.shape == (120, 160, 3)
    assert picture.dtype == np.uint8
    red, green, blue = picture.astype(int).reshape(-1, 3).T
    assert np.mean((green > red + 40) & (green > blue + 40)) > 0.1


@pytest.mark.usefixtures("_can_draw")
def test_a_fine_picture_has_soft_edges(among_boxes: AmongBoxes, monkeypatch: pytest.MonkeyPatch) -> None:
    world = among_boxes((1.2, 0.3)).world
    n_colours = {}
    for n_samples in (1, film_module._N_SAMPLES):  # the other tests render few
        monkeypatch.setattr(film_module, "_SAMPLES", film_module._disc_points(n_samples))
        with Film(world, *SIZE) as film:
            n_colours[n_samples] = len(np.unique(film.now().reshape(-1, 3), axis=0))
    assert n_colours[8] > 1.5 * n_colours[1]


@pytest.mark.usefixtures("_can_draw")
def test_top_view_has_x_to_the_right_and_y_up(among_boxes: AmongBoxes) -> None:
    body = among_boxes()
    with Film(body.world, *SIZE, FilmCamera.TOP) as film:
        empty = film.frame(((1.25, 0, 50.0, 1, 0, 0, 0), body.world.instance().joint_positions)).astype(int)
        seen = []
        for x, y in ((0.5, 0.6), (2.0, -0.6)):
            picture = film.frame(((x, y, 0.2, 1, 0, 0, 0), body.world.instance().joint_positions))
            rows, columns = np.nonzero(np.abs(picture.astype(int) - empty).sum(-1) > 60)
            seen.append((rows.mean(), columns.mean()))
    (upper, left), (lower, right) = seen
    assert upper < 60 < lower
    assert left < 80 < right


@pytest.mark.usefixtures("_can_draw")
def test_replay_moves_boxes_and_leaves_the_world_alone(among_boxes: AmongBoxes) -> None:
    world = among_boxes((1.2, 0.3)).world
    before = world.data.qpos.copy()
    base, joints, boxes = world.base, world.instance().joint_positions, world.boxes
    moved = boxes.copy()
    moved[:, :2] += (0.4, -0.8)
    with Film(world, *SIZE) as film:
        first, second, third = (film.frame((base, joints), places) for places in (boxes, moved, boxes))
    assert np.array_equal(first, third)
    assert (first != second).any(axis=-1).mean() > 0.01
    assert np.array_equal(world.data.qpos, before)


@pytest.mark.usefixtures("_can_draw")
def test_a_camera_sensor_gives_its_picture_on_request(among_boxes: AmongBoxes) -> None:
    body = among_boxes((1.2, 0.0))
    assert body.picture("head_camera").shape == (240, 320, 3)
    with pytest.raises(UnknownNameError, match="hed_camera"):
        body.picture("hed_camera")


@pytest.mark.usefixtures("_can_draw")
def test_a_wrong_size_is_refused(bioloid: Robot) -> None:
    with pytest.raises(InputError, match="cannot render"):
        Film(World(bioloid), 100_000, 100)


def test_without_graphics_there_is_one_clear_line(bioloid: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUJOCO_GL", "disable")
    with pytest.raises(UnavailableError, match="MUJOCO_GL"):
        Film(World(bioloid))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_without_a_display_there_is_no_live_view(bioloid: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(UnavailableError, match="display"):
        LiveView(World(bioloid))


def test_importing_the_room_does_not_load_mujoco() -> None:
    code = "import sys, posewright.simulation; sys.exit('mujoco' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  # our own line
