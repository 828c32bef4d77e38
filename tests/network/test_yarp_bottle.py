"""Bottles are what YARP 3.9.1 was seen to send, and come back as they were; damaged ones are refused."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.network.yarp.bottle import (
    MAX_DEPTH,
    Bottle,
    Float32,
    Value,
    Vocab,
    decode,
    decode_all,
    encode,
    read_bottle,
)
from posewright.network.yarp.text import from_text, to_text

words = st.text("abcdefghijklmnopqrstuvwxyz0123456789_-", max_size=4)
vocabs = words.map(Vocab)
integers = st.integers(-(1 << 63), (1 << 63) - 1)
floats = st.floats(allow_nan=False)
strings = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
numbers = st.one_of(integers, floats)
scalars = st.one_of(numbers, strings, vocabs)
typed = st.one_of(*(st.lists(one, max_size=6).map(tuple) for one in (integers, floats, strings, vocabs)))
flat = st.one_of(scalars, st.binary(max_size=8), typed)
values = st.recursive(flat, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=12)
bottles = st.lists(values, max_size=5).map(tuple)
dicts = st.dictionaries(strings, flat, max_size=3)
narrow = st.floats(width=32, allow_nan=False).map(Float32)


def kinds(value: Value) -> object:
    """Return a value's types, level by level: a vocab equals its word, and must not become it."""
    if isinstance(value, tuple):
        return [kinds(item) for item in value]
    return {key: kinds(item) for key, item in value.items()} if isinstance(value, Mapping) else type(value)


@pytest.mark.parametrize(
    ("bottle", "data"),
    [
        ((), "00010000 00000000"),
        ((3,), "01010000 01000000 03000000"),
        ((1.0, -2.0), "0a010000 02000000 000000000000f03f 00000000000000c0"),
        ((Vocab("ok"),), "09010000 01000000 6f6b0000"),
        (("hello", ""), "04010000 02000000 05000000 68656c6c6f 00000000"),
        ((b"\x00\xff",), "0c010000 01000000 02000000 00ff"),
        ((1 << 40,), "11010000 01000000 0000000000010000"),
        ((Float32(0.5),), "80010000 01000000 0000003f"),
        ((Vocab("get"), Vocab("enc"), 2),
         "00010000 03000000 09000000 67657400 09000000 656e6300 01000000 02000000"),
        (((1.0,), (2,)), "00010000 02000000 0a010000 01000000 000000000000f03f 01010000 01000000 02000000"),
        ((1, 1 << 40), "00010000 02000000 01000000 01000000 11000000 0000000000010000"),
        (({"k": 1},), "00010000 01000000 00030000 00010000 01000000"
         "00010000 02000000 04000000 01000000 6b 01000000 01000000"),
    ],
)  # fmt: skip
def test_a_bottle_is_these_bytes(bottle: Bottle, data: str) -> None:
    assert encode(bottle) == bytes.fromhex(data)
    found = decode(bytes.fromhex(data))
    assert found == bottle
    assert kinds(found) == kinds(bottle)


def test_integers_of_eight_and_sixteen_bits_are_read() -> None:
    assert decode(bytes.fromhex("20010000 03000000 01ff7f")) == (1, -1, 127)
    assert decode(bytes.fromhex("00010000 02000000 40000000 feff 20000000 05")) == (-2, 5)
    assert decode(bytes.fromhex("0a010000 00000000")) == ()  # an empty vector


@given(st.one_of(bottles, st.tuples(dicts, values), st.lists(narrow).map(tuple)))
def test_bytes_and_back(bottle: Bottle) -> None:
    data = encode(bottle)
    found = decode(data)
    assert found == bottle
    assert kinds(found) == kinds(bottle)
    assert encode(found) == data


@given(bottles)
def test_text_and_back_on_one_line(bottle: Bottle) -> None:
    text = to_text(bottle)
    assert not set(text) & {"\n", "\r", "\0"}
    assert from_text(text) == bottle
    assert kinds(from_text(text)) == kinds(bottle)


@given(bottles, st.data())
def test_half_a_bottle_is_none_and_neither_is_one_with_more_behind(
    bottle: Bottle, draw: st.DataObject
) -> None:
    data = encode(bottle)
    with pytest.raises(EOFError):
        decode_all(data[: draw.draw(st.integers(0, len(data) - 1))], read_bottle)
    with pytest.raises(FormatError):
        decode(data + b"\0")


