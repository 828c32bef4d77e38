"""Verification that a chart or a behaviour does the same on a target as in the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from posewright.codegen.behaviour.unit_spec import BehaviourUnitSpec
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.generating import find_changed_files, read_generated_unit, read_unit_spec
from posewright.codegen.proof.input_generation import InputStream, chart_stream, find_literals, number_fields
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.proof.source_coverage import SourceCoverage, cover_source
from posewright.codegen.proof.verification import Comparison, Verification
from posewright.codegen.targets import target_named
from posewright.codegen.targets.arduino_uno.processor import UnoProcessor
from posewright.codegen.targets.cm900.processor import CortexProcessor
from posewright.codegen.targets.host import HostLibrary
from posewright.codegen.unit import Executable, Footprint, Measured, Records, UnitSpec
from posewright.controllers.behaviours import Behaviour
from posewright.errors import InputError, UnknownNameError

HOST = "host"
PROCESSORS: dict[str, Callable[[UnitSpec], Measured]] = {
    "arduino-uno": UnoProcessor,
    "cm900": CortexProcessor,
}
"""The emulated processor of each board."""

TARGETS = (HOST, *PROCESSORS)

COVERED_STEPS = 50_000
"""Steps of the stream that are run for coverage, in a program with counters compiled in."""

MAX_BEHAVIOUR_FRAMES = 3000
"""Servo frames of a run of a behaviour with plausible sensor readings: half a minute."""

N_BEHAVIOUR_RUNS = 8
"""Runs of a behaviour with plausible sensor readings; further runs have arbitrary ones."""


def verify(
    unit_spec: UnitSpec | str | Path,
    target: str = HOST,
    *,
    steps: int = 100_000,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
    compiled_unit: UnitSpec | None = None,
) -> Verification:
    """Run the same inputs in the interpreter, on this computer and on a board's emulated processor.

    Every field of every state is compared at every step.

    Args:
        unit_spec: a UnitSpec, a chart's file, or a behaviour's name or file.
        target: `host`, `arduino-uno` or `cm900`.
        steps: number of steps of each executable.
        seed: the seed of the inputs.
        on_progress: called with the number of steps taken and of all steps.
        compiled_unit: the unit whose C is compared with the interpreter of `unit_spec`; None for the C
            generated from it.

    Raises:
        UnknownNameError: there is no such target.
        InputError: there is no such chart or behaviour, or it cannot be generated for the target.
        UnavailableError: a compiler or emulator is missing.
        MissingExtraError: the emulator of a Cortex-M3 is missing.
    """
    if isinstance(unit_spec, str | Path):
        unit_spec = read_unit_spec(unit_spec)
    with _executables(unit_spec, target, compiled_unit or unit_spec) as executables:
        reference = unit_spec.reference()
        comparison = Comparison(reference, executables)
        comparison.run(input_stream(unit_spec).episodes(seed), steps, on_progress or (lambda *_: None))
        verification = Verification(
            name=unit_spec.name,
            target=target,
            executables=tuple(executables),
            seed=seed,
            steps=comparison.steps,
            mismatches=comparison.n_mismatched_ticks,
            mismatch=comparison.mismatch(),
            footprint=_footprint(executables[target]),
            n_failed_episodes=comparison.n_failed_episodes,
        )
    if isinstance(unit_spec, BehaviourUnitSpec):
        return replace(verification, ticks_from_player=_ticks_from_player(unit_spec, steps, seed))
    if not isinstance(reference, InterpreterRun):
        return verification
    return replace(
        verification,
        transitions_taken=len(reference.transitions_taken),
        transitions=len(reference.machine.transitions),
    )


def verify_folder(
    folder: Path | str,
    target: str | None = None,
    *,
    steps: int = 100_000,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Verify the C in a folder as it is there, with any changes by hand, against the interpreter.

    Args:
        folder: the folder that `generate` wrote.
        target: `host`, or the target the folder was generated for, which is the default.
        steps: as for `verify`.
        seed: as for `verify`.
        on_progress: as for `verify`.

    Raises:
        InputError: nothing was generated there, its documents are not found, or the target is another one.
        CompileError: the C does not compile.
        UnavailableError: as for `verify`.
    """
    unit = read_generated_unit(folder)
    target = target or unit.target
    if target not in (HOST, unit.target):
        raise InputError(
            f"{folder} was generated for {unit.target}, not {target}", hint=f"--target {unit.target}"
        )
    verification = verify(
        unit.unit_spec, target, steps=steps, seed=seed, on_progress=on_progress, compiled_unit=unit
    )
    return replace(verification, changed_files=find_changed_files(folder))


