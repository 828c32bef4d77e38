"""Requests come back as they were, to the last bit; what is damaged or odd is refused, and moves nothing."""

from __future__ import annotations

import random  # quicker than NumPy's for single numbers
import struct
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.arenas import arena, layout
from posewright.bodies import (
    BodySpec,
    BodyState,
    Contacts,
    DomainParameters,
    Fault,
    FaultKind,
    GroundTruth,
    JointCommands,
    JointStates,
    MockBody,
)
from posewright.controllers.behaviours import read_behaviour
from posewright.documents import Node
from posewright.documents.plain import plain_with_arrays
from posewright.errors import FormatError, InputError
from posewright.network import wire_records
from posewright.network.plant_server import PlantServer
from posewright.network.wire_messages import pack, unpack
from posewright.robots import Robot, robot

BIOLOID = robot("robotis_bioloid")
JOINTS = len(BIOLOID.joint_names)
FEET, BOXES, ROWS = 2, 3, 5

numbers = st.floats(allow_nan=True, allow_infinity=True)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def told_again(value: Any) -> Any:
    return unpack(pack(value))


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same to the last bit, NaN too."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other)


def fields_of(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record).__dataclass_fields__}


@given(plain, st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=3), st.data())
def test_a_message_comes_back_to_the_last_bit(
    told: Any, shapes: list[tuple[int, int]], data: st.DataObject
) -> None:
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    arrays = [draw.integers(0, 2**63, shape).view(np.float64) for shape in shapes]
    value = {"told": told, "many": arrays, "flags": draw.random(4) < 0.5, "whole": draw.integers(-9, 9, 3)}
    assert same(told_again(value), value)


@given(st.integers(0, 10_000), st.integers(0, 7))
def test_a_flipped_bit_is_refused(at: int, bit: int) -> None:
    message = bytearray(pack({"angles": np.zeros((2, 18)), "name": "red"}))
    message[at % len(message)] ^= 1 << bit
    with pytest.raises(FormatError):
        unpack(bytes(message))


def framed(head: bytes, arrays: bytes = b"") -> bytes:
    """Return a message written by the page, with a check sum that fits."""
    rest = struct.pack("<I", len(head)) + head + arrays
    return b"PWA1" + struct.pack("<I", zlib.crc32(rest)) + rest


