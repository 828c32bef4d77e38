"""One run: programs on a plant, perhaps in a contest; set up, driven, recorded and judged in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posewright.arenas import Arena, check_layout, format_layout
from posewright.bodies import (
    NOMINAL,
    BodySpec,
    Clock,
    DomainParameters,
    PlanarPose,
    Plant,
    Supervisor,
    TorquePolicy,
)
from posewright.control import Block, Controller, Program, Safety, Watcher, drive
from posewright.documents import require_writable
from posewright.errors import InputError
from posewright.figures import camera_topics, card_document, require_camera, require_cameras
from posewright.recordings import Event, Header, Recorder, Recording, RobotHeader, write_mcap
from posewright.recordings.header import RULES_SUFFIX
from posewright.robots import ships
from posewright.runs.outcome import Outcome, Unjudged, latencies_of
from posewright.runs.plants import PlantMaker, make_simulation
from posewright.runs.stillness import NOTHING_MOVED, StillWatch
from posewright.runs.streams import Derivation, Streams
from posewright.runtimes.robobasic.board import EVENT as BASIC_EVENT
from posewright.version import __version__

if TYPE_CHECKING:
    from posewright.contests import Contest, Referee, Score

REPORT_EVERY_S = 0.5
"""How much of the plant's time lies between two reports of progress [s]."""

ORIGIN: PlanarPose = (0.0, 0.0, 0.0)

STREAMS = "streams"
"""The entry of a recording's extras that says how random streams followed from its seed; none: `2026-11`."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How a run is going.

    Attributes:
        time_s: the plant's time [s].
        state: of the program that decided last: its chart's state.
        playing: the motion or gait that it asks for.
        standing: the score so far in the referee's words; empty outside contests.
        recording: gives what was recorded so far.
    """

    time_s: float
    state: str
    playing: str | None
    standing: str
    recording: Callable[[], Recording] = field(repr=False)


@dataclass(frozen=True)
class Outputs:
    """What a run leaves besides its outcome.

    Attributes:
        record: where the recording is written as MCAP; of a run that failed or was ended, as far as it went.
        cameras: of the robots, whose pictures that file has; they are drawn when the run is over.
        is_filmed: whether the run is to be filmed later, which needs a body that knows where it is.
        camera: that will film it, checked before the run.
        rows_every: a row of the recording is kept of so many frames; 1 keeps all.
    """

    record: Path | None = None
    cameras: tuple[str, ...] = ()
    is_filmed: bool = False
    camera: str | None = None
    rows_every: int = 1

    def check(self) -> None:
        """Check that the recording can be written, and has a file where there are to be pictures in it.

        Raises:
            OutputError: the recording cannot be written there.
            InputError: pictures of a camera, but no recording that could have them.
        """
        if self.record is not None:
            require_writable(self.record)
        elif self.cameras:
            raise InputError(
                "no recording is written that could have pictures", hint="record=, or --record FILE"
            )


