"""The loop keeps each controller's beat, drives a plant frame by frame, and tells its watchers all."""

from __future__ import annotations

import csv
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from posewright.bodies import (
    BodyState,
    Fault,
    JointCommands,
    JointStates,
    MockBody,
    Reading,
    Supervisor,
    TorquePolicy,
)
from posewright.control import Block, RealClock, SafetyLimit, Script, drive
from posewright.controllers import Feedback
from posewright.controllers.behaviours import Behaviour, BehaviourController, read_behaviour
from posewright.errors import BodyError, InputError, UnsafeCommandError
from posewright.motions import Keyframe, Motion
from posewright.robots import robot

Readings = Callable[[float], Mapping[str, Reading]]
BIOLOID = robot("robotis_bioloid")
STAND = BIOLOID.pose("stand")


@dataclass
class Witness:
    """Keeps every block; ends the run when told to."""

    stop_after: int | None = None
    blocks: list[Block] = field(default_factory=list)

    def watch(self, block: Block) -> bool:
        self.blocks.append(block)
        return len(self.blocks) == self.stop_after

    @property
    def ticks(self) -> list[Block]:
        return [block for block in self.blocks if block.requests.decision is not None]


def run(
    behaviour: Behaviour, script: Readings, until_s: float, *witnesses: Witness, **rest: object
) -> MockBody:
    body = MockBody(behaviour.robot, script, positions=behaviour.start_pose, **rest)
    controller = BehaviourController(behaviour)
    drive(body, {behaviour.robot.name: controller}, until_s=until_s, watchers=witnesses)
    return body


def seen(front: float = 5.0, left: float = 5.0, right: float = 5.0) -> dict[str, Reading]:
    return {"laser_front": front, "laser_left": left, "laser_right": right}


def still(n: int = 1) -> JointCommands:
    return JointCommands(np.tile(STAND, (n, 1)))


def standing(**rest: object) -> MockBody:
    return MockBody(BIOLOID, positions=STAND, **rest)


