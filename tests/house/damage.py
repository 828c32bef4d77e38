"""Damages files: words, lines and bytes replaced, lost, doubled, moved or cut, and numbers that lie."""

from __future__ import annotations

import gzip
import random
import re
import struct
import zlib

ODD = (
    "0", "-1", "1e-300", "1e300", "-0.0", "1" + "0" * 400, "9" * 5000, ".nan", ".inf", "NaN",
    "-Infinity", "true", "~", "null", "[]", "{}", "[[1]]", '""', '"\\0"', '"\\e[31m"',
    "../../x.yaml", "/dev/zero", "n" * 300, "<<", "*a", "&a 1", "'", "{a: 1}", "1 s", "\x00",
    "\x1b[31m", "\ud800", "\u202e", "é", "\u0664", "1_000", "0x10", "1,5", "-", "#", "%",
    "!!python/object:os.system", "---", "[" * 300, "(" * 300, "&lt;", "<a>", "]]>", "\\ud800", "\r",
)  # fmt: skip
WORD = re.compile(r"[^\s,:;=\[\]{}()<>\"]+")
NUMBERS = (0, 1, 2, 255, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63, 2**64 - 1)
FLOATS = tuple(struct.pack("<d", number) for number in (float("nan"), float("inf"), -1.0, 1e308, 5e-324))


def damaged(rng: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    """Return a file with one to four things in it otherwise; `others` are files to take pieces from."""
    packed = data[:2] == b"\x1f\x8b" and rng.random() < 0.7
    try:
        whole = gzip.decompress(data) if packed else data
    except (OSError, EOFError, zlib.error):  # it is damaged already
        packed, whole = False, data
    for _ in range(rng.choice((1, 1, 2, 4))):
        is_text = b"\0" not in whole[:4000] and rng.random() < 0.85
        whole = damaged_text(rng, whole) if is_text else damaged_bytes(rng, whole, others)
    return gzip.compress(whole, 1) if packed else whole


def damaged_text(rng: random.Random, data: bytes) -> bytes:
    """Return a text with a word or a line otherwise."""
    text = data.decode("utf-8", "surrogateescape")
    how = rng.randrange(10)
    if how < 6:
        words = [match.span() for match in WORD.finditer(text)] or [(0, len(text))]
        begin, end = rng.choice(words)
        other = text[slice(*rng.choice(words))] if rng.random() < 0.35 else rng.choice(ODD)
        text = text[:begin] + other + text[end:]
    else:
        lines = text.splitlines(keepends=True) or [""]
        at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
        if how == 6:
            lines[at] = ""
        elif how == 7:
            lines[at] *= rng.choice((2, 2, 2, 50))
        elif how == 8:
            lines[at] = rng.choice(("  ", "    ", "\t", "- ", "#")) + lines[at]
        else:
            lines[at], lines[to] = lines[to], lines[at]
        text = "".join(lines)
    half = re.search("[\ud800-\udc7f\udd00-\udfff]", text)  # a surrogate that stands for no byte
    return text.encode("utf-8", "surrogatepass" if half else "surrogateescape")


def damaged_bytes(rng: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    """Return bytes with some of them otherwise."""
    bent = bytearray(data)
    how, at = rng.randrange(9), rng.randrange(max(1, len(data)))
    length = rng.choice((1, 1, 2, 4, 8, 100))
    if how < 2:
        for _ in range(rng.choice((1, 1, 3, 20))):
            at = rng.randrange(max(1, len(bent)))
            bent[at : at + 1] = bytes([rng.randrange(256)])
    elif how < 5:
        width, order = rng.choice((1, 2, 4, 8)), rng.choice(("little", "little", "big"))
        number = rng.choice((*NUMBERS, len(data), rng.randrange(2 * len(data) + 1)))
        bent[at : at + width] = (number % 256**width).to_bytes(width, order)  # type: ignore[arg-type]
    elif how == 5:
        bent[at : at + 8] = rng.choice(FLOATS)
    elif how == 6:
        del bent[at : rng.choice((at + length, len(bent)))]
    elif how == 7:
        bent[at:at] = bent[at : at + length] * rng.choice((1, 1, 30))
    else:
        other = rng.choice(others)
        start = rng.randrange(max(1, len(other)))
        bent[at : at + length] = other[start : start + length]
    return bytes(bent)
