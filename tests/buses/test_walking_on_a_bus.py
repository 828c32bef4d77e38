"""A gait on a servo bus: the goals on the wire are the frames that the simulated robot is sent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posewright.bodies import Plant
from posewright.buses.dynamixel.frames import encodable_goals
from posewright.buses.dynamixel.packets import goals_in
from posewright.control import Block, drive
from posewright.controllers.gait_player import NO_FEEDBACK, GaitController
from posewright.errors import FormatError
from posewright.gaits import OPEN_LOOP, Gait, VelocityCommand, read_gait
from posewright.robots import robot
from posewright.runs.walking.walk import make_walking_world
from posewright.simulation import SimulatedBody

from .test_dynamixel_body import Bench
from .wired import WireUp

BIOLOID = robot("robotis_bioloid")
GAIT = read_gait("biped", robot=BIOLOID)
COMMANDS = [(0.0, VelocityCommand(0.2)), (1.0, VelocityCommand(0.05, 0.02, 0.5))]
SECONDS = 1.5


class BlockList:
    """A watcher that collects all blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def watch(self, block: Block) -> bool:
        self.blocks.append(block)
        return False


def walk(plant: Plant, gait: Gait, seconds: float) -> list[Block]:
    """Walk with a gait on a plant, and return the blocks of the run."""
    watcher = BlockList()
    name = next(iter(plant.bodies))
    controllers = {name: GaitController(gait, BIOLOID, COMMANDS)}
    drive(plant, controllers, until_s=seconds, watchers=[watcher])
    return watcher.blocks


def goals_on_the_wire(bench: Bench) -> np.ndarray:
    """Return the goal positions of all packets that have goals for every servo, `(n, n_joints)` [ticks]."""
    rows = []
    for data in bench.line.sent:
        try:
            goals = goals_in(data[: data[3] + 4])
        except (FormatError, IndexError):
            continue  # of another kind
        if len(goals) == len(BIOLOID.joints):
            rows.append([goals[servo.id or 0][0] for servo in BIOLOID.servos])
    return np.array(rows)


def test_a_walk_drives_the_bus_with_the_frames_of_the_simulation(wired: WireUp) -> None:
    open_loop = replace(GAIT, feedback=OPEN_LOOP)
    world = make_walking_world(open_loop, BIOLOID)
    standing_pose = open_loop.generator(BIOLOID).standing_pose
    SimulatedBody(world, start_pose=standing_pose)
    simulated = np.concatenate([block.commands.angles for block in walk(world, open_loop, SECONDS)])
    bench = Bench(BIOLOID, None, wired)
    blocks = walk(bench.plant(standing_pose.tolist()), open_loop, SECONDS)
    np.testing.assert_array_equal(np.concatenate([block.commands.angles for block in blocks]), simulated)
    ticks = np.rint(BIOLOID.to_ticks(simulated)).astype(np.int64)
    assert np.ptp(ticks, axis=0).max() > 50
    np.testing.assert_array_equal(goals_on_the_wire(bench)[-len(ticks) :], encodable_goals(ticks))


def test_on_a_bus_without_imu_a_walk_goes_on_without_feedback_and_says_so(wired: WireUp) -> None:
    open_loop = replace(GAIT, feedback=OPEN_LOOP)
    standing_pose = open_loop.generator(BIOLOID).standing_pose
    blocks = walk(Bench(BIOLOID, None, wired).plant(standing_pose.tolist()), GAIT, 0.4)
    expected = GaitController(open_loop, BIOLOID, COMMANDS)
    angles = np.concatenate([block.requests.angles for block in blocks])
    frames = []
    while sum(map(len, frames)) < len(angles):
        frames.append(expected.next(blocks[0].state, 64).angles)
    np.testing.assert_array_equal(angles, np.concatenate(frames)[: len(angles)])
    decision = blocks[0].requests.decision
    assert decision is not None
    assert decision.events == ((NO_FEEDBACK, {"channel": "imu.orientation"}),)