def test_ticks_come_at_exact_times_over_a_thousand_seconds(desk) -> None:
    times = []

    class Dial(MockBody):
        """A body that only counts time."""

        def play(self, frames: JointCommands) -> JointStates:
            self.n_frames_played += len(frames)
            times_s = np.arange(len(frames)) / 128
            return JointStates(times_s, frames.angles, frames.angles)

    class Beat:
        def watch(self, block: Block) -> bool:
            if block.requests.decision is not None:
                times.append(block.state.time_s)
            return False

    behaviour = desk.read()
    body = Dial(behaviour.robot, lambda _t: {"laser_front": 5.0}, positions=behaviour.start_pose)
    drive(body, {body.robot.name: BehaviourController(behaviour)}, until_s=1000.0, watchers=[Beat()])
    assert body.time_s == 1000.0
    assert times == [float(Fraction(-(-k * 128 // 10), 128)) for k in range(10_000)]


def test_blocks_follow_each_other_without_a_gap(desk) -> None:
    witness = Witness()
    run(desk.read(), lambda _t: seen(front=0.1), 3.05, witness)
    lengths = [len(block.commands) for block in witness.blocks]
    assert len(lengths) == 31
    assert set(lengths[:-1]) == {12, 13}
    assert sum(lengths) == round(3.05 * 128)
    times = np.concatenate([block.states.times for block in witness.blocks])
    assert np.array_equal(times, np.arange(1, len(times) + 1) / 128)
    for before, after in zip(witness.blocks, witness.blocks[1:], strict=False):
        assert after.state.time_s == before.states.times[-1]


def test_it_stops_after_the_block_a_watcher_objects_to_and_all_have_seen_it(desk) -> None:
    first, second = Witness(stop_after=4), Witness()
    body = run(desk.read(), lambda _t: seen(), 10.0, first, second)
    assert len(first.blocks) == len(second.blocks) == 4
    assert body.time_s == pytest.approx(0.4, abs=1 / 128)


def test_it_can_go_on_from_where_it_stopped(desk) -> None:
    behaviour = desk.read()
    body = MockBody(behaviour.robot, lambda _t: seen(front=0.2), positions=behaviour.start_pose)
    controller = BehaviourController(behaviour)
    for until_s in (1.0, 2.0):
        drive(body, {body.robot.name: controller}, until_s=until_s)
        assert body.time_s == until_s
    path = np.diff(body.commands, axis=0)
    assert (np.abs(path) <= behaviour.robot.max_speeds / 128 + 1e-9).all()


def test_a_body_is_never_asked_to_jump_however_the_sensors_flicker() -> None:
    rng = np.random.default_rng(3)
    behaviour = read_behaviour("document_mealy")
    witness = Witness()
    body = run(behaviour, lambda _t: seen(*rng.choice([0.1, 5.0], 3)), 60.0, witness)
    moved = np.diff(body.commands, axis=0, prepend=behaviour.start_pose[np.newaxis])
    assert (np.abs(moved) <= behaviour.robot.max_speeds / 128 + 1e-9).all()
    assert all(block.interventions is None for block in witness.blocks)
    assert {block.requests.decision.playing for block in witness.ticks} == {
        None,
        "walk_forward",
        "turn_left",
        "turn_right",
    }


def test_what_safety_changed_is_told_with_the_block(desk, shop) -> None:
    knee = shop.robot.limits[1][shop.robot.index("left_knee")] - shop.stand[shop.robot.index("left_knee")]
    far = shop.motion("far", {"left_knee": knee + 0.2}, reach_s=1.0)
    behaviour = read_behaviour(desk.write(), motions_from={"walk": far})
    witness = Witness()
    body = run(behaviour, lambda _t: seen(front=0.1), 2.0, witness)
    found = [block.interventions for block in witness.blocks if block.interventions is not None]
    told = {pair for one in found for pair in zip(one.guards, one.joints.tolist(), strict=True)}
    assert told == {(SafetyLimit.JOINT_LIMIT, shop.robot.index("left_knee"))}
    assert (body.commands <= shop.robot.limits[1] + 1e-9).all()


def test_a_command_that_is_no_number_never_reaches_the_body() -> None:
    body = standing()
    broken = Script([JointCommands(np.full((5, len(STAND)), np.nan))])
    with pytest.raises(UnsafeCommandError):
        drive(body, {body.robot.name: broken}, until_s=1.0)
    assert body.played_commands == []
    assert body.stops == [TorquePolicy.RELEASE]


def test_a_limp_joint_is_picked_up_gently_from_where_it_fell(desk, shop) -> None:
    limp = Motion(
        "limp",
        shop.robot.name,
        shop.robot.joint_names,
        (
            Keyframe(shop.pose(), 0.55),
            Keyframe(shop.pose(free=("left_elbow",)), 0.55),
            Keyframe(shop.pose(), 0.55),
        ),
    )
    behaviour = read_behaviour(desk.write(), motions_from={"walk": limp})
    elbow = shop.robot.index("left_elbow")

    class Falling(MockBody):
        def play(self, frames: JointCommands):
            if frames.free is not None:
                self.positions[elbow] = behaviour.start_pose[elbow] - 0.8
            return super().play(frames)

    body = Falling(behaviour.robot, lambda _t: seen(front=0.1), positions=behaviour.start_pose)
    witness = Witness()
    drive(body, {body.robot.name: BehaviourController(behaviour)}, until_s=3.0, watchers=[witness])
    split = [block for block in witness.blocks if block.requests.decision is None]
    assert split  # torque went off and on between two ticks
    after = [b for b in witness.blocks if b.commands.free is None and b.states.times[0] > 1.0]
    first = after[0].commands.angles[0, elbow]
    fallen = behaviour.start_pose[elbow] - 0.8
    assert abs(first - fallen) <= shop.step[elbow] + 1e-9
    assert body.positions[elbow] == pytest.approx(shop.stand[elbow])


CODES = {
    (False, False): None,
    (False, True): "turn_left",
    (True, False): "turn_right",
    (True, True): "walk_forward",
}
STATES = {"00": "stopped", "01": "turning_left", "10": "turning_right", "11": "walking"}


def test_document_mealy_answers_obstacles_as_the_documents_table_says(source_tables) -> None:
    """Walk through all rows of the table, with lasers for its inputs."""
    with source_tables("mealy_table_6_5.csv").open() as file:
        rows = list(csv.DictReader(file))
    answer = {tuple(row[k] for k in ("q1", "q0", "w", "v", "u")): row["s1"] + row["s0"] for row in rows}
    rng = np.random.default_rng(5)
    shown: list[tuple[str, str, str]] = []

    def script(_time_s: float) -> Mapping[str, Reading]:
        w, v, u = shown_now = tuple(str(bit) for bit in rng.integers(0, 2, 3))
        shown.append(shown_now)
        return seen(*(0.1 if bit == "1" else 3.0 for bit in (u, v, w)))

    witness = Witness()
    behaviour = read_behaviour("document_mealy")
    run(behaviour, script, 100.0, witness)
    state, met = "00", set()
    waited = [block for block in witness.ticks if block.state.time_s < behaviour.wait_s]
    assert {block.requests.decision.playing for block in waited} == {None}
    for inputs, block in list(zip(shown, witness.ticks, strict=True))[len(waited) :]:
        key = (*state, *inputs)
        met.add(key)
        state = answer[key]
        outputs = block.requests.decision.outputs
        assert f"{outputs['s1']:d}{outputs['s0']:d}" == state
        assert block.requests.decision.state == STATES[state]
        assert block.requests.decision.playing == CODES[outputs["s1"], outputs["s0"]]
    # Nothing leads back to 00 but the start, so only one of its rows is met.
    assert len(met) == 24 + 1


def test_before_its_wait_is_over_the_robot_stands_and_the_chart_does_not_step(desk) -> None:
    behaviour = desk.read(**{"start_pose: walk_ready": "start_pose: walk_ready\nwait_s: 2"})
    witness = Witness()
    body = run(behaviour, lambda _t: seen(front=0.1), 3.0, witness)
    waited = [block for block in witness.ticks if block.state.time_s < 2.0]
    assert {(b.requests.decision.playing, b.requests.decision.state) for b in waited} == {
        (None, witness.ticks[0].requests.decision.state)
    }
    assert np.array_equal(body.commands[:256], np.tile(behaviour.start_pose, (256, 1)))
    assert witness.ticks[len(waited)].requests.decision.playing == "walk"


def test_a_controller_of_one_row_sees_every_frame() -> None:
    times: list[float] = []

    class Feeling:
        def next(self, state: BodyState, n: int) -> JointCommands:
            times.append(state.time_s)
            return still()

    body = standing()
    drive(body, {body.robot.name: Feeling()}, until_s=0.5)
    assert times == [frame / 128 for frame in range(64)]


def test_feedback_corrects_every_frame_of_whoever_it_wraps() -> None:
    knee = BIOLOID.index("left_knee")
    asked: list[int] = []

    class Walking:
        def next(self, state: BodyState, n: int) -> JointCommands:
            asked.append(n)
            return still(16)

    def sway(state: BodyState) -> np.ndarray:
        correction = np.zeros(len(STAND))
        correction[knee] = 0.1 * np.sin(state.time_s)
        return correction

    body = standing()
    drive(body, {body.robot.name: Feedback(Walking(), sway)}, until_s=1.0)
    assert len(asked) == 128 / 16
    swayed = body.commands[:, knee] - STAND[knee]
    assert swayed == pytest.approx(0.1 * np.sin(np.arange(128) / 128))


def test_a_controller_that_gives_no_row_or_too_many_is_refused() -> None:
    class Wrong:
        def __init__(self, rows: int) -> None:
            self.rows = rows

        def next(self, state: BodyState, n: int) -> JointCommands:
            return still(self.rows)

    for rows in (0, 1000):
        body = standing()
        with pytest.raises(BodyError, match=f"returned {rows} frames"):
            drive(body, {body.robot.name: Wrong(rows)}, until_s=1.0)
        assert body.stops


def test_every_body_wants_a_controller_and_every_controller_a_body() -> None:
    body = standing()
    with pytest.raises(InputError, match="nobody"):
        drive(body, {body.robot.name: Script([still()]), "nobody": Script([still()])}, until_s=1.0)
    with pytest.raises(InputError, match="robotis_bioloid"):
        drive(body, {}, until_s=1.0)


@pytest.mark.parametrize("ending", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("policy", list(TorquePolicy))
def test_whatever_ends_a_run_stops_the_body_first(ending: type[BaseException], policy: TorquePolicy) -> None:
    class Ending:
        def watch(self, block: Block) -> bool:
            raise ending

    body = standing()
    with pytest.raises(ending):
        drive(body, {body.robot.name: Script([still()])}, until_s=1.0, watchers=[Ending()], on_failure=policy)
    assert body.stops == [policy]
    assert not body.is_open


def test_sigterm_stops_the_body_and_ends_the_program() -> None:
    class Killing:
        def watch(self, block: Block) -> bool:
            os.kill(os.getpid(), signal.SIGTERM)
            return False

    body = standing()
    with pytest.raises(SystemExit) as caught:
        drive(body, {body.robot.name: Script([still()])}, until_s=1.0, watchers=[Killing()])
    assert caught.value.code == 128 + signal.SIGTERM
    assert body.stops == [TorquePolicy.RELEASE]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


class Clockwork:
    """A clock that runs as it is told, for `RealClock`."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


def test_in_real_time_each_frame_waits_for_its_moment() -> None:
    clockwork, witness, body = Clockwork(), Witness(), standing()
    clock = RealClock(clockwork.now, clockwork.sleep)
    drive(body, {body.robot.name: Script([still()])}, until_s=1.0, watchers=[witness], clock=clock)
    assert {len(block.commands) for block in witness.blocks} == {1}
    assert len(clockwork.slept) == 127
    assert clockwork.now_s == pytest.approx(100.0 + 127 / 128)
    assert not any(block.states.faults for block in witness.blocks)


def test_a_body_that_stalls_is_told_once_and_nothing_is_hurried_afterwards() -> None:
    clockwork, witness = Clockwork(), Witness()

    class Stalling(MockBody):
        def play(self, frames: JointCommands) -> JointStates:
            if self.n_frames_played == 20:
                clockwork.now_s += 0.050
            return super().play(frames)

    body = Stalling(BIOLOID, positions=STAND)
    clock = RealClock(clockwork.now, clockwork.sleep)
    drive(body, {body.robot.name: Script([still()])}, until_s=1.0, watchers=[witness], clock=clock)
    (fault,) = [fault for block in witness.blocks for fault in block.states.faults]
    assert fault == Fault(
        21 / 128, fault.kind, "a frame was over 42.2 ms late: 5 of the clock's frames missed"
    )
    assert sum(clockwork.slept) == pytest.approx(126 / 128)


def test_a_pause_between_two_drives_is_not_counted_as_a_late_frame() -> None:
    clockwork, witness, body = Clockwork(), Witness(), standing()
    body.clock = clock = RealClock(clockwork.now, clockwork.sleep)
    for until_s in (0.25, 0.5):
        drive(body, {body.robot.name: Script([still()])}, until_s=until_s, watchers=[witness])
        clockwork.now_s += 60.0
    assert (clock.late_frames, clock.late_s) == (0, 0.0)
    assert not any(block.states.faults for block in witness.blocks)
    assert clockwork.slept == pytest.approx([1 / 128] * 62)


def test_real_time_is_kept_on_a_real_clock() -> None:
    body = standing()
    began = time.monotonic()
    clock = RealClock(time.monotonic, time.sleep)
    drive(body, {body.robot.name: Script([still()])}, until_s=0.25, clock=clock)
    assert time.monotonic() - began >= 0.25 - 2 / 128


class Pair:
    """Two mocks in one plant, the first of which breaks in a way of its own."""

    is_real = False
    clock = None

    def __init__(self, first: MockBody) -> None:
        self.bodies = {"a": first, "b": standing()}
        self.frame_period_s = BIOLOID.frame_period_s

    def supervisor(self, name: str) -> Supervisor | None:
        return None

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        return {name: body.play(commands[name]) for name, body in self.bodies.items()}


@pytest.mark.parametrize("breaks", ["open", "stop", "close", "play"])
def test_a_body_that_breaks_keeps_no_other_from_being_stopped_and_closed(breaks: str) -> None:
    class Breaking(MockBody):
        pass

    def fail(*_: object) -> None:
        raise OSError("the cable is out")

    setattr(Breaking, breaks, fail)
    plant = Pair(Breaking(BIOLOID, positions=STAND))
    with pytest.raises(OSError, match="the cable is out"):
        drive(plant, {name: Script([still()]) for name in "ab"}, until_s=0.1)
    other = plant.bodies["b"]
    assert not other.is_open
    how = TorquePolicy.RELEASE if breaks == "play" else TorquePolicy.HOLD
    assert other.stops == ([] if breaks == "open" else [how])


@pytest.mark.parametrize("policy", list(TorquePolicy))
def test_a_run_that_ends_well_leaves_the_torque_as_asked(policy: TorquePolicy) -> None:
    body = standing()
    drive(body, {body.robot.name: Script([still()])}, until_s=0.1, on_end=policy)
    assert body.stops == [policy]


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_waits_until_all_are_stopped(second: signal.Signals) -> None:
    class Slow(MockBody):
        def stop(self, policy: TorquePolicy) -> None:
            os.kill(os.getpid(), second)
            super().stop(policy)

    class Ending:
        def watch(self, block: Block) -> bool:
            os.kill(os.getpid(), signal.SIGTERM)
            return False

    plant = Pair(Slow(BIOLOID, positions=STAND))
    with pytest.raises(SystemExit):
        drive(plant, {name: Script([still()]) for name in "ab"}, until_s=0.1, watchers=[Ending()])
    assert all(body.stops and not body.is_open for body in plant.bodies.values())


def test_a_run_may_go_on_until_somebody_ends_it() -> None:
    body, witness = standing(), Witness(stop_after=3)
    drive(body, {body.robot.name: Script([still()])}, until_s=float("inf"), watchers=[witness])
    assert len(witness.blocks) == 3
    with pytest.raises(InputError, match="until nan s"):
        drive(body, {body.robot.name: Script([still()])}, until_s=float("nan"))


def test_a_plant_that_answers_for_other_frames_is_refused() -> None:
    class Short(MockBody):
        def play(self, frames: JointCommands) -> JointStates:
            return super().play(frames[:1])

    body = Short(BIOLOID, positions=STAND)
    with pytest.raises(BodyError, match="sent 5 frames, but returned 1"):
        drive(body, {body.robot.name: Script([still(5)])}, until_s=0.1)


def test_a_run_that_is_always_late_says_so_all_the_time() -> None:
    clockwork, witness = Clockwork(), Witness()

    class Slow(MockBody):
        def play(self, frames: JointCommands) -> JointStates:
            clockwork.now_s += 0.020
            return super().play(frames)

    body = Slow(BIOLOID, positions=STAND)
    clock = RealClock(clockwork.now, clockwork.sleep)
    drive(body, {body.robot.name: Script([still()])}, until_s=0.25, watchers=[witness], clock=clock)
    assert all(block.states.faults for block in witness.blocks)
