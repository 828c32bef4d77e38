"""A recording of one run: rows of all robots, decisions, contacts and events."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Array, Flags, Floats
from posewright.bodies import Contacts
from posewright.documents.plain import PlainData, PlainMapping, to_plain
from posewright.errors import InputError, UnknownNameError
from posewright.recordings.header import Header, RobotHeader

Values = Mapping[str, bool | int | float | str]

DIGEST_KIND = "posewright-recording-3"
"""Version of the digest; it must change whenever the content of a digest changes."""


POSE_SIZE = 7
"""Numbers of a pose: the position and a quaternion."""


def row_shapes(n_joints: int, n_feet: int, n_boxes: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of a row of each array of a `RobotRecord`, in the order they enter a digest."""
    return {
        "positions": (n_joints,),
        "commands": (n_joints,),
        "efforts": (n_joints,),
        "base": (POSE_SIZE,),
        "footprints": (n_feet, 4, 3),
        "foot_contacts": (n_feet,),
        "box_contacts": (n_boxes,),
        "requests": (n_joints,),
        "free": (n_joints,),
        "slips": (n_feet,),
    }


ROBOT_ARRAY_NAMES = (*row_shapes(n_joints=0, n_feet=0, n_boxes=0), "start_positions", "start_base")
FLAGS = frozenset({"foot_contacts", "box_contacts", "free"})
CONTACT_ARRAY_NAMES = ("frames", "pairs", "depths", "forces", "speeds")


@dataclass(frozen=True)
class Event:
    """An event, such as a start, a touch, a fall, a displaced box or a stop.

    Attributes:
        time_s: when [s].
        kind: such as `touch`.
        data: particulars as plain data; arrays become lists.

    Raises:
        InputError: the time is not finite, or `data` has a value that cannot be written as JSON.
    """

    time_s: float
    kind: str
    data: PlainMapping = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "time_s", float(self.time_s))
        object.__setattr__(self, "data", to_plain(self.data))
        if not math.isfinite(self.time_s):
            raise InputError(
                f"the event {self.kind!r} has the time {self.time_s} s", hint="use a finite time"
            )


@dataclass(frozen=True, eq=False)
class Decisions:
    """The m decisions of a robot's controller.

    Attributes:
        times: `(m,)` [s].
        states: the controller's state after each decision.
        inputs: the inputs of each decision.
        outputs: the outputs of each decision.
        playing: name of the requested motion or gait after each decision; None for standing still.
        sensors: readings by channel, each `(m, k)`, contacts as 0 or 1; NaN without a reading.
    """

    times: Floats = field(default_factory=lambda: np.zeros(0))
    states: tuple[str, ...] = ()
    inputs: tuple[Values, ...] = ()
    outputs: tuple[Values, ...] = ()
    playing: tuple[str | None, ...] = ()
    sensors: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Store all values as read-only arrays and plain data.

        Raises:
            InputError: an attribute has not one entry for each decision.
        """
        times = np.asarray(self.times, dtype=np.float64)
        n_decisions = len(times)
        # the JSON of a decision knows a single NaN, so NaNs with other bits are replaced by it
        times = np.where(np.isnan(times), np.nan, times)
        object.__setattr__(self, "times", _read_only_array("times", times, shape=(n_decisions,)))
        for name in ("states", "inputs", "outputs", "playing"):
            values = tuple(to_plain(value) for value in getattr(self, name))
            _require_array_shape(name, (len(values),), (n_decisions,))
            object.__setattr__(self, name, values)
        sensors = {
            name: _read_only_array(f"sensor {name}", values, shape=(n_decisions, np.shape(values)[-1]))
            for name, values in sorted(self.sensors.items())
            if n_decisions
        }
        object.__setattr__(self, "sensors", sensors)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<Decisions: {len(self)}>"


@dataclass(frozen=True, eq=False)
class RobotRecord:
    """The n rows of one robot. Arrays are read-only.

    Attributes:
        header: the header of the robot.
        positions: joint angles, `(n, n_joints)` [rad]; NaN without a measurement.
        commands: joint angles sent to the body, `(n, n_joints)` [rad].
        efforts: joint torques, `(n, n_joints)` [N m].
        base: x y z qw qx qy qz in the field frame, `(n, 7)`; NaN if unknown.
        footprints: sole corners in the field frame, front-left, front-right, rear-right, rear-left,
            `(n, n_feet, 4, 3)` [m].
        foot_contacts: whether each foot is on the ground, `(n, n_feet)`.
        box_contacts: whether the robot touches each box, `(n, n_boxes)`.
        requests: joint angles requested by the controller, before safety, `(n, n_joints)` [rad]; None if they
            were always sent unchanged.
        free: joints whose torque was off, `(n, n_joints)`; None if it was always on.
        slips: how far each foot slid in the row's frame, `(n, n_feet)` [m]; None if not recorded.
        contacts: the contacts between parts, with rows as its `frames`; None if not recorded.
        lights: commanded colour of each LED, red, green and blue, 0..1, `(n, 3)`; NaN before the first
            command. None if no LED was commanded.
        start_positions: joint angles before the first frame, `(n_joints,)` [rad].
        start_base: pose of the base before the first frame, `(7,)`.
        decisions: the decisions of its controller.
    """

    header: RobotHeader
    positions: Floats
    commands: Floats
    efforts: Floats
    base: Floats
    footprints: Floats
    foot_contacts: Flags
    box_contacts: Flags
    requests: Floats | None = None
    free: Flags | None = None
    slips: Floats | None = None
    contacts: Contacts | None = None
    start_positions: Floats = field(default_factory=lambda: np.zeros(0))
    start_base: Floats = field(default_factory=lambda: np.full(POSE_SIZE, np.nan))
    decisions: Decisions = field(default_factory=Decisions)
    lights: Mapping[str, Floats] | None = None

    def __post_init__(self) -> None:
        """Make all arrays read-only; raise InputError unless their shapes fit each other and the header."""
        n_rows = len(self.positions)
        n_joints = len(self.header.joints)
        n_feet = len(self.header.feet)
        n_boxes = np.shape(self.box_contacts)[-1]
        if not len(self.start_positions):
            object.__setattr__(self, "start_positions", np.full(n_joints, np.nan))
        shapes: dict[str, tuple[int, ...]] = {
            name: (n_rows, *shape) for name, shape in row_shapes(n_joints, n_feet, n_boxes).items()
        }
        shapes["start_positions"] = (n_joints,)
        shapes["start_base"] = (POSE_SIZE,)
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values is not None:
                dtype = np.bool_ if name in FLAGS else np.float64
                object.__setattr__(self, name, _read_only_array(name, values, shape, dtype))
        if self.contacts is not None:
            _require_valid_contacts(self.contacts, n_rows)
        if self.lights is not None:
            lights = {
                name: _read_only_array(name, colours, (n_rows, 3))
                for name, colours in sorted(self.lights.items())
            }
            object.__setattr__(self, "lights", lights)

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        controller = self.header.controller or "no controller"
        return f"<RobotRecord of {self.header.robot}, {controller}: {len(self)} rows>"

    @property
    def knows_place(self) -> bool:
        """Whether the robot's place in the field is known in every row."""
        return bool(len(self) and np.isfinite(self.base).all())

    @property
    def requested(self) -> Floats:
        """Joint angles requested by the controller, `(n, n_joints)` [rad]."""
        return self.commands if self.requests is None else self.requests


