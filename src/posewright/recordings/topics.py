"""What a recording is read back from: exact topics, written and read.

Each robot's topics stand below its name, also where there is one robot only: `/robotis_bioloid/joint_states`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Array
from posewright.bodies import Contacts
from posewright.documents.plain import PlainData, PlainMapping
from posewright.errors import InputError
from posewright.recordings import messages
from posewright.recordings.cdr import Layout, stamps, to_ns
from posewright.recordings.exact_json import Shape, from_json, require_shape, to_json
from posewright.recordings.header import Header, RobotHeader
from posewright.recordings.recording import Decisions, Event, Recording, RobotRecord

EVENTS, ROWS = "/events", "/rows"
MAX_READING = 1 << 16
"""All sensors of a robot together give at most so many numbers at a time."""

MAX_JSON_BYTES = 1 << 21
"""Bytes of all decisions and events: at most so many, and `ROW_JSON_BYTES` more for each row."""

ROW_JSON_BYTES = 1 << 10

_INFO, _WARNING = 2, 3
_HARMLESS = ("start", "stop")

Messages = Mapping[str, Sequence[bytes]]


@dataclass(frozen=True, eq=False)
class Topic:
    """All messages of one kind, at simulated times `(n,)` [ns]: `(n, size)` bytes where all have one size."""

    name: str
    schema: messages.Schema
    times_ns: NDArray[np.uint64]
    messages: Sequence[bytes] | NDArray[np.uint8]


def exact_topics(recording: Recording) -> Iterator[Topic]:
    """Yield what `read_recording` needs besides the header and `columns_of`."""
    n, times_ns = recording.n_rows, to_ns(recording.times)
    rows = messages.row(len(recording.header.boxes))
    packed = rows.pack(
        n, time_s=recording.times, boxes=recording.boxes.reshape(n, 7 * len(recording.header.boxes))
    )
    yield Topic(ROWS, messages.ROW, times_ns, packed)
    for name, record in recording.robots.items():
        yield from _robot_topics(f"/{name}/", record, times_ns)
        yield from _decision_topics(f"/{name}/", record.decisions)
    yield _events(recording.events)


def columns_of(recording: Recording) -> dict[str, PlainData]:
    """Return which columns each robot's record has that not every one has, as plain data."""
    return {
        name: {
            **{column: getattr(record, column) is not None for column in ("requests", "free", "slips")},
            "contacts": None if record.contacts is None else list(record.contacts.names),
            **({} if record.lights is None else {"lights": list(record.lights)}),
            "sensors": {channel: len(values.T) for channel, values in record.decisions.sensors.items()},
        }
        for name, record in recording.robots.items()
    }


def read_recording(header: Header, columns: PlainMapping, found: Messages) -> Recording:
    """Return the recording that was written, `columns` as `columns_of` gave them."""
    require_shape("columns", columns, dict.fromkeys(header.robots, _COLUMNS))
    rows = _unpacked(messages.row(len(header.boxes)), ROWS, found)
    n = len(rows["time_s"])
    length, most = json_bytes(header, found, n)
    if length > most:
        raise InputError(f"its decisions and events have {length} bytes", hint=f"at most {most} for {n} rows")
    robots = {name: _read_robot(name, header, columns[name], found, n) for name in header.robots}
    boxes, times = rows["boxes"].reshape(n, len(header.boxes), 7), rows["time_s"]
    if not np.isfinite(times).all():
        raise InputError(f"the time of row {np.isfinite(times).argmin()} is no number")
    return Recording(header, times, robots, boxes, _read_events(found.get(EVENTS, ())))


def is_read_back(topic: str) -> bool:
    """Return whether a recording may be read back from messages on a topic, which are not only looked at."""
    return topic in {EVENTS, ROWS} or topic.rpartition("/")[2] in _READ_BACK


def json_bytes(
    header: Header, found: Mapping[str, Sequence[bytes] | NDArray[np.uint8]], n: int
) -> tuple[int, int]:
    """Return how many bytes decisions and events have and may have: objects take twenty times that."""
    topics = EVENTS, *(f"/{name}/decisions" for name in header.robots)
    length = sum(len(message) for topic in topics for message in found.get(topic, ()))
    return length, MAX_JSON_BYTES + n * ROW_JSON_BYTES


_READ_BACK = frozenset(
    {
        "joint_states",
        "joint_commands",
        "joint_requests",
        "row",
        "start",
        "contacts",
        "lights",
        "decisions",
        "sensors",
    }
)
_COLUMNS: Shape = {"requests": bool, "free": bool, "slips": bool, "sensors": {str: int}}


