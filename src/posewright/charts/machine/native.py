"""The door to compiled machines: what makes them is plugged in, for no room below may know the generator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

from posewright.charts.machine.columns import Column
from posewright.charts.machine.machine import Machine, Snapshot
from posewright.charts.types import Value
from posewright.documents import plugins
from posewright.errors import InputError, UnavailableError

if TYPE_CHECKING:
    pass

GROUP = "posewright.native"
"""The group of entry points in which a package offers to compile machines: `Machine -> NativeMachine`."""

Given = tuple[Mapping[str, Value], Sequence[str]]
"""All inputs of a tick, checked and within their ranges, and the events that came."""


class NativeMachine(Protocol):
    """A machine compiled: the same answers; where a tick goes wrong it gives none, and is not heard again."""

    def step(self, state: Snapshot, given: Given) -> Snapshot | None:
        """Return where the chart stands after a tick; None where it cannot say."""

    def run(self, state: Snapshot, given: Sequence[Given]) -> list[Snapshot]:
        """Return where the chart stands after each tick, up to the first of which it cannot say."""

    def run_columns(self, state: Snapshot, columns: Mapping[str, Column]) -> dict[str, Column] | None:
        """Return columns as `Interpreter.run_columns` does; None where it cannot say of some tick."""


def native_machine(machine: Machine) -> NativeMachine | None:
    """Return a machine compiled; None where nothing can compile it, which is warned of."""
    offered = plugins(GROUP)
    if not offered:
        _warn_once("no package offers to compile it")
        return None
    try:
        made: NativeMachine = offered[next(iter(offered))](machine)
    except UnavailableError as error:
        _warn_once(str(error))
    except InputError as error:
        warnings.warn(f"{machine.chart.name} runs in Python: {error}", stacklevel=4)
    else:
        return made
    return None


@cache
def _warn_once(reason: str) -> None:
    warnings.warn(f"charts run in Python, not compiled: {reason}", stacklevel=5)
