"""What each module of the package imports, read from its source."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import posewright

PACKAGE = Path(posewright.__file__).parent


UNKNOWN = "?"


class Import(NamedTuple):
    """`from module import name`.

    Attributes:
        name: empty where the module itself is imported, UNKNOWN where only running tells which part of it.
    """

    module: str
    name: str = ""


@cache
def source_of(path: Path) -> str:
    """Return the text of a module."""
    return path.read_text(encoding="utf-8")


@cache
def tree_of(source: str) -> ast.Module:
    """Return the syntax tree of a module's text, which nobody may change."""
    return ast.parse(source)


def modules() -> list[tuple[str, Path]]:
    """Return every module of the package with its file."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ["posewright", *path.relative_to(PACKAGE).with_suffix("").parts]
        found.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return found


def imports_of(source: str, module: str, *, is_package: bool) -> Iterator[Import]:
    """Yield every import in `source`, anywhere in it and also for types only, by absolute dotted names.

    Args:
        source: the text of the module.
        module: its dotted name.
        is_package: whether it is a package's `__init__`.
    """
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name) for alias in node.names)
            # `import posewright.robots` binds `posewright`, and with it everything else
            yield from (
                Import("posewright")
                for alias in node.names
                if alias.name.startswith("posewright.") and not alias.asname
            )
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            yield from (Import(base, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func).rsplit(".", maxsplit=1)[-1]
            if called in ("import_module", "__import__"):
                yield from _named(node, module, ".".join(package))


def _named(call: ast.Call, module: str, package: str) -> Iterator[Import]:
    """Yield the module that a call imports, as far as its text says; of an f-string, its constant start."""
    text = name = ""
    for part in call.args[0].values if isinstance(call.args[0], ast.JoinedStr) else call.args[:1]:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            text += part.value
        elif isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == "__name__":
            text += module
        else:
            text, name = text.rpartition(".")[0], UNKNOWN
            break
    if text:
        yield Import(importlib.util.resolve_name(text, package), name)
