"""Finds and reads programs: those that ship with the package, by name, and files."""

from __future__ import annotations

from pathlib import Path

from posewright.documents import Catalogue, is_file, read_bounded
from posewright.runtimes.robobasic.compiler import compile_or_raise
from posewright.runtimes.robobasic.machine import CompiledProgram
from posewright.runtimes.robobasic.syntax import MAX_BYTES, read_source
from posewright.runtimes.robobasic.tree import BasicSource

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
    return read_source(read_bounded(path, MAX_BYTES), path.name, path)


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
