"""What the tests of robots share: Sony's own motion files, to hold the cards against."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest


class Omtn(NamedTuple):
    """What stands in a motion file: label, locators and keyframes `(n, n_joints)` [micro-rad]."""

    label: str
    locators: list[str]
    keyframes: npt.NDArray[np.int64]


@pytest.fixture(scope="session")
def omtn(samples: Callable[[str], Path]) -> Callable[[str], Omtn]:
    """Read a motion file among the real ones, or skip where those are absent."""
    return lambda name: read_omtn(samples(name).read_bytes())


@pytest.fixture(scope="session")
def sdk_motions(samples: Callable[[str], Path]) -> dict[str, npt.NDArray[np.int64]]:
    """The keyframes of the motions in Sony's SDK, by the name of the archive's entry [micro-rad]."""
    data = samples("aibo_oda/sdk_ers7_MOTION7.ODA").read_bytes()
    motions = {}
    for entry in range(struct.unpack_from("<I", data, 8)[0]):
        place = 64 + 144 * entry
        name = data[place + 4 : place + 132].rstrip(b"\0").decode()
        offset, size = struct.unpack_from("<II", data, place + 132)
        motions[name] = read_omtn(data[offset : offset + size]).keyframes
    return motions


def read_omtn(data: bytes) -> Omtn:
    """Return what stands in a motion file that is known to be whole."""
    n_keyframes = struct.unpack_from("<H", data, 20)[0]
    second = 28 + struct.unpack_from("<I", data, 32)[0]
    third = second + struct.unpack_from("<I", data, second + 4)[0]
    label = strings(data, 36, 3)[2]
    locators = strings(data, second + 10, struct.unpack_from("<H", data, second + 8)[0])
    begins = third + (10 if label.startswith("DRX-700") else 12)
    width = 4 * (len(locators) + 4)  # frames, attitude, joints; the first keyframe has no frames
    rows = [
        struct.unpack_from(f"<{len(locators)}i", data, begins + 12 + k * width) for k in range(n_keyframes)
    ]
    return Omtn(label, locators, np.array(rows))


def strings(data: bytes, offset: int, count: int) -> list[str]:
    texts = []
    for _ in range(count):
        end = offset + 1 + data[offset]
        texts.append(data[offset + 1 : end].decode())
        offset = end
    return texts
