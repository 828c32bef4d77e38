"""How much something does, counted in calls: the same on every machine, however busy it is."""

from __future__ import annotations

import sys


class Calls:
    """Counts the calls of functions, of Python and of C, that this thread makes in a `with`.

    Attributes:
        count: so many; it depends a little on the versions of Python and of the libraries.
    """

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Calls:
        self._before = sys.getprofile()
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _see(self, _frame: object, event: str, _argument: object) -> None:
        self.count += event in ("call", "c_call")
