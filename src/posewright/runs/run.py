"""Run a trial: robots, their behaviours, a contest and a seed -> recording -> score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from posewright.arenas import Arena, layout_faults, layout_text, read_arena
from posewright.bodies import Part, Plant, Supervisor, TorquePolicy
from posewright.codegen.hil.boards import PYTHON, WHOLE, Board, BoardProgram, OnBoard, board_named
from posewright.codegen.hil.controllers import LinkedController
from posewright.contests import RESTARTS, Contest, Entry, Referee, Score, contest, judge
from posewright.contests.registry import KIND
from posewright.control import Block, Clock, Watcher, drive
from posewright.controllers.behaviours import BehaviourController
from posewright.documents import read_text, refuse_unwritable
from posewright.errors import InputError, UnknownNameError
from posewright.figures import camera_topics, card_document, refuse_camera, refuse_cameras
from posewright.network.served.remote_plant import Latencies, RemotePlant
from posewright.recordings import ROWS_EVERY, Event, Header, Recorder, Recording, RobotHeader, write_mcap
from posewright.recordings.header import RULES_SUFFIX
from posewright.robots import is_path, robot, ships
from posewright.runs.driving import released_on_failure
from posewright.runs.outcome import Outcome, Unjudged
from posewright.runs.plants import SIMULATION, body_of, make_plant
from posewright.runs.played import Played, controller_of, read_played, robot_for
from posewright.runs.stillness import NOTHING_MOVED, StillWatch
from posewright.runs.trial import Trial, read_trial
from posewright.runtimes.robobasic import RoboBasicController
from posewright.runtimes.robobasic.board import EVENT as PROGRAM
from posewright.search.plan import MAX_SEED, checked_seed
from posewright.version import __version__

REPORT_EVERY_S = 0.5
"""How much of the plant's time lies between two reports of progress [s]."""

Controllers = dict[str, BehaviourController | LinkedController | RoboBasicController]

SMALLER = {"obstacle_race": "document_mealy"}
"""Of shipped behaviours whose chart fits no small board, one of the same contest whose chart does."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How a trial goes at a time in the plant [s]: the chart's state, what it plays, the referee's words.

    Attributes:
        recording: gives what was recorded so far, while it is being told.
    """

    time_s: float
    state: str
    playing: str | None
    standing: str
    recording: Callable[[], Recording] = field(repr=False)


def run_trial(
    trial: str | Path | Trial = "obstacle-race",
    *,
    layout: str | Path | None = None,
    seed: int | None = None,
    behaviour: str | Path | None = None,
    motions: str | Path | None = None,
    body: str = SIMULATION,
    controller: str | Board = PYTHON,
    legal: bool = False,
    to_film: bool = False,
    camera: str | None = None,
    record: str | Path | None = None,
    cameras: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
    make_watcher: Callable[[Any], Watcher] | None = None,
    pace: Clock | None = None,
    clock: Callable[[], float] | None = None,
    on_end: TorquePolicy = TorquePolicy.RELEASE,
) -> Outcome:
    """Run a trial.

    Args:
        trial: name of a trial or of a contest, path of a trial, or a trial.
        layout: name of a layout, path of one, or `random`; the trial's own where none is given.
        seed: of everything drawn by chance; the trial's own where none is given.
        behaviour: name or path, also of a RoboBASIC program (`*.bas`); the trial's own where none is given.
        motions: file of the robot's maker to take those motions from for which the behaviour names a page.
        body: one of `plant_names()`; or `random` or a `*.bodies.yaml`: a simulated body that the seed draws.
        controller: where the behaviour is run: one of those of `board_named`, or a board of one's own.
        legal: whether a layout that breaks the rules is refused; else `Outcome.remarks` say what is wrong.
        to_film: whether it is to be filmed, which needs a body that knows where it is.
        camera: who films, refused before the run begins where there is none of that name.
        record: where to write the recording as MCAP; of a run that failed or was ended, as far as it went.
        cameras: of the robots, whose pictures the file is to have; they are drawn when the run is over.
        on_progress: is called twice a second of the plant's time.
        make_watcher: makes one more watcher, of the plant: a live window on the simulated world, for one.
        pace: how frames are paced, `RealClock(time.monotonic, time.sleep)` say; simulated time by default.
        clock: a wall clock [s], for `Outcome.wall_s`.
        on_end: what the servos do when the trial is over; one that failed always releases them.

    Raises:
        InputError: something that was handed in is wrong, or there is no such camera or controller.
        OutputError: the recording cannot be written there; told before the trial is run.
        BodyError: the body failed, or does not know what the referee must see; or no board answers.
        UnavailableError: there is no window for the watcher, or no compiler for the board.
    """
    place = board_named(controller) if isinstance(controller, str) else controller
    _refuse_record(record, cameras)
    asked = _asked(trial, layout, behaviour, seed, small=place is not None and place.name != WHOLE)
    stage = _set_up(asked, motions, body, legal=legal)
    with released_on_failure(stage.plant):
        on_board = None if place is None else place.program(next(iter(stage.behaviours.values())))
    controllers = _ready(stage, on_board, cameras, to_film=to_film, camera=camera)
    try:
        how: Any = {"on_progress": on_progress, "make_watcher": make_watcher, "still_s": asked.still_s}
        wall_s = _drive_trial(stage, controllers, **how, pace=pace, wall_clock=clock, on_end=on_end)
    finally:
        recording, board = _kept(stage, record, cameras), _let_go(controllers, on_board)
    said = {"behaviour": behaviour, "layout": layout, "seed": seed, "rules": asked.rules or None}
    remarks, assumed = _remarks(stage, recording), _assumed(stage, trial, said)
    return Outcome(recording, _judged(stage, recording), wall_s, remarks, assumed, board, _link(stage.plant))


