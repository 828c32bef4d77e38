"""How much something does, counted in calls: the same on every machine, however busy it is."""

from __future__ import annotations

from cProfile import Profile


class Calls:
    """Counts the calls of functions, of Python and of C, that this thread makes in a `with`.

    Attributes:
        count: so many; it depends a little on the versions of Python and of the libraries.
    """

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Calls:
        self._profile = Profile()
        self._profile.enable()
        return self

    def __exit__(self, *_: object) -> None:
        self._profile.disable()
        self.count = sum(entry.callcount for entry in self._profile.getstats())
