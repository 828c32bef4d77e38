"""Below the contest: play a motion on a simulated body, and on a mock.  Bodies are driven alike."""

import numpy as np

import posewright as pw
from posewright.bodies import Body, MockBody
from posewright.control import Player, Safety
from posewright.simulation import SimulatedBody, World

robot = pw.robot("robotis_bioloid")
walk = pw.read_motion(robot.folder / "motions" / "walk_forward.motion.yaml")


def walk_for(body: Body, seconds: float) -> np.ndarray:
    """Play `walk` in blocks of 16 frames, an eighth of a second each; return the last joint angles."""
    player, safety = Player(robot, {"walk": walk}, robot.pose("walk_ready")), Safety(robot)
    player.request("walk")
    track, last = None, player.command
    for _ in range(round(seconds * 8)):
        safe = safety.filter(player.frames(16), last)
        track, last = body.play(safe.frames), safe.frames.angles[-1]
    if track.truth is not None:  # a body that knows where it is
        print(f"the base is at x = {track.truth.base[-1, 0]:.2f} m")
    return track.positions[-1]


simulated = walk_for(SimulatedBody(World(robot)), 5.0)
perfect = walk_for(MockBody(robot, positions=robot.pose("walk_ready")), 5.0)
print(f"simulated joints lag by up to {np.degrees(abs(simulated - perfect).max()):.1f} deg")
