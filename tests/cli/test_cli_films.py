"""Films on the command line: their names, sizes and cameras."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from posewright.cli.app import run
from posewright.cli.film_options import film_progress
from posewright.errors import UnavailableError
from posewright.robots import robot

MOTION = files("posewright") / "robots/catalogue/sony_ers7/motions/nod.motion.yaml"


@pytest.fixture(scope="module")
def _can_film() -> None:
    from posewright.simulation import Film, World

    pytest.importorskip("imageio_ffmpeg")
    try:
        Film(World(robot("sony_ers7")), 64, 48).close()
    except UnavailableError as error:
        pytest.skip(f"nothing can be drawn here: {error}")


def film(*words: str) -> int:
    """Film a short motion, small and without physics."""
    return run(["motion", "film", str(MOTION), "--no-physics", "--speed", "8", "--size", "64x48", *words])


@pytest.mark.usefixtures("_can_film")
def test_a_film_gets_a_name_here_or_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films").mkdir()
    assert film() == 0
    assert film("-o", "films") == 0
    assert film("-o", "wink.gif") == 0
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")) == [
        "films/nod.mp4",
        "nod.mp4",
        "wink.gif",
    ]
    assert (tmp_path / "wink.gif").read_bytes()[:10] == b"GIF89a" + bytes((64, 0, 48, 0))


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ("large", "width and height in pixels"),
        ("64", "width and height in pixels"),
        ("63x48", "even numbers"),
        ("0x0", "even numbers"),
        ("99999x2", "even numbers"),
    ],
)
def test_a_size_that_makes_no_sense_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: str, words: str
) -> None:
    assert film("-o", str(tmp_path / "a.mp4"), "--size", size) == 2
    assert words in capsys.readouterr().err


def test_how_long_a_film_takes_is_told_in_minutes_and_whole_seconds() -> None:
    said: list[str] = []
    times = iter([0.0, 59.6, 3.0])
    tell = film_progress(said.append, lambda: next(times))
    for share in (0.0, 0.5, 0.75):
        tell(share)
    assert said == ["filming: 50%, 1:00 left", "filming: 75%, 0:01 left"]


def test_a_camera_is_refused_before_anything_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert film("-o", str(tmp_path / "a.mp4"), "--camera", "eye") == 2
    assert "chase, field, front, head_camera, side, top" in capsys.readouterr().err
    assert run(["run", "obstacle-race", "--video", str(tmp_path / "a.mp4"), "--camera", "eye"]) == 2
    assert "chase, field, front, head_camera, side, top" in capsys.readouterr().err
    assert run(["run", "obstacle-race", "--camera", "eye"]) == 2
    assert list(tmp_path.iterdir()) == []
