"""Where the W3C's conformance cases are: in python-statemachine's source distribution, which is not ours."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = "POSEWRIGHT_W3C_DIR"
"""The variable of the environment that may name the folder with `mandatory/` and `optional/` in it."""

_BUILD = Path(__file__).resolve().parents[2] / "build/w3c"


def cases() -> list[Path]:
    """Return every case, those left out that are only parts of others; none where they are not here."""
    named = os.environ.get(FOLDER)
    folders = [Path(named)] if named else sorted(_BUILD.glob("**/tests/scxml/w3c"))
    found = [path for folder in folders[:1] for path in sorted(folder.glob("*/test*.scxml"))]
    return [path for path in found if "sub" not in path.stem]


SKIPPED = f"the W3C's cases are not here: `make test` fetches them, or {FOLDER} names their folder"
