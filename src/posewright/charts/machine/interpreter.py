"""The interpreter of charts: a pure function from a Snapshot and inputs to the next Snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from posewright.charts.machine.columns import Column
from posewright.charts.machine.lowering import lower
from posewright.charts.machine.machine import Machine, Snapshot, make_getter
from posewright.charts.machine.microsteps import EntrySet
from posewright.charts.machine.native import TickInputs, native_machine
from posewright.charts.machine.node import ROOT, CompoundTransition, ResolvedTarget
from posewright.charts.machine.tick import Compute, TickExecution, evaluate_expression
from posewright.charts.model import Chart
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value, convert_value
from posewright.errors import InputError, UnknownNameError

MAX_CACHED_STEPS = 50_000
"""Steps in the cache of an interpreter."""

MAX_SMALL_TYPE_VALUES = 256
"""Values of a type up to which its inputs are likely to recur."""

NATIVE_CHUNK_ROWS = 4096
"""Rows passed to a compiled chart at a time."""


@dataclass(frozen=True)
class TickOutcome:
    """The result of a tick and how it came about.

    Attributes:
        after: the snapshot after the tick.
        taken_transitions: transitions that were taken, in order.
        raised: events that the chart raised, in order.
    """

    after: Snapshot
    taken_transitions: tuple[CompoundTransition, ...]
    raised: tuple[str, ...]


class _InputColumn(NamedTuple):
    """How an input is read from a row of values.

    Attributes:
        row_index: its index in the row.
        name: its name.
        exact_type: the Python type of values that need no conversion.
        low: the least of these values.
        high: the greatest of these values.
        input_type: its type in the chart.
    """

    row_index: int
    name: str
    exact_type: type
    low: Any
    high: Any
    input_type: Type


class Interpreter:
    """Runs a chart tick by tick.

    The same Snapshot and inputs always give the same result. If all inputs are of small types, results are
    cached, and a step that occurred before takes about a microsecond.

    Attributes:
        chart: the chart.
        machine: the lowered chart that is run.
    """

    def __init__(
        self, chart: Chart, machine: Machine | None = None, *, remember: bool = True, native: bool = False
    ) -> None:
        """Prepare a chart to be run.

        Args:
            chart: the chart.
            machine: its machine, if it was lowered before.
            remember: cache steps, if all inputs are of small types.
            native: run compiled C, with the same results and errors in less time. If nothing can compile the
                chart, there is a warning and it runs in Python.
        """
        self.chart = chart
        self.machine = lower(chart) if machine is None else machine
        self._row_names = (*chart.inputs, *chart.events)
        self._input_columns = [
            _InputColumn(index, name, *_exact_range(input_type), input_type)
            for index, (name, input_type) in enumerate(chart.inputs.items())
        ]
        # each event with its index in a row of values, in which the events follow the inputs
        self._event_columns = [*enumerate(chart.events, len(chart.inputs))]
        self._read_row = make_getter(self._row_names)  # the values of a mapping, in the order of the names
        caches_steps = remember and all(map(_is_small, chart.inputs.values()))
        self._caches_steps = caches_steps
        self._cached_row_length = len(self._row_names) if caches_steps else -1  # no row has a length of -1
        self._unique_snapshots: dict[object, Snapshot] = {}  # the one object that represents each snapshot
        self._n_cached_steps = 0
        self._native_machine = native_machine(self.machine) if native else None

    @property
    def is_native(self) -> bool:
        """Whether compiled C runs the chart."""
        return self._native_machine is not None

    def initial(self) -> Snapshot:
        """Return the snapshot before the first tick."""
        configuration = self.machine.planner.enter_chart().configuration
        return self._build_snapshot(configuration, started=False, values={})

    def snapshot_in(
        self, state: str, ticks_active: int | None = None, values: Mapping[str, Value] | None = None
    ) -> Snapshot:
        """Return a snapshot in which `state` is active and everything else is as at the start.

        Args:
            state: any state; its ancestors are active as well, and the initial states inside it.
            ticks_active: ticks for which it has been active; None for longer than any condition needs.
            values: values of outputs and locals that differ from those at the start.

        Raises:
            UnknownNameError: there is no such state, output or local.
            InputError: a value is of another type.
        """
        node = self.machine.node(state)
        empty_histories = dict.fromkeys(self.machine.histories, ())
        entry_set = EntrySet(self.machine.nodes, empty_histories)
        entry_set.add_targets((ResolvedTarget(node.index),), domain=ROOT)
        root = self.machine.nodes[ROOT]
        if root.parallel:  # the other regions of the chart are active as well
            entry_set.add_regions(root)
        counts: dict[str, Value] = {}
        for node_index in entry_set.entered:
            for counter in self.machine.nodes[node_index].counters:
                counts_since_entry = counter.condition is None and not counter.restarts
                if counts_since_entry:
                    count = counter.limit if ticks_active is None else max(ticks_active - 1, 0)
                    counts[counter.name] = min(count, counter.limit)
        leaves = tuple(
            sorted(node_index for node_index in entry_set.entered if self.machine.nodes[node_index].is_leaf)
        )
        variables = self._convert_variables(values or {})
        return self._build_snapshot(leaves, started=True, values={**counts, **variables})

    def _convert_variables(self, values: Mapping[str, object]) -> dict[str, Value]:
        """Return values of outputs and locals, checked and clamped to their ranges."""
        types = self.chart.variables
        for name in values:
            if name not in types:
                raise UnknownNameError.among("output or local", name, types)
        return {name: convert_value(name, types[name], value) for name, value in values.items()}

    def step(self, state: Snapshot, inputs: Mapping[str, object]) -> Snapshot:
        """Return the snapshot after one tick.

        Args:
            state: the snapshot before the tick, of this chart.
            inputs: the value of every input; and true for every event that occurs, others may be left out.

        Raises:
            InputError: an input is missing, unknown, or of another type; or the tick does not end.
            ExpressionError: a guard or an action divides by zero.
        """
        if state.cached_successors is not None and len(inputs) == self._cached_row_length:
            try:
                row = self._read_row(inputs)
                return state.cached_successors[row, tuple(map(type, row))]  # the types, since 1 equals true
            except (KeyError, TypeError):
                pass  # a new step, or a wrong input
        tick_inputs = self._convert_row(inputs)
        after = self._native_machine.step(state, tick_inputs) if self._native_machine is not None else None
        if after is None:  # without compiled code, or after an error in it: Python gives the message
            if state.machine is self.machine:
                tick = TickExecution(self.machine, state)
            else:
                tick = self._start_tick(state)
            after = tick.run(*tick_inputs)
        return self._cache_step(state, inputs, after) if self._caches_steps else after

    def outcome(
        self, state: Snapshot, inputs: Mapping[str, object], compute: Compute = evaluate_expression
    ) -> TickOutcome:
        """Return the snapshot after one tick, with the transitions taken and the events raised.

        Args:
            state: the snapshot before the tick, of this chart.
            inputs: the value of every input; and true for every event that occurs, others may be left out.
            compute: returns the value of an expression in an environment.

        Raises:
            InputError: an input is missing, unknown, or of another type; or the tick does not end.
            ExpressionError: a guard or an action divides by zero.
        """
        tick = self._start_tick(state, compute)
        after = tick.run(*self._convert_row(inputs))
        return TickOutcome(after, tuple(tick.taken_transitions), tuple(tick.raised_events))

    def run(
        self, inputs: Iterable[Mapping[str, object]], start: Snapshot | None = None
    ) -> Iterator[Snapshot]:
        """Yield the snapshot after each tick, one tick for each row of inputs.

        Args:
            inputs: for each tick the value of every input, and true for every event that occurs.
            start: the snapshot before the first row; None for the initial one.
        """
        state = self.initial() if start is None else start
        # rows of an iterator may depend on earlier snapshots, so only a sequence is run in chunks
        if self._native_machine is not None and isinstance(inputs, Sequence):
            yield from self._run_native(inputs, state)
            return
        for row in inputs:
            state = self.step(state, row)
            yield state

    def run_columns(
        self, columns: Mapping[str, Sequence[object] | Column], start: Snapshot | None = None
    ) -> dict[str, Column]:
        """Run a tick for each row of columns, and return the values after every tick as columns.

        A tick of a compiled chart takes well under a microsecond.

        Args:
            columns: for every input an array, `(n,)`, of booleans, numbers or names of an enumeration; events
                that are left out do not occur.
            start: the snapshot before the first row; None for the initial one.

        Returns:
            Outputs and locals by name, `(n,)`, names as text; and as `in.S` whether the state S is active.

        Raises:
            InputError: a column is missing, unknown, of another length, or has a wrong value, which is found
                before the first tick; or a tick does not end.
            ExpressionError: a guard or an action divides by zero.
        """
        from posewright.charts.machine.columns import convert_columns, snapshots_to_columns

        inputs = convert_columns(self.chart, columns)
        state = self.initial() if start is None else start
        self._require_own_snapshot(state)
        results = None if self._native_machine is None else self._native_machine.run_columns(state, inputs)
        if results is not None:
            return results
        row_values = zip(*(column.tolist() for column in inputs.values()), strict=True)
        rows = [dict(zip(inputs, values, strict=True)) for values in row_values]
        return snapshots_to_columns(self.machine, list(self.run(rows, state)))

    def _run_native(self, rows: Sequence[Mapping[str, object]], state: Snapshot) -> Iterator[Snapshot]:
        """Yield the snapshot after each tick, run by compiled code in chunks of rows.

        A chunk ends at a row with an error or at a tick that fails. If that is its first row, the row runs
        in Python, which raises the error.
        """
        n_rows_run = 0
        while n_rows_run < len(rows):
            self._require_own_snapshot(state)
            chunk = self._convert_rows(rows[n_rows_run : n_rows_run + NATIVE_CHUNK_ROWS])
            snapshots = self._native_machine.run(state, chunk) if self._native_machine is not None else []
            if not snapshots:
                snapshots = [self.step(state, rows[n_rows_run])]
            yield from snapshots
            state = snapshots[-1]
            n_rows_run += len(snapshots)

    def _convert_rows(self, rows: Iterable[Mapping[str, object]]) -> list[TickInputs]:
        """Return the inputs of rows up to the first row with an error."""
        converted = list[TickInputs]()
        for row in rows:
            try:
                converted.append(self._convert_row(row))
            except InputError:
                break
        return converted

    def _require_own_snapshot(self, state: Snapshot) -> None:
        """Raise an InputError unless a snapshot belongs to this chart."""
        if not state.is_of(self.machine):
            raise InputError(f"{state!r} belongs to another chart than {self.chart.name}")

    def _start_tick(self, state: Snapshot, compute: Compute = evaluate_expression) -> TickExecution:
        """Return a tick that starts in a snapshot of this chart and has not run yet."""
        self._require_own_snapshot(state)
        return TickExecution(self.machine, state, compute)

    def _cache_step(self, state: Snapshot, inputs: Mapping[str, object], after: Snapshot) -> Snapshot:
        """Cache a step in `state.cached_successors`, and return the one object that represents `after`.

        Equal snapshots are represented by one object, so that they share their cached successors. A full
        cache is emptied first. Steps in which events are left out are not cached.

        Args:
            state: the snapshot before the tick.
            inputs: the inputs of the tick.
            after: the snapshot after it.
        """
        if self._n_cached_steps >= MAX_CACHED_STEPS:
            for snapshot in (*self._unique_snapshots.values(), state):
                snapshot.cached_successors = None
            self._unique_snapshots.clear()
            self._n_cached_steps = 0
        value_types = tuple(map(type, after.values))  # since 1 equals True in Python
        after = self._unique_snapshots.setdefault((after.key, value_types), after)
        if len(inputs) == self._cached_row_length:
            row = self._read_row(inputs)
            if state.cached_successors is None:
                state.cached_successors = {}
            state.cached_successors[row, tuple(map(type, row))] = after
            self._n_cached_steps += 1
        return after

    def _build_snapshot(
        self, configuration: tuple[int, ...], *, started: bool, values: Mapping[str, Value]
    ) -> Snapshot:
        """Return a snapshot whose histories store nothing and whose registers have their start values.

        Args:
            configuration: the numbers of the active leaves.
            started: whether there was a tick yet.
            values: values of the registers that differ from their start values.
        """
        machine = self.machine
        registers = {**machine.start_values(configuration), **values}
        register_values = tuple(registers[name] for name in machine.registers)
        empty_history = tuple(() for _ in machine.histories)
        return Snapshot(machine, started, configuration, register_values, empty_history)

    def _convert_row(self, inputs: Mapping[str, object]) -> tuple[dict[str, Value], list[str]]:
        """Return the inputs, checked and clamped to their ranges, and the events that occur.

        Raises:
            InputError: an input is missing or unknown, or a value is of another type.
        """
        try:
            row = self._read_row(inputs)
        except KeyError:  # an event is left out, or an input is missing
            row = self._complete_row(inputs)
        if len(inputs) > len(row):  # the fast reader ignores unknown names, for which this raises an error
            row = self._complete_row(inputs)
        values: dict[str, Value] = {}
        for row_index, name, exact_type, low, high, input_type in self._input_columns:
            value = row[row_index]
            is_exact = type(value) is exact_type and low <= value <= high
            values[name] = value if is_exact else convert_value(name, input_type, value)
        events: list[str] = []
        for index, name in self._event_columns:
            occurs = row[index]
            # nearly all values are True or False, which need no conversion; 0 and 1 are allowed as well
            if occurs is True or (occurs is not False and convert_value(name, BoolType(), occurs)):
                events.append(name)
        return values, events

    def _complete_row(self, inputs: Mapping[str, object]) -> tuple[object, ...]:
        """Return the values of all inputs and events; an event that is missing does not occur."""
        for name in inputs:
            if name not in self._row_names:
                raise UnknownNameError.among("input", name, self._row_names)
        for name in self.chart.inputs:
            if name not in inputs:
                hint = f"inputs: {', '.join(self.chart.inputs)}"
                raise InputError(f"the input {name!r} is missing", hint=hint)
        return tuple([inputs.get(name, False) for name in self._row_names])


def _exact_range(input_type: Type) -> tuple[type, Any, Any]:
    """Return the Python type and the range of values that need no conversion; of no value, for some types."""
    if isinstance(input_type, IntType):
        return int, input_type.low, input_type.high
    if isinstance(input_type, FloatType) and not input_type.single:
        return float, input_type.low, input_type.high
    return (bool, False, True) if isinstance(input_type, BoolType) else (type(None), None, None)


def _is_small(input_type: Type) -> bool:
    """Return whether a type has few values, so that rows of inputs are likely to recur."""
    if isinstance(input_type, IntType):
        return input_type.high - input_type.low < MAX_SMALL_TYPE_VALUES
    return isinstance(input_type, BoolType | EnumType)
