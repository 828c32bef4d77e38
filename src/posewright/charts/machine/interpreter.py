"""Runs a chart: one pure function from a Snapshot and the inputs to the next Snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from posewright.charts.machine.columns import Column
from posewright.charts.machine.lowering import lower
from posewright.charts.machine.machine import Machine, Snapshot, values_of
from posewright.charts.machine.microsteps import Entering
from posewright.charts.machine.native import Given, native_machine
from posewright.charts.machine.node import CompoundTransition, ResolvedTarget
from posewright.charts.machine.tick import Compute, TickExecution, plain
from posewright.charts.model import Chart
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value, accept
from posewright.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    pass

MAX_REMEMBERED = 50_000
"""Steps of which an interpreter remembers the outcome."""

MAX_SMALL = 256
"""Values of a type up to which inputs are likely to come again."""

CHUNK = 4096
"""Rows that a compiled chart is given at once."""


@dataclass(frozen=True)
class Outcome:
    """What came of a step.

    Attributes:
        taken: ways that were taken, in order.
        raised: events that were raised inside, in order.
    """

    after: Snapshot
    taken: tuple[CompoundTransition, ...]
    raised: tuple[str, ...]


class Interpreter:
    """Steps a chart, tick by tick.

    The same Snapshot and inputs always give the same answer. Where all inputs are of small types it
    remembers what followed, and a step that was met before takes about a microsecond.
    """

    def __init__(
        self, chart: Chart, machine: Machine | None = None, *, remember: bool = True, native: bool = False
    ) -> None:
        """Make a chart ready.

        Args:
            chart: what to run.
            machine: its machine, where that was made already.
            remember: what followed on what, where all inputs are of small types.
            native: let compiled C take the steps: the same answers and errors, in less time. Where nothing
                can compile the chart, that is warned of, and it runs in Python.
        """
        self.chart = chart
        self.machine = lower(chart) if machine is None else machine
        self._names = (*chart.inputs, *chart.events)
        self._readers = [
            (k, name, *_exact(kind), kind) for k, (name, kind) in enumerate(chart.inputs.items())
        ]
        self._events = [*enumerate(chart.events, len(chart.inputs))]
        self._values_of = values_of(self._names)
        small = remember and all(map(_is_small, chart.inputs.values()))
        self._remembers = len(self._names) if small else -1
        self._known: dict[object, Snapshot] = {}
        self._remembered = 0
        self._native = native_machine(self.machine) if native else None

    @property
    def is_native(self) -> bool:
        """Whether compiled C takes the steps."""
        return self._native is not None

    def initial(self) -> Snapshot:
        """Return where the chart stands before its first tick."""
        return self._standing(self.machine.moves.first().configuration, started=False, held={})

    def entered(
        self, state: str, since: int | None = None, held: Mapping[str, Value] | None = None
    ) -> Snapshot:
        """Return a Snapshot in `state`, other things being as they are at the very start.

        Args:
            state: any state; of those around it and inside it the initial ones are active.
            since: ticks for which the state has been active; None for longer than anything in the chart asks.
            held: values of outputs and locals other than those they start with.

        Raises:
            UnknownNameError: there is no such state, output or local.
            InputError: a value is of another type.
        """
        node = self.machine.node(state)
        entering = Entering(self.machine.nodes, dict.fromkeys(self.machine.history, ()))
        entering.goals((ResolvedTarget(node.index),), 0)
        if self.machine.nodes[0].parallel:
            entering.regions(self.machine.nodes[0])
        limits = {
            counter.name: counter.limit if since is None else min(max(since - 1, 0), counter.limit)
            for number in entering.found
            for counter in self.machine.nodes[number].counters
            if counter.condition is None and not counter.again
        }
        leaves = tuple(sorted(number for number in entering.found if self.machine.nodes[number].is_leaf))
        return self._standing(leaves, started=True, held={**limits, **self._held(held or {})})

    def _held(self, held: Mapping[str, object]) -> dict[str, Value]:
        """Return values of outputs and locals, checked and within their ranges."""
        kinds = self.chart.variables
        for name in held:
            if name not in kinds:
                raise UnknownNameError.among("output or local", name, kinds)
        return {name: accept(name, kinds[name], value) for name, value in held.items()}

    def step(self, state: Snapshot, inputs: Mapping[str, object]) -> Snapshot:
        """Return where the chart stands after one tick.

        Args:
            state: where it stands before; of this chart.
            inputs: every input, and events that came as true; events that are not there did not come.

        Raises:
            InputError: an input is missing, unknown, or of another type; or the tick does not end.
            ExpressionError: a guard or an action divides by zero.
        """
        if state.following is not None and len(inputs) == self._remembers:
            try:
                values = self._values_of(inputs)
                return state.following[values, tuple(map(type, values))]  # for Python, 1 equals true
            except (KeyError, TypeError):
                pass  # not met before, or not what it should be
        given = self._given(inputs)
        after = self._native.step(state, given) if self._native is not None else None
        if after is None:  # also where a tick goes wrong: Python says how
            tick = TickExecution(self.machine, state) if state.machine is self.machine else self._tick(state)
            after = tick.run(*given)
        return after if self._remembers < 0 else self._kept(state, inputs, after)

    def outcome(self, state: Snapshot, inputs: Mapping[str, object], compute: Compute = plain) -> Outcome:
        """Return what comes of one tick, and how; `compute` is asked for the value of every expression.

        Raises:
            InputError: as `step`.
            ExpressionError: as `step`.
        """
        tick = self._tick(state, compute)
        after = tick.run(*self._given(inputs))
        return Outcome(after, tuple(tick.taken), tuple(tick.raised))

    def run(
        self, inputs: Iterable[Mapping[str, object]], start: Snapshot | None = None
    ) -> Iterator[Snapshot]:
        """Yield the Snapshot after each tick, one tick for each row of inputs."""
        state = self.initial() if start is None else start
        if self._native is not None and isinstance(
            inputs, Sequence
        ):  # else a row may hang on what was before
            yield from self._run_native(inputs, state)
            return
        for row in inputs:
            state = self.step(state, row)
            yield state

    def run_columns(
        self, columns: Mapping[str, Sequence[object] | Column], start: Snapshot | None = None
    ) -> dict[str, Column]:
        """Take a tick for each row of whole columns, and return what every tick left behind as columns.

        Compiled, a tick takes well under a microsecond this way.

        Args:
            columns: for every input an array, `(n,)`, of booleans, numbers or names of an enumeration;
                events that are left out do not come.
            start: where to start; None for the very start.

        Returns:
            Outputs and locals by name, `(n,)`, names as text; and as `in.S` whether the state S is active.

        Raises:
            InputError: a column is missing, unknown, of another length, or holds what does not fit, which is
                found before the first tick; or a tick does not end.
            ExpressionError: a guard or an action divides by zero.
        """
        from posewright.charts.machine.columns import accept_columns, columns_of

        accepted = accept_columns(self.chart, columns)
        state = self.initial() if start is None else start
        self._tick(state)
        found = None if self._native is None else self._native.run_columns(state, accepted)
        if found is not None:
            return found
        values = zip(*(column.tolist() for column in accepted.values()), strict=True)
        rows = [dict(zip(accepted, row, strict=True)) for row in values]
        return columns_of(self.machine, list(self.run(rows, state)))

    def _run_native(self, rows: Sequence[Mapping[str, object]], state: Snapshot) -> Iterator[Snapshot]:
        """Yield the Snapshot after each tick; where compiled code cannot say, Python takes the tick."""
        place = 0
        while place < len(rows):
            self._tick(state)
            given = self._all_given(rows[place : place + CHUNK])
            found = self._native.run(state, given) if self._native is not None else []
            if not found:
                found = [self.step(state, rows[place])]
            yield from found
            state = found[-1]
            place += len(found)

    def _all_given(self, rows: Iterable[Mapping[str, object]]) -> list[Given]:
        """Return the inputs of rows up to the first that is refused."""
        found = list[Given]()
        for row in rows:
            try:
                found.append(self._given(row))
            except InputError:
                break
        return found

    def _tick(self, state: Snapshot, compute: Compute = plain) -> TickExecution:
        if not state.is_of(self.machine):
            raise InputError(f"{state!r} is a state of another chart than {self.chart.name}")
        return TickExecution(self.machine, state, compute)

    def _kept(self, state: Snapshot, inputs: Mapping[str, object], after: Snapshot) -> Snapshot:
        """Return what follows on a state and inputs, which is remembered."""
        if self._remembered >= MAX_REMEMBERED:
            for known in (*self._known.values(), state):
                known.following = None
            self._known.clear()
            self._remembered = 0
        types = tuple(map(type, after.values))  # for Python, 1 equals true
        after = self._known.setdefault((after.key, types), after)
        if len(inputs) == self._remembers:
            given = self._values_of(inputs)
            following = state.following
            if following is None:
                following = state.following = {}
            following[given, tuple(map(type, given))] = after
            self._remembered += 1
        return after

    def _standing(
        self, configuration: tuple[int, ...], *, started: bool, held: Mapping[str, Value]
    ) -> Snapshot:
        machine = self.machine
        start = {**machine.start(configuration), **held}
        values = tuple(start[name] for name in machine.registers)
        return Snapshot(machine, started, configuration, values, tuple(() for _ in machine.history))

    def _given(self, inputs: Mapping[str, object]) -> tuple[dict[str, Value], list[str]]:
        """Return the inputs, checked and within their ranges, and the events that came."""
        try:
            given = self._values_of(inputs)
        except KeyError:
            given = self._filled(inputs)
        if len(inputs) > len(given):
            given = self._filled(inputs)
        values: dict[str, Value] = {}
        for at, name, exact, low, high, kind in self._readers:
            value = given[at]
            inside = type(value) is exact and low <= value <= high
            values[name] = value if inside else accept(name, kind, value)
        events: list[str] = []
        for at, name in self._events:
            came = given[at]
            if came is True or (came is not False and accept(name, BoolType(), came)):
                events.append(name)
        return values, events

    def _filled(self, inputs: Mapping[str, object]) -> tuple[object, ...]:
        """Return the values of all inputs and events: events that are not there did not come."""
        for name in inputs:
            if name not in self._names:
                raise UnknownNameError.among("input", name, self._names)
        for name in self.chart.inputs:
            if name not in inputs:
                raise InputError(
                    f"the input {name!r} is missing", hint=f"inputs: {', '.join(self.chart.inputs)}"
                )
        return tuple([inputs.get(name, False) for name in self._names])


def _exact(kind: Type) -> tuple[type, Any, Any]:
    """Return which values are taken as they are: of which type, from where to where; no other needs to be."""
    if isinstance(kind, IntType):
        return int, kind.low, kind.high
    if isinstance(kind, FloatType) and not kind.single:
        return float, kind.low, kind.high
    return (bool, False, True) if isinstance(kind, BoolType) else (type(None), None, None)


def _is_small(kind: Type) -> bool:
    if isinstance(kind, IntType):
        return kind.high - kind.low < MAX_SMALL
    return isinstance(kind, BoolType | EnumType)
