"""The automaton of an OPEN-R object: a chart that is asked about every message.

Such a chart has an event for each command, and `done` for the end of a motion. An event that leads to no
other state is refused; its first state is where nothing is under way.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

from posewright.charts import Chart, Interpreter, Snapshot, read_chart

CHARTS = Path(__file__).parent / "charts"
DONE = "done"


@cache
def _interpreter(name: str) -> Interpreter:
    """Read a chart once; what it answers depends on nothing but what it is told."""
    return Interpreter(read_chart(CHARTS / f"{name}.chart.yaml"))


class Automaton:
    """Where an object is in its chart.

    Args:
        name: of the chart, which is read when it is needed first.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def chart(self) -> Chart:
        """Its chart."""
        return _interpreter(self._name).chart

    @cached_property
    def _snapshot(self) -> Snapshot:
        return _interpreter(self._name).initial()

    @property
    def state(self) -> str:
        """The state it is in."""
        return self._snapshot.state

    @property
    def commands(self) -> tuple[str, ...]:
        """The events that are commands."""
        return tuple(event for event in self.chart.events if event != DONE)

    @property
    def is_idle(self) -> bool:
        """Whether it is in its first state."""
        return self.state == self.chart.states[0].name

    def hear(self, event: str, **inputs: object) -> bool:
        """Take one event; return whether it led to another state."""
        before = self.state
        self._snapshot = _interpreter(self._name).step(self._snapshot, {**inputs, event: True})
        return self.state != before

    def why_not(self, command: str) -> str:
        """Return why a command is not taken in this state, as a sentence for people."""
        if command not in self.commands:
            return f"there is no such command; there are {', '.join(self.commands)}"
        taken = " or ".join(f"{'stops' if ends else 'starts from'} {s}" for s, ends in self._where(command))
        ways = [event for event in self._heard_in(self.state) if event != DONE]
        out = f"which {' or '.join(ways)} stops" if ways else "which nothing stops before its end"
        now = "the state is IDLE" if self.is_idle else f"the state is {self.state}, {out}"
        return f"{command} {taken}; {now}"

    def _where(self, command: str) -> Iterator[tuple[str, bool]]:
        """Yield the states in which a command is taken, and whether it leads from there to the first."""
        idle = self.chart.states[0].name
        for state in self.chart.states:
            for way in state.transitions:
                if command in way.on:
                    yield state.name, any(target.state == idle for target in way.go)
                    break

    def _heard_in(self, state: str) -> Iterator[str]:
        for way in self.chart.state(state).transitions:
            yield from way.on
