"""Units compiled for this computer and loaded as shared libraries."""

from __future__ import annotations

import ctypes
import hashlib
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from posewright.codegen.targets.target import Built, write_sources
from posewright.codegen.toolchains import STRICT, Compiler, cache_folder, compile_sources, find_compiler
from posewright.codegen.unit import Records, SourceFile, Subject, read_package_sources
from posewright.documents import write_atomically
from posewright.errors import InputError, OutputError

FLAGS = (*STRICT, "-O2", "-fPIC", "-shared")
"""How a library is compiled."""

LIBRARY = "unit.so"


class Host:
    """This computer."""

    name = "host"

    def fitted(self, subject: Subject) -> Subject:
        """Return the subject as it is."""
        return subject

    def sources(self, subject: Subject) -> tuple[SourceFile, ...]:
        """Return what runs the unit over whole arrays."""
        del subject
        return read_package_sources(__package__, ("host.c", "host.h"))

    def build(self, folder: Path) -> Built:
        """Compile the library whose files are in a folder.

        Raises:
            InputError: there is no unit in the folder.
            UnavailableError: there is no compiler.
            CompileError: it refuses a file.
        """
        sources = sorted(folder.glob("*.c"))
        if folder / "unit.c" not in sources:
            raise InputError(f"there is no unit in {folder}", hint="posewright board generate makes one")
        write_atomically(folder / LIBRARY, _compiled(find_compiler(), folder), durable=False)
        return Built(folder / LIBRARY, folder / LIBRARY)

    def flash_command(self, image: Path, port: str | None) -> tuple[str, ...]:
        """Refuse: a library is loaded where it is.

        Raises:
            InputError: always.
        """
        del port
        raise InputError(f"a library is not flashed: {image} is loaded where it is")


class HostLibrary:
    """A unit in a library of its own: an Executable. Two of one subject do not share anything.

    It is compiled where no library of the same sources, flags and compiler is in the cache, which is
    `posewright/host` in `XDG_CACHE_HOME` or `~/.cache`.

    Args:
        subject: what runs.

    Raises:
        UnavailableError: there is no compiler.
        InputError: C cannot keep what the document promises.
    """

    def __init__(self, subject: Subject) -> None:
        self.inputs, self.states = subject.inputs, subject.states
        sources = (*subject.sources(), *Host().sources(subject))
        self.library = _loaded(sources)
        self.library.host_run.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
        self.library.host_run.restype = None
        self.reset()

    def reset(self) -> None:
        """Go back to before the first tick."""
        self.library.unit_reset()

    def load(self, state: bytes) -> None:
        """Go on from a record of states."""
        self.library.unit_load(state)

    def step(self, inputs: bytes, state: ctypes.Array[ctypes.c_char]) -> None:
        """Take one tick; the record of its state is written into `state`."""
        self.library.unit_step(inputs, state)

    def run(self, inputs: Records) -> Records:
        """Take one tick for each record of inputs and return the state after each, going on from before."""
        given = np.ascontiguousarray(inputs, self.inputs)
        states = np.zeros(len(given), self.states)
        self.library.host_run(given.ctypes.data, len(given), states.ctypes.data)
        return states

    def close(self) -> None:
        """Do nothing: a library stays as long as the process."""


def _loaded(sources: Sequence[SourceFile]) -> ctypes.PyDLL:
    """Return a library of these sources that nobody else has loaded; a damaged one is made again."""
    compiler = find_compiler()
    kept = cache_folder("host") / f"{_digest(sources, compiler)}.so"
    digest = kept.with_suffix(".sha256")
    with tempfile.TemporaryDirectory(prefix="posewright-") as name:
        folder = Path(name)  # who loads the same file shares its variables: each has its own
        content = _read_whole(kept, digest)
        if content is None:
            write_sources(sources, folder)
            content = _compiled(compiler, folder)
            with suppress(OSError, OutputError):  # a home that cannot be written to costs time, nothing else
                kept.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(kept, content, durable=False)
                write_atomically(digest, hashlib.sha256(content).hexdigest().encode(), durable=False)
        own = folder / LIBRARY
        own.write_bytes(content)
        return ctypes.PyDLL(str(own))  # holds the interpreter's lock: one tick at a time


def _digest(sources: Sequence[SourceFile], compiler: Compiler) -> str:
    told = [compiler.path, compiler.version, *FLAGS]
    for file in sources:
        told += [file.name, file.text]
    return hashlib.sha256("\0".join(told).encode()).hexdigest()


def _read_whole(library: Path, digest: Path) -> bytes | None:
    """Return a library from the cache; None where it is not there, or is not what was put there."""
    try:
        content = library.read_bytes()
        return content if hashlib.sha256(content).hexdigest() == digest.read_text("ascii") else None
    except (OSError, UnicodeDecodeError):
        return None


def _compiled(compiler: Compiler, sources: Path) -> bytes:
    """Return the library that all C files in a folder make."""
    with tempfile.TemporaryDirectory(prefix="posewright-") as folder:
        made = Path(folder) / LIBRARY
        compile_sources(compiler, sorted(sources.glob("*.c")), (*FLAGS, f"-I{sources}"), made)
        return made.read_bytes()
