"""Run a trial: robot + behaviour + arena + seed -> trace -> result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from posewright.arenas import Arena, layout_faults, layout_text
from posewright.behaviours import Behaviour, BehaviourController, read_behaviour
from posewright.contests import Race, Referee, Rules, judge, read_rules, rules, rules_names
from posewright.control import Block, Watcher, drive
from posewright.documents import refuse_unwritable
from posewright.experiments.field import lay_out
from posewright.experiments.outcome import Outcome
from posewright.experiments.trial import Trial, read_trial
from posewright.figures.film import card_document
from posewright.recordings import ROWS_EVERY, Event, Header, Recorder, RobotHeader, write_mcap
from posewright.robots import Robot, robot, ships
from posewright.search.plan import checked_seed
from posewright.version import __version__

if TYPE_CHECKING:
    from posewright.simulation import SimulatedBody, World

SPARE_S = 1.0
"""Time a trial may run beyond what the rules allow, so that the referee is the one who stops it [s]."""


def run_trial(
    trial: str | Path | Trial = "obstacle-race",
    *,
    layout: str | Path | None = None,
    seed: int | None = None,
    behaviour: str | Path | None = None,
    motions: str | Path | None = None,
    legal: bool = False,
    record: str | Path | None = None,
    tell: Callable[[Progress], None] | None = None,
    audience: Callable[[World], Watcher] | None = None,
    clock: Callable[[], float] | None = None,
) -> Outcome:
    """Run a trial in simulation.

    Args:
        trial: name of a trial, path of one, or a trial.
        layout: name of a layout, path of one, or `random`; the trial's own where none is given.
        seed: of everything drawn by chance; the trial's own where none is given.
        behaviour: name or path; the trial's own where none is given.
        motions: file of the robot's maker to take those motions from for which the behaviour names a page.
        legal: whether a layout that breaks the contest's rules is refused; otherwise it is raced on and
            `Outcome.remarks` say what is wrong with it.
        record: where to write the trace as MCAP.
        tell: is told how the trial goes, twice a simulated second.
        audience: makes one more watcher, of the simulated world: a live window, for one.
        clock: a wall clock [s], for `Outcome.wall_s`; nothing here looks at one by itself.

    Returns:
        The trace, the judge's result from it, and how long it took.

    Raises:
        InputError: something that was handed in is wrong.
        OutputError: the trace cannot be written there; this is told before the trial is run.
        BodyError: the simulation failed.
        UnavailableError: the audience needs a window, and there is none.
    """
    if record is not None:
        refuse_unwritable(Path(record))
    asked = trial if isinstance(trial, Trial) else read_trial(trial)
    asked = replace(
        asked,
        layout=asked.layout if layout is None else str(layout),
        behaviour=asked.behaviour if behaviour is None else str(behaviour),
        seed=asked.seed if seed is None else checked_seed(seed),
    )
    stage = _set_up(asked, motions, legal=legal)
    outcome = _perform(stage, tell, audience, clock or _no_clock)
    remarks = [f"layout: {fault.message}" for fault in layout_faults(stage.arena.boxes, stage.arena)]
    outcome = replace(outcome, remarks=tuple(remarks))
    if record is not None:
        write_mcap(outcome.trace, Path(record))
    return outcome


@dataclass(frozen=True)
class _Stage:
    """Everything a trial needs, ready to begin."""

    behaviour: Behaviour
    rules: Rules
    arena: Arena
    body: SimulatedBody
    recorder: Recorder
    seed: int


def _set_up(trial: Trial, motions: str | Path | None, *, legal: bool) -> _Stage:
    from posewright.simulation import SimulatedBody, World

    contest = _rules(trial.contest)
    arena = lay_out(trial.arena, trial.layout, trial.seed, legal=legal)
    behaviour = read_behaviour(trial.behaviour, robot=robot(trial.robot), vendor_file=motions)
    own = {sensor.name for sensor in behaviour.robot.sensors}
    world = World(
        behaviour.robot, arena, sensors=[sensor for sensor in behaviour.sensors if sensor.name not in own]
    )
    course = contest.course
    start = (course.start_x_m, course.start_y_m, course.start_yaw_rad)
    body = SimulatedBody(world, start_pose=behaviour.start_pose, start=start, seed=trial.seed)
    header = _header(trial, behaviour, arena, contest, body)
    recorder = Recorder(header, world, every=ROWS_EVERY)
    return _Stage(behaviour, contest, arena, body, recorder, trial.seed)


def _rules(name: str) -> Rules:
    """Return the rules of that name, or those in a document."""
    is_file = name not in rules_names() and name.endswith((".yaml", ".yml"))
    return read_rules(name) if is_file else rules(name)


def _header(trial: Trial, behaviour: Behaviour, arena: Arena, contest: Rules, body: SimulatedBody) -> Header:
    card = behaviour.robot
    return Header(
        robots={card.name: RobotHeader.of(body, f"behaviour {behaviour.name}")},
        contest=contest.name,
        layout=Path(trial.layout).name,
        boxes=tuple((box.x, box.y, box.yaw_rad) for box in arena.boxes),
        seed=trial.seed,
        version=__version__,
        rate_hz=1.0 / (card.frame_period_s * ROWS_EVERY),
        arena=arena.to_dict(),
        documents={**behaviour.documents, **_further_documents(trial, card, arena, contest)},
        extras={"trial": trial.name, "arena": trial.arena},
    )


def _further_documents(trial: Trial, card: Robot, arena: Arena, contest: Rules) -> dict[str, str]:
    """Return what a trace carries besides the behaviour's: rules, layout, and a card that does not ship."""
    layout = Path(trial.layout).name.split(".")[0]
    documents = {
        f"{Path(contest.name).name}.rules.yaml": contest.text,
        f"{layout}.layout.yaml": layout_text(arena.boxes, layout),
    }
    return documents if ships(card) else {**documents, card_document(card.name): card.text}


