"""A body follows the pose that is edited: slowly, never into a fault, and it holds or lets go at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from posewright.buses.dynamixel.fake.port import FakePort
from posewright.robots import robot
from posewright.runs import fake_bus, fake_port
from posewright.studio import teach_panel

pytest.importorskip("dynamixel_sdk")

Shipped = Callable[[str], Path]
BIOLOID = robot("robotis_bioloid")
SECOND_POSE = "[-26.13,   8.14, -21.74, 22.03, 14.65, -14.36,"
OVERTURNED = "[-26.13,   8.14, -21.74, 22.03, 14.65, 170.0,"
"""The second keyframe's arms in the shipped file, and with the left elbow beyond its limit [deg]."""

TICK_DEG = BIOLOID.servos[0].tick_deg


@pytest.fixture
def port() -> Iterator[FakePort]:
    """A robot that stands on a fake bus, at a port of its own."""
    with fake_port(fake_bus(BIOLOID, body="mock")) as opened:
        yield opened


@pytest.fixture
def window(
    shipped: Shipped, studio_of: Any, window_of: Any, port: FakePort, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """A window of a studio whose body stands at the port and follows the first keyframe."""
    monkeypatch.setattr(teach_panel, "MIN_PATIENCE_S", 0.3)
    monkeypatch.setattr(teach_panel, "WINDOWLESS_S", 0.3)
    path = shipped("walk_forward")
    text = path.read_text()
    assert SECOND_POSE in text
    path.write_text(text.replace(SECOND_POSE, OVERTURNED))
    body = f"dynamixel:{port.path}"
    window = window_of(studio_of(path, body=body))
    assert not window.topics["teach"]["follows"]
    assert window.answer("teach.follow", on=True)["error"]["message"] == "no body is open"
    window.ask("teach.connect", body=body)
    window.until(lambda topics: topics["teach"]["state"] == "open")
    assert torques(port) == {0}
    window.ask("teach.follow", on=True)
    wait_for(lambda: torques(port) == {1})
    return window


def torques(port: FakePort) -> set[int]:
    return {servo.peek("torque_enable") for servo in port.bus.joints.values()}


def goal_deg(port: FakePort, joint: str) -> float:
    """Return the goal of a joint's servo [deg]."""
    servo = BIOLOID.servos[BIOLOID.index(joint)]
    return servo.direction * (
        port.bus.joints[joint].peek("goal_position") * servo.tick_deg - servo.centre_deg
    )


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("it did not come to that")


def test_edits_reach_the_body_but_not_a_pose_with_faults_and_off_lets_it_hold(
    window: Any, port: FakePort
) -> None:
    window.edit("set_angles", page=1, keyframe=0, angles_deg={"left_elbow": -30.0})
    wait_for(lambda: goal_deg(port, "left_elbow") == pytest.approx(-30.0, abs=TICK_DEG))
    hint = window.answer("teach.release", limb="left_arm")["error"]["hint"]
    assert hint == "switch that off first"

    window.ask("session.look", keyframe=1)
    not_sent = window.topics["teach"]["not_sent"]
    assert "left_elbow is commanded to 170.00 deg, its limit is" in not_sent
    window.edit("set_angles", page=1, keyframe=1, angles_deg={"left_elbow": -20.0})
    assert window.topics["teach"]["not_sent"] == ""
    wait_for(lambda: goal_deg(port, "left_elbow") == pytest.approx(-20.0, abs=TICK_DEG))

    window.ask("teach.follow", on=False)
    window.edit("set_angles", page=1, keyframe=1, angles_deg={"left_elbow": -40.0})
    window.ask("teach.hold", limb="left_leg")
    assert torques(port) == {1}
    assert goal_deg(port, "left_elbow") == pytest.approx(-20.0, abs=TICK_DEG)


def test_a_body_that_is_held_before_its_servos_were_set_up_goes_on_holding(
    shipped: Shipped, studio_of: Any, window_of: Any, port: FakePort
) -> None:
    """An AX-12 from the factory has a return delay of 250 in its EEPROM (e-Manual); `set_up` makes it 0."""
    for servo in port.bus.joints.values():
        servo.poke("return_delay_time", 250)
    body = f"dynamixel:{port.path}"
    window = window_of(studio_of(shipped("walk_forward"), body=body))
    window.ask("teach.connect", body=body)
    window.until(lambda topics: topics["teach"]["state"] == "open")
    window.ask("teach.hold", limb="all")
    window.ask("teach.follow", on=True)
    window.until(lambda topics: not topics["teach"]["follows"])
    problem = next(message["value"] for message in window.messages if message.get("topic") == "problem")
    assert "are not set up yet" in problem["message"]
    assert window.topics["teach"]["state"] == "open"
    assert torques(port) == {1}


def test_the_torque_of_a_body_that_follows_is_off_soon_after_the_last_window_is_closed(
    window: Any, port: FakePort
) -> None:
    window.studio.session.remove_window(id(window))
    wait_for(lambda: torques(port) == {0})
