"""Comparison of executables with a reference, state by state, and its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Flags
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.proof.shrinking import shrink
from posewright.codegen.unit import Executable, Footprint, Records, UnitSpec
from posewright.display import Lines, build_line, format_count, style_level, table

if TYPE_CHECKING:
    from posewright.codegen.proof.source_coverage import SourceCoverage


AFTER_FAILURE = 3
"""Ticks that are still run after a failed one, since the status must stay."""


MAX_TICKS_SHOWN = 20
MAX_INPUTS_SHOWN = 12
"""Rows and columns of the table of a mismatch; its data has all of them."""


@dataclass(frozen=True, eq=False)
class Mismatch:
    """A difference between an executable and the interpreter, with short inputs that show it.

    Attributes:
        executable: name of the executable.
        inputs: the inputs from a reset on; the last tick differs.
        expected: the interpreter's states at these ticks.
        got: the executable's states at these ticks.
    """

    executable: str
    inputs: Records
    expected: Records
    got: Records

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that differ at the last tick."""
        names = self.expected.dtype.names or ()
        return tuple(
            name for name in names if self.expected[name][-1].tobytes() != self.got[name][-1].tobytes()
        )

    def table(self, unit_spec: UnitSpec) -> tuple[list[str], list[list[Any]]]:
        """Return headers and rows of a table of the last `MAX_TICKS_SHOWN` ticks, a row each.

        The columns are the first inputs that are not always 0, the active states expected and got, and both
        values of each field that differs at the last tick.
        """
        nonzero_names = [name for name in self.inputs.dtype.names or () if self.inputs[name].any()]
        input_names = nonzero_names[:MAX_INPUTS_SHOWN]
        expected_states = _active_states(unit_spec, self.expected)
        got_states = _active_states(unit_spec, self.got)
        # the active states have columns of their own
        differing_fields = [name for name in self.fields if name != "active"]
        headers = ["tick", *input_names, "expected", "got"]
        for name in differing_fields:
            headers += [name, f"{name}\ngot"]
        rows: list[list[Any]] = []
        first_tick = max(len(self.inputs) - MAX_TICKS_SHOWN, 0)
        for tick in range(first_tick, len(self.inputs)):
            row = [tick, *(self.inputs[name][tick].tolist() for name in input_names)]
            row += [expected_states[tick], got_states[tick]]
            for name in differing_fields:
                row += [self.expected[name][tick].tolist(), self.got[name][tick].tolist()]
            rows.append(row)
        return headers, rows

    def data(self) -> dict[str, Any]:
        """Return it as plain data, tick by tick."""
        ticks = [
            {"inputs": record_data(inputs), "expected": record_data(expected), "got": record_data(got)}
            for inputs, expected, got in zip(self.inputs, self.expected, self.got, strict=True)
        ]
        return {"executable": self.executable, "fields": list(self.fields), "ticks": ticks}


