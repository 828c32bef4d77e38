"""The format of ODA archives: each motion in an archive is a page of the motion file."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from posewright.documents import is_file
from posewright.errors import FormatError, Where
from posewright.formats.binary import ByteRange, is_gzip, unpack_gzip
from posewright.formats.file_kind import MAX_MOTION_BYTES, FileKind, gzip_starts_with, starts_with
from posewright.formats.motion_file import (
    LazyMotions,
    MotionFile,
    MotionSummary,
    Origin,
    PageLabel,
    origin_of,
)
from posewright.formats.motion_format import MotionFormat, Rendering, WriteOptions
from posewright.formats.oda.archive import MAGIC, NAME_BYTES, ODA, EntryKind, OdaArchive, OdaEntry
from posewright.formats.oda.reader import parse_archive
from posewright.formats.omtn.document import OmtnDocument
from posewright.formats.omtn.format import QUANTUM, in_latin_1, omtn_of, rendering_of
from posewright.formats.omtn.reader import read_omtn_at
from posewright.formats.omtn.to_motion import NAMING, card_for, omtn_motion
from posewright.motions import Motion
from posewright.robots import Robot

MAX_UNPACKED_BYTES = 64_000_000
"""Largest size of all motions of an archive; AIBO Mind 3 has 2,697 of some 4 kB each."""


def document_of(entry: OdaEntry, number: int, archive: OdaArchive) -> OmtnDocument:
    """Return the motion of an entry; `number` is its number in the table, from 1."""
    byte_range = ByteRange(
        archive.path,
        base=entry.offset or 0,
        inside=f"entry {number}, {entry.name!r}",
        unpacked=archive.wrapping is not None,
    )
    return read_omtn_at(entry.data, byte_range)


def plain_entry(entry: OdaEntry, number: int, archive: OdaArchive) -> bytes:
    """Return the bytes of an entry without gzip; `number` is its number in the table, from 1."""
    if not is_gzip(entry.data):
        return entry.data
    byte_range = ByteRange(archive.path, entry.offset or 0, f"entry {number}, {entry.name!r}")
    return unpack_gzip(entry.data, byte_range, MAX_MOTION_BYTES)[0].unpacked


def archive_motion_file(archive: OdaArchive, path: Path, robot: Robot | None = None) -> MotionFile:
    """Return an archive as a motion file with a page for each motion; its number is that of the entry.

    All motions are checked, and damaged ones are left out with a warning; but each `Motion` is built at its
    first use only. With a `robot`, the motions are for it if it has their joints.

    Raises:
        FormatError: the motions unpack to more than `MAX_UNPACKED_BYTES` in all.
    """
    summaries: dict[int, MotionSummary] = {}
    n_unpacked_bytes = 0
    remarks = list(archive.remarks)
    for number, entry in enumerate(archive.entries, 1):
        if entry.content.kind is not EntryKind.MOTION:
            continue
        try:
            document = document_of(entry, number, archive)
        except FormatError as error:
            remarks.append(f"left out: {error}")
            continue
        n_unpacked_bytes += len(document.wrapping.unpacked if document.wrapping else entry.data)
        _require_unpacked_size(n_unpacked_bytes, entry, path)
        summaries[number] = MotionSummary(
            document.name or entry.name, len(document.angles), document.duration_s
        )
    builders = [partial(archive_motion, number, archive, path, robot) for number in summaries]
    motions = LazyMotions(builders, tuple(summaries.values()))
    labels = tuple(PageLabel(number, archive.entries[number - 1].name) for number in summaries)
    return MotionFile(
        ODA,
        path,
        motions,
        pages=labels,
        n_pages=len(archive.entries),
        warnings=tuple(remarks),
        document=archive,
    )


def _require_unpacked_size(n_unpacked_bytes: int, entry: OdaEntry, path: Path) -> None:
    if n_unpacked_bytes > MAX_UNPACKED_BYTES:
        message = f"its motions unpack to more than {MAX_UNPACKED_BYTES:,} bytes"
        hint = "extract single entries with `posewright aibo archive extract`"
        raise FormatError(message, where=Where(path=path, offset=entry.offset), hint=hint)


def archive_motion(number: int, archive: OdaArchive, path: Path, robot: Robot | None = None) -> Motion:
    """Return the motion of an entry, from 1; it is read again, since caching thousands takes much memory."""
    document = document_of(archive.entries[number - 1], number, archive)
    return motion_of(document, number, archive, path, robot)


def motion_of(
    document: OmtnDocument, number: int, archive: OdaArchive, path: Path | None, robot: Robot | None = None
) -> Motion:
    """Return the motion of entry `number` of an archive, with the archive as its origin."""
    card = card_for(document, robot)
    origin = Origin(ODA, archive, number, remarks=document.remarks, path=path, robot=card)
    return omtn_motion(document, card, archive.entries[number - 1].name, origin)


def _read(data: bytes, path: Path, robot: Robot | None) -> MotionFile:
    return archive_motion_file(parse_archive(data, path), path, robot)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return the archive that a motion came from with the motion replaced, or a new archive of it alone."""
    del options
    origin = origin_of(motion, ODA)
    rendering = rendering_of(motion)
    _require_same_archive(path, None if origin is None else origin.path)
    if origin is None or not isinstance(origin.document, OdaArchive):
        name = in_latin_1(motion.name)[:NAME_BYTES]
        return replace(rendering, data=OdaArchive().with_entry(name, rendering.data).render())
    entry_index = origin.page - 1
    archive = origin.document.with_data(entry_index, rendering.data)
    if origin.is_single_page:
        archive = archive.with_only(entry_index)
    return replace(rendering, data=archive.render())


def _require_same_archive(path: Path, origin_path: Path | None) -> None:
    """Raise FormatError if a motion would overwrite another archive than the one it came from."""
    if is_file(path) and (origin_path is None or not path.samefile(origin_path)):
        message = "an archive exists here, and its other motions would be lost"
        hint = "add the motion with `posewright aibo archive add`"
        raise FormatError(message, where=Where(path=path), hint=hint)


def _render_file(file: MotionFile) -> Rendering:
    """Return the bytes of an archive with its motions replaced, and descriptions of what they lose."""
    archive = file.document
    if not isinstance(archive, OdaArchive):
        return _render(file.motion(), file.path, WriteOptions())
    if isinstance(file.motions, LazyMotions):  # no motion was replaced
        return Rendering(archive.render())
    losses: list[str] = []
    remarks: list[str] = []
    for label, motion in zip(file.pages, file.motions, strict=True):
        written_document = omtn_of(motion)
        archive = archive.with_data(label.number - 1, written_document.document.render())
        losses += [f"{label.name}: {loss}" for loss in written_document.losses]
        remarks += [f"{label.name}: {remark}" for remark in written_document.remarks]
    return Rendering(archive.render(), tuple(losses), tuple(remarks))


_IN_GZIP = (
    FileKind(
        f"{ODA}-gzip", "a Sony AIBO ODA archive inside gzip", gzip_starts_with(MAGIC), commands=("aibo",)
    ),
)
_KIND = FileKind(ODA, "a Sony AIBO ODA archive of motions", starts_with(MAGIC), commands=("aibo",))
FORMAT = MotionFormat(
    _KIND,
    (".oda",),
    _read,
    _render,
    QUANTUM,
    supports_robot=lambda card: NAMING in card.namings,
    render_file=_render_file,
    wrapped_kinds=_IN_GZIP,
    is_played_by_robots=True,
)
