"""Lights from a motion through player, loop and recorder into a file and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.bodies import BodyState, JointCommands, MockBody
from posewright.control import Script, drive
from posewright.controllers import Player
from posewright.controllers.motion_player import plan_motion_commands
from posewright.errors import FormatError, InputError
from posewright.motions import Keyframe, Motion, Pose
from posewright.recordings import Header, Recorder, Recording, RobotHeader, read_mcap, write_mcap
from posewright.robots import Led, robot

BIOLOID = robot("robotis_bioloid")
CARD = replace(BIOLOID, leds=(Led("eye", "rgb", "head"), Led("ear", "red", "head")))
STAND = Pose(CARD.joint_names, CARD.pose("stand"))
RED, EAR = {"eye": (1.0, 0.0, 0.0)}, {"eye": (1.0, 0.0, 0.0), "ear": (1.0, 0.0, 0.0)}
MOTION = Motion(
    "lit",
    CARD.name,
    CARD.joint_names,
    (
        Keyframe(STAND, 0.25, lights={"eye": (255, 0, 0)}),
        Keyframe(STAND, 0.25),
        Keyframe(STAND, 0.25, lights={"ear": 255}),
    ),
)
DIGEST = "d0db6785ffc4bdbad62540b0f4be6fbeb1976e4d34e05ecdaad5c3ced2035149"
"""Of a recording made up before there were lights."""

Make = Callable[..., Recording]


def recorded(*blocks: JointCommands, every: int = 1) -> Recording:
    """Record what a mock is told."""
    plant = MockBody(CARD, positions=CARD.pose("stand"))
    recorder = Recorder(Header({CARD.name: RobotHeader.of(plant.bodies[CARD.name])}), plant, every=every)
    until_s = sum(map(len, blocks)) * CARD.frame_period_s
    drive(plant, {CARD.name: Script(blocks)}, until_s=until_s, watchers=[recorder])
    return recorder.recording()


def still(n: int, lights: dict[str, tuple[float, float, float]] | None = None) -> JointCommands:
    return JointCommands(np.tile(CARD.pose("stand"), (n, 1)), lights=lights)


def test_a_recording_without_lights_has_the_digest_it_always_had(make_recording: Make) -> None:
    assert make_recording(0).digest() == DIGEST


def test_a_light_stays_on_until_it_is_told_something_else() -> None:
    record = recorded(still(2), still(3, RED), still(2), still(2, {"ear": (0.0, 0.0, 0.5)})).robot()
    assert record.lights is not None
    assert record.lights["eye"][:, 0].tolist() == pytest.approx([np.nan] * 2 + [1.0] * 7, nan_ok=True)
    assert record.lights["ear"][:, 2].tolist() == pytest.approx([np.nan] * 7 + [0.5] * 2, nan_ok=True)


def test_a_robot_whose_lights_nobody_touches_has_none_in_its_recording() -> None:
    assert recorded(still(3)).robot().lights is None


def test_rows_are_the_same_however_few_are_kept() -> None:
    blocks = still(2), still(3, RED), still(7, {"eye": (0.0, 0.0, 1.0)})
    fine, coarse = (recorded(*blocks, every=every).robot().lights for every in (1, 4))
    assert fine is not None
    assert coarse is not None
    np.testing.assert_array_equal(coarse["eye"], fine["eye"][3::4])


def test_lights_come_back_from_a_file_to_the_last_bit(tmp_path: Path) -> None:
    recording = recorded(still(2), still(3, {"eye": (0.1, 0.2, 0.3), "ear": (1 / 3, 0.0, 0.0)}))
    write_mcap(recording, tmp_path / "lit.mcap")
    back = read_mcap(tmp_path / "lit.mcap")
    assert back.digest() == recording.digest()
    lights = recording.robot().lights
    lights_read_back = back.robot().lights
    assert lights is not None
    assert lights_read_back is not None
    assert {name: rows.tobytes() for name, rows in lights.items()} == {
        name: rows.tobytes() for name, rows in lights_read_back.items()
    }


def test_another_colour_is_another_run() -> None:
    digests = {recorded(still(3, {"eye": (0.0, 0.0, blue)})).digest() for blue in (0.0, 0.5, 1.0)}
    assert len(digests | {recorded(still(3)).digest()}) == 4


def test_lights_of_another_length_are_refused() -> None:
    record = recorded(still(3)).robot()
    with pytest.raises(InputError, match="has the shape"):
        replace(record, lights={"eye": np.zeros((2, 3))})


def test_a_file_that_lost_its_lights_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lit.mcap"
    write_mcap(recorded(still(3, RED)), path)
    path.write_bytes(path.read_bytes().replace(b"/lights", b"/nights"))
    with pytest.raises(FormatError):
        read_mcap(path)


def test_a_light_that_is_told_the_same_again_costs_nothing_and_changes_are_filled_forward() -> None:
    blocks = [still(1, RED if at // 50 % 2 == 0 else {"eye": (0.0, 0.0, 1.0)}) for at in range(200)]
    lit = recorded(*blocks, every=4).robot().lights
    assert lit is not None
    assert lit["eye"][:, 0].tolist() == [float((4 * row + 3) // 50 % 2 == 0) for row in range(50)]


def test_a_light_of_two_colours_shows_the_nearer_one() -> None:
    light = Led("face", "white/green", "head")
    assert light.displayed_colour((0, 255, 0)) == (0.0, 1.0, 0.0)
    assert light.displayed_colour((255, 250, 255)) == (1.0, 1.0, 1.0)
    assert light.displayed_colour(255) == (1.0, 1.0, 1.0)


def test_a_player_tells_lights_as_the_way_begins() -> None:
    player = Player(CARD, {"lit": MOTION}, CARD.pose("stand"))
    player.request("lit")
    state = BodyState(0.0, CARD.pose("stand"), np.zeros(len(CARD.joints)))
    commanded_lights = []
    while player.playing is not None:
        rows = player.next(state, 64)
        commanded_lights += [rows.lights] * len(rows)
    assert commanded_lights[0] == RED
    assert commanded_lights[63] == RED
    assert commanded_lights[64:95] == [EAR] * 31
    assert player.next(state, 5).lights is None  # as it was


def test_a_motion_that_is_tried_is_seen_with_its_lights() -> None:
    blocks = plan_motion_commands(MOTION, CARD, pose=None, longest_s=9.0).blocks
    assert [block.lights for block in blocks] == [RED, EAR]
    dark = replace(MOTION, keyframes=tuple(replace(keyframe, lights=None) for keyframe in MOTION.keyframes))
    assert [
        block.lights for block in plan_motion_commands(dark, BIOLOID, pose=None, longest_s=9.0).blocks
    ] == [None]
