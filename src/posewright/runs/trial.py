"""Trials: documents that say who runs which contest on which field, read, made into a `Run`, and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from posewright.arenas import Arena, read_arena
from posewright.bodies import Clock, Plant, TorquePolicy
from posewright.codegen.hil.boards import PYTHON, Board, BoardProgram, find_board
from posewright.contests import Contest, DefaultEntry, contest, contest_names
from posewright.contests.registry import KIND
from posewright.control import Controller, ControllerFactory, Program, ProgramWithController, Watcher
from posewright.controllers.behaviours import behaviour_names
from posewright.documents import Catalogue, Node, is_file, read_document, read_text
from posewright.errors import InputError, UnknownNameError
from posewright.figures import card_document
from posewright.recordings import ROWS_EVERY
from posewright.robots import Robot, is_path, robot
from posewright.runs.outcome import Outcome
from posewright.runs.plants import SIMULATION, choose_plant
from posewright.runs.programs import names_behaviour, read_program
from posewright.runs.python_programs import PythonKind, controller_maker, load_object
from posewright.runs.run import Outputs, Progress, Run, run
from posewright.runs.streams import Derivation
from posewright.search.plan import MAX_SEED, require_seed

_TRIALS = Catalogue("trial", ".trial.yaml", lambda: (Path(__file__).parent / "catalogue",))
_RACE = "obstacle-race"
STILL_S = 30.0
"""A trial is ended when nothing has moved for so long, unless it says otherwise [s]."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be tried: robot, behaviour and layout by name or path, a contest by name.

    Attributes:
        rules: path of a document of rules, where they are not the contest's own; else empty.
        arena: name of the arena it is meant for, or path of an arena document on which the contest is to be
            held instead; empty for whichever the contest is held on.
        layout: may be `random`; empty for what the contest would choose.
        seed: of everything drawn by chance.
        opponents: who takes roles besides the first, where it is not whom the contest would take.
        options: what is said to the behaviour or program besides, by names that its kind has.
        still_s: the trial is ended when nothing has moved for so long; 0 for never [s].
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
    """Return the names of the trials that ship."""
    return _TRIALS.names()


def read_trial(name_or_path: str | Path) -> Trial:
    """Read a trial by the name it ships under, or from a document; a contest's name gives its own trial.

    Raises:
        UnknownNameError: neither a trial, nor a contest, nor a file.
        DocumentError: it is not a trial document.
        InputError: the contest's package is broken.
    """
    name = str(name_or_path)
    if name not in trial_names() and name in contest_names():
        entry = next(iter(contest(name).entries.values()))
        return Trial(name, entry.robot, entry.behaviour, name)
    path = _TRIALS.find(name_or_path, extra_names=contest_names())
    return _parse(read_document(path), beside=None if name in trial_names() else path.parent)


def _parse(root: Node, *, beside: Path | None) -> Trial:
    required = ("trial", "robot", "behaviour", "contest")
    parts = root.fields(required=required, optional=("arena", "seed", "still_s", "opponents", "options"))
    arena = parts["arena"].fields(required=("kind",), optional=("layout",)) if "arena" in parts else {}
    named, rules = _contest(parts["contest"], beside)
    return Trial(
        name=parts["trial"].text(),
        robot=_card(parts["robot"].text(), beside),
        behaviour=_resolved(parts["behaviour"].text(), beside),
        contest=named,
        rules=rules,
        arena=_resolved(arena["kind"].text(), beside) if arena else "",
        layout=_resolved(arena["layout"].text(), beside) if "layout" in arena else "",
        seed=parts["seed"].integer(low=0, high=MAX_SEED) if "seed" in parts else 0,
        still_s=parts["still_s"].number(low=0.0, high=3600.0) if "still_s" in parts else STILL_S,
        opponents=_opponents(parts["opponents"], beside) if "opponents" in parts else {},
        options={name: node.text() for name, node in parts["options"].fields().items()}
        if "options" in parts
        else {},
    )


def _opponents(node: Node, beside: Path | None) -> dict[str, DefaultEntry]:
    found = {}
    for role, entry in node.fields().items():
        parts = entry.fields(required=("robot", "behaviour"), optional=())
        card, behaviour = parts["robot"].text(), parts["behaviour"].text()
        found[role] = DefaultEntry(_card(card, beside), _resolved(behaviour, beside))
    return found


