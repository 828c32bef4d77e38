"""What every test may ask for; random tests draw the same each time, unless `make fuzz` looks for more."""

from __future__ import annotations

import gc
import gzip
import os
import signal
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

import posewright
from posewright.simulation import film

SHARED = Path(__file__).resolve().parents[2] / "shared"
FOUND = Path(__file__).resolve().parents[1] / "build" / "fuzz" / "examples"

# Many tests start processes of ours: each would compile the whole package where nothing may be written.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile("same", derandomize=True, deadline=None, print_blob=True, max_examples=30)
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


@pytest.fixture(scope="session", autouse=True)
def _rough_pictures() -> Iterator[None]:
    """Render pictures of the simulation as the mean of two samples, not eight, in a quarter of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(film, "_SAMPLES", film._SAMPLES[:2])
        yield


@pytest.fixture(scope="session")
def samples() -> Callable[[str], Path]:
    """Give the path of a real file from the wild, or skip where those are absent."""
    return _under("samples")


@pytest.fixture(scope="session")
def source_tables() -> Callable[[str], Path]:
    """Give the path of a table of the UC3M thesis, or skip where those are absent."""
    return _under("data")


def _write_trial(folder: Path, trial: str, rules: Path, changes: Mapping[str, str]) -> Path:
    """Write a trial whose contest has rules that ship, but for some lines; return its path.

    Args:
        folder: where it is written.
        trial: the whole text of the trial, whose rules are `mini.rules.yaml`.
        rules: path of the rules in the package.
        changes: other lines by the lines of the rules, which have each once.
    """
    text = (Path(posewright.__file__).parent / rules).read_text(encoding="utf-8")
    for line, other_line in changes.items():
        assert text.count(f"{line}\n") == 1
        text = text.replace(f"{line}\n", f"{other_line}\n")
    (folder / "mini.rules.yaml").write_text(text)
    path = folder / "mini.trial.yaml"
    path.write_text(trial)
    return path


@pytest.fixture(scope="session")
def mini_race(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the path of a trial: the obstacle race, whose legs end two seconds after the start.

    It is for what every run shares (the same bytes, workers, what is gone on with), not for what a race is.
    """
    return _write_mini_race(tmp_path_factory, "robotis_bioloid", "obstacle_race")


@pytest.fixture(scope="session")
def mini_crossing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the path of a trial: the same race with the ERS-7."""
    return _write_mini_race(tmp_path_factory, "sony_ers7", "cross_field")


def _write_mini_race(tmp_path_factory: pytest.TempPathFactory, robot: str, behaviour: str) -> Path:
    return _write_trial(
        tmp_path_factory.mktemp("mini_race"),
        f"trial: mini-race\nrobot: {robot}\nbehaviour: {behaviour}\n"
        "arena: {kind: ceabot_obstacles, layout: random}\n"
        "contest: {name: obstacle-race, rules: mini.rules.yaml}\n",
        Path("contests/obstacle_race/obstacle_race.rules.yaml"),
        {"  time_limit_s: 300": "  time_limit_s: 2"},
    )


@pytest.fixture(scope="session")
def mini_sumo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the path of a trial: a sumo of one round, which one yuhkoh wins."""
    return _write_trial(
        tmp_path_factory.mktemp("mini_sumo"),
        "trial: mini-sumo\nrobot: robotis_bioloid\nbehaviour: wrestle\nstill_s: 0\n"
        "contest: {name: sumo, rules: mini.rules.yaml}\n",
        Path("contests/sumo/sumo.rules.yaml"),
        {"  rounds: 3": "  rounds: 1", "  win_points: 5": "  win_points: 1"},
    )


# Builders of AIBO files, written from the layouts and not with the code that is tested.

ERS7 = (
    "PRM:/r1/c1-Joint2:11",
    "PRM:/r1/c1/c2-Joint2:12",
    "PRM:/r1/c1/c2/c3-Joint2:13",
    "PRM:/r1/c1/c2/c3/c4-Joint2:14",
    "PRM:/r1/c1/c2/c3/e5-Joint4:15",
    "PRM:/r1/c1/c2/c3/e6-Joint4:16",
    *(
        f"PRM:/r{leg}/{'/'.join(('c1', 'c2', 'c3')[:joint])}-Joint2:{leg}{joint}"
        for leg in (2, 3, 4, 5)
        for joint in (1, 2, 3)
    ),
    "PRM:/r6/c1-Joint2:61",
    "PRM:/r6/c2-Joint2:62",
)
ERS7_HEAD = ERS7[:3]
ERS110_HEAD = (
    "PRM:/r0/c0-Joint:j0",
    "PRM:/r0/c0/c1-Joint:j1",
    "PRM:/r0/c0/c1/c2-Joint:j2",
    "PRM:/r0/c0/c1/c2/c3-Joint:j3",
)


def string(text: str) -> bytes:
    return bytes([len(text)]) + text.encode("latin-1")


def padded(body: bytes, fill: bytes | None = None) -> bytes:
    """Fill a section's body up to four bytes, or with what a test wants there."""
    return body + (b"\0" * (-len(body) % 4) if fill is None else fill)


