"""Trials: documents that name a contest, its field, and the robots with their programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from posewright.arenas import Arena, read_arena
from posewright.bodies import Clock, Plant, StartPosture, TorquePolicy, read_posture
from posewright.codegen.hil.boards import PYTHON, Board, BoardProgram, find_board
from posewright.contests import (
    Contest,
    DefaultEntry,
    ObstacleRace,
    contest,
    contest_names,
    prepare_own_field,
)
from posewright.contests.registry import KIND
from posewright.control import Controller, ControllerFactory, Program, ProgramWithController, Watcher
from posewright.controllers.behaviours import behaviour_names
from posewright.documents import Catalogue, Node, is_file, read_document, read_text
from posewright.documents.plain import PlainData
from posewright.errors import InputError, UnknownNameError
from posewright.hazards import require_no_faults
from posewright.recordings import ROWS_EVERY, card_document
from posewright.robots import Robot, is_path, robot
from posewright.runs.outcome import Outcome
from posewright.runs.plants import SIMULATION, choose_plant
from posewright.runs.programs import find_faults_of_program, names_behaviour, read_program
from posewright.runs.provenance import BODY, PROGRAMS, ProgramOrigin, without_folder
from posewright.runs.python_programs import (
    PythonKind,
    controller_factory,
    controller_name,
    load_object,
)
from posewright.runs.run import Outputs, Progress, Run, run
from posewright.runs.streams import Derivation, read_derivation
from posewright.runs.user_controller import source_documents
from posewright.search.plan import MAX_SEED, require_seed

_TRIALS = Catalogue("trial", ".trial.yaml", lambda: (Path(__file__).parent / "catalogue",))
_RACE = "obstacle-race"
STILL_S = 30.0
"""By default a trial ends when nothing has moved for so long [s]."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The content of a trial document: robot, behaviour and layout by name or path, a contest by name.

    Attributes:
        name: the name of the trial.
        robot: name or path of the first robot's card.
        behaviour: name or path of the first robot's program.
        contest: its name.
        rules: path of a document of rules that replaces the contest's own; else empty.
        arena: path of an arena document that replaces the contest's field; or the name of the contest's
            field; or empty.
        layout: may be `random`; empty for the contest's default.
        seed: the seed of everything random.
        opponents: robots and programs of the other roles, where they differ from the contest's defaults.
        options: further options of the first robot's program, by names that its kind defines.
        still_s: the trial ends when nothing has moved for so long; 0 for never [s].
    """

    name: str
    robot: str
    behaviour: str
    contest: str
    rules: str = ""
    arena: str = ""
    layout: str = ""
    seed: int = 0
    still_s: float = STILL_S
    opponents: Mapping[str, DefaultEntry] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


def trial_names() -> tuple[str, ...]:
    """Return the names of the trials in the catalogue."""
    return _TRIALS.names()


def read_trial(name_or_path: str | Path) -> Trial:
    """Read a trial by its name in the catalogue or its path; for a contest's name return its default trial.

    Raises:
        UnknownNameError: neither a trial, nor a contest, nor a file.
        DocumentError: it is not a trial document.
        InputError: the contest's package is broken.
    """
    name = str(name_or_path)
    is_in_catalogue = name in trial_names()
    if not is_in_catalogue and name in contest_names():
        entry = next(iter(contest(name).entries.values()))
        return Trial(name=name, robot=entry.robot, behaviour=entry.behaviour, contest=name)
    path = _TRIALS.find(name_or_path, extra_names=contest_names())
    return _parse_trial(read_document(path), folder=None if is_in_catalogue else path.parent)


def _parse_trial(root: Node, *, folder: Path | None) -> Trial:
    """Return the trial in a document.

    Args:
        root: the document.
        folder: where paths in the document begin; None for a document with names only.
    """
    fields = root.fields(
        required=("trial", "robot", "behaviour", "contest"),
        optional=("arena", "seed", "still_s", "opponents", "options"),
    )
    arena = fields["arena"].fields(required=("kind",), optional=("layout",)) if "arena" in fields else {}
    contest_name, rules_path = _parse_contest(fields["contest"], folder)
    return Trial(
        name=fields["trial"].text(),
        robot=_resolve_card(fields["robot"].text(), folder),
        behaviour=_resolve_file(fields["behaviour"].text(), folder),
        contest=contest_name,
        rules=rules_path,
        arena=_resolve_file(arena["kind"].text(), folder) if arena else "",
        layout=_resolve_file(arena["layout"].text(), folder) if "layout" in arena else "",
        seed=fields["seed"].integer(low=0, high=MAX_SEED) if "seed" in fields else 0,
        still_s=fields["still_s"].number(low=0.0, high=3600.0) if "still_s" in fields else STILL_S,
        opponents=_parse_opponents(fields["opponents"], folder) if "opponents" in fields else {},
        options={
            name: _resolve_file(node.text(), folder) for name, node in fields["options"].fields().items()
        }
        if "options" in fields
        else {},
    )


def _parse_opponents(node: Node, folder: Path | None) -> dict[str, DefaultEntry]:
    """Return the entries of the other roles, by role."""
    entries = {}
    for role, entry in node.fields().items():
        fields = entry.fields(required=("robot", "behaviour"), optional=())
        entries[role] = DefaultEntry(
            robot=_resolve_card(fields["robot"].text(), folder),
            behaviour=_resolve_file(fields["behaviour"].text(), folder),
        )
    return entries


def _parse_contest(node: Node, folder: Path | None) -> tuple[str, str]:
    """Return a contest's name, and the path of the rules that replace its own; else an empty path."""
    if isinstance(node.value, str):
        text = _resolve_file(node.text(), folder)
        return (_RACE, text) if text.endswith((".yaml", ".yml")) else (text, "")
    fields = node.fields(required=("name", "rules"), optional=())
    return fields["name"].text(), _resolve_file(fields["rules"].text(), folder)


