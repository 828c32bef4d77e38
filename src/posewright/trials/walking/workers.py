"""Who walks the bodies: this process alone, or several processes beside it."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from posewright.bodies import BodyVariation
from posewright.errors import UnavailableError
from posewright.gaits.gait import Gait
from posewright.robots import Robot
from posewright.trials.walking.report import GaitReport
from posewright.trials.walking.stage import walking_world
from posewright.trials.walking.trial import Schedule, walk_gait

if TYPE_CHECKING:
    from posewright.simulation import World


class Walked(NamedTuple):
    """What is told of one body's walk.

    Attributes:
        report: every figure.
        simulated_s: how long it walked, settling included [s].
        held_joints: that were welded.
    """

    report: GaitReport
    simulated_s: float
    held_joints: tuple[str, ...]


Drawn = tuple[BodyVariation, int]
"""A body and its seed."""


@dataclass(frozen=True, eq=False)
class Walker:
    """Walks one body after the other in one world; it can be handed to another process.

    Attributes:
        gait: what is walked.
        robot: who walks.
        command: as of `walk_gait`.
        seconds: for so long each is measured [s].
        settle_s: for so long each walks before [s].
    """

    gait: Gait
    robot: Robot
    command: Schedule
    seconds: float
    settle_s: float
    _worlds: list[World] = field(default_factory=list, init=False, repr=False)

    def walk(self, variation: BodyVariation, seed: int) -> Walked:
        """Walk one body."""
        if not self._worlds:
            self._worlds.append(walking_world(self.gait, self.robot))
        trial = walk_gait(
            self.gait,
            self.robot,
            self.command,
            seconds=self.seconds,
            settle_s=self.settle_s,
            variation=variation,
            seed=seed,
            world=self._worlds[0],
        )
        return Walked(trial.report, trial.simulated_s, trial.track.held_joints)


def walked(walker: Walker, drawn: Sequence[Drawn], workers: int) -> Iterator[Walked]:
    """Yield what became of each body, in their order.

    Raises:
        UnavailableError: a worker process ended before its body was done.
    """
    if workers == 1:
        yield from (walker.walk(*one) for one in drawn)
        return
    spawning = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(workers, len(drawn)), spawning, _employ, (walker,))
    try:
        yield from pool.map(_walk, drawn)
    except BrokenProcessPool as error:
        raise UnavailableError(
            "a worker process ended before its body was done",
            hint="if it never begins: a script that walks many stands under `if __name__ == '__main__':`",
        ) from error
    except BaseException:  # Ctrl-C, an error of one body, or nobody wants the rest: no worker walks on
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


_EMPLOYED: list[Walker] = []
"""The walker of a worker process, which has one; empty in any other."""


def _employ(walker: Walker) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends a worker through the process that employs it
    _EMPLOYED[:] = [walker]


def _walk(drawn: Drawn) -> Walked:
    return _EMPLOYED[0].walk(*drawn)
