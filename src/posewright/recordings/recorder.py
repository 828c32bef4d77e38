"""A watcher of `control.drive` that records a run. It costs some array copies per block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol

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
"""A race records every fourth frame: 32 rows per second of a robot with 128 frames per second."""

CHUNK_ROWS = 1024
"""Rows are stored in arrays of this length, so that recorded rows are not copied when more are added."""


class SafetyLimit(Protocol):
    """A kind of limit that the safety filter applies to commands, as `control.SafetyLimit`."""

    @property
    def value(self) -> str:
        """Its name."""

    @property
    def unit(self) -> str:
        """The unit of the requested value and of the limit."""


class Interventions(Protocol):
    """The k corrections by the safety filter in a block of commands, as `control.Interventions`."""

    @property
    def guards(self) -> Sequence[SafetyLimit]:
        """The kind of limit exceeded, k of them."""

    @property
    def frames(self) -> Indices:
        """The row corrected, `(k,)`."""

    @property
    def joints(self) -> Indices:
        """The column corrected, `(k,)`."""

    @property
    def values(self) -> Floats:
        """The requested value, `(k,)`."""

    @property
    def limits(self) -> Floats:
        """The limit, `(k,)`."""


class RecordableBlock(Protocol):
    """The part of a `control.Block`, a controller's commands and their execution, that is recorded."""

    @property
    def robot(self) -> str:
        """Name of the robot in the header."""

    @property
    def state(self) -> BodyState:
        """State of the body when its controller decided."""

    @property
    def requests(self) -> JointCommands:
        """Commands of the controller, before safety."""

    @property
    def commands(self) -> JointCommands:
        """Commands sent to the body."""

    @property
    def states(self) -> JointStates:
        """States of the joints in each frame."""

    @property
    def interventions(self) -> Interventions | None:
        """Corrections by the safety filter; None without any."""


def recorded_frames(n_previous: int, frames_per_row: int = ROWS_EVERY) -> slice:
    """Return which of the next frames are recorded: one for each row since the start.

    The rows do not depend on how frames are split into blocks.

    Args:
        n_previous: number of frames before.
        frames_per_row: a row is recorded for each so many frames.
    """
    return slice((frames_per_row - 1 - n_previous) % frames_per_row, None, frames_per_row)


class _LimitKey(NamedTuple):
    """A limit of the safety filter on a joint.

    Attributes:
        robot: name in the header.
        limit: the kind of limit.
        joint: index of the joint.
    """

    robot: str
    limit: SafetyLimit
    joint: int