@pytest.mark.parametrize(
    ("bottle", "text"),
    [
        ((3, 3.0, 1e300, -0.5), "3 3.0 1e+300 -0.5"),
        ((Vocab("is"), "a b", "word", "", "2nd", "true"), '[is] "a b" word "" "2nd" "true"'),
        (((1, 2), (), ((Vocab("ok"),),)), "(1 2) () (([ok]))"),
        ((b"\x00\x01\xff",), "{0 1 255}"),
        ((0, "Added connection from /w to tcp://r\r\n"), '0 "Added connection from /w to tcp://r\\r\\n"'),
        (("back\\slash", 'a "quote"'), '"back\\\\slash" "a \\"quote\\""'),
        ((Vocab("1"), Vocab("")), "true false"),
        ((("from", "/w"), ("to", "/r"), ("carrier", "tcp")), '(from "/w") (to "/r") (carrier tcp)'),
    ],
)
def test_a_bottle_is_this_text(bottle: Bottle, text: str) -> None:
    assert to_text(bottle) == text
    assert from_text(text) == bottle
    assert kinds(from_text(text)) == kinds(bottle)


def test_what_a_person_types_is_read() -> None:
    assert from_text("get  encs,1\t+2 .5 1e3 0x1F -inf\r\n") == (
        "get",
        "encs",
        1,
        2,
        0.5,
        1000.0,
        31,
        -float("inf"),
    )
    assert from_text("99999999999999999999 -99999999999999999999") == ((1 << 63) - 1, -(1 << 63))
    assert from_text("/port:i 1.2.3 [poses] {1,2}") == ("/port:i", "1.2.3", "pose", b"\1\2")
    assert from_text("") == from_text(" ,\r\n") == ()


def test_a_vocab_is_the_word_that_it_stands_for_and_a_number() -> None:
    assert Vocab("pos") == "pos"
    assert Vocab("pos").code == int.from_bytes(b"pos\0", "little")
    assert Vocab.of(Vocab("hwfa").code) == "hwfa"
    with pytest.raises(InputError, match="at most four"):
        encode((Vocab("speed"),))


@pytest.mark.parametrize(
    "text", ["(1", "1)", '"open', "{1 2", "{256}", "{a}", "[pos", "}", "(" * 99 + ")" * 99]
)
def test_text_that_is_no_bottle_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        from_text(text)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "00010000",
        "01000000 01000000",  # no list
        "00030000 00000000",  # a dict is none either
        "0a010000 ffffffff",  # a list of -1 items
        "00010000 ffffff7f",  # of more than can follow
        "20010000 ffffff7f",
        "04010000 01000000 ffffffff",
        "00010000 01000000 07000000 00000000",  # no type has the tag 7
        "00010000 00000000 00",
        "00010000 01000000 00030000 01010000 01000000 01000000",  # an entry of a dict that is no pair
    ],
)
def test_bytes_that_are_no_bottle_are_refused(data: str) -> None:
    with pytest.raises(FormatError):
        decode(bytes.fromhex(data))


def test_lists_in_lists_have_a_bottom() -> None:
    bottle: Bottle = ()
    for _ in range(MAX_DEPTH):
        bottle = (bottle,)
    assert decode(encode(bottle)) == from_text(to_text(bottle)) == bottle
    with pytest.raises(InputError):
        encode((bottle,))
    with pytest.raises(FormatError):
        decode(struct.pack("<ii", 0x100, 1) * 100_000 + struct.pack("<ii", 0x100, 0))


@pytest.mark.parametrize("thing", [1 << 63, None, [1], "\ud800", Float32(1e300), {1: 2}])
def test_what_has_no_type_in_yarp_is_refused(thing: Value) -> None:
    with pytest.raises(InputError):
        encode((thing,))


@given(st.binary(max_size=200))
def test_random_bytes_never_do_more_than_be_refused(data: bytes) -> None:
    with_head = struct.pack("<ii", 0x100, len(data) // 5) + data
    for one in (data, with_head):
        try:
            bottle = decode(one)
        except FormatError:
            continue
        assert kinds(decode(encode(bottle))) == kinds(bottle)


@given(bottles, st.data())
def test_mutated_bytes_never_do_more_than_be_refused(bottle: Bottle, draw: st.DataObject) -> None:
    data = bytearray(encode(bottle))
    for _ in range(draw.draw(st.integers(1, 3))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    with suppress(FormatError):
        from_text(to_text(decode(bytes(data))))  # as a port in text mode would show it
