"""A builder of RoboPlus files, written from the layout and not with the code that is tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from posewright.formats import FORMATS, MotionFile, detect_kind
from posewright.formats.reading import require_supported
from posewright.robots import robot

WALK_READY = (235, 788, 279, 744, 462, 561, 358, 666, 507, 516, 341, 682, 240, 783, 647, 376, 507, 516)
STANDING = (335, 688, 279, 744, 462, 561, 353, 670, 508, 515, 347, 676, 282, 741, 617, 406, 508, 515)

Build = Callable[..., bytes]
ReadBytes = Callable[[bytes], MotionFile]


def step(ticks: Sequence[int] = WALK_READY, pause: str = "0.000", play: str = "0.296") -> str:
    columns = [512, *ticks, *[512] * (25 - len(ticks))]
    return f"step={' '.join(map(str, columns))} {pause} {play}"


def page(
    name: str = "",
    steps: Sequence[str] = (),
    play: str = "0 0 1 1.0 32",
    compliance: str = " ".join(["5"] * 26),
) -> list[str]:
    head = ["page_begin", f"name={name}", f"compliance={compliance}", f"play_param={play}"]
    return [*head, *steps, "page_end"]


def build_mtn(
    pages: Mapping[int, Sequence[str]] | None = None,
    *,
    n_pages: int = 255,
    head: Sequence[str] = (
        "type=motion",
        "version=1.01",
        "enable=0" + " 1" * 18 + " 0" * 7,
        "motor_type=0" + " 0" * 25,
    ),
    bom: bytes = b"\xef\xbb\xbf",
    line_end: str = "\n",
    trailer: bytes | None = None,
) -> bytes:
    """Return a file; `pages` are lines by page number, `trailer` stands in place of the right checksum."""
    pages = {1: page("Ready", [step()])} if pages is None else pages
    lines = [*head, *(line for number in range(1, n_pages + 1) for line in pages.get(number, page()))]
    body = bom + "".join(line + line_end for line in lines).encode("latin-1")
    total = 0
    for byte in body:
        total = (total + byte) % 65536
    return body + (bytes([(65535 - total) // 256, (65535 - total) % 256]) if trailer is None else trailer)


@pytest.fixture(scope="session")
def mtn() -> Any:
    """Give the builder, with `step` and `page` for its lines."""

    class Builder:
        build = staticmethod(build_mtn)
        step = staticmethod(step)
        page = staticmethod(page)
        walk_ready = WALK_READY
        standing = STANDING

    return Builder


@pytest.fixture(scope="session")
def read_bytes() -> ReadBytes:
    """Give a reader of bytes that goes the way of a file, but for the disk."""
    card = robot("robotis_bioloid")

    def read(data: bytes) -> MotionFile:
        kind = detect_kind(data, Path("some.mtn"))
        require_supported(kind, Path("some.mtn"))
        return FORMATS[kind.name].read(data, Path("some.mtn"), card)

    return read


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Give a function that puts bytes into a file."""

    def save(data: bytes, name: str = "some.mtn") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return save