class Recorder:
    """Records one of `every` frames of the robots of a plant, and all decisions and events.

    A correction by the safety filter becomes an event once for each joint and kind of limit, because a motion
    with an excessive speed exceeds it in every pass.

    The constructor opens the bodies of the plant and reads their state before the first frame.

    Args:
        header: the header of the recording; its rate is replaced by that of the rows.
        plant: the plant with the robots, which must be in their state before the first frame.
        every: number of frames per row.

    Raises:
        InputError: `every` is below 1, or header and plant have different robots.
    """

    def __init__(self, header: Header, plant: Plant, *, every: int = ROWS_EVERY) -> None:
        if every < 1:
            raise InputError(f"cannot record every {every}th frame", hint="1 records all frames")
        if set(header.robots) != set(plant.bodies):
            raise InputError(
                f"the header has the robots {', '.join(header.robots)}",
                hint=f"the plant has {', '.join(plant.bodies)}",
            )
        self.header = replace(header, rate_hz=1.0 / (plant.frame_period_s * every))
        self._events: list[Event] = []
        self._recorders: dict[str, _RobotRecorder] = {}
        for name, robot_header in header.robots.items():
            body = plant.bodies[name]
            body.open()
            self._recorders[name] = _RobotRecorder(
                robot_header, n_boxes=len(header.boxes), start=body.observe(), frames_per_row=every
            )
        self._reported_limits: set[_LimitKey] = set()

    def watch(self, block: RecordableBlock) -> bool:
        """Record a block; return False, as a recorder never ends a run.

        Raises:
            BodyError: the body executed another number of frames than it was commanded.
        """
        recorder = self._recorders[block.robot]
        decision = block.requests.decision
        if decision is not None:
            recorder.decisions.append((block.state, decision))
            for kind, data in decision.events:
                self.note(Event(block.state.time_s, kind, self._event_data(block.robot, data)))
        recorder.add_block(block)
        for fault in block.states.faults:
            data = {"fault": fault.kind.value, "message": fault.message, "joint": fault.joint}
            self.note(Event(fault.time_s, "fault", self._event_data(block.robot, data)))
        if block.interventions is not None:
            self._note_interventions(block, block.interventions)
        return False

    def note(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)

    def recording(self) -> Recording:
        """Return the recording up to now; more blocks may follow.

        Raises:
            InputError: rows do not fit the header, or the readings of a sensor changed their size.
        """
        recorders = list(self._recorders.values())
        robots = {name: recorder.record() for name, recorder in self._recorders.items()}
        times = recorders[0].column("times")
        box_recorder = next((recorder for recorder in recorders if recorder.has_boxes), recorders[0])
        return Recording(
            self.header, times, robots, boxes=box_recorder.column("boxes"), events=tuple(self._events)
        )

    def _event_data(self, robot: str, data: PlainMapping) -> PlainMapping:
        """Return the data of an event, with the robot's name if there are several robots."""
        return {**data, "robot": robot} if len(self._recorders) > 1 else dict(data)

    def _note_interventions(self, block: RecordableBlock, interventions: Interventions) -> None:
        """Add an event for each joint and kind of limit that was exceeded for the first time.

        The event has the correction in the block that exceeds the limit most, the first of equal ones.
        """
        excess = np.abs(interventions.values - interventions.limits)
        worst_corrections: dict[_LimitKey, int] = {}  # indices into `interventions`
        for i, joint in enumerate(interventions.joints.tolist()):
            key = _LimitKey(block.robot, interventions.guards[i], joint)
            if key in self._reported_limits:
                continue
            if key not in worst_corrections or excess[i] > excess[worst_corrections[key]]:
                worst_corrections[key] = i
        joint_names = self.header.robots[block.robot].joints
        for key, i in worst_corrections.items():
            self._reported_limits.add(key)
            data = {
                "guard": key.limit.value,
                "joint": joint_names[key.joint],
                "value": float(interventions.values[i]),
                "limit": float(interventions.limits[i]),
                "unit": key.limit.unit,
            }
            time_s = float(block.states.times[interventions.frames[i]])
            self.note(Event(time_s, "safety", self._event_data(key.robot, data)))


class _LightChange(NamedTuple):
    """The change of a light to another colour, from a row on."""

    first_row: int
    colour: Rgb


