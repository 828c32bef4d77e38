"""Films: of whatever was recorded, and of a motion without physics; whole or not at all."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from posewright.documents import remove_unfinished_files
from posewright.errors import InputError, MissingExtraError, OutputError, UnknownNameError
from posewright.figures import film_motion, film_recording
from posewright.figures.film_file import film_file
from posewright.figures.playback import Poses, playback_of_motion
from posewright.recordings import Recording
from posewright.robots import robot
from posewright.simulation import Film, World

from .conftest import hop_of

GREY = np.full((48, 64, 3), 128, dtype=np.uint8)
SMALL = (64, 48)


def length_s(path: Path) -> float:
    """Return how long a film is [s]."""
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    reader = imageio_ffmpeg.read_frames(str(path))
    seconds = float(next(reader)["duration"])
    reader.close()
    return seconds


def film_of(path: Path, pictures: Iterable[Any], size: tuple[int, int] = SMALL) -> None:
    """Make a film of pictures, ten a second."""
    with film_file(path, size, 10.0) as send:
        for picture in pictures:
            send(picture)


def files(folder: Path) -> dict[str, bytes]:
    """Return what lies in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ---- the file


@pytest.mark.parametrize("ending", [".mp4", ".gif", ".mkv", ".webm"])
def test_a_film_of_each_kind_can_be_played(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"grey{ending}"
    film_of(path, [GREY] * 20)
    assert length_s(path) == pytest.approx(2.0, abs=0.11)
    assert list(tmp_path.iterdir()) == [path]


def test_an_encoder_that_fails_leaves_the_old_film_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "grey.mp4"
    path.write_bytes(b"old")
    noise = np.random.default_rng(0).integers(0, 255, (60, 240, 320, 3), dtype=np.uint8)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))  # as a full disk would
    try:
        with pytest.raises(OutputError, match=r"grey\.mp4.*could not be encoded"):
            film_of(path, noise, (320, 240))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert files(tmp_path) == {"grey.mp4": b"old"}


def test_an_encoder_that_dies_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("posewright.figures.film_file._find_encoder", lambda: "/bin/false")
    with pytest.raises(OutputError, match="could not be encoded"):
        film_of(tmp_path / "grey.mp4", [GREY] * 100)
    assert files(tmp_path) == {}


def encoder_that(monkeypatch: pytest.MonkeyPatch, folder: Path, does: str) -> None:
    """Let films be encoded by a program that reads all pictures and then does something else."""
    program = folder / "encoder"
    program.write_text(f'#!/bin/sh\nfor last in "$@"; do :; done\ncat > {folder}/pictures\n{does}\n')
    program.chmod(0o755)
    monkeypatch.setattr("posewright.figures.film_file._find_encoder", lambda: str(program))


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("kill -KILL $$", "the encoder was killed"),
        ("kill -XFSZ $$", "the file exceeds the size limit"),
        (
            "echo '[mp4 @ 0x12] Error writing trailer: No space left on device' >&2; exit 1",
            "encoded: Error wri",
        ),
        ("exit 7", "ended with code 7 and no message"),
        ('echo rubbish > "$last"', "does not play: it has 0 of its 3 pictures"),
    ],
)
def test_how_an_encoder_fails_is_told_and_the_old_film_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, told: str
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "grey.mp4").write_bytes(b"old")
    encoder_that(monkeypatch, tmp_path / "bin", does)
    monkeypatch.chdir(tmp_path)  # one of them writes wherever it is told to, `-` too
    with pytest.raises(OutputError, match=told):
        film_of(tmp_path / "films" / "grey.mp4", [GREY] * 3)
    assert files(tmp_path / "films") == {"grey.mp4": b"old"}


def test_a_film_of_which_half_is_missing_is_not_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posewright.figures.film_file._count_pictures", lambda _: 1)
    with pytest.raises(OutputError, match="1 of its 2 pictures"):
        film_of(tmp_path / "grey.mp4", [GREY] * 2)
    assert files(tmp_path) == {}


def test_a_picture_that_cannot_be_drawn_leaves_the_old_film(tmp_path: Path) -> None:
    path = tmp_path / "grey.mp4"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        film_of(path, (np.full_like(GREY, int(100 / left)) for left in (2, 1, 0)))
    assert files(tmp_path) == {"grey.mp4": b"old"}


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.mp4").write_bytes(b"old")
    (tmp_path / "link.mp4").symlink_to("real.mp4")
    film_of(tmp_path / "link.mp4", [GREY])
    assert (tmp_path / "link.mp4").is_symlink()
    assert b"ftyp" in (tmp_path / "real.mp4").read_bytes()[:16]


