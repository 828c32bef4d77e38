"""Patches: lists of addresses and the bytes to write there, as owners of a Robi exchange them.

    # forces "standing" after the chair posture was set
    file,sha256,9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    0x0028369a,00 00,02 00

The documents have lists of address and bytes. We add an optional third column with the bytes that are
replaced, and the digest of the file, so that applying a patch to another file is an error. Bytes are
hexadecimal, with or without blanks between them; `#` begins a comment. A patch overwrites bytes and never
moves any.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from posewright.documents import path_exists, read_bounded, real_path, write_atomically
from posewright.errors import FormatError, InputError, OutputError, Where

MAX_BYTES = 1 << 24
"""Largest file, as for a program."""

MAX_TEXT_BYTES = 1 << 23
"""Largest patch: the most changes, with 80 bytes a line."""

MAX_CHANGES = 100_000
_FORM = "ADDRESS,BYTES or ADDRESS,BYTES,OLD BYTES, as in 0x0028369a,00 00,02 00"
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,9}|[0-9]{1,9}", re.ASCII)
_BYTES = re.compile(r"(?:0x)?[0-9a-f]{2}(?:\s*(?:0x)?[0-9a-f]{2})*", re.ASCII | re.IGNORECASE)
_DIGEST = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class PatchChange:
    """Bytes that replace as many others.

    Attributes:
        address: the address of the first byte.
        new: bytes.
        old: bytes that are replaced; None if the patch does not contain them.
        where: the place in the patch.
    """

    address: int
    new: bytes
    old: bytes | None = None
    where: Where | None = None

    def __repr__(self) -> str:
        return f"PatchChange(0x{self.address:08x}, {len(self.new)} bytes)"

    @property
    def end(self) -> int:
        """The address after its last byte."""
        return self.address + len(self.new)


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes of one file, by address, without overlaps.

    Attributes:
        changes: the changes by address.
        digest: SHA-256 of the file that it is for, in hexadecimal; may be empty.
        path: the path of the patch.
    """

    changes: tuple[PatchChange, ...]
    digest: str = ""
    path: Path | None = None

    def __repr__(self) -> str:
        return f"Patch({len(self.changes)} changes)"

    @property
    def is_checked(self) -> bool:
        """Whether it identifies the file that it is for, by digest or by all old bytes."""
        return bool(self.digest) or all(change.old is not None for change in self.changes)

    def inverse(self) -> Patch:
        """Return the patch that undoes this one.

        Raises:
            InputError: this one does not contain the bytes that it replaces.
        """
        inverse_changes: list[PatchChange] = []
        for change in self.changes:
            if change.old is None:
                hint = "add a third column with the old bytes, or keep the backup"
                message = "this patch does not state which bytes it replaces"
                raise InputError(message, where=change.where, hint=hint)
            inverse_changes.append(
                PatchChange(change.address, new=change.old, old=change.new, where=change.where)
            )
        return Patch(tuple(inverse_changes), digest="", path=self.path)

    def text(self) -> str:
        """Return the text of the patch's file."""
        lines = [f"file,sha256,{self.digest}"] if self.digest else []
        for change in self.changes:
            old = "" if change.old is None else f",{change.old.hex(' ')}"
            lines.append(f"0x{change.address:08x},{change.new.hex(' ')}{old}")
        return "".join(f"{line}\n" for line in lines)


def read_patch_file(path: Path | str) -> Patch:
    """Read a patch from a file; see `read_patch` for errors."""
    path = Path(path)
    return read_patch(read_bounded(path, MAX_TEXT_BYTES).decode("utf-8", "replace"), path)


def read_patch(text: str, path: Path | None = None) -> Patch:
    """Read a patch.

    Args:
        text: the text of the patch.
        path: the path of its file, for errors.

    Raises:
        FormatError: a line has another form, or two lines write the same byte.
    """
    changes: list[PatchChange] = []
    digest = ""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        where = Where(path=path, line=number)
        text_before_comment = line.partition("#")[0]
        columns = [column.strip().strip('"').strip() for column in text_before_comment.split(",")]
        if columns[0] == "file" and len(columns) == 3:
            if columns[1] != "sha256" or not _DIGEST.fullmatch(columns[2]) or digest:
                hint = "expected file,sha256, and 64 hexadecimal digits, once"
                raise FormatError(f"{line.strip()[:80]}: not a valid digest", where=where, hint=hint)
            digest = columns[2].lower()
        elif any(columns):
            if len(changes) == MAX_CHANGES:
                message = f"the patch has more than {MAX_CHANGES:,} changes"
                raise FormatError(message, where=where, hint="split the patch")
            changes.append(_read_change(columns, where))
    if not changes:
        where = Where(path=path)
        raise FormatError("the patch has no changes", where=where, hint=f"expected lines of {_FORM}")
    changes.sort(key=lambda change: change.address)
    for previous, change in pairwise(changes):
        if change.address < previous.end:
            raise _overlap_error(previous, change)
    return Patch(tuple(changes), digest, path)


