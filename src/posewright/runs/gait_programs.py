"""Gaits as programs of a run, by name: `--behaviour trot --set forward=0.1`."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.control import require_known_options
from posewright.controllers import GaitProgram
from posewright.errors import InputError
from posewright.gaits import VelocityCommand, gait_names
from posewright.gaits.reading import SUFFIX, read_gait_and_robot
from posewright.robots import Robot


class GaitKind:
    """Gaits by name, or by the path of their `*.gait.yaml`; the options set the velocity command."""

    name = "gait"
    option_names = ("forward", "left", "turn")
    """In m/s, m/s and rad/s, as `gait run` takes them."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of the gaits in the catalogue for a robot, or for all."""
        return gait_names(robot)

    def recognises(self, name: str) -> bool:
        """Tell whether a path ends in `.gait.yaml`."""
        return name.endswith(SUFFIX)

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> GaitProgram:
        """Read a gait, and return a program that walks it with a constant command.

        Raises:
            InputError: an option is not a number, or the command is out of the gait's range.
            DocumentError: it is not a gait, or is for another robot.
        """
        require_known_options(options, self.option_names, self.name)
        gait, card = read_gait_and_robot(name, robot=robot)
        velocities = {}
        for option, text in options.items():
            try:
                velocities[option] = float(text)
            except ValueError:
                raise InputError(f"{option} is {text!r}", hint="a number, such as 0.1") from None
        command = VelocityCommand(
            velocities.get("forward", 0.0), velocities.get("left", 0.0), velocities.get("turn", 0.0)
        )
        gait.generator(card).require_in_range(command)
        return GaitProgram(gait, card, ((0.0, command),))