@dataclass(frozen=True, eq=False)
class Recording:
    """A recording: n rows at `header.rate_hz` for each robot, and events.

    Attributes:
        header: the header of the recording.
        times: the times of the rows, `(n,)` [s].
        robots: record of each robot, by its name in the header.
        boxes: x y z qw qx qy qz of each box, `(n, n_boxes, 7)`.
        events: the events in the order in which they were noted.
    """

    header: Header
    times: Floats
    robots: Mapping[str, RobotRecord]
    boxes: Floats
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        """Make arrays read-only, copy the containers, and check that everything fits the header.

        Raises:
            InputError: an array has another shape, or the robots are not those of the header.
        """
        n_rows = len(self.times)
        n_boxes = len(self.header.boxes)
        object.__setattr__(self, "times", _read_only_array("times", self.times, shape=(n_rows,)))
        boxes_shape = (n_rows, n_boxes, POSE_SIZE)
        object.__setattr__(self, "boxes", _read_only_array("boxes", self.boxes, shape=boxes_shape))
        object.__setattr__(self, "events", tuple(self.events))
        object.__setattr__(self, "robots", dict(self.robots))
        if list(self.robots) != list(self.header.robots):
            raise InputError(
                f"the records are of {', '.join(self.robots)}",
                hint=f"the header has {', '.join(self.header.robots)}",
            )
        for name, record in self.robots.items():
            _require_array_shape(f"rows of {name}", (len(record),), (n_rows,))
            _require_array_shape(f"box contacts of {name}", record.box_contacts.shape, (n_rows, n_boxes))

    def __repr__(self) -> str:
        return f"<Recording of {', '.join(self.robots)}: {self.duration_s:.2f} s, {len(self.times)} rows>"

    def _repr_html_(self) -> str:
        """Return a summary and a table of the robots, for a notebook."""
        kinds = Counter(event.kind for event in self.events)
        summary = [f"{self.duration_s:.2f} s", *(f"{count} {kind}" for kind, count in kinds.items())]
        if self.header.contest:
            summary = [f"{self.header.contest}, seed {self.header.seed}", *summary]
        rows = ["<tr><th>robot</th><th>controller</th><th>rows</th><th>decisions</th></tr>"]
        for name, record in self.robots.items():
            cells = (name, record.header.controller, str(len(record)), str(len(record.decisions)))
            rows.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
        return f"<p>{escape(' · '.join(summary))}</p><table>{''.join(rows)}</table>"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.times)

    @property
    def duration_s(self) -> float:
        """Time of the last row or decision [s]."""
        all_times = [self.times, *(record.decisions.times for record in self.robots.values())]
        return float(max((times[-1] for times in all_times if len(times)), default=0.0))

    def robot(self, name: str | None = None) -> RobotRecord:
        """Return a robot's record by its name; without a name, the first robot's.

        Raises:
            UnknownNameError: the recording has no such robot.
        """
        if name is None:
            return next(iter(self.robots.values()))
        if name not in self.robots:
            raise UnknownNameError.among("robot", name, self.robots, owner="in the recording")
        return self.robots[name]

    def events_of(self, *kinds: str) -> tuple[Event, ...]:
        """Return the events of these kinds, in order."""
        return tuple(event for event in self.events if event.kind in kinds)

    def digest(self) -> str:
        """Return a SHA-256 in hex of the recording's content; equal runs with equal seeds have equal digests.

        The rules of a contest and the field are included; wall time, paths, versions and other documents are
        not. A NaN is included by its bits like any other number.
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        identity = _to_canonical_json([DIGEST_KIND, self.header.identity(), self.content_digest])
        return hashlib.sha256(identity).hexdigest()

    @cached_property
    def content_digest(self) -> str:
        """A SHA-256 in hex of rows, decisions, contacts and events, without the header."""
        digest = hashlib.sha256()
        _add_array(digest, "times", self.times)
        _add_array(digest, "boxes", self.boxes)
        for name, record in self.robots.items():
            digest.update(_to_canonical_json(["robot", name]))
            _add_robot(digest, record)
        digest.update(_to_canonical_json([(event.time_s, event.kind, event.data) for event in self.events]))
        return digest.hexdigest()


def _read_only_array(
    name: str, values: ArrayLike, shape: tuple[int, ...], dtype: type[np.generic] = np.float64
) -> Array:
    """Return an array as a read-only view of the expected shape; raise an InputError if it has another."""
    array = np.ascontiguousarray(values, dtype=dtype).view()
    _require_array_shape(name, array.shape, shape)
    array.flags.writeable = False
    return array


def _require_array_shape(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if shape != expected:
        raise InputError(f"{name} has the shape {shape}", hint=f"{expected} would fit this recording")


def _require_valid_contacts(contacts: Contacts, n_rows: int) -> None:
    """Raise unless the arrays of contacts have equal lengths and refer to existing rows and objects."""
    n_contacts = len(contacts.frames)
    _require_array_shape("contacts", np.shape(contacts.pairs), (n_contacts, 2))
    for name in ("depths", "forces", "speeds"):
        _require_array_shape(f"{name} of contacts", np.shape(getattr(contacts, name)), (n_contacts,))
    for kind, indices, n_existing in (
        ("row", contacts.frames, n_rows),
        ("object", contacts.pairs, len(contacts.names)),
    ):
        if n_contacts and not 0 <= indices.min() <= indices.max() < n_existing:
            raise InputError(f"contacts have the {kind} {indices.max()}", hint=f"there are {n_existing}")


def _add_robot(digest: hashlib._Hash, record: RobotRecord) -> None:
    """Add a robot's record to a digest."""
    for name in ROBOT_ARRAY_NAMES:
        values = getattr(record, name)
        if values is not None:
            _add_array(digest, name, values)
    if record.contacts is not None:
        digest.update(_to_canonical_json(record.contacts.names))
        for name in CONTACT_ARRAY_NAMES:
            _add_array(digest, name, getattr(record.contacts, name))
    # a record without lights has the digest of older versions
    for name, rows in (record.lights or {}).items():
        _add_array(digest, f"light {name}", rows)
    decisions = record.decisions
    _add_array(digest, "decisions", decisions.times)
    for name, readings in sorted(decisions.sensors.items()):
        _add_array(digest, f"sensor {name}", readings)
    digest.update(
        _to_canonical_json((decisions.states, decisions.inputs, decisions.outputs, decisions.playing))
    )


def _add_array(digest: hashlib._Hash, name: str, array: Array) -> None:
    kind = {"b": "|b1", "i": "<i8"}.get(array.dtype.kind, "<f8")
    digest.update(_to_canonical_json([name, kind, array.shape]))
    digest.update(np.ascontiguousarray(array, dtype=kind).data)


def _to_canonical_json(value: PlainData) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


ABORTED = "aborted"
"""The kind of the last event of a run that an error or a signal ended; its data has the `reason`."""


def describe_abort(recording: Recording) -> str:
    """Return a remark that the run was aborted, and why; empty if it was not."""
    for event in recording.events_of(ABORTED):
        return f"the run was aborted at {event.time_s:.1f} s: {event.data.get('reason')}"
    return ""
