"""The walking benchmark: the same tests of speed, falls, pushes and floors for every gait and behaviour.

```python
plan = plan_walk_report("biped", "robotis_bioloid", benchmark=QUICK_BENCHMARK)
report = run_walk_report(plan, folder=Path("biped_report"), workers=2)
write_walk_report(report, Path("biped_report"))
```

`report_walk` does all three. Each run has a seed that draws its body; a second call with the same folder
repeats only what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from posewright.bodies import NOMINAL, DomainParameters, Push, domain_randomization, draw_domain
from posewright.controllers import GaitProgram
from posewright.errors import BodyError, InputError
from posewright.evaluation import evaluate_run
from posewright.evaluation.walking.benchmark import (
    GAIT_FIGURES,
    BenchmarkReport,
    BenchmarkRun,
    BenchmarkTest,
    Direction,
    FallTest,
    Floor,
    FloorTest,
    PushTest,
    SpeedTest,
)
from posewright.figures.gait.page import half_speed_command
from posewright.gaits import Gait, VelocityCommand, velocity_limits
from posewright.kinematics import leg_length_m
from posewright.robots import Robot
from posewright.robots import robot as robot_card
from posewright.runs.batch import BatchRun, OnRun, digest_of, run_batch, versions
from posewright.runs.programs import read_program
from posewright.runs.provenance import model_documents
from posewright.runs.run import Run, run
from posewright.runs.stress import vary_body
from posewright.runs.walking.many import WalkTask
from posewright.runs.walking.walk import SETTLE_S
from posewright.search.plan import require_seed

RANDOM_BODIES = "random"
PUSHED_BODIES = "random_push_05"
"""The ranges of random bodies, and the same with repeated pushes."""

REPEATED_IMPULSE_N_S = 0.5
PUSH_INTERVAL_S = 5.0
"""Impulse of the pushes of `PUSHED_BODIES`, and the time between them."""

CYCLE_WITHOUT_GAIT_S = 1.0
"""The phases of pushes are shares of this time for a program without a cycle [s]."""


@dataclass(frozen=True)
class WalkBenchmark:
    """The numbers of the benchmark.

    Sources: `seconds` and bodies as for `gait run` and `walk_many`; impulses, sides, phases and plates reach
    beyond our trials with a Bioloid, which survived 0.5 N s of 8 sides and 3 phases and fell over 5 mm, and
    beyond the 1.5 N s that learned walks of a ROBOTIS OP3 survive.

    Attributes:
        seconds: measured time of the tests of speed, plates and slopes [s].
        forward_shares: forward commands, as shares of the greatest one.
        other_shares: commands backwards, to the left and turning, as shares of the greatest ones.
        n_speed_bodies: random bodies with each command, besides the nominal one.
        fall_seconds: time of each run by which falls are counted [s].
        n_fall_bodies: random bodies whose falls are counted.
        impulses_n_s: impulses of single pushes, rising [N s].
        n_sides: sides from which they come.
        n_phases: phases of the gait's cycle in which they come.
        n_push_bodies: random bodies that are pushed, besides the nominal one.
        push_after_s: no robot is pushed before this time [s].
        seconds_after_push: a robot that stands so long has survived [s].
        plates_mm: thickness of the plates on the floor [mm].
        slopes_deg: slopes of the floor to a random side [deg].
        n_floor_bodies: random bodies on each of these floors.

    Raises:
        InputError: a number of bodies, sides or phases is less than 1.
    """

    seconds: float = 10.0
    forward_shares: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)
    other_shares: tuple[float, ...] = (0.5, 1.0)
    n_speed_bodies: int = 10
    fall_seconds: float = 60.0
    n_fall_bodies: int = 30
    impulses_n_s: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
    n_sides: int = 8
    n_phases: int = 3
    n_push_bodies: int = 2
    push_after_s: float = 2.0
    seconds_after_push: float = 3.0
    plates_mm: tuple[float, ...] = (3.0, 5.0)
    slopes_deg: tuple[float, ...] = (2.0, 4.0, 6.0, 8.0)
    n_floor_bodies: int = 20

    def __post_init__(self) -> None:
        for name in ("n_fall_bodies", "n_sides", "n_phases", "n_floor_bodies"):
            if getattr(self, name) < 1:
                raise InputError(f"the benchmark has {name} {getattr(self, name)}", hint="1 or more")


FULL_BENCHMARK = WalkBenchmark()
"""Some 2.5 hours of simulated time."""

QUICK_BENCHMARK = WalkBenchmark(
    n_speed_bodies=1, n_fall_bodies=3, impulses_n_s=(0.3, 0.6, 1.2, 2.4), n_push_bodies=0, n_floor_bodies=2
)
"""The same tests with about a tenth of the runs."""


@dataclass(frozen=True)
class BenchmarkBody:
    """A body of a test.

    Attributes:
        seed: the seed of the run, which has drawn the body unless it is nominal.
        domain: how it differs from the model, pushes and floor included.
        is_nominal: whether it is the body of the model, apart from pushes and floor.
    """

    seed: int
    domain: DomainParameters
    is_nominal: bool = False

    @property
    def name(self) -> str:
        """Its name in the batch."""
        return "nominal" if self.is_nominal else f"seed {self.seed}"


class BenchmarkRunner(Protocol):
    """A program with a command and a duration, which runs on any body; it can be pickled."""

    def run(self, body: BenchmarkBody) -> BenchmarkRun:
        """Run the program once and measure it; a failed simulation counts as a fall."""


@dataclass(frozen=True, eq=False)
class _GaitRunner:
    """A gait with a command, measured as by `walk_gait`."""

    task: WalkTask

    def run(self, body: BenchmarkBody) -> BenchmarkRun:
        """Walk once."""
        walked_body = self.task.walk((body.seed, body.domain))
        upright_s = walked_body.simulated_s
        figures: dict[str, float | None] = {}
        if walked_body.report is not None:
            all_figures = walked_body.report.figures
            figures = {name: all_figures[name] for name in GAIT_FIGURES}
            upright_s = min([upright_s, *all_figures["fall_times_s"]])
        return BenchmarkRun(
            is_upright=walked_body.is_upright,
            is_nominal=body.is_nominal,
            seed=body.seed,
            upright_s=upright_s,
            **figures,
        )


@dataclass(frozen=True)
class _ProgramRunner:
    """A behaviour or another program on a floor without a contest."""

    name: str
    robot: Robot
    seconds: float

    def run(self, body: BenchmarkBody) -> BenchmarkRun:
        """Run it once."""
        program = read_program(self.name, self.robot)
        prepared_run = Run(
            program.name, {self.robot.name: program}, self.seconds, seed=body.seed, domain=body.domain
        )
        try:
            recording = run(prepared_run).recording
        except BodyError:
            return BenchmarkRun(is_upright=False, is_nominal=body.is_nominal, seed=body.seed, upright_s=0.0)
        figures = next(iter(evaluate_run(recording, robot=self.robot).robots.values()))
        return BenchmarkRun(
            is_upright=not figures.falls,
            is_nominal=body.is_nominal,
            seed=body.seed,
            upright_s=min([float(recording.times[-1]), *figures.fall_times_s]),
            speed_m_s=figures.mean_speed_m_s,
            max_torque_ratio=figures.max_torque_ratio,
            max_joint_speed_ratio=figures.max_joint_speed_ratio,
        )


@dataclass(frozen=True)
class PlannedTest:
    """A test with its runs to come.

    Attributes:
        test: the test, without runs.
        runner: runs the program.
        bodies: on which it runs, the nominal one first.
    """

    test: BenchmarkTest
    runner: BenchmarkRunner
    bodies: tuple[BenchmarkBody, ...]


@dataclass(frozen=True)
class _PlannedRun:
    """One run of the batch."""

    name: str
    runner: BenchmarkRunner
    body: BenchmarkBody


@dataclass(frozen=True)
class WalkReportPlan:
    """All tests of a program.

    Attributes:
        program: its name, for people.
        robot: the robot that runs it.
        command: of all tests but those of speed; None for a program that takes no command.
        benchmark: the numbers of the tests.
        seed: the first seed; each random body of a test has the next one.
        documents: all texts on which the runs depend, by name.
        tests: the tests in the order of the report.
    """

    program: str
    robot: Robot
    command: VelocityCommand | None
    benchmark: WalkBenchmark
    seed: int
    documents: Mapping[str, str]
    tests: tuple[PlannedTest, ...]

    @property
    def n_runs(self) -> int:
        """The number of runs of all tests."""
        return sum(len(planned_test.bodies) for planned_test in self.tests)

    @property
    def conditions(self) -> str:
        """Command and bodies, for people."""
        command = "" if self.command is None else f"{self.command.forward_m_s:.3g} m/s ahead unless stated, "
        return f"{command}seed {self.seed}, {self.n_runs} runs"


def plan_walk_report(
    name: str,
    robot: str | None = None,
    *,
    forward_m_s: float | None = None,
    benchmark: WalkBenchmark = FULL_BENCHMARK,
    seed: int = 0,
) -> WalkReportPlan:
    """Return the tests of a gait or a behaviour, without running them.

    A program that is no gait takes no command: its speed is measured as it is.

    Args:
        name: a gait, a behaviour or another program, by name or path.
        robot: name or path of the card of its robot; by default the program's own robot.
        forward_m_s: command of a gait in all tests but those of speed; by default half of its greatest speed.
        benchmark: the numbers of the tests.
        seed: the first seed.

    Raises:
        UnknownNameError: there is no such program or robot.
        InputError: a command is out of the gait's range, or is given to a program that takes none.
    """
    program = read_program(name, None if robot is None else robot_card(robot))
    n_bodies = (benchmark.n_speed_bodies, benchmark.n_fall_bodies, benchmark.n_floor_bodies)
    require_seed(seed, count=max(n_bodies))
    documents = {**program.documents, "card": program.robot.text, **model_documents(program.robot)}
    if isinstance(program, GaitProgram):
        planner: _Planner = _GaitPlanner(program.gait, program.robot, benchmark, seed, forward_m_s)
    elif forward_m_s is not None:
        raise InputError(f"{name} is no gait: it takes no velocity command", hint="leave it out")
    else:
        planner = _Planner(name, program.robot, benchmark, seed)
    return WalkReportPlan(
        program.name,
        program.robot,
        planner.command,
        benchmark,
        seed,
        documents=documents,
        tests=(
            *planner.plan_speeds(),
            *planner.plan_falls(),
            *planner.plan_pushes(),
            *planner.plan_floors(),
        ),
    )


class _Planner:
    """Plans the tests of a program that takes no command."""

    command: VelocityCommand | None = None
    cycle_s: float = CYCLE_WITHOUT_GAIT_S
    settle_s: float = 0.0
    """Time before the measured time [s]."""

    def __init__(self, name: str, robot: Robot, benchmark: WalkBenchmark, seed: int) -> None:
        self._name = name
        self._robot = robot
        self._benchmark = benchmark
        self._seed = seed
        self._ranges = domain_randomization(RANDOM_BODIES)

    def make_runner(self, seconds: float) -> BenchmarkRunner:
        """Return a runner of the program for some time [s], with the command of most tests."""
        return _ProgramRunner(self._name, self._robot, seconds)

    def plan_speeds(self) -> Iterator[PlannedTest]:
        """Yield the tests of speed."""
        yield PlannedTest(
            SpeedTest(direction=Direction.FORWARD, commanded=None),
            self.make_runner(self._benchmark.seconds),
            self.draw_bodies(self._benchmark.n_speed_bodies, with_nominal=True),
        )

    def plan_falls(self) -> Iterator[PlannedTest]:
        """Yield the tests in which falls are counted: undisturbed, and with repeated pushes."""
        benchmark = self._benchmark
        runner = self.make_runner(benchmark.fall_seconds - self.settle_s)
        pushed_ranges = domain_randomization(PUSHED_BODIES)
        undisturbed_bodies = self.draw_bodies(benchmark.n_fall_bodies)
        pushed_bodies = tuple(
            replace(body, domain=draw_domain(pushed_ranges, body.seed)) for body in undisturbed_bodies
        )
        for impulse_n_s, bodies in ((0.0, undisturbed_bodies), (REPEATED_IMPULSE_N_S, pushed_bodies)):
            test = FallTest(impulse_n_s=impulse_n_s, interval_s=PUSH_INTERVAL_S)
            yield PlannedTest(test, runner, bodies)

    def plan_pushes(self) -> Iterator[PlannedTest]:
        """Yield a test for each side, phase and impulse."""
        benchmark = self._benchmark
        first_cycle_s = math.ceil(benchmark.push_after_s / self.cycle_s) * self.cycle_s
        latest_push_s = first_cycle_s + self.cycle_s
        runner = self.make_runner(latest_push_s + benchmark.seconds_after_push - self.settle_s)
        bodies = self.draw_bodies(benchmark.n_push_bodies, with_nominal=True)
        for side in range(benchmark.n_sides):
            from_rad = math.remainder(math.tau * side / benchmark.n_sides, math.tau)
            for phase in (index / benchmark.n_phases for index in range(benchmark.n_phases)):
                time_s = first_cycle_s + phase * self.cycle_s
                for impulse_n_s in benchmark.impulses_n_s:
                    push = Push(time_s, impulse_n_s, from_rad)
                    test = PushTest(impulse_n_s=impulse_n_s, side_deg=math.degrees(from_rad), phase=phase)
                    pushed_bodies = tuple(
                        replace(body, domain=replace(body.domain, pushes=(push,))) for body in bodies
                    )
                    yield PlannedTest(test, runner, pushed_bodies)

    def plan_floors(self) -> Iterator[PlannedTest]:
        """Yield the tests on plates and slopes."""
        benchmark = self._benchmark
        runner = self.make_runner(benchmark.seconds)
        bodies = self.draw_bodies(benchmark.n_floor_bodies)
        factors = {Floor.PLATES: ("bumps", benchmark.plates_mm), Floor.SLOPE: ("slope", benchmark.slopes_deg)}
        for floor, (factor, values) in factors.items():
            for value in values:
                floor_bodies = tuple(
                    replace(body, domain=vary_body(body.domain, factor, value, body.seed)) for body in bodies
                )
                yield PlannedTest(FloorTest(floor=floor, value=value), runner, floor_bodies)

    def draw_bodies(self, n_random: int, *, with_nominal: bool = False) -> tuple[BenchmarkBody, ...]:
        """Return random bodies of successive seeds, after the nominal one if requested."""
        bodies = [BenchmarkBody(self._seed, NOMINAL, is_nominal=True)] if with_nominal else []
        for seed in range(self._seed, self._seed + n_random):
            bodies.append(BenchmarkBody(seed, draw_domain(self._ranges, seed)))
        return tuple(bodies)


class _GaitPlanner(_Planner):
    """Plans the tests of a gait, which takes velocity commands."""

    command: VelocityCommand
    settle_s = SETTLE_S

    def __init__(
        self, gait: Gait, robot: Robot, benchmark: WalkBenchmark, seed: int, forward_m_s: float | None
    ) -> None:
        super().__init__(gait.name, robot, benchmark, seed)
        self._gait = gait
        generator = gait.generator(robot)
        self._limits = velocity_limits(generator)
        self.cycle_s = gait.cycle(robot).period_s
        if forward_m_s is None:
            self.command = half_speed_command(gait, robot)
        else:
            self.command = VelocityCommand(forward_m_s)
            generator.require_in_range(self.command)

    def make_runner(self, seconds: float) -> BenchmarkRunner:
        """Return a runner with the command of most tests."""
        return self._make_runner_of(self.command, seconds)

    def _make_runner_of(self, command: VelocityCommand, seconds: float) -> _GaitRunner:
        return _GaitRunner(WalkTask(self._gait, self._robot, command, seconds, SETTLE_S))

    def plan_speeds(self) -> Iterator[PlannedTest]:
        """Yield a test for each command that the gait follows."""
        benchmark = self._benchmark
        limits = self._limits
        forward = [self.command.forward_m_s]
        forward += [share * limits.forward_m_s for share in benchmark.forward_shares]
        forward += [-share * limits.backward_m_s for share in benchmark.other_shares]
        values_by_direction = {
            Direction.FORWARD: forward,
            Direction.LEFT: [share * limits.left_m_s for share in benchmark.other_shares],
            Direction.TURN: [share * limits.turn_rad_s for share in benchmark.other_shares],
        }
        bodies = self.draw_bodies(benchmark.n_speed_bodies, with_nominal=True)
        for direction, values in values_by_direction.items():
            speeds_by_name: dict[str, float] = {}
            for value in values:
                if value or direction is Direction.FORWARD:
                    # of two that differ by rounding, the first: the command of most tests
                    name = SpeedTest(direction=direction, commanded=value).name
                    speeds_by_name.setdefault(name, value)
            for speed in sorted(speeds_by_name.values()):
                test = SpeedTest(direction=direction, commanded=speed)
                command = VelocityCommand(**{direction.value: speed})
                yield PlannedTest(test, self._make_runner_of(command, benchmark.seconds), bodies)


def run_walk_report(
    plan: WalkReportPlan, *, folder: Path | None = None, workers: int = 1, on_run: OnRun | None = None
) -> BenchmarkReport:
    """Run all tests, and return the report.

    Args:
        plan: the tests.
        folder: where the runs are stored; a second call repeats only what is missing.
        workers: number of processes.
        on_run: called with each run, and whether the folder already held it.

    Raises:
        InputError: a run cannot be done, or the folder holds another batch.
        OutputError: the folder cannot be written.
        UnavailableError: a worker process ended unexpectedly.
    """
    planned_runs: dict[str, _PlannedRun] = {}
    for planned_test in plan.tests:
        for body in planned_test.bodies:
            name = f"{planned_test.test.name} {body.name}"
            planned_runs[name] = _PlannedRun(name, planned_test.runner, body)
    batch = run_batch(
        _run_once,
        planned_runs,
        key="run",
        measure="upright_s",
        settings={
            "what": f"Walk report of {plan.program}",
            "robot": plan.robot.name,
            "command": repr(plan.command),
            "benchmark": repr(plan.benchmark),
            "file documents": digest_of(
                {
                    **plan.documents,
                    "bodies": repr(
                        [domain_randomization(RANDOM_BODIES), domain_randomization(PUSHED_BODIES)]
                    ),
                }
            ),
            **versions(),
        },
        folder=folder,
        workers=workers,
        on_run=on_run,
    )
    for failed_run in batch.failed:
        raise InputError(f"the run {failed_run.name} failed: {failed_run.error}")
    runs_by_name = {batch_run.name: BenchmarkRun(**batch_run.figures) for batch_run in batch.runs}
    tests: list[BenchmarkTest] = []
    for planned_test in plan.tests:
        names = [f"{planned_test.test.name} {body.name}" for body in planned_test.bodies]
        tests.append(replace(planned_test.test, runs=tuple(runs_by_name[name] for name in names)))
    return BenchmarkReport(
        program=plan.program,
        robot=plan.robot.name,
        conditions=plan.conditions,
        mass_kg=_measure_mass(plan.robot),
        leg_length_m=leg_length_m(plan.robot),
        commanded_m_s=None if plan.command is None else plan.command.forward_m_s,
        seconds=plan.benchmark.seconds,
        speeds=tuple(test for test in tests if isinstance(test, SpeedTest)),
        falls=tuple(test for test in tests if isinstance(test, FallTest)),
        pushes=tuple(test for test in tests if isinstance(test, PushTest)),
        floors=tuple(test for test in tests if isinstance(test, FloorTest)),
    )


def _run_once(planned_run: _PlannedRun, record: Path | None) -> BatchRun:  # noqa: ARG001 -- not recorded
    """Run the program once, in any process, and return the entry of the batch."""
    benchmark_run = planned_run.runner.run(planned_run.body)
    ranking = (benchmark_run.upright_s,)
    return BatchRun(planned_run.name, asdict(benchmark_run), ranking)


def _measure_mass(robot: Robot) -> float:
    """Return the mass of a robot's model [kg]."""
    from posewright.simulation import World

    return World(robot, visuals=False).instance().mass_kg


def report_walk(
    name: str,
    robot: str | None = None,
    *,
    forward_m_s: float | None = None,
    benchmark: WalkBenchmark = FULL_BENCHMARK,
    seed: int = 0,
    folder: Path | None = None,
    workers: int = 1,
    on_run: OnRun | None = None,
) -> BenchmarkReport:
    """Run the walking benchmark with a gait or a behaviour, and return its report.

    The arguments and errors are those of `plan_walk_report` and `run_walk_report`. With a folder,
    `report.html`, `report.png` and `report.json` are written there.
    """
    from posewright.runs.walking.benchmark_report import write_walk_report

    plan = plan_walk_report(name, robot, forward_m_s=forward_m_s, benchmark=benchmark, seed=seed)
    report = run_walk_report(plan, folder=folder, workers=workers, on_run=on_run)
    if folder is not None:
        write_walk_report(report, folder)
    return report
