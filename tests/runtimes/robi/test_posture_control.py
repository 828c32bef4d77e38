"""Posture control: transitions leave tables, blocks and variable as the notes say; what is mapped stays."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.bodies import JointCommands, MockBody
from posewright.formats import read_motion
from posewright.robots import robot
from posewright.runtimes.robi.catalogue import load_program, program_names
from posewright.runtimes.robi.controller import RobiController
from posewright.runtimes.robi.memory import RobiMemory
from posewright.runtimes.robi.posture_schemes import read_pose_blocks
from posewright.runtimes.robi.rm4 import read_rm4
from posewright.runtimes.robi.words import read_words

ROBI = robot("deagostini_robi2")
IDS = range(2, 22)
STIFFNESS = np.array([servo.stiffness for servo in ROBI.servos])

# The notes' words, written out again: IDs 2-6 and 7-11.
SIT = [0xFFE2, 0xFBD2, 0x0000, 0xFEF2, 0x0000, 0x001E, 0x042E, 0x0000, 0x010E, 0x0000]
CHAIR = [0xFFE7, 0xFC4A, 0x0096, 0xFF60, 0x0000, 0x0019, 0x03B6, 0xFF6A, 0x00A0, 0xFFF1]
STAND_UP_START = [0xFFE2, 0xFBE6, 0x0000, 0xFEF2, 0x0000, 0x001E, 0x041A, 0x0000, 0x010E, 0x0000]
RIDE = [0xFFF6, 0xFF7E, 0x0000, 0xFFB0, 0xFFFB, 0x000A, 0x0082, 0x0000, 0x0050]
LEGS = set(range(1, 12))
SITTING_AND_RIDE = {*range(1, 13), *range(16, 22)}
"""For sitting and, by the notes' routine at 0x00281d00, for the ride: dummy, legs, waist and arms."""

SIT_DOWN, STAND_UP, DANCE, RIDE_ON, RIDE_OFF = 1, 2, 3, 4, 5


class Robi:
    """A Robi that runs `startup` and is sent words one after the other."""

    def __init__(self, pose: str, rule: str = "consistent") -> None:
        self.body = MockBody(ROBI, positions=ROBI.pose(pose))
        self.memory = RobiMemory()
        self.controller = RobiController(ROBI, load_program("startup", rule), self.memory)
        self.settle()

    def frame(self) -> JointCommands:
        commands = self.controller.next(self.body.read(), 1)
        self.body.play(commands)
        return commands

    def settle(self) -> list[JointCommands]:
        """Run until it waits for a word; return the commands."""
        played = []
        while not self.controller.is_over:
            played.append(self.frame())
        assert self.controller.error is None
        return played

    def send_word(self, word: int) -> list[JointCommands]:
        self.memory.set("word", word)
        first = self.frame()
        return [first, *self.settle()]

    def words(self, address: int, n: int) -> list[int]:
        return [self.memory.read(address + 2 * i, 2) for i in range(n)]

    def tables(self) -> dict[int, tuple[int, int]]:
        """Return parameters 2 and 3 by ID."""
        return {
            number: (
                self.memory.read(0x1000 + 0x20 * number + 2, 2),
                self.memory.read(0x1000 + 0x20 * number + 4, 2),
            )
            for number in range(1, 22)
        }

    @property
    def posture(self) -> int:
        return self.memory.read(0x0F82, 2)


def tables_with(mapped: set[int]) -> dict[int, tuple[int, int]]:
    """Return parameters 2 and 3 by ID, as the notes give them while some IDs are mapped."""
    return {
        number: (0x0CC0 + 2 * (number - 1), 0x0CEA if number <= 11 else 0x0CEE)
        if number in mapped
        else (0x0C00 + 4 * (number - 1), 0x0C02 + 4 * (number - 1))
        for number in range(1, 22)
    }


def test_standing_nothing_is_mapped_and_the_pose_is_zero_with_torque_0x50() -> None:
    robi = Robi("stand")
    assert (robi.posture, robi.tables()) == (0, tables_with(set()))
    assert robi.words(0x0A00, 2) == [0, 0]
    assert robi.words(0x0A04, 40) == [0x0000, 0x0050] * 20