def _read_change(columns: list[str], where: Where) -> PatchChange:
    """Return the change of a line, whose columns are address, new bytes and optionally old bytes."""
    if len(columns) not in {2, 3}:
        raise FormatError(f"the line has {len(columns)} columns", where=where, hint=f"expected {_FORM}")
    address_text, new_text, old_text = [*columns, ""][:3]
    if not _ADDRESS.fullmatch(address_text):
        raise FormatError(f"{address_text[:40]!r} is not an address", where=where, hint=f"expected {_FORM}")
    address = int(address_text, 16 if address_text.startswith("0x") else 10)
    new = _read_bytes(new_text, where)
    old = _read_bytes(old_text, where) if old_text else None
    if old is not None and len(old) != len(new):
        message = f"the line has {len(old)} old bytes, but {len(new)} new ones"
        raise FormatError(message, where=where, hint="expected as many new bytes as old ones")
    return PatchChange(address, new, old, where)


def _read_bytes(text: str, where: Where) -> bytes:
    if not _BYTES.fullmatch(text):
        hint = "expected pairs of hexadecimal digits, as in 0a 50"
        raise FormatError(f"{text[:40]!r} is not a list of bytes", where=where, hint=hint)
    return bytes.fromhex(re.sub(r"0x", "", text, flags=re.IGNORECASE))


def _overlap_error(previous: PatchChange, change: PatchChange) -> FormatError:
    """Return the error of two changes that write the same byte.

    The changes are in the order of addresses; the error is located at the later of their lines.
    """

    def line_of(patch_change: PatchChange) -> int:
        return (patch_change.where.line or 0) if patch_change.where is not None else 0

    earlier, later = sorted((previous, change), key=line_of)
    earlier_line = earlier.where.line if earlier.where is not None else None
    message = f"line {earlier_line} changes 0x{change.address:08x}, too"
    return FormatError(message, where=later.where, hint="change each byte once")


def make_patch(before: bytes, after: bytes) -> Patch:
    """Return the patch that turns the bytes of one file into those of another.

    Raises:
        InputError: their lengths differ, or their contents do not.
    """
    if len(before) != len(after):
        message = f"one file has {len(before)} bytes and the other {len(after)}"
        raise InputError(message, hint="a patch moves no bytes: both must have the same length")
    changed_bytes = np.flatnonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8))
    if not len(changed_bytes):
        raise InputError("the two files are the same", hint="there is nothing to patch")
    changes: list[PatchChange] = []
    run_starts = np.flatnonzero(np.diff(changed_bytes) > 1) + 1  # of runs of adjacent bytes
    for run in np.split(changed_bytes, run_starts):
        begin = int(run[0])
        end = int(run[-1]) + 1
        changes.append(PatchChange(begin, after[begin:end], before[begin:end]))
    return Patch(tuple(changes), hashlib.sha256(before).hexdigest())


def apply_patch(data: bytes, patch: Patch, *, unchecked: bool = False) -> tuple[bytes, Patch]:
    """Return the bytes with the changes, and the patch that undoes them, which has a digest and old bytes.

    Args:
        data: the file's bytes.
        patch: its changes.
        unchecked: whether to apply a patch with neither digest nor old bytes.

    Raises:
        InputError: the patch is for another file, is applied already, or goes beyond the file's end.
    """
    if not patch.is_checked and not unchecked:
        message = "this patch states neither the bytes that it replaces nor the digest of its file"
        hint = "add a third column with the old bytes, or apply it unchecked"
        raise InputError(message, where=Where(path=patch.path), hint=hint)
    if _has_new_bytes(data, patch):
        hint = "the file contains its bytes, so nothing would change"
        raise InputError("this patch is already applied", where=Where(path=patch.path), hint=hint)
    for change in patch.changes:
        _require_fit(data, change)
    _require_digest(patch, data, message_start="this is")
    patched = bytearray(data)
    for change in patch.changes:
        patched[change.address : change.end] = change.new
    return bytes(patched), make_patch(bytes(patched), data)


