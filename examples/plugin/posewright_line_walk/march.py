"""A kind of programs: a robot lifts its feet in turn, at a number of beats per minute."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from posewright.bodies import BodyState, JointCommands
from posewright.control import Controller, require_known_options
from posewright.errors import InputError
from posewright.robots import Robot, robot


@dataclass(frozen=True)
class March:
    """A program of this kind: a `posewright.control.Program`."""

    robot: Robot
    beats_per_minute: float = 60.0
    name: str = "march"
    kind: str = "march"
    documents: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    extras: Mapping[str, float] = field(default_factory=dict)

    @property
    def sensors(self):
        return self.robot.sensors

    @property
    def start_pose(self):
        return self.robot.pose("stand")

    def controller(self, seed) -> "Marcher":
        return Marcher(self)


class Marcher(Controller):
    """A controller that bends one knee after the other, frame by frame."""

    def __init__(self, march: March) -> None:
        self.march = march
        self.knees = [march.robot.index(f"{side}_knee") for side in ("right", "left")]

    def next(self, state: BodyState, n: int) -> JointCommands:
        beat = np.sin(np.pi * state.time_s * self.march.beats_per_minute / 60.0)
        angles = self.march.start_pose.copy()
        angles[self.knees[0 if beat > 0.0 else 1]] += 0.3 * abs(beat)
        return JointCommands(angles[np.newaxis])


class MarchKind:
    """The `posewright.control.ProgramKind` that the entry point names."""

    name = "march"
    option_names = ("beats_per_minute",)

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        return ("march",)

    def recognises(self, name: str) -> bool:
        return False  # it has no files

    def read(self, name: str, card: Robot | None, options: Mapping[str, str]) -> March:
        require_known_options(options, self.option_names, self.name)
        text = options.get("beats_per_minute", "60")
        if not text.isdigit():
            raise InputError(f"beats_per_minute={text}", hint="a whole number, such as 60")
        return March(card or robot("robotis_bioloid"), float(text))
