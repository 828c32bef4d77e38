"""Fragments of C made callable: over arrays on this computer, for the laws that they must keep."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from posewright.codegen.c.arithmetic import fragment, headers, with_called_fragments

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-Wno-unused-function")
DTYPES = {
    "int32_t": np.int32,
    "double": np.float64,
    "float": np.float32,
    "pw_f64": np.uint64,
    "uint32_t": np.uint32,
    "bool": np.uint8,
}
_SIGNATURE = re.compile(r"^static (\w+) (pw_\w+)\((.*)\)$")


def signature(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the types of C that a function gives and takes."""
    matched = (_SIGNATURE.match(line) for line in fragment(name))
    found = next(match for match in matched if match and match[2] == name)
    return found[1], tuple(argument.split()[0] for argument in found[3].split(", "))


def is_function(name: str) -> bool:
    """Return whether a fragment can be called over arrays: a function of numbers that gives one."""
    if not any(_SIGNATURE.match(line) for line in fragment(name)):
        return False
    gives, takes = signature(name)
    return {gives, *takes} <= DTYPES.keys()


def source_of(names: Iterable[str]) -> str:
    """Return one source with these fragments and all that they call."""
    names = tuple(names)
    included = ("stdbool.h", "stddef.h", "stdint.h", *headers(names))
    lines = [f"#include <{header}>" for header in dict.fromkeys(included)]
    for name in with_called_fragments(names):
        lines += ["", *fragment(name)]
    return "\n".join(lines) + "\n"


class Functions:
    """Functions of C in a library: each takes arrays, and is called once an element."""

    def __init__(self, compiler: str, folder: Path, names: Iterable[str]) -> None:
        names = tuple(names)
        text = source_of(names)
        for name in names:
            gives, takes = signature(name)
            held = "uint8_t" if gives == "bool" else gives
            pointers = "".join(f", const {kind} *x{place}" for place, kind in enumerate(takes))
            values = ", ".join(f"x{place}[i]" for place in range(len(takes)))
            text += f"void all_{name}(size_t n, {held} *out{pointers});\n"
            text += f"void all_{name}(size_t n, {held} *out{pointers})\n"
            text += (
                f"{{\n    for (size_t i = 0; i < n; i++) {{\n        out[i] = {name}({values});\n    }}\n}}\n"
            )
        source, library = folder / "functions.c", folder / "functions.so"
        source.write_text(text, encoding="utf-8")
        hardened = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined")
        command = [compiler, *STRICT, *hardened, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
        subprocess.run(command, check=True)
        self.library = ctypes.CDLL(str(library))

    def __call__(self, name: str, *arguments: Any) -> Any:
        """Return what the function gives for each element; single values stand for as many as there are."""
        gives, takes = signature(name)
        arrays = np.broadcast_arrays(*arguments)
        arrays = [np.ascontiguousarray(a, DTYPES[kind]) for a, kind in zip(arrays, takes, strict=True)]
        out = np.empty(len(arrays[0]), DTYPES[gives])
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (out, *arrays)]
        getattr(self.library, f"all_{name}")(ctypes.c_size_t(len(out)), *pointers)
        return out


def assert_same(found: Any, expected: Any, a: Any, b: Any) -> None:
    """Compare bit for bit, where anything that is not a number is as good as another."""
    wanted = np.asarray(expected, found.dtype)
    bits = np.dtype(f"u{found.dtype.itemsize}")
    differ = (found.view(bits) != wanted.view(bits)) & ~(np.isnan(found) & np.isnan(wanted))
    shown = [(a[i], b[i], found[i], wanted[i]) for i in np.flatnonzero(differ)[:5]]
    assert not shown, f"a, b, in C, interpreted: {shown}"
