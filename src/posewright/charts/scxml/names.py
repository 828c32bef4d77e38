"""Names of an SCXML document to names of a chart: letters, digits and `_`, each name once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, count

from posewright.charts.declarations import MAX_NAME, RESERVED

_OTHER = re.compile(r"[^A-Za-z0-9_]+")


class Names:
    """Gives out names, each of them once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def take(self, wanted: str, sort: str) -> str:
        """Return a name of a variable, a value or an event, as like `wanted` as may be.

        Args:
            wanted: what the document calls it.
            sort: is put behind it where the name is taken.
        """
        name = _OTHER.sub("_", wanted)[: MAX_NAME - 10] or sort
        if not (name[0].isalpha() or name[0] == "_"):
            name = f"{sort}_{name}"
        return self._free(name, f"{name}_{sort}")

    def take_state(self, wanted: str) -> str:
        """Return a name of a state: it may begin with a digit and be a word of the language."""
        name = _OTHER.sub("_", wanted)[: MAX_NAME - 10] or "state"
        return self._free(name, name)

    def _free(self, name: str, instead: str) -> str:
        names = chain((name, instead), (f"{instead}_{number}" for number in count(2)))
        found = next(one for one in names if one not in self.taken and one.lower() not in RESERVED)
        self.taken.add(found)
        return found
