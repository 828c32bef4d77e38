"""A robot on a bus is a plant like any other; what goes wrong on a bus is told, counted, and harms nobody."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.bodies import BodyState, FaultKind, JointCommands, TorquePolicy
from posewright.buses.dynamixel import servos
from posewright.buses.dynamixel.body import DynamixelPlant
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.damage import BusDamage, BusFault, ScheduledFault
from posewright.buses.dynamixel.fake.port import FakePort
from posewright.buses.dynamixel.frames import ReadScope
from posewright.buses.dynamixel.servos import BusSettings
from posewright.buses.serial_port import SerialPort
from posewright.control import Block, Script, SimulatedClock, drive
from posewright.errors import BodyError, InputError, UnsafeCommandError
from posewright.evaluation import evaluate_run
from posewright.recordings import Header, Recorder, RobotHeader
from posewright.robots import Robot, read_robot, robot
from posewright.runs.plants import make_plant

from .wired import WireUp

CARD = """\
robot: crawler
maker: nobody
title: three joints
sources: {ours: "made up (C)"}
frame: {period_s: 0.0078125, source: ours}
joints:
  neck: {limits_deg: [-100, 100], source: ours}
  arm: {limits_deg: [-100, 100], source: ours}
  tail: {limits_deg: [-90, 100], source: ours}
servo_models:
  AX-12A:
    {ticks: 1024, range_deg: 300, no_load_speed_rpm: 59, stall_torque_nm: 1.5, compliance_slope: 32,
     source: ours}
servos:
  neck: {id: 3, direction: 1, centre_deg: 150}
  arm: {id: 7, direction: -1, centre_deg: 150}
  tail: {id: 12, direction: 1, centre_deg: 100}
poses:
  stand: {deg: {neck: 0, arm: 0, tail: 0}, source: ours}
"""


@pytest.fixture(scope="module")
def crawler(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    path = tmp_path_factory.mktemp("cards") / "crawler.robot.yaml"
    path.write_text(CARD)
    return read_robot(path)


class Kept:
    """A watcher that keeps all blocks, and does something after one of them."""

    def __init__(self, then: Callable[[int], None] | None = None) -> None:
        self.blocks: list[Block] = []
        self._then = then

    def watch(self, block: Block) -> bool:
        self.blocks.append(block)
        if self._then is not None:
            self._then(len(self.blocks))
        return False

    @property
    def faults(self) -> list[tuple[FaultKind, str | None]]:
        return [(one.kind, one.joint) for block in self.blocks for one in block.states.faults]

    @property
    def positions(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.concatenate([block.states.positions for block in self.blocks])


class Bench:
    """A robot's fake bus and plants on it, in the bus's own time."""

    def __init__(self, robot: Robot, damage: BusDamage | None, wired: WireUp) -> None:
        self.bus = FakeBus.of(robot, damage=damage)
        self._robot = robot
        with wired(self.bus) as bus:
            self.line = bus.port

    def plant(self, pose: str | list[float] = "stand", **settings: Any) -> DynamixelPlant:
        angles = self._robot.pose(pose) if isinstance(pose, str) else np.array(pose)
        how = {"start_pose": angles, "now": self.line.now, "sleep": self.line.sleep}
        settings = {"latency_s": 0.002, "on_kill": TorquePolicy.HOLD} | settings
        where = SerialPort(self.line.name, 1_000_000)
        return DynamixelPlant(self._robot, where, settings=BusSettings(**settings), **how)

    def torques(self) -> list[int]:
        """Return whose torque is on, once the last packet has arrived, for which nobody waits."""
        self.line.sleep(0.05)
        return [servo.peek("torque_enable") for servo in self.bus.joints.values()]


Fake = Callable[..., Bench]


@pytest.fixture
def fake(wired: WireUp) -> Fake:
    """Give a function that makes a robot's fake bus."""
    return lambda robot, damage=None: Bench(robot, damage, wired)


def waving(robot: Robot, n: int = 64) -> Script:
    """Return a script in which the first joint waves, row by row."""
    rows = np.zeros((n, len(robot.joints)))
    rows[:, 0] = 0.3 * np.sin(np.arange(n) / 20.0)
    return Script([JointCommands(row[np.newaxis]) for row in rows])


