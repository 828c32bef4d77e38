"""The one loop that owns time: read, think, play, watch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posewright.behaviours.runner import BehaviourRunner, Tick
from posewright.bodies import Body, BodyState, Floats, JointCommands, JointStates
from posewright.control.player import Player
from posewright.control.safety import Intervention, Safety
from posewright.control.schedule import Schedule

SLACK_FRAMES = 1e-6
"""A time that misses a frame by less is that frame's: rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """What happened between two ticks, or in a part of it.

    Attributes:
        index: counted from 0.
        tick: the tick the block begins with; None where torque or stiffness changed between two ticks,
            which begins a block too.
        state: what the body said at the tick.
        frames: what was commanded, after safety.
        track: what the joints did.
        interventions: what safety changed.
    """

    index: int
    tick: Tick | None
    state: BodyState
    frames: JointCommands
    track: JointStates
    interventions: tuple[Intervention, ...] = ()


class Watcher(Protocol):
    """Someone who sees every block: a recorder, a referee, a progress line."""

    def watch(self, block: Block) -> bool:
        """See a block; return True to stop here."""
        ...


def perform(
    runner: BehaviourRunner,
    player: Player,
    body: Body,
    *,
    until_s: float,
    watchers: Sequence[Watcher] = (),
) -> None:
    """Let a body perform a behaviour.

    The chart's tick k falls due at the first frame at or after k periods from the beginning; in between
    the body plays frames. Nothing here looks at a clock: time is the body's.

    Args:
        runner: steps the behaviour.
        player: turns what the behaviour asks for into frames; the body stands in its pose.
        body: what is driven.
        until_s: the body's time to stop at [s].
        watchers: each sees every block; the loop stops after a block for which one says so.

    Raises:
        BodyError: the body does not answer.
        UnsafeCommandError: a command is not finite.
    """
    frame_s = body.robot.frame_period_s
    schedule = Schedule(runner.behaviour.chart.period_s, frame_s)
    frames_left = int((until_s - body.time_s) / frame_s + SLACK_FRAMES)
    stage = _Stage(player, body, Safety(body.robot), watchers)
    ticks = frame = 0
    while frame < frames_left:
        tick = stage.tick(runner)
        ticks += 1
        due = min(schedule.frame_of(ticks), frames_left)
        if stage.play(tick, due - frame):
            return
        frame = due


class _Stage:
    """Player, safety, body and watchers in a row, and what was commanded last."""

    def __init__(self, player: Player, body: Body, safety: Safety, watchers: Sequence[Watcher]) -> None:
        self._player, self._body, self._safety, self._watchers = player, body, safety, watchers
        self._last: Floats = player.command
        self._blocks = 0

    def tick(self, runner: BehaviourRunner) -> tuple[Tick, BodyState]:
        """Read the body, step the behaviour, and tell the player."""
        state = self._body.read()
        tick = runner.step(state, self._player.playing)
        self._player.request(tick.play)
        return tick, state

    def play(self, ticked: tuple[Tick, BodyState], n: int) -> bool:
        """Let n frames pass; return whether a watcher wants to stop."""
        tick: Tick | None
        tick, state = ticked
        while n > 0:
            safe = self._safety.filter(self._player.frames(n), self._last)
            track = self._body.play(safe.frames)
            self._remember(safe.frames, track)
            block = Block(self._blocks, tick, state, safe.frames, track, safe.interventions)
            self._blocks += 1
            stops = [watcher.watch(block) for watcher in self._watchers]
            if any(stops):
                return True
            n -= len(safe.frames)
            tick = None
        return False

    def _remember(self, frames: JointCommands, track: JointStates) -> None:
        """Note what was commanded last; what had no torque is taken on from where it really is."""
        self._last = frames.angles[-1]
        if frames.free is not None:
            self._player.follow(track.positions[-1], frames.free)
            self._last = np.where(frames.free, track.positions[-1], self._last)
