"""The flow of messages between objects: folded, as Mermaid text, as plain data and as a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

import posewright as pw
from posewright.errors import InputError
from posewright.recordings import Event, Header, Recording, RobotHeader, RobotRecord
from posewright.runtimes.openr.flow import (
    MESSAGE_KINDS,
    entries_of,
    fold_repetitions,
    objects_in,
    sender_and_receiver,
    sequence_diagram,
)
from posewright.runtimes.openr.kernel import LogEntry

BLOCK = (
    ("ready", {"from": "OVirtualRobotComm.Effector", "to": "Head.Move"}),
    ("notify", {"from": "Head.Move", "to": "OVirtualRobotComm.Effector", "data": "3 joints, 16 frames"}),
)
COMMAND = ("notify", {"from": "Commander.Send", "to": "Head.Receive", "data": "MOVE_MP"})
STATE = ("state", {"object": "Head", "state": "MOVE_MP"})
REFUSAL = ("refused", {"object": "Head", "asked": "MV_UP", "why": "it moves"})


def entries(*messages: tuple[str, dict[str, str]]) -> list[LogEntry]:
    return [LogEntry(0.128 * number, kind, data) for number, (kind, data) in enumerate(messages)]


def recording(*messages: tuple[str, dict[str, str]], extras: dict[str, object] | None = None) -> Recording:
    """Return a recording of two frames of a robot with one joint, with the given events."""
    robot_header = RobotHeader("toy", "openr toy", joints=("pan",))
    rows, nothing = np.array([[0.1], [0.2]]), np.zeros((2, 0))
    record = RobotRecord(
        header=robot_header,
        positions=np.array([[np.nan], [0.2]]),
        commands=rows,
        efforts=rows,
        base=np.full((2, 7), np.nan),
        footprints=np.zeros((2, 0, 4, 3)),
        foot_contacts=nothing.astype(bool),
        box_contacts=nothing.astype(bool),
    )
    events = tuple(Event(0.0, "openr", {"what": kind, **data}) for kind, data in messages)
    header = Header(
        {"toy": robot_header},
        extras={"openr": {"program": "toy", "commands": []}} if extras is None else extras,
    )
    return Recording(header, np.array([0.008, 0.016]), {"toy": record}, np.zeros((2, 0, 7)), events)


def test_the_blocks_of_a_motion_are_told_once_with_how_often_and_until_when() -> None:
    (command, loop, state) = fold_repetitions(entries(COMMAND, *BLOCK * 16, STATE))
    assert (command.n_repetitions, command.body, state.n_repetitions) == (1, (entries(COMMAND)[0],), 1)
    assert (loop.n_repetitions, len(loop.body), loop.until_s) == (16, 2, pytest.approx(0.128 * 32))


def test_what_comes_twice_only_is_told_twice() -> None:
    assert [step.n_repetitions for step in fold_repetitions(entries(*BLOCK * 2))] == [1] * 4


def unroll(log: Sequence[LogEntry]) -> list[LogEntry]:
    """Return a log after folding, with its repetitions written out again."""
    return [entry for step in fold_repetitions(log) for entry in step.body * step.n_repetitions]


def select(log: Sequence[LogEntry], *ends: str) -> list[object]:
    """Return kinds and data of the entries between two objects, or of all."""
    return [
        (entry.kind, entry.data) for entry in log if not ends or set(sender_and_receiver(entry)) == set(ends)
    ]


@given(st.lists(st.sampled_from([*BLOCK, STATE, REFUSAL]), max_size=40))
def test_loops_unrolled_are_what_was_said(words: list[tuple[str, dict[str, str]]]) -> None:
    log = entries(*words)
    assert select(unroll(log)) == select(log)


@given(st.lists(st.sampled_from([*BLOCK, COMMAND, STATE, REFUSAL]), max_size=60))
def test_what_each_pair_said_keeps_its_order_where_several_go_on_at_once(
    words: list[tuple[str, dict[str, str]]],
) -> None:
    log = entries(*words)
    assert len(unroll(log)) == len(log)
    for ends in (("Commander", "Head"), ("Head", "OVirtualRobotComm"), ("Head",)):
        assert select(unroll(log), *ends) == select(log, *ends)


def test_the_blocks_of_two_objects_that_move_at_once_are_a_loop_each() -> None:
    legs = [(kind, {end: text.replace("Head", "Legs") for end, text in data.items()}) for kind, data in BLOCK]
    steps = fold_repetitions(entries(COMMAND, *[*BLOCK * 5, *legs] * 6, STATE))
    loops = [step for step in steps if step.n_repetitions > 1]
    assert [(loop.n_repetitions, {sender_and_receiver(entry) for entry in loop.body}) for loop in loops] == [
        (30, {("Head", "OVirtualRobotComm"), ("OVirtualRobotComm", "Head")}),
        (6, {("Legs", "OVirtualRobotComm"), ("OVirtualRobotComm", "Legs")}),
    ]
    assert len(steps) == 4


def test_an_answer_leads_from_who_receives_to_who_sends() -> None:
    ready, notify = entries(*BLOCK)
    assert sender_and_receiver(notify) == ("Head", "OVirtualRobotComm")
    assert sender_and_receiver(ready) == ("OVirtualRobotComm", "Head")
    assert sender_and_receiver(entries(STATE)[0]) == ("Head", "Head")


def test_who_sends_first_stands_first() -> None:
    assert objects_in(entries(STATE, COMMAND, *BLOCK)) == ("Commander", "Head", "OVirtualRobotComm")


def test_messages_and_states_are_told_apart_and_keep_their_particulars() -> None:
    seen = recording(COMMAND, STATE, REFUSAL)
    assert [entry.kind for entry in entries_of(seen)] == ["notify", "state", "refused"]
    result = pw.openr_result(seen)
    assert [message["kind"] for message in result["messages"]] == ["notify", "refused"]
    assert result["states"] == [{"time_s": 0.0, "object": "Head", "state": "MOVE_MP"}]
    assert result["messages"][1] == {"time_s": 0.0, "kind": "refused", **REFUSAL[1]}


def test_mermaid_text_has_a_line_a_message_and_a_loop_for_what_repeats() -> None:
    lines = sequence_diagram(recording(COMMAND, STATE, *BLOCK * 16)).splitlines()
    assert lines == [
        "sequenceDiagram",
        "    participant o0 as Commander",
        "    participant o1 as Head",
        "    participant o2 as OVirtualRobotComm",
        "    o0->>o1: 0.000 s Send: MOVE_MP",
        "    Note over o1: MOVE_MP",
        "    loop 16 times, until 0.000 s",
        "        o2-->>o1: ready",
        "        o1->>o2: Move: 3 joints, 16 frames",
        "    end",
    ]


MERMAID = re.compile(
    r"(participant \w+ as|Note over \w+:|\w+(->>|-->>|-\)|-x)\w+:) ([^#;<>\n]|#\d+;)+"
    r"|loop .*|end|sequenceDiagram"
)


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted({*MESSAGE_KINDS, "state", "syslog", "sound"})), st.text(max_size=20))
    )
)
def test_whatever_objects_say_the_text_stays_mermaid(texts: list[tuple[str, str]]) -> None:
    messages = [
        (kind, {"from": f"A{text}.S", "to": "B.O", "data": text, "object": text, "text": text, "state": text})
        for kind, text in texts
    ]
    for line in sequence_diagram(recording(*messages)).rstrip("\n").split("\n"):
        assert MERMAID.fullmatch(line.strip(" ")), line


def test_a_run_as_plain_data_has_whole_micro_radians_and_nothing_for_what_nobody_measured() -> None:
    data = pw.openr_result(recording(COMMAND, STATE))
    assert data["fell"] is None, "nobody knew where it was"
    assert data["joints"] == ["pan"]
    assert data["frames"] == [
        {"time_s": 0.008, "commands_urad": [100_000], "positions_rad": [None]},
        {"time_s": 0.016, "commands_urad": [200_000], "positions_rad": [0.2]},
    ]
    assert data["messages"] == [{"time_s": 0.0, "kind": "notify", **COMMAND[1]}]
    assert data["states"] == [{"time_s": 0.0, **STATE[1]}]


def test_a_recording_of_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="not of OPEN-R objects"):
        pw.openr_result(recording(extras={}))
    with pytest.raises(InputError, match="has no messages of OPEN-R objects"):
        pw.draw_sequence(recording())


def test_nothing_in_the_picture_overlaps_and_all_of_it_is_inside(tmp_path: Path) -> None:
    long = ("syslog", {"object": "Head", "text": "a long remark " * 5})
    figure = pw.draw_sequence(recording(long, COMMAND, STATE, *BLOCK * 16, REFUSAL, long, COMMAND))
    pw.save_figure(figure, tmp_path / "flow.png")
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [
        text.get_window_extent(renderer) for axes in figure.axes for text in axes.texts if text.get_text()
    ]
    for number, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0, "inside the page"
        assert box.x1 <= figure.bbox.x1, "inside the page"
        assert not any(box.overlaps(other) for other in boxes[:number])


def test_the_same_recording_gives_the_same_picture_to_the_last_byte(tmp_path: Path) -> None:
    for name in ("one.svg", "other.svg"):
        pw.save_figure(pw.draw_sequence(recording(COMMAND, STATE, *BLOCK * 4)), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
    assert "MOVE_MP" in (tmp_path / "one.svg").read_text()


def test_a_picture_of_very_many_messages_says_how_many_it_leaves_out() -> None:
    many = [("notify", {"from": "A.S", "to": "B.O", "data": str(number)}) for number in range(450)]
    figure = pw.draw_sequence(recording(*many))
    assert any("50 more" in text.get_text() for text in figure.texts)
