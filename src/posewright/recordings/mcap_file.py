"""Write recordings as MCAP files that any viewer opens, and read them back to the last bit.

`docs/recordings.md` lists the topics.
"""

from __future__ import annotations

import hashlib
import io
import logging
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from posewright.documents import open_regular_file, write_atomically
from posewright.documents.plain import PlainMapping
from posewright.errors import FormatError, InputError, Where, escape_unprintable
from posewright.recordings.budgets import MAX_FILE_BYTES, MAX_TEXT_BYTES, require_size
from posewright.recordings.exact_json import from_json, require_shape, to_json
from posewright.recordings.header import RULES_SUFFIX, Header
from posewright.recordings.recording import DIGEST_KIND, Recording
from posewright.recordings.topics import (
    Topic,
    columns_of,
    count_json_bytes,
    exact_topics,
    is_read_back,
    read_recording,
)
from posewright.recordings.views import view_topics

METADATA = "posewright.recording"
"""Name of the metadata record by which an MCAP file is recognised as a recording of Posewright."""

FORMAT = "3"
"""Version of the format of recordings, which the metadata state."""

_OLD_METADATA = "posewright.trace"

CHECKSUMMED_PARTS = ("header", "arena", "columns")
"""Entries of a recording's metadata with a checksum of their own in the seal."""

_ATTACHMENT_PREFIX = "attachment "
_CONTENT = "what happened"
"""Names of parts in the seal: of an attachment, and of rows, decisions, contacts and events together."""

_MAGIC = b"\x89MCAP0\r\n"
_MAGIC_HEX = "89 4D 43 41 50 30 0D 0A"


def write_mcap(recording: Recording, path: Path | str, extra_topics: Sequence[Topic] = ()) -> None:
    """Write a recording so that `read_mcap` returns it to the last bit.

    The file is written completely or not at all. Log times are the body's, in nanoseconds from 0.

    Args:
        recording: the recording to write.
        path: the path of the file.
        extra_topics: for viewers, such as those of `figures.camera_topics`. They are not read back, and
            neither the digest nor the seal includes them.

    Raises:
        InputError: a text in the recording cannot be written as UTF-8.
        OutputError: the file cannot be written, or would exceed the size limits for reading.
    """
    write_atomically(Path(path), mcap_bytes(recording, extra_topics), durable=False)  # a run can be repeated


def mcap_bytes(recording: Recording, extra_topics: Sequence[Topic] = ()) -> bytes:
    """Return the bytes of the file that `write_mcap` writes; the same recording gives the same bytes.

    Viewer topics show the recording in a viewer, in float32; exact topics are read back, in float64. The
    documents (robot, behaviour, ...) are attachments. The metadata hold the header, the names of the columns,
    the digest of the recording, and the seal: checksums of each part, by which a changed one is noticed.

    Args:
        recording: the recording to write.
        extra_topics: topics for viewers only, such as those of `figures.camera_topics`.

    Raises:
        InputError: a text in the recording cannot be written as UTF-8.
        OutputError: the file would exceed the size limits for reading.
    """
    from posewright.recordings.container_writer import build_mcap_file

    with np.errstate(all="ignore"):  # float32 in topics for viewers may overflow; exact topics have float64
        topics = [*view_topics(recording), *exact_topics(recording), *extra_topics]
    messages = {topic.name: topic.messages for topic in topics}
    size, limit = count_json_bytes(recording.header, messages, recording.n_rows)
    require_size("decisions and events", size, limit)
    header = dict(recording.header.to_plain())
    metadata = {
        "format": FORMAT,
        "arena": to_json(header.pop("arena")),
        "header": to_json(header),
        "columns": to_json(columns_of(recording)),
        "digest": f"{DIGEST_KIND}:{recording.digest()}",
    }
    documents = recording.header.documents
    metadata["seal"] = to_json(compute_part_checksums(metadata, documents, recording.content_digest))
    for name in (*CHECKSUMMED_PARTS, "seal"):
        require_size(f"the {name}", len(metadata[name]), MAX_TEXT_BYTES)
    return build_mcap_file(topics, documents, {METADATA: metadata})