REPORT_EVERY_S = 0.5
"""How much simulated time lies between two reports of progress [s]."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How a trial goes.

    Attributes:
        time_s: simulated [s].
        chart_state: where the chart is.
        playing: the motion that is played; None while standing.
        leg: 1 or 2.
        distance_cm: of the present leg [cm].
        penalties: so far.
    """

    time_s: float
    chart_state: str
    playing: str | None
    leg: int
    distance_cm: float
    penalties: int


class Reporting:
    """Tells how a trial goes, every so often in simulated time."""

    def __init__(self, race: Race, tell: Callable[[Progress], None]) -> None:
        self._race = race
        self._tell = tell
        self._next_s = 0.0

    def watch(self, block: Block) -> bool:
        """Report when it is time to; never stops a trial."""
        time_s, decision = block.state.time_s, block.requests.decision
        if decision is not None and time_s >= self._next_s:
            self._next_s = time_s + REPORT_EVERY_S
            race = self._race
            leg, penalties = race.leg, len(race.penalties())
            self._tell(Progress(time_s, decision.state, decision.playing, leg, race.distance_cm, penalties))
        return False


def _no_clock() -> float:
    return 0.0


def _perform(
    stage: _Stage,
    tell: Callable[[Progress], None] | None,
    audience: Callable[[World], Watcher] | None,
    wall_clock: Callable[[], float],
) -> Outcome:
    behaviour, body, recorder = stage.behaviour, stage.body, stage.recorder
    robot = behaviour.robot
    referee = Referee(stage.rules, stage.arena, body, recorder.note, every=ROWS_EVERY)
    watchers: list[Watcher] = [recorder, referee]
    if tell is not None:
        watchers.append(Reporting(referee.race, tell))
    if audience is not None:
        watchers.append(audience(body.world))
    clock = stage.rules.clock
    longest_s = clock.wait_s + 2.0 * stage.rules.scoring.time_limit_s + clock.leg_2_delay_s + SPARE_S
    recorder.note(Event(0.0, "start", {}))
    began = wall_clock()
    controller = BehaviourController(behaviour, stage.seed)
    drive(body.world, {robot.name: controller}, until_s=longest_s, watchers=watchers)
    trace = recorder.recording()
    result = judge(trace, stage.rules)
    return Outcome(trace, result, wall_clock() - began)
