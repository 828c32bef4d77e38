"""Arguments are written where they are passed: no local dictionary hides their names and types."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from .imports import PACKAGE, source_of, tree_of

UNTYPED = {"Any", "dict[str, Any]", "Mapping[str, Any]", "MutableMapping[str, Any]"}

WAITING = {
    "codegen/targets/cm900/processor.py",
    "formats/scenes/reading.py",
    "runtimes/openr/services.py",
}
"""Modules that are still to be mended; the list only gets shorter."""


def hidden_arguments(source: str) -> Iterator[str]:
    """Yield where a local dictionary is passed as `**`: of `Any`, or written out with constant keys."""
    for function in ast.walk(tree_of(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            dictionaries = {name for node in ast.walk(function) for name in _untyped_names(node)}
            for node in ast.walk(function):
                for keyword in node.keywords if isinstance(node, ast.Call) else ():
                    if keyword.arg is None and ast.unparse(keyword.value) in dictionaries:
                        yield f"line {keyword.value.lineno}: **{ast.unparse(keyword.value)}"


def _untyped_names(node: ast.AST) -> Iterator[str]:
    """Yield the names to which a statement assigns a dictionary that hides the types of its values."""
    if isinstance(node, ast.AnnAssign):
        if ast.unparse(node.annotation) in UNTYPED or _is_written_out(node.value):
            yield ast.unparse(node.target)
    elif isinstance(node, ast.Assign) and _is_written_out(node.value):
        yield from (ast.unparse(target) for target in node.targets)


def _is_written_out(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Dict) and any(isinstance(key, ast.Constant) for key in value.keys)


def test_no_local_dictionary_hides_arguments() -> None:
    wrong = {
        path.relative_to(PACKAGE).as_posix(): lines
        for path in sorted(PACKAGE.rglob("*.py"))
        if "**" in source_of(path) and (lines := list(hidden_arguments(source_of(path))))
    }
    assert {module: lines for module, lines in wrong.items() if module not in WAITING} == {}


@pytest.mark.parametrize(
    "body",
    [
        "how: Any = make()\n    g(**how)",
        "how: dict[str, Any] = {}\n    how['x'] = 1\n    g(1, **how)",
        "how = {'x': 1, 'y': 'z'}\n    return g(**how)",
        "how: dict[str, float] = {'x': 1.0}\n    return [g(**how) for _ in range(2)]",
    ],
)
def test_a_dictionary_that_hides_arguments_is_seen(body: str) -> None:
    assert len(list(hidden_arguments(f"def f(rest: dict[str, Any]) -> None:\n    {body}\n"))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "g(x=1, y='z')",
        "g(**rest)",  # whoever made it answers for it
        "values = {name: read(name) for name in NAMES}\n    g(**values)",  # mypy knows of what type
        "told = {'x': 1}\n    g(told)",
    ],
)
def test_arguments_that_can_be_read_are_let_be(body: str) -> None:
    assert list(hidden_arguments(f"def f(rest: dict[str, Any]) -> None:\n    {body}\n")) == []