def _contest(node: Node, beside: Path | None) -> tuple[str, str]:
    """Return a contest's name, and the path of its rules where others than its own are to count."""
    if isinstance(node.value, str):
        text = _resolved(node.text(), beside)
        return (_RACE, text) if text.endswith((".yaml", ".yml")) else (text, "")
    parts = node.fields(required=("name", "rules"), optional=())
    return parts["name"].text(), _resolved(parts["rules"].text(), beside)


def _card(name: str, beside: Path | None) -> str:
    """Return a card's path relative to the document as one relative to here; a name stays as it is."""
    return name if beside is None or not is_path(name) or Path(name).is_absolute() else f"{beside}/{name}"


def _resolved(name: str, beside: Path | None) -> str:
    """Return a path relative to the document as one relative to here; names stay as they are."""
    if beside is not None and is_file(beside / name) and not Path(name).is_absolute():
        return f"{beside}/{name}"  # never without a slash, which tells it from a name
    return name


ControllerSource = str | Board | Controller | ControllerFactory | Callable[[], Controller]
"""What drives a robot in place of its program, or where that runs, as `run_trial` takes it."""


@dataclass(frozen=True)
class TrialOptions:
    """What a person says over a trial's document; None where the document's word stands.

    Attributes:
        layout: name of a layout, path of one, or `random`.
        seed: of everything drawn by chance.
        behaviour: name or path of a behaviour or another program, as `read_program` takes it.
        robot: who runs that behaviour, name or path of a card; default the trial's robot, of an old program
            or a gait its own robot.
        options: what is said to the behaviour besides, such as `{"motions": "humanoid.mtn"}`.
        body: what it happens on, as `choose_plant` takes it.
        controller: a controller of one's own in place of the behaviour's, or where the behaviour runs:
            `arduino-uno`, `cm900`, `serial:PORT`, `mine.py:Mine`.
        require_legal: whether a layout that breaks the rules is an error, not a remark.
        derivation: how streams of random numbers follow from the seed.
    """

    layout: str | None = None
    seed: int | None = None
    behaviour: str | None = None
    robot: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    body: str = SIMULATION
    controller: ControllerSource = PYTHON
    require_legal: bool = False
    derivation: Derivation = Derivation.NAMED


def trial_run(trial: Trial, options: TrialOptions | None = None) -> Run:
    """Return the run of a trial: every name in it becomes an object.

    Raises:
        InputError: something in it is wrong.
        UnknownNameError: there is no contest, arena, layout, robot, program, body, controller of a name.
        UnavailableError: there is no compiler for the board.
    """
    options = options or TrialOptions()
    layout = trial.layout if options.layout is None else options.layout
    seed = trial.seed if options.seed is None else require_seed(options.seed)
    rules = read_text(Path(trial.rules)) if trial.rules else None
    judging = contest(trial.contest, rules, trial.rules)
    arena = _field(trial, judging, layout, seed, require_legal=options.require_legal)
    programs = _programs(trial, judging, options)
    choice = choose_plant(options.body)
    contest_roles = dict(zip(programs, judging.entries, strict=True))
    prepared = Run(
        trial.name,
        programs,
        judging.longest_s,
        make_plant=choice.make,
        arena=arena,
        starts={name: judging.start(role, arena) for name, role in contest_roles.items()},
        contest=judging,
        seed=seed,
        derivation=options.derivation,
        still_s=trial.still_s,
        layout=_layout_name(trial, layout, arena),
        extras={KIND: trial.contest},
        outputs=Outputs(rows_every=ROWS_EVERY),
    )
    return replace(prepared, domain=choice.domain(prepared.streams.body))


def _field(trial: Trial, judging: Contest, layout: str, seed: int, *, require_legal: bool) -> Arena:
    """Return the contest's field, or the one in the trial's own document with what boxes that has.

    Boxes of a layout that the trial names stand on either.
    """
    arena = judging.field(layout, seed, legal=require_legal)
    has_own_arena = is_path(trial.arena)
    if has_own_arena:
        own = read_arena(trial.arena)
        arena = own.with_boxes(arena.boxes) if layout else own
    elif trial.arena not in {"", arena.name}:
        raise InputError(f"the arena is {trial.arena!r}", hint=f"{judging.name} is run on {arena.name!r}")
    if (layout or require_legal) and not arena.box_kinds:
        raise InputError(f"{judging.name} has no layouts: no boxes stand on its field", hint="leave it out")
    return arena


