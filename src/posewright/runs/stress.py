"""`stress_program`: runs a program on disturbed bodies, one factor at a time, and returns the stress map.

```python
biped = read_stressed_program("biped", "robotis_bioloid", command=VelocityCommand(0.2))
stress_map = stress_program(biped, factors=["slope", "push"], trials=10, workers=4)
save_figure(draw_stress(stress_map), "biped.png")
```

Each run draws a body by its seed, then sets one factor of it. All values of all factors have the same seeds,
so that neighbouring values differ in the factor alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from posewright.bodies import (
    DomainParameters,
    DomainRandomization,
    RandomPlates,
    RandomPushes,
    Uniform,
    domain_randomization,
    draw_domain,
)
from posewright.controllers import GaitProgram
from posewright.errors import BodyError, InputError, UnknownNameError
from posewright.evaluation import evaluate_run
from posewright.evaluation.stress import (
    POINTS,
    SPEED,
    FactorSweep,
    StressedRun,
    StressMap,
    SweepPoint,
)
from posewright.figures.gait.page import half_speed_command
from posewright.gaits import VelocityCommand
from posewright.robots import Robot
from posewright.robots import robot as robot_card
from posewright.runs.batch import BatchRun, OnRun, digest_of, run_batch, versions
from posewright.runs.batch_report import write_report
from posewright.runs.programs import read_program
from posewright.runs.provenance import model_documents
from posewright.runs.run import Run, run
from posewright.runs.trial import Trial, TrialOptions, read_trial, trial_documents, trial_run
from posewright.runs.walking.many import WalkTask
from posewright.runs.walking.walk import SECONDS, SETTLE_S
from posewright.search.plan import require_seed

NOMINAL_BODY = "nominal"
MAX_TRIALS = 1000

PUSH_EVERY_S = 3.0
"""Time between two pushes of a run [s]."""

N_PLATES = 400
"""Plates on the 8 m^2 of floor on which they lie by default."""

_MM = 1000.0
_FACTOR_STREAM = 100
"""Second number of the seeds of sides of slopes and pushes, and of the places of plates."""

VaryBody = Callable[[DomainParameters, float, np.random.Generator], DomainParameters]
"""Returns a body with another value of a factor; the generator draws a side or places."""


@dataclass(frozen=True)
class Factor:
    """Something that disturbs a robot.

    Attributes:
        title: what it is, for people.
        unit: of its values; empty for a ratio.
        nominal: its value in the robot's model; None if that is not one number.
        values: the values that are tried.
        vary: sets it.
        per_kg: whether the values are for each kilogram of the robot.
    """

    title: str
    unit: str
    nominal: float | None
    values: tuple[float, ...]
    vary: VaryBody
    per_kg: bool = False


def _vary_friction(body: DomainParameters, value: float, _random: np.random.Generator) -> DomainParameters:
    return replace(body, friction=value)


def _vary_mass(body: DomainParameters, value: float, _random: np.random.Generator) -> DomainParameters:
    return replace(body, mass_scale=value)


def _vary_servos(body: DomainParameters, value: float, _random: np.random.Generator) -> DomainParameters:
    return replace(body, stiffness_scale=value)


def _vary_latency(body: DomainParameters, value: float, _random: np.random.Generator) -> DomainParameters:
    return replace(body, latency_frames=round(value))


def _vary_slope(body: DomainParameters, value: float, random: np.random.Generator) -> DomainParameters:
    """Return a body on a floor that slopes to a random side; the value is in degrees."""
    side_rad = random.uniform(-math.pi, math.pi)
    slope_rad = math.radians(value)
    return replace(body, slope_rad=(slope_rad * math.sin(side_rad), slope_rad * math.cos(side_rad)))


def _vary_push(body: DomainParameters, value: float, random: np.random.Generator) -> DomainParameters:
    """Return a body that is pushed from random sides; the value is the impulse of each push [N s]."""
    if not value:
        return replace(body, pushes=())
    pushes = RandomPushes(
        Uniform(value, value),
        at_s=Uniform(PUSH_EVERY_S / 2.0, PUSH_EVERY_S * 1.5),
        every_s=Uniform(PUSH_EVERY_S, PUSH_EVERY_S),
    )
    return replace(body, pushes=tuple(pushes.draw(random)))


def _vary_bumps(body: DomainParameters, value: float, random: np.random.Generator) -> DomainParameters:
    """Return a body on a floor with plates; the value is their thickness [mm]."""
    if not value:
        return replace(body, plates=())
    plates = RandomPlates(N_PLATES, thickness_m=Uniform(value / _MM, value / _MM))
    return replace(body, plates=plates.draw(random))


FACTORS: Mapping[str, Factor] = {
    "friction": Factor(
        "friction of the floor", "", None, (0.1, 0.2, 0.3, 0.45, 0.6, 0.9, 1.3), _vary_friction
    ),
    "mass": Factor("mass / model's", "", 1.0, (0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75), _vary_mass),
    "servos": Factor(
        "stiffness of servos / model's", "", 1.0, (0.3, 0.45, 0.6, 0.8, 1.0, 1.4, 2.0), _vary_servos
    ),
    "latency": Factor("latency of commands", "frames", 0.0, (0, 2, 4, 6, 8, 12, 16), _vary_latency),
    "slope": Factor("slope of the floor", "deg", 0.0, (0, 2, 4, 6, 8, 10, 12), _vary_slope),
    "push": Factor(
        f"pushes every {PUSH_EVERY_S:g} s",
        "N s",
        0.0,
        (0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.9),
        _vary_push,
        per_kg=True,
    ),
    "bumps": Factor("plates on the floor", "mm", 0.0, (0, 1, 2, 3, 4, 6, 8), _vary_bumps),
}
"""The factors by name.