@pytest.mark.parametrize("size", [(63, 48), (0, 48), (64, 10_000)])
def test_a_size_that_makes_no_sense_is_refused(tmp_path: Path, size: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="unsupported film size"):
        film_of(tmp_path / "a.mp4", [], size)


@pytest.mark.parametrize("came", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_leaves_nothing_behind(tmp_path: Path, came: signal.Signals) -> None:
    program = (
        "import numpy as np, sys; from pathlib import Path\n"
        "from posewright.figures.film_file import film_file\n"
        "with film_file(Path(sys.argv[1]), (64, 48), 25.0) as send:\n"
        "    while True:\n"
        "        send(np.zeros((48, 64, 3), dtype=np.uint8))\n"
        "        print('sent', flush=True)\n"
    )
    film = subprocess.Popen(  # noqa: S603 -- ourselves
        [sys.executable, "-c", program, str(tmp_path / "film.mp4")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with film:
        assert film.stdout is not None
        film.stdout.readline()
        film.send_signal(came)
        film.stdout.close()
        assert film.wait() != 0
    if came is signal.SIGKILL:  # nobody was left to tidy up: the next film does
        (left,) = tmp_path.iterdir()
        ends = time.monotonic() + 600.0
        while left.exists() and time.monotonic() < ends:  # until the encoder has noticed that it is alone
            remove_unfinished_files(tmp_path)
            time.sleep(0.05)
    ends = time.monotonic() + 600.0
    while list(tmp_path.iterdir()) and time.monotonic() < ends:
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


# ---- what is between two rows


def test_between_two_rows_lies_what_is_between_them() -> None:
    base = np.array([(0.0, 0, 0.1, 1, 0, 0, 0), (0.02, 0, 0.1, 0, 0, 0, -1)])
    poses = Poses(
        np.array([1.0, 2.0]), {"dog": base}, {"dog": np.array([[0.0], [1.0]])}, np.zeros((2, 0, 7))
    ).interpolate_at(np.array([0.0, 1.0, 1.5, 2.0, 9.0]))
    assert np.allclose(poses.joint_angles["dog"][:, 0], [0.0, 0.0, 0.5, 1.0, 1.0])
    assert np.allclose(poses.base_poses["dog"][:, 0], [0.0, 0.0, 0.01, 0.02, 0.02])
    assert np.allclose(poses.base_poses["dog"][2, 3:], [np.sqrt(0.5), 0, 0, -np.sqrt(0.5)])


def test_a_robot_that_was_put_elsewhere_did_not_fly_there() -> None:
    base = np.array([(0.0, 0, 0.1, 1, 0, 0, 0), (1.0, 0, 0.1, 1, 0, 0, 0)])
    poses = Poses(np.array([0.0, 1.0]), {"dog": base}, {"dog": np.zeros((2, 1))}, np.zeros((2, 0, 7)))
    assert set(poses.interpolate_at(np.linspace(0.0, 1.0, 21)).base_poses["dog"][:, 0]) == {0.0, 1.0}


def test_without_physics_every_joint_is_where_it_is_commanded() -> None:
    motion = hop_of(attitude=(0.0, -0.2, 0.0))
    poses = playback_of_motion(motion).poses_at(np.array([0.1, 0.2]))
    assert np.allclose(poses.joint_angles["sony_ers7"], motion.sample_at(np.array([0.1, 0.2])).angles)
    assert np.allclose(2.0 * np.arcsin(poses.base_poses["sony_ers7"][:, 5]), -0.2)


# ---- what is filmed


@pytest.mark.usefixtures("_can_draw")
def test_a_film_in_slow_motion_lasts_longer(tmp_path: Path, played: Recording) -> None:
    seconds = {}
    for speed in (4.0, 2.0):
        path = tmp_path / f"hop_{speed}.mp4"
        told: list[float] = []
        film_recording(played, path, speed=speed, begin_s=1.0, size=SMALL, on_progress=told.append)
        assert told[-1] == 1.0
        seconds[speed] = length_s(path)
    assert seconds[2.0] == pytest.approx(2.0 * seconds[4.0], abs=0.1)
    assert seconds[2.0] == pytest.approx(0.7, abs=0.1)


@pytest.mark.usefixtures("_can_draw")
def test_a_motion_is_filmed_without_physics_on_the_robot_that_is_named(tmp_path: Path) -> None:
    film_motion(hop_of(), tmp_path / "hop.mp4", "sony_ers7", size=SMALL)
    assert length_s(tmp_path / "hop.mp4") == pytest.approx(0.44, abs=0.05)
    assert list(tmp_path.iterdir()) == [tmp_path / "hop.mp4"]


@pytest.mark.usefixtures("_can_draw")
def test_two_robots_of_a_kind_can_be_told_apart() -> None:
    bioloid = robot("robotis_bioloid")
    world = World({"red": bioloid, "blue": bioloid})
    world.instance("blue").data.qpos[1] += 0.6
    with Film(world, 160, 120, "field", tints={"red": (1.0, 0.0, 0.0), "blue": (0.0, 0.0, 1.0)}) as film:
        pixels = film.now().astype(np.int64)
    redness = pixels[..., 0] - pixels[..., 2]
    assert redness.max() > 40
    assert redness.min() < -40


def test_the_whole_robot_is_in_the_picture() -> None:
    from posewright.simulation.cameras import close_up_on_poses

    playback = playback_of_motion(hop_of())
    poses = playback.poses_at(np.array([0.0, 0.4]))
    moments = list(zip(poses.base_poses["sony_ers7"], poses.joint_angles["sony_ers7"], strict=True))
    near = close_up_on_poses(playback.world, moments, "side", 4.0 / 3.0, steady=False)
    nothing = (0.0, 0.0, 50.0, 1.0, 0.0, 0.0, 0.0)
    with Film(World(robot("sony_ers7")), 320, 240, "side", close_up=near) as film:
        empty = film.frame((nothing, moments[0][1])).astype(int)
        picture = film.frame(moments[0]).astype(int)
    rows, columns = np.nonzero(np.abs(picture - empty).sum(axis=-1) > 90)
    assert rows.min() > 2
    assert rows.max() < 237
    assert columns.min() > 2
    assert columns.max() < 317
    assert np.ptp(columns) > 160


# ---- what is refused

Filming = Callable[..., Any]


@pytest.fixture(params=["recording", "motion"])
def film(request: pytest.FixtureRequest, played: Recording) -> Filming:
    """Give a function that films something into a path."""
    if request.param == "motion":
        return lambda path, **rest: film_motion(hop_of(), path, **rest)
    return lambda path, **rest: film_recording(played, path, **rest)


@pytest.mark.parametrize("name", ["hop.avi", "hop", "hop.svg"])
def test_another_kind_of_file_is_refused_and_nothing_is_written(
    tmp_path: Path, film: Filming, name: str
) -> None:
    with pytest.raises(InputError, match=r"(ending of a film|of a film needs).*\.mp4"):
        film(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path, film: Filming) -> None:
    with pytest.raises(OutputError, match="folder"):
        film(tmp_path / "no" / "hop.mp4")


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), 1e9])
def test_a_speed_that_makes_no_sense_is_refused(tmp_path: Path, film: Filming, speed: float) -> None:
    with pytest.raises(InputError, match="speed"):
        film(tmp_path / "hop.mp4", speed=speed)


