"""Which functions that read what comes from outside are reached by the table of readers."""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType

from .damaged_files import error_in
from .imports import PACKAGE, source_of, tree_of
from .readers import READERS

READING_VERBS = ("read", "parse", "import", "decode", "unpack", "load")
OUTSIDE = {"path", "data", "text", "raw", "message", "folder", "name_or_path", "document", "received", "take"}
"""Names of first parameters that hold a file, or what came over a wire."""

ELSEWHERE: Mapping[str, str] = {
    "cli/arena.py:import_field": "a verb around `import_arena`",
    "cli/robots.py:import_": "a verb around `import_robot`",
    "contests/obstacle_race/rules.py:read_rules": "a file for `parse_rules`",
    "contests/vision/rules.py:parse_turn": "looks a text up among those of the rules",
    "formats/reading.py:read_motion": "a page of `read_motion_file`",
    "formats/reading.py:read_to_carry": "`read_motion_file` without a conversion",
    "formats/tekkotsu/to_motion.py:parse_entries": "reads what `format_entries` has written into a motion",
    "runtimes/openr/user_objects.py:read_objects": "executes Python code of the user",
}
"""Functions that need not be reached, and why."""


def reading_functions() -> Iterator[tuple[str, int, str]]:
    """Yield the public functions that read something from outside: file, line of the name, and name."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if not any(f"def {verb}" in source_of(path) for verb in READING_VERBS):
            continue
        for node in tree_of(source_of(path)).body:
            if not isinstance(node, ast.FunctionDef) or node.name.split("_")[0] not in READING_VERBS:
                continue
            if node.args.args and node.args.args[0].arg in OUTSIDE:
                yield path.relative_to(PACKAGE).as_posix(), node.lineno, node.name


def unreached_functions() -> set[str]:
    """Return the reading functions that no reader of the table calls with its smallest whole files."""
    waiting = {(str(PACKAGE / file), name): f"{file}:{name}" for file, _, name in reading_functions()}
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    for reader in READERS.values():
        smallest: dict[str, str] = {}
        seeds = reader.seeds()
        for name in sorted(seeds, key=lambda name: len(seeds[name]), reverse=True):
            smallest["".join(Path(name).suffixes) or name] = name
        for name in smallest.values():
            with tempfile.TemporaryDirectory() as folder:
                reader.laid_out(Path(folder))
                sys.setprofile(note)
                try:
                    error_in(reader, Path(folder), name, seeds[name])
                finally:
                    sys.setprofile(None)
    for code in seen:
        waiting.pop((code.co_filename, code.co_name), None)
    return {function for function in waiting.values() if function not in ELSEWHERE}