def read_mcap(path: Path | str, *, trust_attached_rules: bool = False) -> Recording:
    """Read a recording that `write_mcap` wrote.

    Args:
        path: the path of the file.
        trust_attached_rules: accept a recording whose attached rules of a contest were changed, added or
            removed after it was written. Its digest is not checked then.

    Raises:
        FormatError: the file does not exist, is damaged, cut off or changed, or is not a recording.
    """
    path = Path(path)
    try:
        with open_regular_file(path) as file:
            _require_complete_mcap(path, file)
            return _read_recording(file, trust_attached_rules=trust_attached_rules)
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", where=Where(path=path)) from error
    except InputError as error:
        raise FormatError(error.message, where=Where(path=path), hint=error.hint) from error
    except RecursionError as error:
        raise FormatError(
            "the recording is damaged: its JSON is nested too deeply", where=Where(path=path)
        ) from error
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, struct.error) as error:
        raise FormatError(f"the recording is damaged: {error!r:.200}", where=Where(path=path)) from error


def _require_complete_mcap(path: Path, file: BinaryIO) -> None:
    """Raise unless a file begins and ends as an MCAP file and is not too large."""
    start = file.read(len(_MAGIC))
    size = file.seek(0, io.SEEK_END)
    if not start:
        raise FormatError("the file is empty", where=Where(path=path), hint="a recording is an MCAP file")
    if not _MAGIC.startswith(start):
        raise FormatError(
            "not an MCAP file",
            where=Where(path=path, offset=0),
            hint=f"a recording begins with the bytes {_MAGIC_HEX}",
        )
    file.seek(max(len(_MAGIC), size - len(_MAGIC)))
    if file.read() != _MAGIC:
        raise FormatError(
            "the recording is cut off",
            where=Where(path=path, offset=size),
            hint=f"an MCAP file ends with the bytes {_MAGIC_HEX}",
        )
    if size > MAX_FILE_BYTES:
        raise FormatError(
            f"the recording has {size} bytes", where=Where(path=path), hint=f"at most {MAX_FILE_BYTES}"
        )


def _read_recording(file: BinaryIO, *, trust_attached_rules: bool) -> Recording:
    """Read a recording from an MCAP file.

    The file has a seal, a checksum of each of its parts. Its texts are compared with the seal before they are
    used, its rows and events when they have been read.

    Args:
        file: the file, open for reading.
        trust_attached_rules: accept changed rules of a contest, as for `read_mcap`.

    Raises:
        InputError: the file is not a recording, or was damaged or changed.
    """
    from posewright.recordings.container_reader import unpack

    contents = unpack(file, is_read_back)
    metadata = contents.metadata.get(METADATA, {})
    if not metadata:
        if _OLD_METADATA in contents.metadata:
            raise InputError(
                "a recording of format '1'", hint="Posewright before 0.2 reads it; record it anew"
            )
        hint = f"a recording has the metadata record {METADATA!r}"
        raise InputError("an MCAP file, but no Posewright recording", hint=hint)
    if metadata.get("format") != FORMAT:
        hint = f"this version reads format {FORMAT!r}; record it anew"
        raise InputError(f"a recording of format {metadata.get('format')!r:.40}", hint=hint)
    parts = {name: _parse_metadata(metadata, name) for name in (*CHECKSUMMED_PARTS, "seal")}
    stored_seal = parts["seal"]
    documents = {name: _decode_attachment(name, raw) for name, raw in contents.attachments.items()}
    are_texts_unchanged = _require_unchanged_texts(
        stored_seal,
        compute_part_checksums(metadata, documents, content_digest=""),
        trust_attached_rules=trust_attached_rules,
    )
    require_shape("its header", parts["header"], dict)
    header = Header.from_plain({**parts["header"], "arena": parts["arena"]}, documents)
    recording = read_recording(header, parts["columns"], contents.messages)
    expected_seal = compute_part_checksums(metadata, documents, recording.content_digest)
    # the digest includes the rules, so with other rules it is not compared
    stored_digest = metadata.get("digest", "") if are_texts_unchanged else None
    _require_unchanged_content(recording, stored_seal, expected_seal, stored_digest)
    return recording


