"""Recordings to MCAP files any viewer opens, and back to the last bit; topics: `docs/recordings.md`."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import numpy as np

from posewright.documents import open_ordinary, write_atomically
from posewright.errors import FormatError, InputError, Where
from posewright.recordings.header import Header
from posewright.recordings.plain import from_json, to_json
from posewright.recordings.recording import DIGEST_KIND, Recording
from posewright.recordings.topics import columns_of, exact_topics, read_recording
from posewright.recordings.views import view_topics

METADATA = "posewright.recording"
"""Name of the metadata record that makes an MCAP file a recording of ours."""

FORMAT = "2"
_OLD_METADATA = "posewright.trace"

MAX_FILE_BYTES = 1 << 29
"""A race of 100 s takes some 4 MB."""

_MAGIC = b"\x89MCAP0\r\n"


def write_mcap(recording: Recording, path: Path | str) -> None:
    """Write a recording so that `read_mcap` gives it back to the last bit.

    The file appears whole or not at all. Log times are the body's, in nanoseconds from 0.

    Raises:
        InputError: a text in it cannot be written.
        OutputError: the file cannot be written.
    """
    write_atomically(Path(path), mcap_bytes(recording), durable=False)  # a run can be repeated


def mcap_bytes(recording: Recording) -> bytes:
    """Return the recording as bytes; the same recording gives the same bytes."""
    from posewright.recordings.container_writer import pack

    with np.errstate(all="ignore"):  # what a viewer's float32 cannot hold is stored exactly beside it
        topics = [*view_topics(recording), *exact_topics(recording)]
    about = {
        "format": FORMAT,
        "header": to_json(recording.header.to_plain()),
        "columns": to_json(columns_of(recording)),
        "digest": f"{DIGEST_KIND}:{recording.digest()}",
    }
    documents = recording.header.documents
    return pack(topics, documents, {METADATA: {**about, "seal": _seal(about, documents)}})


def _seal(about: Mapping[str, str], documents: Mapping[str, str]) -> str:
    """Return a SHA-256 over what the digest leaves out, names and looks and all documents."""
    told = {name: about.get(name) for name in ("format", "header", "columns", "digest")}
    return hashlib.sha256(to_json([told, sorted(documents.items())]).encode()).hexdigest()


def read_mcap(path: Path | str) -> Recording:
    """Read a recording that `write_mcap` wrote.

    Raises:
        FormatError: there is no such file, it is damaged, cut off or changed, or it is no recording of ours.
    """
    path = Path(path)
    data = _read_bytes(path)
    try:
        return _recording(data)
    except InputError as error:
        raise FormatError(error.message, where=Where(path=path), hint=error.hint) from error
    except RecursionError as error:
        _refuse(path, "the recording is damaged: it is nested too deeply", "plain values", cause=error)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, struct.error) as error:
        _refuse(path, f"the recording is damaged: {error!r:.200}", "a recording as written", cause=error)


def _read_bytes(path: Path) -> bytes:
    try:
        with open_ordinary(path) as file:
            begin = file.read(len(_MAGIC))
            _check_kind(path, begin)
            data = begin + file.read(MAX_FILE_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        told = getattr(error, "strerror", None) or error
        raise FormatError(f"cannot be read: {told}", where=Where(path=path)) from error
    if len(data) > MAX_FILE_BYTES:
        _refuse(path, f"larger than {MAX_FILE_BYTES} bytes", "no recording comes near this size")
    if len(data) < 2 * len(_MAGIC) or not data.endswith(_MAGIC):
        _refuse(path, "the recording is cut off", "an MCAP file ends as it begins", len(data))
    return data


def _check_kind(path: Path, begin: bytes) -> None:
    if not begin:
        _refuse(path, "the file is empty", "a recording is an MCAP file")
    if begin != _MAGIC:
        if _MAGIC.startswith(begin):
            _refuse(path, "the recording is cut off", "an MCAP file ends as it begins", len(begin))
        _refuse(path, "not an MCAP file", "a recording begins with the bytes 89 4D 43 41 50 30 0D 0A", 0)


def _refuse(
    path: Path, message: str, hint: str, offset: int | None = None, cause: Exception | None = None
) -> NoReturn:
    raise FormatError(message, where=Where(path=path, offset=offset), hint=hint) from cause


def _recording(data: bytes) -> Recording:
    from posewright.recordings.container_reader import unpack

    contents = unpack(data)
    about = contents.metadata.get(METADATA, {})
    if not about:
        if _OLD_METADATA in contents.metadata:
            raise InputError(
                "a recording of format '1'", hint="Posewright before 0.2 reads it; record it anew"
            )
        hint = f"a recording has the metadata record {METADATA!r}"
        raise InputError("an MCAP file, but no Posewright recording", hint=hint)
    if about.get("format") != FORMAT:
        hint = f"this version reads format {FORMAT!r}"
        raise InputError(f"a recording of format {about.get('format')!r}", hint=hint)
    documents = {name: text.decode() for name, text in contents.attachments.items()}
    header = Header.from_plain(from_json(about.get("header", "")), documents)
    recording = read_recording(header, from_json(about.get("columns", "")), contents.messages)
    written = (about.get("digest"), about.get("seal"))
    if written != (f"{DIGEST_KIND}:{recording.digest()}", _seal(about, documents)):
        raise InputError(
            "the recording was changed after it was made", hint="its digest or seal no longer fits"
        )
    return recording
