"""Poses are caught from a body that is moved by hand: behind a fake bus, and at a port."""

from __future__ import annotations

import math
import sys
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


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let servos answer late, and threads take turns more often: the fake bus shares this process."""
    monkeypatch.setattr(teach_panel, "MIN_PATIENCE_S", 0.3)
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-4)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def port() -> Iterator[FakePort]:
    """A robot that stands on a fake bus, at a port of its own."""
    with fake_port(fake_bus(BIOLOID, body="mock")) as opened:
        yield opened


def until(window: Any, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until what is told of the body is so."""
    told: dict[str, Any] = window.until(lambda topics: is_so(topics["teach"]))["teach"]
    return told


def connect(window: Any, body: str) -> None:
    """Connect a body, and wait until it is open."""
    window.ask("teach.connect", body=body)
    until(window, lambda told: told["state"] == "open")


def angle(window: Any, keyframe: int, joint: str) -> Any:
    motion = window.topics["motion"]
    return motion["keyframes"][keyframe]["pose"][motion["joints"].index(joint)]


def torques(port: FakePort) -> set[int]:
    time.sleep(0.1)
    return {servo.peek("torque_enable") for servo in port.bus.joints.values()}


def test_a_fake_body_is_let_go_moved_and_caught(shipped: Shipped, studio_of: Any, window_of: Any) -> None:
    window = window_of(studio_of(shipped("walk_forward")))
    connect(window, "mock")
    window.ask("teach.hold", limb="all")
    until(window, lambda told: told["free"] == [])
    assert "unknown limb" in window.answer("teach.release", limb="tail")["error"]["message"]
    window.ask("teach.release", limb="right_arm")
    until(window, lambda told: set(told["free"]) == set(BIOLOID.groups["right_arm"]))
    place = BIOLOID.joint_names.index("right_elbow")
    window.ask("teach.move", joint="right_elbow", angle_deg=-30.0)
    window.ask("teach.move", joint="left_elbow", angle_deg=-30.0)
    for _ in range(200):
        if window.topics["body"][place] == pytest.approx(-30.0, abs=0.5):
            break
        time.sleep(0.02)
    window.ask("teach.record_pose", seconds=0.75)
    told = until(window, lambda told: told["caught"] != "")
    assert told["caught"] == "caught into keyframe 2, 0.75 s after the one before"
    assert len(window.topics["motion"]["keyframes"]) == 5
    assert window.topics["cursor"]["keyframe"] == 1
    assert angle(window, 1, "right_elbow") == pytest.approx(-30.0, abs=0.5)
    assert angle(window, 1, "left_elbow") != pytest.approx(-30.0, abs=5.0)
    window.ask("session.undo")
    assert len(window.topics["motion"]["keyframes"]) == 4


def test_at_a_port_a_pose_goes_into_the_keyframe_and_all_torque_is_off_at_the_end(
    shipped: Shipped, studio_of: Any, window_of: Any, port: FakePort
) -> None:
    studio = studio_of(shipped("walk_forward"), body=f"dynamixel:{port.path}")
    window = window_of(studio)
    connect(window, f"dynamixel:{port.path}")
    window.ask("teach.hold", limb="all")
    until(window, lambda told: told["free"] == [])
    assert torques(port) == {1}
    assert window.answer("teach.move", joint="left_knee", angle_deg=1.0)["error"]
    window.ask("teach.release", limb="left_leg")
    port.bus.hold("left_knee", 0.5)
    time.sleep(0.1)
    window.ask("teach.record_pose", is_new=False)
    until(window, lambda told: told["caught"] == "caught into keyframe 1")
    assert angle(window, 0, "left_knee") == pytest.approx(28.65, abs=0.5)
    studio.close()
    assert torques(port) == {0}


def test_a_body_that_goes_away_is_told_and_can_be_opened_again(
    shipped: Shipped, studio_of: Any, window_of: Any, port: FakePort
) -> None:
    body = f"dynamixel:{port.path}"
    window = window_of(studio_of(shipped("walk_forward"), body=body))
    connect(window, body)
    port.unplug()
    assert until(window, lambda told: told["state"] == "closed")["trouble"]
    port.plug()
    connect(window, body)
    window.ask("teach.disconnect")
    assert until(window, lambda told: told["state"] == "closed")["trouble"] == ""


def test_a_body_that_follows_and_answers_again_is_in_no_trouble(
    shipped: Shipped, studio_of: Any, window_of: Any, port: FakePort
) -> None:
    body = f"dynamixel:{port.path}"
    window = window_of(studio_of(shipped("walk_forward"), body=body))
    connect(window, body)
    window.ask("teach.follow", on=True)
    until(window, lambda told: told["follows"] and not told["free"])
    port.unplug()
    assert "all joints hold" in until(window, lambda told: told["trouble"])["trouble"]
    port.plug()
    told = until(window, lambda told: told["recovery"])
    assert "all servos answer again" in told["recovery"]
    assert not told["trouble"]


def test_a_robot_of_other_servos_is_taught_as_if_it_had_those_of_the_bus(
    shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(shipped("kick_right")))
    connect(window, "mock")
    window.ask("teach.move", joint="right_front_knee", angle_deg=100.0)
    window.ask("teach.record_pose", is_new=False)
    until(window, lambda told: told["caught"] == "caught into keyframe 1")
    stand = math.degrees(robot("sony_ers7").poses["stand"]["left_front_knee"])
    assert angle(window, 0, "left_front_knee") == pytest.approx(stand, abs=0.5)


def test_only_bodies_that_were_named_can_be_opened_and_other_servos_at_a_port_are_refused(
    shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(shipped("sit_down"), body="dynamixel:/dev/null"))
    assert "unknown body" in window.answer("teach.connect", body="dynamixel:/dev/ttyS0")["error"]["message"]
    assert window.answer("teach.record_pose")["error"]["message"] == "no body is open"
    window.ask("teach.connect", body="dynamixel:/dev/null")
    told = until(window, lambda told: told["state"] == "closed" and told["trouble"] != "")
    assert "are not AX-12" in told["trouble"]


def test_all_torque_is_off_soon_after_the_last_window_is_closed(
    shipped: Shipped, studio_of: Any, window_of: Any, port: FakePort, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that is reloaded in the meantime keeps the body."""
    monkeypatch.setattr(teach_panel, "WINDOWLESS_S", 0.5)
    body = f"dynamixel:{port.path}"
    studio = studio_of(shipped("walk_forward"), body=body)
    window = window_of(studio)
    connect(window, body)
    window.ask("teach.hold", limb="all")
    until(window, lambda told: told["free"] == [])
    studio.session.remove_window(id(window))
    again = window_of(studio)
    time.sleep(1.0)
    assert torques(port) == {1}
    studio.session.remove_window(id(again))
    for _ in range(600):
        if torques(port) == {0}:
            break
    last = window_of(studio)
    told = until(last, lambda told: told["state"] == "closed")
    assert told["trouble"] == "disconnected: no window was open"
    assert torques(port) == {0}
