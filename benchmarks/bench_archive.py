"""Listing and extracting an ODA archive of 2150 motions, the size of AIBO Mind 2's.

The archive is generated: full-body motions of an ERS-7 with 2 to 40 keyframes. Listing is
timed as a process, with the start of the interpreter.
"""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figure import Figure
from posewright.formats.oda.archive import OdaArchive, new_entry
from posewright.formats.oda.extraction import extract_archive
from posewright.formats.oda.files import read_archive_file
from posewright.robots import robot

ENTRIES = 2150
FORMATS = ("webots-motion", "tekkotsu-mot", "posewright-motion")


def string(text: str) -> bytes:
    """Return a string in the format of OMTN."""
    return bytes((len(text),)) + text.encode("latin-1")


def section(number: int, body: bytes) -> bytes:
    """Return a section of an OMTN, padded to a multiple of four bytes."""
    body += bytes(-len(body) % 4)
    return struct.pack("<II", number, 8 + len(body)) + body


def motion(name: str, chance: random.Random) -> bytes:
    """Return a random motion of an ERS-7 within its limits."""
    card = robot("sony_ers7")
    locators = card.names_in("open_r")
    joints = card.design("DRX-1000")
    limits = [(card.joint(joint).lower_rad, card.joint(joint).upper_rad) for joint in joints]
    keyframes = chance.randint(2, 40)
    keyframe_data = b""
    for _ in range(keyframes):
        angles = [round(1e6 * chance.uniform(lower, upper)) for lower, upper in limits]
        keyframe_data += struct.pack(
            "<I3i20i", chance.randint(0, 60), 0, chance.randint(-100_000, 100_000), 0, *angles
        )
    head = b"OMTN" + struct.pack("<IIIHHHHI", 0, 24, 4, 1, 2, keyframes, 16, 0)
    names = section(1, string(name) + string("Posewright") + string("DRX-1000"))
    columns = section(2, struct.pack("<H", 20) + b"".join(string(locators[joint]) for joint in joints))
    return head + names + columns + struct.pack("<III", 3, 8 + len(keyframe_data), 0) + keyframe_data[4:]


def archive() -> OdaArchive:
    """Return an archive of `ENTRIES` random motions."""
    chance = random.Random(7)  # noqa: S311 -- the same archive each time
    names = [f"a_stand#stand_{i:04d}" for i in range(ENTRIES)]
    return OdaArchive().with_entries(*(new_entry(name, motion(name, chance)) for name in names))


def listing(path: Path, rounds: int) -> float:
    """Return the shortest time to list an archive in a new process [s]."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        command = [sys.executable, "-m", "posewright", "aibo", "archive", "list", str(path)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 -- our own program
        best = min(best, time.perf_counter() - began)
    return best


def extraction(path: Path, folder: Path, name: str | None, rounds: int) -> float:
    """Return the largest number of motions that are extracted per second in a format."""
    best = 0.0
    for number in range(rounds):
        began = time.perf_counter()
        target = folder / f"{name}-{number}"
        done = extract_archive(read_archive_file(path), target, format=name, accept_loss=True)
        best = max(best, len(done.files) / (time.perf_counter() - began))
    return best


def figures(rounds: int) -> list[Figure]:
    """Return the time to list the archive, and the speeds of extraction by format."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "MOTION.ODA"
        path.write_bytes(archive().render())
        note = f"{ENTRIES} motions, {path.stat().st_size / 1e6:.1f} MB"
        results = [Figure("archive list, a process", listing(path, rounds), "s", below=0.5, note=note)]
        for name in (None, *FORMATS):
            speed = extraction(path, Path(place), name, max(1, rounds // 3))
            results.append(
                Figure(f"archive extract, {name or 'as they are'}", speed, "motions/s", at_least=500.0)
            )
        return results