def _require_unchanged_content(
    recording: Recording,
    stored_seal: Mapping[str, str],
    expected_seal: Mapping[str, str],
    stored_digest: str | None,
) -> None:
    """Raise if rows, decisions, contacts or events were changed, or the digest unless it is None."""
    if stored_seal.get(_CONTENT) != expected_seal[_CONTENT]:
        raise _changed_error("other rows, decisions, contacts or events")
    if stored_digest is not None and stored_digest != f"{DIGEST_KIND}:{recording.digest()}":
        raise _changed_error("another digest")


def _parse_metadata(metadata: Mapping[str, str], name: str) -> Any:
    """Return the value of the JSON in an entry; Any, as of `from_json`, until its shape is checked."""
    text = metadata.get(name, "")
    if len(text) > MAX_TEXT_BYTES:
        raise InputError(f"its {name} has {len(text)} characters", hint=f"at most {MAX_TEXT_BYTES}")
    return from_json(text, f"its {name}")


def _decode_attachment(name: str, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"the recording is damaged: the attachment {name!r:.80} is not UTF-8") from error


def compute_part_checksums(
    metadata: Mapping[str, str], documents: Mapping[str, str], content_digest: str
) -> dict[str, str]:
    """Return a checksum of each part of a recording, SHA-256 in hex, by the part's name.

    With it, an error can name the part that was changed. It is no signature: a forger can recompute it, but
    not for the same digest. As each checksum includes the digest, parts of two recordings cannot be mixed.

    Args:
        metadata: the metadata of the recording, with its `digest`.
        documents: the attached texts by name.
        content_digest: `Recording.content_digest`.
    """
    parts = {name: metadata[name] for name in CHECKSUMMED_PARTS}
    parts |= {_ATTACHMENT_PREFIX + name: text for name, text in documents.items()}
    parts[_CONTENT] = content_digest
    digest = metadata.get("digest")
    return {
        name: hashlib.sha256(to_json([digest, name, text]).encode()).hexdigest()
        for name, text in parts.items()
    }


def _require_unchanged_texts(
    stored: PlainMapping, expected: Mapping[str, str], *, trust_attached_rules: bool
) -> bool:
    """Compare the checksums of all texts; return whether all of them are equal.

    Args:
        stored: the seal in the file.
        expected: the seal of the file's texts as they are.
        trust_attached_rules: log a warning if only attached rules differ.

    Raises:
        InputError: a text was changed, added or removed.
    """
    require_shape("its seal", stored, {str: str})
    changed_parts = [
        name for name in {**expected, **stored} if name != _CONTENT and stored.get(name) != expected.get(name)
    ]
    if set(CHECKSUMMED_PARTS) <= set(changed_parts):
        raise _changed_error("another digest")
    for part in changed_parts:
        if part not in stored:
            change = "added"
        elif part not in expected:
            change = "removed"
        else:
            change = "changed"
        if not part.startswith(_ATTACHMENT_PREFIX):
            raise _changed_error(f"the {part} {change}")
        file_name = part.removeprefix(_ATTACHMENT_PREFIX)
        if not file_name.endswith(RULES_SUFFIX):
            raise _changed_error(f"the attachment {file_name!r:.80} {change}")
        if not trust_attached_rules:
            advice = "; --trust-attached-rules judges by the rules it has now"
            raise _changed_error(f"the rules {file_name!r:.80} {change}", advice)
        message = "the rules %s of a recording were %s after it was made: its digest was not checked"
        logging.getLogger("posewright").warning(message, escape_unprintable(f"{file_name!r:.80}"), change)
    return not changed_parts


def _changed_error(change: str, advice: str = "") -> InputError:
    message = f"the recording was changed after it was made: {change}"
    return InputError(message, hint=f"its seal does not match{advice}")