@dataclass(frozen=True, eq=False)
class Verification:
    """The result of a comparison.

    Attributes:
        name: name of the chart or behaviour.
        target: name of the target.
        executables: names of the executables compared with the interpreter.
        seed: the seed of the inputs.
        steps: number of steps of each executable.
        mismatches: number of state records that differ from the interpreter's, of all executables.
        mismatch: the first difference, with short inputs.
        footprint: the footprint of the target; None where it was not measured.
        n_failed_episodes: number of episodes that ended with a tick at which the interpreter failed (division
            by zero, an endless tick) and the executables had to fail.
        transitions_taken: number of transitions of the chart that were taken; None for a behaviour.
        transitions: number of transitions of the chart; None for a behaviour.
        ticks_from_player: greatest distance of servo goals of a behaviour from those of `Player` [ticks].
        changed_files: sentences about files of a verified folder that are not as they were generated; None
            where the C was generated for the comparison.
    """

    name: str
    target: str
    executables: tuple[str, ...]
    seed: int
    steps: int
    mismatches: int
    mismatch: Mismatch | None = None
    footprint: Footprint | None = None
    n_failed_episodes: int = 0
    transitions_taken: int | None = None
    transitions: int | None = None
    ticks_from_player: int | None = None
    changed_files: tuple[str, ...] | None = None

    @property
    def same(self) -> bool:
        """Whether all executables agree with the interpreter at every step."""
        return self.mismatches == 0

    def data(self) -> dict[str, Any]:
        """Return the result as plain data; figures that were not measured are None."""
        footprint = self.footprint
        return {
            "subject": self.name,
            "target": self.target,
            "executables": list(self.executables),
            "seed": self.seed,
            "steps": self.steps,
            "mismatches": self.mismatches,
            "failed": self.n_failed_episodes,
            "transitions_taken": self.transitions_taken,
            "transitions": self.transitions,
            "ticks_from_player": self.ticks_from_player,
            "flash_bytes": footprint.flash_bytes if footprint else None,
            "ram_bytes": footprint.ram_bytes if footprint else None,
            "image_flash_bytes": footprint.image_flash_bytes if footprint else None,
            "image_ram_bytes": footprint.image_ram_bytes if footprint else None,
            "stack_bytes": footprint.stack_bytes if footprint else None,
            "step_cycles_mean": footprint.step_cycles_mean if footprint else None,
            "step_cycles_worst": footprint.step_cycles_worst if footprint else None,
            "counts": footprint.step_unit if footprint else None,
            "mismatch": self.mismatch.data() if self.mismatch else None,
            **({} if self.changed_files is None else {"changed": list(self.changed_files)}),
        }

    def lines(self, unit_spec: UnitSpec, coverage: SourceCoverage | None = None) -> Lines:
        """Yield the lines of a report.

        Args:
            unit_spec: the unit compared, for the names of fields and states.
            coverage: coverage of the generated C, where it was measured.
        """
        executables = " and ".join(self.executables)
        not_taken = (self.transitions or 0) - (self.transitions_taken or 0)
        verdict = style_level("failed" if not self.same else "warning" if not_taken else "ok")
        mismatches = f"{self.mismatches or 'no'} mismatch{'' if self.mismatches == 1 else 'es'}"
        steps = format_count(self.steps, "step")
        yield build_line(verdict, f" {self.name}: {steps} on {executables}, {mismatches}")
        for sentence in self.changed_files or ():
            yield f"   {sentence}"
        if self.transitions is not None:
            yield f"   {self.transitions_taken} of {self.transitions} transitions taken"
            if not_taken:
                yield "   what was never taken was not compared: more --steps may reach it"
        if self.n_failed_episodes:
            times = format_count(self.n_failed_episodes, "time")
            yield f"   {times} all stopped alike: division by zero, or a tick without end"
        footprint = self.footprint
        if footprint is not None:
            stack = "" if footprint.stack_bytes is None else f", stack {footprint.stack_bytes} bytes"
            yield f"   flash {footprint.flash_bytes} bytes, RAM {footprint.ram_bytes} bytes{stack}"
            if footprint.step_cycles_mean is not None:
                worst = f"the worst seen {footprint.step_cycles_worst}"
                yield f"   a step: {footprint.step_cycles_mean:.1f} {footprint.step_unit}, {worst}"
        if self.ticks_from_player is not None:
            yield f"   servos at most {self.ticks_from_player} of their ticks from the simulator's player"
        if coverage is not None:
            yield f"   lines of C run: {coverage.line_coverage:.1%}, branches: {coverage.branch_coverage:.1%}"
        if self.mismatch is not None:
            yield f"   {self.mismatch.executable} differs in {', '.join(self.mismatch.fields)}:"
            yield table(*self.mismatch.table(unit_spec))


class _Difference(NamedTuple):
    """An executable that differs from the reference at the last of some inputs."""

    executable_name: str
    inputs: Records


