"""Two ways to have a behaviour in several postures: Robi 1's nine patterns, and Robi 2's one and its mapping.

A program of Robi 1 holds a motion for each posture and each direction the face is turned to, up to nine. One
of Robi 2 holds a single one, written for standing and facing front; what must not move is mapped. The notes
say so; how a Robi 1 tells its directions apart is ours, and so are the programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.runtimes.robi.listing import assemble
from posewright.runtimes.robi.memory import memory_map
from posewright.runtimes.robi.postures import LEGS, Posture, postures
from posewright.runtimes.robi.program import Op
from posewright.runtimes.robi.programs import linked, program
from posewright.runtimes.robi.rm4 import Program

POSE_WORDS = 64
"""The pose block, 128 bytes."""

FACE_ID = 13
FACE_WORDS: Mapping[str, int] = {"left": 450, "front": 0, "right": -450}
"""Ours: where the neck is turned to in each direction [0.1 deg]; halfway between it is told apart."""

POSTURES = (Posture.STANDING, Posture.SITTING, Posture.CHAIR)
SHARED = ("map_sitting", "map_legs", "unmap")
"""What a Robi 2 has once for all its behaviours."""

SHIPPED = ("dance", "explain_ride")
"""Behaviours that come with Posewright."""

Pose = tuple[int, ...]
"""The words of a pose block: positions, torques, LEDs, time."""


@dataclass(frozen=True, slots=True)
class Size:
    """What one scheme needs for a behaviour; `behaviour` is empty for what all share."""

    scheme: str
    behaviour: str
    motions: int
    n_bytes: int


def poses_of(program: Program) -> tuple[Pose, ...]:
    """Return the pose blocks that a program writes, in the order of its file."""
    start = memory_map()["position"].address
    return tuple(
        node.values
        for node in program.nodes
        if node.op is Op.MEM_W and node.address == start and len(node.values) == POSE_WORDS
    )


def one_pattern(poses: Iterable[Pose]) -> Program:
    """Return a program of Robi 2's scheme: the motion, whatever the posture."""
    return assemble(linked("\n".join(["motion:", *_motion(poses)])))


def nine_patterns(poses: Iterable[Pose]) -> Program:
    """Return a program of Robi 1's scheme: a motion for each posture and direction of the face."""
    poses = tuple(poses)
    known = memory_map()
    lines = ["motion:"]
    for posture in POSTURES[1:]:
        lines += _test(known["posture"].at(), int(posture), "eq", posture.word)
    for posture in POSTURES:
        lines += [f"{posture.word}:", *_by_face(posture)]
        for face in ("front", "left", "right"):
            lines += [f"{posture.word}_{face}:", *_motion(_variant(pose, posture, face) for pose in poses)]
    return assemble(linked("\n".join(lines)))


def compare(behaviours: Mapping[str, Program] | None = None) -> tuple[Size, ...]:
    """Return what both schemes need for the same behaviours, the two that ship unless others are given.

    Raises:
        InputError: a program has no pose block.
    """
    if behaviours is None:
        behaviours = {name: program(name) for name in SHIPPED}
    sizes = [Size("Robi 2", "", 0, sum(program(name).n_bytes for name in SHARED))]
    for name, written in behaviours.items():
        poses = poses_of(written)
        if not poses:
            raise InputError(f"{name} has no pose", hint=f"a pose is {POSE_WORDS} words from 0x0a00 on")
        for scheme, made, motions in (
            ("Robi 1", nine_patterns(poses), len(POSTURES) * len(FACE_WORDS)),
            ("Robi 2", one_pattern(poses), 1),
        ):
            sizes.append(Size(scheme, name, motions, made.n_bytes))
    return tuple(sizes)


def _motion(poses: Iterable[Pose]) -> Iterator[str]:
    start = memory_map()["position"].address
    for pose in poses:
        yield f"    mem_w 2 {start:#06x} = {', '.join(f'{word:#06x}' for word in pose)}"
        yield "    call wait"
    yield "    return"


def _test(address: int, number: int, test: str, label: str) -> list[str]:
    """Return the lines that jump where what stands at an address is so, compared with a number."""
    return [
        *("    calc", f"      mem_r 2 {address:#06x}", f"      const {number}"),
        *("      sub", f"      {test}", f"      jump {label}", "    endcalc"),
    ]


def _by_face(posture: Posture) -> list[str]:
    measured = memory_map()["measured"].at(FACE_ID)
    return [
        *_test(measured, FACE_WORDS["left"] // 2, "gt", f"{posture.word}_left"),
        *_test(measured, FACE_WORDS["right"] // 2, "lt", f"{posture.word}_right"),
    ]


def _variant(pose: Pose, posture: Posture, face: str) -> Pose:
    """Return a pose as it is written for a posture and a direction: what is mapped stays as it is there."""
    found, known, words = postures(), memory_map(), list(pose)
    at = {number: 2 * (number - 1) for number in range(1, known["position"].count + 1)}
    idle = found.words(found.idle[posture.word].pose)
    for number in found.mapped_ids(posture):
        torque = known["mapped_torque_legs" if number in LEGS else "mapped_torque_upper"].initial
        words[at[number] : at[number] + 2] = idle.get(number, 0) & 0xFFFF, torque
    words[at[FACE_ID]] = (words[at[FACE_ID]] + FACE_WORDS[face]) & 0xFFFF
    return tuple(words)
