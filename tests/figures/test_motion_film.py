"""A motion as a film strip and as a film."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import InputError, MissingExtraError, OutputError, UnavailableError, UnknownNameError
from posewright.experiments.motion.show import Show, show_motion
from posewright.figures import film_motion
from posewright.figures.motion.strip import moments_of
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot
from posewright.simulation import Film, World

PNG = b"\x89PNG"


def hop(card_name: str = "sony_ers7", *, attitude: tuple[float, float, float] | None = None) -> Motion:
    """Build a short motion of all joints, from `stand` and back."""
    card = robot(card_name)
    stand = Pose(card.joint_names, card.pose("stand"))
    other = Pose(card.joint_names, card.pose("sit"))
    frames = (
        Keyframe(stand, 0.0, attitude=attitude),
        Keyframe(other, 0.2, attitude=attitude),
        Keyframe(stand, 0.2, attitude=attitude),
    )
    return Motion("hop", card_name, card.joint_names, frames)


@pytest.fixture(scope="module")
def show() -> Show:
    return show_motion(hop())


@pytest.fixture(scope="module")
def _can_draw() -> None:
    try:
        Film(World(robot("sony_ers7")), 64, 48).close()
    except UnavailableError as error:
        pytest.skip(f"nothing can be drawn here: {error}")


# ---- which moments


def test_a_strip_shows_the_keyframes_the_longest_gaps_and_once_what_comes_after(show: Show) -> None:
    assert np.allclose(moments_of(show, 6), [0.0, 0.1, 0.2, 0.3, 0.4, 1.4])


@given(st.integers(1, 60))
def test_moments_rise_from_the_beginning_to_the_last_frame(n: int) -> None:
    still = Show(
        motion=hop(),
        robot=robot("sony_ers7"),
        times=np.arange(176) * 0.008,
        ends_s=0.4,
        keyframes=np.ones(176, dtype=np.intp),
        positions=np.zeros((176, 20)),
    )
    moments = moments_of(still, n)
    assert 1 <= len(moments) <= n
    assert all(before < after for before, after in pairwise(moments))
    assert moments[-1] == still.times[-1]
    assert n == 1 or moments[0] == 0.0


def test_without_physics_every_joint_is_where_it_is_commanded() -> None:
    motion = hop(attitude=(0.0, -0.2, 0.0))
    shown = show_motion(motion, physics=False)
    angles = motion.sample_at(np.array([0.2])).angles[0]
    assert np.allclose(shown.positions[shown.row(0.2)], angles)
    (base, _), *_ = shown.moments(World(shown.robot), [shown.row(0.2)])
    assert 2.0 * np.arcsin(base[5]) == pytest.approx(-0.2)
    assert shown.trial is None


# ---- what is drawn


@pytest.mark.usefixtures("_can_draw")
def test_a_strip_is_the_same_picture_every_time(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        film_motion(hop(), tmp_path / name, pictures=4)
    data = (tmp_path / "a.png").read_bytes()
    assert data.startswith(PNG)
    assert data == (tmp_path / "b.png").read_bytes()


@pytest.mark.usefixtures("_can_draw")
@pytest.mark.parametrize("camera", ["side", "front", "chase", "head_camera"])
def test_every_camera_makes_a_strip(tmp_path: Path, camera: str) -> None:
    film_motion(hop(), tmp_path / "strip.png", pictures=2, camera=camera)
    assert list(tmp_path.iterdir()) == [tmp_path / "strip.png"]


@pytest.mark.usefixtures("_can_draw")
def test_the_whole_robot_is_in_the_picture() -> None:
    from posewright.simulation.cameras import framed

    world = World(robot("sony_ers7"))
    shown = show_motion(hop())
    moments = shown.moments(world, [0, len(shown.times) - 1])
    near = framed(world, moments, "side", 4.0 / 3.0, steady=False)
    nothing = (0.0, 0.0, 50.0, 1.0, 0.0, 0.0, 0.0)
    with Film(world, 320, 240, "side", close_up=near) as film:
        empty = film.frame(nothing, moments[0][1]).astype(int)
        picture = film.frame(*moments[0]).astype(int)
    rows, columns = np.nonzero(np.abs(picture - empty).sum(axis=-1) > 90)
    assert rows.min() > 2
    assert rows.max() < 237
    assert columns.min() > 2
    assert columns.max() < 317
    assert np.ptp(columns) > 160


@pytest.mark.usefixtures("_can_draw")
def test_a_film_in_slow_motion_lasts_longer(tmp_path: Path) -> None:
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    seconds = {}
    for speed in (4.0, 2.0):
        path = tmp_path / f"hop_{speed}.mp4"
        told: list[float] = []
        film_motion(hop(), path, speed=speed, tell=told.append)
        assert b"ftyp" in path.read_bytes()[:16]
        assert told[-1] == 1.0
        reader = imageio_ffmpeg.read_frames(str(path))
        seconds[speed] = next(reader)["duration"]
        reader.close()
    assert seconds[2.0] == pytest.approx(2.0 * seconds[4.0], abs=0.1)


# ---- what is refused


@pytest.mark.parametrize("name", ["hop.gif", "hop", "hop.svg"])
def test_another_kind_of_file_is_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="neither a kind of picture nor of film"):
        film_motion(hop(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    for ending in ("png", "mp4"):
        with pytest.raises(OutputError, match="folder"):
            film_motion(hop(), tmp_path / "no" / f"hop.{ending}")


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), 1e9])
def test_a_speed_that_makes_no_sense_is_refused(tmp_path: Path, speed: float) -> None:
    with pytest.raises(InputError, match="speed"):
        film_motion(hop(), tmp_path / "hop.mp4", speed=speed)


@pytest.mark.parametrize("pictures", [0, -3, 1000])
def test_too_few_and_too_many_pictures_are_refused(tmp_path: Path, pictures: int) -> None:
    with pytest.raises(InputError, match="pictures"):
        film_motion(hop(), tmp_path / "hop.png", pictures=pictures)


@pytest.mark.usefixtures("_can_draw")
@pytest.mark.parametrize("ending", ["png", "mp4"])
def test_an_unknown_camera_leaves_nothing_behind(tmp_path: Path, ending: str) -> None:
    with pytest.raises(UnknownNameError, match="sdie"):
        film_motion(hop(), tmp_path / f"hop.{ending}", camera="sdie")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("ending", "missing"), [("png", "matplotlib"), ("mp4", "imageio_ffmpeg")])
def test_what_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, missing: str
) -> None:
    gone: dict[str, ModuleType | None] = {missing: None}
    for name, module in gone.items():
        monkeypatch.setitem(sys.modules, name, module)
    with pytest.raises(MissingExtraError, match="pip install"):
        film_motion(hop(), tmp_path / f"hop.{ending}")
    assert list(tmp_path.iterdir()) == []


def test_a_robot_without_a_model_cannot_be_shown(tmp_path: Path) -> None:
    from dataclasses import replace

    card = replace(robot("sony_ers7"), model_path=None)
    for physics in (True, False):
        with pytest.raises(InputError, match="no model"):
            film_motion(hop(), tmp_path / "hop.png", card, physics=physics)
