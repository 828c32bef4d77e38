"""Patches apply and reverse to the identical bytes, to the file they are for and to no other."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError, OutputError
from posewright.runtimes.robi.patch import (
    Patch,
    apply_patch,
    make_patch,
    patch_file,
    read_patch,
    read_patch_file,
    unpatch_file,
)

PAIRS = st.integers(1, 60).flatmap(
    lambda n: st.tuples(st.binary(min_size=n, max_size=n), st.binary(min_size=n, max_size=n))
)


def is_same(first: Patch, second: Patch) -> bool:
    return [(change.address, change.new, change.old) for change in first.changes] == [
        (change.address, change.new, change.old) for change in second.changes
    ] and first.digest == second.digest


@given(PAIRS)
def test_a_patch_applies_and_reverses_to_the_identical_bytes(pair: tuple[bytes, bytes]) -> None:
    before, after = pair
    if before == after:
        with pytest.raises(InputError, match="the same"):
            make_patch(before, after)
        return
    patch = read_patch(make_patch(before, after).text())
    patched, undo = apply_patch(before, patch)
    assert patched == after
    with pytest.raises(InputError, match="already applied"):
        apply_patch(after, patch)
    back, redo = apply_patch(patched, read_patch(undo.text()))
    assert back == before
    assert is_same(redo, patch)


@given(PAIRS, st.integers(0, 1000))
def test_a_patch_for_another_file_is_refused(pair: tuple[bytes, bytes], at: int) -> None:
    """One byte otherwise, anywhere, is another file."""
    before, after = pair
    if before != after:
        other = bytearray(before)
        other[at % len(other)] ^= 1
        with pytest.raises(InputError, match="this patch is for another file"):
            apply_patch(bytes(other), make_patch(before, after))


def test_a_digest_is_enough_to_tell_another_file() -> None:
    digest = hashlib.sha256(b"\0\0\0").hexdigest()
    patch = read_patch(f"file,sha256,{digest.upper()}\n1,05")
    assert apply_patch(b"\0\0\0", patch)[0] == b"\0\x05\0"
    with pytest.raises(InputError, match="for another file: the digests differ"):
        apply_patch(b"\0\0\x01", patch)


def test_old_bytes_are_enough_to_tell_another_file() -> None:
    patch = read_patch('# from a forum\r\n"0x00000002","02 03","00 00" # stand\r\n')
    patched, undo = apply_patch(b"\x01\x01\0\0\x01", patch)
    assert patched == b"\x01\x01\x02\x03\x01"
    assert apply_patch(patched, undo)[0] == b"\x01\x01\0\0\x01"
    with pytest.raises(InputError, match=r"2: .*at 0x00000002 it has 00 01 \(the patch expects 00 00\)"):
        apply_patch(b"\x01\x01\0\x01\x01", patch)


def test_a_patch_that_cannot_be_checked_must_be_asked_for() -> None:
    patch = read_patch("2,0x020x03\n0,ff,01")
    assert [change.address for change in patch.changes] == [0, 2]
    with pytest.raises(InputError, match="neither the bytes that it replaces nor the digest"):
        apply_patch(b"\x01\x01\0\0", patch)
    patched, undo = apply_patch(b"\x01\x01\0\0", patch, unchecked=True)
    assert patched == b"\xff\x01\x02\x03"
    assert undo.is_checked
    assert apply_patch(patched, undo)[0] == b"\x01\x01\0\0"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0x02", "1 columns"),
        ("0x02,00,00,00", "4 columns"),
        ("two,00", "'two' is not an address"),
        ("-2,00", "'-2' is not an address"),
        ("0x0000000002,00", "is not an address"),
        ("0x02,0", "'0' is not a list of bytes"),
        ("0x02,", "'' is not a list of bytes"),
        ("0x02,gg", "'gg' is not a list of bytes"),
        ("0x02,00 00,00", "1 old bytes, but 2 new ones"),
        ("0x09,00 00", "line 1 changes 0x0000000a, too"),
        ("file,sha256,00", "not a valid digest"),
        ("file,md5," + "0" * 64, "not a valid digest"),
    ],
)
def test_a_bad_line_is_told(line: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_patch(f"0x0a,00,01\n{line}\n", Path("own.csv"))
    assert message in str(caught.value)
    assert str(caught.value).startswith("own.csv:2: ")
    assert caught.value.hint


def test_a_patch_beyond_the_end_is_refused_with_its_line() -> None:
    patch = read_patch("0,01,00\n3,01 02,00 00", Path("own.csv"))
    with pytest.raises(InputError, match=r"own.csv:2: 2 bytes at 0x00000003 lie beyond the end of the file"):
        apply_patch(b"\0" * 4, patch)
    with pytest.raises(FormatError, match="no change"):
        read_patch("# nothing")
    with pytest.raises(InputError, match="one file has 1 bytes and the other 2"):
        make_patch(b"1", b"22")


BEFORE, AFTER = b"\x01\x02\x03", b"\x01\xff\x03"
PATCH = make_patch(BEFORE, AFTER)


def test_a_file_is_patched_into_another_and_back(tmp_path: Path) -> None:
    path, target, undo_path = (tmp_path / name for name in ("STARTUP.BIN", "NEW.BIN", "undo.csv"))
    path.write_bytes(BEFORE)
    undo_path.write_text(patch_file(path, PATCH, target).text())
    assert (path.read_bytes(), target.read_bytes()) == (BEFORE, AFTER)
    patch_file(target, read_patch_file(undo_path), tmp_path / "back.bin")
    assert (tmp_path / "back.bin").read_bytes() == BEFORE


def test_the_only_copy_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "STARTUP.BIN"
    path.write_bytes(BEFORE)
    (tmp_path / "link").symlink_to(path)
    os.link(path, tmp_path / "hard")
    for target in (None, path, tmp_path / "link", tmp_path / "hard", tmp_path / "." / "STARTUP.BIN"):
        with pytest.raises(InputError, match="the only copy"):
            patch_file(path, PATCH, target)
    for backup in (path, tmp_path / "link"):
        with pytest.raises(InputError, match="the backup is the file itself"):
            patch_file(path, PATCH, backup=backup)
    (tmp_path / "other").write_bytes(b"mine")
    with pytest.raises(OutputError, match="the backup file already exists"):
        patch_file(path, PATCH, backup=tmp_path / "other")
    assert path.read_bytes() == BEFORE
    for _ in range(2):
        patch_file(path, PATCH, backup=tmp_path / "old.bin")
        assert (path.read_bytes(), (tmp_path / "old.bin").read_bytes()) == (AFTER, BEFORE)
        path.write_bytes(BEFORE)


def test_a_patch_that_does_not_fit_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "STARTUP.BIN"
    path.write_bytes(b"???")
    with pytest.raises(InputError, match="another file"):
        patch_file(path, PATCH, tmp_path / "new", backup=tmp_path / "old")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["STARTUP.BIN"]
    with pytest.raises(FormatError):
        patch_file(tmp_path / "none", PATCH, tmp_path / "new")


def test_a_patch_that_is_applied_or_not_yet_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(AFTER)
    with pytest.raises(InputError, match="already applied"):
        patch_file(path, PATCH, tmp_path / "b.bin")
    path.write_bytes(BEFORE)
    with pytest.raises(InputError, match="is not applied"):
        unpatch_file(path, PATCH, tmp_path / "b.bin")


def test_a_patch_with_too_many_changes_is_refused_at_the_first_too_many() -> None:
    with pytest.raises(FormatError, match=r":100001: the patch has more than 100,000 changes"):
        read_patch("".join(f"{2 * i},00\n" for i in range(100_001)) + "nonsense", Path("own.csv"))
