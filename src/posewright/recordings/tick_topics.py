"""The chart's ticks and the events of a trace as JSON topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from posewright.errors import InputError
from posewright.recordings import schemas
from posewright.recordings.cdr import stamps, to_ns
from posewright.recordings.event import Event
from posewright.recordings.plain import from_json, to_json
from posewright.recordings.recording import Recording
from posewright.recordings.topic import Topic

CHART, EVENTS = "/chart", "/events"

_INFO, _WARNING = 2, 3
_HARMLESS = ("start", "stop")


def tick_topics(trace: Recording) -> Iterator[Topic]:
    """Yield `/chart` and `/events`."""
    columns = (
        trace.tick_times.tolist(),
        trace.chart_states,
        trace.chart_inputs,
        trace.chart_outputs,
        trace.playing,
    )
    ticks = [_tick(*entries) for entries in zip(*columns, strict=True)]
    yield Topic(CHART, schemas.CHART, to_ns(trace.tick_times), ticks)
    times_ns = to_ns(np.array([event.time_s for event in trace.events], dtype=np.float64))
    stamped = zip(trace.events, stamps(times_ns).tolist(), strict=True)
    yield Topic(EVENTS, schemas.EVENT, times_ns, [_event(event, stamp) for event, stamp in stamped])


def _tick(time_s: float, state: str, inputs: Any, outputs: Any, playing: str | None) -> bytes:
    tick = {"time_s": time_s, "state": state, "inputs": inputs, "outputs": outputs, "playing": playing}
    return to_json(tick).encode()


def _event(event: Event, stamp: Sequence[int]) -> bytes:
    particulars = ", ".join(f"{key} {value}" for key, value in event.data.items())
    entry = {
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


def read_ticks(messages: Sequence[bytes]) -> dict[str, Any]:
    """Return the tick fields of a Recording.

    Raises:
        InputError: a message that is not a tick.
    """
    ticks = [_mapping(message, "inputs", "outputs") for message in messages]
    try:
        return {
            "tick_times": np.array([float(tick["time_s"]) for tick in ticks], dtype=np.float64),
            "chart_states": tuple(str(tick["state"]) for tick in ticks),
            "chart_inputs": tuple(tick["inputs"] for tick in ticks),
            "chart_outputs": tuple(tick["outputs"] for tick in ticks),
            "playing": tuple(None if tick["playing"] is None else str(tick["playing"]) for tick in ticks),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"a tick on {CHART} is damaged: {error!r}") from error


def read_events(messages: Sequence[bytes]) -> tuple[Event, ...]:
    """Return the events of a Recording.

    Raises:
        InputError: a message that is not an event.
    """
    events = [_mapping(message, "data") for message in messages]
    try:
        return tuple(Event(event["time_s"], str(event["kind"]), event["data"]) for event in events)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"an event on {EVENTS} is damaged: {error!r}") from error


def _mapping(message: bytes, *mappings: str) -> dict[str, Any]:
    value = from_json(message)
    if not isinstance(value, dict) or not all(isinstance(value.get(name), dict) for name in mappings):
        raise InputError("a message is not what its topic says")
    return value
