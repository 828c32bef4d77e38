"""The same inputs into the interpreter and into what was compiled, every state compared at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Flags
from posewright.codegen.proof.shrinking import shortest
from posewright.codegen.unit import Executable, Footprint, Records, Subject
from posewright.display import Lines, build_line, format_count, style_level, table

if TYPE_CHECKING:
    from posewright.codegen.proof.source_coverage import SourceCoverage


AFTER_FAILURE = 3
"""Ticks that are still run after one that failed: the status must stay."""


MOST_TICKS, MOST_INPUTS = 20, 12
"""Rows and columns of a mismatch that a person is shown: all are in its data."""

NEEDS = (
    *("flash_bytes", "ram_bytes", "image_flash_bytes", "image_ram_bytes", "stack_bytes"),
    *("step_cycles_mean", "step_cycles_worst", "counts"),
)
"""What is told of a Footprint."""


@dataclass(frozen=True, eq=False)
class Mismatch:
    """What one executable did otherwise than the interpreter, with the shortest inputs that show it.

    Attributes:
        executable: which one.
        inputs: from a reset on; the last tick differs.
        expected: what the interpreter did at these ticks.
        got: what the executable did.
    """

    executable: str
    inputs: Records
    expected: Records
    got: Records

    @property
    def fields(self) -> tuple[str, ...]:
        """What differs at the last tick."""
        names = self.expected.dtype.names or ()
        return tuple(
            name for name in names if self.expected[name][-1].tobytes() != self.got[name][-1].tobytes()
        )

    def table(self, subject: Subject) -> tuple[list[str], list[list[Any]]]:
        """Return heads and rows of a table for a person: inputs, states expected and got, what differs."""
        names = [name for name in self.inputs.dtype.names or () if self.inputs[name].any()][:MOST_INPUTS]
        words = [_state_words(subject, self.expected), _state_words(subject, self.got)]
        fields = [name for name in self.fields if name != "active"]
        heads = ["tick", *names, "expected", "got"]
        heads += [f"{name}{word}" for name in fields for word in ("", "\ngot")]
        rows: list[list[Any]] = []
        for tick in range(max(len(self.inputs) - MOST_TICKS, 0), len(self.inputs)):
            cells = [self.inputs[name][tick].tolist() for name in names]
            values = [run[name][tick].tolist() for name in fields for run in (self.expected, self.got)]
            rows.append([tick, *cells, *(states[tick] for states in words), *values])
        return heads, rows

    def data(self) -> dict[str, Any]:
        """Return it as plain data, tick by tick."""
        ticks = [
            {"inputs": plain(given), "expected": plain(wanted), "got": plain(found)}
            for given, wanted, found in zip(self.inputs, self.expected, self.got, strict=True)
        ]
        return {"executable": self.executable, "fields": list(self.fields), "ticks": ticks}


@dataclass(frozen=True, eq=False)
class Verification:
    """What came of a comparison.

    Attributes:
        subject: name of the chart or behaviour.
        target: what it was generated for.
        executables: names of all that were compared with the interpreter.
        steps: taken by each of them.
        mismatches: steps at which a state record was not the interpreter's, of all executables together.
        mismatch: the first one, made as short as can be.
        footprint: of the target; None where it does not know.
        failed: steps at which the interpreter itself failed (division by zero, a tick without end), as the
            executables did.
        transitions_taken: ways through the chart that the interpreter took; None for what has none.
        transitions: ways there are.
        ticks_from_player: how far servos of a behaviour were at most from where `control.Player` sends them.
    """

    subject: str
    target: str
    executables: tuple[str, ...]
    seed: int
    steps: int
    mismatches: int
    mismatch: Mismatch | None = None
    footprint: Footprint | None = None
    failed: int = 0
    transitions_taken: int | None = None
    transitions: int | None = None
    ticks_from_player: int | None = None

    @property
    def same(self) -> bool:
        """Whether all did the same at every step."""
        return self.mismatches == 0

    def data(self) -> dict[str, Any]:
        """Return the result as plain data; what the target does not know is None."""
        needs = self.footprint
        return {
            "subject": self.subject,
            "target": self.target,
            "executables": list(self.executables),
            "seed": self.seed,
            "steps": self.steps,
            "mismatches": self.mismatches,
            "failed": self.failed,
            "transitions_taken": self.transitions_taken,
            "transitions": self.transitions,
            "ticks_from_player": self.ticks_from_player,
            **{name: getattr(needs, name, None) for name in NEEDS},
            "mismatch": self.mismatch.data() if self.mismatch else None,
        }

    def lines(self, subject: Subject, coverage: SourceCoverage | None = None) -> Lines:
        """Yield what came of the comparison, for people.

        Args:
            subject: what was compared; it knows the names of the fields.
            coverage: which lines and branches of the C were run, where that was measured.
        """
        executables = " and ".join(self.executables)
        not_taken = (self.transitions or 0) - (self.transitions_taken or 0)
        verdict = style_level("failed" if not self.same else "warning" if not_taken else "ok")
        mismatches = f"{self.mismatches or 'no'} mismatch{'' if self.mismatches == 1 else 'es'}"
        steps = format_count(self.steps, "step")
        yield build_line(verdict, f" {self.subject}: {steps} on {executables}, {mismatches}")
        if self.transitions is not None:
            yield f"   {self.transitions_taken} of {self.transitions} transitions taken"
            if not_taken:
                yield "   what was never taken was not compared: more --steps may reach it"
        if self.failed:
            times = format_count(self.failed, "time")
            yield f"   {times} all stopped alike: division by zero, or a tick without end"
        footprint = self.footprint
        if footprint is not None:
            stack = "" if footprint.stack_bytes is None else f", stack {footprint.stack_bytes} bytes"
            yield f"   flash {footprint.flash_bytes} bytes, RAM {footprint.ram_bytes} bytes{stack}"
            if footprint.step_cycles_mean is not None:
                worst = f"the worst seen {footprint.step_cycles_worst}"
                yield f"   a step: {footprint.step_cycles_mean:.1f} {footprint.counts}, {worst}"
        if self.ticks_from_player is not None:
            yield f"   servos at most {self.ticks_from_player} of their ticks from the simulator's player"
        if coverage is not None:
            yield f"   lines of C run: {coverage.line_coverage:.1%}, branches: {coverage.branch_coverage:.1%}"
        if self.mismatch is not None:
            yield f"   {self.mismatch.executable} differs in {', '.join(self.mismatch.fields)}:"
            yield table(*self.mismatch.table(subject))


@dataclass(eq=False)
class Comparison:
    """Runs executables beside a reference, episode by episode.

    Attributes:
        reference: what is right.
        executables: what is compared with it, by name.
    """

    reference: Executable
    executables: Mapping[str, Executable]
    steps: int = 0
    mismatches: int = 0
    failed: int = 0
    first: tuple[str, Records] | None = field(default=None, init=False)

    def compare(self, episode: Records) -> int:
        """Compare what all do from a reset on; return how many steps were taken.

        An episode ends soon after a tick that fails, for nothing happens after it.
        """
        expected = run_from_reset(self.reference, episode)
        bad = np.flatnonzero(expected["status"])
        if len(bad):
            episode = episode[: bad[0] + 1 + AFTER_FAILURE]
            expected = expected[: len(episode)]
            self.failed += 1
        for name, executable in self.executables.items():
            different = differs(expected, run_from_reset(executable, episode))
            count = int(np.count_nonzero(different))
            if count and self.first is None:
                self.first = name, episode[: int(np.argmax(different)) + 1]
            self.mismatches += count
        self.steps += len(episode)
        return len(episode)

    def run(self, episodes: Iterator[Records], steps: int, on_progress: Callable[[int, int], None]) -> None:
        """Compare until so many steps were taken."""
        while self.steps < steps:
            self.compare(next(episodes)[: steps - self.steps])
            on_progress(self.steps, steps)

    def mismatch(self) -> Mismatch | None:
        """Return the first difference, as short as it can be made; None where there was none."""
        if self.first is None:
            return None
        name, episode = self.first
        executable = self.executables[name]

        def shows(inputs: Records) -> bool:
            return bool(self.compared(executable, inputs).any())

        inputs = shortest(episode, shows)
        inputs = inputs[: int(np.argmax(self.compared(executable, inputs))) + 1]
        expected, got = run_from_reset(self.reference, inputs), run_from_reset(executable, inputs)
        return Mismatch(name, inputs, expected, got)

    def compared(self, executable: Executable, inputs: Records) -> Flags:
        """Return at which ticks an executable differs from the reference."""
        return differs(run_from_reset(self.reference, inputs), run_from_reset(executable, inputs))


def run_from_reset(executable: Executable, inputs: Records) -> Records:
    """Return what an executable does with inputs after a reset."""
    executable.reset()
    return executable.run(inputs)


def differs(expected: Records, got: Records) -> Flags:
    """Return at which ticks two runs differ, bit for bit: 0.0 and -0.0 are two values."""
    size = expected.dtype.itemsize
    bytes_of: list[NDArray[np.uint8]] = [
        np.ascontiguousarray(records).view(np.uint8).reshape(-1, size) for records in (expected, got)
    ]
    different: Flags = (bytes_of[0] != bytes_of[1]).any(axis=1)
    return different


def plain(record: np.void) -> dict[str, Any]:
    """Return a record as plain data."""
    return {name: record[name].tolist() for name in record.dtype.names or ()}


def _state_words(subject: Subject, states: Records) -> list[str]:
    """Return the active states of each record, in words where it is a chart's."""
    form = getattr(subject.reference(), "form", None)
    if form is None:
        return [" ".join(map(str, record.tolist())) for record in states["active"]]
    nodes = form.machine.nodes[1:]
    active = (
        [node.name for node in nodes if bits[node.index // 8] >> node.index % 8 & 1]
        for bits in states["active"]
    )
    return ["+".join(names) or "-" for names in active]
