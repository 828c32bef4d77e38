"""Cases: tried by computing what is claimed, looked for nearby, made plain before anybody sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product

from posewright.charts.proof.claim import Claim
from posewright.charts.proof.values import fitted, likely_values, plainer_values, values_around
from posewright.charts.types import FloatType, Type, Value

MAX_NEIGHBOURS = 243
MAX_GUESSES = 1000
"""Cases that are tried around one, and of likely values."""

Case = dict[str, Value]


class Trial:
    """Tries cases of a few claims.

    Attributes:
        types: of the names that a case has a value for, in the order in which they were declared.
    """

    def __init__(self, claims: Sequence[Claim], types: Mapping[str, Type]) -> None:
        read = frozenset[str]().union(*(claim.names for claim in claims))
        self.claims = claims
        self.types = {name: kind for name, kind in types.items() if name in read}

    @property
    def zero(self) -> Case:
        """The plainest case there is."""
        return {name: kind.zero for name, kind in self.types.items()}

    def holds(self, case: Mapping[str, Value]) -> bool:
        """Return whether all that is claimed is so in a case."""
        return all(claim.seen(case) for claim in self.claims)

    def filled(self, case: Mapping[str, Value]) -> Case:
        """Return a case with a value for every name, one of its type."""
        return {name: fitted(kind, case.get(name, kind.zero)) for name, kind in self.types.items()}

    def near(self, case: Mapping[str, Value]) -> Case | None:
        """Return the case, or one with fractions next to its own, in which all claims are so, if any."""
        full = self.filled(case)
        if self.holds(full):
            return full
        steps = self._steps
        axes = (list(values_around(kind, full[name], steps)) for name, kind in self.types.items())
        return self._first(axes, MAX_NEIGHBOURS)

    @property
    def _steps(self) -> int:
        """How far from a fraction is looked: far for one fraction, less so where there are several."""
        count = sum(isinstance(kind, FloatType) for kind in self.types.values())
        return max(1, (round(MAX_NEIGHBOURS ** (1 / count)) - 1) // 2) if count else 0

    def guessed(self, numbers: Sequence[float]) -> Case | None:
        """Return a case of likely values, `numbers` among them, in which all claims are so, if any."""
        return self._first((likely_values(kind, numbers) for kind in self.types.values()), MAX_GUESSES)

    def _first(self, axes: Iterable[list[Value]], limit: int) -> Case | None:
        for values in islice(product(*axes), limit):
            found = dict(zip(self.types, values, strict=True))
            if self.holds(found):
                return found
        return None

    def plain(self, case: Mapping[str, Value]) -> Case:
        """Return a case with plainer values, name by name, in which all claims still are so."""
        found = dict(case)
        for name, kind in self.types.items():
            others = ({**found, name: value} for value in plainer_values(kind, found[name]))
            found = next((other for other in others if self.holds(other)), found)
        return found
