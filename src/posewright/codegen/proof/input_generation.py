"""Random inputs that reach every transition and every value at which something changes."""

from __future__ import annotations

import itertools
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

BUDGET = ExplorationLimits(max_cases=12_000, max_work=400_000)
"""Limits of the exploration of a chart, some 3 s, as counts, so that a seed always gives the same stream."""

SHORTEST_EPISODE = 10
LONGEST_EPISODE = 2000
"""Most ticks between two resets: enough for the timers of a chart, and few enough to be reduced."""

MAX_ENDURANCE = 5000
"""Most ticks of an episode that repeats one pattern, to count up to the numbers in a chart."""

MIN_COUNT = 50
"""Numbers below this are reached by other episodes."""

EPISODES_PER_REPETITION = 8
"""One of this many episodes repeats a pattern."""

LONGEST_SEGMENT = 500
"""Greatest number of ticks with the same probabilities."""

SHARE_FROM_POOL = 0.4
"""Share of values taken from those at which something may change."""

SHARE_WITHOUT_BEGINNING = 0.3
"""Share of random episodes that do not begin like a run of the exploration."""

SHARE_OF_RUN_PARTS = 0.4
"""Share of segments that are parts of runs of the exploration."""

SHARE_OF_CHANGED_PARTS = 0.6
"""Share of these parts in which one input is drawn anew."""

CHANGE_PROBABILITIES = (0.0, 0.03, 0.3, 1.0)
"""Probabilities of a change at a tick, one of them for a segment; with 0 timers run out."""

WIDE = 1e9
"""Half the width of a range beyond which numbers are drawn near the chart's constants only."""

SLOW_CHANGE_PROBABILITIES = (0.0, 0.005, 0.05, 0.5)
"""The same for sensors that are read in every servo frame."""

EVENT_PROBABILITIES = (0.0, 0.0, 0.02, 0.2, 0.8)
"""Probabilities of an event at a tick, one of them for a segment."""


@dataclass(frozen=True, eq=False)
class InputField:
    """The distribution of a field of an input record.

    A stream of inputs is divided into segments, in each of which a field has one probability of change.

    Attributes:
        name: the name of the field.
        pool: values at which something may change, of the field's type.
        low: lower bound of other values.
        high: upper bound of other values.
        change_probabilities: probabilities of a new value at a tick, one of them for a segment.
    """

    name: str
    pool: Column
    low: float
    high: float
    change_probabilities: tuple[float, ...] = CHANGE_PROBABILITIES

    def draw(self, n: int, rng: np.random.Generator) -> Column:
        """Return random values, `(n,)`."""
        pool_values: Column = self.pool[rng.integers(len(self.pool), size=n)]
        if self.low == self.high:
            return pool_values
        dtype = self.pool.dtype
        if dtype.kind == "f":
            # halves, since high - low may be infinite
            numbers = self.low + rng.random(n) * (self.high / 2 - self.low / 2) * 2
            range_values = np.clip(numbers, self.low, self.high).astype(dtype)
        else:
            range_values = rng.integers(int(self.low), int(self.high), size=n, endpoint=True).astype(dtype)
        return np.where(rng.random(n) < SHARE_FROM_POOL, pool_values, range_values).astype(dtype)

    def draw_segment(self, n: int, rng: np.random.Generator) -> Column:
        """Return the values of a segment, `(n,)`, which change with a probability that is drawn first."""
        probability = self.change_probabilities[rng.integers(len(self.change_probabilities))]
        is_change = rng.random(n) < probability
        value_index = np.cumsum(is_change)  # of the value at each tick
        n_values = int(value_index[-1]) + 1
        return self.draw(n_values, rng)[value_index]


@dataclass(frozen=True)
class EventField(InputField):
    """The distribution of an event."""

    def draw_segment(self, n: int, rng: np.random.Generator) -> Column:
        """Return at which ticks of a segment the event occurs, `(n,)`."""
        thresholds = rng.random(n)
        probability = EVENT_PROBABILITIES[rng.integers(len(EVENT_PROBABILITIES))]
        return (thresholds < probability).astype(np.uint8)