Sources: friction, mass, servos and latency reach about twice as far from the model as `random.bodies.yaml`;
the others begin at the model and go on to beyond where our trials with a Bioloid fell: 0.5 N s per kilogram,
6 mm.
"""


def vary_body(body: DomainParameters, factor: str, value: float, seed: int) -> DomainParameters:
    """Return a body with another value of a factor.

    Args:
        body: the body.
        factor: a name of `FACTORS`.
        value: the value, in the factor's unit.
        seed: draws sides of slopes and pushes, and places of plates.
    """
    random = np.random.default_rng([seed, _FACTOR_STREAM])
    return FACTORS[factor].vary(body, value, random)


class StressRunner(Protocol):
    """A program that can be run on any body with any seed; it can be pickled."""

    def run(self, seed: int, domain: DomainParameters) -> StressedRun:
        """Run the program once and measure the run; a failed simulation counts as a fall."""


@dataclass(frozen=True, eq=False)
class _Walk:
    """A gait that walks as `walk_gait` lets it walk, measured by its forward speed."""

    task: WalkTask

    def run(self, seed: int, domain: DomainParameters) -> StressedRun:
        """Walk once."""
        walked_body = self.task.walk((seed, domain))
        report = walked_body.report
        speed_m_s = None if report is None else report.figures[SPEED]
        return StressedRun(seed, walked_body.falls, speed_m_s)


@dataclass(frozen=True)
class _FreeRun:
    """Any program on a bare floor for some time, measured by the speed along its path."""

    name: str
    robot: Robot
    seconds: float

    def run(self, seed: int, domain: DomainParameters) -> StressedRun:
        """Run it once."""
        program = read_program(self.name, self.robot)
        prepared_run = Run(program.name, {self.robot.name: program}, self.seconds, seed=seed, domain=domain)
        return _run_and_measure(prepared_run, self.robot, SPEED)


@dataclass(frozen=True)
class _ContestRun:
    """A program in a contest, whose field the seed may draw, measured by its points."""

    trial: Trial
    options: TrialOptions
    robot: Robot

    def run(self, seed: int, domain: DomainParameters) -> StressedRun:
        """Run the contest once."""
        prepared_run = trial_run(self.trial, replace(self.options, seed=seed))
        return _run_and_measure(replace(prepared_run, domain=domain), self.robot, POINTS)


def _run_and_measure(prepared_run: Run, robot: Robot, measure: str) -> StressedRun:
    """Run a run, and return the falls of its first robot, and its speed or points."""
    try:
        outcome = run(prepared_run)
    except BodyError:
        return StressedRun(prepared_run.seed, falls=1, measured=None)
    figures = next(iter(evaluate_run(outcome.recording, robot=robot).robots.values()))
    measured = figures.mean_speed_m_s if measure == SPEED else outcome.score.points
    return StressedRun(prepared_run.seed, figures.falls or 0, measured)


@dataclass(frozen=True)
class StressedProgram:
    """What is stressed: a program and the way in which it is run.

    Attributes:
        name: name or path of the program.
        robot: the robot that runs it.
        runner: runs it once.
        measure: `SPEED` or `POINTS`.
        conditions: duration and command, or contest, for people.
        documents: all texts on which its runs depend, by name.
        commanded: the commanded forward speed; None without one [m/s].
    """

    name: str
    robot: Robot
    runner: StressRunner
    measure: str
    conditions: str
    documents: Mapping[str, str]
    commanded: float | None = None


def read_stressed_program(
    name: str,
    robot: str | None = None,
    *,
    command: VelocityCommand | None = None,
    seconds: float = SECONDS,
    contest: str | None = None,
    layout: str | None = None,
) -> StressedProgram:
    """Return a program with the way in which it is run.

    Args:
        name: a gait, a behaviour or any other program, as for `read_program`.
        robot: name or path of the card of its robot; by default the program's own robot.
        command: of a gait; by default half of its greatest speed, forward.
        seconds: duration of each run outside contests [s].
        contest: a contest or trial, by name or path, in which the program is run; by default it is run on a
            bare floor.
        layout: name or path of the contest's layout, or `random`.

    Raises:
        UnknownNameError: there is no such program, robot, contest or layout.
        InputError: an option does not fit the program, or a command is out of the gait's range.
    """
    if contest is not None:
        if command is not None:
            raise InputError("a contest has no velocity command", hint="leave it out, or the contest")
        trial = read_trial(contest)
        options = TrialOptions(behaviour=name, robot=robot, layout=layout)
        prepared_run = trial_run(trial, replace(options, seed=0))
        first_program = next(iter(prepared_run.programs.values()))
        return StressedProgram(
            name,
            first_program.robot,
            _ContestRun(trial, options, first_program.robot),
            POINTS,
            conditions=f"{contest}, layout {layout or prepared_run.layout or 'none'}",
            documents=trial_documents(trial, replace(options, seed=0)),
        )
    if layout is not None:
        raise InputError("a layout is of a contest", hint="add the contest: obstacle-race")
    program = read_program(name, None if robot is None else robot_card(robot))
    documents = {**program.documents, "card": program.robot.text, **model_documents(program.robot)}
    if not isinstance(program, GaitProgram):
        if command is not None:
            raise InputError(f"{name} is no gait: it takes no velocity command", hint="leave it out")
        documents["seconds"] = repr(seconds)
        free_run = _FreeRun(name, program.robot, seconds)
        conditions = f"{seconds:g} s on a bare floor"
        return StressedProgram(name, program.robot, free_run, SPEED, conditions, documents)
    gait_command = half_speed_command(program.gait, program.robot) if command is None else command
    program.gait.generator(program.robot).require_in_range(gait_command)
    documents["walk"] = repr((gait_command, seconds))  # with all digits
    walk = _Walk(WalkTask(program.gait, program.robot, gait_command, seconds, SETTLE_S))
    return StressedProgram(
        name,
        program.robot,
        walk,
        SPEED,
        conditions=f"{_describe_command(gait_command)} for {seconds:g} s",
        documents=documents,
        commanded=gait_command.forward_m_s,
    )


def _describe_command(command: VelocityCommand) -> str:
    """Return a velocity command for people, without a component to the left or a turn of 0."""
    parts = [f"{command.forward_m_s:.3g} m/s ahead"]
    if command.left_m_s:
        parts.append(f"{command.left_m_s:.3g} m/s to the left")
    if command.turn_rad_s:
        parts.append(f"{command.turn_rad_s:.3g} rad/s to the left")
    return ", ".join(parts)


@dataclass(frozen=True)
class SweptRun:
    """One run of a map: a value of a factor, and a seed."""

    factor: str
    value: float
    seed: int

    @property
    def name(self) -> str:
        """Its name in the batch."""
        return f"{self.factor}_{self.value:g}_seed_{self.seed}"


@dataclass(frozen=True, eq=False)
class _StressTask:
    """Runs a program for one item of the batch, in any process."""

    program: StressedProgram
    ranges: DomainRandomization

    def __call__(self, swept_run: SweptRun, record: Path | None) -> BatchRun:  # noqa: ARG002 -- not recorded
        """Run it on the seed's body with the factor's value."""
        body = draw_domain(self.ranges, swept_run.seed)
        domain = vary_body(body, swept_run.factor, swept_run.value, swept_run.seed)
        stressed_run = self.program.runner.run(swept_run.seed, domain)
        figures = {
            "factor": swept_run.factor,
            "value": swept_run.value,
            "upright": stressed_run.falls == 0,
            "falls": stressed_run.falls,
            self.program.measure: stressed_run.measured,
        }
        return BatchRun(swept_run.name, figures, (-stressed_run.falls, stressed_run.measured or 0.0))


def stress_program(
    program: StressedProgram,
    *,
    factors: Sequence[str] = tuple(FACTORS),
    trials: int = 5,
    seed: int = 0,
    body: str = "random",
    folder: Path | None = None,
    workers: int = 1,
    on_run: OnRun | None = None,
) -> StressMap:
    """Run a program with each value of each factor on several bodies, and return its stress map.

    With a folder, a second call repeats only what is missing, as `run_batch` does.

    Args:
        program: the program, as `read_stressed_program` returns it.
        factors: names of `FACTORS`.
        trials: number of runs with each value; they have the seeds `seed`, `seed` + 1, ...
        seed: the first seed.
        body: ranges from which the seed draws a body before the factor is set; `nominal` for the model.
        folder: where the runs are stored.
        workers: number of processes.
        on_run: called with each run, and whether the folder already held it.

    Raises:
        UnknownNameError: there is no such factor or body.
        InputError: an argument is wrong, a run cannot be done, or the folder holds another map.
        OutputError: the folder cannot be written.
        UnavailableError: a worker process ended unexpectedly.
    """
    swept_runs = list_runs(program, factors, trials, seed)
    ranges = DomainRandomization() if body == NOMINAL_BODY else domain_randomization(body)
    documents = {**program.documents, "ranges": repr(ranges)}
    batch = run_batch(
        _StressTask(program, ranges),
        {swept_run.name: swept_run for swept_run in swept_runs},
        key="run",
        measure=program.measure,
        settings={
            "what": f"Stress of {program.name}",
            "robot": program.robot.name,
            "body": body,
            "conditions": program.conditions,
            "file documents": digest_of(documents),
            **versions(),
        },
        folder=folder,
        workers=workers,
        on_run=on_run,
    )
    write_report(batch)
    for failed_run in batch.failed:
        raise InputError(f"the run {failed_run.name} failed: {failed_run.error}")
    return StressMap(
        program.name,
        program.robot.name,
        conditions=f"{body} bodies, {program.conditions}",
        measure=program.measure,
        commanded=program.commanded,
        sweeps=tuple(_build_sweep(factor, swept_runs, batch.runs, program.measure) for factor in factors),
    )


def list_runs(
    program: StressedProgram, factors: Sequence[str], trials: int, seed: int = 0
) -> tuple[SweptRun, ...]:
    """Return the runs of a stress map: each seed with each value of each factor.

    Raises:
        UnknownNameError: there is no such factor.
        InputError: the number of trials or the seed is out of its range.
    """
    if not 1 <= trials <= MAX_TRIALS:
        raise InputError(f"the number of trials is {trials}", hint=f"1 to {MAX_TRIALS}")
    require_seed(seed, count=trials)
    swept_runs = []
    for name in factors:
        if name not in FACTORS:
            raise UnknownNameError.among("factor", name, FACTORS)
        for value in _list_values(FACTORS[name], program.robot):
            swept_runs += [SweptRun(name, value, run_seed) for run_seed in range(seed, seed + trials)]
    return tuple(swept_runs)


def _list_values(factor: Factor, robot: Robot) -> tuple[float, ...]:
    """Return the values of a factor for a robot, two digits of those that depend on its mass."""
    if not factor.per_kg:
        return factor.values
    from posewright.simulation import World

    mass_kg = World(robot, visuals=False).instance().mass_kg
    return tuple(float(f"{value * mass_kg:.2g}") for value in factor.values)


def _build_sweep(
    name: str, swept_runs: Sequence[SweptRun], batch_runs: Sequence[BatchRun], measure: str
) -> FactorSweep:
    """Return the sweep of a factor from the runs of the batch, which are in the order of `swept_runs`."""
    runs_by_value: dict[float, list[StressedRun]] = {}
    for swept_run, batch_run in zip(swept_runs, batch_runs, strict=True):
        if swept_run.factor == name:
            figures = batch_run.figures
            runs_by_value.setdefault(swept_run.value, []).append(
                StressedRun(swept_run.seed, figures["falls"], figures[measure])
            )
    factor = FACTORS[name]
    points = tuple(
        SweepPoint(value, tuple(runs), counts_fallen=measure == POINTS)
        for value, runs in runs_by_value.items()
    )
    return FactorSweep(name, factor.title, factor.unit, factor.nominal, points)
