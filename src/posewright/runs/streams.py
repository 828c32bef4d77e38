"""Streams of random numbers: everything a run draws by chance has one of its own, by name, from one seed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum

import numpy as np

from posewright.search.plan import MAX_SEED, require_seed


class Derivation(Enum):
    """How streams are made from a seed; a recording says which one its run used."""

    NAMED = "2026-12"
    """The field is drawn from the seed itself, everything else from a child of its `SeedSequence` by name."""
    SHARED = "2026-11"
    """As until November 2026: field, bodies and the first robot's chance all began from the same seed."""


_APART = 1_000_003
"""Until November 2026 the seeds of the robots of one run lay so far apart."""


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams of one run.

    Attributes:
        seed: of all of them, 0 to 2^63 - 1.
        derivation: how they follow from it.
    """

    seed: int
    derivation: Derivation = Derivation.NAMED

    def __post_init__(self) -> None:
        require_seed(self.seed)

    @property
    def field(self) -> int:
        """The seed of the field: `random_layout` of the same seed is what a run lays out."""
        return self.seed

    @property
    def body(self) -> int:
        """The seed of how the robots' bodies differ from their models."""
        return self.seed if self.derivation is Derivation.SHARED else self._number("body")

    def noise(self, robot: str, place: int) -> int:
        """Return the seed of the noise of a robot's sensors; `place` counts the robots of a run from 0."""
        return self._shared(place) if self.derivation is Derivation.SHARED else self._number(f"noise/{robot}")

    def chance(self, robot: str, place: int) -> int | np.random.SeedSequence:
        """Return the seed of what a robot's program draws by chance."""
        return self._shared(place) if self.derivation is Derivation.SHARED else self._child(f"chance/{robot}")

    def _child(self, name: str) -> np.random.SeedSequence:
        """Return the stream of a name: a child that neither the seed itself nor another name leads to."""
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
        return np.random.SeedSequence(self.seed, spawn_key=(key,))

    def _number(self, name: str) -> int:
        """Return a stream as a whole number that a file or another machine can carry."""
        return int(self._child(name).generate_state(1, np.uint64)[0]) & MAX_SEED

    def _shared(self, place: int) -> int:
        return (self.seed + place * _APART) % (MAX_SEED + 1)
