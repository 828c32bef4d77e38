"""`rerun`: simulates a recorded run again from what its recording carries, and compares the digests."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Array
from posewright.bodies import NOMINAL, POSTURE, DomainParameters, PlanarPose, StartPosture, read_posture
from posewright.contests import contest_of, has_contest
from posewright.control import Program, ProgramWithController
from posewright.controllers.behaviours import BehaviourKind
from posewright.documents import parse_document
from posewright.documents.plain import PlainMapping
from posewright.errors import InputError, PosewrightError
from posewright.evaluation.trajectory import domain_of
from posewright.recordings import Header, Recording, describe_abort, read_mcap
from posewright.recordings.attached_robot import MODEL_FOLDER, write_attached_robot, write_inside
from posewright.recordings.header import RULES_SUFFIX, card_document
from posewright.recordings.plausibility import require_plausible
from posewright.robots import Robot, is_path, read_robot, robot_names
from posewright.robots import robot as robot_card
from posewright.runs.plants import SIMULATION
from posewright.runs.programs import read_program
from posewright.runs.provenance import (
    BODY,
    PROGRAMS,
    VERSIONS,
    ProgramOrigin,
    versions_here,
)
from posewright.runs.python_programs import PythonKind, controller_factory, controller_name, load_object
from posewright.runs.run import STREAMS, Outputs, Run, run
from posewright.runs.stillness import NOTHING_MOVED
from posewright.runs.streams import Derivation, read_derivation
from posewright.runs.user_controller import source_documents
from posewright.search.executors import map_in_order, open_executor

_BEHAVIOUR_SUFFIX = ".behaviour.yaml"
_DEPTH = ("home", "entries", "entry")
"""Folders above that of the documents, so that `../robot.yaml` in them stays within the temporary folder."""

_STILL = re.compile(rf"{NOTHING_MOVED} for ([0-9.e+-]+) s")


class RerunStatus(Enum):
    """Whether a run gave the same recording again."""

    SAME = "the same"
    DIFFERENT = "different"
    IMPOSSIBLE = "cannot be repeated"


@dataclass(frozen=True, slots=True)
class Rerun:
    """The result of running a recorded run again.

    Attributes:
        status: whether the digests are equal.
        reason: where the runs differ, or why there was no second one; empty for the same run.
        digest: the digest of the recording.
        new_digest: the new digest of the second run; empty if there was none.
        notes: versions that made the recording, where they are unknown or not those here; and robots that
            are not as they ship.
    """

    status: RerunStatus
    reason: str
    digest: str
    new_digest: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether the digests are equal."""
        return self.status is RerunStatus.SAME

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else f", digest {self.digest[:16]}"
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        verb = {
            RerunStatus.SAME: "the simulation gives the same recording",
            RerunStatus.DIFFERENT: "the simulation gives another recording",
            RerunStatus.IMPOSSIBLE: "the run cannot be repeated",
        }[self.status]
        return f"{verb}{reason}{notes}"

    def to_dict(self) -> dict[str, object]:
        """Return plain data, fit for JSON."""
        return {
            "status": self.status.value,
            "reason": self.reason,
            "digest": self.digest,
            "new_digest": self.new_digest,
            "notes": list(self.notes),
        }


def rerun(recording: Recording, *, trust_python: bool = False) -> Rerun:
    """Simulate a recorded run of a contest again from what the recording carries, and compare the digests.

    Only this proves that a recording is no forgery: whoever passes it has a program that does what is
    recorded. The digest is the same on machines of one kind with the same versions.

    Args:
        recording: the recording.
        trust_python: whether to execute Python code that the recording carries, which can do anything on
            this computer.
    """
    notes = (*_compare_versions(recording.header), *_describe_own_robots(recording.header))
    try:
        with tempfile.TemporaryDirectory(prefix="posewright_rerun_") as folder:
            repeated = run(_prepare_run(recording, Path(folder), trust_python=trust_python)).recording
    except PosewrightError as error:
        return Rerun(RerunStatus.IMPOSSIBLE, str(error), recording.digest(), notes=notes)
    is_same = repeated.digest() == recording.digest()
    reason = "" if is_same else _find_difference(recording, repeated)
    status = RerunStatus.SAME if is_same else RerunStatus.DIFFERENT
    return Rerun(status, reason, recording.digest(), repeated.digest(), notes)


