"""One robot of a recording, prepared for the checks: its card, its links in space, its placements by hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.errors import PosewrightError
from posewright.recordings.header import Header, card_document
from posewright.recordings.recording import Recording, RobotRecord
from posewright.recordings.scene import link_rotations, movable_links
from posewright.robots import Robot, parse_robot, robot_names
from posewright.robots import robot as robot_card
from posewright.rotation import quaternion_product, rotation_matrices

PLACEMENTS = ("touch", "try")
"""Kinds of events with which a referee places robots anew."""

_TIME_TOLERANCE_S = 1e-6


@dataclass(frozen=True, eq=False)
class RecordedRobot:
    """One robot of a recording.

    Attributes:
        name: its name in the recording.
        recording: the whole recording.
        record: the rows of the robot.
        card: its card; None if it is unknown, or has other joints.
        has_other_joints: whether the card of the robot's name has other joints than the rows.
    """

    name: str
    recording: Recording
    record: RobotRecord
    card: Robot | None
    has_other_joints: bool = False

    @property
    def times(self) -> Floats:
        """Times of the rows, `(n,)` [s]."""
        return self.recording.times

    @cached_property
    def steps_s(self) -> Floats:
        """Time from each row to the next, `(n - 1,)` [s]."""
        return np.diff(self.times)

    @property
    def is_simulated(self) -> bool:
        """Whether the header describes a simulated body, whose numbers are exact."""
        return "domain" in self.record.header.facts

    @property
    def is_pushed(self) -> bool:
        """Whether the header describes pushes of a simulated body."""
        return bool(self.record.header.facts.get("domain", {}).get("pushes"))

    @cached_property
    def is_continuous(self) -> Flags:
        """Whether the robot moved by itself from each row to the next, `(n - 1,)`; False for placements."""
        moves_s = np.array([event.time_s for event in self.recording.events_of(*PLACEMENTS)])
        first_rows = np.searchsorted(self.times, moves_s + _TIME_TOLERANCE_S)
        is_continuous = np.ones(len(self.steps_s), dtype=np.bool_)
        is_continuous[[row - 1 for row in first_rows.tolist() if 1 <= row < len(self.times)]] = False
        return is_continuous

    def is_near_placement(self, times: Floats) -> Flags:
        """Return whether a robot was placed within a row of each time `(m,)` [s]."""
        moves_s = np.array([event.time_s for event in self.recording.events_of(*PLACEMENTS)])
        row_s = 1.0 / self.recording.header.rate_hz
        return np.asarray((np.abs(times[:, None] - moves_s[None, :]) <= row_s).any(axis=1))

    @cached_property
    def link_positions(self) -> dict[str, Floats]:
        """Origin of each link in the field frame, from base and joint angles, `(n, 3)` [m]."""
        return {name: position for name, (position, _) in self._link_poses.items()}

    @cached_property
    def link_rotations(self) -> dict[str, Floats]:
        """Rotation of each link in the field frame as quaternions w x y z, `(n, 4)`."""
        return {name: rotation for name, (_, rotation) in self._link_poses.items()}

    @cached_property
    def _link_poses(self) -> dict[str, tuple[Floats, Floats]]:
        """Position and quaternion of each link, the base first, by name."""
        header = self.record.header
        base = self.record.base
        if not header.links:
            return {}
        joint_rotations = link_rotations(header, self.record.positions)
        columns = {link["name"]: column for column, link in enumerate(movable_links(header))}
        poses = {str(header.links[0]["name"]): (base[:, :3], base[:, 3:])}
        for link in header.links[1:]:
            parent_position, parent_rotation = poses[link["parent"]]
            offset = np.array(link["position"], dtype=np.float64)
            position = parent_position + rotation_matrices(parent_rotation) @ offset
            rotation: Floats = np.array([link["rotation"]], dtype=np.float64)
            if link["name"] in columns:
                rotation = joint_rotations[:, columns[link["name"]]]
            rotation = np.broadcast_to(rotation, parent_rotation.shape)
            poses[str(link["name"])] = (position, quaternion_product(parent_rotation, rotation))
        return poses

    @cached_property
    def points(self) -> Floats:
        """Origins of all links and corners of all soles, `(n, n_points, 3)` [m]."""
        n = len(self.times)
        soles = self.record.footprints.reshape(n, -1, 3)
        origins = [position[:, None] for position in self.link_positions.values()]
        return np.concatenate([soles, self.record.base[:, None, :3], *origins], axis=1)


def prepare_robots(recording: Recording, cards: dict[str, Robot]) -> list[RecordedRobot]:
    """Return the robots of a recording with their cards: given by name, or else attached or shipped ones."""
    robots = []
    for name, record in recording.robots.items():
        card = cards.get(name) or _find_card(recording.header, record.header.robot)
        has_other_joints = card is not None and card.joint_names != record.header.joints
        fitting_card = None if has_other_joints else card
        robots.append(RecordedRobot(name, recording, record, fitting_card, has_other_joints))
    return robots


def _find_card(header: Header, name: str) -> Robot | None:
    """Return the attached card of a robot, else that of the catalogue; None if neither can be read."""
    attached = header.documents.get(card_document(name))
    try:
        if attached is not None:
            return parse_robot(attached)
        return robot_card(name) if name in robot_names() else None
    except PosewrightError:
        return None
