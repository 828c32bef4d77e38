"""Recordings: what happened in a run, kept while it goes on, written as MCAP, read back to the last bit."""

from __future__ import annotations

from posewright.recordings.header import Header, RobotHeader, sensor_card
from posewright.recordings.mcap_file import mcap_bytes, read_mcap, write_mcap
from posewright.recordings.recorder import ROWS_EVERY, Recorder, kept_frames
from posewright.recordings.recording import Decisions, Event, Recording, RobotRecord

__all__ = [
    "ROWS_EVERY",
    "Decisions",
    "Event",
    "Header",
    "Recorder",
    "Recording",
    "RobotHeader",
    "RobotRecord",
    "kept_frames",
    "mcap_bytes",
    "read_mcap",
    "sensor_card",
    "write_mcap",
]
