"""A controller that plays a fixed sequence of commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from posewright.bodies import BodyState, JointCommands
from posewright.control.controller import Controller
from posewright.errors import InputError


class Script(Controller):
    """A controller that plays blocks of commands in order, then holds the last row.

    Raises:
        InputError: there is no row of commands.
    """

    def __init__(self, blocks: Sequence[JointCommands]) -> None:
        self._blocks = [block for block in blocks if len(block)]
        if not self._blocks:
            raise InputError("the script has no frame", hint="at least one row of angles")
        self.restart()

    def restart(self) -> None:
        """Start again at the first block."""
        self._block_index = 0
        self._row_index = 0

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- open loop
        """Return the next rows of the present block, or the last row of the script."""
        block = self._blocks[self._block_index]
        if self._row_index == len(block):
            if self._block_index == len(self._blocks) - 1:
                return replace(block, angles=block.angles[-1:], decision=None)
            self._block_index += 1
            self._row_index = 0
            block = self._blocks[self._block_index]
        rows = block[self._row_index : self._row_index + n]
        self._row_index += len(rows)
        return rows