def _ticks_from_player(unit_spec: BehaviourUnitSpec, steps: int, seed: int) -> int:
    """Return how far the servo goals of the board differ at most from those of `Player` [servo ticks].

    The board computes them in integer arithmetic.
    """
    inputs = unit_spec.random_inputs(min(steps, MAX_BEHAVIOUR_FRAMES), seed)
    states = unit_spec.reference().run(inputs)
    failed_frames = np.flatnonzero(states["status"])
    if len(failed_frames):  # after a failure the robot stands still
        states = states[: failed_frames[0]]
    return unit_spec.ticks_from_player(inputs[: len(states)], states)


def source_coverage(unit_spec: UnitSpec, *, steps: int = COVERED_STEPS, seed: int = 0) -> SourceCoverage:
    """Return which part of the generated C the inputs of `verify` run on this computer.

    Args:
        unit_spec: the unit.
        steps: number of steps that are run.
        seed: the seed of the inputs.

    Raises:
        UnavailableError: gcc or gcov is missing.
        InputError: the unit cannot be generated.
    """
    episodes: list[Records] = []
    n_steps = 0
    for episode in input_stream(unit_spec).episodes(seed):
        episodes.append(episode[: steps - n_steps])
        n_steps += len(episodes[-1])
        if n_steps >= steps:
            break
    return cover_source(unit_spec, episodes)


def input_stream(unit_spec: UnitSpec) -> InputStream:
    """Return the stream of inputs with which a unit is verified.

    It reaches every transition of a chart that exploration finds, and every threshold of a behaviour. For
    another unit the inputs are arbitrary.
    """
    if isinstance(unit_spec, BehaviourUnitSpec):
        values = sorted(set(_critical_readings(unit_spec.behaviour)))
        runs = tuple(unit_spec.random_inputs(MAX_BEHAVIOUR_FRAMES, seed) for seed in range(N_BEHAVIOUR_RUNS))
        return InputStream(
            unit_spec.input_dtype,
            number_fields(unit_spec.input_dtype, values),
            runs,
            max_segment_ticks=MAX_BEHAVIOUR_FRAMES,
        )
    reference = unit_spec.reference()
    if isinstance(reference, InterpreterRun):
        return chart_stream(reference.record_format)
    return InputStream(unit_spec.input_dtype, number_fields(unit_spec.input_dtype, []))


@contextmanager
def _executables(
    unit_spec: UnitSpec, target: str, compiled_unit: UnitSpec
) -> Iterator[dict[str, Executable]]:
    """Provide the executables to be compared with the interpreter, by name, and close them at the end.

    Args:
        unit_spec: the chart or behaviour.
        target: name of the target.
        compiled_unit: the unit whose C is compiled.
    """
    if target not in TARGETS:
        raise UnknownNameError.among("target", target, TARGETS)
    if isinstance(unit_spec, BehaviourUnitSpec):
        target_named(target).sources(unit_spec)  # raises where the board cannot run the behaviour
    executables: dict[str, Executable] = {HOST: HostLibrary(compiled_unit)}
    try:
        if target != HOST:
            executables[target] = PROCESSORS[target](target_named(target).adapt(compiled_unit))
        yield executables
    finally:
        for executable in executables.values():
            executable.close()


def _footprint(executable: Executable) -> Footprint | None:
    """Return the footprint of an executable; None if it does not measure it."""
    return executable.footprint() if isinstance(executable, Measured) else None


def _critical_readings(behaviour: Behaviour) -> Iterator[float]:
    """Yield the sensor readings at which a behaviour may change, in SI units.

    An input of its chart is connected to a sensor by a wire. A wire with a threshold changes at its edges.
    Others hand the reading on in their own unit, so it is compared with the chart's constants in that unit.
    """
    chart_constants = find_literals(ChartUnitSpec(behaviour.chart).lowered)
    for wire in behaviour.inputs:
        if wire.threshold is None:
            yield from (constant * wire.unit for constant in chart_constants)
        else:
            limit = wire.threshold.limit
            hysteresis = wire.threshold.hysteresis
            yield from (limit, limit + hysteresis, limit - hysteresis)
