"""A case: one of the ways in which a tick can go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from posewright.charts.machine import CompoundTransition, Snapshot
from posewright.charts.types import Value
from posewright.errors import PosewrightError


@dataclass(frozen=True, eq=False)
class SymbolicStep:
    """One of the ways in which a tick can go: the inputs it stands for all do the same.

    Attributes:
        inputs: of these, the plainest: every input, and every event as true or false; ready to step with.
        after: where the chart stands after these inputs; None where the tick fails.
        taken: ways that are taken, in order.
        raised: events that are raised inside, in order.
        error: why the tick fails: a division by zero, or no end to it.
        answers: what the watched conditions are after the tick, in their order; none where it fails.
    """

    inputs: Mapping[str, Value]
    after: Snapshot | None
    taken: tuple[CompoundTransition, ...]
    raised: tuple[str, ...] = ()
    error: PosewrightError | None = None
    answers: tuple[bool, ...] = ()
