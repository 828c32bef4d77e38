"""Names of an SCXML document to names of a chart: letters, digits and `_`, each name once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import count

from posewright.charts.model import MAX_NAME, RESERVED

MAX_STATE_NAME = MAX_NAME - 1
SUFFIX = 16
"""Room for what tells two names apart."""

_OTHER = re.compile(r"[^A-Za-z0-9_]+")


class Names:
    """Gives out names, each of them once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def take(self, wanted: str, sort: str) -> str:
        """Return a name of a variable, a value or an event, as like `wanted` as may be.

        Args:
            wanted: what the document calls it.
            sort: is put behind it where the name is taken, or a word of our language.
        """
        name = _OTHER.sub("_", wanted)[:MAX_NAME] or sort
        if name[0].isdigit():
            name = f"{sort}_{name}"[:MAX_NAME]
        return self._free(name, f"{name[: MAX_NAME - SUFFIX]}_{sort}", RESERVED)

    def take_state(self, wanted: str) -> str:
        """Return a name of a state: it may begin with a digit and be a word of the language."""
        name = _OTHER.sub("_", wanted)[:MAX_STATE_NAME] or "state"
        return self._free(name, f"{name[: MAX_NAME - SUFFIX]}_2", ())

    def _free(self, name: str, instead: str, refused: Collection[str]) -> str:
        """Return `name`, or `instead`, or the latter with a number: the first that may be given out."""
        found, number = name, count(2)
        while found in self.taken or found.lower() in refused:
            found, instead = instead, f"{instead.rstrip('0123456789').rstrip('_')}_{next(number)}"
        self.taken.add(found)
        return found
