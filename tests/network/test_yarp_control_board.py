"""The control board answers and moves as the protocol of remote_controlboard says, by transcripts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.network.yarp.bottle import Float32, Value, Vocab, decode, encode
from posewright.network.yarp.control_board import ControlBoard
from posewright.network.yarp.moves import even_motion
from posewright.network.yarp.port import Envelope
from posewright.network.yarp.text import from_text, to_text
from posewright.robots import robot

from .yarp_robots import BIOLOID, SteppedService

RPC, COMMAND = "/client/rpc:o", "/client/command:o"
LEFT_SHOULDER_PITCH, RIGHT_SHOULDER_ROLL, LEFT_SHOULDER_ROLL = 1, 2, 21  # motors 2, 3 and 22 of the document
N = 23
UNUSED = (3, 4, 8, 9, 22)


def ask(board: ControlBoard, text: str, sender: str = RPC) -> str:
    """Send a request given as text through the encoding, and return the answer as text."""
    answer = board.answer(decode(encode(from_text(text))), sender)
    return to_text(decode(encode(answer)))


def make_board(service: SteppedService) -> ControlBoard:
    return ControlBoard(service)


def format_row(**at: float) -> str:
    """Return the text of a list with one number per axis, 0 except for the given ones."""
    values = [at.get(f"axis_{axis}", 0.0) for axis in range(N)]
    return to_text((tuple(values),))


STIFFNESS = 1.5 / (32 * 300 / 1024)  # AX-12A: stall torque over the slope [N m/deg]

TRANSCRIPT = [
    ("[get] [prot]", "[prot] 1 9 0 [ok]"),
    ("[get] [axes]", "[is] [axes] 23 [tsta] 0 0.0078125 [ok]"),
    ("get axes", "[is] [axes] 23 [tsta] 0 0.0078125 [ok]"),
    ("[get] [name] 0", "[is] [name] right_shoulder_pitch [tsta] 0 0.0078125 [ok]"),
    ("[get] [name] 13", "[is] [name] right_hip_pitch [tsta] 0 0.0078125 [ok]"),
    ("[get] [name] 3", "[is] [name] unused_4 [tsta] 0 0.0078125 [ok]"),
    ("[get] [type] 0", f"[is] [type] {int.from_bytes(b'atrv', 'little')} [tsta] 0 0.0078125 [ok]"),
    ("[get] [llim] 3", "[is] [llim] 0.0 0.0 [tsta] 0 0.0078125 [ok]"),
    ("[get] [vlim] 3", "[is] [vlim] 0.0 0.0 [tsta] 0 0.0078125 [ok]"),
    ("[get] [icmd] [cmod] 0", "[is] 0 [pos] [tsta] 0 0.0078125 [ok]"),
    ("[get] [icmd] [cmod] 22", "[is] 22 [idl] [tsta] 0 0.0078125 [ok]"),
    ("[get] [icmd] [cmog] 2 (0 3)", "[is] [cmog] ([pos] [idl]) [tsta] 0 0.0078125 [ok]"),
    ("[get] [intm] [mode] 1", "[stif] [tsta] 0 0.0078125 [ok]"),  # a real board says no [is] here
    ("[get] [intm] [modg] 2 (1 2)", "([stif] [stif]) [tsta] 0 0.0078125 [ok]"),
    ("[get] [dpo] 1", "[is] [dpo] 0.0 [tsta] 0 0.0078125 [ok]"),
    ("[get] [dpos]", f"[is] [dpos] {format_row()} [tsta] 0 0.0078125 [ok]"),
    ("[get] [vmo] 1", "[is] [vmo] 0.0 [tsta] 0 0.0078125 [ok]"),
    ("[get] [vmog] 2 (0 1)", "[is] [vmog] (0.0 0.0) [tsta] 0 0.0078125 [ok]"),
    ("[set] [intm] [mode] 1 [stif]", "[ok]"),
    ("[set] [intm] [mode] 1 [comp]", "[fail]"),
    ("[set] [intm] [modg] 2 (1 2) ([stif] [stif])", "[ok]"),
    ("[set] [intm] [modg] 2 (1 2) ([stif] [comp])", "[fail]"),
    ("[get] [encs]", f"[is] [encs] {format_row()} [tsta] 0 0.0078125 [ok]"),
    ("[get] [enc] 1", "[is] [enc] 0.0 [tsta] 0 0.0078125 [ok]"),
    ("[get] [esps]", f"[is] [esps] {format_row()} [tsta] 0 0.0078125 [ok]"),
    ("[get] [esp] 1", "[is] [esp] 0.0 [tsta] 0 0.0078125 [ok]"),
    ("[get] [pos] 1", "[is] [pos] 0.0 [tsta] 0 0.0078125 [ok]"),
    ("[get] [poss]", f"[is] [poss] {format_row()} [tsta] 0 0.0078125 [ok]"),
    ("[get] [posg] 2 (0 1)", "[is] [posg] (0.0 0.0) [tsta] 0 0.0078125 [ok]"),
    ("[get] [don] 1", "[is] [don] 1 [tsta] 0 0.0078125 [ok]"),
    ("[get] [dons]", "[is] [dons] 1 [tsta] 0 0.0078125 [ok]"),
    ("[get] [vel] 1", "[is] [vel] 10.0 [tsta] 0 0.0078125 [ok]"),
    ("[set] [vel] 1 25", "[ok]"),
    ("[get] [velg] 2 (1 0)", "[is] [velg] (25.0 10.0) [tsta] 0 0.0078125 [ok]"),
    ("[set] [acc] 1 50.5", "[ok]"),
    ("[get] [acc] 1", "[is] [acc] 50.5 [tsta] 0 0.0078125 [ok]"),
    ("[set] [llim] 1 -20 20", "[ok]"),
    ("[get] [llim] 1", "[is] [llim] -20.0 20.0 [tsta] 0 0.0078125 [ok]"),
    ("[set] [llim] 1 -500 20", "[fail]"),
    ("[set] [icmd] [cmod] 1 [posd]", "[ok]"),
    ("[set] [icmd] [cmog] 2 (1 2) ([vel] [pos])", "[ok]"),
    ("[get] [icmd] [cmog] 2 (1 2)", "[is] [cmog] ([vel] [pos]) [tsta] 0 0.0078125 [ok]"),
    ("[set] [icmd] [cmod] 1 [torq]", "[fail]"),
    ("[set] [icmd] [cmod] 1 [idl]", "[fail]"),
    ("[set] [icmd] [cmod] 3 [pos]", "[fail]"),
    ("[get] [pid] [err] [pos] 1", "[fail]"),
    ("[set] [pid] [pid] [pos] 1 (1.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0)", "[fail]"),
    ("[set] [iimp] [ipr] 1 (1.0 0.0)", "[fail]"),
    ("[set] [ere] 1", "[fail]"),
    ("[set] [eres]", "[fail]"),
    ("[get] [trqs]", "[fail]"),
    ("[get] [name] 23", "[fail]"),
    ("[get] [name] -1", "[fail]"),
    ("[get]", "[nak]"),
    ("[jump] 3", "[nak]"),
    ("", "[nak]"),
]  # fmt: skip


def test_it_answers_the_calls_of_a_client_as_the_protocol_says() -> None:
    board = make_board(SteppedService())
    for request, answer in TRANSCRIPT:
        assert ask(board, request) == answer, request


def test_gains_are_those_of_the_servo_on_the_card() -> None:
    board = make_board(SteppedService())
    (_, _, gains, _) = board.answer(from_text("[get] [pid] [pid] [pos] 0"), RPC)
    assert gains == pytest.approx((100.0 / 1.5 * STIFFNESS, 0, 0, 0, 100.0, 0, 1.0, 0, 0, 0))
    (_, word, all_gains, _) = board.answer(from_text("[get] [pid] [pids] [pos]"), RPC)
    assert word == "pid"  # as a real board says
    assert isinstance(all_gains, tuple)
    assert len(all_gains) == N
    assert all_gains[0] == gains
    assert board.answer(from_text("[get] [iimp] [ipr] 0"), RPC)[2] == pytest.approx((STIFFNESS, 0.0))


def test_limits_and_names_are_those_of_the_card_in_the_documents_numbering() -> None:
    board = make_board(SteppedService())
    for number, joint in BIOLOID.numbering("uc3m_thesis").items():
        assert board.answer(("get", "name", number - 1), RPC)[2] == joint
        lower, upper = board.answer(("get", "llim", number - 1), RPC)[2:4]
        assert math.radians(float(str(lower))) == pytest.approx(BIOLOID.joint(joint).lower_rad)
        assert math.radians(float(str(upper))) == pytest.approx(BIOLOID.joint(joint).upper_rad)
    assert [axis for axis, column in enumerate(board.axes.columns) if column is None] == list(UNUSED)


def test_other_robots_have_an_axis_a_joint() -> None:
    dog = robot("sony_ers7")
    assert ControlBoard(SteppedService(dog)).axes.names == dog.joint_names


def test_the_extended_state_is_that_of_yarp_3_or_4() -> None:
    with pytest.raises(InputError, match="YARP 5"):
        ControlBoard(SteppedService(), layout=5)


def test_a_position_move_takes_as_long_as_the_reference_speed_says() -> None:
    service = SteppedService()
    board = make_board(service)
    assert ask(board, "[set] [vel] 1 40") == "[ok]"
    assert ask(board, "[set] [pos] 1 20") == "[ok]"
    assert ask(board, "[get] [don] 1").startswith("[is] [don] 0")
    assert ask(board, "[get] [pos] 1").startswith("[is] [pos] 20.0")
    service.run(0.25)
    board.update(service.state)
    (_, _, halfway, *_) = board.answer(from_text("[get] [enc] 1"), RPC)
    assert halfway == pytest.approx(10.0, abs=0.5)
    (_, _, speed, *_) = board.answer(from_text("[get] [esp] 1"), RPC)
    assert speed == pytest.approx(40.0)
    service.run(0.25)
    assert math.degrees(service.state.positions[BIOLOID.index("left_shoulder_pitch")]) == pytest.approx(20.0)
    assert ask(board, "[get] [don] 1").startswith("[is] [don] 1")


def test_the_documents_motors_move_together_each_at_its_own_speed() -> None:
    service = SteppedService()
    board = make_board(service)
    motors = (1, 2, 3, 13, 14, 15)
    joints = [BIOLOID.index(BIOLOID.numbering("uc3m_thesis")[motor]) for motor in motors]
    axes = " ".join(str(motor - 1) for motor in motors)
    assert ask(board, f"[set] [velg] 6 ({axes}) (10 20 30 40 50 60)") == "[ok]"
    assert ask(board, f"[set] [posg] 6 ({axes}) (-10 -10 -15 10 -20 -12)") == "[ok]"
    assert len(service.trajectories) == 1
    service.run(0.5)
    now = np.degrees(service.state.positions[joints])
    assert now == pytest.approx([-5, -10, -15, 10, -20, -12], abs=0.1)  # a frame of 10 deg/s
    others = np.delete(service.state.positions, joints)
    assert not others.any()


def test_a_relative_move_counts_from_where_the_axis_is_commanded_and_all_may_be_told_at_once() -> None:
    service = SteppedService()
    board = make_board(service)
    row = " ".join("5" for _ in range(N))
    for request in (f"[set] [poss] ({row})", f"[set] [rels] ({row})"):
        assert ask(board, request) == "[ok]"
        service.run(1.0)
    knee = BIOLOID.index("right_knee")
    assert math.degrees(service.state.positions[knee]) == pytest.approx(10.0)


def test_a_move_beyond_a_limit_ends_at_the_limit() -> None:
    service = SteppedService()
    board = make_board(service)
    assert ask(board, "[set] [llim] 1 -20 20") == "[ok]"
    assert ask(board, "[set] [vel] 1 1000") == "[ok]"  # the servo's own speed is the most
    assert ask(board, "[set] [pos] 1 400") == "[ok]"
    service.run(1.0)
    assert math.degrees(service.commands.angles[-1, 1]) == pytest.approx(20.0)


def test_a_velocity_move_goes_on_towards_the_limit_until_it_is_stopped() -> None:
    service = SteppedService()
    board = make_board(service)
    for motion, end in ((30.0, 15.0), (-60.0, -15.0)):
        board.command((("vmo", 1), (motion,)), None, COMMAND)
        service.run(0.5)
        assert math.degrees(service.commands.angles[-1, 1]) == pytest.approx(end, abs=0.6)
    assert ask(board, "[get] [icmd] [cmod] 1").startswith("[is] 1 [vel]")
    assert ask(board, "[get] [vmo] 1").startswith("[is] [vmo] -60.0 ")
    board.command((("vmo", 1), (0.0,)), None, COMMAND)
    assert ask(board, "[get] [vmo] 1").startswith("[is] [vmo] 0.0 ")
    stopped = service.commands.angles[-1, 1]
    service.run(0.5)
    assert service.commands.angles[-1, 1] == stopped
    board.command((("vmo", 1), (-1e9,)), None, COMMAND)  # no faster than the servo
    service.run(3.0)
    assert service.commands.angles[-1, 1] == pytest.approx(BIOLOID.joint("left_shoulder_pitch").lower_rad)


@pytest.mark.parametrize(
    "stop", ["[set] [sto] 1", "[set] [stos]", "[set] [stog] 1 (1)", "[set] [icmd] [cmod] 1 [pos]"]
)
def test_stop_or_another_mode_ends_a_velocity_move(stop: str) -> None:
    service = SteppedService()
    board = make_board(service)
    assert ask(board, "[set] [vmo] 1 30") == "[ok]"
    service.run(0.2)
    assert ask(board, stop) == "[ok]"
    before = service.commands.angles[-1, 1]
    service.run(0.2)
    assert service.commands.angles[-1, 1] == before
    assert ask(board, "[get] [dons]").startswith("[is] [dons] 1")


def test_an_axis_whose_mode_somebody_set_is_moved_in_that_mode_alone() -> None:
    service = SteppedService()
    board = make_board(service)
    assert ask(board, "[set] [icmd] [cmog] 2 (0 1) ([posd] [vel])") == "[ok]"
    for late in ((("vmos",), (0.0,) * N), (("vmo", 0), (0.0,)), (("vmog", 2, (0, 1)), (0.0, 0.0))):
        board.command(late, None, COMMAND)  # streamed before, as remote_controlboard does, and overtaken
    assert ask(board, "[get] [icmd] [cmog] 3 (0 1 2)").startswith("[is] [cmog] ([posd] [vel] [vel])")
    assert board.refused == 2
    board.command((("dpos",), (5.0,) * N), None, COMMAND)
    service.step(1)
    now = board.axes.degrees(service.commands.angles[-1])
    assert now[[0, 1, 2]] == pytest.approx([5.0, 0.0, 5.0])
    assert ask(board, "[set] [pos] 0 9") == "[fail]"
    assert ask(board, "[set] [icmd] [cmod] 0 [pos]") == "[ok]"
    assert ask(board, "[set] [pos] 0 9") == "[ok]"


@pytest.mark.parametrize("has_asked", [True, False])
def test_what_moves_at_a_speed_stops_when_who_wanted_it_has_hung_up(has_asked: bool) -> None:
    service = SteppedService()
    board = make_board(service)
    if has_asked:
        assert ask(board, "[get] [axes]").endswith("[ok]")
    board.command((("vmo", 1), (30.0,)), None, COMMAND)
    board.check_connections([RPC] * has_asked, [COMMAND])
    service.run(0.2)
    assert service.commands.angles[-1, 1] > 0.05
    board.check_connections(["/other/rpc:o"], [COMMAND] * has_asked)  # over udp nobody hears that it is gone
    before = service.commands.angles[-1, 1]
    service.run(0.2)
    assert service.commands.angles[-1, 1] == before


STREAMED = [
    ((("dpo", 1), (7.0,)), {1: 7.0}),
    ((("dpog", 2, (1, 2)), (7.0, -8.0)), {1: 7.0, 2: -8.0}),
    ((("dpos",), tuple(float(axis) for axis in range(N))), {0: 0.0, 1: 1.0, 2: 2.0, 15: 15.0}),
    (((Vocab("dpos"),), (4,) * N), {0: 4.0, 21: 4.0}),
]


@pytest.mark.parametrize(("message", "there"), STREAMED)
def test_a_streamed_position_is_commanded_in_the_next_frame(
    message: tuple[Value, ...], there: dict[int, float]
) -> None:
    service = SteppedService()
    board = make_board(service)
    board.command(decode(encode(message)), Envelope(1, 2.0), COMMAND)
    service.step(1)
    now = board.axes.degrees(service.commands.angles[-1])
    assert {axis: pytest.approx(now[axis]) for axis in there} == there
    assert board.refused == 0


OFFERED_NOT = [
    (("dtq", 1), (1.0,)),
    (("dtqs",), (1.0,) * N),
    (("ipwm", "ref", 1), (1.0,)),
    (("icur", "refs"), (1.0,) * N),
]
WRONG = [
    (),
    (1,),
    ("dpo", 1, 2.0),
    (("dpo", 1), ()),
    (("dpo", 1), (1.0, 2.0)),
    (("dpo", 3), (1.0,)),
    (("dpo", 23), (1.0,)),
    (("dpo", "one"), (1.0,)),
    (("dpo", 1), ("ten",)),
    (("dpo", 1), (math.nan,)),
    (("dpo", 1), (math.inf,)),
    (("dpo", 1), (b"\0",)),
    (("dpo", 1), ({"a": 1},)),
    (("dpog", 2, (1,)), (1.0, 2.0)),
    (("dpog", 2, (1, 1)), (1.0, 2.0)),
    (("dpog", 2, ({"a": 1}, {"a": 1})), (1.0, 2.0)),
    (("dpos",), (1.0,) * (N - 1)),
    (("dposs",), (1.0,) * N),
    (("vmo",), (1.0,)),
    (((1,),), (1.0,)),
]


@pytest.mark.parametrize("message", [*OFFERED_NOT, *WRONG])
def test_what_cannot_be_done_moves_nothing_and_is_counted(message: tuple[Value, ...]) -> None:
    service = SteppedService()
    board = make_board(service)
    board.command(message, None, COMMAND)
    assert board.refused == 1
    assert not service.trajectories


words = st.sampled_from(
    ["get", "set", "pos", "poss", "posg", "rel", "vmo", "vmos", "dpo", "dpos", "dpog", "llim"]
)
more_words = st.sampled_from(
    ["icmd", "cmod", "cmds", "cmog", "vel", "velg", "don", "pid", "pids", "iimp", "ipr", "sto"]
)
leaves = st.one_of(
    words,
    more_words.map(Vocab),
    st.text(max_size=5),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-1, N),
    st.floats(),
    st.floats(width=32).map(Float32),
    st.binary(max_size=3),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple), st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=12,
)
bottles = st.lists(values, max_size=6).map(tuple)
JUNK = st.one_of(
    bottles,
    st.tuples(st.sampled_from(["get", "set"]), more_words, values, values),
    st.tuples(st.tuples(words, values), st.lists(values, max_size=2).map(tuple)),
)


@given(junk=JUNK)
def test_no_bottle_ever_raises_or_asks_for_what_the_robot_must_not_do(junk: tuple[Value, ...]) -> None:
    service = SteppedService()
    board = make_board(service)
    answer = board.answer(junk, RPC)
    assert encode(answer)
    assert answer[-1] in {"ok", "fail", "nak"} or answer[0] == "many"
    board.command(junk, None, COMMAND)
    lower, upper = BIOLOID.limits
    for _, trajectory in service.trajectories:
        columns = list(trajectory.joints)
        assert np.isfinite(trajectory.positions).all()
        assert (trajectory.positions[-1] <= upper[columns] + 1e-9).all()
        assert (trajectory.positions[-1] >= lower[columns] - 1e-9).all()


def test_the_two_ports_of_one_client_are_one_commander_and_another_is_refused() -> None:
    service = SteppedService()
    board = make_board(service)
    assert ask(board, "[set] [pos] 1 5") == "[ok]"
    board.command((("dpo", 1), (6.0,)), None, COMMAND)
    assert board.refused == 0
    assert ask(board, "[set] [pos] 1 5", "/other/rpc:o") == "[fail]"
    assert ask(board, "[get] [enc] 1", "/other/rpc:o").endswith("[ok]")
    assert {sender for sender, _ in service.trajectories} == {"/client", "/other"}
    assert board.refused == 1


@pytest.mark.parametrize("layout", [3, 4])
def test_the_extended_state_has_the_layout_of_its_version(layout: int) -> None:
    service = SteppedService()
    board = ControlBoard(service, layout=layout)
    board.command((("dpo", 1), (7.0,)), None, COMMAND)
    service.step(1)
    board.update(service.state)
    state = decode(encode(board.state_ext()))
    assert len(state) == 22 if layout == 3 else 24
    lists, known = state[::2], state[1::2]
    assert all(isinstance(one, tuple) and len(one) == N for one in lists)
    positions, velocities = lists[:2]
    assert isinstance(positions, tuple)
    assert positions[1] == pytest.approx(7.0)
    assert positions == board.state()
    assert isinstance(velocities, tuple)
    assert velocities[1] == pytest.approx(7.0 * 128)
    assert known[:11] == ("ok", "ok", *["fail"] * 4, "ok", "fail", "fail", "ok", "ok")
    modes = lists[9]
    assert isinstance(modes, tuple)
    assert [Vocab.of(int(str(mode))) for mode in modes[:4]] == ["pos", "posd", "pos", "idl"]
    tags = [type(one[0]) for one in lists if isinstance(one, tuple)]
    single = {3: (), 4: (7, 11)}[layout]
    assert [place for place, kind in enumerate(tags) if kind is Float32] == list(single)
    assert board.stamp == Envelope(1, service.state.time_s)


def test_points_of_moves_of_different_lengths_lie_on_each_ones_line() -> None:
    times, points = even_motion(np.zeros(3), np.array([2.0, -6.0, 5.0]), np.array([1.0, 2.0, 0.0]))
    assert times.tolist() == [0.0, 1.0, 2.0]
    assert points.tolist() == [[0.0, 0.0, 5.0], [2.0, -3.0, 5.0], [2.0, -6.0, 5.0]]


VERBS = [
    (way, *words)
    for way in ("get", "set")
    for words in (
        *((word + ending,) for word in ("pos", "rel", "vmo", "dpo", "vel", "acc", "sto", "enc", "esp", "don",
          "ere", "trq", "llim", "vlim", "name", "type", "axes", "prot") for ending in ("", "s", "g")),
        *(("icmd", word) for word in ("cmod", "cmds", "cmog")),
        *(("intm", word) for word in ("mode", "mods", "modg")),
        ("pid", "pid"), ("pid", "pids"), ("iimp", "ipr"), ("ipwm", "ref"), ("icur", "refs"),
    )
]  # fmt: skip
ONE = st.one_of(
    st.integers(-2, 24), st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 1 << 62, 0.5]),
    st.sampled_from([Vocab("pos"), Vocab("torq"), Vocab("vel"), "x" * 1000, b"\0", {}]),
)  # fmt: skip
ARGUMENTS = st.lists(
    st.one_of(ONE, st.lists(st.one_of(ONE, st.just((1.0,))), max_size=24).map(tuple)), max_size=4
)


@given(st.sampled_from(VERBS), ARGUMENTS)
def test_every_verb_answers_whatever_comes_with_it(verb: tuple[str, ...], arguments: list[Value]) -> None:
    service = SteppedService()
    board = make_board(service)
    answer = board.answer((*verb, *arguments), RPC)
    assert answer
    assert decode(encode(answer)) is not None
    board.command(((*verb[1:], *arguments[:-1]), tuple(arguments[-1:])), None, COMMAND)
    assert all(len(kind) < 80 for kind in board.rejection_counts)
    for _, trajectory in service.trajectories:
        assert trajectory.describe_fault(len(BIOLOID.joints)) == ""