@pytest.mark.usefixtures("_can_draw")
def test_an_unknown_camera_leaves_nothing_behind(tmp_path: Path, film: Filming) -> None:
    with pytest.raises(UnknownNameError, match="sdie"):
        film(tmp_path / "hop.mp4", camera="sdie")
    assert list(tmp_path.iterdir()) == []


def test_an_encoder_that_is_not_installed_is_named(
    tmp_path: Path, film: Filming, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: dict[str, ModuleType | None] = {"imageio_ffmpeg": None}
    monkeypatch.setitem(sys.modules, *next(iter(gone.items())))  # type: ignore[arg-type] -- None is what says so
    with pytest.raises(MissingExtraError, match="pip install"):
        film(tmp_path / "hop.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_robot_without_a_model_cannot_be_shown(tmp_path: Path) -> None:
    from dataclasses import replace

    card = replace(robot("sony_ers7"), model_path=None)
    with pytest.raises(InputError, match="no model"):
        film_motion(hop_of(), tmp_path / "hop.mp4", card)


def test_a_recording_of_another_robot_is_told(tmp_path: Path, played: Recording) -> None:
    with pytest.raises(InputError, match="not of 'robotis_bioloid'"):
        film_recording(played, tmp_path / "hop.mp4", robots=robot("robotis_bioloid"))
    with pytest.raises(UnknownNameError, match="sony_ers7"):
        film_recording(played, tmp_path / "hop.mp4", robots={"rex": robot("sony_ers7")})
    assert list(tmp_path.iterdir()) == []
