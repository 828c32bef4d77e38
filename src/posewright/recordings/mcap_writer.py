"""Writes a trace as an MCAP recording any viewer opens; `docs/traces.md` lists the topics."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posewright.documents import write_atomically
from posewright.recordings.digest import DIGEST_KIND
from posewright.recordings.plain import to_json
from posewright.recordings.recording import Recording
from posewright.recordings.row_topics import row_topics
from posewright.recordings.scene import scene_topics
from posewright.recordings.sensor_topics import sensor_topics
from posewright.recordings.tick_topics import tick_topics

METADATA = "posewright.trace"
"""Name of the metadata record that makes a recording a trace."""

FORMAT = "1"


def write_mcap(trace: Recording, path: Path | str) -> None:
    """Write a trace so that `read_mcap` gives it back to the last bit.

    The file appears whole or not at all. Log times are simulated, in nanoseconds from 0.

    Raises:
        OutputError: the file cannot be written.
    """
    write_atomically(Path(path), mcap_bytes(trace), durable=False)  # a trial can be run again


def mcap_bytes(trace: Recording) -> bytes:
    """Return the recording as bytes; the same trace gives the same bytes."""
    from posewright.recordings.container_writer import pack

    with np.errstate(all="ignore"):  # what a viewer's float32 cannot hold is stored exactly beside it
        topics = [*scene_topics(trace), *row_topics(trace), *tick_topics(trace), *sensor_topics(trace)]
    about = {
        "format": FORMAT,
        "digest": f"{DIGEST_KIND}:{trace.digest()}",
        "header": to_json(trace.header.to_plain()),
    }
    return pack(topics, trace.header.documents, {METADATA: about})
