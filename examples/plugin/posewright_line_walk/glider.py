"""A body without physics that glides ahead while its joints move."""

from dataclasses import replace

import numpy as np

from posewright.bodies import GroundTruth, JointCommands, JointStates, MockBody


class Glider(MockBody):
    """A mock body with ground truth."""

    def __init__(self, body_spec) -> None:
        readings = {"laser_front": 5.0}
        super().__init__(body_spec.robot, readings_at=lambda time_s: readings, positions=body_spec.start_pose)
        self.place = body_spec.start
        self.speed_m_s = 0.1

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        self.place = x_m, y_m, yaw_rad

    def observe(self) -> JointStates:
        return replace(MockBody.observe(self), truth=self.truth(np.zeros(1)))

    def play(self, frames: JointCommands) -> JointStates:
        start = self.positions.copy()
        states = MockBody.play(self, frames)
        is_moving = (np.diff(states.positions, axis=0, prepend=start[None]) != 0.0).any(axis=1)
        distances_m = np.cumsum(is_moving) * self.speed_m_s * self.robot.frame_period_s
        return replace(states, truth=self.truth(distances_m))

    def truth(self, distances_m: np.ndarray) -> GroundTruth:
        """Return the ground truth after gliding some distances ahead, `(n,)` [m]."""
        x, y, yaw = self.place
        n = len(distances_m)
        n_feet = len(self.robot.feet)
        xs = x + distances_m * np.cos(yaw)
        ys = y + distances_m * np.sin(yaw)
        self.place = float(xs[-1]), float(ys[-1]), yaw
        height_and_orientation = np.tile((0.25, np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)), (n, 1))
        return GroundTruth(
            base=np.column_stack([xs, ys, height_and_orientation]),
            footprints=np.zeros((n, n_feet, 4, 3)) + np.stack([xs, ys, 0.0 * xs], axis=-1)[:, None, None],
            foot_contacts=np.ones((n, n_feet), bool),
            boxes=np.zeros((n, 0, 7)),
            box_contacts=np.zeros((n, 0), bool),
        )


def make_glider(bodies, arena) -> Glider:
    """Return a glider for the only robot of a trial: a `PlantMaker`."""
    (body_spec,) = bodies
    return Glider(body_spec)


def open_glider(address: str, bodies, arena) -> Glider:
    """Return a glider for an address, such as `glide:3` for three times the speed: a `LinkMaker`."""
    glider = make_glider(bodies, arena)
    glider.speed_m_s *= float(address.partition(":")[2] or 1)
    return glider
