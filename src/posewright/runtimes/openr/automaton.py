"""Automatons of OPEN-R objects: charts of ours, stepped by what an object is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from posewright.charts import Interpreter, read_chart
from posewright.charts.types import Value

CHARTS = Path(__file__).parent / "charts"


class Automaton:
    """Where an object stands, and what it does when it is told something.

    Args:
        chart: a chart without inputs; what an object is told are its events.

    Raises:
        InputError: it is no chart.
    """

    def __init__(self, chart: Path | str) -> None:
        self._interpreter = Interpreter(read_chart(Path(chart)))
        self._now = self._interpreter.step(self._interpreter.initial(), {})

    @property
    def state(self) -> str:
        """Where it stands."""
        return self._now.state

    def tell(self, event: str) -> Mapping[str, Value]:
        """Let an event happen; return what the chart's outputs then hold.

        Raises:
            UnknownNameError: the chart has no such event.
        """
        self._now = self._interpreter.step(self._now, {event: True})
        return self._now.outputs