def _resolve_card(name: str, folder: Path | None) -> str:
    """Return a robot's name as it is, and the path of a card with the document's folder in front."""
    if folder is None or not is_path(name) or Path(name).is_absolute():
        return name
    return f"{folder}/{name}"


def _resolve_file(name: str, folder: Path | None) -> str:
    """Return a name as it is, and the path of an existing file with the document's folder in front.

    The name of a class in a Python file, `mine.py:Mine`, is such a path, too.
    """
    file, _, _class_name = name.rpartition(":")
    path = file if file.endswith(".py") else name
    if folder is None or Path(path).is_absolute() or not is_file(folder / path):
        return name
    return f"{folder}/{name}"  # always with a slash, which distinguishes it from a name


ControllerSource = str | Board | Controller | ControllerFactory | Callable[[], Controller]
"""Replaces the controller of a program, or names the board that it runs on; see `run_trial`."""


@dataclass(frozen=True)
class TrialOptions:
    """Options that override a trial's document; None keeps the document's value.

    Attributes:
        layout: name or path of a layout, or `random`.
        seed: the seed of everything random.
        behaviour: name or path of a behaviour or another program, as for `read_program`.
        robot: name or path of the card of the robot that runs that behaviour; by default the trial's robot,
            or, for a program of another kind, that program's own robot.
        options: further options of the program, such as `{"motions": "humanoid.mtn"}`.
        body: what the trial runs on, as for `choose_plant`.
        controller: replaces the controller of the program, or names the board that it runs on:
            `arduino-uno`, `cm900`, `serial:PORT`, `mine.py:Mine`.
        require_legal_layout: whether a layout that breaks the rules is an error instead of a remark.
        get_up_s: time that the referee of a race leaves a fallen robot to get up by itself [s].
        posture: how the first robot, a simulated one, is put down at the start.
        derivation: how streams of random numbers are derived from the seed.
        accept_faults: whether a body that may be a real robot plays motions in which `motion check` reports
            errors.
    """

    layout: str | None = None
    seed: int | None = None
    behaviour: str | None = None
    robot: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    body: str = SIMULATION
    controller: ControllerSource = PYTHON
    require_legal_layout: bool = False
    get_up_s: float | None = None
    posture: StartPosture = StartPosture.STANDING
    derivation: Derivation = Derivation.NAMED
    accept_faults: bool = False


