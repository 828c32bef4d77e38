"""The rooms of `charts/`: not deep, without circles, and every class with a name of its own."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from .imports import PACKAGE, imports_of, source_of, tree_of

CHARTS = PACKAGE / "charts"
FILES = sorted(CHARTS.rglob("*.py"))
DEEPEST = 10


def room_of(module: str) -> str:
    """Return the room that a module of charts is in; a module beside the rooms is one of its own."""
    name = module.removeprefix("posewright.charts").removeprefix(".").partition(".")[0]
    return name or "charts"


def module_of(path: Path) -> str:
    parts = ["posewright", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def rooms() -> dict[str, set[str]]:
    """Return which rooms each room imports, for types or at run time; the package's own door is left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in FILES:
        room = room_of(module_of(path))
        if room == "charts":
            continue
        imports = imports_of(source_of(path), module_of(path), is_package=path.name == "__init__.py")
        named = {one.module for one in imports if one.module.startswith("posewright.charts.")}
        found[room] |= {room_of(name) for name in named} - {room}
    return found


def test_no_room_imports_itself_by_way_of_others_and_none_stands_deep() -> None:
    graph = rooms()

    @cache
    def depth(room: str) -> int:
        assert room not in climbing, f"{room} imports itself by way of others"
        climbing.add(room)
        below = max((depth(one) for one in sorted(graph.get(room, ()))), default=0)
        climbing.discard(room)
        return below + 1

    climbing: set[str] = set()
    assert max(map(depth, sorted(graph))) <= DEEPEST


def test_every_class_has_a_name_of_its_own() -> None:
    names = Counter(
        node.name
        for path in FILES
        for node in ast.walk(tree_of(source_of(path)))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_rooms_know_each_other_by_their_doors() -> None:
    inside = [
        (module_of(path), one.module)
        for path in FILES
        if room_of(module_of(path)) != "charts"
        for one in imports_of(source_of(path), module_of(path), is_package=path.name == "__init__.py")
        if one.module.count(".") > 2
        and one.module.startswith("posewright.charts.")
        and room_of(one.module) != room_of(module_of(path))
    ]
    assert inside == []
