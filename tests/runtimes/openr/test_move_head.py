"""MoveHead: fifteen commands, the automaton of seeds.md D2, and motions in blocks of 128 ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.arrays import Floats
from posewright.bodies import MockBody
from posewright.charts import check_chart, read_chart
from posewright.errors import FormatError, InputError
from posewright.robots import Robot
from posewright.runtimes.openr import OObject, read_connect
from posewright.runtimes.openr.automaton import CHARTS
from posewright.runtimes.openr.move_head import MOTIONS, MoveHead
from posewright.runtimes.openr.programs import program
from posewright.runtimes.openr.services import OReadyEvent

from .playing import DOG, STAND, RunLog, make_program, play

HEAD = ("neck_tilt", "head_pan", "head_tilt")
IDLE = "IDLE"

# What the document says (D1), written down once more.
POSES: Mapping[str, tuple[float, float, float]] = {
    "MOVE_BP": (0, 0, 0),
    "MOVE_MP": (-40, 0, 25),
    "MOVE_FP": (-75, 0, 45),
}
RUNS: Mapping[str, tuple[str, str, float]] = {
    "MV_RGHT": ("STOP_MR", "head_pan", -88),
    "MV_LEFT": ("STOP_ML", "head_pan", 88),
    "MV_FWRD": ("STOP_MF", "neck_tilt", -75),
    "MV_BACK": ("STOP_MB", "neck_tilt", 0),
    "MOVE_UP": ("STOP_MU", "head_tilt", 45),
    "MV_DOWN": ("STOP_MD", "head_tilt", -15),
}
STOPS = {stop: state for state, (stop, _, _) in RUNS.items()}
COMMANDS = (*POSES, *RUNS, *STOPS)
STATES = (IDLE, *POSES, *RUNS)


def micro(deg: float) -> int:
    return int(np.radians(deg) * 1e6)


def head_at(*degs: float) -> Floats:
    pose = STAND.copy()
    pose[[DOG.index(name) for name in HEAD]] = np.radians(degs)
    return pose


angles = [st.floats(*np.degrees([DOG.limits[0][k], DOG.limits[1][k]])) for k in map(DOG.index, HEAD)]
head_poses = st.builds(head_at, *angles)
scripts = st.lists(st.tuples(st.sampled_from(COMMANDS), st.integers(0, 120)), min_size=1, max_size=12)


def written(commands: list[tuple[str, int]]) -> tuple[str, float]:
    """Return commands, each some frames after the one before it, as a script, and when the last one comes."""
    frames = np.cumsum([gap for _, gap in commands])
    times = [f"{command}@{frame * 0.008:.3f}" for (command, _), frame in zip(commands, frames, strict=True)]
    return ", ".join(times), float(frames[-1] * 0.008)


@pytest.mark.parametrize("name", ["move_head", "move_legs"])
def test_the_charts_are_proved_to_be_sound(name: str) -> None:
    findings = check_chart(read_chart(CHARTS / f"{name}.chart.yaml"))
    assert not list(findings)


@settings(max_examples=40)
@given(head_poses)
def test_the_middle_pose_is_reached_after_2048_ms_from_any_start(start: Floats) -> None:
    played = play("move_head", "MOVE_MP@0", 2.4, start)
    for name, deg in zip(HEAD, POSES["MOVE_MP"], strict=True):
        way, begin = played.joint(name), round(start[DOG.index(name)] * 1e6)
        assert (way[255:] == micro(deg)).all()
        assert way[254] != micro(deg) or abs(way[255] - begin) < 256
        assert [(value - begin) * (1 if micro(deg) >= begin else -1) for value in way[:256]] == [
            (frame + 1) * abs(micro(deg) - begin) // 256 for frame in range(256)
        ]
    assert played.states("MoveHead") == [(0.0, IDLE), (0.0, "MOVE_MP"), (2.048, IDLE)]


@settings(max_examples=40)
@given(st.integers(1, 400))
def test_pan_stops_within_a_block_of_where_it_was_told_or_at_the_limit(frame: int) -> None:
    played = play("move_head", f"MV_RGHT@0, STOP_MR@{frame * 0.008:.3f}", 4.0)
    pan = played.joint("head_pan")
    last = min(frame // 16 + 1, 20) * 16 - 1  # the frame with which the block under way ends
    assert (pan[last:] == pan[last]).all()
    assert pan[last] == interpolated_pan(last)
    assert (pan[-1] == micro(-88)) == (last == 319)
    assert bool(played.events("refused")) == (frame >= 320)


def interpolated_pan(frame: int) -> int:
    return -((frame + 1) * -micro(-88) // 320)


@pytest.mark.parametrize("command", POSES)
def test_a_pose_is_held_once_it_is_reached(command: str) -> None:
    played = play("move_head", f"{command}@0", 2.5)
    assert [played.joint(name)[-1] for name in HEAD] == [micro(deg) for deg in POSES[command]]
    assert (
        np.delete(played.frames, [DOG.index(name) for name in HEAD], axis=1) == np.rint(STAND[3:] * 1e6)
    ).all()


@pytest.mark.parametrize(("command", "stop", "joint", "limit_deg"), [(c, *rest) for c, rest in RUNS.items()])
def test_a_motion_runs_to_its_limit_or_until_its_own_stop(
    command: str, stop: str, joint: str, limit_deg: float
) -> None:
    whole = play("move_head", f"{command}@0", 3.0)
    assert whole.joint(joint)[-1] == micro(limit_deg)
    stopped = play("move_head", f"{command}@0, {stop}@1.0", 3.0)
    n = 8 * 16  # told in its eighth block
    assert (stopped.frames[:n] == whole.frames[:n]).all()
    assert (stopped.frames[n:] == whole.frames[n - 1]).all()
    assert abs(stopped.joint(joint)[-1]) < abs(micro(limit_deg)) or limit_deg == 0
    for other in (whole, stopped):
        assert (
            np.delete(other.frames, DOG.index(joint), axis=1)
            == np.delete(np.rint(STAND * 1e6), DOG.index(joint))
        ).all()


@pytest.mark.parametrize(("command", "joint", "limit_deg"), [(c, j, deg) for c, (_, j, deg) in RUNS.items()])
def test_a_motion_at_its_limit_already_begins_and_ends_in_order(
    command: str, joint: str, limit_deg: float
) -> None:
    played = play("move_head", f"{command}@0, {command}@3", 7.0)
    again = [state for time_s, state in played.states("MoveHead") if time_s >= 3.0]
    assert again == [command, IDLE]
    assert (played.joint(joint)[375:] == micro(limit_deg)).all()


@cache
def without(state: str) -> RunLog:
    return play("move_head", "" if state == IDLE else f"{state}@0", 3.5)


@pytest.mark.parametrize(("state", "command"), list(product(STATES, COMMANDS)))
def test_every_command_in_every_state(state: str, command: str) -> None:
    begins = "" if state == IDLE else f"{state}@0, "
    played, alone = play("move_head", f"{begins}{command}@0.5", 3.5), without(state)
    # a pose is answered at its end (MOVING_FINISH in the document's code): what is sent before waits
    told_s = 2.048 if state in POSES else 0.504
    becomes = next((new for time_s, new in played.states("MoveHead") if time_s == told_s), None)
    answered_s = 2.552 if state == IDLE and command in POSES else told_s
    assert answered_s in played.acknowledged("MoveHead.ReceiveCommand")
    refused = [time_s for time_s, _ in played.events("refused", object="MoveHead", asked=command)]
    if state == IDLE and command not in STOPS:
        assert (becomes, refused) == (command, [])
    elif state in POSES and command not in STOPS:
        assert (told_s, command) in played.states("MoveHead")
        assert refused == []
    elif STOPS.get(command) == state:
        assert (becomes, refused) == (IDLE, [])
    else:
        assert (becomes if state not in POSES else None, refused) == (None, [told_s])
        assert (played.frames == alone.frames).all()
        assert played.states("MoveHead") == alone.states("MoveHead")


def test_a_refusal_says_what_the_command_is_for_and_what_would_help() -> None:
    played = play("move_head", "MV_LEFT@0, STOP_MR@0.2, MOVE_BP@0.3", 1.0)
    why = [data["why"] for _, data in played.events("refused")]
    assert why == [
        "STOP_MR stops MV_RGHT; the state is MV_LEFT, which STOP_ML stops",
        "MOVE_BP starts from IDLE; the state is MV_LEFT, which STOP_ML stops",
    ]


def test_where_pan_stops_is_in_the_log() -> None:
    played = play("move_head", "MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5", 5.0)
    [(_, data)] = played.events("syslog", object="MoveHead")
    assert data["text"] == "STOP_MR: block 4 of 20 is the last; it ends with head_pan at -17.60 deg"
    assert round(np.degrees(played.joint("head_pan")[-1] / 1e6), 2) == -17.60


def test_what_follows_a_stop_waits_for_the_end_of_the_block_under_way() -> None:
    played = play("move_head", "MV_RGHT@0, STOP_MR@1.0, MV_LEFT@1.0", 5.0)
    pan = played.joint("head_pan")
    assert (np.diff(pan[:128]) < 0).all()
    assert (np.diff(pan[127 : 128 + 320]) > 0).all()
    assert pan[128 + 320 - 1] == micro(88)


@settings(max_examples=40)
@given(head_poses, scripts)
def test_whatever_is_commanded_no_joint_is_asked_for_more_than_it_can(
    start: Floats, commands: list[tuple[str, int]]
) -> None:
    script, last_s = written(commands)
    played = play("move_head", f"MOVE_MP@0, {script}", last_s + 8.0, start)
    changes = np.abs(np.diff(played.frames, axis=0)).max(axis=0) / 1e6
    assert (changes <= DOG.max_speeds * DOG.frame_period_s).all()
    assert played.interventions == []
    n_deliveries = len(played.events("notify", to="MoveHead.ReceiveCommand"))
    n_stoppable = len([state for _, state in played.states("MoveHead") if state in RUNS])
    assert len(played.acknowledged("MoveHead.ReceiveCommand")) == 1 + n_deliveries + n_stoppable
    assert played.events("silent") == []
    assert played.states("MoveHead")[-1][1] == IDLE
    assert played.controller.is_idle
    moved = next(one for one in played.controller.system.objects if isinstance(one, MoveHead))
    assert all(region.is_free for region in moved._player._joint_commands._regions)


def test_no_way_is_too_fast_for_a_servo_wherever_it_begins() -> None:
    for ends, n_blocks in MOTIONS.values():
        for locator, end in ends.items():
            joint = DOG.namings["open_r"][locator]
            way = max(abs(limit[DOG.index(joint)] - np.radians(end)) for limit in DOG.limits)
            speed = way / (n_blocks * 0.128)
            assert speed < DOG.max_speeds[DOG.index(joint)]
            assert speed < np.radians(70)  # its camera still sees sharply


def test_two_runs_are_alike_to_the_last_bit() -> None:
    script = "MOVE_MP@0, STOP_MD@1, MV_RGHT@3.0, STOP_MR@3.5, MV_DOWN@3.5, STOP_MD@3.9"
    first, second = (play("move_head", script, 5.0) for _ in range(2))
    assert (first.frames == second.frames).all()
    assert first.recording.events == second.recording.events


class Client(OObject):
    """Sends its commands one after the other, each when the one before is answered."""

    def __init__(self, *commands: str) -> None:
        super().__init__("Client")
        self.commands = [*commands]
        self.say = self.subject("Say", "char", ready=self.send_next)

    def send_next(self, event: OReadyEvent) -> None:
        if event.is_ready and self.commands:
            self.say.send(self.commands.pop(0))


def test_a_client_that_sends_at_each_answer_gets_one_pose_after_the_other() -> None:
    """The document answers MOVE_BP, MOVE_MP and MOVE_FP at MOVING_FINISH, others at once (seeds.md D2)."""
    lines = [
        *map(str, program("move_head").config.lines),
        "Client.Say.char.S MoveHead.ReceiveCommand.char.O",
    ]
    config = read_connect("\n".join(lines))
    words = ("MOVE_FP", "STOP_MR", "MOVE_BP", "MV_LEFT", "STOP_ML")
    played = play(config, "", 6.0, own={"Client": lambda: Client(*words)})
    assert played.acknowledged("MoveHead.ReceiveCommand", "Client")[:6] == [
        0.0,
        2.048,
        2.048,
        4.096,
        4.096,
        4.096,
    ]
    assert [data["asked"] for _, data in played.events("refused")] == ["STOP_MR"]
    states = [state for _, state in played.states("MoveHead")]
    assert states == [IDLE, "MOVE_FP", IDLE, "MOVE_BP", IDLE, "MV_LEFT", IDLE]


class Shouter(OObject):
    """Sends one word when it starts."""

    def __init__(self, word: str) -> None:
        super().__init__("Shouter")
        self.word, self.say_it = word, self.subject("Say", "char")

    def do_start(self) -> None:
        super().do_start()
        self.say_it.send(self.word)


def shouted(word: str, script: str = "") -> RunLog:
    lines = [
        *map(str, program("move_head").config.lines),
        "Shouter.Say.char.S MoveHead.ReceiveCommand.char.O",
    ]
    return play(read_connect("\n".join(lines)), script, 4.0, own={"Shouter": lambda: Shouter(word)})


def test_a_word_that_is_no_command_is_refused_and_acknowledged() -> None:
    played = shouted("SIT")
    [(_, data)] = played.events("refused")
    assert "there is no such command" in data["why"]
    assert len(played.acknowledged("MoveHead.ReceiveCommand", "Shouter")) == 2
    assert (played.frames == played.frames[0]).all()


def test_the_end_of_a_motion_is_acknowledged_to_who_started_it() -> None:
    played = shouted("MV_LEFT", "STOP_MR@1")
    assert played.acknowledged("MoveHead.ReceiveCommand", "Shouter") == [0.0, 0.0, 2.56]
    assert played.acknowledged("MoveHead.ReceiveCommand") == [0.0, 1.0]


def test_a_script_with_a_wrong_word_says_which_there_are() -> None:
    with pytest.raises(FormatError) as caught:
        make_program("move_head", "MOVE_XX@0").controller()
    assert "MOVE_BP" in str(caught.value.hint)


def test_a_robot_without_these_joints_is_refused() -> None:
    names = {locator: joint for locator, joint in DOG.namings["open_r"].items() if joint != "head_pan"}
    headless: Robot = replace(DOG, namings={**DOG.namings, "open_r": names})
    controller = make_program("move_head", robot=headless).controller()
    with pytest.raises(InputError, match="cannot run MoveHead"):
        controller.next(MockBody(headless, positions=STAND).read(), 1)