def run(plant: DynamixelPlant, seconds: float, kept: Kept, **how: Any) -> None:
    drive(plant, {plant.robot.name: waving(plant.robot)}, until_s=seconds, watchers=[kept], **how)


@pytest.mark.parametrize(
    "settings", [{}, {"staggered": True}, {"staggered": True, "reads": ReadScope.POSITION}]
)
def test_joints_go_gently_to_the_start_then_where_they_are_sent(
    crawler: Robot, fake: Fake, settings: Any
) -> None:
    bench = fake(crawler)
    bus = bench.bus
    bus.joint("arm").poke("return_delay_time", 250)
    plant, kept = bench.plant([0.0, 0.4, 0.0], **settings), Kept()
    assert plant.facts()["bus"]["servos"] == {}
    plant.open()
    plant.open()
    assert abs(plant.read().positions - [0.0, 0.4, 0.0]).max() < 0.06
    assert bus.joint("arm").peek("return_delay_time") < 250
    run(plant, 0.5, kept)
    assert plant.time_s == 0.5
    wanted = np.concatenate([block.commands.angles for block in kept.blocks])
    assert np.nanmax(np.abs(kept.positions - wanted)[10:]) < 0.1
    assert np.isfinite(kept.positions).mean() > 0.9
    state: BodyState = kept.blocks[-1].state
    assert (state.velocities is None) == (settings.get("reads") is ReadScope.POSITION)
    facts = plant.facts()["bus"]
    assert facts["counts"]["answered"] >= 3 * 64
    assert set(facts["servos"]) == {"3", "7", "12"}
    assert all(servo.peek("torque_enable") for servo in bus.joints.values())  # on_end is HOLD


def test_joint_speeds_are_those_between_readings_however_seldom_a_joint_is_read(
    crawler: Robot, fake: Fake
) -> None:
    plant = fake(crawler).plant(groups_per_frame=1)  # each of the three servos in every third frame
    plant.open()
    header = Header({crawler.name: RobotHeader.of(plant.bodies[crawler.name])}, rate_hz=128.0)
    recorder = Recorder(header, plant, every=1)
    drive(plant, {crawler.name: waving(crawler)}, until_s=0.5, watchers=[recorder])
    recording = recorder.recording()
    positions = recording.robots[crawler.name].positions
    assert not (np.isfinite(positions[1:]) & np.isfinite(positions[:-1])).any()
    (figures,) = evaluate_run(recording, robot=crawler).robots.values()
    commanded_rad_s = 0.3 / 20.0 / crawler.frame_period_s  # the greatest derivative of `waving`
    no_load_rad_s = 59.0 * 2.0 * np.pi / 60.0  # of the card
    assert figures.fastest_joint == "neck"
    assert figures.max_joint_speed_ratio == pytest.approx(commanded_rad_s / no_load_rad_s, rel=0.1)


def test_a_bus_is_real_and_frames_pass_by_its_own_clock(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)
    plant, kept = bench.plant(), Kept()
    assert plant.is_real
    assert plant.clock.is_real
    assert plant.supervisor("crawler") is None
    plant.open()
    begun_s = bench.line.now()
    run(plant, 0.5, kept, clock=SimulatedClock())  # which is for plants without one
    assert bench.line.now() - begun_s == pytest.approx(0.5, abs=0.02)
    assert [len(block.commands) for block in kept.blocks] == [1] * 64


def test_a_missing_servo_an_overheated_one_and_a_low_battery_are_named(crawler: Robot, fake: Fake) -> None:
    for fault, told in (
        (BusFault.SILENT, r"no answer from arm \(ID 7\)"),
        (BusFault.HOT, r"arm \(ID 7\) is overheated"),
        (BusFault.LOW_VOLTAGE, r"arm \(ID 7\) has 5.0 V"),
    ):
        bench = fake(crawler, BusDamage(events=(ScheduledFault(fault, id=7),)))
        bench.line.sleep(0.1)
        bench.bus.joint("arm").temperature_c = 80.0 if fault is BusFault.HOT else 30.0
        plant = bench.plant()
        with pytest.raises(BodyError, match=told):
            plant.open()
        assert not any(bench.torques())
        with pytest.raises(BodyError, match="not open"):
            plant.read()


