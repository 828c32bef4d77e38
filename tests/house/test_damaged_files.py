"""Whatever is done to a file, its reader reads it or says what is wrong with it, in an error of ours.

Here each reader gets a few damaged files; `python -m tests.house.fuzz` gives it as many as time allows.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from .damaged_files import damaged_file, describe_bad_message, error_in
from .readers import READERS, Reader

EACH = 5
QUICK_KINDS = [kind for kind, reader in READERS.items() if not reader.is_slow]
"""The others prove something about a file, which takes seconds."""


def require_seeds(reader: Reader) -> dict[str, bytes]:
    seeds = dict(reader.seeds())
    if not seeds:
        pytest.skip("real files of this kind are not beside this checkout")
    return seeds


@pytest.mark.parametrize("kind", QUICK_KINDS)
def test_a_damaged_file_is_read_or_refused_in_our_own_words(kind: str, tmp_path: Path) -> None:
    reader = READERS[kind]
    seeds = require_seeds(reader)
    reader.laid_out(tmp_path)
    for number in range(EACH):
        rng = random.Random(f"{kind} {number}")  # noqa: S311 -- nothing secret
        error = error_in(reader, tmp_path, *damaged_file(reader, seeds, rng))
        assert describe_bad_message(error) == ""


@pytest.mark.parametrize("kind", QUICK_KINDS)
def test_a_whole_file_is_read_where_its_kind_is(kind: str, tmp_path: Path) -> None:
    reader = READERS[kind]
    seeds = require_seeds(reader)
    reader.laid_out(tmp_path)
    by_size = sorted(seeds.items(), key=lambda seed: len(seed[1]))
    errors = (error_in(reader, tmp_path, name, data) for name, data in by_size)
    if kind == "kinds that are not read":
        assert "" not in errors
    else:
        assert "" in errors
