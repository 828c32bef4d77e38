"""Check of the user's own files against a chart that has changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from posewright.codegen.unit import SourceFile
from posewright.documents import read_text

USER_FILES = ("board_pins.h", "board_hooks.cpp", "board_hooks.c")
"""Names of the user's files of all targets."""

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_PIN = re.compile(r"\bconstexpr auto (\w+) =")
_CONSTANT = re.compile(r"\bUNIT_(?:IN|OUT|STATE)_\w+")
_NUMERIC_OFFSET = re.compile(r"\binput\s*\[\s*\d+|\bstate\s*\[\s*[1-9]")


def check_user_files(
    folder: Path, proposed: Mapping[str, SourceFile], header: str, chart_name: str
) -> Iterator[str]:
    """Yield warnings about the user's files in a folder.

    Args:
        folder: the folder.
        proposed: those of the user's files that exist there, as they would be written for the present chart.
        header: the text of `unit.h`.
        chart_name: name of the chart.
    """
    for name in USER_FILES:
        if name in proposed:
            yield from _check_file(
                name,
                text=read_text(folder / name),
                proposed=proposed[name],
                header=header,
                chart_name=chart_name,
            )
        elif (folder / name).exists():
            # the target has no such file, so it was written for another one
            yield f"{name} is of another target: move it away"


def _check_file(name: str, text: str, proposed: SourceFile, header: str, chart_name: str) -> Iterator[str]:
    """Yield warnings about one file of the user's; the arguments are those of `check_user_files`.

    A header defines the pins. Other files use the constants of `unit.h`. The warnings are about names that
    are missing, names that the chart does not have any more, and offsets written as numbers.
    """
    code = _COMMENT.sub(" ", text)
    is_pins = name.endswith(".h")
    pattern = _PIN if is_pins else _CONSTANT
    names_used = pattern.findall(code)
    names_needed = pattern.findall(_COMMENT.sub(" ", proposed.text))
    for missing in dict.fromkeys(names_needed):  # each once
        if missing not in names_used:
            line = next(line for line in proposed.lines if re.search(rf"\b{missing}\b", line))
            yield f"{name} lacks {missing}: add `{line.strip()}`"
    if is_pins:
        names_defined = names_needed
    else:
        names_defined = [*_CONSTANT.findall(_COMMENT.sub(" ", header)), "UNIT_STATE_BYTES"]
    for surplus in dict.fromkeys(names_used):
        if surplus not in names_defined:
            yield f"{name} has {surplus}, which {chart_name} does not have: remove it"
    offset = None if is_pins else _NUMERIC_OFFSET.search(code)
    if offset is not None:
        yield f"{name} has {offset[0]}]: bytes move when the chart changes; use their names in unit.h"