def build_omtn(
    angles: Sequence[Sequence[int]] = ((0, 0, 0), (100_000, -200_000, 300_000)),
    between: Sequence[int] | None = None,
    *,
    name: str = "h_any#any_nod",
    creator: str = "nobody",
    design: str = "DRX-1000_Head",
    locators: Sequence[str] = ERS7_HEAD,
    attitudes: Sequence[Sequence[int]] | None = None,
    minor: int = 1,
    major: int = 1,
    frame_ms: int = 16,
    n_sections: int = 4,
    reserved: int = 0,
    short: bool = False,
    fills: tuple[bytes | None, bytes | None] = (None, None),
    head_surplus: bytes = b"",
    surplus: bytes = b"",
    after: bytes = b"",
    kind: int = 0,
) -> bytes:
    """Return a motion; `fills` stand in place of the padding of sections 1 and 2."""
    count = len(angles)
    between = [9] * (count - 1) if between is None else between
    attitudes = [[0, 0, 0]] * count if attitudes is None else attitudes
    head = b"OMTN" + struct.pack(
        "<3I4HI", 0, 24 + len(head_surplus), n_sections, major, minor, count, frame_ms, reserved
    )
    names = padded(string(name) + string(creator) + string(design), fills[0])
    joints = padded(struct.pack("<H", len(locators)) + b"".join(map(string, locators)), fills[1])
    frames = b""
    for i in range(count):
        frames += b"" if i == 0 else struct.pack("<I", between[i - 1])
        frames += struct.pack(f"<{3 + len(angles[i])}i", *attitudes[i], *angles[i])
    frames += surplus
    size = struct.pack("<H", 10 + len(frames)) if short else struct.pack("<I", 12 + len(frames))
    return b"".join(
        (
            head + head_surplus,
            struct.pack("<II", 1, 8 + len(names)) + names,
            struct.pack("<II", 2, 8 + len(joints)) + joints,
            struct.pack("<I", 3) + size + struct.pack("<I", kind) + frames,
            after,
        )
    )


def build_ers110(**changes: Any) -> bytes:
    """Return a motion as the ERS-110 and ERS-111 have them: no padding, a short size, no frame."""
    usual = {
        "angles": [[1, 2, 3, 4], [10, 20, 30, 40]],
        "design": "DRX-700_Head",
        "locators": ERS110_HEAD,
        "minor": 0,
        "frame_ms": 0,
        "short": True,
        "fills": (b"", b""),
    }
    return build_omtn(**{**usual, **changes})


Entry = tuple[str, bytes] | tuple[str, bytes, bytes]


def build_oda(
    entries: Iterable[Entry] = (),
    *,
    gap: bytes = b"",
    row_size: int = 144,
    count: int | None = None,
    reserved: bytes = b"",
    version: tuple[int, int] = (0, 3),
    end: bytes = b"",
) -> bytes:
    """Return an archive of (name, data[, type]); `gap` lies before each entry's data."""
    rows = [(*entry, b"OMTN")[:3] for entry in entries]
    offset = 64 + 144 * len(rows)
    table, body = b"", b""
    for name, data, kind in rows:
        body += gap
        table += struct.pack("<4s128s3I", kind, name.encode("latin-1"), offset + len(body), len(data), 0)
        body += data
    number = len(rows) if count is None else count
    head = b"ODAR" + struct.pack("<2H2I", *version, number, row_size) + reserved.ljust(48, b"\0")
    return head + table + body + end


def zipped(data: bytes, *, name: bytes = b"", comment: bytes = b"") -> bytes:
    """Return `data` in gzip, with a name and a comment in its header as AIBO Mind 2 writes them."""
    plain = gzip.compress(data, mtime=1_000_000_000)
    flags = (8 if name else 0) | (16 if comment else 0)
    texts = b"".join(text + b"\0" for text in (name, comment) if text)
    return plain[:3] + bytes([flags]) + plain[4:10] + texts + plain[10:]


class Builder:
    """What the tests of AIBO files are made with."""

    ers7 = ERS7
    ers7_head = ERS7_HEAD
    ers110_head = ERS110_HEAD
    omtn = staticmethod(build_omtn)
    ers110 = staticmethod(build_ers110)
    oda = staticmethod(build_oda)
    zipped = staticmethod(zipped)
    placeholder = b"NotOMTN "
    sound = b"RIFF\x24\0\0\0WAVEfmt " + b"\0" * 24

    @staticmethod
    def whole(count: int = 3, **changes: Any) -> bytes:
        """Return a motion of the whole body of an ERS-7."""
        angles = [[1000 * (i + 1) * (j + 1) for j in range(20)] for i in range(count)]
        usual = {"design": "DRX-1000", "locators": ERS7, "minor": 2, "name": "a_sit#stand_up"}
        return build_omtn(angles, **{**usual, **changes})


@pytest.fixture(scope="session")
def aibo() -> Builder:
    """Give the builders."""
    return Builder()


_OBJECTS_PER_COLLECTION = 20_000
"""New objects between two garbage collections; at Python's 700, they take 7 % of the time of some tests."""


def pytest_collection_finish() -> None:
    """Leave modules and tests, which stay until the end, out of every later garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    gc.enable()


def pytest_configure() -> None:
    """Take Ctrl-C as a person's terminal sends it, also where a shell started the tests in the background.

    Whatever collection makes stays, so no garbage is looked for until it has finished.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
