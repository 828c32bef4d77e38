"""Verification that a chart or a behaviour does the same on a target as in the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from posewright.codegen.behaviour.subject import BehaviourSubject
from posewright.codegen.c import ChartSubject
from posewright.codegen.generating import read_subject
from posewright.codegen.proof.input_generation import InputStream, chart_stream, literals_of, number_fields
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.proof.source_coverage import SourceCoverage, cover_source
from posewright.codegen.proof.verification import Comparison, Verification
from posewright.codegen.targets import target_named
from posewright.codegen.targets.arduino_uno.processor import UnoProcessor
from posewright.codegen.targets.cm900.processor import CortexProcessor
from posewright.codegen.targets.host import HostLibrary
from posewright.codegen.unit import Executable, Footprint, Measured, Records, Subject
from posewright.controllers.behaviours import Behaviour
from posewright.errors import UnknownNameError

HOST = "host"
PROCESSORS: dict[str, Callable[[Subject], Measured]] = {
    "arduino-uno": UnoProcessor,
    "cm900": CortexProcessor,
}
"""The emulated processor of each board."""

TARGETS = (HOST, *PROCESSORS)

COVERED_STEPS = 50_000
"""Steps of the stream that are run for coverage, in a program with counters compiled in."""

LONGEST_BEHAVIOUR = 3000
"""Servo frames of a run of a behaviour with plausible sensor readings: half a minute."""

BEHAVIOUR_RUNS = 8
"""Runs of a behaviour with plausible sensor readings; further runs have arbitrary ones."""


def verify(
    subject: Subject | str | Path,
    target: str = HOST,
    *,
    steps: int = 100_000,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Run the same inputs in the interpreter, on this computer and on a board's emulated processor.

    Every field of every state is compared at every step.

    Args:
        subject: a Subject, a chart's file, or a behaviour's name or file.
        target: `host`, `arduino-uno` or `cm900`.
        steps: number of steps of each executable.
        seed: of the inputs.
        on_progress: called with the number of steps taken and of all steps.

    Raises:
        UnknownNameError: there is no such target.
        InputError: there is no such subject, or it cannot be generated for the target.
        UnavailableError: a compiler or emulator is missing.
        MissingExtraError: the emulator of a Cortex-M3 is missing.
    """
    if isinstance(subject, str | Path):
        subject = read_subject(subject)
    with _executables(subject, target) as executables:
        reference = subject.reference()
        comparison = Comparison(reference, executables)
        comparison.run(input_stream(subject).episodes(seed), steps, on_progress or (lambda *_: None))
        verification = Verification(
            subject=subject.name,
            target=target,
            executables=tuple(executables),
            seed=seed,
            steps=comparison.steps,
            mismatches=comparison.mismatches,
            mismatch=comparison.mismatch(),
            footprint=_footprint(executables[target]),
            failed=comparison.failed,
        )
    if isinstance(subject, BehaviourSubject):
        return replace(verification, ticks_from_player=_ticks_from_player(subject, steps, seed))
    if not isinstance(reference, InterpreterRun):
        return verification
    return replace(
        verification,
        transitions_taken=len(reference.transitions_taken),
        transitions=len(reference.machine.transitions),
    )


def _ticks_from_player(subject: BehaviourSubject, steps: int, seed: int) -> int:
    """Return the greatest distance of servo goals in integer arithmetic from those of `Player` [ticks]."""
    states = subject.reference().run(subject.random_inputs(min(steps, LONGEST_BEHAVIOUR), seed))
    failed = np.flatnonzero(states["status"])
    return subject.ticks_from_player(states[: failed[0]] if len(failed) else states)


def source_coverage(subject: Subject, *, steps: int = COVERED_STEPS, seed: int = 0) -> SourceCoverage:
    """Return which part of the generated C the inputs of `verify` run on this computer.

    Raises:
        UnavailableError: gcc or gcov is missing.
        InputError: the subject cannot be generated.
    """
    episodes: list[Records] = []
    n_steps = 0
    for episode in input_stream(subject).episodes(seed):
        episodes.append(episode[: steps - n_steps])
        n_steps += len(episodes[-1])
        if n_steps >= steps:
            break
    return cover_source(subject, episodes)


def input_stream(subject: Subject) -> InputStream:
    """Return the inputs of a subject, which reach every transition of a chart, every limit of a behaviour."""
    if isinstance(subject, BehaviourSubject):
        values = sorted(set(_critical_readings(subject.behaviour)))
        runs = tuple(subject.random_inputs(LONGEST_BEHAVIOUR, seed) for seed in range(BEHAVIOUR_RUNS))
        return InputStream(subject.inputs, number_fields(subject.inputs, values), runs, LONGEST_BEHAVIOUR)
    reference = subject.reference()
    if isinstance(reference, InterpreterRun):
        return chart_stream(reference.record_format)
    return InputStream(subject.inputs, number_fields(subject.inputs, []))


@contextmanager
def _executables(subject: Subject, target: str) -> Iterator[dict[str, Executable]]:
    """Provide the executables to be compared with the interpreter, by name, and close them at the end."""
    if target not in TARGETS:
        raise UnknownNameError.among("target", target, TARGETS)
    if isinstance(subject, BehaviourSubject):
        target_named(target).sources(subject)  # raises where the board cannot run the behaviour
    executables: dict[str, Executable] = {HOST: HostLibrary(subject)}
    try:
        if target != HOST:
            executables[target] = PROCESSORS[target](target_named(target).adapt(subject))
        yield executables
    finally:
        for executable in executables.values():
            executable.close()


def _footprint(executable: Executable) -> Footprint | None:
    return executable.footprint() if isinstance(executable, Measured) else None


def _critical_readings(behaviour: Behaviour) -> Iterator[float]:
    """Yield the sensor readings at which a behaviour may change, in SI units."""
    constants = literals_of(ChartSubject(behaviour.chart).lowered)
    for wire in behaviour.inputs:
        if wire.threshold is not None:
            limit = wire.threshold.limit
            hysteresis = wire.threshold.hysteresis
            yield from (limit, limit + hysteresis, limit - hysteresis)
        else:
            yield from (constant * wire.unit for constant in constants)
