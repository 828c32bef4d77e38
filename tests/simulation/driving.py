"""Driving one robot of a world, for tests."""

from __future__ import annotations

from collections.abc import Callable

from posewright.bodies import JointCommands, JointStates
from posewright.simulation import SimulatedBody


def play(
    body: SimulatedBody, commands: JointCommands, look: Callable[[], object] | None = None
) -> JointStates:
    """Let a robot that is alone follow some commands; `look` is called at the end of every frame."""
    name = body.instance.name
    if look is None:
        return body.world.advance({name: commands})[name]
    for row in range(len(commands)):
        states = body.world.advance({name: commands[row : row + 1]})[name]
        look()
    return states
