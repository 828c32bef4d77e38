"""Proves that a chart or a behaviour does on a target what it does in the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from posewright.codegen.behaviour.subject import BehaviourSubject
from posewright.codegen.c import ChartSubject
from posewright.codegen.generating import subject_named
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.proof.source_coverage import SourceCoverage, cover_source
from posewright.codegen.proof.streams import InputStream, chart_stream, constants_of, number_fields
from posewright.codegen.proof.verification import Comparison, Verification
from posewright.codegen.targets import target_named
from posewright.codegen.targets.arduino_uno.processor import UnoProcessor
from posewright.codegen.targets.cm900.processor import CortexProcessor
from posewright.codegen.targets.host import HostLibrary
from posewright.codegen.unit import Executable, Footprint, Measured, Subject
from posewright.controllers.behaviours import Behaviour
from posewright.errors import UnknownNameError

HOST = "host"
PROCESSORS: dict[str, Callable[[Subject], Measured]] = {
    "arduino-uno": UnoProcessor,
    "cm900": CortexProcessor,
}
"""What stands for each board: its processor, emulated."""

TARGETS = (HOST, *PROCESSORS)

COVERED_STEPS = 50_000
"""Steps of the stream that are run again where coverage is asked for: with counting compiled in."""

LONGEST_BEHAVIOUR = 3000
"""Servo frames for which a behaviour's sensors are drawn in one way: half a minute."""

BEHAVIOUR_RUNS = 8
"""Runs of a behaviour in which sensors read what they might; others read anything."""


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
        subject: the chart or behaviour: a Subject, a chart's file, or a behaviour's name or file.
        target: `host`, `arduino-uno` or `cm900`.
        steps: to be taken by each.
        seed: of the inputs.
        on_progress: is told how many of how many steps were taken.

    Raises:
        UnknownNameError: there is no such target.
        InputError: there is no such subject, or it cannot be generated for the target.
        UnavailableError: a compiler or emulator is missing.
        MissingExtraError: the emulator of a Cortex-M3 is missing.
    """
    if isinstance(subject, str | Path):
        subject = subject_named(subject)
    with _executables(subject, target) as executables:
        reference = subject.reference()
        comparison = Comparison(reference, executables)
        comparison.run(stream_of(subject).episodes(seed), steps, on_progress or (lambda *_: None))
        found = Verification(
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
        return replace(found, ticks_from_player=_ticks_from_player(subject, steps, seed))
    if not isinstance(reference, InterpreterRun):
        return found
    taken, ways = len(reference.taken), len(reference.machine.transitions)
    return replace(found, transitions_taken=taken, transitions=ways)


def _ticks_from_player(subject: BehaviourSubject, steps: int, seed: int) -> int:
    """Return how far the whole numbers take a servo from where the simulator's player takes it, at most."""
    states = subject.reference().run(subject.drawn_inputs(min(steps, LONGEST_BEHAVIOUR), seed))
    failed = np.flatnonzero(states["status"])
    return subject.ticks_from_player(states[: failed[0]] if len(failed) else states)


def source_coverage(subject: Subject, *, steps: int = COVERED_STEPS, seed: int = 0) -> SourceCoverage:
    """Return how much of the generated C the same inputs run on this computer.

    Raises:
        UnavailableError: gcc or gcov is missing.
        InputError: the subject cannot be generated.
    """
    episodes, count = [], 0
    for episode in stream_of(subject).episodes(seed):
        episodes.append(episode[: steps - count])
        count += len(episodes[-1])
        if count >= steps:
            break
    return cover_source(subject, episodes)


def stream_of(subject: Subject) -> InputStream:
    """Return the inputs of a subject: a chart's reach every transition, a behaviour's every threshold."""
    if isinstance(subject, BehaviourSubject):
        values = sorted(set(_limits(subject.behaviour)))
        runs = tuple(subject.drawn_inputs(LONGEST_BEHAVIOUR, seed) for seed in range(BEHAVIOUR_RUNS))
        return InputStream(subject.inputs, number_fields(subject.inputs, values), runs, LONGEST_BEHAVIOUR)
    reference = subject.reference()
    if isinstance(reference, InterpreterRun):
        return chart_stream(reference.form)
    return InputStream(subject.inputs, number_fields(subject.inputs, []))


@contextmanager
def _executables(subject: Subject, target: str) -> Iterator[dict[str, Executable]]:
    """Give everything that is compared with the interpreter, and close it."""
    if target not in TARGETS:
        raise UnknownNameError.among("target", target, TARGETS)
    if isinstance(subject, BehaviourSubject):
        target_named(target).sources(subject)  # which refuses what does not go onto the board
    found: dict[str, Executable] = {HOST: HostLibrary(subject)}
    try:
        if target != HOST:
            found[target] = PROCESSORS[target](target_named(target).fitted(subject))
        yield found
    finally:
        for executable in found.values():
            executable.close()


def _footprint(executable: Executable) -> Footprint | None:
    measure = getattr(executable, "footprint", None)
    return measure() if measure is not None else None


def _limits(behaviour: Behaviour) -> Iterator[float]:
    """Yield the sensor readings at which a behaviour may do something else, in inner units."""
    constants = constants_of(ChartSubject(behaviour.chart).lowered)
    for wire in behaviour.inputs:
        if wire.threshold is not None:
            limit, back = wire.threshold.limit, wire.threshold.hysteresis
            yield from (limit, limit + back, limit - back)
        else:
            yield from (constant * wire.unit for constant in constants)
