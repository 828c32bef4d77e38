"""What kind of file this is, told by its content and never by its extension."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.file_bytes import is_text
from posewright.formats.kinds import (
    EKMOVES,
    ENCRYPTED,
    GAIT,
    KIND_OF,
    NATIVE,
    ODA,
    OMTN,
    READ_AS,
    READABLE,
    ROBOPLUS_TEXT,
    TEKKOTSU_MOT,
    TEKKOTSU_POS,
    UC3M_CSV,
    WEBOTS,
)

BOM = b"\xef\xbb\xbf"
_HEAD_BYTES = 65536
_MARK_BYTES = 64
_MIXED_BYTES = 256
"""Of 256 bytes by chance some 162 differ; an archive's header and table have a dozen values there."""

_MAGICS: tuple[tuple[bytes, str], ...] = (
    (b"OMTN", OMTN),
    (b"NotOMTN ", "aibo-placeholder"),
    (b"ODAR", ODA),
    (b"\x89MCAP0\r\n", "mcap"),
    (b"PK\x03\x04", "zip"),
    (b"%PDF-", "pdf"),
    (b"\x89PNG\r\n", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
)

_TEXT_PATTERNS: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), kind)
    for pattern, kind in (
        (rb"\Athesis_id[ \t]*,[ \t]*initial_deg\b", UC3M_CSV),
        (rb"\A#\s*Live2D Animator|^\$fps=", "live2d-mtn"),
        (rb"\A#MSq\b", TEKKOTSU_MOT),
        (rb"\A#POS\b", TEKKOTSU_POS),
        (rb"\A#WEBOTS_MOTION\b", WEBOTS),
        (rb"^type:[ \t]*PoseSeq\b", "choreonoid-pseq"),
        (rb"^type:[ \t]*CompositeSeq\b", "choreonoid-seq"),
        (rb"^motion[ \t]*:", NATIVE),
        (rb"^chart[ \t]*:", "posewright-chart"),
        (rb"^behaviour[ \t]*:", "posewright-behaviour"),
        (rb"^trial[ \t]*:", "posewright-trial"),
        (rb"^tune[ \t]*:", "posewright-tune"),  # a tuning names a gait and bodies, and all of them a robot
        (rb"^gait[ \t]*:", GAIT),
        (rb"^bodies[ \t]*:", "posewright-bodies"),
        (rb"^robot[ \t]*:", "posewright-robot"),
        (rb"<mem_[wr]\b|<calc>|<medit>", "robi-rm4"),
        (rb"^[ \t]*(?:static[ \t]+|const[ \t]+){0,2}(?:double|float)[ \t]+\w+[ \t]*\[", EKMOVES),
        (rb"^monetagent|\bMONET_MOTION\b", "aibo-monet"),
        (rb"(?i)^[ \t]*(?:MOVE[ \t]+G\d|MOVE(?:6|8|12|16|24|32)[ \t]|DIR[ \t]+G\d|PTP[ \t]+\w)", "robobasic"),
    )
)

_XML_ROOTS = {
    b"arrayofanytype": "kondo-hth4",
    b"canvasdata": "kondo-hth4",
    b"environment": "openrave-xml",
    b"kinbody": "openrave-xml",
    b"mujoco": "mjcf",
}


def detect_format(data: bytes, path: Path | None = None) -> str:
    """Return the name of the kind of file `data` is: one of `kinds.KINDS`.

    Args:
        data: the file's bytes, at least its beginning; page files are told by the whole.
        path: only used in messages.

    Raises:
        FormatError: it is empty or of no known kind.
    """
    for find in (_by_magic, _by_gzip, _by_text, _by_page_layout, _by_record_size):
        kind = find(data)
        if kind is not None:
            return kind
    if path is not None and path.suffix.lower() == ".oda" and _looks_encrypted(data):
        return ENCRYPTED
    what = (
        "the file is empty" if not data else f"a {'text' if is_text(data) else 'binary'} file of unknown kind"
    )
    raise FormatError(what, where=Where(path=path, offset=0), hint=_readable())


