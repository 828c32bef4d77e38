"""Steps of a compiled chart a second, beside sismic and python-statemachine on the same charts and events.

The charts and events are those of `bench_charts`, the one with a distance asks a fraction of 64 bits. There
are two roads into compiled code: whole columns at once; and step by step, a mapping in and a Snapshot out,
most of whose time is Python's own. All have to come to the same states, or there are no figures.
"""

from __future__ import annotations

import random
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.bench_charts import EVENTS, OURS, STEPS, Step
from benchmarks.figure import Figure
from posewright.charts import Interpreter, parse_chart

TIMES = 100
"""So many times the events are run one after the other as columns."""

States = list[frozenset[str]]


def figures(rounds: int) -> list[Figure]:
    """Return how many times as many steps a second as the faster of the two peers."""
    try:
        from benchmarks.chart_peers import PEERS
    except ImportError:
        return [Figure("compiled steps : faster peer", None, note="the peers are not installed")]
    draw = random.Random(4)  # noqa: S311 -- chance, not secrecy
    events: list[Step] = [(draw.choice(EVENTS), {}) for _ in range(STEPS)]
    samples: list[Step] = [("sample", {"wall": draw.choice((0.05, 0.3, 1.0, 3.0))}) for _ in range(STEPS)]
    results = []
    for name, text in OURS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            interpreter = Interpreter(parse_chart(text), remember=False, native=True)
        if not interpreter.is_native:
            return [Figure("compiled steps : faster peer", None, note="there is no C compiler")]
        peers = {peer: make(name) for peer, make in PEERS.items()}
        events_of_chart = samples if name == "sampled" else events
        results += _compare(name, interpreter, peers, events_of_chart, rounds)
    return results


def _compare(
    name: str,
    interpreter: Interpreter,
    peers: dict[str, Callable[[Sequence[Step]], tuple[States, float]]],
    events: Sequence[Step],
    rounds: int,
) -> list[Figure]:
    rows = [values or {each: each == event for each in EVENTS} for event, values in events]
    runs: dict[str, Callable[[], tuple[States, float]]] = {
        "columns": lambda: _columns(interpreter, rows),
        "step by step": lambda: _steps(interpreter, rows),
        **{peer: (lambda run=run: run(events)) for peer, run in peers.items()},
    }
    times_us: dict[str, list[float]] = {name_of_run: [] for name_of_run in runs}
    for _ in range(rounds):
        states = {}
        for name_of_run, run in runs.items():
            states[name_of_run], seconds = run()
            times_us[name_of_run].append(seconds / len(rows) * 1e6)
        assert all(run_states == states["columns"] for run_states in states.values()), (
            f"{name}: not the same states"
        )
    per_step = {name_of_run: statistics.median(each) for name_of_run, each in times_us.items()}
    best = min(per_step[peer] for peer in peers)
    note = ", ".join(f"{name_of_run} {us:.3g} us" for name_of_run, us in per_step.items())
    return [
        Figure(
            f"compiled steps : faster peer, {name}", best / per_step["columns"], at_least=300.0, note=note
        ),
        Figure(f"the same, {name}, step by step", best / per_step["step by step"], note=note),
    ]


def _first(interpreter: Interpreter) -> Any:
    """Return where the chart stands after a tick in which nothing happens, as the peers do to begin with."""
    nothing = {"wall": 1.0} if "wall" in interpreter.chart.inputs else dict.fromkeys(EVENTS, False)
    return interpreter.step(interpreter.initial(), nothing)


def _columns(interpreter: Interpreter, rows: Sequence[dict[str, Any]]) -> tuple[States, float]:
    columns = {name: np.tile(np.array([row[name] for row in rows]), TIMES) for name in rows[0]}
    start = _first(interpreter)
    begin = time.perf_counter()
    results = interpreter.run_columns(columns, start)
    seconds = (time.perf_counter() - begin) / TIMES
    leaves = [node.name for node in interpreter.machine.nodes if node.is_leaf]
    active = {name: results[f"in.{name}"] for name in leaves}
    return [frozenset(name for name in leaves if active[name][tick]) for tick in range(len(rows))], seconds


def _steps(interpreter: Interpreter, rows: Sequence[dict[str, Any]]) -> tuple[States, float]:
    state = _first(interpreter)
    visited = []
    begin = time.perf_counter()
    for row in rows:
        state = interpreter.step(state, row)
        visited.append(state)
    seconds = time.perf_counter() - begin
    return [frozenset(snapshot.state.split("+")) for snapshot in visited], seconds
