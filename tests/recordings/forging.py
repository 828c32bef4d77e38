"""Forged recordings."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence

from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

from posewright.recordings.mcap_file import compute_part_checksums


def resaved(
    data: bytes,
    metadata: dict[str, str] | None = None,
    texts: Sequence[tuple[str, str]] = (),
    messages: Mapping[str, bytes | None] | None = None,
    topics: Mapping[str, str] | None = None,
    *,
    without: str = "",
    seal_as: str | None = None,
) -> bytes:
    """Return a recording as another tool would save it again, by the official library alone.

    Args:
        data: the recording.
        metadata: entries of its metadata to replace.
        texts: names and contents of attachments to add.
        messages: by topic, contents that replace the first message; None removes it.
        topics: new names of topics.
        without: name of an attachment to remove.
        seal_as: content digest for a new seal; empty to keep that of the recording, None to keep the seal.
    """
    reader = make_reader(io.BytesIO(data))
    stream = io.BytesIO()
    writer = Writer(stream, compression=CompressionType.LZ4, chunk_size=700)
    writer.start()
    documents = [
        (attachment.name, attachment.data.decode())
        for attachment in reader.iter_attachments()
        if attachment.name != without
    ]
    documents += texts
    for record in reader.iter_metadata():
        values = {**record.metadata, **(metadata or {})}
        if seal_as is not None:
            sealed = compute_part_checksums(values, dict(documents), seal_as)
            happened = {} if seal_as else {"what happened": json.loads(values["seal"])["what happened"]}
            values["seal"] = json.dumps({**sealed, **happened})
        writer.add_metadata(record.name, values)
    for name, text in documents:
        writer.add_attachment(0, 0, name, "text/plain", text.encode())
    summary = reader.get_summary()
    assert summary is not None
    channels = {}
    for channel in reversed(summary.channels.values()):
        schema = summary.schemas[channel.schema_id]
        schema_id = writer.register_schema(schema.name, schema.encoding, schema.data)
        topic = (topics or {}).get(channel.topic, channel.topic)
        channels[channel.id] = writer.register_channel(topic, channel.message_encoding, schema_id)
    for _, channel, message in reader.iter_messages():
        data_to_write = message.data
        if message.sequence == 0 and channel.topic in (messages or {}):
            data_to_write = (messages or {})[channel.topic]
        if data_to_write is not None:
            writer.add_message(
                channels[channel.id],
                log_time=message.log_time,
                data=data_to_write,
                publish_time=message.publish_time,
                sequence=message.sequence,
            )
    writer.finish()
    return stream.getvalue()


def metadata_of(data: bytes) -> dict[str, str]:
    (record,) = make_reader(io.BytesIO(data)).iter_metadata()
    return dict(record.metadata)