def _programs(trial: Trial, judging: Contest, options: TrialOptions) -> dict[str, Program]:
    """Return who takes part, by the names of the robots in the plant, in the order of the contest's roles."""
    first_role, *other_roles = judging.entries
    for role in trial.opponents:
        if role not in other_roles:
            raise UnknownNameError.among(f"role of an opponent in {judging.name}", role, other_roles)
    name = trial.behaviour if options.behaviour is None else options.behaviour
    is_trials_robot = options.behaviour is None or names_behaviour(name)
    card_name = options.robot or (trial.robot if is_trials_robot else None)
    card = None if card_name is None else robot(card_name)
    said = dict(program_options(trial, options))
    if PythonKind().recognises(name) and "like" not in said:
        model = _model_of_python(trial, judging, card)
        if model is not None:
            said["like"] = model
    first = read_program(name, card, options=said)
    first = _with_controller(first, options.controller)
    if not other_roles:
        return {first.robot.name: first}
    programs = {first_role: first}
    for role in other_roles:
        entry = trial.opponents.get(role, judging.entries[role])
        programs[role] = read_program(entry.behaviour, robot(entry.robot))
    return programs


def _model_of_python(trial: Trial, judging: Contest, card: Robot | None) -> str | None:
    """Return the behaviour whose sensors and pose a program in Python has: the trial's, or the contest's."""
    entry = next(iter(judging.entries.values()))
    candidates = [(trial.robot, trial.behaviour), (entry.robot, entry.behaviour)]
    for robot_name, behaviour in candidates:
        is_behaviour = behaviour in behaviour_names() or behaviour.endswith((".yaml", ".yml"))
        if is_behaviour and (card is None or robot(robot_name).name == card.name):
            return behaviour
    return None


def program_options(trial: Trial, options: TrialOptions) -> Mapping[str, str]:
    """Return what is said to the first robot's program: a trial's own options are of its own behaviour."""
    return {**trial.options, **options.options} if options.behaviour is None else options.options


def _with_controller(program: Program, controller: ControllerSource) -> Program:
    """Return a program with a controller of one's own, or on a board."""
    if isinstance(controller, Board):
        return controller.program(program)
    if not isinstance(controller, str):
        return ProgramWithController(program, controller_maker(controller))
    if ".py:" in controller:
        return ProgramWithController(program, controller_maker(load_object(controller), controller))
    board = find_board(controller)
    return program if board is None else board.program(program)


def _layout_name(trial: Trial, layout: str, arena: Arena) -> str:
    """Return what a layout is called; nothing where no boxes stand on the field."""
    drawn = arena.name if is_path(trial.arena) else "random"
    return Path(layout or (drawn if arena.boxes else "")).name