def test_sitting_down_leaves_posture_pose_and_mapping_as_the_notes_say() -> None:
    robi = Robi("stand")
    robi.send_word(SIT_DOWN)
    assert robi.posture == 1
    assert robi.words(0x0AC2, 10) == SIT
    assert robi.words(0x0A04, 20)[::2] == SIT
    assert robi.words(0x0AEA, 3) == [70, 0, 50]
    assert robi.tables() == tables_with(SITTING_AND_RIDE)


def test_standing_up_unmaps_before_it_moves_and_ends_standing() -> None:
    robi = Robi("sit")
    robi.memory.set("position", 500, 3)  # left over from a dance that the mapping held back
    played = robi.send_word(STAND_UP)
    begun = ROBI.to_ticks(played[0].angles[0])
    np.testing.assert_allclose(begun[:10], np.array(SIT, np.uint16).view(np.int16), atol=20 + 1)
    assert (robi.posture, robi.tables()) == (0, tables_with(set()))
    assert robi.words(0x0A04, 20)[::2] == [0] * 10
    assert robi.words(0x0AC2, 10) == STAND_UP_START


def test_standing_up_begins_with_its_start_pose_in_both_blocks_and_torque_0x64_for_id_1() -> None:
    blocks = [tag.values for tag in load_program("stand_up").tags if tag.address in {0x0A00, 0x0AC0}]
    pose_block, mapping_block = blocks[:2]
    assert pose_block[:2] == (0x0000, 0x0064)
    assert list(pose_block[2:22:2]) == STAND_UP_START
    assert list(mapping_block[1:11]) == STAND_UP_START


def test_standing_up_goes_through_the_notes_poses() -> None:
    robi = Robi("sit")
    rows = [
        ROBI.to_ticks(commands.angles[0])[:4].round().astype(int) for commands in robi.send_word(STAND_UP)
    ]
    begin, crouch = (
        np.array(words, np.uint16).view(np.int16)
        for words in ([0xFFE2, 0xFBE6, 0x0000, 0xFEF2], [0xFFE3, 0xFC1B, 0x0497, 0xFF0E])
    )
    at = [next(i for i, row in enumerate(rows) if (row == pose).all()) for pose in (begin, crouch)]
    assert at[0] < at[1] < len(rows)


def test_on_the_chair_the_legs_are_mapped_and_there_is_no_way_out() -> None:
    robi = Robi("chair")
    assert (robi.posture, robi.tables()) == (2, tables_with(LEGS))
    assert robi.words(0x0AC2, 10) == CHAIR
    for word in (SIT_DOWN, STAND_UP, RIDE_ON, RIDE_OFF):
        robi.send_word(word)
        assert (robi.posture, robi.tables()) == (2, tables_with(LEGS))
        assert robi.memory.get("word") == 0


def test_the_ride_is_posture_3_and_left_unmapped() -> None:
    robi = Robi("stand")
    robi.send_word(RIDE_ON)
    assert (robi.posture, robi.tables()) == (3, tables_with(SITTING_AND_RIDE))
    assert robi.words(0x0AC2, 9) == RIDE
    robi.memory.set("position", 500, 3)  # left over from a motion that the mapping held back
    robi.memory.set("led_table", 0x0CAA, 1)  # the notes' ride mode has another LED table
    played = robi.send_word(RIDE_OFF)
    begun = ROBI.to_ticks(played[0].angles[0])
    np.testing.assert_allclose(begun[:9], np.array(RIDE, np.uint16).view(np.int16), atol=5)
    assert (robi.posture, robi.tables()) == (0, tables_with(set()))
    assert robi.words(0x0E20, 7) == [0x0C70, 0x0C72, 0x0C74, 0x0C76, 0x0C78, 0x0C7A, 0x0C7C]


def test_getting_off_the_ride_begins_with_the_ride_pose_in_the_pose_block() -> None:
    first = next(tag for tag in load_program("ride_off").tags if tag.address == 0x0A00)
    assert list(first.values[2:20:2]) == RIDE