def rerun_files(
    paths: Iterable[str | Path],
    *,
    trust_python: bool = False,
    workers: int = 1,
    executor: Executor | None = None,
) -> Iterator[Rerun]:
    """Run each recording of a list again, as `rerun` does, and yield the results in the order of the list.

    Args:
        paths: the paths of the recordings.
        trust_python: whether to execute Python code that the recordings carry.
        workers: number of processes; 1 runs in this one. It has no effect with an executor.
        executor: a pool that runs them instead; its workers must see the files.
    """
    absolute_paths = [Path(path).absolute() for path in paths]
    task = partial(_rerun_file, trust_python=trust_python)
    if executor is not None:
        yield from map_in_order(task, absolute_paths, executor)
        return
    with open_executor(workers, len(absolute_paths)) as own_executor:
        yield from map_in_order(task, absolute_paths, own_executor)


def _rerun_file(path: Path, *, trust_python: bool) -> Rerun:
    """Return the result of `rerun`; that of a file that cannot be read is impossible."""
    try:
        return rerun(read_mcap(path), trust_python=trust_python)
    except PosewrightError as error:
        return Rerun(RerunStatus.IMPOSSIBLE, str(error), digest="")


def _compare_versions(header: Header) -> Iterator[str]:
    """Yield which versions in the recording are not those here, and which are unknown."""
    recorded = header.extras.get(VERSIONS)
    versions = recorded if isinstance(recorded, dict) else {"Posewright": header.version}
    unknown_names = []
    for name, own_version in versions_here().items():
        if name not in versions:
            unknown_names.append(name)
        elif versions[name] != own_version:
            yield f"made with {name} {versions[name]!s:.40}, here it is {own_version}"
    if unknown_names:
        yield f"the recording does not name its {', '.join(unknown_names)}"


def _describe_own_robots(header: Header) -> Iterator[str]:
    """Yield each robot whose card does not ship, or whose body differs from its model."""
    for name, robot in header.robots.items():
        if card_document(robot.robot) in header.documents:
            yield f"{name} has a card that does not ship"
        if "domain" in robot.facts and (domain := domain_of(robot.facts["domain"])) != NOMINAL:
            yield f"{name} differs from its model: {domain}"


def _find_difference(recording: Recording, repeated: Recording) -> str:
    """Return the first difference between two recordings in words."""
    if recording.header.identity() != repeated.header.identity():
        return "the header differs: field, rules, bodies or programs"
    differences = []
    for label, values, repeated_values in _pair_arrays(recording, repeated):
        row = _find_different_row(values, repeated_values)
        if row is not None:
            differences.append((row, label))
    if differences:
        row, label = min(differences)
        return f"{label} differ from {repeated.times[row]:.2f} s on"
    if recording.n_rows != repeated.n_rows:
        return f"it has {recording.duration_s:.2f} s, the repetition {repeated.duration_s:.2f} s"
    return "events, contacts or decisions differ"


def _pair_arrays(recording: Recording, repeated: Recording) -> Iterator[tuple[str, Array, Array]]:
    """Yield name and values of each array of rows in both recordings, which have the same robots."""
    yield "times", recording.times, repeated.times
    yield "boxes", recording.boxes, repeated.boxes
    for name, record in recording.robots.items():
        for array_name in ("positions", "commands", "efforts", "base", "footprints", "foot_contacts"):
            label = f"{array_name.replace('_', ' ')} of {name}"
            yield label, getattr(record, array_name), getattr(repeated.robots[name], array_name)


def _find_different_row(values: Array, repeated_values: Array) -> int | None:
    """Return the first row that differs between two arrays, where NaN equals NaN; None if there is none."""
    n = min(len(values), len(repeated_values))
    is_equal = (values[:n] == repeated_values[:n]) | (np.isnan(values[:n]) & np.isnan(repeated_values[:n]))
    rows = np.flatnonzero(~is_equal.all(axis=tuple(range(1, is_equal.ndim))))
    return int(rows[0]) if len(rows) else None


