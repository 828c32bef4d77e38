"""What a judge looks at, row by row: the same rows of a finished trace and of a running trial."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.bodies import JointStates
from posewright.errors import BodyError, InputError
from posewright.recordings import Recording

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some consecutive rows.

    Attributes:
        times: `(n,)` [s].
        joints: what the joints did, or were told where nobody measured it, `(n, n_joints)` [rad].
        base: x y z qw qx qy qz, `(n, 7)`.
        footprints: sole corners in the field frame, `(n, n_feet, 4, 3)` [m].
        boxes: x y z qw qx qy qz of each, `(n, n_boxes, 7)`.
    """

    times: Floats
    joints: Floats
    base: Floats
    footprints: Floats
    boxes: Floats

    @classmethod
    def of_recording(cls, recording: Recording, robot: str | None = None) -> Rows:
        """Return all rows of one robot of a recording; without a name, of the first.

        Raises:
            InputError: the recording does not say where the robot was, or its time does not run forward.
        """
        record, times = recording.robot(robot), recording.times
        footprints = record.footprints
        if not record.knows_place or not footprints.shape[1] or not np.isfinite(footprints).all():
            raise InputError(
                "the recording does not say where the robot's base and feet were in the field",
                hint="a judge needs a recording of a simulation, or of a field watched by a camera",
            )
        if not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
            raise InputError("the time of the recording does not run forward from row to row")
        joints = _done_or_told(record.positions, record.commands)
        return cls(times, joints, record.base, footprints, recording.boxes)

    @classmethod
    def of_track(cls, track: JointStates, commands: Floats, kept: slice) -> Rows:
        """Return the `kept` frames of a block.

        Args:
            track: what the joints did, and the world.
            commands: what was sent, `(n, n_joints)` [rad].
            kept: the frames a recorder keeps.

        Raises:
            BodyError: the body does not know where it is.
        """
        world = track.truth
        if world is None:
            raise BodyError("a referee cannot see this body in the field", hint="a body that knows its world")
        joints = _done_or_told(track.positions[kept], commands[kept])
        return cls(track.times[kept], joints, world.base[kept], world.footprints[kept], world.boxes[kept])

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, part: slice) -> Rows:
        """Return some of the rows."""
        return Rows(*(getattr(self, name)[part] for name in self.__slots__))


def _done_or_told(positions: Floats, commands: Floats) -> Floats:
    done = np.isfinite(positions)
    return positions if done.all() else np.where(done, positions, commands)
