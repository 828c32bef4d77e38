"""Pictures of robots' cameras in a recording's file: a viewer shows them, the recording stays what it was."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from PIL import Image

from posewright.arenas import arena
from posewright.bodies import JointCommands
from posewright.control import Script, drive
from posewright.errors import UnknownNameError
from posewright.figures import camera_topics
from posewright.recordings import Header, Recorder, Recording, RobotHeader, read_mcap, write_mcap
from posewright.robots import CodeReader, robot
from posewright.simulation import SimulatedBody, World

CARD = robot("robotis_bioloid")
EYES = CodeReader("eyes", "head", ("Turn45L",), width=64, height=48, rate_hz=4.0)

TOPICS = [f"/{CARD.name}/image/{name}/compressed" for name in ("head_camera", "eyes")]


@pytest.fixture(scope="module")
def stands() -> Recording:
    world = World(CARD, arena(), sensors=[EYES])
    body = SimulatedBody(world, start=(0.25, 0.0, 0.0))
    recorder = Recorder(
        Header(robots={CARD.name: RobotHeader.of(body)}, arena=arena().to_dict()), world, every=4
    )
    rows = JointCommands(np.tile(CARD.pose("walk_ready"), (128, 1)))
    drive(world, {CARD.name: Script([rows])}, until_s=1.0, watchers=[recorder])
    return recorder.recording()


def pictures_in(path: Path) -> dict[str, list[tuple[int, Image.Image]]]:
    found: dict[str, list[tuple[int, Image.Image]]] = {}
    with path.open("rb") as file:
        for _, channel, message, told in make_reader(
            file, decoder_factories=[DecoderFactory()]
        ).iter_decoded_messages(topics=TOPICS):
            assert told.format == "jpeg"
            picture = Image.open(io.BytesIO(bytes(told.data)))
            found.setdefault(channel.topic, []).append((message.log_time, picture))
    return found


def test_pictures_stand_beside_a_recording_that_stays_as_it_was(stands: Recording, tmp_path: Path) -> None:
    plain, seen = tmp_path / "plain.mcap", tmp_path / "seen.mcap"
    write_mcap(stands, plain)
    write_mcap(stands, seen, camera_topics(stands, ["head_camera", "eyes"]))
    assert read_mcap(seen).digest() == read_mcap(plain).digest() == stands.digest()
    assert pictures_in(plain) == {}
    found = pictures_in(seen)
    assert list(found) == TOPICS
    assert [found[topic][0][1].size for topic in TOPICS] == [(320, 240), (64, 48)]
    assert [len(found[topic]) for topic in TOPICS] == [
        5,
        4,
    ]  # in 1 s: 5 a second, 4 as its card says


def test_a_picture_shows_the_green_field(stands: Recording, tmp_path: Path) -> None:
    path = tmp_path / "seen.mcap"
    write_mcap(stands, path, camera_topics(stands, ["head_camera"]))
    ((_, picture), *_) = next(iter(pictures_in(path).values()))
    red, green, blue = np.asarray(picture.convert("RGB"))[-20:].reshape(-1, 3).mean(axis=0)
    assert green > 1.5 * max(red, blue)


def test_a_camera_that_is_not_there_is_refused_by_name(stands: Recording) -> None:
    with pytest.raises(UnknownNameError, match="hed_camera"):
        camera_topics(stands, ["hed_camera"])
    assert camera_topics(stands, []) == ()
