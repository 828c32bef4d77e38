"""A scenario is told like a story; it gives the blocks a referee sees and the recording a judge reads.

The robot is two soles of 10 x 6 cm under a base at 0.25 m; while it walks, its one joint swings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import pytest
from tests.contests.stories import quaternions, soles

from posewright.arenas import arena
from posewright.bodies import BodyState, GroundTruth, JointCommands, JointStates
from posewright.contests import rules
from posewright.control import Block
from posewright.recordings import Event, Header, Recorder, Recording, RobotHeader

FRAME_S = 1.0 / 128.0


@dataclass(frozen=True)
class FakePlant:
    """A plant with one body in its state before the first frame."""

    states: JointStates
    frame_period_s = 1.0 / 32.0

    @property
    def bodies(self) -> dict[str, FakePlant]:
        return {"soles": self}

    def open(self) -> None:
        """It was never closed."""

    def observe(self) -> JointStates:
        return self.states


class Scenario:
    """Stand, walk, turn, fall, push a box; one thing after another."""

    def __init__(self, boxes: tuple[tuple[float, float], ...] = ()) -> None:
        self.boxes = boxes
        self.events: list[Event] = []
        self._at = [0.25, 0.0, 0.0, 0.0]  # x, y, yaw, pitch of the base
        self._poses: list[np.ndarray] = []
        self._joint: list[np.ndarray] = []
        self._box_places = [np.array(boxes, dtype=float).reshape(-1, 2)]
        self._box_rows: list[np.ndarray] = []
        self._contacts: list[np.ndarray] = []

    @property
    def now_s(self) -> float:
        return sum(map(len, self._poses)) * FRAME_S

    def _go(
        self,
        seconds: float,
        to: list[float],
        *,
        swing: float = 0.0,
        push: dict[int, tuple[float, float]] | None = None,
        touching: int | None = None,
    ) -> Self:
        n = round(seconds / FRAME_S)
        shares = np.linspace(0.0, 1.0, n + 1)[1:, None]
        self._poses.append(np.array(self._at) + shares * (np.array(to) - np.array(self._at)))
        self._joint.append(swing * np.sin(np.arange(1, n + 1) * FRAME_S * 4.0))
        old = self._box_places[-1]
        new = old.copy()
        for box, place in (push or {}).items():
            new[box] = place
        self._box_places.append(new)
        self._box_rows.append(old + shares[:, :, None] * (new - old))
        contacts = np.zeros((n, len(self.boxes)), dtype=bool)
        if touching is not None:
            contacts[:, touching] = True
        self._contacts.append(contacts)
        self._at = list(to)
        return self

    def stand(self, seconds: float) -> Self:
        return self._go(seconds, self._at)

    def fidget(self, seconds: float) -> Self:
        return self._go(seconds, self._at, swing=0.3)

    def walk(
        self, x: float, y: float | None = None, *, seconds: float, touching: int | None = None,
        push: dict[int, tuple[float, float]] | None = None,
    ) -> Self:  # fmt: skip
        to = [x, self._at[1] if y is None else y, *self._at[2:]]
        return self._go(seconds, to, swing=0.3, touching=touching, push=push)

    def turn(self, yaw: float, *, seconds: float) -> Self:
        return self._go(seconds, [*self._at[:2], yaw, 0.0], swing=0.3)

    def fall(self, seconds: float = 1.0, push: dict[int, tuple[float, float]] | None = None) -> Self:
        """Fall on the nose within a fifth of a second and lie there."""
        self._go(0.2, [*self._at[:3], math.pi / 2], push=push)
        return self.stand(seconds - 0.2)

    def put_back(self, *, moved_x: float = 0.0) -> Self:
        self._at = [self._at[0] + moved_x, *self._at[1:3], 0.0]
        return self

    def touch(self, reason: str, **data: object) -> Self:
        self.events.append(Event(self.now_s, "touch", {"reason": reason, **data}))
        return self

    def note(self, kind: str, **data: object) -> Self:
        self.events.append(Event(self.now_s, kind, data))
        return self

    def states(self) -> tuple[JointStates, np.ndarray]:
        """Return all frames at once, and the commands."""
        poses = np.concatenate(self._poses)
        joint = np.concatenate(self._joint)[:, None]
        n, (x, y, yaw, pitch) = len(poses), poses.T
        boxes = np.zeros((n, len(self.boxes), 7))
        boxes[..., :2], boxes[..., 2], boxes[..., 3] = np.concatenate(self._box_rows), 0.25, 1.0
        world = GroundTruth(
            base=np.column_stack([x, y, 0.25 * np.cos(pitch), quaternions(0.0 * yaw, pitch, yaw)]),
            footprints=soles(x, y, 0.0 * x, yaw),
            foot_contacts=np.ones((n, 2), dtype=bool),
            boxes=boxes,
            box_contacts=np.concatenate(self._contacts),
        )
        times = np.arange(1, n + 1) * FRAME_S
        return JointStates(times, joint, np.zeros_like(joint), world), joint

    def blocks(self) -> Iterator[Block]:
        """Cut it as a loop with a chart of 0.1 s does: 12 or 13 frames a block."""
        states, commands = self.states()
        edges = np.ceil(np.arange(0.0, self.now_s + 0.1, 0.1) / FRAME_S - 1e-9).astype(int)
        for low, high in zip(edges, [*edges[1:], len(states)], strict=True):
            if low < min(high, len(states)):
                yield block_of(_cut(states, slice(low, high)), commands[low:high])

    def header(self) -> Header:
        return Header(
            robots={"soles": RobotHeader("soles", "", ("swing",), ("right_foot", "left_foot"))},
            contest="ceabot_2013/obstacle_race",
            arena=arena(rules().arena).to_dict(),
            boxes=tuple((x, y, 0.0) for x, y in self.boxes),
            documents={"obstacle_race.rules.yaml": rules().text},
        )

    def recorder(self) -> Recorder:
        states, _ = self.states()
        return Recorder(self.header(), FakePlant(_cut(states, slice(0, 1))))  # type: ignore[arg-type]  # all that a recorder needs

    def recording(self) -> Recording:
        recorder = self.recorder()
        states, commands = self.states()
        recorder.watch(block_of(states, commands))
        for event in self.events:
            recorder.note(event)
        return recorder.recording()


def block_of(states: JointStates, commands: np.ndarray) -> Block:
    """Return what a loop would tell of some frames."""
    joint_commands = JointCommands(commands)
    n = np.zeros(1)
    state = BodyState(float(states.times[0]) - FRAME_S, n, n, n, {})
    return Block("soles", state, joint_commands, joint_commands, states)


def _cut(states: JointStates, rows: slice) -> JointStates:
    world = states.truth
    assert world is not None
    names = ("base", "footprints", "foot_contacts", "boxes", "box_contacts")
    truth = GroundTruth(**{name: getattr(world, name)[rows] for name in names})
    return JointStates(states.times[rows], states.positions[rows], states.efforts[rows], truth)


@pytest.fixture
def scenario() -> Callable[..., Scenario]:
    """Give a story to be told."""
    return Scenario
