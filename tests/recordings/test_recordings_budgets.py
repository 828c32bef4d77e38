"""A small file never takes much memory, whatever it claims and whatever is packed in it."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import pytest
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.records import Attachment, Channel, Chunk, DataEnd, Footer, McapRecord, Metadata

from posewright.recordings import Recording, mcap_bytes

from .forging import metadata_of, resaved

MAGIC = b"\x89MCAP0\r\n"
MAX_RSS_MB = 200

JUDGE = """
import re, sys
from posewright import contests, evaluation
from posewright.errors import PosewrightError
from posewright.recordings import read_mcap
try:
    recording = read_mcap(sys.argv[1])
    contests.judge(recording)
except PosewrightError as error:
    print(f"{error!s:.200}")
    # not ru_maxrss, which a process has from the one that started it
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]
    print(int(peak) / 1024.0)
"""


pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")


def refused(path: Path, data: bytes) -> str:
    """Return why a file is refused, by a process of its own that took little memory."""
    path.write_bytes(data)
    done = subprocess.run(  # noqa: S603 -- our own interpreter
        [sys.executable, "-c", JUDGE, str(path)], capture_output=True, text=True, check=True
    )
    message, peak_mb = done.stdout.splitlines()
    assert float(peak_mb) < MAX_RSS_MB, message
    return message


def packed(*written: McapRecord | bytes) -> bytes:
    """Return a file of these records."""
    parts = []
    for record in (*written, DataEnd(0), Footer(0, 0, 0)):
        builder = RecordBuilder()
        if isinstance(record, bytes):
            parts.append(record)
        else:
            record.write(builder)
            parts.append(builder.end())
    return MAGIC + b"".join(parts) + MAGIC


def chunk(body: bytes, compression: str = "zstd", size: int | None = None) -> Chunk:
    """Return a chunk that becomes large."""
    small = {"zstd": zstandard.ZstdCompressor(level=9).compress, "lz4": lz4.frame.compress, "": bytes}
    fields = {"message_start_time": 0, "message_end_time": 0, "uncompressed_crc": zlib.crc32(body)}
    length = len(body) if size is None else size
    return Chunk(compression=compression, data=small[compression](body), uncompressed_size=length, **fields)


def record(opcode: int, body: bytes) -> bytes:
    """Return the bytes of a record."""
    return struct.pack("<BQ", opcode, len(body)) + body


def channel(number: int, topic: str) -> bytes:
    """Return the bytes of a channel."""
    builder = RecordBuilder()
    Channel(id=number, topic=topic, message_encoding="", metadata={}, schema_id=0).write(builder)
    return builder.end()


def message(number: int, body: bytes = b"") -> bytes:
    """Return the bytes of a message."""
    return record(5, struct.pack("<HIQQ", number, 0, 0, 0) + body)


def attachment(name: str, data: bytes) -> Attachment:
    """Return an attached file."""
    return Attachment(create_time=0, log_time=0, name=name, media_type="", data=data)


MIB = 1 << 20

HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "a chunk of 1 GiB, so it says": (lambda: packed(chunk(bytes(MIB), size=1 << 30)), "are allowed"),
    "chunks of 16 MiB": (lambda: packed(*[chunk(record(128, bytes(16 * MIB - 9)))] * 40), "are allowed"),
    "a chunk of 400 MiB": (lambda: packed(chunk(bytes(400 * MIB))), "are allowed"),
    "lz4 of 400 MiB": (lambda: packed(chunk(bytes(400 * MIB), "lz4", 100)), "unpacked to 101"),
    "a long window": (
        lambda: packed(
            Chunk(
                compression="zstd",
                data=zstandard.ZstdCompressor(
                    compression_params=zstandard.ZstdCompressionParameters(window_log=27)
                )
                .compressobj()
                .compress(b""),
                message_start_time=0,
                message_end_time=0,
                uncompressed_crc=0,
                uncompressed_size=1 << 23,
            )
        ),
        "unpacked to 0",
    ),
    "empty records": (lambda: packed(*[chunk(record(128, b"") * 1_500_000)] * 4), "records"),
    "empty records outside chunks": (lambda: packed(record(128, b"") * 1_000_000), "records"),
    "messages": (
        lambda: packed(chunk(channel(1, "/rows") + message(1, b"ab") * 500_000)),
        "records",
    ),
    "messages outside chunks": (
        lambda: packed(channel(1, "/events"), message(1, bytes(1 << 20)) * 60),
        "no Posewright recording",
    ),
    "a record of an exabyte": (lambda: packed(struct.pack("<BQ", 5, 1 << 60)), "claims"),
    "channels": (
        lambda: packed(chunk(b"".join(channel(i, f"/t{i}/row") for i in range(60_000)))),
        "more than 4096 channels",
    ),
    "channels over and over": (
        lambda: packed(chunk(channel(1, "/rows") * 400_000)),
        "records",
    ),
    "topics of 60 kB": (
        lambda: packed(
            *[chunk(b"".join(channel(i, f"/{i}" * 9_000) for i in range(k, k + 300))) for k in (0, 300)]
        ),
        "are allowed",
    ),
    "a topic of 1 MB": (lambda: packed(channel(1, "/" * MIB)), "channel at byte"),
    "a schema of 40 MB": (lambda: packed(record(3, bytes(40 * MIB))), "no Posewright recording"),
    "a large attachment": (lambda: packed(attachment("a", bytes(40 * MIB))), "attachment at byte"),
    "attachments": (
        lambda: packed(*[attachment(f"{i}", bytes(MIB)) for i in range(40)]),
        "bytes of attachments, metadata and channels",
    ),
    "attachments of one name": (
        lambda: packed(*[attachment("rules", b"")] * 100_000),
        "two attachments 'rules'",
    ),
    "many attachments": (
        lambda: packed(*[attachment(f"{i}", b"") for i in range(200_000)]),
        "no Posewright recording",
    ),
    "a metadata of many entries": (
        lambda: packed(Metadata("posewright.recording", {str(i): "" for i in range(150_000)})),
        "format None",
    ),
    "a metadata of too many entries": (
        lambda: packed(Metadata("posewright.recording", {str(i): "" for i in range(200_000)})),
        "metadata at byte",
    ),
    "many metadata of many entries": (
        lambda: packed(*[Metadata(f"{k}", {str(i): "" for i in range(80_000)}) for k in range(20)]),
        "bytes of attachments, metadata and channels",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_takes_little_memory(tmp_path: Path, kind: str) -> None:
    make, expected = HOSTILE[kind]
    assert expected in refused(tmp_path / "bomb.mcap", make())


@pytest.fixture(scope="module")
def recorded(make_recording: Callable[..., Recording]) -> bytes:
    return mcap_bytes(make_recording(rows=3, decisions=2, joints=3))


@pytest.mark.parametrize(
    ("entry", "change", "expected"),
    [
        ("header", ('"extras":{', '"extras":{"a":[' + "{}," * 300_000 + "{}],"), ""),
        ("header", ('"extras":{', '"extras":{"a":[' + "{}," * 500_000 + "{}],"), "its header has"),
        ("header", ('"boxes":[', '"boxes":[' + "[0,0,0]," * 50_000), "at most 1000"),
        ("header", ('"feet":[', '"feet":[' + "".join(f'"{i}",' for i in range(50_000))), "at most 1000"),
        ("columns", ('"ring":37', '"ring":37,' + ",".join(f'"{i}":65000' for i in range(5000))), "65536"),
    ],
)
def test_a_hostile_header_takes_little_memory(
    recorded: bytes, tmp_path: Path, entry: str, change: tuple[str, str], expected: str
) -> None:
    text = metadata_of(recorded)[entry]
    assert change[0] in text
    forged = resaved(recorded, {entry: text.replace(*change, 1)}, seal_as="")
    assert expected in refused(tmp_path / "header.mcap", forged)


@pytest.mark.parametrize("topic", ["/events", "/robot_0/decisions"])
def test_hostile_json_takes_little_memory(recorded: bytes, tmp_path: Path, topic: str) -> None:
    nested = b"[" + b"{}," * 5_000_000 + b"{}]"
    forged = resaved(recorded, messages={topic: b'{"time_s":0,"kind":"a","data":{"a":' + nested + b"}}"})
    assert "its decisions and events have" in refused(tmp_path / "json.mcap", forged)
    nested = b"[" + b"{}," * 650_000 + b"{}]"
    forged = resaved(recorded, messages={topic: b'{"time_s":0,"kind":"a","data":{"a":' + nested + b"}}"})
    assert "damaged" in (message := refused(tmp_path / "json.mcap", forged)) or "other rows" in message
