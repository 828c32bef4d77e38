"""Traces: what happened in a trial, recorded, written as MCAP, read back to the last bit."""

from __future__ import annotations

from posewright.traces.event import Event
from posewright.traces.header import TraceHeader, sensor_card
from posewright.traces.mcap_reader import read_mcap
from posewright.traces.mcap_writer import mcap_bytes, write_mcap
from posewright.traces.recorder import TraceRecorder
from posewright.traces.trace import Trace

__all__ = [
    "Event",
    "Trace",
    "TraceHeader",
    "TraceRecorder",
    "mcap_bytes",
    "read_mcap",
    "sensor_card",
    "write_mcap",
]
