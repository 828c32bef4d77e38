"""Streams of random numbers: each random part of a run has its own stream, derived from one seed by name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum

import numpy as np

from posewright.errors import UnknownNameError
from posewright.search.plan import MAX_SEED, require_seed


class Derivation(Enum):
    """How streams are derived from a seed; a recording states which derivation its run used."""

    NAMED = "2026-12"
    """The field is drawn by the seed itself, everything else by a child of its `SeedSequence` with a name."""
    SHARED = "2026-11"
    """As until November 2026: field, bodies and the first robot's program used the same seed."""


_SHARED_SEED_STEP = 1_000_003
"""Difference between the seeds of the robots of one run, with `Derivation.SHARED`."""


def read_derivation(name: str) -> Derivation:
    """Return the derivation of a name.

    Raises:
        UnknownNameError: there is none.
    """
    derivations = {derivation.value: derivation for derivation in Derivation}
    if name not in derivations:
        raise UnknownNameError.among("version of the random streams", name, derivations)
    return derivations[name]


@dataclass(frozen=True, slots=True)
class Streams:
    """The random streams of one run.

    Attributes:
        seed: the seed of all of them, 0 to 2^63 - 1.
        derivation: how they are derived from it.
    """

    seed: int
    derivation: Derivation = Derivation.NAMED

    def __post_init__(self) -> None:
        require_seed(self.seed)

    @property
    def field(self) -> int:
        """The seed of the field: `random_layout` with the same seed returns the layout of the run."""
        return self.seed

    @property
    def body(self) -> int:
        """The seed of the domain parameters, by which bodies differ from their models."""
        return self.seed if self.derivation is Derivation.SHARED else self._number("body")

    def noise(self, robot: str, index: int) -> int:
        """Return the seed of the sensor noise of a robot.

        Args:
            robot: its name.
            index: the index of the robot in the run, from 0.
        """
        return self._shared(index) if self.derivation is Derivation.SHARED else self._number(f"noise/{robot}")

    def chance_seed(self, robot: str, index: int) -> int | np.random.SeedSequence:
        """Return the seed of the random numbers of a robot's program; arguments as for `noise`."""
        return self._shared(index) if self.derivation is Derivation.SHARED else self._child(f"chance/{robot}")

    def _child(self, name: str) -> np.random.SeedSequence:
        """Return the stream of a name: a child of the seed's sequence that differs for every name."""
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
        return np.random.SeedSequence(self.seed, spawn_key=(key,))

    def _number(self, name: str) -> int:
        """Return the stream of a name as an integer, which can be stored and sent."""
        return int(self._child(name).generate_state(1, np.uint64)[0]) & MAX_SEED

    def _shared(self, index: int) -> int:
        return (self.seed + index * _SHARED_SEED_STEP) % (MAX_SEED + 1)
