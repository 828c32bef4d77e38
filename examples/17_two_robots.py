"""Two Bioloids in one world: a behaviour drives one, ten lines of ours another, which walks into its view."""

import posewright as pw
from posewright.arenas import arena
from posewright.behaviours import BehaviourController
from posewright.bodies import BodyState, JointCommands
from posewright.control import Player, drive
from posewright.recordings import Header, Recorder, RobotHeader
from posewright.simulation import SimulatedBody, World

bioloid, behaviour = pw.robot("robotis_bioloid"), pw.read_behaviour("obstacle_race")
walk = pw.read_motion(bioloid.folder / "motions" / "walk_forward.motion.yaml")


class Crossing:
    """A controller: walks until something is near ahead, or 4 seconds are over, then stands."""

    def __init__(self) -> None:
        self.player = Player(bioloid, {"walk": walk}, bioloid.pose("walk_ready"))

    def next(self, state: BodyState, n: int) -> JointCommands:
        goes_on = state.time_s < 4.0 and state.sensors["laser_front"] > 0.3
        self.player.request("walk" if goes_on else None)
        return self.player.next(state, min(n, 16))


world = World({"watcher": bioloid, "walker": bioloid}, arena(), sensors=behaviour.sensors)
watcher = SimulatedBody(world, "watcher", start=(0.3, 0.0, 0.0), start_pose=behaviour.start_pose)
walker = SimulatedBody(world, "walker", start=(0.9, -0.5, 1.57))
headers = {name: RobotHeader.of(body) for name, body in world.bodies.items()}
recorder = Recorder(Header(headers), world)
print(f"before: the watcher's laser reads {watcher.read().sensors['laser_front']:.2f} m")
controllers = {"watcher": BehaviourController(behaviour), "walker": Crossing()}
drive(world, controllers, until_s=4.5, watchers=[recorder])
print(f"after:  the watcher's laser reads {watcher.read().sensors['laser_front']:.2f} m")
print(f"digest: {recorder.recording().digest()}")
