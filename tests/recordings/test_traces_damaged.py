"""Whatever a file is, reading it gives the trace or one FormatError that says why not."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcap.writer import CompressionType, Writer

from posewright.errors import FormatError
from posewright.recordings import Recording, mcap_bytes, read_mcap

MakeTrace = Callable[..., Recording]

MAGIC = b"\x89MCAP0\r\n"


@pytest.fixture(scope="module")
def recording(make_trace: MakeTrace) -> bytes:
    return mcap_bytes(make_trace(rows=3, ticks=2, joints=3))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "trace.mcap"


def reason(place: Path, data: bytes) -> str:
    place.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        read_mcap(place)
    assert caught.value.where is not None
    assert caught.value.where.path == place
    assert "\n" not in str(caught.value)
    return caught.value.message


@settings(max_examples=150, deadline=None)
@given(cut=st.integers(0, 10**9))
def test_a_recording_cut_anywhere_is_refused(recording: bytes, place: Path, cut: int) -> None:
    assert any(word in reason(place, recording[: cut % len(recording)]) for word in ("cut off", "empty"))


@settings(max_examples=400, deadline=None)
@given(position=st.integers(0, 10**9), bit=st.integers(0, 7))
def test_one_flipped_bit_is_refused(recording: bytes, place: Path, position: int, bit: int) -> None:
    damaged = bytearray(recording)
    damaged[position % len(damaged)] ^= 1 << bit
    reason(place, bytes(damaged))


@settings(max_examples=100, deadline=None)
@given(noise=st.binary(max_size=300))
@example(b"")
@example(b"\x06" + b"\xff" * 8)
@example(b"\x01" + (2**62).to_bytes(8, "little"))
def test_noise_between_the_magic_bytes_is_refused(place: Path, noise: bytes) -> None:
    reason(place, MAGIC + noise + MAGIC)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\x89", "cut off"),
        (MAGIC, "cut off"),
        (b"PK\x03\x04 and so on", "not an MCAP recording"),
        (b"motion: walk\n" * 20, "not an MCAP recording"),
        (bytes(200), "not an MCAP recording"),
    ],
)
def test_what_is_no_recording_is_called_so(place: Path, data: bytes, words: str) -> None:
    assert words in reason(place, data)


def test_a_large_foreign_file_is_refused_by_its_first_bytes(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(FormatError, match="not an MCAP recording"):
        read_mcap(place)
    place.unlink()


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.mcap", tmp_path):
        with pytest.raises(FormatError, match="cannot be read"):
            read_mcap(path)


def foreign(
    compression: CompressionType = CompressionType.ZSTD, metadata: dict[str, str] | None = None
) -> bytes:
    stream = io.BytesIO()
    writer = Writer(stream, compression=compression)
    writer.start()
    schema = writer.register_schema("std_msgs/msg/Float64", "ros2msg", b"float64 data")
    channel = writer.register_channel("/number", "cdr", schema)
    writer.add_message(channel, log_time=1, data=b"\x00\x01\x00\x00" + bytes(8), publish_time=1)
    if metadata is not None:
        writer.add_metadata("posewright.trace", metadata)
    writer.finish()
    return stream.getvalue()


@pytest.mark.parametrize("compression", CompressionType)
def test_somebody_elses_recording_is_no_trace(place: Path, compression: CompressionType) -> None:
    assert "no Posewright trace" in reason(place, foreign(compression))


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({}, "format None"),
        ({"format": "99"}, "format '99'"),
        ({"format": "1"}, "not JSON"),
        ({"format": "1", "header": "[1]"}, "header"),
        ({"format": "1", "header": "[" * 100_000}, "not JSON"),
    ],
)
def test_a_trace_that_only_claims_to_be_one_is_refused(
    place: Path, metadata: dict[str, str], words: str
) -> None:
    assert words in reason(place, foreign(metadata=metadata))


def test_a_changed_trace_is_refused(make_trace: MakeTrace, place: Path) -> None:
    trace = make_trace(rows=2, ticks=1)
    place.write_bytes(mcap_bytes(trace))
    stolen = {"digest": "posewright-trace-1:" + "0" * 64}
    assert "changed after it was recorded" in reason(place, resaved(place.read_bytes(), stolen))


def resaved(data: bytes, about: dict[str, str] | None = None) -> bytes:
    """Return a recording as another tool would save it again, by the official library alone."""
    from mcap.reader import make_reader

    reader = make_reader(io.BytesIO(data))
    stream = io.BytesIO()
    writer = Writer(stream, compression=CompressionType.LZ4, chunk_size=700)
    writer.start()
    for record in reader.iter_metadata():
        writer.add_metadata(record.name, {**record.metadata, **(about or {})})
    for record in reader.iter_attachments():
        writer.add_attachment(0, 0, record.name, record.media_type, record.data)
    summary = reader.get_summary()
    assert summary is not None
    channels = {}
    for channel in reversed(summary.channels.values()):
        schema = summary.schemas[channel.schema_id]
        schema_id = writer.register_schema(schema.name, schema.encoding, schema.data)
        channels[channel.id] = writer.register_channel(channel.topic, channel.message_encoding, schema_id)
    for _, channel, message in reader.iter_messages():
        writer.add_message(
            channels[channel.id], message.log_time, message.data, message.publish_time, message.sequence
        )
    writer.finish()
    return stream.getvalue()


def test_a_trace_saved_again_by_another_tool_is_still_the_trace(make_trace: MakeTrace, place: Path) -> None:
    trace = make_trace(rows=20, ticks=5)
    place.write_bytes(resaved(mcap_bytes(trace)))
    assert read_mcap(place).digest() == trace.digest()


def test_a_chunk_that_swells_beyond_all_measure_is_refused(
    recording: bytes, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posewright.recordings.container_reader.MAX_UNPACKED_BYTES", 1000)
    assert "more than 1000 bytes" in reason(place, recording)


def test_a_chunk_that_holds_more_than_it_says_is_not_unpacked_further() -> None:
    from mcap import records

    from posewright.recordings.container_reader import _decompress

    bomb = zstandard.compress(bytes(50_000_000))
    chunk = records.Chunk(
        compression="zstd",
        data=bomb,
        message_end_time=0,
        message_start_time=0,
        uncompressed_crc=0,
        uncompressed_size=10,
    )
    assert len(_decompress(chunk)) == 11