@dataclass(frozen=True, eq=False)
class Run:
    """All of a run, as objects; `run` runs it.

    Attributes:
        name: of the trial, the gait, the motion, for people and the recording.
        programs: who takes part, by the name each robot has in the plant; in a contest in the order of roles.
        until_s: the plant's time at which it ends at the latest [s].
        make_plant: makes what time passes in: a simulation, a bus, ...
        arena: the field with what stands on it; None for a bare floor.
        starts: where the robots begin, by name; at the origin by default.
        contest: whose referee watches and whose judge judges; None for neither.
        seed: of everything drawn by chance.
        derivation: how the streams of random numbers follow from the seed.
        domain: how the simulated bodies differ from the robots' models.
        controllers: controllers that are made already, in place of those the programs would make.
        safety: what stands between a controller and its body where it is not `Safety(robot)`, by robot.
        watchers: see every block after it is recorded; one that says so ends the run.
        plant_watchers: make further watchers of the plant, before it is driven: a live window, for one.
        still_s: the run ends when nothing has moved for so long; 0 for never [s].
        pace: paces the frames of a plant without a clock of its own; simulated time by default.
        wall_clock: a wall clock [s], for `Outcome.wall_s`; nothing here looks at one by itself.
        on_progress: is called twice a second of the plant's time.
        on_end: what the servos do when it is over; one that failed always releases them.
        layout: what the layout of boxes is called, in the recording.
        documents: texts that travel with the recording besides the programs', by file name.
        extras: what a recording says besides, as plain data.
        outputs: what it leaves besides its outcome.
    """

    name: str
    programs: Mapping[str, Program]
    until_s: float
    make_plant: PlantMaker = make_simulation
    arena: Arena | None = None
    starts: Mapping[str, PlanarPose] = field(default_factory=dict)
    contest: Contest | None = None
    seed: int = 0
    derivation: Derivation = Derivation.NAMED
    domain: DomainParameters = NOMINAL
    controllers: Mapping[str, Controller] = field(default_factory=dict)
    safety: Mapping[str, Safety] = field(default_factory=dict)
    watchers: Sequence[Watcher] = ()
    plant_watchers: Sequence[Callable[[Plant], Watcher]] = ()
    still_s: float = 0.0
    pace: Clock | None = None
    wall_clock: Callable[[], float] | None = None
    on_progress: Callable[[Progress], None] | None = None
    on_end: TorquePolicy = TorquePolicy.RELEASE
    layout: str = ""
    documents: Mapping[str, str] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)
    outputs: Outputs = field(default_factory=Outputs)

    def __repr__(self) -> str:
        return f"<Run {self.name!r} of {', '.join(program.name for program in self.programs.values())}>"

    @property
    def streams(self) -> Streams:
        """The streams of random numbers of this run."""
        return Streams(self.seed, self.derivation)

    @property
    def parts(self) -> tuple[BodySpec, ...]:
        """The robots of the plant that is to be made."""
        needs_contacts = self.contest is not None and self.contest.needs_contacts
        parts = []
        for place, (name, program) in enumerate(self.programs.items()):
            card_sensors = {sensor.name for sensor in program.robot.sensors}
            parts.append(
                BodySpec(
                    name,
                    program.robot,
                    program.start_pose,
                    self.starts.get(name, ORIGIN),
                    sensors=tuple(sensor for sensor in program.sensors if sensor.name not in card_sensors),
                    seed=self.streams.noise(name, place),
                    domain=self.domain,
                    record_contacts=needs_contacts,
                )
            )
        return tuple(parts)

    def all_documents(self) -> dict[str, str]:
        """Return what its recording carries: programs, rules, layout, cards of robots that do not ship."""
        documents: dict[str, str] = {}
        for name, program in self.programs.items():
            for file_name, text in program.documents.items():
                is_other_text = documents.get(file_name, text) != text
                documents[f"{name}/{file_name}" if is_other_text else file_name] = text
        if self.contest is not None:
            documents[f"{Path(self.contest.name).name}{RULES_SUFFIX}"] = self.contest.rules_text
        layout = self.layout.split(".")[0]
        if layout and self.arena is not None:
            documents[f"{layout}.layout.yaml"] = format_layout(self.arena.boxes, layout)
        cards = [program.robot for program in self.programs.values() if not ships(program.robot)]
        return documents | dict(self.documents) | {card_document(card.name): card.text for card in cards}

    def header(self, plant: Plant) -> Header:
        """Return the header of its recording, with what the bodies know of themselves."""
        arena = self.arena
        extras: dict[str, Any] = {}
        for program in self.programs.values():
            extras |= program.extras
        if self.contest is not None:
            extras |= {"trial": self.name, "arena": "" if arena is None else arena.name}
        if self.derivation is not Derivation.SHARED:
            extras[STREAMS] = self.derivation.value
        return Header(
            robots={
                name: RobotHeader.of(plant.bodies[name], f"{program.kind} {program.name}".strip())
                for name, program in self.programs.items()
            },
            contest="" if self.contest is None else self.contest.name,
            layout=self.layout,
            boxes=() if arena is None else tuple((box.x, box.y, box.yaw_rad) for box in arena.boxes),
            seed=self.seed,
            version=__version__,
            arena={} if arena is None else arena.to_dict(),
            documents=self.all_documents(),
            extras=extras | dict(self.extras),
        )


def run(run: Run) -> Outcome:
    """Run a run: make the plant, drive it, record it, judge it.

    Raises:
        InputError: something in it is wrong; no robot has moved.
        OutputError: the recording cannot be written there; told before any robot moves.
        BodyError: a body failed, or does not know what the referee must see.
        UnavailableError: there is no window for a watcher, or no compiler for a board.
    """
    outputs = run.outputs
    outputs.check()
    plant = run.make_plant(run.parts, run.arena)
    controllers: dict[str, Controller] = dict(run.controllers)
    try:
        with _released_on_failure(plant):
            recorder = Recorder(run.header(plant), plant, every=outputs.rows_every)
            require_cameras(recorder.header, outputs.cameras)
            _check_starts(run, plant)
            for place, (name, program) in enumerate(run.programs.items()):
                if name not in controllers:
                    controllers[name] = program.controller(run.streams.chance(name, place))
            watchers = _watchers(run, plant, recorder, controllers)
        if run.contest is not None:
            recorder.note(Event(0.0, "start", {}))
        wall_clock = run.wall_clock or (lambda: 0.0)
        began_s = wall_clock()
        try:
            drive(
                plant,
                controllers,
                until_s=run.until_s,
                watchers=watchers,
                clock=run.pace,
                safety=run.safety,
                on_end=run.on_end,
            )
            wall_s = wall_clock() - began_s
        finally:  # above all of a run that failed somebody wants to know how it went
            recording = recorder.recording()
            _write(recording, outputs)
    finally:
        for controller in controllers.values():
            controller.close()
    score = _score(run, plant, recording)
    return Outcome(recording, score, wall_s, _remarks(run, recording), link=latencies_of(plant))


