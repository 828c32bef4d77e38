"""What a person sees of a run on a body while it lasts, and when it was slow or was ended."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.bodies import Fault, FaultKind, JointCommands, JointStates, MockBody
from posewright.cli.motion_play import show_run_progress
from posewright.control import Block
from posewright.robots import robot

BIOLOID = robot("robotis_bioloid")


def block(k: int, *, late: bool) -> Block:
    body = MockBody(BIOLOID)
    body.open()
    rows = np.zeros((1, len(BIOLOID.joints)))
    faults = (Fault(k / 128, FaultKind.LATE, "late"),) if late else ()
    states = JointStates(np.array([k / 128]), rows, rows, faults=faults)
    return Block("b", body.read(), JointCommands(rows), JointCommands(rows), states)


@pytest.mark.parametrize(("n_late", "is_warned"), [(2, False), (5, True)])
def test_a_run_of_whose_frames_over_a_tenth_are_late_is_warned_of(
    capsys: pytest.CaptureFixture[str], n_late: int, is_warned: bool
) -> None:
    with show_run_progress("bow", "dynamixel:x", quiet=True) as watcher:
        for k in range(20):
            assert not watcher.watch(block(k, late=k < n_late))
    told = " ".join(capsys.readouterr().err.split())
    assert ("5 of 20 frames were late: 0.1 s took 0." in told) == is_warned


class SlowBody(MockBody):
    def facts(self) -> dict[str, object]:
        return {"remarks": ["the bus does not keep up"]}


def test_the_remarks_of_a_body_are_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    with show_run_progress("bow", "dynamixel:x", quiet=True) as progress:
        progress.for_plant(SlowBody(BIOLOID))
    assert "warning: the bus does not keep up" in capsys.readouterr().err


@pytest.mark.parametrize(("is_real", "message"), [(True, "stopped; torque is off"), (False, "stopped")])
@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_a_run_that_a_signal_ends_says_so(
    capsys: pytest.CaptureFixture[str], is_real: bool, message: str, signal: type[BaseException]
) -> None:
    def play() -> None:
        with show_run_progress("bow", "body", quiet=True) as progress:
            progress.is_real = is_real  # as the plant of the run says
            raise signal

    with pytest.raises(signal):
        play()
    assert capsys.readouterr().err == f"error: {message}\n"
