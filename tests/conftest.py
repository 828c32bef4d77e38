"""What every test may ask for; random tests draw the same each time, unless `make fuzz` looks for more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

SHARED = Path(__file__).resolve().parents[2] / "shared"
FOUND = Path(__file__).resolve().parents[1] / "build" / "fuzz" / "examples"

settings.register_profile("same", derandomize=True, deadline=None, print_blob=True)
settings.register_profile(
    "fuzz", deadline=None, print_blob=True, database=DirectoryBasedExampleDatabase(FOUND)
)
settings.load_profile("same")  # `--hypothesis-profile` has the last word


def _under(folder: str) -> Callable[[str], Path]:
    def find(name: str) -> Path:
        path = SHARED / folder / name
        if not path.exists():
            pytest.skip(f"real file {folder}/{name} is not beside this checkout")
        return path

    return find


@pytest.fixture(scope="session")
def samples() -> Callable[[str], Path]:
    """Give the path of a real file from the wild, or skip where those are absent."""
    return _under("samples")


@pytest.fixture(scope="session")
def source_tables() -> Callable[[str], Path]:
    """Give the path of a table of the source documents, or skip where those are absent."""
    return _under("data")
