"""Z3's library, loaded so that no other Z3 in the process gets between its functions."""

from __future__ import annotations

import contextlib
import ctypes
import os
from importlib.util import find_spec
from pathlib import Path


def keep_own_symbols() -> None:
    """Load Z3's library such that it calls its own functions; to be called before `import z3`.

    Mesa draws with LLVM, which some systems link to a Z3 of their own. Once a picture was drawn, that older
    one stands in the process for all to see, and the newer would call functions of it: the process aborts.
    Loading with RTLD_DEEPBIND makes a library look into itself first (dlopen(3)); what is loaded once is not
    loaded again by `import z3`. Where the flag is unknown nothing is done: macOS binds libraries so
    anyhow, musl has no such way.
    """
    flag = getattr(os, "RTLD_DEEPBIND", None)
    library = _library()
    if flag is not None and library is not None:
        # A library that does not load is for `import z3` to tell, which looks in more places than this.
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(library), mode=os.RTLD_NOW | flag)


def _library() -> Path | None:
    """Return the file that `import z3` would load; it prefers the name with a version."""
    found = find_spec("z3")
    folders = [] if found is None else found.submodule_search_locations or []
    files = [file for folder in folders for file in Path(folder, "lib").glob("libz3.so*")]
    return max(files, key=lambda file: len(file.name), default=None)
