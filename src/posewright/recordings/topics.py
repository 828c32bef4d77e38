"""The exact topics of a recording, from which it is read back: writing and reading.

Topics of a robot begin with its name even if it is the only one: `/robotis_bioloid/joint_states`.
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
from posewright.recordings.cdr import MessageLayout, stamps, to_ns
from posewright.recordings.exact_json import Shape, from_json, require_shape, to_json
from posewright.recordings.header import Header, RobotHeader
from posewright.recordings.recording import Decisions, Event, Recording, RobotRecord

EVENTS = "/events"
ROWS = "/rows"

MAX_READING_NUMBERS = 1 << 16
"""Greatest number of values that all sensors of a robot give together at one time."""

MAX_JSON_BYTES = 1 << 21
JSON_BYTES_PER_ROW = 1 << 10
"""All decisions and events have at most `MAX_JSON_BYTES`, and `JSON_BYTES_PER_ROW` more for each row."""

_INFO_LEVEL = 2
_WARNING_LEVEL = 3
_INFO_EVENTS = ("start", "stop")

Messages = Mapping[str, Sequence[bytes]]
"""Messages by topic, in order."""


@dataclass(frozen=True, eq=False)
class Topic:
    """A topic with all its messages.

    Attributes:
        name: begins with a slash.
        schema: the schema of the messages.
        times_ns: simulated times of the messages, `(n,)` [ns].
        messages: the bytes of each; an array `(n, size)` if all have the same size.
    """

    name: str
    schema: messages.Schema
    times_ns: NDArray[np.uint64]
    messages: Sequence[bytes] | NDArray[np.uint8]


def exact_topics(recording: Recording) -> Iterator[Topic]:
    """Yield the topics from which `read_recording` reads a recording back without loss."""
    n_rows = recording.n_rows
    n_boxes = len(recording.header.boxes)
    times_ns = to_ns(recording.times)
    row_messages = messages.row(n_boxes).pack(
        n_rows, time_s=recording.times, boxes=recording.boxes.reshape(n_rows, 7 * n_boxes)
    )
    yield Topic(ROWS, messages.ROW, times_ns, messages=row_messages)
    for name, record in recording.robots.items():
        yield from _robot_topics(f"/{name}/", record, times_ns)
        yield from _decision_topics(f"/{name}/", record.decisions)
    yield _events_topic(recording.events)


def columns_of(recording: Recording) -> dict[str, PlainData]:
    """Return which optional columns each robot's record has, as plain data: `read_recording` needs it."""
    return {name: _columns_of_robot(record) for name, record in recording.robots.items()}


def _columns_of_robot(record: RobotRecord) -> dict[str, PlainData]:
    """Return which optional columns a record has, the names of objects and lights, and sizes of readings."""
    columns: dict[str, PlainData] = {
        "requests": record.requests is not None,
        "free": record.free is not None,
        "slips": record.slips is not None,
        "contacts": None if record.contacts is None else list(record.contacts.names),
    }
    if record.lights is not None:
        columns["lights"] = list(record.lights)
    columns["sensors"] = {channel: len(values.T) for channel, values in record.decisions.sensors.items()}
    return columns


def read_recording(header: Header, columns: PlainMapping, messages_by_topic: Messages) -> Recording:
    """Return the recording whose `exact_topics` were written.

    Args:
        header: the header of the recording.
        columns: the columns as returned by `columns_of`.
        messages_by_topic: the messages of the exact topics, by topic.

    Raises:
        InputError: the columns have another shape, or messages are missing, too large or damaged.
    """
    require_shape("columns", columns, dict.fromkeys(header.robots, _COLUMNS))
    row_columns = _unpack_topic(messages.row(len(header.boxes)), ROWS, messages_by_topic)
    times = row_columns["time_s"]
    n_rows = len(times)
    json_bytes, max_json_bytes = count_json_bytes(header, messages_by_topic, n_rows)
    if json_bytes > max_json_bytes:
        raise InputError(
            f"its decisions and events have {json_bytes} bytes",
            hint=f"at most {max_json_bytes} for {n_rows} rows",
        )
    robots = {
        name: _read_robot(
            name, header, columns=columns[name], messages_by_topic=messages_by_topic, n_rows=n_rows
        )
        for name in header.robots
    }
    boxes = row_columns["boxes"].reshape(n_rows, len(header.boxes), 7)
    if not np.isfinite(times).all():
        raise InputError(f"the time of row {np.isfinite(times).argmin()} is not a finite number")
    return Recording(header, times, robots, boxes, events=_read_events(messages_by_topic.get(EVENTS, ())))


