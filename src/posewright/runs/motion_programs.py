"""Motions as programs of a run, by file: `--behaviour wave.motion.yaml`."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.control import require_known_options
from posewright.controllers import MotionProgram
from posewright.formats import read_motion, robot_of_motion
from posewright.robots import Robot

LONGEST_RUN_S = 1000.0
"""A motion is played for this time at most [s], longer than any contest takes."""

_SUFFIXES = (".motion.yaml", ".mtn", ".mtnx", ".motion")


class MotionKind:
    """Motions of any format by their file; with `motion:` in front it may have any suffix."""

    name = "motion"
    option_names = ("page", "pose")
    """`page`: which motion of a file with several; `pose`: of joints that it does not move."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:  # noqa: ARG002 -- motions have no names of their own
        """Return no names: motions are named by their files."""
        return ()

    def recognises(self, name: str) -> bool:
        """Tell whether a path has a suffix of common motion files."""
        return name.lower().endswith(_SUFFIXES)

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> MotionProgram:
        """Read a motion and return the program that plays it; raises the errors of `read_motion`."""
        require_known_options(options, self.option_names, self.name)
        motion = read_motion(name, page=options.get("page"), robot=robot)
        warnings: tuple[str, ...] = ()
        if not motion.loops:
            warnings = (
                f"{motion.name} is played once, for {motion.duration:.1f} s; then the robot stands still",
            )
        return MotionProgram(
            motion,
            robot_of_motion(motion, robot),
            pose=options.get("pose"),
            longest_s=LONGEST_RUN_S,
            endless_passes=None,  # a motion that repeats for ever is played until the run ends
            warnings=warnings,
        )
