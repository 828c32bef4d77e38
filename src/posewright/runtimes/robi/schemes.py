"""Two ways to have a behaviour in several postures: Robi 1's nine patterns, and Robi 2's one and its mapping.

A program of Robi 1 holds a motion for each posture and each direction the face is turned to, up to nine. One
of Robi 2 holds a single one, written for standing and facing front; what must not move is mapped. The notes
say so; how a Robi 1 tells its directions apart is ours, and so are the programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from posewright.runtimes.robi.memory import POSE_WORDS, memory_map
from posewright.runtimes.robi.postures import LEGS, Posture, postures
from posewright.runtimes.robi.program import Op, Program
from posewright.runtimes.robi.programs import linked

FACE_ID = 13
FACE_WORDS = {"front": 0, "left": 450, "right": -450}
"""Ours: where the neck is turned to in each direction [0.1 deg]; halfway between it is told apart."""

Pose = tuple[int, ...]
"""The words of a pose block: positions, torques, LEDs, time."""


def poses_of_recording(program: Program) -> tuple[Pose, ...]:
    """Return the pose blocks that a program writes, in the order of its file."""
    start = memory_map()["position"].address
    blocks = (node.values for node in program.nodes if node.op is Op.MEM_W and node.address == start)
    return tuple(block for block in blocks if len(block) == POSE_WORDS)


def one_pattern(poses: Iterable[Pose]) -> Program:
    """Return a program of Robi 2's scheme: the motion, whatever the posture."""
    return linked("\n".join(["motion:", *_motion(poses)]))


def nine_patterns(poses: Iterable[Pose]) -> Program:
    """Return a program of Robi 1's scheme: a motion for each posture and direction of the face."""
    poses, among = tuple(poses), (Posture.STANDING, Posture.SITTING, Posture.CHAIR)
    face = f"measured of ID {FACE_ID}"
    lines = [_jump("posture", int(one), "eq", one.word) for one in among[1:]]
    for posture in among:
        lines += [f"{posture.word}:"]
        lines += [_jump(face, FACE_WORDS["left"] // 2, "gt", f"{posture.word}_left")]
        lines += [_jump(face, FACE_WORDS["right"] // 2, "lt", f"{posture.word}_right")]
        for to in FACE_WORDS:
            lines += [f"{posture.word}_{to}:", *_motion(_variant(pose, posture, to) for pose in poses)]
    return linked("\n".join(lines))


def _motion(poses: Iterable[Pose]) -> Iterator[str]:
    for pose in poses:
        yield f"mem_w 2 position of ID 1 = {', '.join(map(str, pose))}\ncall wait"
    yield "return"


def _jump(word: str, number: int, test: str, label: str) -> str:
    """Return lines that jump where a word of the memory, compared with a number, is so."""
    return f"calc\nmem_r 2 {word}\nconst {number}\nsub\n{test}\njump {label}\nendcalc"


def _variant(pose: Pose, posture: Posture, face: str) -> Pose:
    """Return a pose as it is written for a posture and a direction: what is mapped stays as it is there."""
    found, known, words = postures(), memory_map(), list(pose)
    idle = found.words(found.idle[posture.word].pose)
    for number in found.mapped_ids(posture):
        torque = known["mapped_torque_legs" if number in LEGS else "mapped_torque_upper"].initial
        words[2 * number - 2 : 2 * number] = idle.get(number, 0) & 0xFFFF, torque
    words[2 * FACE_ID - 2] = (words[2 * FACE_ID - 2] + FACE_WORDS[face]) & 0xFFFF
    return tuple(words)
