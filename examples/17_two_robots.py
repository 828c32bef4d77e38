"""Two Bioloids in one world: the watcher raises an arm when its laser detects the walker."""

from dataclasses import replace

import posewright as pw
from posewright.control import drive
from posewright.controllers.behaviours import BehaviourController
from posewright.recordings import Header, Recorder, RobotHeader
from posewright.simulation import SimulatedBody, World

watcher_behaviour = pw.read_behaviour("obstacle_race")
bioloid = watcher_behaviour.robot


class Waving:
    """A controller that adds to another one: it raises an arm while something is near ahead."""

    def __init__(self, inner) -> None:
        self.inner = inner

    def next(self, state, n):
        commands = self.inner.next(state, n)
        angles = commands.angles.copy()  # the safety filter limits the speed of the jump
        angles[:, bioloid.index("left_shoulder_pitch")] += 1.0 if state.sensors["laser_front"] < 1.2 else 0.0
        return replace(commands, angles=angles)


world = World({"watcher": bioloid, "walker": bioloid}, sensors=watcher_behaviour.sensors)
SimulatedBody(world, "watcher", start=(0.3, 0.0, 0.0), start_pose=watcher_behaviour.start_pose)
SimulatedBody(world, "walker", start=(1.6, -0.5, 1.57), start_pose=watcher_behaviour.start_pose)
walker = BehaviourController(pw.read_behaviour("passivity_test"))
watcher = Waving(BehaviourController(watcher_behaviour))
recorder = Recorder(Header({name: RobotHeader.of(body) for name, body in world.bodies.items()}), world)
drive(world, {"watcher": watcher, "walker": walker}, until_s=10.0, watchers=[recorder])
laser = recorder.recording().robot("watcher").decisions.sensors["laser_front"]
print(f"the watcher's laser read {laser[0, 0]:.2f} m at first, {laser.min():.2f} m at the minimum")
print(f"digest: {recorder.recording().digest()}")