def trial_run(trial: Trial, options: TrialOptions | None = None) -> Run:
    """Return the run of a trial: names are replaced by the objects that they refer to.

    Raises:
        InputError: the trial or an option has an error.
        UnknownNameError: no contest, arena, layout, robot, program, body or controller has such a name.
        UnsafeMotionError: the body may be a real robot, `motion check` reports errors in a motion of a
        program,
            and they are not accepted.
        UnavailableError: there is no compiler for the board.
    """
    options = options or TrialOptions()
    layout = trial.layout if options.layout is None else options.layout
    seed = trial.seed if options.seed is None else require_seed(options.seed)
    rules = read_text(Path(trial.rules)) if trial.rules else None
    trial_contest = contest(trial.contest, rules, trial.rules)
    if options.get_up_s is not None:
        if not isinstance(trial_contest, ObstacleRace):
            hint = "only the referee of the obstacle race puts fallen robots back at once"
            raise InputError(f"{trial_contest.name} has no time to get up to be set", hint=hint)
        trial_contest = trial_contest.with_get_up_time(options.get_up_s)
    arena = _make_arena(trial, trial_contest, layout, seed, require_legal_layout=options.require_legal_layout)
    programs = _read_programs(trial, trial_contest, options)
    choice = choose_plant(options.body)
    choice.require_posture(options.posture)
    if choice.may_be_real:
        for program in programs.values():
            faults = find_faults_of_program(program)
            require_no_faults(faults, program.name, accept_faults=options.accept_faults)
    role_by_name = dict(zip(programs, trial_contest.entries, strict=True))
    prepared_run = Run(
        trial.name,
        programs,
        trial_contest.longest_s,
        make_plant=choice.make,
        arena=arena,
        starts={name: trial_contest.start(role, arena) for name, role in role_by_name.items()},
        postures={next(iter(programs)): options.posture},
        contest=trial_contest,
        seed=seed,
        derivation=options.derivation,
        still_s=trial.still_s,
        layout=_layout_name(trial, layout, arena),
        extras={
            KIND: trial.contest,
            PROGRAMS: _describe_origins(trial, trial_contest, options, programs),
            BODY: options.body.partition(":")[0] if ":" in options.body else without_folder(options.body),
        },
        outputs=Outputs(rows_every=ROWS_EVERY),
    )
    return replace(prepared_run, domain=choice.domain(prepared_run.streams.body))


def _make_arena(
    trial: Trial, trial_contest: Contest, layout: str, seed: int, *, require_legal_layout: bool
) -> Arena:
    """Return the contest's field, or that of the trial's arena document; a named layout stands on either."""
    if is_path(trial.arena):
        own_arena = read_arena(trial.arena)
        return prepare_own_field(trial_contest, own_arena, layout, seed, legal=require_legal_layout)
    arena = trial_contest.field(layout, seed, legal=require_legal_layout)
    if trial.arena not in {"", arena.name}:
        raise InputError(
            f"{trial_contest.name} cannot be run in the arena {trial.arena!r}", hint=f"use {arena.name!r}"
        )
    if (layout or require_legal_layout) and not arena.box_kinds:
        raise InputError(
            f"{trial_contest.name} has no layouts: no boxes stand on its field", hint="leave it out"
        )
    return arena


def _read_programs(trial: Trial, trial_contest: Contest, options: TrialOptions) -> dict[str, Program]:
    """Return the programs by the names of their robots in the plant, in the order of the contest's roles."""
    first_role, *other_roles = trial_contest.entries
    for role in trial.opponents:
        if role not in other_roles:
            raise UnknownNameError.among("opponent", role, other_roles, owner=f"in {trial_contest.name}")
    request = _request_first_program(trial, trial_contest, options)
    first_program = read_program(request.name, request.card, options=request.options)
    first_program = _with_controller(first_program, options.controller)
    if not other_roles:  # a single robot has its own name instead of a role
        return {first_program.robot.name: first_program}
    programs = {first_role: first_program}
    for role in other_roles:
        entry = trial.opponents.get(role, trial_contest.entries[role])
        programs[role] = read_program(entry.behaviour, robot(entry.robot))
    return programs


