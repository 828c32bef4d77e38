"""A recording: what happened in one run, whoever the bodies were and whatever decided."""

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
"""What enters a digest before the rest; change what enters, and this must change too."""


def row_shapes(joints: int, feet: int, boxes: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of a row of each array of a `RobotRecord`, in the order they enter a digest."""
    own, standing = (joints,), (feet,)
    always = {"positions": own, "commands": own, "efforts": own, "base": (7,), "footprints": (feet, 4, 3)}
    always |= {"foot_contacts": standing, "box_contacts": (boxes,)}
    return {**always, "requests": own, "free": own, "slips": standing}


ARRAYS = (*row_shapes(0, 0, 0), "start_positions", "start_base")
FLAGS = frozenset({"foot_contacts", "box_contacts", "free"})
CONTACTS = ("frames", "pairs", "depths", "forces", "speeds")


@dataclass(frozen=True)
class Event:
    """Something that happened once: a start, a touch, a fall, a displaced box, a stop.

    An array handed in as a particular becomes a list.

    Raises:
        InputError: the time is not finite, or `data` holds what cannot be written down.
    """

    time_s: float
    kind: str
    data: PlainMapping = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "time_s", float(self.time_s))
        object.__setattr__(self, "data", to_plain(self.data))
        if not math.isfinite(self.time_s):
            raise InputError(f"an event {self.kind!r} at {self.time_s} s", hint="a finite time")


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a robot's controller decided, m times.

    Attributes:
        times: `(m,)` [s].
        states: the controller's state after each, m names.
        inputs: what it saw, m mappings.
        outputs: what it answered, m mappings.
        playing: name of the motion or gait asked for, None for standing still.
        sensors: readings by channel, each `(m, k)`, a contact as 0 or 1; NaN where none.
    """

    times: Floats = field(default_factory=lambda: np.zeros(0))
    states: tuple[str, ...] = ()
    inputs: tuple[Values, ...] = ()
    outputs: tuple[Values, ...] = ()
    playing: tuple[str | None, ...] = ()
    sensors: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # They travel as JSON, which knows one NaN only: so that is the one a recording has.
        times = np.asarray(self.times, dtype=np.float64)
        m = len(times)
        object.__setattr__(self, "times", _read_only("times", np.where(np.isnan(times), np.nan, times), (m,)))
        for name in ("states", "inputs", "outputs", "playing"):
            values = tuple(to_plain(value) for value in getattr(self, name))
            _expect(name, (len(values),), (m,))
            object.__setattr__(self, name, values)
        sensors = {
            name: _read_only(f"sensor {name}", values, (m, np.shape(values)[-1]))
            for name, values in sorted(self.sensors.items())
            if m
        }
        object.__setattr__(self, "sensors", sensors)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<Decisions: {len(self)}>"


@dataclass(frozen=True, eq=False)
class RobotRecord:
    """What one robot was told and did: n rows. Arrays are read-only.

    Attributes:
        positions: joint angles, `(n, n_joints)` [rad]; NaN where nobody measured them.
        commands: what was sent, `(n, n_joints)` [rad].
        efforts: joint torques, `(n, n_joints)` [N m].
        base: x y z qw qx qy qz in the field frame, `(n, 7)`; NaN where nobody knew.
        footprints: sole corners in the field frame, front-left, front-right, rear-right, rear-left,
            `(n, n_feet, 4, 3)` [m].
        foot_contacts: foot on the ground, `(n, n_feet)`.
        box_contacts: box touched by the robot, `(n, n_boxes)`.
        requests: what the controller wanted before safety, `(n, n_joints)` [rad]; None where it was sent.
        free: joints whose torque was off, `(n, n_joints)`; None where it was always on.
        slips: how far each foot slid in the row's frame, `(n, n_feet)` [m]; None where nobody looked.
        contacts: what touched what, its `frames` being rows; None where nobody looked.
        lights: the colour that each light was told to show, by LED, `(n, 3)` red, green and blue, 0..1; NaN
            before it was told any. None where nobody told a light anything.
        start_positions: joint angles before the first frame, `(n_joints,)` [rad].
        start_base: pose of the base before the first frame, `(7,)`.
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
    start_base: Floats = field(default_factory=lambda: np.full(7, np.nan))
    decisions: Decisions = field(default_factory=Decisions)
    lights: Mapping[str, Floats] | None = None

    def __post_init__(self) -> None:
        n, joints, feet = len(self.positions), len(self.header.joints), len(self.header.feet)
        if not len(self.start_positions):
            object.__setattr__(self, "start_positions", np.full(joints, np.nan))
        rows = row_shapes(joints, feet, np.shape(self.box_contacts)[-1])
        shapes = {name: (n, *shape) for name, shape in rows.items()}
        for name, shape in {**shapes, "start_positions": (joints,), "start_base": (7,)}.items():
            values = getattr(self, name)
            if values is not None:
                kind = np.bool_ if name in FLAGS else np.float64
                object.__setattr__(self, name, _read_only(name, values, shape, kind))
        if self.contacts is not None:
            _check_contacts(self.contacts, n)
        if self.lights is not None:
            lights = {name: _read_only(name, rows, (n, 3)) for name, rows in sorted(self.lights.items())}
            object.__setattr__(self, "lights", lights)

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        return f"<RobotRecord of {self.header.robot}, {self.header.controller or 'nobody'}: {len(self)} rows>"

    @property
    def knows_place(self) -> bool:
        """Whether the robot's place in the field is known in every row."""
        return bool(len(self) and np.isfinite(self.base).all())

    @property
    def asked(self) -> Floats:
        """What the controller wanted, `(n, n_joints)` [rad]."""
        return self.commands if self.requests is None else self.requests


@dataclass(frozen=True, eq=False)
class Recording:
    """What happened: n rows at `header.rate_hz`, one record a robot, and events.

    Attributes:
        times: of the rows, `(n,)` [s].
        robots: what each robot did, by its name in the header.
        boxes: x y z qw qx qy qz of each box, `(n, n_boxes, 7)`.
        events: what happened once, in the order it was seen.
    """

    header: Header
    times: Floats
    robots: Mapping[str, RobotRecord]
    boxes: Floats
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        n, n_boxes = len(self.times), len(self.header.boxes)
        object.__setattr__(self, "times", _read_only("times", self.times, (n,)))
        object.__setattr__(self, "boxes", _read_only("boxes", self.boxes, (n, n_boxes, 7)))
        object.__setattr__(self, "events", tuple(self.events))
        object.__setattr__(self, "robots", dict(self.robots))
        if list(self.robots) != list(self.header.robots):
            raise InputError(f"records of {', '.join(self.robots)}", hint=", ".join(self.header.robots))
        for name, record in self.robots.items():
            _expect(f"rows of {name}", (len(record),), (n,))
            _expect(f"box contacts of {name}", record.box_contacts.shape, (n, n_boxes))

    def __repr__(self) -> str:
        return f"<Recording of {', '.join(self.robots)}: {self.duration_s:.2f} s, {len(self.times)} rows>"

    def _repr_html_(self) -> str:
        kinds = Counter(event.kind for event in self.events)
        told = [f"{self.duration_s:.2f} s", *(f"{count} {kind}" for kind, count in kinds.items())]
        if self.header.contest:
            told = [f"{self.header.contest}, seed {self.header.seed}", *told]
        rows = ["<tr><th>robot</th><th>controller</th><th>rows</th><th>decisions</th></tr>"]
        for name, record in self.robots.items():
            cells = (name, record.header.controller, str(len(record)), str(len(record.decisions)))
            rows.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
        return f"<p>{escape(' · '.join(told))}</p><table>{''.join(rows)}</table>"

    @property
    def n_rows(self) -> int:
        """How many rows were kept."""
        return len(self.times)

    @property
    def duration_s(self) -> float:
        """The time of the last thing known [s]."""
        last = [self.times, *(record.decisions.times for record in self.robots.values())]
        return float(max((times[-1] for times in last if len(times)), default=0.0))

    def robot(self, name: str | None = None) -> RobotRecord:
        """Return what one robot did; without a name, the first."""
        if name is None:
            return next(iter(self.robots.values()))
        if name not in self.robots:
            raise UnknownNameError.among("robot of the recording", name, self.robots)
        return self.robots[name]

    def events_of(self, *kinds: str) -> tuple[Event, ...]:
        """Return the events of these kinds, in order."""
        return tuple(event for event in self.events if event.kind in kinds)

    def digest(self) -> str:
        """Return the SHA-256, in hex, over everything that happened: same run, same seed, same digest.

        The rules of a contest and the field enter; wall time, paths, versions and other documents do not.
        A NaN counts by its bits like any other number.
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        identity = _text([DIGEST_KIND, self.header.identity(), self.happened])
        return hashlib.sha256(identity).hexdigest()

    @cached_property
    def happened(self) -> str:
        """The SHA-256, in hex, over rows, decisions, contacts and events alone, whatever header they have."""
        digest = hashlib.sha256()
        _add_array(digest, "times", self.times)
        _add_array(digest, "boxes", self.boxes)
        for name, record in self.robots.items():
            digest.update(_text(["robot", name]))
            _add_robot(digest, record)
        digest.update(_text([(event.time_s, event.kind, event.data) for event in self.events]))
        return digest.hexdigest()


def _read_only(
    name: str, values: ArrayLike, shape: tuple[int, ...], kind: type[np.generic] = np.float64
) -> Array:
    array = np.ascontiguousarray(values, dtype=kind).view()
    _expect(name, array.shape, shape)
    array.flags.writeable = False
    return array


def _expect(name: str, shape: tuple[int, ...], right: tuple[int, ...]) -> None:
    if shape != right:
        raise InputError(f"{name} has the shape {shape}", hint=f"{right} would fit this recording")


def _check_contacts(contacts: Contacts, n_rows: int) -> None:
    n, things = len(contacts.frames), len(contacts.names)
    _expect("contacts", np.shape(contacts.pairs), (n, 2))
    for name in ("depths", "forces", "speeds"):
        _expect(f"{name} of contacts", np.shape(getattr(contacts, name)), (n,))
    for what, values, limit in (("row", contacts.frames, n_rows), ("thing", contacts.pairs, things)):
        if n and not 0 <= values.min() <= values.max() < limit:
            raise InputError(f"contacts in {what} {values.max()}", hint=f"there are {limit}")


def _add_robot(digest: hashlib._Hash, record: RobotRecord) -> None:
    for name in ARRAYS:
        values = getattr(record, name)
        if values is not None:
            _add_array(digest, name, values)
    if record.contacts is not None:
        digest.update(_text(record.contacts.names))
        for name in CONTACTS:
            _add_array(digest, name, getattr(record.contacts, name))
    for name, rows in (record.lights or {}).items():  # where there is none, digests are as they were before
        _add_array(digest, f"light {name}", rows)
    decisions = record.decisions
    _add_array(digest, "decisions", decisions.times)
    for name, readings in sorted(decisions.sensors.items()):
        _add_array(digest, f"sensor {name}", readings)
    digest.update(_text((decisions.states, decisions.inputs, decisions.outputs, decisions.playing)))


def _add_array(digest: hashlib._Hash, name: str, array: Array) -> None:
    kind = {"b": "|b1", "i": "<i8"}.get(array.dtype.kind, "<f8")
    digest.update(_text([name, kind, array.shape]))
    digest.update(np.ascontiguousarray(array, dtype=kind).data)


def _text(value: PlainData) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"
