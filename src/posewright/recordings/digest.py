"""The digest of a trace: same trial, same seed, same digest, to the last bit.

It is the SHA-256 of a fixed text, the trial's identity, the arrays' shapes and little-endian bytes,
the ticks and the events. Change what enters, and `DIGEST_KIND` must change too.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from posewright.recordings.recording import Recording

DIGEST_KIND = "posewright-trace-1"

ROW_ARRAYS = (
    "times",
    "joint_positions",
    "joint_commands",
    "joint_efforts",
    "base",
    "footprints",
    "foot_contacts",
    "boxes",
    "box_contacts",
)


def digest_of(trace: Recording) -> str:
    """Return the digest in hex; a NaN counts by its bits like any other number."""
    digest = hashlib.sha256(DIGEST_KIND.encode())
    digest.update(_text(trace.header.identity()))
    for name in ROW_ARRAYS:
        _add_array(digest, name, getattr(trace, name))
    _add_array(digest, "tick_times", trace.tick_times)
    for name, readings in sorted(trace.sensors.items()):
        _add_array(digest, f"sensor {name}", readings)
    ticks = (trace.chart_states, trace.chart_inputs, trace.chart_outputs, trace.playing)
    digest.update(_text(ticks))
    digest.update(_text([(event.time_s, event.kind, event.data) for event in trace.events]))
    return digest.hexdigest()


def _add_array(digest: hashlib._Hash, name: str, array: NDArray[Any]) -> None:
    kind = "|b1" if array.dtype == np.bool_ else "<f8"
    digest.update(_text([name, kind, array.shape]))
    digest.update(np.ascontiguousarray(array, dtype=kind).data)


def _text(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"