class _RobotRecorder:
    """Records one robot; its rows are stored in chunks of `CHUNK_ROWS`.

    Attributes:
        decisions: the controller's decisions, each after the state of the body it was made in.
        has_boxes: whether the robot's ground truth has the poses of the boxes.
    """

    def __init__(self, header: RobotHeader, n_boxes: int, start: JointStates, frames_per_row: int) -> None:
        """Begin with no rows.

        Args:
            header: the header of the robot.
            n_boxes: number of boxes in the field.
            start: the joint states before the first frame.
            frames_per_row: a row is recorded for each so many frames.
        """
        self.decisions: list[tuple[BodyState, Decision]] = []
        self.has_boxes = False
        self._header = header
        self._start = start
        self._frames_per_row = frames_per_row
        self._n_frames = 0
        self._n_rows = 0
        self._has_slips = False
        self._has_free_joints = False
        self._has_changed_requests = False  # whether the safety filter changed a command
        self._contacts: dict[int, Contacts] = {}  # of each block, by the block's first frame
        self._light_changes: dict[str, list[_LightChange]] = {}  # by the light's name
        shapes: dict[str, tuple[int, ...]] = {"times": (), "boxes": (n_boxes, 7)}
        self._shapes = shapes | row_shapes(len(header.joints), len(header.feet), n_boxes)
        self._chunk: dict[str, Array] = {}
        self._chunks: list[dict[str, Array]] = []

    def add_block(self, block: RecordableBlock) -> None:
        """Record the frames of a block: rows for some of them, and all contacts and changes of lights.

        The arrays are copied because a body may reuse them.

        Raises:
            BodyError: the body executed another number of frames than it was commanded.
        """
        states = block.states
        commands = block.commands
        n_frames = len(states)
        if len(commands) != n_frames:
            raise BodyError(f"{len(commands)} frames were commanded but the body executed {n_frames}")
        if not n_frames:
            return
        first_frame = self._n_frames
        row_frames = recorded_frames(first_frame, self._frames_per_row)
        self._n_frames += n_frames
        values: dict[str, Array] = {
            "times": states.times,
            "positions": states.positions,
            "efforts": states.efforts,
            "commands": commands.angles,
        }
        if block.interventions is not None and block.requests.angles is not commands.angles:
            self._has_changed_requests = True
            values["requests"] = block.requests.angles
        if commands.free is not None:
            self._has_free_joints = True
            values["free"] = np.broadcast_to(commands.free, commands.angles.shape)
        for name, colour in (commands.lights or {}).items():
            changes = self._light_changes.setdefault(name, [])
            if not changes or changes[-1].colour != colour:
                changes.append(_LightChange(first_row=self._n_rows, colour=colour))
        if states.truth is not None:
            self.has_boxes = True
            self._add_ground_truth(states.truth, first_frame, values)
        self._append_rows(values, row_frames.start, n_rows=len(range(n_frames)[row_frames]))

    def _add_ground_truth(self, truth: GroundTruth, first_frame: int, values: dict[str, Array]) -> None:
        """Record the contacts of a block, and add its other ground truth to the values of its frames.

        Raises:
            BodyError: the ground truth is of another number of boxes than stand on the field.
        """
        n_boxes = self._shapes["boxes"][0]
        if truth.boxes.shape[1] != n_boxes:
            raise BodyError(
                f"the ground truth has {truth.boxes.shape[1]} boxes, but the field has {n_boxes}",
                hint="start the other end of the link with the same field",
            )
        values["base"] = truth.base
        values["footprints"] = truth.footprints
        values["foot_contacts"] = truth.foot_contacts
        values["boxes"] = truth.boxes
        values["box_contacts"] = truth.box_contacts
        # slips are distances per frame, so a row of several frames has none
        if self._frames_per_row == 1 and truth.slips is not None:
            self._has_slips = True
            values["slips"] = truth.slips
        if truth.contacts is not None:
            self._contacts[first_frame] = truth.contacts

    def _append_rows(self, values: Mapping[str, Array], first_frame: int, n_rows: int) -> None:
        """Append rows from every `_frames_per_row`-th frame of a block.

        Rows are stored in chunks of `CHUNK_ROWS`, so that no array has to grow.

        Args:
            values: arrays with one entry per frame of the block, by the names of the columns.
            first_frame: index in the block of the first frame to append.
            n_rows: number of rows to append.
        """
        n_missing = n_rows
        next_frame = first_frame
        while n_missing > 0:
            row_in_chunk = self._n_rows % CHUNK_ROWS
            if row_in_chunk == 0:  # all chunks are full
                self._chunk = {name: self._empty_rows(name, CHUNK_ROWS) for name in self._shapes}
                self._chunks.append(self._chunk)
            n_added = min(n_missing, CHUNK_ROWS - row_in_chunk)
            end_frame = next_frame + n_added * self._frames_per_row
            for name, array in values.items():
                frames = array[next_frame : end_frame : self._frames_per_row]
                self._chunk[name][row_in_chunk : row_in_chunk + n_added] = frames
            self._n_rows += n_added
            n_missing -= n_added
            next_frame = end_frame

    def column(self, name: str) -> Array:
        """Return all rows of an array of the record, of the times or of the boxes."""
        chunks = [chunk[name] for chunk in self._chunks] or [self._empty_rows(name, 0)]
        return np.concatenate(chunks)[: self._n_rows]

    def _empty_rows(self, name: str, n_rows: int) -> Array:
        """Return rows of a column with the value that stands for no data: False, no slip or NaN."""
        shape = (n_rows, *self._shapes[name])
        if name in FLAGS:
            return np.full(shape, fill_value=False)
        return np.full(shape, 0.0 if name == "slips" else np.nan)

    def record(self) -> RobotRecord:
        """Return the record of this robot up to now.

        `requests` are the commands of the controller, `commands` what the safety filter made of them; where
        nothing was requested, they are equal. Optional columns are None if they have no data.
        """
        commands = self.column("commands")
        requests = self.column("requests")
        truth = self._start.truth
        return RobotRecord(
            header=self._header,
            positions=self.column("positions"),
            commands=commands,
            efforts=self.column("efforts"),
            base=self.column("base"),
            footprints=self.column("footprints"),
            foot_contacts=self.column("foot_contacts"),
            box_contacts=self.column("box_contacts"),
            requests=np.where(np.isnan(requests), commands, requests) if self._has_changed_requests else None,
            free=self.column("free") if self._has_free_joints else None,
            slips=self.column("slips") if self._has_slips else None,
            contacts=self._contact_rows() if self._contacts else None,
            lights=self._light_rows() if self._light_changes else None,
            start_positions=self._start.positions[0],
            start_base=np.full(7, np.nan) if truth is None else truth.base[0],
            decisions=self._decisions(),
        )

    def _contact_rows(self) -> Contacts:
        """Return the contacts with rows in place of frames.

        A contact in a frame between two rows belongs to the later row; after the last row it is left out.
        """
        contacts = Contacts.concatenate(self._contacts)
        if self._frames_per_row > 1:
            contacts = contacts.group_frames(self._frames_per_row)
        is_in_row = contacts.frames < self._n_rows  # frames after the last row have no row yet
        return Contacts(
            contacts.names,
            frames=contacts.frames[is_in_row],
            pairs=contacts.pairs[is_in_row],
            depths=contacts.depths[is_in_row],
            forces=contacts.forces[is_in_row],
            speeds=contacts.speeds[is_in_row],
        )

    def _light_rows(self) -> dict[str, Floats]:
        """Return the commanded colour of each light in each row, `(n, 3)`; NaN before the first command."""
        lights: dict[str, Floats] = {}
        for name, changes in self._light_changes.items():
            colours = np.full((self._n_rows, 3), np.nan)
            for change in changes:
                colours[change.first_row :] = change.colour
            lights[name] = colours
        return lights

    def _decisions(self) -> Decisions:
        """Return the decisions, with the readings of all sensors that ever had one."""
        decisions = [decision for _, decision in self.decisions]
        states = [state for state, _ in self.decisions]
        names = dict.fromkeys(chain.from_iterable(state.sensors for state in states))
        return Decisions(
            times=np.array([state.time_s for state in states], dtype=np.float64),
            states=tuple(decision.state for decision in decisions),
            inputs=tuple(decision.inputs for decision in decisions),
            outputs=tuple(decision.outputs for decision in decisions),
            playing=tuple(decision.playing for decision in decisions),
            sensors={
                name: _stack_readings(name, [state.sensors.get(name) for state in states]) for name in names
            },
        )


def _stack_readings(name: str, readings: Sequence[Reading | None]) -> Floats:
    """Return a sensor's readings at every decision, `(m, k)`; NaN without a reading.

    Raises:
        InputError: the readings have different numbers of values.
    """
    try:
        return np.array(readings, dtype=np.float64).reshape(len(readings), -1)  # None becomes NaN
    except ValueError:  # None among readings of several numbers, or readings of different sizes
        pass
    size, *other_sizes = dict.fromkeys(np.size(reading) for reading in readings if reading is not None)
    if other_sizes:
        raise InputError(
            f"a reading of sensor {name} has {size} numbers, a later one {other_sizes[0]}",
            hint="the same number in every reading",
        )
    rows = [np.full(size, np.nan) if reading is None else np.reshape(reading, size) for reading in readings]
    return np.array(rows, dtype=np.float64)
