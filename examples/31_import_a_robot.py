"""Export a robot as URDF, import it with a card of its own, and let it stand.

As `posewright robots export` and `posewright robots import`, which reads any URDF or MuJoCo model.
"""

import tempfile
from pathlib import Path

import numpy as np

import posewright as pw
from posewright.bodies import JointCommands
from posewright.simulation import SimulatedBody, World

folder = Path(tempfile.mkdtemp())
pw.export_robot("robotis_bioloid", "urdf", folder / "bioloid.urdf")

copy = pw.import_robot(folder / "bioloid.urdf", folder / "my_bioloid", name="my_bioloid")
print(
    f"{copy.robot.name}: {len(copy.robot.joints)} joints, {copy.robot.mass_kg:.3f} kg, on {copy.robot.feet}"
)
print("odd:", [str(oddity) for oddity in copy.oddities])
print("to be completed:", copy.manual_entries[0])

stand = copy.robot.pose("stand")
world = World(copy.robot)
body = SimulatedBody(world, start_pose=stand)
start_height_m = world.base[2]
world.advance({body.instance.name: JointCommands(np.tile(stand, (250, 1)))})
print(f"after 2 s it has sunk by {1000 * (start_height_m - world.base[2]):.1f} mm")