@dataclass(eq=False)
class Comparison:
    """Runs executables beside a reference, episode by episode.

    Attributes:
        reference: the executable that is correct by definition.
        executables: the executables compared with it, by name.
        steps: number of steps so far.
        n_mismatched_ticks: number of state records that differ so far, one for each executable and tick.
        n_failed_episodes: number of episodes in which the reference failed.
        first_difference: the executable and the inputs of the first difference; None without one.
    """

    reference: Executable
    executables: Mapping[str, Executable]
    steps: int = 0
    n_mismatched_ticks: int = 0
    n_failed_episodes: int = 0
    first_difference: _Difference | None = field(default=None, init=False)

    def compare_episode(self, episode: Records) -> int:
        """Compare all executables in an episode, which begins at a reset; return the number of steps taken.

        The episode is cut off `AFTER_FAILURE` ticks after a tick that fails, since a machine that has
        failed stays in its state.
        """
        expected = run_from_reset(self.reference, episode)
        failed_ticks = np.flatnonzero(expected["status"])
        if len(failed_ticks):
            episode = episode[: failed_ticks[0] + 1 + AFTER_FAILURE]
            expected = expected[: len(episode)]
            self.n_failed_episodes += 1
        for name, executable in self.executables.items():
            is_different = compare_records(expected, run_from_reset(executable, episode))
            n_different = int(np.count_nonzero(is_different))
            if n_different and self.first_difference is None:
                first_different_tick = int(np.argmax(is_different))
                self.first_difference = _Difference(name, episode[: first_different_tick + 1])
            self.n_mismatched_ticks += n_different
        self.steps += len(episode)
        return len(episode)

    def run(self, episodes: Iterator[Records], steps: int, on_progress: Callable[[int, int], None]) -> None:
        """Compare episodes until the number of steps is reached."""
        while self.steps < steps:
            self.compare_episode(next(episodes)[: steps - self.steps])
            on_progress(self.steps, steps)

    def mismatch(self) -> Mismatch | None:
        """Return the first difference, with the shortest inputs found that show it; None without one."""
        if self.first_difference is None:
            return None
        name, episode = self.first_difference
        executable = self.executables[name]

        def find_differing_ticks(inputs: Records) -> Flags:
            return compare_records(run_from_reset(self.reference, inputs), run_from_reset(executable, inputs))

        short_inputs = shrink(episode, lambda inputs: bool(find_differing_ticks(inputs).any()))
        first_different_tick = int(np.argmax(find_differing_ticks(short_inputs)))
        inputs = short_inputs[: first_different_tick + 1]
        expected = run_from_reset(self.reference, inputs)
        return Mismatch(name, inputs, expected, got=run_from_reset(executable, inputs))


def run_from_reset(executable: Executable, inputs: Records) -> Records:
    """Reset an executable and return its states for some inputs."""
    executable.reset()
    return executable.run(inputs)


def compare_records(expected: Records, got: Records) -> Flags:
    """Return at which ticks the bytes of two runs differ, `(n_ticks,)`; 0.0 and -0.0 are different."""
    size = expected.dtype.itemsize
    expected_bytes: NDArray[np.uint8] = np.ascontiguousarray(expected).view(np.uint8).reshape(-1, size)
    got_bytes: NDArray[np.uint8] = np.ascontiguousarray(got).view(np.uint8).reshape(-1, size)
    is_different: Flags = (expected_bytes != got_bytes).any(axis=1)
    return is_different


def record_data(record: np.void) -> dict[str, Any]:
    """Return a record as plain data."""
    return {name: record[name].tolist() for name in record.dtype.names or ()}


def _active_states(unit_spec: UnitSpec, states: Records) -> list[str]:
    """Return the active states of each record: their names for a chart, else the bytes of the bitmap."""
    reference = unit_spec.reference()
    if not isinstance(reference, InterpreterRun):
        return [" ".join(map(str, bitmap.tolist())) for bitmap in states["active"]]
    nodes = reference.machine.nodes[1:]
    is_active = np.unpackbits(states["active"], axis=1, bitorder="little")  # a column for each node
    active_names = ([node.name for node in nodes if row[node.index]] for row in is_active)
    return ["+".join(names) or "-" for names in active_names]
