"""The interpreter as an executable: what every other one is proved against."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from posewright.charts.machine import Interpreter, Monitor, Snapshot
from posewright.charts.types import EnumType, Value
from posewright.codegen.proof.streams import rows_of
from posewright.codegen.records import ACTIVE, BROKEN, RecordFormat
from posewright.codegen.unit import Records
from posewright.errors import ExpressionError, InputError

OK, DIVISION_BY_ZERO, ENDLESS = 0, 1, 2
"""What `status` of a state record says of a tick."""

MAX_REMEMBERED = 300_000
"""Steps of which the outcome is remembered; each takes some 200 bytes."""


class StateLayout:
    """Packs a Snapshot as a state record, some ten times as fast as NumPy."""

    def __init__(self, form: RecordFormat) -> None:
        machine, states = form.machine, form.states
        self.bitmap_bytes = states[ACTIVE].itemsize
        self.broken_bytes = states[BROKEN].itemsize if form.monitors else 0
        types = [machine.types[name] for name in machine.registers]
        self.codes = [kind.codes if isinstance(kind, EnumType) else None for kind in types]
        self.registers = struct.Struct("<" + "".join(states[name].char for name in form.field_of.values()))

    def packed(self, state: Snapshot, broken: Collection[int] = ()) -> bytes:
        """Return the record of a state, `status` left out."""
        values = [
            value if codes is None else codes[value]  # type: ignore[index]
            for value, codes in zip(state.values, self.codes, strict=True)
        ]
        active = self.bitmap((0, *state.machine.planner.active_nodes(state.configuration)))
        remembered = b"".join(map(self.bitmap, state.history))
        told = sum(1 << number for number in broken).to_bytes(self.broken_bytes, "little")
        return active + self.registers.pack(*values) + remembered + told

    def bitmap(self, numbers: Collection[int]) -> bytes:
        """Return a set of nodes, bit k of byte n being the node 8 n + k."""
        return sum(1 << number for number in numbers).to_bytes(self.bitmap_bytes, "little")


@dataclass(eq=False)
class _Place:
    """Where the interpreter stands, and what follows on it.

    Attributes:
        packed: the record, `status` left out.
        ages: of the monitor: ticks for which answers have been owed.
        broken: promises that are broken.
        following: by input record.
    """

    state: Snapshot
    packed: bytes
    ages: tuple[int, ...] = ()
    broken: frozenset[int] = frozenset()
    status: int = OK
    following: dict[bytes, _Place] = field(default_factory=dict)


class InterpreterRun:
    """The plain interpreter as an executable: records in, records out.

    What follows on a state and an input record is remembered, so that a chart of small types takes about a
    microsecond a step.

    Attributes:
        taken: ways that were taken since it was made, by the numbers of their states and among its ways.
    """

    def __init__(self, form: RecordFormat) -> None:
        """Make the machine of a record format ready; with monitors its promises are watched."""
        self.form = form
        self.machine = machine = form.machine
        self.layout = StateLayout(form)
        self.interpreter = Interpreter(machine.chart, machine, remember=False)
        self.taken: set[tuple[int, int]] = set()
        self.places: dict[object, _Place] = {}
        self.remembered = 0
        start = self.interpreter.initial()
        self.start = self.place = _Place(
            start, self.layout.packed(start), ages=(0,) * len(machine.chart.promises)
        )

    def reset(self) -> None:
        """Go back to before the first tick."""
        self.place = self.start

    def run(self, inputs: Records) -> Records:
        """Take one tick for each record of inputs and return the state after each."""
        size, given = inputs.dtype.itemsize, np.ascontiguousarray(inputs).tobytes()
        place, found = self.place, list[bytes]()
        for number in range(len(inputs)):
            record = given[number * size : (number + 1) * size] if size else b""
            following = place.following.get(record)
            if following is None:
                following = self.step(place, record, inputs[number : number + 1])
            place = following
            found.append(bytes((place.status,)) + place.packed)
        self.place = place
        return np.frombuffer(b"".join(found), self.form.states)

    def step(self, place: _Place, record: bytes, inputs: Records) -> _Place:
        """Return where the chart stands after one tick, and remember it."""
        if place.status != OK:
            return place
        row = next(rows_of(self.machine.chart, inputs))
        try:
            outcome = self.interpreter.outcome(place.state, row)
        except ExpressionError:
            following = self.failed(place, DIVISION_BY_ZERO)
        except InputError:
            following = self.failed(place, ENDLESS)
        else:
            self.taken |= {(way.source, way.index) for way in outcome.taken_transitions}
            following = self.watched(place, row, outcome.after)
        return self.kept(place, record, following)

    def failed(self, place: _Place, status: int) -> _Place:
        """Return the place in which a tick that fails leaves the chart: as before, but for the status."""
        return _Place(place.state, place.packed, place.ages, place.broken, status)

    def watched(self, place: _Place, row: Mapping[str, Value], after: Snapshot) -> _Place:
        """Return the place after a tick, the promises having been asked where they are watched."""
        if not self.form.monitors:
            return _Place(after, self.layout.packed(after))
        monitor = Monitor(self.machine.chart, place.state)
        monitor.ages = list(place.ages)
        try:
            monitor.check_tick(row, after)
        except ExpressionError:
            return self.failed(place, DIVISION_BY_ZERO)
        broken = frozenset(monitor.broken)
        return _Place(after, self.layout.packed(after, broken), tuple(monitor.ages), broken)

    def kept(self, place: _Place, record: bytes, following: _Place) -> _Place:
        """Return what follows, the same object for the same place, and remember it."""
        if self.remembered >= MAX_REMEMBERED:
            for known in (*self.places.values(), self.start, place):
                known.following = {}
            self.places.clear()
            self.remembered = 0
        key = (following.packed, following.ages, following.status)
        following = self.places.setdefault(key, following)
        place.following[record] = following
        self.remembered += 1
        return following

    def close(self) -> None:
        """Forget what followed on what."""
        self.places.clear()
