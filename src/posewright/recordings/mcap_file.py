"""Recordings to MCAP files any viewer opens, and back to the last bit; topics: `docs/recordings.md`."""

from __future__ import annotations

import hashlib
import io
import logging
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

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
    exact_topics,
    is_read_back,
    json_bytes,
    read_recording,
)
from posewright.recordings.views import view_topics

METADATA = "posewright.recording"
"""Name of the metadata record that makes an MCAP file a recording of ours."""

FORMAT = "3"
_OLD_METADATA = "posewright.trace"

SEALED = ("header", "arena", "columns")
"""The entries of a recording's metadata that are sealed one by one."""

_ATTACHED, _HAPPENED = "attachment ", "what happened"

_MAGIC = b"\x89MCAP0\r\n"


def write_mcap(recording: Recording, path: Path | str, further: Sequence[Topic] = ()) -> None:
    """Write a recording so that `read_mcap` gives it back to the last bit.

    The file appears whole or not at all. Log times are the body's, in nanoseconds from 0.

    Args:
        recording: what happened.
        path: where to.
        further: topics for viewers, such as `figures.camera_topics`; they are not read back, and neither the
            digest nor the seal covers them.

    Raises:
        InputError: a text in it cannot be written.
        OutputError: the file cannot be written, or would be larger than is read.
    """
    write_atomically(Path(path), mcap_bytes(recording, further), durable=False)  # a run can be repeated


def mcap_bytes(recording: Recording, further: Sequence[Topic] = ()) -> bytes:
    """Return the recording as bytes, as `write_mcap` writes it; the same recording gives the same bytes.

    Raises:
        InputError: a text in it cannot be written.
        OutputError: it would be larger than is read.
    """
    from posewright.recordings.container_writer import pack

    with np.errstate(all="ignore"):  # what a viewer's float32 cannot hold is stored exactly beside it
        topics = [*view_topics(recording), *exact_topics(recording), *further]
    bodies = {topic.name: topic.messages for topic in topics}
    require_size("decisions and events", *json_bytes(recording.header, bodies, recording.n_rows))
    header = dict(recording.header.to_plain())
    about = {
        "format": FORMAT,
        "arena": to_json(header.pop("arena")),
        "header": to_json(header),
        "columns": to_json(columns_of(recording)),
        "digest": f"{DIGEST_KIND}:{recording.digest()}",
    }
    documents = recording.header.documents
    about["seal"] = to_json(seal(about, documents, recording.content_digest))
    for name in (*SEALED, "seal"):
        require_size(f"the {name}", len(about[name]), MAX_TEXT_BYTES)
    return pack(topics, documents, {METADATA: about})


def read_mcap(path: Path | str, *, trust_attached_rules: bool = False) -> Recording:
    """Read a recording that `write_mcap` wrote.

    Raises:
        FormatError: there is no such file, it is damaged, cut off or changed, or it is no recording of ours;
            only where attached rules are trusted, rules may have been changed, added or taken out.
    """
    path = Path(path)
    try:
        with open_regular_file(path) as file:
            _check_kind(path, file)
            return _recording(file, trust_attached_rules=trust_attached_rules)
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", where=Where(path=path)) from error
    except InputError as error:
        raise FormatError(error.message, where=Where(path=path), hint=error.hint) from error
    except RecursionError as error:
        _refuse(path, "the recording is damaged: it is nested too deeply", "plain values", cause=error)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, struct.error) as error:
        _refuse(path, f"the recording is damaged: {error!r:.200}", "a recording as written", cause=error)


def _check_kind(path: Path, file: BinaryIO) -> None:
    begin, size = file.read(len(_MAGIC)), file.seek(0, io.SEEK_END)
    if not begin:
        _refuse(path, "the file is empty", "a recording is an MCAP file")
    if not _MAGIC.startswith(begin):
        _refuse(path, "not an MCAP file", "a recording begins with the bytes 89 4D 43 41 50 30 0D 0A", 0)
    file.seek(max(len(_MAGIC), size - len(_MAGIC)))
    if file.read() != _MAGIC:
        _refuse(path, "the recording is cut off", "an MCAP file ends as it begins", size)
    if size > MAX_FILE_BYTES:
        _refuse(path, f"larger than {MAX_FILE_BYTES} bytes", "no recording comes near this size")


def _refuse(
    path: Path, message: str, hint: str, offset: int | None = None, cause: Exception | None = None
) -> NoReturn:
    raise FormatError(message, where=Where(path=path, offset=offset), hint=hint) from cause