def test_explain_ride_is_word_472_and_on_the_ride_unmaps_first_and_maps_again() -> None:
    robi = Robi("stand")
    robi.send_word(RIDE_ON)
    robi.memory.set("word", 472)
    robi.frame()
    assert robi.tables() == tables_with(set())
    robi.settle()
    assert (robi.posture, robi.tables()) == (3, tables_with(SITTING_AND_RIDE))


def test_by_the_printed_rule_a_robi_that_sits_takes_itself_for_one_on_the_chair() -> None:
    assert Robi("sit").posture == 1
    assert Robi("sit", "printed").posture == 2


@pytest.fixture(scope="module")
def danced() -> list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Return the dance as it is danced standing, row by row [0.1 deg]."""
    return [ROBI.to_ticks(commands.angles[0]) for commands in Robi("stand").send_word(DANCE)]


@pytest.mark.parametrize(
    ("pose", "before", "mapped", "held"),
    [
        ("sit", None, SITTING_AND_RIDE, SIT),
        ("chair", None, LEGS, CHAIR),
        ("stand", RIDE_ON, SITTING_AND_RIDE, [*RIDE, 5]),
    ],
    ids=["sitting", "chair", "ride"],
)
def test_a_dance_for_standing_moves_only_what_the_mapping_leaves_free(
    pose: str,
    before: int | None,
    mapped: set[int],
    held: list[int],
    danced: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]],
) -> None:
    robi = Robi(pose)
    if before is not None:
        robi.send_word(before)
    played = robi.send_word(DANCE)
    is_mapped = np.array([number in mapped for number in IDS])
    where = np.zeros(20)
    where[:10] = np.array(held, np.uint16).view(np.int16)
    for commands, standing in zip(played, danced, strict=True):
        row = ROBI.to_ticks(commands.angles[0])
        np.testing.assert_allclose(row[is_mapped], where[is_mapped], atol=1e-9)
        np.testing.assert_allclose(row[~is_mapped], standing[~is_mapped], atol=1e-9)
        share = [0.8 if n not in mapped else 0.7 if n <= 11 else 0.5 for n in IDS]
        assert commands.stiffness is not None
        np.testing.assert_allclose(commands.stiffness, np.array(share) * STIFFNESS)
    moved = np.ptp([ROBI.to_ticks(one.angles[0]) for one in played], axis=0) > 1.0
    assert not moved[is_mapped].any()
    assert moved[~is_mapped].all()


def test_standing_the_dance_moves_legs_too(
    danced: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]],
) -> None:
    knee = list(IDS).index(4)
    assert max(row[knee] for row in danced) == pytest.approx(300)


def test_it_sits_down_by_the_poses_of_the_robots_motion() -> None:
    assert ROBI.folder is not None
    motion = read_motion(ROBI.folder / "motions" / "sit_down.motion.yaml")
    poses = np.array(read_pose_blocks(load_program("sit_down")), np.uint16).view(np.int16)
    assert len(poses) == len(motion.keyframes) - 1
    for words, keyframe in zip(poses, motion.keyframes[1:], strict=True):
        pose = np.zeros(20)
        pose[[ROBI.index(joint) for joint in keyframe.pose.joints]] = keyframe.pose.angles
        np.testing.assert_allclose(words[2:42:2], ROBI.to_ticks(pose), atol=0.5 + 1e-9)
        assert words[-1] == pytest.approx(60 * keyframe.reach_s)


@pytest.mark.parametrize("name", program_names())
def test_every_program_that_ships_is_an_rm4_file_with_right_addresses(name: str) -> None:
    written = load_program(name).render()
    read = read_rm4(written)
    assert read.remarks == ()
    assert read.render() == written
    assert [node.target for node in read.tags] == [node.target for node in load_program(name).tags]


def test_a_word_comes_at_its_time() -> None:
    body = MockBody(ROBI, positions=ROBI.pose("stand"))
    controller = RobiController(ROBI, load_program("startup"), words=read_words("472@3"))
    while controller.memory.get("word") == 0 and body.time_s < 5.0:
        commands = controller.next(body.read(), 1)
        if controller.memory.get("word") or any(
            data["what"] == "word" for _, data in (commands.decision.events if commands.decision else ())
        ):
            break
        body.play(commands)
    assert body.time_s == pytest.approx(3.0)