def test_a_port_is_held_by_one_only_and_what_is_no_bus_robot_is_refused(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)
    first, second = bench.plant(), bench.plant()
    first.open()
    with pytest.raises(BodyError, match="cannot open the serial port"):
        second.open()
    first.close()
    nobody = robot("sony_ers7")
    with pytest.raises(InputError, match="has no ID"):
        DynamixelPlant(
            nobody, SerialPort("x", 9600), start_pose=nobody.pose("stand"), now=time.time, sleep=time.sleep
        )


def test_an_exception_in_a_controller_leaves_torque_off(crawler: Robot, fake: Fake) -> None:
    def fail(n: int) -> None:
        if n == 5:
            raise ZeroDivisionError

    bench = fake(crawler)
    with pytest.raises(ZeroDivisionError):
        run(bench.plant(), 1.0, Kept(fail))
    assert not any(bench.torques())


def test_on_a_bad_line_no_joint_goes_wrong_and_every_fault_is_told_and_counted(
    crawler: Robot, fake: Fake
) -> None:
    share = 0.01 / 3.0
    bench = fake(crawler, BusDamage(share, share, share, seed=5))
    bus = bench.bus
    plant = bench.plant(latency_s=0.01)
    sent: list[set[int]] = [set(), set(), set()]
    wrong: list[int] = []

    def look(n: int) -> None:
        held = [servo.peek("goal_position") for servo in bus.joints.values()]
        for told, goal in zip(sent, plant.servos.goal, strict=True):
            told |= {int(goal), int(goal) - 1}  # a tick less where its lower byte would be 0xFF
        wrong.extend(n for told, goal in zip(sent, held, strict=True) if goal not in told)

    kept = Kept(look)
    run(plant, 1.0, kept)
    assert len(wrong) == plant.servos.counts.wrong_goals == 0  # in one frame of a thousand it may be one
    positions = kept.positions
    wanted = np.concatenate([block.commands.angles for block in kept.blocks])
    assert np.nanmax(np.abs(positions - wanted)) < 0.1
    counts = plant.servos.counts
    missed = counts.silent + counts.garbled + counts.implausible
    assert missed == counts.asked - counts.answered + counts.implausible > 0
    assert missed >= np.isnan(positions).sum() > 0
    told = [kind for kind, _joint in kept.faults if kind in {FaultKind.SILENT, FaultKind.GARBLED}]
    assert len(told) == np.isnan(positions).sum()
    worn = bus.counts.byte_errors
    assert min(worn.dropped, worn.doubled, worn.flipped) > 0


OTHER_BAUD, USUAL_BAUD = 34, 1


def set_away(bus: FakeBus, joints: list[str], *, away: bool) -> None:
    """Let servos fall silent, or come back as after a loss of power."""
    for joint in joints:
        servo = bus.joint(joint)
        servo.poke("baud_rate", OTHER_BAUD if away else USUAL_BAUD)
        servo.poke("torque_enable", 0)
        servo.poke("cw_compliance_slope", 64)


@pytest.mark.parametrize("joints", [["arm"], ["neck", "arm", "tail"]])
def test_what_falls_silent_is_told_once_and_the_robot_goes_on_gently(
    crawler: Robot, fake: Fake, joints: list[str]
) -> None:
    bench = fake(crawler)
    bus = bench.bus
    when = {10: True, 60: False}
    kept = Kept(lambda n: set_away(bus, joints, away=when[n]) if n in when else None)
    plant = bench.plant(silent_s=0.2, latency_s=0.02)
    run(plant, 1.2, kept)
    assert plant.servos.counts.lost == plant.servos.counts.found == 1
    faults = [fault for block in kept.blocks for fault in block.states.faults]
    messages = [fault.message for fault in faults]
    (lost,) = [one for one in messages if "all joints hold" in one]
    (recovery,) = [fault for fault in faults if "answer again" in fault.message]
    assert recovery.kind is FaultKind.RECOVERED
    assert ("arm (ID 7)" if len(joints) == 1 else "every servo") in lost
    assert bus.joint("arm").peek("torque_enable") == 1
    assert bus.joint("arm").peek("cw_compliance_slope") == 32
    assert np.isfinite(kept.positions[-1]).all()


