"""Traces: what happened in a trial, recorded, written as MCAP, read back to the last bit."""

from __future__ import annotations

from posewright.traces.event import Event
from posewright.traces.header import TraceHeader, sensor_card
from posewright.traces.mcap_reader import read_mcap
from posewright.traces.mcap_writer import mcap_bytes, write_mcap
from posewright.traces.recorder import TraceRecorder
from posewright.traces.rows_kept import ROWS_EVERY, kept_frames
from posewright.traces.trace import Trace

__all__ = [
    "ROWS_EVERY",
    "Event",
    "Trace",
    "TraceHeader",
    "TraceRecorder",
    "kept_frames",
    "mcap_bytes",
    "read_mcap",
    "sensor_card",
    "write_mcap",
]
