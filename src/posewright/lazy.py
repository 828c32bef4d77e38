"""Lazy packages: a name of a package is imported from its module when it is first used.

A package lists its names once, for type checkers, and `lazy` reads the same lines at run time:

```python
if TYPE_CHECKING:
    from posewright.charts.chart import Chart as Chart
    from posewright.charts.equivalence import equivalent
    compare_charts = equivalent                     # exported under another name
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
```
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class _LazyPackage(ModuleType):
    """A package whose exported names win over submodules of the same name, as `drive` over `drive.py`."""

    _exported_names: frozenset[str]

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, unless the import system binds a submodule that has an exported name."""
        is_shadowed_submodule = isinstance(value, ModuleType) and name in self._exported_names
        if not is_shadowed_submodule:
            super().__setattr__(name, value)


def lazy(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for a package that lists its names under TYPE_CHECKING.

    Args:
        package: the dotted name of the package, its `__name__`.
    """
    module = sys.modules[package]
    source = module.__spec__.loader.get_source(package)  # type: ignore[union-attr]  # an imported module has both
    sources = _read_exports(source)
    names = sorted(sources)
    module.__class__ = _LazyPackage
    module.__dict__["_exported_names"] = frozenset(names)

    def load(name: str) -> Any:
        if name not in sources:
            message = f"module {package!r} has no attribute {name!r}"
            # not left to Python: notebooks do not show its suggestions
            similar_names = difflib.get_close_matches(name, names, n=1, cutoff=0.8)
            message += "".join(f"; did you mean {similar_name}?" for similar_name in similar_names)
            raise AttributeError(message)
        source_module, attribute = sources[name]
        value = getattr(importlib.import_module(source_module), attribute)
        setattr(module, name, value)
        return value

    def list_names() -> list[str]:
        """Return the exported names and the imported submodules, not what the package itself imports."""
        submodules = [
            name
            for name, value in vars(module).items()
            if isinstance(value, ModuleType) and value.__name__.startswith(f"{package}.")
        ]
        special_names = [name for name in vars(module) if name.startswith("__")]
        return sorted({*special_names, *submodules, *names})

    return load, list_names, names


def _read_exports(source: str) -> dict[str, tuple[str, str]]:
    """Return, for each name that a package's source exports, its module and its name in that module.

    Args:
        source: the text of the package's `__init__.py`, in the form that the module's docstring shows.
    """
    exports: dict[str, tuple[str, str]] = {}
    imported: dict[str, tuple[str, str]] = {}
    block = source.partition("\nif TYPE_CHECKING:\n")[2].partition("\nelse:\n")[0]
    # join the lines of an import in brackets, without the brackets
    block = re.sub(r"\(([^)]*?),?\s*\)", lambda match: " ".join(match[1].split()), block)
    for line in block.splitlines():
        match line.split():
            case ["from", module, "import", name, "as", _]:  # `as` the same name
                exports[name] = module, name
            case ["from", module, "import", *names]:  # exported under another name below
                imported |= {name.rstrip(","): (module, name.rstrip(",")) for name in names}
            case [alias, "=", name]:
                exports[alias] = imported[name]
    return exports