def test_what_stays_away_ends_the_run_and_what_comes_back_may_have_to_let_go(
    crawler: Robot, fake: Fake
) -> None:
    short = {"silent_s": 0.2, "latency_s": 0.02}
    bench = fake(crawler)
    bus = bench.bus
    kept = Kept(lambda n: set_away(bus, ["arm"], away=True) if n == 5 else None)
    with pytest.raises(BodyError, match=r"no answer from arm \(ID 7\), for 0\.[2-9] s"):
        run(bench.plant(reconnect_s=0.2, **short), 9.0, kept)
    assert not bench.torques()[0]
    bench = fake(crawler)
    bus = bench.bus
    when = {5: True, 40: False}
    kept = Kept(lambda n: set_away(bus, ["arm"], away=when[n]) if n in when else None)
    with pytest.raises(BodyError, match="torque is off now"):
        run(bench.plant(on_loss=TorquePolicy.RELEASE, **short), 9.0, kept)
    assert not any(bench.torques())


def test_a_port_that_is_pulled_and_plugged_in_again_is_found(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)
    kept = Kept(lambda n: bench.line.plug(n >= 20) if n in {10, 20} else None)
    plant = bench.plant()
    run(plant, 0.8, kept)
    assert plant.servos.counts.lost == plant.servos.counts.found == 1
    assert np.isfinite(kept.positions[-1]).all()
    plant = bench.plant(reconnect_s=0.1)
    with pytest.raises(BodyError, match="the port fake://bus is gone, for"):
        run(plant, 5.0, Kept(lambda n: bench.line.plug(False) if n == 5 else None))
    assert plant.facts()["bus"]["torque_off_sent"] is False
    plant.stop(TorquePolicy.HOLD)  # must not raise, whenever


def test_torque_and_stiffness_are_written_when_they_change(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)
    bus = bench.bus
    plant = bench.plant()
    plant.open()
    rows = np.zeros((4, 3))

    def send(**how: Any) -> None:
        plant.advance({"crawler": JointCommands(how.pop("rows", rows), **how)})
        bench.line.sleep(0.03)

    free = np.array([False, True, False])
    before = bus.counts.packets
    send()
    assert bus.counts.packets - before == 4 * (1 + 3)  # nothing but frames
    send(rows=np.where(free, np.nan, rows), free=free)
    assert [bus.joint(one).peek("torque_enable") for one in crawler.joint_names] == [1, 0, 1]
    bus.hold("arm", 0.2)
    bench.line.sleep(0.1)
    send(rows=rows, free=free)
    assert abs(plant.read().positions[1] - 0.2) < 0.02
    send(stiffness=np.array([73.3, np.nan, 4.0]))
    assert [bus.joint(one).peek("torque_enable") for one in crawler.joint_names] == [1, 1, 1]
    assert [bus.joint(one).peek("ccw_compliance_slope") for one in crawler.joint_names] == [4, 32, 64]
    send()
    assert bus.joint("neck").peek("cw_compliance_slope") == 32
    with pytest.raises(UnsafeCommandError, match="the command of arm in frame 0 is nan"):
        send(rows=np.full((1, 3), [0.0, np.nan, 0.0]))
    plant.stop(TorquePolicy.RELEASE)
    plant.close()


@pytest.mark.parametrize(("adapter_ms", "n_seen"), [(0.0, 18), (1.0, 4), (16.0, 1)])
def test_as_many_servos_are_read_in_a_frame_as_the_adapter_has_time_for(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, adapter_ms: float, n_seen: int
) -> None:
    monkeypatch.setattr(servos, "latency_timer_ms", lambda _path: adapter_ms)
    plant, kept = fake(robot("robotis_bioloid")).plant(), Kept()
    run(plant, 0.3, kept)
    assert set(np.isfinite(kept.positions).sum(axis=1)) == {n_seen}
    assert np.isfinite(kept.positions).any(axis=0).all()


def faults_of(kept: Kept, kind: FaultKind) -> list[str]:
    return [one.message for block in kept.blocks for one in block.states.faults if one.kind is kind]


