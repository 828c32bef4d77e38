"""The loop keeps the chart's beat, drives the body frame by frame, and tells its watchers everything."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from posewright.behaviours import Behaviour, BehaviourRunner, read_behaviour
from posewright.bodies import JointCommands, MockBody, Reading
from posewright.control import Block, Guard, Player, perform
from posewright.errors import UnsafeCommandError
from posewright.motions import Keyframe, Motion
from posewright.robots import robot

Script = Callable[[float], Mapping[str, Reading]]


@dataclass
class Witness:
    """Keeps every block; stops when told to."""

    stop_after: int | None = None
    blocks: list[Block] = field(default_factory=list)

    def watch(self, block: Block) -> bool:
        self.blocks.append(block)
        return len(self.blocks) == self.stop_after

    @property
    def ticks(self) -> list[Block]:
        return [block for block in self.blocks if block.tick is not None]


def run(
    behaviour: Behaviour, script: Script, until_s: float, *witnesses: Witness, **rest: object
) -> tuple[MockBody, Player]:
    body = MockBody(behaviour.robot, script, positions=behaviour.start_pose, **rest)
    player = Player(behaviour.robot, behaviour.motions, behaviour.start_pose)
    perform(BehaviourRunner(behaviour), player, body, until_s=until_s, watchers=witnesses)
    return body, player


def seen(front: float = 5.0, left: float = 5.0, right: float = 5.0) -> dict[str, Reading]:
    return {"laser_front": front, "laser_left": left, "laser_right": right}


def test_ticks_come_at_exact_times_over_a_thousand_seconds(desk) -> None:
    class Dial:
        """A body that only counts time."""

        robot = robot("robotis_bioloid")
        frames = 0

        def __init__(self) -> None:
            self._mock = MockBody(self.robot, lambda _t: {"laser_front": 5.0})

        @property
        def time_s(self) -> float:
            return self.frames / 128

        def read(self):
            state = self._mock.read()
            return type(state)(self.time_s, state.positions, state.efforts, None, state.sensors)

        def play(self, frames: JointCommands):
            self.frames += len(frames)

    behaviour, body, times = desk.read(), Dial(), []

    class Clock:
        def watch(self, block: Block) -> bool:
            times.append(block.tick.time_s)
            return False

    player = Player(behaviour.robot, behaviour.motions, behaviour.start_pose)
    perform(BehaviourRunner(behaviour), player, body, until_s=1000.0, watchers=[Clock()])
    assert body.time_s == 1000.0
    assert times == [float(Fraction(-(-k * 128 // 10), 128)) for k in range(10_000)]


def test_blocks_follow_each_other_without_a_gap(desk) -> None:
    witness = Witness()
    body, player = run(desk.read(), lambda _t: seen(front=0.1), 3.05, witness)
    assert [block.index for block in witness.blocks] == list(range(31))
    lengths = [len(block.frames) for block in witness.blocks]
    assert set(lengths[:-1]) == {12, 13}
    assert sum(lengths) == round(3.05 * 128)
    times = np.concatenate([block.track.times for block in witness.blocks])
    assert np.array_equal(times, np.arange(1, len(times) + 1) / 128)
    assert np.array_equal(body.commands[-1], player.command)
    for before, after in zip(witness.blocks, witness.blocks[1:], strict=False):
        assert after.state.time_s == before.track.times[-1]


def test_it_stops_after_the_block_a_watcher_objects_to_and_all_have_seen_it(desk) -> None:
    first, second = Witness(stop_after=4), Witness()
    body, _ = run(desk.read(), lambda _t: seen(), 10.0, first, second)
    assert len(first.blocks) == len(second.blocks) == 4
    assert body.time_s == pytest.approx(0.4, abs=1 / 128)


def test_it_can_go_on_from_where_it_stopped(desk) -> None:
    behaviour = desk.read()
    body = MockBody(behaviour.robot, lambda _t: seen(front=0.2), positions=behaviour.start_pose)
    player = Player(behaviour.robot, behaviour.motions, behaviour.start_pose)
    runner = BehaviourRunner(behaviour)
    for until_s in (1.0, 2.0):
        perform(runner, player, body, until_s=until_s)
        assert body.time_s == until_s
    path = np.diff(body.commands, axis=0)
    assert (np.abs(path) <= behaviour.robot.max_speeds / 128 + 1e-9).all()


def test_a_body_is_never_asked_to_jump_however_the_sensors_flicker() -> None:
    rng = np.random.default_rng(3)
    behaviour = read_behaviour("document_mealy")
    witness = Witness()
    body, _ = run(behaviour, lambda _t: seen(*rng.choice([0.1, 5.0], 3)), 60.0, witness)
    moved = np.diff(body.commands, axis=0, prepend=behaviour.start_pose[np.newaxis])
    assert (np.abs(moved) <= behaviour.robot.max_speeds / 128 + 1e-9).all()
    assert not any(block.interventions for block in witness.blocks)
    assert {block.tick.play for block in witness.ticks} == {None, "walk_forward", "turn_left", "turn_right"}


def test_what_safety_changed_is_told_with_the_block(desk, shop) -> None:
    knee = shop.robot.limits[1][shop.robot.index("left_knee")] - shop.stand[shop.robot.index("left_knee")]
    far = shop.motion("far", {"left_knee": knee + 0.2}, reach_s=1.0)
    behaviour = read_behaviour(desk.write(), motions_from={"walk": far})
    witness = Witness()
    body, _ = run(behaviour, lambda _t: seen(front=0.1), 2.0, witness)
    told = [i for block in witness.blocks for i in block.interventions]
    assert {(i.guard, i.joint) for i in told} == {(Guard.JOINT_LIMIT, "left_knee")}
    assert (body.commands <= shop.robot.limits[1] + 1e-9).all()


def test_a_command_that_is_no_number_never_reaches_the_body(desk) -> None:
    behaviour = desk.read()

    class Broken(Player):
        def frames(self, n: int) -> JointCommands:
            frames = super().frames(n)
            return JointCommands(np.full_like(frames.angles, np.nan))

    body = MockBody(behaviour.robot, lambda _t: seen(), positions=behaviour.start_pose)
    player = Broken(behaviour.robot, behaviour.motions, behaviour.start_pose)
    with pytest.raises(UnsafeCommandError):
        perform(BehaviourRunner(behaviour), player, body, until_s=1.0)
    assert body.played == []


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
    player = Player(behaviour.robot, behaviour.motions, behaviour.start_pose)
    witness = Witness()
    perform(BehaviourRunner(behaviour), player, body, until_s=3.0, watchers=[witness])
    split = [block for block in witness.blocks if block.tick is None]
    assert split  # torque went off and on between two ticks
    after = [b for b in witness.blocks if b.frames.free is None and b.track.times[0] > 1.0]
    first = after[0].frames.angles[0, elbow]
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
    assert {block.tick.play for block in waited} == {None}
    for inputs, block in list(zip(shown, witness.ticks, strict=True))[len(waited) :]:
        key = (*state, *inputs)
        met.add(key)
        state = answer[key]
        outputs = block.tick.outputs
        assert f"{outputs['s1']:d}{outputs['s0']:d}" == state
        assert block.tick.chart.state == STATES[state]
        assert block.tick.play == CODES[outputs["s1"], outputs["s0"]]
    # Nothing leads back to 00 but the start, so only one of its rows is met.
    assert len(met) == 24 + 1


def test_before_its_wait_is_over_the_robot_stands_and_the_chart_does_not_step(desk) -> None:
    behaviour = desk.read(**{"start_pose: walk_ready": "start_pose: walk_ready\nwait_s: 2"})
    witness = Witness()
    body, _ = run(behaviour, lambda _t: seen(front=0.1), 3.0, witness)
    waited = [block for block in witness.ticks if block.tick.time_s < 2.0]
    assert {(b.tick.play, b.tick.chart.since) for b in waited} == {(None, 0)}
    assert np.array_equal(body.commands[:256], np.tile(behaviour.start_pose, (256, 1)))
    assert witness.ticks[len(waited)].tick.play == "walk"
