"""A robot goes out as URDF, comes back with a card of its own, and stands.

Twin of `posewright robots export` and `posewright robots import`. Any URDF or MuJoCo model comes in so.
"""

import tempfile
from pathlib import Path

import numpy as np

import posewright as pw
from posewright.bodies import JointCommands
from posewright.simulation import SimulatedBody, World

folder = Path(tempfile.mkdtemp())
pw.export_robot("robotis_bioloid", "urdf", folder / "bioloid.urdf")

made = pw.import_robot(folder / "bioloid.urdf", folder / "my_bioloid", name="my_bioloid")
print(
    f"{made.robot.name}: {len(made.robot.joints)} joints, {made.robot.mass_kg:.3f} kg, on {made.robot.feet}"
)
print("odd:", [str(one) for one in made.oddities])
print("to be filled in by hand:", made.manual_entries[0])

stand = made.robot.pose("stand")
world = World(made.robot)
body = SimulatedBody(world, start_pose=stand)
before = world.base[2]
world.advance({body.instance.name: JointCommands(np.tile(stand, (250, 1)))})
print(f"after 2 s it has sunk by {1000 * (before - world.base[2]):.1f} mm")
