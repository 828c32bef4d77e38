"""The statements that are no flow, by their words."""

from __future__ import annotations

import re

from posewright.runtimes.robobasic import moving, peripherals
from posewright.runtimes.robobasic.arguments import Misused
from posewright.runtimes.robobasic.steps import Steps
from posewright.runtimes.robobasic.tree import FLOW_WORDS, Command, Name

WORDS = moving.WORDS | peripherals.WORDS


def add_command(steps: Steps, command: Command) -> None:
    """Make a statement ready; one that nobody knows, or that is not used so, is told, and does nothing."""
    usage = ""
    if found := re.fullmatch(r"MOVE(6|8|12|16|24|32)", command.key):
        usage = f"{command.key} a, b, , d"
        command = Command("MOVE", (Name(f"G{found[1]}"), *command.arguments))
    if (word := WORDS.get(command.key)) is None:
        steps.names.pass_over(command.name, WORDS.keys() | FLOW_WORDS)
        return
    try:
        word.add(steps, command)
    except Misused:
        steps.names.find("arguments", f"{command.key} is not used so", f"right is {usage or word.usage}")
