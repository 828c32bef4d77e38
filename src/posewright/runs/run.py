"""`run`: sets up a plant, lets programs drive its robots, records and judges the run."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posewright.arenas import Arena, check_layout, format_layout
from posewright.bodies import (
    NOMINAL,
    BodySpec,
    ClearCircle,
    Clock,
    DomainParameters,
    PlanarPose,
    Plant,
    Push,
    StartPosture,
    Supervisor,
    TorquePolicy,
)
from posewright.control import Block, Controller, Program, Safety, Watcher, drive
from posewright.documents import require_writable
from posewright.documents.user_code import user_errors
from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.figures import camera_topics, require_camera, require_cameras
from posewright.recordings import ABORTED, Event, Header, Recorder, Recording, RobotHeader, write_mcap
from posewright.recordings.header import RULES_SUFFIX, card_document
from posewright.robots import is_shipped
from posewright.runs.outcome import Outcome, Unjudged, latencies_of
from posewright.runs.plants import PlantMaker, make_simulation
from posewright.runs.provenance import VERSIONS, model_documents, versions_here
from posewright.runs.stillness import NOTHING_MOVED, StillnessWatcher
from posewright.runs.streams import Derivation, Streams
from posewright.runtimes.robobasic.board import EVENT as BASIC_EVENT
from posewright.version import __version__

if TYPE_CHECKING:
    from posewright.contests import Contest, Note, Referee, Score

REPORT_EVERY_S = 0.5
"""Simulated time between two progress reports [s]."""

ORIGIN: PlanarPose = (0.0, 0.0, 0.0)

STREAMS = "streams"
"""Entry of a recording's extras: how its random streams were derived; without it by `Derivation.SHARED`."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run.

    Attributes:
        time_s: simulated time, or the plant's own time [s].
        state: chart state of the program that decided last.
        playing: the motion or gait that it plays.
        standing: text of the referee with the score so far; empty outside contests.
        recording: returns the recording so far.
    """

    time_s: float
    state: str
    playing: str | None
    standing: str
    recording: Callable[[], Recording] = field(repr=False)


@dataclass(frozen=True)
class Outputs:
    """The files of a run, and what they require.

    Attributes:
        record: where the recording is written as MCAP; also that of a run that failed or was stopped.
        cameras: cameras of the robots whose pictures that file contains; they are rendered after the run.
        is_filmed: whether the run is to be filmed later, which requires a body with ground truth.
        camera: the camera that will film it; it is checked before the run.
        rows_every: the recording keeps one row of so many frames; 1 keeps all.
    """

    record: Path | None = None
    cameras: tuple[str, ...] = ()
    is_filmed: bool = False
    camera: str | None = None
    rows_every: int = 1

    def check(self) -> None:
        """Check that the recording can be written, and that there is one if pictures were requested.

        Raises:
            OutputError: the recording cannot be written.
            InputError: there are cameras, but no recording.
        """
        if self.record is not None:
            require_writable(self.record)
        elif self.cameras:
            raise InputError(
                "pictures of cameras can only be stored in a recording", hint="add --record FILE, or record="
            )


@dataclass(frozen=True, eq=False)
class Run:
    """Everything that a run consists of; `run` runs it.

    Attributes:
        name: the name of the trial, the gait or the motion, for people and the recording.
        programs: the programs by the names of their robots in the plant; in a contest in the order of its
            roles.
        until_s: time at which it ends at the latest [s].
        make_plant: makes the plant, such as a simulation or a bus.
        arena: the field; None for a bare floor.
        starts: where the robots start, by name; by default at the origin.
        postures: how simulated robots are put down there, by name; by default they stand.
        contest: provides referee and judge; None outside contests.
        seed: the seed of everything random.
        derivation: how the streams of random numbers are derived from the seed.
        domain: how the simulated bodies differ from the robots' models.
        controllers: existing controllers that replace those of the programs, by robot.
        safety: safety filters that replace the default `Safety(robot)`, by robot.
        watchers: receive every block after it is recorded; a watcher that returns True ends the run.
        plant_watchers: functions that make additional watchers of the plant, such as a live window.
        still_s: the run ends when nothing has moved for so long; 0 for never [s].
        pace: paces the frames of a plant without its own clock; by default it runs as fast as it can.
        wall_clock: a wall clock [s], to measure `Outcome.wall_s`.
        on_progress: called twice a second of simulated time.
        on_end: what the servos do when the run is over; after a failure they are always released.
        layout: name of the layout of boxes, in the recording.
        documents: additional texts in the recording, by file name.
        extras: additional plain data in the recording.
        outputs: the files of the run.
    """

    name: str
    programs: Mapping[str, Program]
    until_s: float
    make_plant: PlantMaker = make_simulation
    arena: Arena | None = None
    starts: Mapping[str, PlanarPose] = field(default_factory=dict)
    postures: Mapping[str, StartPosture] = field(default_factory=dict)
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
    def bodies(self) -> tuple[BodySpec, ...]:
        """The specifications of the bodies in the plant."""
        needs_contacts = self.contest is not None and self.contest.needs_contacts
        domain = self.domain.without_plates_in(list(self._clear_circles()))
        bodies = []
        for index, (name, program) in enumerate(self.programs.items()):
            card_sensors = {sensor.name for sensor in program.robot.sensors}  # the body has them anyway
            bodies.append(
                BodySpec(
                    name,
                    program.robot,
                    program.start_pose,
                    start=self.starts.get(name, ORIGIN),
                    sensors=tuple(sensor for sensor in program.sensors if sensor.name not in card_sensors),
                    seed=self.streams.noise(name, index),
                    domain=domain,
                    record_contacts=needs_contacts,
                    posture=self.postures.get(name, StartPosture.STANDING),
                )
            )
        return tuple(bodies)

    def _clear_circles(self) -> Iterator[ClearCircle]:
        """Yield where no plates lie on the floor: under the robots' starts and under the arena's boxes."""
        for name in self.programs:
            x_m, y_m, _ = self.starts.get(name, ORIGIN)
            yield ClearCircle.around_start(x_m, y_m)
        if self.arena is not None:
            for box in self.arena.boxes:
                length_m, width_m = self.arena.kind_of(box).footprint_m
                yield ClearCircle(box.x, box.y, math.hypot(length_m, width_m) / 2.0)

    def all_documents(self) -> dict[str, str]:
        """Return the texts in the recording, by file name.

        They are those of the programs, the rules and the layout, the `documents` of the run, and the cards,
        which describe the robots, unless Posewright ships them. If programs have different texts of one file
        name, the later ones get the name of the robot before it. Otherwise a later text replaces an earlier
        one of the same name.
        """
        documents: dict[str, str] = {}
        for robot_name, program in self.programs.items():
            for file_name, text in program.documents.items():
                is_conflict = documents.get(file_name, text) != text
                documents[f"{robot_name}/{file_name}" if is_conflict else file_name] = text
        if self.contest is not None:
            documents[f"{Path(self.contest.name).name}{RULES_SUFFIX}"] = self.contest.rules_text
        layout_name, _, _ = self.layout.partition(".")  # without a suffix such as .layout.yaml
        if layout_name and self.arena is not None:
            documents[f"{layout_name}.layout.yaml"] = format_layout(self.arena.boxes, layout_name)
        documents |= self.documents
        for program in self.programs.values():
            card = program.robot
            if not is_shipped(card):
                documents[card_document(card.name)] = card.text
        return documents

    def header(self, plant: Plant) -> Header:
        """Return the header of the recording, with the facts that the bodies report about themselves."""
        arena = self.arena
        extras: dict[str, Any] = {VERSIONS: dict(versions_here())}
        models: dict[str, str] = {}
        for program in self.programs.values():
            extras |= program.extras
            if not is_shipped(program.robot):
                models |= model_documents(program.robot)
        if self.contest is not None:
            extras |= {"trial": self.name, "arena": "" if arena is None else arena.name}
        if self.derivation is not Derivation.SHARED:  # its recordings have no entry
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
            documents=models | self.all_documents(),
            extras=extras | dict(self.extras),
        )


@user_errors()
def run(run: Run) -> Outcome:
    """Make the plant, let the programs drive it, record the run, and return the judged outcome.

    Raises:
        InputError: the run has an error; no robot has moved.
        OutputError: the recording cannot be written; no robot has moved.
        BodyError: a body failed, or lacks the ground truth that the referee needs.
        UnavailableError: there is no window for a watcher, or no compiler for a board.
        UserCodeError: code of a user or an installed package raised an exception.
    """
    outputs = run.outputs
    outputs.check()
    _require_known_robots(run)
    _require_roles(run)
    plant = run.make_plant(run.bodies, run.arena)
    controllers: dict[str, Controller] = dict(run.controllers)
    try:
        with _released_on_failure(plant):
            recorder = Recorder(run.header(plant), plant, every=outputs.rows_every)
            require_cameras(recorder.header, outputs.cameras)
            _check_starts(run, plant)
            for index, (name, program) in enumerate(run.programs.items()):
                if name not in controllers:
                    controllers[name] = program.controller(run.streams.chance_seed(name, index))
            watchers = _make_watchers(run, plant, recorder, controllers)
        if run.contest is not None:
            recorder.note(Event(0.0, "start", {}))
        wall_clock = run.wall_clock or (lambda: 0.0)
        start_s = wall_clock()
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
            wall_s = wall_clock() - start_s
        except BaseException as error:
            recorder.note(
                Event(next(iter(plant.bodies.values())).time_s, ABORTED, {"reason": _describe_abort(error)})
            )
            raise
        finally:  # the recording of a failed run shows why it failed
            recording = recorder.recording()
            _write_recording(recording, outputs)
    finally:  # all are closed, and the error that ended the run stays the one that is raised
        close_errors = [str(error) for error in map(_try_to_close, controllers.values()) if error is not None]
    score = _score_run(run, plant, recording)
    remarks = (*_collect_remarks(run, plant, recording), *close_errors)
    return Outcome(recording, score, wall_s, remarks, link=latencies_of(plant))


def _describe_abort(error: BaseException) -> str:
    """Return why a run was aborted, for its recording."""
    if isinstance(error, KeyboardInterrupt):
        return "stopped by Ctrl-C"
    return "stopped by a signal" if isinstance(error, SystemExit) else str(error)


def _require_known_robots(run: Run) -> None:
    """Raise an UnknownNameError if a start, a controller or a safety filter is for no robot of the run."""
    names_by_owner: Mapping[str, Collection[str]] = {
        "start": {**run.starts, **run.postures},
        "controller": run.controllers,
        "safety": run.safety,
    }
    for owner, names in names_by_owner.items():
        for name in names:
            if name not in run.programs:
                raise UnknownNameError.among(f"robot of a {owner}", name, run.programs)


def _require_roles(run: Run) -> None:
    """Raise an InputError unless a run has a program for each role of its contest."""
    if run.contest is None:
        return
    roles = tuple(run.contest.entries)  # the keys of the robots that take part
    if len(roles) <= 1:  # a single robot has its own name instead of a role
        has_needed_programs = len(run.programs) == 1
        hint = "one program"
    else:
        has_needed_programs = tuple(run.programs) == roles
        hint = f"one program for each of {', '.join(roles)}, in this order"
    if not has_needed_programs:
        raise InputError(f"{run.contest.name} is run by {', '.join(run.programs) or 'no program'}", hint=hint)


def _try_to_close(controller: Controller) -> PosewrightError | None:
    """Close a controller, and return the error with which that failed; None if it did not."""
    try:
        controller.close()
    except PosewrightError as error:
        return error
    return None


@contextmanager
def _released_on_failure(plant: Plant) -> Iterator[None]:
    """Release and close all bodies if the block raises an error."""
    try:
        yield
    except BaseException:
        for body in plant.bodies.values():
            body.stop(TorquePolicy.RELEASE)
            body.close()
        raise


def _check_starts(run: Run, plant: Plant) -> None:
    """Raise an InputError for a box at a start position, a film without ground truth, an unknown camera."""
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
                raise InputError(
                    f"{name} cannot be filmed: it has no ground truth", hint="film a simulated robot"
                )
        elif truth.box_contacts.any():
            x, y, _ = run.starts.get(name, ORIGIN)
            box = int(truth.box_contacts.any(axis=0).argmax()) + 1
            raise InputError(
                f"the layout has box {box} at the start position of {name}",
                hint=f"move it: the robot starts at x = {x:g}, y = {y:g} m and touches it there",
            )


def _find_supervisors(plant: Plant) -> dict[str, Supervisor] | None:
    """Return the supervisors by robot; None if a robot has none, or no ground truth."""
    supervisors = {}
    for name, body in plant.bodies.items():
        supervisor = plant.supervisor(name)
        if supervisor is None or body.observe().truth is None:
            return None
        supervisors[name] = supervisor
    return supervisors


def _make_watchers(
    run: Run, plant: Plant, recorder: Recorder, controllers: Mapping[str, Controller]
) -> list[Watcher]:
    """Return all watchers: the recorder, the referee if there is ground truth, and those of the run."""
    from posewright.contests import RESTARTS

    def note(event: Event) -> None:
        """Record an event, and restart the controllers if it starts another try."""
        recorder.note(event)
        if event.kind in RESTARTS:
            for controller in controllers.values():
                controller.restart()

    watchers: list[Watcher] = [recorder]
    if run.domain.pushes:
        watchers.append(_PushReporter(run.domain.pushes, note))
    referee: Referee | None = None
    supervisors = _find_supervisors(plant) if run.contest is not None else None
    if run.contest is not None and run.arena is not None and supervisors is not None:
        referee = run.contest.referee(run.arena, supervisors, note)
        watchers.append(referee)
    if run.still_s > 0.0:
        watchers.append(StillnessWatcher(run.still_s, note))
    if run.on_progress is not None:
        watchers.append(_ProgressReporter(referee, recorder, run.on_progress))
    watchers += run.watchers
    watchers += [make_watcher(plant) for make_watcher in run.plant_watchers]
    return watchers


class _PushReporter:
    """A watcher that notes an event for each push; all bodies of a run are pushed in the same way."""

    def __init__(self, pushes: Sequence[Push], note: Note) -> None:
        self._pending = deque(sorted(pushes, key=lambda push: push.time_s))
        self._note = note

    def watch(self, block: Block) -> bool:
        """Note the pushes that have begun; never end the run."""
        end_s = float(block.states.times[-1])
        while self._pending and self._pending[0].time_s <= end_s:
            push = self._pending.popleft()
            data = {
                "impulse_n_s": push.impulse_n_s,
                "from_deg": math.degrees(push.from_rad),
                "link": push.link or None,
            }
            self._note(Event(push.time_s, "push", data))
        return False


class _ProgressReporter:
    """A watcher that reports the progress of a run every `REPORT_EVERY_S`."""

    def __init__(
        self, referee: Referee | None, recorder: Recorder, on_progress: Callable[[Progress], None]
    ) -> None:
        self._referee = referee
        self._recorder = recorder
        self._on_progress = on_progress
        self._next_s = 0.0

    def watch(self, block: Block) -> bool:
        """Report the progress if a report is due; never end the run."""
        time_s = block.state.time_s
        decision = block.requests.decision
        if decision is not None and time_s >= self._next_s:
            self._next_s = time_s + REPORT_EVERY_S
            standing = "" if self._referee is None else self._referee.progress()
            self._on_progress(
                Progress(time_s, decision.state, decision.playing, standing, self._recorder.recording)
            )
        return False


def _write_recording(recording: Recording, outputs: Outputs) -> None:
    """Write the recording and the pictures of the cameras, if requested."""
    if outputs.record is not None:
        knows_places = all(record.knows_place for record in recording.robots.values())
        topics = camera_topics(recording, outputs.cameras if knows_places else ())
        write_mcap(recording, outputs.record, topics)


def _score_run(run: Run, plant: Plant, recording: Recording) -> Score:
    """Return the judge's score.

    It is `Unjudged` without a contest, or without supervisors, which report the ground truth.
    """
    if run.contest is None:
        return Unjudged(recording)
    if _find_supervisors(plant) is None:
        return Unjudged(recording, warnings=("there is no score: the robot had no ground truth",))
    from posewright.contests import judge

    return judge(recording, run.contest)


def _collect_remarks(run: Run, plant: Plant, recording: Recording) -> tuple[str, ...]:
    """Return remarks on a run: of its programs and bodies, faults of its layout, an early end."""
    remarks = [warning for program in run.programs.values() for warning in program.warnings]
    for body in plant.bodies.values():
        remarks += body.facts().get("remarks", ())
    for event in recording.events_of(BASIC_EVENT):
        if event.data["what"] == "error":
            remarks.append(str(event.data["message"]))
    if run.contest is not None and run.arena is not None:
        from posewright.contests import check_own_field

        layout_messages = [fault.message for fault in check_layout(run.arena.boxes, run.arena)]
        remarks += [f"layout: {message}" for message in layout_messages]
        for field_fault in check_own_field(run.contest, run.arena):
            if not field_fault.prevents_run and field_fault.message not in layout_messages:
                remarks.append(f"field: {field_fault.message}")
    for event in recording.events_of("stop"):
        reason = str(event.data.get("reason"))
        if reason.startswith(NOTHING_MOVED):
            remarks.append(
                f"ended at {event.time_s:.1f} s: {reason}; `still_s: 0` in a trial document prevents this"
            )
    return tuple(remarks)