def chart_fields(record_format: RecordFormat, runs: Sequence[Records] = ()) -> tuple[InputField, ...]:
    """Return the distributions of the inputs of a chart.

    Args:
        record_format: format of the chart's records.
        runs: runs whose values are added to the pools, with their neighbours.
    """
    machine = record_format.machine
    literals = find_literals(machine)
    fields: list[InputField] = []
    for name, input_type in machine.inputs.items():
        dtype = record_format.input_dtype[name]
        if isinstance(input_type, BoolType | EnumType):
            last_code = 1 if isinstance(input_type, BoolType) else len(input_type.values) - 1
            codes = np.arange(last_code + 1).astype(dtype)
            fields.append(InputField(name, pool=codes, low=0, high=last_code))
        else:
            run_values = [float(value) for run in runs for value in np.unique(run[name])]
            fields.append(_number_field(name, input_type, storage=dtype, values=[*literals, *run_values]))
    events = [EventField(name, pool=np.array([0, 1], np.uint8), low=0, high=1) for name in machine.events]
    return (*fields, *events)


def number_fields(dtype: np.dtype[np.void], values: Sequence[float]) -> tuple[InputField, ...]:
    """Return the distributions of sensor numbers near `values`, which change less often than inputs.

    A behaviour takes a step in each servo frame, of which its chart reads one in a dozen.
    """
    float_type = FloatType()
    return tuple(
        replace(
            _number_field(name, float_type, storage=dtype[name], values=values),
            change_probabilities=SLOW_CHANGE_PROBABILITIES,
        )
        for name in dtype.names or ()
    )


def covering_runs(chart: Chart) -> list[tuple[Mapping[str, Value], ...]]:
    """Return runs, as rows of inputs, that take every transition found within the `BUDGET`."""
    # imported here, because running a chart on a board needs neither
    from posewright.charts.coverage.feasibility import compute_feasible_coverage
    from posewright.charts.coverage.scenario_generation import CoveringRuns

    generator = CoveringRuns(compute_feasible_coverage(explore(chart, limits=BUDGET)))
    generator.generate()
    return [run.rows for run in generator.runs]


def rows_of(chart: Chart, records: Records) -> Iterator[dict[str, Any]]:
    """Yield, for each record, the values of the chart's inputs and events by name."""
    types: dict[str, Type] = {**chart.inputs, **dict.fromkeys(chart.events, BoolType())}
    columns: list[list[Any]] = []
    for name, value_type in types.items():
        stored_values = records[name].tolist()
        if isinstance(value_type, BoolType):
            columns.append([value != 0 for value in stored_values])
        elif isinstance(value_type, EnumType):
            columns.append([value_type.values[code] for code in stored_values])
        else:
            columns.append(stored_values)
    # `zip` of no columns would have no rows at all
    rows = zip(*columns, strict=True) if columns else [()] * len(records)
    for values in rows:
        yield dict(zip(types, values, strict=True))


