"""No module imports itself by way of others, at the top of a file or inside a function.

So every module can be the first that a process imports.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

from .imports import UNKNOWN, imports_of, modules, source_of

Sources = Mapping[str, str]


def imported(sources: Sources, packages: frozenset[str] = frozenset()) -> dict[str, set[str]]:
    """Return which of some modules each of them imports, when it runs or only for its types."""
    found: dict[str, set[str]] = {}
    for module, source in sources.items():
        imports = imports_of(source, module, is_package=module in packages)
        names = {
            f"{base}.{name}" if f"{base}.{name}" in sources else base
            for base, name in imports
            if name != UNKNOWN  # a door that loads what it is asked for; test_lazy.py looks at those
        }
        found[module] = (names & sources.keys()) - {module}
    return found


def with_packages(graph: Mapping[str, set[str]], packages: frozenset[str]) -> dict[str, set[str]]:
    """Return a graph of imports with the packages that each import runs on its way to the module.

    The packages around the importing module itself are left out: they have begun before it.
    """
    complete = {}
    for module, imports in graph.items():
        packages_on_the_way = {package for name in imports for package in _packages_around(name)}
        packages_on_the_way -= {module, *_packages_around(module)}
        complete[module] = imports | (packages_on_the_way & packages)
    return complete


def _packages_around(module: str) -> set[str]:
    """Return the names of the packages that a module lies in."""
    parts = module.split(".")
    return {".".join(parts[:length]) for length in range(1, len(parts))}


def circles(graph: Mapping[str, set[str]]) -> list[str]:
    """Return a shortest circle through each module that lies on one, each circle once, in words."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        pass
    else:
        return []
    found = {}
    for module in sorted(graph):
        circle = _circle(graph, module)
        if circle is not None and frozenset(circle) not in found:
            found[frozenset(circle)] = " -> ".join([*circle, module])
    return list(found.values())


def _circle(graph: Mapping[str, set[str]], module: str) -> list[str] | None:
    """Return the way from a module back to itself, shortest first; None where there is none."""
    ways, met = [[module]], {module}
    for way in ways:  # grows while it is gone through
        for following in sorted(graph[way[-1]]):
            if following == module:
                return way
            if following not in met:
                met.add(following)
                ways.append([*way, following])
    return None


def test_no_module_imports_itself_by_way_of_others() -> None:
    files = modules()
    sources = {module: source_of(path) for module, path in files}
    packages = frozenset(module for module, path in files if path.name == "__init__.py")
    found = circles(with_packages(imported(sources, packages), packages))
    assert not found, "import circles:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "back",
    [
        "from posewright.a import one",
        "from posewright import a",
        "import posewright.a as a",
        "from . import a",
        "from .a import one",
        "def late():\n    from posewright.a import one",
        "import importlib\nimportlib.import_module('posewright.a')",
        "if not TYPE_CHECKING:\n    from posewright import a",
        "if TYPE_CHECKING:\n    from posewright import a",
        "if TYPE_CHECKING:\n    import typing\nelse:\n    from posewright import a",
    ],
)
def test_a_circle_is_seen_and_named(back: str) -> None:
    sources = {
        "posewright.a": "from posewright.b import two",
        "posewright.b": "import posewright.c as c",
        "posewright.c": back,
        "posewright.d": "from posewright.a import one",  # leads into the circle, and is not on it
    }
    assert circles(imported(sources)) == ["posewright.a -> posewright.b -> posewright.c -> posewright.a"]


def test_a_package_that_its_own_module_imports_is_a_circle() -> None:
    sources = {"posewright.a": "from .b import one", "posewright.a.b": "from posewright.a import two"}
    assert circles(imported(sources, frozenset({"posewright.a"}))) == [
        "posewright.a -> posewright.a.b -> posewright.a"
    ]


def test_a_module_that_the_package_of_its_import_needs_is_a_circle() -> None:
    # imported first, `a.late` runs `a.b`, which needs `a.late` before its own import has ended
    sources = {
        "posewright.a.b": "from posewright.a.b.part import one",
        "posewright.a.b.part": "from posewright.a.late import two",
        "posewright.a.b.writer": "",
        "posewright.a.late": "from posewright.a.b.writer import three",
    }
    packages = frozenset({"posewright.a.b"})
    graph = imported(sources, packages)
    assert not circles(graph)
    assert circles(with_packages(graph, packages)) == [
        "posewright.a.b -> posewright.a.b.part -> posewright.a.late -> posewright.a.b"
    ]
