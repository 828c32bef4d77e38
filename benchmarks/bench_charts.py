"""Steps of a chart a second, beside sismic and python-statemachine on the same charts and events.

Three charts, flat, nested and parallel, written in each of the three libraries' own way; all three are driven
by the same random events, one a step, and have to come to the same states, or there are no figures.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.figure import Figure
from posewright.charts import Interpreter, parse_chart

EVENTS = ("start", "stop", "near", "clear")
STEPS = 3000

OURS = {
    "flat": """
chart: flat
period_s: 0.1
events: [start, stop, near, clear]
outputs: {moves: bool}
initial: standing
states:
  standing: [{on: start, go: walking}]
  walking: [{on: stop, go: standing}, {on: near, go: turning}]
  turning: [{on: stop, go: standing}, {on: clear, go: walking}]
""",
    "nested": """
chart: nested
period_s: 0.1
events: [start, stop, near, clear]
outputs: {moves: bool}
initial: standing
states:
  standing: [{on: start, go: racing}]
  racing:
    transitions: [{on: stop, go: standing}]
    initial: free
    states:
      free: [{on: near, go: blocked}]
      blocked:
        transitions: [{on: clear, go: free}]
        initial: looking
        states:
          looking: [{on: near, go: turning}]
          turning: [{on: near, go: looking}]
""",
    "parallel": """
chart: parallel
period_s: 0.1
events: [start, stop, near, clear]
outputs: {moves: bool}
regions:
  legs:
    initial: standing
    states:
      standing: [{on: start, go: walking}]
      walking: [{on: stop, go: standing}]
  eyes:
    initial: seeing
    states:
      seeing: [{on: near, go: dazzled}]
      dazzled: [{on: clear, go: seeing}, {on: stop, go: seeing}]
""",
}


def figures(rounds: int) -> list[Figure]:
    """Return how many times as many steps a second as the faster of the two peers."""
    try:
        from benchmarks.chart_peers import PEERS
    except ImportError:
        return [Figure("chart steps : faster peer", None, note="the peers are not installed")]
    draw = random.Random(4)  # noqa: S311 -- chance, not secrecy
    events = [draw.choice(EVENTS) for _ in range(STEPS)]
    found = []
    for name, text in OURS.items():
        runs: dict[str, Callable[[Sequence[str]], tuple[list[frozenset[str]], float]]]
        runs = {"posewright": lambda given, text=text: _ours(text, given, remember=True)}
        runs["unremembered"] = lambda given, text=text: _ours(text, given, remember=False)
        runs |= {peer: make(name) for peer, make in PEERS.items()}
        found += _compare(name, runs, events, rounds)
    return found


def _compare(name: str, runs: dict[str, Any], events: Sequence[str], rounds: int) -> list[Figure]:
    took: dict[str, list[float]] = {who: [] for who in runs}
    for _ in range(rounds):
        states = {}
        for who, run in runs.items():
            states[who], seconds = run(events)
            took[who].append(seconds)
        reference = states["posewright"]
        assert all(found == reference for found in states.values()), f"{name}: not the same states"
    per_step = {who: statistics.median(seconds) / len(events) * 1e6 for who, seconds in took.items()}
    peers = {who: per_step[who] for who in runs if who not in ("posewright", "unremembered")}
    best = min(peers.values())
    note = ", ".join(f"{who} {us:.1f} us" for who, us in per_step.items())
    return [
        Figure(f"chart steps : faster peer, {name}", best / per_step["posewright"], at_least=20.0, note=note),
        Figure(f"the same, nothing remembered, {name}", best / per_step["unremembered"]),
    ]


def _ours(text: str, events: Sequence[str], *, remember: bool) -> tuple[list[frozenset[str]], float]:
    interpreter = Interpreter(parse_chart(text), remember=remember)
    rows = {event: {name: name == event for name in EVENTS} for event in EVENTS}
    state = interpreter.step(interpreter.initial(), dict.fromkeys(EVENTS, False))
    visited = []
    begin = time.perf_counter()
    for event in events:
        state = interpreter.step(state, rows[event])
        visited.append(state)
    seconds = time.perf_counter() - begin
    return [frozenset(one.state.split("+")) for one in visited], seconds