def _has_new_bytes(data: bytes, patch: Patch) -> bool:
    """Whether bytes contain all changes of a patch."""
    return all(data[change.address : change.end] == change.new for change in patch.changes)


def _require_digest(patch: Patch, data: bytes, *, message_start: str) -> None:
    """Raise InputError if a patch has the digest of other bytes than `data`.

    The hint shows both digests; `message_start`, such as "this is", introduces that of `data`.
    """
    digest = hashlib.sha256(data).hexdigest()
    if patch.digest not in {"", digest}:
        message = "this patch is for another file: the digests differ"
        hint = f"it is for {patch.digest[:12]}..., {message_start} {digest[:12]}..."
        raise InputError(message, where=Where(path=patch.path), hint=hint)


def _require_fit(data: bytes, change: PatchChange) -> None:
    """Raise InputError if bytes do not contain the old bytes of a change."""
    if change.end > len(data):
        message = f"{len(change.new)} bytes at 0x{change.address:08x} lie beyond the end of the file"
        raise InputError(message, where=change.where, hint=f"it has {len(data)} bytes")
    current = data[change.address : change.end]
    if change.old is not None and change.old != current:
        message = f"this patch is for another file: at 0x{change.address:08x} it has {current[:16].hex(' ')}"
        hint = f"the patch expects {change.old[:16].hex(' ')}"
        raise InputError(message, where=change.where, hint=hint)


def patch_file(
    path: Path | str,
    patch: Patch,
    target: Path | str | None = None,
    *,
    backup: Path | str | None = None,
    unchecked: bool = False,
) -> Patch:
    """Write a file with the changes, and return the patch that undoes them.

    Args:
        path: the file.
        patch: its changes.
        target: the file to write; None for the file itself, which needs a backup.
        backup: where to copy the file first.
        unchecked: see `apply_patch`.

    Raises:
        InputError: see `apply_patch`; or the only copy of the file would be overwritten.
        OutputError: a file cannot be written, or the backup would overwrite another file.
    """
    source = Path(path)
    output = source if target is None else Path(target)
    data = read_bounded(source, MAX_BYTES)
    patched, inverse = apply_patch(data, patch, unchecked=unchecked)
    if backup is not None:
        _write_backup(source, output, backup=Path(backup), data=data)
    elif _is_same_file(source, output):
        hint = "name another file to write, or one for the backup"
        raise InputError("this would write over the only copy", where=Where(path=source), hint=hint)
    write_atomically(output, patched)
    return inverse


def unpatch_file(
    path: Path | str, patch: Patch, target: Path | str | None = None, *, backup: Path | str | None = None
) -> Patch:
    """Write a patched file as it was before, and return the patch that patches it again; see `patch_file`.

    Raises:
        InputError: see `patch_file`; or the patch is not applied, does not contain what it replaces, or was
            for another file.
    """
    data = read_bounded(Path(path), MAX_BYTES)
    inverse = patch.inverse()
    if _has_new_bytes(data, inverse):
        hint = "the file contains the bytes that it replaces"
        raise InputError("this patch is not applied", where=Where(path=patch.path), hint=hint)
    original, _ = apply_patch(data, inverse)
    _require_digest(patch, original, message_start="without it this would be")
    return patch_file(path, inverse, target, backup=backup)


def _write_backup(source: Path, output: Path, backup: Path, data: bytes) -> None:
    """Copy a file's bytes to a backup, unless that has the same content already."""
    if _is_same_file(backup, source) or _is_same_file(backup, output):
        hint = "name another file"
        raise InputError("the backup is the file itself", where=Where(path=backup), hint=hint)
    if not path_exists(backup):
        write_atomically(backup, data)
    elif read_bounded(backup, MAX_BYTES) != data:
        hint = "name another file: this one has another content"
        raise OutputError("the backup file already exists", where=Where(path=backup), hint=hint)


def _is_same_file(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file, which may have several names."""
    if real_path(first) == real_path(second):
        return True
    return path_exists(first) and path_exists(second) and first.samefile(second)
