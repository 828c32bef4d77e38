"""Whatever a file is, reading it gives the recording or one FormatError that says why not."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcap.data_stream import RecordBuilder
from mcap.records import Chunk, DataEnd, Footer
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer

from posewright.errors import FormatError
from posewright.recordings import Recording, mcap_bytes, read_mcap

from .forging import resaved

Make = Callable[..., Recording]

MAGIC = b"\x89MCAP0\r\n"


@pytest.fixture(scope="module")
def recorded(make_recording: Make) -> bytes:
    return mcap_bytes(make_recording(rows=3, decisions=2, joints=3))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "run.mcap"


def reason(place: Path, data: bytes) -> str:
    place.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        read_mcap(place)
    assert caught.value.where is not None
    assert caught.value.where.path == place
    assert "\n" not in str(caught.value)
    return caught.value.message


@settings(max_examples=80, deadline=None)
@given(cut=st.integers(0, 10**9))
def test_a_recording_cut_anywhere_is_refused(recorded: bytes, place: Path, cut: int) -> None:
    assert any(
        expected in reason(place, recorded[: cut % len(recorded)]) for expected in ("cut off", "empty")
    )


@settings(max_examples=400, deadline=None)
@given(position=st.integers(0, 10**9), bit=st.integers(0, 7))
def test_one_flipped_bit_is_refused(recorded: bytes, place: Path, position: int, bit: int) -> None:
    damaged = bytearray(recorded)
    damaged[position % len(damaged)] ^= 1 << bit
    reason(place, bytes(damaged))


@settings(max_examples=60, deadline=None)
@given(noise=st.binary(max_size=300))
@example(b"")
@example(b"\x06" + b"\xff" * 8)
@example(b"\x01" + (2**62).to_bytes(8, "little"))
def test_noise_between_the_magic_bytes_is_refused(place: Path, noise: bytes) -> None:
    reason(place, MAGIC + noise + MAGIC)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "empty"),
        (b"\x89", "cut off"),
        (MAGIC, "cut off"),
        (b"PK\x03\x04 and so on", "not an MCAP file"),
        (b"motion: walk\n" * 20, "not an MCAP file"),
        (bytes(200), "not an MCAP file"),
    ],
)
def test_what_is_no_recording_is_called_so(place: Path, data: bytes, expected: str) -> None:
    assert expected in reason(place, data)


def test_a_large_foreign_file_is_refused_by_its_first_bytes(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(FormatError, match="not an MCAP file"):
        read_mcap(place)
    place.unlink()


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.mcap", tmp_path):
        with pytest.raises(FormatError, match="cannot be read"):
            read_mcap(path)


def foreign(
    compression: CompressionType = CompressionType.ZSTD,
    metadata: dict[str, str] | None = None,
    name: str = "posewright.recording",
) -> bytes:
    stream = io.BytesIO()
    writer = Writer(stream, compression=compression)
    writer.start()
    schema = writer.register_schema("std_msgs/msg/Float64", "ros2msg", b"float64 data")
    channel = writer.register_channel("/number", "cdr", schema)
    writer.add_message(channel, log_time=1, data=b"\x00\x01\x00\x00" + bytes(8), publish_time=1)
    if metadata is not None:
        writer.add_metadata(name, metadata)
    writer.finish()
    return stream.getvalue()


@pytest.mark.parametrize("compression", CompressionType)
def test_somebody_elses_file_is_no_recording_of_ours(place: Path, compression: CompressionType) -> None:
    assert "no Posewright recording" in reason(place, foreign(compression))


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"format": "99"}, "format '99'"),
        ({"header": ""}, "format None"),
        ({"format": "2"}, "format '2'"),
        ({"format": "3"}, "its header: not JSON"),
        ({"format": "3", "header": "[1]"}, "its arena: not JSON"),
        ({"format": "3", "header": "[" * 100_000}, "not JSON"),
        ({"format": "3", "header": " " * 2_000_000}, "its header has 2000000 characters"),
        ({**dict.fromkeys(("header", "arena", "columns"), "{}"), "format": "3", "seal": "[]"}, "its seal"),
    ],
)
def test_what_only_claims_to_be_a_recording_is_refused(
    place: Path, metadata: dict[str, str], expected: str
) -> None:
    assert expected in reason(place, foreign(metadata=metadata))


def test_the_first_format_is_refused_with_a_hint(place: Path) -> None:
    place.write_bytes(foreign(metadata={"format": "1"}, name="posewright.trace"))
    with pytest.raises(FormatError, match=r"format '1' \(.*record it anew"):
        read_mcap(place)


def test_a_recording_saved_again_by_another_tool_is_still_the_recording(
    make_recording: Make, place: Path
) -> None:
    recording = make_recording(rows=20, decisions=5)
    place.write_bytes(resaved(mcap_bytes(recording)))
    assert read_mcap(place).digest() == recording.digest()


HUGE = "1" * 400


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("/events", b'{"time_s":-Infinity,"kind":"touch","data":{}}'),
        ("/events", b'{"time_s":{"$float":"-inf"},"kind":"touch","data":{}}'),
        ("/events", b'{"time_s":0,"kind":"touch","data":{"box":%s}}' % HUGE.encode()),
        ("/events", b'{"time_s":0,"kind":"touch"}'),
        ("/events", b'{"time_s":"soon","kind":"touch","data":{}}'),
        ("/events", b"[]"),
        ("/events", b"\xff"),
        ("/events", b'{"time_s":0,"kind":"touch","data":{"a":' + b"[" * 900 + b"]" * 900 + b"}}"),
        ("/robot_0/decisions", b"{}"),
        (
            "/robot_0/decisions",
            b'{"time_s":%s,"state":"","inputs":{},"outputs":{},"playing":null}' % HUGE.encode(),
        ),
        ("/robot_0/decisions", b'{"time_s":[],"state":"","inputs":{},"outputs":{},"playing":null}'),
        ("/robot_0/decisions", None),
        ("/robot_0/sensors", b"\0\1\0\0"),
        ("/robot_0/sensors", None),
        ("/robot_0/row", b""),
        ("/robot_0/row", None),
        ("/robot_0/start", None),
        ("/robot_0/joint_states", b"\0\1\0\0\xed\xa0\x80"),
        ("/robot_0/contacts", b"\0\1\0\0" + b"\x7f" * 56),
        ("/rows", None),
    ],
)
def test_a_forged_message_is_refused(recorded: bytes, place: Path, topic: str, message: bytes | None) -> None:
    reason(place, resaved(recorded, messages={topic: message}))


def test_a_second_channel_of_a_topic_is_refused(recorded: bytes, place: Path) -> None:
    doubled = resaved(recorded, topics={"/robot_0/joint_commands": "/robot_0/joint_states"})
    assert "two channels '/robot_0/joint_states'" in reason(place, doubled)


@pytest.mark.parametrize(
    "columns",
    [
        "null",
        "{}",
        '{"robot_0":[]}',
        '{"robot_0":{"requests":true,"free":true,"slips":true,"contacts":3,"sensors":{}}}',
        '{"robot_0":{"requests":true,"free":true,"slips":true,"contacts":null,"sensors":{"a":1e9}}}',
        '{"robot_0":{"requests":true,"free":true,"slips":true,"contacts":null,"sensors":{"a":1000000000000}}}',
        '{"robot_0":{"requests":true,"free":true,"slips":true,"contacts":null,"sensors":[1]}}',
    ],
)
def test_forged_columns_are_refused(recorded: bytes, place: Path, columns: str) -> None:
    reason(place, resaved(recorded, {"columns": columns}))


def test_a_checksum_of_zero_is_no_pass(recorded: bytes, place: Path) -> None:
    chunk = next(
        r for r in StreamReader(io.BytesIO(recorded), emit_chunks=True).records if isinstance(r, Chunk)
    )
    at = recorded.index(chunk.uncompressed_crc.to_bytes(4, "little"))
    end = recorded.index(b"\x0f" + (4).to_bytes(8, "little"), at)
    zeroed = recorded[:at] + bytes(4) + recorded[at + 4 : end + 9] + bytes(4) + recorded[end + 13 :]
    assert "checksum of the chunk is wrong" in reason(place, zeroed)


def test_a_file_that_swells_beyond_all_measure_is_refused(
    recorded: bytes, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posewright.recordings.budgets.MAX_UNPACKED_BYTES", 1000)
    assert "1000 are allowed" in reason(place, recorded)


def bomb(body: bytes, compression: str, size: int | None = None) -> bytes:
    """Return a small file whose only chunk becomes large."""
    packed = zstandard.compress(body) if compression == "zstd" else lz4.frame.compress(body)
    builder = RecordBuilder()
    Chunk(
        compression=compression,
        data=packed,
        message_start_time=0,
        message_end_time=0,
        uncompressed_crc=zlib.crc32(body),
        uncompressed_size=len(body) if size is None else size,
    ).write(builder)
    DataEnd(0).write(builder)
    footer = Footer(0, 0, 0)
    footer.write(builder)
    return MAGIC + builder.end() + MAGIC


EMPTY_RECORD = b"\x80" + bytes(8)
CHANNEL = b"\x04" + (16).to_bytes(8, "little") + bytes(16)
EMPTY_MESSAGE = b"\x05" + (22).to_bytes(8, "little") + bytes(22)


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_bombs_are_not_unpacked(place: Path, compression: str) -> None:
    assert "are allowed" in reason(place, bomb(bytes(80_000_000), compression))
    assert "unpacked to 101" in reason(place, bomb(bytes(80_000_000), compression, 100))


@pytest.mark.parametrize("record", [EMPTY_RECORD, CHANNEL + EMPTY_MESSAGE])
def test_millions_of_empty_records_are_refused(
    place: Path, record: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posewright.recordings.budgets.MAX_RECORDS", 1000)
    monkeypatch.setattr("posewright.recordings.budgets.BYTES_PER_RECORD", 1 << 20)
    assert "more than 1000 records" in reason(place, bomb(record * 1001, "zstd"))