class _ProgramRequest(NamedTuple):
    """What `read_program` needs: the program's name, the robot's card or None, and options."""

    name: str
    card: Robot | None
    options: Mapping[str, str]


def _request_first_program(trial: Trial, trial_contest: Contest, options: TrialOptions) -> _ProgramRequest:
    """Return the request for the program of the first role: that of the options, else that of the trial.

    The trial's robot runs the trial's own program and any behaviour. A program of another kind has a robot of
    its own, unless the options name one.
    """
    name = trial.behaviour if options.behaviour is None else options.behaviour
    uses_trial_robot = options.behaviour is None or names_behaviour(name)
    card_name = options.robot or (trial.robot if uses_trial_robot else None)
    card = None if card_name is None else robot(card_name)
    program_options = dict(merge_program_options(trial, options))
    if PythonKind().recognises(name) and "like" not in program_options:
        reference = _reference_behaviour(trial, trial_contest, card)
        if reference is not None:
            program_options["like"] = reference
    return _ProgramRequest(name, card, program_options)


def _describe_origins(
    trial: Trial, trial_contest: Contest, options: TrialOptions, robot_names: Iterable[str]
) -> dict[str, PlainData]:
    """Return where the program of each robot came from, for a recording; robots in the order of the roles."""
    first = _request_first_program(trial, trial_contest, options)
    controller = options.controller
    if isinstance(controller, Board):
        controller_name_or_board = controller.name
    elif isinstance(controller, str):
        controller_name_or_board = "" if controller == PYTHON else without_folder(controller)
    else:
        controller_name_or_board = controller_name(controller)
    short_options = {name: without_folder(value) for name, value in first.options.items()}
    origins = [ProgramOrigin(without_folder(first.name), short_options, controller_name_or_board)]
    for role in list(trial_contest.entries)[1:]:
        entry = trial.opponents.get(role, trial_contest.entries[role])
        origins.append(ProgramOrigin(without_folder(entry.behaviour)))
    return {name: origin.to_dict() for name, origin in zip(robot_names, origins, strict=True)}


def _reference_behaviour(trial: Trial, trial_contest: Contest, card: Robot | None) -> str | None:
    """Return the behaviour whose sensors and start pose a Python program uses.

    It is the trial's behaviour, else the contest's default one, if it is for the same robot; else None.
    """
    entry = next(iter(trial_contest.entries.values()))
    candidates = [(trial.robot, trial.behaviour), (entry.robot, entry.behaviour)]
    for robot_name, behaviour in candidates:
        is_behaviour = behaviour in behaviour_names() or behaviour.endswith((".yaml", ".yml"))
        if is_behaviour and (card is None or robot(robot_name).name == card.name):
            return behaviour
    return None


def merge_program_options(trial: Trial, options: TrialOptions) -> Mapping[str, str]:
    """Return the options of the first robot's program; those of the trial apply only to its own behaviour."""
    return {**trial.options, **options.options} if options.behaviour is None else options.options


def _with_controller(program: Program, controller: ControllerSource) -> Program:
    """Return the program with another controller, or on a board.

    Args:
        program: the program.
        controller: a board or its name; `python` for the program as it is; or a controller, something that
            creates one, or the name of either in a Python file.
    """
    if isinstance(controller, Board):
        return controller.program(program)
    if isinstance(controller, str) and not PythonKind().recognises(controller):
        board = find_board(controller)
        return program if board is None else board.program(program)
    source = load_object(controller) if isinstance(controller, str) else controller
    name = controller if isinstance(controller, str) else ""
    return ProgramWithController(
        program,
        factory=controller_factory(source, name),
        name=controller_name(source),
        source=source_documents(source),
    )


def _layout_name(trial: Trial, layout: str, arena: Arena) -> str:
    """Return the name of the layout for recordings; empty if no boxes stand on the field."""
    if not layout and arena.boxes:
        layout = arena.name if is_path(trial.arena) else "random"
    return Path(layout).name


