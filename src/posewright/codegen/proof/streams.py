"""Streams of inputs that are drawn to reach every transition, and every value at which something changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.charts import Chart, explore
from posewright.charts.expression import Literal
from posewright.charts.expression.tree import children
from posewright.charts.machine import Machine
from posewright.charts.reachability import ExplorationLimits
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value
from posewright.codegen.records import RecordFormat
from posewright.codegen.unit import Records

Column = NDArray[Any]

BUDGET = ExplorationLimits(cases=12_000, work=400_000)
"""How far a chart is explored: some 3 s, counted, so that a seed always draws the same stream."""

LONGEST_EPISODE = 2000
"""Ticks between two resets, at most: long enough for the timers of a chart, short enough to shrink."""

LONGEST_SEGMENT = 500
"""Ticks for which one way of drawing goes on."""

FROM_POOL = 0.4
"""Part of the values that are taken from those at which something may change."""

CHANGES = (0.0, 0.03, 0.3, 1.0)
"""How likely an input changes at a tick; one of them for a segment. With 0 it is held, and timers run out."""

WIDE = 1e9
"""Half the width of a range of which numbers are drawn near what the chart asks for, not all over it."""

SLOW_CHANGES = (0.0, 0.005, 0.05, 0.5)
"""The same for sensors that are read at every servo frame."""

COMES = (0.0, 0.0, 0.02, 0.2, 0.8)
"""How likely an event comes at a tick; one of them for a segment."""


@dataclass(frozen=True, eq=False)
class InputField:
    """How the values of a field of an input record are drawn.

    Attributes:
        pool: values at which something may change, of the field's type.
        low: from where to where other values are drawn; beyond it only those of the pool.
        changes: how likely another value is drawn at a tick; one of these for a segment.
    """

    name: str
    pool: Column
    low: float
    high: float
    changes: tuple[float, ...] = CHANGES

    def draw(self, n: int, rng: np.random.Generator) -> Column:
        """Return values, `(n,)`."""
        chosen: Column = self.pool[rng.integers(len(self.pool), size=n)]
        if self.low == self.high:
            return chosen
        kind = self.pool.dtype
        if kind.kind == "f":
            span = self.low + rng.random(n) * (self.high / 2 - self.low / 2) * 2
            others = np.clip(span, self.low, self.high).astype(kind)
        else:
            others = rng.integers(int(self.low), int(self.high), size=n, endpoint=True).astype(kind)
        return np.where(rng.random(n) < FROM_POOL, chosen, others).astype(kind)

    def column(self, n: int, rng: np.random.Generator) -> Column:
        """Return the values of a segment, `(n,)`, which change as often as one way of drawing says."""
        likely = self.changes[rng.integers(len(self.changes))]
        place = np.cumsum(rng.random(n) < likely)
        return self.draw(int(place[-1]) + 1, rng)[place]


@dataclass(frozen=True)
class EventField(InputField):
    """How it is drawn whether an event comes."""

    def column(self, n: int, rng: np.random.Generator) -> Column:
        """Return whether it comes, `(n,)`."""
        return (rng.random(n) < COMES[rng.integers(len(COMES))]).astype(np.uint8)


def chart_fields(form: RecordFormat, runs: Sequence[Records] = ()) -> tuple[InputField, ...]:
    """Return how the inputs of a chart are drawn.

    Args:
        form: of the chart's records.
        runs: whose values belong to the pools, with their neighbours.
    """
    constants, fields = constants_of(form.machine), list[InputField]()
    for name, kind in form.machine.inputs.items():
        storage = form.inputs[name]
        if isinstance(kind, BoolType | EnumType):
            last = 1 if isinstance(kind, BoolType) else len(kind.values) - 1
            fields.append(InputField(name, np.arange(last + 1).astype(storage), 0, last))
        else:
            seen = [float(value) for run in runs for value in np.unique(run[name])]
            fields.append(_number_field(name, kind, storage, [*constants, *seen]))
    events = [EventField(name, np.array([0, 1], np.uint8), 0, 1) for name in form.machine.events]
    return (*fields, *events)


def number_fields(dtype: np.dtype[np.void], values: Sequence[float]) -> tuple[InputField, ...]:
    """Return how numbers of sensors are drawn: near `values`, and for longer than a chart's inputs.

    A behaviour takes a step a servo frame, of which its chart sees one in a dozen.
    """
    kind = FloatType()
    return tuple(
        replace(_number_field(name, kind, dtype[name], values), changes=SLOW_CHANGES)
        for name in dtype.names or ()
    )


def covering_runs(chart: Chart) -> list[tuple[Mapping[str, Value], ...]]:
    """Return rows of inputs, run by run, that take every transition that was found within the `BUDGET`."""
    # imported here, because running a chart on a board needs neither
    from posewright.charts.coverage.feasibility import feasible
    from posewright.charts.coverage.scenario_generation import CoveringRuns

    covering_runs = CoveringRuns(feasible(explore(chart, limits=BUDGET)))
    covering_runs.generate()
    return [run.rows for run in covering_runs.runs]


def rows_of(chart: Chart, records: Records) -> Iterator[dict[str, Any]]:
    """Yield records as rows of inputs and events."""
    kinds: dict[str, Type] = {**chart.inputs, **dict.fromkeys(chart.events, BoolType())}
    columns = list[list[Any]]()
    for name, kind in kinds.items():
        column = records[name].tolist()
        if isinstance(kind, BoolType):
            column = [value != 0 for value in column]
        elif isinstance(kind, EnumType):
            column = [kind.values[code] for code in column]
        columns.append(column)
    for values in zip(*columns, strict=True) if columns else [()] * len(records):
        yield dict(zip(kinds, values, strict=True))


@dataclass(frozen=True, eq=False)
class InputStream:
    """Draws inputs, episode by episode; each begins after a reset.

    The first episodes are the runs that take every transition, or all that were found soon enough. Then come
    such runs cut off somewhere, parts of them with an input drawn anew, and random walks on which inputs are
    held or change quickly.

    Attributes:
        runs: records of runs from a reset that reach what is hard to reach by chance.
        longest: ticks of a segment, at most.
    """

    dtype: np.dtype[np.void]
    fields: tuple[InputField, ...]
    runs: tuple[Records, ...] = ()
    longest: int = 60

    def episodes(self, seed: int) -> Iterator[Records]:
        """Yield episodes without end; the same seed gives the same ones."""
        rng = np.random.default_rng(seed)
        yield from self.runs
        while True:
            length = int(math.exp(rng.uniform(math.log(10), math.log(LONGEST_EPISODE))))
            parts = [self.cut(rng)]
            while (n := length - sum(map(len, parts))) > 0:
                parts.append(self.segment(n, rng))
            yield np.concatenate(parts)[:length]

    def take(self, steps: int, seed: int) -> Records:
        """Return so many records, one episode after the other."""
        parts, count = [np.zeros(0, self.dtype)], 0
        for episode in self.episodes(seed):
            parts.append(episode[: steps - count])
            count += len(parts[-1])
            if count >= steps:
                break
        return np.concatenate(parts)

    def cut(self, rng: np.random.Generator) -> Records:
        """Return the beginning of a run, or nothing."""
        if not self.runs or rng.random() < 0.3:
            return np.zeros(0, self.dtype)
        run = self.runs[rng.integers(len(self.runs))]
        return run[: rng.integers(1, len(run), endpoint=True)]

    def segment(self, most: int, rng: np.random.Generator) -> Records:
        """Return at most so many records that are drawn in one way."""
        if self.runs and rng.random() < 0.4:
            return self.part_of_run(most, rng)
        n = min(most, int(math.exp(rng.uniform(0, math.log(self.longest)))))
        records = np.zeros(n, self.dtype)
        for field in self.fields:
            records[field.name] = field.column(n, rng)
        return records

    def part_of_run(self, most: int, rng: np.random.Generator) -> Records:
        """Return part of a run, often with an input drawn anew."""
        run = self.runs[rng.integers(len(self.runs))]
        begin = rng.integers(len(run))
        part = run[begin : begin + rng.integers(1, most, endpoint=True)].copy()
        if self.fields and rng.random() < 0.6:
            field = self.fields[rng.integers(len(self.fields))]
            part[field.name] = field.column(len(part), rng)
        return part


def chart_stream(form: RecordFormat, *, covering: bool = True) -> InputStream:
    """Return the stream of inputs of a chart.

    Args:
        form: of its records.
        covering: whether it is explored what takes every transition; else they are reached by chance.
    """
    machine = form.machine
    runs = tuple(form.pack(run) for run in covering_runs(machine.chart)) if covering else ()
    longest = 2 * max((counter.limit for counter in machine.counters), default=0) + 60
    return InputStream(form.inputs, chart_fields(form, runs), runs, min(longest, LONGEST_SEGMENT))


def constants_of(machine: Machine) -> list[float]:
    """Return all numbers that are written in the chart's expressions."""
    found: set[float] = set()
    for expression in machine.expressions:
        waiting = [expression.tree]
        while waiting:
            node = waiting.pop()
            waiting.extend(children(node))
            if isinstance(node, Literal) and isinstance(node.value, int | float):
                found.add(float(node.value))
        found |= {float(one) for one in expression.fixed.values() if isinstance(one, int | float)}
    return sorted(found)