def _prepare_run(recording: Recording, folder: Path, *, trust_python: bool) -> Run:
    """Return the run of a recording, with its documents written into a folder.

    Raises:
        InputError: the run was not simulated, or the recording lacks what is needed.
    """
    require_plausible(recording)
    header = recording.header
    if not has_contest(header):
        raise InputError("it is not of a contest", hint="only runs of contests are repeated")
    if remark := describe_abort(recording):
        raise InputError(remark)
    domain = _find_domain(header)
    contest = contest_of(header, trust_attached_rules=True)
    arena = Arena.from_dict(header.arena)
    programs: dict[str, Program] = {}
    for name in header.robots:
        robot_folder = folder / f"robot_{len(programs)}" / Path(*_DEPTH)
        source = _RecordedProgram(header, name, robot_folder, trust_python=trust_python)
        programs[name] = source.read()
    starts: dict[str, PlanarPose] = {
        name: contest.start(role, arena) for name, role in zip(programs, contest.entries, strict=False)
    }
    first_card = next(iter(programs.values())).robot
    derivation = read_derivation(str(header.extras.get(STREAMS, Derivation.SHARED.value)))
    rows_every = max(1, round(1.0 / (header.rate_hz * first_card.frame_period_s)))
    return Run(
        str(header.extras.get("trial", "")),
        programs,
        contest.longest_s,
        arena=arena,
        starts=starts,
        postures={name: _find_posture(robot.facts) for name, robot in header.robots.items()},
        contest=contest,
        seed=header.seed,
        derivation=derivation,
        domain=domain,
        still_s=_find_still_s(recording),
        layout=header.layout,
        extras=header.extras,
        outputs=Outputs(rows_every=rows_every),
    )


def _find_domain(header: Header) -> DomainParameters:
    """Return the domain parameters of the simulated bodies of a recording.

    Raises:
        InputError: a body was not simulated, or they differ from each other.
    """
    domains = []
    for name, robot in header.robots.items():
        if "domain" not in robot.facts:
            body = header.extras.get(BODY, "")
            where = f"on {body!s:.40}" if body not in {"", SIMULATION} else "on a body that is not simulated"
            raise InputError(f"{name} ran {where}, and only simulations can be repeated")
        domains.append(domain_of(robot.facts["domain"]))
    if any(domain != domains[0] for domain in domains):
        raise InputError("its robots have different domain parameters")
    return domains[0] if domains else NOMINAL


def _find_posture(facts: PlainMapping) -> StartPosture:
    """Return how a simulated body was put down at the start, by its facts."""
    return read_posture(str(facts.get(POSTURE, StartPosture.STANDING.value)))


def _find_still_s(recording: Recording) -> float:
    """Return the time without movement that ended the run; 0 if it ended otherwise [s]."""
    for stop in recording.events_of("stop"):
        if match := _STILL.fullmatch(str(stop.data.get("reason"))):
            return float(match[1])
    return 0.0