def run_trial(
    trial: str | Path | Trial = "obstacle-race",
    *,
    arena: str | Path | None = None,
    layout: str | Path | None = None,
    seed: int | None = None,
    behaviour: str | Path | None = None,
    robot: str | Path | None = None,
    options: Mapping[str, str] | None = None,
    motions: str | Path | None = None,
    body: str = SIMULATION,
    controller: ControllerSource = PYTHON,
    legal: bool = False,
    get_up_s: float | None = None,
    start_posture: str = StartPosture.STANDING.value,
    streams: str = Derivation.NAMED.value,
    to_film: bool = False,
    camera: str | None = None,
    record: str | Path | None = None,
    cameras: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
    make_watcher: Callable[[Plant], Watcher] | None = None,
    pace: Clock | None = None,
    clock: Callable[[], float] | None = None,
    on_end: TorquePolicy = TorquePolicy.RELEASE,
    accept_faults: bool = False,
) -> Outcome:
    """Run a trial.

    Args:
        trial: a trial; or the name of a trial or of a contest; or the path of a trial document.
        arena: path of an arena document whose field and boxes replace those of the trial.
        layout: name or path of a layout, or `random`; by default the trial's.
        seed: the seed of everything random; by default the trial's.
        behaviour: name or path of a behaviour, or of any other program that `read_program` reads: `race.bas`,
            a CONNECT.CFG, `robi:startup`, `mine.py:Mine`; by default the trial's.
        robot: name or path of the card of the robot that runs that behaviour; by default the trial's robot,
            or, for a program of another kind, that program's own robot.
        options: further options of the program, by names that its kind defines.
        motions: motion file of the robot's maker, with the motions for which the behaviour names a page; the
            option `motions` of behaviours.
        body: what the trial runs on: one of `plant_names()`, the address of a link, or `random` or a
            `*.bodies.yaml` for a simulated body that is drawn by the seed.
        controller: replaces the program's controller: a `Controller`, or a class or function that takes a
            program and a seed, or nothing, and returns one; or names where the behaviour runs: `python`,
            `arduino-uno`, `cm900`, `serial:PORT[@BAUD]`.
        legal: whether a layout that breaks the rules is an error; else `Outcome.remarks` describes it.
        get_up_s: time that the referee of a race leaves a fallen robot to get up by itself, which changes
            the rules; by default that of the rules, 0 in those of CEABOT [s].
        start_posture: how the first robot, a simulated one, is put down at the start: `standing`,
            `lying_front`, `lying_back`, `lying_left` or `lying_right`.
        streams: how random streams are derived from a seed; `2026-11` as in recordings up to that version.
        to_film: whether the trial is to be filmed, which requires a body with ground truth.
        camera: the camera that will film it; it is checked before the run.
        record: where the recording is written as MCAP; also that of a run that failed or was stopped.
        cameras: cameras of the robots whose pictures that file contains; they are rendered after the run.
        on_progress: called twice a second of simulated time.
        make_watcher: makes an additional watcher of the plant, such as a live window.
        pace: how frames are paced, such as `RealClock(time.monotonic, time.sleep)`; by default a simulation
            runs as fast as it can.
        clock: a wall clock [s], to measure `Outcome.wall_s`.
        on_end: what the servos do when the trial is over; after a failure they are always released.
        accept_faults: whether a body that may be a real robot plays motions in which `motion check` reports
            errors.

    Raises:
        InputError: an argument is wrong, or there is no such camera or controller.
        UnsafeMotionError: the body may be a real robot, `motion check` reports errors in a motion, and
            `accept_faults` is false; nothing has moved.
        OutputError: the recording cannot be written; this is checked before the run.
        BodyError: the body failed, or lacks the ground truth that the referee needs; or no board answers.
        UnavailableError: there is no window for the watcher, or no compiler for the board.
    """
    outputs = Outputs(
        None if record is None else Path(record),
        tuple(cameras),
        is_filmed=to_film,
        camera=camera,
        rows_every=ROWS_EVERY,
    )
    outputs.check()
    resolved_trial, trial_options = resolve_trial(
        trial,
        TrialOptions(
            layout=text_or_none(layout),
            seed=seed,
            behaviour=text_or_none(behaviour),
            robot=text_or_none(robot),
            options=add_motions(options, motions),
            body=body,
            controller=controller,
            require_legal_layout=legal,
            get_up_s=get_up_s,
            posture=read_posture(start_posture),
            derivation=read_derivation(streams),
            accept_faults=accept_faults,
        ),
    )
    if arena is not None:
        resolved_trial = replace(resolved_trial, arena=str(arena), layout="")
    prepared_run = replace(
        trial_run(resolved_trial, trial_options),
        outputs=outputs,
        plant_watchers=() if make_watcher is None else (make_watcher,),
        pace=pace,
        wall_clock=clock,
        on_progress=on_progress,
        on_end=on_end,
    )
    outcome = run(prepared_run)
    first_program = next(iter(prepared_run.programs.values()))
    board = first_program.report() if isinstance(first_program, BoardProgram) else None
    defaults = {} if _is_custom(trial) else _describe_defaults(trial_options, prepared_run)
    if not resolved_trial.rules and prepared_run.contest is not None:
        defaults["rules"] = prepared_run.contest.name
    remarks = outcome.remarks
    if choose_plant(body).may_be_real:
        for program in prepared_run.programs.values():
            remarks += tuple(f"could harm the robot: {fault}" for fault in find_faults_of_program(program))
    return replace(outcome, assumed=defaults, board=board, remarks=remarks)


