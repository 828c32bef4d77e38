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
    """One function, type or macro of C.

    Attributes:
        lines: its lines.
        mentioned_names: the names of the fragments that it mentions.
        headers: the standard headers that its file includes.
    """

    lines: tuple[str, ...]
    mentioned_names: tuple[str, ...]
    headers: tuple[str, ...]


def fragment(name: str) -> tuple[str, ...]:
    """Return the lines of one function or type, without those of the functions it calls.

    Raises:
        ValueError: there is no fragment of that name.
    """
    return _find(name).lines


def with_called_fragments(names: Iterable[str]) -> tuple[str, ...]:
    """Return these fragments and all that they call, each once, callees first.

    Raises:
        ValueError: there is no fragment of one of these names.
    """
    ordered: dict[str, None] = {}  # a set in the order of insertion

    def add(name: str) -> None:
        """Add a fragment after all that it calls."""
        if name not in ordered:
            for mentioned_name in _find(name).mentioned_names:
                add(mentioned_name)
            ordered[name] = None

    for name in names:
        add(name)
    return tuple(ordered)


def headers(names: Iterable[str]) -> tuple[str, ...]:
    """Return the standard headers that these fragments and all that they call need, such as `math.h`."""
    return tuple(sorted({header for name in with_called_fragments(names) for header in _find(name).headers}))


def every_name() -> tuple[str, ...]:
    """Return the names of all fragments."""
    return tuple(_fragments())


def _find(name: str) -> _Fragment:
    """Return a fragment by its name, or raise a ValueError."""
    match = _fragments().get(name)
    if match is None:
        raise ValueError(f"there is no fragment of C named {name}")
    return match


@cache
def _fragments() -> dict[str, _Fragment]:
    """Return the fragments in the C files of this folder, by name.

    A fragment begins with a comment that names it, and ends where the next one begins. The headers of a file
    are included before its first fragment.
    """
    text_of: dict[str, str] = {}
    headers_of: dict[str, tuple[str, ...]] = {}
    for path in sorted(Path(__file__).parent.glob("*.c")):
        file_text = read_text(path)
        heads = list(_HEAD.finditer(file_text))
        file_headers = tuple(_HEADER.findall(file_text[: heads[0].start()]))
        ends = [*(head.start() for head in heads[1:]), len(file_text)]
        for head, end in zip(heads, ends, strict=True):
            text_of[head[1]] = file_text[head.start() : end].strip()
            headers_of[head[1]] = file_headers
    fragments = {}
    for name, text in text_of.items():
        mentioned_names = dict.fromkeys(
            word for word in _WORD.findall(text) if word in text_of and word != name
        )
        fragments[name] = _Fragment(
            tuple(text.splitlines()), mentioned_names=tuple(mentioned_names), headers=headers_of[name]
        )
    return fragments
