"""Requests survive packing to the last bit; damaged or invalid ones are rejected, and move nothing."""

from __future__ import annotations

import random  # faster than NumPy's for single numbers
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
    Plate,
    Push,
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
N_JOINTS = len(BIOLOID.joint_names)
N_FEET, N_BOXES, N_ROWS = 2, 3, 5

numbers = st.floats(allow_nan=True, allow_infinity=True)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def round_trip(value: Any) -> Any:
    return unpack(pack(value))


def is_same(first: Any, second: Any) -> bool:
    """Return whether two values are the same to the last bit, NaN included."""
    if isinstance(first, np.ndarray):
        has_same_type = first.dtype == second.dtype and first.shape == second.shape
        return has_same_type and first.tobytes() == second.tobytes()
    if isinstance(first, dict):
        return list(first) == list(second) and all(is_same(first[key], second[key]) for key in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(is_same, first, second))
    return repr(first) == repr(second)


def fields_of(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record).__dataclass_fields__}


@given(plain, st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=3), st.data())
def test_a_message_comes_back_to_the_last_bit(
    plain_value: Any, shapes: list[tuple[int, int]], data: st.DataObject
) -> None:
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    arrays = [draw.integers(0, 2**63, shape).view(np.float64) for shape in shapes]
    value = {
        "plain": plain_value,
        "many": arrays,
        "flags": draw.random(4) < 0.5,
        "whole": draw.integers(-9, 9, 3),
    }
    assert is_same(round_trip(value), value)


@given(st.integers(0, 10_000), st.integers(0, 7))
def test_a_flipped_bit_is_refused(at: int, bit: int) -> None:
    message = bytearray(pack({"angles": np.zeros((2, 18)), "name": "red"}))
    message[at % len(message)] ^= 1 << bit
    with pytest.raises(FormatError):
        unpack(bytes(message))


def with_checksum(head: bytes, arrays: bytes = b"") -> bytes:
    """Return a message of this head and these arrays, with the right checksum."""
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
        unpack(with_checksum(head, arrays))


def test_parts_come_back_with_sensors_and_body() -> None:
    behaviour = read_behaviour("obstacle_race", robot=BIOLOID)
    domain = DomainParameters(
        friction=0.7,
        com_shift_m=(0.01, 0.0, -0.02),
        slope_rad=(0.1, 0.0),
        latency_frames=2,
        pushes=(Push(1.5, 0.4, -0.2, link="left_foot"),),
        plates=(Plate(1.0, 0.2, 0.3, 0.04, 0.003),),
    )
    start = (0.3, -0.1, 1.5)
    part = BodySpec(
        "red", BIOLOID, behaviour.start_pose, start, behaviour.sensors, 7, domain, record_contacts=True
    )
    again = wire_records.read_part(Node(round_trip(wire_records.encode_part(part))), robot)
    assert is_same({**fields_of(part), "robot": 0}, {**fields_of(again), "robot": 0})
    assert again.robot is BIOLOID


@pytest.mark.parametrize("name", ["robotis_bioloid", "sony_ers7", "deagostini_robi2"])
def test_sensors_of_every_kind_come_back(name: str) -> None:
    card = robot(name)
    part = BodySpec(name, card, np.zeros(len(card.joint_names)), (0.0, 0.0, 0.0), card.sensors)
    again = wire_records.read_part(Node(round_trip(wire_records.encode_part(part))), robot)
    assert again.sensors == card.sensors