def _joint_layouts(header: RobotHeader) -> dict[str, Layout]:
    return {
        "joint_states": messages.joint_state(header.joints, effort=True),
        "joint_commands": messages.joint_state(header.joints, effort=False),
        "joint_requests": messages.joint_state(header.joints, effort=False),
    }


def _row_layout(header: RobotHeader, n_boxes: int, *, free: bool, slips: bool) -> Layout:
    joints, feet = len(header.joints), len(header.feet)
    return messages.robot_row(feet, n_boxes, joints * free, feet * slips)


def _robot_topics(prefix: str, record: RobotRecord, times_ns: NDArray[np.uint64]) -> Iterator[Topic]:
    n, header, stamp, nothing = len(record), record.header, stamps(times_ns), np.zeros((len(record), 0))
    told = {
        "joint_states": (record.positions, record.efforts),
        "joint_commands": (record.commands, nothing),
        **({} if record.requests is None else {"joint_requests": (record.requests, nothing)}),
    }
    layouts = _joint_layouts(header)
    for name, (position, effort) in told.items():
        packed = layouts[name].pack(n, stamp=stamp, position=position, effort=effort)
        yield Topic(prefix + name, messages.JOINT_STATE, times_ns, packed)
    free, slips = record.free, record.slips
    layout = _row_layout(header, len(record.box_contacts.T), free=free is not None, slips=slips is not None)
    packed = layout.pack(
        n,
        base=record.base,
        footprints=record.footprints.reshape(n, 12 * len(header.feet)),
        foot_contacts=record.foot_contacts,
        box_contacts=record.box_contacts,
        free=nothing if free is None else free,
        slips=nothing if slips is None else slips,
    )
    yield Topic(prefix + "row", messages.ROBOT_ROW, times_ns, packed)
    at_start = messages.start(len(header.joints))
    packed = at_start.pack(1, base=record.start_base[None], positions=record.start_positions[None])
    yield Topic(prefix + "start", messages.START, np.zeros(1, dtype=np.uint64), packed)
    if record.contacts is not None:
        contacts = record.contacts
        packed = messages.contact().pack(
            len(contacts.frames),
            frames=contacts.frames,
            pairs=contacts.pairs,
            depths=contacts.depths,
            forces=contacts.forces,
            speeds=contacts.speeds,
        )
        yield Topic(prefix + "contacts", messages.CONTACT, times_ns[contacts.frames], packed)
    if record.lights is not None:
        colours = np.concatenate([np.empty((n, 0)), *record.lights.values()], axis=1)
        packed = messages.lights(tuple(record.lights)).pack(n, colour=colours)
        yield Topic(prefix + "lights", messages.LIGHTS, times_ns, packed)


def _decision_topics(prefix: str, decisions: Decisions) -> Iterator[Topic]:
    times_ns = to_ns(decisions.times)
    told = (decisions.states, decisions.inputs, decisions.outputs, decisions.playing)
    rows = zip(decisions.times.tolist(), *told, strict=True)
    made = [to_json(dict(zip(_DECISION, values, strict=True))).encode() for values in rows]
    yield Topic(prefix + "decisions", messages.DECISION, times_ns, made)
    if decisions.sensors:
        layout = messages.readings({name: len(values.T) for name, values in decisions.sensors.items()})
        values = {str(i): values for i, values in enumerate(decisions.sensors.values())}
        packed = layout.pack(len(decisions), time_s=decisions.times, **values)
        schema = messages.readings_schema(tuple(decisions.sensors))
        yield Topic(prefix + "sensors", schema, times_ns, packed)


_DECISION = ("time_s", "state", "inputs", "outputs", "playing")


def _events(events: Sequence[Event]) -> Topic:
    times_ns = to_ns(np.array([event.time_s for event in events], dtype=np.float64))
    stamped = zip(events, stamps(times_ns).tolist(), strict=True)
    return Topic(EVENTS, messages.EVENT, times_ns, [_event(event, stamp) for event, stamp in stamped])


def _event(event: Event, stamp: Sequence[int]) -> bytes:
    particulars = ", ".join(f"{key} {value}" for key, value in event.data.items())
    entry: dict[str, PlainData] = {
        "timestamp": {"sec": stamp[0], "nsec": stamp[1]},
        "level": _INFO if event.kind in _HARMLESS else _WARNING,
        "message": f"{event.kind}: {particulars}" if particulars else event.kind,
        "name": "posewright",
        "file": "",
        "line": 0,
        "time_s": event.time_s,
        "kind": event.kind,
        "data": event.data,
    }
    return to_json(entry).encode()


