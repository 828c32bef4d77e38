"""The interface of compiled machines; their compiler imports this package, so it is found by entry point."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

from posewright.charts.machine.columns import Column
from posewright.charts.machine.machine import Machine, Snapshot
from posewright.charts.types import Value
from posewright.documents import plugins
from posewright.errors import InputError, UnavailableError

ENTRY_POINT_GROUP = "posewright.native"
"""The group of entry points of functions that compile machines: `Machine -> NativeMachine`."""

TickInputs = tuple[Mapping[str, Value], Sequence[str]]
"""All inputs of a tick, checked and clamped to their ranges, and the events that occur."""


class NativeMachine(Protocol):
    """A compiled machine, with the results of the interpreter.

    It gives no result for a tick that fails; the interpreter then repeats the tick to raise the error.
    """

    def step(self, state: Snapshot, inputs: TickInputs, /) -> Snapshot | None:
        """Return the snapshot after a tick; None if the tick fails."""

    def run(self, state: Snapshot, inputs: Sequence[TickInputs], /) -> list[Snapshot]:
        """Return the snapshot after each tick, up to the first tick that fails."""

    def run_columns(self, state: Snapshot, columns: Mapping[str, Column]) -> dict[str, Column] | None:
        """Return columns as `Interpreter.run_columns` does; None if a tick fails."""


def native_machine(machine: Machine) -> NativeMachine | None:
    """Return the machine compiled by an installed package; None with a warning if nothing can compile it."""
    compilers = plugins(ENTRY_POINT_GROUP)
    if not compilers:
        _warn_once("no installed package can compile them")
        return None
    first_name = next(iter(compilers))
    compile_machine = compilers[first_name]
    try:
        compiled: NativeMachine = compile_machine(machine)
    except UnavailableError as error:
        _warn_once(str(error))
        return None
    except InputError as error:
        # level 4 is the caller of `Interpreter`, which calls this function
        warnings.warn(f"{machine.chart.name} runs in Python: {error}", stacklevel=4)
        return None
    return compiled


@cache
def _warn_once(reason: str) -> None:
    """Warn that charts are not compiled, once for each reason."""
    warnings.warn(f"charts run in Python, not compiled: {reason}", stacklevel=5)