@dataclass(frozen=True, eq=False)
class InputStream:
    """Draws inputs, episode by episode; each begins after a reset.

    The first episodes are the runs that together take every transition found by the exploration. Random
    episodes follow: beginnings of such runs, parts of them with an input drawn again, and segments in which
    inputs stay the same or change quickly.

    Attributes:
        dtype: the dtype of a record.
        fields: distributions of the fields.
        runs: runs from a reset on that reach what random inputs hardly reach; empty for random inputs only.
        max_segment_ticks: greatest number of ticks of a segment.
        repetition_ticks: number of ticks of episodes that repeat a pattern, so that counters reach their
            limits; 0 for none.
    """

    dtype: np.dtype[np.void]
    fields: tuple[InputField, ...]
    runs: tuple[Records, ...] = ()
    max_segment_ticks: int = 60
    repetition_ticks: int = 0

    def episodes(self, seed: int) -> Iterator[Records]:
        """Yield episodes without end, the same ones for the same seed."""
        rng = np.random.default_rng(seed)
        yield from self.runs
        for number in itertools.count():
            if self.repetition_ticks and self.fields and number % EPISODES_PER_REPETITION == 0:
                yield self._draw_repetition(number // EPISODES_PER_REPETITION, rng)
                continue
            # lengths from 10 to 100 are as likely as those from 100 to 1000
            length = int(math.exp(rng.uniform(math.log(SHORTEST_EPISODE), math.log(LONGEST_EPISODE))))
            parts = [self._draw_beginning_of_run(rng)]
            while (n_ticks_left := length - sum(map(len, parts))) > 0:
                parts.append(self._draw_segment_of_all_fields(n_ticks_left, rng))
            yield np.concatenate(parts)[:length]

    def take_records(self, steps: int, seed: int) -> Records:
        """Return the first `steps` records of the episodes, joined, `(steps,)`."""
        parts = [np.zeros(0, self.dtype)]
        n_records = 0
        for episode in self.episodes(seed):
            parts.append(episode[: steps - n_records])
            n_records += len(parts[-1])
            if n_records >= steps:
                break
        return np.concatenate(parts)

    def _draw_beginning_of_run(self, rng: np.random.Generator) -> Records:
        """Return the beginning of a random run, or no record."""
        if not self.runs or rng.random() < SHARE_WITHOUT_BEGINNING:
            return np.zeros(0, self.dtype)
        run = self.runs[rng.integers(len(self.runs))]
        return run[: rng.integers(1, len(run), endpoint=True)]

    def _draw_repetition(self, index: int, rng: np.random.Generator) -> Records:
        """Return an episode in which some inputs stay on, or alternate, while all others are zero.

        In turn, every single input is on, then every pair, then all but one. After all of these, the same
        inputs are on at every other tick only, and so on.

        Args:
            index: the index of the episode among those of this kind, from 0.
            rng: the random generator.
        """
        sizes = {1, min(2, len(self.fields)), max(len(self.fields) - 1, 1)}
        choices = [choice for size in sorted(sizes) for choice in itertools.combinations(self.fields, size)]
        chosen_fields = choices[index % len(choices)]
        alternates = index // len(choices) % 2 == 1
        records = np.zeros(self.repetition_ticks, self.dtype)
        is_on = np.ones(self.repetition_ticks, bool)
        if alternates:
            is_on[1::2] = False  # at every other tick
        for field in chosen_fields:
            is_boolean = field.low == 0 and field.high == 1
            records[field.name][is_on] = 1 if is_boolean else rng.choice(field.pool)
        return np.concatenate([self._draw_beginning_of_run(rng), records])

    def _draw_segment_of_all_fields(self, max_ticks: int, rng: np.random.Generator) -> Records:
        """Return part of a run, or records in which each field has one probability of change."""
        if self.runs and rng.random() < SHARE_OF_RUN_PARTS:
            return self._draw_part_of_run(max_ticks, rng)
        n = min(max_ticks, int(math.exp(rng.uniform(0, math.log(self.max_segment_ticks)))))
        records = np.zeros(n, self.dtype)
        for field in self.fields:
            records[field.name] = field.draw_segment(n, rng)
        return records

    def _draw_part_of_run(self, max_ticks: int, rng: np.random.Generator) -> Records:
        """Return a random part of a run of the exploration, often with one input in it drawn anew."""
        run = self.runs[rng.integers(len(self.runs))]
        begin = rng.integers(len(run))
        part = run[begin : begin + rng.integers(1, max_ticks, endpoint=True)].copy()
        if self.fields and rng.random() < SHARE_OF_CHANGED_PARTS:
            field = self.fields[rng.integers(len(self.fields))]
            part[field.name] = field.draw_segment(len(part), rng)
        return part


def chart_stream(record_format: RecordFormat, *, covering: bool = True) -> InputStream:
    """Return the stream of inputs of a chart.

    Args:
        record_format: format of its records.
        covering: whether to explore the chart for runs that take every transition.
    """
    machine = record_format.machine
    runs = tuple(record_format.pack(run) for run in covering_runs(machine.chart)) if covering else ()
    # long enough for every timer of the chart to run out
    max_segment_ticks = 2 * max((counter.limit for counter in machine.counters), default=0) + 60
    fields = chart_fields(record_format, runs)
    return InputStream(
        record_format.input_dtype,
        fields,
        runs,
        max_segment_ticks=min(max_segment_ticks, LONGEST_SEGMENT),
        repetition_ticks=_choose_repetition_ticks(machine),
    )


def _choose_repetition_ticks(machine: Machine) -> int:
    """Return for how many ticks inputs must be repeated so that counters reach the large numbers of a chart.

    These are the numbers from `MIN_COUNT` on in its expressions, and the limits of its counters. It is 0 for
    a chart that does not count or has no such number.
    """
    has_counters = any(isinstance(machine.types[name], IntType) for name in machine.registers)
    counts = [number for number in find_literals(machine) if MIN_COUNT <= number <= MAX_ENDURANCE / 2]
    counts += [counter.limit for counter in machine.counters if counter.limit >= MIN_COUNT]
    if not counts or not (has_counters or machine.counters):
        return 0
    return min(2 * int(max(counts)) + 60, MAX_ENDURANCE)


def find_literals(machine: Machine) -> list[float]:
    """Return all numbers in the chart's expressions, ascending."""
    numbers: set[float] = set()
    for expression in machine.expressions:
        pending = [expression.tree]
        while pending:
            node = pending.pop()
            pending.extend(children(node))
            if isinstance(node, Literal) and isinstance(node.value, int | float):
                numbers.add(float(node.value))
        numbers |= {
            float(value) for value in expression.constant_values.values() if isinstance(value, int | float)
        }
    return sorted(numbers)


def _number_field(
    name: str, number_type: IntType | FloatType, storage: np.dtype[Any], values: Sequence[float]
) -> InputField:
    """Return the distribution of a number.

    Its pool has the bounds of the type and of its storage, `values`, and the neighbours of all of these.

    Args:
        name: the name of the field.
        number_type: type of the input.
        storage: type in which the record has it.
        values: numbers at which something may change, such as the constants of a chart.
    """
    if storage.kind == "f":
        return _float_field(name, number_type, storage, values)
    storage_low = int(np.iinfo(storage).min)
    storage_high = int(np.iinfo(storage).max)
    integers = {0, 1, -1, int(number_type.low), int(number_type.high), storage_low, storage_high}
    for value in values:
        if abs(value) < 2**40:  # greater ones, and infinity, are beyond every storage type
            integers |= {math.floor(value), math.ceil(value)}
    neighbours = {integer + offset for integer in integers for offset in (-1, 0, 1)}
    pool = [min(max(integer, storage_low), storage_high) for integer in sorted(neighbours)]
    low = max(int(number_type.low), storage_low)
    high = min(int(number_type.high), storage_high)
    return InputField(name, np.unique(np.array(pool, np.int64)).astype(storage), low, high)


def _float_field(
    name: str, number_type: IntType | FloatType, storage: np.dtype[Any], values: Sequence[float]
) -> InputField:
    """Return the distribution of a float: a pool of critical values and their neighbours, and a range.

    The arguments are those of `_number_field`.
    """
    info = np.finfo(storage)
    low = number_type.low
    high = number_type.high
    if high / 2 - low / 2 > WIDE:  # most of such a range lies far beyond the chart's constants
        range_bound = 4 * max((abs(value) for value in values if abs(value) < WIDE), default=25)
        low = max(low, -range_bound)
        high = min(high, range_bound)
    special_values = [0.0, -0.0, float(info.smallest_subnormal), -float(info.smallest_subnormal)]
    special_values += [float(info.tiny), 1.0, -1.0, float(info.max), float(info.min)]
    candidates = [*values, number_type.low, number_type.high, *special_values]
    critical_values = np.clip(candidates, info.min, info.max).astype(storage)
    with np.errstate(over="ignore", under="ignore"):
        below = np.nextafter(critical_values, storage.type(-np.inf))
        above = np.nextafter(critical_values, storage.type(np.inf))
    pool = np.concatenate([critical_values, below, above])
    return InputField(name, pool[np.isfinite(pool)], low, high)
