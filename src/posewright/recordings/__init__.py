"""Recordings of runs: recorded during the run, written as MCAP files, and read back to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.recordings.consistency import Inconsistency as Inconsistency
    from posewright.recordings.header import Header as Header
    from posewright.recordings.header import RobotHeader as RobotHeader
    from posewright.recordings.header import card_document as card_document
    from posewright.recordings.header import sensor_card as sensor_card
    from posewright.recordings.mcap_file import mcap_bytes as mcap_bytes
    from posewright.recordings.mcap_file import read_mcap as read_mcap
    from posewright.recordings.mcap_file import write_mcap as write_mcap
    from posewright.recordings.recorder import ROWS_EVERY as ROWS_EVERY
    from posewright.recordings.recorder import Recorder as Recorder
    from posewright.recordings.recorder import recorded_frames as recorded_frames
    from posewright.recordings.recording import ABORTED as ABORTED
    from posewright.recordings.recording import Decisions as Decisions
    from posewright.recordings.recording import Event as Event
    from posewright.recordings.recording import Recording as Recording
    from posewright.recordings.recording import RobotRecord as RobotRecord
    from posewright.recordings.recording import describe_abort as describe_abort
    from posewright.recordings.topics import Topic as Topic
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
