"""How a truth table writes a chart: which columns stand for the state, the inputs and the outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NEXT = "_next"
"""What is added to a state bit's column to name the column of the bit after the tick."""


@dataclass(frozen=True)
class TableForm:
    """Columns of a truth table.

    Attributes:
        inputs: columns of inputs, from left to right, and the input each stands for.
        outputs: columns of outputs, and the output each stands for.
        state_bits: columns that together hold the state's code; empty where a column `state` names it.
        codes: the code of every state, as text of 0 and 1.
        newline: what ends a line, so that a table which was read is written with the same bytes.
    """

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    state_bits: tuple[str, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)
    newline: str = field(default="\n", compare=False)

    @property
    def state_columns(self) -> tuple[str, ...]:
        """The columns that hold the state before the tick."""
        return self.state_bits or ("state",)

    @property
    def next_columns(self) -> tuple[str, ...]:
        """The columns that hold the state after the tick."""
        return tuple(bit + NEXT for bit in self.state_bits) or ("next",)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns from left to right."""
        return (*self.state_columns, *self.inputs, *self.next_columns, *self.outputs)

    def cells_of(self, state: str) -> list[str]:
        """Return the cells that write a state."""
        return list(self.codes[state]) if self.state_bits else [state]