def text_or_none(name_or_path: str | Path | None) -> str | None:
    """Return a name or path as text; None stays None."""
    return None if name_or_path is None else str(name_or_path)


def add_motions(options: Mapping[str, str] | None, motions: str | Path | None) -> dict[str, str]:
    """Return a program's options with the option `motions`, unless it is None."""
    return {**(options or {}), **({} if motions is None else {"motions": str(motions)})}


def resolve_trial(trial: str | Path | Trial, options: TrialOptions) -> tuple[Trial, TrialOptions]:
    """Return a trial, read if necessary, and its options.

    In a custom trial, the trial's robot runs any behaviour that replaces the trial's own.

    Raises:
        UnknownNameError: there is no such trial.
        DocumentError: it is not a trial document.
    """
    resolved_trial = trial if isinstance(trial, Trial) else read_trial(trial)
    if options.robot is None and _is_custom(trial):
        options = replace(options, robot=resolved_trial.robot)
    return resolved_trial, options


def _is_custom(trial: str | Path | Trial) -> bool:
    """Return whether a trial is the caller's own, not one of the catalogue or of a contest."""
    return isinstance(trial, Trial) or is_path(trial)


def _describe_defaults(options: TrialOptions, prepared_run: Run) -> dict[str, str]:
    """Return what the trial or the contest chose, by the name of each option that was not stated."""
    program = next(iter(prepared_run.programs.values()))
    defaults = {"robot": program.robot.name}
    if options.behaviour is None:
        defaults["behaviour"] = program.name
    if options.layout is None:
        defaults["layout"] = prepared_run.layout
    if options.seed is None:
        defaults["seed"] = str(prepared_run.seed)
    return {name: value for name, value in defaults.items() if value}


def trial_documents(trial: Trial, options: TrialOptions) -> dict[str, str]:
    """Return all texts that a trial depends on, except those that its seed draws, by name.

    Robot models are given as hexadecimal digits.

    Raises:
        PosewrightError: as running the trial would.
    """
    prepared_run = trial_run(trial, options)
    plant = prepared_run.make_plant(prepared_run.bodies, prepared_run.arena)
    try:
        documents = prepared_run.all_documents()
    finally:
        for body in plant.bodies.values():
            body.close()
    layout = trial.layout if options.layout is None else options.layout
    if layout in {"", "random"}:  # the seed draws it
        documents.pop("random.layout.yaml", None)
    for role, program in prepared_run.programs.items():
        card = program.robot
        documents[card_document(card.name)] = card.text
        if card.model_path is not None:
            documents[f"model of {role}"] = card.model_path.read_bytes().hex()
    return documents
