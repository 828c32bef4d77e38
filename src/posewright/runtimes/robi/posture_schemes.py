"""Two ways to write a behaviour for several postures: Robi 1's nine patterns, and Robi 2's one with mapping.

A program of Robi 1 has a motion for each posture and each direction of the face, up to nine. A program of
Robi 2 has a single motion, written for standing and facing front; servos that must not move are mapped. That
is what the notes say; how a Robi 1 tells the directions apart is our assumption, and the programs are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from posewright.runtimes.robi.catalogue import link
from posewright.runtimes.robi.memory import POSE_WORDS, memory_map
from posewright.runtimes.robi.postures import LEGS, Posture, posture_table
from posewright.runtimes.robi.program import Op, Rm4Program

FACE_ID = 13
FACE_WORDS = {"front": 0, "left": 450, "right": -450}
"""Positions of the neck for each direction [0.1 deg]; half of them separate the directions (our choice)."""

PoseBlock = tuple[int, ...]
"""The words of a pose block: position and torque of each servo, then LEDs and time."""


def _position_index(servo_id: int) -> int:
    """Return the index of a servo's position in a pose block; its torque follows, and IDs begin at 1."""
    return 2 * (servo_id - 1)


def read_pose_blocks(program: Rm4Program) -> tuple[PoseBlock, ...]:
    """Return the pose blocks that a program writes as a whole, in the order of its file."""
    start = memory_map()["position"].address
    blocks: list[PoseBlock] = []
    for tag in program.tags:
        if tag.op is Op.MEM_W and tag.address == start and len(tag.values) == POSE_WORDS:
            blocks.append(tag.values)
    return tuple(blocks)


def write_one_pattern(poses: Iterable[PoseBlock]) -> Rm4Program:
    """Return a program of Robi 2's scheme: the motion, whatever the posture."""
    return link("\n".join(["motion:", *_write_motion(poses)]))


def write_nine_patterns(poses: Iterable[PoseBlock]) -> Rm4Program:
    """Return a program of Robi 1's scheme: a motion for each posture and direction of the face.

    The program compares the posture variable and then the measured neck with constants, and jumps to the
    motion for them; standing and facing front are the cases that remain.
    """
    poses = tuple(poses)
    postures = (Posture.STANDING, Posture.SITTING, Posture.CHAIR)
    measured_neck = f"measured of ID {FACE_ID}"
    left_limit = FACE_WORDS["left"] // 2
    right_limit = FACE_WORDS["right"] // 2
    lines = [
        _write_jump("posture", number=int(posture), test="eq", label=posture.word)
        for posture in postures[1:]  # without standing
    ]
    for posture in postures:
        lines.append(f"{posture.word}:")
        left_label = f"{posture.word}_left"
        right_label = f"{posture.word}_right"
        lines.append(_write_jump(measured_neck, number=left_limit, test="gt", label=left_label))
        lines.append(_write_jump(measured_neck, number=right_limit, test="lt", label=right_label))
        for direction in FACE_WORDS:
            lines.append(f"{posture.word}_{direction}:")
            lines += _write_motion(_adapt_pose(pose, posture, direction) for pose in poses)
    return link("\n".join(lines))


def _write_motion(poses: Iterable[PoseBlock]) -> Iterator[str]:
    for pose in poses:
        yield f"mem_w 2 position of ID 1 = {', '.join(map(str, pose))}\ncall wait"
    yield "return"


def _write_jump(word: str, number: int, test: str, label: str) -> str:
    """Return lines that compare a word of the memory with a number and jump if the test holds."""
    return f"calc\nmem_r 2 {word}\nconst {number}\nsub\n{test}\njump {label}\nendcalc"


def _adapt_pose(pose: PoseBlock, posture: Posture, direction: str) -> PoseBlock:
    """Return a pose for a posture and a direction of the face: mapped servos keep their idle positions."""
    table = posture_table()
    cells = memory_map()
    words = list(pose)
    idle_words = table.pose_words(table.idle[posture.word].pose)
    for servo_id in table.mapped_ids(posture):
        torque_cell = "mapped_torque_legs" if servo_id in LEGS else "mapped_torque_upper"
        index = _position_index(servo_id)
        words[index] = idle_words.get(servo_id, 0) & 0xFFFF
        words[index + 1] = cells[torque_cell].initial
    face_index = _position_index(FACE_ID)
    words[face_index] = (words[face_index] + FACE_WORDS[direction]) & 0xFFFF
    return tuple(words)
