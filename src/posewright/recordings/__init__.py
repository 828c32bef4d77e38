"""Traces: what happened in a trial, recorded, written as MCAP, read back to the last bit."""

from __future__ import annotations

from posewright.recordings.event import Event
from posewright.recordings.header import Header, sensor_card
from posewright.recordings.mcap_reader import read_mcap
from posewright.recordings.mcap_writer import mcap_bytes, write_mcap
from posewright.recordings.recorder import Recorder
from posewright.recordings.recording import Recording
from posewright.recordings.rows_kept import ROWS_EVERY, kept_frames

__all__ = [
    "ROWS_EVERY",
    "Event",
    "Recording",
    "Header",
    "Recorder",
    "kept_frames",
    "mcap_bytes",
    "read_mcap",
    "sensor_card",
    "write_mcap",
]
