"""The user's own files, read: what they lack for a chart that has changed, and what they have too much."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from posewright.codegen.unit import SourceFile
from posewright.documents import read_text

OWN_FILES = ("board_pins.h", "board_hooks.cpp", "board_hooks.c")
"""The user's files of all targets."""

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_PIN = re.compile(r"\bconstexpr auto (\w+) =")
_CONSTANT = re.compile(r"\bUNIT_(?:IN|OUT|STATE)_\w+")
_COUNTED = re.compile(r"\binput\s*\[\s*\d+|\bstate\s*\[\s*[1-9]")


def warnings_about(folder: Path, proposed: Mapping[str, SourceFile], header: str, name: str) -> Iterator[str]:
    """Yield what is wrong with the user's files in a folder.

    Args:
        folder: where they are.
        proposed: the user's files as they would be written now, those that were there.
        header: the text of `unit.h`.
        name: of the chart.
    """
    for file in OWN_FILES:
        if file in proposed:
            yield from _compared(file, read_text(folder / file), proposed[file], header, name)
        elif (folder / file).exists():
            yield f"{file} is of another target: move it away"


def _compared(file: str, text: str, proposed: SourceFile, header: str, name: str) -> Iterator[str]:
    code = _COMMENT.sub(" ", text)
    is_pins = file.endswith(".h")
    names = _PIN if is_pins else _CONSTANT
    own, wanted = names.findall(code), names.findall(_COMMENT.sub(" ", proposed.text))
    for missing in dict.fromkeys(wanted):
        if missing not in own:
            line = next(line for line in proposed.lines if re.search(rf"\b{missing}\b", line))
            yield f"{file} lacks {missing}: add `{line.strip()}`"
    known = wanted if is_pins else [*_CONSTANT.findall(_COMMENT.sub(" ", header)), "UNIT_STATE_BYTES"]
    for surplus in dict.fromkeys(own):
        if surplus not in known:
            yield f"{file} has {surplus}, which {name} does not have: remove it"
    if not is_pins and (counted := _COUNTED.search(code)):
        yield f"{file} has {counted[0]}]: bytes move when the chart changes; use their names in unit.h"
