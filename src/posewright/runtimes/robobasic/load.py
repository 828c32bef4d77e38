"""Finds and reads programs: those that ship with the package, by name, and files."""

from __future__ import annotations

from pathlib import Path

from posewright.documents import Catalogue, is_file, read_bounded
from posewright.errors import FormatError, Where
from posewright.formats import raise_if_other_kind
from posewright.runtimes.robobasic.compiler import STATEMENTS, compile_or_raise
from posewright.runtimes.robobasic.machine import CompiledProgram
from posewright.runtimes.robobasic.step_builder import normalize_move
from posewright.runtimes.robobasic.syntax import MAX_BYTES, read_source
from posewright.runtimes.robobasic.tree import BasicSource, CommandStatement, SourceLine

ROBOT = "hitec_robonova1"
SUFFIX = ".bas"
_CATALOGUE = Catalogue("program", SUFFIX, lambda: (Path(__file__).parent / "programs",))


def program_names() -> tuple[str, ...]:
    """Return the names of the programs that ship with the package."""
    return _CATALOGUE.names()


def open_source(name_or_path: str | Path) -> BasicSource:
    """Read the source of a program that ships with the package, or of a file.

    Raises:
        UnknownNameError: there is no such program.
        FormatError: the file cannot be read, or is not text.
    """
    name = str(name_or_path)
    catalogue_name = name.removesuffix(SUFFIX)
    if is_program(name) and Path(name).is_dir():
        path = Path(name)  # reading it raises the error
    elif catalogue_name in program_names() and not is_file(Path(name)):
        path = _CATALOGUE.find(catalogue_name)
    else:
        path = _CATALOGUE.find(name_or_path)
    return read_program_file(path)


def read_program_file(path: Path) -> BasicSource:
    """Read the source of a program in a file.

    A file with the suffix of RoboBASIC may hold anything, since programs with errors are read, too. Another
    file must have a statement of RoboBASIC.

    Raises:
        FormatError: the file cannot be read, is not text, or is of another kind.
    """
    data = read_bounded(path, MAX_BYTES)
    if is_program(path):
        return read_source(data, path.name, path)
    raise_if_other_kind(data, path, {"robobasic"}, "a RoboBASIC program")
    source = read_source(data, path.name, path)
    if not any(map(_has_known_statement, source.lines)):
        hint = f"a program's name ends in {SUFFIX}"
        raise FormatError("no line has a statement of RoboBASIC", where=Where(path), hint=hint)
    return source


def _has_known_statement(line: SourceLine) -> bool:
    if isinstance(line.statement, CommandStatement):
        return normalize_move(line.statement).key in STATEMENTS
    return line.statement is not None


def open_program(name_or_path: str | Path) -> CompiledProgram:
    """Read and compile a program that ships with the package, or a file.

    Raises:
        UnknownNameError: there is no such program.
        FormatError: the file cannot be read, or is not text.
        BasicProgramError: the program has errors.
    """
    return compile_or_raise(open_source(name_or_path))


def is_program(name_or_path: str | Path) -> bool:
    """Whether a path has the suffix of a RoboBASIC file."""
    return str(name_or_path).lower().endswith(SUFFIX)