def refuse_unsupported(kind: str, path: Path | None = None) -> None:
    """Raise the error that names a foreign kind of file, if `kind` is not one that is read."""
    if READ_AS.get(kind, kind) in READABLE:
        return
    known = KIND_OF[kind]
    if not known.is_motion:
        raise FormatError(f"this is {known.title}: no motion file", where=Where(path=path, offset=0))
    verdict = "motions of this kind are not supported yet"
    raise FormatError(f"this is {known.title}: {verdict}", where=Where(path=path, offset=0), hint=_readable())


def _readable() -> str:
    return "supported kinds: " + ", ".join(KIND_OF[name].title.split(" ", 1)[1] for name in READABLE)


def _looks_encrypted(data: bytes) -> bool:
    """Tell whether the first bytes look like chance; those of a damaged archive are mostly zero."""
    head = data[:_MIXED_BYTES]
    return len(head) >= _MARK_BYTES and len(set(head)) * 2 > len(head)


def _by_magic(data: bytes) -> str | None:
    if data[:_MARK_BYTES].removeprefix(BOM).lstrip().startswith(b"type=motion"):
        return ROBOPLUS_TEXT  # before any look at the whole: its checksum makes it no text file
    return next((kind for magic, kind in _MAGICS if data.startswith(magic)), None)


def _by_gzip(data: bytes) -> str | None:
    """Look at the first bytes inside gzip; a few are enough, so that a gzip bomb costs nothing."""
    if not data.startswith(b"\x1f\x8b"):
        return None
    try:
        inside = zlib.decompressobj(wbits=31).decompress(data[:_HEAD_BYTES], 64)
    except zlib.error:
        inside = b""
    inner = _by_magic(inside)
    return f"{inner}-gzip" if inner in (OMTN, ODA) else "gzip"


def _by_text(data: bytes) -> str | None:
    head = data[:_HEAD_BYTES]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.decode("utf-16", "replace").encode()
    elif not is_text(head):
        return None
    head = head.removeprefix(BOM)
    if head.lstrip().startswith(b"<"):
        return _by_xml_root(head)
    return next((kind for pattern, kind in _TEXT_PATTERNS if pattern.search(head)), None)


def _by_xml_root(head: bytes) -> str:
    """Tell an XML file by its root element; no parser, so nothing in it is ever expanded."""
    root = re.search(rb"<([A-Za-z_][\w.:-]*)([^>]*)", re.sub(rb"<!--.*?-->", b"", head, flags=re.DOTALL))
    if root is None:
        return "xml"
    name, attributes = root.group(1).lower(), root.group(2)
    if name in (b"mem_w", b"mem_r", b"calc", b"medit"):
        return "robi-rm4"
    if name == b"root" and b"R+Motion" in attributes:
        return "rplus-mtnx"
    if name == b"robot":
        return "urdf" if b"<link" in head else "openrave-xml"
    return _XML_ROOTS.get(name, "xml")


_PAGE_BYTES = 512
_STEPS_AT = 20
_MAX_STEPS = 7


def _by_page_layout(data: bytes) -> str | None:
    """Tell a binary page file: whole pages of 512 bytes, hardly one with more than seven steps.

    Page checksums do not tell: a contest team's own tool left none of 256 right. Real memory dumps hold a
    page of rubbish here and there; among random bytes one page in thirty would look right.
    """
    pages, rest = divmod(len(data), _PAGE_BYTES)
    if rest or not 64 <= pages <= 512:
        return None
    steps = data[_STEPS_AT::_PAGE_BYTES]
    honest = sum(count <= _MAX_STEPS or count == 0xFF for count in steps)
    return "robotis-pages" if 4 * honest >= 3 * pages and any(data) else None


def _by_record_size(data: bytes) -> str | None:
    """Tell a CMPack motion: a count, then exactly that many records of 336 or 352 bytes."""
    if len(data) < 4:
        return None
    (count,) = struct.unpack_from("<I", data)
    sizes = (4 + 336 * count, 4 + 352 * count)
    return "cmpack-mot" if count and len(data) in sizes else None
