"""What became of a promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from posewright.charts.model import Promise
from posewright.charts.types import Value


class CheckStatus(Enum):
    """Whether a promise is kept."""

    PROVED = "proved"
    BROKEN = "broken"
    BOUNDED = "bounded"


@dataclass(frozen=True)
class PromiseResult:
    """What became of a promise.

    Attributes:
        verdict: proved for every run; broken by the trace; or not broken as far as was looked.
        trace: of a broken promise, the shortest rows of inputs from the very start after which it is.
        depth: ticks from the start: of a broken promise the length of the trace; of a bounded one, those up
            to which every run was looked at, 0 where some inputs were left out from the start.
        message: all that in words.
        state: of a broken promise, the states active after the trace.
    """

    promise: Promise
    verdict: CheckStatus
    trace: tuple[Mapping[str, Value], ...]
    depth: int
    message: str
    state: str = ""
