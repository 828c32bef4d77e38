"""MoveLegs: three commands, and a dog that stays on its feet."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.bodies import MockBody
from posewright.errors import InputError
from posewright.recordings.falls import tilt
from posewright.runs import perform
from posewright.runtimes.openr import read_connect
from posewright.runtimes.openr.programs import program

from .playing import DOG, STAND, RunLog, make_program, play

IDLE, LYING_FIRST = "IDLE", "LY_TO_ST"
POSES = {"MOVE_ST": "stand", "MOVE_SI": "sit", "MOVE_LY": "sleep"}
LEGS = [DOG.index(joint) for joint in DOG.groups["legs"]]
HEIGHTS_M = {"MOVE_ST": 0.149, "MOVE_SI": 0.098, "MOVE_LY": 0.052}
LEANS_DEG = 50.0
"""A dog that sits leans by 37 degrees, while it sits down by 45 at most; one that falls by 80 or more."""
STATES = (IDLE, LYING_FIRST, *POSES)


def legs_of(pose: str) -> list[int]:
    return [int(angle * 1e6) for angle in DOG.pose(pose)[LEGS]]


@pytest.mark.parametrize(("start", "command"), list(product(DOG.poses, POSES)))
def test_a_posture_is_reached_from_every_pose_of_the_card(start: str, command: str) -> None:
    played = play("move_legs", f"{command}@0", 5.0, start)
    over = command == "MOVE_ST" and start in DOG.up_through
    ways = [LYING_FIRST, command] if over else [command]
    times = [round(0.0 + 2.048 * k, 3) for k in range(len(ways) + 1)]
    assert played.states("MoveLegs") == [(0.0, IDLE), *zip(times, [*ways, IDLE], strict=True)]
    assert played.frames[-1, LEGS].tolist() == legs_of(POSES[command])
    assert played.frames[256 * len(ways) - 1, LEGS].tolist() == legs_of(POSES[command])
    if over:
        assert played.frames[255, LEGS].tolist() == legs_of(DOG.up_through[start])
    assert (np.delete(played.frames, LEGS, axis=1) == np.delete(np.rint(DOG.pose(start) * 1e6), LEGS)).all()
    changes = np.abs(np.diff(played.frames, axis=0)).max(axis=0) / 1e6
    assert (changes <= DOG.max_speeds * DOG.frame_period_s).all()


def begun(state: str) -> tuple[str, str]:
    """Return the pose to start in and the command that leads into a state."""
    if state == LYING_FIRST:
        return "sit", "MOVE_ST@0, "
    return "stand", "" if state == IDLE else f"{state}@0, "


@cache
def without(state: str) -> RunLog:
    pose, script = begun(state)
    return play("move_legs", script, 5.0, pose)


@pytest.mark.parametrize(("state", "command"), list(product(STATES, POSES)))
def test_every_command_in_every_state(state: str, command: str) -> None:
    pose, script = begun(state)
    played, alone = play("move_legs", f"{script}{command}@0.504", 5.0, pose), without(state)
    # a motion that nothing stops is answered at its end: what is sent before waits until then
    end_s = {IDLE: 0.504, LYING_FIRST: 4.096}.get(state, 2.048)
    assert end_s in played.acknowledged("MoveLegs.ReceiveCommand") or state == IDLE
    assert played.events("refused") == []
    assert played.events("silent") == []
    begun_s = [time_s for time_s, name in played.states("MoveLegs") if name in (command, LYING_FIRST)]
    assert end_s in begun_s
    n_frames = round(end_s / 0.008)
    assert (played.frames[:n_frames] == alone.frames[:n_frames]).all()


def test_two_runs_are_alike_to_the_last_bit() -> None:
    first, second = (play("move_legs", "MOVE_ST@0, MOVE_LY@1, MOVE_SI@5", 8.0, "sit") for _ in range(2))
    assert (first.frames == second.frames).all()
    assert first.recording.events == second.recording.events


def test_head_and_legs_move_at_once_and_neither_knows_of_the_other() -> None:
    lines = [str(line) for name in ("move_head", "move_legs") for line in program(name).config.lines]
    both = play(read_connect("\n".join(lines)), "MOVE_FP@0.2, MOVE_SI@0.6, MOVE_BP@3", 6.0)
    head = play("move_head", "MOVE_FP@0.2, MOVE_BP@3", 6.0)
    legs = play("move_legs", "MOVE_SI@0.6", 6.0)
    assert (both.frames[:, :3] == head.frames[:, :3]).all()
    assert (both.frames[:, LEGS] == legs.frames[:, LEGS]).all()


def simulated(script: str, pose: str, until_s: float) -> Floats:
    """Return where the base of a simulated dog was, `(n, 7)`."""
    controller = make_program("move_legs", script, pose=pose).controller()
    return perform(controller, DOG, name="openr", until_s=until_s, pose=pose).robot().base


@pytest.mark.parametrize(("start", "command"), list(product(DOG.poses, POSES)))
def test_a_simulated_dog_stays_up_from_every_pose_of_the_card(start: str, command: str) -> None:
    base = simulated(f"{command}@0.4", start, 5.5)
    assert np.degrees(tilt(base)).max() < LEANS_DEG
    assert base[-1, 2] == pytest.approx(HEIGHTS_M[command], abs=0.003)


def test_a_simulated_dog_stays_up_in_a_chain_of_postures() -> None:
    script = "MOVE_ST@0, MOVE_LY@4.5, MOVE_SI@7, MOVE_LY@9.5, MOVE_ST@12, MOVE_SI@14.5, MOVE_ST@17"
    base = simulated(script, "sit", 21.5)
    assert np.degrees(tilt(base)).max() < LEANS_DEG
    heights = [float(base[round(time_s / 0.008), 2]) for time_s in (4.4, 6.9, 9.4, 11.9, 14.4, 16.9, 21.4)]
    expected = [HEIGHTS_M["MOVE_" + posture] for posture in ("ST", "LY", "SI", "LY", "ST", "SI", "ST")]
    assert heights == pytest.approx(expected, abs=0.003)


def test_a_robot_without_these_joints_is_refused() -> None:
    legless = replace(DOG, groups={name: one for name, one in DOG.groups.items() if name != "legs"})
    controller = make_program("move_legs", robot=legless).controller()
    with pytest.raises(InputError, match="cannot run MoveLegs"):
        controller.next(MockBody(legless, positions=STAND).read(), 1)