class _RecordedProgram:
    """Reads the program of one robot from the documents of a recording.

    Args:
        header: the header of the recording.
        name: the name of the robot.
        folder: where the robot's documents are written; it must not exist.
        trust_python: whether to execute attached Python code.
    """

    def __init__(self, header: Header, name: str, folder: Path, *, trust_python: bool) -> None:
        self._header = header
        self._robot_header = header.robots[name]
        self._name = name
        self._folder = folder
        self._root = folder.parents[len(_DEPTH) - 1]
        self._trusts_python = trust_python
        self._documents = self._own_documents()
        self._origin = self._find_origin()

    def read(self) -> Program:
        """Return the program.

        Raises:
            PosewrightError: a document is missing, invalid, or differs from the one that ships.
        """
        self._write_documents()
        card = self._read_card()
        program = read_program(self._origin.program, card, options=dict(self._origin.options))
        if self._uses_own_controller:
            reference = self._require_python(self._origin.controller)
            source = load_object(reference)
            program = ProgramWithController(
                program,
                factory=controller_factory(source, reference),
                name=controller_name(source),
                source=source_documents(source),
            )
        self._require_same_documents(program)
        return program

    def _own_documents(self) -> dict[str, str]:
        """Return the documents of this robot; those of another with the same name have its name in front."""
        prefix = f"{self._name}/"
        documents = {
            name: text for name, text in self._header.documents.items() if not name.startswith(prefix)
        }
        own = {name: text for name, text in self._header.documents.items() if name.startswith(prefix)}
        return documents | {name.removeprefix(prefix): text for name, text in own.items()}

    @property
    def _uses_own_controller(self) -> bool:
        """Whether Python code replaced the program's controller; a board runs the same program."""
        return bool(self._origin.controller) and self._robot_header.controller.startswith("python ")

    def _find_origin(self) -> ProgramOrigin:
        """Return where the program came from: its name or file, options and controller.

        Names of files become the paths of the files attached to the recording, which lie in `_folder`.

        Raises:
            InputError: the recording does not state the origin, or the program is Python code that is not
                trusted or not attached.
        """
        # the controller is noted as kind and name, such as `behaviour approach`
        kind, _, program_name = self._robot_header.controller.partition(" ")
        origins = self._header.extras.get(PROGRAMS)  # of each program, by the name of its robot
        origin_data = origins.get(self._name) if isinstance(origins, dict) else None
        if isinstance(origin_data, dict):
            origin = ProgramOrigin.from_dict(origin_data)
            options = {name: self._locate(value) for name, value in origin.options.items()}
            program = origin.program
            if PythonKind().recognises(program):
                program = self._require_python(program)
            return ProgramOrigin(self._locate(program), options, origin.controller)
        if kind == BehaviourKind.name:
            return ProgramOrigin(self._locate(program_name))
        raise InputError(f"the recording does not say where the {kind or 'program'} {program_name} came from")

    def _locate(self, text: str) -> str:
        """Return the path of an attached file for its name or a behaviour's name; else the text itself.

        Args:
            text: the program or an option, as it was stated for the run.
        """
        if text in self._documents:
            return str(self._folder / text)
        for name, content in self._documents.items():
            if name.endswith((_BEHAVIOUR_SUFFIX, ".yaml")) and _behaviour_name(content) == text:
                return str(self._folder / name)
        return text

    def _require_python(self, reference: str) -> str:
        """Return `file.py:Name` with the path of the attached file.

        Raises:
            InputError: Python code is not trusted, or its file is not attached.
        """
        if not self._trusts_python:
            raise InputError(
                f"its program is the Python code {reference}",
                hint="--trust-python executes it, if you trust it",
            )
        file_name, _, class_name = reference.rpartition(":")
        sources = [name for name in self._documents if name.endswith(".py")]
        if file_name in sources:
            return f"{self._folder / file_name}:{class_name}"
        if len(sources) == 1:
            return f"{self._folder / sources[0]}:{class_name}"
        raise InputError(f"the recording does not carry the file of {reference}")

    def _write_documents(self) -> None:
        """Write all documents of the robot's program into the folder."""
        for name, text in self._documents.items():
            if not name.endswith(RULES_SUFFIX) and MODEL_FOLDER not in name:
                write_inside(self._root, self._folder / name, text.encode())

    def _read_card(self) -> Robot | None:
        """Return the robot's card: the one that ships, or the attached one with its attached model.

        It is None if the program's own document names the card by its path, at which it is written.
        """
        card_name = self._robot_header.robot
        card_text = self._documents.get(card_document(card_name))
        if card_text is None:
            if card_name not in robot_names():
                raise InputError(f"the recording does not carry the card of {card_name!r:.60}")
            return robot_card(card_name)
        behaviour = self._documents.get(Path(self._origin.program).name, "")
        named = _robot_of_behaviour(behaviour)
        path = self._folder / (named if is_path(named) else f"card/{card_document(card_name)}")
        if not path.suffix:
            path /= "robot.yaml"
        write_attached_robot(self._documents, card_name, path, root=self._root)
        self._write_catalogue(path.parent)
        return None if is_path(named) else read_robot(path)

    def _write_catalogue(self, folder: Path) -> None:
        """Write motions and gaits also into the folder of the robot, where they are found by name."""
        for suffix, subfolder in ((".motion.yaml", "motions"), (".gait.yaml", "gaits")):
            for name, text in self._documents.items():
                if name.endswith(suffix):
                    write_inside(self._root, folder / subfolder / Path(name).name, text.encode())

    def _require_same_documents(self, program: Program) -> None:
        """Raise an InputError if the program read documents that are not those of the recording."""
        for name, text in program.documents.items():
            if self._documents.get(name, text) != text:
                raise InputError(f"its {name} is not the one that comes with this version of Posewright")


def _behaviour_name(text: str) -> str:
    """Return the name of the behaviour in a document; empty if it is none."""
    return str(_read_mapping(text).get("behaviour", ""))


def _robot_of_behaviour(text: str) -> str:
    """Return the name or path of the robot in a behaviour; empty if it is none."""
    return str(_read_mapping(text).get("robot", ""))


def _read_mapping(text: str) -> PlainMapping:
    """Return the values of a YAML document; empty if it is no mapping."""
    try:
        value = parse_document(text).value
    except PosewrightError:
        return {}
    return value if isinstance(value, dict) else {}