@contextmanager
def _released_on_failure(plant: Plant) -> Iterator[None]:
    """Take the torque of all robots off, and close them, where something fails before they are driven."""
    try:
        yield
    except BaseException:
        for body in plant.bodies.values():
            body.stop(TorquePolicy.RELEASE)
            body.close()
        raise


def _check_starts(run: Run, plant: Plant) -> None:
    """Raise an InputError for a box where a robot starts, a film nobody can make, an unknown camera."""
    if run.outputs.camera is not None:
        sensors = {name: program.robot.sensors for name, program in run.programs.items()}
        require_camera(run.outputs.camera, sensors)
    needs_truth = run.outputs.is_filmed or bool(run.outputs.cameras)
    if run.contest is None and not needs_truth:
        return
    for name, body in plant.bodies.items():
        truth = body.observe().truth
        if truth is None:
            if needs_truth:
                raise InputError(f"there is nothing to film: {name} does not know where it is")
        elif truth.box_contacts.any():
            x, y, _ = run.starts.get(name, ORIGIN)
            box = int(truth.box_contacts.any(axis=0).argmax()) + 1
            raise InputError(
                f"the layout has box {box} where {name} starts",
                hint=f"the robot begins at x = {x:g}, y = {y:g} m and touches it there",
            )


def _supervisors(plant: Plant) -> dict[str, Supervisor] | None:
    """Return who puts the robots back, by name; None where nobody can, or it is not known where one is."""
    supervisors = {}
    for name, body in plant.bodies.items():
        supervisor = plant.supervisor(name)
        if supervisor is None or body.observe().truth is None:
            return None
        supervisors[name] = supervisor
    return supervisors


def _watchers(
    run: Run, plant: Plant, recorder: Recorder, controllers: Mapping[str, Controller]
) -> list[Watcher]:
    """Return who sees every block: the recorder, the referee where he can see, and whom the run names."""
    from posewright.contests import RESTARTS

    def note(event: Event) -> None:
        recorder.note(event)
        if event.kind in RESTARTS:
            for controller in controllers.values():
                controller.restart()

    watchers: list[Watcher] = [recorder]
    referee: Referee | None = None
    supervisors = _supervisors(plant) if run.contest is not None else None
    if run.contest is not None and run.arena is not None and supervisors is not None:
        referee = run.contest.referee(run.arena, supervisors, note)
        watchers.append(referee)
    if run.still_s > 0.0:
        watchers.append(StillWatch(run.still_s, note))
    if run.on_progress is not None:
        watchers.append(_ProgressReporter(referee, recorder, run.on_progress))
    watchers += run.watchers
    watchers += [make_watcher(plant) for make_watcher in run.plant_watchers]
    return watchers


class _ProgressReporter:
    """Reports how a run is going, every so often in the plant's time."""

    def __init__(
        self, referee: Referee | None, recorder: Recorder, on_progress: Callable[[Progress], None]
    ) -> None:
        self._referee = referee
        self._recorder = recorder
        self._on_progress = on_progress
        self._next_s = 0.0

    def watch(self, block: Block) -> bool:
        """Report when it is time to; never ends a run."""
        time_s = block.state.time_s
        decision = block.requests.decision
        if decision is not None and time_s >= self._next_s:
            self._next_s = time_s + REPORT_EVERY_S
            standing = "" if self._referee is None else self._referee.progress()
            self._on_progress(
                Progress(time_s, decision.state, decision.playing, standing, self._recorder.recording)
            )
        return False


def _write(recording: Recording, outputs: Outputs) -> None:
    if outputs.record is not None:
        knows_places = all(record.knows_place for record in recording.robots.values())
        topics = camera_topics(recording, outputs.cameras if knows_places else ())
        write_mcap(recording, outputs.record, topics)


def _score(run: Run, plant: Plant, recording: Recording) -> Score:
    if run.contest is None:
        return Unjudged(recording)
    if _supervisors(plant) is None:
        return Unjudged(recording, warnings=("nobody knew where the robot was: there is no score",))
    from posewright.contests import judge

    return judge(recording, run.contest)


def _remarks(run: Run, recording: Recording) -> tuple[str, ...]:
    """Return what should be known of a run besides its score, in words."""
    remarks = [warning for program in run.programs.values() for warning in program.warnings]
    for event in recording.events_of(BASIC_EVENT):
        if event.data["what"] == "error":
            remarks.append(str(event.data["message"]))
    if run.contest is not None and run.arena is not None:
        remarks += [f"layout: {fault.message}" for fault in check_layout(run.arena.boxes, run.arena)]
    for event in recording.events_of("stop"):
        reason = str(event.data.get("reason"))
        if reason.startswith(NOTHING_MOVED):
            remarks.append(
                f"ended at {event.time_s:.1f} s: {reason}; `still_s: 0` in a trial document waits on"
            )
    return tuple(remarks)
