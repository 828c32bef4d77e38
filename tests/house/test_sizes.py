"""Nothing is too long to be seen at once (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import posewright

MOST_LINES = 60


def too_long(source: str) -> Iterator[str]:
    """Yield the functions of a module that have more lines than they may, each from `def` to its end."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MOST_LINES:
                yield f"{node.name} has {lines} lines"


def test_no_function_is_too_long() -> None:
    files = sorted(Path(posewright.__file__).parent.rglob("*.py"))
    assert [(file, one) for file in files for one in too_long(file.read_text(encoding="utf-8"))] == []


def test_a_function_that_is_a_line_too_long_is_seen() -> None:
    fits = "class A:\n    @property\n    async def f(self):\n" + "        pass\n" * (MOST_LINES - 1)
    assert list(too_long(fits)) == []
    assert list(too_long(fits + "        pass\n")) == [f"f has {MOST_LINES + 1} lines"]
