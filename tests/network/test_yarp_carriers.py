"""Messages are framed as YARP 3.9.1 was seen to, whatever blocks they come in; damaged ones are refused."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.network.yarp.bottle import Bottle, Vocab, decode_all, encode, exact_reader
from posewright.network.yarp.carriers import (
    Assembly,
    Carrier,
    Envelope,
    Message,
    carrier_of,
    datagram,
    datagrams,
    introduction,
    take_introduction,
    take_message,
)

bottles = st.lists(st.one_of(st.integers(-9, 9), st.text("ab", max_size=3), st.floats(-1, 1))).map(tuple)
envelopes = st.builds(Envelope, st.integers(0, 1 << 31), st.floats(0, 2e9))
data_messages = st.builds(Message, st.sampled_from("dD"), bottles, st.none() | envelopes)
INDEX = "5941 0a000000 5250"


def read_message(data: bytes) -> Message:
    return decode_all(data, take_message)


@pytest.mark.parametrize(
    ("header", "carrier"),
    [
        (b"CONNECT ", Carrier.TEXT),
        (b"CONNACK ", Carrier.TEXT_ACK),
        (b"YA" + struct.pack("<i", 7777) + b"RP", Carrier.UDP),
        (b"YA" + struct.pack("<i", 7780) + b"RP", Carrier.FAST_TCP),
        (b"YA" + struct.pack("<i", 7908) + b"RP", Carrier.TCP),
    ],
)
def test_the_first_eight_bytes_choose_the_carrier(header: bytes, carrier: Carrier) -> None:
    assert carrier.header == header
    assert carrier_of(header) is carrier


@pytest.mark.parametrize(
    "header",
    [b"GET / HT", b"", b"CONNECT", b"YA\x62\x1e\0\0RP", b"YA\0\0\0\0RP", b"YA\xff\xff\xff\xffRP", b"\0" * 8],
)
def test_other_bytes_choose_none(header: bytes) -> None:
    assert carrier_of(header) is None  # 7778, multicast, among them


def test_a_sender_opens_with_its_header_and_its_name() -> None:
    opening = introduction(Carrier.TCP, "/w")
    assert opening == bytes.fromhex("5941 e41e0000 5250 03000000") + b"/w\0"
    assert take_introduction(exact_reader(io.BytesIO(opening[8:]))) == "/w"
    for name in ("00000000", "ffffffff", "ffffff7f", "02000000 2f77"):
        with pytest.raises((FormatError, EOFError)):
            take_introduction(exact_reader(io.BytesIO(bytes.fromhex(name))))


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (Message("d", (Vocab("ok"),)),
         "0101ffffffffffffffff 14000000 00000000 00000000 7e640001 09010000 01000000 6f6b0000"),
        (Message("D", ()), "0101ffffffffffffffff 10000000 00000000 00000000 7e440001 00010000 00000000"),
        (Message("q"), "0101ffffffffffffffff 0a000000 00000000 02000000 7e000001 7100"),
        (Message("D", (), Envelope(8148, 0.5)),
         "0101ffffffffffffffff 1b000000 00000000 0b000000 7e000001 44203831343820302e3500 00010000 00000000"),
    ],
)  # fmt: skip
def test_a_message_is_these_bytes(message: Message, data: str) -> None:
    assert message.encode() == bytes.fromhex(INDEX + data)
    assert read_message(message.encode()) == message


@pytest.mark.parametrize(
    ("text", "envelope"),
    [("8148 0", Envelope(8148, 0.0)), ("17 1700000000.125000", Envelope(17, 1700000000.125)),
     ("a b", None), ("1", None), ("1 nan", None), ("1 2 3", None)],
)  # fmt: skip
def test_an_envelope_is_a_number_and_a_time_or_somebody_elses(text: str, envelope: Envelope | None) -> None:
    payload = struct.pack("<i", len(text) + 3) + b"~\0\0\1D " + text.encode() + b"\0" + encode((7,))
    assert read_message(in_blocks(payload, [len(payload)])) == Message("D", (7,), envelope)


def in_blocks(payload: bytes, lengths: list[int]) -> bytes:
    """Frame a command and its bottle, cut into blocks of those lengths."""
    head = bytes.fromhex(INDEX) + bytes((len(lengths), 1)) + b"\xff" * 8
    return head + struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack("<i", 0) + payload


@given(data_messages, st.data())
def test_where_blocks_are_cut_means_nothing(message: Message, draw: st.DataObject) -> None:
    payload = message.encode()[26:]
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(payload)), max_size=254)))
    lengths = [end - begin for begin, end in zip([0, *cuts], [*cuts, len(payload)], strict=True)]
    assert read_message(in_blocks(payload, lengths)) == message


@given(st.lists(data_messages, min_size=1, max_size=4))
def test_messages_follow_each_other_without_a_gap(messages: list[Message]) -> None:
    take = exact_reader(io.BytesIO(b"".join(message.encode() for message in messages)))
    assert [take_message(take) for _ in messages] == messages


@given(data_messages, st.data())
def test_half_a_message_is_none(message: Message, draw: st.DataObject) -> None:
    data = message.encode()
    with pytest.raises(EOFError):
        read_message(data[: draw.draw(st.integers(0, len(data) - 1))])
    with pytest.raises(FormatError):
        read_message(data + b"\0")


@pytest.mark.parametrize(
    "data",
    [
        "5941 0b000000 5250",  # an index of another length
        INDEX + "0101 ff00ffffffffffff 08000000 00000000 00000000 7e640001",
        INDEX + "0101 ffffffffffffffff ffffffff 00000000",  # a block of -1 bytes
        INDEX + "0201 ffffffffffffffff ffffff7f ffffff7f 00000000",  # of 4 GiB
        INDEX + "0101 ffffffffffffffff 04000000 00000000 00000000",  # no command
        INDEX + "0101 ffffffffffffffff 08000000 00000000 00000000 7f640001",
        INDEX + "0101 ffffffffffffffff 08000000 00000000 01000000 7e640001",
        INDEX + "0101 ffffffffffffffff 0a000000 00000000 ffffffff 7e000001 7100",
        INDEX + "0101 ffffffffffffffff 0a000000 00000000 02000000 7e000001 7171",  # no NUL at its end
    ],
)
def test_a_damaged_message_is_refused(data: str) -> None:
    with pytest.raises(FormatError):
        read_message(bytes.fromhex(data))


@given(data_messages)
def test_a_datagram_bears_a_checksum_and_a_count_that_begins_anew_with_each_message(message: Message) -> None:
    data = message.encode()
    assert datagrams(data) == [struct.pack("<Ii", zlib.crc32(data), 0) + data]
    assembly = Assembly()
    assert [assembly.add(datagrams(data)[0]) for _ in range(3)] == [message] * 3


@given(st.integers(1, 60), data_messages, st.data())
def test_a_message_may_come_in_several_datagrams(size: int, message: Message, draw: st.DataObject) -> None:
    data = message.encode()
    parts = [datagram(n, data[at : at + size]) for n, at in enumerate(range(0, len(data), size))]
    assembly = Assembly()
    assert [assembly.add(part) for part in parts] == [None] * (len(parts) - 1) + [message]
    lacking = [*parts]
    if len(parts) > 1:
        del lacking[draw.draw(st.integers(0, len(parts) - 1))]
        for part in lacking:
            with suppress(FormatError):
                assert assembly.add(part) is None
    assert [assembly.add(part) for part in parts][-1] == message  # the next is whole again


def test_a_long_message_is_sent_in_parts() -> None:
    message = Message("D", (b"x" * 200_000,))
    parts = datagrams(message.encode())
    assert [len(part) for part in parts[:3]] == [65499] * 3
    assembly = Assembly()
    assert [assembly.add(part) for part in parts] == [None, None, None, message]
    for shuffled in ([0, 2, 1, 3], [0, 0, 1, 2, 3], [1, 2, 3], [0, 1, 1, 2, 3]):
        found = []
        for n in shuffled:
            with suppress(FormatError):
                found.append(assembly.add(parts[n]))
        assert (message in found) == (shuffled == [0, 0, 1, 2, 3])  # that one begins anew, and is whole


@given(data_messages, st.data())
def test_a_flipped_bit_in_a_datagram_never_passes(message: Message, draw: st.DataObject) -> None:
    data = bytearray(datagrams(message.encode())[0])
    data[draw.draw(st.integers(0, len(data) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    with pytest.raises(FormatError):
        Assembly().add(bytes(data))


@given(st.binary(max_size=80), data_messages, st.data())
def test_random_and_mutated_frames_never_do_more_than_be_refused(
    noise: bytes, message: Message, draw: st.DataObject
) -> None:
    mutated = bytearray(message.encode())
    for _ in range(draw.draw(st.integers(1, 4))):
        mutated[draw.draw(st.integers(0, len(mutated) - 1))] = draw.draw(st.integers(0, 255))
    for data in (noise, bytes.fromhex(INDEX) + noise, bytes(mutated)):
        with suppress(FormatError, EOFError):
            read_message(data)
        with suppress(FormatError):
            Assembly().add(datagram(0, data))


def test_what_a_bottle_cannot_hold_makes_no_message() -> None:
    refused: Bottle = (1 << 70,)
    with pytest.raises(InputError):
        Message("D", refused).encode()
