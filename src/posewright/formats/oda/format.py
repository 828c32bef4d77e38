"""ODA archives, for the registry: each motion in one is a page of it."""

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

MOST_UNPACKED_BYTES = 64_000_000  # of all motions of an archive; AIBO Mind 3 has 2,697 of some 4 kB each


def document_of(entry: OdaEntry, number: int, archive: OdaArchive) -> OmtnDocument:
    """Return the motion that an entry holds; `number` is its place in the table, from 1."""
    place = ByteRange(
        archive.path, entry.offset or 0, f"entry {number}, {entry.name!r}", archive.wrapping is not None
    )
    return read_omtn_at(entry.data, place)


def plain_entry(entry: OdaEntry, number: int, archive: OdaArchive) -> bytes:
    """Return the bytes of an entry, out of gzip; `number` as in `document_of`."""
    if not is_gzip(entry.data):
        return entry.data
    place = ByteRange(archive.path, entry.offset or 0, f"entry {number}, {entry.name!r}")
    return unpack_gzip(entry.data, place, MAX_MOTION_BYTES)[0].unpacked


def archive_motion_file(archive: OdaArchive, path: Path, asked: Robot | None = None) -> MotionFile:
    """Return an archive as a motion file: a page for each entry that holds a motion, by its place from 1.

    All motions are looked through, and one that is damaged is left out with a warning; but a motion is made
    of one only when it is asked for.

    Raises:
        FormatError: the motions unpack to more than `MOST_UNPACKED_BYTES` in all.
    """
    glances: dict[int, MotionSummary] = {}
    unpacked = 0
    remarks = list(archive.remarks)
    for number, entry in enumerate(archive.entries, 1):
        if entry.contents.kind is EntryKind.MOTION:
            try:
                document = document_of(entry, number, archive)
            except FormatError as error:
                remarks.append(f"left out: {error}")
                continue
            unpacked += len(document.wrapping.unpacked if document.wrapping else entry.data)
            _refuse_bomb(unpacked, entry, path)
            glances[number] = MotionSummary(
                document.name or entry.name, len(document.angles), document.duration_s
            )
    makers = [partial(archive_motion, number, archive, path, asked) for number in glances]
    motions = LazyMotions(makers, tuple(glances.values()))
    labels = tuple(PageLabel(number, archive.entries[number - 1].name) for number in glances)
    return MotionFile(ODA, path, motions, labels, len(archive.entries), tuple(remarks), archive)


def _refuse_bomb(unpacked: int, entry: OdaEntry, path: Path) -> None:
    if unpacked > MOST_UNPACKED_BYTES:
        what = f"its motions unpack to more than {MOST_UNPACKED_BYTES:,} bytes"
        hint = "no archive known has a tenth of that; `posewright aibo archive extract` takes out single ones"
        raise FormatError(what, where=Where(path=path, offset=entry.offset), hint=hint)


def archive_motion(number: int, archive: OdaArchive, path: Path, asked: Robot | None = None) -> Motion:
    """Return the motion of an entry, from 1, read anew: thousands of documents would fill the memory."""
    document = document_of(archive.entries[number - 1], number, archive)
    return motion_of(document, number, archive, path, asked)


def motion_of(
    document: OmtnDocument, number: int, archive: OdaArchive, path: Path | None, asked: Robot | None = None
) -> Motion:
    """Return the motion of entry `number` of an archive, which remembers where it came from."""
    card = card_for(document, asked)
    origin = Origin(ODA, archive, number, remarks=document.remarks, path=path, robot=card)
    return omtn_motion(document, card, archive.entries[number - 1].name, origin)


def _read(data: bytes, path: Path, asked: Robot | None) -> MotionFile:
    return archive_motion_file(parse_archive(data, path), path, asked)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return the archive a motion came from with it in its place, or one that holds only this motion."""
    del options
    origin = origin_of(motion, ODA)
    written = rendering_of(motion)
    _refuse_to_replace(path, None if origin is None else origin.path)
    if origin is None or not isinstance(origin.document, OdaArchive):
        name = in_latin_1(motion.name)[:NAME_BYTES]
        return replace(written, data=OdaArchive().with_entry(name, written.data).render())
    archive, place = origin.document.with_data(origin.page - 1, written.data), origin.page - 1
    if origin.is_single_page:
        archive = archive.only(place)
    return replace(written, data=archive.render())


def _refuse_to_replace(path: Path, came_from: Path | None) -> None:
    """Refuse to put one motion in the place of a whole archive."""
    if is_file(path) and (came_from is None or not path.samefile(came_from)):
        what = "an archive stands here, and its other motions would be lost"
        raise FormatError(
            what, where=Where(path=path), hint="`posewright aibo archive add` puts a motion into it"
        )


def _render_file(file: MotionFile) -> Rendering:
    archive = file.document
    if not isinstance(archive, OdaArchive):
        return _render(file.motion(), file.path, WriteOptions())
    if isinstance(file.motions, LazyMotions):  # nobody has put another one in
        return Rendering(archive.render())
    losses: list[str] = []
    remarks: list[str] = []
    for label, motion in zip(file.pages, file.motions, strict=True):
        document, lost, said, _ = omtn_of(motion)
        archive = archive.with_data(label.number - 1, document.render())
        losses += [f"{label.name}: {loss}" for loss in lost]
        remarks += [f"{label.name}: {remark}" for remark in said]
    return Rendering(archive.render(), tuple(losses), tuple(remarks))


_IN_GZIP = (FileKind(f"{ODA}-gzip", "a Sony AIBO ODA archive inside gzip", gzip_starts_with(MAGIC)),)
_KIND = FileKind(ODA, "a Sony AIBO ODA archive of motions", starts_with(MAGIC))
FORMAT = MotionFormat(
    _KIND,
    (".oda",),
    _read,
    _render,
    QUANTUM,
    supports_robot=lambda card: NAMING in card.namings,
    render_file=_render_file,
    wrapped_kinds=_IN_GZIP,
)
