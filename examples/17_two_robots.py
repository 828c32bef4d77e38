"""Two Bioloids, two behaviours, one world: the watcher waves when the walker steps into its laser's view."""

from dataclasses import replace

import posewright as pw
from posewright.control import drive
from posewright.controllers.behaviours import BehaviourController
from posewright.recordings import Header, Recorder, RobotHeader
from posewright.simulation import SimulatedBody, World

bioloid, watching = pw.robot("robotis_bioloid"), pw.read_behaviour("obstacle_race")


class Waving:
    """A controller around another one: raises an arm while something is near ahead."""

    def __init__(self, inner) -> None:
        self.inner, self.arm = inner, bioloid.index("left_shoulder_pitch")

    def next(self, state, n):
        commands = self.inner.next(state, n)
        angles = commands.angles.copy()  # safety in the loop makes a quick movement of a jump
        angles[:, self.arm] += 1.0 if state.sensors["laser_front"] < 1.2 else 0.0
        return replace(commands, angles=angles)


world = World({"watcher": bioloid, "walker": bioloid}, sensors=watching.sensors)
SimulatedBody(world, "watcher", start=(0.3, 0.0, 0.0), start_pose=watching.start_pose)
SimulatedBody(world, "walker", start=(1.6, -0.5, 1.57), start_pose=watching.start_pose)
walker = BehaviourController(pw.read_behaviour("passivity_test"))
watcher = Waving(BehaviourController(watching))
recorder = Recorder(Header({name: RobotHeader.of(body) for name, body in world.bodies.items()}), world)
drive(world, {"watcher": watcher, "walker": walker}, until_s=10.0, watchers=[recorder])
laser = recorder.recording().robot("watcher").decisions.sensors["laser_front"]
print(f"the watcher's laser read {laser[0, 0]:.2f} m at first, {laser.min():.2f} m at the least")
print(f"digest: {recorder.recording().digest()}")
