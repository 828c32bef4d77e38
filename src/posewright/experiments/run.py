"""Run a trial: robots, their behaviours, a contest and a seed -> recording -> score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from posewright.arenas import Arena, layout_faults, layout_text
from posewright.behaviours import Behaviour, BehaviourController, read_behaviour
from posewright.bodies import Plant, Supervisor
from posewright.contests import Contest, Referee, contest
from posewright.contests.registry import KIND
from posewright.control import Block, Clock, Controller, Watcher, drive
from posewright.documents import read_text, refuse_unwritable
from posewright.errors import InputError
from posewright.experiments.outcome import Outcome, Unjudged
from posewright.experiments.plants import SIMULATION, Part, body_of, make_plant
from posewright.experiments.trial import Trial, read_trial
from posewright.figures import card_document
from posewright.recordings import ROWS_EVERY, Event, Header, Recorder, RobotHeader, write_mcap
from posewright.recordings.header import RULES_SUFFIX
from posewright.robots import robot, ships
from posewright.search.plan import checked_seed
from posewright.version import __version__

REPORT_EVERY_S = 0.5
"""How much of the plant's time lies between two reports of progress [s]."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How a trial goes at a time in the plant [s]: the chart's state, what it plays, the referee's words."""

    time_s: float
    state: str
    playing: str | None
    standing: str


def run_trial(
    trial: str | Path | Trial = "obstacle-race",
    *,
    layout: str | Path | None = None,
    seed: int | None = None,
    behaviour: str | Path | None = None,
    motions: str | Path | None = None,
    body: str = SIMULATION,
    legal: bool = False,
    record: str | Path | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    make_watcher: Callable[[Any], Watcher] | None = None,
    pace: Clock | None = None,
    clock: Callable[[], float] | None = None,
) -> Outcome:
    """Run a trial.

    Args:
        trial: name of a trial or of a contest, path of a trial, or a trial.
        layout: name of a layout, path of one, or `random`; the trial's own where none is given.
        seed: of everything drawn by chance; the trial's own where none is given.
        behaviour: name or path; the trial's own where none is given.
        motions: file of the robot's maker to take those motions from for which the behaviour names a page.
        body: one of `plant_names()`; or `random` or a `*.bodies.yaml`: a simulated body that the seed draws.
        legal: whether a layout that breaks the contest's rules is refused; otherwise it is run on and
            `Outcome.remarks` say what is wrong with it.
        record: where to write the recording as MCAP; of a run that failed or was ended, as far as it went.
        on_progress: is called twice a second of the plant's time.
        make_watcher: makes one more watcher, of the plant: a live window on the simulated world, for one.
        pace: how frames are paced, `RealClock(time.monotonic, time.sleep)` say; simulated time by default.
        clock: a wall clock [s], for `Outcome.wall_s`; nothing here looks at one by itself.

    Raises:
        InputError: something that was handed in is wrong.
        OutputError: the recording cannot be written there; this is told before the trial is run.
        BodyError: the body failed, or does not know what the referee must see.
        UnavailableError: the watcher needs a window, and there is none.
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
    stage = _set_up(asked, motions, body, legal=legal)
    try:
        wall_s = _perform(stage, on_progress, make_watcher, pace, clock or (lambda: 0.0))
    finally:  # above all of a run that failed somebody will want to know how
        recording = stage.recorder.recording()
        if record is not None:
            write_mcap(recording, Path(record))
    if _can_be_judged(stage.plant):
        score = stage.contest.judge(recording)
    else:
        score = Unjudged(recording, warnings=("nobody knew where the robot was: there is no score",))
    outcome = Outcome(recording, score, wall_s)
    return replace(outcome, remarks=_remarks(stage.arena))


def _remarks(arena: Arena) -> tuple[str, ...]:
    return tuple(f"layout: {fault.message}" for fault in layout_faults(arena.boxes, arena))


@dataclass(frozen=True, slots=True, eq=False)
class _Stage:
    """Everything a trial needs, ready to begin; behaviours by the robots' names in the plant."""

    contest: Contest
    arena: Arena
    plant: Plant
    behaviours: dict[str, Behaviour]
    recorder: Recorder
    seed: int