def test_a_servo_that_shuts_itself_down_is_told_as_long_as_it_lasts_and_set_up_anew_when_it_is_fit(
    crawler: Robot, fake: Fake
) -> None:
    def heat(n: int) -> None:
        if n in {10, 250}:
            bus.joint("tail").temperature_c = 85.0 if n == 10 else 30.0
        if n == 200:
            assert bus.joint("tail").peek("torque_limit") == 0

    bench = fake(crawler)
    bus = bench.bus
    kept, plant = Kept(heat), bench.plant()
    run(plant, 2.5, kept)
    told = faults_of(kept, FaultKind.OVERHEATED)
    assert len(told) == 3
    assert "tail (ID 12): overheated (11.1 V, 85 degrees Celsius)" in told[0]
    assert "tail (ID 12) shut itself down (overheated) and is limp; all joints hold" in told[1]
    assert "is limp, for 1 s now" in told[2]
    assert plant.servos.counts.lost == plant.servos.counts.found == 1
    assert bus.joint("tail").peek("torque_limit") == 1022
    with pytest.raises(BodyError, match=r"tail .* is limp, for .*let it cool down, or lighten its load"):
        run(bench.plant(reconnect_s=1.0), 9.0, Kept(heat))
    assert not any(bench.torques())


def test_a_servo_whose_power_was_gone_for_a_moment_is_told_and_set_up_anew(
    crawler: Robot, fake: Fake
) -> None:
    bench = fake(crawler)
    arm = bench.bus.joint("arm")
    kept = Kept(lambda n: arm.switch_on() if n == 20 else None)
    plant = bench.plant()
    run(plant, 0.6, kept)
    (told,) = faults_of(kept, FaultKind.VOLTAGE)
    assert "arm (ID 7) lost its power for a moment" in told
    assert plant.servos.counts.found == 1
    assert (arm.peek("torque_limit"), arm.peek("torque_enable")) == (1022, 1)


def test_a_goal_that_nobody_sent_is_told_counted_and_righted_by_the_next_frame(
    crawler: Robot, fake: Fake
) -> None:
    goals: list[int] = []

    def damage(n: int) -> None:
        goals.append(arm.peek("goal_position"))
        if n == 20:  # what it holds is wrong, and it hears goals for the others no more
            arm.handle = lambda packet: deaf(packet) if n_heard(packet) == 3 else heard(packet)
            arm.poke("goal_position", 700)

    def n_heard(packet: bytes) -> int:
        return (len(packet) - 8) // 5 if packet[4] == 0x83 and packet[5] == 30 else 0

    def deaf(_packet: bytes) -> bytes:
        return b""

    bench = fake(crawler)
    arm: Any = bench.bus.joint("arm")
    heard = arm.handle
    kept, plant = Kept(damage), bench.plant()
    run(plant, 0.5, kept)
    assert plant.servos.counts.wrong_goals == 1
    (told,) = faults_of(kept, FaultKind.GARBLED)
    assert "arm (ID 7): holds tick 700 as its goal, which nobody sent it" in told
    assert goals[20:23] == [700, 512, 512]


def test_time_in_which_the_program_stood_still_is_no_silence(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)
    kept = Kept(lambda n: bench.line.sleep(5.0) if n == 20 else None)
    plant = bench.plant(groups_per_frame=1)
    run(plant, 0.5, kept)
    assert plant.servos.counts.lost == 0
    (late,) = faults_of(kept, FaultKind.LATE)
    assert re.fullmatch(r"a frame was over 49\d\d.\d ms late: \d+ of the clock.s frames missed", late)
    facts = plant.facts()
    counts = facts["bus"]["counts"]
    assert (counts["late"], counts["late_s"]) == (1, plant.clock.late_s)
    assert plant.clock.late_s > 4.9
    assert "0.5 s took 5." in facts["remarks"][0]


def test_which_servo_could_not_hear_that_its_torque_is_off_is_told(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)
    kept = Kept(lambda n: set_away(bench.bus, ["arm"], away=True) if n == 5 else None)
    plant = bench.plant(reconnect_s=0.2, silent_s=0.2)
    with pytest.raises(BodyError, match="no answer from arm"):
        run(plant, 9.0, kept)
    facts = plant.facts()["bus"]
    assert (facts["torque_off_sent"], facts["torque_off_unheard"]) == (True, "arm (ID 7)")