@pytest.mark.parametrize(
    ("head", "arrays", "words"),
    [
        (b"{", b"", "not JSON"),
        (b"[]", b"", "wrong entries"),
        (b'{"arrays": [], "value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b"", "JSON|deeply"),
        (b'{"arrays": [], "value": ' + b"[" * 30 + b"]" * 30 + b"}", b"", "deeply"),
        (b'{"arrays": [], "value": NaN}', b"", "NaN"),
        (b'{"arrays": [], "value": 1}', b"12345678", "8 bytes follow"),
        (b'{"arrays": [["f8", [1]]], "value": 1}', b"12345678", "does not use all arrays"),
        (b'{"arrays": [["f8", [2]]], "value": {"$array": 0}}', b"12345678", "ends within"),
        (b'{"arrays": [["f8", [-1]]], "value": {"$array": 0}}', b"12345678", "invalid shape"),
        (b'{"arrays": [["f8", [0, 16777216, 16777216]]], "value": {"$array": 0}}', b"", "invalid shape"),
        (b'{"arrays": [["f8", [true]]], "value": {"$array": 0}}', b"12345678", "invalid shape"),
        (b'{"arrays": [["O8", [1]]], "value": {"$array": 0}}', b"12345678", "without a known kind"),
        (b'{"arrays": [["b1", [1]]], "value": {"$array": 0}}', b"\2", "neither true nor false"),
        (b'{"arrays": [["f8", [1]]], "value": {"$array": 1}}', b"12345678", "out of order"),
        (b'{"arrays": [["f8", [1]]], "value": [{"$array": 0}, {"$array": 0}]}', b"12345678", "out of order"),
    ],
)
def test_a_message_that_is_none_is_refused_in_words(head: bytes, arrays: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        unpack(framed(head, arrays))


def test_parts_come_back_with_sensors_and_body() -> None:
    behaviour = read_behaviour("obstacle_race", robot=BIOLOID)
    domain = DomainParameters(
        friction=0.7, com_shift_m=(0.01, 0.0, -0.02), slope_rad=(0.1, 0.0), latency_frames=2
    )
    start = (0.3, -0.1, 1.5)
    part = BodySpec(
        "red", BIOLOID, behaviour.start_pose, start, behaviour.sensors, 7, domain, record_contacts=True
    )
    again = wire_records.read_part(Node(told_again(wire_records.encode_part(part))), robot)
    assert same({**fields_of(part), "robot": 0}, {**fields_of(again), "robot": 0})
    assert again.robot is BIOLOID


@pytest.mark.parametrize("name", ["robotis_bioloid", "sony_ers7", "deagostini_robi2"])
def test_sensors_of_every_kind_come_back(name: str) -> None:
    card = robot(name)
    part = BodySpec(name, card, np.zeros(len(card.joint_names)), (0.0, 0.0, 0.0), card.sensors)
    again = wire_records.read_part(Node(told_again(wire_records.encode_part(part))), robot)
    assert again.sensors == card.sensors


def test_another_robot_of_that_name_is_refused() -> None:
    other = replace(BIOLOID, text=BIOLOID.text + "\n# mended")
    part = BodySpec("red", other, np.zeros(JOINTS), (0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="another robot here"):
        wire_records.read_part(Node(told_again(wire_records.encode_part(part))), robot)


def test_an_arena_comes_back() -> None:
    field = arena().with_boxes(layout("example_1"))
    again = wire_records.read_arena(Node(told_again(field.to_dict())))
    assert again is not None
    assert again.to_dict() == field.to_dict()
    assert wire_records.read_arena(Node(None)) is None


@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_what_joints_do_and_bodies_say_comes_back(seed: int, knows: bool, has_contacts: bool) -> None:
    draw = np.random.default_rng(seed)
    n = 6
    contacts = Contacts(
        ("floor", "foot"),
        np.sort(draw.integers(0, ROWS, n)),
        np.tile([0, 1], (n, 1)),
        *(draw.random(n) for _ in range(3)),
    )
    truth = GroundTruth(
        draw.random((ROWS, 7)),
        draw.random((ROWS, FEET, 4, 3)),
        draw.random((ROWS, FEET)) < 0.5,
        draw.random((ROWS, BOXES, 7)),
        draw.random((ROWS, BOXES)) < 0.5,
        draw.random((ROWS, FEET)) if has_contacts else None,
        contacts if has_contacts else None,
    )
    states = JointStates(
        draw.random(ROWS),
        np.where(draw.random((ROWS, JOINTS)) < 0.1, np.nan, 1.0),
        draw.random((ROWS, JOINTS)),
        truth if knows else None,
        (Fault(0.25, FaultKind.GARBLED, "odd", BIOLOID.joint_names[0]), Fault(1.0, FaultKind.LATE, "late")),
    )
    again = wire_records.read_states(Node(told_again(plain_with_arrays(states))), JOINTS)
    assert same(told_again(plain_with_arrays(again)), told_again(plain_with_arrays(states)))
    assert again.faults == states.faults
    readings = {"far": 0.1 + seed, "touches": True, "none": float("nan"), "scan": draw.random(7)}
    state = BodyState(0.5, draw.random(JOINTS), draw.random(JOINTS), None, readings)
    said = wire_records.read_state(Node(told_again(plain_with_arrays(state))), JOINTS)
    assert same(fields_of(said), fields_of(state))
    commands = JointCommands(
        draw.random((3, JOINTS)), draw.random(JOINTS) < 0.5, None, None, {"eye": (0.0, 0.5, 1.0)}
    )
    meant = wire_records.read_commands(Node(told_again(wire_records.encode_commands(commands))), BIOLOID)
    assert same(fields_of(meant), fields_of(commands))


@pytest.mark.parametrize(
    "change",
    [
        {"angles": np.full((1, JOINTS), np.nan)},
        {"angles": np.zeros((1, JOINTS - 1))},
        {"angles": np.zeros((0, JOINTS))},
        {"angles": np.zeros(JOINTS)},
        {"angles": np.zeros((1, JOINTS), dtype=np.int64)},
        {"angles": 1.0},
        {"free": np.zeros(JOINTS)},
        {"stiffness": np.full(JOINTS, -1.0)},
        {"lights": {"eye": [0.0, 2.0, 0.0]}},
        {"lights": {"eye": [0.0]}},
        {"more": 1},
    ],
)
def test_commands_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    told = wire_records.encode_commands(JointCommands(np.zeros((1, JOINTS)))) | change
    with pytest.raises(InputError):
        wire_records.read_commands(Node(told), BIOLOID)


def opened(body: MockBody) -> tuple[PlantServer, list[bytes]]:
    """Return a server of a body with an open session, and asks that would be answered next."""

    def only(name: str) -> Robot:
        return robot(name) if name == BIOLOID.name else robot("nobody")

    server = PlantServer(lambda _parts, _arena: body, only, now=lambda: 0.0)
    part = wire_records.encode_part(BodySpec(BIOLOID.name, BIOLOID, np.zeros(JOINTS), (0.0, 0.0, 0.0)))
    head = {"session": "mine"}
    open_it = pack(
        {"ask": "open", **head, "number": 0, "who": "me", "parts": [part], "arena": arena().to_dict()}
    )
    commands = {BIOLOID.name: wire_records.encode_commands(JointCommands(np.zeros((2, JOINTS))))}
    asks = [
        open_it,
        pack({"ask": "engage", **head, "number": 1, "body": BIOLOID.name}),
        pack({"ask": "advance", **head, "number": 1, "commands": commands}),
        pack(
            {
                "ask": "place",
                **head,
                "number": 1,
                "body": BIOLOID.name,
                "x_m": 0.0,
                "y_m": 1.0,
                "yaw_rad": 0.0,
            }
        ),
        pack({"ask": "stop", **head, "number": 1, "body": BIOLOID.name, "policy": "hold"}),
    ]
    assert "error" not in unpack(server.answer_request(open_it))
    return server, asks


def moved(body: MockBody) -> bool:
    return bool(body.played or body.placements or body.stops)


def mangled(draw: random.Random, message: bytes) -> bytes:
    """Return a message with a few bytes changed, left out or doubled."""
    found = bytearray(message)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(found))
        kind = draw.randrange(4)
        if kind == 0:
            found[at] = draw.randrange(256)
        elif kind == 1:
            del found[at : at + draw.randint(1, 8)]
        elif kind == 2:
            found[at:at] = draw.randbytes(draw.randint(1, 8))
        else:
            found[at:at] = found[at : at + draw.randint(1, 40)]
    return bytes(found)


@given(st.integers(0, 2**64))
def test_thousands_of_damaged_requests_are_answered_and_move_nothing(seed: int) -> None:
    body, draw = MockBody(BIOLOID), random.Random(seed)  # noqa: S311 -- no secrets
    server, asks = opened(body)
    for _ in range(40):
        junk = draw.random() < 0.2
        request = draw.randbytes(draw.randrange(200)) if junk else mangled(draw, draw.choice(asks))
        if request not in asks:
            assert unpack(server.answer_request(request))["error"]
    assert not moved(body)


@given(st.integers(0, 2**64))
def test_a_mangled_head_whose_check_sum_fits_never_crashes(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 -- no secrets
    body = MockBody(BIOLOID)
    server, asks = opened(body)
    for _ in range(16):
        whole = draw.choice(asks)
        (length,) = struct.unpack_from("<I", whole, 8)
        head, arrays = whole[12 : 12 + length], whole[12 + length :]
        assert isinstance(unpack(server.answer_request(framed(mangled(draw, head), arrays))), dict)
    assert np.isfinite(body.commands).all()