def _number_field(
    name: str, kind: IntType | FloatType, storage: np.dtype[Any], values: Sequence[float]
) -> InputField:
    """Return how a number is drawn: ends of its range and of its storage, `values`, and neighbours of all."""
    if storage.kind == "f":
        info = np.finfo(storage)
        low, high = kind.low, kind.high
        if high / 2 - low / 2 > WIDE:  # almost all of that are numbers beyond all that is asked
            reach = 4 * max((abs(one) for one in values if abs(one) < WIDE), default=25)
            low, high = max(low, -reach), min(high, reach)
        special = [0.0, -0.0, float(info.smallest_subnormal), -float(info.smallest_subnormal)]
        special += [float(info.tiny), 1.0, -1.0, float(info.max), float(info.min)]
        asked = np.clip([*values, kind.low, kind.high, *special], info.min, info.max).astype(storage)
        with np.errstate(over="ignore", under="ignore"):
            beside = [np.nextafter(asked, storage.type(way * np.inf)) for way in (-1, 1)]
        pool = np.concatenate([asked, *beside])
        pool = pool[np.isfinite(pool)]
        return InputField(name, pool, low, high)
    bounds = np.iinfo(storage)
    whole = {0, 1, -1, int(kind.low), int(kind.high), int(bounds.min), int(bounds.max)}
    whole |= {int(found) for one in values for found in (math.floor(one), math.ceil(one)) if abs(one) < 2**40}
    near = {one + beside for one in whole for beside in (-1, 0, 1)}
    chosen = [min(max(one, int(bounds.min)), int(bounds.max)) for one in sorted(near)]
    low, high = max(int(kind.low), int(bounds.min)), min(int(kind.high), int(bounds.max))
    return InputField(name, np.unique(np.array(chosen, np.int64)).astype(storage), low, high)
