"""Play a motion on a simulated body and on a mock; `drive` works with any plant."""

import numpy as np

import posewright as pw
from posewright.bodies import MockBody, Plant
from posewright.control import drive
from posewright.controllers import Player
from posewright.simulation import SimulatedBody, World

robot = pw.robot("robotis_bioloid")
walk = pw.read_motion(robot.folder / "motions" / "walk_forward.motion.yaml")


def walk_for(plant: Plant, seconds: float) -> np.ndarray:
    """Let the only robot of a plant walk, and return its final joint angles."""
    player = Player(robot, {"walk": walk}, robot.pose("walk_ready"))
    player.request("walk")
    drive(plant, {robot.name: player}, until_s=seconds)
    states = plant.bodies[robot.name].observe()
    if states.truth is not None:  # a body with ground truth
        print(f"the base is at x = {states.truth.base[-1, 0]:.2f} m")
    return states.positions[-1]


world = World(robot)
SimulatedBody(world)
simulated = walk_for(world, 5.0)
perfect = walk_for(MockBody(robot, positions=robot.pose("walk_ready")), 5.0)
print(f"simulated joints lag by up to {np.degrees(abs(simulated - perfect).max()):.1f} deg")
