"""Whatever is done to a file, its reader reads it or says what is wrong with it, in an error of ours.

`make fuzz TESTS=tests/house` tries 2,000 for each reader in a round; 20,000 take an hour or two:
`POSEWRIGHT_DAMAGES=20000 pytest tests/house/test_damaged_files.py`.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.work import Calls

from posewright.errors import PosewrightError

from .damage import damaged
from .readers import READERS, Reader

EACH_SEED = 10
SEEDS = (
    int(os.environ.get("POSEWRIGHT_DAMAGES", "10" if settings.default.derandomize else "2000")) // EACH_SEED
)
MOST_CALLS = 60_000_000
"""Calls of functions that reading a file may take, on any machine; a behaviour whose chart is proven
takes twenty million, every other file a million at most."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to put damaged files into."""
    return tmp_path_factory.mktemp("damaged")


def told(reader: Reader, path: Path) -> str:
    """Return what a reader says of a file that it refuses."""
    message = ""
    with Calls() as calls:
        try:
            reader.read(path)
        except PosewrightError as error:
            message = str(error)
    assert calls.count <= MOST_CALLS
    return message


@pytest.mark.parametrize("kind", READERS)
def test_a_damaged_file_is_read_or_refused_in_our_own_words(kind: str, tmp_path: Path) -> None:
    reader = READERS[kind]
    reader.laid_out(tmp_path)
    seeds = reader.seeds()
    if not seeds:
        pytest.skip("real files of this kind are not beside this checkout")
    others = tuple(seeds.values())

    @settings(max_examples=SEEDS, deadline=None)
    @given(seed=st.integers(0, 2**64))
    def search(seed: int) -> None:
        rng = random.Random(seed)  # noqa: S311 -- nothing secret
        for _ in range(EACH_SEED):
            name = rng.choice(list(seeds))
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = damaged(rng, seeds[name], others)
            path.write_bytes(data if reader.sealed is None else reader.sealed(data))
            said = told(reader, path)
            path.write_bytes(seeds[name])
            lines = said.split("\n")
            assert len(lines) <= 21  # one, or all that is wrong with a chart
            for line in lines:
                assert all(sign.isprintable() or category(sign) == "Zs" for sign in line)  # no space steers
                assert len(line) < 4000

    search()


@pytest.mark.parametrize("kind", READERS)
def test_whole_files_are_read_where_their_kind_is(kind: str, tmp_path: Path) -> None:
    reader = READERS[kind]
    reader.laid_out(tmp_path)
    seeds = reader.seeds()
    unread = []
    for name, data in seeds.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        unread += [f"{name}: {said}" for said in [told(reader, path)] if said]
    if kind == "kinds that are not read":
        assert len(unread) == len(seeds)
    else:
        assert len(unread) < max(1, len(seeds)), unread