def test_another_robot_of_that_name_is_refused() -> None:
    other = replace(BIOLOID, text=BIOLOID.text + "\n# mended")
    part = BodySpec("red", other, np.zeros(N_JOINTS), (0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="another robot here"):
        wire_records.read_part(Node(round_trip(wire_records.encode_part(part))), robot)


def test_an_arena_comes_back() -> None:
    field = arena().with_boxes(layout("example_1"))
    again = wire_records.read_arena(Node(round_trip(field.to_dict())))
    assert again is not None
    assert again.to_dict() == field.to_dict()
    assert wire_records.read_arena(Node(None)) is None


@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_what_joints_do_and_bodies_say_comes_back(seed: int, knows: bool, has_contacts: bool) -> None:
    draw = np.random.default_rng(seed)
    n = 6
    contacts = Contacts(
        ("floor", "foot"),
        np.sort(draw.integers(0, N_ROWS, n)),
        np.tile([0, 1], (n, 1)),
        *(draw.random(n) for _ in range(3)),
    )
    truth = GroundTruth(
        draw.random((N_ROWS, 7)),
        draw.random((N_ROWS, N_FEET, 4, 3)),
        draw.random((N_ROWS, N_FEET)) < 0.5,
        draw.random((N_ROWS, N_BOXES, 7)),
        draw.random((N_ROWS, N_BOXES)) < 0.5,
        draw.random((N_ROWS, N_FEET)) if has_contacts else None,
        contacts if has_contacts else None,
    )
    states = JointStates(
        draw.random(N_ROWS),
        np.where(draw.random((N_ROWS, N_JOINTS)) < 0.1, np.nan, 1.0),
        draw.random((N_ROWS, N_JOINTS)),
        truth if knows else None,
        (Fault(0.25, FaultKind.GARBLED, "odd", BIOLOID.joint_names[0]), Fault(1.0, FaultKind.LATE, "late")),
    )
    again = wire_records.read_states(Node(round_trip(plain_with_arrays(states))), N_JOINTS)
    assert is_same(round_trip(plain_with_arrays(again)), round_trip(plain_with_arrays(states)))
    assert again.faults == states.faults
    readings = {"far": 0.1 + seed, "touches": True, "none": float("nan"), "scan": draw.random(7)}
    state = BodyState(0.5, draw.random(N_JOINTS), draw.random(N_JOINTS), None, readings)
    read_state = wire_records.read_state(Node(round_trip(plain_with_arrays(state))), N_JOINTS)
    assert is_same(fields_of(read_state), fields_of(state))
    commands = JointCommands(
        draw.random((3, N_JOINTS)), draw.random(N_JOINTS) < 0.5, None, None, {"eye": (0.0, 0.5, 1.0)}
    )
    read_commands = wire_records.read_commands(
        Node(round_trip(wire_records.encode_commands(commands))), BIOLOID
    )
    assert is_same(fields_of(read_commands), fields_of(commands))


@pytest.mark.parametrize(
    "change",
    [
        {"angles": np.full((1, N_JOINTS), np.nan)},
        {"angles": np.zeros((1, N_JOINTS - 1))},
        {"angles": np.zeros((0, N_JOINTS))},
        {"angles": np.zeros(N_JOINTS)},
        {"angles": np.zeros((1, N_JOINTS), dtype=np.int64)},
        {"angles": 1.0},
        {"free": np.zeros(N_JOINTS)},
        {"stiffness": np.full(N_JOINTS, -1.0)},
        {"lights": {"eye": [0.0, 2.0, 0.0]}},
        {"lights": {"eye": [0.0]}},
        {"more": 1},
    ],
)
def test_commands_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    changed = wire_records.encode_commands(JointCommands(np.zeros((1, N_JOINTS)))) | change
    with pytest.raises(InputError):
        wire_records.read_commands(Node(changed), BIOLOID)


def open_session(body: MockBody) -> tuple[PlantServer, list[bytes]]:
    """Return a server of a body with an open session, and valid requests that could follow."""

    def find_robot(name: str) -> Robot:
        return robot(name) if name == BIOLOID.name else robot("nobody")

    server = PlantServer(lambda _parts, _arena: body, find_robot, now=lambda: 0.0)
    part = wire_records.encode_part(BodySpec(BIOLOID.name, BIOLOID, np.zeros(N_JOINTS), (0.0, 0.0, 0.0)))
    head = {"session": "mine"}
    open_it = pack(
        {"ask": "open", **head, "number": 0, "who": "me", "parts": [part], "arena": arena().to_dict()}
    )
    commands = {BIOLOID.name: wire_records.encode_commands(JointCommands(np.zeros((2, N_JOINTS))))}
    requests = [
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
    return server, requests


def has_moved(body: MockBody) -> bool:
    return bool(body.played_commands or body.placements or body.stops)


def mangle(draw: random.Random, message: bytes) -> bytes:
    """Return a message with a few bytes changed, removed, inserted or repeated."""
    mangled = bytearray(message)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(mangled))
        kind = draw.randrange(4)
        if kind == 0:
            mangled[at] = draw.randrange(256)
        elif kind == 1:
            del mangled[at : at + draw.randint(1, 8)]
        elif kind == 2:
            mangled[at:at] = draw.randbytes(draw.randint(1, 8))
        else:
            mangled[at:at] = mangled[at : at + draw.randint(1, 40)]
    return bytes(mangled)


@given(st.integers(0, 2**64))
def test_thousands_of_damaged_requests_are_answered_and_move_nothing(seed: int) -> None:
    body, draw = MockBody(BIOLOID), random.Random(seed)  # noqa: S311 -- no secrets
    server, requests = open_session(body)
    for _ in range(40):
        junk = draw.random() < 0.2
        request = draw.randbytes(draw.randrange(200)) if junk else mangle(draw, draw.choice(requests))
        if request not in requests:
            assert unpack(server.answer_request(request))["error"]
    assert not has_moved(body)


@given(st.integers(0, 2**64))
def test_a_mangled_head_whose_check_sum_fits_never_crashes(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 -- no secrets
    body = MockBody(BIOLOID)
    server, requests = open_session(body)
    for _ in range(16):
        whole = draw.choice(requests)
        (length,) = struct.unpack_from("<I", whole, 8)
        head, arrays = whole[12 : 12 + length], whole[12 + length :]
        assert isinstance(unpack(server.answer_request(with_checksum(mangle(draw, head), arrays))), dict)
    assert np.isfinite(body.commands).all()
