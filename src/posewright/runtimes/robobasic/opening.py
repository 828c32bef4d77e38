"""Programs found: those that ship, by name, and files."""

from __future__ import annotations

from pathlib import Path

from posewright.documents import Catalogue, is_file, read_bounded
from posewright.runtimes.robobasic.compiling import ready_program
from posewright.runtimes.robobasic.machine import Program
from posewright.runtimes.robobasic.syntax import MOST_BYTES, read_source
from posewright.runtimes.robobasic.tree import Source

ROBOT = "hitec_robonova1"
ENDING = ".bas"
_PROGRAMS = Catalogue("program", ENDING, lambda: (Path(__file__).parent / "programs",))


def program_names() -> tuple[str, ...]:
    """Return the names of the programs that ship."""
    return _PROGRAMS.names()


def open_source(called: str | Path) -> Source:
    """Read a program that ships, or a file.

    Raises:
        UnknownNameError: there is no such program.
        FormatError: the file cannot be read, or is no text.
    """
    name = str(called)
    bare = name.removesuffix(ENDING)
    if is_program(name) and Path(name).is_dir():
        path = Path(name)  # reading it says what is wrong
    else:
        path = _PROGRAMS.find(bare if bare in program_names() and not is_file(Path(name)) else called)
    return read_source(read_bounded(path, MOST_BYTES), path.name, path)


def open_program(called: str | Path) -> Program:
    """Return a program ready to run.

    Raises:
        UnknownNameError: there is no such program.
        FormatError: the file cannot be read, or is no text.
        ProgramError: the program has errors.
    """
    return ready_program(open_source(called))


def is_program(called: str | Path) -> bool:
    """Whether a name is that of a RoboBASIC file."""
    return str(called).lower().endswith(ENDING)
