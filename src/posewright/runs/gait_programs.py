"""Gaits as programs that a run can be given by name: `--behaviour trot --set forward=0.1`."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.control import require_known_options
from posewright.controllers import GaitProgram
from posewright.errors import InputError
from posewright.gaits import QuadrupedGait, VelocityCommand, gait_names, require_command_in_range
from posewright.gaits.quadruped.reading import SUFFIX, read_gait_and_robot
from posewright.robots import Robot


class GaitKind:
    """Gaits: shipped ones by name, others by their `*.gait.yaml`; options say the velocity to walk with."""

    name = "gait"
    option_names = ("forward", "left", "turn")
    """In m/s, m/s and rad/s, as `gait run` takes them."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of those that ship for a robot, or for any."""
        return gait_names(robot)

    def recognises(self, name: str) -> bool:
        """Tell whether a path ends as gaits do."""
        return name.endswith(SUFFIX)

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> GaitProgram:
        """Read a gait, to be walked with one command all the time.

        Raises:
            InputError: an option is no number, or the command is out of the gait's range.
            DocumentError: it is no gait, or another robot's.
        """
        require_known_options(options, self.option_names, self.name)
        gait, card = read_gait_and_robot(name, robot=robot)
        velocities = {}
        for option, text in options.items():
            try:
                velocities[option] = float(text)
            except ValueError:
                raise InputError(f"{option}={text}", hint="a number, such as 0.1") from None
        command = VelocityCommand(
            velocities.get("forward", 0.0), velocities.get("left", 0.0), velocities.get("turn", 0.0)
        )
        require_command_in_range(command, gait.parameters, QuadrupedGait(gait, card).timing)
        return GaitProgram(gait, card, ((0.0, command),))
