"""Forges recordings: their header, rules, documents, columns and messages, with checksums that fit again."""

from __future__ import annotations

import io
import json
import random

import numpy as np
from mcap.writer import CompressionType, Writer

from posewright.recordings.container_reader import Contents, unpack
from posewright.recordings.mcap_file import METADATA, compute_part_checksums

from .mutation import mutate_json

NUMBERS = tuple(np.array([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, 1e6, 1e-300], dtype="<f8"))


def mutate_recording(rng: random.Random, data: bytes) -> bytes:
    """Return a forged recording as a file; only the checksum of what happened is that of no recording."""
    return file_of(forge(rng, unpack(io.BytesIO(data))))


def forge(rng: random.Random, contents: Contents) -> Contents:
    """Return the contents of a recording with one or two changes and matching seals of its texts."""
    messages_by_topic = {name: list(messages) for name, messages in contents.messages.items()}
    metadata = dict(contents.metadata[METADATA])
    documents = dict(contents.attachments)
    for _ in range(rng.randint(1, 2)):
        change = rng.randrange(6)
        if change < 2:
            name = rng.choice(("header", "header", "arena", "columns"))
            metadata[name] = mutate_json(rng, metadata[name].encode()).decode()
        elif change == 2 and documents:
            name = rng.choice([*documents, *(name for name in documents if "rules" in name)])
            text = documents[name].decode()
            position = rng.randrange(len(text))
            character = rng.choice("0123456789-:. \n{[#e&*")
            documents[name] = (
                f"{text[:position]}{character * rng.randint(0, 3)}{text[position + 1 :]}".encode()
            )
        else:
            topic = rng.choice([name for name, messages in messages_by_topic.items() if messages])
            _forge_messages(rng, messages_by_topic[topic])
    texts = {name: raw.decode(errors="replace") for name, raw in documents.items()}
    metadata["seal"] = json.dumps(compute_part_checksums(metadata, texts, ""))
    return Contents(messages_by_topic, documents, {METADATA: metadata})


def _forge_messages(rng: random.Random, messages: list[bytes]) -> None:
    """Change, drop, repeat or swap messages of a topic in place."""
    row = rng.randrange(len(messages))
    change = rng.randrange(8)
    if change == 0:
        del messages[row]
    elif change == 1:
        messages[row:row] = [messages[row]] * rng.choice((1, 1, 50))
    elif change == 2:
        other_row = rng.randrange(len(messages))
        messages[row], messages[other_row] = messages[other_row], messages[row]
    elif messages[row][:1] == b"{":
        messages[row] = mutate_json(rng, messages[row])
    else:
        messages[row] = _bent_bytes(rng, messages[row])


def _bent_bytes(rng: random.Random, raw: bytes) -> bytes:
    """Return the bytes of a message in CDR with some numbers or bytes otherwise."""
    bent = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        change = rng.randrange(4)
        position = rng.randrange(max(1, len(bent)))
        if change == 0:
            bent[position : position + 1] = bytes([rng.randrange(256)])
        elif change == 1:
            del bent[position : position + rng.randint(1, 9)]
        else:
            start = 4 + (position - 4) // 8 * 8
            bent[start : start + 8] = rng.choice(NUMBERS).tobytes()[: len(bent[start : start + 8])]
    return bytes(bent)


def file_of(contents: Contents) -> bytes:
    """Return an MCAP file with some contents, written by the official library."""
    stream = io.BytesIO()
    writer = Writer(stream, compression=CompressionType.NONE)
    writer.start()
    for name, values in contents.metadata.items():
        writer.add_metadata(name, values)
    for name, raw in contents.attachments.items():
        writer.add_attachment(0, 0, name, "text/plain", raw)
    for topic, messages in contents.messages.items():
        channel = writer.register_channel(topic, "cdr", 0)
        for number, message in enumerate(messages):
            writer.add_message(channel, log_time=number, data=message, publish_time=number, sequence=number)
    writer.finish()
    return stream.getvalue()