def test_a_busy_computer_is_waited_for_and_named_as_the_reason(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)
    plant, kept = bench.plant([0.0, 0.4, 0.0]), Kept()
    bench.line.delay_s = 0.03
    plant.open()
    run(plant, 0.5, kept)
    assert np.isfinite(kept.positions).mean() > 0.9
    counts = plant.facts()["bus"]["counts"]
    assert counts["late_answers"] > 0
    assert counts["lost"] == 0


def test_a_computer_that_becomes_busy_on_the_way_loses_no_servo(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)

    def become_busy(n_blocks: int) -> None:
        bench.line.delay_s = 0.06 if n_blocks > 32 else 0.0

    plant, kept = bench.plant(), Kept(become_busy)
    run(plant, 1.0, kept)
    assert plant.time_s == 1.0
    facts = plant.facts()
    assert facts["bus"]["counts"]["lost"] == 0
    assert any(kind is FaultKind.SILENT for kind, _ in kept.faults)
    late = facts["bus"]["counts"]["late_answers"]
    asked = facts["bus"]["counts"]["asked"]
    assert f"this computer is too busy: {late} of {asked} answers came late" in facts["remarks"][0]


def test_a_servo_that_falls_silent_on_the_way_to_the_start_is_waited_for(crawler: Robot, fake: Fake) -> None:
    silence = ScheduledFault(BusFault.SILENT, 1.0, 2.0, id=7)
    bench = fake(crawler, BusDamage(events=(silence,)))
    plant = bench.plant([0.0, 1.4, 0.0])
    plant.open()
    assert abs(plant.read().positions - [0.0, 1.4, 0.0]).max() < 0.06


DRIVES = """
import sys, time
from pathlib import Path
from posewright.buses.dynamixel import servos
from posewright.buses.dynamixel.body import DynamixelPlant
from posewright.buses.serial_port import SerialPort
from posewright.robots import read_robot
card = read_robot(Path(sys.argv[2]))
plant = DynamixelPlant(card, SerialPort(sys.argv[1], 1_000_000), start_pose=card.pose("stand"),
                       now=time.perf_counter, sleep=time.sleep)
plant.open()
print("open", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="only there can a process be killed so")
def test_a_program_that_is_killed_leaves_torque_off(crawler: Robot, tmp_path: Path) -> None:
    card = tmp_path / "crawler.robot.yaml"
    card.write_text(CARD)
    bus = FakeBus.of(crawler)
    with FakePort(bus, now=time.perf_counter) as port:
        command = [sys.executable, "-c", DRIVES, port.path, str(card)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:  # noqa: S603 -- our own
            assert child.stdout is not None
            assert child.stdout.readline() == b"open\n"
            assert all(servo.peek("torque_enable") for servo in bus.joints.values())
            child.send_signal(signal.SIGKILL)
        end = time.monotonic() + 20.0
        while any(servo.peek("torque_enable") for servo in bus.joints.values()) and time.monotonic() < end:
            time.sleep(0.05)
        assert not any(servo.peek("torque_enable") for servo in bus.joints.values())


def test_an_address_makes_a_plant(crawler: Robot) -> None:
    from posewright.bodies import BodySpec

    part = BodySpec("crawler", crawler, crawler.pose("stand"), (0.0, 0.0, 0.0))
    plant = make_plant("dynamixel:/dev/nowhere@57600", [part], None)
    with pytest.raises(BodyError, match="cannot open the serial port /dev/nowhere"):
        plant.bodies["crawler"].open()
    with pytest.raises(InputError, match="a servo bus takes one robot, not 2"):
        make_plant("dynamixel:/dev/nowhere", [part, part], None)


def test_a_servo_of_another_model_that_can_be_driven_is_a_remark(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)
    bench.bus.joints["arm"].poke("model_number", 18)
    plant = bench.plant()
    plant.open()
    assert plant.remarks() == ["the servo of arm (ID 7) is AX-18A, by the card AX-12A"]
    plant.close()


def test_a_servo_of_a_model_that_cannot_be_driven_keeps_all_torque_off(crawler: Robot, fake: Fake) -> None:
    bench = fake(crawler)
    bench.bus.joints["tail"].poke("model_number", 310)
    with pytest.raises(BodyError, match=r"tail \(ID 12\) has MX-64"):
        bench.plant().open()
    assert bench.torques() == [0, 0, 0]
