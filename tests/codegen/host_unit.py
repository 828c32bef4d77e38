"""Builds a unit for this computer and steps it, without anything of `codegen.targets`."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from posewright.codegen.unit import UnitSpec

from .conftest import need_tool

STRICT = [
    "-std=c99",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-pedantic",
    "-Werror",
    "-ffp-contract=off",
    "-fPIC",
    "-shared",
]


@contextmanager
def host_unit(unit_spec: UnitSpec, folder: Path) -> Iterator[Callable[..., np.void]]:
    """Give a function that takes one tick: a record of inputs in, a record of states out."""
    gcc = need_tool("gcc")
    files = unit_spec.sources()
    for file in files:
        (folder / file.name).write_text(file.text)
    sources = [str(folder / file.name) for file in files if file.name.endswith(".c")]
    library = folder / "unit.so"
    done = subprocess.run(
        [gcc, *STRICT, *sources, "-o", library, "-lm"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    unit = ctypes.CDLL(str(library))
    unit.unit_reset()

    def step(record: np.void, *, fresh: bool = False) -> np.void:
        if fresh:
            unit.unit_reset()
        state = ctypes.create_string_buffer(unit_spec.state_dtype.itemsize)
        unit.unit_step(record.tobytes(), state)
        return np.frombuffer(state.raw, unit_spec.state_dtype)[0]

    yield step