def run_trial(
    trial: str | Path | Trial = "obstacle-race",
    *,
    layout: str | Path | None = None,
    seed: int | None = None,
    behaviour: str | Path | None = None,
    robot: str | Path | None = None,
    options: Mapping[str, str] | None = None,
    motions: str | Path | None = None,
    body: str = SIMULATION,
    controller: ControllerSource = PYTHON,
    legal: bool = False,
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
) -> Outcome:
    """Run a trial.

    Args:
        trial: name of a trial or of a contest, path of a trial, or a trial.
        layout: name of a layout, path of one, or `random`; the trial's own where none is given.
        seed: of everything drawn by chance; the trial's own where none is given.
        behaviour: name or path of a behaviour, or of any other program that `read_program` reads: `race.bas`,
            a CONNECT.CFG, `robi:startup`, `mine.py:Mine`; the trial's own where none is given.
        robot: who runs that behaviour, name or path of a card; default the trial's robot, of an old program
            or a gait its own robot.
        options: what is said to the behaviour besides, by names that its kind of programs has.
        motions: file of the robot's maker to take those motions from for which the behaviour names a page;
            the option `motions` of behaviours.
        body: what it happens on: one of `plant_names()`, the address of a link, or `random` or a
            `*.bodies.yaml`: a simulated body that the seed draws.
        controller: one's own, in place of the behaviour's: a class or function that takes a program and a
            seed, or nothing, and makes a `Controller`; or a controller; or where the behaviour runs:
            `python`, `arduino-uno`, `cm900`, `serial:PORT[@BAUD]`.
        legal: whether a layout that breaks the rules is refused; else `Outcome.remarks` say what is wrong.
        streams: how random streams follow from the seed; `2026-11` as in recordings of versions until then.
        to_film: whether it is to be filmed, which needs a body that knows where it is.
        camera: who films, checked before the run begins.
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
    outputs = Outputs(
        None if record is None else Path(record),
        tuple(cameras),
        is_filmed=to_film,
        camera=camera,
        rows_every=ROWS_EVERY,
    )
    outputs.check()
    resolved, trial_options = resolve_trial(
        trial,
        layout=layout,
        seed=seed,
        behaviour=behaviour,
        robot=robot,
        options=options,
        motions=motions,
        body=body,
        controller=controller,
        legal=legal,
        streams=streams,
    )
    prepared = replace(
        trial_run(resolved, trial_options),
        outputs=outputs,
        plant_watchers=() if make_watcher is None else (make_watcher,),
        pace=pace,
        wall_clock=clock,
        on_progress=on_progress,
        on_end=on_end,
    )
    outcome = run(prepared)
    first = next(iter(prepared.programs.values()))
    board = first.report() if isinstance(first, BoardProgram) else None
    return replace(outcome, assumed=_assumed(trial, resolved, trial_options, prepared), board=board)


def resolve_trial(
    trial: str | Path | Trial,
    *,
    layout: str | Path | None = None,
    seed: int | None = None,
    behaviour: str | Path | None = None,
    robot: str | Path | None = None,
    options: Mapping[str, str] | None = None,
    motions: str | Path | None = None,
    body: str = SIMULATION,
    controller: ControllerSource = PYTHON,
    legal: bool = False,
    streams: str = Derivation.NAMED.value,
) -> tuple[Trial, TrialOptions]:
    """Return a trial and what a person says over it, from arguments as `run_trial` has them.

    Raises:
        UnknownNameError: there is no such trial, or no such derivation of streams.
        DocumentError: it is not a trial document.
    """
    derivations = {derivation.value: derivation for derivation in Derivation}
    if streams not in derivations:
        raise UnknownNameError.among("derivation of random streams", streams, derivations)
    program_options = dict(options or {})
    if motions is not None:
        program_options["motions"] = str(motions)
    resolved = trial if isinstance(trial, Trial) else read_trial(trial)
    return resolved, TrialOptions(
        layout=None if layout is None else str(layout),
        seed=None if seed is None else require_seed(seed),
        behaviour=None if behaviour is None else str(behaviour),
        robot=str(robot) if robot is not None else _own_robot(trial, resolved),
        options=program_options,
        body=body,
        controller=controller,
        require_legal=legal,
        derivation=derivations[streams],
    )


def _own_robot(trial: str | Path | Trial, resolved: Trial) -> str | None:
    """Return the robot of a person's own trial, who runs whatever behaviour is named instead of its own."""
    return resolved.robot if isinstance(trial, Trial) or is_path(trial) else None


def _assumed(
    trial: str | Path | Trial, resolved: Trial, options: TrialOptions, prepared: Run
) -> dict[str, str]:
    """Return what a shipped trial, or a contest, chose of what the person did not say."""
    assumed: dict[str, str] = {}
    if not (isinstance(trial, Trial) or is_path(trial)):
        first = next(iter(prepared.programs.values()))
        assumed["robot"] = first.robot.name
        if options.behaviour is None:
            assumed["behaviour"] = first.name
        if options.layout is None:
            assumed["layout"] = prepared.layout
        if options.seed is None:
            assumed["seed"] = str(prepared.seed)
    if not resolved.rules and prepared.contest is not None:
        assumed["rules"] = prepared.contest.name
    return {name: value for name, value in assumed.items() if value}


def trial_documents(trial: Trial, options: TrialOptions) -> dict[str, str]:
    """Return the texts a trial hangs on, but for what its seed draws; raises what running it would raise.

    A robot's model stands there as hexadecimal digits.
    """
    prepared = trial_run(trial, options)
    plant = prepared.make_plant(prepared.parts, prepared.arena)
    try:
        documents = prepared.all_documents()
    finally:
        for body in plant.bodies.values():
            body.close()
    layout = trial.layout if options.layout is None else options.layout
    if layout in {"", "random"}:
        documents.pop("random.layout.yaml", None)
    for role, program in prepared.programs.items():
        card = program.robot
        documents[card_document(card.name)] = card.text
        if card.model_path is not None:
            documents[f"model of {role}"] = card.model_path.read_bytes().hex()
    return documents
