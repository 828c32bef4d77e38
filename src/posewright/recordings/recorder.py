"""Makes a recording while a run goes on: a watcher of `control.drive`, some array copies a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np

from posewright.arrays import Array, Floats, Indices
from posewright.bodies import Contacts, GroundTruth, JointCommands, JointStates, Plant, Reading
from posewright.documents.plain import PlainMapping
from posewright.errors import BodyError, InputError
from posewright.recordings.header import Header, RobotHeader
from posewright.recordings.recording import (
    FLAGS,
    Decisions,
    Event,
    Recording,
    RobotRecord,
    row_shapes,
)
from posewright.robots import Rgb

if TYPE_CHECKING:
    from posewright.bodies import BodyState, Decision

ROWS_EVERY = 4
"""A race keeps every fourth frame: 32 rows a second of a robot with 128 frames a second."""

CHUNK_ROWS = 1024
"""Rows are kept in arrays of so many: what is there is never copied to make room."""


class Guard(Protocol):
    """A limit that safety holds commands to: its name, and the unit of what was asked."""

    @property
    def value(self) -> str:
        """Its name."""

    @property
    def unit(self) -> str:
        """The unit of what was asked and of the limit."""


class Interventions(Protocol):
    """What safety changed, as `control.Interventions`: k corrections of a joint in a frame."""

    @property
    def guards(self) -> Sequence[Guard]:
        """What each command ran against."""

    @property
    def frames(self) -> Indices:
        """The rows that were corrected, `(k,)`."""

    @property
    def joints(self) -> Indices:
        """The columns, `(k,)`."""

    @property
    def values(self) -> Floats:
        """What was asked, `(k,)`."""

    @property
    def limits(self) -> Floats:
        """What was let through at most, `(k,)`."""


class Seen(Protocol):
    """What a recorder looks at of a block."""

    @property
    def robot(self) -> str:
        """Whose block it is."""

    @property
    def state(self) -> BodyState:
        """What the body said when its controller was asked."""

    @property
    def requests(self) -> JointCommands:
        """What the controller wanted."""

    @property
    def commands(self) -> JointCommands:
        """What was sent."""

    @property
    def states(self) -> JointStates:
        """What the joints did."""

    @property
    def interventions(self) -> Interventions | None:
        """What safety changed."""


def kept_frames(seen: int, every: int = ROWS_EVERY) -> slice:
    """Return which of the next frames are kept when `seen` went before: every `every`-th of them all.

    So a block of frames gives the same rows however it is cut into smaller ones.
    """
    return slice((every - 1 - seen) % every, None, every)


class Recorder:
    """Keeps every `every`-th frame of what the robots of a plant do, and all decisions and events.

    What safety changed is noted once for each joint and guard: a motion that asks too much does so in every
    pass.

    Args:
        header: what is recorded; its rate is the recorder's affair.
        plant: whose robots; they are opened, and are as they will be before the first frame.
        every: so many frames make a row.

    Raises:
        InputError: `every` is below 1, or the header is of other robots than the plant.
    """

    def __init__(self, header: Header, plant: Plant, *, every: int = ROWS_EVERY) -> None:
        if every < 1:
            raise InputError(f"cannot keep every {every}th frame", hint="1 keeps all of them")
        if set(header.robots) != set(plant.bodies):
            told = f"a header of {', '.join(header.robots)}"
            raise InputError(told, hint=f"the plant has {', '.join(plant.bodies)}")
        self.header = replace(header, rate_hz=1.0 / (plant.frame_period_s * every))
        self._events: list[Event] = []
        self._robots = {}
        for name, one in header.robots.items():
            body = plant.bodies[name]
            body.open()
            self._robots[name] = _RobotRows(one, len(header.boxes), body.observe(), every)
        self._noted: set[tuple[str, Guard, int]] = set()

    def watch(self, block: Seen) -> bool:
        """Keep a block; never ends a run.

        Raises:
            BodyError: the body did not do as many frames as it was commanded.
        """
        rows = self._robots[block.robot]
        decision = block.requests.decision
        if decision is not None:
            rows.decisions.append((block.state, decision))
            for kind, data in decision.events:
                self.note(Event(block.state.time_s, kind, self._told(block.robot, data)))
        rows.keep(block)
        for fault in block.states.faults:
            data = {"fault": fault.kind.value, "message": fault.message, "joint": fault.joint}
            self.note(Event(fault.time_s, "fault", self._told(block.robot, data)))
        if block.interventions is not None:
            self._note_safety(block, block.interventions)
        return False

    def note(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)

    def recording(self) -> Recording:
        """Return what happened so far; the recorder may go on.

        Raises:
            InputError: what was seen does not fit the header, or a sensor changed its size.
        """
        robots = {name: rows.record() for name, rows in self._robots.items()}
        rows = list(self._robots.values())
        knowing = next((one for one in rows if one.knows_boxes), rows[0])
        times, boxes = rows[0].column("times"), knowing.column("boxes")
        return Recording(self.header, times, robots, boxes, tuple(self._events))

    def _told(self, robot: str, data: PlainMapping) -> PlainMapping:
        """Return the particulars of an event, with the robot's name where there are several."""
        return {**data, "robot": robot} if len(self._robots) > 1 else dict(data)

    def _note_safety(self, block: Seen, interventions: Interventions) -> None:
        worst: dict[tuple[str, Guard, int], int] = {}
        excess = np.abs(interventions.values - interventions.limits)
        for k, (guard, joint) in enumerate(
            zip(interventions.guards, interventions.joints.tolist(), strict=True)
        ):
            key = (block.robot, guard, joint)
            if key in self._noted:
                continue
            if excess[k] > excess[worst.setdefault(key, k)]:
                worst[key] = k
        joints = self.header.robots[block.robot].joints
        for (robot, guard, joint), k in worst.items():
            self._noted.add((robot, guard, joint))
            data = {
                "guard": guard.value,
                "joint": joints[joint],
                "value": float(interventions.values[k]),
                "limit": float(interventions.limits[k]),
                "unit": guard.unit,
            }
            time_s = float(block.states.times[interventions.frames[k]])
            self.note(Event(time_s, "safety", self._told(robot, data)))


