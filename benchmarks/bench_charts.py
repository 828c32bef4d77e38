"""Steps of a chart a second, beside sismic and python-statemachine on the same charts and events.

Four charts, written in each of the three libraries' own way: flat, nested and parallel ones driven by the
same random events, one a step, and one that asks a sampled distance. All have to come to the same states, or
there are no figures.
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
Step = tuple[str, dict[str, float]]
"""An event, and the values that come with it."""

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
    "sampled": """
chart: sampled
period_s: 0.1
inputs: {wall: {float: [0.0, 5.0]}}
outputs: {moves: bool}
otherwise: stay
initial: walking
states:
  walking: [{when: wall < 0.35, go: turning}]
  turning: [{when: wall > 1.5, go: walking}, {when: wall < 0.1, go: stuck}]
  stuck: [{when: wall > 0.35, go: turning}]
""",
}


def figures(rounds: int) -> list[Figure]:
    """Return how many times as many steps a second as the faster of the two peers."""
    try:
        from benchmarks.chart_peers import PEERS
    except ImportError:
        return [Figure("chart steps : faster peer", None, note="the peers are not installed")]
    draw = random.Random(4)  # noqa: S311 -- chance, not secrecy
    events: list[Step] = [(draw.choice(EVENTS), {}) for _ in range(STEPS)]
    samples: list[Step] = [("sample", {"wall": draw.choice((0.05, 0.3, 1.0, 3.0))}) for _ in range(STEPS)]
    results = []
    for name, text in OURS.items():
        runs: dict[str, Callable[[Sequence[Step]], tuple[list[frozenset[str]], float]]]
        runs = {"posewright": lambda steps, text=text: _ours(text, steps, remember=True)}
        runs["unremembered"] = lambda steps, text=text: _ours(text, steps, remember=False)
        runs |= {peer: make(name) for peer, make in PEERS.items()}
        results += _compare(name, runs, samples if name == "sampled" else events, rounds)
    return results


def _compare(name: str, runs: dict[str, Any], events: Sequence[Step], rounds: int) -> list[Figure]:
    times_s: dict[str, list[float]] = {runner: [] for runner in runs}
    for _ in range(rounds):
        states = {}
        for runner, run in runs.items():
            states[runner], seconds = run(events)
            times_s[runner].append(seconds)
        reference = states["posewright"]
        assert all(results == reference for results in states.values()), f"{name}: not the same states"
    per_step = {runner: statistics.median(seconds) / len(events) * 1e6 for runner, seconds in times_s.items()}
    peers = {runner: per_step[runner] for runner in runs if runner not in ("posewright", "unremembered")}
    best = min(peers.values())
    note = ", ".join(f"{runner} {us:.1f} us" for runner, us in per_step.items())
    plain = Figure(
        f"chart steps : faster peer, {name}, plain", best / per_step["unremembered"], at_least=15.0, note=note
    )
    if name == "sampled":  # steps with fractions are not remembered
        return [plain]
    return [Figure(f"the same, {name}, remembered", best / per_step["posewright"], at_least=40.0), plain]


def _ours(text: str, events: Sequence[Step], *, remember: bool) -> tuple[list[frozenset[str]], float]:
    interpreter = Interpreter(parse_chart(text), remember=remember)
    rows = [values or {name: name == event for name in EVENTS} for event, values in events]
    state = interpreter.step(
        interpreter.initial(), {"wall": 1.0} if events[0][1] else dict.fromkeys(EVENTS, False)
    )
    visited = []
    begin = time.perf_counter()
    for row in rows:
        state = interpreter.step(state, row)
        visited.append(state)
    seconds = time.perf_counter() - begin
    return [frozenset(snapshot.state.split("+")) for snapshot in visited], seconds