def _set_up(trial: Trial, motions: str | Path | None, body: str, *, legal: bool) -> _Stage:
    held = contest(trial.contest, read_text(Path(trial.rules)) if trial.rules else None)
    arena = held.field(trial.layout, trial.seed, legal=legal)
    if trial.arena not in {"", arena.name}:
        raise InputError(f"the arena is {trial.arena!r}", hint=f"{held.name} is run on {arena.name!r}")
    behaviours, parts = {}, []
    kind, domain = body_of(body, trial.seed)
    for number, (role, entry) in enumerate(held.entries.items()):
        asked = (trial.robot, trial.behaviour) if not number else (entry.robot, entry.behaviour)
        played = read_behaviour(asked[1], robot=robot(asked[0]), vendor_file=None if number else motions)
        name = played.robot.name if len(held.entries) == 1 else role
        own = {sensor.name for sensor in played.robot.sensors}
        further = tuple(sensor for sensor in played.sensors if sensor.name not in own)
        place = held.start(role, arena)
        parts.append(Part(name, played.robot, played.start_pose, place, further, trial.seed, domain))
        behaviours[name] = played
    plant = make_plant(kind, parts, arena)
    header = _header(trial, held, arena, plant, behaviours)
    return _Stage(held, arena, plant, behaviours, Recorder(header, plant, every=ROWS_EVERY), trial.seed)


def documents_of(trial: Trial, motions: str | Path | None, body: str, *, legal: bool) -> dict[str, str]:
    """Return the texts a trial hangs on, but for what its seed draws; raises what running it would raise."""
    stage = _set_up(trial, motions, body, legal=legal)
    cards = {card_document(one.robot.name): one.robot.text for one in stage.behaviours.values()}
    documents = {**stage.recorder.header.documents, **cards}
    return {name: text for name, text in documents.items() if name != "random.layout.yaml"}


def _header(
    trial: Trial, held: Contest, arena: Arena, plant: Plant, behaviours: dict[str, Behaviour]
) -> Header:
    return Header(
        robots={
            name: RobotHeader.of(plant.bodies[name], f"behaviour {behaviour.name}")
            for name, behaviour in behaviours.items()
        },
        contest=held.name,
        layout=Path(trial.layout or "random").name,
        boxes=tuple((box.x, box.y, box.yaw_rad) for box in arena.boxes),
        seed=trial.seed,
        version=__version__,
        arena=arena.to_dict(),
        documents=_documents(trial, held, arena, tuple(behaviours.values())),
        extras={"trial": trial.name, "arena": arena.name, KIND: trial.contest},
    )


def _documents(trial: Trial, held: Contest, arena: Arena, behaviours: Sequence[Behaviour]) -> dict[str, str]:
    """Return what a recording carries: behaviours, rules, layout, and cards that do not ship."""
    layout = Path(trial.layout or "random").name.split(".")[0]
    documents = {name: text for played in behaviours for name, text in played.documents.items()}
    documents[f"{Path(held.name).name}{RULES_SUFFIX}"] = held.rules_text
    documents[f"{layout}.layout.yaml"] = layout_text(arena.boxes, layout)
    cards = [played.robot for played in behaviours if not ships(played.robot)]
    return documents | {card_document(card.name): card.text for card in cards}


class _Reporting:
    """Tells how a trial goes, every so often in the plant's time."""

    def __init__(self, referee: Referee | None, on_progress: Callable[[Progress], None]) -> None:
        self._referee = referee
        self._on_progress = on_progress
        self._next_s = 0.0

    def watch(self, block: Block) -> bool:
        """Report when it is time to; never stops a trial."""
        time_s, decision = block.state.time_s, block.requests.decision
        if decision is not None and time_s >= self._next_s:
            self._next_s = time_s + REPORT_EVERY_S
            standing = "" if self._referee is None else self._referee.progress()
            self._on_progress(Progress(time_s, decision.state, decision.playing, standing))
        return False


def _can_be_judged(plant: Plant) -> bool:
    """Tell whether it is known where the robots are, and somebody can put them back."""
    return all(
        isinstance(body, Supervisor) and body.observe().truth is not None for body in plant.bodies.values()
    )


def _perform(
    stage: _Stage,
    on_progress: Callable[[Progress], None] | None,
    make_watcher: Callable[[Any], Watcher] | None,
    pace: Clock | None,
    wall_clock: Callable[[], float],
) -> float:
    """Let the trial run, and return how long that took by the clock [s]."""
    plant, recorder, held = stage.plant, stage.recorder, stage.contest
    watchers: list[Watcher] = [recorder]
    referee: Referee | None = None
    if _can_be_judged(plant):
        supervisors: dict[str, Any] = dict(plant.bodies)
        referee = held.referee(stage.arena, supervisors, recorder.note)
        watchers.append(referee)
    if on_progress is not None:
        watchers.append(_Reporting(referee, on_progress))
    if make_watcher is not None:
        watchers.append(make_watcher(plant))
    controllers: dict[str, Controller] = {
        name: BehaviourController(played, stage.seed) for name, played in stage.behaviours.items()
    }
    recorder.note(Event(0.0, "start", {}))
    began = wall_clock()
    drive(plant, controllers, until_s=held.longest_s, watchers=watchers, clock=pace)
    return wall_clock() - began
