"""Lazy packages: what a package offers is imported when it is first used.

A package lists what it offers once, for type checkers, and here the same lines are read:

```python
if TYPE_CHECKING:
    from posewright.charts.chart import Chart as Chart
    from posewright.charts.equivalence import equivalent
    compare_charts = equivalent                     # offered under another name
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
```
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """A package in which what it offers is found before a module of the same name: `drive` of `drive.py`."""

    _offered: frozenset[str]

    def __setattr__(self, name: str, value: Any) -> None:
        is_a_module_of_it = isinstance(value, ModuleType) and name in self._offered
        if not is_a_module_of_it:  # which importing it would set here
            super().__setattr__(name, value)


def lazy(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package that lists its names as above."""
    module = sys.modules[package]
    places = _places(module.__spec__.loader.get_source(package))  # type: ignore[union-attr]  # of a module at hand
    names = sorted(places)
    module.__class__ = _Package
    module.__dict__["_offered"] = frozenset(names)

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        room, attribute = places[name]
        value = getattr(importlib.import_module(room), attribute)
        setattr(module, name, value)
        return value

    return load, lambda: sorted({*vars(module), *names}), names


def _places(source: str) -> dict[str, tuple[str, str]]:
    """Return module and name there of each name that the source of a package offers."""
    offered: dict[str, tuple[str, str]] = {}
    imported: dict[str, tuple[str, str]] = {}
    listed = source.partition("\nif TYPE_CHECKING:\n")[2].partition("\nelse:\n")[0]
    listed = re.sub(r"\(([^)]*?),?\s*\)", lambda found: " ".join(found[1].split()), listed)  # in brackets
    for line in listed.splitlines():
        match line.split():
            case ["from", room, "import", name, "as", _]:
                offered[name] = room, name
            case ["from", room, "import", *names]:
                imported |= {name.rstrip(","): (room, name.rstrip(",")) for name in names}
            case [name, "=", other]:
                offered[name] = imported[other]
    return offered