def _recording(file: BinaryIO, *, trust_attached_rules: bool) -> Recording:
    from posewright.recordings.container_reader import unpack

    contents = unpack(file, is_read_back)
    about = contents.metadata.get(METADATA, {})
    if not about:
        if _OLD_METADATA in contents.metadata:
            raise InputError(
                "a recording of format '1'", hint="Posewright before 0.2 reads it; record it anew"
            )
        hint = f"a recording has the metadata record {METADATA!r}"
        raise InputError("an MCAP file, but no Posewright recording", hint=hint)
    if about.get("format") != FORMAT:
        hint = f"this version reads format {FORMAT!r}; record it anew"
        raise InputError(f"a recording of format {about.get('format')!r:.40}", hint=hint)
    told = {name: _parsed(about, name) for name in (*SEALED, "seal")}
    documents = {name: _decoded(name, raw) for name, raw in contents.attachments.items()}
    is_whole = _check_texts(
        told["seal"], seal(about, documents, ""), trust_attached_rules=trust_attached_rules
    )
    require_shape("its header", told["header"], dict)
    header = Header.from_plain({**told["header"], "arena": told["arena"]}, documents)
    recording = read_recording(header, told["columns"], contents.messages)
    digests = {about.get("digest"), f"{DIGEST_KIND}:{recording.digest()}"} if is_whole else set[str | None]()
    _check_happened(told["seal"], seal(about, documents, recording.content_digest), digests)
    return recording


def _parsed(about: Mapping[str, str], name: str) -> Any:
    text = about.get(name, "")
    if len(text) > MAX_TEXT_BYTES:
        raise InputError(f"its {name} has {len(text)} characters", hint=f"at most {MAX_TEXT_BYTES}")
    return from_json(text, f"its {name}")


def _decoded(name: str, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"the recording is damaged: the attachment {name!r:.80} is no UTF-8") from error


def seal(about: Mapping[str, str], documents: Mapping[str, str], happened: str) -> dict[str, str]:
    """Return a checksum of each part, SHA-256 in hex, by what the part is called: a change can be named.

    It is no signature: who forges a file can seal it anew, but then its digest is another one. The digest
    enters each of them: parts of two recordings do not fit together.

    Args:
        about: the metadata, its `digest` with it.
        documents: the attached texts by name.
        happened: `Recording.content_digest`.
    """
    parts = {name: about[name] for name in SEALED}
    parts |= {_ATTACHED + name: text for name, text in documents.items()}
    parts[_HAPPENED] = happened
    told = {name: to_json([about.get("digest"), name, text]).encode() for name, text in parts.items()}
    return {name: hashlib.sha256(raw).hexdigest() for name, raw in told.items()}


def _check_texts(told: PlainMapping, right: Mapping[str, str], *, trust_attached_rules: bool) -> bool:
    """Check the seals of all texts; return whether those of attached rules fit too.

    Raises:
        InputError: a text was changed, added or taken out; of rules too, unless these are trusted.
    """
    require_shape("its seal", told, {str: str})
    broken = [name for name in {**right, **told} if name != _HAPPENED and told.get(name) != right.get(name)]
    if set(SEALED) <= set(broken):
        raise _changed("another digest")
    for name in broken:
        how = "added" if name not in told else "taken out" if name not in right else "changed"
        attached = name.removeprefix(_ATTACHED)
        if not name.startswith(_ATTACHED):
            raise _changed(f"the {name} {how}")
        if not attached.endswith(RULES_SUFFIX):
            raise _changed(f"the attachment {attached!r:.80} {how}")
        if not trust_attached_rules:
            advice = "; --trust-attached-rules judges by the rules it has now"
            raise _changed(f"the rules {attached!r:.80} {how}", advice)
        message = "the rules %s of a recording were %s after it was made: its digest was not checked"
        logging.getLogger("posewright").warning(message, escape_unprintable(f"{attached!r:.80}"), how)
    return not broken


def _check_happened(told: Mapping[str, str], right: Mapping[str, str], digests: set[str | None]) -> None:
    """Check the seal of everything that is no text, and that the digests, written and worked out, are one."""
    if told.get(_HAPPENED) != right[_HAPPENED]:
        raise _changed("other rows, decisions, contacts or events")
    if len(digests) > 1:
        raise _changed("another digest")


def _changed(what: str, advice: str = "") -> InputError:
    message = f"the recording was changed after it was made: {what}"
    return InputError(message, hint=f"its seal no longer fits{advice}")