def is_read_back(topic: str) -> bool:
    """Return whether a topic is one that recordings are read back from, rather than for viewers only."""
    return topic in {EVENTS, ROWS} or topic.rpartition("/")[2] in _EXACT_ROBOT_TOPICS


def count_json_bytes(
    header: Header, messages_by_topic: Mapping[str, Sequence[bytes] | NDArray[np.uint8]], n_rows: int
) -> tuple[int, int]:
    """Return the size of all decisions and events as JSON, and the size allowed for so many rows [bytes].

    The limit is strict because Python objects take twenty times as much memory.
    """
    topics = EVENTS, *(f"/{name}/decisions" for name in header.robots)
    size = sum(len(message) for topic in topics for message in messages_by_topic.get(topic, ()))
    return size, MAX_JSON_BYTES + n_rows * JSON_BYTES_PER_ROW


_EXACT_ROBOT_TOPICS = frozenset(
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


def _joint_layouts(header: RobotHeader) -> dict[str, MessageLayout]:
    """Return the layouts of a robot's messages about all joints, by topic."""
    return {
        "joint_states": messages.joint_state(header.joints, effort=True),
        "joint_commands": messages.joint_state(header.joints, effort=False),
        "joint_requests": messages.joint_state(header.joints, effort=False),
    }


def _row_layout(header: RobotHeader, n_boxes: int, *, free: bool, slips: bool) -> MessageLayout:
    """Return the layout of a robot's other values in a row.

    Args:
        header: the header of the robot.
        n_boxes: the number of boxes on the field.
        free: whether the record states which joints have their torque off.
        slips: whether the record has the slips of feet.
    """
    n_free = len(header.joints) if free else 0
    n_slips = len(header.feet) if slips else 0
    return messages.robot_row(len(header.feet), n_boxes, n_free, n_slips)


def _robot_topics(prefix: str, record: RobotRecord, times_ns: NDArray[np.uint64]) -> Iterator[Topic]:
    """Yield the topics of a robot's rows, start, contacts and lights; `prefix` begins their names."""
    n_rows = len(record)
    header = record.header
    stamp = stamps(times_ns)
    no_values = np.zeros((n_rows, 0))
    positions_and_efforts = {
        "joint_states": (record.positions, record.efforts),
        "joint_commands": (record.commands, no_values),
    }
    if record.requests is not None:
        positions_and_efforts["joint_requests"] = (record.requests, no_values)
    layouts = _joint_layouts(header)
    for name, (position, effort) in positions_and_efforts.items():
        packed = layouts[name].pack(n_rows, stamp=stamp, position=position, effort=effort)
        yield Topic(prefix + name, messages.JOINT_STATE, times_ns, messages=packed)
    free = record.free
    slips = record.slips
    layout = _row_layout(header, len(record.box_contacts.T), free=free is not None, slips=slips is not None)
    packed = layout.pack(
        n_rows,
        base=record.base,
        footprints=record.footprints.reshape(n_rows, 12 * len(header.feet)),
        foot_contacts=record.foot_contacts,
        box_contacts=record.box_contacts,
        free=no_values if free is None else free,
        slips=no_values if slips is None else slips,
    )
    yield Topic(prefix + "row", messages.ROBOT_ROW, times_ns, messages=packed)
    start_layout = messages.start(len(header.joints))
    packed = start_layout.pack(1, base=record.start_base[None], positions=record.start_positions[None])
    yield Topic(
        prefix + "start", schema=messages.START, times_ns=np.zeros(1, dtype=np.uint64), messages=packed
    )
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
        yield Topic(
            prefix + "contacts", schema=messages.CONTACT, times_ns=times_ns[contacts.frames], messages=packed
        )
    if record.lights is not None:
        colours = np.concatenate([np.empty((n_rows, 0)), *record.lights.values()], axis=1)
        packed = messages.lights(tuple(record.lights)).pack(n_rows, colour=colours)
        yield Topic(prefix + "lights", messages.LIGHTS, times_ns, messages=packed)


def _decision_topics(prefix: str, decisions: Decisions) -> Iterator[Topic]:
    """Yield the topics of a robot's decisions, as JSON, and of the sensor readings at these decisions.

    Args:
        prefix: what the names of the topics begin with.
        decisions: the decisions.
    """
    times_ns = to_ns(decisions.times)
    decision_messages = [
        to_json(
            {"time_s": time_s, "state": state, "inputs": inputs, "outputs": outputs, "playing": playing}
        ).encode()
        for time_s, state, inputs, outputs, playing in zip(
            decisions.times.tolist(),
            decisions.states,
            decisions.inputs,
            decisions.outputs,
            decisions.playing,
            strict=True,
        )
    ]
    yield Topic(prefix + "decisions", messages.DECISION, times_ns, messages=decision_messages)
    if not decisions.sensors:
        return
    layout = messages.readings({channel: len(values.T) for channel, values in decisions.sensors.items()})
    # the layout's fields are numbered, since names of channels need not be identifiers
    values_by_field = {"time_s": decisions.times}
    for number, values in enumerate(decisions.sensors.values()):
        values_by_field[str(number)] = values
    reading_messages = layout.pack_fields(len(decisions), values_by_field)
    schema = messages.readings_schema(tuple(decisions.sensors))
    yield Topic(prefix + "sensors", schema, times_ns, messages=reading_messages)


def _events_topic(events: Sequence[Event]) -> Topic:
    """Return the topic of the events, which viewers show as log messages."""
    times_ns = to_ns(np.array([event.time_s for event in events], dtype=np.float64))
    packed = [
        _pack_event(event, seconds, nanoseconds)
        for event, (seconds, nanoseconds) in zip(events, stamps(times_ns).tolist(), strict=True)
    ]
    return Topic(EVENTS, messages.EVENT, times_ns, messages=packed)


def _pack_event(event: Event, seconds: int, nanoseconds: int) -> bytes:
    """Return an event as the JSON of a log message, at a time in whole seconds and nanoseconds."""
    details = ", ".join(f"{key} {value}" for key, value in event.data.items())
    entry: dict[str, PlainData] = {
        "timestamp": {"sec": seconds, "nsec": nanoseconds},
        "level": _INFO_LEVEL if event.kind in _INFO_EVENTS else _WARNING_LEVEL,
        "message": f"{event.kind}: {details}" if details else event.kind,
        "name": "posewright",
        "file": "",
        "line": 0,
        "time_s": event.time_s,
        "kind": event.kind,
        "data": event.data,
    }
    return to_json(entry).encode()


def _unpack_topic(
    layout: MessageLayout, topic: str, messages_by_topic: Messages, n_expected: int | None = None
) -> dict[str, Array]:
    """Return the varying numbers of a topic's messages; raise if there are not `n_expected` of them."""
    raw_messages = messages_by_topic.get(topic, ())
    if n_expected is not None and len(raw_messages) != n_expected:
        raise InputError(f"{topic} has {len(raw_messages)} messages", hint=f"expected {n_expected}")
    try:
        return layout.unpack(raw_messages)
    except InputError as error:
        raise InputError(f"{topic}: {error.message}", hint=error.hint) from error


def _read_robot(
    name: str, header: Header, columns: PlainMapping, messages_by_topic: Messages, n_rows: int
) -> RobotRecord:
    """Return the record of a robot, read from the messages of its topics.

    Args:
        name: the name of the robot.
        header: the header of the recording.
        columns: which optional columns the record has, as returned by `columns_of` for this robot.
        messages_by_topic: the messages of the exact topics, by topic.
        n_rows: the number of rows.

    Raises:
        InputError: messages are missing or damaged.
    """
    prefix = f"/{name}/"
    robot = header.robots[name]
    has_requests = columns["requests"]
    has_free = columns["free"]
    has_slips = columns["slips"]
    layouts = _joint_layouts(robot)
    if not has_requests:
        del layouts["joint_requests"]
    joints = {
        topic: _unpack_topic(layout, prefix + topic, messages_by_topic, n_expected=n_rows)
        for topic, layout in layouts.items()
    }
    row_layout = _row_layout(robot, len(header.boxes), free=has_free, slips=has_slips)
    rows = _unpack_topic(row_layout, prefix + "row", messages_by_topic, n_expected=n_rows)
    start = _unpack_topic(
        messages.start(len(robot.joints)), prefix + "start", messages_by_topic, n_expected=1
    )
    return RobotRecord(
        header=robot,
        positions=joints["joint_states"]["position"],
        commands=joints["joint_commands"]["position"],
        efforts=joints["joint_states"]["effort"],
        base=rows["base"],
        footprints=rows["footprints"].reshape(n_rows, len(robot.feet), 4, 3),
        foot_contacts=rows["foot_contacts"],
        box_contacts=rows["box_contacts"],
        requests=joints["joint_requests"]["position"] if has_requests else None,
        free=rows["free"] if has_free else None,
        slips=rows["slips"] if has_slips else None,
        contacts=_read_contacts(prefix + "contacts", columns.get("contacts"), messages_by_topic),
        start_positions=start["positions"][0],
        start_base=start["base"][0],
        decisions=_read_decisions(prefix, columns["sensors"], messages_by_topic),
        lights=_read_lights(prefix + "lights", columns.get("lights"), messages_by_topic, n_rows),
    )


def _read_lights(
    topic: str, names: Sequence[str] | None, messages_by_topic: Messages, n_rows: int
) -> dict[str, Array] | None:
    """Return the colours of a robot's lights in each row, `(n_rows, 3)` each, by the names of the lights.

    Args:
        topic: the topic of the lights.
        names: the names of the lights; None if the recording has none.
        messages_by_topic: the messages of the exact topics, by topic.
        n_rows: the number of rows.
    """
    if names is None:
        return None
    require_shape(f"names of {topic}", names, [str])
    layout = messages.lights(names)
    columns = _unpack_topic(layout, topic, messages_by_topic, n_expected=n_rows)["colour"]
    # three columns for each light: red, green, blue
    return {name: columns[:, 3 * i : 3 * i + 3] for i, name in enumerate(names)}


def _read_contacts(topic: str, names: Sequence[str] | None, messages_by_topic: Messages) -> Contacts | None:
    """Return the contacts between objects of these names; None without names."""
    if names is None:
        return None
    require_shape(f"names of {topic}", names, [str])
    values = _unpack_topic(messages.contact(), topic, messages_by_topic)
    return Contacts(
        tuple(names),
        frames=values["frames"].astype(np.intp),
        pairs=values["pairs"].astype(np.intp),
        depths=values["depths"],
        forces=values["forces"],
        speeds=values["speeds"],
    )


def _read_decisions(prefix: str, sensor_sizes: Mapping[str, int], messages_by_topic: Messages) -> Decisions:
    """Return the decisions of a robot, with the sensor readings at each.

    Args:
        prefix: what the names of the robot's topics begin with.
        sensor_sizes: the number of values in a reading of each sensor.
        messages_by_topic: the messages of the exact topics, by topic.
    """
    topic = prefix + "decisions"
    rows = [_parse_message(topic, raw, "inputs", "outputs") for raw in messages_by_topic.get(topic, ())]
    sensors = {}
    if sensor_sizes:
        if min(sensor_sizes.values()) < 0 or sum(sensor_sizes.values()) > MAX_READING_NUMBERS:
            raise InputError(f"{prefix}sensors: a reading has 0 to {MAX_READING_NUMBERS} numbers")
        layout = messages.readings(sensor_sizes)
        values = _unpack_topic(layout, prefix + "sensors", messages_by_topic, n_expected=len(rows))
        sensors = {name: values[str(i)] for i, name in enumerate(sensor_sizes)}
    return Decisions(
        times=np.array([float(row["time_s"]) for row in rows], dtype=np.float64),
        states=tuple(str(row["state"]) for row in rows),
        inputs=tuple(row["inputs"] for row in rows),
        outputs=tuple(row["outputs"] for row in rows),
        playing=tuple(None if row["playing"] is None else str(row["playing"]) for row in rows),
        sensors=sensors,
    )


def _read_events(raw_messages: Sequence[bytes]) -> tuple[Event, ...]:
    entries = (_parse_message(EVENTS, raw, "data") for raw in raw_messages)
    return tuple(Event(entry["time_s"], str(entry["kind"]), entry["data"]) for entry in entries)


def _parse_message(topic: str, raw: bytes, *mapping_keys: str) -> PlainMapping:
    """Return the mapping in a JSON message, in which the values of some keys must be mappings too."""
    value = from_json(raw)
    if not isinstance(value, dict) or not all(isinstance(value.get(key), dict) for key in mapping_keys):
        entries = " and ".join(mapping_keys)
        raise InputError(f"a message on {topic} is damaged", hint=f"a JSON object with {entries}")
    return value
