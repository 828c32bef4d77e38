"""Units compiled for this computer and loaded as shared libraries."""

from __future__ import annotations

import ctypes
import hashlib
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from posewright.codegen.targets.target import BuildResult, write_sources
from posewright.codegen.toolchains import STRICT, Compiler, cache_folder, compile_sources, find_compiler
from posewright.codegen.unit import Records, SourceFile, UnitSpec, read_package_sources
from posewright.documents import write_atomically
from posewright.errors import InputError, OutputError

FLAGS = (*STRICT, "-O2", "-fPIC", "-shared")
"""How a library is compiled."""

LIBRARY = "unit.so"


class Host:
    """This computer."""

    name = "host"

    def adapt(self, unit_spec: UnitSpec) -> UnitSpec:
        """Return the unit specification as it is."""
        return unit_spec

    def sources(self, unit_spec: UnitSpec) -> tuple[SourceFile, ...]:
        """Return the files that run the unit over arrays."""
        del unit_spec
        return read_package_sources(__package__, ("host.c", "host.h"))

    def build(self, folder: Path) -> BuildResult:
        """Compile the C files in a folder into a shared library, which is image and symbol file in one.

        Raises:
            InputError: there is no unit in the folder.
            UnavailableError: there is no compiler.
            CompileError: the compiler reports errors.
        """
        sources = sorted(folder.glob("*.c"))
        if folder / "unit.c" not in sources:
            raise InputError(f"there is no unit in {folder}", hint="posewright board generate makes one")
        write_atomically(folder / LIBRARY, _compile(find_compiler(), folder), durable=False)
        library_path = folder / LIBRARY
        return BuildResult(image=library_path, elf=library_path)

    def flash_command(self, image: Path, port: str | None) -> tuple[str, ...]:
        """Raise an InputError, since a library runs on this computer and cannot be flashed.

        Raises:
            InputError: always.
        """
        del port
        raise InputError(f"a library is not flashed: {image} is loaded where it is")


class HostLibrary:
    """A unit as an Executable in a library of its own; two libraries of a unit share no variables.

    A library of the same sources, flags and compiler is taken from the cache, which is `posewright/host` in
    `XDG_CACHE_HOME` or `~/.cache`.

    Args:
        unit_spec: the unit.

    Raises:
        UnavailableError: there is no compiler.
        InputError: C cannot do what the document requires.
    """

    def __init__(self, unit_spec: UnitSpec) -> None:
        """Load the library, compiled if it is not in the cache, and reset the unit."""
        self.input_dtype = unit_spec.input_dtype
        self.state_dtype = unit_spec.state_dtype
        sources = (*unit_spec.sources(), *Host().sources(unit_spec))
        self.library = _load_library_copy(sources)
        self.library.host_run.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
        self.library.host_run.restype = None
        self.reset()

    def reset(self) -> None:
        """Return to the state before the first tick."""
        self.library.unit_reset()

    def load(self, state: bytes) -> None:
        """Load the state of a record of states."""
        self.library.unit_load(state)

    def step(self, inputs: bytes, state: ctypes.Array[ctypes.c_char]) -> None:
        """Take one tick and write the record of its state into `state`."""
        self.library.unit_step(inputs, state)

    def run(self, inputs: Records) -> Records:
        """Take one tick for each record of inputs, from the present state, and return the states."""
        records = np.ascontiguousarray(inputs, self.input_dtype)
        states = np.zeros(len(records), self.state_dtype)
        self.library.host_run(records.ctypes.data, len(records), states.ctypes.data)
        return states

    def close(self) -> None:
        """Do nothing: a library stays loaded as long as the process."""


def _load_library_copy(sources: Sequence[SourceFile]) -> ctypes.PyDLL:
    """Load a copy of the library of these sources, from the cache or newly compiled."""
    compiler = find_compiler()
    cached_library = cache_folder("host") / f"{_cache_key(sources, compiler)}.so"
    digest_file = cached_library.with_suffix(".sha256")
    with tempfile.TemporaryDirectory(prefix="posewright-") as name:
        # each unit loads a copy, since libraries loaded from the same file share variables
        folder = Path(name)
        content = _read_intact(cached_library, digest_file)
        if content is None:
            write_sources(sources, folder)
            content = _compile(compiler, folder)
            with suppress(OSError, OutputError):  # without a writable home the cache stays empty
                cached_library.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(cached_library, content, durable=False)
                write_atomically(digest_file, hashlib.sha256(content).hexdigest().encode(), durable=False)
        library_copy = folder / LIBRARY
        library_copy.write_bytes(content)
        # a PyDLL holds the lock of the Python interpreter in a call, so one tick runs at a time
        return ctypes.PyDLL(str(library_copy))


def _cache_key(sources: Sequence[SourceFile], compiler: Compiler) -> str:
    """Return a digest of all that a library depends on: sources, compiler and flags."""
    texts = [compiler.path, compiler.version, *FLAGS]
    for file in sources:
        texts += [file.name, file.text]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _read_intact(library: Path, digest: Path) -> bytes | None:
    """Return the content of a library in the cache; None where it is missing or its digest does not match."""
    try:
        content = library.read_bytes()
        return content if hashlib.sha256(content).hexdigest() == digest.read_text("ascii") else None
    except (OSError, UnicodeDecodeError):
        return None


def _compile(compiler: Compiler, sources: Path) -> bytes:
    """Compile all C files in a folder and return the content of the library."""
    with tempfile.TemporaryDirectory(prefix="posewright-") as folder:
        library = Path(folder) / LIBRARY
        compile_sources(
            compiler, sources=sorted(sources.glob("*.c")), flags=(*FLAGS, f"-I{sources}"), out=library
        )
        return library.read_bytes()
