"""Reads a trace back from an MCAP recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from posewright.documents import open_ordinary
from posewright.errors import FormatError, InputError, Where
from posewright.recordings.digest import DIGEST_KIND
from posewright.recordings.header import Header
from posewright.recordings.mcap_writer import FORMAT, METADATA
from posewright.recordings.plain import from_json
from posewright.recordings.recording import Recording
from posewright.recordings.row_topics import read_rows
from posewright.recordings.sensor_topics import read_readings
from posewright.recordings.tick_topics import CHART, EVENTS, read_events, read_ticks

if TYPE_CHECKING:
    from posewright.recordings.container_reader import Contents

MAX_FILE_BYTES = 1 << 29
"""A race of 100 s takes some 3 MB."""

_MAGIC = b"\x89MCAP0\r\n"


def read_mcap(path: Path | str) -> Recording:
    """Read a trace that `write_mcap` wrote.

    Raises:
        FormatError: there is no such file, it is damaged or cut off, or it is no trace.
    """
    path = Path(path)
    data = _read_bytes(path)
    from posewright.recordings.container_reader import unpack

    try:
        return _trace(unpack(data))
    except InputError as error:
        raise FormatError(error.message, where=Where(path=path), hint=error.hint) from error


def _read_bytes(path: Path) -> bytes:
    try:
        with open_ordinary(path) as file:
            begin = file.read(len(_MAGIC))
            _check_kind(path, begin)
            data = begin + file.read(MAX_FILE_BYTES)
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", where=Where(path=path)) from error
    if len(data) > MAX_FILE_BYTES:
        _refuse(path, f"larger than {MAX_FILE_BYTES} bytes", "no trace comes near this size")
    if len(data) < 2 * len(_MAGIC) or not data.endswith(_MAGIC):
        _refuse(path, "the recording is cut off", "an MCAP file ends as it begins", len(data))
    return data


def _check_kind(path: Path, begin: bytes) -> None:
    if not begin:
        _refuse(path, "the file is empty", "a trace is an MCAP recording")
    if begin != _MAGIC:
        if _MAGIC.startswith(begin):
            _refuse(path, "the recording is cut off", "an MCAP file ends as it begins", len(begin))
        _refuse(path, "not an MCAP recording", "a trace begins with the bytes 89 4D 43 41 50 30 0D 0A", 0)


def _refuse(path: Path, message: str, hint: str, offset: int | None = None) -> NoReturn:
    raise FormatError(message, where=Where(path=path, offset=offset), hint=hint)


def _trace(contents: Contents) -> Recording:
    about = contents.metadata.get(METADATA)
    if about is None:
        raise InputError(
            "an MCAP recording, but no Posewright trace", hint=f"a trace has the metadata record {METADATA!r}"
        )
    if about.get("format") != FORMAT:
        raise InputError(
            f"a trace of format {about.get('format')!r}", hint=f"this version reads format {FORMAT!r}"
        )
    documents = {name: text.decode("utf-8", "replace") for name, text in contents.attachments.items()}
    header = Header.from_plain(from_json(about.get("header", "")), documents)
    messages = contents.messages
    fields: dict[str, Any] = {**read_rows(header, messages), **read_ticks(messages.get(CHART, ()))}
    trace = Recording(
        header=header,
        **fields,
        sensors=read_readings(messages),
        events=read_events(messages.get(EVENTS, ())),
    )
    if about.get("digest") != f"{DIGEST_KIND}:{trace.digest()}":
        raise InputError("the trace was changed after it was recorded", hint="its digest no longer fits")
    return trace
