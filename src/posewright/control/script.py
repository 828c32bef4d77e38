"""A controller that plays commands laid down before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from posewright.bodies import BodyState, JointCommands
from posewright.control.controller import Controller
from posewright.errors import InputError


class Script(Controller):
    """A controller that commands what was laid down before, then holds the last frame.

    Raises:
        InputError: there is not a single frame.
    """

    def __init__(self, blocks: Sequence[JointCommands]) -> None:
        self._blocks = [block for block in blocks if len(block)]
        if not self._blocks:
            raise InputError("a script without a frame", hint="at least one row of angles")
        self._all_blocks = self._blocks
        self._begun = 0

    def restart(self) -> None:
        """Begin with the first block again."""
        self._blocks = self._all_blocks
        self._begun = 0

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- a script looks at nothing
        """Return the next rows of the script."""
        block = self._blocks[0]
        if self._begun == len(block):
            if len(self._blocks) == 1:
                return replace(block, angles=block.angles[-1:], decision=None)
            self._blocks, self._begun = self._blocks[1:], 0
            block = self._blocks[0]
        rows = block[self._begun : self._begun + n]
        self._begun += len(rows)
        return rows
