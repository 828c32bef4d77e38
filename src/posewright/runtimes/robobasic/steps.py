"""The steps of a program while they are made: what compiling and the statements' own makers add to."""

from __future__ import annotations

from collections.abc import Callable

from posewright.runtimes.robobasic.expressions import Names
from posewright.runtimes.robobasic.machine import Machine, Step
from posewright.runtimes.robobasic.tree import Command

AUTO = "AUTO"
"""A label of the controller itself: GOTO AUTO, the first line of templates, goes on below (ours)."""


class Steps:
    """The steps of one program.

    Attributes:
        names: what its names mean; `names.line` is the line that is being made ready.
        steps: made so far, by address.
        lines: of the source, by address.
        labels: where each label is, by name in capitals: a list of one address, which is known at the end.
        poses: the POS statements, by their labels in capitals.
    """

    def __init__(self) -> None:
        self.names = Names()
        self.steps: list[Step] = []
        self.lines: list[int] = []
        self.labels: dict[str, list[int]] = {}
        self.poses: dict[str, Command] = {}

    @property
    def at(self) -> int:
        """The address of the step that comes next."""
        return len(self.steps)

    def add(self, step: Step) -> None:
        """Add a step."""
        self.steps.append(step)
        self.lines.append(self.names.line)

    def act(self, action: Callable[[Machine], None]) -> None:
        """Add a step that acts and goes on."""
        following = self.at + 1

        def step(machine: Machine) -> int:
            action(machine)
            return following

        self.add(step)

    def target(self, label: str) -> list[int]:
        """Return where a label is, as a list that will hold its address, or take note that there is none."""
        if (found := self.labels.get(label.upper())) is not None:
            return found
        if label.upper() == AUTO:
            return [self.at + 1]
        self.names.find_unknown("label", label, self.labels)
        return [self.at + 1]
