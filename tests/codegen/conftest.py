"""What the tests of generated code may ask for."""

from __future__ import annotations

import os
import shutil

import pytest


def need_tool(name: str) -> str:
    """Return where a program is; skip the test where it is not there, and fail it on the build server."""
    found = shutil.which(name)
    if found is None:
        message = f"{name} is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return found
