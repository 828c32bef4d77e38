"""The charts of `bench_charts` in sismic and in python-statemachine, and how each is driven."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from sismic.interpreter import Interpreter
from sismic.io import import_from_yaml
from statemachine import State, StateChart

Run = Callable[[Sequence[tuple[str, dict[str, float]]]], tuple[list[frozenset[str]], float]]

SISMIC = {
    "flat": """
statechart:
  name: flat
  root state:
    name: root
    initial: standing
    states:
      - {name: standing, transitions: [{event: start, target: walking}]}
      - name: walking
        transitions: [{event: stop, target: standing}, {event: near, target: turning}]
      - name: turning
        transitions: [{event: stop, target: standing}, {event: clear, target: walking}]
""",
    "nested": """
statechart:
  name: nested
  root state:
    name: root
    initial: standing
    states:
      - {name: standing, transitions: [{event: start, target: racing}]}
      - name: racing
        initial: free
        transitions: [{event: stop, target: standing}]
        states:
          - {name: free, transitions: [{event: near, target: blocked}]}
          - name: blocked
            initial: looking
            transitions: [{event: clear, target: free}]
            states:
              - {name: looking, transitions: [{event: near, target: turning}]}
              - {name: turning, transitions: [{event: near, target: looking}]}
""",
    "parallel": """
statechart:
  name: parallel
  root state:
    name: root
    parallel states:
      - name: legs
        initial: standing
        states:
          - {name: standing, transitions: [{event: start, target: walking}]}
          - {name: walking, transitions: [{event: stop, target: standing}]}
      - name: eyes
        initial: seeing
        states:
          - {name: seeing, transitions: [{event: near, target: dazzled}]}
          - name: dazzled
            transitions: [{event: clear, target: seeing}, {event: stop, target: seeing}]
""",
    "sampled": """
statechart:
  name: sampled
  root state:
    name: root
    initial: walking
    states:
      - {name: walking, transitions: [{event: sample, guard: event.wall < 0.35, target: turning}]}
      - name: turning
        transitions:
          - {event: sample, guard: event.wall > 1.5, target: walking}
          - {event: sample, guard: event.wall < 0.1, target: stuck}
      - {name: stuck, transitions: [{event: sample, guard: event.wall > 0.35, target: turning}]}
""",
}


class Flat(StateChart):
    """Three states in a row."""

    standing = State(initial=True)
    walking = State()
    turning = State()
    start = standing.to(walking)
    stop = walking.to(standing) | turning.to(standing)
    near = walking.to(turning)
    clear = turning.to(walking)


class Nested(StateChart):
    """Three levels."""

    standing = State(initial=True)

    class racing(State.Compound):  # noqa: N801 -- the library takes a state's name from its class
        """The middle level."""

        free = State(initial=True)

        class blocked(State.Compound):  # noqa: N801 -- as above
            """The inner level."""

            looking = State(initial=True)
            turning = State()
            near = looking.to(turning) | turning.to(looking)

        near = free.to(blocked)
        clear = blocked.to(free)

    start = standing.to(racing)
    stop = racing.to(standing)


class Parallel(StateChart):
    """Two regions."""

    class both(State.Parallel):  # noqa: N801 -- as above
        """The parallel state."""

        class legs(State.Compound):  # noqa: N801 -- as above
            """One region."""

            standing = State(initial=True)
            walking = State()
            start = standing.to(walking)
            stop = walking.to(standing)

        class eyes(State.Compound):  # noqa: N801 -- as above
            """Another region."""

            seeing = State(initial=True)
            dazzled = State()
            near = seeing.to(dazzled)
            clear = dazzled.to(seeing)
            stop = dazzled.to(seeing)


class Sampled(StateChart):
    """Guards with a distance."""

    walking = State(initial=True)
    turning = State()
    stuck = State()
    sample = (
        walking.to(turning, cond="near")
        | turning.to(walking, cond="clear")
        | turning.to(stuck, cond="touching")
        | stuck.to(turning, unless="near")
    )

    def near(self, wall: float) -> bool:
        """Whether the wall is near."""
        return wall < 0.35

    def clear(self, wall: float) -> bool:
        """Whether the path is clear."""
        return wall > 1.5

    def touching(self, wall: float) -> bool:
        """Whether it touches the wall."""
        return wall < 0.1


STATEMACHINE: dict[str, type[StateChart]] = {
    "flat": Flat,
    "nested": Nested,
    "parallel": Parallel,
    "sampled": Sampled,
}


def sismic_run(name: str) -> Run:
    """Return a function that runs sismic's chart of a name."""
    chart = import_from_yaml(SISMIC[name])
    inner = {state for state in chart.states if not chart.children_for(state)}

    def run(events: Sequence[tuple[str, dict[str, float]]]) -> tuple[list[frozenset[str]], float]:
        interpreter = Interpreter(chart)
        interpreter.execute()
        visited = []
        begin = time.perf_counter()
        for event, values in events:
            interpreter.queue(event, **values)
            interpreter.execute_once()
            visited.append(interpreter.configuration)
        seconds = time.perf_counter() - begin
        return [frozenset(configuration) & inner for configuration in visited], seconds

    return run


def statemachine_run(name: str) -> Run:
    """Return a function that runs python-statemachine's chart of a name."""

    def run(events: Sequence[tuple[str, dict[str, float]]]) -> tuple[list[frozenset[str]], float]:
        machine: Any = STATEMACHINE[name]()
        inner = {state.id for state in machine.states_map.values() if not getattr(state, "states", None)}
        visited = []
        begin = time.perf_counter()
        for event, values in events:
            machine.send(event, **values)
            visited.append([state.id for state in machine.configuration])
        seconds = time.perf_counter() - begin
        return [frozenset(configuration) & inner for configuration in visited], seconds

    return run


PEERS: dict[str, Callable[[str], Run]] = {"sismic": sismic_run, "python-statemachine": statemachine_run}
