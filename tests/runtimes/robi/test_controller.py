"""The controller: the events of a program, and its behaviour when the program ends or fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posewright.bodies import MockBody
from posewright.control import Until, drive
from posewright.errors import FormatError, InputError
from posewright.robots import robot
from posewright.runtimes.robi.catalogue import load_program
from posewright.runtimes.robi.controller import RobiController
from posewright.runtimes.robi.listing import assemble
from posewright.runtimes.robi.status import status_of
from posewright.runtimes.robi.words import read_words

ROBI = robot("deagostini_robi2")


def run_listing(
    text: str, seconds: float = 6.0, **options: Any
) -> tuple[RobiController, list[dict[str, Any]]]:
    """Run a listing; return the controller and its events, except those that do not matter here."""
    controller = RobiController(ROBI, assemble(text), **options)
    body = MockBody(ROBI, positions=ROBI.pose("stand"))
    events: list[dict[str, Any]] = []
    for _ in range(round(seconds * 60)):
        commands = controller.next(body.read(), 1)
        body.play(commands)
        if commands.decision is not None:
            assert all(kind == "robi" for kind, _ in commands.decision.events)
            events += [dict(data) for _, data in commands.decision.events]
    return controller, events


def test_a_program_that_loops_without_effect_is_reported_once_with_its_label() -> None:
    controller, events = run_listing("begin:\n mem_w 2 0x0f82 = 0\nround:\n jump round\n")
    assert [(event["what"], event["label"]) for event in events] == [("loops", "round")]
    assert controller.is_over
    assert controller.error is None


def test_a_loop_that_writes_what_stands_there_already_has_no_effect() -> None:
    _, events = run_listing("round:\n mem_w 2 0x0f82 = 2\n jump round\n")
    assert [event["what"] for event in events] == ["posture", "loops"]


def test_a_loop_that_counts_is_not_reported() -> None:
    count = " calc\n mem_r 2 0x0f90\n const 1\n add\n mem_w 2 0x0f90\n endcalc\n"
    controller, events = run_listing(f"round:\n{count} jump round\n")
    assert events == []
    assert not controller.is_over


def test_a_loop_that_waits_for_a_word_is_told_apart() -> None:
    controller, events = run_listing("a:\n calc\n mem_r 2 0x0e5c\n eq\n jump a\n endcalc\n return\n")
    assert [(event["what"], event["waits_for"]) for event in events] == [("waits", ["word"])]
    assert controller.is_over


def test_a_robot_that_is_to_hear_a_word_is_not_over() -> None:
    controller, events = run_listing(
        "a:\n calc\n mem_r 2 0x0e5c\n eq\n jump a\n endcalc\n return\n",
        seconds=2.5,
        words=read_words("7@3"),
    )
    assert [event["what"] for event in events] == ["waits"]
    assert not controller.is_over


def test_a_loop_that_waits_for_the_end_of_a_move_is_none() -> None:
    controller, events = run_listing(
        "a:\n mem_w 2 0x0a7e = 300\nwait:\n calc\n mem_r 2 0x0a7e\n ne\n jump wait\n endcalc\n"
    )
    assert [(event["what"], event["reason"]) for event in events] == [("end", "end")]
    assert controller.memory.get("time") == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n calc\nhere:\n add\n endcalc\n return\n", "here"),
        ("a:\n mem_w 2 0x1fff = 1\n", "outside"),
        ("a:\n call a\n", "deep"),
    ],
)
def test_a_program_that_cannot_go_on_is_told_and_the_robot_holds_its_pose(text: str, message: str) -> None:
    controller, events = run_listing("mem_w 2 0x0a06 = 80\n" + text, seconds=1.0)
    assert [event["what"] for event in events] == ["error"]
    assert message in events[0]["message"]
    assert controller.error is not None
    assert controller.is_over


def test_a_table_that_leads_nowhere_ends_the_program_and_not_the_run() -> None:
    controller, events = run_listing("a:\n mem_w 2 0x1042 = 0xffff\nround:\n jump round\n", seconds=1.0)
    assert [event["what"] for event in events] == ["error", "mapping"]
    assert "table_position of ID 2" in events[0]["message"]
    assert controller.is_over


def test_without_a_program_left_the_last_pose_is_held() -> None:
    controller, events = run_listing("mem_w 2 0x0a34 = 300, 80\n mem_w 2 0x0a7e = 30\n", seconds=1.0)  # ID 14
    assert [event["what"] for event in events] == ["end"]
    commands = controller.next(MockBody(ROBI).read(), 1)
    assert ROBI.to_ticks(commands.angles[0])[12] == pytest.approx(300.0)
    assert commands.free is not None
    assert np.flatnonzero(~commands.free).tolist() == [12]


def test_a_run_ends_when_nothing_more_will_happen() -> None:
    body = MockBody(ROBI, positions=ROBI.pose("chair"))
    controller = RobiController(ROBI, load_program("startup"), words=read_words("3@3"))
    drive(body, {ROBI.name: controller}, until_s=60.0, watchers=[Until(lambda: controller.is_over, 0.5)])
    assert 6.0 < body.time_s < 15.0


def test_two_runs_are_the_same_to_the_last_bit() -> None:
    def run() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        body = MockBody(ROBI, positions=ROBI.pose("stand"))
        controller = RobiController(ROBI, load_program("startup"), words=read_words("472@2, 3@6"))
        drive(body, {ROBI.name: controller}, until_s=12.0)
        return body.commands

    np.testing.assert_array_equal(run(), run())


@pytest.mark.parametrize(
    "word", ["MOVE@1", "0@1", "65536@1", "-1@1", "4.5@1", "9" * 5000, "1", "1@", "1@x", "1@9999", "a:1@2"]
)
def test_a_word_that_is_no_number_with_a_time_is_refused(word: str) -> None:
    with pytest.raises(FormatError, match=r"472@3"):
        read_words(word)


def test_words_come_in_the_order_of_their_times() -> None:
    assert [(word.number, word.time_s) for word in read_words("2@10, 1@2.5,3@10")] == [
        (1, 2.5),
        (2, 10),
        (3, 10),
    ]


WAIT = " calc\n mem_r 2 0x0a7e\n ne\n jump wait\n endcalc\n"


def test_a_program_that_still_runs_when_time_is_up_is_told_with_its_label() -> None:
    count = "round:\n calc\n mem_r 2 0x0f90\n const 1\n add\n mem_w 2 0x0f90\n endcalc\n jump round\n"
    controller = RobiController(ROBI, assemble(count))
    controller.ends_at(1.0)
    body, events = MockBody(ROBI), []
    for _ in range(60):
        commands = controller.next(body.read(), 1)
        events += [data for _, data in (commands.decision.events if commands.decision else ())]
    assert [(event["what"], event["label"]) for event in events] == [("running", "round")]


def test_a_word_that_would_come_after_the_end_is_refused() -> None:
    controller = RobiController(ROBI, load_program("startup"), words=read_words("1@599"))
    controller.ends_at(600.0)
    with pytest.raises(InputError, match="word 1 comes at 599 s, and the run ends at 1 s"):
        controller.ends_at(1.0)


@pytest.mark.parametrize("address", ["0x0e5c", "0x0e5d", "0x0d86"])
def test_a_loop_on_either_byte_of_a_word_waits_for_it(address: str) -> None:
    _, events = run_listing(f"a:\n calc\n mem_r 1 {address}\n eq\n jump a\n endcalc\n jump a\n")
    assert [event["what"] for event in events] == ["waits"]


def test_lights_are_told_after_an_error_too() -> None:
    controller, _ = run_listing(
        "mem_w 2 0x0a7c = 255\nmem_w 2 0x0a7e = 3\nwait:\n" + WAIT + "calc\nadd\nendcalc\n", 1.0
    )
    assert controller.error is not None
    assert status_of(controller).lights["mouth"] == (1.0, 0.0, 0.0)


def test_after_an_error_a_move_under_way_is_finished() -> None:
    controller, _ = run_listing("mem_w 2 0x0a34 = 300, 80\nmem_w 2 0x0a7e = 30\ncalc\nadd\nendcalc\n", 1.0)
    commands = controller.next(MockBody(ROBI).read(), 1)
    assert ROBI.to_ticks(commands.angles[0])[12] == pytest.approx(300.0)


def test_at_a_breakpoint_all_is_kept_as_it_stands_there() -> None:
    program = assemble("mem_w 2 0x0a34 = 300, 80\nmem_w 2 0x0a7e = 60\nhere:\n return\n")
    at = next(program.positions[key] for key, label in program.labels.items() if label == "here")
    body, controller = MockBody(ROBI), RobiController(ROBI, program, breakpoints=[at])
    while not controller.is_over:
        body.play(controller.next(body.read(), 1))
    assert controller.breakpoint_status is not None
    assert controller.breakpoint_status.label == "here"
    assert controller.breakpoint_status.time_left_s == 1.0
    assert status_of(controller).time_left_s == 0.0


@pytest.mark.parametrize(
    ("pose", "frames", "of", "asked", "limit"),
    [
        ("0x0a04 = 1790, 80", 600, "position", 179.0, None),
        ("0x0a34 = 300, 120", 600, "torque", 120.0, 100.0),
        ("0x0a34 = 600, 80", 2, "speed", 1800.0, None),
    ],
)
def test_what_a_servo_cannot_do_is_told_once_with_its_place(
    pose: str, frames: int, of: str, asked: float, limit: float | None
) -> None:
    text = f"again:\n mem_w 2 {pose}\n mem_w 2 0x0a7e = {frames}\nwait:\n{WAIT} return\n"
    _, events = run_listing("call again\ncall again\nreturn\n" + text, 25.0)
    unsafe = [event for event in events if event["what"] == "unsafe" and event["of"] == of]
    assert len(unsafe) == 1
    assert (unsafe[0]["label"], unsafe[0]["asked"]) == ("again", pytest.approx(asked))
    assert limit is None or unsafe[0]["limit"] == limit
    assert unsafe[0]["message"].startswith(f"{of} of ID {unsafe[0]['id']} is to be ")


def test_programs_that_ship_ask_nothing_of_a_servo_that_it_cannot_do() -> None:
    for pose in ("stand", "sit", "chair"):
        body, controller = MockBody(ROBI, positions=ROBI.pose(pose)), None
        controller = RobiController(
            ROBI, load_program("startup"), words=read_words("472@3,1@8,3@14,2@22,4@30,5@40")
        )
        while not controller.is_over:
            commands = controller.next(body.read(), 1)
            body.play(commands)
            events = commands.decision.events if commands.decision else ()
            assert not [data for _, data in events if data["what"] == "unsafe"]
