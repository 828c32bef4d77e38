"""What the tests of code generation share."""

from __future__ import annotations

import os
import shutil

import pytest


def need_tool(name: str) -> str:
    """Return the path of a program; without it the test is skipped, but fails where CI must have it."""
    found = shutil.which(name)
    if found is None:
        tell = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        tell(f"{name} is not installed")
    return found