def _refuse_record(record: str | Path | None, cameras: Sequence[str]) -> None:
    """Refuse a recording that could not be written, and pictures that would stand in none."""
    if record is not None:
        refuse_unwritable(Path(record))
    elif cameras:
        raise InputError("no recording is written that could have pictures", hint="record=, or --record FILE")


def _ready(
    stage: _Stage, on_board: BoardProgram | None, cameras: Sequence[str], *, to_film: bool, camera: str | None
) -> Controllers:
    with released_on_failure(stage.plant):
        refuse_cameras(stage.recorder.header, cameras)
        _look_before(stage, to_film=to_film or bool(cameras), camera=camera)
        return _controllers(stage, on_board)


def _kept(stage: _Stage, record: str | Path | None, cameras: Sequence[str]) -> Recording:
    """Return what was recorded, written where asked: above all of a run that failed one wants to know how."""
    recording = stage.recorder.recording()
    if record is not None:
        knows = all(one.knows_place for one in recording.robots.values())
        write_mcap(recording, Path(record), camera_topics(recording, cameras if knows else ()))
    return recording


def _asked(
    trial: str | Path | Trial,
    layout: str | Path | None,
    behaviour: str | Path | None,
    seed: int | None,
    *,
    small: bool,
) -> Trial:
    told = trial if isinstance(trial, Trial) else read_trial(trial)
    own = isinstance(trial, Trial) or is_path(trial)
    if small and behaviour is None and not own:
        behaviour = SMALLER.get(told.behaviour)
    return replace(
        told,
        robot=told.robot if own else robot_for(behaviour, told.robot),
        layout=told.layout if layout is None else str(layout),
        behaviour=told.behaviour if behaviour is None else str(behaviour),
        seed=told.seed if seed is None else checked_seed(seed),
    )


def _link(plant: Plant) -> Latencies | None:
    return plant.latencies if isinstance(plant, RemotePlant) else None


def _judged(stage: _Stage, recording: Recording) -> Score:
    if _can_be_judged(stage.plant):
        return judge(recording, stage.contest)
    return Unjudged(recording, warnings=("nobody knew where the robot was: there is no score",))


def _assumed(stage: _Stage, trial: str | Path | Trial, said: Mapping[str, object]) -> dict[str, str]:
    """Return what a shipped trial, or a contest, chose of what nobody has `said`, one's own trial neither."""
    found: dict[str, str] = {}
    if not (isinstance(trial, Trial) or is_path(trial)):
        played, header = next(iter(stage.behaviours.values())), stage.recorder.header
        found = {"robot": played.robot.name, "behaviour": played.name}
        found |= {"layout": header.layout, "seed": str(header.seed)}
    found["rules"] = stage.contest.name
    return {what: value for what, value in found.items() if value and said.get(what) is None}


