"""Cheap problems to tune: a bowl, a curved valley, cliffs, whole numbers, and some that go wrong."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from posewright.errors import InputError
from posewright.search import Dimension, Evaluation

from .worker_tasks import OddError

BOX = (
    Dimension("length_m", 0.0, 0.1, 0.08),
    Dimension("phase", -3.0, 3.0, 1.0),
    Dimension("lean", -9.0, 1.0, 1.0),
)
LOWEST = {"length_m": 0.03, "phase": -0.5, "lean": -2.0}


def bowl_height(values: Mapping[str, float], dimensions: tuple[Dimension, ...] = BOX) -> float:
    return sum(((values[one.name] - LOWEST[one.name]) / one.width) ** 2 for one in dimensions)


@dataclass(frozen=True)
class Bowl:
    """A round bowl, measured in the ranges; one of its dimensions starts at its bound."""

    dimensions: tuple[Dimension, ...] = BOX
    fingerprint: str = "bowl"
    pause_s: float = 0.0

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        time.sleep(self.pause_s)
        return Evaluation(
            bowl_height(values, self.dimensions), {"process": os.getpid()} if self.pause_s else {}
        )


@dataclass(frozen=True)
class Cliffs(Bowl):
    """A bowl where some candidates fall, one in so many is no number, and each says what it saw."""

    fingerprint: str = "cliffs"

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        if values["phase"] < -1.0 or math.sin(1e4 * values["lean"]) > 0.9:
            return Evaluation(math.inf, {"reason": 'fell über the "edge"\n', "tilt": math.inf})
        if math.sin(1e4 * values["phase"]) > 0.9:
            return Evaluation(math.nan)
        height = bowl_height(values)
        return Evaluation(height, {"speed": 1.0 / (0.1 + height), "steps": round(1e3 * height)})


@dataclass(frozen=True)
class Valley:
    """Rosenbrock's valley in four dimensions, its lowest point at one everywhere."""

    dimensions: tuple[Dimension, ...] = tuple(Dimension(f"x{k}", -2.0, 2.0, -1.0) for k in range(4))
    fingerprint: str = "valley"

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        x = list(values.values())
        terms = (100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in itertools.pairwise(x))
        return Evaluation(sum(terms))


@dataclass(frozen=True)
class Gears:
    """Two whole numbers and a length, lowest at 7, 40 (a bound) and 0.25; what is not whole is refused."""

    dimensions: tuple[Dimension, ...] = (
        Dimension("teeth", 0, 12, 2, is_whole=True),
        Dimension("turns", 1, 40, 3, is_whole=True),
        Dimension("length", 0.0, 1.0, 0.9),
    )
    fingerprint: str = "gears"

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        if not all(type(values[name]) is int for name in ("teeth", "turns")):
            raise InputError(f"not whole: {values}")
        off = (
            (values["teeth"] - 7) ** 2 / 10.0,
            (values["turns"] - 40) ** 2 / 100.0,
            (values["length"] - 0.25) ** 2,
        )
        return Evaluation(sum(off))


@dataclass(frozen=True)
class Breaking(Bowl):
    """A bowl that goes wrong, in its own way, where the phase is small; before that it is slow to answer."""

    fingerprint: str = "breaking"
    way: str = "raise"
    below: float = -0.5

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        if values["phase"] < self.below:
            if self.way == "raise":
                raise InputError("the leg does not reach", hint="a longer leg")
            if self.way == "odd":
                raise OddError("odd", 1)
            return None  # type: ignore[return-value]
        time.sleep(0.01)
        return super().evaluate(values)


@dataclass(frozen=True)
class Slow(Bowl):
    """A bowl that says when it begins, and then takes a minute; the start alone is quick."""

    fingerprint: str = "slow"
    begun: Path = Path("begun")

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        if values["phase"] != 1.0:
            (self.begun / str(os.getpid())).touch()
            time.sleep(60.0)
        return super().evaluate(values)