def _unpacked(layout: Layout, topic: str, found: Messages, n: int | None = None) -> dict[str, Array]:
    """Return what a topic holds; with `n`, it must be so many messages."""
    raw = found.get(topic, ())
    if n is not None and len(raw) != n:
        raise InputError(f"{topic} has {len(raw)} messages", hint=f"{n}, as its recording has rows")
    try:
        return layout.unpack(raw)
    except InputError as error:
        raise InputError(f"{topic}: {error.message}", hint=error.hint) from error


def _read_robot(name: str, header: Header, columns: PlainMapping, found: Messages, n: int) -> RobotRecord:
    prefix, own, n_boxes = f"/{name}/", header.robots[name], len(header.boxes)
    layouts = _joint_layouts(own)
    if not columns["requests"]:
        del layouts["joint_requests"]
    joints = {topic: _unpacked(layout, prefix + topic, found, n) for topic, layout in layouts.items()}
    has_free, has_slips = columns["free"], columns["slips"]
    layout = _row_layout(own, n_boxes, free=has_free, slips=has_slips)
    rows = _unpacked(layout, prefix + "row", found, n)
    begin = _unpacked(messages.start(len(own.joints)), prefix + "start", found, 1)
    return RobotRecord(
        header=own,
        positions=joints["joint_states"]["position"],
        commands=joints["joint_commands"]["position"],
        efforts=joints["joint_states"]["effort"],
        base=rows["base"],
        footprints=rows["footprints"].reshape(n, len(own.feet), 4, 3),
        foot_contacts=rows["foot_contacts"],
        box_contacts=rows["box_contacts"],
        requests=joints["joint_requests"]["position"] if columns["requests"] else None,
        free=rows["free"] if has_free else None,
        slips=rows["slips"] if has_slips else None,
        contacts=_read_contacts(prefix + "contacts", columns.get("contacts"), found),
        start_positions=begin["positions"][0],
        start_base=begin["base"][0],
        decisions=_read_decisions(prefix, columns["sensors"], found),
        lights=_read_lights(prefix + "lights", columns.get("lights"), found, n),
    )


def _read_lights(topic: str, names: Sequence[str] | None, found: Messages, n: int) -> dict[str, Array] | None:
    if names is None:
        return None
    require_shape(f"names of {topic}", names, [str])
    colours = _unpacked(messages.lights(names), topic, found, n)["colour"]
    return {name: colours[:, 3 * place : 3 * place + 3] for place, name in enumerate(names)}


def _read_contacts(topic: str, names: Sequence[str] | None, found: Messages) -> Contacts | None:
    if names is None:
        return None
    require_shape(f"names of {topic}", names, [str])
    values = _unpacked(messages.contact(), topic, found)
    return Contacts(
        tuple(names),
        frames=values["frames"].astype(np.intp),
        pairs=values["pairs"].astype(np.intp),
        depths=values["depths"],
        forces=values["forces"],
        speeds=values["speeds"],
    )


def _read_decisions(prefix: str, sizes: Mapping[str, int], found: Messages) -> Decisions:
    made = [
        _mapping(prefix + "decisions", raw, "inputs", "outputs")
        for raw in found.get(prefix + "decisions", ())
    ]
    sensors = {}
    if sizes:
        if min(sizes.values()) < 0 or sum(sizes.values()) > MAX_READING:
            raise InputError(f"{prefix}sensors: a reading has 0 to {MAX_READING} numbers")
        values = _unpacked(messages.readings(sizes), prefix + "sensors", found, len(made))
        sensors = {name: values[str(i)] for i, name in enumerate(sizes)}
    return Decisions(
        times=np.array([float(one["time_s"]) for one in made], dtype=np.float64),
        states=tuple(str(one["state"]) for one in made),
        inputs=tuple(one["inputs"] for one in made),
        outputs=tuple(one["outputs"] for one in made),
        playing=tuple(None if one["playing"] is None else str(one["playing"]) for one in made),
        sensors=sensors,
    )


def _read_events(found: Sequence[bytes]) -> tuple[Event, ...]:
    events = (_mapping(EVENTS, raw, "data") for raw in found)
    return tuple(Event(event["time_s"], str(event["kind"]), event["data"]) for event in events)


def _mapping(topic: str, raw: bytes, *mappings: str) -> PlainMapping:
    value = from_json(raw)
    if not isinstance(value, dict) or not all(isinstance(value.get(name), dict) for name in mappings):
        raise InputError(f"a message on {topic} is damaged", hint="it is not what its topic says")
    return value