def _remarks(stage: _Stage, recording: Recording) -> tuple[str, ...]:
    ends = [(one.time_s, str(one.data.get("reason"))) for one in recording.events_of("stop")]
    still = [f"ended at {at:.1f} s: {why}" for at, why in ends if why.startswith(NOTHING_MOVED)]
    return (
        *(line for played in stage.behaviours.values() for line in played.warnings),
        *(str(one.data["message"]) for one in recording.events_of(PROGRAM) if one.data["what"] == "error"),
        *(f"layout: {fault.message}" for fault in layout_faults(stage.arena.boxes, stage.arena)),
        *(f"{line}; `still_s: 0` in a trial document waits on" for line in still),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Stage:
    """Everything a trial needs, ready to begin; behaviours by the robots' names in the plant."""

    contest: Contest
    arena: Arena
    plant: Plant
    behaviours: dict[str, Played]
    recorder: Recorder
    seed: int


def _set_up(trial: Trial, motions: str | Path | None, body: str, *, legal: bool) -> _Stage:
    held = contest(trial.contest, read_text(Path(trial.rules)) if trial.rules else None, trial.rules)
    arena = _field(trial, held, legal=legal)
    if (trial.layout or legal) and not arena.box_kinds:
        raise InputError(f"{held.name} has no layouts: no boxes stand on its field", hint="leave it out")
    if not is_path(trial.arena) and trial.arena not in {"", arena.name}:
        raise InputError(f"the arena is {trial.arena!r}", hint=f"{held.name} is run on {arena.name!r}")
    behaviours, parts = {}, []
    kind, domain = body_of(body, trial.seed)
    for number, (role, entry) in enumerate(_entries(trial, held).items()):
        vendor_file = None if number else motions
        played = read_played(entry.behaviour, robot(entry.robot), vendor_file=vendor_file)
        name = played.robot.name if len(held.entries) == 1 else role
        own = {sensor.name for sensor in played.robot.sensors}
        further = tuple(sensor for sensor in played.sensors if sensor.name not in own)
        place = held.start(role, arena)
        seed = _seed_of(trial.seed, number)
        how = {"touches": bool(getattr(held, "sees_contacts", False))}
        parts.append(Part(name, played.robot, played.start_pose, place, further, seed, domain, **how))
        behaviours[name] = played
    plant = make_plant(kind, parts, arena)
    header = _header(trial, held, arena, plant, behaviours)
    with released_on_failure(plant):
        recorder = Recorder(header, plant, every=ROWS_EVERY)
    return _Stage(held, arena, plant, behaviours, recorder, trial.seed)


def _field(trial: Trial, held: Contest, *, legal: bool) -> Arena:
    """Return the contest's field, or the one in the trial's own document with what boxes that has.

    Boxes of a layout that the trial names stand on either.
    """
    arena = held.field(trial.layout, trial.seed, legal=legal)
    if not is_path(trial.arena):
        return arena
    own = read_arena(trial.arena)
    return own.with_boxes(arena.boxes) if trial.layout else own


def _entries(trial: Trial, held: Contest) -> dict[str, Entry]:
    """Return who takes part, by role."""
    first, *others = held.entries
    for role in trial.opponents:
        if role not in others:
            raise UnknownNameError.among(f"role of an opponent in {held.name}", role, others)
    return {**held.entries, first: Entry(trial.robot, trial.behaviour), **trial.opponents}


_APART = 1_000_003
"""Seeds of the robots of one trial lie so far apart: what one draws by chance, another does not."""


def _seed_of(seed: int, number: int) -> int:
    return (seed + number * _APART) % (MAX_SEED + 1)


def documents_of(trial: Trial, motions: str | Path | None, body: str, *, legal: bool) -> dict[str, str]:
    """Return the texts a trial hangs on, but for what its seed draws; raises what running it would raise.

    A robot's model is told as hexadecimal digits.
    """
    stage = _set_up(trial, motions, body, legal=legal)
    documents = dict(stage.recorder.header.documents)
    if trial.layout in {"", "random"}:
        documents.pop("random.layout.yaml", None)
    for role, played in stage.behaviours.items():
        card = played.robot
        documents[card_document(card.name)] = card.text
        if card.model_path is not None:
            documents[f"model of {role}"] = card.model_path.read_bytes().hex()
    return documents


def _look_before(stage: _Stage, *, to_film: bool, camera: str | None) -> None:
    """Refuse a box where a robot starts, a film of who is nobody knows where, and one by no camera."""
    if camera is not None:
        refuse_camera(camera, {name: played.robot.sensors for name, played in stage.behaviours.items()})
    for (name, body), role in zip(stage.plant.bodies.items(), stage.contest.entries, strict=True):
        truth = body.observe().truth
        if truth is None:
            if to_film:
                raise InputError(f"there is nothing to film: {name} does not know where it is")
        elif truth.box_contacts.any():
            x, y, _ = stage.contest.start(role, stage.arena)
            box = int(truth.box_contacts.any(axis=0).argmax()) + 1
            what = f"the layout has box {box} where {name} starts"
            raise InputError(what, hint=f"the robot begins at x = {x:g}, y = {y:g} m and touches it there")


def _header(trial: Trial, held: Contest, arena: Arena, plant: Plant, behaviours: dict[str, Played]) -> Header:
    return Header(
        robots={
            name: RobotHeader.of(plant.bodies[name], f"behaviour {behaviour.name}")
            for name, behaviour in behaviours.items()
        },
        contest=held.name,
        layout=_layout_name(trial, arena),
        boxes=tuple((box.x, box.y, box.yaw_rad) for box in arena.boxes),
        seed=trial.seed,
        version=__version__,
        arena=arena.to_dict(),
        documents=_documents(trial, held, arena, behaviours),
        extras={"trial": trial.name, "arena": arena.name, KIND: trial.contest},
    )


def _layout_name(trial: Trial, arena: Arena) -> str:
    """Return what a layout is called; nothing where no boxes stand on the field."""
    drawn = arena.name if is_path(trial.arena) else "random"
    return Path(trial.layout or (drawn if arena.boxes else "")).name


def _documents(trial: Trial, held: Contest, arena: Arena, behaviours: Mapping[str, Played]) -> dict[str, str]:
    """Return what a recording carries: behaviours, rules, layout, and cards that do not ship."""
    layout = _layout_name(trial, arena).split(".")[0]
    documents: dict[str, str] = {}
    for role, played in behaviours.items():
        for name, text in played.documents.items():
            is_taken = documents.get(name, text) != text
            documents[f"{role}/{name}" if is_taken else name] = text
    documents[f"{Path(held.name).name}{RULES_SUFFIX}"] = held.rules_text
    if layout:
        documents[f"{layout}.layout.yaml"] = layout_text(arena.boxes, layout)
    cards = [played.robot for played in behaviours.values() if not ships(played.robot)]
    return documents | {card_document(card.name): card.text for card in cards}


class _Reporting:
    """Tells how a trial goes, every so often in the plant's time."""

    def __init__(
        self, referee: Referee | None, recorder: Recorder, on_progress: Callable[[Progress], None]
    ) -> None:
        self._referee = referee
        self._recorder = recorder
        self._on_progress = on_progress
        self._next_s = 0.0

    def watch(self, block: Block) -> bool:
        """Report when it is time to; never stops a trial."""
        time_s, decision = block.state.time_s, block.requests.decision
        if decision is not None and time_s >= self._next_s:
            self._next_s = time_s + REPORT_EVERY_S
            standing = "" if self._referee is None else self._referee.progress()
            said = decision.state, decision.playing, standing
            self._on_progress(Progress(time_s, *said, self._recorder.recording))
        return False


def _can_be_judged(plant: Plant) -> bool:
    """Tell whether it is known where the robots are, and somebody can put them back."""
    return all(
        isinstance(body, Supervisor) and body.observe().truth is not None for body in plant.bodies.values()
    )


def _controllers(stage: _Stage, on_board: BoardProgram | None) -> Controllers:
    """Return a controller for every robot; of the first one on a board, where one is asked for."""
    made: Controllers = {
        name: controller_of(one, _seed_of(stage.seed, number))
        for number, (name, one) in enumerate(stage.behaviours.items())
    }
    if on_board is not None:
        made[next(iter(stage.behaviours))] = on_board.controller(stage.seed)
    return made


def _let_go(controllers: Controllers, on_board: BoardProgram | None) -> OnBoard | None:
    """Let go of the board, where there is one, and return what is known of it."""
    for each in controllers.values():
        if isinstance(each, LinkedController):
            each.close()
    return None if on_board is None else on_board.report()


def _drive_trial(
    stage: _Stage,
    controllers: Controllers,
    *,
    on_progress: Callable[[Progress], None] | None,
    make_watcher: Callable[[Any], Watcher] | None,
    pace: Clock | None,
    wall_clock: Callable[[], float] | None,
    still_s: float,
    on_end: TorquePolicy,
) -> float:
    """Let the trial run, and return how long that took by the clock [s]."""
    plant, recorder, held = stage.plant, stage.recorder, stage.contest

    def note(event: Event) -> None:
        recorder.note(event)
        if event.kind in RESTARTS:
            for one in controllers.values():
                one.restart()

    watchers: list[Watcher] = [recorder]
    referee: Referee | None = None
    if _can_be_judged(plant):
        supervisors: dict[str, Any] = dict(plant.bodies)
        referee = held.referee(stage.arena, supervisors, note)
        watchers.append(referee)
    if still_s > 0.0:
        watchers.append(StillWatch(still_s, note))
    if on_progress is not None:
        watchers.append(_Reporting(referee, recorder, on_progress))
    if make_watcher is not None:
        watchers.append(make_watcher(plant))
    recorder.note(Event(0.0, "start", {}))
    now = wall_clock or (lambda: 0.0)
    began = now()
    drive(plant, controllers, until_s=held.longest_s, watchers=watchers, clock=pace, on_end=on_end)
    return now() - began
