"""Recordings as somebody who does not mean well would make them."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence

from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

from posewright.recordings.mcap_file import seal


def resaved(
    data: bytes,
    about: dict[str, str] | None = None,
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
        about: other entries of its metadata.
        texts: further attachments, names and contents.
        messages: other contents of the first message of a topic; None leaves it out.
        topics: other names of topics.
        without: the name of an attachment that is left out.
        seal_as: seal it anew as one of which this happened; where it is empty, that seal stays.
    """
    reader = make_reader(io.BytesIO(data))
    stream = io.BytesIO()
    writer = Writer(stream, compression=CompressionType.LZ4, chunk_size=700)
    writer.start()
    documents = [(one.name, one.data.decode()) for one in reader.iter_attachments() if one.name != without]
    documents += texts
    for record in reader.iter_metadata():
        told = {**record.metadata, **(about or {})}
        if seal_as is not None:
            sealed = seal(told, dict(documents), seal_as)
            happened = {} if seal_as else {"what happened": json.loads(told["seal"])["what happened"]}
            told["seal"] = json.dumps({**sealed, **happened})
        writer.add_metadata(record.name, told)
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
        changed = message.data
        if message.sequence == 0 and channel.topic in (messages or {}):
            changed = (messages or {})[channel.topic]
        if changed is not None:
            times = {"log_time": message.log_time, "publish_time": message.publish_time}
            writer.add_message(channels[channel.id], data=changed, sequence=message.sequence, **times)
    writer.finish()
    return stream.getvalue()


def about(data: bytes) -> dict[str, str]:
    (record,) = make_reader(io.BytesIO(data)).iter_metadata()
    return dict(record.metadata)
