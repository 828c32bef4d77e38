"""The digest of a recording: same run, same seed, same digest, to the last bit.

It is the SHA-256 of a fixed text, the run's identity with the rules and the field, the arrays' shapes and
little-endian bytes, the decisions and the events. Change what enters, and `DIGEST_KIND` must change too.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from posewright.recordings.recording import Recording, RobotRecord

DIGEST_KIND = "posewright-recording-2"

ARRAYS = (
    "positions",
    "commands",
    "efforts",
    "base",
    "footprints",
    "foot_contacts",
    "box_contacts",
    "requests",
    "free",
    "slips",
    "start_positions",
    "start_base",
)
CONTACTS = ("frames", "pairs", "depths", "forces", "speeds")


def digest_of(recording: Recording) -> str:
    """Return the digest in hex; a NaN counts by its bits like any other number."""
    digest = hashlib.sha256(DIGEST_KIND.encode())
    digest.update(_text(recording.header.identity()))
    _add_array(digest, "times", recording.times)
    _add_array(digest, "boxes", recording.boxes)
    for name, record in recording.robots.items():
        digest.update(_text(["robot", name]))
        _add_robot(digest, record)
    digest.update(_text([(event.time_s, event.kind, event.data) for event in recording.events]))
    return digest.hexdigest()


def _add_robot(digest: hashlib._Hash, record: RobotRecord) -> None:
    for name in ARRAYS:
        values = getattr(record, name)
        if values is not None:
            _add_array(digest, name, values)
    if record.contacts is not None:
        digest.update(_text(record.contacts.names))
        for name in CONTACTS:
            _add_array(digest, name, getattr(record.contacts, name))
    decisions = record.decisions
    _add_array(digest, "decisions", decisions.times)
    for name, readings in sorted(decisions.sensors.items()):
        _add_array(digest, f"sensor {name}", readings)
    digest.update(_text((decisions.states, decisions.inputs, decisions.outputs, decisions.playing)))


def _add_array(digest: hashlib._Hash, name: str, array: NDArray[Any]) -> None:
    kind = {"b": "|b1", "i": "<i8"}.get(array.dtype.kind, "<f8")
    digest.update(_text([name, kind, array.shape]))
    digest.update(np.ascontiguousarray(array, dtype=kind).data)


def _text(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"
