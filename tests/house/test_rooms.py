"""Rooms that load their names on first use: three lists tell the same of each, and every name is there."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import posewright

PACKAGE = Path(posewright.__file__).parent


def tree_of(room: str) -> ast.Module:
    return ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))


def is_lazy(room: str) -> bool:
    """Say whether a package has a table of names and modules; the door, which is no room, has another."""
    targets = [node.targets[0] for node in tree_of(room).body if isinstance(node, ast.Assign)]
    return any(isinstance(target, ast.Name) and target.id == "_ROOM" for target in targets)


FOLDERS = sorted(str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("*/__init__.py"))
LAZY = [folder for folder in FOLDERS if is_lazy(folder)]


def room_called(folder: str) -> ModuleType:
    return importlib.import_module(".".join(("posewright", *Path(folder).parts)))


def blocks_of(room: str, condition: str) -> Iterator[ast.stmt]:
    """Yield what stands under a condition at the top level of a room."""
    for node in tree_of(room).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == condition:
            yield from node.body


def functions_of(room: str) -> dict[str, str]:
    """Return the text of every function of a room."""
    walked = ast.walk(tree_of(room))
    return {node.name: ast.unparse(node) for node in walked if isinstance(node, ast.FunctionDef)}


def test_the_rooms_that_load_names_on_first_use_are_those_we_know() -> None:
    listed_once = {
        room for room in FOLDERS if "= lazy(__name__)" in (PACKAGE / room / "__init__.py").read_text()
    }
    assert {*LAZY, *listed_once} >= {
        "charts",
        "formats",
        "simulation",
        "behaviours",
        "experiments",
        "figures",
    }


@pytest.mark.parametrize("room", LAZY)
def test_a_type_checker_sees_each_name_where_it_is_loaded_from(room: str) -> None:
    module = room_called(room)
    seen = {
        alias.asname or alias.name: node.module
        for node in blocks_of(room, "TYPE_CHECKING")
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {name: f"{module.__name__}.{place}" for name, place in module._ROOM.items()}


@pytest.mark.parametrize("room", LAZY)
def test_the_names_a_room_offers_are_those_it_can_load(room: str) -> None:
    module = room_called(room)
    assert len(module.__all__) == len(set(module.__all__))
    assert set(module.__all__) == set(module._ROOM)
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize("room", LAZY)
def test_every_name_is_loaded_once(room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = room_called(room)
    for name, place in module._ROOM.items():
        monkeypatch.delitem(vars(module), name, raising=False)
        value = getattr(module, name)
        assert value is getattr(sys.modules[f"{module.__name__}.{place}"], name)
        assert vars(module)[name] is value


@pytest.mark.parametrize("room", LAZY)
def test_a_name_that_there_is_not_is_an_attribute_error(room: str) -> None:
    module = room_called(room)
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'no_such_name'"):
        _ = module.no_such_name
    assert not hasattr(module, "__wrapped__")


@pytest.mark.parametrize("room", LAZY)
def test_a_type_checker_does_not_see_that_any_name_may_be_asked_for(room: str) -> None:
    """To it, a room with a `__getattr__` has every name, misspelt ones too."""
    hidden = [node for node in blocks_of(room, "not TYPE_CHECKING") if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in hidden] == ["__getattr__"]
    assert "__getattr__" not in [getattr(node, "name", "") for node in tree_of(room).body]


@pytest.mark.parametrize("room", LAZY)
def test_all_rooms_load_alike(room: str) -> None:
    assert functions_of(room) == functions_of(LAZY[0])
