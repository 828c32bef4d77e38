"""A body without physics that slides ahead while its joints move."""

from dataclasses import replace

import numpy as np

from posewright.bodies import GroundTruth, JointCommands, JointStates, MockBody


class Glider(MockBody):
    """A mock body that knows where it is."""

    def __init__(self, part) -> None:
        far = {"laser_front": 5.0}
        super().__init__(part.robot, readings_at=lambda time_s: far, positions=part.start_pose)
        self.place = part.start
        self.speed_m_s = 0.1

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        self.place = x_m, y_m, yaw_rad

    def observe(self) -> JointStates:
        return replace(MockBody.observe(self), truth=self.truth(np.zeros(1)))

    def play(self, frames: JointCommands) -> JointStates:
        before, states = self.positions.copy(), MockBody.play(self, frames)
        moves = (np.diff(states.positions, axis=0, prepend=before[None]) != 0.0).any(axis=1)
        return replace(
            states, truth=self.truth(np.cumsum(moves) * self.speed_m_s * self.robot.frame_period_s)
        )

    def truth(self, ahead_m: np.ndarray) -> GroundTruth:
        (x, y, yaw), n, feet = self.place, len(ahead_m), len(self.robot.feet)
        xs, ys = x + ahead_m * np.cos(yaw), y + ahead_m * np.sin(yaw)
        self.place = float(xs[-1]), float(ys[-1]), yaw
        turn = np.tile((0.25, np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)), (n, 1))
        soles = np.zeros((n, feet, 4, 3)) + np.stack([xs, ys, 0.0 * xs], axis=-1)[:, None, None]
        touching, nothing = np.ones((n, feet), bool), np.zeros((n, 0, 7))
        return GroundTruth(np.column_stack([xs, ys, turn]), soles, touching, nothing, np.zeros((n, 0), bool))


def make_glider(parts, arena) -> Glider:
    """Make it for the one robot of a trial."""
    (part,) = parts
    return Glider(part)


def open_glider(address: str, parts, arena) -> Glider:
    """Make it of an address, `glide:3` for three times as fast: a `LinkMaker`."""
    glider = make_glider(parts, arena)
    glider.speed_m_s *= float(address.partition(":")[2] or 1)
    return glider