class _RobotRows:
    """The rows of one robot, chunk by chunk."""

    def __init__(self, header: RobotHeader, n_boxes: int, start: JointStates, every: int) -> None:
        self.header = header
        self.decisions: list[tuple[BodyState, Decision]] = []
        self._start = start
        self._every = every
        self._frames = self._rows = 0
        self._has_slips = False
        self._was_free = self._was_changed = self.knows_boxes = False
        self._contacts: dict[int, Contacts] = {}
        self._lights: dict[str, list[tuple[int, Rgb]]] = {}  # by light, from which row on it had a colour
        joints, feet = len(header.joints), len(header.feet)
        own: dict[str, tuple[int, ...]] = {"times": (), "boxes": (n_boxes, 7)}
        self._shapes = own | row_shapes(joints, feet, n_boxes)
        self._chunk: dict[str, Array] = {}
        self._chunks: list[dict[str, Array]] = []

    def keep(self, block: Seen) -> None:
        """Keep the rows of a block. The arrays are copied: a body may use them again."""
        states, commands, n = block.states, block.commands, len(block.states)
        if len(commands) != n:
            raise BodyError(f"{len(commands)} frames were commanded and {n} came back")
        if not n:
            return
        kept = kept_frames(self._frames, self._every)
        begin, self._frames = self._frames, self._frames + n
        values: dict[str, Array] = {
            "times": states.times,
            "positions": states.positions,
            "efforts": states.efforts,
            "commands": commands.angles,
        }
        if block.interventions is not None and block.requests.angles is not commands.angles:
            self._was_changed = True
            values["requests"] = block.requests.angles
        if commands.free is not None:
            self._was_free = True
            values["free"] = np.broadcast_to(commands.free, commands.angles.shape)
        for name, colour in (commands.lights or {}).items():
            changes = self._lights.setdefault(name, [])
            if not changes or changes[-1][1] != colour:
                changes.append((self._rows, colour))
        if states.truth is not None:
            self.knows_boxes = True
            self._add_truth(states.truth, begin, values)
        self._store(values, kept.start, len(range(n)[kept]))

    def _add_truth(self, truth: GroundTruth, begin: int, values: dict[str, Array]) -> None:
        values |= {name: getattr(truth, name) for name in _PLACES}
        if self._every == 1 and truth.slips is not None:  # what happened in a frame says nothing of four
            self._has_slips = True
            values["slips"] = truth.slips
        if truth.contacts is not None:
            self._contacts[begin] = truth.contacts

    def _store(self, values: Mapping[str, Array], begin: int, n: int) -> None:
        """Keep n rows of the values, from `begin` on."""
        while n > 0:
            at = self._rows % CHUNK_ROWS
            if not at:
                self._chunk = {name: self._nothing(name, CHUNK_ROWS) for name in self._shapes}
                self._chunks.append(self._chunk)
            take = min(n, CHUNK_ROWS - at)
            end = begin + take * self._every
            rows, kept = slice(at, at + take), slice(begin, end, self._every)
            for name, array in values.items():
                self._chunk[name][rows] = array[kept]
            self._rows += take
            begin, n = end, n - take

    def column(self, name: str) -> Array:
        """Return all rows of one kind."""
        chunks = [chunk[name] for chunk in self._chunks] or [self._nothing(name, 0)]
        return np.concatenate(chunks)[: self._rows]

    def _nothing(self, name: str, n: int) -> Array:
        """Return n rows in which nobody saw anything."""
        value = False if name in FLAGS else 0.0 if name == "slips" else np.nan
        return np.full((n, *self._shapes[name]), value)

    def record(self) -> RobotRecord:
        """Return what this robot did."""
        commands = self.column("commands")
        requests = self.column("requests")
        truth = self._start.truth
        return RobotRecord(
            header=self.header,
            positions=self.column("positions"),
            commands=commands,
            efforts=self.column("efforts"),
            base=self.column("base"),
            footprints=self.column("footprints"),
            foot_contacts=self.column("foot_contacts"),
            box_contacts=self.column("box_contacts"),
            requests=np.where(np.isnan(requests), commands, requests) if self._was_changed else None,
            free=self.column("free") if self._was_free else None,
            slips=self.column("slips") if self._has_slips else None,
            contacts=self._touched() if self._contacts else None,
            lights=self._lit() if self._lights else None,
            start_positions=self._start.positions[0],
            start_base=np.full(7, np.nan) if truth is None else truth.base[0],
            decisions=self._decisions(),
        )

    def _touched(self) -> Contacts:
        """Return what touched what, row by row: a touch between two rows belongs to the later."""
        found = Contacts.concatenate(self._contacts)
        if self._every > 1:
            found = found.group_frames(self._every)
        is_complete = found.frames < self._rows
        return Contacts(
            found.names,
            frames=found.frames[is_complete],
            pairs=found.pairs[is_complete],
            depths=found.depths[is_complete],
            forces=found.forces[is_complete],
            speeds=found.speeds[is_complete],
        )

    def _lit(self) -> dict[str, Floats]:
        """Return what each light was told, row by row, `(n, 3)` each."""
        lit: dict[str, Floats] = {}
        for name, changes in self._lights.items():
            lit[name] = np.full((self._rows, 3), np.nan)
            ends = [row for row, _ in changes[1:]]
            for (row, colour), end in zip(changes, [*ends, self._rows], strict=True):
                lit[name][row:end] = colour
        return lit

    def _decisions(self) -> Decisions:
        made = [decision for _, decision in self.decisions]
        states = [state for state, _ in self.decisions]
        names = dict.fromkeys(chain.from_iterable(state.sensors for state in states))
        return Decisions(
            times=np.array([state.time_s for state in states], dtype=np.float64),
            states=tuple(one.state for one in made),
            inputs=tuple(one.inputs for one in made),
            outputs=tuple(one.outputs for one in made),
            playing=tuple(one.playing for one in made),
            sensors={name: _series(name, [state.sensors.get(name) for state in states]) for name in names},
        )


_PLACES = ("base", "footprints", "foot_contacts", "boxes", "box_contacts")


def _series(name: str, readings: Sequence[Reading | None]) -> Floats:
    """Return what a sensor read at every decision, `(m, k)`; not-a-number where it read nothing."""
    try:
        return np.array(readings, dtype=np.float64).reshape(len(readings), -1)  # None becomes not-a-number
    except ValueError:  # nothing where others are several numbers
        first, *others = dict.fromkeys(np.size(reading) for reading in readings if reading is not None)
    if others:
        raise InputError(f"sensor {name} gave {first} numbers, then {others[0]}")
    rows = [np.full(first, np.nan) if reading is None else np.reshape(reading, first) for reading in readings]
    return np.array(rows, dtype=np.float64)
