"""Fragments of C, read from the files beside this module; generated code holds those that it calls."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from posewright.documents import read_text

_HEAD = re.compile(r"^/\* ((?:pw|PW)_\w+): ", re.MULTILINE)
_HEADER = re.compile(r"^#include <(\S+)>$", re.MULTILINE)
_WORD = re.compile(r"\b(?:pw|PW)_\w+")


@dataclass(frozen=True)
class _Fragment:
    """One function, type or macro: its lines, the fragments it mentions and the headers its file includes."""

    lines: tuple[str, ...]
    needs: tuple[str, ...]
    headers: tuple[str, ...]


def fragment(name: str) -> tuple[str, ...]:
    """Return the lines of one function or type, without those of the functions it calls.

    Raises:
        ValueError: there is no fragment of that name.
    """
    return _find(name).lines


def closure(names: Iterable[str]) -> tuple[str, ...]:
    """Return these fragments and all that they call, each once, callees first.

    Raises:
        ValueError: there is no fragment of one of these names.
    """
    ordered: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in ordered:
            for need in _find(name).needs:
                add(need)
            ordered[name] = None

    for name in names:
        add(name)
    return tuple(ordered)


def headers(names: Iterable[str]) -> tuple[str, ...]:
    """Return the standard headers that these fragments and all that they call need, such as `math.h`."""
    return tuple(sorted({header for name in closure(names) for header in _find(name).headers}))


def every_name() -> tuple[str, ...]:
    """Return the names of all fragments."""
    return tuple(_fragments())


def _find(name: str) -> _Fragment:
    match = _fragments().get(name)
    if match is None:
        raise ValueError(f"there is no fragment of C named {name}")
    return match


@cache
def _fragments() -> dict[str, _Fragment]:
    """Read the files: a fragment begins with a comment that names it, and goes on to the next one."""
    bodies: dict[str, tuple[str, tuple[str, ...]]] = {}
    for path in sorted(Path(__file__).parent.glob("*.c")):
        text = read_text(path)
        heads = list(_HEAD.finditer(text))
        needed = tuple(_HEADER.findall(text[: heads[0].start()]))
        for head, after in zip(heads, [*heads[1:], None], strict=True):
            body = text[head.start() : after.start() if after else len(text)]
            bodies[head[1]] = body.strip(), needed
    return {
        name: _Fragment(
            lines=tuple(body.splitlines()),
            needs=tuple(
                dict.fromkeys(word for word in _WORD.findall(body) if word in bodies and word != name)
            ),
            headers=needed,
        )
        for name, (body, needed) in bodies.items()
    }
