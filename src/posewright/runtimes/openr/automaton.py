"""The automaton of an OPEN-R object: a chart that decides about every message.

Such a chart has an event for each command, and `done` for the end of a motion. A command that leads to no
other state is not executed. The first state is the idle one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from posewright.charts import Chart, Interpreter, Snapshot, read_chart

CHARTS = Path(__file__).parent / "charts"
DONE = "done"


@cache
def _interpreter(name: str) -> Interpreter:
    """Return the interpreter of a chart, which is read once; it holds no state."""
    return Interpreter(read_chart(CHARTS / f"{name}.chart.yaml"))


class _AcceptingState(NamedTuple):
    """A state in which a command is executed, and whether the command leads to the first state."""

    state: str
    is_stop: bool


class Automaton:
    """The state of an object in its chart.

    Args:
        name: the name of the chart, which is read when it is first needed.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def chart(self) -> Chart:
        """The chart."""
        return _interpreter(self._name).chart

    @cached_property
    def _snapshot(self) -> Snapshot:
        return _interpreter(self._name).initial()

    @property
    def state(self) -> str:
        """Name of the active state."""
        return self._snapshot.state

    @property
    def commands(self) -> tuple[str, ...]:
        """The events that are commands."""
        return tuple(event for event in self.chart.events if event != DONE)

    @property
    def is_idle(self) -> bool:
        """Whether the first state is active."""
        return self.state == self.chart.states[0].name

    @property
    def can_be_stopped(self) -> bool:
        """Whether a command leads out of the active state, not only the end of its motion."""
        return any(event != DONE for event in self._triggers(self.state))

    def step(self, event: str, **inputs: object) -> bool:
        """Process one event; return whether it led to another state."""
        previous_state = self.state
        self._snapshot = _interpreter(self._name).step(self._snapshot, {**inputs, event: True})
        return self.state != previous_state

    def explain_rejection(self, command: str) -> str:
        """Return why a command is not executed in the active state, as a sentence."""
        if command not in self.commands:
            return f"there is no such command; there are {', '.join(self.commands)}"
        effects: list[str] = []
        for state, is_stop in self._accepting_states(command):
            effects.append(f"stops {state}" if is_stop else f"starts from {state}")
        accepted_in = " or ".join(effects)
        if self.is_idle:
            return f"{command} {accepted_in}; the state is IDLE"
        stop_commands = [event for event in self._triggers(self.state) if event != DONE]
        if stop_commands:
            ending = f"which {' or '.join(stop_commands)} stops"
        else:
            ending = "which nothing stops before its end"
        return f"{command} {accepted_in}; the state is {self.state}, {ending}"

    def _accepting_states(self, command: str) -> Iterator[_AcceptingState]:
        """Yield the states in which a command is accepted, and whether it stops the motion there."""
        idle_state = self.chart.states[0].name
        for state in self.chart.states:
            for transition in state.transitions:
                if command in transition.on:
                    is_stop = any(target.state == idle_state for target in transition.go)
                    yield _AcceptingState(state.name, is_stop)
                    break

    def _triggers(self, state: str) -> Iterator[str]:
        """Yield the events that trigger a transition from a state."""
        for transition in self.chart.state(state).transitions:
            yield from transition.on
