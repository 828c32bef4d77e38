"""Patches: lists of an address and the bytes that are written there, as owners hand them to one another.

    # forces "standing" after the chair posture was set
    file,sha256,9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    0x0028369a,00 00,02 00

The documents have lists of address and bytes. Ours may say besides what the bytes replace, in a third column,
and which file they are for, by its digest: so a patch for another file is refused. Bytes are hexadecimal,
with blanks between them or without; `#` begins a comment. A patch writes over bytes and never moves any.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posewright.documents import path_exists, read_bounded, real_path, write_atomically
from posewright.errors import FormatError, InputError, OutputError, Where

MOST_BYTES = 1 << 24
"""Of a file, as of a program."""

MOST_TEXT_BYTES = 1 << 23
"""Of a patch: the most changes, with 80 bytes a line."""

MOST_CHANGES = 100_000
_FORM = "ADDRESS,BYTES or ADDRESS,BYTES,OLD BYTES, as in 0x0028369a,00 00,02 00"
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,9}|[0-9]{1,9}", re.ASCII)
_BYTES = re.compile(r"(?:0x)?[0-9a-f]{2}(?:\s*(?:0x)?[0-9a-f]{2})*", re.ASCII | re.IGNORECASE)
_DIGEST = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes that are written over as many others.

    Attributes:
        old: what must stand there; None where the patch does not say.
    """

    address: int
    new: bytes
    old: bytes | None = None
    where: Where | None = None

    def __repr__(self) -> str:
        return f"Change(0x{self.address:08x}, {len(self.new)} bytes)"

    @property
    def end(self) -> int:
        """The byte after its last."""
        return self.address + len(self.new)


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes of one file, by address, none of them over another.

    Attributes:
        digest: SHA-256 of the file it is for, in hexadecimal; empty where it does not say.
    """

    changes: tuple[Change, ...]
    digest: str = ""
    path: Path | None = None

    def __repr__(self) -> str:
        return f"Patch({len(self.changes)} changes)"

    @property
    def is_checked(self) -> bool:
        """Whether it can tell the file it is for from others."""
        return bool(self.digest) or all(change.old is not None for change in self.changes)

    def undone(self) -> Patch:
        """Return the patch that takes it back, or raise InputError where it does not say what it replaces."""
        for change in self.changes:
            if change.old is None:
                hint = "a third column has the bytes that stood there; or keep the backup"
                raise InputError("this patch does not say what it replaces", where=change.where, hint=hint)
        back = (Change(one.address, one.old or b"", one.new, one.where) for one in self.changes)
        return Patch(tuple(back), "", self.path)

    def text(self) -> str:
        """Return it as a file."""
        lines = [f"file,sha256,{self.digest}"] if self.digest else []
        for change in self.changes:
            old = "" if change.old is None else f",{change.old.hex(' ')}"
            lines.append(f"0x{change.address:08x},{change.new.hex(' ')}{old}")
        return "".join(f"{line}\n" for line in lines)


def read_patch_file(path: Path | str) -> Patch:
    """Read a patch from the disk; errors as `read_patch`."""
    path = Path(path)
    return read_patch(read_bounded(path, MOST_TEXT_BYTES).decode("utf-8", "replace"), path)


def read_patch(text: str, path: Path | None = None) -> Patch:
    """Read a patch.

    Raises:
        FormatError: a line is not of that form, or two write the same byte.
    """
    changes: list[Change] = []
    digest = ""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        where = Where(path=path, line=number)
        cells = [cell.strip().strip('"').strip() for cell in line.partition("#")[0].split(",")]
        if cells[0] == "file" and len(cells) == 3:
            if cells[1] != "sha256" or not _DIGEST.fullmatch(cells[2]) or digest:
                hint = "right is file,sha256, and 64 hexadecimal digits, once"
                raise FormatError(f"{line.strip()[:80]}: no digest", where=where, hint=hint)
            digest = cells[2].lower()
        elif any(cells):
            if len(changes) == MOST_CHANGES:
                raise FormatError(
                    f"more than {MOST_CHANGES:,} changes", where=where, hint="make them in parts"
                )
            changes.append(_change(cells, where))
    if not changes:
        raise FormatError("no change", where=Where(path=path), hint=f"a line is {_FORM}")
    return Patch(tuple(_apart(changes)), digest, path)


def _change(cells: list[str], where: Where) -> Change:
    if len(cells) not in {2, 3}:
        raise FormatError(f"{len(cells)} columns", where=where, hint=f"right is {_FORM}")
    if not _ADDRESS.fullmatch(cells[0]):
        raise FormatError(f"{cells[0][:40]!r} is no address", where=where, hint=f"right is {_FORM}")
    new = _bytes(cells[1], where)
    old = _bytes(cells[2], where) if len(cells) == 3 and cells[2] else None
    if old is not None and len(old) != len(new):
        what = f"{len(new)} bytes are to replace {len(old)}"
        raise FormatError(what, where=where, hint="a patch writes over as many bytes as it brings")
    return Change(int(cells[0], 16 if cells[0].startswith("0x") else 10), new, old, where)


def _bytes(text: str, where: Where) -> bytes:
    if not _BYTES.fullmatch(text):
        hint = "right are pairs of hexadecimal digits, as in 0a 50"
        raise FormatError(f"{text[:40]!r} are no bytes", where=where, hint=hint)
    return bytes.fromhex(re.sub(r"0x", "", text, flags=re.IGNORECASE))


def _apart(changes: list[Change]) -> Iterator[Change]:
    last: Change | None = None
    for change in sorted(changes, key=lambda one: one.address):
        if last is not None and change.address < last.end:
            first, second = sorted((last, change), key=lambda one: (one.where and one.where.line) or 0)
            line = first.where.line if first.where else None
            what = f"0x{change.address:08x} is written in line {line}, too"
            raise FormatError(what, where=second.where, hint="each byte is written once")
        yield change
        last = change


def make_patch(before: bytes, after: bytes) -> Patch:
    """Return the patch that makes one file of another of the same length.

    Raises:
        InputError: they differ in length, or not at all.
    """
    if len(before) != len(after):
        what = f"one file has {len(before)} bytes and the other {len(after)}"
        raise InputError(what, hint="a patch moves no bytes: both are of one length")
    differ = np.flatnonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8))
    runs = np.split(differ, np.flatnonzero(np.diff(differ) > 1) + 1) if len(differ) else []
    ends = ((int(run[0]), int(run[-1]) + 1) for run in runs)
    changes = [Change(at, after[at:end], before[at:end]) for at, end in ends]
    if not changes:
        raise InputError("the two files are the same", hint="there is nothing to patch")
    return Patch(tuple(changes), hashlib.sha256(before).hexdigest())


def apply_patch(data: bytes, patch: Patch, *, unchecked: bool = False) -> tuple[bytes, Patch]:
    """Return the bytes with the changes, and the patch that takes them back, digest and all.

    Args:
        data: the file's bytes.
        patch: its changes.
        unchecked: also apply one that says neither what it replaces nor which file it is for.

    Raises:
        InputError: the patch is for another file, is applied already, or goes beyond the file's end.
    """
    if not patch.is_checked and not unchecked:
        what = "this patch says neither what it replaces nor which file it is for"
        hint = "add a third column with the old bytes, or ask for it to be applied unchecked"
        raise InputError(what, where=Where(path=patch.path), hint=hint)
    if all(data[one.address : one.end] == one.new for one in patch.changes):
        hint = "its bytes stand there already, and nothing would change"
        raise InputError("this patch is already applied", where=Where(path=patch.path), hint=hint)
    for change in patch.changes:
        _fits(data, change)
    _refuse_other(patch, data, "this is")
    made = bytearray(data)
    for change in patch.changes:
        made[change.address : change.end] = change.new
    return bytes(made), make_patch(bytes(made), data)


def _refuse_other(patch: Patch, data: bytes, found: str) -> None:
    if patch.digest not in {"", digest := hashlib.sha256(data).hexdigest()}:
        what = "this patch is for another file: the digests differ"
        hint = f"it is for {patch.digest[:12]}..., {found} {digest[:12]}..."
        raise InputError(what, where=Where(path=patch.path), hint=hint)


def _fits(data: bytes, change: Change) -> None:
    if change.end > len(data):
        what = f"0x{change.address:08x} and {len(change.new)} bytes from there are not in the file"
        raise InputError(what, where=change.where, hint=f"it has {len(data)} bytes")
    found = data[change.address : change.end]
    if change.old not in {None, found}:
        what = f"this patch is for another file: at 0x{change.address:08x} stands {found[:16].hex(' ')}"
        hint = f"it expects {(change.old or b'')[:16].hex(' ')}"
        raise InputError(what, where=change.where, hint=hint)


def patch_file(
    path: Path | str,
    patch: Patch,
    target: Path | str | None = None,
    *,
    backup: Path | str | None = None,
    unchecked: bool = False,
) -> Patch:
    """Write a file with the changes, and return the patch that takes them back.

    Args:
        path: the file.
        patch: its changes.
        target: where to write it; the file itself where none is given, which needs a backup.
        backup: where the file is copied first.
        unchecked: as in `apply_patch`.

    Raises:
        InputError: as `apply_patch`; or the only copy of the file would be written over.
        OutputError: it cannot be written there, or there is something else where the backup should go.
    """
    path = Path(path)
    goal = path if target is None else Path(target)
    data = read_bounded(path, MOST_BYTES)
    made, undo = apply_patch(data, patch, unchecked=unchecked)
    if backup is not None:
        _back_up(path, goal, Path(backup), data)
    elif _is_same(path, goal):
        hint = "name another file to write, or one for the backup"
        raise InputError("this would write over the only copy", where=Where(path=path), hint=hint)
    write_atomically(goal, made)
    return undo


def unpatch_file(
    path: Path | str, patch: Patch, target: Path | str | None = None, *, backup: Path | str | None = None
) -> Patch:
    """Write a patched file as it was before, and return the patch that patches it again; as `patch_file`.

    Raises:
        InputError: besides, the patch does not say what it replaces, or it was another file that it was for.
    """
    data, back = read_bounded(Path(path), MOST_BYTES), patch.undone()
    if all(data[one.address : one.end] == one.new for one in back.changes):
        hint = "what it replaces still stands there"
        raise InputError("this patch is not applied", where=Where(path=patch.path), hint=hint)
    before, _ = apply_patch(data, back)
    _refuse_other(patch, before, "without it this would be")
    return patch_file(path, back, target, backup=backup)


def _back_up(path: Path, goal: Path, backup: Path, data: bytes) -> None:
    if _is_same(backup, path) or _is_same(backup, goal):
        raise InputError("the backup is the file itself", where=Where(path=backup), hint="name another")
    if path_exists(backup):
        if read_bounded(backup, MOST_BYTES) != data:
            hint = "name another file: what is there is something else"
            raise OutputError("there is a file already", where=Where(path=backup), hint=hint)
        return
    write_atomically(backup, data)


def _is_same(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file, which may have several names."""
    if real_path(one) == real_path(other):
        return True
    return path_exists(one) and path_exists(other) and one.samefile(other)
